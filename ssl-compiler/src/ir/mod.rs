//! The intermediate representation: pure, structured SSA over scalars and flat arrays.
//!
//! A [`Function`] is one [`Region`] of instructions; `if` and `loop` hold further regions. A region
//! has parameters, instructions in order, and *results*: the values it hands to what encloses it.
//! There are no jumps, no pointers and no names for memory: an array is a value, and setting an
//! element gives a new one (which every back end does in place where the old one is dead).
//!
//! Effects (texture look-ups, fuel, recursion depth) consume a *token* and give a new one, so their order is a data
//! dependency like any other. At run time a token is the fuel that is left. In modules that recurse it has another
//! word: the number of open calls, with the top bit set once recursion went too deep. In modules that push it has one
//! more for each tape: the number of rows on it, with the top bit set once the tapes were full. A scalar takes one row, an
//! array one for each element.
//!
//! A lane without fuel has ended: what it computes from there on nobody sees, and what it pops is zeros.
//!
//! The textual form (`print`, `parse`) is complete: what was printed reads back as the same module.

pub mod builder;
pub mod digest;
pub mod facts;
pub mod fold;
pub mod gradients;
pub mod linked;
pub mod math;
pub mod ops;
pub mod parse;
mod parse_text;
pub mod points;
pub mod print;
pub mod ranges;
pub mod real;
pub mod verify;
mod verify_ops;

pub use crate::runtime::block::MAX_TAPES;
use crate::runtime::{ExternalRegistry, GlobalField, Texts};
use crate::source::{SourceMap, Span};
use crate::types::Scalar;
pub use gradients::Gradients;
pub use ops::{Axis, Checkpoint, Compare, Const, Direction, Float1, Float2, Int1, Int2, Op, Site, Why};
pub use real::Precision;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

macro_rules! entity {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

entity!(
    /// `%n` in text.
    Value
);
entity!(Inst);
entity!(Region);
entity!(FuncId);

/// What a value is at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Scalar(Scalar),
    Array(Scalar, u32),
    Token,
}

pub const FLOAT: Ty = Ty::Scalar(Scalar::Float);
pub const INT: Ty = Ty::Scalar(Scalar::Int);
pub const BOOL: Ty = Ty::Scalar(Scalar::Bool);

impl Ty {
    /// Whether values of the type can carry a shadow.
    pub fn is_differentiable(self) -> bool {
        matches!(self, Ty::Scalar(Scalar::Float) | Ty::Array(Scalar::Float, _))
    }

    pub fn is_array(self) -> bool {
        matches!(self, Ty::Array(..))
    }

    /// Rows that a value takes on the tape.
    pub fn rows(self) -> u32 {
        match self {
            Ty::Scalar(_) => 1,
            Ty::Array(_, n) => n,
            Ty::Token => 0,
        }
    }
}

pub type Values = SmallVec<[Value; 4]>;

#[derive(Clone, Debug)]
pub struct InstData {
    pub op: Op,
    pub args: Values,
    pub results: SmallVec<[Value; 1]>,
    /// `if`: then, else. `loop`: condition, body.
    pub regions: SmallVec<[Region; 2]>,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct RegionData {
    pub params: Values,
    pub insts: Vec<Inst>,
    /// What the region hands out. A loop's condition region hands out the condition first.
    pub results: Values,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// Its parameters are the function's, its results too.
    pub body: Region,
    pub results: Vec<Ty>,
    pub regions: Vec<RegionData>,
    pub insts: Vec<InstData>,
    pub types: Vec<Ty>,
    /// What the author calls values; empty unless asked for when lowering.
    pub bindings: Vec<Binding>,
    /// What its constants may be folded in.
    pub precision: Precision,
    /// What stands for its derivatives, if not what its body says.
    pub custom: Custom,
    /// What callers in a reverse sweep had better do.
    pub prefer: Prefer,
    /// It does nothing to its token but take fuel, and ends. So a call that nobody needs for what else it gives may go, with
    /// the fuel. It takes a token first and gives it first.
    pub spends: bool,
    /// What takes a step back: it takes a token, if it wants one, and what this function does, but for the state behind
    /// the step in place of the one before. It gives a token likewise, whether it could, and the state before the step.
    /// The state is what this function takes first and gives last.
    pub undo: Option<FuncId>,
}

/// Functions that give another's derivatives: `forward` takes and gives what [`Op::Jvp`] of the function does, `backward`
/// what [`Op::Vjp`] does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Custom {
    pub forward: Option<FuncId>,
    pub backward: Option<FuncId>,
}

impl Custom {
    pub fn functions(self) -> impl Iterator<Item = FuncId> {
        [self.forward, self.backward].into_iter().flatten()
    }
}

/// Whether a reverse sweep through a call keeps what it needs from inside or runs the call again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prefer {
    /// Decided by what it costs.
    #[default]
    Free,
    Recompute,
    Checkpoint,
}

/// A part of a variable, and the value that it was given at a place. Passes follow the value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The author's function.
    pub function: String,
    /// `p.x`, `list[2].v`; `list[].v` for all elements of an array in memory.
    pub part: String,
    pub value: Value,
    pub span: Span,
}

impl Function {
    pub fn new(name: impl Into<String>, params: &[Ty], results: &[Ty]) -> Function {
        let mut function = Function {
            name: name.into(),
            body: Region(0),
            results: results.to_vec(),
            regions: Vec::new(),
            insts: Vec::new(),
            types: Vec::new(),
            bindings: Vec::new(),
            precision: Precision::default(),
            custom: Custom::default(),
            prefer: Prefer::default(),
            spends: false,
            undo: None,
        };
        function.body = function.new_region(params);
        function
    }

    /// The same for another precision; nothing may be written yet.
    pub fn with_precision(self, precision: Precision) -> Function {
        Function { precision, ..self }
    }

    pub fn new_value(&mut self, ty: Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    pub fn new_region(&mut self, params: &[Ty]) -> Region {
        let params = params.iter().map(|&ty| self.new_value(ty)).collect();
        self.regions.push(RegionData { params, ..RegionData::default() });
        Region(self.regions.len() as u32 - 1)
    }

    pub fn new_inst(&mut self, data: InstData) -> Inst {
        self.insts.push(data);
        Inst(self.insts.len() as u32 - 1)
    }

    pub fn ty(&self, value: Value) -> Ty {
        self.types[value.index()]
    }

    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region.index()]
    }

    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst.index()]
    }

    pub fn params(&self) -> &[Value] {
        &self.region(self.body).params
    }

    /// Every instruction that can be reached, outer before inner, in program order.
    pub fn walk(&self, mut visit: impl FnMut(Inst, &InstData)) {
        self.walk_region(self.body, &mut visit);
    }

    pub fn walk_region(&self, region: Region, visit: &mut impl FnMut(Inst, &InstData)) {
        for &inst in &self.region(region).insts {
            let data = self.inst(inst);
            visit(inst, data);
            for &inner in &data.regions {
                self.walk_region(inner, visit);
            }
        }
    }

    /// Instructions that can be reached.
    pub fn size(&self) -> usize {
        let mut n = 0;
        self.walk(|_, _| n += 1);
        n
    }

    /// The constant that defines each value, where one does.
    pub fn constants(&self) -> Vec<Option<Const>> {
        let mut out = vec![None; self.types.len()];
        for data in &self.insts {
            if let Op::Const(c) = data.op {
                out[data.results[0].index()] = Some(c);
            }
        }
        out
    }
}

/// A word of the parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterWord {
    pub name: String,
    /// `None` for a texture slot.
    pub scalar: Option<Scalar>,
}

/// A column of a kernel's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnWord {
    pub name: String,
    pub scalar: Scalar,
    /// It is added to, and not read.
    pub added: bool,
    /// The first column of its buffer. All of these have one stride and one length.
    pub first: u32,
}

/// A shader and all that it calls.
#[derive(Clone, Debug)]
pub struct Module {
    pub functions: Vec<Function>,
    pub entry: FuncId,
    pub globals: Vec<GlobalField>,
    pub parameters: Vec<ParameterWord>,
    pub columns: Vec<ColumnWord>,
    /// The host's functions.
    pub externals: ExternalRegistry,
    /// What `print` operations say.
    pub texts: Texts,
    /// What a host wants differentiated, until it is.
    pub gradients: Gradients,
    /// Words of texture slots of whose look-ups a `vjp` hands the cotangents to the host.
    pub gradient_textures: Vec<u32>,
    /// Columns of buffers that a `vjp` reads and adds to in place of others.
    pub gradient_columns: gradients::Columns,
    /// The inputs to which the entry's last results are the gradient.
    pub gradient_rows: Vec<gradients::Input>,
    /// Integrals whose boundaries are yet to be written. No pass but the one that writes them sees any.
    pub integrals: Vec<points::Integral>,
    /// What an integral of another program needs of a method, which is yet to be written likewise.
    pub facets: Vec<points::Facet>,
    /// Where things stand, if the code is to tell at run time which conditions of an integrand coincide.
    pub sources: Option<Arc<SourceMap>>,
    /// Functions with their inverses, which that pass looks at.
    pub inverses: Vec<(FuncId, FuncId)>,
}

impl Module {
    /// The same surroundings without functions.
    pub fn emptied(&self) -> Module {
        Module {
            functions: Vec::new(),
            entry: self.entry,
            globals: self.globals.clone(),
            parameters: self.parameters.clone(),
            columns: self.columns.clone(),
            externals: self.externals.clone(),
            texts: self.texts.clone(),
            gradients: self.gradients.clone(),
            gradient_textures: self.gradient_textures.clone(),
            gradient_columns: self.gradient_columns.clone(),
            gradient_rows: self.gradient_rows.clone(),
            integrals: self.integrals.clone(),
            facets: self.facets.clone(),
            sources: self.sources.clone(),
            inverses: self.inverses.clone(),
        }
    }

    /// The most words that a function of the host's takes or gives where it is called, or a print; `None` if nothing calls
    /// the host this way.
    pub fn external_rows(&self) -> Option<usize> {
        let mut most = None;
        for f in &self.functions {
            f.walk(|_, data| {
                if matches!(data.op, Op::External(_) | Op::Print(_)) {
                    most = most.max(Some(data.args.len().max(data.results.len())));
                }
            });
        }
        most
    }

    /// The functions that a host links to the code, by their numbers.
    pub fn linked_functions(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for f in &self.functions {
            f.walk(|_, data| {
                if let Op::External(id) = data.op
                    && self.externals.linked_slot(id).is_some()
                {
                    found.insert(id);
                }
            });
        }
        found
    }

    /// Whether anything is printed, anywhere.
    pub fn prints(&self) -> bool {
        let mut found = false;
        self.functions.iter().for_each(|f| f.walk(|_, data| found |= matches!(data.op, Op::Print(_))));
        found
    }

    /// By tape, the most rows that go on it or come off it at once; `None` if nothing does.
    pub fn tapes(&self) -> [Option<u32>; MAX_TAPES] {
        let mut most = [None; MAX_TAPES];
        for f in &self.functions {
            f.walk(|_, data| {
                if let Op::Push(site) | Op::Pop(site) = data.op
                    && let Some(most) = most.get_mut(usize::from(site.tape))
                {
                    let rows = data.args.iter().chain(&data.results).map(|&v| f.ty(v).rows()).sum();
                    *most = (*most).max(Some(rows));
                }
            });
        }
        most
    }

    /// Whether a texture is looked up, given gradients, or asked for its size, anywhere.
    pub fn asks_for_textures(&self) -> bool {
        let mut found = false;
        let samples = |op: Op| {
            let adjoint = matches!(op, Op::TextureAdjoint { .. });
            adjoint || matches!(op, Op::Texture { .. } | Op::Sample { .. } | Op::TextureSize { .. })
        };
        self.functions.iter().for_each(|f| f.walk(|_, data| found |= samples(data.op)));
        found
    }

    /// Whether anything is added to a buffer, anywhere.
    pub fn adds(&self) -> bool {
        let mut found = false;
        self.functions.iter().for_each(|f| f.walk(|_, data| found |= matches!(data.op, Op::AddTo(_))));
        found
    }

    /// Whether anything tells the interpreter what reaches a sink.
    pub fn has_probes(&self) -> bool {
        let mut found = false;
        self.functions.iter().for_each(|f| f.walk(|_, data| found |= matches!(data.op, Op::Probe(_))));
        found
    }

    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn entry(&self) -> &Function {
        self.function(self.entry)
    }

    /// Instructions of all functions.
    pub fn size(&self) -> usize {
        self.functions.iter().map(Function::size).sum()
    }
}
