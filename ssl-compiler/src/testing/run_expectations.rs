//! Compares what a test expects with the results of the last run.

use super::expectation::{Expectation, Lobe};
use super::formula::{Outputs, compute, holds, named};
use super::lobes::{self, Found, Wanted};
use super::numeric::{self, Point, Seeds, Verdict};
use super::refusal::Refusal;
use super::reproduce::{self, number};
use super::run::{Ran, Run, Sink, Stop, Wrong};
use super::values::constant;
use super::{compare::Tolerance, zero_cost};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Ident};
use crate::types::Scalar;

/// Components of a vector, a row of a matrix, or an element of either.
pub(super) fn part_of(whole: &[f64], e: &Expr) -> Result<Vec<f64>, (Span, String)> {
    match &e.kind {
        ExprKind::Member(_, member) => {
            let pick = |c: char| "xyzw".find(c).or_else(|| "rgba".find(c)).and_then(|i| whole.get(i).copied());
            let picked: Option<Vec<f64>> = member.text.chars().map(pick).collect();
            picked.ok_or_else(|| (member.span, format!("the output has no component `{}`", member.text)))
        }
        ExprKind::Index(_, index) => {
            let size = if whole.len() == 16 { 4 } else { 1 };
            let i = constant(index).map_err(|m| (index.span, m))?.first().copied().unwrap_or(0.0);
            let at = whole.chunks(size).nth(i as usize).filter(|_| i >= 0.0);
            at.map(<[f64]>::to_vec).ok_or_else(|| (index.span, format!("the output has no part {i}")))
        }
        _ => Ok(whole.to_vec()),
    }
}

/// The name of an output in an expectation.
pub(super) fn output_name(e: &Expr) -> Option<&str> {
    if let ExprKind::Name(name) = &e.kind { Some(name) } else { None }
}

impl Outputs for Run<'_, '_> {
    type Error = Wrong;

    fn read(&mut self, e: &Expr) -> Result<Vec<f64>, Wrong> {
        self.output(e).map(|(_, values)| values)
    }

    fn wrong(&self, span: Span, message: String) -> Wrong {
        Wrong::new(span, message)
    }
}

impl Run<'_, '_> {
    pub(super) fn expect(&mut self, expectation: &Expectation<'_>, span: Span) -> Result<(), Stop> {
        match expectation {
            Expectation::Holds { condition } => Ok(self.holds(condition, span)?),
            Expectation::Value { what, wanted, tolerance } => Ok(self.value(what, wanted, *tolerance, span)?),
            Expectation::Lobe(lobe) => Ok(self.lobe(lobe, span)?),
            Expectation::Lobes { output, count, closure } => {
                Ok(self.lobe_count(output, *count, closure.as_ref(), span)?)
            }
            Expectation::Numeric { tolerance } => self.numeric(*tolerance, span),
            Expectation::ZeroCost => Ok(self.zero_cost(span)?),
            Expectation::Gradient(gradient) if gradient.integrals.is_some() => self.integral_gradient(gradient, span),
            Expectation::Gradient(gradient) => self.gradient(gradient, span),
            Expectation::Inverse(inverse) => self.inverse(inverse, span),
            Expectation::Undo(undo) => self.undo(undo, span),
        }
    }

    fn ran(&self, span: Span) -> Result<&Ran, Wrong> {
        self.last.as_ref().ok_or_else(|| Wrong::new(span, "nothing was run yet: `run shader();` comes first"))
    }

    /// The values of an output, or of some of its components; floats or not.
    fn output(&mut self, e: &Expr) -> Result<(Scalar, Vec<f64>), Wrong> {
        if let ExprKind::Member(base, _) | ExprKind::Index(base, _) = &e.kind {
            let (scalar, whole) = self.output(base)?;
            let part = part_of(&whole, e).map_err(|(span, message)| Wrong::new(span, message))?;
            return Ok((scalar, part));
        }
        let Some(name) = output_name(e) else {
            return Err(Wrong::new(e.span, "write the name of an output, or one of its components"));
        };
        let shader = self.ran(e.span)?.shader.clone();
        let compiled = self.compiled.shader(&shader, self.backend).map_err(|unmade| unmade.wrong(e.span))?;
        let Some(output) = compiled.interface().outputs.iter().find(|o| o.name == *name) else {
            return Err(Wrong::new(e.span, format!("`{shader}` has no output `{name}`")));
        };
        let (first, scalars) = (output.first_row, output.scalars.clone());
        let rows = &self.ran(e.span)?.outputs[first..];
        let value = |(s, row): (&Scalar, &crate::runtime::Row)| match s {
            Scalar::Float => f64::from(row.0[0]),
            _ => f64::from(row.int(0)),
        };
        Ok((scalars.first().copied().unwrap_or(Scalar::Float), scalars.iter().zip(rows).map(value).collect()))
    }

    fn value(&mut self, what: &Expr, wanted: &Expr, tolerance: Tolerance, span: Span) -> Result<(), Wrong> {
        let (scalar, found) = match named(what) {
            Some(_) => self.output(what)?,
            None => (Scalar::Float, self.computed(what)?),
        };
        let mut wanted = constant(wanted).or_else(|_| self.computed(wanted))?;
        if wanted.len() == 1 {
            wanted.resize(found.len(), wanted[0]);
        }
        if wanted.len() != found.len() {
            return Err(Wrong::new(span, format!("{} values are compared with {}", found.len(), wanted.len())));
        }
        if found.iter().zip(&wanted).all(|(&found, &wanted)| tolerance.accepts(found, wanted, scalar)) {
            return Ok(());
        }
        let (wanted, found) = (reproduce::numbers(&wanted), reproduce::numbers(&found));
        let message = format!("expected {wanted}, found {found} ({tolerance})");
        Err(Wrong { values: Some((wanted, found)), ..Wrong::new(span, message) })
    }

    /// What comes of an expression with outputs.
    fn computed(&mut self, e: &Expr) -> Result<Vec<f64>, Wrong> {
        compute(e, self)
    }

    fn holds(&mut self, condition: &Expr, span: Span) -> Result<(), Wrong> {
        if holds(&self.computed(condition)?) {
            return Ok(());
        }
        let (wanted, found) = match &condition.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let (a, b) = (self.computed(a)?, self.computed(b)?);
                (format!("{} {}", op.symbol(), reproduce::numbers(&b)), reproduce::numbers(&a))
            }
            _ => ("true".to_owned(), "false".to_owned()),
        };
        let message = format!("expected {wanted}, found {found}");
        Err(Wrong { values: Some((wanted, found)), ..Wrong::new(span, message) })
    }

    fn lobes(&mut self, output: &Expr) -> Result<Vec<Found>, Wrong> {
        let name = output_name(output).unwrap_or_default();
        let shader = self.ran(output.span)?.shader.clone();
        let compiled = self.compiled.shader(&shader, self.backend).map_err(|unmade| unmade.wrong(output.span))?;
        let interface = compiled.interface().clone();
        Ok(lobes::lobes(&interface, &self.ran(output.span)?.outputs, name))
    }

    fn lobe(&mut self, lobe: &Lobe<'_>, span: Span) -> Result<(), Wrong> {
        let all = self.lobes(lobe.output)?;
        let mut parameters = Vec::new();
        for (name, e) in &lobe.parameters {
            parameters.push((name.text.clone(), Run::constant(e)?));
        }
        let weight = lobe.weight.map(Run::constant).transpose()?;
        let wanted = Wanted { weight, parameters, tolerance: lobe.tolerance };
        let under = |l: &&Found| lobe.under.as_ref().is_none_or(|u| l.under.as_deref() == Some(u.text.as_str()));
        let alike = all.iter().filter(|l| l.closure == lobe.closure.text).filter(under);
        // Of several, the one that is nearest tells most.
        let nearest = alike.map(|l| wanted.differences(l)).min_by_key(Vec::len);
        let place = lobe.under.as_ref().map_or(String::new(), |u| format!(" under {}", u.text));
        match nearest.as_deref() {
            Some([]) => Ok(()),
            Some([(what, wanted, found), rest @ ..]) => {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more differ", rest.len()) };
                let tolerance = lobe.tolerance;
                let message = format!(
                    "the {}{place}: {what} expected {wanted}, found {found} ({tolerance}){more}",
                    lobe.closure.text
                );
                Err(Wrong { values: Some((wanted.clone(), found.clone())), ..Wrong::new(span, message) })
            }
            None => {
                let (wanted, found) = (format!("{}{place}", lobe.closure.text), lobes::inventory(&all));
                let message = format!("expected a lobe {wanted}, found {found}");
                Err(Wrong { values: Some((wanted, found)), ..Wrong::new(span, message) })
            }
        }
    }

    fn lobe_count(&mut self, output: &Expr, count: usize, closure: Option<&Ident>, span: Span) -> Result<(), Wrong> {
        let all = self.lobes(output)?;
        let counted = all.iter().filter(|l| closure.is_none_or(|c| l.closure == c.text)).count();
        if counted == count {
            return Ok(());
        }
        let of = closure.map_or(String::new(), |c| format!(" of type {}", c.text));
        let message = format!("expected {count} lobes{of}, found {counted}: {}", lobes::inventory(&all));
        Err(Wrong { values: Some((count.to_string(), counted.to_string())), ..Wrong::new(span, message) })
    }

    fn numeric(&mut self, tolerance: f64, span: Span) -> Result<(), Stop> {
        let shader = self.ran(span)?.shader.clone();
        let mut seeds = self.seeds.clone();
        for (i, field) in self.layout.fields().iter().enumerate() {
            let seeded = field.orders.count() > 1;
            for d in 0..2 {
                for c in 0..field.components() {
                    seeds.partials[d][i][c] = if seeded { self.draws.between(-1.0, 1.0, false) } else { 0.0 };
                }
            }
        }
        match self.verdict(shader.clone(), &seeds, tolerance, span)? {
            Verdict::Agrees(0) => {
                let program = self.compiled.probed(&shader).map_err(|unmade| unmade.wrong(span))?;
                if program.module().has_probes() {
                    // None was reached on the way that this point goes.
                    return Err(Stop::NotSmooth);
                }
                Err(Wrong::new(span, "the shader has no `ddx`, `ddy` or texture look-up to compare").into())
            }
            Verdict::Agrees(n) => {
                self.attempt.agreed += n;
                Ok(())
            }
            Verdict::NotSmooth => Err(Stop::NotSmooth),
            Verdict::Differs { probe, direction, shadow, slope } => {
                let place = self.sources.place(probe.span);
                let line = self.sources.get(probe.span.file);
                let text = line.line(line.line_column(probe.span.start).0).trim().to_owned();
                let message = format!(
                    "at {place}, `{text}`: {direction} is {shadow}, finite differences give {} ± {:.1e} (tolerance {})",
                    slope.best,
                    slope.error,
                    number(tolerance)
                );
                let values = Some((slope.best.to_string(), shadow.to_string()));
                let off = (shadow - slope.best).abs() / shadow.abs().max(slope.best.abs());
                let sink = Some(Sink { place: probe.span, direction, off, tolerance });
                Err(Wrong {
                    values,
                    seeds: Some(Box::new(seeds)),
                    sink: sink.map(Box::new),
                    ..Wrong::new(span, message)
                }
                .into())
            }
        }
    }

    /// What finite differences say of the last run at a point; asked once for all back ends.
    fn verdict(&mut self, shader: String, seeds: &Seeds, tolerance: f64, span: Span) -> Result<Verdict, Wrong> {
        let last = self.ran(span)?;
        let textures: Vec<String> = last.given.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let key = (format!("{shader}({})", textures.join(",")), numeric::key(seeds, &last.parameters, tolerance));
        if let Some(verdict) = self.compiled.verdict(&key) {
            return Ok(verdict);
        }
        let program = self.compiled.probed(&shader).map_err(|unmade| unmade.wrong(span))?;
        let Some(last) = &self.last else { return Ok(Verdict::NotSmooth) };
        let verdict = Point { program, seeds, parameters: &last.parameters, host: &last.textures }.compare(tolerance);
        self.compiled.judge(key, &verdict);
        Ok(verdict)
    }

    fn zero_cost(&mut self, span: Span) -> Result<(), Wrong> {
        let shader = self.ran(span)?.shader.clone();
        let (lowered, options) = self.compiled.lowered(&shader).map_err(|unmade| unmade.wrong(span))?;
        let cost = zero_cost::cost(&lowered, options).map_err(|m| Wrong::new(span, m))?;
        if cost.instructions == 0 {
            return Ok(());
        }
        let most = cost.most.map_or(String::new(), |(place, n)| {
            let file = self.sources.get(place.file);
            let text = file.line(file.line_column(place.start).0).trim();
            format!("; {n} of them at {}, `{text}`", self.sources.place(place))
        });
        let message = format!("derivatives cost `{shader}` {} instructions{most}", cost.instructions);
        Err(Wrong { values: Some(("0".to_owned(), cost.instructions.to_string())), ..Wrong::new(span, message) })
    }

    pub(super) fn expect_error(&mut self, code: &Ident, source: Span, span: Span) -> Result<(), Wrong> {
        let Some(wanted) = codes::find(&code.text) else {
            return Err(Wrong::new(code.span, format!("there is no diagnostic `{}`", code.text)));
        };
        let file = self.sources.get(source.file);
        let refusal = Refusal::of(self.compiled.session(), file, &self.compiled.checked.tests, source);
        refusal.matches(wanted).map_err(|found| {
            let head = Span { end: source.start, ..span };
            let message = format!("expected {} ({}), found {found}", wanted.id, wanted.title);
            Wrong { values: Some((wanted.id.to_owned(), found)), ..Wrong::new(head, message) }
        })
    }
}
