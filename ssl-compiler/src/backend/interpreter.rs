//! The reference interpreter behind the interface of a back end: lane by lane, in f32.

use super::{Backend, BackendError, Code, Text};
use crate::interp::{Inputs, Program};
use crate::ir::Module;
use crate::runtime::block::Token;
use crate::runtime::host::HostServices;
use crate::runtime::linked::LinkedCalls;
use crate::runtime::{BlockContext, Column, LANES, Order, Row};

pub struct Interpreter;

impl Backend for Interpreter {
    fn compile(&self, module: &Module) -> Result<Box<dyn Code>, BackendError> {
        Ok(Box::new(Interpreted { program: Program::new(module.clone()) }))
    }

    fn text(&self, _: &Module, _: Text) -> Result<String, BackendError> {
        Err(BackendError("the interpreter runs the optimised code as it stands: `--stage opt` shows it".to_owned()))
    }
}

struct Interpreted {
    program: Program,
}

/// One lane of a block.
struct Lane<'a> {
    program: &'a Program,
    globals: *const Row,
    parameters: *const u32,
    columns: *const Column,
    lane: usize,
}

impl Lane<'_> {
    fn word(&self, field: usize, component: usize, order: Order) -> f32 {
        match self.program.module().globals[field].row(component, order) {
            // SAFETY: `Code::run` promises all rows that the module reads.
            Some(row) => unsafe { (*self.globals.add(row)).0[self.lane] },
            None => 0.0,
        }
    }
}

impl Inputs<f32> for Lane<'_> {
    fn global(&self, field: usize, component: usize, order: Order) -> f32 {
        self.word(field, component, order)
    }

    fn global_bits(&self, field: usize, component: usize) -> u32 {
        self.word(field, component, Order::Value).to_bits()
    }

    fn parameter(&self, word: usize) -> u32 {
        // SAFETY: `Code::run` promises all words that the module has.
        unsafe { *self.parameters.add(word) }
    }

    fn element(&self, column: usize, index: u32) -> u32 {
        // SAFETY: `Code::run` promises all columns that the module has, and the index is inside.
        unsafe {
            let column = &*self.columns.add(column);
            *column.words.add(index as usize * column.stride as usize)
        }
    }

    fn column_length(&self, column: usize) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.columns.add(column)).length }
    }

    fn lane(&self) -> usize {
        self.lane
    }
}

impl Code for Interpreted {
    unsafe fn run(&self, context: &mut BlockContext) {
        for lane in (0..LANES).filter(|lane| context.mask >> lane & 1 != 0) {
            let BlockContext { globals, parameters, columns, .. } = *context;
            let inputs = Lane { program: &self.program, globals, parameters, columns, lane };
            // SAFETY: the caller promises a live host behind the pointer.
            let host = unsafe { *context.host.cast::<&dyn HostServices>() };
            // SAFETY: the caller promises that it is null or live.
            let request = unsafe { context.external.as_ref() };
            let linked = request.map_or_else(LinkedCalls::default, |request| request.linked.unspent());
            let (token, rows) = (Token::new(context.fuel), context.tape_rows);
            let outcome = self.program.run_with_links::<f32>(&inputs, host, token, rows, linked);
            debug_assert_eq!(outcome.unmatched_pops, 0, "a pop found what another push had left");
            for (row, cell) in outcome.results.iter().enumerate() {
                // SAFETY: the caller promises a row for each of the entry's results.
                unsafe { (*context.outputs.add(row)).0[lane] = f32::from_bits(cell.bits()) };
            }
            context.left.0[lane] = outcome.token.fuel;
            context.depth.0[lane] = outcome.token.depth;
            // SAFETY: the caller promises that it is null or live.
            if let Some(state) = unsafe { context.tape_state.as_mut() } {
                state.left.0[lane] = outcome.token.rows;
            }
            // SAFETY: the caller promises that it is null or live.
            if let Some(request) = unsafe { context.external.as_mut() } {
                let (all, own) = (&mut request.linked.status, &outcome.linked);
                all.errors[lane] = own.errors[0];
                all.clamped_indices = all.clamped_indices.wrapping_add(own.clamped_indices);
                all.non_finite_derivatives = all.non_finite_derivatives.wrapping_add(own.non_finite_derivatives);
                all.tape_rows = all.tape_rows.max(own.tape_rows);
            }
            context.most_rows = context.most_rows.max(outcome.tape_rows);
            context.lost_texture_gradients =
                context.lost_texture_gradients.wrapping_add(outcome.lost_texture_gradients);
            context.clamped_indices = context.clamped_indices.wrapping_add(outcome.clamped_indices);
            context.non_finite_derivatives =
                context.non_finite_derivatives.wrapping_add(outcome.non_finite_derivatives);
        }
    }
}
