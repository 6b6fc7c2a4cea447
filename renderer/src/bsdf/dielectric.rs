//! `Dielectric(color transmittance, normal normal, float ior)`: smooth glass or water, which reflects and refracts.
//!
//! | parameter | what |
//! | --- | --- |
//! | transmittance | share of the refracted light that passes the surface, 0 to 1 per channel |
//! | normal | unit shading normal |
//! | ior | index of refraction behind the surface over the index in front; 1 to 10 |
//!
//! Fresnel's equations give the reflected and the refracted share. Refracted radiance scales with the square of the index,
//! as its solid angle does (Veach 1997, 5.2). The normal tells inside from outside, so meshes must be closed. Light samples do
//! not pass through the surface; only paths find the lights behind it.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Smooth glass, as shaders make it.
    pub struct Dielectric {
        transmittance: color in (0.0..=1.0) = [1.0; 3],
        normal: normal = SHADING_NORMAL,
        ior: float in (1.0..=10.0) = 1.5,
    }
}
