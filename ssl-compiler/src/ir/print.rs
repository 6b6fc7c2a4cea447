//! The textual form. Values are renumbered in the order of their definition, so that equal programs
//! print equal text.

use super::*;
use std::collections::HashMap;
use std::fmt::{self, Write};

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Scalar(s) => f.write_str(s.name()),
            Ty::Array(s, n) => write!(f, "{}[{n}]", s.name()),
            Ty::Token => f.write_str("token"),
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Const::Bool(b) => write!(f, "{b}"),
            Const::Int(i) => write!(f, "{i}"),
            Const::Float(bits) => match f32::from_bits(bits) {
                x if x.is_nan() => write!(f, "nan:{bits:#x}"),
                x => write!(f, "{x:?}"),
            },
        }
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = crate::types::TypeTable::default();
        for g in &self.globals {
            let orders = match g.orders.count() {
                1 if g.uniform => "uniform",
                1 => "value",
                3 => "first",
                _ => "second",
            };
            writeln!(f, "global {}: {} {orders}", g.name, types.display(&g.ty))?;
        }
        for p in &self.parameters {
            writeln!(f, "parameter {}: {}", p.name, p.scalar.map_or("texture2d", Scalar::name))?;
        }
        for c in &self.columns {
            writeln!(f, "column {}: {} {}{}", c.name, c.scalar.name(), c.first, if c.added { " add" } else { "" })?;
        }
        for format in &self.texts.formats {
            writeln!(f, "format {format:?}")?;
        }
        // Strings have no other use that the text shows.
        for string in self.texts.strings.iter().filter(|_| !self.texts.formats.is_empty()) {
            writeln!(f, "string {string:?}")?;
        }
        for (result, field) in &self.gradients.of {
            writeln!(f, "gradient result {result} {}", self.globals[*field as usize].name)?;
        }
        for word in &self.gradients.words {
            writeln!(f, "gradient parameter {word}")?;
        }
        for field in &self.gradients.globals {
            writeln!(f, "gradient global {}", self.globals[*field as usize].name)?;
        }
        for word in &self.gradients.textures {
            writeln!(f, "gradient texels {word}")?;
        }
        for word in &self.gradient_textures {
            writeln!(f, "gradient texture {word}")?;
        }
        for (kind, columns) in
            [("gradient wanted", &self.gradients.columns), ("gradient column", &self.gradient_columns)]
        {
            columns.by.iter().try_for_each(|(read, added)| writeln!(f, "{kind} by {read} {added}"))?;
            columns.of.iter().try_for_each(|(added, read)| writeln!(f, "{kind} of {added} {read}"))?;
            if columns.alone {
                writeln!(f, "{kind} alone")?;
            }
        }
        let (no_inputs, no_columns) = (self.globals.is_empty() && self.parameters.is_empty(), self.columns.is_empty());
        if !no_inputs || !no_columns || !self.texts.formats.is_empty() {
            writeln!(f)?;
        }
        for (i, function) in self.functions.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            if self.entry.index() == i {
                f.write_str("entry ")?;
            }
            f.write_str(&print_function(function, self, &|_| String::new()))?;
        }
        Ok(())
    }
}

/// One function; `note` may add a remark behind the definition of each value.
pub fn print_function(function: &Function, module: &Module, note: &dyn Fn(Value) -> String) -> String {
    let mut printer = Printer { function, module, names: HashMap::new(), out: String::new(), note };
    printer.function();
    printer.out
}

struct Printer<'a> {
    function: &'a Function,
    module: &'a Module,
    names: HashMap<Value, usize>,
    out: String,
    note: &'a dyn Fn(Value) -> String,
}

impl Printer<'_> {
    fn function(&mut self) {
        let body = self.function.body;
        let params = self.definitions(self.function.params());
        let results: Vec<String> = self.function.results.iter().map(Ty::to_string).collect();
        let notes = self.notes(self.function.params());
        let (name, facts) = (&self.function.name, self.facts());
        self.line(0, &format!("fn @{name}({params}) -> ({}) {facts}{{{notes}", results.join(", ")));
        self.region(body, 1, "return");
        self.line(0, "}");
    }

    /// What the function says about its derivatives.
    fn facts(&self) -> String {
        let Custom { forward, backward } = self.function.custom;
        let mut text = String::new();
        for (word, id) in [("forward", forward), ("backward", backward)] {
            if let Some(id) = id {
                text += &format!("{word} @{} ", self.name(id));
            }
        }
        match self.function.prefer {
            Prefer::Free => {}
            Prefer::Recompute => text += "recompute ",
            Prefer::Checkpoint => text += "checkpoint ",
        }
        if self.function.spends {
            text += "spends ";
        }
        if let Some(id) = self.function.undo {
            text += &format!("undo @{} ", self.name(id));
        }
        text
    }

    fn name(&self, id: FuncId) -> &str {
        self.module.functions.get(id.index()).map_or("?", |f| &f.name)
    }

    fn line(&mut self, depth: usize, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    /// `%0: float, %1: int`, numbering the values.
    fn definitions(&mut self, values: &[Value]) -> String {
        let texts: Vec<String> = values
            .iter()
            .map(|&v| {
                let next = self.names.len();
                let name = *self.names.entry(v).or_insert(next);
                format!("%{name}: {}", self.function.ty(v))
            })
            .collect();
        texts.join(", ")
    }

    fn notes(&self, values: &[Value]) -> String {
        let notes: Vec<String> = values.iter().map(|&v| (self.note)(v)).filter(|s| !s.is_empty()).collect();
        if notes.is_empty() { String::new() } else { format!("  ; {}", notes.join(" | ")) }
    }

    fn uses(&self, values: &[Value]) -> String {
        let name = |v: &Value| self.names.get(v).map_or_else(|| format!("%?{}", v.0), |n| format!("%{n}"));
        values.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn region(&mut self, region: Region, depth: usize, end: &str) {
        let data = self.function.region(region);
        for &inst in &data.insts {
            self.inst(inst, depth);
        }
        let results = self.uses(&data.results);
        self.line(depth, format!("{end} {results}").trim_end());
    }

    fn inst(&mut self, inst: Inst, depth: usize) {
        let data = self.function.inst(inst);
        match data.op {
            Op::If => {
                let condition = self.uses(&data.args);
                let at = self.out.len();
                self.line(depth, &format!("if {condition} {{"));
                self.region(data.regions[0], depth + 1, "yield");
                self.line(depth, "} else {");
                self.region(data.regions[1], depth + 1, "yield");
                self.line(depth, "}");
                self.prefix(at, depth, &data.results);
            }
            Op::Loop(checkpoint) => {
                let (condition, body) = (data.regions[0], data.regions[1]);
                let inits: Vec<String> = data.args.iter().map(|v| self.uses(&[*v])).collect();
                let at = self.out.len();
                let params: Vec<String> = self
                    .function
                    .region(condition)
                    .params
                    .iter()
                    .copied()
                    .zip(&inits)
                    .map(|(p, init)| format!("{} = {init}", self.definitions(&[p])))
                    .collect();
                self.line(depth, &format!("loop{} ({}) while {{", checkpoint.name(), params.join(", ")));
                self.region(condition, depth + 1, "test");
                let params = self.definitions(&self.function.region(body).params);
                self.line(depth, &format!("}} do ({params}) {{"));
                self.region(body, depth + 1, "yield");
                self.line(depth, "}");
                self.prefix(at, depth, &data.results);
            }
            op => {
                let text = format!("{} {}", self.op(op), self.uses(&data.args));
                let at = self.out.len();
                let notes = self.notes(&data.results);
                self.line(depth, &format!("{}{notes}", text.trim_end()));
                self.prefix(at, depth, &data.results);
            }
        }
    }

    /// Puts the results before what was printed at `at`; they are numbered after what is inside.
    fn prefix(&mut self, at: usize, depth: usize, results: &[Value]) {
        if !results.is_empty() {
            let text = format!("{} = ", self.definitions(results));
            self.out.insert_str(at + depth * 2, &text);
        }
    }

    fn op(&self, op: Op) -> String {
        match op {
            Op::Const(c) => format!("const {c}"),
            Op::Parameter { word, scalar } => format!("parameter {word} {}", scalar.name()),
            Op::Global { field, component, order } => {
                let name = self.module.globals.get(field as usize).map_or("?", |g| &g.name);
                format!("global {name}.{component}.{}", order.name())
            }
            Op::Float1(op) => op.name().to_owned(),
            Op::Float2(op) => op.name().to_owned(),
            Op::Int1(op) => op.name().to_owned(),
            Op::Int2(op) => op.name().to_owned(),
            Op::FloatCompare(op) => format!("fcmp.{}", op.name()),
            Op::IntCompare(op) => format!("icmp.{}", op.name()),
            Op::Derivative(d) => d.name().to_owned(),
            Op::Sample { word } => format!("sample {word}"),
            Op::Texture { word, gradient, level } => {
                let (level, gradient) = (if level { ".level" } else { "" }, if gradient { ".gradient" } else { "" });
                format!("texture{level}{gradient} {word}")
            }
            Op::TextureAdjoint { word, level } => {
                format!("texture_adjoint{} {word}", if level { ".level" } else { "" })
            }
            Op::TextureSize { word, axis } => format!("texture_size.{} {word}", axis.name()),
            Op::Burn(n) => format!("burn {n}"),
            Op::Prepay(n) => format!("prepay {n}"),
            Op::ClampElement(column) => format!("clamp_element {column}"),
            Op::Element { column, scalar } => format!("element {column} {}", scalar.name()),
            Op::BufferLength(column) => format!("buffer_length {column}"),
            Op::AddTo(column) => format!("add_to {column}"),
            Op::ClampIndex(n) => format!("clamp_index {n}"),
            Op::Probe(n) => format!("probe {n}"),
            Op::Call(f) => format!("call @{}", self.name(f)),
            Op::Jvp { function, screen } => format!("jvp {screen} @{}", self.name(function)),
            Op::Vjp { function, screen } => format!("vjp {screen} @{}", self.name(function)),
            Op::Push(site) => format!("push {site}"),
            Op::Pop(site) => format!("pop {site}"),
            Op::External(id) => format!("external {}", self.module.externals.get(id).map_or("?", |e| &e.name)),
            Op::Print(n) => format!("print {n}"),
            simple => simple_name(simple).to_owned(),
        }
    }
}

/// Operations without immediates, by their name in text.
pub(super) const SIMPLE: &[(Op, &str)] = &[
    (Op::BoolNot, "bnot"),
    (Op::BoolAnd, "band"),
    (Op::BoolOr, "bor"),
    (Op::BoolXor, "bxor"),
    (Op::Select, "select"),
    (Op::IntToFloat, "int_to_float"),
    (Op::FloatToInt, "float_to_int"),
    (Op::BoolToInt, "bool_to_int"),
    (Op::FloatBits, "float_bits"),
    (Op::BitsFloat, "bits_float"),
    (Op::Fma, "fma"),
    (Op::CubicRoot, "cubic_root"),
    (Op::ArrayNew, "array"),
    (Op::ArrayFill, "array.fill"),
    (Op::ArrayGet, "array.get"),
    (Op::ArraySet, "array.set"),
    (Op::Finite, "finite"),
    (Op::Detach, "detach"),
    (Op::Boundary, "boundary"),
    (Op::Cross, "cross"),
    (Op::Pin, "pin"),
    (Op::Barrier(Why::Curved), "barrier.curved"),
    (Op::Barrier(Why::Rounding), "barrier.rounding"),
    (Op::Barrier(Why::Loop), "barrier.loop"),
    (Op::Barrier(Why::Effects), "barrier.effects"),
    (Op::Barrier(Why::LookUp), "barrier.look_up"),
    (Op::Barrier(Why::Twice), "barrier.twice"),
    (Op::Barrier(Why::Linked), "barrier.linked"),
    (Op::Keep, "keep"),
    (Op::Enter, "enter"),
    (Op::Leave, "leave"),
];

fn simple_name(op: Op) -> &'static str {
    SIMPLE.iter().find(|(o, _)| *o == op).map_or("?", |(_, name)| name)
}
