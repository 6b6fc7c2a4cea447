//! Shadows against finite differences: the shader runs in f64 with everything moved a little along the seeded
//! direction. At each sink on its way, the shadow must be the slope of the operand.
//!
//! The step starts wide and halves. If one side of a step takes another path through the shader than the point itself
//! (another branch, another piece of `abs` or `floor`), the step is skipped, since a difference across a kink is no
//! slope. The others are extrapolated.

use super::ridders::{SHRINK, Slope};
use crate::interp::{Inputs, Outcome, Probe, Program};
use crate::runtime::block::DEFAULT_FUEL;
use crate::runtime::{GlobalField, GlobalsLayout, HostServices, Order, ParameterBlock};

/// Values and first partials of every global, by field and component.
#[derive(Clone, Debug, Default)]
pub(super) struct Seeds {
    pub values: Vec<Vec<f64>>,
    pub partials: [Vec<Vec<f64>>; 2],
}

/// The point `t` along a direction.
struct Moved<'a> {
    seeds: &'a Seeds,
    parameters: &'a ParameterBlock,
    direction: usize,
    t: f64,
}

impl Inputs<f64> for Moved<'_> {
    fn global(&self, field: usize, component: usize, order: Order) -> f64 {
        let partial = |d: usize| self.seeds.partials[d][field][component];
        match order {
            Order::Value => self.seeds.values[field][component] + self.t * partial(self.direction),
            Order::Ddx => partial(0),
            Order::Ddy => partial(1),
            // Globals move on straight lines.
            Order::Dxx | Order::Dxy | Order::Dyy => 0.0,
        }
    }

    fn global_bits(&self, field: usize, component: usize) -> u32 {
        self.seeds.values[field][component] as i32 as u32
    }

    fn parameter(&self, word: usize) -> u32 {
        self.parameters.words[word]
    }
}

/// What came of one sample.
#[derive(Clone)]
pub(super) enum Verdict {
    /// This many sinks agreed.
    Agrees(usize),
    /// A branch, a kink or a singular point is so near that finite differences mean nothing here.
    NotSmooth,
    Differs {
        probe: Probe<f64>,
        direction: &'static str,
        shadow: f64,
        slope: Slope,
    },
}

/// How far the shader is moved to either side at first, and how often that is halved: down to 5e-6, where
/// f64 still gives eleven digits of a difference.
const STEP: f64 = 1e-2;
const LEVELS: usize = 12;
/// Differences that an extrapolation needs to judge itself.
const ENOUGH: usize = 3;
/// How much better than the tolerance a slope must be known.
const CERTAINTY: f64 = 0.1;

/// Everything that a verdict follows from, but for the program and what its textures are.
pub(super) fn key(seeds: &Seeds, parameters: &ParameterBlock, tolerance: f64) -> Vec<u64> {
    let [ddx, ddy] = &seeds.partials;
    let numbers = seeds.values.iter().chain(ddx).chain(ddy).flatten().map(|x| x.to_bits());
    let words = parameters.words.iter().map(|&w| u64::from(w));
    numbers.chain(words).chain([tolerance.to_bits()]).collect()
}

/// A shader at a point, to be moved.
pub(super) struct Point<'a> {
    pub program: &'a Program,
    pub seeds: &'a Seeds,
    pub parameters: &'a ParameterBlock,
    pub host: &'a dyn HostServices,
}

impl Point<'_> {
    fn run(&self, direction: usize, t: f64) -> Outcome<f64> {
        let inputs = Moved { seeds: self.seeds, parameters: self.parameters, direction, t };
        self.program.run::<f64>(&inputs, self.host, DEFAULT_FUEL)
    }

    /// The slope of the operand at each sink, or `None` where the point is too near a branch or kink.
    fn slopes(&self, direction: usize, base: &Outcome<f64>, tolerance: f64) -> Option<Vec<Slope>> {
        let mut slopes = vec![Slope::unknown(); base.probes.len()];
        let (mut step, mut differences) = (STEP, 0);
        let epsilon = if base.single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        for _ in 0..LEVELS {
            let (low, high) = (self.run(direction, -step), self.run(direction, step));
            let alike = |o: &Outcome<f64>| o.path == base.path && o.probes.len() == base.probes.len();
            if alike(&low) && alike(&high) {
                for (i, slope) in slopes.iter_mut().enumerate() {
                    let [low, high] = [&low, &high].map(|o| o.probes[i].value);
                    let rounding = epsilon * low.abs().max(high.abs()) / step;
                    slope.refine((high - low) / (2.0 * step), rounding);
                }
                differences += 1;
                let known = |s: &Slope| s.error <= 1e-3 * allowed(tolerance, s.best);
                if differences >= ENOUGH && slopes.iter().all(known) {
                    break;
                }
            } else {
                // The pieces between which this step reached are not the one that the point is on.
                slopes.fill(Slope::unknown());
                differences = 0;
            }
            step /= SHRINK;
        }
        (differences >= ENOUGH).then_some(slopes)
    }

    /// Compares all sinks of one run in both directions.
    pub fn compare(&self, tolerance: f64) -> Verdict {
        let mut agreed = 0;
        for (direction, name) in ["ddx", "ddy"].into_iter().enumerate() {
            let base = self.run(direction, 0.0);
            let Some(slopes) = self.slopes(direction, &base, tolerance) else { return Verdict::NotSmooth };
            for (probe, slope) in base.probes.iter().zip(slopes) {
                let allowed = allowed(tolerance, slope.best);
                let shadow = if direction == 0 { probe.ddx } else { probe.ddy };
                let off = (shadow - slope.best).abs();
                // An exact slope has no error to estimate; a NaN passes nowhere.
                let known = slope.best.is_finite() && slope.error <= CERTAINTY * allowed.max(off);
                if !known {
                    return Verdict::NotSmooth;
                }
                let agrees = off <= allowed;
                if !agrees {
                    return Verdict::Differs { probe: *probe, direction: name, shadow, slope };
                }
                agreed += 1;
            }
        }
        Verdict::Agrees(agreed)
    }
}

fn allowed(tolerance: f64, slope: f64) -> f64 {
    tolerance * slope.abs().max(1.0)
}

/// The globals of a layout as they are before a test gives them values.
pub(super) fn seeds_for(layout: &GlobalsLayout) -> Seeds {
    let zeros: Vec<Vec<f64>> = layout.fields().iter().map(|f| vec![0.0; f.components()]).collect();
    let rest = |f: &GlobalField| (0..f.components()).map(|c| f.rest(c).into()).collect();
    Seeds { values: layout.fields().iter().map(rest).collect(), partials: [zeros.clone(), zeros] }
}
