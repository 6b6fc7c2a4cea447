//! The renderer's lobes a second time, in Rust: the oracles of tests for the structs of `renderer/bsdfs`. No picture
//! runs them unless a host asks for it
//! ([`ShadingLanguage::with_closures`](crate::material::ShadingLanguage::with_closures)). Microfacets of the least
//! roughness are microfacets here, where the structs are specular.

mod anisotropic_conductor;
mod ashikhmin_shirley;
mod clear_coat;
mod cloth;
mod coat;
mod conductor;
mod dielectric;
pub mod energy;
mod fresnel;
mod ggx;
mod glossy;
mod lambert;
mod mirror;
mod openpbr;
mod oren_nayar;
mod phong;
mod principled;
mod principled_diffuse;
mod principled_gloss;
mod rough_boundary;
mod rough_dielectric;
mod schlick;
mod sheen;
mod translucent;

use super::{
    AnisotropicConductor, AshikhminShirley, ClosureKind, Cloth, Coat, Conductor, Dielectric, Glossy, Lambert, Mirror,
    OpenPbr, OrenNayar, Phong, Principled, RoughDielectric, Schlick, Sheen, Translucent,
};

/// Those of all closures whose code is SSL, to run in its place.
pub fn oracles() -> Vec<ClosureKind> {
    vec![
        ClosureKind::of::<AnisotropicConductor>(),
        ClosureKind::of::<AshikhminShirley>(),
        ClosureKind::of::<Cloth>(),
        ClosureKind::of::<Coat>(),
        ClosureKind::of::<Conductor>(),
        ClosureKind::of::<Dielectric>(),
        ClosureKind::of::<Glossy>(),
        ClosureKind::of::<Lambert>(),
        ClosureKind::of::<Mirror>(),
        ClosureKind::of::<OpenPbr>(),
        ClosureKind::of::<OrenNayar>(),
        ClosureKind::of::<Phong>(),
        ClosureKind::of::<Principled>(),
        ClosureKind::of::<RoughDielectric>(),
        ClosureKind::of::<Schlick>(),
        ClosureKind::of::<Sheen>(),
        ClosureKind::of::<Translucent>(),
    ]
}
