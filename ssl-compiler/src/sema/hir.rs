//! The typed tree: names resolved, overloads chosen, conversions explicit. What lowering reads.

use crate::builtins::BuiltinId;
use crate::runtime::ClosureId;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Direction, UnaryOp};
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
    /// File-level texture slots.
    pub textures: Vec<String>,
}

impl Program {
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub fn shaders(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.functions.iter().enumerate().filter(|(_, f)| f.is_shader).map(|(i, f)| (FunctionId(i as u32), f))
    }
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_shader: bool,
    pub result: Type,
    pub parameters: Vec<Parameter>,
    /// Parameters first.
    pub variables: Vec<Variable>,
    pub body: Option<Vec<Stmt>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub variable: VarId,
    pub direction: Direction,
    pub default: Option<Expr>,
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
    },
    Break,
    Continue,
    Return(Option<Expr>),
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
    Sample(SampleKind, TextureRef, Box<Expr>, Box<Expr>),
    Closure(ClosureId, Vec<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Error,
}

#[derive(Clone, Debug)]
pub enum Argument {
    In(Expr),
    /// `out` and `inout`.
    Place(Place, Direction),
    Texture(TextureRef),
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
        };
        Expr { kind: ExprKind::Constant(value), ty, span }
    }

    pub fn error(span: Span) -> Expr {
        Expr { kind: ExprKind::Error, ty: Type::Error, span }
    }
}
