//! Every diagnostic of the compiler: its code, its title, and the page that `shade explain` prints.

use super::Code;

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $explanation:literal;)*) => {
        $(pub static $name: Code = Code { id: $id, title: $title, explanation: $explanation };)*
        /// In the order of their ids.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    UNREADABLE_FILE = "E0001", "file cannot be read",
        "The file does not exist, is not readable, or is not UTF-8 text. Check the path, which is taken from the current folder.";
    UNEXPECTED_CHARACTER = "E0101", "character that means nothing here",
        "The character is not part of the language outside comments and names. It often comes from text copied out of a document (curly quotes, long dashes).";
    BAD_NUMBER = "E0102", "number that cannot be read",
        "Numbers are written `1`, `0x1f`, `1.0`, `1.`, `.5`, `1e-3`, with an optional `f` behind floats. Integers must fit 32 bits.";
    UNTERMINATED = "E0103", "comment or string without an end",
        "A `/*` needs its `*/`, a `\"` its second `\"` on the same line.";
    SYNTAX = "E0104", "syntax error",
        "What stands here does not fit the grammar at this place. The message says what was expected; the mistake is often just before it, such as a missing `;` or `)`.";
    NESTING = "E0105", "nested too deeply",
        "Expressions, blocks and initialisers may nest about 200 levels deep. Split the code with variables or functions.";
    UNKNOWN_NAME = "E0201", "unknown name",
        "No variable, parameter or texture of this name is visible here. Names are case-sensitive and must be declared above their use.";
    UNKNOWN_FUNCTION = "E0202", "unknown function",
        "No function or built-in has this name. A function must be declared, or have a prototype, before it is called.";
    NO_OVERLOAD = "E0203", "no overload takes these arguments",
        "Functions of this name exist, but none takes these arguments. Integers convert to floats, and a float to all components of a vector; nothing else does silently.";
    AMBIGUOUS_CALL = "E0204", "several overloads fit equally well",
        "Two or more functions take these arguments with equally good conversions. Convert an argument explicitly, `float(x)` for instance.";
    TYPE_MISMATCH = "E0205", "type mismatch",
        "The value's type does not convert to what is needed here. Integers convert to floats, floats to vectors; floats become integers only through `int(x)`, and `int` and `bool` mix only through a comparison.";
    BAD_OPERANDS = "E0206", "operator does not take these operands",
        "The operator is not defined for these types. Arithmetic works on `int`, `float` and vectors componentwise, bit operators and `%` on `int`, `!`, `&&`, `||` on `bool`.";
    NOT_ASSIGNABLE = "E0207", "this cannot be assigned to",
        "Only variables, their members, elements and components can be assigned; constants, `const` parameters and results of calls cannot.";
    DUPLICATE_NAME = "E0208", "name declared twice",
        "Two declarations of the same name stand in the same scope. Rename one of them.";
    UNKNOWN_TYPE = "E0209", "unknown type",
        "No type of this name exists. The built-in ones are bool, int, float, float2, float3, float4, color, vector, point, normal, closure and texture2d; structs must be declared first.";
    UNKNOWN_MEMBER = "E0210", "no such member",
        "The struct has no member of this name, or the vector no such components. Vectors have x y z w and r g b a, up to four of them at once.";
    BAD_INDEX = "E0211", "this cannot be indexed, or not by that",
        "Arrays and vectors are indexed by an `int` in brackets. A constant index must lie inside.";
    MISSING_RETURN = "E0212", "a path ends without returning a value",
        "The function returns a value, but its end can be reached without a `return`. Add one at the end.";
    MISPLACED_STATEMENT = "E0213", "statement out of place",
        "`break` and `continue` belong inside loops; a shader returns no value.";
    BAD_DECLARATION = "E0214", "declaration that cannot stand",
        "The declaration asks for something that this kind of declaration cannot have. The message says which part.";
    UNKNOWN_GLOBAL = "E0215", "unknown global",
        "The host offers no global of this name. The hint lists what there is; a file can declare its own for tests in a `globals { … }` block.";
    UNKNOWN_CLOSURE = "E0216", "unknown closure",
        "The host has no closure of this name; the hint lists those it has.";
    CLOSURE_ARGUMENTS = "E0217", "wrong arguments for a closure",
        "A closure takes exactly its documented parameters, in order.";
    DERIVATIVE_OPERAND = "E0218", "this has no derivatives",
        "`ddx` and `ddy` take floats, vectors and colors. Integers and booleans step, so they have no derivative; convert with `float(x)` if a zero is really wanted.";
    NOT_CONSTANT = "E0219", "a constant is needed",
        "The value must be known when the shader is compiled: made of literals, constants and operators.";
    TEXTURE_USE = "E0220", "a texture handle cannot be used like this",
        "A `texture2d` can only be sampled or passed on to a function; it cannot be computed, stored in a variable, or put into an array.";
    NO_BODY = "E0221", "function without a body",
        "The function has a prototype, but neither a body in this file nor a function registered by the host.";
    WRONG_ARGUMENT_COUNT = "E0222", "wrong number of arguments",
        "The constructor or built-in takes another number of arguments.";
    NO_SHADER = "E0301", "no shader to run",
        "The file declares no shader of that name, or several and none was chosen.";
    CLOSURE_FLATTEN = "E0302", "the lobes of this closure cannot be known beforehand",
        "The set of lobes of a shader is fixed when it is compiled. A closure may be made in a loop only if the number of iterations is a constant, and a function that touches closures may not call itself.";
    TOO_MANY_LOBES = "E0303", "too many lobes",
        "A shader may have at most 64 lobes in all its outputs. Mix parameters instead of closures where you can.";
    TOO_LARGE = "E0304", "too large",
        "The shader's arrays would not fit the memory that a running shader is given (4 MiB on its deepest call chain, recursion counted to its limit of 256), or its calls nest too deeply. Use smaller arrays or fewer levels.";
    UNBOUNDED_ORDER = "E0305", "derivative of unbounded order",
        "A loop or recursion derives what it derived before, so the order of the derivative grows with every round. Only a fixed number of nested `ddx` and `ddy`, at most six, can be compiled.";
    UNUSED_RESULT = "W0402", "the value is not used",
        "The statement computes a value and throws it away.";
    TEST_SETUP = "E0501", "test that cannot run",
        "The test names a global, parameter or output that does not exist, or gives it a value of the wrong type.";
    BAD_IR = "E0601", "intermediate code that cannot be read",
        "The textual intermediate code has a syntax error or breaks one of its rules; the message says which.";
    BACKEND = "E0602", "native code could not be made",
        "The code generator refused the program. This is a fault of the compiler, not of the shader: please report it with the shader.";
}

/// The code that an id such as `E0201` names.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|c| c.id.eq_ignore_ascii_case(id))
}
