//! Shadows against finite differences: the shader runs in f64 with everything moved a little along
//! the seeded direction, and at each sink that it meets the shadow must be the slope of the operand.

use crate::interp::{Inputs, Probe, Program};
use crate::runtime::block::DEFAULT_FUEL;
use crate::runtime::{GlobalsLayout, HostServices, Order, ParameterBlock};

/// Values and first partials of every float global, by field and component.
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
pub(super) enum Verdict {
    /// This many sinks agreed.
    Agrees(usize),
    /// A branch or kink lies within the step: finite differences mean nothing here.
    NotSmooth,
    Differs {
        probe: Probe<f64>,
        direction: &'static str,
        shadow: f64,
        slope: f64,
    },
}

/// How far the shader is moved to either side.
const STEP: f64 = 1e-3;

/// Compares all sinks of one run in both directions.
pub(super) fn compare(
    program: &Program,
    seeds: &Seeds,
    parameters: &ParameterBlock,
    host: &dyn HostServices,
    tolerance: f64,
) -> Verdict {
    let run = |direction: usize, t: f64| {
        let inputs = Moved { seeds, parameters, direction, t };
        program.run::<f64>(&inputs, host, DEFAULT_FUEL).probes
    };
    let mut agreed = 0;
    for (direction, name) in ["ddx", "ddy"].into_iter().enumerate() {
        let base = run(direction, 0.0);
        let [far, near] = [STEP, STEP / 2.0].map(|h| (run(direction, -h), run(direction, h), h));
        let alike = |other: &Vec<Probe<f64>>| {
            other.len() == base.len() && other.iter().zip(&base).all(|(a, b)| a.span == b.span)
        };
        if ![&far.0, &far.1, &near.0, &near.1].into_iter().all(alike) {
            return Verdict::NotSmooth;
        }
        for (i, probe) in base.iter().enumerate() {
            let slope =
                |(low, high, h): &(Vec<Probe<f64>>, Vec<Probe<f64>>, f64)| (high[i].value - low[i].value) / (2.0 * h);
            let (coarse, fine) = (slope(&far), slope(&near));
            // Richardson: the error of a central difference is of second order in the step.
            let best = (4.0 * fine - coarse) / 3.0;
            let allowed = tolerance * best.abs().max(1.0);
            let uncertain = (best - fine).abs();
            if !best.is_finite() || uncertain > allowed {
                return Verdict::NotSmooth;
            }
            let shadow = if direction == 0 { probe.ddx } else { probe.ddy };
            // A NaN must not pass.
            let agrees = (shadow - best).abs() <= allowed;
            if !agrees {
                return Verdict::Differs { probe: *probe, direction: name, shadow, slope: best };
            }
            agreed += 1;
        }
    }
    Verdict::Agrees(agreed)
}

/// Room for the globals of a layout, all zero.
pub(super) fn seeds_for(layout: &GlobalsLayout) -> Seeds {
    let zeros: Vec<Vec<f64>> = layout.fields().iter().map(|f| vec![0.0; f.components()]).collect();
    Seeds { values: zeros.clone(), partials: [zeros.clone(), zeros] }
}
