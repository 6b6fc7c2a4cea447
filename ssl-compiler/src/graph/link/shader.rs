//! The shader of one group: a call for every unit in order, variables for the values that flow between them, and the
//! group's arguments and outputs as parameters.

use super::{Callee, Linker, Origin};
use crate::diagnostics::codes;
use crate::graph::declaration::declaration;
use crate::graph::group::{Given, Literal, Place};
use crate::graph::interface::{Interface, Port};
use crate::graph::resolve::{Net, Node, Source, error_at};
use crate::graph::text::{Names, Text};
use crate::graph::values::{access_type, literal};
use crate::types::{Type, TypeTable};
use std::rc::Rc;

impl Linker<'_, '_> {
    /// Writes the shader of a group whose units are all known.
    pub(super) fn shader(&mut self, net: &Net<'_>, callees: &[Rc<Callee>], open: bool) -> Rc<Callee> {
        let mut scope = self.names.clone();
        let group = net.group;
        group
            .arguments
            .iter()
            .map(|a| &a.name)
            .chain(group.outputs.iter().map(|o| &o.name))
            .for_each(|n| scope.take(n));
        let locals = locals(net, &mut scope, open);
        let (arguments, defaults) = self.arguments(net, callees);
        let outputs: Vec<Port> = group.outputs.iter().zip(&net.roots).map(|(o, s)| output(net, &o.name, s)).collect();
        let name = if self.depth == 0 { group.name.clone() } else { self.names.unique(&group.name) };
        // Slots are declared above the shader, so the calls are written first.
        let calls: Vec<Text> = net.order.iter().map(|&i| self.call(net, i, &callees[i].call, &locals)).collect();
        let mut text = Text::default();
        for line in group.description.lines() {
            text.push(&format!("// {line}\n"));
        }
        text.piece(group.at, |t| t.push(&format!("shader {name}(")));
        let mut ports: Vec<Text> = Vec::new();
        for (port, default) in arguments.iter().zip(&defaults) {
            ports.push(declaration(group, port, default.as_ref()));
        }
        for port in &outputs {
            ports.push(declaration(group, port, None));
        }
        for ((unit, port), name) in locals.iter().filter(|_| open) {
            let p = &net.nodes[*unit].interface.ports[*port];
            if p.ty != Type::Closure {
                ports.push(Text::of(format!("out {} {name}", p.type_name)));
                self.opened.push((*unit, name.clone()));
            }
        }
        for (i, port) in ports.into_iter().enumerate() {
            text.push(if i == 0 { "\n    " } else { ",\n    " });
            text.append(port);
        }
        text.push(")\n{\n");
        for (&i, call) in net.order.iter().zip(calls) {
            for ((_, port), name) in locals.range((i, 0)..(i + 1, 0)) {
                let p = &net.nodes[i].interface.ports[*port];
                if !open || p.ty == Type::Closure {
                    text.push(&format!("    {} {name};\n", p.type_name));
                }
            }
            let start = text.text.len();
            text.append(call);
            if self.depth == 0 {
                self.calls.push((i, start + self.body.text.len()..text.text.len() + self.body.text.len()));
            }
        }
        for (output, source) in group.outputs.iter().zip(&net.roots) {
            if let Some(source) = source {
                text.push("    ");
                text.piece(output.at, |t| t.push(&format!("{} = {};", output.name, read(net, source, &locals))));
                text.push("\n");
            }
        }
        text.push("}\n\n");
        self.body.append(text);
        let ports = arguments.into_iter().chain(outputs).collect();
        let interface = Rc::new(Interface { ports, ..Interface::default() });
        Rc::new(Callee { call: name, interface, origin: Origin::Group(defaults), generic: None })
    }

    /// The statement that runs a unit.
    fn call(&mut self, net: &Net<'_>, i: usize, callee: &str, locals: &Locals) -> Text {
        let node = &net.nodes[i];
        let mut arguments: Vec<(Place, String)> = Vec::new();
        let result = node.interface.result.and_then(|number| locals.get(&(i, number)));
        for (number, port) in node.interface.ports.iter().enumerate() {
            if node.interface.result == Some(number) {
                continue;
            }
            let wire = node.wires.iter().find(|w| w.port == number);
            let value = match wire.map(|w| (&w.source, w.at)) {
                None => locals.get(&(i, number)).map(|name| (None, name.clone())),
                Some((Source::Literal(value), at)) => Some((at, self.literal(value, port, at))),
                Some((Source::Texture(image), at)) => {
                    Some((at, self.slot(net, &format!("{}_{}", node.unit.name, port.name), image, at)))
                }
                Some((source, at)) => Some((at, read(net, source, locals))),
            };
            arguments.extend(value.map(|(at, value)| (at, format!("{} = {value}", port.name))));
        }
        let long = arguments.iter().map(|(_, a)| a.len() + 2).sum::<usize>() + callee.len() > 100;
        let (open, between) = if long { ("\n        ", ",\n        ") } else { ("", ", ") };
        let mut text = Text::default();
        text.push("    ");
        text.piece(node.unit.at, |t| {
            t.push(&result.map_or(String::new(), |name| format!("{name} = ")));
            t.push(&format!("{callee}("));
            for (k, (at, argument)) in arguments.into_iter().enumerate() {
                t.push(if k == 0 { open } else { between });
                t.piece(at, |t| t.push(&argument));
            }
            t.push(");");
        });
        text.push("\n");
        text
    }

    fn literal(&mut self, value: &Literal, port: &Port, at: Place) -> String {
        literal(value, &port.ty, &port.type_name).unwrap_or_else(|(message, hint)| {
            let message = format!("`{}` cannot be given {message}", port.name);
            self.diagnostics.push(error_at(&codes::GRAPH_VALUE, at, message, hint));
            "0".to_owned()
        })
    }

    /// The arguments of a group as ports, and their defaults.
    fn arguments(&mut self, net: &Net<'_>, callees: &[Rc<Callee>]) -> (Vec<Port>, Vec<Option<Literal>>) {
        let mut ports = Vec::new();
        let mut defaults = Vec::new();
        for (argument, fed) in net.group.arguments.iter().zip(&net.fed) {
            let Some(&(node, port)) = fed.first() else { continue };
            let mut port = net.nodes[node].interface.ports[port].clone();
            let set = net.group.units[node].inputs.iter().find(|i| i.parameter == port.name);
            let set = set.and_then(|i| if let Given::Value(v) = &i.given { Some(v.clone()) } else { None });
            let own = || match &callees[node].origin {
                Origin::File { loaded, shader: Some(shader), .. }
                | Origin::Text { loaded, shader: Some(shader), .. }
                    if port.has_default =>
                {
                    loaded.default(*shader, &port.name, self.options)
                }
                Origin::Group(list) => {
                    let number = callees[node].interface.input(&port.name)?;
                    list.get(number).cloned().flatten()
                }
                _ => None,
            };
            let default = argument.default.as_ref().map(|(v, _)| v.clone()).or(set).or_else(own);
            if let (Some(value), at) = (&default, argument.default.as_ref().and_then(|d| d.1).or(argument.at)) {
                // Said here, where the place is known.
                self.literal(value, &port, at);
            }
            port.name = argument.name.clone();
            port.has_default = default.is_some();
            ports.push(port);
            defaults.push(default);
        }
        (ports, defaults)
    }
}

/// Names of the variables that outputs of units are kept in, by unit and port.
type Locals = std::collections::BTreeMap<(usize, usize), String>;

/// A variable for every output that something reads; with `all`, for every output.
fn locals(net: &Net<'_>, scope: &mut Names, all: bool) -> Locals {
    let wires = net.nodes.iter().flat_map(|n| n.wires.iter().map(|w| &w.source));
    let mut wanted: Vec<(usize, usize)> = wires.chain(net.roots.iter().flatten()).filter_map(output_of).collect();
    let outputs = |(i, n): (usize, &Node<'_>)| {
        let ports = n.interface.ports.iter().enumerate();
        ports.filter(|(_, p)| !p.input).map(move |(k, _)| (i, k)).collect::<Vec<_>>()
    };
    wanted.extend(net.nodes.iter().enumerate().filter(|(_, n)| all || n.interface.is_function).flat_map(outputs));
    wanted.sort_unstable();
    wanted.dedup();
    let name = |(unit, port): (usize, usize)| {
        let node = &net.nodes[unit];
        ((unit, port), scope.unique(&format!("{}_{}", node.unit.name, node.interface.ports[port].name)))
    };
    wanted.into_iter().map(name).collect()
}

fn output_of(source: &Source<'_>) -> Option<(usize, usize)> {
    match source {
        Source::Unit { unit, port, .. } => Some((*unit, *port)),
        _ => None,
    }
}

/// A source as an expression.
fn read(net: &Net<'_>, source: &Source<'_>, locals: &Locals) -> String {
    match source {
        Source::Argument(i) => net.group.arguments.get(*i).map(|a| a.name.clone()).unwrap_or_default(),
        Source::Unit { unit, port, access } => {
            format!("{}{access}", locals.get(&(*unit, *port)).map_or("", String::as_str))
        }
        Source::Global { name, access } => format!("global_value<{name}>{access}"),
        Source::Literal(_) | Source::Texture(_) | Source::Unknown => String::new(),
    }
}

/// The port of an output of a group.
fn output(net: &Net<'_>, name: &str, source: &Option<Source<'_>>) -> Port {
    let ty = match source {
        Some(Source::Unit { unit, port, access }) => access_type(&net.nodes[*unit].interface.ports[*port].ty, access),
        _ => Type::Float,
    };
    // What is wrong with a member is said where the output gets its value.
    let ty = if ty == Type::Error { Type::Float } else { ty };
    let type_name = TypeTable::default().display(&ty).to_string();
    Port { name: name.to_owned(), ty, type_name, input: false, has_default: false }
}
