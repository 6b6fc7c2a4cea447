//! How much light the renderer's lobes return, and how much one sample may bring: over roughness, index and angle.

use glam::{Vec2, Vec3};
use renderer::bsdf::harness::Pose;
use renderer::bsdf::{Scatter, SslLobeAlone, SslLobes};
use renderer::material::{Making, ShadingLanguage, ShippedLobe};
use ssl_compiler::BackendKind;
use ssl_compiler::runtime::Row;

fn shipped(name: &str) -> ShippedLobe {
    let making = Making::from(ssl_compiler::Target::from(BackendKind::Cranelift));
    let lobe = ShippedLobe::new(&ShadingLanguage::new(), name, &making).unwrap_or_else(|e| panic!("{name}: {e}"));
    lobe.unwrap_or_else(|| panic!("{name} is not in SSL"))
}

/// A lobe seen from `wo`, with parameters in the order of its closure.
fn at(lobe: &ShippedLobe, parameters: &[f32], pose: &Pose) -> SslLobeAlone {
    let rows: Vec<Row> = parameters.iter().map(|&p| Row::splat(p)).collect();
    let mut own = SslLobes::default();
    lobe.begin(&rows, &[(pose.place(), pose.normal)], &mut own);
    SslLobeAlone::new("a lobe in SSL", own).expect("there is one")
}

/// The energies of samples: radiance is scaled by the square of the index.
fn energies(lobe: &dyn Scatter, wo: Vec3, points: u32) -> Vec<f32> {
    // Roberts's sequence, steps of the inverse of the plastic number and of its square.
    let fraction = |i: u32, step: u32| (i.wrapping_mul(step).wrapping_add(1 << 31) >> 8) as f32 / (1 << 24) as f32;
    let points: Vec<Vec2> =
        (0..points).map(|i| Vec2::new(fraction(i, 3_242_174_889), fraction(i, 2_447_445_413))).collect();
    let energy = |s: &renderer::bsdf::LobeSample| s.weight.x * s.refracted.map_or(1.0, |r| r.eta * r.eta);
    lobe.samples(wo, &points).iter().map(|s| s.as_ref().map_or(0.0, energy)).collect()
}

fn mean(energies: &[f32]) -> f64 {
    energies.iter().map(|&e| f64::from(e)).sum::<f64>() / energies.len() as f64
}

fn outgoing(cosine: f32, azimuth: f32) -> Vec3 {
    (Vec2::from_angle(azimuth) * (1.0 - cosine * cosine).sqrt()).extend(cosine)
}

const ROUGHNESSES: [f32; 10] = [0.0, 0.03, 0.035, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0];
const COSINES: [f32; 6] = [1.0, 0.9, 0.6, 0.3, 0.1, 0.02];

/// A white conductor with any model of its color returns all of the light.
#[test]
fn reflecting_lobes_return_all_light_at_every_roughness() {
    const N: [f32; 3] = [0.0, 0.0, 1.0];
    const T: [f32; 3] = [1.0, 0.0, 0.0];
    let white = |count: usize| vec![1.0; count];
    type Parameters = Box<dyn Fn(f32) -> Vec<f32>>;
    let lobes: [(&str, Parameters); 4] = [
        ("Glossy", Box::new(move |r| [&white(3)[..], &N, &[r]].concat())),
        ("Conductor", Box::new(|r| [&[0.0; 3][..], &[1.0; 3], &N, &[r]].concat())),
        ("AnisotropicConductor", Box::new(|r| [&[0.0; 3][..], &[1.0; 3], &N, &T, &[r, 0.4 * r]].concat())),
        ("Schlick", Box::new(|r| [&[1.0; 9][..], &[5.0], &N, &T, &[0.7 * r, r]].concat())),
    ];
    for (name, parameters) in lobes {
        let lobe = shipped(name);
        for (roughness, cosine) in ROUGHNESSES.into_iter().flat_map(|r| COSINES.map(|c| (r, c))) {
            let wo = outgoing(cosine, 0.5);
            let lobe = at(&lobe, &parameters(roughness), &Pose::upright(wo));
            let found = mean(&energies(&lobe, wo, 8192));
            assert!((found - 1.0).abs() < 2e-3, "{name} {roughness} at {cosine}: {found}");
            assert_eq!(lobe.is_specular(), roughness <= 0.03, "{name} {roughness}");
        }
    }
}

/// Clear glass returns all of the light from both sides, and no sample brings more than four times its share of it.
#[test]
fn rough_glass_returns_all_light_and_samples_are_bounded() {
    let lobe = shipped("RoughDielectric");
    for ior in [1.02, 1.1, 1.33, 1.5, 2.4, 6.0] {
        for (roughness, cosine) in ROUGHNESSES.into_iter().flat_map(|r| COSINES.map(|c| (r, c))) {
            for inside in [false, true] {
                let wo = outgoing(cosine, 0.5);
                let pose = Pose { inside, ..Pose::upright(wo) };
                let lobe = at(&lobe, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, ior, roughness], &pose);
                let energies = energies(&lobe, wo, 8192);
                let (found, most) = (mean(&energies), energies.iter().copied().fold(0.0, f32::max));
                let told = format!("index {ior}, roughness {roughness} at {cosine}, inside: {inside}");
                let variance =
                    energies.iter().map(|&e| (f64::from(e) - found).powi(2)).sum::<f64>() / energies.len() as f64;
                // Which facets refract is drawn by numbers that are not spread evenly.
                let noise = 4.0 * (variance / energies.len() as f64).sqrt();
                assert!((found - 1.0).abs() < 2e-3 + noise, "{told}: {found}, noise {noise}");
                assert!(most < 4.02, "{told}: {most}");
            }
        }
    }
}

/// White threads return all of the light. Where they are smooth and nearly edge-on, the table is less exact.
#[test]
fn white_cloth_returns_all_light() {
    const N: [f32; 3] = [0.0, 0.0, 1.0];
    const T: [f32; 3] = [1.0, 0.0, 0.0];
    let cloth = shipped("Cloth");
    for (roughness, ior) in ROUGHNESSES.into_iter().flat_map(|r| [1.1, 1.5, 2.4].map(|ior| (r, ior))) {
        for (cosine, azimuth) in COSINES.into_iter().flat_map(|c| [0.0, 0.7, 1.5].map(|a| (c, a))) {
            let wo = outgoing(cosine, azimuth);
            let parameters = [&[1.0; 6][..], &[0.4, roughness, ior], &N, &T].concat();
            let lobe = at(&cloth, &parameters, &Pose::upright(wo));
            let found = mean(&energies(&lobe, wo, 8192));
            let may = match () {
                () if cosine > 0.2 => 2e-3,
                () if roughness > 0.25 => 3e-3,
                () => 2e-2,
            };
            assert!((found - 1.0).abs() < may, "roughness {roughness}, index {ior}, at {cosine}, {azimuth}: {found}");
        }
    }
}

/// A white base returns all of the light below its gloss, and below a coat.
#[test]
fn white_plastics_return_all_light() {
    let surface = shipped("OpenPbr");
    const WHITE: [f32; 3] = [1.0; 3];
    const N: [f32; 3] = [0.0, 0.0, 1.0];
    const T: [f32; 3] = [1.0, 0.0, 0.0];
    for (roughness, ior) in ROUGHNESSES.into_iter().flat_map(|r| [1.1, 1.5, 2.4].map(|ior| (r, ior))) {
        for (cosine, (stretch, coat)) in
            COSINES.into_iter().flat_map(|c| [(0.0, 0.0), (0.6, 0.0), (0.0, 1.0)].map(|l| (c, l)))
        {
            let base = [&[1.0][..], &WHITE, &[0.0, 0.0]].concat();
            let specular = [&[1.0][..], &WHITE, &[roughness, stretch, ior]].concat();
            let beneath = [&[0.0][..], &WHITE, &[0.0], &WHITE, &[0.0]].concat();
            let coat = [&[coat][..], &WHITE, &[0.7 * roughness, 0.0, 1.6, 1.0]].concat();
            let fuzz = [&[0.0][..], &WHITE, &[0.5]].concat();
            let thin_walled = [0.0];
            let parameters = [&base[..], &specular, &beneath, &coat, &fuzz, &thin_walled, &N, &N, &T, &T].concat();
            let wo = outgoing(cosine, 0.5);
            let found = mean(&energies(&at(&surface, &parameters, &Pose::upright(wo)), wo, 8192));
            let told = format!("roughness {roughness}, stretched {stretch}, index {ior}, coat {coat:?}, at {cosine}");
            let may = if stretch > 0.0 && cosine < 0.2 { 5e-3 } else { 2e-3 };
            assert!((found - 1.0).abs() < may, "{told}: {found}");
        }
    }
}
