//! TIFF in strips or tiles, one row of them at a time.

use super::other_bytes::OtherBytes;
use super::rows::{Picture, Rows, check_length};
use super::tiff_tag::values;
use super::{Alpha, ColorSpace, Sample};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::tags::Tag;

struct ByChunks {
    picture: Picture,
    decoder: Decoder<BufReader<OtherBytes>>,
    /// Rows of the chunks that were decoded last, and how many of their bytes were given out.
    held: Vec<u8>,
    given: usize,
    chunk: Vec<u8>,
    /// The next row of chunks.
    next: u32,
}

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    use ColorType::{Gray, GrayA, Multiband, RGB, RGBA};
    let mut decoder = decoder(path, 0, Vec::new())?;
    let (width, height) = decoder.dimensions().map_err(|e| e.to_string())?;
    let extra = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).ok().flatten();
    let stored = decoder.find_tag_unsigned::<u16>(Tag::SamplesPerPixel).ok().flatten().unwrap_or(1);
    let mut color = decoder.colortype().map_err(|e| e.to_string())?;
    if matches!(color, RGB(_)) && stored == 4 {
        decoder = with_fourth_channel(path)?;
        color = decoder.colortype().map_err(|e| e.to_string())?;
    }
    if !matches!(color, Gray(_) | GrayA(_) | RGB(_) | RGBA(_) | Multiband { .. }) {
        return Err(format!("a TIFF with colors of the kind {color:?} is not read; save it as RGB"));
    }
    let channels = usize::from(stored);
    if channels > 4 || color.num_samples() != stored {
        return Err(format!("a TIFF with {stored} channels is not read; save it with at most four"));
    }
    if decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).is_ok_and(|p| p == Some(2)) && channels > 1 {
        return Err("its channels are stored apart; save it with interleaved channels".to_owned());
    }
    let alpha = match extra.as_deref() {
        _ if !channels.is_multiple_of(2) => Alpha::None,
        Some([1]) => Alpha::Associated,
        // Many programs write alpha without saying so.
        Some([2]) | None => Alpha::Straight,
        Some(_) => Alpha::None,
    };
    let description = decoder.get_tag_ascii_string(Tag::ImageDescription).unwrap_or_default();
    let space = description.split_whitespace().find_map(|w| ColorSpace::named(w.strip_prefix("oiio:ColorSpace=")?));
    let formats = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten().unwrap_or_default();
    let sample = sample(color.bit_depth(), formats.first())?;
    let picture = Picture { width, height, sample, channels, alpha, space, frame: None };
    picture.check()?;
    let length = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    // LZW makes bytes the shortest: a code of 12 bits stands for up to 3838 of them.
    check_length(length, picture.row_bytes() as u64 * u64::from(height), 4096)?;
    Ok(Box::new(ByChunks { picture, decoder, held: Vec::new(), given: 0, chunk: Vec::new(), next: 0 }))
}

fn sample(bits: u8, format: Option<&u16>) -> Result<Sample, String> {
    let float = match format {
        None | Some(1) => false,
        Some(3) => true,
        Some(_) => return Err("signed integers are not read; save it with unsigned ones, or floats".to_owned()),
    };
    match (bits, float) {
        (8, false) => Ok(Sample::U8),
        (16, false) => Ok(Sample::U16),
        (16, true) => Ok(Sample::F16),
        (32, true) => Ok(Sample::F32),
        (bits, _) => Err(format!("samples of {bits} bits are not read; save it with 8 or 16 bits, or floats")),
    }
}

/// Decodes the file, as if `bytes` stood at a place of it.
fn decoder(path: &Path, place: u64, bytes: Vec<u8>) -> Result<Decoder<BufReader<OtherBytes>>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let reader = BufReader::with_capacity(1 << 18, OtherBytes::new(file, place, bytes));
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 1 << 30;
    Ok(Decoder::new(reader).map_err(|e| e.to_string())?.with_limits(limits))
}

/// Of red, green, blue and a fourth channel of which the file does not say what it is, the library leaves out the fourth. It
/// reads all four if the file seems to say that the fourth is alpha.
fn with_fourth_channel(path: &Path) -> Result<Decoder<BufReader<OtherBytes>>, String> {
    const STRAIGHT_ALPHA: u8 = 2;
    let values = values(path, Tag::ExtraSamples.to_u16()).map_err(|e| e.to_string())?;
    let (place, big_endian) = values.ok_or("the tag that says what its fourth channel is cannot be found")?;
    decoder(path, place, if big_endian { [0, STRAIGHT_ALPHA] } else { [STRAIGHT_ALPHA, 0] }.to_vec())
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
