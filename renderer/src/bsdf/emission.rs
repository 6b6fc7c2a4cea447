//! `Emission(color radiance)`: light that the surface sends out, the same in all directions of the side
//! that is seen. It is no lobe to sample: its radiance is added where a path meets the surface, and shapes that
//! have it are sampled as lights.

use super::{Lobes, Place, SurfaceClosure, clean};

ssl_compiler::closure_type! {
    /// Emitted radiance, W/(sr·m²) in the working space.
    pub struct Emission { radiance: color in (0.0..) }
}

impl SurfaceClosure for Emission {
    const EMITS: bool = true;

    fn scatter(&self, _place: &Place, lobes: &mut Lobes<'_>) {
        lobes.emit(clean(self.radiance));
    }
}
