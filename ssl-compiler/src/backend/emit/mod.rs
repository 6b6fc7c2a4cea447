//! Machine code from IR, once for all native back ends: the walk over regions, control flow and masks, arrays, tokens,
//! calls and host services. An [`Assembler`] supplies the instructions, which differ between back ends.
//!
//! Each version of each function that the [`Plan`](super::plan::Plan) names becomes a native function. It reads the
//! block through hidden parameters: the context, and the number of its lane (in wide code, of the first of its lanes).
//! The entry walks over the block's lanes, or groups of them.
//!
//! A token is its fuel, and beside it the number of open calls in modules that recurse, and the number of rows on each
//! tape that the module uses.

mod arrays;
mod buffers;
mod control;
mod entry;
mod fuel;
mod function;
mod guards;
mod host;
mod loops;
mod scalars;
mod signature;
mod tape;
mod tape_rows;
mod waiting;

pub use function::{emit, emit_entry};
pub use signature::{Param, Signature};

use super::BackendError;
use super::plan::{Plan, Version};
use crate::analysis::storage::Storage;
use crate::backend::native;
use crate::ir::{Compare, Const, Float1, Float2, FuncId, Int1, Int2, Module, Op};
use smallvec::SmallVec;

pub type Made<T = ()> = Result<T, BackendError>;

/// For what verified code cannot contain.
pub fn unexpected<T>() -> Made<T> {
    Err(BackendError("the intermediate code is not what was verified".to_owned()))
}

/// What a machine value holds, in each of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Bool,
    Int,
    Float,
    Pointer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub kind: Kind,
    /// Whether it has all lanes of the plan; otherwise it has one.
    pub wide: bool,
}

impl Shape {
    pub const INT: Shape = Shape { kind: Kind::Int, wide: false };
    pub const FLOAT: Shape = Shape { kind: Kind::Float, wide: false };
    pub const POINTER: Shape = Shape { kind: Kind::Pointer, wide: false };
    pub const MASK: Shape = Shape { kind: Kind::Bool, wide: true };

    pub fn new(kind: Kind, wide: bool) -> Shape {
        Shape { kind, wide }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Logic {
    And,
    Or,
    Xor,
    /// The first and not the second.
    AndNot,
}

#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    IntToFloat,
    FloatToInt,
    BoolToInt,
    /// Whether a word is not 0.
    IntToBool,
    FloatBits,
    BitsFloat,
}

/// What the optimiser may know of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Nobody writes there while the shader runs, and it can be read at any time.
    Invariant,
    /// Nobody writes there, but it is there only where the code reads it: an element of a buffer that may be empty.
    Unwritten,
    Changing,
}

/// Where a branch goes most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odds {
    Even,
    First,
    /// To the first, which is a loop's next round, while the second is what follows the loop.
    Round,
}

/// The runtime's functions that take the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Texture,
    TextureAdjoint,
    TextureSize,
    External,
    Print,
    Add,
}

impl Service {
    pub fn symbol(self) -> &'static str {
        match self {
            Service::Texture => "ssl_texture",
            Service::TextureAdjoint => "ssl_texture_adjoint",
            Service::TextureSize => "ssl_texture_size",
            Service::External => "ssl_external",
            Service::Print => "ssl_print",
            Service::Add => "ssl_add",
        }
    }
}

/// What a token carries beside its fuel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Open recursive calls.
    Depth,
    /// Rows on a tape.
    Rows(u8),
}

/// What a load of a pointer in the context may promise of it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Bytes behind it that can be read at any time.
    pub bytes: usize,
    /// Whether it starts a cache line.
    pub is_row: bool,
}

/// The instructions of a machine, on values that know their own shape. Operations on several values take values of
/// one shape, but for `select`, whose condition may be one for all lanes.
pub trait Assembler {
    type Value: Copy;
    type Block: Copy;
    /// Memory of the function's own.
    type Slot: Copy;

    /// Lanes of a wide value.
    fn lanes(&self) -> u32;

    fn arguments(&self) -> Vec<Self::Value>;
    fn block(&mut self, params: &[Shape]) -> Made<Self::Block>;
    fn params(&self, block: Self::Block) -> Vec<Self::Value>;
    /// What comes next goes into the block.
    fn enter(&mut self, block: Self::Block);
    fn jump(&mut self, to: Self::Block, arguments: &[Self::Value]) -> Made;
    /// Two different blocks without parameters; `test` is a single bool.
    fn branch(&mut self, test: Self::Value, first: Self::Block, second: Self::Block, odds: Odds) -> Made;
    fn give_back(&mut self, results: &[Self::Value]) -> Made;

    fn constant(&mut self, constant: Const) -> Self::Value;
    fn zero(&mut self, shape: Shape) -> Self::Value;

    /// `None` where the machine has no such instruction.
    fn float1(&mut self, op: Float1, x: Self::Value) -> Made<Option<Self::Value>>;
    fn float2(&mut self, op: Float2, a: Self::Value, b: Self::Value) -> Made<Option<Self::Value>>;
    fn fma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Made<Self::Value>;
    /// `None` where wide values must be taken apart for it.
    fn int1(&mut self, op: Int1, x: Self::Value) -> Made<Option<Self::Value>>;
    fn int2(&mut self, op: Int2, a: Self::Value, b: Self::Value) -> Made<Option<Self::Value>>;
    /// Shifts wide values by one count.
    fn shift(&mut self, op: Int2, a: Self::Value, count: Self::Value) -> Made<Option<Self::Value>>;
    fn logic(&mut self, op: Logic, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    fn not(&mut self, a: Self::Value) -> Made<Self::Value>;
    fn compare_floats(&mut self, op: Compare, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    fn compare_ints(&mut self, op: Compare, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    fn select(&mut self, condition: Self::Value, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    /// What a branch brought from one of its two sides, for an optimiser that must not make a `select` of it as it likes.
    fn join(&mut self, x: Self::Value) -> Made<Self::Value> {
        Ok(x)
    }
    fn convert(&mut self, conversion: Conversion, x: Self::Value) -> Made<Self::Value>;
    fn unsigned_min(&mut self, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    /// Whether an int, taken without a sign, is below the other.
    fn below(&mut self, a: Self::Value, b: Self::Value) -> Made<Self::Value>;
    fn is_finite(&mut self, x: Self::Value) -> Made<Self::Value>;

    fn splat(&mut self, kind: Kind, x: Self::Value) -> Made<Self::Value>;
    fn extract(&mut self, kind: Kind, x: Self::Value, lane: u32) -> Made<Self::Value>;
    fn insert(&mut self, kind: Kind, x: Self::Value, lane: u32, element: Self::Value) -> Made<Self::Value>;
    /// Whether any lane of a mask is set.
    fn any(&mut self, mask: Self::Value) -> Made<Self::Value>;
    /// A mask's lanes as bits of an int, and back.
    fn bits(&mut self, mask: Self::Value) -> Made<Self::Value>;
    fn mask(&mut self, bits: Self::Value) -> Made<Self::Value>;

    /// An address so many times `stride` bytes behind another.
    fn element(&mut self, base: Self::Value, index: Self::Value, stride: u32) -> Made<Self::Value>;
    fn load(&mut self, shape: Shape, base: Self::Value, offset: usize, stability: Stability) -> Made<Self::Value>;
    fn pointer(&mut self, context: Self::Value, field: usize, target: Target) -> Made<Self::Value>;
    fn store(&mut self, value: Self::Value, base: Self::Value, offset: usize) -> Made;
    /// A store that nobody reads and that stays.
    fn keep(&mut self, value: Self::Value, base: Self::Value, offset: usize) -> Made;
    /// Words at wide indices of words; all lie in memory that can be read, whatever the lane.
    fn gather(&mut self, kind: Kind, base: Self::Value, index: Self::Value) -> Made<Self::Value>;
    /// Writes the words of the lanes that are set.
    fn scatter(&mut self, value: Self::Value, base: Self::Value, index: Self::Value, mask: Self::Value) -> Made;
    /// Memory that the function has from its beginning on.
    fn slot(&mut self, bytes: u32) -> Made<Self::Slot>;
    fn address(&mut self, slot: Self::Slot) -> Made<Self::Value>;
    fn copy(&mut self, target: Self::Value, source: Self::Value, bytes: u32) -> Made;
    /// Fills words with a word, which may be zero for all one knows.
    fn fill(&mut self, target: Self::Value, word: Self::Value, length: u32) -> Made;

    fn call(&mut self, callee: (FuncId, Version), arguments: &[Self::Value]) -> Made<SmallVec<[Self::Value; 4]>>;
    /// A function of the runtime's of floats that gives a float.
    fn math(&mut self, symbol: &'static str, arguments: &[Self::Value]) -> Made<Self::Value>;
    fn service(&mut self, service: Service, context: Self::Value) -> Made;
}

/// A module with all that is known before code is made of it.
pub struct Unit<'a> {
    pub module: &'a Module,
    pub plan: Plan,
    pub storage: Vec<Storage>,
    /// Functions that take the context and the lane.
    pub reads_block: Vec<bool>,
    /// What tokens carry beside their fuel, in order.
    pub beside: Vec<Beside>,
    /// Rows of globals that the module reads.
    pub rows: usize,
}

impl<'a> Unit<'a> {
    /// For so many lanes together, or one by one where that would take too much memory.
    pub fn new(module: &'a Module, lanes: u32) -> Unit<'a> {
        let storage: Vec<Storage> = module.functions.iter().map(Storage::of).collect();
        let wide = if lanes > 1 { Plan::wide(module, &storage, lanes) } else { None };
        let mut recursive = false;
        module.functions.iter().for_each(|f| f.walk(|_, data| recursive |= data.op == Op::Enter));
        let tapes = module.tapes().into_iter().enumerate().filter(|(_, rows)| rows.is_some());
        let tapes = tapes.map(|(tape, _)| Beside::Rows(tape as u8));
        Unit {
            module,
            plan: wide.unwrap_or_else(|| Plan::scalar(module)),
            storage,
            reads_block: native::block_readers(module),
            beside: recursive.then_some(Beside::Depth).into_iter().chain(tapes).collect(),
            rows: rows(module),
        }
    }
}

fn rows(module: &Module) -> usize {
    let mut rows = 0;
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Global { field, component, order } = data.op
                && let Some(row) = module.globals[field as usize].row(component as usize, order)
            {
                rows = rows.max(row + 1);
            }
        });
    }
    rows
}
