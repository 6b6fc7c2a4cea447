//! What lies outside the unit square.

/// How coordinates outside [0, 1] are answered, per axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
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

    /// A coordinate brought near the unit interval before it is scaled, so that it fits an integer.
    #[inline]
    pub fn fold(self, t: f32) -> f32 {
        if (0.0..1.0).contains(&t) {
            return t;
        }
        self.fold_far(t)
    }

    #[inline(never)]
    fn fold_far(self, t: f32) -> f32 {
        match self {
            Wrap::Repeat => fraction(t),
            Wrap::Mirror => 2.0 * fraction(t * 0.5),
            Wrap::Clamp | Wrap::Black => t.clamp(-1.0, 2.0),
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

/// The largest whole number that is not above a number of moderate size, and what is left.
#[inline]
pub fn floor(x: f32) -> (i32, f32) {
    // `f32::floor` is a call on processors as old as the ones that are compiled for.
    let (i, whole) = (x as i32, x as i32 as f32);
    if whole > x { (i - 1, x - (whole - 1.0)) } else { (i, x - whole) }
}

fn fraction(t: f32) -> f32 {
    // Numbers past this are whole.
    if t.abs() < 8_388_608.0 { floor(t).1 } else { 0.0 }
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

    /// Folding moves a coordinate by whole periods only.
    #[test]
    fn folded_coordinates_meet_the_same_texels() {
        for (_, wrap) in Wrap::NAMED {
            for i in -40..40 {
                let t = i as f32 * 0.173;
                let texel = |t: f32| wrap.texel((t * 16.0).floor() as i64, 16);
                assert_eq!(texel(wrap.fold(t)), texel(t), "{wrap:?} {t}");
            }
        }
    }
}
