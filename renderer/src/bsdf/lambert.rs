//! `Lambert(color albedo, normal normal)`: ideal diffuse reflection.
//!
//! | parameter | what |
//! | --- | --- |
//! | albedo | share of the light reflected, 0 to 1 per channel |
//! | normal | unit shading normal |

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Ideal diffuse reflection, as shaders make it.
    pub struct Lambert { albedo: color in (0.0..=1.0), normal: normal = SHADING_NORMAL }
}
