//! Computes the tables of `energy.rs`: means over visible normals.

use super::energy::{
    BOUNDARY_NODES, BOUNDARY_STRETCHED_NODES, GLASS_NODES, LARGEST_AMPLITUDE, Nodes, ROUND, ROUND_NODES, STORED,
    STRETCHED_NODES, stored,
};
use super::ggx::Ggx;
use super::oracles::energy::{
    Crowded, GREATEST, LEAST_DENSITY, LEAST_ROUGHNESS, along_roughness, density, depth, dielectric as shares, height,
    stretched as stretched_by,
};
use super::{albedo, fresnel};
use glam::{DVec2, Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

fn roughness_at(x: f32) -> f32 {
    LEAST_ROUGHNESS + (1.0 - LEAST_ROUGHNESS) * x
}

fn index_at(x: f32) -> f32 {
    let root = (LEAST_DENSITY + (1.0 - LEAST_DENSITY) * x).powi(4) * GREATEST;
    (1.0 + root) / (1.0 - root)
}

/// The direction of that [`depth`] and azimuth where facets are stretched to a roughness of 1.
fn outgoing(facets: &Ggx, depth: f32, azimuth: f32) -> Vec3 {
    let half_tangent = depth * (2.0 - depth);
    let square = half_tangent * half_tangent;
    let cosine = ((1.0 - square) / (1.0 + square)).max(1e-6);
    let across = Vec2::from_angle(azimuth) * (2.0 * half_tangent / (1.0 + square));
    (across / facets.alpha()).extend(cosine).normalize()
}

fn round([height, roughness]: [f32; 2]) -> f32 {
    let facets = Ggx::of_roughness(roughness_at(roughness));
    mean_reflected(&facets, outgoing(&facets, 1.0 - height, 0.0))
}

fn stretched([height, turn, roughness, ratio]: [f32; 4]) -> f32 {
    let larger = roughness_at(roughness);
    let facets = Ggx::of_roughnesses(Vec2::new(larger, larger * ratio));
    mean_reflected(&facets, outgoing(&facets, 1.0 - height, turn * FRAC_PI_2))
}

fn into([height, roughness, density]: [f32; 3]) -> Vec2 {
    dielectric(&Ggx::of_roughness(roughness_at(roughness)), 1.0 - height, index_at(density))
}

fn out_of([place, roughness, density]: [f32; 3]) -> Vec2 {
    let (facets, ior) = (Ggx::of_roughness(roughness_at(roughness)), index_at(density));
    dielectric(&facets, Crowded::about_critical(facets.alpha().x, ior).depth(place), 1.0 / ior)
}

fn dielectric(facets: &Ggx, depth: f32, eta: f32) -> Vec2 {
    let o = outgoing(facets, depth, 0.0);
    let share = |half: Vec3| fresnel::dielectric(o.dot(half).clamp(0.0, 1.0), eta).0;
    mean(1, |u| {
        let up = facets.sample(o, u).map_or(0.0, |s| share(s.half) * facets.weight(o, s.wi));
        let down = facets.sample_refracted(o, u, eta).map_or(0.0, |s| (1.0 - share(s.half)) * facets.weight(o, s.wi));
        Vec2::new(up, down)
    })
}

fn boundary([amplitude, cosine, roughness]: [f32; 3]) -> f32 {
    mean_fresnel(&Ggx::of_roughness(roughness_at(roughness)), amplitude, cosine, 0.0)
}

fn boundary_stretched([amplitude, cosine, azimuth, roughness, ratio]: [f32; 5]) -> f32 {
    // Nodes may be smoother than facets are, so that values between them are not bent.
    let larger = roughness_at(roughness).powi(2);
    let facets = Ggx::of_alpha(Vec2::new(larger, (larger * ratio * ratio).max(1e-6)));
    mean_fresnel(&facets, amplitude, cosine, azimuth * FRAC_PI_2)
}

/// The root of the mean reflectance of the facets that reflect towards a direction. `amplitude` and `cosine` are the
/// coordinates of the tables.
fn mean_fresnel(facets: &Ggx, amplitude: f32, cosine: f32, azimuth: f32) -> f32 {
    let (amplitude, cosine) = (amplitude * amplitude * LARGEST_AMPLITUDE, (cosine * cosine).max(1e-4));
    let eta = (1.0 + amplitude) / (1.0 - amplitude);
    let o = (Vec2::from_angle(azimuth) * (1.0 - cosine * cosine).max(0.0).sqrt()).extend(cosine);
    let all = mean(if azimuth == 0.0 { 1 } else { 2 }, |u| {
        let Some(drawn) = facets.sample(o, u) else { return Vec2::ZERO };
        let weight = facets.weight(o, drawn.wi);
        Vec2::new(weight * fresnel::dielectric(o.dot(drawn.half).clamp(0.0, 1.0), eta).0, weight)
    });
    (all.x / all.y.max(1e-9)).sqrt()
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
    let glass: [fn([f32; 3]) -> f32; 4] = [|x| into(x).x, |x| into(x).y, |x| out_of(x).x, |x| out_of(x).y];
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let glass = GLASS_NODES.iter().zip(glass).flat_map(|(nodes, value)| nodes.bytes(value));
        let round = ROUND_NODES.bytes(round).into_iter().chain(STRETCHED_NODES.bytes(stretched));
        let boundaries =
            BOUNDARY_NODES.bytes(boundary).into_iter().chain(BOUNDARY_STRETCHED_NODES.bytes(boundary_stretched));
        let all = round.chain(glass).chain(boundaries);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bsdf/energy.bin");
        std::fs::write(path, all.collect::<Vec<u8>>()).expect("the source can be written");
        return;
    }
    assert_eq!(STORED.len(), 2 * BOUNDARY_STRETCHED_NODES.end());
    ROUND_NODES.check(round);
    STRETCHED_NODES.check(stretched);
    GLASS_NODES.iter().zip(glass).for_each(|(nodes, value)| nodes.check(value));
    BOUNDARY_NODES.check(boundary);
    BOUNDARY_STRETCHED_NODES.check(boundary_stretched);
}

/// The sum of both shares decides whether clear glass loses light, so it is close between nodes, too. Directions are about the
/// critical angle, where it changes fastest from inside.
#[test]
fn sums_of_shares_are_met_between_nodes() {
    for (ior, roughness) in
        [1.03_f32, 1.13, 1.5, 2.6].into_iter().flat_map(|ior| [0.12, 0.21, 0.3, 0.42, 0.8].map(|r| (ior, r)))
    {
        let facets = Ggx::of_roughness(roughness);
        let critical = (1.0 / ior).asin();
        for eta in [ior, 1.0 / ior] {
            for angle in [-2.0, -0.5, 0.0, 1.0, 3.0].map(|widths| critical + widths * facets.alpha().x) {
                let o = Vec3::new(angle.sin(), 0.0, angle.cos());
                if !(0.0..1.55).contains(&angle) {
                    continue;
                }
                let expected = dielectric(&facets, depth(stretched_by(&facets, o)), eta).element_sum();
                let found = shares(&facets, o, eta).element_sum();
                assert!((found / expected - 1.0).abs() < 2e-3, "{eta} {roughness} at {angle}: {found} {expected}");
            }
        }
    }
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
        let stretched = stretched_by(&facets, outgoing(&facets, 1.0 - at, 0.4));
        assert!((height(stretched) - at).abs() < 2e-3, "{at}: {}", height(stretched));
        assert!((depth(stretched) - (1.0 - at)).abs() < 2e-3, "{at}: {}", depth(stretched));
        assert!((along_roughness(roughness_at(at).powi(2)) - at).abs() < 1e-5);
        assert!((density(index_at(at)) - at).abs() < 1e-4 && (density(1.0 / index_at(at)) - at).abs() < 1e-4);
        for (alpha, ior) in [(1e-3, 1.02), (0.04, 1.5), (1.0, 1.02), (1.0, 10.0)] {
            let crowded = Crowded::about_critical(alpha, ior);
            let found = crowded.place(crowded.depth(at));
            assert!((found - at).abs() < 1e-4, "{alpha} {ior} {at}: {found}");
        }
    }
}
