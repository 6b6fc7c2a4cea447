//! The inputs of a test, and the `shade eval` command that gives them to the shader again.

use super::numeric::Seeds;
use super::texture::TestPattern;
use crate::facade::BackendKind;
use crate::runtime::{GlobalsLayout, ParameterValue};
use crate::types::{Type, TypeTable};
use std::path::PathBuf;

/// What a test gave a parameter or texture slot.
#[derive(Clone, Debug)]
pub(super) enum Given {
    Value(ParameterValue),
    Texture(TestPattern),
}

/// Everything that a shader was run with.
pub(super) struct Inputs<'a> {
    pub layout: &'a GlobalsLayout,
    pub seeds: &'a Seeds,
    pub given: &'a [(String, Given)],
}

impl Inputs<'_> {
    /// The globals that were given other values than they have anyway: name, type, and value with both partials.
    fn globals(&self) -> impl Iterator<Item = (&str, String, [&Vec<f64>; 3])> {
        self.layout.fields().iter().enumerate().filter_map(|(i, field)| {
            let all = [&self.seeds.values[i], &self.seeds.partials[0][i], &self.seeds.partials[1][i]];
            // The other zero is an input too.
            let own = |c: usize, x: &f64| x.to_bits() != f64::from(field.rest(c)).to_bits();
            let is_set = all[0].iter().enumerate().any(|(c, x)| own(c, x))
                || all[1..].iter().any(|v| v.iter().any(|x| x.to_bits() != 0));
            is_set.then(|| (field.name.as_str(), TypeTable::default().display(&field.ty).to_string(), all))
        })
    }

    /// A line for each, as a test would set them.
    pub fn lines(&self) -> Vec<String> {
        let global = |(name, _, all): (&str, String, [&Vec<f64>; 3])| {
            let [value, ddx, ddy] = all.map(|v| numbers(v));
            let moves = all[1..].iter().any(|v| v.iter().any(|x| *x != 0.0));
            if moves { format!("{name} = dual({value}, {ddx}, {ddy})") } else { format!("{name} = {value}") }
        };
        let parameter = |(name, value): &(String, Given)| format!("{name} = {}", text(value));
        self.globals().map(global).chain(self.given.iter().map(parameter)).collect()
    }

    /// Runs one shader with these inputs.
    pub fn command(&self, file: &str, folders: &[PathBuf], shader: &str, backend: BackendKind) -> String {
        let mut out = format!("shade eval {} --entry {shader} --backend {}", quoted(file), backend.name());
        for folder in folders {
            out.push_str(&format!(" --include {}", quoted(&folder.display().to_string())));
        }
        for (name, ty, all) in self.globals() {
            let orders = all.map(|v| numbers(v)).join(",");
            out.push_str(&format!(" --global {}", quoted(&format!("{name}:{ty}={orders}"))));
        }
        for (name, value) in self.given {
            out.push_str(&format!(" --param {}", quoted(&format!("{name}={}", text(value)))));
        }
        out
    }
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A number as one would write it: what is a float, by the fewest digits that mean this float.
pub(super) fn number(x: f64) -> String {
    let float = x as f32;
    if x.fract() == 0.0 || f64::from(float) != x {
        x.to_string()
    } else if x.abs() < 1e-3 {
        format!("{float:e}")
    } else {
        float.to_string()
    }
}

/// One number, or several in parentheses.
pub(super) fn numbers(v: &[f64]) -> String {
    let list: Vec<String> = v.iter().copied().map(number).collect();
    if list.len() == 1 { list[0].clone() } else { format!("({})", list.join(",")) }
}

/// Numbers as the value of a parameter of a type; where the type is unknown, setting it will say so.
pub(super) fn parameter_value(ty: Option<&Type>, v: &[f64]) -> ParameterValue {
    match (ty, v) {
        (Some(Type::Bool), [x]) => ParameterValue::Bool(*x != 0.0),
        (Some(Type::Int), [x]) => ParameterValue::Int(*x as i32),
        (_, [x]) => ParameterValue::Float(*x as f32),
        _ => ParameterValue::Vector(v.iter().map(|x| *x as f32).collect()),
    }
}

fn text(value: &Given) -> String {
    match value {
        Given::Value(ParameterValue::Bool(b)) => b.to_string(),
        Given::Value(ParameterValue::Int(i)) => i.to_string(),
        Given::Value(ParameterValue::Float(x)) => x.to_string(),
        Given::Value(ParameterValue::Vector(v)) => numbers(&v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()),
        Given::Value(ParameterValue::String(text)) => format!("\"{text}\""),
        Given::Value(ParameterValue::Texture(i)) => i.to_string(),
        Given::Texture(pattern) => pattern.to_string(),
    }
}
