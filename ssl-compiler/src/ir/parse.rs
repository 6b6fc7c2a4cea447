//! Reads the textual form back.

use super::parse_text::Cursor;
use super::print::SIMPLE;
use super::*;
use crate::runtime::{ExternalRegistry, GlobalsLayout, Order, Orders, Texts};
use crate::types::Type;
use std::collections::HashMap;

/// Parses a module and verifies it. The error names the line.
pub fn parse(text: &str) -> Result<Module, String> {
    parse_with(text, &ExternalRegistry::new())
}

/// Parses a module that calls functions of a host.
pub fn parse_with(text: &str, externals: &ExternalRegistry) -> Result<Module, String> {
    let mut cursor = Cursor::new(text);
    let module = module(&mut cursor, externals).map_err(|e| format!("line {}: {e}", cursor.line()))?;
    verify::verify(&module).map_err(|errors| errors.join("\n"))?;
    Ok(module)
}

type Parsed<T> = Result<T, String>;

fn module(cursor: &mut Cursor<'_>, externals: &ExternalRegistry) -> Parsed<Module> {
    let mut layout = GlobalsLayout::new();
    let (mut parameters, mut columns) = (Vec::new(), Vec::new());
    let mut texts = Texts::default();
    loop {
        if cursor.eat("global ") {
            let name = cursor.name()?;
            cursor.expect(":")?;
            let ty = cursor.word()?;
            let ty = Type::from_name(ty).ok_or_else(|| format!("unknown type `{ty}`"))?;
            let orders = match cursor.word()? {
                "value" => Orders::Value,
                "uniform" => {
                    layout.add_uniform(name, ty).map_err(|e| e.to_string())?;
                    continue;
                }
                "first" => Orders::First,
                "second" => Orders::Second,
                other => return Err(format!("unknown orders `{other}`")),
            };
            layout.add(name, ty, orders).map_err(|e| e.to_string())?;
        } else if cursor.eat("parameter ") {
            let name = cursor.name()?.to_owned();
            cursor.expect(":")?;
            let scalar = match cursor.word()? {
                "texture2d" => None,
                word => Some(scalar(word)?),
            };
            parameters.push(ParameterWord { name, scalar });
        } else if cursor.eat("column ") {
            let name = cursor.name()?.to_owned();
            cursor.expect(":")?;
            let scalar = scalar(cursor.word()?)?;
            let first = cursor.number()?;
            columns.push(ColumnWord { name, scalar, added: cursor.eat("add"), first });
        } else if cursor.eat("format ") {
            texts.formats.push(cursor.quoted()?);
        } else if cursor.eat("string ") {
            texts.strings.push(cursor.quoted()?);
        } else {
            break;
        }
    }
    let mut parser = Parser {
        module: Module {
            functions: Vec::new(),
            entry: FuncId(0),
            globals: layout.fields().to_vec(),
            parameters,
            columns,
            externals: externals.clone(),
            texts,
            gradients: Gradients::default(),
            gradient_textures: Vec::new(),
            gradient_columns: gradients::Columns::default(),
            gradient_rows: Vec::new(),
            integrals: Vec::new(),
            facets: Vec::new(),
            sources: None,
            inverses: Vec::new(),
        },
        calls: Vec::new(),
        customs: Vec::new(),
    };
    while cursor.eat("gradient ") {
        gradient(cursor, &mut parser.module)?;
    }
    let mut entry = None;
    while !cursor.at_end() {
        if cursor.eat("entry ") {
            entry = Some(FuncId(parser.module.functions.len() as u32));
        }
        let function = parser.function(cursor)?;
        parser.module.functions.push(function);
    }
    parser.module.entry = entry.ok_or("no function is marked `entry`")?;
    parser.resolve_calls()?;
    Ok(parser.module)
}

/// One part of what a host wants differentiated.
fn gradient(cursor: &mut Cursor<'_>, module: &mut Module) -> Parsed<()> {
    let global = |name: &str| {
        let found = module.globals.iter().position(|g| g.name == name);
        found.map(|field| field as u32).ok_or_else(|| format!("no such global: `{name}`"))
    };
    match cursor.word()? {
        "result" => {
            let result = cursor.number()?;
            let field = global(cursor.word()?)?;
            module.gradients.of.push((result, field));
        }
        "parameter" => module.gradients.words.push(cursor.number()?),
        "global" => {
            let field = global(cursor.word()?)?;
            module.gradients.globals.push(field);
        }
        "texels" => module.gradients.textures.push(cursor.number()?),
        kind @ ("wanted" | "column") => {
            let columns = if kind == "wanted" { &mut module.gradients.columns } else { &mut module.gradient_columns };
            match cursor.word()? {
                "by" => columns.by.push((cursor.number()?, cursor.number()?)),
                "of" => columns.of.push((cursor.number()?, cursor.number()?)),
                "alone" => columns.alone = true,
                other => return Err(format!("no gradient is of or by `{other}`")),
            }
        }
        "texture" => module.gradient_textures.push(cursor.number()?),
        other => return Err(format!("no gradient is of or by `{other}`")),
    }
    Ok(())
}

fn scalar(word: &str) -> Parsed<Scalar> {
    match word {
        "bool" => Ok(Scalar::Bool),
        "int" => Ok(Scalar::Int),
        "float" => Ok(Scalar::Float),
        _ => Err(format!("unknown type `{word}`")),
    }
}

fn ty(cursor: &mut Cursor<'_>) -> Parsed<Ty> {
    let word = cursor.word()?;
    if word == "token" {
        return Ok(Ty::Token);
    }
    let scalar = scalar(word)?;
    if !cursor.eat("[") {
        return Ok(Ty::Scalar(scalar));
    }
    let n = cursor.number()?;
    cursor.expect("]")?;
    Ok(Ty::Array(scalar, n))
}

struct Parser {
    module: Module,
    /// Function, instruction and callee of calls, resolved at the end.
    calls: Vec<(usize, Inst, String)>,
    /// Function, and what it calls its derivatives.
    customs: Vec<(usize, [Option<String>; 3])>,
}

/// One function being read.
struct Body {
    function: Function,
    names: HashMap<u32, Value>,
}

impl Body {
    fn define(&mut self, cursor: &mut Cursor<'_>) -> Parsed<(u32, Ty)> {
        cursor.expect("%")?;
        let name = cursor.number()?;
        cursor.expect(":")?;
        Ok((name, ty(cursor)?))
    }

    fn bind(&mut self, name: u32, value: Value) -> Parsed<()> {
        match self.names.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(format!("%{name} is defined twice")),
        }
    }

    fn value(&self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        cursor.expect("%")?;
        let name = cursor.number()?;
        self.names.get(&name).copied().ok_or_else(|| format!("%{name} is not defined yet"))
    }

    fn values(&self, cursor: &mut Cursor<'_>) -> Parsed<Values> {
        let mut out = Values::new();
        if cursor.at_use() {
            out.push(self.value(cursor)?);
            while cursor.eat(",") {
                out.push(self.value(cursor)?);
            }
        }
        Ok(out)
    }

    /// `%0: float, %1: int` up to the closing parenthesis, which is taken.
    fn params(&mut self, cursor: &mut Cursor<'_>, region: Region) -> Parsed<()> {
        while !cursor.eat(")") {
            let (name, ty) = self.define(cursor)?;
            let value = self.function.new_value(ty);
            self.bind(name, value)?;
            self.function.regions[region.index()].params.push(value);
            cursor.eat(",");
        }
        Ok(())
    }
}

impl Parser {
    fn function(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Function> {
        cursor.expect("fn")?;
        cursor.expect("@")?;
        let name = cursor.word()?;
        let mut body = Body { function: Function::new(name, &[], &[]), names: HashMap::new() };
        let region = body.function.body;
        cursor.expect("(")?;
        body.params(cursor, region)?;
        cursor.expect("->")?;
        cursor.expect("(")?;
        while !cursor.eat(")") {
            let ty = ty(cursor)?;
            body.function.results.push(ty);
            cursor.eat(",");
        }
        let forward = named(cursor, "forward ")?;
        let backward = named(cursor, "backward ")?;
        for (word, prefer) in [("recompute ", Prefer::Recompute), ("checkpoint ", Prefer::Checkpoint)] {
            if cursor.eat(word) {
                body.function.prefer = prefer;
            }
        }
        body.function.spends = cursor.eat("spends ");
        let undo = named(cursor, "undo ")?;
        self.customs.push((self.module.functions.len(), [forward, backward, undo]));
        cursor.expect("{")?;
        self.region(cursor, &mut body, region, "return")?;
        Ok(body.function)
    }

    /// Instructions up to `end` and its values, then `}`.
    fn region(&mut self, cursor: &mut Cursor<'_>, body: &mut Body, region: Region, end: &str) -> Parsed<()> {
        while cursor.peek_word() != end {
            let inst = self.inst(cursor, body)?;
            body.function.regions[region.index()].insts.push(inst);
        }
        cursor.word()?;
        body.function.regions[region.index()].results = body.values(cursor)?;
        cursor.expect("}")
    }

    fn inst(&mut self, cursor: &mut Cursor<'_>, body: &mut Body) -> Parsed<Inst> {
        let mut results = Vec::new();
        if cursor.preview().starts_with('%') {
            results.push(body.define(cursor)?);
            while cursor.eat(",") {
                results.push(body.define(cursor)?);
            }
            cursor.expect("=")?;
        }
        let mut data = InstData {
            op: Op::If,
            args: Values::new(),
            results: SmallVec::new(),
            regions: SmallVec::new(),
            span: Span::default(),
        };
        let mut callee = None;
        let word = cursor.word()?;
        match word {
            "if" => self.if_inst(cursor, body, &mut data)?,
            "call" | "jvp" | "vjp" => {
                let function = FuncId(0);
                data.op = match word {
                    "jvp" => Op::Jvp { function, screen: cursor.number()? },
                    "vjp" => Op::Vjp { function, screen: cursor.number()? },
                    _ => Op::Call(function),
                };
                cursor.expect("@")?;
                callee = Some(cursor.word()?.to_owned());
                data.args = body.values(cursor)?;
            }
            word if word == "loop" || word.starts_with("loop.") => {
                let checkpoint = Checkpoint::from_name(&word["loop".len()..]);
                data.op = Op::Loop(checkpoint.ok_or_else(|| format!("unknown operation `{word}`"))?);
                self.loop_inst(cursor, body, &mut data)?;
            }
            word => {
                data.op = self.op(word, cursor)?;
                data.args = body.values(cursor)?;
            }
        }
        for (name, ty) in results {
            let value = body.function.new_value(ty);
            body.bind(name, value)?;
            data.results.push(value);
        }
        let inst = body.function.new_inst(data);
        if let Some(callee) = callee {
            self.calls.push((self.module.functions.len(), inst, callee));
        }
        Ok(inst)
    }

    fn if_inst(&mut self, cursor: &mut Cursor<'_>, body: &mut Body, data: &mut InstData) -> Parsed<()> {
        data.args.push(body.value(cursor)?);
        for word in ["{", "else"] {
            if word == "else" {
                cursor.expect("else")?;
            }
            cursor.expect("{")?;
            let region = body.function.new_region(&[]);
            self.region(cursor, body, region, "yield")?;
            data.regions.push(region);
        }
        Ok(())
    }

    fn loop_inst(&mut self, cursor: &mut Cursor<'_>, body: &mut Body, data: &mut InstData) -> Parsed<()> {
        let (condition, inner) = (body.function.new_region(&[]), body.function.new_region(&[]));
        data.regions = SmallVec::from_slice(&[condition, inner]);
        cursor.expect("(")?;
        while !cursor.eat(")") {
            let (name, ty) = body.define(cursor)?;
            cursor.expect("=")?;
            data.args.push(body.value(cursor)?);
            let value = body.function.new_value(ty);
            body.bind(name, value)?;
            body.function.regions[condition.index()].params.push(value);
            cursor.eat(",");
        }
        cursor.expect("while")?;
        cursor.expect("{")?;
        self.region(cursor, body, condition, "test")?;
        cursor.expect("do")?;
        cursor.expect("(")?;
        body.params(cursor, inner)?;
        cursor.expect("{")?;
        self.region(cursor, body, inner, "yield")
    }

    fn op(&self, word: &str, cursor: &mut Cursor<'_>) -> Parsed<Op> {
        if let Some(&(op, _)) = SIMPLE.iter().find(|(_, name)| *name == word) {
            return Ok(op);
        }
        let named = |text: &str| {
            let float1 = Float1::ALL.iter().find(|o| o.name() == text).map(|&o| Op::Float1(o));
            let float2 = || Float2::ALL.iter().find(|o| o.name() == text).map(|&o| Op::Float2(o));
            let int1 = || Int1::ALL.iter().find(|o| o.name() == text).map(|&o| Op::Int1(o));
            let int2 = || Int2::ALL.iter().find(|o| o.name() == text).map(|&o| Op::Int2(o));
            let direction = || Direction::ALL.iter().find(|o| o.name() == text).map(|&o| Op::Derivative(o));
            float1.or_else(float2).or_else(int1).or_else(int2).or_else(direction)
        };
        if let Some(op) = named(word) {
            return Ok(op);
        }
        let compare = |text: &str| Compare::ALL.iter().find(|c| c.name() == text).copied();
        if let Some(op) = word.strip_prefix("fcmp.").and_then(compare) {
            return Ok(Op::FloatCompare(op));
        }
        if let Some(op) = word.strip_prefix("icmp.").and_then(compare) {
            return Ok(Op::IntCompare(op));
        }
        Ok(match word {
            "const" => Op::Const(constant(cursor.word()?)?),
            "parameter" => Op::Parameter { word: cursor.number()?, scalar: scalar(cursor.word()?)? },
            "global" => self.global(cursor.word()?)?,
            "sample" => Op::Sample { word: cursor.number()? },
            "texture" => Op::Texture { word: cursor.number()?, gradient: false, level: false },
            "texture.gradient" => Op::Texture { word: cursor.number()?, gradient: true, level: false },
            "texture.level" => Op::Texture { word: cursor.number()?, gradient: false, level: true },
            "texture.level.gradient" => Op::Texture { word: cursor.number()?, gradient: true, level: true },
            "texture_adjoint" => Op::TextureAdjoint { word: cursor.number()?, level: false },
            "texture_adjoint.level" => Op::TextureAdjoint { word: cursor.number()?, level: true },
            "texture_size.u" => Op::TextureSize { word: cursor.number()?, axis: Axis::U },
            "texture_size.v" => Op::TextureSize { word: cursor.number()?, axis: Axis::V },
            "clamp_element" => Op::ClampElement(cursor.number()?),
            "element" => Op::Element { column: cursor.number()?, scalar: scalar(cursor.word()?)? },
            "buffer_length" => Op::BufferLength(cursor.number()?),
            "add_to" => Op::AddTo(cursor.number()?),
            "clamp_index" => Op::ClampIndex(cursor.number()?),
            "external" => {
                let name = cursor.word()?;
                let found = self.module.externals.find(name);
                Op::External(found.ok_or_else(|| format!("the host has no function `{name}`"))?.0)
            }
            "push" => Op::Push(site(cursor)?),
            "pop" => Op::Pop(site(cursor)?),
            "burn" => Op::Burn(cursor.number()?),
            "prepay" => Op::Prepay(cursor.number()?),
            "print" => Op::Print(cursor.number()?),
            "probe" => Op::Probe(cursor.number()?),
            _ => return Err(format!("unknown operation `{word}`")),
        })
    }

    /// `position.1.ddx`
    fn global(&self, text: &str) -> Parsed<Op> {
        let mut parts = text.rsplitn(3, '.');
        let (order, component, name) = (parts.next(), parts.next(), parts.next());
        let order = Order::ALL.into_iter().find(|o| Some(o.name()) == order);
        let field = name.and_then(|name| self.module.globals.iter().position(|g| g.name == name));
        match (order, component.and_then(|c| c.parse().ok()), field) {
            (Some(order), Some(component), Some(field)) => Ok(Op::Global { field: field as u32, component, order }),
            _ => Err(format!("no such global: `{text}`")),
        }
    }

    fn resolve_calls(&mut self) -> Parsed<()> {
        let ids: HashMap<String, u32> =
            self.module.functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i as u32)).collect();
        let targets: Vec<Option<u32>> = self.calls.iter().map(|(.., name)| ids.get(name).copied()).collect();
        for ((function, inst, name), target) in self.calls.drain(..).zip(targets) {
            let target = target.ok_or_else(|| format!("the function @{name} does not exist"))?;
            if let Some(callee) = self.module.functions[function].insts[inst.index()].op.callee_mut() {
                *callee = FuncId(target);
            }
        }
        for (function, [forward, backward, undo]) in self.customs.drain(..) {
            let find = |name: Option<String>| match name {
                None => Ok(None),
                Some(name) => match ids.get(&name) {
                    Some(&id) => Ok(Some(FuncId(id))),
                    None => Err(format!("the function @{name} does not exist")),
                },
            };
            self.module.functions[function].custom = Custom { forward: find(forward)?, backward: find(backward)? };
            self.module.functions[function].undo = find(undo)?;
        }
        Ok(())
    }
}

fn site(cursor: &mut Cursor<'_>) -> Parsed<Site> {
    let word = cursor.word()?;
    word.parse().map_err(|_| format!("`{word}` is no site of a tape"))
}

/// The function that a word of a function's head names, if the word stands there.
fn named(cursor: &mut Cursor<'_>, word: &str) -> Parsed<Option<String>> {
    if !cursor.eat(word) {
        return Ok(None);
    }
    cursor.expect("@")?;
    Ok(Some(cursor.word()?.to_owned()))
}

fn constant(word: &str) -> Parsed<Const> {
    let bad = || format!("`{word}` is not a constant");
    if let Some(bits) = word.strip_prefix("nan:0x") {
        return u32::from_str_radix(bits, 16).map(Const::Float).map_err(|_| bad());
    }
    match word {
        "true" => Ok(Const::Bool(true)),
        "false" => Ok(Const::Bool(false)),
        "inf" | "-inf" => word.parse().map(Const::float).map_err(|_| bad()),
        _ if word.contains(['.', 'e']) => word.parse().map(Const::float).map_err(|_| bad()),
        _ => word.parse().map(Const::Int).map_err(|_| bad()),
    }
}
