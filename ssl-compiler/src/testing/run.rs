//! One test on one back end: its statements in order, for one sample.

use super::compiled::Compiled;
use super::draws::Draws;
use super::expectation::{Fault, fault};
use super::numeric::{Seeds, seeds_for};
use super::report::Failure;
use super::reproduce::{Given, Inputs, number, parameter_value};
use super::texture::TestTextures;
use super::values::{Numbers, constant, numbers, setting, texture};
use crate::diagnostics::codes;
use crate::facade::BackendKind;
use crate::runtime::{Block, GlobalsLayout, Listener, Order, ParameterBlock, ParameterValue, Row};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Expr, ExprKind, Ident, TestDecl, TestStmt, TestStmtKind};
use crate::types::Type;

/// Messages of shaders that a test keeps.
const MAX_MESSAGES: usize = 1000;

/// The last shader that was run.
pub(super) struct Ran {
    pub shader: String,
    pub parameters: ParameterBlock,
    pub textures: TestTextures,
    pub given: Vec<(String, Given)>,
    pub outputs: Vec<Row>,
}

/// Why an expectation does not hold.
pub(super) struct Wrong {
    pub span: Span,
    pub message: String,
    pub values: Option<(String, String)>,
    /// The point at which it fails, where that is not the one that the test set.
    pub seeds: Option<Box<Seeds>>,
    /// The derivative that finite differences do not confirm.
    pub sink: Option<Box<Sink>>,
    /// What shows it again, where that is no shader's run.
    pub again: Option<Box<Again>>,
}

/// The inputs of a function that a test called, a line for each, and a test that calls it with these.
pub(super) struct Again {
    pub inputs: Vec<String>,
    pub test: String,
}

/// A derivative that is wrong: where, in which direction, by how much of the larger of both values, and by which
/// tolerance it was judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sink {
    pub place: Span,
    pub direction: &'static str,
    pub off: f64,
    pub tolerance: f64,
}

impl Wrong {
    pub fn new(span: Span, message: impl Into<String>) -> Wrong {
        Wrong { span, message: message.into(), values: None, seeds: None, sink: None, again: None }
    }
}

/// What a checked test would not give; said the same way all the same.
impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Wrong {
        Wrong::new(fault.span.unwrap_or_default(), fault.message)
    }
}

pub(super) enum Stop {
    Wrong(Box<Wrong>),
    /// Finite differences mean nothing at this point.
    NotSmooth,
}

impl<T: Into<Wrong>> From<T> for Stop {
    fn from(wrong: T) -> Stop {
        Stop::Wrong(Box::new(wrong.into()))
    }
}

/// What came of one sample.
#[derive(Default)]
pub(super) struct Attempt {
    pub failures: Vec<Failure>,
    /// For each failure, the derivative that is wrong.
    pub sinks: Vec<Option<Sink>>,
    pub not_smooth: bool,
    /// Derivatives that were compared.
    pub agreed: usize,
    /// Expectations that asked for nothing at this point, and what to say if none of a test's points asks for more.
    pub vacuous: Vec<(Span, String)>,
    /// Those of them that were met here.
    pub met: Vec<Span>,
    pub messages: Vec<String>,
}

/// The state of one test on one back end.
pub(super) struct Run<'a, 'c> {
    pub compiled: &'a mut Compiled<'c>,
    pub sources: &'a SourceMap,
    pub test: &'a TestDecl,
    pub backend: BackendKind,
    pub layout: &'c GlobalsLayout,
    pub seeds: Seeds,
    pub draws: Draws,
    pub last: Option<Ran>,
    pub attempt: Attempt,
}

impl<'a, 'c> Run<'a, 'c> {
    pub fn new(
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
            draws: Draws::named(&test.name),
            compiled,
            last: None,
            attempt: Attempt::default(),
        }
    }

    /// All statements once, from a clean start, with these draws as far as they go.
    pub fn sample(&mut self, replayed: Vec<f64>) -> Attempt {
        self.draws.start(replayed);
        self.seeds = seeds_for(self.layout);
        self.last = None;
        let test = self.test;
        for statement in &test.body {
            match self.statement(statement) {
                Ok(()) => {}
                Err(Stop::Wrong(wrong)) => self.fail(*wrong),
                Err(Stop::NotSmooth) => {
                    self.attempt.not_smooth = true;
                    break;
                }
            }
        }
        std::mem::take(&mut self.attempt)
    }

    fn fail(&mut self, wrong: Wrong) {
        let mut failure = Failure::at(self.sources, wrong.span, wrong.message);
        failure.values = wrong.values;
        if let Some(again) = wrong.again {
            failure.inputs = again.inputs;
            failure.reproduce = Some(again.test);
        } else if let Some(last) = &self.last {
            let seeds = wrong.seeds.as_deref().unwrap_or(&self.seeds);
            let inputs = Inputs { layout: self.layout, seeds, given: &last.given };
            let file = &self.sources.get(self.compiled.file).name;
            failure.inputs = inputs.lines();
            let mut command = inputs.command(file, self.compiled.folders(), &last.shader, self.backend);
            if let Some(sink) = &wrong.sink {
                command.push_str(&format!(" --differences {}", number(sink.tolerance)));
            }
            failure.reproduce = Some(command);
        }
        self.attempt.sinks.push(wrong.sink.map(|sink| *sink));
        self.attempt.failures.push(failure);
    }

    fn statement(&mut self, s: &TestStmt) -> Result<(), Stop> {
        match &s.kind {
            TestStmtKind::Set(name, _) if name.text == "samples" => Ok(()),
            TestStmtKind::Set(name, e) => Ok(self.set(name, e)?),
            TestStmtKind::Run(shader, arguments) => Ok(self.run(shader, arguments)?),
            TestStmtKind::Expect(name, arguments) => {
                let expectation = super::expectation::read(name, arguments, s.span)?;
                self.expect(&expectation, s.span)
            }
            TestStmtKind::ExpectError { code, source } => Ok(self.expect_error(code, *source, s.span)?),
            // Taken apart before.
            TestStmtKind::Cases(_) => Ok(()),
        }
    }

    fn set(&mut self, name: &Ident, e: &Expr) -> Result<(), Fault> {
        let layout = self.layout;
        let Some((field, global)) = layout.find(&name.text) else {
            let known: Vec<&str> = layout.fields().iter().map(|f| f.name.as_str()).collect();
            let message = format!("there is no global `{}`; there are {}", name.text, known.join(", "));
            return Err(fault(&codes::TEST_NAME, name.span, message, ""));
        };
        let setting = setting(e).map_err(|m| fault(&codes::TEST_VALUE, e.span, m, ""))?;
        let n = global.components();
        self.seeds.values[field] = self.numbers(&setting.value, &global.ty, n, e.span)?;
        for (d, partial) in setting.partials.iter().flatten().enumerate() {
            self.seeds.partials[d][field] = self.numbers(partial, &Type::Float, n, e.span)?;
        }
        Ok(())
    }

    /// A number for each component; drawn where that is asked for.
    fn numbers(&mut self, given: &Numbers, ty: &Type, n: usize, span: Span) -> Result<Vec<f64>, Fault> {
        let spread = |v: &[f64]| match v.len() {
            1 if *ty != Type::Matrix || v[0] == 0.0 => Ok(vec![v[0]; n]),
            m if m == n => Ok(v.to_vec()),
            m => Err(fault(&codes::TEST_VALUE, span, format!("{n} components are needed, {m} are given"), "")),
        };
        match given {
            Numbers::Fixed(v) => spread(v),
            Numbers::Uniform(low, high) => {
                let whole = matches!(ty, Type::Int | Type::Bool);
                let ends = spread(low)?.into_iter().zip(spread(high)?);
                Ok(ends.map(|(a, b)| self.draws.between(a, b, whole)).collect())
            }
        }
    }

    /// The globals as rows for lane 0 of a block.
    pub fn rows(&self) -> Vec<Row> {
        rows_of(self.layout, &self.seeds)
    }

    fn run(&mut self, name: &Ident, arguments: &[(Ident, Expr)]) -> Result<(), Wrong> {
        let mut textures = TestTextures::default();
        let mut given = Vec::new();
        let mut words = Vec::new();
        for (parameter, e) in arguments {
            let value = self.argument(&name.text, name.span, parameter, e)?;
            words.push(match &value {
                Given::Value(value) => value.clone(),
                Given::Texture(pattern) => ParameterValue::Texture(textures.add(*pattern)),
            });
            given.push((parameter.text.clone(), value));
        }
        let rows = self.rows();
        let shader = self.compiled.shader(&name.text, self.backend).map_err(|unmade| unmade.wrong(name.span))?;
        let mut parameters = ParameterBlock::new(shader.interface());
        for ((parameter, _), value) in arguments.iter().zip(&words) {
            parameters
                .set(shader.interface(), &parameter.text, value)
                .map_err(|error| Wrong::new(parameter.span, error.message(&parameter.text)))?;
        }
        let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
        let listener = Listener::new(&textures, &parameters);
        let status =
            shader.run(&mut Block { host: &listener, mask: 1, ..Block::new(&rows, &parameters, &mut outputs) });
        let room = MAX_MESSAGES.saturating_sub(self.attempt.messages.len());
        self.attempt.messages.extend(listener.messages().into_iter().map(|(_, text)| text).take(room));
        self.last = Some(Ran { shader: name.text.clone(), parameters, textures, given, outputs });
        match status.first_error() {
            Some(error) => Err(Wrong::new(name.span, error.to_string())),
            None => Ok(()),
        }
    }

    fn argument(&mut self, shader: &str, span: Span, parameter: &Ident, e: &Expr) -> Result<Given, Wrong> {
        let compiled = self.compiled.shader(shader, self.backend).map_err(|unmade| unmade.wrong(span))?;
        if compiled.interface().textures.iter().any(|t| t.name == parameter.text) {
            return texture(e).map(Given::Texture).map_err(|m| Wrong::new(e.span, m));
        }
        let ty = compiled.interface().parameters.iter().find(|p| p.name == parameter.text).map(|p| p.ty.clone());
        let value = match &e.kind {
            ExprKind::Str(text) => ParameterValue::String(text.clone()),
            _ => {
                let v = match numbers(e).map_err(|m| Wrong::new(e.span, m))? {
                    Numbers::Fixed(v) => v,
                    drawn => {
                        let n = ty.as_ref().and_then(Type::components).unwrap_or(1);
                        self.numbers(&drawn, ty.as_ref().unwrap_or(&Type::Float), n, e.span)?
                    }
                };
                parameter_value(ty.as_ref(), &v)
            }
        };
        Ok(Given::Value(value))
    }

    /// The value of a literal, an offence of it being the test's.
    pub fn constant(e: &Expr) -> Result<Vec<f64>, Wrong> {
        constant(e).map_err(|m| Wrong::new(e.span, m))
    }
}

/// Globals as rows for lane 0 of a block.
pub(super) fn rows_of(layout: &GlobalsLayout, seeds: &Seeds) -> Vec<Row> {
    let mut rows = vec![Row::ZERO; layout.rows()];
    for (i, field) in layout.fields().iter().enumerate() {
        for c in 0..field.components() {
            for (order, table) in
                [(Order::Value, &seeds.values), (Order::Ddx, &seeds.partials[0]), (Order::Ddy, &seeds.partials[1])]
            {
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
