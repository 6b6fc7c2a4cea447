//! Decompression of tiles: deflate, LZW, PackBits, the run lengths of EXR. The length of the output is known before.
//! Anything else is damage, and nothing is ever written past it.

use super::FileError;

/// Buffers that a reader of tiles keeps from one to the next.
#[derive(Default)]
pub struct Scratch {
    pub(super) stored: Vec<u8>,
    pub(super) plain: Vec<u8>,
    pub(super) halves: Vec<u8>,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Memory held.
    pub fn bytes(&self) -> usize {
        self.stored.capacity() + self.plain.capacity() + self.halves.capacity()
    }
}

fn damaged() -> FileError {
    FileError::corrupt("a tile does not unpack to its size")
}

/// A zlib stream. Its checksum is compared.
pub fn inflate(stored: &[u8], plain: &mut Vec<u8>, length: usize) -> Result<(), FileError> {
    // A byte more, so that the end of the stream is met before the output is full.
    plain.resize(length + 1, 0);
    let mut inflater = fdeflate::Decompressor::new();
    let (_, produced) = inflater.read(stored, plain, 0, true).map_err(|_| damaged())?;
    plain.truncate(length);
    if produced == length && inflater.is_done() { Ok(()) } else { Err(damaged()) }
}

/// LZW as TIFF has it: the most significant bit first, codes growing one early.
pub fn unlzw(stored: &[u8], plain: &mut Vec<u8>, length: usize) -> Result<(), FileError> {
    plain.resize(length, 0);
    let mut decoder = weezl::decode::Decoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8);
    let (mut from, mut to) = (0, 0);
    while to < length {
        let step = decoder.decode_bytes(&stored[from..], &mut plain[to..]);
        (from, to) = (from + step.consumed_in, to + step.consumed_out);
        match step.status {
            Ok(weezl::LzwStatus::Ok) if step.consumed_in + step.consumed_out > 0 => {}
            // Some writers leave out the mark at the end.
            _ => break,
        }
    }
    if to == length { Ok(()) } else { Err(damaged()) }
}

/// PackBits: a count n ≥ 0 and n + 1 bytes as they are, or n < 0 and one byte 1 − n times; −128 says nothing.
pub fn unpack_bits(stored: &[u8], plain: &mut Vec<u8>, length: usize) -> Result<(), FileError> {
    run_lengths(stored, plain, length, |n| match n {
        -128 => Run::Nothing,
        n if n < 0 => Run::Repeat(1 - isize::from(n)),
        n => Run::Copy(1 + isize::from(n)),
    })
}

/// The run lengths of EXR: a count n < 0 and −n bytes as they are, or n ≥ 0 and one byte n + 1 times.
pub fn unpack_exr_runs(stored: &[u8], plain: &mut Vec<u8>, length: usize) -> Result<(), FileError> {
    run_lengths(stored, plain, length, |n| match n {
        n if n < 0 => Run::Copy(-isize::from(n)),
        n => Run::Repeat(1 + isize::from(n)),
    })
}

enum Run {
    Nothing,
    Copy(isize),
    Repeat(isize),
}

fn run_lengths(
    stored: &[u8],
    plain: &mut Vec<u8>,
    length: usize,
    meaning: impl Fn(i8) -> Run,
) -> Result<(), FileError> {
    plain.clear();
    plain.reserve(length);
    let mut rest = stored;
    while plain.len() < length {
        let Some((&n, after)) = rest.split_first() else { return Err(damaged()) };
        rest = after;
        match meaning(n as i8) {
            Run::Nothing => {}
            Run::Copy(count) => {
                let count = (count as usize).min(length - plain.len());
                plain.extend_from_slice(rest.get(..count).ok_or_else(damaged)?);
                rest = &rest[count..];
            }
            Run::Repeat(count) => {
                let (&value, after) = rest.split_first().ok_or_else(damaged)?;
                rest = after;
                plain.resize(plain.len() + (count as usize).min(length - plain.len()), value);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of TIFF 6.0, section 9.
    #[test]
    fn packed_bits_unpack() {
        let stored = [0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0x80, 0xfd, 0xaa, 0x03, 0x80, 0x00, 0x2a, 0x22, 0xf7, 0xaa];
        let expected = [
            0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0xaa, 0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0x22, 0xaa, 0xaa, 0xaa, 0xaa,
            0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
        ];
        let mut plain = Vec::new();
        unpack_bits(&stored, &mut plain, 24).expect("it is whole");
        assert_eq!(plain, expected);
        assert!(unpack_bits(&stored, &mut plain, 25).is_err());
        assert!(unpack_bits(&stored[..15], &mut plain, 24).is_err());
    }

    #[test]
    fn nothing_but_the_whole_stream_inflates() {
        let text: Vec<u8> = (0..1000u32).map(|i| (i * i / 7) as u8).collect();
        let stored = fdeflate::compress_to_vec(&text);
        let mut plain = Vec::new();
        inflate(&stored, &mut plain, 1000).expect("it is whole");
        assert_eq!(plain, text);
        assert!(inflate(&stored, &mut plain, 999).is_err());
        assert!(inflate(&stored, &mut plain, 1001).is_err());
        for end in 0..stored.len() {
            assert!(inflate(&stored[..end], &mut plain, 1000).is_err());
        }
    }
}
