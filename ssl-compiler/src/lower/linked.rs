//! Both sides of linked functions: the function that stands in a program for methods that a host links, and the entry of a
//! method that is linked.
//!
//! In the program, the function and its derivatives are calls of the host (`ir::linked`). The method's side is an entry that
//! reads what the function takes from rows. It holds the derivative as an operation like any other, which the passes
//! resolve; and what an integral needs is a function that a pass writes.

use super::{Instance, Lowering, TOKEN};
use crate::diagnostics::codes;
use crate::ir::builder::Builder;
use crate::ir::{self, FuncId, Op, Ty, Values, points};
use crate::runtime::linked::{Facet, Part, Role, Signature};
use crate::runtime::{Order, Orders};
use crate::sema::linked_words;
use crate::syntax::ast::Mode;
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    /// Writes what stands for the methods that a host links: calls of the host.
    pub(super) fn linked(&mut self, id: FuncId, slot: u32) {
        let first = self.functions.len();
        ir::linked::define(&mut self.functions, id, self.request.externals, slot, Facet::METHOD);
        self.size += super::FUNCTION * (self.functions.len() - first);
    }

    /// The entry of a method that is linked, or of another facet of it.
    pub(super) fn linked_entry(&mut self, facet: Facet) {
        let root = self.request.shader;
        let name =
            format!("{} (linked)", self.program.function(root).name).replace(['(', ')', '<', '>', ' ', ','], ".");
        let name = self.unique_name(&name);
        let head = ir::Function::new(name, &[Ty::Token], &[]).with_precision(self.request.precision);
        self.functions.push(head.clone());
        let method = self.instance_id(Instance { function: root, textures: Vec::new() });
        let mut callee = self.facet(method, facet.role);
        for mode in facet.derivation.modes() {
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

    /// The method, or a function that gives what an integral needs of it, once a pass has written that.
    fn facet(&mut self, method: FuncId, role: Role) -> FuncId {
        let root = self.request.shader;
        // What is linked was checked for having words.
        let Some(signature) = linked_words::signature(self.program, root).filter(|_| role != Role::Value) else {
            return method;
        };
        let own = signature.facet(Facet { role, ..Facet::METHOD });
        let Signature { takes, gives } = &own;
        let [takes, gives] = [takes, gives].map(|parts| {
            let words = parts.iter().map(|part: &Part| Ty::Scalar(part.scalar()));
            std::iter::once(Ty::Token).chain(words).collect::<Vec<Ty>>()
        });
        let name = self.unique_name(&format!("{}.facet", self.functions[method.index()].name));
        let mut b = Builder::new(ir::Function::new(name, &takes, &gives).with_precision(self.request.precision));
        b.span = self.program.function(root).span;
        let mut results = Values::from_slice(&b.function.params()[..1]);
        results.extend(gives[1..].iter().map(|&ty| b.zero(ty)).collect::<Values>());
        let id = FuncId(self.functions.len() as u32);
        self.size += super::FUNCTION;
        self.functions.push(b.finish(results));
        let moving = signature.takes.iter().map(|part| part.may_move()).collect();
        self.facets.push(points::Facet { function: id, root: method, role, moving });
        id
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
