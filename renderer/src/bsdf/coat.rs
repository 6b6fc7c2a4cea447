//! `Coat(float ior, float roughness, color tint, float weight, normal normal, closure base)`: a clear or tinted varnish
//! over any base.
//!
//! | parameter | what |
//! | --- | --- |
//! | ior | index of refraction of the varnish, 1 to 10; about 1.5 |
//! | roughness | of its surface, 0 to 1; GGX's α is its square, at least 0.001 |
//! | tint | share of the base's light that is left after its way in and out, straight on; 0 to 1 per channel |
//! | weight | how much of the surface is coated, 0 to 1 |
//! | normal | unit shading normal of the varnish, which may differ from the base's |
//! | base | what it covers |
//!
//! GGX microfacets reflect by Fresnel's equations. The base gets the rest of the light: its weight is 1 − E(wo), where E is
//! the directional albedo of the varnish, from a table. This is the *albedo scaling* of Kulla and Conty, "Revisiting
//! Physically Based Shading at Imageworks" (2017), and of MaterialX's `layer`. So varnish over a white base neither loses
//! nor gains light, but the two together are not reciprocal. The tint absorbs along the path through the varnish:
//! tint^(1/cos θt), where θt is the refracted angle of the viewer. The model assumes that light enters at the same angle.
//!
//! The model leaves out light that goes back and forth between base and varnish, which darkens and saturates the base under
//! real varnish. It also leaves out that the varnish refracts the light that reaches the base.

use super::SHADING_NORMAL;
use ssl_compiler::runtime::ClosureDefault;

ssl_compiler::closure_type! {
    /// A varnish, as shaders make it.
    pub struct Coat {
        ior: float in (1.0..=10.0) = 1.5,
        roughness: float in (0.0..=1.0) = 0.0,
        tint: color in (0.0..=1.0) = [1.0; 3],
        weight: float in (0.0..=1.0) = 1.0,
        normal: normal = SHADING_NORMAL,
        base: closure = ClosureDefault::NoLobes,
    }
}
