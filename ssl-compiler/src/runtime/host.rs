//! What a shader asks of its host while it runs.

use super::{AddRequest, LANES, PrintRequest, Row};

/// One texture look-up of up to 16 lanes. The compiled shader fills the coordinates and partials of every lane in `mask`.
/// The host fills `result`, and `gradient` if `wants_gradient` is not 0.
///
/// Coordinates are in texture space: (0,0) the lower left, (1,1) the upper right corner of the image.
/// Partials are per pixel of the film.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct TextureRequest {
    /// The first coordinate.
    pub u: Row,
    /// The second coordinate.
    pub v: Row,
    /// ∂u/∂x.
    pub dudx: Row,
    /// ∂u/∂y.
    pub dudy: Row,
    /// ∂v/∂x.
    pub dvdx: Row,
    /// ∂v/∂y.
    pub dvdy: Row,
    /// If `has_level` is not 0, the mip level to read, which may lie between two levels or outside the existing ones. It
    /// replaces the partials, which are 0 then.
    pub level: Row,
    /// Red, green, blue, alpha of the filtered texture.
    pub result: [Row; 4],
    /// ∂/∂u of red, green, blue, alpha, then ∂/∂v, of the filtered texture at a fixed footprint.
    pub gradient: [Row; 8],
    /// The word of the parameter block for the slot: the host's own number for a texture, or
    /// [`TextureRequest::UNBOUND`].
    pub texture: u32,
    /// Bit i is set if lane i takes part.
    pub mask: u32,
    /// Not 0 if the host must fill `gradient`.
    pub wants_gradient: u32,
    /// Not 0 if `level` replaces the partials.
    pub has_level: u32,
}

impl TextureRequest {
    /// The slot's word while no texture is bound to it.
    pub const UNBOUND: u32 = u32::MAX;

    /// A request for nothing.
    pub fn new() -> TextureRequest {
        TextureRequest {
            u: Row::ZERO,
            v: Row::ZERO,
            dudx: Row::ZERO,
            dudy: Row::ZERO,
            dvdx: Row::ZERO,
            dvdy: Row::ZERO,
            level: Row::ZERO,
            result: [Row::ZERO; 4],
            gradient: [Row::ZERO; 8],
            texture: Self::UNBOUND,
            mask: 0,
            wants_gradient: 0,
            has_level: 0,
        }
    }

    /// The lanes that take part.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let mask = self.mask;
        (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
    }
}

impl Default for TextureRequest {
    fn default() -> Self {
        TextureRequest::new()
    }
}

/// The value of a texture at a point, in f64: for comparing derivatives with finite differences, for which f32 is too
/// coarse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureDouble {
    /// Red, green, blue, alpha.
    pub value: [f64; 4],
    /// ∂/∂u of red, green, blue, alpha, then ∂/∂v.
    pub gradient: [f64; 8],
}

/// The host's side of a running shader. One object serves any number of threads.
pub trait HostServices: Sync {
    /// Filters a texture for every lane of `request.mask`, and leaves the other lanes alone. It may take its time (and
    /// suspend the caller's fiber). It must not panic.
    fn texture(&self, request: &mut TextureRequest);

    /// The number of texels of level 0 of a texture along u and along v; `texture` is the word of the parameter block for
    /// the slot. The answer is always the same for one texture, at least 1, and known without waiting. It must not panic.
    fn texture_size(&self, texture: u32) -> [u32; 2];

    /// The texture `texture`, which is the word of the parameter block for the slot, at (u, v) in f64. `None` if the host
    /// knows it only in f32.
    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        let _ = (texture, u, v);
        None
    }

    /// The transpose of [`HostServices::texture`]: gradients by the texels of a texture. `request` says where lanes looked,
    /// as for the look-up; its rows of results hold a cotangent each for red, green, blue and alpha. For every lane of
    /// `request.mask`, the host adds to the gradient of each texel the cotangent times the weight that the texel has in
    /// that look-up. What is not finite adds nothing.
    ///
    /// Says whether the host keeps gradients for this texture; by default, none for any. The shader's status counts what
    /// is lost. It must not panic.
    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        let _ = request;
        false
    }

    /// Adds to a buffer of a kernel, for every lane of `request.mask`. The sums must not depend on the order of such calls.
    /// Floats that are not finite add nothing, or one point would spoil the gradients of all; the host counts them.
    /// What a lane added that ends early must not count in the end; the status says which lanes did. It must not panic.
    fn add_to_buffer(&self, request: &AddRequest) {
        let _ = request;
    }

    /// Receives what `printf` prints. It must not panic.
    fn print(&self, request: &PrintRequest<'_>) {
        let _ = request;
    }
}

/// A host without textures: every look-up is black and flat, as of one texel.
pub struct NoTextures;

impl HostServices for NoTextures {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            request.result.iter_mut().chain(&mut request.gradient).for_each(|row| row.0[lane] = 0.0);
        }
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        [1, 1]
    }
}
