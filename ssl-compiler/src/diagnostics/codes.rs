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
        "The file does not exist, is not readable, or is not UTF-8 text. Check the path; it starts at the current folder.";
    UNEXPECTED_CHARACTER = "E0101", "character that means nothing here",
        "Outside comments and strings, the character is not part of the language. It often comes from text copied out of a document (curly quotes, long dashes).";
    BAD_NUMBER = "E0102", "number that cannot be read",
        "Write numbers as `1`, `0x1f`, `1.0`, `1.`, `.5` or `1e-3`; floats may end with `f`. Integers must fit 32 bits.";
    UNTERMINATED = "E0103", "comment or string without an end",
        "A `/*` needs its `*/`, and a `\"` needs its second `\"` on the same line.";
    SYNTAX = "E0104", "syntax error",
        "The grammar does not allow this here. The message says what the parser expected. The mistake is often just before this place, such as a missing `;` or `)`.";
    NESTING = "E0105", "nested too deeply",
        "Expressions, blocks and initialisers may nest about 200 levels deep. Split the code with variables or functions.";
    MISSING_SEMICOLON = "E0106", "missing `;`",
        "Statements and declarations end with `;`. So does a struct, behind its `}`. The message shows where the `;` belongs: behind the last word before the place where it is missed.";
    MISSING_BRACKET = "E0107", "missing closing bracket",
        "A `(`, `[` or `{` has no closing bracket. The message points at where the closing one belongs, and at the opening one.";
    STRAY_ELSE = "E0108", "`else` without an `if`",
        "This `else` belongs to no `if`. Often there is a `;` behind the `if (…)`, or there are two statements between them without braces.";
    OUTSIDE_FUNCTION = "E0109", "statement outside of a function",
        "A file contains functions, shaders, structs, constants, textures, `globals` blocks and tests. Statements belong inside a function or shader. Often a `}` too many closed it early.";
    DECIMAL_COMMA = "E0110", "comma in a number",
        "Numbers are written with a decimal point: `1.5`, not `1,5`.";
    RESERVED_WORD = "E0111", "keyword used as a name",
        "Words such as `for`, `out` or `color` have a meaning of their own, so nothing else can have their name.";
    TYPE_AS_VALUE = "E0112", "type used as a value",
        "A type is not a value. Construct a value, `float3(0.0)`, or write the name of a variable.";
    PREPROCESSOR = "E0113", "preprocessor line",
        "There is no preprocessor: no `#define`, `#include` or `#ifdef`. Use constants and functions of the file.";
    ANGLE_FORM = "E0114", "incomplete form in angle brackets",
        "`global_value<NAME>` stands alone; `texture2d_sample<SLOT>(u, v)` and `make_closure<NAME>(…)` need their arguments.";
    FOREIGN_QUALIFIER = "E0115", "qualifier of another language",
        "Words such as `static`, `uniform`, `varying` or `inline` do not exist here. Leave them out. To let the host set a value, make it a shader parameter.";
    FOREIGN_FORM = "E0116", "form of another language",
        "SSL writes this in another way. Built-in types have no methods: instead of `v.length()`, call a function, `length(v)`. A reference or pointer, `float& x`, is an `inout` parameter. A power, `a ** b`, is `pow(a, b)`. An array constructor, `float[2](a, b)`, is a list, `{a, b}`. Instead of `for (x : list)`, count an index. Semantics such as `: TEXCOORD0`, templates, classes and blocks of the host's variables do not exist: values come in as parameters or globals, and go out as `out` parameters.";
    BAD_ESCAPE = "E0131", "escape that means nothing",
        "In a string, a backslash stands before `n` (new line), `t` (tab), `r` (carriage return), `\\\\` or `\"`. Write a backslash itself as two, as in paths of Windows; forward slashes work there, too.";
    UNKNOWN_NAME = "E0201", "unknown name",
        "No variable, parameter, constant or texture of this name is visible here. Names are case-sensitive, and variables must be declared above their use.";
    UNKNOWN_FUNCTION = "E0202", "unknown function",
        "No function or built-in has this name. Names are case-sensitive. A function may stand anywhere in the file, or in a file that it imports.";
    NO_OVERLOAD = "E0203", "no overload takes these arguments",
        "Functions of this name exist, but none takes these arguments. Integers convert to floats, and a float converts to all components of a vector. Everything else needs a cast.";
    AMBIGUOUS_CALL = "E0204", "several overloads fit equally well",
        "Two or more functions take these arguments with equally good conversions. Convert an argument explicitly, for instance by `float(x)`.";
    TYPE_MISMATCH = "E0205", "type mismatch",
        "The type of the value does not convert to the type that is needed here. Integers convert to floats, and floats to vectors. Floats become integers only through a cast, `int(x)`, and numbers and `bool` convert into each other only through a cast, too.";
    BAD_OPERANDS = "E0206", "operator does not take these operands",
        "The operator does not exist for these types. Arithmetic takes `int`, `float` and vectors, componentwise. Bit operators and `%` take `int`; `!`, `&&` and `||` take `bool`.";
    NOT_ASSIGNABLE = "E0207", "this cannot be assigned to",
        "You can assign only to variables and their members, elements and components. You cannot assign to constants, `const` parameters and results of calls.";
    DUPLICATE_NAME = "E0208", "name declared twice",
        "Two declarations of the same name stand in the same scope. Rename one of them.";
    UNKNOWN_TYPE = "E0209", "unknown type",
        "There is no type of this name. The built-in types are bool, int, float, float2, float3, float4, color, vector, point, normal, matrix, string, closure and texture2d. Structs must be declared above their use.";
    UNKNOWN_MEMBER = "E0210", "no such member",
        "The struct has no member of this name, or the vector has no such components. Vectors have x y z w and r g b a, up to four of them at once.";
    BAD_INDEX = "E0211", "this cannot be indexed, or not by that",
        "You can index arrays, vectors and matrices by an `int` in brackets. A constant index must lie inside.";
    MISSING_RETURN = "E0212", "a path ends without returning a value",
        "The function returns a value, but control can reach its end without a `return`. Add one at the end.";
    MISPLACED_STATEMENT = "E0213", "statement out of place",
        "`continue` belongs in a loop, and `break` in a loop or a `switch`. A shader returns no value.";
    BAD_DECLARATION = "E0214", "declaration that is not possible",
        "This kind of declaration cannot have something that it asks for. The message says which part.";
    UNKNOWN_GLOBAL = "E0215", "unknown global",
        "The host offers no global of this name. The hint lists those that it offers. A file can declare globals of its own for tests in a `globals { … }` block.";
    UNKNOWN_CLOSURE = "E0216", "unknown closure",
        "The host has no closure of this name. The hint lists those that it has.";
    CLOSURE_ARGUMENTS = "E0217", "wrong arguments for a closure",
        "A closure takes its documented parameters in order, or by name: `make_closure<Lambert>(albedo = paint)`. You may leave out those with a default.";
    DERIVATIVE_OPERAND = "E0218", "this has no derivatives",
        "`ddx` and `ddy` take floats, vectors and colors. Integers and booleans are steps, so they have no derivative. If you do want a zero, convert with `float(x)`.";
    NOT_CONSTANT = "E0219", "a constant is needed",
        "The compiler must know the value. Make it of literals, constants and operators.";
    TEXTURE_USE = "E0220", "a texture handle cannot be used like this",
        "You can only sample a `texture2d` or pass it to a function. You cannot compute it, store it in a variable, or put it into an array.";
    NO_BODY = "E0221", "function without a body",
        "The function has a prototype, but no body in its file, and the host has registered no function under this name.";
    WRONG_ARGUMENT_COUNT = "E0222", "wrong number of arguments",
        "The constructor or built-in takes a different number of arguments.";
    DUPLICATE_CASE = "E0231", "case that stands there twice",
        "A `switch` has one `case` for each value and at most one `default`. Two names may stand for the same constant.";
    STRING_CLASH = "E0232", "two strings with one number",
        "A running shader holds a 32-bit number for each string, a hash of its text. These two texts have the same hash, as one pair in four billion does. Change one of them, for instance by a character.";
    NO_DOUBLE = "E0233", "double precision",
        "There is no `double`, and no literal such as `1.0d`. Shaders compute in 32-bit floats, so they give the same bits on every back end. If a sum loses digits, add small terms first, or keep the rounding error in a second float.";
    FOREIGN_TYPE = "E0234", "type of another language",
        "The name is a type of C, GLSL, HLSL or OSL. SSL calls it otherwise, or does not have it. The hint says what to write.";
    UNKNOWN_SPACE = "E0235", "unknown space",
        "There is no space of this name. `world` always exists. Any other space `a` is a pair of matrix globals, `a_to_world` and `world_to_a`, which the host offers or a `globals { … }` block declares. The hint lists the spaces that exist.";
    UNNAMED_ARGUMENT = "E0240", "argument without a name",
        "In calls of functions and closures, arguments without names come first, and named arguments follow. In a call of a shader every argument has a name, in any order: `noise(scale = 2.0, height = h);`. An input that you leave out takes its default; an output that you leave out is dropped.";
    UNKNOWN_PARAMETER = "E0241", "no such parameter",
        "No parameter has the name in front of the argument. Names are case-sensitive. Constructors of vectors and some built-ins take their arguments without names. `name = value` among arguments always names a parameter. Put an assignment in parentheses: `f((x = 1.0))`.";
    MISSING_ARGUMENT = "E0242", "missing argument",
        "Every call must give a parameter that has no default. The same holds for the inputs of shaders that are called. Textures and closures have no defaults.";
    UNKNOWN_ATTRIBUTE = "E0250", "unknown attribute",
        "Attributes stand in brackets before functions, such as `[Differentiable]`, and before loops, such as `[Checkpoint(log)]`. There is none of this name.";
    ATTRIBUTE = "E0251", "attribute out of place, or with other arguments",
        "The attribute does not belong before this, or takes other arguments. The message says which.";
    DERIVED_FUNCTION = "E0252", "this function cannot be differentiated",
        "`fwd_diff` and `bwd_diff` take a function of the file, of an imported file or of the library. They do not take built-ins, shaders, and functions with closures. `fwd_diff` and `bwd_diff` nest up to six deep. Functions that hold them may go through each other further; but where loops or recursions make sweeps keep values, at most eight sweeps can go through each other: take some of the derivatives in forward mode there.";
    NO_DIFFERENTIAL = "E0253", "type without a differential",
        "Floats, vectors, colors and matrices can be differentiated, and structs and arrays that hold some of these. `int`, `bool`, strings, textures and closures cannot. A struct that chooses its differential takes a type of floats that is its own differential and has no defaults.";
    CUSTOM_SIGNATURE = "E0254", "custom derivative with another signature",
        "What stands for a derivative of a function must take and give what `fwd_diff` or `bwd_diff` of the function does. A primal substitute takes and gives what the function does. The hint shows the signature.";
    LOST_DERIVATIVE = "E0255", "derivative that gets lost",
        "A function that promises to be `[Differentiable]` keeps all derivatives, and so does what it calls. Here a value that carries one becomes a whole number, goes into a function of the host that has no derivative, says how blurred a look-up of a texture is, or is read from a member that has no part of the differential of its struct. Write `no_diff` before the value, or before the member, where that is meant.";
    COMPARISON_CHAIN = "E0260", "comparisons in a chain",
        "`a < b < c` compares the result of `a < b`, which is true or false, with `c`. Write `a < b && b < c`.";
    ARRAY_SIZE = "E0261", "impossible size of an array",
        "An array has at least one element and at most 1048576, all dimensions together. An element that is an array itself takes at most 16 KiB. An array with closures in it has at most 1024 closures and scalars.";
    FILE_VARIABLE = "E0262", "variable of the whole file",
        "At file level, only constants (`const`, with a value) and textures may be declared like this. Shaders run for many points at once, so no point could write a variable for another. To let the host set a value, make it a shader parameter.";
    BAD_DEFAULT = "E0263", "default that is not possible",
        "Only `in` parameters with values can have defaults. The default of an `out` parameter is the value that it starts with. In a function, all parameters behind one with a default need a default, too.";
    SHADER_PARAMETER = "E0264", "parameter that a shader cannot have",
        "A shader exchanges scalars, vectors, textures and closures with its host. Its parameters are `in` or `out`.";
    INDEX_RANGE = "E0265", "index outside",
        "A constant index must lie inside the array or vector: from 0 to one less than its length. The runtime clamps an index that is computed while shading.";
    RETURN_VALUE = "E0266", "`return` that does not fit",
        "A function with a result returns a value at each `return`. A shader and a `void` function return nothing; the results of a shader are its `out` parameters.";
    CONSTANT_ASSIGNED = "E0267", "assignment to a constant",
        "Constants of the file, `const` variables and `const` parameters keep their value.";
    COMPONENT_TWICE = "E0268", "component assigned twice",
        "A swizzle on the left of `=` may name each component once: `v.xy = …`, not `v.xx = …`.";
    LIST_WITHOUT_TYPE = "E0269", "list without a type",
        "`{…}` gives its parts to something of a known type: a declared variable, a parameter's default, the right side of `=`. Elsewhere, write a constructor such as `float3(…)`.";
    MISPLACED_METADATA = "E0270", "metadata out of place",
        "Metadata, `<<< name = value >>>`, tell a user interface about a shader or a parameter. They stand behind the name of a shader or function, behind its parameters, or behind one parameter. Struct members, globals, constants and variables cannot have metadata.";
    NOISE_KIND = "E0271", "kind of noise that does not exist",
        "The first argument of `noise` and `pnoise` may be the kind of noise in quotes, as in Open Shading Language: `perlin`, `uperlin`, `cell`, `hash`, `simplex`, `usimplex` or `gabor`. For `pnoise`, all of them but `hash` have a form that repeats. The compiler must know the kind. There are no named options: call the function of that noise instead, such as `gabor(p, direction, bandwidth)`.";
    UNKNOWN_CASE = "E0272", "name that a function of the library does not know",
        "The function chooses by a string, such as the name of a metal, and knows only the names that the hint lists. A string that only the host knows may have any value; the function's description says what it does with unknown names.";
    BUFFER_USE = "E0280", "buffer used in a way that is not possible",
        "The points of a kernel run in any order and at the same time. So each of them reads elements of `in` buffers, writes its own element of an `out` or `inout` buffer, and adds to elements of `add` buffers. Nothing that a launch writes does the same launch read.";
    CONFORMANCE = "E0281", "type does not conform to an interface",
        "A struct or an extension that names an interface must give what the interface asks for: methods with the same types of parameters and results, and a `typealias` for each associated type. The message lists what is missing, with its signature. A method of the interface with a body need not be given. Only built-in numbers and vectors conform to `IArithmetic` and `IFloat`.";
    INTERFACE_AS_TYPE = "E0282", "interface used as a type of values",
        "An interface says what types can do, and is no type of values itself. Write a generic function, `float total<T : IShape>(T shape)`: each call says which type it is.";
    GENERIC_ARGUMENTS = "E0283", "list that is none of a generic struct",
        "A generic struct takes a type or a number for each of its parameters, between `<` and `>`. Each type must conform to the interfaces that the parameter names. Without the list, a constructor takes what the types of its values tell.";
    CLOSURE_METHODS = "E0284", "struct that cannot be a closure",
        "The methods of a closure run when light is asked for, and not with the shader. They see the members of the struct and their own arguments, and nothing else: no globals, no textures, and nobody reads what they print. Let the shader compute such values, and hand them over as arguments of `make_closure`. The members are numbers, bools, strings, vectors, matrices, closures, and structs of them, and no arrays.";
    NO_SHADER = "E0301", "no shader to run",
        "The file declares no shader of that name, or it declares several and you did not choose one.";
    CLOSURE_FLATTEN = "E0302", "the compiler cannot know the lobes of this closure",
        "The compiler makes a fixed table of a shader's lobes. So it must be able to count the iterations of a loop that makes closures, and a function that touches closures cannot call itself.";
    TOO_MANY_LOBES = "E0303", "too many lobes",
        "A shader may have at most 64 lobes in all its outputs. If you can, mix parameters instead of closures.";
    TOO_LARGE = "E0304", "too large",
        "The shader's arrays would need more memory than a running shader has (4 MiB on its deepest call chain, where recursion counts as 256 calls), or its calls nest too deeply. Use smaller arrays or fewer levels. Or something would take too long to compile: a shader of millions of instructions, a struct or function with thousands of members or parameters, or thousands of functions of one name. The page on the language lists all limits.";
    UNBOUNDED_ORDER = "E0305", "derivative of unbounded order",
        "A loop or recursion differentiates its own derivative, so the order of the derivative grows with every iteration. The compiler can differentiate at most six times, one inside the other.";
    RECURSIVE_SHADER = "E0306", "a shader calls itself",
        "The compiler inlines a shader that is called into its caller, so a shader cannot call itself, not even by way of others. Move the recursive part into a function.";
    GRADIENT = "E0307", "gradient that the shader does not have",
        "A host can ask for the gradient of a shader's outputs, and of the lobes of its closures, with respect to its parameters, globals and textures. Each name must be one that the shader has, and must hold floats.";
    UNUSED_VARIABLE = "W0401", "unused variable",
        "The variable is never read. Remove it; if it must stay, give it a name that starts with `_`.";
    UNUSED_RESULT = "W0402", "the value is not used",
        "The statement computes a value and discards it.";
    UNUSED_PARAMETER = "W0403", "unused parameter",
        "The function never reads the parameter. Remove it; if callers need it, give it a name that starts with `_`. Parameters of shaders are their interface and may stay unused.";
    UNUSED_FUNCTION = "W0404", "unused function",
        "No function or shader of the file calls this function. Files without a shader are libraries, so the compiler does not warn about them. A name that starts with `_` silences this.";
    UNUSED_CONSTANT = "W0405", "unused constant",
        "Nothing in the file reads this constant. Files without a shader are libraries, so the compiler does not warn about them. A name that starts with `_` silences this.";
    UNUSED_TEXTURE = "W0406", "unused texture slot",
        "Nothing in the file samples the texture, yet a host may bind an image to it. A name that starts with `_` silences this.";
    UNUSED_IMPORT = "W0407", "unused import",
        "The file uses nothing from the imported file, nor from files that that one imports without a name. Remove the line. The compiler does not warn about files without a shader, which pass on what they import, nor about imports that bring a `globals` block.";
    SHADOWED = "W0408", "name hidden by another",
        "A variable or parameter has the name of another variable that is visible around it, or of a constant or texture of the file. From here on the other one cannot be reached. Rename one of them.";
    READ_BEFORE_WRITTEN = "W0409", "read before it was given a value",
        "Variables start at zero, so the result is defined, but you probably forgot a value. If you mean zero, write it: `float sum = 0.0;`. The check follows each branch, and assumes that loops run at least once.";
    OUT_NOT_WRITTEN = "W0410", "`out` parameter not written",
        "The function can end without giving the `out` parameter a value, which is then zero. If you mean zero, write it.";
    UNREACHABLE = "W0411", "unreachable code",
        "Control never gets here: the statements before always return, break, continue or loop without end.";
    FLOAT_EQUALITY = "W0412", "floats compared for equality",
        "Float arithmetic rounds, so two results that should be equal rarely are. Compare the difference: `abs(a - b) < 1e-6`. Some comparisons are exact and not reported: with a whole number such as `0.0`, with a result of floor, ceil, round, trunc, sign or step, or of a value with itself (false only for NaN).";
    LOSSY_LITERAL = "W0413", "literal that loses its value",
        "The target cannot hold the number: a float that is too small becomes 0, and an integer above 16777216 is rounded when it becomes a float.";
    CONSTANT_CONDITION = "W0414", "condition that never changes",
        "The condition is a literal or compares something with itself, so the shader always takes the same branch. The compiler does not warn about `while (true)`, `for (;;)` and constants of the file that serve as switches.";
    SELF_ASSIGNMENT = "W0415", "assignment to itself",
        "The statement assigns to a variable the value that it already has. Probably one of the names should be another.";
    EMPTY_BODY = "W0416", "empty statement as body",
        "The `;` behind `if (…)`, `for (…)` or `while (…)` is the whole body, and what follows runs in any case. Remove it, or write `{}` if nothing should happen.";
    ASSIGNED_CONDITION = "W0417", "assignment as condition",
        "`=` assigns, and `==` compares. If you mean an assignment, put it into parentheses of its own: `if ((a = b))`.";
    ENDLESS_LOOP = "W0418", "loop without end",
        "Nothing in the loop changes its condition, and neither `break` nor `return` leaves it. So it runs until the shader's allowance is used up, and the point becomes black.";
    DIVISION_BY_ZERO = "W0419", "division by zero",
        "The divisor is the constant zero. An integer division then gives 0; a float division gives an infinity or NaN, which becomes a black sample.";
    INTEGER_DIVISION = "W0420", "integer division where a float is wanted",
        "Both sides of `/` are integers, so the fraction is cut off before the result becomes a float: `1 / 2` is 0. Write `1.0 / 2.0`. If you mean to cut off the fraction, write `float(a / b)`.";
    SAME_OPERANDS = "W0421", "both sides are the same",
        "The operator has the same variable on both sides, so the result is always the same. Probably one of the names should be another.";
    XOR_AS_POWER = "W0422", "`^` is no power",
        "`^` is the bitwise exclusive or: `2 ^ 3` is 1. A power is `pow(a, b)`, and a power of two is `1 << n`. If a side is hexadecimal, as in `0x2 ^ n`, the compiler takes it that you mean the operator.";
    COMMA_VALUE = "W0424", "value before a comma is not used",
        "`a, b` computes both and gives `b`. In a `return` or an initialiser, the name of a constructor is usually missing: `float3(a, b, c)`.";
    MISLEADING_INDENTATION = "W0423", "indented as if it belonged to the statement before",
        "Only one statement belongs to an `if` or loop without braces. The next one has the same indentation but runs in any case. Add braces, or correct the indentation.";
    NOTHING_EXPECTED = "W0425", "test that expects nothing",
        "The test passes whatever the shader does. State what you expect: `expect(output, value, tolerance);`.";
    NOTHING_DECLARED = "W0426", "file that declares nothing",
        "The file is empty, or contains only comments. It may be the wrong file, or one that was not saved.";
    EMPTY_CLOSURE = "W0427", "closure output that stays empty",
        "Closures decide what a surface looks like. All that the shader assigns to this output is the empty closure, `0`, so a surface with it is black. Assign a closure, `make_closure<Name>(…)`. If black is meant, `make_closure<Lambert>(color(0.0))` says so.";
    FLAT_LOOK_UP = "W0450", "texture read at one place",
        "The coordinates of this look-up are the same at every point. They depend only on constants, parameters with defaults and globals that do not vary over a surface. So the shader reads one texel everywhere, and the texture is only a color. Use coordinates that vary, such as `global_value<uvw>`, or take a color parameter instead of the texture.";
    DERIVATIVE_LOST = "W0453", "derivative that gets lost",
        "A function is differentiated, and a derivative that passes through it gets lost here: a value that carries one becomes a whole number and then a float again, goes into a function of the host that has no derivative, or says how blurred a look-up of a texture is. Write `no_diff` before the value where that is meant.";
    PARAMETER_RANGE = "W0451", "value that a parameter's metadata do not allow",
        "The parameter's metadata have a `min` or `max`, and the value is outside, or they have `options`, and the value is none of them. The compiler uses the value as it is, but the author of the shader did not mean it to be possible. Give another value, or correct the metadata. The compiler checks defaults, constants in calls of shaders and in graphs, values in scenes, and `--param`.";
    CLOSURE_VALUE = "W0452", "value outside the range of a closure's parameter",
        "The parameters of closures have ranges: a share of light goes from 0 to 1, and so does a roughness. The host clamps a value outside, or the surface gives off more light than it gets, so a constant outside is a mistake. A normal of length zero has no direction, and the host takes another one. The compiler checks only constants; a value computed for each point may leave the range.";
    TEST_SETUP = "E0501", "test that cannot run",
        "The statements of a test have an order: it sets globals, runs a shader, and then looks at its outputs.";
    TEST_NAME = "E0502", "unknown name in a test",
        "The test names a global, shader, parameter, output or expectation that does not exist. The hint lists those that do.";
    TEST_VALUE = "E0503", "value that a test cannot use",
        "The values of a test are numbers, vectors and arithmetic. A value must have as many components as what it is assigned to or compared with. `expect_gradient` and `expect_integral_gradient` take a function with a derivative, `expect_inverse` one with `[Inverse(g)]`, and `expect_undo` one with `[Undo(g)]`.";
    TEST_ARGUMENTS = "E0504", "wrong arguments in a test",
        "`dual` takes a value and its two partials. `uniform` takes the lowest and the highest value. `expect` takes an output, its value, and optionally an absolute and a relative tolerance. `expect_lobe` takes a closure output, a type of closure, and by name what you expect of it. `expect_lobes` takes a closure output and a number, and optionally a type. `expect_numeric_derivatives` takes a tolerance, and `expect_zero_cost` nothing. `expect_gradient`, `expect_integral_gradient`, `expect_inverse` and `expect_undo` take a call of a function; parameters that the call leaves out are drawn.";
    TEST_CASES = "E0510", "table of cases that cannot be used",
        "`cases(x, y) { \"first\": 1.0, 2.0; }` stands first in its test, once. Columns and cases have unique names. Each case gives every column a value. Each column is a global, or a statement below uses it.";
    BACKEND = "E0602", "native code could not be made",
        "The code generator refused the program. This is a fault of the compiler, not of the shader. Please report it with the shader.";
    FORMATTER = "E0603", "file that could not be formatted",
        "The formatter found that its own result would differ in more than blanks and line breaks, and did not touch the file. This is a fault of the formatter, not of the file. Please report it with the file.";
    IMPORT_NOT_FOUND = "E0701", "imported file not found",
        "The compiler looks for an imported file beside the file that imports it, then in the folders given by `--include`, then in those of the environment variable SSL_PATH, then in the standard library. The hint lists the places that it searched.";
    IMPORT_UNREADABLE = "E0702", "imported file cannot be read",
        "The name of an imported file ends in `.ssl`; no other files are read, because messages show lines of a file. The imported path exists, but no shader file can be read there. It may be a folder, lack permission, or not be UTF-8 text.";
    IMPORT_CYCLE = "E0703", "files import each other in a cycle",
        "A file imports itself, directly or through others. Move what both sides need into a file of its own that both import.";
    IMPORT_CLASH = "E0704", "two files declare the same name",
        "An import brings a struct, constant, texture, or a function with the same parameters under a name that already exists. Import one of the files under a name, `import \"file.ssl\" as name;`, and write `name::thing`.";
    INTEGRAL = "E0290", "integral that cannot be",
        "`integral(x in [a, b], y in [c, d]; samples = 64) { … return e; }` takes one to four variables, each with two bounds. Its options are `samples` (an int), `seed` (an int), `sequence` (`\"sobol\"`, `\"stratified\"` or `\"random\"`), `smoothing` (a positive float) and `boundaries` (`true` or `false`). The integrand returns a float, a vector, a color, or a struct of these. It reads the variables of the function around it and cannot change them. Closures, buffers and what a kernel writes cannot be seen inside; read what is needed of them into a variable before the integral.";
    EXTERNAL_MISMATCH = "E0801", "the host's function is different",
        "A prototype without a body stands for a function that the host has registered under this name. Its parameters and result must have the types of the host's function: scalars, vectors and matrices, without `out`. Vector types of one length count as the same.";
    NO_DERIVATIVE = "E0802", "derivative that the host does not give",
        "The shader asks by `ddx`, `ddy` or a texture's footprint for a derivative of something that a function of the host computes, but the host has registered no rule for this argument. Components are counted through all arguments, from 0.";
    THROUGH_SCREEN = "E0803", "gradient through a derivative along the screen",
        "`bwd_diff` is asked for the gradient by a value whose `ddx`, `ddy` or texture footprint the function looks at. That derivative depends on the neighbouring points, too, so its gradient is not a matter of one point, and the compiler refuses to leave it out. Take the derivative outside and pass it as a parameter, which gets a gradient of its own, or `detach` what is derived. `fwd_diff` has no such limit.";
    NO_UNDO = "E0805", "loop that cannot be taken back",
        "A loop marked `[Undo]` is swept back by taking its updates back, so the variables that the gradient reads must change by sums, differences, products or quotients with amounts that are known without them: computed from loop counters, from what does not change in the loop, or from other variables that can be restored first. It must be possible to tell afterwards which way each branch went. A function that changes variables needs an inverse by hand, `[Undo(g)]`. The message says what stands in the way.";
    JUMPS = "E0806", "derivative of an integral whose jumps cannot be followed",
        "The integrand jumps where a condition changes, and the place of the jump depends on a parameter. The derivative of the integral has a term for each such jump, so the compiler must know where the jump is. It knows the place of a polynomial of at most the second degree in the variables of integration, the difference of the compared values. Functions such as `exp`, `sqrt`, `abs` and `sin` around that polynomial are inverted, if the other value has no such variables. It also knows the place for functions with `[Inverse(g)]`, and for `floor`, `mod`, conversions to `int` and the like of affine values. It does not know other curves, nor conditions inside loops that are not unrolled or behind texture look-ups. A method that is linked to an integrand may jump only where its arguments are affine in the variables of integration. Second derivatives are known of integrals over one variable. Over more variables they are known unless the second derivative moves a curved boundary, or the place where two boundaries cut each other. Of such cuts, the place where two lines meet over two variables is known. Third derivatives that move a boundary are not known. The compiler refuses the derivative instead of leaving the term out. Write the condition in another way, declare an inverse, or unroll the loop with `[ForceUnroll]`. `smoothing = 0.01` softens such conditions, and `boundaries = false` leaves all these terms out.";
    FORMAT = "E0811", "format that does not fit",
        "`printf` takes a constant format and one value for each of its conversions: `%d %i %u %x %X %o %c` print an int or bool, `%f %F %e %E %g %G` a float, an int, or every component of a vector, `%s` a string, and `%%` is a percent sign. Flags, width and precision are as in C. Sizes such as `%ld` and widths from an argument (`%*d`) do not exist.";
    GRAPH_SYNTAX = "E0901", "graph file that cannot be understood",
        "The file is not well-formed TOML, has an unknown key, or has a value of the wrong type. The message says which.";
    UNIT_SOURCE = "E0902", "unit that is no shader, or several",
        "A unit is one of three things: a shader of a `file`, a shader whose text stands under `source`, or another `graph`. Give exactly one of them.";
    UNIT_FILE = "E0903", "file of a unit cannot be read",
        "The shader file or graph that a unit names does not exist, is not readable, or is not UTF-8 text. The name of a shader file ends in `.ssl`, and the name of a graph in `.toml`. Paths start at the folder of the graph file.";
    UNIT_SHADER = "E0904", "no such shader in the unit's file",
        "The unit's file or text declares no shader of that name, or it declares several and `shader` does not choose one.";
    UNKNOWN_UNIT = "E0905", "unknown unit",
        "A connection, argument or output names a unit that the graph does not have. Names are case-sensitive.";
    UNKNOWN_PORT = "E0906", "unit has no such input or output",
        "Connections go from outputs to inputs. An input is a parameter of the unit's shader, and an output is one of its `out` parameters. The hint lists those that exist.";
    INPUT_TWICE = "E0907", "input given twice",
        "The graph gives an input more than once: it sets it and connects it, or connects it twice, or makes it an argument twice. Each input takes one value.";
    UNCONNECTED = "E0908", "input without a value",
        "The shader declares this parameter without a default, so the unit must get a value for it: set it, connect it, or make it an argument of the graph. Textures and closures have no defaults.";
    GRAPH_CYCLE = "E0909", "units in a cycle",
        "Each of these units needs a result of the one before it, and the first one a result of the last. The connections of a graph must not form a cycle.";
    GRAPH_NESTING = "E0910", "graph that contains itself",
        "A graph file is a unit of itself, directly or through other graphs.";
    NO_OUTPUTS = "E0911", "graph without outputs",
        "The outputs of a graph stand under `[outputs]`. Without any there is nothing to compute.";
    GRAPH_NAME = "E0912", "name that cannot be used",
        "Names consist of letters, digits and `_`, and do not begin with a digit. The names of the graph, its arguments and its outputs become names in a shader, so they are no keywords. A unit may have any name but `global`. Each name may occur only once.";
    BAD_CONNECTION = "E0913", "connection that leads nowhere",
        "A connection is written `unit.output`. Components may follow: `noise.result.x`. `global.NAME` reads a global of the host.";
    GRAPH_VALUE = "E0914", "value that does not fit its input",
        "The value under `set` or `default` does not fit the parameter: it is a text for a number, a number that is not finite, or a value for a texture or closure.";
    UNUSED_UNIT = "W0901", "unit that no output needs",
        "No output of the graph needs this unit, so it has no effect. Connect it, or remove it.";
}

/// The code that an id such as `E0201` names.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|c| c.id.eq_ignore_ascii_case(id))
}
