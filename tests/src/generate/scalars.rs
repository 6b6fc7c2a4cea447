//! Numbers and truth values of a generated program.

use super::{Generator, Ty};

const SMOOTH: [&str; 8] = ["sin", "cos", "tanh", "atan", "abs", "saturate", "fract", "floor"];
const OTHERS: [&str; 12] =
    ["sqrt", "exp", "log", "asin", "acos", "tan", "sinh", "cosh", "round", "ceil", "trunc", "sign"];

impl Generator {
    pub(super) fn float(&mut self, d: usize) -> String {
        let smooth = self.flavour.smooth;
        match self.random.below(30) {
            0..=3 => format!("({} + {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            4 | 5 => format!("({} - {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            6..=8 => format!("({} * {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            9 if !smooth => format!("({} / {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            9 => format!("({} / (1.5 + sin({})))", self.expr(Ty::Float, d), self.expr(Ty::Float, d)),
            10 => format!("-({})", self.expr(Ty::Float, d)),
            11..=13 => {
                let f = match self.random.below(SMOOTH.len() + if smooth { 0 } else { OTHERS.len() }) {
                    i if i < SMOOTH.len() => SMOOTH[i],
                    i => OTHERS[i - SMOOTH.len()],
                };
                format!("{f}({})", self.expr(Ty::Float, d))
            }
            14 | 15 => {
                let all = ["min", "max", "atan2", "pow", "fmod", "step"];
                let f = all[self.random.below(if smooth { 2 } else { all.len() })];
                format!("{f}({}, {})", self.expr(Ty::Float, d), self.expr(Ty::Float, d))
            }
            16 => {
                let f = if smooth { "mix" } else { self.random.pick(&["mix", "clamp", "smoothstep"]) };
                let (a, b, c) = (self.expr(Ty::Float, d), self.expr(Ty::Float, d), self.expr(Ty::Float, d));
                format!("{f}({a}, {b}, {c})")
            }
            17 | 18 => self.reduced(d),
            19 => format!("float({})", self.expr(Ty::Int, d.min(1))),
            20 => format!("float({})", self.expr(Ty::Bool, d.min(1))),
            21 => format!("texture2d_sample<tex>({}, {}).g", self.coordinate(d), self.coordinate(d)),
            22 => format!("texture2d_sample_alpha<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
            23 | 24 if self.flavour.nested_derivatives => self.derivative(d),
            25 if self.random.chance(30) => self.noise(d),
            25 | 27 => self.of_shape(d),
            28 => self.of_floats(d),
            26 => format!("{}.y", self.vector(Ty::Vector, d)),
            _ => self.stored(Ty::Float, false).unwrap_or_else(|| self.literal(Ty::Float)),
        }
    }

    /// A number that something larger comes down to.
    fn reduced(&mut self, d: usize) -> String {
        let ty = [Ty::Float2, Ty::Vector, Ty::Float4][self.random.below(3)];
        match self.random.below(5) {
            0 | 1 => format!("dot({}, {})", self.expr(ty, d), self.expr(ty, d)),
            2 | 3 => format!("length({})", self.expr(ty, d)),
            _ => format!("determinant({})", self.expr(Ty::Matrix, d.min(1))),
        }
    }

    /// Of a value of an interface, by a method of it, or by a generic function that changes the value.
    fn of_shape(&mut self, d: usize) -> String {
        let t = self.expr(Ty::Float, d);
        if self.random.chance(30)
            && let Some(place) = self.stored(Ty::Shape, true)
        {
            return format!("both({place}, {t})");
        }
        let method = self.random.pick(&["value", "value", "twice"]);
        format!("{}.{method}({t})", self.expr(Ty::Shape, d))
    }

    /// By an instance of a generic function.
    fn of_floats(&mut self, d: usize) -> String {
        if self.random.chance(30)
            && let Some(list) = self.stored(Ty::Floats, false)
        {
            return format!("mean({list})");
        }
        let (a, b, t) = (self.expr(Ty::Float, d), self.expr(Ty::Float, d), self.expr(Ty::Float, d));
        format!("blend{}({a}, {b}, {t})", self.random.pick(&["", "<float>"]))
    }

    fn derivative(&mut self, d: usize) -> String {
        let e = self.expr(Ty::Float, d);
        let outer = self.random.pick(&["ddx", "ddy"]);
        if self.random.chance(70) {
            return format!("{outer}({e})");
        }
        format!("{outer}({}({e}))", self.random.pick(&["ddx", "ddy"]))
    }

    /// Noise of the library. Cells are not smooth, and far away single precision has none of it left.
    fn noise(&mut self, d: usize) -> String {
        if self.flavour.smooth {
            return format!("perlin(2.0 * sin({}))", self.expr(Ty::Float, d));
        }
        match self.random.below(4) {
            0 => format!("perlin({})", self.expr(Ty::Float, d)),
            1 => format!("perlin({})", self.expr(Ty::Float2, d)),
            2 => format!("simplex({})", self.expr(Ty::Float2, d)),
            _ => format!("cellnoise({})", self.expr(Ty::Vector, d)),
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
            _ => format!("{}({})", self.random.pick(&["abs", "popcount", "hash"]), self.expr(Ty::Int, d)),
        }
    }

    pub(super) fn bool(&mut self, d: usize) -> String {
        let ty = match self.random.below(12) {
            0..=2 => Ty::Float,
            3..=5 => Ty::Int,
            6 => Ty::Text,
            7 => [Ty::Float2, Ty::Vector, Ty::Float4, Ty::Matrix][self.random.below(4)],
            8..=10 => {
                let operator = self.random.pick(&["&&", "||", "==", "!=", "^", "&", "|"]);
                return format!("({} {operator} {})", self.expr(Ty::Bool, d), self.expr(Ty::Bool, d));
            }
            _ => return format!("!({})", self.expr(Ty::Bool, d)),
        };
        let ordered = matches!(ty, Ty::Float | Ty::Int);
        let operator = match ordered {
            true => self.random.pick(&["<", "<=", ">", ">=", "==", "!="]),
            false => self.random.pick(&["==", "!="]),
        };
        format!("({} {operator} {})", self.expr(ty, d), self.expr(ty, d))
    }
}
