//! A picture whole, as floats: light, or the numbers of the file.

use super::rows::{Frame, Picture, Rows};
use super::{Alpha, ColorSpace, Sample};
use crate::srgb;
use half::f16;

/// A picture of four floats a pixel, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Floats {
    pub size: [u32; 2],
    /// Red, green, blue, alpha. Of a gray picture the colors are the same; alpha is 1 where there is none. Pixels of the frame
    /// that the file does not have are 0.
    pub pixels: Vec<[f32; 4]>,
    /// How colors and alpha go together.
    pub alpha: Alpha,
    pub is_gray: bool,
    /// The file holds display values, and not light.
    pub is_shown: bool,
    frame: Option<Frame>,
    /// Of the file.
    stored: [u32; 2],
}

impl Floats {
    /// Reads all rows. Colors become light by the color space that the file states; without one, integers are sRGB and floats
    /// are light. With `raw`, colors are the numbers of the file, integers scaled to 0..1. Alpha is never encoded.
    ///
    /// A picture with a frame is as large as that.
    pub fn read(mut rows: Box<dyn Rows>, raw: bool) -> Result<Floats, String> {
        let picture = rows.picture();
        let [width, height] = picture.whole();
        let count = width as usize * height as usize;
        let mut pixels = Vec::new();
        pixels.try_reserve_exact(count).map_err(|_| "it needs more memory than there is".to_owned())?;
        let is_shown = picture.color_space() == ColorSpace::Srgb;
        let decode = is_shown && !raw;
        let mut row = vec![0; picture.row_bytes()];
        // Integers of 8 bits are few.
        let table: Vec<f32> = (0..=255_u8).map(|code| srgb::to_linear(f32::from(code) / 255.0)).collect();
        let frame = picture.frame.unwrap_or(Frame { width, height, left: 0, top: 0 });
        for y in 0..picture.height {
            rows.read(&mut row)?;
            let Some(y) = within(frame.top, y, height) else { continue };
            // A damaged file takes no more memory than the rows that it has.
            pixels.resize((y + 1) * width as usize, [0.0; 4]);
            for (x, texel) in row.chunks_exact(picture.channels * picture.sample.bytes()).enumerate() {
                if let Some(x) = within(frame.left, x as u32, width) {
                    pixels[y * width as usize + x] = pixel(texel, &picture, decode.then_some(&table[..]));
                }
            }
        }
        pixels.resize(count, [0.0; 4]);
        let (alpha, is_gray) = (picture.alpha, picture.channels < 3);
        let stored = [picture.width, picture.height];
        Ok(Floats { size: [width, height], pixels, alpha, is_gray, is_shown, frame: picture.frame, stored })
    }

    /// Whether the file has a pixel.
    pub fn holds(&self, x: u32, y: u32) -> bool {
        let inside = |at: u32, first: i64, count: u32| (first..first + i64::from(count)).contains(&i64::from(at));
        self.frame.is_none_or(|f| inside(x, f.left, self.stored[0]) && inside(y, f.top, self.stored[1]))
    }

    /// The color of a pixel where alpha covers it, and how much that is, from 0 to 1.
    pub fn covered(&self, index: usize) -> ([f32; 3], f32) {
        let [r, g, b, a] = self.pixels[index];
        let width = self.size[0] as usize;
        if !self.holds((index % width) as u32, (index / width) as u32) || a <= 0.0 {
            return ([0.0; 3], 0.0);
        }
        match self.alpha {
            Alpha::Associated => ([r / a, g / a, b / a], a.clamp(0.0, 1.0)),
            Alpha::None | Alpha::Straight => ([r, g, b], a.clamp(0.0, 1.0)),
        }
    }
}

/// The place of a pixel within a frame that begins before it.
fn within(first: i64, at: u32, count: u32) -> Option<usize> {
    let place = first + i64::from(at);
    (0..i64::from(count)).contains(&place).then_some(place as usize)
}

/// A texel as floats; with a table of its codes of 8 bits, sRGB becomes light.
fn pixel(texel: &[u8], picture: &Picture, table: Option<&[f32]>) -> [f32; 4] {
    let number = |c: usize| match (picture.sample, &texel[c * picture.sample.bytes()..]) {
        (Sample::U8, [a, ..]) => f32::from(*a) / 255.0,
        (Sample::U16, [a, b, ..]) => f32::from(u16::from_ne_bytes([*a, *b])) / 65535.0,
        (Sample::F16, [a, b, ..]) => f16::from_ne_bytes([*a, *b]).to_f32(),
        (Sample::F32, [a, b, c, d, ..]) => f32::from_ne_bytes([*a, *b, *c, *d]),
        // Rows are whole texels.
        _ => 0.0,
    };
    let has_alpha = picture.channels.is_multiple_of(2);
    let a = if has_alpha { number(picture.channels - 1) } else { 1.0 };
    let color = |c: usize| match (table, picture.alpha) {
        (None, _) => number(c),
        // Texture makers multiply the encoded values by alpha.
        (Some(_), Alpha::Associated) if a > 0.0 => srgb::to_linear((number(c) / a).min(1.0)) * a,
        (Some(table), _) if picture.sample == Sample::U8 => table[usize::from(texel[c])],
        (Some(_), _) => srgb::to_linear(number(c)),
    };
    match picture.channels {
        1 | 2 => {
            let gray = color(0);
            [gray, gray, gray, a]
        }
        _ => [color(0), color(1), color(2), a],
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::Whole;
    use super::*;

    fn read(picture: Picture, bytes: Vec<u8>, raw: bool) -> Floats {
        Floats::read(Box::new(Whole::new(picture, move || Ok(bytes))), raw).expect("it is in memory")
    }

    fn picture(width: u32, height: u32, sample: Sample, channels: usize, alpha: Alpha) -> Picture {
        Picture { width, height, sample, channels, alpha, space: None, frame: None }
    }

    #[test]
    fn integers_become_light_and_floats_stay() {
        let bytes = read(picture(1, 1, Sample::U8, 4, Alpha::Straight), vec![0, 128, 255, 51], false);
        // By the standard: 128/255 encodes 0.215861.
        let [r, g, b, a] = bytes.pixels[0];
        assert!(r == 0.0 && (g - 0.215_861).abs() < 1e-6 && b == 1.0 && a == 0.2, "{bytes:?}");
        assert!(bytes.is_shown && !bytes.is_gray);
        let raw = read(picture(1, 1, Sample::U8, 2, Alpha::Straight), vec![51, 255], true);
        assert_eq!((raw.pixels[0], raw.is_gray), ([0.2, 0.2, 0.2, 1.0], true));
        let light = read(picture(1, 1, Sample::F32, 1, Alpha::None), 2.5_f32.to_ne_bytes().to_vec(), false);
        assert_eq!((light.pixels[0], light.is_shown), ([2.5, 2.5, 2.5, 1.0], false));
        let linear = Picture { space: Some(ColorSpace::Linear), ..picture(1, 1, Sample::U8, 1, Alpha::None) };
        let linear = read(linear, vec![51], false);
        assert_eq!((linear.pixels[0][0], linear.is_shown), (0.2, false));
    }

    /// Of three pixels the frame shows the last two, and one that the file does not have.
    #[test]
    fn a_frame_places_and_cuts() {
        let frame = Some(Frame { width: 3, height: 2, left: -1, top: 1 });
        let placed = Picture { frame, ..picture(3, 1, Sample::F32, 1, Alpha::None) };
        let bytes = [1.0_f32, 2.0, 3.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        let found = read(placed, bytes, false);
        assert_eq!(found.size, [3, 2]);
        let reds: Vec<f32> = found.pixels.iter().map(|p| p[0]).collect();
        assert_eq!(reds, [0.0, 0.0, 0.0, 2.0, 3.0, 0.0]);
        let held: Vec<bool> = (0..6).map(|i| found.holds(i % 3, i / 3)).collect();
        assert_eq!(held, [false, false, false, true, true, false]);
        assert_eq!((found.covered(4), found.covered(5)), (([3.0; 3], 1.0), ([0.0; 3], 0.0)));
    }

    #[test]
    fn what_alpha_covers_has_its_own_color() {
        let bytes: Vec<u8> =
            [0.1_f32, 0.2, 0.3, 0.5, 9.0, 9.0, 9.0, 0.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        let associated = read(picture(2, 1, Sample::F32, 4, Alpha::Associated), bytes.clone(), false);
        assert_eq!((associated.covered(0), associated.covered(1)), (([0.2, 0.4, 0.6], 0.5), ([0.0; 3], 0.0)));
        let straight = read(picture(2, 1, Sample::F32, 4, Alpha::Straight), bytes, false);
        assert_eq!(straight.covered(0), ([0.1, 0.2, 0.3], 0.5));
    }
}
