//! Expressions of a generated program.

use super::{Direction, Generator, Head, Ty};

impl Generator {
    pub(super) fn expr(&mut self, ty: Ty, depth: usize) -> String {
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

    pub(super) fn literal(&mut self, ty: Ty) -> String {
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

    pub(super) fn float(&mut self, d: usize) -> String {
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

    pub(super) fn int(&mut self, d: usize) -> String {
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

    pub(super) fn bool(&mut self, d: usize) -> String {
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

    pub(super) fn vector(&mut self, d: usize) -> String {
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
            // A vector near zero has no direction that finite differences could follow.
            6 if self.flavour.smooth => format!("normalize(float3(2.5, 0.0, 0.0) + sin({}))", self.expr(Ty::Vector, d)),
            6 => format!("normalize({})", self.expr(Ty::Vector, d)),
            _ => format!("texture2d_sample<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
        }
    }

    /// Small where the program must be smooth: the host computes textures in single precision.
    pub(super) fn coordinate(&mut self, d: usize) -> String {
        let e = self.expr(Ty::Float, d);
        if self.flavour.smooth { format!("(0.3 * sin({e}))") } else { e }
    }

    /// A call of a function that gives `ty`, with distinct variables where it hands out.
    pub(super) fn call(&mut self, ty: Ty) -> Option<String> {
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
