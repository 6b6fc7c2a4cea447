//! When a value equals the expected one.

use crate::types::Scalar;

/// How far a value may be from what is expected: by `absolute`, or by `relative` times what is expected,
/// whichever is more. Both 0 unless a test says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

impl Tolerance {
    /// Whether `found` will do for `wanted`. A float must be the nearest to what is wanted, where there is no
    /// tolerance. A NaN is equal to a NaN and to nothing else, an infinity to itself.
    pub fn accepts(self, found: f64, wanted: f64, scalar: Scalar) -> bool {
        let nearest = if scalar == Scalar::Float { f64::from(wanted as f32) } else { wanted };
        if found.is_nan() || wanted.is_nan() {
            return found.is_nan() && wanted.is_nan();
        }
        let near = || (found - wanted).abs() <= self.absolute.max(self.relative * wanted.abs());
        found == wanted || found == nearest || (wanted.is_finite() && near())
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = super::reproduce::number;
        match (self.absolute > 0.0, self.relative > 0.0) {
            (false, false) => f.write_str("no tolerance"),
            (true, false) => write!(f, "tolerance {}", number(self.absolute)),
            (false, true) => write!(f, "relative tolerance {}", number(self.relative)),
            (true, true) => {
                write!(f, "tolerance {}, relative {}", number(self.absolute), number(self.relative))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_absolute_or_relative_and_specials_are_equal_to_themselves_only() {
        let exact = Tolerance::default();
        let wide = Tolerance { absolute: 1e30, relative: 1e30 };
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert!(exact.accepts(f64::from(0.1f32), 0.1, Scalar::Float));
        assert!(!exact.accepts(f64::from(0.1f32).next_up(), 0.1, Scalar::Float));
        assert!(!exact.accepts(16_777_217.0, 16_777_216.0, Scalar::Int));
        assert!(exact.accepts(nan, nan, Scalar::Float) && exact.accepts(-inf, -inf, Scalar::Float));
        for (found, wanted) in [(nan, 0.0), (0.0, nan), (inf, 0.0), (0.0, inf), (inf, -inf)] {
            assert!(!wide.accepts(found, wanted, Scalar::Float), "{found} {wanted}");
        }
        let relative = Tolerance { absolute: 0.0, relative: 0.1 };
        assert!(relative.accepts(109.0, 100.0, Scalar::Float) && !relative.accepts(111.0, 100.0, Scalar::Float));
        assert!(relative.accepts(-91.0, -100.0, Scalar::Float) && !relative.accepts(0.01, 0.0, Scalar::Float));
        let both = Tolerance { absolute: 0.5, relative: 0.1 };
        assert!(both.accepts(0.4, 0.0, Scalar::Float) && both.accepts(109.0, 100.0, Scalar::Float));
    }
}
