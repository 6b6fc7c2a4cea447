//! Compiled kernels and how they are run over all points of a grid.

mod bound;
mod launch;
mod left_out;
mod points;
mod ports;
mod reach;
mod status;

pub use bound::Binding;
pub(crate) use launch::MOST_TOGETHER;
pub use launch::{Control, Launch, Member};
pub use left_out::LeftOut;
pub use points::Grid;
pub use ports::Port;
pub use reach::Reach;
pub use status::{LaunchError, Status};

use points::IndexRows;
use ssl_compiler::runtime::{ParameterBlock, ParameterValue};
use ssl_compiler::{ParameterError, Shader};
use std::fmt;
use std::sync::Arc;

/// A compiled kernel with values for its parameters. The code is shared, so a copy with other values costs little.
#[derive(Clone)]
pub struct Kernel {
    shader: Arc<Shader>,
    ports: Arc<[Port]>,
    /// By port.
    reaches: Arc<[Reach]>,
    index: IndexRows,
    parameters: ParameterBlock,
}

impl Kernel {
    /// A kernel with its parameters at their defaults.
    ///
    /// # Errors
    /// It is a shader, or it reads a global that points of a grid do not have.
    pub fn new(shader: Arc<Shader>) -> Result<Kernel, KernelError> {
        let interface = shader.interface();
        if !interface.outputs.is_empty() || !interface.closures.is_empty() {
            return Err(KernelError::Shader { name: interface.name.clone() });
        }
        let index = IndexRows::of(interface)?;
        let (ports, parameters) = (ports::ports(interface), shader.new_parameters());
        let reaches = ports.iter().map(|port| reach::of(shader.module(), port)).collect();
        Ok(Kernel { shader, ports, reaches, index, parameters })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shader.interface().name
    }

    /// The compiled code.
    pub fn shader(&self) -> &Arc<Shader> {
        &self.shader
    }

    /// The buffers that it takes, in the order in which a launch wants them.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Which elements the kernel names of the buffer at a place among [`Kernel::ports`].
    pub fn reach(&self, port: usize) -> Reach {
        self.reaches.get(port).copied().unwrap_or(Reach::Nothing)
    }

    /// The place of a buffer among [`Kernel::ports`].
    pub fn port(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }

    /// Sets a parameter, or binds a texture, for the launches that follow.
    ///
    /// # Errors
    /// There is no such parameter, or the value does not fit.
    pub fn set(&mut self, name: &str, value: impl Into<ParameterValue>) -> Result<(), ParameterError> {
        self.parameters.set(self.shader.interface(), name, &value.into())
    }

    /// The values of its parameters.
    pub fn parameters(&self) -> &ParameterBlock {
        &self.parameters
    }

    /// The same kernel with the values that another kernel of the same parameters has, such as the one that this is the
    /// gradient of.
    pub(crate) fn with_parameters_of(mut self, other: &Kernel) -> Kernel {
        self.parameters = other.parameters.clone();
        self
    }

    /// The same kernel with a value set.
    ///
    /// # Errors
    /// As for [`Kernel::set`].
    pub fn with(mut self, name: &str, value: impl Into<ParameterValue>) -> Result<Kernel, ParameterError> {
        self.set(name, value)?;
        Ok(self)
    }
}

/// Why a shader is no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// It gives values to whoever runs it, and writes no buffers.
    Shader {
        /// The shader.
        name: String,
    },
    /// It reads a global that points of a grid do not have.
    Global {
        /// The shader.
        kernel: String,
        /// The global.
        global: String,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::Shader { name } => write!(f, "`{name}` is a shader, not a kernel"),
            KernelError::Global { kernel, global } => {
                let known = points::GLOBALS.join("`, `");
                write!(f, "`{kernel}` reads the global `{global}`; points of a grid have `{known}`")
            }
        }
    }
}

impl std::error::Error for KernelError {}
