//! Radiance HDR, by rows: texels of three mantissas and one exponent, packed by runs, as Ward wrote them down in
//! "Real Pixels" (Graphics Gems II, 1991) and in Radiance's file `color.c`.

use super::rows::{Picture, Rows, check_length};
use super::{Alpha, ColorSpace, Sample};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

struct ByRow<R> {
    picture: Picture,
    reader: R,
    /// Mantissas and exponent of each texel of a row.
    row: Vec<[u8; 4]>,
    /// Red, green and blue are so many times radiance.
    exposure: [f64; 3],
}

/// Lengths between these are packed component by component.
const PACKED: std::ops::Range<usize> = 8..0x8000;

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let length = file.metadata().map_err(|e| e.to_string())?.len();
    Ok(Box::new(ByRow::new(BufReader::with_capacity(1 << 18, file), length)?))
}

impl<R: BufRead> ByRow<R> {
    /// `length` is that of the file.
    fn new(mut reader: R, length: u64) -> Result<ByRow<R>, String> {
        let header = header(&mut reader)?;
        let exposure = exposure(&header)?;
        let (width, height) = size(&line(&mut reader)?)?;
        let (sample, space) = (Sample::F32, Some(ColorSpace::Linear));
        let picture = Picture { width, height, sample, channels: 3, alpha: Alpha::None, space, frame: None };
        picture.check()?;
        check_length(length, least_bytes(width) * u64::from(height), 1)?;
        Ok(ByRow { picture, reader, row: vec![[0; 4]; width as usize], exposure })
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

/// Bytes that a header may have; it has notes on how the picture was made.
const MOST_HEADER: usize = 1 << 20;

/// A line of the header, without its end.
fn line(reader: &mut impl BufRead) -> Result<String, String> {
    let mut line = Vec::new();
    reader.take(MOST_HEADER as u64).read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
    match line.pop() {
        Some(b'\n') => Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned()),
        _ => Err("the header does not end".to_owned()),
    }
}

/// The lines up to the empty one. Programs write their own names behind `#?` in the first one.
fn header(reader: &mut impl BufRead) -> Result<String, String> {
    let mut header = String::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok(header);
        }
        match line.strip_prefix("FORMAT=").map(str::trim) {
            None | Some("32-bit_rle_rgbe") => {}
            Some("32-bit_rle_xyze") => return Err("its colors are XYZ; save it with RGB".to_owned()),
            Some(other) => return Err(format!("its format is `{other}`, and 32-bit_rle_rgbe is read")),
        }
        header.push_str(&line);
        header.push('\n');
        if header.len() > MOST_HEADER {
            return Err("the header does not end".to_owned());
        }
    }
}

/// Width and height, of rows from the top with pixels from the left.
fn size(line: &str) -> Result<(u32, u32), String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let side = |digits: &str| digits.parse().map_err(|_| format!("`{line}` says no size"));
    match words[..] {
        ["-Y", height, "+X", width] => Ok((side(width)?, side(height)?)),
        ["-Y" | "+Y" | "-X" | "+X", _, "-Y" | "+Y" | "-X" | "+X", _] => {
            Err("its rows do not stand from the top down, each from the left; turn it upright".to_owned())
        }
        _ => Err(format!("`{line}` says no size")),
    }
}

/// The product of all lines `EXPOSURE` and `COLORCORR`. An indented line is about a picture that this one was made of; so
/// Radiance's `color.h` looks for the name at the beginning of the line only.
fn exposure(header: &str) -> Result<[f64; 3], String> {
    let mut product = [1.0; 3];
    for line in header.lines() {
        let (name, values) = match line.split_once('=') {
            Some((name @ ("EXPOSURE" | "COLORCORR"), values)) => (name, values),
            _ => continue,
        };
        let numbers: Vec<f64> = values.split_whitespace().filter_map(|v| v.parse().ok()).collect();
        let factors = match (name, numbers.as_slice()) {
            ("EXPOSURE", [one]) => [*one; 3],
            ("COLORCORR", [red, green, blue]) => [*red, *green, *blue],
            _ => return Err(format!("its {name} has a wrong number of values")),
        };
        product.iter_mut().zip(factors).for_each(|(p, f)| *p *= f);
    }
    match product.iter().all(|p| p.is_normal() && *p > 0.0) {
        true => Ok(product),
        false => Err("its EXPOSURE and COLORCORR do not multiply to positive numbers".to_owned()),
    }
}

/// What a row takes at least: a texel, and a texel for each digit to the base of 256 of the count of others like it. Rows
/// that are packed component by component take more.
fn least_bytes(width: u32) -> u64 {
    let digits = (width - 1).checked_ilog2().map_or(0, |bits| bits / 8 + 1);
    4 * (1 + u64::from(digits))
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
                    let radiance = f64::from(texel[component]) * scale / self.exposure[component];
                    *bytes = (radiance as f32).to_ne_bytes();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::hdr::{HdrDecoder, HdrEncoder};
    use image::{DynamicImage, Rgb};

    fn rows(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut reader = ByRow::new(bytes, bytes.len() as u64)?;
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

    /// Radiance is what is stored, divided by all exposures and corrections of color.
    #[test]
    fn exposures_are_divided_out() {
        let texel = |header: &str| {
            let mut bytes = format!("#?RADIANCE\n{header}FORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n").into_bytes();
            // Three halves of each color.
            bytes.extend([192, 192, 192, 129]);
            let floats = rows(&bytes)?;
            Ok::<Vec<f32>, String>(floats.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b)).collect())
        };
        assert_eq!(texel(""), Ok(vec![1.5; 3]));
        assert_eq!(texel("EXPOSURE=2.0\n"), Ok(vec![0.75; 3]));
        assert_eq!(texel("EXPOSURE= 4\nEXPOSURE=1.25e-1\n"), Ok(vec![3.0; 3]));
        assert_eq!(texel("COLORCORR=1 2 0.5\n"), Ok(vec![1.5, 0.75, 3.0]));
        assert_eq!(texel("EXPOSURE=0.5\nCOLORCORR= 1 2 .5\nCOLORCORR=2 1 1\n"), Ok(vec![1.5, 1.5, 6.0]));
        // Of the pictures that this one was made of, and a comment.
        assert_eq!(texel("pcomb a.hdr\n\tEXPOSURE=8\n#EXPOSURE=8\n"), Ok(vec![1.5; 3]));
        for wrong in ["EXPOSURE=0\n", "EXPOSURE=-1\n", "EXPOSURE=nan\n", "EXPOSURE=inf\n", "COLORCORR=1 1\n"] {
            assert!(texel(wrong).is_err(), "{wrong}");
        }
    }

    /// `rgbe.c`, which many programs hold, writes another name than Radiance; others write CR LF.
    #[test]
    fn any_program_may_have_written_it() {
        let of = |header: &str| {
            let mut bytes = header.as_bytes().to_vec();
            bytes.extend([192, 96, 48, 129]);
            rows(&bytes).map(|bytes| bytes.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b)).collect::<Vec<f32>>())
        };
        for begin in ["#?RADIANCE\n", "#?RGBE\n", "#?HDRShop 1.0\r\n", "#?\n# a note\n"] {
            assert_eq!(
                of(&format!("{begin}FORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n")),
                Ok(vec![1.5, 0.75, 0.375]),
                "{begin}"
            );
        }
        assert!(of("#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n").is_err_and(|why| why.contains("XYZ")));
        assert!(of("#?RADIANCE\n\n+Y 1 +X 1\n").is_err_and(|why| why.contains("from the top")));
        assert!(of("#?RADIANCE\n\n-Y 1 +X -1\n").is_err_and(|why| why.contains("no size")));
        assert!(of("#?RADIANCE\n").is_err_and(|why| why.contains("does not end")));
    }

    #[test]
    fn files_too_short_for_their_size_are_refused_at_once() {
        let header = |width: u32, height: u32| {
            format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes()
        };
        let open = |bytes: &[u8]| ByRow::new(bytes, bytes.len() as u64).map(|_| ());
        let short = "the file is shorter than an image of the size that it says".to_owned();
        assert_eq!(open(&header(100_000, 100_000)), Err(short.clone()));
        // The shortest rows that there are: one texel, and the count of those that are like it.
        for (width, counts) in [(1, vec![]), (2, vec![1]), (256, vec![255]), (257, vec![0, 1]), (65_537, vec![0, 0, 1])]
        {
            let count = |n: u8| [1, 1, 1, n];
            let row = [vec![[9, 9, 9, 128]], counts.into_iter().map(count).collect()].concat().concat();
            assert_eq!(row.len() as u64, least_bytes(width));
            let bytes = [header(width, 40), row.repeat(40)].concat();
            assert!(rows(&bytes).is_ok(), "{width}");
            // What the header takes is not subtracted.
            assert_eq!(open(&bytes[..bytes.len() - header(width, 40).len() - 1]), Err(short.clone()));
        }
        assert!(open(&header(1 << 20, 1 << 20)).expect_err("it is too large").contains("256 GiB"));
    }
}
