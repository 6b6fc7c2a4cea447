//! Generic functions as units: what they take and give, before and after connections tell their types.

use super::interface::{Interface, Port};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::{self, Direction, FunctionDecl, Item};
use crate::types::{Type, VectorKind};

/// What the result of a function is called, as an output.
const RESULT: &str = "result";

/// A generic function that may be a unit.
#[derive(Clone, Debug)]
pub struct GenericUnit {
    pub name: String,
    /// Of the name.
    pub span: Span,
    /// Its type parameters, and the interfaces that each conforms to.
    pub types: Vec<(String, Vec<String>)>,
    ports: Vec<Port>,
    /// It gives something.
    result: bool,
}

/// The generic functions of a file that can be units. Their ports are of built-in types or of the parameters' types.
pub fn generic_units(sources: &SourceMap, file: FileId) -> Vec<GenericUnit> {
    // What is wrong with the file was said when it was checked.
    let tree = crate::syntax::parse(sources, file, &mut crate::diagnostics::Diagnostics::new());
    let functions = tree.items.iter().filter_map(|item| match item {
        Item::Function(f) if !f.is_shader && !f.generics.is_empty() => unit_of(f),
        _ => None,
    });
    functions.collect()
}

fn unit_of(f: &FunctionDecl) -> Option<GenericUnit> {
    let types: Option<Vec<(String, Vec<String>)>> = f
        .generics
        .iter()
        .map(|g| (!g.is_int).then(|| (g.name.text.clone(), g.bounds.iter().map(|b| b.text.clone()).collect())))
        .collect();
    let types = types?;
    let port = |name: &str, ty: &ast::TypeName, input: bool, has_default: bool| {
        let known = Type::from_name(&ty.name.text);
        let is_parameter = types.iter().any(|(name, _)| *name == ty.name.text);
        (ty.is_plain() && (known.is_some() || is_parameter)).then(|| Port {
            name: name.to_owned(),
            // A parameter's, until it is told.
            ty: known.unwrap_or(Type::Error),
            type_name: ty.name.text.clone(),
            input,
            has_default,
        })
    };
    let mut ports = Vec::new();
    for p in &f.parameters {
        if p.any_length || !p.dims.is_empty() || p.direction == Direction::InOut {
            return None;
        }
        ports.push(port(&p.name.text, &p.ty, p.direction == Direction::In, p.default.is_some())?);
    }
    let result = f.result.name.text != "void";
    if result {
        let taken = ports.iter().any(|p| p.name == RESULT);
        ports.push(port(RESULT, &f.result, false, false).filter(|_| !taken)?);
    }
    Some(GenericUnit { name: f.name.text.clone(), span: f.name.span, types, ports, result })
}

impl GenericUnit {
    /// What it takes and gives where nothing is told.
    pub fn interface(&self, slots: Vec<String>) -> Interface {
        let result = self.result.then(|| self.ports.len() - 1);
        Interface { ports: self.ports.clone(), slots, is_function: true, result }
    }

    /// Likewise, with types for the parameters.
    pub fn with(&self, types: &[Type], slots: Vec<String>) -> Interface {
        let mut interface = self.interface(slots);
        for port in &mut interface.ports {
            if let Some(i) = self.types.iter().position(|(name, _)| *name == port.type_name) {
                port.ty = types[i].clone();
                port.type_name = name_of(&types[i]);
            }
        }
        interface
    }

    /// Whether a type parameter stands for floats only.
    pub fn is_float(&self, parameter: usize) -> bool {
        self.types[parameter].1.iter().any(|bound| bound == "IFloat")
    }
}

/// A built-in type as the language writes it.
pub fn name_of(ty: &Type) -> String {
    crate::types::TypeTable::default().display(ty).to_string()
}

/// The type of a value that stands in a graph.
pub fn type_of_literal(value: &super::group::Literal) -> Option<Type> {
    use super::group::Literal;
    match value {
        Literal::Int(_) | Literal::Float(_) => Some(Type::Float),
        Literal::List(list) => match list.len() {
            2 => Some(Type::Vector(VectorKind::Float2)),
            3 => Some(Type::Vector(VectorKind::Float3)),
            4 => Some(Type::Vector(VectorKind::Float4)),
            _ => None,
        },
        Literal::Bool(_) | Literal::Text(_) => None,
    }
}
