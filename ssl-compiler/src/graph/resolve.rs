//! From names to units: the value of each input of a group, the order in which the units run, and what is wrong with
//! them. The checker, which reads the linked text, finds out whether the types agree.

use super::group::{Argument, Given, Input, Literal, Place, ShaderGroup, TextureImage, Unit};
use super::interface::{Interface, Port};
use super::text::{is_name, is_word};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, closest, codes};
use crate::source::Span;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// What an input is given, by number.
#[derive(Clone, Debug)]
pub enum Source<'g> {
    Literal(&'g Literal),
    Texture(&'g TextureImage),
    /// Of the group.
    Argument(usize),
    Unit {
        unit: usize,
        port: usize,
        /// `.x`, or nothing.
        access: &'g str,
    },
    Global {
        name: &'g str,
        access: &'g str,
    },
    /// What was asked for is not there, which was said.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Wire<'g> {
    pub port: usize,
    pub source: Source<'g>,
    pub at: Place,
}

#[derive(Debug)]
pub struct Node<'g> {
    pub unit: &'g Unit,
    pub interface: Rc<Interface>,
    pub wires: Vec<Wire<'g>>,
    /// Texture slots of the unit's file that it binds.
    pub slots: Vec<(&'g str, &'g TextureImage, Place)>,
}

/// A group with its names resolved.
#[derive(Debug)]
pub struct Net<'g> {
    pub group: &'g ShaderGroup,
    pub nodes: Vec<Node<'g>>,
    /// The nodes, each behind those that it needs.
    pub order: Vec<usize>,
    /// Whether an output needs the node.
    pub used: Vec<bool>,
    /// For each output of the group.
    pub roots: Vec<Option<Source<'g>>>,
    /// For each argument: node and port of what it feeds.
    pub fed: Vec<Vec<(usize, usize)>>,
}

/// The unit name that stands for the host's globals.
pub const GLOBAL: &str = "global";

/// Resolves a group whose units have these interfaces; `None` for a unit with something wrong in it.
pub fn resolve<'g>(
    group: &'g ShaderGroup,
    interfaces: Vec<Option<Rc<Interface>>>,
    diagnostics: &mut Diagnostics,
) -> Net<'g> {
    let complete: Vec<bool> = interfaces.iter().map(Option::is_some).collect();
    let node = |(unit, i): (&'g Unit, Option<Rc<Interface>>)| Node {
        unit,
        interface: i.unwrap_or_default(),
        wires: Vec::new(),
        slots: Vec::new(),
    };
    let net = Net {
        group,
        nodes: group.units.iter().zip(interfaces).map(node).collect(),
        order: Vec::new(),
        used: Vec::new(),
        roots: Vec::new(),
        fed: Vec::new(),
    };
    let mut resolver = Resolver { net, complete, names: HashMap::new(), diagnostics };
    resolver.names();
    resolver.inputs();
    resolver.arguments();
    resolver.roots();
    resolver.unconnected();
    resolver.order();
    resolver.unused();
    resolver.net
}

struct Resolver<'g, 'd> {
    net: Net<'g>,
    /// Units whose interface is known.
    complete: Vec<bool>,
    names: HashMap<&'g str, usize>,
    diagnostics: &'d mut Diagnostics,
}

/// An error at a place, or about the group as a whole.
pub fn error_at(code: &'static Code, at: Place, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
    match at {
        Some(span) => Diagnostic::error(code, span, message, hint),
        None => Diagnostic::without_place(code, message, hint),
    }
}

fn label(diagnostic: Diagnostic, at: Place, text: &str) -> Diagnostic {
    match at {
        Some(span) => diagnostic.with_label(span, text),
        None => diagnostic,
    }
}

/// `a, b, c`, or what is said where there is nothing.
fn listed<'a>(names: impl Iterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    if names.is_empty() { none.to_owned() } else { format!("it has {}", names.join(", ")) }
}

fn suggestion<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone, none: &str) -> String {
    match closest(wanted, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => listed(names, none),
    }
}

impl<'g> Resolver<'g, '_> {
    fn error(&mut self, code: &'static Code, at: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(error_at(code, at, message, hint));
    }

    /// Every name can be used and stands there once.
    fn names(&mut self) {
        let group = self.net.group;
        if !is_name(&group.name) {
            self.bad_name("graph", &group.name, group.at);
        }
        for (i, unit) in group.units.iter().enumerate() {
            if unit.name == GLOBAL || !is_word(&unit.name) {
                self.bad_name("unit", &unit.name, unit.at);
            }
            if let Some(first) = self.names.insert(&unit.name, i) {
                self.twice("units", &unit.name, unit.at, group.units[first].at);
            }
        }
        let arguments = group.arguments.iter().map(|a| (&a.name, a.at, "argument"));
        let outputs = group.outputs.iter().map(|o| (&o.name, o.at, "output"));
        let mut known: HashMap<&str, Place> = HashMap::new();
        for (name, at, what) in arguments.chain(outputs) {
            if !is_name(name) {
                self.bad_name(what, name, at);
            }
            if let Some(first) = known.insert(name, at) {
                self.twice("arguments or outputs", name, at, first);
            }
        }
    }

    fn bad_name(&mut self, what: &str, name: &str, at: Place) {
        let message = format!("the {what} cannot be called `{name}`");
        let hint = match what {
            "unit" if name == GLOBAL => "`global` stands for the globals of the host",
            "unit" => "names of units are made of letters, digits and `_`, and do not begin with a digit",
            _ => {
                "names are made of letters, digits and `_`, do not begin with a digit, and are no words of the language"
            }
        };
        self.error(&codes::GRAPH_NAME, at, message, hint);
    }

    fn twice(&mut self, what: &str, name: &str, at: Place, first: Place) {
        let message = format!("two {what} are called `{name}`");
        let diagnostic = error_at(&codes::GRAPH_NAME, at, message, "rename one of them");
        self.diagnostics.push(label(diagnostic, first, "the other one"));
    }

    fn unit(&mut self, name: &str, at: Place) -> Option<usize> {
        if let Some(&i) = self.names.get(name) {
            return Some(i);
        }
        let names = self.net.group.units.iter().map(|u| u.name.as_str());
        let hint = match closest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add a unit of this name, such as `[units.{name}]`"),
        };
        self.error(&codes::UNKNOWN_UNIT, at, format!("there is no unit `{name}`"), hint);
        None
    }

    fn inputs(&mut self) {
        for (i, unit) in self.net.group.units.iter().enumerate() {
            for input in &unit.inputs {
                self.input(i, input);
            }
        }
    }

    fn input(&mut self, node: usize, input: &'g Input) {
        // A connection is looked at even where its target is unknown.
        let source = match &input.given {
            Given::Value(literal) => Some(Source::Literal(literal)),
            Given::Texture(image) => Some(Source::Texture(image)),
            Given::Connection(from) => self.connection(from, input.at),
        };
        let interface = self.net.nodes[node].interface.clone();
        let Some(port) = interface.input(&input.parameter) else {
            if let (Given::Texture(image), true) = (&input.given, interface.slots.contains(&input.parameter)) {
                return self.net.nodes[node].slots.push((&input.parameter, image, input.at));
            }
            return self.unknown_input(node, &input.parameter, input.at);
        };
        self.wire(node, Wire { port, source: source.unwrap_or(Source::Unknown), at: input.at });
    }

    fn wire(&mut self, node: usize, wire: Wire<'g>) {
        let node = &mut self.net.nodes[node];
        if let Some(first) = node.wires.iter().find(|w| w.port == wire.port) {
            let name = &node.interface.ports[wire.port].name;
            let how = |s: &Source<'_>| match s {
                Source::Literal(_) => "set",
                Source::Texture(_) => "given a texture",
                Source::Argument(_) => "an argument",
                Source::Unit { .. } | Source::Global { .. } | Source::Unknown => "connected",
            };
            let (a, b) = (how(&first.source), how(&wire.source));
            let both = if a == b { format!("{a} twice") } else { format!("both {a} and {b}") };
            let message = format!("the input `{name}` of `{}` is {both}", node.unit.name);
            let diagnostic = error_at(&codes::INPUT_TWICE, wire.at, message, "keep one of the two");
            let diagnostic = label(diagnostic, first.at, "the other one");
            return self.diagnostics.push(diagnostic);
        }
        node.wires.push(wire);
    }

    fn unknown_input(&mut self, node: usize, name: &str, at: Place) {
        if !self.complete[node] {
            return;
        }
        let node = &self.net.nodes[node];
        let message = format!("the unit `{}` has no input `{name}`", node.unit.name);
        let hint = match node.interface.output(name) {
            Some(_) => "this is an output: connect the input that should receive it".to_owned(),
            None => suggestion(name, node.interface.inputs().map(|p| p.name.as_str()), "it has none"),
        };
        self.error(&codes::UNKNOWN_PORT, at, message, hint);
    }

    /// What a connection starts from.
    fn connection(&mut self, from: &'g str, at: Place) -> Option<Source<'g>> {
        let mut parts = from.splitn(3, '.');
        let (unit, port, access) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        let members = access.into_iter().flat_map(|a| a.split('.'));
        let well_formed = port.into_iter().chain(members).all(|p| {
            p.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && p.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let (Some(port), true) = (port, well_formed) else {
            let message = format!("`{from}` names no output");
            let hint = "write `unit.output`, with components behind where only they are wanted: `noise.result.x`";
            self.error(&codes::BAD_CONNECTION, at, message, hint);
            return None;
        };
        // With its dot.
        let access = access.map_or("", |a| &from[from.len() - a.len() - 1..]);
        if unit == GLOBAL {
            return Some(Source::Global { name: port, access });
        }
        let unit = self.unit(unit, at)?;
        let node = &self.net.nodes[unit];
        if let Some(port) = node.interface.output(port) {
            return Some(Source::Unit { unit, port, access });
        }
        if self.complete[unit] {
            let message = format!("the unit `{}` has no output `{port}`", node.unit.name);
            let hint = match node.interface.input(port) {
                Some(_) => "this is an input: connections start from outputs".to_owned(),
                None => suggestion(port, node.interface.outputs().map(|p| p.name.as_str()), "it has none"),
            };
            self.error(&codes::UNKNOWN_PORT, at, message, hint);
        }
        None
    }

    fn arguments(&mut self) {
        let group = self.net.group;
        for (i, argument) in group.arguments.iter().enumerate() {
            let fed = argument.parameters.iter().filter_map(|(path, at)| self.fed(i, argument, path, *at)).collect();
            self.net.fed.push(fed);
            if argument.parameters.is_empty() {
                let message = format!("the argument `{}` feeds nothing", argument.name);
                let hint = "name what it feeds: `parameter = \"unit.input\"`";
                self.error(&codes::BAD_CONNECTION, argument.at, message, hint);
            }
        }
    }

    /// Node and port of a parameter that an argument feeds.
    fn fed(&mut self, number: usize, argument: &Argument, path: &str, at: Place) -> Option<(usize, usize)> {
        let at = at.or(argument.at);
        let Some((unit, parameter)) = path.split_once('.') else {
            let message = format!("`{path}` names no input");
            self.error(&codes::BAD_CONNECTION, at, message, "write `unit.input`");
            return None;
        };
        let node = self.unit(unit, at)?;
        let Some(port) = self.net.nodes[node].interface.input(parameter) else {
            self.unknown_input(node, parameter, at);
            return None;
        };
        // A value that was set is the argument's default, and no second way to give the input.
        let wires = &mut self.net.nodes[node].wires;
        wires.retain(|w| w.port != port || !matches!(w.source, Source::Literal(_)));
        self.wire(node, Wire { port, source: Source::Argument(number), at });
        Some((node, port))
    }

    fn roots(&mut self) {
        let group = self.net.group;
        for output in &group.outputs {
            let source = self.connection(&output.from, output.at);
            if let Some(Source::Global { .. }) = source {
                let message = format!("the output `{}` comes from no unit", output.name);
                self.error(&codes::BAD_CONNECTION, output.at, message, "outputs are outputs of units: `unit.output`");
            }
            self.net.roots.push(source.filter(|s| matches!(s, Source::Unit { .. })));
        }
        if group.outputs.is_empty() {
            let message = format!("the graph `{}` has no outputs", group.name);
            let hint = "name at least one: `[outputs]` with `result = \"unit.output\"`";
            self.error(&codes::NO_OUTPUTS, group.at, message, hint);
        }
    }

    /// Inputs that have to be given something, and are not.
    fn unconnected(&mut self) {
        let mut missing: Vec<Diagnostic> = Vec::new();
        for node in &self.net.nodes {
            let given = |i: usize| node.wires.iter().any(|w| w.port == i);
            let needs = |(i, p): &(usize, &Port)| p.input && !p.has_default && !given(*i);
            let names: Vec<String> =
                node.interface.ports.iter().enumerate().filter(needs).map(|(_, p)| format!("`{}`", p.name)).collect();
            if !names.is_empty() {
                let message = format!("nothing is given to {} of `{}`", names.join(", "), node.unit.name);
                let hint = "set it, connect it, or make it an argument of the graph: it has no default";
                missing.push(error_at(&codes::UNCONNECTED, node.unit.at, message, hint));
            }
        }
        missing.into_iter().for_each(|d| self.diagnostics.push(d));
    }

    /// The order of running: by need, and among equals as written.
    fn order(&mut self) {
        let needs: Vec<Vec<(usize, Place)>> = self.net.nodes.iter().map(needs).collect();
        let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
        let mut needed_by = vec![Vec::new(); needs.len()];
        for (i, list) in needs.iter().enumerate() {
            list.iter().for_each(|(n, _)| needed_by[*n].push(i));
        }
        let mut ready: BinaryHeap<Reverse<usize>> = (0..needs.len()).filter(|&i| open[i] == 0).map(Reverse).collect();
        while let Some(Reverse(i)) = ready.pop() {
            self.net.order.push(i);
            for &user in &needed_by[i] {
                open[user] -= 1;
                if open[user] == 0 {
                    ready.push(Reverse(user));
                }
            }
        }
        if let Some(start) = (0..needs.len()).find(|&i| open[i] > 0) {
            self.circle(start, &needs, &open);
        }
    }

    /// Among nodes that wait for each other, each waits for one that waits: following those ends in a circle.
    fn circle(&mut self, start: usize, needs: &[Vec<(usize, Place)>], open: &[usize]) {
        let mut seen = vec![None; needs.len()];
        let mut way: Vec<(usize, Place)> = Vec::new();
        let mut at = start;
        while seen[at].is_none() {
            seen[at] = Some(way.len());
            let Some(&(next, place)) = needs[at].iter().find(|(n, _)| open[*n] > 0) else { return };
            way.push((at, place));
            at = next;
        }
        let circle = &way[seen[at].unwrap_or(0)..];
        let name = |i: usize| self.net.group.units[i].name.as_str();
        // From source to target, as connections run.
        let mut chain: Vec<&str> = circle.iter().rev().map(|(i, _)| name(*i)).collect();
        chain.push(chain[0]);
        let message = format!("the units wait for each other in a circle: {}", chain.join(" → "));
        let hint = "take out one of these connections";
        let mut places = circle.iter().filter_map(|(_, place)| *place);
        let mut diagnostic = error_at(&codes::GRAPH_CYCLE, places.next(), message, hint);
        for span in places {
            diagnostic = diagnostic.with_label(span, "on the way");
        }
        self.diagnostics.push(diagnostic);
    }

    fn unused(&mut self) {
        self.net.used = vec![false; self.net.nodes.len()];
        let mut work: Vec<usize> = self.net.roots.iter().flatten().filter_map(unit_of).collect();
        while let Some(i) = work.pop() {
            if !std::mem::replace(&mut self.net.used[i], true) {
                work.extend(self.net.nodes[i].wires.iter().filter_map(|w| unit_of(&w.source)));
            }
        }
        // Where an output is wrong, what leads to it may well be wanted.
        if self.net.roots.iter().all(Option::is_some) && !self.net.roots.is_empty() {
            let idle = self.net.nodes.iter().zip(&self.net.used).filter(|(_, used)| !**used);
            for unit in idle.map(|(n, _)| n.unit) {
                let message = format!("no output needs the unit `{}`", unit.name);
                let hint = "connect it to something that reaches an output, or remove it";
                let span = unit.at.unwrap_or(Span::default());
                let warning = Diagnostic::warning(&codes::UNUSED_UNIT, span, message, hint);
                self.diagnostics.push(Diagnostic { span: unit.at, ..warning });
            }
        }
    }
}

fn unit_of(source: &Source<'_>) -> Option<usize> {
    match source {
        Source::Unit { unit, .. } => Some(*unit),
        _ => None,
    }
}

/// The nodes that a node takes something from, each once, and where.
fn needs(node: &Node<'_>) -> Vec<(usize, Place)> {
    let mut list: Vec<(usize, Place)> = Vec::new();
    for wire in &node.wires {
        if let Some(unit) = unit_of(&wire.source)
            && list.iter().all(|(n, _)| *n != unit)
        {
            list.push((unit, wire.at));
        }
    }
    list
}
