//! The lobes of a block asked together, against those of each hit asked alone: sums, layers, lobes in Rust among them, and normals
//! that are bent.

use glam::{Vec2, Vec3};
use renderer::bsdf::{
    BentNormals, BlockBsdf, Bsdf, BsdfSample, LobeLists, SslLobes, SslLobesOfHit, WeightedLobe, oracles,
};
use renderer::geometry::{Geometry, Surface};
use renderer::material::{
    Making, Material, Scratch, Shaded, ShadingLanguage, ShadingPoint, Space, Spaces, Surroundings,
};
use renderer::math::lanes::Row3;
use renderer::math::uniform_cone;
use renderer::sampler::Sampler;
use ssl_compiler::runtime::LANES;
use ssl_compiler::{NoTextures, SearchPath};

/// Closures that vary over `u` and `v`, which are from 0 to 1; some lanes have no weight of some.
const CLOSURES: &[&str] = &[
    "make_closure<Lambert>(color(u, v, 0.5), n)",
    "make_closure<Translucent>(color(u), n)",
    "(u > 0.5 ? 1.0 : 0.0) * make_closure<Lambert>(color(0.8), n) + v * make_closure<Translucent>(color(0.7), n)",
    "v * make_closure<Lambert>(color(0.6), n) + (1.0 - v) * make_closure<Transparent>(color(1.0))",
    "u * make_closure<Glossy>(color(0.9), n, v) + make_closure<Lambert>(color(0.3), n) + 0.2 * make_closure<Mirror>(color(1.0), n)",
    "make_closure<Coat>(1.5, 0.3, color(1.0), 1.0, n, 0.7 * make_closure<Lambert>(color(u), n) + 0.3 * make_closure<Glossy>(color(1.0), n, v))",
    "make_closure<RoughDielectric>(color(1.0), color(u, 1.0, v), n, 1.5, v)",
    "0.5 * make_closure<Dielectric>(color(1.0), n, 1.4) + 0.5 * make_closure<Lambert>(color(v), n)",
    "make_closure<OrenNayar>(color(u), n, v) + 0.3 * make_closure<Sheen>(color(1.0), 0.4, n, none)",
    "u * make_closure<DoubleSided>(make_closure<Lambert>(color(0.5), n), make_closure<Glossy>(color(0.9), n, 0.4))",
];

struct Block {
    points: Vec<ShadingPoint>,
    lobes: Vec<WeightedLobe>,
    ssl: SslLobes,
    shaded: Vec<Shaded>,
    gnormal: Row3,
    bent_normals: BentNormals,
}

fn material(closure: &str, lobes_in_rust: bool) -> Material {
    let body = "const normal n = global_value<normal>; const float u = global_value<uvw>.x, v = global_value<uvw>.y; closure none;";
    let language = ShadingLanguage::with_closures(&if lobes_in_rust { oracles() } else { Vec::new() });
    let making = Making::default();
    let mut compiler = language.compiler(&making, &SearchPath::on_disk(Vec::new()));
    let file = compiler.add_source("main.ssl", format!("shader main(out closure c) {{ {body} c = {closure}; }}"));
    let shader = language.compile(&making, &compiler.program(file), None).unwrap_or_else(|e| panic!("{closure}: {e}"));
    Material::new("main", shader, &language)
}

impl Block {
    /// Of surfaces seen from all sides, whose normals lean by up to `bend`.
    fn new(material: &Material, s: &mut Sampler, bend: f32, bent_normals: BentNormals) -> Block {
        let mut gnormals = Row3::ZERO;
        let point = |lane: usize| {
            let (gnormal, wo) = (uniform_cone(s.next_2d(), 2.0), uniform_cone(s.next_2d(), 2.0));
            let lean = uniform_cone(s.next_2d(), 2.0) * (bend * s.next_1d());
            let backfacing = wo.dot(gnormal) < 0.0;
            gnormals.set(lane, if backfacing { -gnormal } else { gnormal });
            let normal = (gnormal + lean).normalize_or(gnormal);
            let tangent = normal.any_orthonormal_vector();
            let bitangent = normal.cross(tangent);
            let surface =
                Surface { normal, gnormal, tangent, bitangent, uv: s.next_2d(), backfacing, ..Surface::default() };
            ShadingPoint { surface, incident: -wo, ..ShadingPoint::default() }
        };
        let points: Vec<ShadingPoint> = (0..LANES).map(point).collect();
        let spaces = Spaces { objects: Vec::new(), camera: Space::WORLD };
        let around = Surroundings { spaces: &spaces, geometry: &Geometry::default() };
        let (mut lobes, mut ssl, mut shaded) = (Vec::new(), SslLobes::default(), Vec::new());
        let lists = LobeLists { rust: &mut lobes, ssl: &mut ssl };
        material.shade(&points, around, &NoTextures, &mut Scratch::default(), lists, &mut shaded);
        Block { points, lobes, ssl, shaded, gnormal: gnormals, bent_normals }
    }

    fn alone(&self, lane: usize) -> Bsdf<'_> {
        let list = &self.ssl.list[self.shaded[lane].ssl.clone()];
        let ssl = (!list.is_empty()).then_some(SslLobesOfHit { all: &self.ssl, list });
        let (lobes, wo) = (&self.lobes[self.shaded[lane].lobes.clone()], -self.points[lane].incident);
        Bsdf { lobes, ssl, wo, gnormal: self.gnormal.get(lane), bent_normals: self.bent_normals }
    }

    fn together<R>(&mut self, ask: impl FnOnce(&mut BlockBsdf<'_>) -> R) -> R {
        let Block { points, lobes, ssl, shaded, gnormal, bent_normals } = self;
        let rust = (0..LANES).filter(|&lane| !shaded[lane].lobes.is_empty()).map(|lane| 1 << lane).sum();
        let rust_lobes_of = |lane: usize| {
            let (lobes, wo) = (&lobes[shaded[lane].lobes.clone()], -points[lane].incident);
            Bsdf { lobes, ssl: None, wo, gnormal: gnormal.get(lane), bent_normals: *bent_normals }
        };
        ask(&mut BlockBsdf { ssl, gnormal, bent_normals: *bent_normals, rust, rust_lobes_of: &rust_lobes_of })
    }
}

fn close(a: Vec3, b: Vec3) -> bool {
    (a - b).abs().max_element() <= 1e-5 * b.abs().max_element()
}

fn same(found: &Option<BsdfSample>, expected: &Option<BsdfSample>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => {
            let pdfs = (a.pdf - b.pdf).abs() <= 1e-5 * b.pdf;
            a.wi == b.wi && close(a.weight, b.weight) && pdfs && a.refracted == b.refracted && a.specular == b.specular
        }
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn lobes_answer_together_as_alone() {
    for (closure, in_rust) in CLOSURES.iter().flat_map(|closure| [(closure, false), (closure, true)]) {
        let material = material(closure, in_rust);
        let (mut carried, mut drawn) = (0, 0);
        for round in 0..24 {
            let mut s = Sampler::new(round, (3, 8), 0);
            let bent_normals = if round % 3 == 2 { BentNormals::Drop } else { BentNormals::Conserve };
            let mut block = Block::new(&material, &mut s, if round % 2 == 0 { 0.0 } else { 0.9 }, bent_normals);
            // One lane is not asked.
            let (asked, mut wi, mut u) = (0xffef, Row3::ZERO, [Vec2::ZERO; LANES]);
            (0..LANES).for_each(|lane| {
                wi.set(lane, uniform_cone(s.next_2d(), 2.0));
                u[lane] = s.next_2d();
            });
            let values: Vec<_> = (0..LANES).map(|lane| block.alone(lane).eval(wi.get(lane))).collect();
            let samples: Vec<_> = (0..LANES).map(|lane| block.alone(lane).sample(u[lane])).collect();
            let shares: Vec<f32> = (0..LANES).map(|lane| block.alone(lane).non_specular_share()).collect();
            let non_specular: Vec<bool> = (0..LANES).map(|lane| block.alone(lane).has_non_specular_lobe()).collect();
            let (found, masks, of_non_specular) = block.together(|all| {
                let of_non_specular: Vec<f32> = (0..LANES).map(|lane| all.non_specular_share(lane)).collect();
                (all.eval(asked, &wi), all.masks(), of_non_specular)
            });
            let together = block.together(|all| {
                let choices = all.choose(asked, &u);
                all.sample(&choices, (0, &Row3::ZERO)).samples
            });
            assert!(together[4].is_none(), "nobody asked for it");
            for lane in (0..LANES).filter(|lane| asked >> lane & 1 != 0) {
                let (value, pdf) = values[lane];
                let told = format!("{closure}, round {round}, lane {lane}");
                assert!(close(found.value.get(lane), value), "{told}: {} for {value}", found.value.get(lane));
                assert!((found.pdf[lane] - pdf).abs() <= 1e-5 * pdf, "{told}: {} for {pdf}", found.pdf[lane]);
                assert!(same(&together[lane], &samples[lane]), "{told}: {:?} for {:?}", together[lane], samples[lane]);
                assert!(
                    (of_non_specular[lane] - shares[lane]).abs() < 1e-5,
                    "{told}: {} {}",
                    of_non_specular[lane],
                    shares[lane]
                );
                assert_eq!(masks.non_specular >> lane & 1 != 0, non_specular[lane], "{told}");
                carried += usize::from(value != Vec3::ZERO);
                drawn += usize::from(samples[lane].is_some());
            }
        }
        assert!(carried > 50 && drawn > 150, "{closure}: {carried} {drawn}");
    }
}

/// What a direction brings that somebody else gave: the guide's, and for the lobes that are asked for light.
#[test]
fn directions_that_are_given_are_only_valued() {
    let material = material(CLOSURES[4], false);
    let mut s = Sampler::new(1, (2, 2), 0);
    let mut block = Block::new(&material, &mut s, 0.5, BentNormals::Conserve);
    let (mut wi, u, given) = (Row3::ZERO, [Vec2::splat(0.4); LANES], 0x0ff0);
    (0..LANES).for_each(|lane| wi.set(lane, uniform_cone(s.next_2d(), 2.0)));
    let values = block.together(|all| all.eval(given, &wi));
    let both = block.together(|all| {
        let choices = all.choose(0xffff, &u);
        all.sample(&choices, (given, &wi))
    });
    for (lane, u) in u.iter().enumerate() {
        if given >> lane & 1 == 0 {
            assert!(same(&both.samples[lane], &block.alone(lane).sample(*u)), "{lane}");
        } else {
            assert!(both.samples[lane].is_none() && both.values.value.get(lane) == values.value.get(lane), "{lane}");
            assert_eq!(both.values.pdf[lane], values.pdf[lane], "{lane}");
        }
    }
}
