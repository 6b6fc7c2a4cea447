//! `expect_integral_gradient`: the gradient of a function whose integrals jump, against finite differences of its means.
//!
//! Both are known up to their samples. So both are computed for several seeds, the same on either side of a difference, and
//! the test says how far a mean over seeds may be off: its standard error, as the seeds are spread. The difference also
//! has an error of its step, which two steps show. A gradient is wrong if it is further off than the tolerance, four
//! standard errors and the error of the step together. If those errors hide the tolerance, the integrals take more samples,
//! unless the test says how many. If they still do, the test fails as well, since it would prove nothing.
//!
//! A million samples take a while, so the default back end computes both, in f32, whose rounding is far below the error
//! of samples. The others must give its gradient at the same samples.

use super::appended::Behind;
use super::gradient::{described, key, no_gradient, wrong};
use super::judge::{Along, Judged, selected};
use super::plan::{Gradient, Plan};
use super::point::{Point, Setting};
use super::{show, source};
use crate::facade::BackendKind;
use crate::ir::points::{MAX_SAMPLES, RESEEDED};
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
/// Seeds at first.
const SEEDS: usize = 8;
/// By how much the samples of a test grow that does not say how many, and seeds at most where the first do not suffice.
const LEVELS: [(i32, usize); 4] = [(1, 64), (4, 16), (16, 16), (64, 32)];
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
    Differs {
        found: f64,
        slope: Slope,
    },
    Uncertain {
        found: f64,
        slope: Slope,
    },
    /// Long differences have another slope than short ones, which know too little.
    Kink,
}

/// The result of so many samples.
enum Told {
    Enough(Judged),
    /// They tell too little, so this is all.
    Little(Judged),
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
    samples: i32,
    max_seeds: usize,
    span: Span,
}

impl Run<'_, '_> {
    pub(in crate::testing) fn integral_gradient(&mut self, asked: &Gradient<'_>, span: Span) -> Result<(), Stop> {
        let checked = self.compiled.checked;
        let plan = super::plan(&checked.program, asked).map_err(Wrong::from)?;
        let file = self.sources.get(self.compiled.file);
        let written = source::of_gradient(&checked.program.types, &plan, &file.text);
        let samples = asked.integrals.unwrap_or_default();
        let behind = |samples: i32| Behind { text: &written.text, samples: Some(samples) };
        let unmade = |unmade| no_gradient(&plan, unmade, span);
        let layout = self.compiled.globals(behind(samples), file).map_err(unmade)?;
        let native = self.compiled.native(behind(samples), &written.gradient, file, self.backend).map_err(unmade)?;
        let point = self.point(&plan);
        let setting = Setting::new(self, &plan.inputs, &written.names).laid_out(layout);
        let key = key(span, &setting.seeds, &point);
        let known = self.compiled.judged_gradient(&key);
        let mut made = |samples: i32| {
            let mut made = |name: &str| self.compiled.native(behind(samples), name, file, REFERENCE).map_err(unmade);
            Ok::<_, Wrong>((made(&written.value)?, made(&written.gradient)?))
        };
        let (value, gradient) = made(samples)?;
        let (along, max_seeds) = (selected(&plan), LEVELS[0].1);
        let reference = gradient.clone();
        let mut judge = Judge { setting, plan: &plan, value, gradient, point, along, asked, samples, max_seeds, span };
        let judged = match known {
            Some(judged) => judged,
            None => judge.with_more(made)?,
        };
        self.compiled.judge_gradient(key, &judged);
        let wrong = match judged {
            Judged::NotSmooth => return Err(Stop::NotSmooth),
            Judged::Failed(message) => Some(Wrong::new(span, message)),
            Judged::Differs { along, found, slope, .. } => Some(judge.differs(along, found, &slope)),
            Judged::Agrees { .. } => {
                judge.seed(0);
                let [expected, found] = [reference, native].map(|shader| judge.row(&shader));
                let (expected, found) = (expected?, found?);
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

    /// With more samples where it takes them, made of shaders of so many.
    fn with_more(
        &mut self,
        mut made: impl FnMut(i32) -> Result<(Arc<Shader>, Arc<Shader>), Wrong>,
    ) -> Result<Judged, Wrong> {
        let (samples, mut told) = (self.samples, self.judge());
        for &(factor, max_seeds) in LEVELS.iter().skip(1).filter(|_| self.asked.more) {
            let Told::Little(_) = told else { break };
            (self.samples, self.max_seeds) = (samples * factor, max_seeds);
            (self.value, self.gradient) = made(self.samples)?;
            told = self.judge();
        }
        let (Told::Enough(judged) | Told::Little(judged)) = told;
        Ok(judged)
    }

    fn judge(&mut self) -> Told {
        self.along_all().unwrap_or_else(|wrong| Told::Enough(Judged::Failed(wrong.message)))
    }

    fn along_all(&mut self) -> Result<Told, Wrong> {
        let base = self.value(0, None)?;
        if !base.is_finite() {
            return Ok(Told::Enough(Judged::NotSmooth));
        }
        let mut gradients = Vec::new();
        for i in 0..self.along.len() {
            match self.verdict(i, base, &mut gradients)? {
                Verdict::Agrees => {}
                Verdict::Differs { found, slope } => {
                    let judged = Judged::Differs { gradient: Vec::new(), along: i, mode: "reverse", found, slope };
                    return Ok(Told::Enough(judged));
                }
                Verdict::Uncertain { found, slope } => {
                    return Ok(Told::Little(Judged::Failed(self.uncertain(self.along[i], found, &slope))));
                }
                Verdict::Kink => return Ok(Told::Little(Judged::NotSmooth)),
            }
        }
        Ok(Told::Enough(Judged::Agrees { gradient: Vec::new() }))
    }

    /// At the step that knows the slope best, and where the gradient differs there, at shorter ones. Between the point
    /// and the end of the first step, there may be a kink, which its error does not show. If a shorter step has another
    /// slope, there is a kink. Then the gradient is only wrong if it differs from that slope, too.
    fn verdict(&mut self, i: usize, base: f64, gradients: &mut Vec<Vec<f64>>) -> Result<Verdict, Wrong> {
        let (first, pairs) = self.step(self.along[i], base)?;
        let verdict = self.at_step(i, base, (first, pairs), gradients)?;
        let Verdict::Differs { slope: far, .. } = &verdict else { return Ok(verdict) };
        let shorter: Vec<f64> = self.steps(&FINER).filter(|step| *step < first).collect();
        let mut is_kink = false;
        for step in shorter {
            match self.at_step(i, base, (step, Vec::new()), gradients)? {
                Verdict::Agrees => return Ok(Verdict::Agrees),
                Verdict::Uncertain { slope: near, .. } => {
                    is_kink |= (near.best - far.best).abs() > near.error + far.error;
                }
                Verdict::Differs { .. } | Verdict::Kink => is_kink = false,
            }
        }
        Ok(if is_kink { Verdict::Kink } else { verdict })
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
            if seeds >= self.max_seeds {
                return Ok(Verdict::Uncertain { found: found.value, slope });
            }
            seeds *= 2;
        }
    }

    /// Those that move an edge past enough samples.
    fn steps<'s>(&self, all: &'s [f64]) -> impl Iterator<Item = f64> + use<'s> {
        let samples = f64::from(self.samples);
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
            self.samples,
            slope.best,
            slope.error,
            self.asked.tolerance
        );
        let place = self.plan.inputs[along.parameter].span;
        wrong(self.span, message, (slope.best, found), (place, "reverse"))
    }

    fn uncertain(&self, along: Along, found: f64, slope: &Slope) -> String {
        let more = self.samples.saturating_mul(4).min(MAX_SAMPLES);
        format!(
            "{}: reverse mode gives {found}, and {} ± {:.1e} is all that finite differences of {} integrals of {} samples \
             tell, which proves nothing ({}); give more samples, as in `samples = {more}`, or a larger `rel` or `abs`",
            described(self.plan, along),
            slope.best,
            slope.error,
            self.max_seeds,
            self.samples,
            self.asked.tolerance
        )
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
            gradients.push(self.row(&self.gradient)?);
        }
        Ok(())
    }

    /// The values of a shader for this seed.
    fn row(&self, shader: &Shader) -> Result<Vec<f64>, Wrong> {
        let rows = self.setting.native(shader, &self.point, self.span)?;
        Ok(rows.iter().map(|row| f64::from(row.0[0])).collect())
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
