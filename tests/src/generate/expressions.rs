//! Expressions of a generated program: of any type, literals, and calls.

use super::{Direction, Generator, Head, Held, Ty};

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
            Ty::Float2 | Ty::Vector | Ty::Float4 => self.vector(ty, d),
            Ty::Matrix => self.matrix(d),
            Ty::Record => {
                let (f, v, k) = (self.expr(Ty::Float, d), self.expr(Ty::Vector, d), self.expr(Ty::Int, d));
                format!("Record({f}, {v}, {k}, H)")
            }
            Ty::Pair => {
                let (a, w) = (self.expr(Ty::Vector, d), if self.random.chance(50) { "H" } else { "W" });
                format!("Pair<float3, 2>({a}, {w})")
            }
            Ty::Shape if self.random.chance(50) => {
                let (k, on, v) = (self.expr(Ty::Int, d), self.expr(Ty::Bool, d), self.expr(Ty::Vector, d));
                format!("IShape(Bump({k}, {on}, {v}, H))")
            }
            Ty::Shape => format!("IShape(Flat({}))", self.expr(Ty::Float, d)),
            _ => self.stored(ty, false).unwrap_or_else(|| self.literal(ty)),
        }
    }

    pub(super) fn literal(&mut self, ty: Ty) -> String {
        const ANY: [&str; 10] = [
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
        ];
        const MODERATE: [&str; 6] = ["0.5", "1.0", "2.0", "-0.75", "global_value<ga>", "global_value<gb>"];
        const INTS: [&str; 9] = ["0", "1", "2", "3", "7", "-1", "31", "0x7fffffff", "global_value<gi>"];
        match ty {
            Ty::Bool => self.random.pick(&["true", "false"]).to_owned(),
            Ty::Int => self.random.pick(&INTS).to_owned(),
            Ty::Float if self.flavour.smooth => self.random.pick(&MODERATE).to_owned(),
            Ty::Float => self.random.pick(&ANY).to_owned(),
            Ty::Float2 => format!("float2({}, -1.5)", self.literal(Ty::Float)),
            Ty::Vector => format!("float3({}, {}, 1.5)", self.literal(Ty::Float), self.literal(Ty::Float)),
            Ty::Float4 => format!("float4({}, {}, 2.0, 0.25)", self.literal(Ty::Float), self.literal(Ty::Float)),
            Ty::Matrix => format!("matrix({})", self.literal(Ty::Float)),
            Ty::Text => self.random.pick(&["\"red\"", "\"green\"", "\"blue\"", "\"red\" \"der\""]).to_owned(),
            Ty::Record => "Record(0.5, float3(1.0), 2, H)".to_owned(),
            Ty::Pair => format!("Pair<float3, 2>({}, H)", self.literal(Ty::Vector)),
            Ty::Shape => format!("IShape(Flat({}))", self.literal(Ty::Float)),
            ty => ty.constant().unwrap_or_default().to_owned(),
        }
    }

    /// A call of a function that gives `ty`; what it hands out may go where something else of it goes too.
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
                Direction::In => {
                    let e = self.expr(ty, 1);
                    if head.held[i] && self.held == Some(Held::Argument) { format!("no_diff ({e})") } else { e }
                }
                _ => self.stored(ty, true)?,
            });
        }
        // From some argument on they have names, and may stand in any order.
        if arguments.len() > 1 && self.random.chance(20) {
            let first = self.random.below(arguments.len());
            let mut named: Vec<String> =
                (first..arguments.len()).map(|i| format!("{} = {}", head.names[i], arguments[i])).collect();
            let turn = self.random.below(named.len());
            named.rotate_left(turn);
            arguments.truncate(first);
            arguments.extend(named);
        }
        Some(format!("{}({})", head.name, arguments.join(", ")))
    }
}
