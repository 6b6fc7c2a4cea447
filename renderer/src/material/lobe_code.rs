//! The compiled code of a closure that a shader file declares as a struct.

use super::lane_errors::LaneErrors;
use super::lobe_adjoint::LobeAdjoint;
use super::lobe_functions::{BEGIN, BENEATH, DRAW, EVAL};
use crate::bsdf::{LobeCode, Pulled, Step};
use ssl_compiler::runtime::{Block, ClosureInterface, LaneError, ParameterBlock, Row};
use ssl_compiler::{ClosureId, CompileError, Program, Shader, ShaderRequest};
use std::sync::{Arc, OnceLock};

/// What makes a struct a closure, and what is run for it: see `std/bsdf.ssl`.
pub const INTERFACE: ClosureInterface =
    ClosureInterface { file: "bsdf.ssl", name: "IBsdf", functions: &[BEGIN, EVAL, DRAW, BENEATH] };

/// Rows of the inputs of the first step beside the members: `wo`, two normals, the side, and the least roughness.
const PLACE: usize = 11;

/// One function, and the block of parameters that it has none in.
struct Function {
    shader: Arc<Shader>,
    parameters: ParameterBlock,
}

/// The closures of a program that its files declare, with their code.
pub type SslLobeCodes = Vec<(ClosureId, Arc<SslLobeCode>)>;

/// The functions of one closure.
pub struct SslLobeCode {
    name: String,
    members: usize,
    begin: Function,
    eval: Function,
    draw: Function,
    /// Of a layer.
    beneath: Option<Function>,
    /// Where gradients are asked for.
    adjoint: OnceLock<LobeAdjoint>,
    /// The program that it comes from, if that is not the one of the shader which makes the closure.
    home: Option<(Program, ClosureId)>,
    errors: LaneErrors,
}

impl SslLobeCode {
    /// Compiles what is run for a closure of a program.
    pub fn compile(
        program: &Program,
        closure: ClosureId,
        name: &str,
        is_layer: bool,
    ) -> Result<SslLobeCode, CompileError> {
        let function = |entry: &str| -> Result<Function, CompileError> {
            let request = ShaderRequest { closure: Some(closure), ..ShaderRequest::from(entry) };
            let shader = program.compile(request)?;
            Ok(Function { parameters: ParameterBlock::new(shader.interface()), shader })
        };
        let begin = function(BEGIN)?;
        Ok(SslLobeCode {
            name: name.to_owned(),
            members: begin.shader.interface().globals.rows() - PLACE,
            begin,
            eval: function(EVAL)?,
            draw: function(DRAW)?,
            beneath: is_layer.then(|| function(BENEATH)).transpose()?,
            adjoint: OnceLock::new(),
            home: None,
            errors: LaneErrors::default(),
        })
    }

    /// Code that comes from a program of its own.
    pub fn at_home(self, program: Program, closure: ClosureId) -> SslLobeCode {
        SslLobeCode { home: Some((program, closure)), ..self }
    }

    /// Compiles the adjoint, if it is not there yet. `program` makes the closure; the code comes from it or has a home.
    pub fn differentiate(&self, program: &Program, closure: ClosureId) -> Result<(), CompileError> {
        if self.adjoint.get().is_none() {
            let (program, closure) =
                self.home.as_ref().map_or((program, closure), |(program, closure)| (program, *closure));
            let adjoint = LobeAdjoint::compile(program, closure, self.beneath.is_some())?;
            // Another thread may have been faster, with the same.
            let _ = self.adjoint.set(adjoint);
        }
        Ok(())
    }

    /// An error that ended lanes early.
    pub fn error(&self) -> Option<LaneError> {
        self.errors.first()
    }
}

impl LobeCode for SslLobeCode {
    fn name(&self) -> &str {
        &self.name
    }

    fn members(&self) -> usize {
        self.members
    }

    fn run(&self, step: Step, inputs: &[Row], outputs: &mut [Row], mask: u32) -> u32 {
        let function = match step {
            Step::Begin => &self.begin,
            Step::Eval => &self.eval,
            Step::Draw => &self.draw,
            // Only layers are asked.
            Step::Beneath => match &self.beneath {
                Some(function) => function,
                None => return 0,
            },
        };
        let status = function.shader.run(&mut Block { mask, ..Block::new(inputs, &function.parameters, outputs) });
        status.errors.iter().flatten().for_each(|error| self.errors.add(*error));
        status.errors.iter().enumerate().map(|(lane, e)| u32::from(e.is_some()) << lane).sum()
    }

    fn pull_back(&self, step: Step, inputs: &[Row], cotangents: &[Row], pulled: &mut Pulled, mask: u32) -> bool {
        self.adjoint.get().is_some_and(|adjoint| adjoint.pull_back(step, inputs, cotangents, pulled, mask))
    }
}
