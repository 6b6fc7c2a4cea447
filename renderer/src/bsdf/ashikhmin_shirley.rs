//! `AshikhminShirley(color diffuse, color specular, normal normal, vector tangent, float exponent_along, float
//! exponent_across)`: a diffuse base under an anisotropic highlight, for varnished wood, plastic or satin.
//!
//! | parameter | what |
//! | --- | --- |
//! | diffuse | albedo of the base, 0 to 1 per channel |
//! | specular | reflectance of the highlight at normal incidence, 0 to 1 per channel; it grows towards grazing by Schlick's formula |
//! | normal | unit shading normal |
//! | tangent | direction of the first exponent; a zero vector means any direction |
//! | exponent_along, exponent_across | exponents of the cosine between normal and half vector, 0 (broad) to 100,000 (nearly a mirror) |
//!
//! The model is by Ashikhmin and Shirley, "An anisotropic Phong BRDF model" (2000). It is reciprocal and never gains energy. A
//! broad highlight loses some.

use super::{SHADING_NORMAL, SHADING_TANGENT};

ssl_compiler::closure_type! {
    /// A varnished base, as shaders make it.
    pub struct AshikhminShirley {
        diffuse: color in (0.0..=1.0),
        specular: color in (0.0..=1.0),
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
        exponent_along: float in (0.0..=1e5),
        exponent_across: float in (0.0..=1e5),
    }
}
