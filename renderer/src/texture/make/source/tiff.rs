//! TIFF in strips or tiles, one row of them at a time.

use super::{Picture, Rows};
use crate::texture::file::color_space;
use crate::texture::{Alpha, Sample};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::tags::Tag;

struct ByChunks {
    picture: Picture,
    decoder: Decoder<BufReader<File>>,
    /// Rows of the chunks that were decoded last, and how many of their bytes were given out.
    held: Vec<u8>,
    given: usize,
    chunk: Vec<u8>,
    /// The next row of chunks.
    next: u32,
}

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut decoder = Decoder::new(BufReader::with_capacity(1 << 18, file)).map_err(|e| e.to_string())?;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 1 << 30;
    decoder = decoder.with_limits(limits);
    let (width, height) = decoder.dimensions().map_err(|e| e.to_string())?;
    let color = decoder.colortype().map_err(|e| e.to_string())?;
    let (channels, has_alpha) = match color {
        ColorType::Gray(_) => (1, false),
        ColorType::GrayA(_) => (2, true),
        ColorType::RGB(_) => (3, false),
        ColorType::RGBA(_) => (4, true),
        ColorType::Multiband { num_samples: n @ 1..=4, .. } => (usize::from(n), n % 2 == 0),
        _ => return Err(format!("a TIFF with colors of the kind {color:?} is not read; save it as RGB")),
    };
    let stored = decoder.find_tag_unsigned::<u16>(Tag::SamplesPerPixel).ok().flatten().unwrap_or(1);
    if usize::from(stored) != channels {
        return Err(format!("a TIFF with {stored} channels is not read; save it with at most four"));
    }
    if decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).is_ok_and(|p| p == Some(2)) && channels > 1 {
        return Err("its channels are stored apart; save it with interleaved channels".to_owned());
    }
    let extra = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).ok().flatten();
    let alpha = match extra.as_deref() {
        _ if !has_alpha => Alpha::None,
        Some([1, ..]) => Alpha::Associated,
        Some([0, ..]) => Alpha::None,
        _ => Alpha::Straight,
    };
    let description = decoder.get_tag_ascii_string(Tag::ImageDescription).unwrap_or_default();
    let space = description.split_whitespace().find_map(|w| color_space(w.strip_prefix("oiio:ColorSpace=")?));
    let formats = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten().unwrap_or_default();
    let float = match formats.first() {
        None | Some(1) => false,
        Some(3) => true,
        Some(_) => return Err("signed integers are not read; save it with unsigned ones, or floats".to_owned()),
    };
    let sample = match (color.bit_depth(), float) {
        (8, false) => Sample::U8,
        (16, false) => Sample::U16,
        (16, true) => Sample::F16,
        (32, true) => Sample::F32,
        (bits, _) => return Err(format!("samples of {bits} bits are not read; save it with 8 or 16 bits, or floats")),
    };
    let picture = Picture { width, height, sample, channels, alpha, space };
    picture.check()?;
    Ok(Box::new(ByChunks { picture, decoder, held: Vec::new(), given: 0, chunk: Vec::new(), next: 0 }))
}

impl Rows for ByChunks {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < out.len() {
            if self.given == self.held.len() {
                self.decode()?;
            }
            let count = (out.len() - filled).min(self.held.len() - self.given);
            out[filled..filled + count].copy_from_slice(&self.held[self.given..self.given + count]);
            (filled, self.given) = (filled + count, self.given + count);
        }
        Ok(())
    }
}

impl ByChunks {
    /// The next row of chunks.
    fn decode(&mut self) -> Result<(), String> {
        let damaged = || "the image does not fit the size that it says".to_owned();
        let (chunk_width, chunk_height) = self.decoder.chunk_dimensions();
        if chunk_width == 0 || chunk_height == 0 {
            return Err(damaged());
        }
        let first_row = self.next.checked_mul(chunk_height).filter(|r| *r < self.picture.height).ok_or_else(damaged)?;
        let rows = chunk_height.min(self.picture.height - first_row) as usize;
        let (row_bytes, columns) = (self.picture.row_bytes(), self.picture.width.div_ceil(chunk_width));
        let texel = self.picture.channels * self.picture.sample.bytes();
        self.held.clear();
        self.held.resize(rows * row_bytes, 0);
        self.given = 0;
        for column in 0..columns {
            let index = self.next.checked_mul(columns).and_then(|i| i.checked_add(column)).ok_or_else(damaged)?;
            let from = (column * chunk_width) as usize * texel;
            let bytes = (chunk_width as usize * texel).min(row_bytes - from);
            self.chunk.resize(rows * bytes, 0);
            self.decoder.read_chunk_bytes(index, &mut self.chunk).map_err(|e| e.to_string())?;
            for (to, row) in self.held.chunks_exact_mut(row_bytes).zip(self.chunk.chunks_exact(bytes)) {
                to[from..from + bytes].copy_from_slice(row);
            }
        }
        self.next += 1;
        Ok(())
    }
}
