//! Statements of a generated program that make and weigh closures.

use super::{Generator, Ty};

impl Generator {
    /// A change of the shader's closure; nothing where none may stand. Loops around it are unrolled, so it
    /// stands in one at most, which counts; and a shader's lobes are few.
    pub(super) fn closure(&mut self) -> Option<()> {
        if self.result.is_some() || self.uncounted || self.loops > 1 || self.closures == 0 {
            return None;
        }
        self.closures -= 1;
        let text = match self.random.below(7) {
            0 | 1 => {
                let (weight, made) = (self.weight(), self.lobe());
                format!("c = {weight} * {made} + c;")
            }
            2 => format!("c = c * {};", self.weight()),
            3 => format!("c = mix(c, {}, {});", self.lobe(), self.weight()),
            4 => {
                let (condition, made) = (self.expr(Ty::Bool, 2), self.lobe());
                format!("c = {condition} ? {made} : c;")
            }
            5 => format!("c = make_closure<Coat>({}, c);", self.expr(Ty::Float, 2)),
            _ => format!("if ({}) c = {};", self.expr(Ty::Bool, 2), self.lobe()),
        };
        self.line(&text);
        Some(())
    }

    fn weight(&mut self) -> String {
        let ty = if self.random.chance(50) { Ty::Float } else { Ty::Vector };
        self.expr(ty, 2)
    }

    fn lobe(&mut self) -> String {
        if self.random.chance(30) {
            return "make_closure<Emission>()".to_owned();
        }
        let (albedo, normal) = (self.expr(Ty::Vector, 2), self.expr(Ty::Vector, 1));
        format!("make_closure<Lambert>({albedo}, {normal})")
    }
}
