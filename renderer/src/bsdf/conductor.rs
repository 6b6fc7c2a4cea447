//! `Conductor(color eta, color k, normal normal, float roughness)`: a metal, smooth or rough.
//!
//! | parameter | what |
//! | --- | --- |
//! | eta, k | the complex index of refraction η + ik for red, green and blue; at least 0 |
//! | normal | unit shading normal |
//! | roughness | 0 to 1; GGX's α is its square. Up to 0.0316, where α would be below 0.001, the lobe is specular |
//!
//! [GGX microfacets](super::ggx) reflect by Fresnel's equations. The lobe [compensates](super::energy) for light that meets
//! several of them (Turquin 2019), so rough metals are as bright as smooth ones; the lobe is not reciprocal.
//! `metal_eta("gold")` and `metal_k("gold")` give the indices of real metals ([built-ins](builtins.md)).
//! `AnisotropicConductor` is a brushed metal.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// A metal, as shaders make it.
    pub struct Conductor {
        eta: color in (0.0..),
        k: color in (0.0..),
        normal: normal = SHADING_NORMAL,
        roughness: float in (0.0..=1.0),
    }
}
