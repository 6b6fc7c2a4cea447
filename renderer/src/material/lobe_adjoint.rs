//! The adjoint of a closure's code, as the compiler makes it in reverse mode.

use super::lobe_functions::{BEGIN, BENEATH, DRAW, EVAL};
use crate::bsdf::{Pulled, Step};
use ssl_compiler::runtime::{Block, ParameterBlock, Row};
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{ClosureId, CompileError, GradientRequest, Order, Program, Shader, ShaderRequest};
use std::sync::Arc;

/// What of a closure's code can be taken back. A closure without floats among its members has nothing to take back to.
pub struct LobeAdjoint {
    begin: Option<Pullback>,
    eval: Option<Pullback>,
    draw: Option<Pullback>,
    beneath: Option<Pullback>,
}

/// A function that gives its results, and the gradient by its inputs for cotangents of its results.
struct Pullback {
    shader: Arc<Shader>,
    parameters: ParameterBlock,
    /// Rows of inputs and cotangents.
    rows: usize,
    outputs: usize,
    /// By row of the results, the row of its cotangent.
    cotangents: Vec<Option<usize>>,
    /// By row of the inputs, that of the gradient among the results.
    gradients: Vec<Option<usize>>,
}

impl LobeAdjoint {
    pub fn compile(program: &Program, closure: ClosureId, is_layer: bool) -> Result<LobeAdjoint, CompileError> {
        let pullback = |entry, of: &[&str]| Pullback::compile(program, closure, entry, of);
        Ok(LobeAdjoint {
            begin: pullback(BEGIN, &["bsdf", "n", "t", "albedo"])?,
            eval: pullback(EVAL, &["value"])?,
            draw: pullback(DRAW, &["weight", "density"])?,
            beneath: if is_layer { pullback(BENEATH, &["share"])? } else { None },
        })
    }

    /// See [`crate::bsdf::LobeCode::pull_back`].
    pub fn pull_back(&self, step: Step, inputs: &[Row], cotangents: &[Row], pulled: &mut Pulled, mask: u32) -> bool {
        let pullback = match step {
            Step::Begin => &self.begin,
            Step::Eval => &self.eval,
            Step::Draw => &self.draw,
            Step::Beneath => &self.beneath,
        };
        pullback.as_ref().is_some_and(|p| {
            p.run(inputs, cotangents, pulled, mask);
            true
        })
    }
}

impl Pullback {
    /// The gradient of some outputs of a function by what can follow the members of the closure: themselves, and the frame
    /// where it is an input. `None` where nothing can.
    fn compile(
        program: &Program,
        closure: ClosureId,
        entry: &str,
        of: &[&str],
    ) -> Result<Option<Pullback>, CompileError> {
        let request = ShaderRequest { closure: Some(closure), ..ShaderRequest::from(entry) };
        let plain = program.compile(request.clone())?;
        let inputs = plain.interface().globals.clone();
        let follows = |name: &str| ["bsdf", "n", "t"].contains(&name.split(['.', '[']).next().unwrap_or(name));
        let floats = inputs.fields().iter().filter(|f| f.ty == Type::Float && follows(&f.name));
        let by: Vec<&str> = floats.map(|f| f.name.as_str()).collect();
        let outputs = &plain.interface().outputs;
        let has_float = |name: &&str| outputs.iter().any(|o| o.name == **name && o.scalars.contains(&Scalar::Float));
        let of: Vec<&str> = of.iter().copied().filter(has_float).collect();
        if by.is_empty() || of.is_empty() {
            return Ok(None);
        }
        let gradient = Some(GradientRequest::of(of).by_globals(by));
        let shader = program.compile(ShaderRequest { gradient, ..request })?;
        let interface = shader.interface();
        let Some(made) = &interface.gradient else { return Ok(None) };
        let mut gradients = vec![None; inputs.rows()];
        for field in inputs.fields() {
            if let Some(row) = made.by_global(&field.name, Order::Value) {
                gradients[field.first_row] = row.rows[0];
            }
        }
        Ok(Some(Pullback {
            parameters: ParameterBlock::new(interface),
            rows: interface.globals.rows(),
            outputs: interface.output_rows,
            cotangents: made.cotangents.clone(),
            gradients,
            shader,
        }))
    }

    fn run(&self, inputs: &[Row], cotangents: &[Row], pulled: &mut Pulled, mask: u32) {
        let Pulled { outputs, gradients, block } = pulled;
        block.clear();
        block.extend_from_slice(inputs);
        block.resize(self.rows.max(inputs.len()), Row::ZERO);
        for (row, cotangent) in self.cotangents.iter().zip(cotangents) {
            if let Some(row) = row {
                block[*row] = *cotangent;
            }
        }
        outputs.clear();
        outputs.resize(self.outputs, Row::ZERO);
        // A lane that ends early leaves zeros, and was told of when the primal ended there.
        self.shader.run(&mut Block { mask, ..Block::new(block, &self.parameters, outputs) });
        gradients.clear();
        gradients.extend(self.gradients.iter().map(|row| row.map_or(Row::ZERO, |row| outputs[row])));
    }
}
