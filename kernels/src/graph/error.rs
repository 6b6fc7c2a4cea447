//! Why a graph cannot be built or updated.

use crate::buffer::BufferError;
use crate::kernel::LaunchError;
use ssl_compiler::runtime::BufferRole;
use std::fmt;

/// Why a graph cannot be built or updated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// A buffer cannot be made, or copied.
    Buffer {
        /// Its name.
        buffer: String,
        /// What is wrong.
        error: BufferError,
    },
    /// A kernel has no buffer of this name.
    UnknownPort {
        /// The node.
        node: String,
        /// The name.
        port: String,
    },
    /// There is no link for a buffer of a kernel, or more than one.
    Links {
        /// The node.
        node: String,
        /// The kernel's name for the buffer.
        port: String,
    },
    /// A link does something else with a buffer than the kernel.
    Role {
        /// The node.
        node: String,
        /// The kernel's name for the buffer.
        port: String,
        /// What the kernel does.
        role: BufferRole,
    },
    /// A buffer has elements of another type.
    Type {
        /// The node.
        node: String,
        /// The kernel's name for the buffer.
        port: String,
        /// The graph's name for it.
        buffer: String,
        /// What the kernel takes.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// A buffer has another source already.
    Source {
        /// The node that would be one more.
        node: String,
        /// The buffer.
        buffer: String,
        /// Where its elements come from.
        source: String,
    },
    /// Nodes read what is made of their own results.
    Cycle {
        /// Each reads what the one before gives, and the first what the last gives.
        nodes: Vec<String>,
    },
    /// The host would change what a node makes.
    NotOfHost {
        /// The buffer.
        buffer: String,
    },
    /// Two buffers cannot be exchanged.
    Swap {
        /// The one that must be the host's.
        state: String,
        /// The one that a node must write.
        next: String,
    },
    /// A parameter cannot be set.
    Parameter {
        /// The node.
        node: String,
        /// What is wrong.
        message: String,
    },
    /// A launch failed, or was cancelled.
    Launch {
        /// The node.
        node: String,
        /// What is wrong.
        error: LaunchError,
    },
    /// A gradient would go through a function of the host.
    NoGradient {
        /// The node.
        node: String,
        /// What it gives to the loss.
        buffer: String,
    },
    /// The gradient of a kernel cannot be had.
    Gradient {
        /// The node.
        node: String,
        /// What is wrong.
        message: String,
    },
    /// A function of the host failed.
    Host {
        /// The node.
        node: String,
        /// What it says.
        message: String,
    },
    /// The graph would take more memory than the host allows.
    Memory {
        /// What it would take, in bytes.
        needed: usize,
        /// What it may take.
        limit: usize,
    },
}

impl GraphError {
    pub(super) fn buffer(name: &str, error: BufferError) -> GraphError {
        GraphError::Buffer { buffer: name.to_owned(), error }
    }

    /// Whether the host cancelled the update, and nothing is wrong.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, GraphError::Launch { error: LaunchError::Cancelled, .. })
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Buffer { buffer, error } => write!(f, "`{buffer}`: {error}"),
            GraphError::UnknownPort { node, port } => write!(f, "the kernel of `{node}` has no buffer `{port}`"),
            GraphError::Links { node, port } => {
                write!(f, "`{node}` needs one link for the buffer `{port}` of its kernel")
            }
            GraphError::Role { node, port, role } => {
                write!(
                    f,
                    "the kernel of `{node}` takes `{port}` as an `{}` buffer, and the link is another",
                    role.name()
                )
            }
            GraphError::Type { node, port, buffer, wanted, found } => {
                write!(f, "the kernel of `{node}` takes `{port}` with elements of {wanted}; `{buffer}` has {found}")
            }
            GraphError::Source { node, buffer, source } => {
                write!(f, "`{node}` cannot give `{buffer}`, whose elements come from {source}")
            }
            GraphError::Cycle { nodes } => {
                write!(f, "each of these reads what the one before gives, in a circle: {}", nodes.join(", "))
            }
            GraphError::NotOfHost { buffer } => write!(f, "a node makes `{buffer}`, so the host cannot change it"),
            GraphError::Swap { state, next } => {
                write!(
                    f,
                    "`{state}` and `{next}` cannot be exchanged: the first must be the host's, a node must write the "
                )?;
                f.write_str("second, and both must have the same type, length and arrangement")
            }
            GraphError::Parameter { node, message }
            | GraphError::Gradient { node, message }
            | GraphError::Host { node, message } => {
                write!(f, "`{node}`: {message}")
            }
            GraphError::NoGradient { node, buffer } => {
                write!(f, "no gradient goes through `{node}`, a function of the host: take `{buffer}` for a constant")
            }
            GraphError::Launch { node, error } => write!(f, "`{node}`: {error}"),
            GraphError::Memory { needed, limit } => {
                write!(f, "the buffers would take {needed} bytes, and {limit} are allowed")
            }
        }
    }
}

impl std::error::Error for GraphError {}
