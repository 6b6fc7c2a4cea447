//! `Schlick(color f0, color f82, color f90, float exponent, normal normal, vector tangent, float roughness_along, float
//! roughness_across)`: a rough reflection whose Fresnel curve the author chooses.
//!
//! | parameter | what |
//! | --- | --- |
//! | f0 | reflectance at normal incidence, 0 to 1 per channel |
//! | f82 | multiplies the reflectance at 82° (cosine 1/7), where metals have a dip; 0 to 1 per channel, and white means no dip |
//! | f90 | reflectance at grazing incidence, 0 to 1 per channel |
//! | exponent | how late the curve rises, 0.1 to 100; 5 in Schlick's formula |
//! | normal | unit shading normal |
//! | tangent | direction of the first roughness; a zero vector means any direction |
//! | roughness_along, roughness_across | 0 to 1; GGX's α is the square of each, at least 0.001. If both are up to 0.0316, the lobe is specular |
//!
//! The lobe is the reflecting part of MaterialX's `generalized_schlick_bsdf` (Hoffman, "Fresnel Equations Considered Harmful",
//! 2019, and "Generalization of Adobe's Fresnel Model", 2023). The roughness of MaterialX is α, the square of this one.
//! [GGX microfacets](super::ggx) reflect as in `Conductor` and `AnisotropicConductor`. The lobe [compensates](super::energy) for
//! light that meets several of them (Turquin 2019), so it is not reciprocal.

use super::{SHADING_NORMAL, SHADING_TANGENT};

ssl_compiler::closure_type! {
    /// A reflection by a generalised Schlick curve, as shaders make it.
    pub struct Schlick {
        f0: color in (0.0..=1.0),
        f82: color in (0.0..=1.0) = [1.0; 3],
        f90: color in (0.0..=1.0) = [1.0; 3],
        exponent: float in (0.1..=100.0) = 5.0,
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
        roughness_along: float in (0.0..=1.0),
        roughness_across: float in (0.0..=1.0),
    }
}
