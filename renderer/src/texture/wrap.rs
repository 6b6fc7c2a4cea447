//! What lies outside the unit square.

/// How coordinates outside [0, 1] are answered, per axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wrap {
    /// Nothing: black and transparent.
    Black,
    /// The texel at the border.
    Clamp,
    #[default]
    Repeat,
    /// The image, every second time reversed.
    Mirror,
}

impl Wrap {
    /// Each with its name in scenes, graphs and files.
    pub const NAMED: [(&str, Wrap); 4] =
        [("black", Wrap::Black), ("clamp", Wrap::Clamp), ("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror)];

    pub fn by_name(name: &str) -> Option<Wrap> {
        Wrap::NAMED.iter().find(|(n, _)| *n == name).map(|&(_, wrap)| wrap)
    }

    /// Coordinates brought near the unit interval before they are scaled, so that they fit an integer; those inside
    /// stay what they are.
    #[inline(always)]
    pub fn fold<const N: usize>(self, t: &mut [f32; N]) {
        // A loop each, of which the compiler makes vector code.
        match self {
            Wrap::Repeat => t.iter_mut().for_each(|t| *t = fraction(*t)),
            Wrap::Mirror => t.iter_mut().for_each(|t| *t = 2.0 * fraction(*t * 0.5)),
            Wrap::Clamp | Wrap::Black => t.iter_mut().for_each(|t| *t = t.clamp(-1.0, 2.0)),
        }
    }

    /// The texel, of `n` in a row, that stands at place `i`; `None` where there is nothing.
    pub fn texel(self, i: i64, n: u32) -> Option<u32> {
        let count = i64::from(n);
        let inside = match self {
            Wrap::Black => return u32::try_from(i).ok().filter(|&i| i < n),
            Wrap::Clamp => i.clamp(0, count - 1),
            Wrap::Repeat => i.rem_euclid(count),
            Wrap::Mirror => {
                let j = i.rem_euclid(2 * count);
                j.min(2 * count - 1 - j)
            }
        };
        Some(inside as u32)
    }
}

/// Numbers up to this in size have a floor, and a fraction worth having.
const LARGEST: f32 = 4_194_304.0;

/// The largest whole number that is not above `x`, and what is left. `x` is not above 2²² in size; what comes out for
/// others means nothing.
#[inline(always)]
pub fn floor(x: f32) -> (i32, f32) {
    // Where floats are this large their last bit counts ones, so that the sum is rounded to a whole number. Vector code
    // of the oldest processors has this; conversions that are defined for all floats it has not.
    const WHOLE: f32 = 12_582_912.0;
    let rounded = x + WHOLE;
    let (i, whole) = (rounded.to_bits().wrapping_sub(WHOLE.to_bits()) as i32, rounded - WHOLE);
    let above = whole > x;
    (i.wrapping_sub(i32::from(above)), x - if above { whole - 1.0 } else { whole })
}

#[inline(always)]
fn fraction(t: f32) -> f32 {
    let fraction = floor(t).1;
    if t.abs() < LARGEST { fraction } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_past_the_borders_are_those_of_the_mode() {
        let row = |wrap: Wrap| (-4..7).map(|i| wrap.texel(i, 3).map_or(-1, |t| t as i32)).collect::<Vec<i32>>();
        assert_eq!(row(Wrap::Black), [-1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1]);
        assert_eq!(row(Wrap::Clamp), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(row(Wrap::Repeat), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(row(Wrap::Mirror), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]);
    }

    #[test]
    fn floors_are_those_of_the_definition() {
        let mut x = 1e-30_f32;
        while x <= LARGEST {
            for x in [x, -x, x.round(), -x.round(), x.round().next_down(), -x.round().next_down()] {
                assert_eq!(floor(x), (x.floor() as i32, x - x.floor()), "{x}");
            }
            x *= 1.37;
        }
    }

    /// Folding moves a coordinate by whole periods only.
    #[test]
    fn folded_coordinates_meet_the_same_texels() {
        for (_, wrap) in Wrap::NAMED {
            for i in -40..40 {
                let t = i as f32 * 0.173;
                let texel = |t: f32| wrap.texel((t * 16.0).floor() as i64, 16);
                let mut folded = [t];
                wrap.fold(&mut folded);
                assert_eq!(texel(folded[0]), texel(t), "{wrap:?} {t}");
            }
        }
    }
}
