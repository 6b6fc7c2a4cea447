//! `expect_gradient` on one back end, for one sample: the gradient in f64 against finite differences, and that of the back
//! end against the one in f64.

use super::appended::Behind;
use super::judge::{Along, Judge, Judged, Shaders, selected};
use super::plan::{Gradient, Plan};
use super::point::{Point, Setting};
use super::{is_made, show, source};
use crate::source::Span;
use crate::testing::compiled::Unmade;
use crate::testing::numeric::Seeds;
use crate::testing::run::{Run, Sink, Stop, Wrong};

/// How much further a gradient in f32 may be off than one in f64.
const SINGLE: f64 = 10.0;

impl Run<'_, '_> {
    pub(in crate::testing) fn gradient(&mut self, asked: &Gradient<'_>, span: Span) -> Result<(), Stop> {
        let checked = self.compiled.checked;
        let plan = super::plan(&checked.program, asked).map_err(Wrong::from)?;
        let file = self.sources.get(self.compiled.file);
        let written = source::of_gradient(&checked.program.types, &plan, &file.text);
        let behind = Behind { text: &written.text, samples: None };
        let mut wide =
            |name: &str| self.compiled.wide(behind, name, file).map_err(|unmade| no_gradient(&plan, unmade, span));
        let shaders = Shaders {
            value: wide(&written.value)?,
            gradient: wide(&written.gradient)?,
            forward: written.forward.as_deref().map(&mut wide).transpose()?,
        };
        let point = self.point(&plan);
        let along = selected(&plan);
        let setting = Setting::new(self, &plan.inputs, &written.names);
        let key = key(span, &setting.seeds, &point);
        let judged = self.compiled.judged_gradient(&key).unwrap_or_else(|| {
            let (setting, shaders, point) = (&setting, &shaders, &point);
            Judge { setting, shaders, point, along: &along, tolerance: asked.tolerance }.judge()
        });
        self.compiled.judge_gradient(key, &judged);
        let expected = match judged {
            Judged::NotSmooth => return Err(Stop::NotSmooth),
            Judged::Failed(message) => {
                return Err(show::again(self, Wrong::new(span, message), &plan, &point, asked).into());
            }
            Judged::Differs { gradient, .. } if asked.differs => {
                self.attempt.met.push(span);
                gradient
            }
            Judged::Differs { along: i, mode, found, slope, .. } => {
                let advice = match is_made(self.test) {
                    true => "; a test with `expect_gradient` of the function takes the place of this one",
                    false => "",
                };
                let message = format!(
                    "{}: {mode} mode gives {found}, finite differences give {} ± {:.1e} ({}){advice}",
                    described(&plan, along[i]),
                    slope.best,
                    slope.error,
                    asked.tolerance
                );
                let place = plan.inputs[along[i].parameter].span;
                let wrong = wrong(span, message, (slope.best, found), (place, mode));
                return Err(show::again(self, wrong, &plan, &point, asked).into());
            }
            Judged::Agrees { gradient } => {
                let message = "the gradient agrees with finite differences in every sample; remove `differs = true`";
                self.attempt.vacuous.extend(asked.differs.then(|| (span, message.to_owned())));
                gradient
            }
        };
        let shader = self.compiled.native(behind, &written.gradient, file, self.backend);
        let shader = shader.map_err(|unmade| unmade.wrong(span))?;
        let found: Vec<f64> = setting.native(&shader, &point, span)?.iter().map(|row| f64::from(row.0[0])).collect();
        let largest = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let loose = SINGLE * asked.tolerance.absolute.max(asked.tolerance.relative * largest);
        for ((found, expected), along) in found.iter().zip(&expected).zip(&along) {
            let off = (found - expected).abs();
            if off.is_nan() || off > loose {
                let what = described(&plan, *along);
                let message =
                    format!("{what}: this back end computes {found}, f64 gives {expected} (tolerance {loose:.1e})");
                let place = plan.inputs[along.parameter].span;
                let wrong = wrong(span, message, (*expected, *found), (place, "in f32"));
                return Err(show::again(self, wrong, &plan, &point, asked).into());
            }
        }
        self.attempt.agreed += along.len();
        Ok(())
    }

    /// The numbers of this sample.
    pub(super) fn point(&mut self, plan: &Plan) -> Point {
        let point = Point::draw(self, &plan.inputs);
        let cotangents = match (&plan.cotangents, plan.results()) {
            (Some(given), _) => given.clone(),
            (None, 1) => vec![1.0],
            (None, n) => (0..n).map(|_| self.draws.between(-1.0, 1.0, false)).collect(),
        };
        Point { cotangents, ..point }
    }
}

/// Where the code of a gradient could not be had.
pub(super) fn no_gradient(plan: &Plan, unmade: Unmade, span: Span) -> Wrong {
    let message = format!("`{}` has no gradient: {}", plan.function, unmade.message);
    Unmade { message, ..unmade }.wrong(span)
}

/// `∂f/∂wave.amplitude`
pub(super) fn described(plan: &Plan, along: Along) -> String {
    let input = &plan.inputs[along.parameter];
    format!("∂{}/∂{}{}", plan.function, input.name, input.leaves[along.leaf].path)
}

pub(super) fn wrong(
    span: Span,
    message: String,
    (wanted, found): (f64, f64),
    (place, direction): (Span, &'static str),
) -> Wrong {
    let off = (found - wanted).abs() / found.abs().max(wanted.abs());
    Wrong {
        values: Some((wanted.to_string(), found.to_string())),
        sink: Some(Box::new(Sink { place, direction, off, tolerance: 0.0 })),
        ..Wrong::new(span, message)
    }
}

/// Everything that a judgement follows from, within a test.
pub(super) fn key(span: Span, seeds: &Seeds, point: &Point) -> Vec<u64> {
    let [ddx, ddy] = &seeds.partials;
    let seeds = seeds.values.iter().chain(ddx).chain(ddy).flatten();
    let numbers = seeds.chain(point.inputs.iter().flatten()).chain(&point.cotangents).map(|x| x.to_bits());
    [u64::from(span.start), u64::from(span.end)].into_iter().chain(numbers).collect()
}
