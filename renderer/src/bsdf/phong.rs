//! `Phong(color reflectance, normal normal, float exponent)`: Phong's highlight, for scenes made with it in mind.
//!
//! | parameter | what |
//! | --- | --- |
//! | reflectance | share of the light reflected at normal incidence, 0 to 1 per channel |
//! | normal | unit shading normal |
//! | exponent | exponent of the cosine to the mirror direction, 0 (broad) to 100,000 (nearly a mirror) |
//!
//! This is the normalised model of Lafortune and Willems, "Using the modified Phong reflectance model for physically based
//! rendering" (1994). It is reciprocal and never gains energy. It loses some towards grazing, where a part of the lobe is below
//! the surface; [`Glossy`](super::glossy) does not.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Phong's highlight, as shaders make it.
    pub struct Phong {
        reflectance: color in (0.0..=1.0),
        normal: normal = SHADING_NORMAL,
        exponent: float in (0.0..=1e5),
    }
}
