//! A gradient at one point in f64: what the sweep computes against central differences of the function.

use super::appended::Wide;
use super::plan::Plan;
use super::point::{Point, Setting, floats};
use crate::interp::Outcome;
use crate::testing::compare::Tolerance;
use crate::testing::ridders::{SHRINK, Slope};
use crate::types::Type;
use std::sync::Arc;

/// How far an input is moved to either side at first, and how often that is halved; as for derivatives by the screen.
const STEP: f64 = 1e-2;
const LEVELS: usize = 12;
/// Differences that an extrapolation needs to judge itself.
const ENOUGH: usize = 3;
/// How much better than the tolerance a slope must be known.
const CERTAINTY: f64 = 0.1;

/// A float by which the function is differentiated.
#[derive(Clone, Copy)]
pub(super) struct Along {
    pub parameter: usize,
    pub leaf: usize,
}

/// All floats by which the function is differentiated, in the order in which the shaders give their gradients.
pub(super) fn selected(plan: &Plan) -> Vec<Along> {
    let chosen = plan.inputs.iter().enumerate().filter(|(_, input)| input.selected);
    chosen.flat_map(|(parameter, input)| input.floats().map(move |leaf| Along { parameter, leaf })).collect()
}

/// What came of a point in f64.
#[derive(Clone)]
pub(in crate::testing) enum Judged {
    /// A branch, a kink or a singular point is so near that finite differences mean nothing here.
    NotSmooth,
    Agrees {
        gradient: Vec<f64>,
    },
    Differs {
        gradient: Vec<f64>,
        /// The float by which it is differentiated.
        along: usize,
        mode: &'static str,
        found: f64,
        slope: Slope,
    },
    Failed(String),
}

/// The shaders of a test in f64.
pub(super) struct Shaders {
    pub value: Arc<Wide>,
    pub gradient: Arc<Wide>,
    /// Where the author gives a derivative of forward mode.
    pub forward: Option<Arc<Wide>>,
}

pub(super) struct Judge<'a> {
    pub setting: &'a Setting<'a>,
    pub shaders: &'a Shaders,
    pub point: &'a Point,
    pub along: &'a [Along],
    pub tolerance: Tolerance,
}

impl Judge<'_> {
    pub fn judge(&self) -> Judged {
        let Judge { setting, shaders, point, .. } = *self;
        let base = setting.run(&shaders.value, &setting.words(&shaders.value.interface, point));
        if base.token.fuel == 0 {
            return Judged::Failed("the function uses up its fuel".to_owned());
        }
        if !self.contracted(&base).0.is_finite() {
            return Judged::NotSmooth;
        }
        let Some(slopes) = self.along.iter().map(|&a| self.slope(a, &base)).collect::<Option<Vec<Slope>>>() else {
            return Judged::NotSmooth;
        };
        let outcome = setting.run(&shaders.gradient, &setting.words(&shaders.gradient.interface, point));
        if outcome.token.fuel == 0 {
            return Judged::Failed("the sweep of the gradient uses up its fuel or its tape".to_owned());
        }
        let gradient = floats(&outcome);
        let tangents = shaders.forward.as_ref().map(|wide| {
            let tangents = self.along.iter().map(|&a| self.tangent(wide, a)).collect();
            ("forward", tangents)
        });
        for (mode, list) in [("reverse", gradient.clone())].into_iter().chain(tangents) {
            for (along, (found, slope)) in list.into_iter().zip(&slopes).enumerate() {
                let allowed = self.allowed(slope);
                let off = (found - slope.best).abs();
                // An exact slope has no error to estimate; a NaN passes nowhere.
                if slope.error > CERTAINTY * allowed.max(off) {
                    return Judged::NotSmooth;
                }
                if off.is_nan() || off > allowed {
                    return Judged::Differs { gradient, along, mode, found, slope: slope.clone() };
                }
            }
        }
        Judged::Agrees { gradient }
    }

    /// The slope along one float; `None` where the point is too near a branch or kink.
    fn slope(&self, along: Along, base: &Outcome<f64>) -> Option<Slope> {
        let Judge { setting, shaders, point, .. } = *self;
        let interface = &shaders.value.interface;
        let (words, name) = (setting.words(interface, point), setting.names.scalar(along.parameter, along.leaf));
        let x = point.inputs[along.parameter][along.leaf];
        let at = |t: f64| {
            let mut moved = words.clone();
            moved.set(interface, &name, &Type::Float, x + t);
            setting.run(&shaders.value, &moved)
        };
        let epsilon = if base.single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let (mut slope, mut step, mut differences) = (Slope::unknown(), STEP, 0);
        for _ in 0..LEVELS {
            let (low, high) = (at(-step), at(step));
            if low.path == base.path && high.path == base.path {
                let [(low, low_size), (high, high_size)] = [&low, &high].map(|o| self.contracted(o));
                slope.refine((high - low) / (2.0 * step), epsilon * low_size.max(high_size) / step);
                differences += 1;
                if differences >= ENOUGH && slope.error <= 1e-3 * self.allowed(&slope) {
                    break;
                }
            } else {
                // The pieces between which this step reached are not the one that the point is on.
                (slope, differences) = (Slope::unknown(), 0);
            }
            step /= SHRINK;
        }
        (differences >= ENOUGH && slope.best.is_finite()).then_some(slope)
    }

    /// The derivative of what comes out along one float, by forward mode.
    fn tangent(&self, wide: &Wide, along: Along) -> f64 {
        let mut words = self.setting.words(&wide.interface, self.point);
        let name = self.setting.names.tangent(along.parameter, along.leaf);
        words.set(&wide.interface, &name, &Type::Float, 1.0);
        self.contracted(&self.setting.run(wide, &words)).0
    }

    /// What comes out, each multiplied with its cotangent: the sum, and how large its terms are together.
    fn contracted(&self, outcome: &Outcome<f64>) -> (f64, f64) {
        let terms = || floats(outcome).into_iter().zip(&self.point.cotangents).map(|(x, c)| x * c);
        (terms().sum(), terms().map(f64::abs).sum())
    }

    fn allowed(&self, slope: &Slope) -> f64 {
        self.tolerance.absolute.max(self.tolerance.relative * slope.best.abs())
    }
}
