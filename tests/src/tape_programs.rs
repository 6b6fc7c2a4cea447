//! Random programs in intermediate code that keep values on the tape: in straight lines, on one side of a branch, in
//! rounds of loops that others take back, in functions and in recursions, with arrays among the values, and on several
//! tapes, of which each by itself gives back what was put on it last.
//!
//! Programs end, and what is pushed is popped, by construction. So a pop gives what was pushed for it.

use crate::generate::Random;
use ssl_compiler::ir::Site;
use std::fmt::Write;

/// What every program begins with: five numbers that differ between lanes, and one that does not.
const HEAD: &str = "global a: float value\nglobal b: float value\nglobal c: float value\nglobal d: float value\n\
                    global e: float value\nparameter p: float\n\n";

/// Rows of globals that a program reads.
pub const ROWS: usize = 5;

/// The values that are visible somewhere.
#[derive(Clone, Default)]
struct Scope {
    token: usize,
    floats: Vec<usize>,
    ints: Vec<usize>,
}

struct Writer {
    random: Random,
    out: String,
    values: usize,
    sites: u32,
    /// Functions behind this one, which it may call.
    callable: std::ops::Range<usize>,
    /// Statements that may still be written.
    budget: usize,
}

/// A program of about so many statements.
pub fn program(seed: u64, size: usize) -> String {
    const FUNCTIONS: usize = 3;
    let mut sites = 0;
    let mut out = HEAD.to_owned();
    for function in 0..=FUNCTIONS {
        let mut writer = Writer {
            random: Random::new(seed.wrapping_mul(31).wrapping_add(function as u64)),
            out: String::new(),
            values: 0,
            sites,
            callable: function + 1..FUNCTIONS + 1,
            budget: size,
        };
        match function {
            0 => writer.entry(),
            FUNCTIONS => writer.recursion(FUNCTIONS),
            _ => writer.function(function),
        }
        sites = writer.sites;
        out += &writer.out;
        out += "\n";
    }
    out
}

impl Writer {
    fn value(&mut self) -> usize {
        self.values += 1;
        self.values - 1
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "  {text}");
    }

    fn op(&mut self, ty: &str, text: &str) -> usize {
        let v = self.value();
        self.line(&format!("%{v}: {ty} = {text}"));
        v
    }

    fn pick(&mut self, list: &[usize]) -> usize {
        list[self.random.below(list.len())]
    }

    fn float(&mut self, scope: &Scope) -> usize {
        self.pick(&scope.floats)
    }

    fn entry(&mut self) {
        let token = self.value();
        self.line(&format!("entry fn @main(%{token}: token) -> (token, float, float, float, int) {{"));
        let mut scope = Scope { token, ..Scope::default() };
        for name in ["a", "b", "c", "d", "e"] {
            let v = self.op("float", &format!("global {name}.0.value"));
            scope.floats.push(v);
        }
        let uniform = self.op("float", "parameter 0 float");
        scope.floats.push(uniform);
        self.start_ints(&mut scope);
        self.body(&mut scope);
        let results = [self.float(&scope), scope.floats[scope.floats.len() - 1], self.float(&scope)];
        let int = scope.ints[scope.ints.len() - 1];
        self.line(&format!("return %{}, %{}, %{}, %{}, %{int}", scope.token, results[0], results[1], results[2]));
        self.out += "}\n";
    }

    fn start_ints(&mut self, scope: &mut Scope) {
        let constant = self.random.below(6);
        let v = self.op("int", &format!("const {constant}"));
        scope.ints.push(v);
        let x = self.float(scope);
        let v = self.op("int", &format!("float_to_int %{x}"));
        scope.ints.push(v);
    }

    fn function(&mut self, number: usize) {
        let [token, x, y, n] = [0; 4].map(|_| self.value());
        let params = format!("%{token}: token, %{x}: float, %{y}: float, %{n}: int");
        self.line(&format!("fn @f{number}({params}) -> (token, float, int) {{"));
        let mut scope = Scope { token, floats: vec![x, y], ints: vec![n] };
        self.start_ints(&mut scope);
        self.body(&mut scope);
        let (x, n) = (scope.floats[scope.floats.len() - 1], scope.ints[scope.ints.len() - 1]);
        self.line(&format!("return %{}, %{x}, %{n}", scope.token));
        self.out += "}\n";
    }

    /// Keeps a value in each of a few nested calls.
    fn recursion(&mut self, number: usize) {
        let [token, x, y, n] = [0; 4].map(|_| self.value());
        let params = format!("%{token}: token, %{x}: float, %{y}: float, %{n}: int");
        self.line(&format!("fn @f{number}({params}) -> (token, float, int) {{"));
        let [open, alive] = [0; 2].map(|_| self.value());
        self.line(&format!("%{open}: token, %{alive}: bool = enter %{token}"));
        let seven = self.op("int", "const 7");
        let few = self.op("int", &format!("iand %{n}, %{seven}"));
        let zero = self.op("int", "const 0");
        let more = self.op("bool", &format!("icmp.gt %{few}, %{zero}"));
        let go = self.op("bool", &format!("band %{more}, %{alive}"));
        let mut scope = Scope { token: open, floats: vec![x, y], ints: vec![n, few] };
        let (before, site) = (scope.clone(), self.new_site());
        let kept = self.push(site, &mut scope);
        let one = self.op("int", "const 1");
        let less = self.op("int", &format!("isub %{few}, %{one}"));
        let sum = self.op("float", &format!("fadd %{x}, %{y}"));
        let [called, inner, count] = [0; 3].map(|_| self.value());
        self.line(&format!(
            "%{called}: token, %{inner}: float, %{count}: int = call @f{number} %{}, %{sum}, %{x}, %{less}",
            scope.token
        ));
        scope = Scope { token: called, ..before };
        scope.floats.push(inner);
        scope.ints.push(count);
        self.pop(site, &kept, &mut scope);
        let result = self.combine(&scope);
        let yes = format!("yield %{}, %{result}, %{count}", scope.token);
        // The region is written before its `if` is known to be one.
        let inside = self.cut(go);
        let [token, x2, n2] = [0; 3].map(|_| self.value());
        self.line(&format!("%{token}: token, %{x2}: float, %{n2}: int = if %{go} {{"));
        self.out += &inside;
        self.line(&yes);
        self.line("} else {");
        self.line(&format!("yield %{open}, %{y}, %{few}"));
        self.line("}");
        let left = self.op("token", &format!("leave %{token}"));
        self.line(&format!("return %{left}, %{x2}, %{n2}"));
        self.out += "}\n";
    }

    /// Takes back what was written behind the definition of `last`.
    fn cut(&mut self, last: usize) -> String {
        let at = self.out.find(&format!("  %{last}: bool")).unwrap_or(0);
        let end = self.out[at..].find('\n').map_or(self.out.len(), |n| at + n + 1);
        self.out.split_off(end)
    }

    fn new_site(&mut self) -> Site {
        let tape = [0, 0, 1, 2, 7][self.random.below(5)];
        self.site_on(tape)
    }

    fn site_on(&mut self, tape: u8) -> Site {
        self.sites += 1;
        Site { number: self.sites - 1, tape }
    }

    fn body(&mut self, scope: &mut Scope) {
        let n = 1 + self.random.below(3);
        for _ in 0..n {
            self.statement(scope);
        }
    }

    fn statement(&mut self, scope: &mut Scope) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.random.below(10) {
            0 => {
                let v = self.combine(scope);
                scope.floats.push(v);
            }
            1 => {
                let (x, n) = (self.float(scope), self.pick(&scope.ints.clone()));
                let y = self.op("float", &format!("int_to_float %{n}"));
                let v = self.op("float", &format!("fsub %{y}, %{x}"));
                scope.floats.push(v);
                let m = self.op("int", &format!("float_to_int %{v}"));
                scope.ints.push(m);
            }
            2 => self.kept_over(scope),
            3 => self.branch(scope),
            4 => self.kept_by_some(scope),
            5 | 6 => self.loops(scope),
            7 => self.crossed(scope),
            _ => self.call(scope),
        }
    }

    /// A float of two others, of moderate size.
    fn combine(&mut self, scope: &Scope) -> usize {
        let (a, b) = (self.float(scope), self.float(scope));
        let op = ["fadd", "fsub", "fmul", "fmin", "fmax"][self.random.below(5)];
        let v = self.op("float", &format!("{op} %{a}, %{b}"));
        let limit = self.op("float", "const 64.0");
        self.op("float", &format!("fmin %{v}, %{limit}"))
    }

    /// The types of what a push takes.
    fn push(&mut self, site: Site, scope: &mut Scope) -> Vec<String> {
        let n = 1 + self.random.below(4);
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let (x, i) = (self.float(scope), self.pick(&scope.ints.clone()));
            let (ty, v) = match self.random.below(10) {
                0 | 1 => ("int".to_owned(), i),
                2 => {
                    let y = self.float(scope);
                    ("bool".to_owned(), self.op("bool", &format!("fcmp.lt %{x}, %{y}")))
                }
                3 => {
                    let (n, y) = ([1, 3, 9][self.random.below(3)], self.float(scope));
                    let ty = format!("float[{n}]");
                    let filled = self.op(&ty, &format!("array.fill %{x}"));
                    let v = self.op(&ty, &format!("array.set %{filled}, %{i}, %{y}"));
                    (ty, v)
                }
                4 => {
                    let ty = "int[2]".to_owned();
                    let j = self.pick(&scope.ints.clone());
                    let v = self.op(&ty, &format!("array %{i}, %{j}"));
                    (ty, v)
                }
                _ => ("float".to_owned(), x),
            };
            types.push(ty);
            values.push(format!("%{v}"));
        }
        scope.token = self.op("token", &format!("push {site} %{}, {}", scope.token, values.join(", ")));
        types
    }

    fn pop(&mut self, site: Site, types: &[String], scope: &mut Scope) {
        let token = self.value();
        let results: Vec<usize> = types.iter().map(|_| self.value()).collect();
        let named: Vec<String> = results.iter().zip(types).map(|(v, ty)| format!("%{v}: {ty}")).collect();
        self.line(&format!("%{token}: token, {} = pop {site} %{}", named.join(", "), scope.token));
        scope.token = token;
        for (&v, ty) in results.iter().zip(types) {
            match ty.as_str() {
                "float" => scope.floats.push(v),
                "int" => scope.ints.push(v),
                "bool" => {
                    let n = self.op("int", &format!("bool_to_int %{v}"));
                    scope.ints.push(n);
                }
                array => {
                    let i = self.pick(&scope.ints.clone());
                    let element = array.split('[').next().unwrap_or_default().to_owned();
                    let read = self.op(&element, &format!("array.get %{v}, %{i}"));
                    if element == "float" { scope.floats.push(read) } else { scope.ints.push(read) }
                }
            }
        }
    }

    /// Pushes, something, pops.
    fn kept_over(&mut self, scope: &mut Scope) {
        let site = self.new_site();
        let types = self.push(site, scope);
        self.body(scope);
        self.pop(site, &types, scope);
    }

    /// Mostly a condition on which lanes differ.
    fn condition(&mut self, scope: &Scope) -> usize {
        let (a, b) = (self.float(scope), self.float(scope));
        self.op("bool", &format!("fcmp.lt %{a}, %{b}"))
    }

    fn branch(&mut self, scope: &mut Scope) {
        let condition = self.condition(scope);
        let before = std::mem::take(&mut self.out);
        let mut sides = Vec::new();
        for _ in 0..2 {
            let mut inside = scope.clone();
            self.body(&mut inside);
            let (x, n) = (inside.floats[inside.floats.len() - 1], inside.ints[inside.ints.len() - 1]);
            self.line(&format!("yield %{}, %{x}, %{n}", inside.token));
            sides.push(std::mem::take(&mut self.out));
        }
        self.out = before;
        let [token, x, n] = [0; 3].map(|_| self.value());
        self.line(&format!("%{token}: token, %{x}: float, %{n}: int = if %{condition} {{"));
        self.out += &format!("{}  }} else {{\n{}  }}\n", sides[0], sides[1]);
        scope.token = token;
        scope.floats.push(x);
        scope.ints.push(n);
    }

    /// Only some lanes push, and the same ones pop.
    fn kept_by_some(&mut self, scope: &mut Scope) {
        let (condition, site) = (self.condition(scope), self.new_site());
        let before = std::mem::take(&mut self.out);
        let mut inside = scope.clone();
        let types = self.push(site, &mut inside);
        let pushed = std::mem::replace(&mut self.out, before);
        let token = self.value();
        self.line(&format!("%{token}: token = if %{condition} {{"));
        self.out += &pushed;
        self.line(&format!("yield %{}\n  }} else {{\n  yield %{}\n  }}", inside.token, scope.token));
        scope.token = token;
        self.body(scope);
        let before = std::mem::take(&mut self.out);
        let mut inside = scope.clone();
        self.pop(site, &types, &mut inside);
        let x = self.combine(&inside);
        let popped = std::mem::replace(&mut self.out, before);
        let (otherwise, token, result) = (self.float(scope), self.value(), self.value());
        self.line(&format!("%{token}: token, %{result}: float = if %{condition} {{"));
        self.out += &popped;
        self.line(&format!(
            "yield %{}, %{x}\n  }} else {{\n  yield %{}, %{otherwise}\n  }}",
            inside.token, scope.token
        ));
        scope.token = token;
        scope.floats.push(result);
    }

    /// What two tapes keep comes back in the order in which it went.
    fn crossed(&mut self, scope: &mut Scope) {
        let (one, other) = (self.site_on(0), self.site_on(1));
        let first = self.push(one, scope);
        self.body(scope);
        let second = self.push(other, scope);
        self.body(scope);
        self.pop(one, &first, scope);
        self.body(scope);
        self.pop(other, &second, scope);
    }

    /// A loop whose rounds keep something, and one that takes it back.
    fn loops(&mut self, scope: &mut Scope) {
        let mask = self.op("int", "const 3");
        let n = self.pick(&scope.ints.clone());
        let rounds = self.op("int", &format!("iand %{n}, %{mask}"));
        let (zero, site) = (self.op("int", "const 0"), self.new_site());
        let x = self.float(scope);
        let mut types = Vec::new();
        let (token, x, done) = self.one_loop(
            (scope, x, zero),
            |w, i| w.op("bool", &format!("icmp.lt %{i}, %{rounds}")),
            |w, inside, i| {
                types = w.push(site, inside);
                w.body(inside);
                let one = w.op("int", "const 1");
                w.op("int", &format!("iadd %{i}, %{one}"))
            },
        );
        scope.token = token;
        scope.floats.push(x);
        self.body(scope);
        let x = self.float(scope);
        let (token, x, left) = self.one_loop(
            (scope, x, done),
            |w, i| w.op("bool", &format!("icmp.gt %{i}, %{zero}")),
            |w, inside, i| {
                w.pop(site, &types, inside);
                let one = w.op("int", "const 1");
                w.op("int", &format!("isub %{i}, %{one}"))
            },
        );
        scope.token = token;
        scope.floats.push(x);
        scope.ints.push(left);
    }

    /// A loop that carries a token, a float and a counter.
    fn one_loop(
        &mut self,
        (scope, x, count): (&Scope, usize, usize),
        test: impl FnOnce(&mut Writer, usize) -> usize,
        round: impl FnOnce(&mut Writer, &mut Scope, usize) -> usize,
    ) -> (usize, usize, usize) {
        let before = std::mem::take(&mut self.out);
        let [token, carried, i] = [0; 3].map(|_| self.value());
        let head =
            format!("(%{token}: token = %{}, %{carried}: float = %{x}, %{i}: int = %{count}) while {{", scope.token);
        let [burnt, alive] = [0; 2].map(|_| self.value());
        self.line(&format!("%{burnt}: token, %{alive}: bool = burn 1 %{token}"));
        let more = test(self, i);
        let go = self.op("bool", &format!("band %{more}, %{alive}"));
        self.line(&format!("test %{go}, %{burnt}, %{carried}, %{i}"));
        let [token, carried, i] = [0; 3].map(|_| self.value());
        self.line(&format!("}} do (%{token}: token, %{carried}: float, %{i}: int) {{"));
        let mut inside = Scope { token, ..scope.clone() };
        inside.floats.push(carried);
        inside.ints.push(i);
        let next = round(self, &mut inside, i);
        let x = self.combine(&inside);
        self.line(&format!("yield %{}, %{x}, %{next}", inside.token));
        let body = std::mem::replace(&mut self.out, before);
        let [token, x, count] = [0; 3].map(|_| self.value());
        self.line(&format!("%{token}: token, %{x}: float, %{count}: int = loop {head}"));
        self.out += &body;
        self.line("}");
        (token, x, count)
    }

    fn call(&mut self, scope: &mut Scope) {
        let n = self.callable.len();
        if n == 0 {
            return;
        }
        let callee = self.callable.start + self.random.below(n);
        let (x, y, i) = (self.float(scope), self.float(scope), self.pick(&scope.ints.clone()));
        let [token, result, count] = [0; 3].map(|_| self.value());
        self.line(&format!(
            "%{token}: token, %{result}: float, %{count}: int = call @f{callee} %{}, %{x}, %{y}, %{i}",
            scope.token
        ));
        scope.token = token;
        scope.floats.push(result);
        scope.ints.push(count);
    }
}
