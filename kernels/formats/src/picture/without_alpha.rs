//! Rows of a picture without its alpha, where that means nothing: filters would else weight colors with it.

use super::Alpha;
use super::rows::{Picture, Rows};

/// The same picture without alpha, if its colors are not multiplied by it; multiplied colors need their alpha.
pub fn without_alpha(rows: Box<dyn Rows>) -> Box<dyn Rows> {
    let picture = rows.picture();
    if picture.channels.is_multiple_of(2) && picture.alpha != Alpha::Associated {
        Box::new(WithoutAlpha { rows, from: picture, texels: Vec::new() })
    } else {
        rows
    }
}

struct WithoutAlpha {
    rows: Box<dyn Rows>,
    from: Picture,
    texels: Vec<u8>,
}

impl Rows for WithoutAlpha {
    fn picture(&self) -> Picture {
        Picture { channels: self.from.channels - 1, alpha: Alpha::None, ..self.from }
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        let sample = self.from.sample.bytes();
        let (whole, kept) = (self.from.channels * sample, (self.from.channels - 1) * sample);
        self.texels.resize(out.len() / kept * whole, 0);
        self.rows.read(&mut self.texels)?;
        for (to, texel) in out.chunks_exact_mut(kept).zip(self.texels.chunks_exact(whole)) {
            to.copy_from_slice(&texel[..kept]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::Whole;
    use super::super::{ColorSpace, Sample};
    use super::*;

    #[test]
    fn colors_stay_as_they_were() {
        let of = |channels, alpha, bytes: Vec<u8>| {
            let space = Some(ColorSpace::Linear);
            let picture = Picture { width: 2, height: 1, sample: Sample::U16, channels, alpha, space, frame: None };
            let mut rows = without_alpha(Box::new(Whole::new(picture, move || Ok(bytes))));
            let mut out = vec![0; rows.picture().row_bytes()];
            rows.read(&mut out).expect("it is in memory");
            (rows.picture().channels, out)
        };
        let texels: Vec<u8> = (0..16).collect();
        let kept = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13].to_vec();
        assert_eq!(of(4, Alpha::Straight, texels.clone()), (3, kept));
        assert_eq!(of(2, Alpha::None, texels[..8].to_vec()), (1, vec![0, 1, 4, 5]));
        assert_eq!(of(4, Alpha::Associated, texels.clone()), (4, texels));
    }
}
