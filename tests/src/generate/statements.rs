//! Statements of a generated program, and the places that they assign to.

use super::{Generator, Ty};

impl Generator {
    /// Statements of a block, in a scope of its own.
    pub(super) fn statements(&mut self) {
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

    pub(super) fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.statements();
        self.depth -= 1;
        self.line("}");
    }

    pub(super) fn statement(&mut self) {
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

    pub(super) fn declaration(&mut self) {
        let (ty, name) = (self.any_type(), self.name("v"));
        let value = if self.random.chance(85) { format!(" = {}", self.initial(ty)) } else { String::new() };
        self.line(&format!("{}{value};", ty.declare(&name)));
        self.variables.push((name, ty, true));
    }

    pub(super) fn initial(&mut self, ty: Ty) -> String {
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

    pub(super) fn for_loop(&mut self) {
        let (name, rounds) = (self.name("i"), 1 + self.random.below(5));
        self.variables.push((name.clone(), Ty::Int, false));
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.block(&format!("for (int {name} = 0; {name} < {rounds}; ++{name})"));
        self.in_loop = outer;
        self.variables.pop();
    }

    pub(super) fn while_loop(&mut self) {
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

    pub(super) fn assignment(&mut self) {
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

    pub(super) fn variable(&mut self, ty: Ty, assignable: bool) -> Option<String> {
        let list: Vec<&String> =
            self.variables.iter().filter(|(_, t, a)| *t == ty && (*a || !assignable)).map(|(n, ..)| n).collect();
        if list.is_empty() { None } else { Some(list[self.random.below(list.len())].clone()) }
    }

    /// Something of a type that is stored, or a part of it.
    pub(super) fn place(&mut self, ty: Ty) -> Option<String> {
        self.stored(ty, true)
    }

    pub(super) fn index(&mut self, length: usize) -> String {
        if self.random.chance(50) {
            return self.random.below(length).to_string();
        }
        // Plain constants outside are refused; the checker does not look through calls.
        format!("min({}, 9)", self.expr(Ty::Int, 1))
    }

    pub(super) fn stored(&mut self, ty: Ty, assignable: bool) -> Option<String> {
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
}
