//! Layers and sums of closures, from shaders to the lobes of a hit: who gets which share of the light.

use glam::{Vec2, Vec3};
use renderer::bsdf::{Bsdf, WeightedLobe};
use renderer::geometry::{Geometry, Surface};
use renderer::material::{Making, Material, Scratch, ShadingLanguage, ShadingPoint, Space, Spaces, Surroundings};
use renderer::sampler::Sampler;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::runtime::host::NoTextures;
use ssl_compiler::source::SourceMap;

/// What a shader gives at a flat place that is seen under an angle.
struct Seen {
    lobes: Vec<WeightedLobe>,
    emission: Vec3,
    wo: Vec3,
    gnormal: Vec3,
}

/// `body` sets the closure `c`; `n` is the normal.
fn seen(body: &str, cosine: f32, backfacing: bool) -> Seen {
    let text = format!("shader main(out closure c) {{ const normal n = global_value<normal>; closure none; {body} }}");
    let (language, mut sources) = (ShadingLanguage::new(), SourceMap::new());
    let file = sources.add("main.ssl", text);
    let (modules, found) = ssl_compiler::load(&mut sources, file, &SearchPath::on_disk(Vec::new()));
    let (shader, _) = language
        .compile(&sources, (&modules, found), None, Making::default())
        .unwrap_or_else(|d| panic!("{}", ssl_compiler::diagnostics::render::text(&d, &sources, false)));
    let gnormal = if backfacing { Vec3::NEG_Z } else { Vec3::Z };
    let wo = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine * gnormal.z);
    let surface = Surface { normal: Vec3::Z, gnormal: Vec3::Z, backfacing, ..Surface::default() };
    let point = ShadingPoint { surface, incident: -wo, ..ShadingPoint::default() };
    let (mut lobes, mut shaded) = (Vec::new(), Vec::new());
    let spaces = Spaces { objects: Vec::new(), camera: Space::WORLD };
    let around = Surroundings { spaces: &spaces, geometry: &Geometry::default() };
    let material = Material::new("main", shader, &language);
    material.shade(&[point], around, &NoTextures, &mut Scratch::default(), &mut lobes, &mut shaded);
    Seen { lobes, emission: shaded[0].emission, wo, gnormal }
}

impl Seen {
    fn weights(&self) -> Vec<(&'static str, Vec3)> {
        self.lobes.iter().map(|l| (l.lobe.name(), l.weight)).collect()
    }

    /// The share of light from all sides that comes to the viewer: the mean weight of the samples.
    fn reflected(&self) -> Vec3 {
        const N: u32 = 1 << 14;
        let bsdf = Bsdf { lobes: &self.lobes, wo: self.wo, gnormal: self.gnormal };
        let draw = |i| {
            let mut s = Sampler::new(5, (3, 4), i);
            let (pick, u): (f32, Vec2) = (s.next_1d(), s.next_2d());
            bsdf.sample(pick, u).map_or(Vec3::ZERO, |b| b.weight)
        };
        (0..N).map(draw).sum::<Vec3>() / N as f32
    }
}

const WHITE: &str = "make_closure<Lambert>(color(1.0), n)";
const CLEAR: &str = "make_closure<Coat>(1.5, 0.3, color(1.0), 1.0, n, ";

/// The share that a layer leaves for what is beneath it.
fn leaves(layer: &str, cosine: f32) -> f32 {
    let found = seen(&format!("c = {layer}{WHITE});"), cosine, false);
    found.weights().iter().find(|(name, _)| *name == "Lambert").expect("the layer covers a Lambert").1.x
}

#[test]
fn layers_upon_layers_leave_the_product_of_what_each_leaves() {
    let sheen = "make_closure<Sheen>(color(0.8), 0.4, n, ";
    for cosine in [1.0, 0.6, 0.2] {
        let mixture = format!("0.25 * {WHITE} + color(0.2, 0.4, 0.6) * make_closure<Glossy>(color(1.0), n, 0.5)");
        let found = seen(&format!("c = 0.5 * {CLEAR}{sheen}{mixture}));"), cosine, false);
        let (coat, fibres) = (leaves(CLEAR, cosine), leaves(sheen, cosine));
        let expected = [
            ("Coat", Vec3::splat(0.5)),
            ("Sheen", Vec3::splat(0.5 * coat)),
            ("Lambert", Vec3::splat(0.125 * coat * fibres)),
            ("Glossy", Vec3::new(0.1, 0.2, 0.3) * coat * fibres),
        ];
        let weights = found.weights();
        assert_eq!(weights.len(), expected.len());
        for ((name, weight), (wanted, share)) in weights.into_iter().zip(expected) {
            assert!(name == wanted && (weight - share).abs().max_element() < 1e-6, "{name} {weight}, {wanted} {share}");
        }
    }
}

/// In a white furnace a stack of lossless layers over white is white, and stays so when stacks are mixed.
#[test]
fn stacks_of_layers_over_white_lose_and_gain_nothing() {
    let stack = format!("make_closure<Sheen>(color(1.0), 0.5, n, {CLEAR}{CLEAR}{WHITE})))");
    let mixture = format!("0.3 * {stack} + 0.7 * {WHITE}");
    for cosine in [1.0, 0.7, 0.3, 0.1] {
        for closure in [&stack, &mixture] {
            let found = seen(&format!("c = {closure};"), cosine, false).reflected();
            assert!((found - 1.0).abs().max_element() < 0.02, "{cosine} {closure}: {found}");
        }
    }
}

#[test]
fn each_side_has_its_own_closure_and_light() {
    let both = format!(
        "c = 0.5 * make_closure<DoubleSided>({CLEAR}{WHITE}) + make_closure<Emission>(color(1.0, 2.0, 3.0)),
             make_closure<Glossy>(color(0.9), n, 0.4) + make_closure<Emission>(color(4.0)));"
    );
    let (front, back) = (seen(&both, 0.8, false), seen(&both, 0.8, true));
    assert_eq!(front.weights().iter().map(|w| w.0).collect::<Vec<_>>(), ["Coat", "Lambert"]);
    assert_eq!(front.emission, Vec3::new(0.5, 1.0, 1.5));
    assert_eq!(back.weights(), [("Glossy", Vec3::splat(0.5))]);
    assert_eq!(back.emission, Vec3::splat(2.0));
}

#[test]
fn a_layer_may_lie_on_nothing() {
    let alone = seen("c = make_closure<Sheen>(color(1.0, 0.5, 0.0), 0.3, n, none);", 0.3, false);
    assert_eq!(alone.weights(), [("Sheen", Vec3::ONE)]);
    let reflected = alone.reflected();
    assert!(reflected.x > 0.1 && (reflected.y - 0.5 * reflected.x).abs() < 1e-5 && reflected.z == 0.0, "{reflected}");
}

/// A layer that covers by angle is asked again for each hit: at grazing angles a coat leaves less.
#[test]
fn a_coat_leaves_less_at_grazing_angles() {
    let shares: Vec<f32> = [1.0, 0.5, 0.25, 0.1].map(|cosine| leaves(CLEAR, cosine)).into();
    assert!(shares.windows(2).all(|w| w[0] > w[1]), "{shares:?}");
}
