//! Ambient occlusion and Whitted's integrator against closed forms, and against the path tracer where they must agree.

use renderer::film::Picture;
use renderer::render::{RenderOptions, RenderOutput, render};
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn load(text: &str) -> (Loaded, String) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Folder(std::env::temp_dir().join(format!("renderer-integrators-{}-{number}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be written");
    let path = folder.0.join("scene.toml");
    std::fs::write(&path, text).expect("as above");
    let loaded = scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    (loaded, said)
}

fn rendered(text: &str, options: &RenderOptions) -> RenderOutput {
    let (mut loaded, said) = load(text);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{said}"));
    render(scene, options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

fn picture(text: &str, options: &RenderOptions) -> Picture {
    rendered(text, options).picture
}

const MATERIALS: &str = r#"
    [materials.matte]
    source = "shader m(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>) + make_closure<Emission>(color(7.0)); }"
"#;

/// Straight down on a floor: 16 pixels by 1, a tenth of a unit each, from x = 0.
fn floor(integrator: &str, shapes: &str) -> String {
    format!(
        r#"
        camera = {{ position = [0.8, 50, 0], look_at = [0.8, 0, 0], up = [0, 0, -1], type = "orthographic", width = 1.6 }}
        film = {{ width = 16, height = 1, filter = "center" }}
        integrator = {{ type = "ao", samples = 1024, {integrator} }}
        environment = {{ type = "constant", radiance = [9, 9, 9] }}
        {MATERIALS}
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [4, 1, 4]
        {shapes}
        "#
    )
}

/// An endless wall of height h at distance d takes ½ (1 − d/√(d² + h²)) of the cosine-weighted sky.
#[test]
fn a_wall_takes_its_form_factor_of_the_sky() {
    let wall = r#"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [2, 1, 100]
        rotate = [0, 0, 90]
    "#;
    // Half of the wall's two units are below the floor.
    let found = picture(&floor("", wall), &RenderOptions::default());
    for x in 0..16 {
        let d = (f64::from(x) + 0.5) * 0.1;
        let expected = 0.5 * (1.0 + d / (d * d + 1.0).sqrt());
        let pixel = found.pixel(x, 0);
        assert!((f64::from(pixel.x) - expected).abs() < 0.01, "{d}: {pixel} {expected}");
        assert!(pixel.x == pixel.y && pixel.y == pixel.z, "no color of light or surfaces gets in");
    }
}

/// Under a ceiling at height h what lies within the distance D is all up to the angle of cosine h/D: (h/D)² stays open.
#[test]
fn only_what_is_near_enough_is_in_the_way() {
    let ceiling = r#"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [2000, 1, 2000]
        translate = [0, 60, 0]
    "#;
    for (distance, open) in [("", 0.0), ("distance = 59.0", 1.0), ("distance = 80.0", 0.5625), ("distance = 120", 0.25)]
    {
        let pixel = picture(&floor(distance, ceiling), &RenderOptions::default()).pixel(5, 0).x;
        // Rays that graze find the end of the ceiling.
        assert!((pixel - open).abs() < 0.01, "{distance}: {pixel} {open}");
    }
}

#[test]
fn beside_all_shapes_nothing_is_in_the_way() {
    let above = floor("", "")
        .replace("position = [0.8, 50, 0], look_at = [0.8, 0, 0]", "position = [0, 1, 0], look_at = [0, 9, 0]");
    assert_eq!(picture(&above, &RenderOptions::default()).pixel(3, 0).to_array(), [1.0; 3]);
}

/// A glass ball, a mirror and a sky; what light there is comes from the sky alone.
fn glass(integrator: &str, samples: u32) -> String {
    format!(
        r#"
        camera = {{ position = [0, 0.4, 4], look_at = [0, 0, 0], fov = 40 }}
        film = {{ width = 16, height = 12, filter = "center" }}
        integrator = {{ type = "{integrator}", samples = {samples}, max_depth = 12 }}
        environment = {{ type = "sky" }}
        [materials.glass]
        source = "shader g(out closure c) {{ c = make_closure<Dielectric>(color(1.0, 0.9, 0.8), global_value<normal>, 1.5); }}"
        [materials.mirror]
        source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(0.9, 0.5, 0.3), global_value<normal>); }}"
        [[shapes]]
        type = "sphere"
        material = "glass"
        translate = [-0.5, 0, 0]
        [[shapes]]
        type = "sphere"
        material = "mirror"
        translate = [1.2, 0, -0.5]
        "#
    )
}

/// The path tracer draws what Whitted's integrator follows both ways, so its mean is the same.
#[test]
fn glass_and_mirrors_are_the_mean_of_the_path_tracer() {
    let whitted = picture(&glass("whitted", 1), &RenderOptions::default());
    let options = RenderOptions { aovs: Some(vec![renderer::film::Aov::Variance]), ..RenderOptions::default() };
    let paths = picture(&glass("path", 1024), &options);
    let mut noisy = 0;
    for (i, (a, b)) in whitted.pixels.iter().zip(&paths.pixels).enumerate() {
        for channel in 0..3 {
            let deviation = paths.layers[0].values[3 * i + channel].sqrt();
            // Branches that carry less than a thousandth are left out.
            assert!((a[channel] - b[channel]).abs() < 5.0 * deviation + 0.004, "pixel {i}: {a} {b} {deviation}");
            noisy += u32::from(deviation > 1e-4);
        }
    }
    assert!(noisy > 50, "{noisy}");
}

#[test]
fn there_is_no_noise_and_no_seed() {
    let of = |seed, threads| {
        let options = RenderOptions { seed: Some(seed), threads: Some(threads), ..RenderOptions::default() };
        picture(&glass("whitted", 1), &options).pixels
    };
    assert_eq!(of(1, 1), of(2, 3));
    // More samples are the same again, and parts of them too.
    let more = picture(&glass("whitted", 3), &RenderOptions::default());
    assert!(more.pixels.iter().zip(of(1, 1)).all(|(a, b)| (*a - b).abs().max_element() < 1e-5));
}

/// Within a ball of four mirrors that shine, ways double their light at each hit and are four times as many: more than can be
/// followed, so one is drawn, and the sum is the same. Four ways at each of eight hits are 4⁹/3 rays for each of the four
/// pixels; with the limit they are at most 260 for each of nine segments: the path, its 256 branches, and the three of the
/// hit at which the limit is passed.
#[test]
fn more_branches_than_can_be_followed_keep_their_sum() {
    let text = "camera = { position = [0, 0, 0], look_at = [1, 0, 0] }\n\
        film = { width = 2, height = 2, filter = \"center\" }\n\
        integrator = { type = \"whitted\", samples = 1, max_depth = 8 }\n\
        [[shapes]]\ntype = \"sphere\"\nmaterial = \"mirrors\"\n";
    let mirror = "0.5 * make_closure<Mirror>(color(1.0), global_value<normal>)";
    let source = format!(
        "shader m(out closure c) {{ c = make_closure<Emission>(color(0.1)) + {mirror} + {mirror} + {mirror} + {mirror}; }}"
    );
    let found = rendered(&format!("{text}[materials.mirrors]\nsource = \"{source}\"\n"), &RenderOptions::default());
    let (rays, samples) = (found.statistics.rays, found.statistics.samples);
    assert!(samples == 4 && rays <= 4 * 9 * 260, "{rays} rays of {samples} samples");
    let (pixels, expected) = (&found.picture.pixels, 0.1 * (2.0_f32.powi(9) - 1.0));
    assert!(pixels.iter().all(|pixel| (pixel.x / expected - 1.0).abs() < 1e-4), "{pixels:?} {expected}");
}

/// Straight down on water of index 1.5: of a sky of 1, Fresnel's 4 % come from above and the rest, thinned by the square of
/// the index, from below.
#[test]
fn both_sides_of_a_surface_are_seen() {
    let text = glass("whitted", 1).replace("type = \"sky\"", "type = \"constant\"");
    let (head, _) = text.split_once("[[shapes]]").expect("there are shapes");
    let head = head
        .replace("position = [0, 0.4, 4]", "position = [0, 1, 0], up = [0, 0, -1], type = \"orthographic\", width = 1");
    let head = head.replace(", fov = 40", "");
    let found = picture(
        &format!("{head}\n[[shapes]]\ntype = \"rectangle\"\nmaterial = \"glass\"\n"),
        &RenderOptions::default(),
    );
    let expected = [1.0, 0.9, 0.8].map(|t| 0.04 + 0.96 * t / 2.25);
    let pixel = found.pixel(8, 6).to_array();
    assert!(pixel.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{pixel:?} {expected:?}");
}

/// A point light of intensity I at height h gives ρ/π · I h/(h² + x²)^1.5, and what shines of itself does.
#[test]
fn lights_without_extent_are_direct_light() {
    let text = floor("", "").replace("type = \"ao\", samples = 1024", "type = \"whitted\", samples = 1").replace(
        "environment =",
        "lights = [{ type = \"point\", position = [0, 2, 0], intensity = [10, 20, 30] }]\nenvironment =",
    );
    let found = picture(&text, &RenderOptions::default());
    for x in [0, 7, 15] {
        let d = (x as f32 + 0.5) * 0.1;
        let factor = 0.5 / std::f32::consts::PI * 2.0 / (4.0 + d * d).powf(1.5);
        let expected = [10.0, 20.0, 30.0].map(|i| 7.0 + i * factor);
        let pixel = found.pixel(x, 0).to_array();
        assert!(pixel.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{x}: {pixel:?} {expected:?}");
    }
}

#[test]
fn keys_of_other_integrators_are_refused() {
    let refused = |text: &str, code: &str, words: &str| {
        let (loaded, said) = load(text);
        assert!(loaded.scene.is_none() && said.contains(code) && said.contains(words), "{said}");
    };
    let path = |more: &str| floor(more, "").replace("\"ao\"", "\"path\"");
    refused(&path("distance = 2.0"), "S0006", "`distance` means nothing for this integrator");
    refused(&floor("distance = -1.0", ""), "S0004", "the distance is -1");
    refused(&floor("", "").replace("\"ao\"", "\"radiosity\""), "S0005", "whitted");
}

/// A matte floor under a lamp that sends 40, 20, 10 straight down, seen from above; with a mirror in the way of the camera.
fn lit_floor(integrator: &str, mirror: bool) -> String {
    let camera =
        if mirror { "position = [0, 1, 0], look_at = [0, 9, 0]" } else { "position = [0, 1, 0], look_at = [0, 0, 0]" };
    let mirror = r#"
        [[shapes]]
        type = "disk"
        material = "mirror"
        translate = [0, 2, 0]
        rotate = [180, 0, 0]
        radius = 1
        lights = { exclude = ["lamp"] }
    "#;
    format!(
        r#"
        camera = {{ {camera}, up = [0, 0, -1], type = "orthographic", width = 0.1 }}
        film = {{ width = 2, height = 2 }}
        integrator = {{ samples = 4, max_depth = 3, {integrator} }}
        lights = [{{ type = "distant", direction = [3, -4, 0], irradiance = [40, 20, 10], name = "lamp" }}]
        [materials.matte]
        source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(0.5), global_value<normal>); }}"
        [materials.mirror]
        source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(0.5), global_value<normal>); }}"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [40, 1, 40]
        {mirror}
        "#
    )
}

/// Light that the floor reflects is E cos θ ρ/π with ρ = ½ and cos θ = 0.8. Above the limit all channels are scaled
/// alike, so that the brightest has the limit. Its reflection in a mirror has come by two bounces, half as bright.
#[test]
fn clamped_light_keeps_its_hue_and_its_limit() {
    let seen =
        |integrator: &str, mirror: bool| picture(&lit_floor(integrator, mirror), &RenderOptions::default()).pixels[0];
    let whole = glam::Vec3::new(40.0, 20.0, 10.0) * (0.8 * 0.5 / std::f32::consts::PI);
    let near = |found: glam::Vec3, expected: glam::Vec3| (found - expected).abs().max_element() < 1e-4 * whole.x;
    for (integrator, direct, reflected) in [
        ("", whole, 0.5 * whole),
        ("clamp_direct = 2", whole * (2.0 / whole.x), 0.5 * whole),
        ("clamp_indirect = 2", whole, whole * (2.0 / whole.x)),
        ("clamp_direct = 1000, clamp_indirect = 1000", whole, 0.5 * whole),
    ] {
        let found = [seen(integrator, false), seen(integrator, true)];
        assert!(near(found[0], direct) && near(found[1], reflected), "{integrator}: {found:?}, {direct} {reflected}");
    }
    let (loaded, said) = load(&lit_floor("type = \"ao\", clamp_direct = 2", false));
    assert!(loaded.scene.is_none() && said.contains("`clamp_direct` means nothing for this integrator"), "{said}");
}

/// A matte floor that a constant sky lights by way of a gloss above it, which the camera sees only in the second picture.
fn under_gloss(integrator: &str, closure: &str, seen: bool) -> String {
    let camera = if seen { "look_at = [0.001, 2, 0]" } else { "look_at = [0.001, 0, 0]" };
    format!(
        r#"
        camera = {{ position = [0, 1, 0], {camera}, up = [0, 0, -1], fov = 20 }}
        film = {{ width = 4, height = 4 }}
        integrator = {{ samples = 8, max_depth = 3, {integrator} }}
        environment = {{ type = "sky", zenith = [0.1, 0.2, 0.4], horizon = [1, 2, 3], ground = [3, 2, 1] }}
        [materials.matte]
        source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(0.5), global_value<normal>); }}"
        [materials.gloss]
        source = "shader m(out closure c) {{ c = {closure}; }}"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [4, 1, 4]
        [[shapes]]
        type = "disk"
        material = "gloss"
        translate = [0, 2, 0]
        rotate = [180, 0, 0]
        radius = 3
        "#
    )
}

/// Behind a rough bounce a narrow lobe is the same lobe with the least roughness, to the bit; where the camera sees it, it stays.
#[test]
fn regularised_lobes_are_those_of_the_least_roughness() {
    // N stands for the normal, R for the roughness. α = 0.25 is an exponent of 30.
    let lobes = [
        ("0.1", "0.5", "make_closure<Glossy>(color(0.9), N, R)"),
        ("0.1", "0.5", "make_closure<Conductor>(color(0.2), color(3.0), N, R)"),
        ("0.1", "0.5", "make_closure<RoughDielectric>(color(1.0), color(1.0), N, 1.5, R)"),
        ("0.1", "0.5", "make_closure<AnisotropicConductor>(color(0.2), color(3.0), N, vector(1.0, 0.0, 0.0), 0.8, R)"),
        (
            "0.1",
            "0.5",
            "make_closure<Schlick>(color(0.5), color(0.9), color(1.0), 5.0, N, vector(1.0, 0.0, 0.0), R, R)",
        ),
        ("0.1", "0.5", "make_closure<Principled>(base_color = color(0.8), metallic = 1.0, roughness = R)"),
        ("0.1", "0.5", "make_closure<OpenPbr>(base_metalness = 1.0, specular_roughness = R)"),
        ("0.1", "0.5", "make_closure<Coat>(1.5, R, color(0.9), 1.0, N, make_closure<Lambert>(color(0.5), N))"),
        ("1000.0", "30.0", "make_closure<Phong>(color(0.9), N, R)"),
        ("1000.0", "30.0", "make_closure<AshikhminShirley>(color(0.3), color(0.5), N, vector(1.0, 0.0, 0.0), R, R)"),
    ];
    let pixels = |text: String| picture(&text, &RenderOptions::default()).pixels;
    for (narrow, wide, closure) in lobes {
        let with = |roughness: &str| {
            let closure = closure.replace(" R", &format!(" {roughness}"));
            closure.replace("N,", "global_value<normal>,").replace("N)", "global_value<normal>)")
        };
        let (narrow, wide) = (with(narrow), with(wide));
        let regularised = pixels(under_gloss("regularize = 0.5", &narrow, false));
        assert_eq!(regularised, pixels(under_gloss("", &wide, false)), "{narrow}");
        assert_ne!(regularised, pixels(under_gloss("", &narrow, false)), "{narrow}");
        let seen = |more: &str| pixels(under_gloss(more, &narrow, true).replace("max_depth = 3", "max_depth = 1"));
        assert_eq!(seen("regularize = 0.5"), seen(""), "{narrow}");
    }
    let refused = |integrator: &str, words: &str| {
        let (loaded, said) = load(&under_gloss(integrator, "make_closure<Mirror>(color(1.0))", false));
        assert!(loaded.scene.is_none() && said.contains(words), "{said}");
    };
    refused("regularize = 1.5", "the least roughness of `regularize` is 1.5");
    refused("regularize = 0.5, type = \"direct\"", "`regularize` means nothing for this integrator");
    refused("regularize = 0.5, caustics = \"photons\"", "`regularize` does not go with `caustics = \"photons\"`");
}
