//! Radiance HDR, by rows: texels of three mantissas and one exponent, packed by runs, as Ward wrote them down in
//! "Real Pixels" (Graphics Gems II, 1991) and in Radiance's file `color.c`.

use super::{Picture, Rows};
use crate::texture::{Alpha, ColorSpace, Sample};
use image::ImageDecoder;
use image::codecs::hdr::HdrDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

struct ByRow<R> {
    picture: Picture,
    reader: R,
    /// Mantissas and exponent of each texel of a row.
    row: Vec<[u8; 4]>,
}

/// Lengths between these are packed component by component.
const PACKED: std::ops::Range<usize> = 8..0x8000;

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    Ok(Box::new(ByRow::new(BufReader::with_capacity(1 << 18, file))?))
}

impl<R: BufRead> ByRow<R> {
    fn new(mut reader: R) -> Result<ByRow<R>, String> {
        // It reads the header, and no more of the file than that.
        let header = HdrDecoder::new(&mut reader).map_err(|e| e.to_string())?;
        let (width, height) = header.dimensions();
        let (sample, space) = (Sample::F32, Some(ColorSpace::Linear));
        let picture = Picture { width, height, sample, channels: 3, alpha: Alpha::None, space };
        picture.check()?;
        drop(header);
        Ok(ByRow { picture, reader, row: vec![[0; 4]; width as usize] })
    }

    fn texel(&mut self) -> Result<[u8; 4], String> {
        let mut texel = [0; 4];
        self.reader.read_exact(&mut texel).map_err(too_early)?;
        Ok(texel)
    }

    fn next_row(&mut self) -> Result<(), String> {
        let first = self.texel()?;
        let length = usize::from(first[2]) << 8 | usize::from(first[3]);
        if first[..2] == [2, 2] && length == self.row.len() && PACKED.contains(&length) {
            (0..4).try_for_each(|component| self.runs(component))
        } else {
            self.texels(first)
        }
    }

    /// One component of a row: a count up to 128 and so many values, or 128 more than a count and one value for all.
    fn runs(&mut self, component: usize) -> Result<(), String> {
        let mut at = 0;
        while at < self.row.len() {
            let mut count = [0];
            self.reader.read_exact(&mut count).map_err(too_early)?;
            let (count, is_run) = if count[0] > 128 { (count[0] - 128, true) } else { (count[0], false) };
            let mut values = [0; 128];
            let read = if is_run { 1 } else { usize::from(count) };
            self.reader.read_exact(&mut values[..read]).map_err(too_early)?;
            let places = self.row.get_mut(at..at + usize::from(count)).filter(|p| !p.is_empty()).ok_or_else(damaged)?;
            for (i, place) in places.iter_mut().enumerate() {
                place[component] = values[if is_run { 0 } else { i }];
            }
            at += usize::from(count);
        }
        Ok(())
    }

    /// Texels one by one; one with all mantissas 1 repeats the one before, counts of successive ones being digits to
    /// the base of 256, lowest first.
    fn texels(&mut self, first: [u8; 4]) -> Result<(), String> {
        let (mut next, mut at, mut digit) = (Some(first), 0, 0);
        while at < self.row.len() {
            let texel = match next.take() {
                Some(first) => first,
                None => self.texel()?,
            };
            if texel[..3] != [1, 1, 1] {
                self.row[at] = texel;
                (at, digit) = (at + 1, 0);
                continue;
            }
            // Wider shifts than this count more texels than a row has.
            let count = usize::from(texel[3]).checked_shl(8 * digit).filter(|_| digit < 4).ok_or_else(damaged)?;
            let last = *at.checked_sub(1).and_then(|last| self.row.get(last)).ok_or_else(damaged)?;
            self.row.get_mut(at..at.saturating_add(count)).ok_or_else(damaged)?.fill(last);
            (at, digit) = (at + count, digit + 1);
        }
        Ok(())
    }
}

fn too_early(error: std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "the image ends too early".to_owned(),
        _ => error.to_string(),
    }
}

fn damaged() -> String {
    "a row does not fit the width that the image says".to_owned()
}

impl<R: BufRead + Send> Rows for ByRow<R> {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        for row in out.chunks_exact_mut(self.picture.row_bytes()) {
            self.next_row()?;
            for (texel, to) in self.row.iter().zip(row.as_chunks_mut::<12>().0) {
                // Mantissas are in 256ths, the exponent's zero is 128.
                let scale = if texel[3] == 0 { 0.0 } else { 2.0_f64.powi(i32::from(texel[3]) - 136) };
                for (component, bytes) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    *bytes = ((f64::from(texel[component]) * scale) as f32).to_ne_bytes();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::hdr::HdrEncoder;
    use image::{DynamicImage, Rgb};

    fn rows(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut reader = ByRow::new(bytes)?;
        let mut out = vec![0; reader.picture.row_bytes() * reader.picture.height as usize];
        reader.read(&mut out)?;
        Ok(out)
    }

    /// The image crate's decoder, which holds images whole.
    fn whole(bytes: &[u8]) -> Option<Vec<u8>> {
        let image = DynamicImage::from_decoder(HdrDecoder::new(bytes).ok()?).ok()?;
        Some(image.into_rgb32f().into_raw().into_iter().flat_map(f32::to_ne_bytes).collect())
    }

    /// Short rows are not packed, runs and noise are packed differently; `range` is that of the values.
    fn encoded(width: u32, height: u32, range: u32) -> Vec<u8> {
        let value = |x: u32, y: u32, c: u32| {
            let hash = (x * 7919 + y * 104_729 + c * 31).wrapping_mul(2_654_435_761) >> 8;
            (hash % (range + 1)) as f32 * 10_f32.powi((x / 50) as i32 - 3)
        };
        let texels = (0..height).flat_map(|y| (0..width).map(move |x| Rgb([0, 1, 2].map(|c| value(x, y, c)))));
        let mut bytes = Vec::new();
        let texels: Vec<Rgb<f32>> = texels.collect();
        HdrEncoder::new(&mut bytes).encode(&texels, width as usize, height as usize).expect("it is in memory");
        bytes
    }

    #[test]
    fn rows_are_what_another_decoder_reads() {
        for width in (1..12).chain([127, 128, 129, 300]) {
            for (height, range) in [(1, 0), (3, 1), (2, 30_000)] {
                let bytes = encoded(width, height, range);
                let read = rows(&bytes);
                assert!(read.is_ok() && read.ok() == whole(&bytes), "{width}×{height} up to {range}");
                // Cut short it is no image for either.
                for cut in 1..20 {
                    let cut = &bytes[..bytes.len() - cut];
                    assert_eq!((rows(cut).ok(), whole(cut)), (None, None));
                }
            }
        }
    }

    /// Whatever stands there, there are rows or an error.
    #[test]
    fn nothing_breaks_it() {
        for seed in 0..20_000_u64 {
            let width = 1 + seed % 40;
            let mut bytes = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X {width}\n").into_bytes();
            if seed % 3 > 0 {
                bytes.extend([2, 2, 0, width as u8]);
            }
            let numbers =
                std::iter::successors(Some(seed), |n| Some(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)));
            bytes.extend(numbers.skip(2).take(300).map(|n| [0, 1, 2, 128, 129, 131][(n >> 40) as usize % 6]));
            let _ = rows(&bytes);
        }
    }

    #[test]
    fn runs_of_texels_count_to_the_base_of_256() {
        let mut bytes = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 260\n".to_vec();
        // One texel, 3 more of it, 256 more of it.
        bytes.extend([128, 64, 0, 129, 1, 1, 1, 3, 1, 1, 1, 1]);
        let texel: Vec<u8> = [1.0_f32, 0.5, 0.0].iter().flat_map(|f| f.to_ne_bytes()).collect();
        assert_eq!(rows(&bytes), Ok(texel.repeat(260)));
    }
}
