//! `Emission(color radiance)`: light that the surface emits, the same in all directions, on the side that is seen. The
//! renderer adds the radiance where a path meets the surface, and samples shapes that emit as lights. `Emission` scatters
//! no light, so there is no lobe to sample.

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
