//! The types of generated programs, and what every such program declares.

/// A type of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ty {
    Bool,
    Int,
    Float,
    Float2,
    Vector,
    Float4,
    Matrix,
    Text,
    Floats,
    Ints,
    Grid,
    Record,
    Records,
    Nest,
}

impl Ty {
    pub const ALL: [Ty; 14] = [
        Ty::Bool,
        Ty::Int,
        Ty::Float,
        Ty::Float2,
        Ty::Vector,
        Ty::Float4,
        Ty::Matrix,
        Ty::Text,
        Ty::Floats,
        Ty::Ints,
        Ty::Grid,
        Ty::Record,
        Ty::Records,
        Ty::Nest,
    ];

    /// What functions give back, some more often.
    pub const RESULTS: [Ty; 11] = [
        Ty::Float,
        Ty::Float,
        Ty::Float,
        Ty::Int,
        Ty::Bool,
        Ty::Vector,
        Ty::Vector,
        Ty::Float2,
        Ty::Float4,
        Ty::Matrix,
        Ty::Record,
    ];

    /// What stands before and behind the declared name.
    pub fn around(self) -> (&'static str, &'static str) {
        match self {
            Ty::Bool => ("bool", ""),
            Ty::Int => ("int", ""),
            Ty::Float => ("float", ""),
            Ty::Float2 => ("float2", ""),
            Ty::Vector => ("float3", ""),
            Ty::Float4 => ("float4", ""),
            Ty::Matrix => ("matrix", ""),
            Ty::Text => ("string", ""),
            Ty::Floats => ("float", "[4]"),
            Ty::Ints => ("int", "[3]"),
            Ty::Grid => ("float", "[2][3]"),
            Ty::Record => ("Record", ""),
            Ty::Records => ("Record", "[2]"),
            Ty::Nest => ("Nest", ""),
        }
    }

    pub fn declare(self, name: &str) -> String {
        let (before, behind) = self.around();
        format!("{before} {name}{behind}")
    }

    /// Components of a vector of floats.
    pub fn components(self) -> Option<usize> {
        match self {
            Ty::Float2 => Some(2),
            Ty::Vector => Some(3),
            Ty::Float4 => Some(4),
            _ => None,
        }
    }

    /// The constant of the file that stands for a literal; lists stand only behind a declared name.
    pub fn constant(self) -> Option<&'static str> {
        match self {
            Ty::Floats => Some("A"),
            Ty::Ints => Some("B"),
            Ty::Grid => Some("C"),
            Ty::Records => Some("R"),
            Ty::Nest => Some("N"),
            _ => None,
        }
    }
}

/// The globals of every generated program, in the order of their rows.
pub const GLOBALS: &str = "globals { float ga; float gb; float gc; int gi; }\n";
/// Rows of [`GLOBALS`].
pub const ROWS: usize = 10;

/// Structs, a texture slot, and constants.
pub(super) const DECLARATIONS: &str = "\
struct Record { float f; float3 v = {0.5, -1.0}; int k = 2; float h[2]; };
struct Nest { Record one; Record many[2]; float2 p; string s; };
texture2d tex;
const float A[4] = {1.0, -2.0, 0.5};
const int B[3] = {3, 1, 2};
const float C[2][3] = {{1.0, 2.0, 3.0}, {4.0}};
const float H[2] = {1.0, 2.0};
const Record R[2] = {{0.25, {1.0, 2.0}, 3, {4.0}}, {-0.5}};
const Nest N = {{0.75, {-1.0}, 1}, {{1.5}}, {2.0, -0.5}, \"red\"};
";
