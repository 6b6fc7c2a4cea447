//! The typed tree, which lowering reads: names resolved, overloads chosen, conversions explicit.

use crate::builtins::BuiltinId;
use crate::ir::points::Sequence;
use crate::ir::{Checkpoint, Prefer};
use crate::runtime::interface::Metadata;
use crate::runtime::{BufferRole, ClosureId, ClosureType};
use crate::source::{FileId, Span};
use crate::syntax::ast::{BinaryOp, Direction, Mode, UnaryOp};
use crate::types::{Type, TypeTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A variable or parameter, numbered inside its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub types: TypeTable,
    pub functions: Vec<Function>,
    /// What `printf` says; each conversion takes one scalar.
    pub formats: Vec<String>,
    /// The file whose shaders are entry points.
    pub root: FileId,
    /// File-level texture slots.
    pub textures: Vec<String>,
    /// Every string of the program, each once; no two have one number.
    pub strings: Vec<String>,
    /// Structs that are made as closures. Their numbers follow those of the host's closure types.
    pub closures: Vec<OwnClosure>,
    /// The interfaces that the host leaves open.
    pub open: Vec<super::open_interfaces::Open>,
}

impl Program {
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// Those of the file that was asked for, and its kernels.
    pub fn shaders(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        let is_entry = |f: &Function| f.is_shader && f.span.file == self.root;
        self.functions.iter().enumerate().filter(move |(_, f)| is_entry(f)).map(|(i, f)| (FunctionId(i as u32), f))
    }
}

/// A closure type that the files declare.
#[derive(Clone, Debug)]
pub struct OwnClosure {
    pub ty: Type,
    pub closure: ClosureType,
    /// What the host runs for it: its instances of the functions of the [interface](crate::runtime::ClosureInterface), in
    /// their order.
    pub functions: Vec<FunctionId>,
    /// Where it is first made.
    pub made: Span,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_shader: bool,
    /// A shader that runs for every point of a grid, over buffers.
    pub is_kernel: bool,
    pub result: Type,
    pub parameters: Vec<Parameter>,
    pub metadata: Vec<Metadata>,
    /// Parameters first.
    pub variables: Vec<Variable>,
    pub body: Option<Vec<Stmt>>,
    /// Which of the host's functions stands behind a prototype.
    pub external: Option<u32>,
    /// It is the derivative of another function, and has no body.
    pub derived: Option<Derived>,
    pub attributes: Attributes,
    pub span: Span,
}

/// What the author says of a function's derivatives.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// No derivative may get lost inside.
    pub differentiable: bool,
    pub prefer: Prefer,
    /// Stands for the derivative of forward mode.
    pub forward: Option<Custom>,
    pub backward: Option<Custom>,
    /// Is differentiated in its place.
    pub primal: Option<FunctionId>,
    /// Takes a step of its state back.
    pub undo: Option<FunctionId>,
    /// Gives back the point that the function takes first.
    pub inverse: Option<FunctionId>,
    /// It stands for methods that a host links, in this slot, and so do its derivatives.
    pub linked: Option<u32>,
}

/// What the author gives for a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Custom {
    pub by: FunctionId,
    /// The derivative for which it stands, which has the same signature.
    pub derived: FunctionId,
}

impl Attributes {
    /// The functions that stand for the function in derivatives.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        let custom = [self.forward, self.backward].into_iter().flatten().map(|custom| custom.by);
        custom.chain(self.primal).chain(self.undo).chain(self.inverse)
    }

    /// Whether something else than the body says what the derivatives are.
    pub fn is_custom(&self) -> bool {
        self.forward.is_some() || self.backward.is_some() || self.primal.is_some() || self.linked.is_some()
    }
}

/// What the author asks of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopAttributes {
    pub checkpoint: Checkpoint,
    /// Where `[ForceUnroll]` stands.
    pub unroll: Option<Span>,
}

/// `fwd_diff(f)` or `bwd_diff(f)`.
#[derive(Clone, Debug)]
pub struct Derived {
    pub mode: Mode,
    pub of: FunctionId,
    /// What became of the parameters of `of`, in their order.
    pub roles: Vec<Role>,
    /// What became of its result.
    pub result: Role,
    /// Where it was first asked for.
    pub place: Span,
}

/// What a parameter or the result of a function is in its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// As it is, without a derivative.
    Plain,
    /// A pair of the value and its derivative.
    Pair,
    /// The cotangent alone, handed in.
    Cotangent,
    /// Handed in only: what comes out is dropped.
    In,
    Dropped,
}

impl Function {
    /// The types of its parameters, by which it is told from others of its name.
    pub fn signature(&self) -> Vec<Type> {
        self.parameters.iter().map(|p| self.variables[p.variable.0 as usize].ty.clone()).collect()
    }
}

#[derive(Clone, Debug)]
pub struct Parameter {
    /// No derivative goes through it.
    pub no_diff: bool,
    /// What the author gives an `out` parameter to start with: the body begins by assigning it.
    pub given: Option<Expr>,
    pub variable: VarId,
    pub direction: Direction,
    pub default: Option<Expr>,
    /// It is a kernel's buffer. An `out` or `inout` one is a variable of the type of its elements: the point's own.
    pub buffer: Option<BufferRole>,
    /// What an `out` parameter starts with, if not with zero.
    pub start: Option<Expr>,
    pub metadata: Vec<Metadata>,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Type,
    pub span: Span,
    pub constant: bool,
    /// Some array in it is indexed by something that is no constant, so it must lie in memory.
    pub dynamic: bool,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<Stmt>),
    /// Declares a variable; without a value it starts at zero.
    Let(VarId, Option<Expr>),
    Expr(Expr),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    /// All three loops: `init` runs once, `condition` before each round unless `body_first`.
    Loop {
        init: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        body_first: bool,
        attributes: LoopAttributes,
    },
    /// Sections in order; one whose body is left at its end falls into the next.
    Switch {
        value: Expr,
        sections: Vec<Section>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
}

/// What a `switch` runs for some values.
#[derive(Clone, Debug)]
pub struct Section {
    pub labels: Vec<i32>,
    /// Runs for values without a label, too.
    pub default: bool,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Bool(bool),
    Int(i32),
    Float(f32),
    /// Index into [`Program::strings`].
    String(u32),
}

/// A texture slot of the file, or a texture parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureRef {
    File(u32),
    Parameter(VarId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    Color,
    Alpha,
    All,
}

/// What a look-up's footprint is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The partials of the coordinates.
    #[default]
    Coordinates,
    /// ∂u/∂x, ∂v/∂x, ∂u/∂y and ∂v/∂y are given.
    Partials,
    /// The mip level is given.
    Level,
}

/// What says how blurred a look-up is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub extent: Extent,
    /// A factor is given.
    pub width: bool,
    /// What is added in every direction is given.
    pub blur: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    IntToFloat,
    /// Saturates; NaN becomes 0.
    FloatToInt,
    BoolToInt,
    BoolToFloat,
    /// `x != 0`
    IntToBool,
    FloatToBool,
    /// One float to every component.
    Splat,
    /// Between the vectors of one length.
    Rename,
    /// A float to a matrix with it on the diagonal.
    Diagonal,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Constant(Constant),
    Place(Place),
    Global(usize),
    Texture(TextureRef),
    /// Componentwise on vectors.
    Unary(UnaryOp, Box<Expr>),
    /// Both sides have one type; componentwise on vectors.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Assign(Place, Box<Expr>),
    /// The place is read, `op` applied, and the result stored.
    AssignOp(BinaryOp, Place, Box<Expr>),
    Step {
        place: Place,
        delta: i32,
        prefix: bool,
    },
    Call(FunctionId, Vec<Argument>),
    Builtin(BuiltinId, Vec<Expr>),
    Convert(Conversion, Box<Expr>),
    /// Parts one after the other: vector constructors and `{…}` lists. Missing parts are zero.
    Construct(Vec<Expr>),
    Swizzle(Box<Expr>, Vec<u8>),
    Member(Box<Expr>, usize),
    Index(Box<Expr>, Box<Expr>),
    /// A format of the program, and a value for each conversion; one for each component of a vector.
    Print(u32, Vec<Expr>),
    /// A look-up: the coordinates, and what the footprint takes, in this order. Each a float, or two in a `float2`.
    Sample(SampleKind, TextureRef, Footprint, Vec<Expr>),
    /// How many texels a texture has along u and along v.
    TextureSize(TextureRef),
    /// An element of a buffer.
    Element(VarId, Box<Expr>),
    /// How many elements a buffer has.
    BufferLength(VarId),
    AddTo(Addition),
    Closure(ClosureId, Vec<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// The value without its derivatives.
    Detach(Box<Expr>),
    Integral(Box<Integral>),
    Error,
}

/// The integral of a function over a box.
#[derive(Clone, Debug)]
pub struct Integral {
    /// A call of the integrand. Its last arguments stand for the variables of integration.
    pub call: Expr,
    /// By variable of integration, where it begins and ends.
    pub bounds: Vec<[Expr; 2]>,
    pub samples: Expr,
    pub seed: Expr,
    /// How wide a band stands for each boundary that cannot be drawn from, in what its condition compares.
    pub smoothing: Option<Expr>,
    pub sequence: Sequence,
    /// Whether derivatives look at how conditions move.
    pub boundaries: bool,
}

impl Integral {
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.call)
            .chain(self.bounds.iter().flatten())
            .chain([&self.samples, &self.seed])
            .chain(&self.smoothing)
    }
}

/// `buffer[index].part += value`
#[derive(Clone, Debug)]
pub struct Addition {
    pub buffer: VarId,
    pub index: Box<Expr>,
    /// Which of the element's scalars each scalar of the value is added to.
    pub scalars: Vec<usize>,
    pub value: Box<Expr>,
}

#[derive(Clone, Debug)]
pub enum Argument {
    In(Expr),
    /// `out` and `inout`.
    Place(Place, Direction),
    Texture(TextureRef),
    /// An output that the caller of a shader leaves out.
    Dropped,
}

/// Something that can be read and assigned: a variable and the way into it.
#[derive(Clone, Debug)]
pub struct Place {
    pub variable: VarId,
    pub path: Vec<Access>,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Access {
    Member(usize),
    /// Into an array, or a vector.
    Index(Box<Expr>),
    Swizzle(Vec<u8>),
}

impl Expr {
    pub fn constant(value: Constant, span: Span) -> Expr {
        let ty = match value {
            Constant::Bool(_) => Type::Bool,
            Constant::Int(_) => Type::Int,
            Constant::Float(_) => Type::Float,
            Constant::String(_) => Type::String,
        };
        Expr { kind: ExprKind::Constant(value), ty, span }
    }

    pub fn error(span: Span) -> Expr {
        Expr { kind: ExprKind::Error, ty: Type::Error, span }
    }
}
