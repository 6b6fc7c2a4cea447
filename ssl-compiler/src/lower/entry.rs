//! The entry's ends: parameters become words of the parameter block, results become output rows, plain
//! ones first, then the table of lobes.

use super::closures::MAX_ON_THE_WAY;
use super::state::{LeafState, Lobe, State};
use super::{MAX_LOBES, Roots, Writer};
use crate::diagnostics::codes;
use crate::ir::{self, Const, Op, ParameterWord, Ty, Values};
use crate::runtime::interface::{ClosureDesc, Metadata};
use crate::runtime::{BufferRole, ClosureId, Layer, LobeDesc, Orders, OutputDesc, ParameterDesc};
use crate::sema::hir::{Function, Parameter, Variable};
use crate::sema::reach::calls_functions;
use crate::syntax::ast::Direction;
use crate::types::{LeafKind, Scalar, Type};
use std::collections::{HashMap, HashSet};

impl Writer<'_, '_> {
    pub(super) fn shader_parameter(&mut self, function: &Function, p: &Parameter) {
        let variable = &function.variables[p.variable.0 as usize];
        let slot = self.frame.base + p.variable.0 as usize;
        if !function.is_shader && p.direction != Direction::Out {
            let state = self.input_rows(variable);
            let state = self.passed(p, state);
            return self.set(slot, state);
        }
        if let Some(role) = p.buffer {
            self.b.span = variable.span;
            let start = self.buffer(variable, p, role);
            match start {
                Some(state) => {
                    let state = self.passed(p, state);
                    self.set(slot, state);
                }
                None if role == BufferRole::Out => {
                    let zero = self.zero_variable(p.variable);
                    self.set_unnamed(slot, zero);
                }
                None => {}
            }
        } else if variable.ty.is_slot() {
            let word = self.cx.texture_word(&variable.name, Some(p.metadata.clone()));
            self.frame.textures.insert(p.variable, word);
        } else if p.direction == Direction::Out || variable.ty == Type::Closure {
            // A closure that another shader would hand in: run by the host, there are no lobes.
            let zero = self.zero_variable(p.variable);
            self.set_unnamed(slot, zero);
        } else {
            let default: Values = match (self.cx.request.defaults.get(&p.variable), &p.default) {
                (Some(list), _) => list.iter().map(|&c| self.b.constant(c)).collect(),
                // It could not be run, so there is nothing to write in.
                (None, Some(e)) if calls_functions(e) => Values::new(),
                (None, Some(e)) => {
                    let state = self.expr(e);
                    self.flatten(&state)
                }
                (None, None) => {
                    let zero = self.zero(&variable.ty, false);
                    self.flatten(&zero)
                }
            };
            self.b.span = variable.span;
            let state = self.parameter_words(variable, (p.metadata.clone(), p.default.is_some()), &default);
            let state = self.passed(p, state);
            self.set(slot, state);
        }
    }

    /// An input of an entry that is no shader: a row for each of its scalars.
    fn input_rows(&mut self, variable: &Variable) -> State {
        let (leaves, paths) = (self.cx.leaves(&variable.ty), self.cx.program.types.leaf_paths(&variable.ty));
        let mut state = State::new();
        for (leaf, path) in leaves.iter().zip(paths) {
            let ty = match leaf.kind {
                LeafKind::Scalar(Scalar::Float) => Type::Float,
                LeafKind::Scalar(Scalar::Int) => Type::Int,
                LeafKind::Scalar(Scalar::Bool) => Type::Bool,
                LeafKind::Closure | LeafKind::Slot => {
                    state.push(self.zero_part(leaf, false));
                    continue;
                }
            };
            let name = format!("{}{path}", variable.name);
            // Parameters have different names, and so have the parts of one.
            let Ok(field) = self.cx.inputs.add(&name, ty.clone(), Orders::Value) else { continue };
            state.extend(self.global(field, &ty));
        }
        state
    }

    /// Reserves a parameter's words and reads them, or their baked values.
    fn parameter_words(
        &mut self,
        variable: &Variable,
        (metadata, has_default): (Vec<Metadata>, bool),
        default: &[ir::Value],
    ) -> State {
        let first_word = self.cx.words.len();
        let mut desc = ParameterDesc {
            name: variable.name.clone(),
            ty: variable.ty.clone(),
            type_name: self.cx.program.types.display(&variable.ty).to_string(),
            scalars: Vec::new(),
            first_word,
            default: Vec::new(),
            has_default,
            metadata,
        };
        let mut state = State::new();
        let mut reported = false;
        for (i, leaf) in self.cx.leaves(&variable.ty).iter().enumerate() {
            let LeafKind::Scalar(scalar) = leaf.kind else { continue };
            let value = default.get(i).and_then(|&v| self.b.constant_of(v));
            if value.is_none() && !std::mem::replace(&mut reported, true) {
                let hint = "a default may call functions that end and compute with constants only: no globals, textures, \
                            `printf` or functions of the host";
                self.cx.error(
                    &codes::NOT_CONSTANT,
                    variable.span,
                    format!("the default of `{}` is not a constant", variable.name),
                    hint,
                );
            }
            desc.scalars.push(scalar);
            desc.default.push(value.map_or(0, constant_word));
            let word = first_word + i;
            let bake = self.cx.request.bake.filter(|bake| !bake.except.contains(&variable.name));
            let baked = bake.and_then(|bake| bake.block.words.get(word));
            let value = match baked {
                Some(&bits) => self.b.constant(word_constant(scalar, bits)),
                None => self.b.emit(Op::Parameter { word: word as u32, scalar }, &[], Ty::Scalar(scalar)),
            };
            state.push(LeafState::Value(value));
            self.cx.words.push(ParameterWord { name: variable.name.clone(), scalar: Some(scalar) });
        }
        self.cx.interface.parameters.push(desc);
        state
    }

    /// Watches what is handed out.
    fn watch_outputs(&mut self, function: &Function) {
        if !self.cx.request.poison {
            return;
        }
        for p in function.parameters.iter().filter(|p| p.direction == Direction::Out) {
            let variable = &function.variables[p.variable.0 as usize];
            self.b.span = variable.span;
            let state = self.get(self.frame.base + p.variable.0 as usize);
            let mut values = self.flatten(&state).to_vec();
            let lobes = state.into_iter().flat_map(LeafState::into_lobes);
            values.extend(lobes.flat_map(|l| l.weight.into_iter().chain(l.params).collect::<Vec<_>>()));
            let what = format!("the output `{}`", variable.name);
            values.into_iter().for_each(|v| self.watch(v, &what));
        }
    }

    /// Ends the entry: plain outputs first, then the lobes, one IR result a row.
    pub(super) fn outputs(mut self, function: &Function) {
        self.watch_outputs(function);
        let mut results = Values::from_slice(&[self.token()]);
        let mut lobes: Vec<(String, Lobe)> = Vec::new();
        for p in function.parameters.iter().filter(|p| p.direction != Direction::In) {
            let variable = &function.variables[p.variable.0 as usize];
            let state = self.get(self.frame.base + p.variable.0 as usize);
            let state = self.passed(p, state);
            if p.buffer.is_some() {
                let buffers = &mut self.cx.interface.buffers;
                if let Some(buffer) = buffers.iter_mut().find(|b| b.name == variable.name) {
                    buffer.first_row = Some(results.len() - 1);
                }
                results.extend(self.flatten(&state));
                continue;
            }
            if variable.ty == Type::Closure {
                let metadata = p.metadata.clone();
                self.cx.interface.closures.push(ClosureDesc { name: variable.name.clone(), metadata });
                lobes.extend(state.into_iter().flat_map(LeafState::into_lobes).map(|l| (variable.name.clone(), l)));
                continue;
            }
            if let Roots::Lobes(_) = self.cx.request.roots {
                continue;
            }
            let values = self.flatten(&state);
            let scalars =
                values.iter().filter_map(|&v| if let Ty::Scalar(s) = self.b.ty(v) { Some(s) } else { None }).collect();
            self.cx.interface.outputs.push(OutputDesc {
                name: variable.name.clone(),
                ty: variable.ty.clone(),
                type_name: self.cx.program.types.display(&variable.ty).to_string(),
                scalars,
                first_row: results.len() - 1,
                metadata: p.metadata.clone(),
            });
            results.extend(values);
        }
        if let Roots::Lobes(wanted) = self.cx.request.roots {
            retain_with_layers(&mut lobes, wanted);
        }
        if lobes.len() > MAX_LOBES || self.lost_lobes {
            let message = match self.lost_lobes {
                true => format!("this shader adds up more than {MAX_ON_THE_WAY} lobes"),
                false => format!("this shader makes {} lobes", lobes.len()),
            };
            self.cx.error(&codes::TOO_MANY_LOBES, function.span, message, format!("at most {MAX_LOBES} are possible"));
        }
        let position: HashMap<(&str, u32), usize> =
            lobes.iter().enumerate().map(|(i, (output, l))| ((output.as_str(), l.id), i)).collect();
        for (output, lobe) in &lobes {
            self.cx.interface.lobes.push(LobeDesc {
                output: output.clone(),
                closure: lobe.closure,
                weight_row: results.len() - 1,
                parameter_row: results.len() + 2,
                layer: lobe.layer.and_then(|(id, parameter)| {
                    Some(Layer { lobe: *position.get(&(output.as_str(), id))?, parameter })
                }),
            });
            results.extend(lobe.weight.iter().chain(&lobe.params).copied());
        }
        self.cx.interface.output_rows = results.len() - 1;
        self.b.function.results = results.iter().map(|&v| self.b.ty(v)).collect();
        let (size, written) = (self.b.size, self.b.finish(results));
        self.cx.size += size;
        self.cx.functions[0] = written;
    }
}

/// Keeps lobes of the wanted types and the layers above them, which decide how much of them is seen.
fn retain_with_layers(lobes: &mut Vec<(String, Lobe)>, wanted: &[ClosureId]) {
    let mut kept: HashSet<(String, u32)> = HashSet::new();
    // Layers come before what lies beneath them.
    for (output, lobe) in lobes.iter().rev() {
        let key = (output.clone(), lobe.id);
        if wanted.contains(&lobe.closure) || kept.contains(&key) {
            kept.extend(lobe.layer.map(|(above, _)| (output.clone(), above)));
            kept.insert(key);
        }
    }
    lobes.retain(|(output, lobe)| kept.contains(&(output.clone(), lobe.id)));
}

fn constant_word(c: Const) -> u32 {
    match c {
        Const::Bool(b) => u32::from(b),
        Const::Int(i) => i as u32,
        Const::Float(bits) => bits,
    }
}

fn word_constant(scalar: Scalar, bits: u32) -> Const {
    match scalar {
        Scalar::Bool => Const::Bool(bits != 0),
        Scalar::Int => Const::Int(bits as i32),
        Scalar::Float => Const::Float(bits),
    }
}
