//! Statements of a generated program.

use super::{Generator, Ty};

impl Generator {
    /// Statements of a block, in a scope of its own.
    pub(super) fn statements(&mut self) {
        let visible = self.variables.len();
        self.some_statements();
        self.variables.truncate(visible);
    }

    fn some_statements(&mut self) {
        for _ in 0..1 + self.random.below(6) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.statements();
        self.depth -= 1;
        self.line("}");
    }

    fn statement(&mut self) {
        match self.random.below(24) {
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
            17 if self.breakable || self.loops > 0 => self.leave(),
            18 if self.random.chance(40) => {
                let condition = self.expr(Ty::Bool, 2);
                let value = self.result.map_or(String::new(), |ty| format!(" {}", self.expr(ty, 2)));
                self.line(&format!("if ({condition}) return{value};"));
            }
            19 if self.depth < 4 => self.switch(),
            20 => self.print(),
            21 | 22 if self.buffers => self.addition(),
            21 | 22 => self.closure().unwrap_or_else(|| self.assignment()),
            23 => self.replacement(),
            _ => self.assignment(),
        }
    }

    fn leave(&mut self) {
        let condition = self.expr(Ty::Bool, 2);
        let breaks = self.loops == 0 || self.breakable && self.random.chance(50);
        self.line(&format!("if ({condition}) {};", if breaks { "break" } else { "continue" }));
    }

    fn declaration(&mut self) {
        let (ty, name) = (self.any_type(), self.name("v"));
        let value = if self.random.chance(85) { format!(" = {}", self.initial(ty)) } else { String::new() };
        self.line(&format!("{}{value};", ty.declare(&name)));
        self.variables.push((name, ty, true));
    }

    fn initial(&mut self, ty: Ty) -> String {
        if self.random.chance(40) {
            return self.expr(ty, 2);
        }
        match ty {
            Ty::Floats => self.list(Ty::Float, 4),
            Ty::Ints => self.list(Ty::Int, 2),
            Ty::Grid => format!("{{{}, {}}}", self.list(Ty::Float, 3), self.list(Ty::Float, 2)),
            Ty::Record => self.record_list(),
            Ty::Records => format!("{{{}, {}}}", self.record_list(), self.record_list()),
            Ty::Nest => {
                let (one, many, p) = (self.record_list(), self.record_list(), self.expr(Ty::Float2, 1));
                format!("{{{one}, {{{many}}}, {p}, {}}}", self.expr(Ty::Text, 1))
            }
            _ => self.expr(ty, 3),
        }
    }

    fn list(&mut self, ty: Ty, n: usize) -> String {
        let parts: Vec<String> = (0..n).map(|_| self.expr(ty, 1)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    fn record_list(&mut self) -> String {
        let (f, v, k) = (self.expr(Ty::Float, 1), self.expr(Ty::Vector, 1), self.expr(Ty::Int, 1));
        format!("{{{f}, {v}, {k}, {}}}", self.list(Ty::Float, 2))
    }

    /// Writes what lies in a loop.
    fn looped(&mut self, uncounted: bool, write: impl FnOnce(&mut Self)) {
        let outer = (self.loops, self.uncounted, self.breakable);
        (self.loops, self.uncounted, self.breakable) = (self.loops + 1, self.uncounted || uncounted, true);
        write(self);
        (self.loops, self.uncounted, self.breakable) = outer;
    }

    fn for_loop(&mut self) {
        let (name, rounds) = (self.name("i"), 1 + self.random.below(5));
        self.variables.push((name.clone(), Ty::Int, false));
        self.looped(false, |g| g.block(&format!("for (int {name} = 0; {name} < {rounds}; ++{name})")));
        // What the body declared is gone already.
        self.variables.pop();
    }

    fn while_loop(&mut self) {
        let (name, rounds) = (self.name("n"), self.random.below(5));
        self.line(&format!("int {name} = {rounds};"));
        let condition = self.expr(Ty::Bool, 1);
        if self.random.chance(50) {
            return self.looped(true, |g| g.block(&format!("while ({name}-- > 0 && {condition})")));
        }
        self.looped(true, |g| g.block("do"));
        self.line(&format!("while (--{name} > 0 && {condition});"));
    }

    /// Sections share a scope, so what one declares is there in the next ones.
    fn switch(&mut self) {
        let by_text = self.random.chance(25);
        let value = self.expr(if by_text { Ty::Text } else { Ty::Int }, 2);
        self.line(&format!("switch ({value}) {{"));
        let (outer, visible) = (self.breakable, self.variables.len());
        self.breakable = true;
        self.depth += 1;
        let mut labels: Vec<&str> =
            if by_text { vec!["\"red\"", "\"blue\"", "\"\""] } else { vec!["0", "-1", "2", "B[1] + 2"] };
        labels.push("default");
        for _ in 0..1 + self.random.below(labels.len()) {
            let label = labels.swap_remove(self.random.below(labels.len()));
            self.line(&if label == "default" { "default:".to_owned() } else { format!("case {label}:") });
            self.some_statements();
            if self.random.chance(60) {
                self.line("break;");
            }
        }
        self.depth -= 1;
        self.line("}");
        self.breakable = outer;
        self.variables.truncate(visible);
    }

    fn print(&mut self) {
        let (conversion, ty) =
            [("%d", Ty::Int), ("%g", Ty::Float), ("%.3f", Ty::Float2), ("%s", Ty::Text)][self.random.below(4)];
        let value = self.expr(ty, 2);
        self.line(&format!("printf(\"{conversion};\", {value});"));
    }

    /// Something with an array, of which some lanes get another in one piece.
    fn replacement(&mut self) {
        let ty = [Ty::Floats, Ty::Floats, Ty::Grid, Ty::Record, Ty::Records][self.random.below(5)];
        let Some(place) = self.stored(ty, true) else { return self.declaration() };
        let other = self.name("v");
        self.line(&format!("{} = {place};", ty.declare(&other)));
        for name in [&other, &place] {
            let element = match ty {
                Ty::Floats => format!("{name}[{}]", self.index(4)),
                Ty::Grid => format!("{name}[{}][{}]", self.index(2), self.index(3)),
                Ty::Record => format!("{name}.h[{}]", self.index(2)),
                _ => format!("{name}[{}].h[{}]", self.index(2), self.index(2)),
            };
            let value = self.expr(Ty::Float, 2);
            self.line(&format!("{element} = {value};"));
        }
        let condition = self.expr(Ty::Bool, 2);
        self.line(&format!("if ({condition}) {place} = {other};"));
        self.variables.push((other, ty, true));
    }

    fn assignment(&mut self) {
        let ty = self.any_type();
        let Some(place) = self.stored(ty, true) else { return self.declaration() };
        if matches!(ty, Ty::Shape | Ty::Pair) && self.random.chance(50) {
            let by = self.expr(Ty::Float, 2);
            return self.line(&format!("{place}.change({by});"));
        }
        let operator = match ty {
            Ty::Float | Ty::Float2 | Ty::Vector | Ty::Float4 => self.random.pick(&["=", "=", "+=", "-=", "*="]),
            Ty::Int => self.random.pick(&["=", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]),
            _ => "=",
        };
        if ty == Ty::Int && self.random.chance(10) {
            return self.line(&format!("{place}++;"));
        }
        let value = self.expr(ty, 3);
        self.line(&format!("{place} {operator} {value};"));
    }
}
