//! `Cloth(color warp, color weft, float weft_share, float roughness, float ior, normal normal, vector tangent)`: woven cloth
//! seen from so far that single threads are invisible: satin, taffeta, shot silk, linen.
//!
//! | parameter | what |
//! | --- | --- |
//! | warp | color of the threads along the tangent, 0 to 1 per channel |
//! | weft | color of those across |
//! | weft_share | how much of the surface the weft covers, 0 to 1; 0.5 for plain weave, 0.1 to 0.2 for satin |
//! | roughness | of the fibres along a thread, 0 to 1: 0.2 for silk, 0.6 for linen |
//! | ior | index of refraction of the fibres, 1 to 10: 1.46 for cotton, 1.54 for silk |
//! | normal | unit shading normal |
//! | tangent | along the warp; any direction where there is none |
//!
//! Two families of threads lie at right angles, as in the satin of Ashikhmin, Premože and Shirley, "A Microfacet-Based BRDF
//! Generator" (2000). The normals of a thread point in all directions around it, and along it they vary only as its fibres
//! do. So each family reflects by anisotropic [GGX microfacets](super::ggx), with a roughness of 1 across the thread, in a band
//! across it. Fresnel's equations say how much light enters the fibres. This light scatters in them and leaves evenly in all
//! directions, in the color of the thread. A white cloth keeps all light within 3 %, but the lobe is not reciprocal.
//!
//! The threads neither shadow each other nor transmit light. Put `Sheen` on cloth whose fibres stand off, and add
//! `Translucent` for thin cloth. For patterns, vary `weft_share` and the tangent.

use super::{SHADING_NORMAL, SHADING_TANGENT};

ssl_compiler::closure_type! {
    /// Woven cloth, as shaders make it.
    pub struct Cloth {
        warp: color in (0.0..=1.0),
        weft: color in (0.0..=1.0),
        weft_share: float in (0.0..=1.0) = 0.5,
        roughness: float in (0.0..=1.0),
        ior: float in (1.0..=10.0) = 1.5,
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
    }
}
