//! Vectors and matrices of a generated program, and where it samples its texture.

use super::{Generator, Ty};

impl Generator {
    /// A vector of two, three or four.
    pub(super) fn vector(&mut self, ty: Ty, d: usize) -> String {
        let (name, n) = (ty.around().0, ty.components().unwrap_or(3));
        match self.random.below(10) {
            0 | 1 => {
                let parts: Vec<String> = (0..n).map(|_| self.expr(Ty::Float, d)).collect();
                format!("{name}({})", parts.join(", "))
            }
            2 | 3 => {
                let operator = self.random.pick(&["+", "-", "*"]);
                format!("({} {operator} {})", self.expr(ty, d), self.expr(ty, d))
            }
            4 => format!("({} * {})", self.expr(ty, d), self.expr(Ty::Float, d)),
            // A vector near zero has no direction that finite differences could follow.
            5 if self.flavour.smooth => format!("normalize({name}(2.5) + sin({}))", self.expr(ty, d)),
            5 => format!("normalize({})", self.expr(ty, d)),
            6 => self.rearranged(ty, d),
            7 => format!("blend({}, {}, {})", self.expr(ty, d), self.expr(ty, d), self.expr(Ty::Float, d)),
            _ => self.particular(ty, d),
        }
    }

    /// Components of another vector, or vectors put together.
    fn rearranged(&mut self, ty: Ty, d: usize) -> String {
        match ty {
            Ty::Float2 => format!("{}.{}", self.vector(Ty::Vector, d), self.random.pick(&["xz", "yy", "zx"])),
            Ty::Vector => format!("float3({}, {})", self.expr(Ty::Float2, d), self.expr(Ty::Float, d)),
            _ => format!("float4({}, {})", self.expr(Ty::Float2, d), self.expr(Ty::Float2, d)),
        }
    }

    /// What there is for one length only.
    fn particular(&mut self, ty: Ty, d: usize) -> String {
        match ty {
            Ty::Float2 => format!("max({}, {})", self.expr(Ty::Float2, d), self.expr(Ty::Float2, d)),
            Ty::Vector => match self.random.below(4) {
                3 => self.of_pair(d),
                0 => format!("cross({}, {})", self.expr(Ty::Vector, d), self.expr(Ty::Vector, d)),
                // Of a color, none of its ways would be the nearest.
                1 => format!("transform({}, float3({}))", self.expr(Ty::Matrix, d.min(1)), self.expr(Ty::Vector, d)),
                _ => format!("texture2d_sample<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
            },
            _ => match self.random.below(3) {
                0 => format!("({} * {})", self.expr(Ty::Matrix, d.min(1)), self.expr(Ty::Float4, d)),
                1 => format!("{}[{}]", self.matrix(d), self.index(4)),
                _ => format!("texture2d_sample4<tex>({}, {})", self.coordinate(d), self.coordinate(d)),
            },
        }
    }

    /// Of an instance of a generic struct.
    fn of_pair(&mut self, d: usize) -> String {
        if self.random.chance(40)
            && let Some(place) = self.stored(Ty::Pair, true)
        {
            return format!("turned({place})");
        }
        format!("{}.sum()", self.expr(Ty::Pair, d))
    }

    pub(super) fn matrix(&mut self, d: usize) -> String {
        match self.random.below(7) {
            0 => format!("matrix({})", self.expr(Ty::Float, d)),
            1 => {
                let rows: Vec<String> = (0..4).map(|_| self.expr(Ty::Float4, d.min(1))).collect();
                format!("matrix({})", rows.join(", "))
            }
            2 | 3 => {
                let operator = self.random.pick(&["+", "-", "*"]);
                format!("({} {operator} {})", self.expr(Ty::Matrix, d), self.expr(Ty::Matrix, d))
            }
            4 => format!("({} * {})", self.expr(Ty::Matrix, d), self.expr(Ty::Float, d)),
            5 => format!("transpose({})", self.expr(Ty::Matrix, d)),
            // Near a matrix without an inverse nothing is smooth.
            _ if self.flavour.smooth => "translation(float3(global_value<ga>, 1.0, 2.0))".to_owned(),
            _ => format!("inverse({})", self.expr(Ty::Matrix, d)),
        }
    }

    /// Small where the program must be smooth: the host computes textures in single precision.
    pub(super) fn coordinate(&mut self, d: usize) -> String {
        let e = self.expr(Ty::Float, d);
        if self.flavour.smooth { format!("(0.3 * sin({e}))") } else { e }
    }
}
