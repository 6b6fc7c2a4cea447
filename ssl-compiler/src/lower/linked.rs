//! Both sides of linked functions: the function that stands in a program for methods that a host links, and the entry of a
//! method that is linked.
//!
//! In the program, the function and its derivatives are calls of the host, and each names the next ones as its custom
//! derivatives. So no pass knows of linking. The method's side is an entry that reads what the function takes from rows. It
//! holds the derivative as an operation like any other, which the passes resolve.

use super::{Instance, Lowering, TOKEN};
use crate::diagnostics::codes;
use crate::ir::builder::Builder;
use crate::ir::{self, FuncId, Op, Ty, Values};
use crate::runtime::linked::Derivation;
use crate::runtime::{Order, Orders};
use crate::syntax::ast::Mode;
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    /// Writes what stands for the methods that a host links, or for a derivative of them: a call of the host.
    pub(super) fn linked_body(&mut self, id: FuncId, slot: u32, derivation: Derivation) {
        let head = self.functions[id.index()].clone();
        let (types, params) = (head.results.clone(), Values::from_slice(head.params()));
        let mut b = Builder::new(head);
        let mut results = Values::from_slice(&params[..1]);
        match self.request.externals.linked(slot, derivation) {
            Some(external) => {
                let inst = b.push(Op::External(external), Values::from_slice(&params[1..]), &types[1..], &[]);
                results.extend(b.results(inst).iter().copied());
            }
            // Whoever compiles without a host to link anything has no value that would get here.
            None => results.extend(types[1..].iter().map(|&ty| b.zero(ty)).collect::<Values>()),
        }
        self.size += b.size;
        self.functions[id.index()] = b.finish(results);
    }

    /// Gives such a function its derivatives, and these theirs.
    pub(super) fn declare_linked(&mut self, id: FuncId, slot: u32, derivation: Derivation) {
        for mode in [Mode::Forward, Mode::Backward] {
            let Some(next) = derivation.of(mode) else { continue };
            let custom = self.new_derivative(id, mode);
            self.linked_body(custom, slot, next);
            match mode {
                Mode::Forward => self.functions[id.index()].custom.forward = Some(custom),
                Mode::Backward => self.functions[id.index()].custom.backward = Some(custom),
            }
            self.declare_linked(custom, slot, next);
        }
    }

    /// The entry of a method that is linked, or of a derivative of it.
    pub(super) fn linked_entry(&mut self, derivation: Derivation) {
        let root = self.request.shader;
        let name =
            format!("{} (linked)", self.program.function(root).name).replace(['(', ')', '<', '>', ' ', ','], ".");
        let name = self.unique_name(&name);
        let head = ir::Function::new(name, &[Ty::Token], &[]).with_precision(self.request.precision);
        self.functions.push(head.clone());
        let mut callee = self.instance_id(Instance { function: root, textures: Vec::new() });
        for mode in derivation.modes() {
            callee = self.derivative_of_root(callee, mode);
        }
        let (takes, gives) = {
            let head = &self.functions[callee.index()];
            (head.params().iter().map(|&v| head.ty(v)).collect::<Vec<Ty>>(), head.results.clone())
        };
        let mut b = Builder::new(head);
        b.span = self.program.function(root).span;
        let mut args = Values::from_slice(&b.function.params()[..1]);
        for (i, ty) in takes.iter().skip(1).enumerate() {
            let (Ty::Scalar(scalar), name) = (ty, format!("word{i}")) else {
                self.error(&codes::INTERFACE_AS_TYPE, b.span, "an array is too long to be handed over", "take less");
                return;
            };
            let ty = match scalar {
                Scalar::Float => Type::Float,
                Scalar::Int => Type::Int,
                Scalar::Bool => Type::Bool,
            };
            // Each name is new, and scalars have rows.
            let Ok(field) = self.inputs.add(&name, ty, Orders::Value) else { return };
            let op = Op::Global { field: field as u32, component: 0, order: Order::Value };
            args.push(b.emit(op, &[], Ty::Scalar(*scalar)));
        }
        let inst = b.push(Op::Call(callee), args, &gives, &[]);
        let results = Values::from_slice(b.results(inst));
        self.interface.output_rows = results.len() - 1;
        b.function.results = gives;
        self.functions[0] = b.finish(results);
        debug_assert_eq!(TOKEN, 0, "the token comes first");
    }

    /// A function that is the derivative of another one.
    fn derivative_of_root(&mut self, of: FuncId, mode: Mode) -> FuncId {
        let id = self.new_derivative(of, mode);
        let head = self.functions[id.index()].clone();
        let (types, params) = (head.results.clone(), Values::from_slice(head.params()));
        let op = match mode {
            Mode::Forward => Op::Jvp { function: of, screen: 0 },
            Mode::Backward => Op::Vjp { function: of, screen: 0 },
        };
        let mut b = Builder::new(head);
        b.span = self.program.function(self.request.shader).span;
        let inst = b.push(op, params, &types, &[]);
        let results = Values::from_slice(b.results(inst));
        self.size += b.size;
        self.functions[id.index()] = b.finish(results);
        id
    }
}
