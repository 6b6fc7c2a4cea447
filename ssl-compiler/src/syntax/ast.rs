//! The syntax tree, as written: nothing resolved, nothing converted.

use crate::source::Span;
use std::collections::{BTreeSet, HashSet};

pub use super::operators::{BinaryOp, UnaryOp};
pub use super::written_types::{TypeArgument, TypeName};

#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct File {
    pub items: Vec<Item>,
    /// Names whose declarations were not understood; nothing more need be said about them.
    pub broken: HashSet<String>,
    /// The names of all functions that the file calls.
    pub called: BTreeSet<String>,
    /// Functions that are called with a literal string first, and the string.
    pub called_with: BTreeSet<(String, String)>,
    /// All words that stand in tests.
    pub named_in_tests: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Import(Import),
    Function(FunctionDecl),
    Struct(StructDecl),
    Interface(InterfaceDecl),
    Extension(ExtensionDecl),
    /// `typedef float Weight, Pair[2];`
    Typedef(Declaration),
    Enum(EnumDecl),
    /// A texture slot or a constant at file level.
    Variable(Declaration),
    Globals(Vec<Declaration>),
    Test(TestDecl),
}

/// `import "path.ssl" as alias;`
#[derive(Clone, Debug)]
pub struct Import {
    pub path: String,
    pub path_span: Span,
    pub alias: Option<Ident>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct FunctionDecl {
    pub attributes: Vec<Attribute>,
    pub is_shader: bool,
    /// A shader that runs for every point of a grid, over buffers.
    pub is_kernel: bool,
    pub result: TypeName,
    pub name: Ident,
    /// What stands between `<` and `>` behind the name.
    pub generics: Vec<GenericParameter>,
    pub parameters: Vec<Parameter>,
    /// Of a shader, behind its name or its parameters.
    pub metadata: Vec<Metadata>,
    /// `None` for a prototype.
    pub body: Option<Vec<Stmt>>,
    /// Of the head, up to the closing parenthesis.
    pub span: Span,
}

/// `T : IFloat & IBlend`, or `let N : int`.
#[derive(Clone, Debug)]
pub struct GenericParameter {
    pub name: Ident,
    /// A number, and no type.
    pub is_int: bool,
    /// The interfaces that the type conforms to.
    pub bounds: Vec<Ident>,
}

/// What stands for a generic parameter: `float[3]`, `4`.
#[derive(Clone, Debug)]
pub enum GenericArgument {
    /// A name alone may be that of a number, too.
    Type(TypeArgument),
    Int(Expr),
}

/// `interface IShape : IBounded { float area(); associatedtype Sample : IFloat; }`
#[derive(Clone, Debug)]
pub struct InterfaceDecl {
    pub name: Ident,
    pub parents: Vec<Ident>,
    /// Those with a body are what a type has that declares none of its own.
    pub methods: Vec<Method>,
    pub types: Vec<AssociatedType>,
    /// Those with a value are what a type has that declares none of its own.
    pub constants: Vec<Declaration>,
    pub span: Span,
}

/// A type that each type which conforms to an interface names.
#[derive(Clone, Debug)]
pub struct AssociatedType {
    pub name: Ident,
    pub bounds: Vec<Ident>,
}

/// `extension float3 : IShape { … }`: lets a type of others conform to interfaces.
#[derive(Clone, Debug)]
pub struct ExtensionDecl {
    pub ty: TypeName,
    pub body: Conforming,
    pub span: Span,
}

/// What a struct or an extension has beside members.
#[derive(Clone, Debug, Default)]
pub struct Conforming {
    pub interfaces: Vec<Ident>,
    pub methods: Vec<Method>,
    /// `typealias Sample = float2;`
    pub types: Vec<TypeAlias>,
    /// `static const int SIZE = 4;`
    pub constants: Vec<Declaration>,
}

#[derive(Clone, Debug)]
pub struct TypeAlias {
    pub name: Ident,
    pub ty: TypeArgument,
}

/// `[Differentiable]`, `[Checkpoint(every = 8)]`: before a function or a loop.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Ident,
    pub arguments: Vec<Expr>,
    /// Without the brackets.
    pub span: Span,
}

/// How a function is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Tangents go from what comes in to what comes out.
    Forward,
    /// Cotangents go from what comes out to what comes in.
    Backward,
}

impl Mode {
    /// The word that stands for it in front of a function.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Forward => "fwd_diff",
            Mode::Backward => "bwd_diff",
        }
    }

    pub fn from_word(word: &str) -> Option<Mode> {
        [Mode::Forward, Mode::Backward].into_iter().find(|mode| mode.word() == word)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub direction: Direction,
    /// `add buffer<…>`
    pub adds: bool,
    /// No derivative goes through it.
    pub no_diff: bool,
    pub is_const: bool,
    pub ty: TypeName,
    pub name: Ident,
    /// `name[]`, or `name[][3]`: outside `dims` stands what the argument has.
    pub any_length: bool,
    pub dims: Vec<Expr>,
    pub default: Option<Expr>,
    pub metadata: Vec<Metadata>,
    pub span: Span,
}

/// `label = "Base color"` between `<<<` and `>>>`.
#[derive(Clone, Debug)]
pub struct Metadata {
    pub name: Ident,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub struct StructDecl {
    pub name: Ident,
    /// What stands between `<` and `>` behind the name.
    pub generics: Vec<GenericParameter>,
    pub fields: Vec<Declaration>,
    /// What stands before each of the fields.
    pub marks: Vec<FieldMarks>,
    pub body: Conforming,
    /// From the word `struct` to the closing brace.
    pub span: Span,
}

/// How members of a struct are differentiated.
#[derive(Clone, Debug, Default)]
pub struct FieldMarks {
    /// `[DerivativeMember(D.weight)]`
    pub attributes: Vec<Attribute>,
    /// They have no derivative.
    pub no_diff: bool,
}

/// A function of a struct.
#[derive(Clone, Debug)]
pub struct Method {
    /// It has no `this`.
    pub is_static: bool,
    pub function: FunctionDecl,
}

/// What stands for the type that conforms, in an interface.
pub const SELF: &str = "This";

/// What the value that a method is called on is called inside the method.
pub const THIS: &str = "this";

/// `enum Mode { MATTE, BRIGHT = 4 };`
#[derive(Clone, Debug)]
pub struct EnumDecl {
    pub name: Option<Ident>,
    pub members: Vec<EnumMember>,
}

#[derive(Clone, Debug)]
pub struct EnumMember {
    pub name: Ident,
    /// One more than the member before, if it is not given; the first is 0.
    pub value: Option<Expr>,
}

/// `const float a[2] = {1, 2}, b;`
#[derive(Clone, Debug)]
pub struct Declaration {
    pub is_const: bool,
    pub ty: TypeName,
    pub declarators: Vec<Declarator>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Declarator {
    pub name: Ident,
    pub dims: Vec<Expr>,
    pub init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    Declaration(Declaration),
    Expr(Expr),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    For {
        init: Box<Stmt>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch {
        value: Expr,
        sections: Vec<SwitchSection>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    /// A loop, and what is asked for it.
    Attributed(Vec<Attribute>, Box<Stmt>),
}

/// Labels of a `switch`, and the statements up to the next label.
#[derive(Clone, Debug)]
pub struct SwitchSection {
    pub labels: Vec<SwitchLabel>,
    pub body: Vec<Stmt>,
}

/// `case VALUE:` or `default:`.
#[derive(Clone, Debug)]
pub struct SwitchLabel {
    /// `None` for `default`.
    pub value: Option<Expr>,
    /// From the word to the colon.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Int(i32),
    Float(f64),
    Bool(bool),
    /// The text itself: escapes resolved, adjacent literals joined.
    Str(String),
    Name(String),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a = b`, or `a op= b`.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++a` and its kin; `delta` is 1 or −1.
    Step {
        target: Box<Expr>,
        delta: i32,
        prefix: bool,
    },
    /// A function, built-in or constructor.
    Call(Ident, Vec<Expr>),
    /// `blend<float3, 4>(…)`: a generic function, and what it is for.
    GenericCall {
        name: Ident,
        types: Vec<GenericArgument>,
        arguments: Vec<Expr>,
    },
    /// `value.name(…)`, or `Type.name(…)`.
    Method {
        on: Box<Expr>,
        name: Ident,
        /// Of a generic method, what it is for.
        types: Vec<GenericArgument>,
        arguments: Vec<Expr>,
        /// The same as a call of a function: what to write where the value has no methods.
        function: Option<String>,
    },
    /// `name<argument>` or `name<argument>(…)`.
    Generic {
        name: Ident,
        argument: Ident,
        arguments: Option<Vec<Expr>>,
    },
    Cast(TypeName, Box<Expr>),
    /// `Pair<float>` in front of the constant in `Pair<float>.SIZE`.
    Type(TypeName),
    /// `DifferentialPair<float>(…)`, of a type that is more than a name.
    Construct(TypeName, Vec<Expr>),
    /// `fwd_diff(bwd_diff(f))(…)`: the modes from outside to inside, the function, its arguments.
    Derived {
        modes: Vec<Mode>,
        /// Of a method, what stands before its name: a type or a value.
        on: Option<Box<Expr>>,
        name: Ident,
        /// Of a generic function, what it is for.
        types: Vec<GenericArgument>,
        arguments: Vec<Expr>,
    },
    /// `no_diff e`: the value without its derivatives.
    NoDiff(Box<Expr>),
    /// `integral(x in [a, b]; samples = 64) { … }`
    Integral(Box<Integral>),
    Member(Box<Expr>, Ident),
    Index(Box<Expr>, Box<Expr>),
    /// `name = value` among arguments; an assignment there stands in parentheses.
    Named(Ident, Box<Expr>),
    /// `{a, b, c}`
    List(Vec<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// Stands where something could not be parsed.
    Error,
}

/// A mean over a box, times the size of the box.
#[derive(Clone, Debug)]
pub struct Integral {
    pub variables: Vec<IntegralVariable>,
    /// `samples = 64` and its kin.
    pub options: Vec<(Ident, Expr)>,
    pub body: Vec<Stmt>,
    /// Every name between the braces; what of the function's own variables the body sees is among them.
    pub names: Vec<String>,
    /// The word `integral`.
    pub word: Span,
}

/// `x in [low, high]`
#[derive(Clone, Debug)]
pub struct IntegralVariable {
    pub name: Ident,
    pub bounds: [Expr; 2],
}

/// `test "name" { x = dual(1, 1, 0); run main(); expect(o, 2, 1e-5); }`
#[derive(Clone, Debug)]
pub struct TestDecl {
    pub name: String,
    pub name_span: Span,
    pub body: Vec<TestStmt>,
    /// From the word `test` to the closing brace.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct TestStmt {
    pub kind: TestStmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TestStmtKind {
    /// A global's or the `samples` setting's value.
    Set(Ident, Expr),
    /// `run shader(parameter = value, …)`
    Run(Ident, Vec<(Ident, Expr)>),
    /// `expect(…)`, `expect_lobe(…)` and their kin
    Expect(Ident, Vec<TestArgument>),
    /// `expect_error CODE { … }`; the source is what stands between the braces.
    ExpectError { code: Ident, source: Span },
    /// `cases (x, y) { "name": 1, 2; }`
    Cases(TestCases),
}

impl TestStmt {
    /// The function that one of these expectations calls: `f` in `expect_gradient(f(1.0))`.
    pub fn called(&self, expectations: &[&str]) -> Option<&str> {
        let TestStmtKind::Expect(expectation, arguments) = &self.kind else { return None };
        match &arguments.first()?.value.kind {
            _ if !expectations.contains(&expectation.text.as_str()) => None,
            ExprKind::Name(name) | ExprKind::Call(Ident { text: name, .. }, _) => Some(name),
            _ => None,
        }
    }
}

/// What an expectation is given: `1e-5`, or `abs = 1e-5`.
#[derive(Clone, Debug)]
pub struct TestArgument {
    pub name: Option<Ident>,
    pub value: Expr,
}

/// A table of values: a test of its own for each row.
#[derive(Clone, Debug)]
pub struct TestCases {
    pub columns: Vec<Ident>,
    pub rows: Vec<TestCase>,
}

#[derive(Clone, Debug)]
pub struct TestCase {
    pub name: String,
    pub name_span: Span,
    pub values: Vec<Expr>,
}
