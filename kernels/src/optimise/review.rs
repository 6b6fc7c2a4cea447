//! Doubts about a fit that has taken all its steps. They name numbers at a bound, numbers without effect, and numbers
//! of which only a combination is determined.
//!
//! A fit of few numbers is asked again around its end: by its loss, and by its gradient for the Hessian. All questions
//! have the same random numbers, so noise that both answers share cancels. Directions along which the loss does not
//! change are eigenvectors of the Hessian, scaled to ones on its diagonal, with an eigenvalue of almost 0. Losses to
//! both sides confirm each. The scale makes a product of two numbers such a direction, for factors of any size.
//!
//! The analysis is local: numbers that are determined by more than one valley apart are not told.

use super::eigen::eigen;

/// The most numbers that are looked at one by one.
pub const MOST: usize = 16;

/// Steps of a fit for each number, so that the questions take a small part of its time.
const STEPS: u64 = 20;

/// A number that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The parameter or buffer that it is of.
    pub of: String,
    /// Which of its numbers: `[2]`, or nothing if it has one.
    pub part: String,
    /// Where the fit began.
    pub start: f32,
    /// Its least and its greatest value, infinite where there is none.
    pub bounds: [f32; 2],
}

/// A fit that can be asked anywhere.
pub trait Problem {
    /// The loss there; `None` if there is none, or if the host cancelled.
    fn loss(&mut self, at: &[f32]) -> Option<f64>;
    /// Its gradient.
    fn gradient(&mut self, at: &[f32]) -> Option<Vec<f32>>;
}

/// A doubt about a finished fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// A number ended at a bound, behind which the loss would be smaller.
    AtBound {
        /// The number.
        name: String,
        /// The bound.
        bound: f32,
    },
    /// More than half of the numbers of a large buffer or image ended at a bound.
    ManyAtBound {
        /// The buffer or parameter.
        name: String,
        /// How many of them.
        count: usize,
        /// Of so many.
        of: usize,
        /// The bound.
        bound: f32,
    },
    /// The loss does not depend on a number, where the fit ended.
    NoEffect {
        /// The number.
        name: String,
    },
    /// The loss stays the same along a direction.
    Undetermined {
        /// The numbers that change along it, each with its change in hundredths.
        changes: Vec<(String, f64)>,
    },
}

impl Doubt {
    /// The doubt, and a remedy.
    pub fn sentences(&self) -> (String, String) {
        match self {
            Doubt::AtBound { name, bound } => (
                format!("`{name}` ended at its bound {bound}, and the loss would be smaller behind it"),
                "move the bound, or look for something else that must change, such as a number that is not fitted"
                    .to_owned(),
            ),
            Doubt::ManyAtBound { name, count, of, bound } => (
                format!("{count} of the {of} numbers of `{name}` ended at their bound {bound}"),
                "move the bound, or look for something else that must change, such as an exposure or a light"
                    .to_owned(),
            ),
            Doubt::NoEffect { name } => (
                format!("`{name}` has no effect on the loss where the fit ended: its value means nothing"),
                "do not fit it, or add a target that depends on it; look whether something multiplies it by 0"
                    .to_owned(),
            ),
            Doubt::Undetermined { changes } => {
                let one = |(name, change): &(String, f64)| format!("`{name}` by {change:+.1} %");
                let all: Vec<String> = changes.iter().map(one).collect();
                let names: Vec<String> = changes.iter().map(|(name, _)| format!("`{name}`")).collect();
                (
                    format!("{} are not determined: the loss stays the same if one changes {}", listed(&names), listed(&all)),
                    "fit all of them but one, or add a target that tells them apart; numbers of which only the product counts are \
                     an example"
                        .to_owned(),
                )
            }
        }
    }
}

fn listed(all: &[String]) -> String {
    match all {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => all.concat(),
    }
}

/// Whether a fit of so many numbers and steps is looked at number by number.
pub fn is_small(numbers: usize, steps: u64) -> bool {
    (1..=MOST).contains(&numbers) && numbers as u64 * STEPS <= steps
}

/// Doubts about a fit that ended at these values.
pub fn review(problem: &mut dyn Problem, numbers: &[Number], end: &[f32]) -> Vec<Doubt> {
    let Some(loss) = problem.loss(end).filter(|loss| loss.is_finite()) else { return Vec::new() };
    let mut review = Review { problem, numbers, end, loss };
    let mut doubts = Vec::new();
    let (mut bounded, mut open) = (Vec::new(), Vec::new());
    for i in 0..numbers.len() {
        match review.bound(i) {
            Some(bound) => bounded.push((i, bound)),
            None => open.push(i),
        }
    }
    for (i, bound) in bounded {
        if review.is_pushed(i) == Some(true) {
            doubts.push(Doubt::AtBound { name: numbers[i].name(), bound });
        }
    }
    let effects: Vec<f64> = open.iter().map(|i| review.effect(*i).unwrap_or(f64::INFINITY)).collect();
    let largest = effects.iter().copied().filter(|effect| effect.is_finite()).fold(0.0, f64::max);
    let is_none = |effect: f64| effect <= SMALL * loss.abs() && (effect == 0.0 || effect <= SMALL * largest);
    let (without, with): (Vec<_>, Vec<_>) = open.iter().zip(effects).partition(|(_, effect)| is_none(*effect));
    doubts.extend(without.iter().map(|(i, _)| Doubt::NoEffect { name: numbers[**i].name() }));
    let with: Vec<usize> = with.into_iter().map(|(i, _)| *i).collect();
    doubts.extend(review.undetermined(&with).unwrap_or_default());
    doubts
}

/// Whether more than half of many numbers ended at one of their bounds. At 0 that is often the truth: nothing is darker than
/// black.
pub fn many_at_bound(name: &str, bounds: [f32; 2], end: impl Iterator<Item = f32>) -> Option<Doubt> {
    let (mut counts, mut of) = ([0; 2], 0);
    for x in end {
        of += 1;
        counts.iter_mut().zip(bounds).for_each(|(count, bound)| *count += usize::from(x == bound));
    }
    let most = counts.into_iter().zip(bounds).find(|(count, bound)| 2 * count > of && *bound != 0.0);
    most.filter(|_| of > MOST).map(|(count, bound)| Doubt::ManyAtBound { name: name.to_owned(), count, of, bound })
}

/// A part of something that counts as nothing.
const SMALL: f64 = 1e-3;
/// An eigenvalue of the scaled Hessian, the mean of which is 1, that may be 0.
const FLAT: f64 = 1e-2;
/// The curvature along a flat direction, over the curvature along its numbers one by one.
const CONFIRMED: f64 = 4e-3;

impl Number {
    fn name(&self) -> String {
        format!("{}{}", self.of, self.part)
    }
}

struct Review<'a> {
    problem: &'a mut dyn Problem,
    numbers: &'a [Number],
    end: &'a [f32],
    loss: f64,
}

impl Review<'_> {
    /// The plausible change of a number: its change in the fit, and at least a tenth of its value.
    fn scale(&self, i: usize) -> f64 {
        let (end, start) = (f64::from(self.end[i]), f64::from(self.numbers[i].start));
        let scale = (end - start).abs().max(0.1 * end.abs());
        if scale > 0.0 { scale } else { 1.0 }
    }

    /// The bound at which a number is.
    fn bound(&self, i: usize) -> Option<f32> {
        let (end, [low, high]) = (self.end[i], self.numbers[i].bounds);
        // Shapes that only come near a bound stay a little away.
        let near = if (high - low).is_finite() { 1e-4 * (high - low) } else { 0.0 };
        [low, high].into_iter().find(|bound| (end - bound).abs() <= near)
    }

    /// A step from the end of a number, cut off halfway to its bounds.
    fn within(&self, i: usize, step: f64) -> f64 {
        let (end, [low, high]) = (f64::from(self.end[i]), self.numbers[i].bounds.map(f64::from));
        let room = if step < 0.0 { end - low } else { high - end };
        step.signum() * step.abs().min(0.5 * room)
    }

    /// The loss with some numbers changed by steps.
    fn loss_at(&mut self, steps: &[(usize, f64)]) -> Option<f64> {
        let mut at = self.end.to_vec();
        steps.iter().for_each(|(i, step)| at[*i] = (f64::from(at[*i]) + step) as f32);
        self.problem.loss(&at).filter(|loss| loss.is_finite())
    }

    /// Whether the loss grows from the bound inwards as along a line. At a minimum that lies at the bound by itself it grows as
    /// along a parabola.
    fn is_pushed(&mut self, i: usize) -> Option<bool> {
        let (bound, [low, _]) = (self.bound(i)?, self.numbers[i].bounds);
        let step = 0.01 * self.scale(i) * if bound == low { 1.0 } else { -1.0 };
        let once = self.loss_at(&[(i, self.within(i, step))])? - self.loss;
        let twice = self.loss_at(&[(i, self.within(i, 2.0 * step))])? - self.loss;
        Some(once > 1e-6 * self.loss.abs() && twice < 3.0 * once)
    }

    /// The most by which the loss changes when a number goes back to its start, or a tenth of its scale to either side.
    fn effect(&mut self, i: usize) -> Option<f64> {
        let back = f64::from(self.numbers[i].start) - f64::from(self.end[i]);
        let (up, down) = (self.within(i, 0.1 * self.scale(i)), self.within(i, -0.1 * self.scale(i)));
        let mut most: f64 = 0.0;
        for step in [back, up, down] {
            most = most.max((self.loss_at(&[(i, step)])? - self.loss).abs());
        }
        Some(most)
    }

    /// The Hessian by some of the numbers: central differences of the gradient.
    fn hessian(&mut self, of: &[usize]) -> Option<Vec<Vec<f64>>> {
        let mut rows = Vec::new();
        for &i in of {
            let step = 0.02 * self.scale(i);
            let step = self.within(i, step).min(-self.within(i, -step));
            let mut side = |step: f64| {
                let mut at = self.end.to_vec();
                at[i] = (f64::from(at[i]) + step) as f32;
                let gradient = self.problem.gradient(&at)?;
                Some((f64::from(at[i]), gradient))
            };
            let ((above, up), (below, down)) = (side(step)?, side(-step)?);
            let slope = |j: &usize| (f64::from(up[*j]) - f64::from(down[*j])) / (above - below);
            rows.push(of.iter().map(slope).collect::<Vec<f64>>());
        }
        rows.iter().flatten().all(|x| x.is_finite()).then_some(rows)
    }

    fn undetermined(&mut self, of: &[usize]) -> Option<Vec<Doubt>> {
        let hessian = self.hessian(of)?;
        // Without curvature of its own, a number is at no minimum, and there is nothing to compare with.
        let curved: Vec<usize> = (0..of.len()).filter(|&i| hessian[i][i] > 0.0).collect();
        let scale: Vec<f64> = curved.iter().map(|&i| hessian[i][i].sqrt()).collect();
        let n = curved.len();
        let scaled = |i: usize, j: usize| {
            let (a, b) = (hessian[curved[i]][curved[j]], hessian[curved[j]][curved[i]]);
            0.5 * (a + b) / (scale[i] * scale[j])
        };
        let (values, vectors) = eigen((0..n).map(|i| (0..n).map(|j| scaled(i, j)).collect()).collect());
        // The projection to all flat directions does not depend on which of them the eigenvectors are.
        let flat: Vec<&Vec<f64>> =
            vectors.iter().zip(&values).filter(|(_, v)| v.abs() < FLAT).map(|(v, _)| v).collect();
        let projection = |i: usize, j: usize| flat.iter().map(|v| v[i] * v[j]).sum::<f64>();
        let mut doubts: Vec<Doubt> = Vec::new();
        let mut told = vec![false; n];
        for i in 0..n {
            let direction: Vec<f64> = (0..n).map(|j| projection(i, j)).collect();
            let members: Vec<usize> = (0..n).filter(|&j| direction[j].abs() > 0.1).collect();
            if members.len() < 2 || std::mem::replace(&mut told[i], true) {
                continue;
            }
            members.iter().for_each(|&j| told[j] = true);
            // The longest step is a small part of the number's scale.
            let step = |j: usize| direction[j] / scale[j] / self.scale(of[curved[j]]);
            let longest = members.iter().map(|&j| step(j).abs()).fold(0.0, f64::max);
            let steps = |j: &usize| (of[curved[*j]], 0.03 * direction[*j] / scale[*j] / longest);
            let steps: Vec<(usize, f64)> = members.iter().map(steps).collect();
            if self.is_flat(&steps)? {
                let change = |(i, step): &(usize, f64)| {
                    let end = f64::from(self.end[*i]).abs();
                    (self.numbers[*i].name(), 100.0 * step / if end > 0.0 { end } else { 1.0 })
                };
                doubts.push(Doubt::Undetermined { changes: steps.iter().map(change).collect() });
            }
        }
        Some(doubts)
    }

    /// Whether the loss curves far less along steps taken together than along each of them.
    fn is_flat(&mut self, steps: &[(usize, f64)]) -> Option<bool> {
        let together = self.curvature(steps)?;
        let mut apart = 0.0;
        for step in steps {
            apart += self.curvature(std::slice::from_ref(step))?;
        }
        Some(apart > 0.0 && together.abs() < CONFIRMED * apart)
    }

    fn curvature(&mut self, steps: &[(usize, f64)]) -> Option<f64> {
        let back: Vec<(usize, f64)> = steps.iter().map(|(i, step)| (*i, -step)).collect();
        Some(self.loss_at(steps)? + self.loss_at(&back)? - 2.0 * self.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss and its gradient as formulas.
    struct Formula(fn(&[f64]) -> f64, fn(&[f64]) -> Vec<f64>);

    impl Problem for Formula {
        fn loss(&mut self, at: &[f32]) -> Option<f64> {
            Some(self.0(&at.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>()))
        }

        fn gradient(&mut self, at: &[f32]) -> Option<Vec<f32>> {
            let at: Vec<f64> = at.iter().map(|x| f64::from(*x)).collect();
            Some(self.1(&at).into_iter().map(|x| x as f32).collect())
        }
    }

    fn numbers(bounds: &[[f32; 2]]) -> Vec<Number> {
        let one = |(i, bounds): (usize, &[f32; 2])| Number {
            of: "x".to_owned(),
            part: format!("[{i}]"),
            start: 0.25,
            bounds: *bounds,
        };
        bounds.iter().enumerate().map(one).collect()
    }

    const FREE: [f32; 2] = [f32::NEG_INFINITY, f32::INFINITY];

    /// (x − 1)² + 100 (y − 2)² + 0.01, whose minimum is determined however differently its numbers count.
    #[test]
    fn a_plain_minimum_has_nothing_to_doubt() {
        let mut plain = Formula(
            |x| (x[0] - 1.0).powi(2) + 100.0 * (x[1] - 2.0).powi(2) + 0.01,
            |x| vec![2.0 * (x[0] - 1.0), 200.0 * (x[1] - 2.0)],
        );
        assert_eq!(review(&mut plain, &numbers(&[FREE; 2]), &[1.0, 2.0]), []);
        // Not quite there, and at a bound that is no obstacle.
        assert_eq!(review(&mut plain, &numbers(&[[1.0, 9.0], FREE]), &[1.0, 1.98]), []);
    }

    /// (x y − 6)² + (z − 1)²: y falls as x grows.
    #[test]
    fn factors_of_a_product_are_not_determined() {
        let mut product = Formula(
            |x| (x[0] * x[1] - 6.0).powi(2) + (x[2] - 1.0).powi(2),
            |x| {
                let d = 2.0 * (x[0] * x[1] - 6.0);
                vec![d * x[1], d * x[0], 2.0 * (x[2] - 1.0)]
            },
        );
        let found = review(&mut product, &numbers(&[FREE; 3]), &[0.02, 300.0, 1.0]);
        let [Doubt::Undetermined { changes }] = &found[..] else { panic!("{found:?}") };
        let [(x, by), (y, against)] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((x.as_str(), y.as_str()), ("x[0]", "x[1]"));
        assert!((by + against).abs() < 0.05 * by.abs() && by.abs() > 0.1, "{by} {against}");
    }

    /// Two products at once have two flat directions with the same eigenvalue.
    #[test]
    fn pairs_are_told_apart() {
        let mut two = Formula(
            |x| (x[0] * x[2] - 1.0).powi(2) + (x[1] * x[3] - 1.0).powi(2),
            |x| {
                let (a, b) = (2.0 * (x[0] * x[2] - 1.0), 2.0 * (x[1] * x[3] - 1.0));
                vec![a * x[2], b * x[3], a * x[0], b * x[1]]
            },
        );
        let found = review(&mut two, &numbers(&[FREE; 4]), &[0.5, 0.5, 2.0, 2.0]);
        let names = |doubt: &Doubt| match doubt {
            Doubt::Undetermined { changes } => changes.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let names: Vec<Vec<String>> = found.iter().map(names).collect();
        assert_eq!(names, [["x[0]", "x[2]"], ["x[1]", "x[3]"]]);
    }

    /// (x + 1)² with x kept above 0, and a number that does nothing.
    #[test]
    fn bounds_that_hold_and_numbers_without_effect_are_told() {
        let mut held = Formula(|x| (x[0] + 1.0).powi(2), |x| vec![2.0 * (x[0] + 1.0), 0.0]);
        let found = review(&mut held, &numbers(&[[0.0, 1.0], FREE]), &[0.0, 0.7]);
        let expected =
            [Doubt::AtBound { name: "x[0]".to_owned(), bound: 0.0 }, Doubt::NoEffect { name: "x[1]".to_owned() }];
        assert_eq!(found, expected);
        // A perfect fit with a number that has moved nothing yet, and counts.
        let mut perfect = Formula(|x| (x[0] - 0.25).powi(2), |x| vec![2.0 * (x[0] - 0.25)]);
        assert_eq!(review(&mut perfect, &numbers(&[FREE]), &[0.25]), []);
    }
}
