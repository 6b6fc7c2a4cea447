//! `Translucent(color transmittance, normal normal)`: light that comes out on the other side evenly in all directions: thin
//! leaves, paper, lamp shades, curtains.
//!
//! | parameter | what |
//! | --- | --- |
//! | transmittance | share of the light that comes through, 0 to 1 per channel |
//! | normal | unit shading normal |
//!
//! The lobe follows Lambert's law behind the surface, and is the same from both sides. If you add it to `Lambert`, the two
//! should not scatter more than all of the light. The lobe does not refract, and light leaves where it enters.

use super::SHADING_NORMAL;

ssl_compiler::closure_type! {
    /// Diffuse transmission, as shaders make it.
    pub struct Translucent { transmittance: color in (0.0..=1.0), normal: normal = SHADING_NORMAL }
}
