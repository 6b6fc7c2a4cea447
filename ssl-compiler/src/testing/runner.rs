//! Runs the tests of a file, statement by statement, sample by sample, on every back end.

use super::compiled::{Compiled, Session};
use super::numeric::{self, Seeds, Verdict, seeds_for};
use super::report::{Failure, FileReport, TestReport};
use super::reproduce::{number, numbers, parameter_value, repeat};
use super::texture::TestTexture;
use super::values::{Random, Setting, constant, setting};
use crate::diagnostics::Diagnostics;
use crate::facade::{BackendKind, CompileOptions, check, on_large_stack};
use crate::runtime::block::DEFAULT_FUEL;
use crate::runtime::{Block, GlobalsLayout, Listener, Order, ParameterBlock, ParameterValue, Row};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::{Expr, ExprKind, Ident, TestDecl, TestStmt, TestStmtKind};
use crate::types::Type;

/// Samples that a test with `uniform` draws unless it says otherwise.
const SAMPLES: usize = 100;
/// Messages of shaders that a test keeps.
const MAX_MESSAGES: usize = 1000;
/// How far a result may be off where a test does not say.
const TOLERANCE: f64 = 1e-5;

/// Runs every test of a file. Fails where the file has errors.
pub fn run_file(
    session: &Session<'_>,
    sources: &mut SourceMap,
    file: FileId,
) -> Result<(FileReport, Diagnostics), Diagnostics> {
    let options = CompileOptions {
        imports: session.imports,
        externals: session.externals,
        ..CompileOptions::new(session.globals, session.closures)
    };
    let (checked, mut diagnostics) = check(sources, file, &options);
    if !diagnostics.has_errors() {
        diagnostics.extend(super::check_tests(&checked, sources));
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut reports = Vec::new();
    let mut compiled = Compiled::new(session, &checked, file);
    for test in &checked.tests {
        for &backend in session.backends {
            let mut run = Run::new(&mut compiled, sources, test, backend);
            // Interpreting recursive shaders recurses.
            let (failures, note) = on_large_stack(|| run.test());
            let messages = std::mem::take(&mut run.messages);
            let place = sources.get(file);
            reports.push(TestReport {
                file: place.name.clone(),
                line: place.line_column(test.name_span.start).0,
                name: test.name.clone(),
                backend: backend.name(),
                failures,
                messages,
                note,
            });
        }
    }
    Ok((reports, diagnostics))
}

/// The state of one test on one back end.
struct Run<'a, 'c> {
    compiled: &'a mut Compiled<'c>,
    sources: &'a SourceMap,
    test: &'a TestDecl,
    backend: BackendKind,
    layout: &'c GlobalsLayout,
    seeds: Seeds,
    random: Random,
    last: Option<Ran>,
    failures: Vec<Failure>,
    messages: Vec<String>,
    agreed: usize,
    redrawn: usize,
}

/// The last shader that was run.
struct Ran {
    shader: String,
    parameters: ParameterBlock,
    given: Vec<(String, ParameterValue)>,
    outputs: Vec<Row>,
}

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

type Checkable = Result<(), (Span, String)>;

impl<'a, 'c> Run<'a, 'c> {
    fn new(
        compiled: &'a mut Compiled<'c>,
        sources: &'a SourceMap,
        test: &'a TestDecl,
        backend: BackendKind,
    ) -> Run<'a, 'c> {
        let layout = &compiled.checked.layout;
        Run {
            sources,
            test,
            backend,
            seeds: seeds_for(layout),
            layout,
            random: Random::named(&test.name),
            compiled,
            last: None,
            failures: Vec::new(),
            messages: Vec::new(),
            agreed: 0,
            redrawn: 0,
        }
    }

    fn test(&mut self) -> (Vec<Failure>, Option<String>) {
        let samples = match self.samples() {
            Ok(n) => n,
            Err((span, message)) => {
                self.fail(span, message, false);
                return (std::mem::take(&mut self.failures), None);
            }
        };
        for _ in 0..samples {
            for statement in &self.test.body {
                if let Err((span, message)) = self.statement(statement) {
                    self.fail(span, message, self.last.is_some());
                }
            }
            // One bad sample tells enough.
            if !self.failures.is_empty() {
                break;
            }
        }
        let note =
            (self.redrawn > 0).then(|| format!("{} samples lay on a branch or kink and were left out", self.redrawn));
        if self.failures.is_empty() && self.redrawn > 0 && self.agreed == 0 {
            let message = "no sample was smooth enough for finite differences: choose other ranges";
            self.fail(self.test.name_span, message.to_owned(), false);
        }
        (std::mem::take(&mut self.failures), note)
    }

    /// How often the test is run: more than once where it draws something.
    fn samples(&self) -> Result<usize, (Span, String)> {
        let mut drawn = false;
        let mut wanted = None;
        for s in &self.test.body {
            match &s.kind {
                TestStmtKind::Set(name, e) if name.text == "samples" => {
                    let n = constant(e).map_err(|m| (e.span, m))?;
                    let valid = n.first().copied().filter(|n| *n >= 1.0 && *n <= 1e6);
                    wanted = Some(valid.ok_or((e.span, "`samples` goes from 1 to 1000000".to_owned()))? as usize);
                }
                TestStmtKind::Set(_, Expr { kind: ExprKind::Call(name, _), .. }) if name.text == "uniform" => {
                    drawn = true
                }
                TestStmtKind::Expect(name, _) if name.text == "expect_numeric_derivatives" => drawn = true,
                _ => {}
            }
        }
        Ok(if drawn { wanted.unwrap_or(SAMPLES) } else { 1 })
    }

    fn fail(&mut self, span: Span, message: String, with_command: bool) {
        let reproduce = with_command.then(|| self.command()).flatten();
        self.failures.push(Failure { span, message, reproduce });
    }

    fn statement(&mut self, s: &TestStmt) -> Checkable {
        match &s.kind {
            TestStmtKind::Set(name, _) if name.text == "samples" => Ok(()),
            TestStmtKind::Set(name, e) => self.set(name, e),
            TestStmtKind::Run(shader, arguments) => self.run(shader, arguments),
            TestStmtKind::Expect(name, arguments) => match (name.text.as_str(), arguments.as_slice()) {
                ("expect", [what, expected]) => self.expect(what, expected, TOLERANCE, s.span),
                ("expect", [what, expected, tolerance]) => {
                    let tolerance = constant(tolerance).map_err(|m| (tolerance.span, m))?;
                    self.expect(what, expected, tolerance.first().copied().unwrap_or(TOLERANCE), s.span)
                }
                ("expect_numeric_derivatives", [tolerance]) => {
                    let tolerance = constant(tolerance).map_err(|m| (tolerance.span, m))?;
                    self.numeric(tolerance.first().copied().unwrap_or(TOLERANCE), s.span)
                }
                ("expect", _) => Err((s.span, "`expect` takes an output, its value and a tolerance".to_owned())),
                ("expect_numeric_derivatives", _) => {
                    Err((s.span, "`expect_numeric_derivatives` takes a tolerance".to_owned()))
                }
                _ => Err((
                    name.span,
                    format!(
                        "there is no expectation `{}`; there are `expect` and `expect_numeric_derivatives`",
                        name.text
                    ),
                )),
            },
        }
    }

    fn set(&mut self, name: &Ident, e: &Expr) -> Checkable {
        let Some((field, global)) = self.layout.find(&name.text) else {
            let known: Vec<&str> = self.layout.fields().iter().map(|f| f.name.as_str()).collect();
            return Err((name.span, format!("there is no global `{}`; there are {}", name.text, known.join(", "))));
        };
        let n = global.components();
        let spread = |v: Vec<f64>| match v.len() {
            1 if global.ty != Type::Matrix || v[0] == 0.0 => Ok(vec![v[0]; n]),
            m if m == n => Ok(v),
            m => Err((e.span, format!("`{}` has {n} components, {m} are given", name.text))),
        };
        match setting(e).map_err(|m| (e.span, m))? {
            Setting::Fixed([value, ddx, ddy]) => {
                self.seeds.values[field] = spread(value)?;
                self.seeds.partials[0][field] = spread(ddx)?;
                self.seeds.partials[1][field] = spread(ddy)?;
            }
            Setting::Uniform(low, high) => {
                let (low, high) = (spread(low)?, spread(high)?);
                self.seeds.values[field] = low.into_iter().zip(high).map(|(a, b)| self.random.between(a, b)).collect();
            }
        }
        Ok(())
    }

    /// The globals as rows for lane 0 of a block.
    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![Row::ZERO; self.layout.rows()];
        for (i, field) in self.layout.fields().iter().enumerate() {
            for c in 0..field.components() {
                for (order, table) in [
                    (Order::Value, &self.seeds.values),
                    (Order::Ddx, &self.seeds.partials[0]),
                    (Order::Ddy, &self.seeds.partials[1]),
                ] {
                    let Some(row) = field.row(c, order) else { continue };
                    match field.ty {
                        Type::Int | Type::Bool | Type::String => rows[row].set_int(0, table[i][c] as i32),
                        _ => rows[row].0[0] = table[i][c] as f32,
                    }
                }
            }
        }
        rows
    }

    fn run(&mut self, name: &Ident, arguments: &[(Ident, Expr)]) -> Checkable {
        let rows = self.rows();
        let backend = self.backend;
        let shader = self.compiled.shader(&name.text, backend).map_err(|m| (name.span, m))?;
        let mut parameters = ParameterBlock::new(shader.interface());
        let mut given = Vec::new();
        for (parameter, e) in arguments {
            let desc = shader.interface().parameters.iter().find(|p| p.name == parameter.text);
            let value = match &e.kind {
                ExprKind::Str(text) => ParameterValue::String(text.clone()),
                _ => parameter_value(desc.map(|p| &p.ty), &constant(e).map_err(|m| (e.span, m))?),
            };
            parameters
                .set(shader.interface(), &parameter.text, &value)
                .map_err(|error| (parameter.span, error.message(&parameter.text)))?;
            given.push((parameter.text.clone(), value));
        }
        let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
        let listener = Listener::new(&TestTexture, &parameters);
        let status = shader.run(&mut Block {
            globals: &rows,
            parameters: &parameters,
            host: &listener,
            outputs: &mut outputs,
            mask: 1,
            fuel: DEFAULT_FUEL,
        });
        let room = MAX_MESSAGES.saturating_sub(self.messages.len());
        self.messages.extend(listener.messages().into_iter().map(|(_, text)| text).take(room));
        self.last = Some(Ran { shader: name.text.clone(), parameters, given, outputs });
        match status.first_error() {
            Some(error) => Err((name.span, error.to_string())),
            None => Ok(()),
        }
    }

    /// The values of an output, or of some of its components.
    fn output(&mut self, e: &Expr) -> Result<Vec<f64>, (Span, String)> {
        let (base, part) = match &e.kind {
            ExprKind::Member(base, _) | ExprKind::Index(base, _) => (&**base, true),
            _ => (e, false),
        };
        if part {
            let whole = self.output(base)?;
            return part_of(&whole, e);
        }
        let ExprKind::Name(name) = &e.kind else {
            return Err((e.span, "write the name of an output, or one of its components".to_owned()));
        };
        let Some(last) = &self.last else {
            return Err((e.span, "nothing was run yet: `run shader();` comes first".to_owned()));
        };
        let backend = self.backend;
        let shader = self.compiled.shader(&last.shader, backend).map_err(|m| (e.span, m))?;
        let Some(output) = shader.interface().outputs.iter().find(|o| o.name == *name) else {
            let known: Vec<&str> = shader.interface().outputs.iter().map(|o| o.name.as_str()).collect();
            return Err((e.span, format!("`{}` has no output `{name}`; it has {}", last.shader, known.join(", "))));
        };
        let values: Vec<f64> = output
            .scalars
            .iter()
            .zip(&last.outputs[output.first_row..])
            .map(|(s, row)| if *s == crate::types::Scalar::Float { f64::from(row.0[0]) } else { f64::from(row.int(0)) })
            .collect();
        Ok(values)
    }

    fn expect(&mut self, what: &Expr, expected: &Expr, tolerance: f64, span: Span) -> Checkable {
        let found = self.output(what)?;
        let mut wanted = constant(expected).map_err(|m| (expected.span, m))?;
        if wanted.len() == 1 {
            wanted.resize(found.len(), wanted[0]);
        }
        if wanted.len() != found.len() {
            return Err((span, format!("{} values are compared with {}", found.len(), wanted.len())));
        }
        // A NaN must not pass, an infinity where it is expected.
        if found.iter().zip(&wanted).all(|(a, b)| a == b || (a - b).abs() <= tolerance) {
            return Ok(());
        }
        let (wanted, found, tolerance) = (numbers(&wanted), numbers(&found), number(tolerance));
        Err((span, format!("expected {wanted}, found {found} (tolerance {tolerance})")))
    }

    fn numeric(&mut self, tolerance: f64, span: Span) -> Checkable {
        let Some(last) = &self.last else {
            return Err((span, "nothing was run yet: `run shader();` comes first".to_owned()));
        };
        for (i, field) in self.layout.fields().iter().enumerate() {
            let seeded = field.orders.count() > 1;
            for d in 0..2 {
                for c in 0..field.components() {
                    self.seeds.partials[d][i][c] = if seeded { self.random.between(-1.0, 1.0) } else { 0.0 };
                }
            }
        }
        let program = self.compiled.probed(&last.shader).map_err(|m| (span, m))?;
        match numeric::compare(program, &self.seeds, &last.parameters, &TestTexture, tolerance) {
            Verdict::Agrees(0) => {
                Err((span, "the shader has no `ddx`, `ddy` or texture look-up to compare".to_owned()))
            }
            Verdict::Agrees(n) => {
                self.agreed += n;
                Ok(())
            }
            Verdict::NotSmooth => {
                self.redrawn += 1;
                Ok(())
            }
            Verdict::Differs { probe, direction, shadow, slope } => {
                let place = self.sources.place(probe.span);
                let line = self.sources.get(probe.span.file);
                let text = line.line(line.line_column(probe.span.start).0).trim().to_owned();
                let message = format!(
                    "at {place}, `{text}`: {direction} is {shadow}, finite differences give {slope} (tolerance {})",
                    number(tolerance)
                );
                Err((span, message))
            }
        }
    }

    /// The command that shows what the last run gave.
    fn command(&self) -> Option<String> {
        let last = self.last.as_ref()?;
        let file = &self.sources.get(self.compiled.file).name;
        Some(repeat(file, self.compiled.folders(), &last.shader, self.backend, self.layout, &self.seeds, &last.given))
    }
}
