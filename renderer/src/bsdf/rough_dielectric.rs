//! `RoughDielectric(color reflectance, color transmittance, normal normal, float ior, float roughness)`: frosted glass, ice,
//! or any clear thing that is not polished.
//!
//! | parameter | what |
//! | --- | --- |
//! | reflectance | tint of the reflected light, 0 to 1 per channel; white is physical, black is a surface that only refracts |
//! | transmittance | tint of the refracted light, 0 to 1 per channel |
//! | normal | unit shading normal |
//! | ior | index of refraction behind the surface over the index in front; 1.02 to 10 |
//! | roughness | 0 to 1; GGX's α is its square. Up to 0.0316 (α < 0.001), the lobe is specular |
//!
//! [GGX microfacets](super::ggx) reflect and refract by Fresnel's equations (Walter et al. 2007). A sample draws the
//! facet first. The lobe [compensates](super::energy) for multiple scattering, so rough glass keeps all energy within
//! 0.2 %, from outside and from inside. The lobe scales single scattering
//! (Turquin 2019), by at most 2; the rest leaves evenly. So no sample carries more than 4 times its share of the
//! energy. The lobe is not reciprocal. At a roughness up to 0.0316 it is specular. Refracted radiance scales with the
//! square of the index. As for `Dielectric`, the normal tells inside from outside, so meshes must be closed.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Rough glass, as shaders make it.
    pub struct RoughDielectric {
        reflectance: color in (0.0..=1.0) = [1.0; 3],
        transmittance: color in (0.0..=1.0) = [1.0; 3],
        normal: normal = SHADING_NORMAL,
        ior: float in (1.02..=10.0) = 1.5,
        roughness: float in (0.0..=1.0),
    }
}
