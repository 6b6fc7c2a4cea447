//! Every diagnostic of the compiler: its code, its title, and the page that `shade explain` prints.

use super::Code;

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $explanation:literal;)*) => {
        $(
            #[doc = $title]
            pub static $name: Code = Code { id: $id, title: $title, explanation: $explanation };
        )*
        /// Every code, those of one kind together.
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
    MISSING_SEMICOLON = "E0106", "missing `;`",
        "Statements and declarations end with `;`, a struct too, behind its `}`. The place that is shown is where it belongs: behind the last word before it.";
    MISSING_BRACKET = "E0107", "missing closing bracket",
        "A `(`, `[` or `{` was opened and is not closed. The message points at where the closing one belongs and at the opening one.";
    STRAY_ELSE = "E0108", "`else` without an `if`",
        "Before this `else` stands no `if` that it could belong to. Often there is a `;` behind the `if (…)`, or two statements between them without braces.";
    OUTSIDE_FUNCTION = "E0109", "statement outside of a function",
        "At file level stand functions, shaders, structs, constants, textures, `globals` blocks and tests. Statements belong inside a function or shader; often a `}` too many closed it early.";
    DECIMAL_COMMA = "E0110", "comma in a number",
        "Numbers are written with a decimal point: `1.5`, not `1,5`.";
    RESERVED_WORD = "E0111", "word of the language used as a name",
        "Words such as `for`, `out` or `color` have a meaning of their own, so nothing can be named by them.";
    TYPE_AS_VALUE = "E0112", "type used as a value",
        "A type alone is no value. Construct one, `float3(0.0)`, or write the name of a variable.";
    PREPROCESSOR = "E0113", "preprocessor line",
        "There is no preprocessor: no `#define`, `#include` or `#ifdef`. Use constants and functions of the file.";
    ANGLE_FORM = "E0114", "incomplete form in angle brackets",
        "`global_value<NAME>` stands alone; `texture2d_sample<SLOT>(u, v)` and `make_closure<NAME>(…)` need their arguments.";
    FOREIGN_QUALIFIER = "E0115", "qualifier of another language",
        "Words such as `static`, `uniform`, `varying` or `inline` do not exist here. Leave them out; what a host should set is a shader parameter.";
    FOREIGN_FORM = "E0116", "form of another language",
        "What stands here is written otherwise: a method, `v.length()`, is a function, `length(v)`; a reference or pointer, `float& x`, is an `inout` parameter; a power, `a ** b`, is `pow(a, b)`; an array constructor, `float[2](a, b)`, is a list, `{a, b}`; `for (x : list)` counts an index. Semantics such as `: TEXCOORD0`, templates, classes and blocks of the host's variables do not exist: what comes from outside is a parameter or a global, what goes out an `out` parameter.";
    BAD_ESCAPE = "E0131", "escape that means nothing",
        "Behind a backslash a string may have `n` (new line), `t` (tab), `r` (carriage return), `\\\\` or `\"`. Write a backslash itself as two, as in paths of Windows; forward slashes work there too.";
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
        "`continue` belongs inside loops, `break` inside loops and `switch`; a shader returns no value.";
    BAD_DECLARATION = "E0214", "declaration that cannot stand",
        "The declaration asks for something that this kind of declaration cannot have. The message says which part.";
    UNKNOWN_GLOBAL = "E0215", "unknown global",
        "The host offers no global of this name. The hint lists what there is; a file can declare its own for tests in a `globals { … }` block.";
    UNKNOWN_CLOSURE = "E0216", "unknown closure",
        "The host has no closure of this name; the hint lists those it has.";
    CLOSURE_ARGUMENTS = "E0217", "wrong arguments for a closure",
        "A closure takes its documented parameters: in order, or by name, `make_closure<Lambert>(albedo = paint)`. Those with a default may be left out.";
    DERIVATIVE_OPERAND = "E0218", "this has no derivatives",
        "`ddx` and `ddy` take floats, vectors and colors. Integers and booleans step, so they have no derivative; convert with `float(x)` if a zero is really wanted.";
    NOT_CONSTANT = "E0219", "a constant is needed",
        "The value must be known when the shader is compiled: made of literals, constants and operators.";
    TEXTURE_USE = "E0220", "a texture handle cannot be used like this",
        "A `texture2d` can only be sampled or passed on to a function; it cannot be computed, stored in a variable, or put into an array.";
    NO_BODY = "E0221", "function without a body",
        "The function has a prototype, but neither a body in its file nor a function that the host has registered under this name.";
    WRONG_ARGUMENT_COUNT = "E0222", "wrong number of arguments",
        "The constructor or built-in takes another number of arguments.";
    DUPLICATE_CASE = "E0231", "case that stands there twice",
        "A `switch` has one `case` for each value and at most one `default`. Constants may have the same value under two names.";
    STRING_CLASH = "E0232", "two strings with one number",
        "A running shader holds a 32-bit number for each string, a hash of its text. These two texts have the same one, which happens to about one pair in four billion. Change one of them, by a character for instance.";
    NO_DOUBLE = "E0233", "double precision",
        "There is no `double`, nor a literal such as `1.0d`. Shaders compute in 32-bit floats, which is what makes them give the same bits on every back end. Where a sum loses digits, add small terms first, or keep what was rounded off in a second float.";
    FOREIGN_TYPE = "E0234", "type of another language",
        "The name is a type of C, GLSL, HLSL or OSL that is called otherwise here, or that SSL does not have. The hint says what to write.";
    UNKNOWN_SPACE = "E0235", "unknown space",
        "No space of this name is known. `world` always is; any other space `a` is a pair of matrix globals, `a_to_world` and `world_to_a`, which the host offers or a `globals { … }` block declares. The hint lists the spaces there are.";
    UNNAMED_ARGUMENT = "E0240", "argument without a name",
        "In calls of functions and closures, arguments without names come first, and those with names behind them. A shader is called with a name in front of every argument, in any order: `noise(scale = 2.0, height = h);`. Inputs that are left out take their defaults, and outputs that are left out are dropped.";
    UNKNOWN_PARAMETER = "E0241", "no such parameter",
        "The name in front of the argument is that of no parameter. Names are case-sensitive. Built-ins and constructors take their arguments without names. `name = value` among arguments always names a parameter: an assignment there stands in parentheses, `f((x = 1.0))`.";
    MISSING_ARGUMENT = "E0242", "a parameter is not given",
        "A parameter without a default must be given in every call. The same holds for the inputs of shaders that are called. Textures and closures have no defaults.";
    COMPARISON_CHAIN = "E0260", "comparisons in a chain",
        "`a < b < c` compares the result of `a < b`, which is true or false, with `c`. Write `a < b && b < c`.";
    ARRAY_SIZE = "E0261", "impossible size of an array",
        "An array has at least one element and at most 1048576, all dimensions together; one element that is an array itself takes at most 16 KiB, and an array with closures in it has at most 1024 parts.";
    FILE_VARIABLE = "E0262", "variable of the whole file",
        "At file level stand constants, `const` with a value, and textures. Shaders run for many points at once, so there is nothing that one could write for another; what comes from outside is a shader parameter.";
    BAD_DEFAULT = "E0263", "default that cannot be",
        "Only `in` parameters with values have defaults, an `out` parameter may be given what it starts with, and in a function all parameters behind one with a default need one too.";
    SHADER_PARAMETER = "E0264", "parameter that a shader cannot have",
        "A shader talks to its host through scalars, vectors, textures and `out closure`; its parameters are `in` or `out`.";
    INDEX_RANGE = "E0265", "index outside",
        "A constant index must lie inside the array or vector: from 0 to one less than its length. An index that is computed while shading is clamped.";
    RETURN_VALUE = "E0266", "`return` that does not fit",
        "A function that gives a value returns one at each `return`; a shader and a `void` function return nothing, a shader's results being its `out` parameters.";
    CONSTANT_ASSIGNED = "E0267", "assignment to a constant",
        "What was declared `const` keeps its value: constants of the file, `const` variables and `const` parameters.";
    COMPONENT_TWICE = "E0268", "component assigned twice",
        "A swizzle on the left of `=` may name each component once: `v.xy = …`, not `v.xx = …`.";
    LIST_WITHOUT_TYPE = "E0269", "list without a type",
        "`{…}` gives its parts to something whose type is known: a declared variable, a parameter's default, the right side of `=`. Elsewhere write a constructor such as `float3(…)`.";
    MISPLACED_METADATA = "E0270", "metadata where none may stand",
        "Metadata, `<<< name = value >>>`, tell a user interface about a shader or a parameter. They stand behind the name of a shader or function, behind its parameters, or behind one parameter; members of structs, globals, constants and variables have none.";
    NOISE_KIND = "E0271", "kind of noise that does not exist",
        "The first argument of `noise` and `pnoise` may be the kind of noise in quotes, as in Open Shading Language: `perlin`, `uperlin`, `cell`, `hash`, `simplex`, `usimplex` or `gabor`; all but `hash` have a form that repeats, for `pnoise`. It is chosen when the shader is compiled. Options in the form of names and values do not exist: call the function of that noise, such as `gabor(p, direction, bandwidth)`.";
    UNKNOWN_CASE = "E0272", "name that a function of the library does not know",
        "The function chooses by a string, such as the name of a metal, and knows only the names that the hint lists. A string that is not known before the shader runs may be any; the function's description says what it does with others.";
    NO_SHADER = "E0301", "no shader to run",
        "The file declares no shader of that name, or several and none was chosen.";
    CLOSURE_FLATTEN = "E0302", "the lobes of this closure cannot be known beforehand",
        "The set of lobes of a shader is fixed when it is compiled. A closure may be made in a loop only if the number of iterations is a constant, and a function that touches closures may not call itself.";
    TOO_MANY_LOBES = "E0303", "too many lobes",
        "A shader may have at most 64 lobes in all its outputs. Mix parameters instead of closures where you can.";
    TOO_LARGE = "E0304", "too large",
        "The shader's arrays would not fit the memory that a running shader is given (4 MiB on its deepest call chain, recursion counted to its limit of 256), or its calls nest too deeply: use smaller arrays or fewer levels. Or something would make compiling take too long: a shader of millions of instructions, a struct or function with thousands of members or parameters, thousands of functions of one name. The language's page of limits has the numbers.";
    UNBOUNDED_ORDER = "E0305", "derivative of unbounded order",
        "A loop or recursion derives what it derived before, so the order of the derivative grows with every round. Only a fixed number of nested `ddx` and `ddy`, at most six, can be compiled.";
    RECURSIVE_SHADER = "E0306", "a shader calls itself",
        "A shader that is called is written into its caller, so it cannot come to call itself, neither directly nor through others. Move what recurses into a function.";
    UNUSED_VARIABLE = "W0401", "unused variable",
        "The variable is never read. Remove it; if it must stay, give it a name that starts with `_`.";
    UNUSED_RESULT = "W0402", "the value is not used",
        "The statement computes a value and throws it away.";
    UNUSED_PARAMETER = "W0403", "unused parameter",
        "The function never reads the parameter. Remove it; if callers need it, give it a name that starts with `_`. Parameters of shaders are their interface and may stay unused.";
    UNUSED_FUNCTION = "W0404", "unused function",
        "No function or shader of the file calls it. Files without a shader are libraries, of which nothing is said. A name that starts with `_` silences this.";
    UNUSED_CONSTANT = "W0405", "unused constant",
        "Nothing in the file reads the constant. Files without a shader are libraries, of which nothing is said. A name that starts with `_` silences this.";
    UNUSED_TEXTURE = "W0406", "unused texture slot",
        "Nothing in the file samples the texture, yet a host may bind an image to it. A name that starts with `_` silences this.";
    UNUSED_IMPORT = "W0407", "unused import",
        "The file uses nothing that the import brings, neither from the imported file nor from what that one imports without a name. Remove the line. Nothing is said about files without a shader, which hand on what they import, nor about imports that bring a `globals` block.";
    SHADOWED = "W0408", "name hidden by another",
        "A variable or parameter has the name of a variable that is visible around it, or of a constant or texture of the file, which cannot be reached from here on. Rename one of them.";
    READ_BEFORE_WRITTEN = "W0409", "read before it was given a value",
        "Variables start at zero, so the result is defined, but a value was probably forgotten. Where zero is meant, write it: `float sum = 0.0;`. Branches are followed one by one; loops are taken to run at least once.";
    OUT_NOT_WRITTEN = "W0410", "`out` parameter not written",
        "The function can end without giving the `out` parameter a value, which is zero then. Where zero is meant, write it.";
    UNREACHABLE = "W0411", "unreachable code",
        "Control never gets here: the statements before always return, break, continue or loop without end.";
    FLOAT_EQUALITY = "W0412", "floats compared for equality",
        "Results of float arithmetic are rounded, so that two that ought to be equal rarely are. Compare the difference: `abs(a - b) < 1e-6`. Comparing with a whole number such as `0.0`, with a result of floor, ceil, round, trunc, sign or step, or a value with itself (false for NaN only) is exact and not reported.";
    LOSSY_LITERAL = "W0413", "literal that loses its value",
        "The number cannot be held where it goes: a float that is too small becomes 0, an integer above 16777216 is rounded when it becomes a float.";
    CONSTANT_CONDITION = "W0414", "condition that never changes",
        "The condition is a literal or compares something with itself, so the branch is always the same. `while (true)`, `for (;;)` and constants of the file as switches are fine.";
    SELF_ASSIGNMENT = "W0415", "assignment to itself",
        "The statement stores into a variable what it holds already; one of the names is probably another.";
    EMPTY_BODY = "W0416", "empty statement as body",
        "The `;` behind `if (…)`, `for (…)` or `while (…)` is the whole body, and what follows runs in any case. Remove it, or write `{}` if nothing shall happen.";
    ASSIGNED_CONDITION = "W0417", "assignment as condition",
        "`=` assigns, `==` compares. If an assignment is meant, put it into parentheses of its own: `if ((a = b))`.";
    ENDLESS_LOOP = "W0418", "loop without end",
        "Nothing in the loop changes its condition, and neither `break` nor `return` leaves it, so it runs until the shader's allowance is used up and the point comes out black.";
    DIVISION_BY_ZERO = "W0419", "division by zero",
        "The divisor is the constant zero. Integers give 0 then, floats infinity or NaN, which becomes a black sample.";
    INTEGER_DIVISION = "W0420", "integer division where a float is wanted",
        "Both sides of `/` are integers, so the fraction is cut off before the result becomes a float: `1 / 2` is 0. Write `1.0 / 2.0`; if cutting off is meant, `float(a / b)`.";
    SAME_OPERANDS = "W0421", "both sides are the same",
        "The operator has the same variable on both sides, so the result is known beforehand; one of the names is probably another.";
    XOR_AS_POWER = "W0422", "`^` is no power",
        "`^` is the bitwise exclusive or: `2 ^ 3` is 1. Powers are `pow(a, b)`, powers of two `1 << n`. Written in hexadecimal, `0x2 ^ n`, the operator is taken to be meant.";
    COMMA_VALUE = "W0424", "value before a comma is not used",
        "`a, b` computes both and gives `b`. In a `return` or an initialiser this is mostly a constructor whose name is missing: `float3(a, b, c)`.";
    MISLEADING_INDENTATION = "W0423", "indented as if it belonged to the statement before",
        "Only one statement belongs to an `if` or loop without braces; the next is indented alike but runs in any case. Add braces, or mend the indentation.";
    NOTHING_EXPECTED = "W0425", "test that expects nothing",
        "The test passes whatever the shader does. State what is expected: `expect(output, value, tolerance);`.";
    NOTHING_DECLARED = "W0426", "file that declares nothing",
        "The file is empty, or holds comments only. It may be the wrong file, or one that was not saved.";
    FLAT_LOOK_UP = "W0450", "texture read at one place",
        "The coordinates of this look-up are the same at every point: they are made of constants, parameters and globals that do not vary over a surface. So one texel is read everywhere, and what looks like a texture is a color. Use coordinates that vary, such as those of `global_value<uvw>`, or take a color parameter instead of the texture.";
    PARAMETER_RANGE = "W0451", "value that a parameter's metadata do not allow",
        "The metadata of the parameter have a `min` or `max` that the value is outside of, or `options` that it is none of. The value is used as it is, but the author of the shader did not mean it to be possible: give another one, or mend the metadata. This is said of defaults, of constants in calls of shaders and in graphs, of scenes and of `--param`.";
    CLOSURE_VALUE = "W0452", "value that a closure makes no use of",
        "Closures have ranges for their parameters: a share of light goes from 0 to 1, and so does a roughness. The host brings what is outside back in, or makes light out of nothing, so a constant outside is a mistake. A normal of length zero has no direction, and the host takes another one. Only constants are looked at; what is computed for each point may leave the range.";
    TEST_SETUP = "E0501", "test that cannot run",
        "The statements of a test have an order: globals are set, a shader is run, then its outputs are looked at.";
    TEST_NAME = "E0502", "unknown name in a test",
        "The test names a global, shader, parameter, output or expectation that does not exist; the hint says what there is.";
    TEST_VALUE = "E0503", "value that a test cannot use",
        "The values of a test are made of numbers, vectors and arithmetic, and must have as many components as what they are given to or compared with.";
    TEST_ARGUMENTS = "E0504", "wrong arguments in a test",
        "`dual` takes a value and its two partials, `uniform` the lowest and the highest value, `expect` an output, its value and perhaps an absolute and a relative tolerance, `expect_lobe` a closure output, a type of closures and what is expected of it by name, `expect_lobes` a closure output and a number, `expect_numeric_derivatives` a tolerance, `expect_zero_cost` nothing.";
    TEST_CASES = "E0510", "table of cases that cannot be used",
        "`cases(x, y) { \"first\": 1.0, 2.0; }` stands first in its test, once. Its columns and its cases have names of their own, each case gives every column a value, and each column is a global or is used in a value below.";
    BACKEND = "E0602", "native code could not be made",
        "The code generator refused the program. This is a fault of the compiler, not of the shader: please report it with the shader.";
    FORMATTER = "E0603", "file that could not be formatted",
        "The formatter found that its own result would differ in more than blanks and line breaks, and left the file alone. This is a fault of the formatter, not of the file: please report it with the file.";
    IMPORT_NOT_FOUND = "E0701", "imported file not found",
        "An imported file is looked for beside the file that imports it, then in the folders given by `--include`, then in those of the environment variable SSL_PATH, then in the standard library. The hint lists the places that were searched.";
    IMPORT_UNREADABLE = "E0702", "imported file cannot be read",
        "There is something at the imported path, but it cannot be read as a shader file: it may be a folder, lack permission, or not be UTF-8 text.";
    IMPORT_CYCLE = "E0703", "files import each other in a circle",
        "A file imports itself, directly or through others. Move what both sides need into a file of its own that both import.";
    IMPORT_CLASH = "E0704", "two files declare the same name",
        "An import brings a struct, constant, texture or a function with the same parameters under a name that already stands for something else. Import one of the files under a name, `import \"file.ssl\" as name;`, and write `name::thing`.";
    EXTERNAL_MISMATCH = "E0801", "the host's function is another",
        "A prototype without a body stands for a function that the host has registered under this name. Its parameters and result must be those of the host's: scalars and vectors, none of them handed out. Vectors of one length are the same but for their names.";
    NO_DERIVATIVE = "E0802", "derivative that the host does not give",
        "The derivative of something computed by a function of the host is asked for, by `ddx`, `ddy` or a texture's footprint, but the host has registered no rule for this argument. Components are counted through all arguments, from 0.";
    FORMAT = "E0811", "format that does not fit",
        "`printf` takes a constant format and one value for each of its conversions: `%d %i %u %x %X %o %c` print an int or bool, `%f %e %g` a float, an int, or every component of a vector, `%s` a string, and `%%` is a percent sign. Flags, width and precision are C's; sizes such as `%ld` and widths from an argument (`%*d`) do not exist.";
    GRAPH_SYNTAX = "E0901", "graph file that cannot be understood",
        "The file is not well-formed TOML, has a key that means nothing there, or has a value of the wrong type. The message says which.";
    UNIT_SOURCE = "E0902", "unit that is no shader, or several",
        "A unit is one of three things: a shader of a `file`, a shader whose text stands under `source`, or another `graph`. Exactly one of them must be given.";
    UNIT_FILE = "E0903", "file of a unit cannot be read",
        "The shader file or graph that a unit names does not exist, is not readable, or is not UTF-8 text. Paths are taken from the folder of the graph file.";
    UNIT_SHADER = "E0904", "no such shader in the unit's file",
        "The unit's file or text declares no shader of that name, or several and none was chosen with `shader`.";
    UNKNOWN_UNIT = "E0905", "unknown unit",
        "A connection, argument or output names a unit that the graph does not have. Names are case-sensitive.";
    UNKNOWN_PORT = "E0906", "unit has no such input or output",
        "Connections go from outputs to inputs: an input is a parameter of the unit's shader, an output one of its `out` parameters. The hint lists those there are.";
    INPUT_TWICE = "E0907", "input given twice",
        "Something is set and connected, or connected or made an argument twice. Each input takes one value.";
    UNCONNECTED = "E0908", "input that nothing is given to",
        "The shader declares this parameter without a default, so the unit must get a value for it: set it, connect it, or make it an argument of the graph. Textures and closures have no defaults.";
    GRAPH_CYCLE = "E0909", "units in a circle",
        "Each of these units needs a result of the one before it, and the first one of the last. A graph must be free of circles.";
    GRAPH_NESTING = "E0910", "graph that contains itself",
        "A graph file is a unit of itself, directly or through other graphs.";
    NO_OUTPUTS = "E0911", "graph without outputs",
        "A graph hands out what stands under `[outputs]`. Without any there is nothing to compute.";
    GRAPH_NAME = "E0912", "name that cannot be used",
        "Names of units, arguments and outputs become names in a shader: letters, digits and `_`, no digit first, no word of the language, and each only once.";
    BAD_CONNECTION = "E0913", "connection that leads nowhere",
        "A connection is written `unit.output`, with components behind it where only they are wanted: `noise.result.x`. `global.NAME` reads a global of the host.";
    GRAPH_VALUE = "E0914", "value that does not fit its input",
        "The value under `set` or `default` cannot be that of the parameter: a text for a number, a number that is not finite, or a value for a texture or closure.";
    UNUSED_UNIT = "W0901", "unit that no output needs",
        "Nothing leads from this unit to an output of the graph, so it has no effect. Connect it, or remove it.";
}

/// The code that an id such as `E0201` names.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|c| c.id.eq_ignore_ascii_case(id))
}
