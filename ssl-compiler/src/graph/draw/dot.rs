//! A diagram in the language of Graphviz.

use super::{Diagram, Kind, Node};
use crate::graph::marks::Mark;
use std::fmt::Write as _;

pub fn dot(diagram: &Diagram) -> String {
    let mut out = format!(
        "digraph \"{}\" {{\n  rankdir = LR;\n  node [shape = record, style = filled, fillcolor = white, fontname = \"sans-serif\"];\n",
        quoted(&diagram.title)
    );
    for (i, node) in diagram.nodes.iter().enumerate() {
        let fill = match (node.kind, node.mark) {
            (Kind::Unit, Mark::Derivative) => "palegreen",
            (Kind::Unit, Mark::Constant) => "lightgrey",
            (Kind::Unit, Mark::Plain) => "white",
            (Kind::Source | Kind::Outputs, _) => "aliceblue",
        };
        let style = if node.unused { "\"filled,dashed\"" } else { "filled" };
        let _ = writeln!(out, "  n{i} [label = \"{}\", fillcolor = {fill}, style = {style}];", label(node));
    }
    for edge in &diagram.edges {
        let from = match diagram.nodes[edge.from.0].kind {
            Kind::Source => format!("n{}", edge.from.0),
            _ => format!("n{}:o{}", edge.from.0, edge.from.1),
        };
        let label =
            if edge.label.is_empty() { String::new() } else { format!(" [label = \"{}\"]", quoted(&edge.label)) };
        let _ = writeln!(out, "  {from} -> n{}:i{}{label};", edge.to.0, edge.to.1);
    }
    out.push_str("}\n");
    out
}

/// Inputs, name, outputs, side by side.
fn label(node: &Node) -> String {
    let inputs = node.inputs.iter().enumerate().map(|(i, p)| {
        let value = p.value.as_ref().map_or(String::new(), |v| format!(" = {}", field(v)));
        format!("<i{i}> {}{value}", field(&p.name))
    });
    let outputs = node.outputs.iter().enumerate().map(|(i, o)| format!("<o{i}> {}", field(o)));
    let side = |list: Vec<String>| if list.is_empty() { String::new() } else { format!("{{{}}}", list.join("|")) };
    let title = match node.subtitle.as_str() {
        "" => field(&node.title),
        subtitle => format!("{}\\n{}", field(&node.title), field(subtitle)),
    };
    let outputs = if node.kind == Kind::Source { String::new() } else { side(outputs.collect()) };
    let parts = [side(inputs.collect()), title, outputs];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("|")
}

/// Text inside quotes.
fn quoted(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

/// Text inside a field of a record, where more characters mean something.
fn field(text: &str) -> String {
    quoted(text).chars().fold(String::new(), |mut out, c| {
        if "{}|<>".contains(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
