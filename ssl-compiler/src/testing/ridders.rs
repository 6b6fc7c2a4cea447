//! Ridders' method: central differences at steps that halve, extrapolated to step 0 by Neville's scheme.
//!
//! C. Ridders, Accurate computation of F'(x) and F'(x)F''(x), Advances in Engineering Software 4 (1982);
//! Press et al., Numerical Recipes, section 5.7. The error of a central difference is a series in even
//! powers of the step, so each column removes one more of them. The estimate of the error is how far an
//! entry lies from the two of one order less that it was made of, or what rounding does to a difference of
//! that step, whichever is more: steps of one result of f32 can agree by accident. Unlike the textbook's,
//! this one does not stop at the first step that makes things worse: a coarse step may be lost among waves.

/// By how much the step shrinks from one difference to the next.
pub(super) const SHRINK: f64 = 2.0;

/// The slope of one quantity, and how well it is known.
#[derive(Clone, Debug)]
pub(super) struct Slope {
    /// The last row of the scheme, rising orders.
    row: Vec<f64>,
    pub best: f64,
    /// How far `best` may be off; infinite until there are two differences.
    pub error: f64,
}

impl Slope {
    pub fn unknown() -> Slope {
        Slope { row: Vec::new(), best: f64::NAN, error: f64::INFINITY }
    }

    /// One that was found in another way.
    pub fn known(best: f64, error: f64) -> Slope {
        Slope { row: Vec::new(), best, error }
    }

    /// Takes the central difference at the next, smaller step, and how far rounding may have moved it.
    pub fn refine(&mut self, difference: f64, rounding: f64) {
        let mut row = Vec::with_capacity(self.row.len() + 1);
        row.push(difference);
        let mut factor = 1.0;
        for (order, &coarser) in self.row.iter().enumerate() {
            factor *= SHRINK * SHRINK;
            let finer = row[order];
            let entry = (factor * finer - coarser) / (factor - 1.0);
            let error = (entry - finer).abs().max((entry - coarser).abs()) + rounding;
            if error <= self.error {
                (self.best, self.error) = (entry, error);
            }
            row.push(entry);
        }
        self.row = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slope(f: impl Fn(f64) -> f64, x: f64, mut step: f64, levels: usize) -> Slope {
        let mut slope = Slope::unknown();
        for _ in 0..levels {
            slope.refine((f(x + step) - f(x - step)) / (2.0 * step), f64::EPSILON * f(x).abs() / step);
            step /= SHRINK;
        }
        slope
    }

    #[test]
    fn smooth_functions_come_out_to_many_digits_and_the_error_is_honest() {
        for (f, x, exact) in [
            (f64::exp as fn(f64) -> f64, 1.0, std::f64::consts::E),
            (f64::sin, 0.3, 0.3f64.cos()),
            (f64::ln, 0.5, 2.0),
            (|x| x.powi(5), 2.0, 80.0),
        ] {
            let s = slope(f, x, 0.1, 6);
            assert!((s.best - exact).abs() < 1e-10 * exact.abs().max(1.0), "{s:?}, {exact}");
            assert!((s.best - exact).abs() <= 10.0 * s.error + 1e-12, "{s:?}, {exact}");
        }
    }

    #[test]
    fn a_step_among_waves_recovers_and_one_difference_is_not_enough() {
        let s = slope(|x| (1000.0 * x).sin(), 0.01, 1e-2, 12);
        assert!((s.best - 1000.0 * 10.0f64.cos()).abs() < 1e-4, "{s:?}");
        assert!(slope(f64::sin, 0.3, 0.1, 1).error.is_infinite());
    }

    #[test]
    fn results_of_f32_are_not_trusted_further_than_they_go() {
        let product = |x: f64| f64::from((0.7 * x) as f32 * (0.5 + 0.3 * x) as f32);
        let (mut slope, mut step) = (Slope::unknown(), 1e-2);
        for _ in 0..12 {
            let rounding = f64::from(f32::EPSILON) * product(0.5).abs() / step;
            slope.refine((product(0.5 + step) - product(0.5 - step)) / (2.0 * step), rounding);
            step /= SHRINK;
        }
        assert!((slope.best - (0.35 + 0.21)).abs() < 1e-4, "{slope:?}");
        assert!((slope.best - (0.35 + 0.21)).abs() <= slope.error && slope.error < 1e-3, "{slope:?}");
    }

    #[test]
    fn where_there_is_no_slope_the_error_stays_large() {
        assert!(slope(|x| x.abs().sqrt() * x.signum(), 0.0, 1e-2, 12).error > 1.0);
        assert!(slope(|x| if x > 0.0 { 1.0 } else { 0.0 }, 0.0, 1e-2, 12).error > 1.0);
    }
}
