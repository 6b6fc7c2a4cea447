//! Random well-typed programs of the language, made from a seed or from bytes.
//!
//! Programs end (loops are counted, recursion counts down), but may run out of a small allowance of
//! fuel; indices may lie outside, divisors may be zero. Every variable is declared before its use.

mod closures;
mod expressions;
mod kernels;
mod places;
mod random;
mod scalars;
mod statements;
mod types;
mod vectors;

pub use kernels::{held_kernel_and_derivative, kernel, kernel_and_derivative};
pub use random::Random;
use std::fmt::Write;
use types::{DECLARATIONS, GENERIC, Ty};
pub use types::{GLOBALS, ROWS};

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone)]
struct Head {
    name: String,
    result: Ty,
    parameters: Vec<(Ty, Direction)>,
    /// What they are called, once that was written.
    names: Vec<String>,
    /// Its first parameter counts down.
    recursive: bool,
    /// Through which of them no derivative goes.
    held: Vec<bool>,
}

/// Where a program says that no derivative goes through a parameter, which comes to the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// Once, before the parameter.
    Parameter,
    /// Before the argument of each call.
    Argument,
}

/// Output rows of a generated program that neither are derivatives nor belong to its closure; they come first.
pub const VALUES: usize = 10;

/// What programs may contain.
#[derive(Clone, Copy)]
pub struct Flavour {
    /// Only operations that are smooth almost everywhere and stay of moderate size.
    pub smooth: bool,
    /// `ddx` and `ddy` anywhere, not only around the results.
    pub nested_derivatives: bool,
}

struct Generator {
    random: Random,
    flavour: Flavour,
    out: String,
    depth: usize,
    /// Visible variables: name, type, whether it may be assigned.
    variables: Vec<(String, Ty, bool)>,
    functions: Vec<Head>,
    names: usize,
    /// Statements that may still be written.
    budget: usize,
    /// Loops around here.
    loops: usize,
    /// Whether one of them does not count its rounds.
    uncounted: bool,
    /// Whether a `break` has something to leave.
    breakable: bool,
    /// What the function here gives; `None` in the shader.
    result: Option<Ty>,
    /// Changes of the closure that may still be written.
    closures: usize,
    /// Whether the buffers of a kernel are there.
    buffers: bool,
    /// Indices of buffers around here.
    reading: usize,
    /// Whether derivatives end at some parameters.
    held: Option<Held>,
}

/// A program whose shader is called `main`; `size` bounds its statements.
pub fn program(seed: u64, size: usize, flavour: Flavour) -> String {
    program_from(Random::new(seed), size, flavour)
}

/// The same from any source of choices.
pub fn program_from(random: Random, size: usize, flavour: Flavour) -> String {
    let mut g = Generator::new(random, flavour);
    g.out.insert_str(0, GLOBALS);
    g.functions(size);
    g.budget = 3 + size;
    g.shader();
    g.out
}

impl Generator {
    fn new(random: Random, flavour: Flavour) -> Generator {
        Generator {
            random,
            flavour,
            out: format!("{GENERIC}{DECLARATIONS}"),
            depth: 0,
            variables: Vec::new(),
            functions: Vec::new(),
            names: 0,
            budget: 0,
            loops: 0,
            uncounted: false,
            breakable: false,
            result: None,
            closures: 6,
            buffers: false,
            reading: 0,
            held: None,
        }
    }

    /// Functions for the entry to call.
    fn functions(&mut self, size: usize) {
        for _ in 0..self.random.below(4) {
            self.budget = 2 + size / 3;
            self.function();
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 4);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn one_of(&mut self, list: &[Ty]) -> Ty {
        list[self.random.below(list.len())]
    }

    fn any_type(&mut self) -> Ty {
        if self.random.chance(40) { Ty::Float } else { self.one_of(&Ty::ALL) }
    }

    fn function(&mut self) {
        let (name, result, recursive) = (self.name("f"), self.one_of(&Ty::RESULTS), self.random.chance(30));
        let mut parameters: Vec<(Ty, Direction)> = (0..1 + self.random.below(3))
            .map(|_| {
                let direction = match self.random.below(5) {
                    0 => Direction::Out,
                    1 => Direction::InOut,
                    _ => Direction::In,
                };
                (self.any_type(), direction)
            })
            .collect();
        if recursive {
            parameters.insert(0, (Ty::Int, Direction::In));
        }
        let held = parameters.iter().map(|&(ty, direction)| self.is_held(ty, direction)).collect();
        let mut head = Head { name: name.clone(), result, parameters, names: Vec::new(), recursive, held };
        self.variables.clear();
        let mut list = Vec::new();
        for (i, (ty, direction)) in head.parameters.clone().into_iter().enumerate() {
            let parameter = if recursive && i == 0 { "level".to_owned() } else { self.name("p") };
            let word = match direction {
                Direction::In if head.held[i] && self.held == Some(Held::Parameter) => "no_diff ",
                Direction::In => "",
                Direction::Out => "out ",
                Direction::InOut => "inout ",
            };
            list.push(format!("{word}{}", ty.declare(&parameter)));
            head.names.push(parameter.clone());
            self.variables.push((parameter, ty, !(recursive && i == 0)));
        }
        let (before, _) = result.around();
        self.line(&format!("{before} {name}({})", list.join(", ")));
        self.line("{");
        self.depth += 1;
        self.result = Some(result);
        if recursive {
            let base = self.expr(result, 1);
            self.line(&format!("if (level <= 0) return {base};"));
            // Visible to its own body only from here on, so every call counts down.
            self.functions.push(head.clone());
        }
        self.statements();
        let value = self.expr(result, 3);
        self.line(&format!("return {value};"));
        self.depth -= 1;
        self.line("}");
        if !recursive {
            self.functions.push(head);
        }
    }

    fn is_held(&mut self, ty: Ty, direction: Direction) -> bool {
        let floats = matches!(ty, Ty::Float | Ty::Float2 | Ty::Vector | Ty::Float4 | Ty::Matrix);
        self.held.is_some() && floats && direction == Direction::In && self.random.chance(40)
    }

    fn shader(&mut self) {
        self.variables.clear();
        self.result = None;
        self.line("shader main(out float r0, out float3 r1, out int r2, out bool r3, out float4 r4,");
        self.line("    out float d0, out float d1, out closure c)");
        self.line("{");
        self.depth += 1;
        for (name, ty) in [("r0", Ty::Float), ("r1", Ty::Vector), ("r2", Ty::Int), ("r3", Ty::Bool), ("r4", Ty::Float4)]
        {
            self.variables.push((name.to_owned(), ty, true));
        }
        self.line("float x = global_value<ga>;");
        self.line("float y = global_value<gb>;");
        self.variables.push(("x".to_owned(), Ty::Float, true));
        self.variables.push(("y".to_owned(), Ty::Float, true));
        self.statements();
        let (a, b) = (self.expr(Ty::Float, 3), self.expr(Ty::Float, 3));
        self.line(&format!("d0 = ddx({a});"));
        self.line(&format!("d1 = ddy({b});"));
        self.depth -= 1;
        self.line("}");
    }
}
