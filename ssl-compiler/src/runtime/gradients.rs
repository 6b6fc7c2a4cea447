//! Gradients of a whole shader: what a host asks for, and where the compiled shader reads and writes them.
//!
//! For each point a host gives a *cotangent* of each output that it cares for: by how much its loss changes with the
//! output. The shader gives the gradient: by how much the loss changes with each parameter and each global. Where
//! y = f(x), the gradient is Jᵀ ȳ, with the Jacobian J of f and the cotangents ȳ.

use super::{Row, globals::Order};

/// Which gradient a host wants beside a shader's results.
///
/// ```
/// use ssl_compiler::GradientRequest;
/// let request = GradientRequest::of(["height"]).by_parameters(["count"]).by_globals(["uvw"]);
/// assert_eq!(request.parameters, ["count"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradientRequest {
    /// The outputs for which the host gives cotangents: plain ones, and closures for the weights and parameters of their
    /// lobes. An empty list means all.
    pub of: Vec<String>,
    /// The parameters by which the gradient is taken.
    pub parameters: Vec<String>,
    /// The globals by which it is taken: by the value, and by each partial that the shader reads.
    pub globals: Vec<String>,
    /// A kernel's `in` and `inout` buffers by whose elements it is taken. Such a gradient comes without the kernel's results:
    /// the code reads what the kernel reads, takes cotangents for what the kernel writes and adds to, and adds to the
    /// gradients of these buffers.
    pub buffers: Vec<String>,
    /// The texture slots by whose texels it is taken. The host gets these gradients by its texture service, while the
    /// shader runs.
    pub textures: Vec<String>,
}

impl GradientRequest {
    /// Gradients of some outputs, and so far by nothing.
    pub fn of<S: Into<String>>(outputs: impl IntoIterator<Item = S>) -> GradientRequest {
        GradientRequest { of: outputs.into_iter().map(S::into).collect(), ..GradientRequest::default() }
    }

    /// Gradients of everything that the shader gives.
    pub fn of_all() -> GradientRequest {
        GradientRequest::default()
    }

    /// Also by these parameters.
    pub fn by_parameters<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> GradientRequest {
        self.parameters.extend(names.into_iter().map(S::into));
        self
    }

    /// Also by these globals.
    pub fn by_globals<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> GradientRequest {
        self.globals.extend(names.into_iter().map(S::into));
        self
    }

    /// Also by the elements of these buffers.
    pub fn by_buffers<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> GradientRequest {
        self.buffers.extend(names.into_iter().map(S::into));
        self
    }

    /// Also by the texels of these slots.
    pub fn by_textures<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> GradientRequest {
        self.textures.extend(names.into_iter().map(S::into));
        self
    }
}

/// What a gradient is taken by.
#[derive(Clone, Debug, PartialEq)]
pub enum GradientBy {
    /// A parameter of the shader.
    Parameter(String),
    /// The value of a global, or a partial of it.
    Global(String, Order),
}

/// The gradient by one parameter, or by one order of a global.
#[derive(Clone, Debug)]
pub struct GradientDesc {
    /// What it is taken by.
    pub by: GradientBy,
    /// The row of the output block for each component. `None` for one that is no float, or that the shader does not
    /// read: the gradient by it is 0.
    pub rows: Vec<Option<usize>>,
}

impl GradientDesc {
    /// The gradient in one lane of the output rows, by component.
    pub fn read(&self, outputs: &[Row], lane: usize) -> Vec<f32> {
        self.rows.iter().map(|row| row.map_or(0.0, |row| outputs[row].0[lane])).collect()
    }

    /// Likewise, summed over the lanes of a mask: the gradient by what these points share.
    pub fn sum(&self, outputs: &[Row], mask: u32) -> Vec<f32> {
        let lanes = || (0..super::LANES).filter(|lane| mask >> lane & 1 != 0);
        let sum = |row: usize| lanes().map(|lane| outputs[row].0[lane]).sum();
        self.rows.iter().map(|row| row.map_or(0.0, sum)).collect()
    }
}

/// Columns that a kernel's gradient has for a buffer, one for each of the buffer's scalars; all are floats. Those for whole
/// numbers and bools stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradientColumns {
    /// The name of the buffer.
    pub buffer: String,
    /// The first of the columns, of a block's.
    pub first_column: usize,
    /// How many there are.
    pub count: usize,
}

/// Where a shader reads cotangents, and where it writes gradients.
#[derive(Clone, Debug, Default)]
pub struct GradientInterface {
    /// For each output row, the row of the globals block that holds its cotangent; `None` for a row that is no float, or
    /// of which no gradient was asked.
    pub cotangents: Vec<Option<usize>>,
    /// The gradients, in output rows: behind the usual ones, or alone in that of a kernel.
    pub gradients: Vec<GradientDesc>,
    /// For a kernel's `add` buffers: from where the code reads the cotangents of the elements.
    pub cotangent_columns: Vec<GradientColumns>,
    /// For the buffers by which the gradient is taken: where the code adds the gradients of the elements.
    pub gradient_columns: Vec<GradientColumns>,
}

impl GradientInterface {
    /// The row of the globals block for the cotangent of an output row.
    pub fn cotangent(&self, output_row: usize) -> Option<usize> {
        self.cotangents.get(output_row).copied().flatten()
    }

    /// The gradient by a parameter.
    pub fn by_parameter(&self, name: &str) -> Option<&GradientDesc> {
        self.gradients.iter().find(|g| matches!(&g.by, GradientBy::Parameter(n) if n == name))
    }

    /// The gradient by a global's value, or by a partial that the shader reads.
    pub fn by_global(&self, name: &str, order: Order) -> Option<&GradientDesc> {
        self.gradients.iter().find(|g| matches!(&g.by, GradientBy::Global(n, o) if n == name && *o == order))
    }
}
