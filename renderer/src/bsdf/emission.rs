//! `Emission(color radiance)`: light that the surface sends out, the same in all directions of the side
//! that is seen. It is no lobe to sample: its radiance is added where a path meets the surface.

ssl_compiler::closure_type! {
    /// Emitted radiance, W/(sr·m²) in the working space.
    pub struct Emission { radiance: color }
}

impl Emission {
    /// The radiance without what would poison a render.
    pub fn cleaned(&self) -> glam::Vec3 {
        super::clean(self.radiance)
    }
}
