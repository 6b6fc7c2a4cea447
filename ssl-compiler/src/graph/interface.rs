//! What a unit takes and gives: the inputs and outputs of a checked shader, or of a group.

use crate::sema::hir::{Function, Program};
use crate::syntax::ast::Direction;
use crate::types::Type;

#[derive(Clone, Debug)]
pub struct Port {
    pub name: String,
    pub ty: Type,
    /// As an author writes it.
    pub type_name: String,
    pub input: bool,
    pub has_default: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Interface {
    pub ports: Vec<Port>,
    /// Texture slots of the shader's file; the host binds them for all units of that file.
    pub slots: Vec<String>,
    /// It is a function: all that it gives must be taken.
    pub is_function: bool,
    /// Of a function, the output that is its result.
    pub result: Option<usize>,
}

impl Interface {
    pub fn of(program: &Program, shader: &Function) -> Interface {
        let port = |p: &crate::sema::hir::Parameter| {
            let variable = &shader.variables[p.variable.0 as usize];
            Port {
                name: variable.name.clone(),
                ty: variable.ty.clone(),
                type_name: program.types.display(&variable.ty).to_string(),
                input: p.direction == Direction::In,
                has_default: p.default.is_some(),
            }
        };
        let ports = shader.parameters.iter().map(port).collect();
        Interface { ports, slots: program.textures.clone(), ..Interface::default() }
    }

    pub fn input(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|p| p.input && p.name == name)
    }

    pub fn output(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|p| !p.input && p.name == name)
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Port> + Clone {
        self.ports.iter().filter(|p| p.input)
    }

    pub fn outputs(&self) -> impl Iterator<Item = &Port> + Clone {
        self.ports.iter().filter(|p| !p.input)
    }
}
