//! Which types generic units are for: those of what is connected to them.

use super::{Callee, Linker};
use crate::diagnostics::codes;
use crate::graph::generic::{GenericUnit, name_of, type_of_literal};
use crate::graph::resolve::{Net, Source, error_at};
use crate::graph::values::access_type;
use crate::sema::distance;
use crate::types::Type;
use std::rc::Rc;

/// Why the types of a unit are not known.
enum Untold {
    /// Nothing that has a type is connected to an input of this one.
    Nothing(usize),
    /// Two inputs tell different types.
    Two(usize, Type, Type),
}

impl Linker<'_, '_> {
    /// Makes of each generic unit one for the types of what is connected to it, those first that others read.
    pub(super) fn settle_types(&mut self, net: &mut Net<'_>, callees: &mut [Option<Rc<Callee>>]) {
        for i in net.order.clone() {
            let Some(callee) = callees[i].clone() else { continue };
            let Some(generic) = &callee.generic else { continue };
            match self.told(net, i, generic) {
                Ok(types) => {
                    let interface = Rc::new(generic.with(&types, callee.interface.slots.clone()));
                    net.nodes[i].interface = interface.clone();
                    let names: Vec<String> = types.iter().map(name_of).collect();
                    let call = format!("{}<{}>", callee.call, names.join(", "));
                    callees[i] = Some(Rc::new(Callee { call, interface, ..(*callee).clone() }));
                }
                Err(why) => self.untold(net, i, generic, &why),
            }
        }
    }

    fn untold(&mut self, net: &Net<'_>, i: usize, generic: &GenericUnit, why: &Untold) {
        let unit = net.nodes[i].unit;
        let inputs = |t: usize| {
            let ports = net.nodes[i].interface.inputs().filter(|p| p.type_name == generic.types[t].0);
            ports.map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(", ")
        };
        let (code, message, hint) = match why {
            Untold::Nothing(t) => (
                &codes::UNCONNECTED,
                format!("nothing tells what `{}` of `{}` is in `{}`", generic.types[*t].0, generic.name, unit.name),
                match inputs(*t) {
                    list if list.is_empty() => "no input is of this type; write a shader for one type".to_owned(),
                    list => format!("connect an output or a global to one of its inputs: {list}"),
                },
            ),
            Untold::Two(t, a, b) => (
                &codes::GRAPH_VALUE,
                format!("`{}` of `{}` would be both {} and {}", generic.types[*t].0, unit.name, name_of(a), name_of(b)),
                format!("connect values of one type to {}; `.x` takes a component", inputs(*t)),
            ),
        };
        self.diagnostics.push(error_at(code, unit.at, message, hint));
    }

    /// The types that what is connected to a unit tells.
    fn told(&self, net: &Net<'_>, i: usize, generic: &GenericUnit) -> Result<Vec<Type>, Untold> {
        let mut types = Vec::new();
        for (t, (name, _)) in generic.types.iter().enumerate() {
            let wires = net.nodes[i].wires.iter();
            let wires = wires.filter(|w| net.nodes[i].interface.ports[w.port].type_name == *name);
            let (values, connected): (Vec<_>, Vec<_>) =
                wires.partition(|w| matches!(w.source, Source::Literal(_) | Source::Argument(_)));
            // A value that stands in the graph fits many types, so it tells only where nothing else does.
            let mut found = None;
            for wire in connected.iter().chain(&values) {
                let is_value = matches!(wire.source, Source::Literal(_) | Source::Argument(_));
                let Some(ty) = self.type_of(net, &wire.source).filter(|ty| *ty != Type::Error) else { continue };
                found = Some(match found {
                    None => ty,
                    Some(known) if is_value || distance(&ty, &known).is_some() => known,
                    Some(known) if distance(&known, &ty).is_some() => ty,
                    Some(known) => return Err(Untold::Two(t, known, ty)),
                });
            }
            types.push(match found {
                Some(Type::Int) if generic.is_float(t) => Type::Float,
                Some(ty) => ty,
                None => return Err(Untold::Nothing(t)),
            });
        }
        Ok(types)
    }

    /// The type of what an input is given.
    fn type_of(&self, net: &Net<'_>, source: &Source<'_>) -> Option<Type> {
        match source {
            Source::Unit { unit, port, access } => {
                Some(access_type(&net.nodes[*unit].interface.ports[*port].ty, access))
            }
            Source::Global { name, access } => {
                self.options.globals.find(name).map(|(_, field)| access_type(&field.ty, access))
            }
            Source::Literal(value) => type_of_literal(value),
            Source::Argument(a) => {
                let fed = net.fed[*a].iter().map(|(node, port)| net.nodes[*node].interface.ports[*port].ty.clone());
                let default = net.group.arguments[*a].default.as_ref().and_then(|(value, _)| type_of_literal(value));
                fed.into_iter().find(|ty| *ty != Type::Error).or(default)
            }
            Source::Texture(_) | Source::Unknown => None,
        }
    }
}
