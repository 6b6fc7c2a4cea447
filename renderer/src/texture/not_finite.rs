//! Texels that are NaN or infinite. Filters would spread them over all levels, and one of them would be a whole
//! picture. So each such number is replaced: +∞ by the largest half float, where infinities in pictures come from, and
//! −∞ and NaN by 0. Conversion replaces them, and the new file holds their number.

use std::fmt;

/// The replacement of +∞.
pub const LARGEST: f32 = 65504.0;

/// The number that counts in place of another.
#[inline(always)]
pub fn replaced(x: f32) -> f32 {
    if x.is_finite() {
        x
    } else if x == f32::INFINITY {
        LARGEST
    } else {
        0.0
    }
}

/// Texels of an image that were replaced; displays as a part of a sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite {
    pub count: u64,
    /// The column from the left and the row from the top of the first one, from 0.
    pub first: [u32; 2],
}

/// The name under which files say which texels were replaced.
pub const NOT_FINITE: &str = "ssl:notFinite";

impl NotFinite {
    /// These and further ones, which come later.
    pub fn and(self, later: NotFinite) -> NotFinite {
        NotFinite { count: self.count + later.count, ..self }
    }

    /// For the header of a file, as long for any texels; zeros for none.
    pub fn to_header(texels: Option<NotFinite>) -> String {
        let NotFinite { count, first: [x, y] } = texels.unwrap_or(NotFinite { count: 0, first: [0, 0] });
        format!("{count:020},{x:010},{y:010}")
    }

    /// The same from there; none where nothing was replaced, or that cannot be read.
    pub fn from_header(text: &str) -> Option<NotFinite> {
        let mut numbers = text.split(',').map(|n| n.parse::<u64>().ok());
        let (count, x, y) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let first = [u32::try_from(x).ok()?, u32::try_from(y).ok()?];
        (count > 0).then_some(NotFinite { count, first })
    }
}

/// The replacements of such texels, for messages.
pub const COUNTS_AS: &str =
    "infinity counts as 65504 there, NaN and minus infinity as 0; make the image anew without them";

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotFinite { count, first: [x, y] } = self;
        match count {
            1 => write!(f, "has a texel that is NaN or infinite, in column {x} of row {y} from the top"),
            _ => write!(
                f,
                "has {count} texels that are NaN or infinite, the first in column {x} of row {y} from the top"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_as_long_for_any_texels() {
        let none = NotFinite::to_header(None);
        for texels in [NotFinite { count: 1, first: [0, 0] }, NotFinite { count: u64::MAX, first: [u32::MAX; 2] }] {
            let header = NotFinite::to_header(Some(texels));
            assert_eq!((header.len(), NotFinite::from_header(&header)), (none.len(), Some(texels)));
        }
        assert_eq!([none.as_str(), "", "1,2", "1,-2,3"].map(NotFinite::from_header), [None; 4]);
    }
}
