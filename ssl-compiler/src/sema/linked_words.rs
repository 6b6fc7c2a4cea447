//! The words by which methods of an interface's values are called from code that does not know them.

use super::hir::{FunctionId, Program};
use crate::runtime::linked::{Meaning, Part, Signature};
use crate::syntax::ast::Direction;
use crate::types::{LeafKind, Scalar, Type};

/// The words that a method of an interface's values takes and gives, as intermediate code has them; `None` where some of
/// it has no words that could be handed over.
pub fn signature(program: &Program, method: FunctionId) -> Option<Signature> {
    let function = program.function(method);
    let scalars = |ty: &Type| -> Option<Vec<Scalar>> {
        let mut list = Vec::new();
        for leaf in program.types.leaves(ty) {
            match leaf.kind {
                LeafKind::Scalar(s) if leaf.is_apart() => {
                    list.extend(vec![s; leaf.count()]);
                }
                _ => return None,
            }
        }
        Some(list)
    };
    let mut plain = 0;
    let mut parts = |ty: &Type, list: &mut Vec<Part>| {
        for scalar in scalars(ty)? {
            list.push(Part::of(Meaning::Plain(plain, scalar)));
            plain += 1;
        }
        Some(())
    };
    let mut all = Signature { takes: Vec::new(), gives: Vec::new() };
    parts(&function.result, &mut all.gives)?;
    for (i, p) in function.parameters.iter().enumerate() {
        let ty = &function.variables[p.variable.0 as usize].ty;
        if ty.is_slot() {
            return None;
        }
        let mut own = Vec::new();
        match i {
            0 => own.extend(value_words(program, ty)),
            _ => parts(ty, &mut own)?,
        }
        if p.direction != Direction::Out {
            all.takes.extend(&own);
        }
        if p.direction != Direction::In {
            all.gives.extend(own);
        }
    }
    Some(all)
}

/// The words of an interface's value: its number, its floats, its ints.
fn value_words(program: &Program, ty: &Type) -> Vec<Part> {
    let Type::Struct(id) = ty else { return Vec::new() };
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    for field in program.types.get(*id).fields.iter().skip(1) {
        match field.ty {
            Type::Float => floats.push(Part::of(Meaning::Float(floats.len() as u32))),
            _ => ints.push(Part::of(Meaning::Int(ints.len() as u32))),
        }
    }
    let mut all = vec![Part::of(Meaning::Kind)];
    all.append(&mut floats);
    all.append(&mut ints);
    all
}
