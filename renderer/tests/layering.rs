//! Layers and sums of closures, from shaders to the lobes of a hit: who gets which share of the light.

use glam::Vec3;
use renderer::bsdf::{BentNormals, Bsdf, ClosureKind, LobeLists, SslLobes, SslLobesOfHit, WeightedLobe, oracles};
use renderer::geometry::{Geometry, Surface};
use renderer::material::{Making, Material, Scratch, ShadingLanguage, ShadingPoint, Space, Spaces, Surroundings};
use renderer::math::uniform_cone;
use renderer::sampler::Sampler;
use ssl_compiler::{NoTextures, SearchPath};

/// What a shader gives at a flat place that is seen under an angle.
struct Seen {
    lobes: Vec<WeightedLobe>,
    ssl: SslLobes,
    emission: Vec3,
    wo: Vec3,
    gnormal: Vec3,
}

/// `body` sets the closure `c`; `n` is the normal.
fn seen(body: &str, cosine: f32, backfacing: bool) -> Seen {
    seen_with("", body, cosine, backfacing)
}

fn seen_with(imports: &str, body: &str, cosine: f32, backfacing: bool) -> Seen {
    seen_by(&[], imports, body, cosine, backfacing)
}

fn seen_by(closures: &[ClosureKind], imports: &str, body: &str, cosine: f32, backfacing: bool) -> Seen {
    let body = format!("const normal n = global_value<normal>; closure none; {body}");
    let text = format!("{imports} shader main(out closure c) {{ {body} }}");
    let (language, making) = (ShadingLanguage::with_closures(closures), Making::default());
    let mut compiler = language.compiler(&making, &SearchPath::on_disk(Vec::new()));
    let file = compiler.add_source("main.ssl", text);
    let shader = language.compile(&making, &compiler.program(file), None).unwrap_or_else(|e| panic!("{e}"));
    let gnormal = if backfacing { Vec3::NEG_Z } else { Vec3::Z };
    let wo = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine * gnormal.z);
    let surface = Surface { normal: Vec3::Z, gnormal: Vec3::Z, backfacing, ..Surface::default() };
    let point = ShadingPoint { surface, incident: -wo, ..ShadingPoint::default() };
    let (mut lobes, mut ssl, mut shaded) = (Vec::new(), SslLobes::default(), Vec::new());
    let spaces = Spaces { objects: Vec::new(), camera: Space::WORLD };
    let around = Surroundings { spaces: &spaces, geometry: &Geometry::default() };
    let material = Material::new("main", shader, &language);
    let lists = LobeLists { rust: &mut lobes, ssl: &mut ssl };
    material.shade(&[point], around, &NoTextures, &mut Scratch::default(), lists, &mut shaded);
    Seen { lobes, ssl, emission: shaded[0].emission, wo, gnormal }
}

impl Seen {
    fn bsdf(&self) -> Bsdf<'_> {
        let Seen { lobes, ssl, wo, gnormal, .. } = self;
        let ssl = (!ssl.is_empty()).then_some(SslLobesOfHit { all: ssl, list: &ssl.list });
        Bsdf { lobes, wo: *wo, gnormal: *gnormal, ssl, bent_normals: BentNormals::default() }
    }

    /// The weights of all lobes, in the order of their names.
    fn weights(&self) -> Vec<(&str, Vec3)> {
        let mut all: Vec<_> = self.bsdf().all().map(|l| (l.lobe.name(), l.weight)).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    /// The share of light from all sides that comes to the viewer: the mean weight of the samples.
    fn reflected(&self) -> Vec3 {
        const N: u32 = 1 << 14;
        let bsdf = self.bsdf();
        let draw = |i| bsdf.sample(Sampler::new(5, (3, 4), i).next_2d()).map_or(Vec3::ZERO, |b| b.weight);
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
            ("Glossy", Vec3::new(0.1, 0.2, 0.3) * coat * fibres),
            ("Lambert", Vec3::splat(0.125 * coat * fibres)),
            ("Sheen", Vec3::splat(0.5 * coat)),
        ];
        let weights = found.weights();
        assert_eq!(weights.len(), expected.len());
        for ((name, weight), (wanted, share)) in weights.into_iter().zip(expected) {
            assert!(name == wanted && (weight - share).abs().max_element() < 1e-6, "{name} {weight}, {wanted} {share}");
        }
    }
}

/// Lobes in SSL come to what those in Rust come to: alone, mixed, and under layers.
#[test]
fn lobes_scatter_alike_in_both_languages() {
    let glossy = "make_closure<Glossy>(color(0.9, 0.6, 0.2), n, 0.5)";
    let mixture = format!("0.25 * {WHITE} + color(0.2, 0.4, 0.6) * {glossy}");
    let closures =
        [WHITE.to_owned(), mixture.clone(), format!("{CLEAR}{mixture})"), format!("{CLEAR}{CLEAR}{WHITE}))")];
    for (closure, cosine) in closures.iter().flat_map(|c| [(c, 0.9), (c, 0.3)]) {
        let body = format!("c = {closure};");
        let [rust, ssl] = [oracles(), Vec::new()].map(|closures| seen_by(&closures, "", &body, cosine, false));
        assert!(rust.ssl.is_empty() && !ssl.ssl.is_empty(), "{closure}");
        assert_eq!(names(&rust), names(&ssl));
        let mut s = Sampler::new(6, (2, 1), 0);
        for _ in 0..200 {
            let wi = uniform_cone(s.next_2d(), 1.0);
            let [(expected, density), (found, of_ssl)] = [&rust, &ssl].map(|seen| seen.bsdf().eval(wi));
            let error = (found - expected).abs().max_element();
            assert!(error <= 0.015 * expected.max_element(), "{closure} {wi}: {found}, {expected}");
            assert!((of_ssl - density).abs() <= 0.01 * density, "{closure} {wi}: {of_ssl}, {density}");
        }
    }
}

fn names(seen: &Seen) -> Vec<&str> {
    seen.weights().into_iter().map(|(name, _)| name).collect()
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

/// A parameter of a material: its name, its default, and another value.
type Parameter = (&'static str, &'static str, &'static str);

/// A file of the library, the struct in it, and the closure that its function makes of the parameters' values.
type Library = (&'static str, &'static str, fn(&[&str]) -> String);

/// The lobes of a material with some of its parameters set by name, which are those of its closure with all by place.
fn by_name((file, surface, closure): Library, parameters: &[Parameter], set: &[usize]) -> String {
    let function = file.trim_end_matches(".ssl");
    let changes: String = set.iter().map(|&i| format!("m.{} = {};", parameters[i].0, parameters[i].2)).collect();
    let named = format!("{surface} m = {function}_defaults(); {changes} c = {function}(m);");
    let value = |i: usize| if set.contains(&i) { parameters[i].2 } else { parameters[i].1 };
    let values: Vec<&str> = (0..parameters.len()).map(value).collect();
    let placed = format!("const vector t = global_value<tangent>; c = {};", closure(&values));
    let imports = format!("import \"{file}\";");
    let (named, placed) = (seen_with(&imports, &named, 0.6, false), seen(&placed, 0.6, false));
    let text = |seen: &Seen| {
        // In any order.
        let mut lobes: Vec<String> = seen.lobes.iter().map(|l| format!("{l:?}")).collect();
        // Those in SSL by what they are like, and by what they do.
        let towards = [Vec3::new(0.3, 0.2, 0.9), Vec3::new(-0.6, 0.1, 0.8), Vec3::new(0.1, -0.2, -1.0)];
        lobes.extend(seen.ssl.list.iter().map(|l| {
            let values = towards.map(|wi| seen.ssl.value(&l.lobe, seen.wo, wi.normalize()));
            format!("{} {l:?} {values:?}", seen.ssl.name(&l.lobe))
        }));
        lobes.sort();
        format!("{lobes:?} {:?}", seen.emission)
    };
    assert_eq!(text(&named), text(&placed), "{changes}");
    text(&named)
}

/// Each parameter in turn, beside those of `always`: it arrives where it belongs, and does something.
fn each_by_name(material: Library, parameters: &[Parameter], always: &[usize]) {
    let usual = by_name(material, parameters, always);
    assert_ne!(usual, by_name(material, parameters, &[]));
    for i in (0..parameters.len()).filter(|i| !always.contains(i)) {
        let changed = by_name(material, parameters, &[always, &[i]].concat());
        assert_ne!(usual, changed, "{} does nothing", parameters[i].0);
    }
}

#[test]
fn principled_materials_are_set_by_name() {
    let parameters = [
        ("base_color", "color(0.8)", "color(0.2, 0.4, 0.6)"),
        ("metallic", "0.0", "0.25"),
        ("roughness", "0.5", "0.25"),
        ("anisotropic", "0.0", "0.75"),
        ("specular", "0.5", "0.125"),
        ("specular_tint", "0.0", "0.375"),
        ("sheen", "0.0", "0.5"),
        ("sheen_tint", "0.5", "0.25"),
        ("flatness", "0.0", "0.625"),
        ("clearcoat", "0.0", "0.5"),
        ("clearcoat_gloss", "1.0", "0.5"),
        ("transmission", "0.0", "0.75"),
        ("ior", "0.0", "1.75"),
        ("shading_normal", "n", "normalize(n + vector(0.1, 0.2, 0.0))"),
        ("shading_tangent", "t", "vector(0.0, 1.0, 0.0)"),
    ];
    // With a hue, metal, sheen and clear coat, so that what tints and shapes them shows.
    let closure = |values: &[&str]| format!("make_closure<Principled>({})", values.join(", "));
    each_by_name(("principled.ssl", "PrincipledSurface", closure), &parameters, &[0, 1, 3, 6, 9]);
}

#[test]
fn openpbr_materials_are_set_by_name() {
    let parameters = [
        ("base_weight", "1.0", "0.75"),
        ("base_color", "color(0.8)", "color(0.2, 0.4, 0.6)"),
        ("base_diffuse_roughness", "0.0", "0.5"),
        ("base_metalness", "0.0", "0.25"),
        ("specular_weight", "1.0", "0.5"),
        ("specular_color", "color(1.0)", "color(0.9, 0.8, 0.7)"),
        ("specular_roughness", "0.3", "0.5"),
        ("specular_roughness_anisotropy", "0.0", "0.5"),
        ("specular_ior", "1.5", "1.75"),
        ("transmission_weight", "0.0", "0.25"),
        ("transmission_color", "color(1.0)", "color(0.3, 0.2, 0.1)"),
        ("subsurface_weight", "0.0", "0.5"),
        ("subsurface_color", "color(0.8)", "color(0.7, 0.1, 0.2)"),
        ("subsurface_scatter_anisotropy", "0.0", "0.5"),
        ("coat_weight", "0.0", "0.5"),
        ("coat_color", "color(1.0)", "color(0.6, 0.9, 0.5)"),
        ("coat_roughness", "0.0", "0.25"),
        ("coat_roughness_anisotropy", "0.0", "0.75"),
        ("coat_ior", "1.6", "1.4"),
        ("coat_darkening", "1.0", "0.5"),
        ("fuzz_weight", "0.0", "0.5"),
        ("fuzz_color", "color(1.0)", "color(0.1, 0.3, 0.2)"),
        ("fuzz_roughness", "0.5", "0.25"),
        ("emission_luminance", "0.0", "2.0"),
        ("emission_color", "color(1.0)", "color(0.5, 0.25, 0.125)"),
        ("geometry_opacity", "1.0", "0.5"),
        ("geometry_thin_walled", "false", "true"),
        ("geometry_normal", "n", "normalize(n + vector(0.1, 0.2, 0.0))"),
        ("geometry_coat_normal", "n", "normalize(n + vector(0.2, 0.1, 0.0))"),
        ("geometry_tangent", "t", "vector(0.0, 1.0, 0.0)"),
        ("geometry_coat_tangent", "t", "vector(0.0, 1.0, 0.0)"),
    ];
    // With all parts of it there.
    let always = [1, 3, 7, 9, 11, 14, 16, 17, 20, 23, 26];
    let closure = |values: &[&str]| {
        let (base, emission, opacity, geometry) = (&values[..23], &values[23..25], values[25], &values[26..]);
        let light = format!("make_closure<Emission>({} * {})", emission[0], emission[1]);
        let passing = "make_closure<Transparent>(color(1.0))";
        let all = [base.join(", "), geometry.join(", "), light, passing.to_owned()].join(", ");
        format!("{opacity} * make_closure<OpenPbr>({all}) + (1.0 - {opacity}) * {passing}")
    };
    each_by_name(("openpbr.ssl", "OpenPbrSurface", closure), &parameters, &always);
}
