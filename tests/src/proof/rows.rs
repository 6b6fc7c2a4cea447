//! A program for every built-in, operator and function of the library, made from its signature: its value, all its
//! derivatives of first and second order, and the same of arguments that have no derivatives.

use ssl_compiler::builtins::expand::spline::Basis;
use ssl_compiler::builtins::library::LIBRARY;
use ssl_compiler::builtins::{Builtin, Expand, Gives, Param, TABLE};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::ast::{BinaryOp, Direction, FunctionDecl, Item, UnaryOp};
use ssl_compiler::syntax::parse;
use std::fmt::Write;

/// One thing that must be proved.
#[derive(Clone, Debug)]
pub struct Row {
    /// As the reference writes it.
    pub name: String,
    /// Statements before the calls.
    before: String,
    /// What is called, as expressions of one type each.
    results: Vec<(String, &'static str)>,
}

/// The outputs of a row's program that are derivatives.
pub const DERIVATIVES: [(&str, &str); 5] =
    [("dx", "ddx(#)"), ("dy", "ddy(#)"), ("dxx", "ddx(ddx(#))"), ("dxy", "ddx(ddy(#))"), ("dyy", "ddy(ddy(#))")];

impl Row {
    /// Whether it gives something that can have derivatives.
    pub fn computes_floats(&self) -> bool {
        self.results.iter().any(|(_, ty)| !matches!(*ty, "int" | "bool"))
    }

    /// The shader `main` that gives everything that is to be proved.
    pub fn program(&self) -> String {
        let (mut head, mut body) = (Vec::new(), self.before.clone());
        for (i, (expression, ty)) in self.results.iter().enumerate() {
            head.push(format!("out {ty} v{i}"));
            let _ = writeln!(body, "    const {ty} r{i} = {expression};\n    v{i} = r{i};");
            if matches!(*ty, "int" | "bool") {
                continue;
            }
            for (name, derivative) in DERIVATIVES {
                head.push(format!("out {ty} {name}{i}"));
                let _ = writeln!(body, "    {name}{i} = {};", derivative.replace('#', &format!("r{i}")));
            }
        }
        format!("shader main({})\n{{\n{body}}}\n", head.join(", "))
    }
}

/// Makes arguments that all depend on `ga`, `gb` and `gc`, each in its own way.
struct Arguments {
    count: usize,
    range: (f64, f64),
}

impl Arguments {
    fn new(range: (f64, f64)) -> Arguments {
        Arguments { count: 0, range }
    }

    fn float(&mut self) -> String {
        const WEIGHTS: [[f64; 3]; 5] = [
            [0.5, 0.25, 0.125],
            [-0.25, 0.5, 0.125],
            [0.125, -0.25, 0.5],
            [0.375, 0.125, -0.375],
            [-0.125, 0.375, 0.25],
        ];
        let [a, b, c] = WEIGHTS[self.count % WEIGHTS.len()];
        let shift = (self.count as f64 * 0.37).fract() - 0.5;
        self.count += 1;
        let (low, high) = self.range;
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        let (start, a, b, c) = (middle + shift * half * 0.2, a * half, b * half, c * half);
        format!("({start} + {a} * global_value<ga> + {b} * global_value<gb> + {c} * global_value<gc>)")
    }

    fn floats(&mut self, n: usize) -> String {
        (0..n).map(|_| self.float()).collect::<Vec<String>>().join(", ")
    }

    fn of(&mut self, ty: &str) -> String {
        match ty {
            "float" => self.float(),
            "int" => "(global_value<gi> * 5 + 3)".to_owned(),
            "bool" => format!("({} < {})", self.float(), self.float()),
            "float2" => format!("float2({})", self.floats(2)),
            "float4" => format!("float4({})", self.floats(4)),
            "matrix" => self.matrix(),
            // Those of the library that take a name take a metal's.
            "string" => "\"gold\"".to_owned(),
            three => format!("{three}({})", self.floats(3)),
        }
    }

    /// One that has an inverse.
    fn matrix(&mut self) -> String {
        let rows: Vec<String> = (0..4)
            .map(|r| {
                let entries = (0..4).map(|c| if r == c { format!("(3.0 + {})", self.float()) } else { self.float() });
                entries.collect::<Vec<String>>().join(", ")
            })
            .collect();
        format!("matrix({})", rows.join(", "))
    }
}

/// Where a function is to be called: inside its domain.
fn range_of(name: &str, arity: usize) -> (f64, f64) {
    match name {
        "asin" | "acos" | "atanh" => (-0.9, 0.9),
        "acosh" => (1.1, 4.0),
        "log" if arity == 2 => (1.2, 4.0),
        "log" | "ln" | "log2" | "log10" | "sqrt" | "rsqrt" | "inversesqrt" | "pow" => (0.2, 3.0),
        "log1p" => (-0.8, 2.0),
        "refract" => (0.1, 0.9),
        _ => (-1.5, 1.5),
    }
}

const VECTORS: [&str; 4] = ["float", "float2", "float3", "float4"];

/// What a type gives in one piece or, a matrix, in rows.
fn results(call: &str, ty: &'static str) -> Vec<(String, &'static str)> {
    match ty {
        "matrix" => (0..4).map(|r| (format!("({call})[{r}]"), "float4")).collect(),
        ty => vec![(call.to_owned(), ty)],
    }
}

/// The rows of one built-in: one for each type that its `T` may be.
fn builtin(b: &Builtin) -> Vec<Row> {
    let generic = b.params.iter().any(|p| matches!(p, Param::Any | Param::Knots))
        && !matches!(b.expand, Expand::SplineInverse(_));
    let types: &[&'static str] = if generic { &VECTORS } else { &["float"] };
    types.iter().map(|ty| typed(b, ty)).collect()
}

fn typed(b: &Builtin, any: &'static str) -> Row {
    let mut made = Arguments::new(range_of(b.name, b.params.len()));
    let mut arguments = Vec::new();
    let mut types = Vec::new();
    for p in b.params {
        let ty = match p {
            Param::Bool => "bool",
            Param::Int => "int",
            Param::Float => "float",
            Param::Any | Param::Knots => any,
            Param::Three => "float3",
            Param::Point => "point",
            Param::Vector => "vector",
            Param::Normal => "normal",
            Param::Matrix => "matrix",
            Param::Basis => "string",
            // Filtered out.
            Param::Closure | Param::Color => "color",
        };
        types.push(ty);
        match (p, b.expand) {
            (Param::Basis, Expand::Spline(basis)) => arguments.push(format!("\"{}\"", basis.name())),
            (Param::Knots, Expand::Spline(basis)) => {
                let n = 4 + 2 * basis.step() as usize;
                arguments.extend((0..n).map(|_| made.of(ty)));
            }
            (Param::Basis, Expand::SplineInverse(basis)) => arguments.push(format!("\"{}\"", basis.name())),
            (Param::Knots, Expand::SplineInverse(basis)) => {
                let n = 4 + 2 * basis.step();
                // Rising; every second of Hermite's is a slope.
                let middle = |i: u32| match basis {
                    Basis::Hermite => [f64::from(i / 2) - 1.5, 0.8][i as usize % 2],
                    _ => 0.8 * (f64::from(i) - 0.5 * f64::from(n - 1)),
                };
                arguments.extend((0..n).map(|i| format!("({} + 0.05 * {})", middle(i), made.float())));
            }
            _ => arguments.push(made.of(ty)),
        }
    }
    let gives = match b.gives {
        Gives::Bool => "bool",
        Gives::Int => "int",
        Gives::Float => "float",
        Gives::Any => any,
        Gives::First => types[0],
        Gives::Last => types[types.len() - 1],
        Gives::Matrix => "matrix",
    };
    let call = format!("{}({})", b.name, arguments.join(", "));
    let name = if any == "float" { b.signature() } else { format!("{} with T = {any}", b.signature()) };
    Row { name, before: String::new(), results: results(&call, gives) }
}

/// The rows of every built-in but `ddx` and `ddy`, which all others are proved with, and those of closures.
pub fn builtins() -> Vec<Row> {
    TABLE
        .iter()
        .filter(|b| !matches!(b.expand, Expand::Derivative(_) | Expand::MixClosures))
        .flat_map(builtin)
        .collect()
}

/// Every operator, on every type that it takes.
pub fn operators() -> Vec<Row> {
    const BINARY: [BinaryOp; 18] = {
        use BinaryOp::*;
        [Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor, And, Or, Eq, Ne, Lt, Le, Gt, Ge]
    };
    let mut rows = Vec::new();
    let mut add = |name: String, call: String, ty: &'static str| {
        rows.push(Row { name, before: String::new(), results: results(&call, ty) });
    };
    for op in BINARY {
        let pairs: &[(&'static str, &'static str, &'static str)] = match op {
            BinaryOp::Mul => &[
                ("int", "int", "int"),
                ("float", "float", "float"),
                ("float", "int", "float"),
                ("float3", "float3", "float3"),
                ("float4", "float", "float4"),
                ("float", "float2", "float2"),
                ("matrix", "matrix", "matrix"),
                ("matrix", "float4", "float4"),
                ("matrix", "float", "matrix"),
                ("float", "matrix", "matrix"),
            ],
            BinaryOp::Div => &[
                ("int", "int", "int"),
                ("float", "float", "float"),
                ("float3", "float", "float3"),
                ("float", "float3", "float3"),
                ("matrix", "float", "matrix"),
                ("matrix", "matrix", "matrix"),
            ],
            BinaryOp::Add | BinaryOp::Sub => &[
                ("int", "int", "int"),
                ("float", "float", "float"),
                ("int", "float", "float"),
                ("float3", "float3", "float3"),
                ("float2", "float", "float2"),
                ("matrix", "matrix", "matrix"),
            ],
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => &[("int", "int", "int")],
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => &[("int", "int", "int"), ("bool", "bool", "bool")],
            BinaryOp::And | BinaryOp::Or => &[("bool", "bool", "bool"), ("float", "int", "bool")],
            BinaryOp::Eq | BinaryOp::Ne => &[
                ("int", "int", "bool"),
                ("float", "float", "bool"),
                ("float3", "float3", "bool"),
                ("matrix", "matrix", "bool"),
            ],
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                &[("int", "int", "bool"), ("float", "float", "bool"), ("float", "int", "bool")]
            }
        };
        for (a, b, gives) in pairs {
            let mut made = Arguments::new((0.3, 2.5));
            let call = format!("({} {} {})", made.of(a), op.symbol(), made.of(b));
            add(format!("{a} {} {b}", op.symbol()), call, gives);
        }
    }
    for op in [UnaryOp::Neg, UnaryOp::Plus, UnaryOp::Not, UnaryOp::BitNot] {
        let types: &[&'static str] = match op {
            UnaryOp::Neg => &["int", "float", "float3", "matrix"],
            UnaryOp::Plus => &["int", "float", "float3"],
            UnaryOp::Not => &["bool"],
            UnaryOp::BitNot => &["int"],
        };
        for ty in types {
            add(format!("{}{ty}", op.symbol()), format!("({}{})", op.symbol(), Arguments::new((-1.0, 2.0)).of(ty)), ty);
        }
    }
    for ty in ["float", "float3", "matrix"] {
        let mut made = Arguments::new((-1.0, 1.0));
        let call = format!("({} ? {} : {})", made.of("bool"), made.of(ty), made.of(ty));
        add(format!("bool ? {ty} : {ty}"), call, ty);
    }
    rows
}

/// Assignments and the like: places that hold what is differentiated afterwards.
pub fn places() -> Vec<Row> {
    let mut made = Arguments::new((0.3, 2.0));
    let mut rows = Vec::new();
    for op in ["=", "+=", "-=", "*=", "/="] {
        let before = format!("    float t = {};\n    t {op} {};\n", made.float(), made.float());
        rows.push(Row { name: format!("float {op} float"), before, results: vec![("t".to_owned(), "float")] });
    }
    for step in ["++t", "t++", "--t", "t--"] {
        let before = format!("    float t = {};\n    float old = {step};\n", made.float());
        let results = vec![("t".to_owned(), "float"), ("old".to_owned(), "float")];
        rows.push(Row { name: step.to_owned(), before, results });
    }
    let before =
        format!("    float3 v = {};\n    v.zx = {};\n    v[1] *= v.x;\n", made.of("float3"), made.of("float2"));
    rows.push(Row { name: "components".to_owned(), before, results: vec![("v".to_owned(), "float3")] });
    let before =
        format!("    matrix m = {};\n    m[1] = {};\n    m[2][3] = m[1][0];\n", made.of("matrix"), made.of("float4"));
    rows.push(Row { name: "matrix elements".to_owned(), before, results: results("m", "matrix") });
    rows
}

/// Every function of the library that needs no import, each overload by itself.
pub fn library() -> Vec<Row> {
    let mut rows = Vec::new();
    for file in LIBRARY {
        let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
        let id = sources.add(file.name, file.text);
        for item in parse(&sources, id, &mut diagnostics).items {
            if let Item::Function(f) = item
                && f.body.is_some()
                && file.functions.contains(&f.name.text.as_str())
            {
                rows.push(library_row(&f));
            }
        }
    }
    rows
}

/// The names of types live as long as the program.
fn type_name(name: &str) -> &'static str {
    const ALL: [&str; 12] =
        ["void", "bool", "int", "float", "float2", "float3", "float4", "color", "vector", "point", "normal", "matrix"];
    ALL.into_iter().find(|t| *t == name).unwrap_or("string")
}

fn library_row(f: &FunctionDecl) -> Row {
    let mut made = Arguments::new((0.15, 0.85));
    let (mut before, mut arguments, mut found, mut types) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, p) in f.parameters.iter().enumerate() {
        let ty = type_name(&p.ty.name.text);
        types.push(ty);
        if p.direction == Direction::In {
            arguments.push(made.of(ty));
            continue;
        }
        let _ = writeln!(before, "    {ty} o{i} = {};", made.of(ty));
        arguments.push(format!("o{i}"));
        found.extend(results(&format!("o{i}"), ty));
    }
    let call = format!("{}({})", f.name.text, arguments.join(", "));
    match type_name(&f.result.name.text) {
        "void" => {
            let _ = writeln!(before, "    {call};");
        }
        ty => {
            let _ = writeln!(before, "    const {ty} result = {call};");
            found.extend(results("result", ty));
        }
    }
    Row { name: format!("{}({})", f.name.text, types.join(", ")), before, results: found }
}
