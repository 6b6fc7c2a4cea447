//! Which optimiser, at which rates, for which columns, within which bounds.

use super::OptimiseError;
use crate::buffer::Element;
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::types::Scalar;
use std::ops::Range;

/// How the moments of Adam are divided, since they begin at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// By 1 − βᵗ at step t, as in the paper.
    ByStep,
    /// By 1 − β at each step, as some programs for splatting do. Steps are larger by the factor (1 − βᵗ)/(1 − β) of the first
    /// moment over the root of that of the second.
    Constant,
    /// Not at all.
    None,
}

/// How a step follows from gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Gradient descent. The velocity is `momentum` times itself plus the gradient, and a step goes along it.
    Sgd {
        /// 0 for plain gradient descent.
        momentum: f32,
        /// Goes along the velocity of the next step (Nesterov).
        nesterov: bool,
    },
    /// Adam, and AdamW where groups have a decay.
    Adam {
        /// How much of the first moment stays.
        beta1: f32,
        /// How much of the second moment stays.
        beta2: f32,
        /// Added to the root of the second moment.
        epsilon: f32,
        /// How moments are divided.
        correction: Correction,
    },
}

impl Method {
    /// Adam with the numbers of its paper.
    pub fn adam() -> Method {
        Method::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, correction: Correction::ByStep }
    }

    pub(super) fn kernel(self) -> &'static str {
        match self {
            Method::Sgd { .. } => "sgd",
            Method::Adam { .. } => "adam",
        }
    }

    pub(super) fn moments(self) -> usize {
        match self {
            Method::Sgd { .. } => 1,
            Method::Adam { .. } => 2,
        }
    }

    pub(super) fn check(self) -> Result<(), OptimiseError> {
        let share = |name: &str, x: f32| {
            let message = || OptimiseError::Setting(format!("`{name}` must be at least 0 and below 1, not {x}"));
            if (0.0..1.0).contains(&x) { Ok(()) } else { Err(message()) }
        };
        match self {
            Method::Sgd { momentum, .. } => share("momentum", momentum),
            Method::Adam { beta1, beta2, epsilon, .. } => {
                share("beta1", beta1)?;
                share("beta2", beta2)?;
                if epsilon > 0.0 && epsilon.is_finite() {
                    return Ok(());
                }
                Err(OptimiseError::Setting(format!("`epsilon` must be a number above 0, not {epsilon}")))
            }
        }
    }

    /// The parameters of the kernel at a step, the first of which is 1.
    pub(super) fn parameters(self, step: u64) -> Vec<(&'static str, ParameterValue)> {
        match self {
            Method::Sgd { momentum, nesterov } => {
                vec![("momentum", momentum.into()), ("nesterov", nesterov.into())]
            }
            Method::Adam { beta1, beta2, epsilon, correction } => {
                let share = |beta: f32| match correction {
                    Correction::ByStep => 1.0 - f64::from(beta).powf(step as f64),
                    Correction::Constant => 1.0 - f64::from(beta),
                    Correction::None => 1.0,
                };
                vec![
                    ("beta1", beta1.into()),
                    ("beta2", beta2.into()),
                    ("first_share", (share(beta1) as f32).into()),
                    ("second_share", (share(beta2) as f32).into()),
                    ("epsilon", epsilon.into()),
                ]
            }
        }
    }
}

/// A factor of all rates, by step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Always 1.
    Constant,
    /// From 1 to `last` in so many steps, by the same factor each; `last` from then on.
    Exponential {
        /// Above 0.
        last: f64,
        /// At least 1.
        steps: u64,
    },
    /// From 1 to `last` along half a period of the cosine; `last` from then on.
    Cosine {
        /// The factor at the end.
        last: f64,
        /// At least 1.
        steps: u64,
    },
    /// Grows evenly to 1 in so many steps, and stays there.
    WarmUp {
        /// At least 1.
        steps: u64,
    },
}

impl Schedule {
    /// The factor after so many steps.
    pub fn factor(self, step: u64) -> f64 {
        let done = |steps: u64| (step as f64 / steps.max(1) as f64).min(1.0);
        match self {
            Schedule::Constant => 1.0,
            Schedule::Exponential { last, steps } => last.powf(done(steps)),
            Schedule::Cosine { last, steps } => {
                last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * done(steps)).cos())
            }
            Schedule::WarmUp { steps } => ((step + 1) as f64 / steps.max(1) as f64).min(1.0),
        }
    }
}

/// How a fitted value follows from the number that the optimiser moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// It is the number, which is clamped to these bounds after each step.
    Plain {
        /// May be −∞.
        low: f32,
        /// May be ∞.
        high: f32,
    },
    /// low + ln(1 + eˣ): always above `low`, and like x far above it.
    Softplus {
        /// The bound.
        low: f32,
    },
    /// low + (high − low)/(1 + e⁻ˣ): always between these.
    Sigmoid {
        /// The lower bound.
        low: f32,
        /// The upper bound.
        high: f32,
    },
    /// low + eˣ: steps change the distance to `low` by a factor.
    Exp {
        /// The bound.
        low: f32,
    },
}

impl Shape {
    /// Without bounds.
    pub const FREE: Shape = Shape::Plain { low: f32::NEG_INFINITY, high: f32::INFINITY };

    /// Whether the shape can give a number. A start that it cannot give becomes one just inside.
    pub fn gives(self, number: f32) -> bool {
        let (_, low, high) = self.parts();
        match self {
            Shape::Plain { .. } => low <= number && number <= high,
            _ => low < number && number < high,
        }
    }

    /// The least and the greatest number that the shape can give, or comes near to.
    pub fn bounds(self) -> [f32; 2] {
        let (_, low, high) = self.parts();
        [low, high]
    }

    /// The number of the shape in the language, and its bounds.
    fn parts(self) -> (i32, f32, f32) {
        match self {
            Shape::Plain { low, high } => (0, low, high),
            Shape::Softplus { low } => (1, low, f32::INFINITY),
            Shape::Sigmoid { low, high } => (2, low, high),
            Shape::Exp { low } => (3, low, f32::INFINITY),
        }
    }
}

/// Columns of the fitted buffer that are treated alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Scalars of an element, by number; `None` for all.
    pub columns: Option<Range<usize>>,
    /// The length of a step, times the schedule's factor.
    pub rate: f32,
    /// With Adam, each step takes the part rate times decay of the number away; with SGD, decay times the number is added to
    /// the gradient.
    pub decay: f32,
    /// The bounds.
    pub shape: Shape,
}

impl Group {
    /// All columns, without decay and bounds.
    pub fn all(rate: f32) -> Group {
        Group { columns: None, rate, decay: 0.0, shape: Shape::FREE }
    }

    /// These columns, likewise.
    pub fn columns(columns: Range<usize>, rate: f32) -> Group {
        Group { columns: Some(columns), ..Group::all(rate) }
    }

    /// The same with a decay.
    pub fn with_decay(self, decay: f32) -> Group {
        Group { decay, ..self }
    }

    /// The same with another shape.
    pub fn with_shape(self, shape: Shape) -> Group {
        Group { shape, ..self }
    }

    /// What keeps an optimiser from going by these settings and this method, whatever the buffer, if anything does: a
    /// sentence.
    pub fn fault(&self, method: Method) -> Option<String> {
        let all = Group { columns: None, ..self.clone() };
        method.check().and_then(|()| all.check(1)).err().map(|error| error.to_string())
    }

    fn check(&self, columns: usize) -> Result<(), OptimiseError> {
        let wrong = |text: String| Err(OptimiseError::Setting(text));
        if let Some(range) = &self.columns
            && (range.end > columns || range.is_empty())
        {
            return wrong(format!("a group has the columns {range:?}, and the buffer has {columns}"));
        }
        for (name, x) in [("rate", self.rate), ("decay", self.decay)] {
            if !(x >= 0.0 && x.is_finite()) {
                return wrong(format!("`{name}` must be 0 or more, not {x}"));
            }
        }
        let (kind, low, high) = self.shape.parts();
        let ordered = low < high && (kind == 0 || low.is_finite()) && (kind != 2 || high.is_finite());
        if ordered { Ok(()) } else { wrong(format!("the bounds {low} and {high} leave no room")) }
    }
}

/// Members of the struct `Setting` in the language.
pub(super) type Setting = (f32, f32, i32, f32, f32);

pub(super) fn by_column(groups: &[Group], element: &Element) -> Result<Vec<Setting>, OptimiseError> {
    if element.scalars().iter().any(|scalar| *scalar != Scalar::Float) {
        return Err(OptimiseError::Setting(format!("only floats can be fitted, not {element}")));
    }
    let still = Group::all(0.0);
    groups.iter().try_for_each(|group| group.check(element.len()))?;
    let of = |column: usize| {
        let names = |group: &&Group| group.columns.as_ref().is_none_or(|range| range.contains(&column));
        let group = groups.iter().rev().find(names).unwrap_or(&still);
        let (shape, low, high) = group.shape.parts();
        (group.rate, group.decay, shape, low, high)
    };
    Ok((0..element.len()).map(of).collect())
}
