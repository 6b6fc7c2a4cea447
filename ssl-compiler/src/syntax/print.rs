//! The syntax tree as indented text, for people who want to see how the compiler read their file.

use super::ast::*;
use std::fmt::Write;

/// One node a line, children two spaces further in.
pub fn tree(file: &File) -> String {
    let mut p = Printer { out: String::new(), depth: 0 };
    file.items.iter().for_each(|i| p.item(i));
    p.out
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, text: impl AsRef<str>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:1$}{2}", "", self.depth * 2, text.as_ref());
    }

    fn node(&mut self, text: impl AsRef<str>, children: impl FnOnce(&mut Self)) {
        self.line(text);
        self.depth += 1;
        children(self);
        self.depth -= 1;
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Import(i) => {
                let alias = i.alias.as_ref().map_or(String::new(), |a| format!(" as {}", a.text));
                self.line(format!("import \"{}\"{alias}", i.path));
            }
            Item::Function(f) => self.function(if f.is_shader { "shader" } else { "function" }, f),
            Item::Struct(s) => self.node(format!("struct {}", s.name.text), |p| {
                s.fields.iter().for_each(|d| p.declaration(d));
                p.conforming(&s.body);
            }),
            Item::Interface(i) => self.node(format!("interface {}", i.name.text), |p| {
                p.names("inherits", &i.parents);
                for t in &i.types {
                    p.node(format!("type {}", t.name.text), |p| p.names("conforms to", &t.bounds));
                }
                i.constants.iter().for_each(|d| p.declaration(d));
                i.methods.iter().for_each(|m| p.method(m));
            }),
            Item::Extension(e) => self.node(format!("extension {}", e.ty), |p| p.conforming(&e.body)),
            Item::Typedef(d) => self.node("typedef", |p| p.declaration(d)),
            Item::Enum(e) => {
                self.node(format!("enum {}", e.name.as_ref().map_or("", |n| &n.text)).trim_end(), |p| {
                    for m in &e.members {
                        p.node(&m.name.text, |p| m.value.iter().for_each(|e| p.expr(e)));
                    }
                });
            }
            Item::Variable(d) => self.declaration(d),
            Item::Globals(list) => self.node("globals", |p| list.iter().for_each(|d| p.declaration(d))),
            Item::Test(t) => self.node(format!("test \"{}\"", t.name), |p| t.body.iter().for_each(|s| p.test(s))),
        }
    }

    fn names(&mut self, what: &str, list: &[Ident]) {
        list.iter().for_each(|n| self.line(format!("{what} {}", n.text)));
    }

    fn conforming(&mut self, body: &Conforming) {
        self.names("conforms to", &body.interfaces);
        body.types.iter().for_each(|t| self.line(format!("type {} = {}", t.name.text, t.ty)));
        body.constants.iter().for_each(|d| self.declaration(d));
        body.methods.iter().for_each(|m| self.method(m));
    }

    fn method(&mut self, m: &Method) {
        self.function(if m.is_static { "static method" } else { "method" }, &m.function);
    }

    fn function(&mut self, kind: &str, f: &FunctionDecl) {
        let prototype = if f.body.is_none() { " (prototype)" } else { "" };
        self.node(format!("{kind} {}: {}{prototype}", f.name.text, f.result), |p| {
            p.attributes(&f.attributes);
            for g in &f.generics {
                let kind = if g.is_int { "number" } else { "type" };
                p.node(format!("generic {kind} {}", g.name.text), |p| p.names("conforms to", &g.bounds));
            }
            p.metadata(&f.metadata);
            f.parameters.iter().for_each(|q| p.parameter(q));
            f.body.iter().flatten().for_each(|s| p.stmt(s));
        });
    }

    fn parameter(&mut self, q: &Parameter) {
        let direction = format!("{:?}", q.direction).to_lowercase();
        let constant = if q.is_const { "const " } else { "" };
        let no_diff = if q.no_diff { "no_diff " } else { "" };
        self.node(format!("parameter {}: {constant}{no_diff}{direction} {}", q.name.text, q.ty), |p| {
            if q.any_length {
                p.line("size of the argument");
            }
            q.dims.iter().for_each(|e| p.labelled("size", e));
            q.default.iter().for_each(|e| p.labelled("default", e));
            p.metadata(&q.metadata);
        });
    }

    fn metadata(&mut self, list: &[Metadata]) {
        list.iter().for_each(|m| self.labelled(&format!("<<< {} >>>", m.name.text), &m.value));
    }

    fn attributes(&mut self, list: &[Attribute]) {
        list.iter().for_each(|a| self.list(format!("[{}]", a.name.text), &a.arguments.iter().collect::<Vec<_>>()));
    }

    fn declaration(&mut self, d: &Declaration) {
        let constant = if d.is_const { "const " } else { "" };
        for v in &d.declarators {
            self.node(format!("declare {}: {constant}{}", v.name.text, d.ty), |p| {
                v.dims.iter().for_each(|e| p.labelled("size", e));
                v.init.iter().for_each(|e| p.expr(e));
            });
        }
    }

    fn labelled(&mut self, label: &str, e: &Expr) {
        self.node(label, |p| p.expr(e));
    }

    fn test(&mut self, s: &TestStmt) {
        match &s.kind {
            TestStmtKind::Set(name, e) => self.node(format!("set {}", name.text), |p| p.expr(e)),
            TestStmtKind::Run(name, arguments) => self.node(format!("run {}", name.text), |p| {
                arguments.iter().for_each(|(n, e)| p.labelled(&n.text, e));
            }),
            TestStmtKind::Expect(name, arguments) => self.node(&name.text, |p| {
                arguments.iter().for_each(|a| match &a.name {
                    Some(name) => p.labelled(&name.text, &a.value),
                    None => p.expr(&a.value),
                });
            }),
            TestStmtKind::ExpectError { code, .. } => self.line(format!("expect_error {}", code.text)),
            TestStmtKind::Cases(cases) => {
                let columns: Vec<&str> = cases.columns.iter().map(|c| c.text.as_str()).collect();
                self.node(format!("cases ({})", columns.join(", ")), |p| {
                    for row in &cases.rows {
                        p.node(format!("\"{}\"", row.name), |p| row.values.iter().for_each(|e| p.expr(e)));
                    }
                });
            }
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Block(list) => self.node("block", |p| list.iter().for_each(|s| p.stmt(s))),
            StmtKind::Declaration(d) => self.declaration(d),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::If { condition, then, otherwise } => self.node("if", |p| {
                p.expr(condition);
                p.stmt(then);
                otherwise.iter().for_each(|s| p.node("else", |p| p.stmt(s)));
            }),
            StmtKind::While { condition, body } => self.node("while", |p| {
                p.expr(condition);
                p.stmt(body);
            }),
            StmtKind::DoWhile { body, condition } => self.node("do", |p| {
                p.stmt(body);
                p.labelled("while", condition);
            }),
            StmtKind::For { init, condition, step, body } => self.node("for", |p| {
                p.stmt(init);
                condition.iter().for_each(|e| p.labelled("while", e));
                step.iter().for_each(|e| p.labelled("step", e));
                p.stmt(body);
            }),
            StmtKind::Switch { value, sections } => self.node("switch", |p| {
                p.expr(value);
                sections.iter().for_each(|s| p.section(s));
            }),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Attributed(list, stmt) => {
                self.attributes(list);
                self.stmt(stmt);
            }
            StmtKind::Return(e) => self.node("return", |p| e.iter().for_each(|e| p.expr(e))),
        }
    }

    fn section(&mut self, section: &SwitchSection) {
        for label in &section.labels {
            match &label.value {
                Some(e) => self.labelled("case", e),
                None => self.line("default"),
            }
        }
        self.node("do", |p| section.body.iter().for_each(|s| p.stmt(s)));
    }

    fn list(&mut self, text: impl AsRef<str>, list: &[&Expr]) {
        self.node(text, |p| list.iter().for_each(|e| p.expr(e)));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(x) => self.line(x.to_string()),
            ExprKind::Float(x) => self.line(format!("{x:?}")),
            ExprKind::Bool(x) => self.line(x.to_string()),
            ExprKind::Str(text) => self.line(format!("{text:?}")),
            ExprKind::Name(name) => self.line(name),
            ExprKind::Unary(op, a) => self.list(op.symbol(), &[a]),
            ExprKind::Binary(op, a, b) => self.list(op.symbol(), &[a, b]),
            ExprKind::Ternary(a, b, c) => self.list("?:", &[a, b, c]),
            ExprKind::Assign(op, a, b) => self.list(format!("{}=", op.map_or("", BinaryOp::symbol)), &[a, b]),
            ExprKind::Step { target, delta, prefix } => {
                let op = if *delta > 0 { "++" } else { "--" };
                self.list(if *prefix { format!("{op}_") } else { format!("_{op}") }, &[target]);
            }
            ExprKind::Call(name, list) => self.list(format!("{}()", name.text), &list.iter().collect::<Vec<_>>()),
            ExprKind::GenericCall { name, types, arguments } => {
                self.list(format!("{}{}()", name.text, listed(types)), &arguments.iter().collect::<Vec<_>>());
            }
            ExprKind::Method { on, name, types, arguments, .. } => {
                let list: Vec<&Expr> = std::iter::once(&**on).chain(arguments).collect();
                self.list(format!(".{}{}()", name.text, listed(types)), &list);
            }
            ExprKind::Generic { name, argument, arguments } => {
                let list: Vec<&Expr> = arguments.iter().flatten().collect();
                self.list(format!("{}<{}>", name.text, argument.text), &list);
            }
            ExprKind::Cast(ty, a) => self.list(format!("({ty})"), &[a]),
            ExprKind::Type(ty) => self.line(ty.to_string()),
            ExprKind::Construct(ty, list) => self.list(format!("{ty}()"), &list.iter().collect::<Vec<_>>()),
            ExprKind::Derived { modes, on, name, types, arguments } => {
                let dot = if on.is_some() { "." } else { "" };
                let name = format!("{dot}{}{}", name.text, listed(types));
                let callee = modes.iter().rev().fold(name, |f, mode| format!("{}({f})", mode.word()));
                self.list(format!("{callee}()"), &on.as_deref().into_iter().chain(arguments).collect::<Vec<_>>());
            }
            ExprKind::NoDiff(a) => self.list("no_diff", &[a]),
            ExprKind::Integral(integral) => self.node("integral", |p| {
                integral
                    .variables
                    .iter()
                    .for_each(|v| p.list(format!("{} in", v.name.text), &[&v.bounds[0], &v.bounds[1]]));
                integral.options.iter().for_each(|(name, value)| p.list(format!("{} =", name.text), &[value]));
                p.node("do", |p| integral.body.iter().for_each(|s| p.stmt(s)));
            }),
            ExprKind::Member(a, member) => self.list(format!(".{}", member.text), &[a]),
            ExprKind::Index(a, i) => self.list("[]", &[a, i]),
            ExprKind::Named(name, value) => self.list(format!("{} =", name.text), &[value]),
            ExprKind::List(list) => self.list("{}", &list.iter().collect::<Vec<_>>()),
            ExprKind::Comma(a, b) => self.list(",", &[a, b]),
            ExprKind::Error => self.line("error"),
        }
    }
}

/// `<float, 3>`, or nothing.
fn listed(types: &[GenericArgument]) -> String {
    let one = |argument: &GenericArgument| match argument {
        GenericArgument::Type(ty) => ty.to_string(),
        GenericArgument::Int(Expr { kind: ExprKind::Int(n), .. }) => n.to_string(),
        GenericArgument::Int(_) => "…".to_owned(),
    };
    let list: Vec<String> = types.iter().map(one).collect();
    if list.is_empty() { String::new() } else { format!("<{}>", list.join(", ")) }
}
