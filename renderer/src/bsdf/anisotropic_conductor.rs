//! `AnisotropicConductor(color eta, color k, normal normal, vector tangent, float roughness_along, float roughness_across)`:
//! a brushed metal.
//!
//! | parameter | what |
//! | --- | --- |
//! | eta, k | the complex index of refraction η + ik for red, green and blue; at least 0 |
//! | normal | unit shading normal |
//! | tangent | along the scratches; the lobe takes its part perpendicular to the normal, or any direction if that is zero |
//! | roughness_along, roughness_across | along the tangent and across it, 0 to 1; α is the square of each, at least 0.001. If both are up to 0.0316, the lobe is specular |
//!
//! Anisotropic [GGX microfacets](super::ggx) reflect by Fresnel's equations. If both roughnesses are equal, the lobe is a
//! `Conductor`. Scratches spread light across, so brushed metal has the larger roughness there. The lobe
//! [compensates](super::energy) for light that meets several microfacets (Turquin 2019). It keeps energy within 0.2 %
//! and is not reciprocal.

use super::{SHADING_NORMAL, SHADING_TANGENT};

ssl_compiler::closure_type! {
    /// A brushed metal, as shaders make it.
    pub struct AnisotropicConductor {
        eta: color in (0.0..),
        k: color in (0.0..),
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
        roughness_along: float in (0.0..=1.0),
        roughness_across: float in (0.0..=1.0),
    }
}
