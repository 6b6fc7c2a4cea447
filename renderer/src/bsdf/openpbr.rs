//! `OpenPbr(…)`: the surface of the OpenPBR specification 1.1 by the Academy Software Foundation. Fuzz lies over a coat, and the
//! coat over a base that is part metal, part plastic, part glass.
//!
//! Name the arguments that differ from the defaults: `make_closure<OpenPbr>(base_color = paint, coat_weight = 1.0)`. You can
//! also fill in a struct from `openpbr.ssl`: `OpenPbrSurface m = openpbr_defaults(); m.coat_weight = 1.0;
//! result = openpbr(m);`. Only the struct has the parameters `emission_…` and `geometry_opacity` of the specification. It turns
//! them into the closures `emission` and `behind`, and into a sum with `Transparent`.
//!
//! | parameter | type | default | what |
//! | --- | --- | --- | --- |
//! | base_weight | float | 1 | scales the base color |
//! | base_color | color | 0.8 | color of diffuse reflection, and of metal at normal incidence |
//! | base_diffuse_roughness | float | 0 | from Lambert, 0, to as flat as dust, 1 |
//! | base_metalness | float | 0 | from a dielectric, 0, to a metal, 1 |
//! | specular_weight | float | 1 | scales the reflection of a metal, and that of a dielectric at normal incidence; at least 0 |
//! | specular_color | color | 1 | tints the reflection of a dielectric, and that of a metal near the silhouette |
//! | specular_roughness | float | 0.3 | roughness of both, 0 to 1 |
//! | specular_roughness_anisotropy | float | 0 | stretches highlights along the tangent, 0 to 1 |
//! | specular_ior | float | 1.5 | index of refraction of the dielectric, 1 to 10 |
//! | transmission_weight | float | 0 | from an opaque dielectric, 0, to glass, 1 |
//! | transmission_color | color | 1 | tints light each time it passes the surface |
//! | subsurface_weight | float | 0 | from diffuse reflection, 0, to subsurface scattering, 1 |
//! | subsurface_color | color | 0.8 | color of subsurface scattering |
//! | subsurface_scatter_anisotropy | float | 0 | for thin walls: from all light back, −1, to all light through, 1 |
//! | coat_weight | float | 0 | how much of the surface is coated, 0 to 1 |
//! | coat_color | color | 1 | share of the light that passes the coat, in and out, at normal incidence |
//! | coat_roughness | float | 0 | roughness of the coat, 0 to 1 |
//! | coat_roughness_anisotropy | float | 0 | stretches the coat's highlights along its tangent, 0 to 1 |
//! | coat_ior | float | 1.6 | index of refraction of the coat, 1 to 10 |
//! | coat_darkening | float | 1 | how much the light that goes back and forth below the coat darkens the base, 0 to 1 |
//! | fuzz_weight | float | 0 | how much of the surface has fibres on top, 0 to 1 |
//! | fuzz_color | color | 1 | color of the fibres |
//! | fuzz_roughness | float | 0.5 | roughness of the fibres, as for `Sheen` |
//! | geometry_thin_walled | bool | false | whether the surface is a thin sheet rather than the boundary of a solid |
//! | geometry_normal, geometry_coat_normal | normal | the surface's | unit shading normals |
//! | geometry_tangent, geometry_coat_tangent | vector | the surface's | directions for the anisotropies |
//! | emission | closure | none | light emitted below the coat: `Emission` |
//! | behind | closure | none | light that passes straight through the glass of a sheet: `Transparent` |
//!
//! Layers divide the light by *albedo scaling*, as in the specification and in MaterialX's graph `open_pbr_surface`: what is
//! below a layer gets 1 − E(wo). So a white material keeps all light, within 3 %, but the scattering is not reciprocal. A coat
//! roughens, darkens and adapts to its base as in that graph. Metal is `Schlick`, diffuse reflection is `Lambert` or
//! `OrenNayar`, and glass is `RoughDielectric`, which is isotropic. Fuzz is `Sheen`; the specification uses the model of Zeltner
//! et al. The subsurface scattering of a sheet is half diffuse reflection and half `Translucent`.
//!
//! The lobe leaves out thin films, dispersion and volumes. So subsurface light leaves where it enters (there is no
//! `subsurface_radius`), and glass neither absorbs nor scatters with depth (there is no `transmission_depth` and no
//! `transmission_scatter`).

use super::{SHADING_NORMAL, SHADING_TANGENT};
use ssl_compiler::runtime::ClosureDefault;

ssl_compiler::closure_type! {
    /// An OpenPBR surface, as shaders make it.
    pub struct OpenPbr {
        base_weight: float in (0.0..=1.0) = 1.0,
        base_color: color in (0.0..=1.0) = [0.8; 3],
        base_diffuse_roughness: float in (0.0..=1.0) = 0.0,
        base_metalness: float in (0.0..=1.0) = 0.0,
        specular_weight: float in (0.0..) = 1.0,
        specular_color: color in (0.0..=1.0) = [1.0; 3],
        specular_roughness: float in (0.0..=1.0) = 0.3,
        specular_roughness_anisotropy: float in (0.0..=1.0) = 0.0,
        specular_ior: float in (1.0..=10.0) = 1.5,
        transmission_weight: float in (0.0..=1.0) = 0.0,
        transmission_color: color in (0.0..=1.0) = [1.0; 3],
        subsurface_weight: float in (0.0..=1.0) = 0.0,
        subsurface_color: color in (0.0..=1.0) = [0.8; 3],
        subsurface_scatter_anisotropy: float in (-1.0..=1.0) = 0.0,
        coat_weight: float in (0.0..=1.0) = 0.0,
        coat_color: color in (0.0..=1.0) = [1.0; 3],
        coat_roughness: float in (0.0..=1.0) = 0.0,
        coat_roughness_anisotropy: float in (0.0..=1.0) = 0.0,
        coat_ior: float in (1.0..=10.0) = 1.6,
        coat_darkening: float in (0.0..=1.0) = 1.0,
        fuzz_weight: float in (0.0..=1.0) = 0.0,
        fuzz_color: color in (0.0..=1.0) = [1.0; 3],
        fuzz_roughness: float in (0.0..=1.0) = 0.5,
        geometry_thin_walled: bool = false,
        geometry_normal: normal = SHADING_NORMAL,
        geometry_coat_normal: normal = SHADING_NORMAL,
        geometry_tangent: vector = SHADING_TANGENT,
        geometry_coat_tangent: vector = SHADING_TANGENT,
        emission: closure = ClosureDefault::NoLobes,
        behind: closure = ClosureDefault::NoLobes,
    }
}
