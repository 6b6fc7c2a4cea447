//! What compiled shaders work with at run time: the globals block, the parameter block, the host's services, the lobe
//! table, and the C ABI that ties them together.
//!
//! A shader runs on a *block* of up to [`LANES`] points. Every input and output is a [`Row`]: one 32-bit word for each
//! lane, 64 bytes, one cache line. A scalar back end walks the lanes one after the other, and a SIMD back end takes a
//! row in one register; both use the same memory.
//!
//! Nothing here knows of the compiler, so a renderer may hold these types in its inner loops.

pub mod allowed;
pub mod block;
pub mod buffers;
pub mod closures;
pub mod externals;
#[doc(hidden)]
pub mod format;
pub mod globals;
pub mod gradients;
pub mod host;
pub mod interface;
#[doc(hidden)]
pub mod linked;
#[doc(hidden)]
pub mod math;
pub mod parameters;
pub mod print;
pub mod strings;
pub(crate) mod tape;

pub use allowed::{Disallowed, disallowed};
pub use block::{Block, BlockContext, BlockStatus, LaneError};
pub use buffers::{AddRequest, BufferDesc, BufferRole, Column};
pub use closures::{
    Beneath, Closure, ClosureDefault, ClosureId, ClosureInterface, ClosureParameter, ClosureRegistry, ClosureType,
    ValueRange,
};
pub use externals::{External, ExternalRegistry};
pub use globals::{GlobalField, GlobalsLayout, Order, Orders};
pub use gradients::{GradientBy, GradientColumns, GradientDesc, GradientInterface, GradientRequest};
pub use host::{HostServices, NoTextures, TextureDouble, TextureRequest};
pub use interface::{GlobalRead, Layer, LobeDesc, OutputDesc, ParameterDesc, ShaderInterface, TextureDesc};
pub use parameters::{ParameterBlock, ParameterValue};
pub use print::{Listener, PrintRequest, Texts};
pub use strings::{host_string_id, string_id};

/// How many points a shader is called on at once.
pub const LANES: usize = 16;

/// One scalar of every lane; a float, or the bits of an `int` or of a `bool` (0 or 1).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Row {
    /// Zero in every lane.
    pub const ZERO: Row = Row([0.0; LANES]);

    /// One value in every lane.
    pub fn splat(value: f32) -> Row {
        Row([value; LANES])
    }

    /// The lane's word as an integer.
    pub fn int(&self, lane: usize) -> i32 {
        self.0[lane].to_bits() as i32
    }

    /// Sets the lane's word to an integer.
    pub fn set_int(&mut self, lane: usize, value: i32) {
        self.0[lane] = f32::from_bits(value as u32);
    }
}

/// Three consecutive rows read as a vector or color.
pub fn read3(rows: &[Row], first: usize, lane: usize) -> [f32; 3] {
    read_rows(rows, first, lane)
}

/// Consecutive rows read as a vector.
pub fn read_rows<const N: usize>(rows: &[Row], first: usize, lane: usize) -> [f32; N] {
    std::array::from_fn(|i| rows[first + i].0[lane])
}
