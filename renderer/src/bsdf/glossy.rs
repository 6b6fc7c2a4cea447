//! `Glossy(color reflectance, normal normal, float roughness)`: a rough conductor-like reflection.
//!
//! | parameter | what |
//! | --- | --- |
//! | reflectance | Fresnel reflectance, 0 to 1 per channel, whatever the angle |
//! | normal | unit shading normal |
//! | roughness | 0 to 1; GGX's α is its square. Up to 0.0316, where α would be below 0.001, the lobe is specular |
//!
//! Isotropic [GGX microfacets](super::ggx) reflect light. The lobe [compensates](super::energy) for light that meets several of
//! them (Turquin 2019), so rough surfaces are as bright as smooth ones; the lobe is not reciprocal.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// A rough conductor-like reflection, as shaders make it.
    pub struct Glossy {
        reflectance: color in (0.0..=1.0),
        normal: normal = SHADING_NORMAL,
        roughness: float in (0.0..=1.0),
    }
}
