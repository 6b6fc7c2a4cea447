//! What each version of a function takes and gives, in machine values.

use super::{Kind, Shape, Unit};
use crate::backend::plan::Version;
use crate::ir::{FuncId, Ty, Value};
use crate::types::Scalar;

/// A parameter of a native function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    Context,
    /// The number of the lane, or of the first of them.
    Lane,
    /// Which lanes are meant.
    Mask,
    Plain(Shape),
    /// Memory of the caller's to read, so many bytes of it.
    ArrayIn(u32),
    /// Memory of the caller's for a result.
    ArrayOut(u32),
}

impl Param {
    pub fn shape(self) -> Shape {
        match self {
            Param::Context | Param::ArrayIn(_) | Param::ArrayOut(_) => Shape::POINTER,
            Param::Lane => Shape::INT,
            Param::Mask => Shape::MASK,
            Param::Plain(shape) => shape,
        }
    }
}

/// Parameters in order: hidden ones, those of the IR, memory for results.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    pub params: Vec<Param>,
    pub results: Vec<Shape>,
}

/// The machine values of a value that is no array; `beside` is how many a token has beside its fuel.
pub(super) fn shapes(ty: Ty, wide: bool, beside: usize) -> impl Iterator<Item = Shape> {
    let (kind, n) = match ty {
        Ty::Scalar(Scalar::Bool) => (Kind::Bool, 1),
        Ty::Scalar(Scalar::Int) => (Kind::Int, 1),
        Ty::Scalar(Scalar::Float) => (Kind::Float, 1),
        Ty::Token => (Kind::Int, 1 + beside),
        Ty::Array(..) => (Kind::Pointer, 0),
    };
    std::iter::repeat_n(Shape { kind, wide }, n)
}

impl Unit<'_> {
    /// The signature of a function that another one calls.
    pub fn signature(&self, id: FuncId, version: Version) -> Signature {
        let (f, plan) = (self.module.function(id), self.plan.of(id, version));
        let mut signature = Signature::default();
        if self.reads_block[id.index()] {
            signature.params.extend([Param::Context, Param::Lane]);
        }
        if plan.takes_mask {
            signature.params.push(Param::Mask);
        }
        for &p in f.params() {
            match f.ty(p) {
                Ty::Array(..) => signature.params.push(Param::ArrayIn(self.array_bytes(id, version, p))),
                ty => signature.params.extend(shapes(ty, plan.is_wide(p), self.beside.len()).map(Param::Plain)),
            }
        }
        for &r in &f.region(f.body).results {
            match f.ty(r) {
                Ty::Array(_, n) => {
                    // In wide code, each lane's own.
                    let lanes = if version == Version::Wide { self.plan.lanes } else { 1 };
                    signature.params.push(Param::ArrayOut(4 * n * lanes));
                }
                ty => signature.results.extend(shapes(ty, plan.is_wide(r), self.beside.len())),
            }
        }
        signature
    }

    /// The memory of an array in a version of a function.
    fn array_bytes(&self, id: FuncId, version: Version, v: Value) -> u32 {
        let (storage, plan) = (&self.storage[id.index()], self.plan.of(id, version));
        let Some(slot) = storage.slot(v) else { return 0 };
        let lanes = if plan.slot_is_wide(slot) { self.plan.lanes } else { 1 };
        storage.list[slot as usize].bytes() * lanes
    }
}
