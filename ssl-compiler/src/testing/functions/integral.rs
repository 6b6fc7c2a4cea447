//! `expect_integral_gradient`: the gradient of a function whose integrals jump, against finite differences of its means.
//!
//! Both are known up to their samples. So both are computed for several seeds, the same on either side of a difference, and
//! the test says how far a mean over seeds may be off: its standard error, as the seeds are spread. The difference also
//! has an error of its step, which two steps show. A gradient is wrong if it is further off than the tolerance, four
//! standard errors and the error of the step together. If those errors hide the tolerance, the test fails as well, since it
//! would prove nothing.
//!
//! A million samples take a while, so the default back end computes both, in f32, whose rounding is far below what samples
//! tell. The others must give its gradient at the same samples.

use super::appended::Behind;
use super::gradient::{described, key, wrong};
use super::judge::{Along, Judged, selected};
use super::plan::{Gradient, Plan};
use super::point::{Point, Setting};
use super::{show, source};
use crate::facade::BackendKind;
use crate::ir::points::RESEEDED;
use crate::jit::Shader;
use crate::source::Span;
use crate::testing::ridders::Slope;
use crate::testing::run::{Run, Stop, Wrong};
use crate::types::Type;
use std::sync::Arc;

/// What computes the means.
const REFERENCE: BackendKind = BackendKind::Cranelift;
/// How far an input is moved to either side: a difference of discontinuous means knows less the shorter its step is.
const STEPS: [f64; 3] = [1.0 / 16.0, 1.0 / 64.0, 1.0 / 256.0];
/// And where that does not agree with the gradient.
const FINER: [f64; 4] = [1.0 / 64.0, 1.0 / 256.0, 1.0 / 1024.0, 1.0 / 4096.0];
/// Samples that should lie in the part of the domain that an edge passes, if it is as fast as its parameter.
const PASSED: f64 = 16.0;
/// Seeds at first, and at most where these do not suffice.
const SEEDS: usize = 8;
const MAX_SEEDS: usize = 64;
/// Standard errors that a mean may be off by.
const SURE: f64 = 4.0;

/// A mean over seeds, and its standard error.
#[derive(Clone, Copy)]
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(list: &[f64]) -> Mean {
        let n = list.len() as f64;
        let value = list.iter().sum::<f64>() / n;
        let spread = list.iter().map(|x| (x - value) * (x - value)).sum::<f64>() / (n - 1.0);
        Mean { value, error: (spread / n).sqrt() }
    }
}

/// What differences along one input say of a gradient.
enum Verdict {
    Agrees,
    Differs { found: f64, slope: Slope },
    Uncertain(Slope),
}

struct Judge<'a> {
    setting: Setting<'a>,
    plan: &'a Plan,
    /// What is compared, as the default back end compiled it.
    value: Arc<Shader>,
    gradient: Arc<Shader>,
    point: Point,
    along: Vec<Along>,
    asked: &'a Gradient<'a>,
    span: Span,
}

impl Run<'_, '_> {
    pub(in crate::testing) fn integral_gradient(&mut self, asked: &Gradient<'_>, span: Span) -> Result<(), Stop> {
        let checked = self.compiled.checked;
        let plan = super::plan(&checked.program, asked).map_err(Wrong::from)?;
        let file = self.sources.get(self.compiled.file);
        let written = source::of_gradient(&checked.program.types, &plan, &file.text);
        let behind = Behind { text: &written.text, samples: asked.integrals };
        let unmade = |m: String| Wrong::new(span, format!("`{}` has no gradient: {m}", plan.function));
        let layout = self.compiled.globals(behind, file).map_err(unmade)?;
        let mut made = |name: &str, backend| self.compiled.native(behind, name, file, backend).map_err(unmade);
        let value = made(&written.value, REFERENCE)?;
        let gradient = made(&written.gradient, REFERENCE)?;
        let native = made(&written.gradient, self.backend)?;
        let point = self.point(&plan);
        let setting = Setting::new(self, &plan.inputs, &written.names).laid_out(layout);
        let key = key(span, &setting.seeds, &point);
        let along = selected(&plan);
        let mut judge = Judge { setting, plan: &plan, value, gradient, point, along, asked, span };
        let (expected, wrong) = match self.compiled.judged_gradient(key, || judge.judge()) {
            Judged::NotSmooth => return Err(Stop::NotSmooth),
            Judged::Failed(message) => (Vec::new(), Some(Wrong::new(span, message))),
            Judged::Agrees { gradient } => (gradient, None),
            Judged::Differs { along, found, slope, .. } => (Vec::new(), Some(judge.differs(along, found, &slope))),
        };
        let wrong = match wrong {
            Some(wrong) => Some(wrong),
            None => {
                judge.seed(0);
                let rows = judge.setting.native(&native, &judge.point, span)?;
                let found: Vec<f64> = rows.iter().map(|row| f64::from(row.0[0])).collect();
                self.attempt.agreed += found.len();
                judge.compared(&expected, &found)
            }
        };
        match wrong {
            None => Ok(()),
            Some(wrong) => Err(show::again(self, wrong, &plan, &judge.point, asked).into()),
        }
    }
}

impl Judge<'_> {
    /// Takes other samples.
    fn seed(&mut self, seed: usize) {
        if let Some((field, _)) = self.setting.layout.find(RESEEDED) {
            self.setting.seeds.values[field] = vec![seed as f64];
        }
    }

    /// Gives the gradient for the first seed, if its mean over all agrees.
    fn judge(&mut self) -> Judged {
        self.along_all().unwrap_or_else(|wrong| Judged::Failed(wrong.message))
    }

    fn along_all(&mut self) -> Result<Judged, Wrong> {
        let base = self.value(0, None)?;
        if !base.is_finite() {
            return Ok(Judged::NotSmooth);
        }
        let mut gradients = Vec::new();
        for i in 0..self.along.len() {
            match self.verdict(i, base, &mut gradients)? {
                Verdict::Agrees => {}
                Verdict::Differs { found, slope } => {
                    return Ok(Judged::Differs { gradient: Vec::new(), along: i, mode: "reverse", found, slope });
                }
                Verdict::Uncertain(slope) => return Ok(Judged::Failed(self.uncertain(self.along[i], &slope))),
            }
        }
        Ok(Judged::Agrees { gradient: gradients.swap_remove(0) })
    }

    /// At the step that knows the slope best, and where the gradient differs there, at shorter ones: there may be a kink between
    /// the point and where the first step ends, which its error does not tell of.
    fn verdict(&mut self, i: usize, base: f64, gradients: &mut Vec<Vec<f64>>) -> Result<Verdict, Wrong> {
        let (first, pairs) = self.step(self.along[i], base)?;
        let verdict = self.at_step(i, base, (first, pairs), gradients)?;
        if matches!(verdict, Verdict::Differs { .. }) {
            let shorter: Vec<f64> = self.steps(&FINER).filter(|step| *step < first).collect();
            for step in shorter {
                if let Verdict::Agrees = self.at_step(i, base, (step, Vec::new()), gradients)? {
                    return Ok(Verdict::Agrees);
                }
            }
        }
        Ok(verdict)
    }

    /// Against differences at one step, of as many seeds as it takes.
    fn at_step(
        &mut self,
        i: usize,
        base: f64,
        (step, mut pairs): (f64, Vec<[f64; 2]>),
        gradients: &mut Vec<Vec<f64>>,
    ) -> Result<Verdict, Wrong> {
        let along = self.along[i];
        let mut seeds = SEEDS;
        loop {
            self.refine(along, step, seeds, &mut pairs)?;
            self.extend(gradients, seeds)?;
            let list: Vec<f64> = gradients[..seeds].iter().map(|g| g[i]).collect();
            let (found, known) = (Mean::of(&list), slope(&pairs, base, step));
            let slope = Slope::known(known.best, known.error.hypot(SURE * found.error));
            let (allowed, off) = (self.allowed(&slope), (found.value - slope.best).abs());
            if off.is_nan() || off > allowed + slope.error {
                return Ok(Verdict::Differs { found: found.value, slope });
            }
            if slope.error <= allowed {
                return Ok(Verdict::Agrees);
            }
            if seeds == MAX_SEEDS {
                return Ok(Verdict::Uncertain(slope));
            }
            seeds *= 2;
        }
    }

    /// Those that move an edge past enough samples.
    fn steps<'s>(&self, all: &'s [f64]) -> impl Iterator<Item = f64> + use<'s> {
        let samples = f64::from(self.samples());
        all.iter().copied().filter(move |step| step * samples >= PASSED)
    }

    /// The step with the smallest error, and the differences that it gives.
    fn step(&mut self, along: Along, base: f64) -> Result<(f64, Vec<[f64; 2]>), Wrong> {
        let mut best: Option<(f64, f64, Vec<[f64; 2]>)> = None;
        for step in self.steps(&STEPS) {
            let mut pairs = Vec::new();
            self.refine(along, step, SEEDS, &mut pairs)?;
            let slope = slope(&pairs, base, step);
            let is_known = slope.error <= self.allowed(&slope);
            if best.as_ref().is_none_or(|(error, ..)| slope.error < *error) {
                best = Some((slope.error, step, pairs));
            }
            if is_known {
                break;
            }
        }
        let (_, step, pairs) = best.unwrap_or((0.0, STEPS[0], Vec::new()));
        Ok((step, pairs))
    }

    fn differs(&self, along: usize, found: f64, slope: &Slope) -> Wrong {
        let along = self.along[along];
        let message = format!(
            "{}: reverse mode gives {found}, finite differences of integrals of {} samples give {} ± {:.1e} ({})",
            described(self.plan, along),
            self.samples(),
            slope.best,
            slope.error,
            self.asked.tolerance
        );
        let place = self.plan.inputs[along.parameter].span;
        wrong(self.span, message, (slope.best, found), (place, "reverse"))
    }

    fn uncertain(&self, along: Along, slope: &Slope) -> String {
        format!(
            "{}: {} ± {:.1e} is all that {MAX_SEEDS} integrals of {} samples tell, and that proves nothing ({}); give \
             more `samples`, or a larger `rel` or `abs`",
            described(self.plan, along),
            slope.best,
            slope.error,
            self.samples(),
            self.asked.tolerance
        )
    }

    fn samples(&self) -> i32 {
        self.asked.integrals.unwrap_or_default()
    }

    /// Central differences at a step and at half of it, for so many seeds.
    fn refine(&mut self, along: Along, step: f64, seeds: usize, pairs: &mut Vec<[f64; 2]>) -> Result<(), Wrong> {
        for seed in pairs.len()..seeds {
            let mut difference = |step: f64| {
                let (low, high) = (self.value(seed, Some((along, -step)))?, self.value(seed, Some((along, step)))?);
                Ok::<f64, Wrong>((high - low) / (2.0 * step))
            };
            pairs.push([difference(step)?, difference(0.5 * step)?]);
        }
        Ok(())
    }

    /// What comes out, contracted with the cotangents, at the point or beside it.
    fn value(&mut self, seed: usize, moved: Option<(Along, f64)>) -> Result<f64, Wrong> {
        self.seed(seed);
        let mut words = self.setting.words(self.value.interface(), &self.point);
        if let Some((along, t)) = moved {
            let name = self.setting.names.scalar(along.parameter, along.leaf);
            let x = self.point.inputs[along.parameter][along.leaf];
            words.set(self.value.interface(), &name, &Type::Float, x + t);
        }
        let rows = self.setting.compiled(&self.value, &words, self.span)?;
        Ok(rows.iter().zip(&self.point.cotangents).map(|(row, c)| f64::from(row.0[0]) * c).sum())
    }

    /// The gradients for so many seeds.
    fn extend(&mut self, gradients: &mut Vec<Vec<f64>>, seeds: usize) -> Result<(), Wrong> {
        for seed in gradients.len()..seeds {
            self.seed(seed);
            let rows = self.setting.native(&self.gradient, &self.point, self.span)?;
            gradients.push(rows.iter().map(|row| f64::from(row.0[0])).collect());
        }
        Ok(())
    }

    fn allowed(&self, slope: &Slope) -> f64 {
        self.asked.tolerance.absolute.max(self.asked.tolerance.relative * slope.best.abs())
    }

    /// What a back end computes, against the reference at the same samples.
    fn compared(&self, expected: &[f64], found: &[f64]) -> Option<Wrong> {
        let (plan, tolerance) = (self.plan, self.asked.tolerance);
        let largest = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let allowed = tolerance.absolute.max(tolerance.relative * largest);
        let pairs = found.iter().zip(expected).zip(&self.along);
        pairs.map(|((found, expected), along)| (*found, *expected, *along)).find_map(|(found, expected, along)| {
            let off = (found - expected).abs();
            (off.is_nan() || off > allowed).then(|| {
                let what = described(plan, along);
                let message = format!(
                    "{what}: this back end computes {found}, {} gives {expected} (tolerance {allowed:.1e})",
                    REFERENCE.name()
                );
                wrong(self.span, message, (expected, found), (plan.inputs[along.parameter].span, "back end"))
            })
        })
    }
}

/// The slope that differences at a step and at half of it show: extrapolated, with the errors of seeds, step and rounding.
fn slope(pairs: &[[f64; 2]], base: f64, step: f64) -> Slope {
    let extrapolated: Vec<f64> = pairs.iter().map(|[far, near]| (4.0 * near - far) / 3.0).collect();
    let bends: Vec<f64> = pairs.iter().map(|[far, near]| (near - far) / 3.0).collect();
    let (mean, bend) = (Mean::of(&extrapolated), Mean::of(&bends));
    let rounding = f64::from(f32::EPSILON) * base.abs() / step;
    Slope::known(mean.value, SURE * mean.error + bend.value.abs() + rounding)
}
