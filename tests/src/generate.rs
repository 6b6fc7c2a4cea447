//! Random well-typed programs of the language, made from a seed.
//!
//! Programs end (loops are counted, recursion counts down), but may run out of a small allowance of
//! fuel; indices may lie outside, divisors may be zero. Every variable is declared before its use.

use std::fmt::Write;

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `n` − 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ty {
    Bool,
    Int,
    Float,
    Vector,
    Floats,
    Ints,
    Grid,
    Record,
}

impl Ty {
    const ALL: [Ty; 8] = [Ty::Bool, Ty::Int, Ty::Float, Ty::Vector, Ty::Floats, Ty::Ints, Ty::Grid, Ty::Record];

    /// What stands before and behind the declared name.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Ty::Bool => ("bool", ""),
            Ty::Int => ("int", ""),
            Ty::Float => ("float", ""),
            Ty::Vector => ("float3", ""),
            Ty::Floats => ("float", "[4]"),
            Ty::Ints => ("int", "[3]"),
            Ty::Grid => ("float", "[2][3]"),
            Ty::Record => ("Record", ""),
        }
    }

    fn declare(self, name: &str) -> String {
        let (before, behind) = self.around();
        format!("{before} {name}{behind}")
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone)]
struct Head {
    name: String,
    result: Ty,
    parameters: Vec<(Ty, Direction)>,
    /// Its first parameter counts down.
    recursive: bool,
}

/// What programs may contain.
#[derive(Clone, Copy)]
pub struct Flavour {
    /// Only operations that are smooth almost everywhere and stay of moderate size.
    pub smooth: bool,
    /// `ddx` and `ddy` anywhere, not only around the results.
    pub nested_derivatives: bool,
}

struct Generator {
    random: Random,
    flavour: Flavour,
    out: String,
    depth: usize,
    /// Visible variables: name, type, whether it may be assigned.
    variables: Vec<(String, Ty, bool)>,
    functions: Vec<Head>,
    names: usize,
    /// Statements that may still be written.
    budget: usize,
    in_loop: bool,
    result: Option<Ty>,
}

/// The globals of every generated program, in the order of their rows.
pub const GLOBALS: &str = "globals { float ga; float gb; float gc; int gi; }\n";
/// Rows of [`GLOBALS`].
pub const ROWS: usize = 10;

/// Arrays that stand for literals.
const CONSTANTS: &str = "const float A[4] = {1.0, -2.0, 0.5};\nconst int B[3] = {3, 1, 2};\n\
    const float C[2][3] = {{1.0, 2.0, 3.0}, {4.0}};\nconst float H[2] = {1.0, 2.0};\n";

/// A program whose shader is called `main`; `size` bounds its statements.
pub fn program(seed: u64, size: usize, flavour: Flavour) -> String {
    let mut g = Generator {
        random: Random(seed),
        flavour,
        out: format!(
            "{GLOBALS}struct Record {{ float f; float3 v; int k; float h[2]; }};\ntexture2d tex;\n{CONSTANTS}"
        ),
        depth: 0,
        variables: Vec::new(),
        functions: Vec::new(),
        names: 0,
        budget: 0,
        in_loop: false,
        result: None,
    };
    let functions = g.random.below(4);
    for _ in 0..functions {
        g.budget = 2 + size / 3;
        g.function();
    }
    g.budget = 3 + size;
    g.shader();
    g.out
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 4);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn any_type(&mut self) -> Ty {
        if self.random.chance(40) { Ty::Float } else { Ty::ALL[self.random.below(Ty::ALL.len())] }
    }

    fn function(&mut self) {
        let (name, result, recursive) = (self.name("f"), self.any_scalar(), self.random.chance(30));
        let mut parameters: Vec<(Ty, Direction)> = (0..1 + self.random.below(3))
            .map(|_| {
                let direction = match self.random.below(5) {
                    0 => Direction::Out,
                    1 => Direction::InOut,
                    _ => Direction::In,
                };
                (self.any_type(), direction)
            })
            .collect();
        if recursive {
            parameters.insert(0, (Ty::Int, Direction::In));
        }
        let head = Head { name: name.clone(), result, parameters, recursive };
        self.variables.clear();
        let mut list = Vec::new();
        for (i, &(ty, direction)) in head.parameters.iter().enumerate() {
            let parameter = if recursive && i == 0 { "level".to_owned() } else { self.name("p") };
            let word = match direction {
                Direction::In => "",
                Direction::Out => "out ",
                Direction::InOut => "inout ",
            };
            list.push(format!("{word}{}", ty.declare(&parameter)));
            self.variables.push((parameter, ty, !(recursive && i == 0)));
        }
        let (before, _) = result.around();
        self.line(&format!("{before} {name}({})", list.join(", ")));
        self.line("{");
        self.depth += 1;
        self.result = Some(result);
        if recursive {
            let base = self.expr(result, 1);
            self.line(&format!("if (level <= 0) return {base};"));
            // Visible to its own body only from here on, so every call counts down.
            self.functions.push(head.clone());
        }
        self.statements();
        let value = self.expr(result, 3);
        self.line(&format!("return {value};"));
        self.depth -= 1;
        self.line("}");
        if !recursive {
            self.functions.push(head);
        }
    }

    fn any_scalar(&mut self) -> Ty {
        [Ty::Float, Ty::Float, Ty::Float, Ty::Int, Ty::Bool, Ty::Vector][self.random.below(6)]
    }

    fn shader(&mut self) {
        self.variables.clear();
        self.result = None;
        self.line("shader main(out float r0, out float3 r1, out int r2, out bool r3, out float d0, out float d1)");
        self.line("{");
        self.depth += 1;
        for (name, ty) in [("r0", Ty::Float), ("r1", Ty::Vector), ("r2", Ty::Int), ("r3", Ty::Bool)] {
            self.variables.push((name.to_owned(), ty, true));
        }
        self.line("float x = global_value<ga>;");
        self.line("float y = global_value<gb>;");
        self.variables.push(("x".to_owned(), Ty::Float, true));
        self.variables.push(("y".to_owned(), Ty::Float, true));
        self.statements();
        let (a, b) = (self.expr(Ty::Float, 3), self.expr(Ty::Float, 3));
        self.line(&format!("d0 = ddx({a});"));
        self.line(&format!("d1 = ddy({b});"));
        self.depth -= 1;
        self.line("}");
    }

    /// Statements of a block, in a scope of its own.
    fn statements(&mut self) {
        let visible = self.variables.len();
        for _ in 0..1 + self.random.below(6) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement();
        }
        self.variables.truncate(visible);
    }

    fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.statements();
        self.depth -= 1;
        self.line("}");
    }

    fn statement(&mut self) {
        match self.random.below(20) {
            0..=4 => self.declaration(),
            5..=11 => self.assignment(),
            12 | 13 if self.depth < 5 => {
                let condition = self.expr(Ty::Bool, 2);
                self.block(&format!("if ({condition})"));
                if self.random.chance(50) {
                    self.block("else");
                }
            }
            14 | 15 if self.depth < 4 => self.for_loop(),
            16 if self.depth < 4 => self.while_loop(),
            17 if self.in_loop => {
                let condition = self.expr(Ty::Bool, 2);
                let word = if self.random.chance(50) { "break" } else { "continue" };
                self.line(&format!("if ({condition}) {word};"));
            }
            18 if self.random.chance(40) => {
                let condition = self.expr(Ty::Bool, 2);
                let value = self.result.map_or(String::new(), |ty| format!(" {}", self.expr(ty, 2)));
                self.line(&format!("if ({condition}) return{value};"));
            }
            _ => self.assignment(),
        }
    }

    fn declaration(&mut self) {
        let (ty, name) = (self.any_type(), self.name("v"));
        let value = if self.random.chance(85) { format!(" = {}", self.initial(ty)) } else { String::new() };
        self.line(&format!("{}{value};", ty.declare(&name)));
        self.variables.push((name, ty, true));
    }

    fn initial(&mut self, ty: Ty) -> String {
        let list = |g: &mut Self, ty: Ty, n: usize| {
            let parts: Vec<String> = (0..n).map(|_| g.expr(ty, 1)).collect();
            format!("{{{}}}", parts.join(", "))
        };
        match ty {
            _ if self.random.chance(40) => self.expr(ty, 2),
            Ty::Floats => list(self, Ty::Float, 4),
            Ty::Ints => list(self, Ty::Int, 2),
            Ty::Grid => {
                let (a, b) = (list(self, Ty::Float, 3), list(self, Ty::Float, 2));
                format!("{{{a}, {b}}}")
            }
            Ty::Record => {
                let (f, v, k) = (self.expr(Ty::Float, 1), self.expr(Ty::Vector, 1), self.expr(Ty::Int, 1));
                let h = list(self, Ty::Float, 2);
                format!("{{{f}, {v}, {k}, {h}}}")
            }
            _ => self.expr(ty, 3),
        }
    }

    fn for_loop(&mut self) {
        let (name, rounds) = (self.name("i"), 1 + self.random.below(5));
        self.variables.push((name.clone(), Ty::Int, false));
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.block(&format!("for (int {name} = 0; {name} < {rounds}; ++{name})"));
        self.in_loop = outer;
        self.variables.pop();
    }

    fn while_loop(&mut self) {
        let (name, rounds) = (self.name("n"), self.random.below(5));
        self.line(&format!("int {name} = {rounds};"));
        let outer = std::mem::replace(&mut self.in_loop, true);
        let condition = self.expr(Ty::Bool, 1);
        if self.random.chance(50) {
            self.block(&format!("while ({name}-- > 0 && {condition})"));
        } else {
            self.block("do");
            self.line(&format!("while (--{name} > 0);"));
        }
        self.in_loop = outer;
    }

    fn assignment(&mut self) {
        let ty = self.any_type();
        let Some(place) = self.place(ty) else { return self.declaration() };
        let operator = match ty {
            Ty::Float | Ty::Vector => self.random.pick(&["=", "=", "+=", "-=", "*="]),
            Ty::Int => self.random.pick(&["=", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]),
            _ => "=",
        };
        if ty == Ty::Int && self.random.chance(10) {
            return self.line(&format!("{place}++;"));
        }
        let value = self.expr(ty, 3);
        self.line(&format!("{place} {operator} {value};"));
    }

    fn variable(&mut self, ty: Ty, assignable: bool) -> Option<String> {
        let list: Vec<&String> =
            self.variables.iter().filter(|(_, t, a)| *t == ty && (*a || !assignable)).map(|(n, ..)| n).collect();
        if list.is_empty() { None } else { Some(list[self.random.below(list.len())].clone()) }
    }

    /// Something of a type that is stored, or a part of it.
    fn place(&mut self, ty: Ty) -> Option<String> {
        self.stored(ty, true)
    }

    fn index(&mut self, length: usize) -> String {
        if self.random.chance(50) {
            return self.random.below(length).to_string();
        }
        // Plain constants outside are refused; the checker does not look through calls.
        format!("min({}, 9)", self.expr(Ty::Int, 1))
    }

    fn stored(&mut self, ty: Ty, assignable: bool) -> Option<String> {
        let way = self.random.below(6);
        let part = match (ty, way) {
            (Ty::Float, 0) => self.variable(Ty::Vector, assignable).map(|v| {
                let component = self.random.pick(&["x", "y", "z"]);
                if self.random.chance(70) { format!("{v}.{component}") } else { format!("{v}[{}]", self.index(3)) }
            }),
            (Ty::Float, 1) => self.variable(Ty::Floats, assignable).map(|v| format!("{v}[{}]", self.index(4))),
            (Ty::Float, 2) => {
                self.variable(Ty::Grid, assignable).map(|v| format!("{v}[{}][{}]", self.index(2), self.index(3)))
            }
            (Ty::Float, 3) => self
                .variable(Ty::Record, assignable)
                .map(|v| if self.random.chance(50) { format!("{v}.f") } else { format!("{v}.h[{}]", self.index(2)) }),
            (Ty::Int, 0 | 1) => self.variable(Ty::Ints, assignable).map(|v| format!("{v}[{}]", self.index(3))),
            (Ty::Int, 2) => self.variable(Ty::Record, assignable).map(|v| format!("{v}.k")),
            (Ty::Vector, 0 | 1) => self.variable(Ty::Record, assignable).map(|v| format!("{v}.v")),
            (Ty::Vector, 2) => self.variable(Ty::Vector, assignable).map(|v| format!("{v}.zxy")),
            _ => None,
        };
        part.or_else(|| self.variable(ty, assignable))
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            return self.stored(ty, false).unwrap_or_else(|| self.literal(ty));
        }
        if self.random.chance(12)
            && let Some(call) = self.call(ty)
        {
            return call;
        }
        let d = depth - 1;
        if self.random.chance(8) {
            let (c, a, b) = (self.expr(Ty::Bool, d), self.expr(ty, d), self.expr(ty, d));
            return format!("({c} ? {a} : {b})");
        }
        match ty {
            Ty::Float => self.float(d),
            Ty::Int => self.int(d),
            Ty::Bool => self.bool(d),
            Ty::Vector => self.vector(d),
            _ => self.stored(ty, false).unwrap_or_else(|| self.literal(ty)),
        }
    }

    fn literal(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bool => self.random.pick(&["true", "false"]).to_owned(),
            Ty::Int => {
                self.random.pick(&["0", "1", "2", "3", "7", "-1", "31", "0x7fffffff", "global_value<gi>"]).to_owned()
            }
            Ty::Float if self.flavour.smooth => {
                self.random.pick(&["0.5", "1.0", "2.0", "-0.75", "global_value<ga>", "global_value<gb>"]).to_owned()
            }
            Ty::Float => self
                .random
                .pick(&[
                    "0.0",
                    "-0.0",
                    "1.0",
                    "0.5",
                    "-2.0",
                    "1e10",
                    "3e38",
                    "global_value<ga>",
                    "global_value<gb>",
                    "global_value<gc>",
                ])
                .to_owned(),
            Ty::Vector => {
                let (a, b) = (self.literal(Ty::Float), self.literal(Ty::Float));
                format!("float3({a}, {b}, 1.5)")
            }
            // Lists stand only behind a declared name, so arrays have constants of the file.
            Ty::Record => "Record(0.5, float3(1.0), 2, H)".to_owned(),
            Ty::Floats => "A".to_owned(),
            Ty::Ints => "B".to_owned(),
            Ty::Grid => "C".to_owned(),
        }
    }

    fn float(&mut self, d: usize) -> String {
        let smooth = self.flavour.smooth;
        match self.random.below(26) {
            0..=3 => format!("({} + {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            4 | 5 => format!("({} - {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            6..=8 => format!("({} * {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            9 if !smooth => format!("({} / {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            9 => format!("({} / (1.5 + sin({})))", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            10 => format!("-({})", self.expr(Ty::Float, d)),
            11..=13 => {
                let all: &[&str] = &[
                    "sin", "cos", "tanh", "atan", "abs", "saturate", "fract", "floor", "sqrt", "exp", "log", "asin",
                    "acos", "tan", "sinh", "cosh", "round", "ceil", "trunc", "sign",
                ];
                let f = all[self.random.below(if smooth { 8 } else { all.len() })];
                format!("{f}({})", self.expr(Ty::Float, d))
            }
            14 | 15 => {
                let all: &[&str] = &["min", "max", "atan2", "pow", "fmod", "step"];
                let f = all[self.random.below(if smooth { 2 } else { all.len() })];
                format!("{f}({}, {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d))
            }
            16 => {
                let f = self.random.pick(&["mix", "clamp", "smoothstep"]);
                let (a, b, c) = (self.expr(Ty::Float, d), self.expr(Ty::Float, d), self.expr(Ty::Float, d));
                if smooth { format!("mix({a}, {b}, {c})") } else { format!("{f}({a}, {b}, {c})") }
            }
            17 => format!("dot({}, {})", self.expr(Ty::Vector, d), self.expr(Ty::Vector, d)),
            18 => format!("length({})", self.expr(Ty::Vector, d)),
            19 => format!("float({})", self.expr(Ty::Int, d.min(1))),
            20 => format!("float({})", self.expr(Ty::Bool, d.min(1))),
            21 => format!("texture2d_sample<tex>({}, {}).g", self.coordinate(d), self.coordinate(d)),
            22 => format!("texture2d_sample_alpha<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
            23 if self.flavour.nested_derivatives => {
                format!("{}({})", self.random.pick(&["ddx", "ddy"]), self.expr(Ty::Float, d))
            }
            24 => format!("{}.y", self.vector(d)),
            _ => self.stored(Ty::Float, false).unwrap_or_else(|| self.literal(Ty::Float)),
        }
    }

    fn int(&mut self, d: usize) -> String {
        match self.random.below(9) {
            0..=3 => {
                let operator = self.random.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                format!("({} {operator} {})", self.expr(Ty::Int, d), self.expr(Ty::Int, d))
            }
            4 => format!("{}({})", self.random.pick(&["-", "~", "+"]), self.expr(Ty::Int, d)),
            5 => format!("int({})", self.expr(Ty::Float, d)),
            6 => format!("{}({}, {})", self.random.pick(&["min", "max"]), self.expr(Ty::Int, d), self.expr(Ty::Int, d)),
            7 => format!("int({})", self.expr(Ty::Bool, d)),
            _ => format!("abs({})", self.expr(Ty::Int, d)),
        }
    }

    fn bool(&mut self, d: usize) -> String {
        match self.random.below(8) {
            0..=2 => {
                let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {operator} {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d))
            }
            3 | 4 => {
                let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {operator} {})", self.expr(Ty::Int, d), self.expr(Ty::Int, d))
            }
            5 | 6 => {
                let operator = self.random.pick(&["&&", "||", "==", "!=", "^", "&", "|"]);
                format!("({} {operator} {})", self.expr(Ty::Bool, d), self.expr(Ty::Bool, d))
            }
            _ => format!("!({})", self.expr(Ty::Bool, d)),
        }
    }

    fn vector(&mut self, d: usize) -> String {
        match self.random.below(8) {
            0 | 1 => {
                let (a, b, c) = (self.expr(Ty::Float, d), self.expr(Ty::Float, d), self.expr(Ty::Float, d));
                format!("float3({a}, {b}, {c})")
            }
            2 | 3 => {
                let operator = self.random.pick(&["+", "-", "*"]);
                format!("({} {operator} {})", self.expr(Ty::Vector, d), self.expr(Ty::Vector, d))
            }
            4 => format!("({} * {})", self.expr(Ty::Vector, d), self.expr(Ty::Float, d)),
            5 => format!("cross({}, {})", self.expr(Ty::Vector, d), self.expr(Ty::Vector, d)),
            6 => format!("normalize({})", self.expr(Ty::Vector, d)),
            _ => format!("texture2d_sample<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
        }
    }

    /// Small where the program must be smooth: the host computes textures in single precision.
    fn coordinate(&mut self, d: usize) -> String {
        let e = self.expr(Ty::Float, d);
        if self.flavour.smooth { format!("(0.3 * sin({e}))") } else { e }
    }

    /// A call of a function that gives `ty`, with distinct variables where it hands out.
    fn call(&mut self, ty: Ty) -> Option<String> {
        let fitting: Vec<Head> = self.functions.iter().filter(|f| f.result == ty).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let head = fitting[self.random.below(fitting.len())].clone();
        let mut arguments = Vec::new();
        for (i, &(ty, direction)) in head.parameters.iter().enumerate() {
            arguments.push(match direction {
                _ if i == 0 && head.recursive => {
                    let inside = self.variables.iter().any(|(n, ..)| n == "level");
                    if inside { "level - 1".to_owned() } else { self.random.below(4).to_string() }
                }
                Direction::In => self.expr(ty, 1),
                _ => self.variable(ty, true)?,
            });
        }
        Some(format!("{}({})", head.name, arguments.join(", ")))
    }
}
