//! A second evaluator of the language, to check the first one: it walks the syntax tree and computes in f64 with
//! truncated Taylor series in x and y, so it knows every derivative of every value without a derivative rule.
//!
//! It has its own names, types, overloads, calls, places and built-ins. It shares with what it checks only the parser,
//! the text of the standard library, the host's texture, and the functions of a math library in f64. What the reference
//! leaves open (an infinity times zero, a decision that lies within rounding of its boundary) it does not guess: it
//! stops and says so.

mod arithmetic;
mod builtins;
mod calls;
mod componentwise;
mod decisions;
mod expressions;
mod files;
mod functions;
mod geometry;
pub mod jet;
mod lists;
mod matrices;
mod methods;
pub mod number;
mod places;
mod splines;
mod statements;
pub mod value;

use decisions::Decisions;
use files::Files;
use jet::{Jet, MAX_ORDER};
use ssl_compiler::syntax::ast::Direction;
use std::collections::HashMap;
use std::rc::Rc;
use value::{Ty, Value};

/// Why a program was not evaluated to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Something lies so near to a boundary, or is so infinite, that two right evaluators may differ.
    Undecided(&'static str),
    /// A derivative beyond the order that is kept.
    TooDeep,
    TooLong,
    /// What this evaluator does not know. No generated program may meet it.
    Unknown(String),
}

impl Stop {
    fn unknown(what: impl Into<String>) -> Stop {
        Stop::Unknown(what.into())
    }
}

pub type Result<T> = std::result::Result<T, Stop>;

/// A texture: from u and v to its four channels, and their slopes by u and by v.
pub type Texture<'a> = dyn Fn(f64, f64) -> ([f64; 4], [[f64; 4]; 2]) + 'a;

/// Where a program runs.
pub struct World<'a> {
    /// Of each component of each float global: value, ∂x, ∂y, ∂xx, ∂xy, ∂yy.
    pub floats: HashMap<String, Vec<[f64; 6]>>,
    pub ints: HashMap<String, i32>,
    pub texture: &'a Texture<'a>,
    /// Whether globals count as known to the last place only. Then the error of every number that comes of them
    /// bounds all that rounding did to it, not just what another evaluator would do otherwise.
    pub rounded_globals: bool,
    /// Expressions, statements and rounds that a run may take.
    pub steps: u32,
    /// Whether the texture takes coordinates in single precision.
    pub single_coordinates: bool,
}

/// What came of a run.
pub struct Outcome {
    /// Every output of the shader, in order of declaration.
    pub outputs: Vec<(String, Value)>,
    /// The footprint of each look-up: u, v and their partials by x and y.
    pub footprints: Vec<[Jet; 2]>,
    /// What `ddx` and `ddy` were asked of, in order, with the direction.
    pub derived: Vec<(Jet, usize)>,
    /// To which order it was run.
    pub order: usize,
    /// The way that was taken: equal for two runs that decided everything alike.
    pub path: u64,
}

/// A parsed program.
pub struct Program {
    files: Files,
}

impl Program {
    /// Reads a program. Fails where it does not parse.
    pub fn new(source: &str) -> Result<Program> {
        Ok(Program { files: Files::new(source)? })
    }

    /// Runs a shader, with as high an order as it takes.
    pub fn run(&self, shader: &str, world: &World<'_>) -> Result<Outcome> {
        let mut last = Stop::TooDeep;
        for order in 1..=MAX_ORDER {
            match self.run_to_order(shader, world, order) {
                Err(Stop::TooDeep) => last = Stop::TooDeep,
                result => return result,
            }
        }
        Err(last)
    }

    /// Runs a shader with globals known up to an order; each `ddx` or `ddy` takes one away.
    pub fn run_to_order(&self, shader: &str, world: &World<'_>, order: usize) -> Result<Outcome> {
        let declaration = self.files.shader(shader)?;
        let mut machine = Machine {
            files: &self.files,
            world,
            order,
            frames: Vec::new(),
            decisions: Decisions::default(),
            footprints: Vec::new(),
            derived: Vec::new(),
            steps: 0,
            constants: HashMap::new(),
        };
        machine.frames.push(Frame::new(files::ROOT, Ty::Void));
        for parameter in &declaration.parameters {
            let ty = machine.declared(&parameter.ty, &parameter.dims)?;
            let value = match &parameter.default {
                Some(default) => machine.eval_as(default, &ty)?,
                None => ty.zero(),
            };
            machine.frame().declare(&parameter.name.text, value);
        }
        machine.body(&declaration)?;
        let mut outputs = Vec::new();
        for parameter in declaration.parameters.iter().filter(|p| p.direction == Direction::Out) {
            let slot = machine.frame().find(&parameter.name.text);
            let slot = slot.ok_or_else(|| Stop::unknown("an output that was never declared"))?;
            outputs.push((parameter.name.text.clone(), machine.frame().variables[slot].1.clone()));
        }
        let Machine { decisions, footprints, derived, .. } = machine;
        Ok(Outcome { outputs, footprints, derived, order, path: decisions.path() })
    }
}

/// One call: its variables, innermost last.
struct Frame {
    file: usize,
    result: Ty,
    /// What stands for generic parameters here.
    bounds: methods::Bounds,
    returned: Option<Value>,
    variables: Vec<(String, Value)>,
}

impl Frame {
    fn new(file: usize, result: Ty) -> Frame {
        Frame { file, result, bounds: Vec::new(), returned: None, variables: Vec::new() }
    }

    fn declare(&mut self, name: &str, value: Value) {
        self.variables.push((name.to_owned(), value));
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.variables.iter().rposition(|(n, _)| n == name)
    }
}

struct Machine<'a> {
    files: &'a Files,
    world: &'a World<'a>,
    order: usize,
    frames: Vec<Frame>,
    decisions: Decisions,
    footprints: Vec<[Jet; 2]>,
    derived: Vec<(Jet, usize)>,
    steps: u32,
    /// Constants of files, once they were read.
    constants: HashMap<(usize, String), Rc<Value>>,
}

impl Machine<'_> {
    fn frame(&mut self) -> &mut Frame {
        // The shader's frame is never popped.
        self.frames.last_mut().expect("a call is open")
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > self.world.steps { Err(Stop::TooLong) } else { Ok(()) }
    }
}
