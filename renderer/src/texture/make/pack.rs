//! Compression of tiles, the inverse of what readers decompress.

use super::conversion::Compression;
use crate::texture::Sample;
use crate::texture::file::{differences, planes};
use fdeflate::StoredOnlyCompressor;
use flate2::{Compress, FlushCompress, Status};
use std::io::Cursor;

/// What one thread packs with.
pub struct Packer {
    zlib: Compress,
    row: Vec<u8>,
}

/// The level of zlib: past it tiles of this size gain 1 to 2 % for twice the time.
const LEVEL: u32 = 3;

impl Packer {
    pub fn new() -> Packer {
        Packer { zlib: Compress::new(flate2::Compression::new(LEVEL), true), row: Vec::new() }
    }

    /// A tile of TIFF. `predictor` as [`predictor`] says.
    pub fn tiff(
        &mut self,
        mut tile: Vec<u8>,
        (compression, predictor): (Compression, u16),
        (sample, channels, width): (Sample, usize, u32),
    ) -> Vec<u8> {
        let bytes = sample.bytes();
        let row_bytes = width as usize * channels * bytes;
        match predictor {
            2 => tile.chunks_exact_mut(row_bytes).for_each(|row| differences(row, bytes, channels)),
            3 => {
                self.row.resize(row_bytes, 0);
                for row in tile.chunks_exact_mut(row_bytes) {
                    planes(row, &mut self.row, bytes, channels);
                    row.copy_from_slice(&self.row);
                }
            }
            _ => {}
        }
        match compression {
            Compression::None => tile,
            Compression::Deflate => self.deflate(&tile, bytes == 1),
            Compression::Fast => {
                let packed = self.deflate(&tile, bytes == 1);
                if compression.is_worth(packed.len(), tile.len()) { packed } else { stored(&tile) }
            }
            // Encoding into memory has no way to fail.
            Compression::Lzw => {
                let mut encoder = weezl::encode::Encoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8);
                encoder.encode(&tile).unwrap_or_default()
            }
            Compression::PackBits => pack_bits(&tile, row_bytes),
        }
    }

    /// A zlib stream. `residuals`: mostly small differences of bytes, which a code made for them packs as well as
    /// zlib does, five times faster.
    pub fn deflate(&mut self, bytes: &[u8], residuals: bool) -> Vec<u8> {
        if !residuals {
            return self.zlib(bytes);
        }
        let quick = fdeflate::compress_to_vec(bytes);
        // What is this smooth zlib packs quickly, and several times better.
        if quick.len() < bytes.len() / 4 {
            let slow = self.zlib(bytes);
            return if slow.len() < quick.len() { slow } else { quick };
        }
        quick
    }

    fn zlib(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.zlib.reset();
        // Stored blocks add 5 bytes in 16 KiB; with this much room there is always enough.
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 1000 + 64);
        match self.zlib.compress_vec(bytes, &mut out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => out,
            _ => fdeflate::compress_to_vec(bytes),
        }
    }
}

/// A zlib stream of the bytes as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(StoredOnlyCompressor::<()>::compressed_size(bytes.len()));
    let written = StoredOnlyCompressor::new(Cursor::new(&mut out)).and_then(|mut stream| {
        stream.write_data(bytes)?;
        stream.finish().map(drop)
    });
    written.expect("writing into memory has no way to fail");
    out
}

/// The predictor that goes with a compression: differences of integers, planes of bytes of floats.
pub fn predictor(compression: Compression, sample: Sample) -> u16 {
    match (compression, sample) {
        (Compression::None | Compression::PackBits, _) => 1,
        (_, Sample::U8 | Sample::U16) => 2,
        (_, Sample::F16 | Sample::F32) => 3,
    }
}

/// Each row by itself, as the specification wants it: runs of three and more repeated, the rest copied.
fn pack_bits(bytes: &[u8], row_bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for row in bytes.chunks(row_bytes) {
        let (mut at, mut literal) = (0, 0);
        while at < row.len() {
            let run = row[at..].iter().take(128).take_while(|b| **b == row[at]).count();
            if run >= 3 {
                copy_literals(&row[literal..at], &mut out);
                out.extend([(1 - run as i32) as i8 as u8, row[at]]);
                literal = at + run;
            }
            at += run;
        }
        copy_literals(&row[literal..], &mut out);
    }
    out
}

fn copy_literals(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.chunks(128) {
        out.push((part.len() - 1) as u8);
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::file::{inflate, undo_differences};

    #[test]
    fn fast_packs_what_halves_and_leaves_the_rest() {
        let side = 64_u32;
        let hash = |i: u32| (i ^ (i.wrapping_mul(0x9e37_79b9) >> 15)).wrapping_mul(0x85eb_ca6b);
        let noise: Vec<u8> = (0..side * side).map(|i| (hash(hash(i)) >> 24) as u8).collect();
        let smooth: Vec<u8> = (0..side * side).map(|i| (i % side) as u8).collect();
        for (tile, is_packed) in [(noise, false), (smooth, true)] {
            let packed = Packer::new().tiff(tile.clone(), (Compression::Fast, 2), (Sample::U8, 1, side));
            assert_eq!(packed.len() <= tile.len() / 2, is_packed);
            // The stream's header and sum, and a block's header.
            assert!(is_packed || packed.len() <= tile.len() + 11);
            let mut plain = Vec::new();
            inflate(&packed, &mut plain, tile.len()).expect("it was just packed");
            plain.chunks_exact_mut(side as usize).for_each(|row| undo_differences(row, 1, 1));
            assert!(plain == tile);
        }
    }
}
