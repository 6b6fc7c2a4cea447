//! A compiled shader: checked calls into the code that a back end made.

pub mod linked;

use crate::backend::Code;
use crate::diagnostics::Diagnostics;
use crate::ir::Module;
use crate::runtime::block::{BlockContext, MAX_TAPES, TapeState, Token, Words, lane_error};
use crate::runtime::externals::ExternalRequest;
use crate::runtime::linked::LinkedCalls;
use crate::runtime::tape::Arena;
use crate::runtime::{AddRequest, Block, BlockStatus, LANES, ParameterBlock, Row, ShaderInterface, TextureRequest};
use smallvec::SmallVec;
use std::time::Duration;

/// A shader that any number of threads can run at once.
pub struct Shader {
    interface: ShaderInterface,
    code: Box<dyn Code>,
    /// The IR from which the back end made the code.
    module: Module,
    timings: Vec<(&'static str, Duration)>,
    /// Rows of globals that a block must have.
    needed_rows: usize,
    /// Rows of the request by which functions of the host are called, where any is.
    external_rows: Option<usize>,
    samples: bool,
    adds: bool,
    /// The tapes that the shader uses, and the most rows that go on each at once.
    tapes: SmallVec<[(usize, u32); 1]>,
    warnings: Diagnostics,
}

impl Shader {
    pub(crate) fn new(
        interface: ShaderInterface,
        code: Box<dyn Code>,
        module: Module,
        mut timings: Vec<(&'static str, Duration)>,
    ) -> Shader {
        let needed_rows = interface.globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
        timings.extend_from_slice(code.timings());
        let (external_rows, samples) = (module.external_rows(), module.asks_for_textures());
        let adds = module.adds();
        let tapes = module.tapes().into_iter().enumerate().filter_map(|(i, least)| Some((i, least?))).collect();
        let warnings = Diagnostics::new();
        Shader { interface, code, module, timings, needed_rows, external_rows, samples, adds, tapes, warnings }
    }

    /// What a host must know to call the shader.
    pub fn interface(&self) -> &ShaderInterface {
        &self.interface
    }

    pub(crate) fn set_warnings(&mut self, warnings: Diagnostics) {
        self.warnings = warnings;
    }

    /// The warnings of a [`Compiler`](crate::Compiler): first those of the file, then those of this shader.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// A parameter block with every parameter at its default and no texture bound.
    pub fn new_parameters(&self) -> ParameterBlock {
        ParameterBlock::new(&self.interface)
    }

    /// Rows for the outputs of one block.
    pub fn new_outputs(&self) -> Vec<Row> {
        vec![Row::ZERO; self.interface.output_rows]
    }

    /// The optimised IR.
    #[doc(hidden)]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Whether the shader may print something.
    pub fn prints(&self) -> bool {
        !self.module.texts.formats.is_empty()
    }

    /// How long each stage of compiling took.
    pub fn timings(&self) -> &[(&'static str, Duration)] {
        &self.timings
    }

    /// The size of the machine code; 0 if the interpreter runs the shader.
    pub fn code_bytes(&self) -> usize {
        self.code.code_bytes()
    }

    /// Runs the shader on a block.
    ///
    /// Lanes that end early have zeros in all their outputs, and an error in the status. Shaders that
    /// recurse need a stack of a few megabytes.
    ///
    /// # Panics
    /// If the block has fewer rows, words or columns than the interface says, which is a mistake of the host.
    pub fn run(&self, block: &mut Block<'_>) -> BlockStatus {
        self.run_counting(block).0
    }

    /// Runs the shader on a block; says also how much fuel each lane has left.
    pub(crate) fn run_counting(&self, block: &mut Block<'_>) -> (BlockStatus, [u32; LANES]) {
        assert!(block.globals.len() >= self.needed_rows, "the globals block is too short for this shader");
        assert!(
            block.parameters.words.len() >= self.interface.parameter_words,
            "the parameter block is of another shader"
        );
        assert!(block.outputs.len() >= self.interface.output_rows, "the output block is too short for this shader");
        assert!(block.columns.len() >= self.interface.columns, "the block has too few columns for this kernel");
        let mut request = self.samples.then(TextureRequest::new);
        let mut add = self.adds.then(AddRequest::new);
        let mut external = self.external_rows.map(|rows| {
            let linked = LinkedCalls::new(block.fuel, block.tape_rows);
            ExternalRequest::new(&self.module.externals, &self.module.texts, rows, linked)
        });
        let host = block.host;
        // The call keeps them until it ends: the host may suspend the call and run another one on this thread. Most shaders
        // have none, and are not to pay for those that do.
        let take = |&(_, least): &(usize, u32)| Arena::take(block.tape_rows, least);
        let mut arenas: SmallVec<[Arena; 1]> = self.tapes.iter().map(take).collect();
        let mut tapes = [std::ptr::null_mut(); MAX_TAPES];
        for (&(tape, _), arena) in self.tapes.iter().zip(&mut arenas) {
            tapes[tape] = arena.as_mut_ptr();
        }
        let mut tape_state = (!arenas.is_empty()).then(TapeState::default);
        let mut context = BlockContext {
            globals: block.globals.as_ptr(),
            parameters: block.parameters.words.as_ptr(),
            outputs: block.outputs.as_mut_ptr(),
            host: (&raw const host).cast(),
            texture: request.as_mut().map_or(std::ptr::null_mut(), |r| &raw mut *r),
            columns: block.columns.as_ptr(),
            add: add.as_mut().map_or(std::ptr::null_mut(), |a| &raw mut *a),
            external: external.as_mut().map_or(std::ptr::null_mut(), |e| &raw mut **e),
            tapes,
            tape_state: tape_state.as_mut().map_or(std::ptr::null_mut(), |state| &raw mut *state),
            mask: block.mask & ((1 << LANES) - 1),
            clamped_indices: 0,
            non_finite_derivatives: 0,
            lost_texture_gradients: 0,
            // A token without fuel has run out, so one that spent just what it was given must keep a unit.
            fuel: block.fuel.saturating_add(1),
            // Lanes that are not meant never run out.
            tape_rows: arenas.first().map_or(0, Arena::rows),
            most_rows: 0,
            left: Words([1; LANES]),
            depth: Words::default(),
            kept: Words::default(),
        };
        // SAFETY: the pointers come from live references, and the lengths were checked above.
        unsafe { self.code.run(&mut context) };
        let mut status = BlockStatus {
            clamped_indices: context.clamped_indices,
            non_finite_derivatives: context.non_finite_derivatives,
            lost_texture_gradients: context.lost_texture_gradients,
            ..BlockStatus::default()
        };
        if let Some(state) = &tape_state {
            status.tape_rows = state.most.0.into_iter().fold(context.most_rows, u32::max);
            arenas.iter_mut().for_each(|arena| arena.touched(status.tape_rows));
        }
        // Seldom so; and blocks of small shaders take no longer than looking at lanes one by one.
        let ended = context.left.0.iter().zip(&context.depth.0).fold(false, |any, (l, d)| any | (*l == 0) | (*d != 0));
        if ended {
            self.end(&context, tape_state.unwrap_or_default().left, block.outputs, &mut status);
        }
        if let Some(external) = external {
            self.end_linked(&external.linked.status, block, &mut status);
        }
        (status, context.left.0.map(|fuel| fuel.saturating_sub(1)))
    }

    /// Adds what linked functions met, and clears the outputs of lanes that ended in them.
    fn end_linked(&self, linked: &BlockStatus, block: &mut Block<'_>, status: &mut BlockStatus) {
        status.clamped_indices = status.clamped_indices.wrapping_add(linked.clamped_indices);
        status.non_finite_derivatives = status.non_finite_derivatives.wrapping_add(linked.non_finite_derivatives);
        status.tape_rows = status.tape_rows.max(linked.tape_rows);
        for (lane, error) in linked.errors.iter().enumerate() {
            if error.is_some() && status.errors[lane].is_none() {
                status.errors[lane] = *error;
                block.outputs[..self.interface.output_rows].iter_mut().for_each(|row| row.0[lane] = 0.0);
            }
        }
    }

    /// Clears the outputs of lanes that ended early, and says why they did.
    fn end(&self, context: &BlockContext, rows: Words, outputs: &mut [Row], status: &mut BlockStatus) {
        for lane in (0..LANES).filter(|lane| context.mask >> lane & 1 != 0) {
            let [fuel, depth, rows] = [&context.left, &context.depth, &rows].map(|words| words.0[lane]);
            status.errors[lane] = lane_error(Token { fuel, depth, rows });
            if status.errors[lane].is_some() {
                outputs[..self.interface.output_rows].iter_mut().for_each(|row| row.0[lane] = 0.0);
            }
        }
    }
}
