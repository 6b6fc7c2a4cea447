//! Pictures of graphs: what is drawn ([`Diagram`]), where ([`layout`]), and how ([`svg`], [`dot`]).

pub mod dot;
pub mod layout;
pub mod svg;

use super::group::{Literal, UnitSource};
use super::marks::Mark;
use super::resolve::{GLOBAL, Net, Source};
use std::collections::HashMap;

/// A box with inputs on its left and outputs on its right.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub title: String,
    /// Which shader it is.
    pub subtitle: String,
    pub inputs: Vec<Port>,
    pub outputs: Vec<String>,
    pub kind: Kind,
    pub mark: Mark,
    /// No output of the graph needs it.
    pub unused: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    #[default]
    Unit,
    /// An argument of the graph, or a global.
    Source,
    /// The outputs of the graph.
    Outputs,
}

#[derive(Clone, Debug)]
pub struct Port {
    pub name: String,
    /// What it is set to, if it is set.
    pub value: Option<String>,
}

/// From an output to an input, each a node and the number of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: (usize, usize),
    pub to: (usize, usize),
    /// The components that are taken, such as `.x`.
    pub label: String,
}

/// A graph as boxes and lines between them, without places.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    pub title: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

impl Diagram {
    pub(super) fn of(net: &Net<'_>, marks: &[Mark]) -> Diagram {
        let group = net.group;
        let mut diagram = Diagram { title: group.name.clone(), ..Diagram::default() };
        for (i, node) in net.nodes.iter().enumerate() {
            diagram.nodes.push(Node {
                title: node.unit.name.clone(),
                subtitle: subtitle(&node.unit.source),
                inputs: node
                    .wires
                    .iter()
                    .map(|w| Port { name: node.interface.ports[w.port].name.clone(), value: value(&w.source) })
                    .collect(),
                outputs: node.interface.outputs().map(|p| p.name.clone()).collect(),
                kind: Kind::Unit,
                mark: marks.get(i).copied().unwrap_or_default(),
                unused: !net.used[i],
            });
        }
        let mut sources: HashMap<String, usize> = HashMap::new();
        for (i, node) in net.nodes.iter().enumerate() {
            for (port, wire) in node.wires.iter().enumerate() {
                diagram.connect(net, &wire.source, (i, port), &mut sources);
            }
        }
        let outputs = diagram.nodes.len();
        diagram.nodes.push(Node {
            title: "outputs".to_owned(),
            inputs: group.outputs.iter().map(|o| Port { name: o.name.clone(), value: None }).collect(),
            kind: Kind::Outputs,
            ..Node::default()
        });
        for (port, source) in net.roots.iter().enumerate() {
            if let Some(source) = source {
                diagram.connect(net, source, (outputs, port), &mut sources);
            }
        }
        diagram
    }

    /// Draws what an input is connected to; arguments and globals are boxes of their own.
    fn connect(
        &mut self,
        net: &Net<'_>,
        source: &Source<'_>,
        to: (usize, usize),
        sources: &mut HashMap<String, usize>,
    ) {
        let (from, label) = match source {
            Source::Unit { unit, port, access } => {
                let ports = &net.nodes[*unit].interface.ports;
                ((*unit, ports[..*port].iter().filter(|p| !p.input).count()), (*access).to_owned())
            }
            Source::Argument(i) => match net.group.arguments.get(*i) {
                Some(a) => ((self.source(&a.name, "argument", sources), 0), String::new()),
                None => return,
            },
            Source::Global { name, access } => ((self.source(name, GLOBAL, sources), 0), (*access).to_owned()),
            Source::Literal(_) | Source::Texture(_) | Source::Unknown => return,
        };
        self.edges.push(Edge { from, to, label });
    }

    fn source(&mut self, name: &str, subtitle: &str, sources: &mut HashMap<String, usize>) -> usize {
        *sources.entry(format!("{subtitle} {name}")).or_insert_with(|| {
            self.nodes.push(Node {
                title: name.to_owned(),
                subtitle: subtitle.to_owned(),
                outputs: vec![String::new()],
                kind: Kind::Source,
                ..Node::default()
            });
            self.nodes.len() - 1
        })
    }
}

fn subtitle(source: &UnitSource) -> String {
    let with = |what: &str, shader: &Option<String>| match shader {
        Some(name) => format!("{what}, {name}"),
        None => what.to_owned(),
    };
    match source {
        UnitSource::File { path, shader, .. } => with(path, shader),
        UnitSource::Text { shader, .. } => with("inline", shader),
        UnitSource::Group(group) => format!("graph {}", group.name),
    }
}

fn value(source: &Source<'_>) -> Option<String> {
    let number = |x: &f64| x.to_string();
    let text = match source {
        Source::Texture(image) => image.file.clone(),
        Source::Literal(Literal::Bool(b)) => b.to_string(),
        Source::Literal(Literal::Int(i)) => i.to_string(),
        Source::Literal(Literal::Float(x)) => number(x),
        Source::Literal(Literal::Text(t)) => format!("\"{t}\""),
        Source::Literal(Literal::List(list)) => format!("[{}]", list.iter().map(number).collect::<Vec<_>>().join(", ")),
        Source::Argument(_) | Source::Unit { .. } | Source::Global { .. } | Source::Unknown => return None,
    };
    // Long values would make wide boxes.
    Some(match text.char_indices().nth(24) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}
