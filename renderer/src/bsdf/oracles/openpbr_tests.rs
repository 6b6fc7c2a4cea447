//! OpenPBR surfaces keep their light, and follow the specification.

use super::*;
use crate::bsdf::{WeightedLobe, harness};

/// The specification's defaults, white.
const WHITE: OpenPbr = OpenPbr {
    base_weight: 1.0,
    base_color: [1.0; 3],
    base_diffuse_roughness: 0.0,
    base_metalness: 0.0,
    specular_weight: 1.0,
    specular_color: [1.0; 3],
    specular_roughness: 0.3,
    specular_roughness_anisotropy: 0.0,
    specular_ior: 1.5,
    transmission_weight: 0.0,
    transmission_color: [1.0; 3],
    subsurface_weight: 0.0,
    subsurface_color: [1.0; 3],
    subsurface_scatter_anisotropy: 0.0,
    coat_weight: 0.0,
    coat_color: [1.0; 3],
    coat_roughness: 0.0,
    coat_roughness_anisotropy: 0.0,
    coat_ior: 1.6,
    coat_darkening: 1.0,
    fuzz_weight: 0.0,
    fuzz_color: [1.0; 3],
    fuzz_roughness: 0.5,
    geometry_thin_walled: false,
    geometry_normal: [0.0, 0.0, 1.0],
    geometry_coat_normal: [0.0, 0.0, 1.0],
    geometry_tangent: [1.0, 0.0, 0.0],
    geometry_coat_tangent: [1.0, 0.0, 0.0],
    emission: Beneath,
    behind: Beneath,
};

fn lobes(closure: &OpenPbr, wo: Vec3, inside: bool) -> Vec<WeightedLobe> {
    let mut list = Vec::new();
    closure.scatter(&Place { wo, gnormal: Vec3::Z, inside }, &mut Lobes::new(&mut list));
    list
}

/// The share of light from all sides that comes to the viewer, by the lobes' own samples.
fn scattered(closure: &OpenPbr, wo: Vec3, inside: bool) -> f32 {
    let list = lobes(closure, wo, inside);
    list.iter().map(|l| l.weight.x * harness::albedo(&l.lobe, wo)).sum()
}

#[test]
fn its_own_lobes_pass_the_harness() {
    let stretched =
        OpenPbr { specular_roughness: 0.7, specular_roughness_anisotropy: 0.5, specular_color: [0.8; 3], ..WHITE };
    for (name, closure) in [
        ("plastic", stretched),
        ("coat", OpenPbr { coat_weight: 1.0, coat_roughness: 0.6, coat_roughness_anisotropy: 0.5, ..WHITE }),
    ] {
        let make = |pose: &harness::Pose| {
            let (geometry_normal, geometry_tangent) = (pose.normal.to_array(), pose.tangent.to_array());
            let (geometry_coat_normal, geometry_coat_tangent) = (geometry_normal, geometry_tangent);
            let turned =
                OpenPbr { geometry_normal, geometry_tangent, geometry_coat_normal, geometry_coat_tangent, ..closure };
            let mut list = Vec::new();
            turned.scatter(&pose.place(), &mut Lobes::new(&mut list));
            list[0].lobe
        };
        harness::check_one_way(&format!("OpenPbr, {name}"), &make);
    }
}

/// A white furnace over roughness, metal, glass, coat and fuzz.
#[test]
fn a_white_one_keeps_all_light() {
    for roughness in [0.1, 0.8] {
        for (base_metalness, transmission_weight) in [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0)] {
            for (coat_weight, fuzz_weight) in [(0.0, 0.0), (1.0, 0.0), (0.5, 0.7)] {
                let layers = OpenPbr { coat_weight, coat_roughness: 0.2, fuzz_weight, ..WHITE };
                let closure = OpenPbr { specular_roughness: roughness, base_metalness, transmission_weight, ..layers };
                for wo in harness::directions() {
                    let all = scattered(&closure, wo, false);
                    assert!((all - 1.0).abs() < 0.03, "{closure:?} {wo}: {all}");
                }
            }
        }
    }
}

#[test]
fn glass_is_glass_from_inside_whatever_lies_on_it() {
    let glass = OpenPbr { transmission_weight: 1.0, coat_weight: 1.0, fuzz_weight: 1.0, ..WHITE };
    for wo in harness::directions() {
        let names: Vec<_> = lobes(&glass, wo, true).iter().map(|l| (l.lobe.name(), l.weight)).collect();
        assert_eq!(names, [("RoughDielectric", Vec3::ONE)]);
        assert_eq!(lobes(&glass, wo, false).len(), 3);
    }
}

/// A pane of index 1.5 reflects 2 · 0.04/(1 + 0.04) straight on and lets the rest through; no other is seen through.
#[test]
fn light_goes_straight_through_thin_walls() {
    let pane = OpenPbr { geometry_thin_walled: true, transmission_weight: 1.0, specular_roughness: 0.0, ..WHITE };
    for inside in [false, true] {
        let place = Place { wo: Vec3::Z, gnormal: Vec3::Z, inside };
        let list = lobes(&pane, Vec3::Z, inside);
        let share = list[0].weight.x * list[0].lobe.albedo().x;
        assert!(list.len() == 1 && (share - 0.08 / 1.04).abs() < 1e-3, "{share}");
        assert!((share + pane.beneath(&place, BEHIND).x - 1.0).abs() < 1e-4);
        let tinted = OpenPbr { transmission_color: [1.0, 0.5, 0.0], transmission_weight: 0.5, ..pane };
        let expected = pane.beneath(&place, BEHIND) * Vec3::new(0.5, 0.25, 0.0);
        assert!((tinted.beneath(&place, BEHIND) - expected).abs().max_element() < 1e-5);
        assert_eq!(OpenPbr { geometry_thin_walled: false, ..pane }.beneath(&place, BEHIND), Vec3::ZERO);
    }
    let parameters = <OpenPbr as ssl_compiler::runtime::Closure>::closure_type().parameters;
    assert_eq!(parameters[BEHIND].name, "behind");
}

/// A sheet of paper shares what goes below its surface out to both sides.
#[test]
fn thin_sheets_scatter_light_on() {
    let paper = OpenPbr { geometry_thin_walled: true, subsurface_weight: 1.0, specular_weight: 0.0, ..WHITE };
    for (anisotropy, on) in [(0.0, 0.5), (0.5, 0.75), (-1.0, 0.0)] {
        let sheet = OpenPbr { subsurface_scatter_anisotropy: anisotropy, subsurface_color: [0.8; 3], ..paper };
        let share = |name: &str| -> f32 {
            let list = lobes(&sheet, Vec3::new(0.6, 0.0, 0.8), false);
            list.iter().filter(|l| l.lobe.name() == name).map(|l| l.weight.x * l.lobe.albedo().x).sum()
        };
        assert!((share("Translucent") - 0.8 * on).abs() < 1e-5, "{anisotropy}");
        assert!((share("Lambert") - 0.8 * (1.0 - on)).abs() < 1e-5, "{anisotropy}");
    }
}

/// Numbers of the graph `open_pbr_surface`, worked out by hand.
#[test]
fn a_coat_darkens_and_adapts_as_in_materialx() {
    let coated = OpenPbr { base_color: [0.5; 3], coat_weight: 1.0, ..WHITE };
    let place = Place { wo: Vec3::Z, gnormal: Vec3::Z, inside: false };
    // K = 1 − (1 − (0.6/2.6)²)/2.56 and (1 − K)/(1 − K/2).
    let back = 1.0 - (1.0 - (0.6_f32 / 2.6).powi(2)) / 2.56;
    assert!((coated.darkening(&place) - (1.0 - back) / (1.0 - 0.5 * back)).abs().max_element() < 1e-6);
    // 1.5 below 1.6 is turned round.
    assert!((coated.relative_ior() - 1.6 / 1.5).abs() < 1e-6);
    let half = OpenPbr { coat_weight: 0.5, coat_roughness: 0.5, specular_roughness: 0.4, ..coated };
    assert!((half.relative_ior() - (1.5 + 1.6 / 1.5) / 2.0).abs() < 1e-6);
    // (0.4⁴ + 2 · 0.5⁴)^¼ = 0.6253, half way from 0.4.
    assert!((half.roughnesses() - 0.5 * (0.4 + 0.1506_f32.powf(0.25))).abs().max_element() < 1e-5);
    // The specular weight scales what is reflected straight on: an index of 1.5 reflects 4 %, here 1 %.
    let weak = OpenPbr { specular_weight: 0.25, ..WHITE };
    assert!((weak.weighted(1.5) - 1.1 / 0.9).abs() < 1e-5);
    // Anisotropy of 1/2: α by √(2/(1 + 1/4)) along, half of that across.
    let alpha = stretched(0.5, 0.5).powf(2.0);
    assert!((alpha - 0.25 * 1.6_f32.sqrt() * Vec2::new(1.0, 0.5)).abs().max_element() < 1e-6);
}

#[test]
fn what_shines_below_is_seen_through_the_coat() {
    let place = Place { wo: Vec3::Z, gnormal: Vec3::Z, inside: false };
    assert_eq!(WHITE.beneath(&place, BEHIND - 1), Vec3::ONE);
    let coated = OpenPbr { coat_weight: 1.0, coat_color: [0.5; 3], ..WHITE };
    let passing = 0.5 * (1.0 - (0.6_f32 / 2.6).powi(2));
    assert!((coated.beneath(&place, BEHIND - 1).x - passing).abs() < 3e-3);
}

#[test]
fn colors_stand_where_the_specification_puts_them() {
    let red = [0.8, 0.1, 0.1];
    let mixed = OpenPbr { base_color: red, base_metalness: 0.25, subsurface_weight: 0.5, ..WHITE };
    let list = lobes(&mixed, Vec3::Z, false);
    assert_eq!(list.iter().map(|l| l.lobe.name()).collect::<Vec<_>>(), ["Schlick", "OpenPbr", "Lambert"]);
    let [metal, gloss, diffuse] = [0, 1, 2].map(|i| list[i].weight * list[i].lobe.albedo());
    assert!((metal / metal.x - Vec3::from(red) / 0.8).abs().max_element() < 0.06, "{metal}");
    assert!((gloss - 0.75 * 0.04).abs().max_element() < 2e-3, "{gloss}");
    let expected = 0.75 * 0.96 * Vec3::from(red).lerp(Vec3::ONE, 0.5);
    assert!((diffuse - expected).abs().max_element() < 2e-3, "{diffuse}");
}
