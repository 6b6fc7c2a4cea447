//! The renderer's lobes that are written in SSL: each against the lobe in Rust of the same name, through the harness, with odd
//! parameters, and with the same bits on all back ends.

use glam::{Vec2, Vec3};
use renderer::bsdf::harness::{self, Pose};
use renderer::bsdf::{
    ClosureKind, Lobes, Place, Reach, Request, RustCode, Scatter, SslLobeAlone, SslLobes, WeightedLobe,
    WeightedSslLobe, checks, oracles,
};
use renderer::material::{Making, ShadingLanguage, ShippedLobe};
use renderer::math::uniform_cone;
use renderer::sampler::Sampler;
use ssl_compiler::backend::Lanes;
use ssl_compiler::runtime::{ClosureParameter, LANES, Row};
use ssl_compiler::types::{Type, TypeTable};
use ssl_compiler::{BackendKind, Target};

/// A lobe in both languages.
struct Pair {
    name: String,
    rust: ClosureKind,
    ssl: ShippedLobe,
}

fn pairs(target: impl Into<Target>) -> Vec<Pair> {
    let (language, making) = (ShadingLanguage::new(), Making::from(target.into()));
    let pair = |rust: ClosureKind| {
        let name = (rust.closure_type)().name.to_string();
        let ssl = ShippedLobe::new(&language, &name, &making).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ssl = ssl.unwrap_or_else(|| panic!("{name} is not in SSL"));
        Pair { name, rust, ssl }
    };
    oracles().into_iter().map(pair).collect()
}

/// How far the lobe in SSL may be from the one in Rust: rounding, which narrow highlights magnify.
fn tolerance(name: &str) -> f32 {
    match name {
        "AnisotropicConductor"
        | "Cloth"
        | "Coat"
        | "Conductor"
        | "Glossy"
        | "OpenPbr"
        | "Principled"
        | "RoughDielectric"
        | "Schlick" => 5e-3,
        _ => 1e-3,
    }
}

/// Whether the lobe is reciprocal: not those that make up for lost energy, or whose parts share it out by the viewer.
fn is_reciprocal(name: &str) -> bool {
    !["AnisotropicConductor", "Cloth", "Conductor", "Glossy", "OpenPbr", "Principled", "RoughDielectric", "Schlick"]
        .contains(&name)
}

fn parameters(rust: &ClosureKind) -> Vec<ClosureParameter> {
    (rust.closure_type)().parameters
}

/// Parameters for 16 places: numbers of their ranges from the share `least` of them on, away from the ends where rounding is magnified.
fn drawn(rust: &ClosureKind, least: f32, s: &mut Sampler) -> Vec<Row> {
    let mut rows = Vec::new();
    let types = TypeTable::default();
    for p in parameters(rust) {
        let components = match types.display(&p.ty).to_string().as_str() {
            "normal" => {
                let tilted: [Vec3; LANES] = std::array::from_fn(|_| uniform_cone(s.next_2d(), 0.02));
                (0..3).map(|c| Row(std::array::from_fn(|lane| tilted[lane][c]))).collect()
            }
            "closure" => Vec::new(),
            "bool" => vec![Row(std::array::from_fn(|_| f32::from_bits(u32::from(s.next_1d() < 0.5))))],
            _ => {
                let (low, high) = (p.range.low.max(-1.0), p.range.high.min(p.range.low.max(-1.0) + 4.0));
                let mut number = |_| low + (high - low) * (least + (1.0 - least) * s.next_1d());
                (0..p.ty.components().unwrap_or(1)).map(|_| Row(std::array::from_fn(&mut number))).collect()
            }
        };
        rows.extend::<Vec<Row>>(components);
    }
    rows
}

/// Places that are seen from above, some from inside.
fn places(s: &mut Sampler) -> Vec<(Place, Vec3)> {
    let place = |i: usize| Place { wo: uniform_cone(s.next_2d(), 0.8), gnormal: Vec3::Z, inside: i.is_multiple_of(3) };
    (0..LANES).map(place).map(|place| (place, Vec3::Z)).collect()
}

fn code(kind: &ClosureKind) -> RustCode {
    kind.rust().expect("oracles are in Rust")
}

fn in_rust(kind: &ClosureKind, rows: &[Row], lane: usize, place: &Place) -> Vec<WeightedLobe> {
    let mut list = Vec::new();
    (code(kind).scatter)(rows, lane, place, &mut Lobes::new(&mut list));
    list
}

fn sum(list: &[WeightedLobe], of: impl Fn(&WeightedLobe) -> Vec3) -> Vec3 {
    list.iter().map(|l| l.weight * of(l)).sum()
}

#[test]
fn lobes_agree_with_those_in_rust() {
    for Pair { name, rust, ssl } in pairs(BackendKind::Cranelift) {
        let tolerance = tolerance(&name);
        let close = |a: Vec3, b: Vec3| (a - b).abs().max_element() <= tolerance * b.abs().max_element() + 1e-5;
        let mut bent = 0;
        for round in 0..20 {
            let mut s = Sampler::new(round, (11, 4), 0);
            let (rows, places) = (drawn(&rust, 0.1, &mut s), places(&mut s));
            let mut own = SslLobes::default();
            let slot = ssl.begin(&rows, &places, &mut own);
            assert_eq!(own.list.len(), LANES, "{name}");
            for (lane, (place, _)) in places.iter().enumerate() {
                let (list, lobe) = (in_rust(&rust, &rows, lane, place), own.list[lane].lobe);
                let told = format!("{name} {round}.{lane} {:?}", rows.iter().map(|r| r.0[lane]).collect::<Vec<_>>());
                let (found, expected) = (lobe.albedo, sum(&list, |l| l.lobe.albedo()));
                assert!(close(found, expected), "{told}: albedo {found} {expected}");
                // Where wo is low, glossy parts of a struct bend its normal, and in Rust diffuse parts keep theirs.
                if list.iter().any(|l| l.lobe.is_diffuse() && (l.lobe.normal() - lobe.normal).length() > 1e-5) {
                    bent += 1;
                    continue;
                }
                for _ in 0..16 {
                    let wi = uniform_cone(s.next_2d(), if s.next_1d() < 0.3 { 2.0 } else { 1.0 });
                    let (value, pdf) = own.value(&lobe, place.wo, wi);
                    let expected = sum(&list, |l| l.lobe.eval(place.wo, wi));
                    assert!(close(value, expected), "{told}: {value} for {expected} from {wi} to {}", place.wo);
                    if let [only] = list.as_slice() {
                        let expected = only.lobe.pdf(place.wo, wi);
                        assert!((pdf - expected).abs() <= 1e-3 * expected + 1e-5, "{told}: density {pdf}, {expected}");
                    }
                }
                if let [only] = list.as_slice() {
                    assert!((lobe.normal - only.lobe.normal()).length() < 1e-5, "{told}");
                    assert_eq!(
                        (lobe.is_specular(), lobe.is_diffuse(), lobe.reach()),
                        (only.lobe.is_specular(), only.lobe.is_diffuse(), only.lobe.reach()),
                        "{told}"
                    );
                    let (found, expected) =
                        (own.specular_directions(&lobe, place.wo), only.lobe.specular_directions(place.wo));
                    assert_eq!(found.len(), expected.len(), "{told}");
                    for (a, b) in found.iter().zip(&expected) {
                        assert!((a.wi - b.wi).length() < 1e-4 && close(a.weight, b.weight), "{told}: {a:?} {b:?}");
                    }
                }
                let bases = parameters(&rust).into_iter().enumerate().filter(|(_, p)| p.ty == Type::Closure);
                for (base, (parameter, _)) in bases.enumerate() {
                    let (found, expected) =
                        (own.beneath(slot, lane, base), (code(&rust).beneath)(&rows, lane, place, parameter));
                    assert!(close(found, expected), "{told}: {found} for {expected} passes");
                }
            }
        }
        assert!(bent * 4 <= 20 * LANES, "{name}: {bent}");
    }
}

/// A lobe of a pair with the parameters of one lane, its normal and tangent those of the pose.
fn posed(Pair { rust, ssl, .. }: &Pair, rows: &[Row], pose: &Pose) -> Box<dyn Scatter> {
    let mut own = SslLobes::default();
    ssl.begin(&turned(rust, rows, pose), &[(pose.place(), pose.normal)], &mut own);
    Box::new(SslLobeAlone::new("a lobe in SSL", own).expect("there is one"))
}

/// Parameters with the normal and tangent of a pose.
fn turned(rust: &ClosureKind, rows: &[Row], pose: &Pose) -> Vec<Row> {
    let types = TypeTable::default();
    let (mut turned, mut at) = (rows.to_vec(), 0);
    for p in parameters(rust) {
        let given = match types.display(&p.ty).to_string().as_str() {
            // A layer's own leans.
            "normal" if p.name.contains("coat") => Some((pose.normal + 0.3 * pose.tangent).normalize()),
            "normal" => Some(pose.normal),
            "vector" => Some(pose.tangent),
            _ => None,
        };
        if let Some(v) = given {
            (0..3).for_each(|c| turned[at + c] = Row::splat(v[c]));
        }
        at += p.ty.components().unwrap_or(usize::from(p.ty != Type::Closure));
    }
    turned
}

/// Gives a parameter of this name, if there is one, a value.
fn set(rust: &ClosureKind, rows: &mut [Row], name: &str, value: f32) {
    let all = parameters(rust);
    if let Some(at) = all.iter().position(|p| p.name == name) {
        let before = all[..at].iter().filter(|p| p.ty != Type::Closure);
        rows[before.map(|p| p.ty.components().unwrap_or(1)).sum::<usize>()] = Row::splat(value);
    }
}

#[test]
fn lobes_pass_the_harness() {
    for pair in pairs(BackendKind::Cranelift) {
        // The harness integrates densities over a grid, which narrow highlights slip through.
        let mut rows = drawn(&pair.rust, 0.4, &mut Sampler::new(1, (5, 1), 0));
        set(&pair.rust, &mut rows, "clearcoat_gloss", 0.0);
        set(&pair.rust, &mut rows, "anisotropic", 0.5);
        pass_the_harness(&pair, &rows);
        let before = rows.clone();
        set(&pair.rust, &mut rows, "geometry_thin_walled", f32::from_bits(1));
        if rows != before {
            pass_the_harness(&pair, &rows);
        }
    }
}

fn pass_the_harness(pair: &Pair, rows: &[Row]) {
    let make = |pose: &Pose| posed(pair, rows, pose);
    if make(&Pose::upright(Vec3::Z)).is_specular() {
        return;
    }
    let told = format!("{} {:?}", pair.name, rows.iter().map(|r| r.0[0]).collect::<Vec<_>>());
    match (is_reciprocal(&pair.name), pair.name.as_str()) {
        (true, _) => harness::check(&told, &make),
        // Its parts are added, as in Disney's model.
        (_, "Principled") => harness::check_within(&told, &make, 1.8),
        _ => harness::check_one_way(&told, &make),
    }
}

/// The greatest energy of a sample, over the arriving energy. A facet that is seen reflects at most all, then scaled
/// for multiple scattering. Parts that are drawn by their mean shares carry more where they reflect more than on the
/// mean.
fn greatest_weight(name: &str) -> f32 {
    match name {
        "Coat" | "Dielectric" | "Lambert" | "Mirror" | "Translucent" => 1.01,
        "AnisotropicConductor" | "Conductor" | "Glossy" | "Schlick" => 3.3,
        "RoughDielectric" => 4.02,
        _ => 64.0,
    }
}

#[test]
fn no_sample_carries_many_times_its_share() {
    let mut beyond = Vec::new();
    for pair in pairs(BackendKind::Cranelift) {
        for round in 0..6 {
            let mut s = Sampler::new(round, (4, 6), 0);
            let rows = drawn(&pair.rust, 0.0, &mut s);
            for (wo, inside) in harness::directions().into_iter().flat_map(|wo| [(wo, false), (wo, true)]) {
                let lobe = posed(&pair, &rows, &Pose { inside, ..Pose::upright(wo) });
                let found = checks::greatest_weight(&*lobe, wo);
                if found > greatest_weight(&pair.name) {
                    let parameters: Vec<f32> = rows.iter().map(|r| r.0[0]).collect();
                    beyond.push(format!("{} {parameters:?} at {wo}, inside {inside}: {found}", pair.name));
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

#[test]
fn lobes_stand_odd_parameters() {
    for Pair { name, rust, ssl } in pairs(BackendKind::Cranelift) {
        for rows in harness::odd_parameters().step_by(2) {
            let rows = &rows[..drawn(&rust, 0.1, &mut Sampler::new(0, (0, 0), 0)).len()];
            for (wo, inside) in harness::directions().into_iter().zip([false, true, false, true, true]) {
                let mut own = SslLobes::default();
                ssl.begin(rows, &[(Place { wo, gnormal: Vec3::Z, inside }, Vec3::Z)], &mut own);
                let told = format!("{name}: {:?}", rows.iter().map(|r| r.0[0]).collect::<Vec<_>>());
                assert!(own.list[0].weight.is_finite(), "{told}");
                let lobe = SslLobeAlone::new("a lobe in SSL", own).expect("there is one");
                harness::numbers(&told, &lobe);
            }
        }
    }
}

/// Values and samples of 16 places, as bits: of usual parameters, and of odd ones.
fn answers(pair: &Pair) -> Vec<u32> {
    let mut s = Sampler::new(3, (2, 9), 0);
    let usual = drawn(&pair.rust, 0.1, &mut s);
    let odd = harness::odd_parameters().step_by(9).map(|rows| rows[..usual.len()].to_vec());
    std::iter::once(usual.clone()).chain(odd).flat_map(|rows| answers_of(&pair.ssl, &rows, &mut s)).collect()
}

fn answers_of(ssl: &ShippedLobe, rows: &[Row], s: &mut Sampler) -> Vec<u32> {
    let places = places(s);
    let mut own = SslLobes::default();
    ssl.begin(rows, &places, &mut own);
    let lobes: Vec<WeightedSslLobe> = own.list.clone();
    let asked: Vec<Request<Vec3>> = lobes
        .iter()
        .flat_map(|l| [1.0, 1.0, 2.0].map(|cone| (l.lobe, cone)))
        .map(|(lobe, cone)| Request { lobe, with: uniform_cone(s.next_2d(), cone) })
        .collect();
    let drawn: Vec<Request<Vec2>> = lobes.iter().map(|l| Request { lobe: l.lobe, with: s.next_2d() }).collect();
    let values = own.evaluate(&asked).into_iter().flat_map(|(value, pdf)| [value.x, value.y, value.z, pdf]);
    let samples = own.draw(&drawn).into_iter().flat_map(|s| {
        s.map_or([-1.0; 6], |s| [s.wi.x, s.wi.y, s.weight.x, s.weight.y, s.pdf, s.refracted.map_or(0.0, |r| r.eta)])
    });
    let is = |yes: bool| f32::from(u8::from(yes));
    let begun = lobes.iter().flat_map(|l| {
        let lobe = &l.lobe;
        let kind = [is(lobe.is_specular()), is(lobe.is_diffuse()), is(lobe.reach() == Reach::Reflects)];
        [lobe.albedo.x, lobe.normal.x].into_iter().chain(kind)
    });
    begun.chain(values).chain(samples).map(f32::to_bits).collect()
}

#[test]
fn all_back_ends_give_the_same_bits() {
    let of = |target: Target| -> Vec<(String, Vec<u32>)> {
        pairs(target).iter().map(|pair| (pair.name.clone(), answers(pair))).collect()
    };
    let reference = of(BackendKind::Interpreter.into());
    for &backend in BackendKind::ALL {
        for lanes in [Lanes::default(), Lanes::ONE] {
            let target = Target { backend, lanes, ..Target::default() };
            for ((name, found), (_, expected)) in of(target).into_iter().zip(&reference) {
                assert!(found == *expected, "{name} {target:?}");
            }
        }
    }
}

/// Bumps and coarse meshes have normals from which the viewer is below.
#[test]
fn normals_that_turn_away_from_the_viewer_do_so_in_both() {
    for pair in pairs(BackendKind::Cranelift) {
        let mut s = Sampler::new(0, (6, 1), 0);
        let rows = drawn(&pair.rust, 0.3, &mut s);
        for round in 0..8 {
            let wo = Vec3::new(0.9, 0.1, 0.1 + 0.03 * round as f32).normalize();
            let normal = Vec3::new(-0.6, 0.0, 0.8);
            assert!(wo.dot(normal) < 0.0);
            let pose = Pose { wo, normal, tangent: normal.cross(Vec3::Y).normalize(), inside: false };
            let (place, turned) = (Place { wo, gnormal: Vec3::Z, inside: false }, turned(&pair.rust, &rows, &pose));
            let list = in_rust(&pair.rust, &turned, 0, &place);
            let [only] = list.as_slice() else { continue };
            let mut own = SslLobes::default();
            pair.ssl.begin(&turned, &[(place, Vec3::Z)], &mut own);
            let lobe = own.list[0].lobe;
            let told = format!("{} {wo}", pair.name);
            assert!((lobe.normal - only.lobe.normal()).length() < 1e-5, "{told}");
            for _ in 0..32 {
                let wi = uniform_cone(s.next_2d(), 2.0);
                let ((value, pdf), (expected, density)) =
                    (own.value(&lobe, wo, wi), (only.weight * only.lobe.eval(wo, wi), only.lobe.pdf(wo, wi)));
                let within = |a: f32, b: f32| (a - b).abs() <= tolerance(&pair.name) * b.abs() + 1e-5;
                assert!(within(value.x, expected.x) && within(pdf, density), "{told}: {value} for {expected}, {wi}");
            }
        }
    }
}

/// The sum of the channels of each lane's value in its direction.
fn values(ssl: &ShippedLobe, rows: &[Row], places: &[(Place, Vec3)], directions: &[Vec3]) -> Vec<f32> {
    let mut own = SslLobes::default();
    ssl.begin(rows, places, &mut own);
    let of = |(lane, wi): (usize, &Vec3)| own.value(&own.list[lane].lobe, places[lane].0.wo, *wi).0.element_sum();
    directions.iter().enumerate().map(of).collect()
}

/// The gradient by every parameter against central differences, in all lanes at once. At the few places where a lobe is not smooth,
/// a parameter is clamped or a table has a node, the two may differ.
#[test]
fn adjoints_are_the_slopes_of_values() {
    for Pair { name, rust, ssl } in pairs(BackendKind::Cranelift) {
        let (mut compared, mut apart) = (0, Vec::new());
        for round in 0..4 {
            let mut s = Sampler::new(round, (8, 3), 0);
            let (rows, places) = (drawn(&rust, 0.35, &mut s), places(&mut s));
            let directions: Vec<Vec3> = (0..LANES).map(|_| uniform_cone(s.next_2d(), 0.9)).collect();
            let mut own = SslLobes::default();
            let slot = ssl.begin(&rows, &places, &mut own);
            if own.list[0].lobe.is_specular() {
                continue;
            }
            let asked: Vec<_> =
                own.list.iter().zip(&directions).map(|(l, wi)| Request { lobe: l.lobe, with: *wi }).collect();
            let asked: Vec<_> = asked.into_iter().map(|request| (request, Vec3::ONE)).collect();
            let gradient =
                ssl.pull_back((&own, slot), &rows, &places, &asked).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(gradient.len(), rows.len(), "{name}");
            let at = |row: usize, h: f32| {
                let mut moved = rows.clone();
                moved[row].0.iter_mut().for_each(|x| *x += h);
                values(&ssl, &moved, &places, &directions)
            };
            let value = values(&ssl, &rows, &places, &directions);
            for (row, found) in gradient.iter().enumerate() {
                const H: f32 = 1.0 / 256.0;
                let (up, down) = (at(row, H), at(row, -H));
                for lane in 0..LANES {
                    let expected = (up[lane] - down[lane]) / (2.0 * H);
                    let may = 0.02 * expected.abs() + 4e-3 * value[lane] + 1e-5;
                    compared += 1;
                    if (found.0[lane] - expected).abs() > may {
                        apart.push((round, row, lane, found.0[lane], expected));
                    }
                }
            }
        }
        assert!(apart.len() * 25 <= compared, "{name}: {} of {compared}, {apart:?}", apart.len());
    }
}

/// Against differences to one side, as there is no other.
#[test]
fn weights_of_parts_that_are_not_there_have_slopes() {
    for Pair { name, rust, ssl } in pairs(BackendKind::Cranelift).into_iter().filter(|pair| pair.name == "OpenPbr") {
        const H: f32 = 1.0 / 512.0;
        for weight in ["coat_weight", "fuzz_weight", "base_metalness", "transmission_weight", "subsurface_weight"] {
            let mut s = Sampler::new(1, (9, 2), 0);
            let (mut rows, places) = (drawn(&rust, 0.35, &mut s), places(&mut s));
            let directions: Vec<Vec3> = (0..LANES).map(|_| uniform_cone(s.next_2d(), 0.9)).collect();
            set(&rust, &mut rows, weight, 0.0);
            let mut own = SslLobes::default();
            let slot = ssl.begin(&rows, &places, &mut own);
            let asked =
                own.list.iter().zip(&directions).map(|(l, wi)| (Request { lobe: l.lobe, with: *wi }, Vec3::ONE));
            let asked: Vec<_> = asked.collect();
            let gradient = ssl.pull_back((&own, slot), &rows, &places, &asked).expect("it has one");
            let (mut moved, value) = (rows.clone(), values(&ssl, &rows, &places, &directions));
            set(&rust, &mut moved, weight, H);
            let row = (0..rows.len()).find(|row| rows[*row] != moved[*row]).expect("one is moved");
            let up = values(&ssl, &moved, &places, &directions);
            for lane in 0..LANES {
                let (found, expected) = (gradient[row].0[lane], (up[lane] - value[lane]) / H);
                let may = 0.02 * expected.abs() + 0.02 * value[lane] + 1e-4;
                assert!((found - expected).abs() <= may, "{name}, {weight}, {lane}: {found} for {expected}");
            }
        }
    }
}
