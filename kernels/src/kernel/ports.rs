//! The buffers that a kernel takes, and those that its gradient takes: whatever the kernel writes or adds to has cotangents,
//! which are read; what it reads has gradients, to which is added.

use crate::buffer::Element;
use ssl_compiler::ShaderInterface;
use ssl_compiler::runtime::{BufferDesc, BufferRole, GradientBy, GradientInterface};
use std::sync::Arc;

/// A buffer that a kernel takes.
///
/// The gradient of a kernel reads the kernel's `in` and `inout` buffers, under their names. For what the kernel writes or
/// adds to it reads `cotangent.NAME`: by how much the loss changes with each element. It adds to `gradient.NAME` of the
/// buffers, with their lengths, and of the parameters, with one element, by which it is taken. Elements of cotangents and
/// gradients are floats, one for each scalar; those for ints and bools are neither read nor added to.
#[derive(Clone, Debug)]
pub struct Port {
    /// The parameter's name.
    pub name: String,
    /// What points do with it.
    pub role: BufferRole,
    /// The type of its elements.
    pub element: Element,
    pub(super) place: Place,
}

/// How compiled code gets at a buffer.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// By these columns. Code may ask for the length by others.
    Columns { first: usize, length: Option<usize> },
    /// The own elements of points are in output rows, and before that, if they are read, in columns.
    Own { row: usize, first_column: usize },
    /// The own elements of points are in rows of the globals block, scalar by scalar.
    Given(Vec<Option<usize>>),
    /// Each point adds output rows to one element, scalar by scalar.
    Summed(Vec<Option<usize>>),
}

pub(super) fn ports(interface: &ShaderInterface) -> Arc<[Port]> {
    match &interface.gradient {
        Some(gradient) => of_gradient(interface, gradient),
        None => interface.buffers.iter().map(plain).collect(),
    }
}

fn plain(buffer: &BufferDesc) -> Port {
    let first = buffer.first_column;
    let place = match buffer.first_row {
        Some(row) => Place::Own { row, first_column: first },
        None => Place::Columns { first, length: None },
    };
    Port { name: buffer.name.clone(), role: buffer.role, element: Element::of_parameter(buffer), place }
}

fn of_gradient(interface: &ShaderInterface, gradient: &GradientInterface) -> Arc<[Port]> {
    let mut ports = Vec::new();
    let port = |name: String, role, count, place| Port { name, role, element: Element::floats(count), place };
    for buffer in &interface.buffers {
        let count = buffer.scalars.len();
        if let BufferRole::In | BufferRole::InOut = buffer.role {
            let place = Place::Columns { first: buffer.first_column, length: None };
            ports.push(Port { role: BufferRole::In, place, ..plain(buffer) });
        }
        if let Some(row) = buffer.first_row {
            let rows: Vec<Option<usize>> = (row..row + count).map(|row| gradient.cotangent(row)).collect();
            if rows.iter().any(Option::is_some) {
                ports.push(port(format!("cotangent.{}", buffer.name), BufferRole::In, count, Place::Given(rows)));
            }
        }
        if let Some(columns) = gradient.cotangent_columns.iter().find(|c| c.buffer == buffer.name) {
            let place = Place::Columns { first: columns.first_column, length: Some(buffer.first_column) };
            ports.push(port(format!("cotangent.{}", buffer.name), BufferRole::In, count, place));
        }
    }
    for columns in &gradient.gradient_columns {
        let place = Place::Columns { first: columns.first_column, length: None };
        ports.push(port(format!("gradient.{}", columns.buffer), BufferRole::Add, columns.count, place));
    }
    for by in &gradient.gradients {
        if let GradientBy::Parameter(name) = &by.by {
            let place = Place::Summed(by.rows.clone());
            ports.push(port(format!("gradient.{name}"), BufferRole::Add, by.rows.len(), place));
        }
    }
    ports.into()
}
