//! `Mirror(color reflectance, normal normal)`: ideal specular reflection.
//!
//! | parameter | what |
//! | --- | --- |
//! | reflectance | share of the light reflected, 0 to 1 per channel, whatever the angle |
//! | normal | unit shading normal |

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Ideal specular reflection, as shaders make it.
    pub struct Mirror { reflectance: color in (0.0..=1.0) = [1.0; 3], normal: normal = SHADING_NORMAL }
}
