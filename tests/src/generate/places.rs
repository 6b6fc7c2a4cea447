//! The variables of a generated program, and their parts.

use super::{Generator, Ty};

impl Generator {
    fn variable(&mut self, ty: Ty, assignable: bool) -> Option<String> {
        let list: Vec<&String> =
            self.variables.iter().filter(|(_, t, a)| *t == ty && (*a || !assignable)).map(|(n, ..)| n).collect();
        if list.is_empty() { None } else { Some(list[self.random.below(list.len())].clone()) }
    }

    pub(super) fn index(&mut self, length: usize) -> String {
        if self.random.chance(50) {
            return self.random.below(length).to_string();
        }
        // Plain constants outside are refused; the checker does not look through calls.
        format!("min({}, 9)", self.expr(Ty::Int, 1))
    }

    /// Something of a type that is stored, or a part of it.
    pub(super) fn stored(&mut self, ty: Ty, assignable: bool) -> Option<String> {
        if !assignable && let Some(element) = self.element(ty) {
            return Some(element);
        }
        let way = self.random.below(6);
        self.part(ty, way, assignable).or_else(|| self.variable(ty, assignable))
    }

    fn part(&mut self, ty: Ty, way: usize, assignable: bool) -> Option<String> {
        Some(match (ty, way) {
            (Ty::Float, 0) => self.component(assignable)?,
            (Ty::Float, 1) => format!("{}[{}]", self.variable(Ty::Floats, assignable)?, self.index(4)),
            (Ty::Float, 2) => {
                format!("{}[{}][{}]", self.variable(Ty::Grid, assignable)?, self.index(2), self.index(3))
            }
            (Ty::Float, 3) => {
                let record = self.record(assignable)?;
                if self.random.chance(50) { format!("{record}.f") } else { format!("{record}.h[{}]", self.index(2)) }
            }
            (Ty::Float, 4) => {
                format!("{}[{}][{}]", self.variable(Ty::Matrix, assignable)?, self.index(4), self.index(4))
            }
            (Ty::Int, 0 | 1) => format!("{}[{}]", self.variable(Ty::Ints, assignable)?, self.index(3)),
            (Ty::Int, 2) => format!("{}.k", self.record(assignable)?),
            (Ty::Vector, 0 | 1) => format!("{}.v", self.record(assignable)?),
            (Ty::Vector, 2) => format!("{}.zxy", self.variable(Ty::Vector, assignable)?),
            (Ty::Vector, 3) => format!("{}.a", self.variable(Ty::Pair, assignable)?),
            (Ty::Float, 5) => format!("{}.w[{}]", self.variable(Ty::Pair, assignable)?, self.index(2)),
            (Ty::Float2, 0) => format!("{}.p", self.variable(Ty::Nest, assignable)?),
            (Ty::Float2, 1) => format!("{}.zx", self.variable(Ty::Vector, assignable)?),
            (Ty::Float4, 0) => format!("{}[{}]", self.variable(Ty::Matrix, assignable)?, self.index(4)),
            (Ty::Text, 0) => format!("{}.s", self.variable(Ty::Nest, assignable)?),
            (Ty::Record, 0..=2) => self.record(assignable)?,
            (Ty::Records, 0) => format!("{}.many", self.variable(Ty::Nest, assignable)?),
            _ => return None,
        })
    }

    /// A component of a vector of any length.
    fn component(&mut self, assignable: bool) -> Option<String> {
        let ty = [Ty::Vector, Ty::Vector, Ty::Float2, Ty::Float4][self.random.below(4)];
        let (v, n) = (self.variable(ty, assignable)?, ty.components()?);
        let component = ["x", "y", "z", "w"][self.random.below(n)];
        Some(if self.random.chance(70) { format!("{v}.{component}") } else { format!("{v}[{}]", self.index(n)) })
    }

    /// A record, which may be an element of an array, or in something larger.
    fn record(&mut self, assignable: bool) -> Option<String> {
        Some(match self.random.below(4) {
            0 => format!("{}[{}]", self.variable(Ty::Records, assignable)?, self.index(2)),
            1 => format!("{}.one", self.variable(Ty::Nest, assignable)?),
            2 => format!("{}.many[{}]", self.variable(Ty::Nest, assignable)?, self.index(2)),
            _ => self.variable(Ty::Record, assignable)?,
        })
    }
}
