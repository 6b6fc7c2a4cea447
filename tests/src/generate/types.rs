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
    /// An instance of a generic struct.
    Pair,
    /// A value of an interface.
    Shape,
}

impl Ty {
    pub const ALL: [Ty; 16] = [
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
        Ty::Pair,
        Ty::Shape,
    ];

    /// What functions give back, some more often.
    pub const RESULTS: [Ty; 13] = [
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
        Ty::Pair,
        Ty::Shape,
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
            Ty::Pair => ("Pair<float3, 2>", ""),
            Ty::Shape => ("IShape", ""),
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

/// An interface and what its values hold, a generic struct, and generic functions. What they make of numbers of moderate size
/// stays of moderate size, however often they are called.
pub(super) const GENERIC: &str = "\
interface IShape
{
    float value(float t);
    [mutating] void change(float by);
    float twice(float t) { return value(t) - 0.5 * value(0.5 * t); }
}
struct Flat : IShape
{
    float a;
    float value(float t) { return a + 0.5 * t; }
    [mutating] void change(float by) { a = by; }
}
struct Bump : IShape
{
    int k; bool on; float3 v; float h[2];
    float value(float t) { return on ? v.y * sin(t + h[1]) : float(k) * h[0]; }
    [mutating] void change(float by) { h[0] += by; v = float3(by, v.x, v.y); on = !on; ++k; }
    float twice(float t) { return on ? 1.0 - t : value(-t); }
}
struct Pair<T : IFloat, let N : int>
{
    T a; float w[N];
    T sum()
    {
        T s = a;
        for (int i = 0; i < N; ++i)
            s += a * tanh(w[i]);
        return s;
    }
    [mutating] void change(float by) { a = blend(a, this.a * sin(by), 0.25); w[N - 1] -= by; }
}
T blend<T : IFloat>(T a, T b, float t) { return a + (b - a) * t; }
float both<S : IShape>(inout S shape, float t)
{
    const float before = shape.value(t);
    shape.change(t);
    return 0.5 * (before + shape.twice(t));
}
T turned<T : IFloat, let N : int>(inout Pair<T, N> pair)
{
    const T old = pair.a;
    pair.a = -0.25 * pair.sum();
    pair.w[0] = float(N) - pair.w[0];
    return old;
}
T mean<T : IFloat, let N : int>(T list[N])
{
    T s = T(0.0);
    for (int i = 0; i < N; ++i)
        s += list[i];
    return s / float(N);
}
";

/// Structs, a texture slot, and constants.
pub(super) const DECLARATIONS: &str = "\
struct Record { float f; float3 v = {0.5, -1.0}; int k = 2; float h[2]; };
struct Nest { Record one; Record many[2]; float2 p; string s; };
texture2d tex;
const float A[4] = {1.0, -2.0, 0.5};
const int B[3] = {3, 1, 2};
const float C[2][3] = {{1.0, 2.0, 3.0}, {4.0}};
const float H[2] = {1.0, 2.0};
const float W[2] = {-0.5, 0.25};
const Record R[2] = {{0.25, {1.0, 2.0}, 3, {4.0}}, {-0.5}};
const Nest N = {{0.75, {-1.0}, 1}, {{1.5}}, {2.0, -0.5}, \"red\"};
";
