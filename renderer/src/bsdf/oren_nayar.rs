//! `OrenNayar(color albedo, normal normal, float roughness)`: rough diffuse reflection, for clay, plaster, concrete, cloth or
//! the moon.
//!
//! | parameter | what |
//! | --- | --- |
//! | albedo | share of the light reflected, 0 to 1 per channel; the same whatever the roughness |
//! | normal | unit shading normal |
//! | roughness | 0 to 1; at 0 the lobe is `Lambert` |
//!
//! The model is that of Portsmouth, Kutz and Hill, "EON: A practical energy-preserving rough diffuse BRDF" (JCGT 2025). It adds
//! a term for light that scatters several times to Fujii's form of the model by Oren and Nayar. So a white surface reflects all
//! light, within 0.3 %. The lobe samples their clipped linearly transformed cosine, mixed with a uniform share.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Rough diffuse reflection, as shaders make it.
    pub struct OrenNayar {
        albedo: color in (0.0..=1.0),
        normal: normal = SHADING_NORMAL,
        roughness: float in (0.0..=1.0),
    }
}
