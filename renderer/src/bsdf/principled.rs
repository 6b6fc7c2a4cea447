//! `Principled(color base_color, float metallic, float roughness, float anisotropic, float specular, float specular_tint,
//! float sheen, float sheen_tint, float flatness, float clearcoat, float clearcoat_gloss, float transmission, float ior,
//! normal normal, vector tangent)`: Disney's material for everything, with the parameters that artists know.
//!
//! | parameter | default | what |
//! | --- | --- | --- |
//! | base_color | 0.8 | color of diffuse reflection, of metal, and of transmitted light |
//! | metallic | 0 | from a dielectric, 0, to a metal, 1 |
//! | roughness | 0.5 | roughness of the reflection, whose α is its square, and of the diffuse part; 0 to 1 |
//! | anisotropic | 0 | stretches highlights along the tangent, 0 to 1: the α of the two axes differ by up to a factor of 10 |
//! | specular | 0.5 | reflectance at normal incidence, from 0 for none to 1 for 8 % |
//! | specular_tint | 0 | how much of the base color's hue this reflection has, 0 to 1 |
//! | sheen | 0 | a rim at grazing angles, for cloth; 0 to 1 |
//! | sheen_tint | 0.5 | how much of the base color's hue the sheen has, 0 to 1 |
//! | flatness | 0 | from Burley's diffuse reflection, 0, to an approximation of subsurface scattering, 1 |
//! | clearcoat | 0 | a second, colorless highlight, 0 to 1 |
//! | clearcoat_gloss | 1 | from satin, 0, to glossy, 1 |
//! | transmission | 0 | from opaque, 0, to rough glass, 1; the root of the base color tints the light once for each side |
//! | ior | 0 | index of refraction, 1.02 to 10; less than 1 means the index that `specular` implies |
//! | normal | the surface's | unit shading normal |
//! | tangent | the surface's | along the surface, for `anisotropic` |
//!
//! The model is by Burley, "Physically Based Shading at Disney" (2012), with `flatness` and `transmission` from "Extending the
//! Disney BRDF to a BSDF with Integrated Subsurface Scattering" (2015). As in Mitsuba 3's `principled`, the dielectric part
//! reflects by Fresnel's exact equations, and the root of the base color tints refracted light. Four things differ from
//! Mitsuba: masking is height-correlated, the clear coat has the denominator 4 cos θo cos θi of the paper, the transmissive
//! part is `RoughDielectric`, without tinted reflection, sheen or clear coat, and of a stretched highlight no α exceeds 1, which the
//! larger one reaches from a `roughness` of 0.56 on with `anisotropic = 1`.
//!
//! Name the arguments that differ from the defaults: `make_closure<Principled>(base_color = paint, metallic = 1.0)`. You can
//! also fill in a struct from `principled.ssl`: `PrincipledSurface m = principled_defaults(); m.metallic = 1.0;
//! result = principled(m);`.
//!
//! As in Disney's model, the parts are added, not layered. So a white surface can gain energy: up to 1.06 times the incoming
//! light seen from the front, and up to 1.75 times at grazing angles, if it is rough and has full sheen and clear coat. Light that a rough
//! metal scatters more than once is lost: straight on, a white one returns 0.82 of it at a roughness of 0.6 and 0.31 at 1.
//! `OpenPbr` conserves energy.

use super::{SHADING_NORMAL, SHADING_TANGENT};

ssl_compiler::closure_type! {
    /// Disney's material, as shaders make it.
    pub struct Principled {
        base_color: color in (0.0..=1.0) = [0.8; 3],
        metallic: float in (0.0..=1.0) = 0.0,
        roughness: float in (0.0..=1.0) = 0.5,
        anisotropic: float in (0.0..=1.0) = 0.0,
        specular: float in (0.0..=1.0) = 0.5,
        specular_tint: float in (0.0..=1.0) = 0.0,
        sheen: float in (0.0..=1.0) = 0.0,
        sheen_tint: float in (0.0..=1.0) = 0.5,
        flatness: float in (0.0..=1.0) = 0.0,
        clearcoat: float in (0.0..=1.0) = 0.0,
        clearcoat_gloss: float in (0.0..=1.0) = 1.0,
        transmission: float in (0.0..=1.0) = 0.0,
        ior: float in (0.0..=10.0) = 0.0,
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
    }
}
