//! The `shade eval` command that shows again what a test met.

use super::numeric::Seeds;
use crate::facade::BackendKind;
use crate::runtime::{GlobalsLayout, ParameterValue};
use crate::types::{Type, TypeTable};
use std::path::PathBuf;

/// Runs one shader with these globals and parameters.
pub(super) fn repeat(
    file: &str,
    folders: &[PathBuf],
    shader: &str,
    backend: BackendKind,
    layout: &GlobalsLayout,
    seeds: &Seeds,
    given: &[(String, ParameterValue)],
) -> String {
    let mut out = format!("shade eval {file} --entry {shader} --backend {}", backend.name());
    for folder in folders {
        out.push_str(&format!(" --include '{}'", folder.display()));
    }
    for (i, field) in layout.fields().iter().enumerate() {
        let all = [&seeds.values[i], &seeds.partials[0][i], &seeds.partials[1][i]];
        if all.iter().any(|v| v.iter().any(|x| *x != 0.0)) {
            let ty = TypeTable::default().display(&field.ty).to_string();
            out.push_str(&format!(" --global '{}:{ty}={}'", field.name, all.map(|v| numbers(v)).join(",")));
        }
    }
    for (name, value) in given {
        out.push_str(&format!(" --param '{name}={}'", parameter_text(value)));
    }
    out
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

fn parameter_text(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Bool(b) => b.to_string(),
        ParameterValue::Int(i) => i.to_string(),
        ParameterValue::Float(x) => x.to_string(),
        ParameterValue::Vector(v) => numbers(&v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()),
        ParameterValue::String(text) => format!("{text:?}"),
        ParameterValue::Texture(i) => i.to_string(),
    }
}
