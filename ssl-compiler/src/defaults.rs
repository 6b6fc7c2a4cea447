//! Defaults of shader parameters that call the author's functions. The reference interpreter runs them once, when the
//! shader is compiled.
//!
//! A default may do anything that gives the same value each time. A default that reads globals, textures or parameters,
//! prints, calls the host, or does not end, is not a constant. It is left to lowering, which reports it.

use crate::interp::{Inputs, Program};
use crate::ir::{Const, Module, Precision};
use crate::lower::{self, Defaults, Request, Roots};
use crate::pipeline::{self, Options};
use crate::runtime::block::lane_error;
use crate::runtime::{ExternalRegistry, NoTextures, Order};
use crate::sema::hir::{self, Expr, ExprKind, FunctionId, Place, Stmt, StmtKind, VarId, Variable};
use crate::sema::{Checked, reach};
use crate::syntax::ast::Direction;
use crate::types::{Scalar, Type};

/// Rounds of loops and calls that one default may take.
const FUEL: u32 = 1 << 20;

/// The values of those defaults of a shader that lowering alone cannot compute: the scalars of each, in order.
/// Recursive functions need a stack of several megabytes.
pub fn computed(checked: &Checked, shader: FunctionId, externals: &ExternalRegistry) -> Defaults {
    let function = checked.program.function(shader);
    let mut found = Defaults::new();
    for p in function.parameters.iter().filter(|p| p.direction == Direction::In) {
        let variable = &function.variables[p.variable.0 as usize];
        let Some(value) = p.default.as_ref().filter(|e| reach::calls_functions(e)) else { continue };
        let alone = alone(checked, variable, value.clone());
        let entry = FunctionId(alone.program.functions.len() as u32 - 1);
        found.extend(run(&alone, entry, externals).map(|list| (p.variable, list)));
    }
    found
}

/// The program with one more shader, which hands out nothing but the value.
fn alone(checked: &Checked, variable: &Variable, value: Expr) -> Checked {
    let mut program = checked.program.clone();
    let (id, ty, span) = (VarId(0), variable.ty.clone(), variable.span);
    let place = Place { variable: id, path: Vec::new(), ty: ty.clone(), span };
    let assignment = Expr { kind: ExprKind::Assign(place, Box::new(value)), ty: ty.clone(), span };
    program.functions.push(hir::Function {
        name: format!("default of {}", variable.name),
        is_shader: true,
        is_kernel: false,
        result: Type::Void,
        parameters: vec![hir::Parameter {
            no_diff: false,
            given: None,
            variable: id,
            direction: Direction::Out,
            default: None,
            buffer: None,
            start: None,
            metadata: Vec::new(),
        }],
        metadata: Vec::new(),
        variables: vec![Variable { name: variable.name.clone(), ty, span, constant: false, dynamic: false }],
        body: Some(vec![Stmt { kind: StmtKind::Expr(assignment), span }]),
        external: None,
        derived: None,
        attributes: hir::Attributes::default(),
        span,
    });
    Checked {
        program,
        layout: checked.layout.clone(),
        closures: checked.closures.clone(),
        tests: Vec::new(),
        sources: checked.sources.clone(),
    }
}

fn run(checked: &Checked, shader: FunctionId, externals: &ExternalRegistry) -> Option<Vec<Const>> {
    let request = Request {
        checked,
        externals,
        shader,
        bake: None,
        defaults: &Defaults::new(),
        probes: false,
        resampled: None,
        call_sites: false,
        names: false,
        poison: false,
        coincidences: false,
        precision: Precision::Single,
        linked: None,
        roots: Roots::All,
    };
    // Whatever is wrong is said where the shader itself is lowered.
    let (mut module, interface) = lower::lower(&request, &mut crate::diagnostics::Diagnostics::new())?;
    pipeline::run(&mut module, Options::default(), &mut |_, _| {}).ok()?;
    crate::analysis::stack::check(&module).ok()?;
    if !is_constant(&module) {
        return None;
    }
    let outcome = Program::new(module).run::<f32>(&Nothing, &NoTextures, FUEL);
    if lane_error(outcome.token).is_some() {
        return None;
    }
    let scalars = interface.outputs.iter().flat_map(|o| &o.scalars);
    let one = |(scalar, bits): (&Scalar, u32)| match scalar {
        Scalar::Bool => Const::Bool(bits != 0),
        Scalar::Int => Const::Int(bits as i32),
        Scalar::Float => Const::Float(bits),
    };
    Some(scalars.zip(outcome.results.iter().map(|cell| cell.bits())).map(one).collect())
}

/// Whether nothing in a program looks outside or is noticed there.
fn is_constant(module: &Module) -> bool {
    let mut constant = true;
    for f in &module.functions {
        f.walk(|_, data| constant &= !data.op.asks_host());
    }
    constant
}

/// There is nothing to read.
struct Nothing;

impl Inputs<f32> for Nothing {
    fn global(&self, _: usize, _: usize, _: Order) -> f32 {
        0.0
    }

    fn global_bits(&self, _: usize, _: usize) -> u32 {
        0
    }

    fn parameter(&self, _: usize) -> u32 {
        0
    }
}
