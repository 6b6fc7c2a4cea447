//! How a parameter of a linked shader is written: its type and name, its default, and its metadata for user interfaces.

use super::group::{Argument, Literal, ShaderGroup};
use super::interface::Port;
use super::text::Text;
use super::values::{literal, quoted};

/// A parameter of the linked shader.
pub fn declaration(group: &ShaderGroup, port: &Port, default: Option<&Literal>) -> Text {
    let argument = group.arguments.iter().find(|a| port.input && a.name == port.name);
    let output = group.outputs.iter().find(|o| !port.input && o.name == port.name);
    let at = argument.and_then(|a| a.at).or_else(|| output.and_then(|o| o.at));
    let direction = if port.input { "" } else { "out " };
    let mut text = Text::default();
    text.piece(at, |t| {
        t.push(&format!("{direction}{} {}", port.type_name, port.name));
        if let Some(value) = default.and_then(|v| literal(v, &port.ty, &port.type_name).ok()) {
            t.push(&format!(" = {value}"));
        }
        t.push(&argument.map(metadata).unwrap_or_default());
    });
    text
}

/// What an argument tells user interfaces, as metadata of the shader's parameter.
fn metadata(argument: &Argument) -> String {
    let label = argument.label.as_ref().map(|text| format!("label = {}", quoted(text)));
    let bound = |name: &str, value: Option<f64>| value.filter(|x| x.is_finite()).map(|x| format!("{name} = {x:?}"));
    let list: Vec<String> =
        label.into_iter().chain(bound("min", argument.min)).chain(bound("max", argument.max)).collect();
    if list.is_empty() { String::new() } else { format!(" <<< {} >>>", list.join(", ")) }
}
