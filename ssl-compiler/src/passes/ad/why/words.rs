//! The names of operations in the language.

use super::Step;
use crate::ir::{Compare, Float1, Float2, Function, Inst, Module, Op, Value};
use crate::runtime::Order;
use crate::source::Span;

/// What makes each value of a function.
pub(super) struct Words {
    definitions: Vec<Option<Inst>>,
    steps: Vec<Option<Step>>,
}

impl Words {
    pub fn of(module: &Module, f: &Function) -> Words {
        let n = f.types.len();
        let mut words = Words { definitions: vec![None; n], steps: vec![None; n] };
        f.walk(|inst, data| {
            for &r in &data.results {
                words.definitions[r.index()] = Some(inst);
                words.steps[r.index()] = Some(Step { span: data.span, operation: name(module, data.op) });
            }
            // What a loop carries is its own doing.
            for &p in data.regions.iter().flat_map(|&r| &f.region(r).params) {
                words.steps[p.index()] = Some(Step { span: data.span, operation: name(module, data.op) });
            }
        });
        for &param in f.params() {
            // Parameters have no instruction, but the author's have a name where they are declared.
            let binding = f.bindings.iter().find(|b| b.value == param && b.span != Span::default());
            words.steps[param.index()] = binding
                .map(|b| Step { span: b.span, operation: format!("parameter `{}` of `{}`", b.part, b.function) });
        }
        words
    }

    pub fn definition(&self, v: Value) -> Option<Inst> {
        self.definitions[v.index()]
    }

    pub fn step(&self, v: Value) -> Option<Step> {
        self.steps[v.index()].clone()
    }
}

/// What a sink is called.
pub(super) fn sink_name(op: Op) -> String {
    match op {
        Op::TextureSize { .. } => "texture2d_size".to_owned(),
        Op::Derivative(d) => d.name().to_owned(),
        Op::Push(_) => "kept for a gradient".to_owned(),
        _ => "texture2d_sample coordinates".to_owned(),
    }
}

fn name(module: &Module, op: Op) -> String {
    match op {
        Op::Global { field, component, order } => global(module, field, component, order),
        Op::Float1(Float1::Neg) => "-".to_owned(),
        Op::Float1(Float1::Abs) => "abs".to_owned(),
        Op::Float1(op) => op.name().to_owned(),
        Op::Float2(op) => float2(op).to_owned(),
        Op::FloatCompare(op) => compare(op).to_owned(),
        Op::Select => "?:".to_owned(),
        Op::If => "if".to_owned(),
        Op::Loop(_) => "loop".to_owned(),
        Op::ArrayNew | Op::ArrayFill => "array".to_owned(),
        Op::ArrayGet => "element".to_owned(),
        Op::ArraySet => "element set".to_owned(),
        Op::Sample { .. } | Op::Texture { .. } => "texture2d_sample".to_owned(),
        Op::TextureSize { .. } => "texture2d_size".to_owned(),
        Op::Derivative(d) => d.name().to_owned(),
        Op::Call(callee) => format!("call of `{}`", module.function(callee).name),
        Op::External(id) => match module.externals.get(id) {
            Some(e) => format!("call of `{}`", e.name),
            None => "call".to_owned(),
        },
        Op::Const(_) => "constant".to_owned(),
        Op::Parameter { word, .. } => match module.parameters.get(word as usize) {
            Some(p) => format!("parameter `{}`", p.name),
            None => "parameter".to_owned(),
        },
        Op::Jvp { function, .. } => format!("derivative of `{}` along tangents", module.function(function).name),
        Op::Vjp { function, .. } => format!("gradient of `{}`", module.function(function).name),
        Op::Detach => "detach".to_owned(),
        Op::Boundary | Op::Cross | Op::Pin | Op::Barrier(_) => "the boundaries of an integral".to_owned(),
        Op::Push(_) | Op::Pop(_) => "kept for a gradient".to_owned(),
        Op::Fma => "fma".to_owned(),
        Op::CubicRoot => "place on a curve".to_owned(),
        Op::Finite => "made finite".to_owned(),
        _ => "conversion".to_owned(),
    }
}

/// `global_value<position>.x`, with the partial that it is where it is one.
fn global(module: &Module, field: u32, component: u32, order: Order) -> String {
    let Some(field) = module.globals.get(field as usize) else { return "global_value".to_owned() };
    let part = match field.components() {
        1 => String::new(),
        16 => format!("[{}][{}]", component / 4, component % 4),
        _ => format!(".{}", ["x", "y", "z", "w"][component as usize & 3]),
    };
    let value = format!("global_value<{}>{part}", field.name);
    match order {
        Order::Value => value,
        Order::Ddx => format!("{value}, ∂/∂x"),
        Order::Ddy => format!("{value}, ∂/∂y"),
        Order::Dxx => format!("{value}, ∂²/∂x²"),
        Order::Dxy => format!("{value}, ∂²/∂x∂y"),
        Order::Dyy => format!("{value}, ∂²/∂y²"),
    }
}

fn float2(op: Float2) -> &'static str {
    match op {
        Float2::Add => "+",
        Float2::Sub => "-",
        Float2::Mul => "*",
        Float2::Div => "/",
        Float2::Min => "min",
        Float2::Max => "max",
        other => other.name(),
    }
}

fn compare(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}
