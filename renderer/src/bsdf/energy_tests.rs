//! Computes the tables of `energy.rs`: means over visible normals.

use super::energy::{GLASS_NODES, Nodes, ROUND, ROUND_NODES, STORED, STRETCHED_NODES, stored};
use super::ggx::Ggx;
use super::oracles::energy::{GREATEST, LEAST_DENSITY, LEAST_ROUGHNESS, along_roughness, density, height};
use super::{albedo, fresnel};
use glam::{DVec2, Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

fn roughness_at(x: f32) -> f32 {
    LEAST_ROUGHNESS + (1.0 - LEAST_ROUGHNESS) * x
}

fn index_at(x: f32) -> f32 {
    let root = (LEAST_DENSITY + (1.0 - LEAST_DENSITY) * x).powi(2) * GREATEST;
    (1.0 + root) / (1.0 - root)
}

/// The direction of that [`height`] and azimuth where facets are stretched to a roughness of 1.
fn outgoing(facets: &Ggx, height: f32, azimuth: f32) -> Vec3 {
    let half_tangent = 1.0 - height * height;
    let square = half_tangent * half_tangent;
    let cosine = ((1.0 - square) / (1.0 + square)).max(1e-6);
    let across = Vec2::from_angle(azimuth) * (1.0 - cosine * cosine).max(0.0).sqrt();
    (across / facets.alpha()).extend(cosine).normalize()
}

fn round([height, roughness]: [f32; 2]) -> f32 {
    let facets = Ggx::of_roughness(roughness_at(roughness));
    mean_reflected(&facets, outgoing(&facets, height, 0.0))
}

fn stretched([height, turn, roughness, ratio]: [f32; 4]) -> f32 {
    let larger = roughness_at(roughness);
    let facets = Ggx::of_roughnesses(Vec2::new(larger, larger * ratio));
    mean_reflected(&facets, outgoing(&facets, height, turn * FRAC_PI_2))
}

fn dielectric([height, roughness, _]: [f32; 3], eta: f32) -> Vec2 {
    let facets = Ggx::of_roughness(roughness_at(roughness));
    let o = outgoing(&facets, height, 0.0);
    let share = |half: Vec3| fresnel::dielectric(o.dot(half).clamp(0.0, 1.0), eta).0;
    mean(1, |u| {
        let up = facets.sample(o, u).map_or(0.0, |s| share(s.half) * facets.weight(o, s.wi));
        let down = facets.sample_refracted(o, u, eta).map_or(0.0, |s| (1.0 - share(s.half)) * facets.weight(o, s.wi));
        Vec2::new(up, down)
    })
}

fn mean_reflected(facets: &Ggx, o: Vec3) -> f32 {
    let sides = if facets.alpha().x == facets.alpha().y && o.y == 0.0 { 1 } else { 2 };
    mean(sides, |u| Vec2::new(facets.sample(o, u).map_or(0.0, |s| facets.weight(o, s.wi)), 0.0)).x
}

/// The mean over facets on both sides of the plane of `o`, or on one of them. The other is its image where both axes
/// are as rough and `o` is above x.
fn mean(sides: u32, of: impl Fn(Vec2) -> Vec2) -> Vec2 {
    const POINTS: u32 = 8192;
    let width = Vec2::new(0.5 * sides as f32, 1.0);
    (albedo::lattice(POINTS).map(|u| of(u * width).as_dvec2()).sum::<DVec2>() / f64::from(POINTS)).as_vec2()
}

impl<const N: usize> Nodes<N> {
    /// The expected value of this node in the file.
    fn computed(&self, node: usize, value: impl Fn([f32; N]) -> f32) -> f32 {
        let mut rest = node - self.from;
        value(self.sizes.map(|size| {
            let along = rest % size;
            rest /= size;
            along as f32 / (size - 1) as f32
        }))
    }

    fn check(&self, value: impl Fn([f32; N]) -> f32) {
        for node in (self.from..self.end()).step_by(311) {
            let (found, expected) = (stored(node), self.computed(node, &value));
            assert!((found - expected).abs() < 1e-4, "node {node}: {found} {expected}");
        }
    }

    fn bytes(&self, value: impl Fn([f32; N]) -> f32) -> Vec<u8> {
        let share = |node| (self.computed(node, &value) * f32::from(u16::MAX)).round() as u16;
        (self.from..self.end()).flat_map(|node| share(node).to_le_bytes()).collect()
    }
}

/// Computes the file anew where `UPDATE_EXPECT=1` is set, else some of its nodes.
#[test]
fn the_file_holds_the_integrals() {
    let glass: [fn([f32; 3]) -> f32; 4] = [
        |x| dielectric(x, index_at(x[2])).x,
        |x| dielectric(x, index_at(x[2])).y,
        |x| dielectric(x, 1.0 / index_at(x[2])).x,
        |x| dielectric(x, 1.0 / index_at(x[2])).y,
    ];
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let glass = GLASS_NODES.iter().zip(glass).flat_map(|(nodes, value)| nodes.bytes(value));
        let all = ROUND_NODES.bytes(round).into_iter().chain(STRETCHED_NODES.bytes(stretched)).chain(glass);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bsdf/energy.bin");
        std::fs::write(path, all.collect::<Vec<u8>>()).expect("the source can be written");
        return;
    }
    assert_eq!(STORED.len(), 2 * GLASS_NODES[3].end());
    ROUND_NODES.check(round);
    STRETCHED_NODES.check(stretched);
    GLASS_NODES.iter().zip(glass).for_each(|(nodes, value)| nodes.check(value));
}

/// Seen straight from above, the roughest facets reflect 1 − ln 2 once, and smooth ones reflect all.
#[test]
fn the_ends_have_closed_forms() {
    assert!((ROUND.at([1.0, 1.0]) - (1.0 - 2.0_f32.ln())).abs() < 3e-4, "{}", ROUND.at([1.0, 1.0]));
    assert!((ROUND.at([1.0, 0.0]) - 1.0).abs() < 1e-4, "{}", ROUND.at([1.0, 0.0]));
}

#[test]
fn coordinates_lead_to_their_nodes() {
    let facets = Ggx::of_roughnesses(Vec2::new(0.7, 0.3));
    for at in [0.0, 0.2, 0.6, 1.0] {
        let o = outgoing(&facets, at, 0.4);
        let stretched = Vec3::new(o.x * facets.alpha().x, o.y * facets.alpha().y, o.z).normalize();
        assert!((height(stretched.z) - at).abs() < 2e-3, "{at}: {}", height(stretched.z));
        assert!((along_roughness(roughness_at(at).powi(2)) - at).abs() < 1e-5);
        assert!((density(index_at(at)) - at).abs() < 1e-4 && (density(1.0 / index_at(at)) - at).abs() < 1e-4);
    }
}
