//! Layers of pictures beside the light, against what is known of their scenes.

use renderer::film::{Layer, Picture};
use renderer::render::{RenderOptions, RenderOutput, render};
use renderer::scene::aovs::resolve;
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("renderer-layers-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn scene(&self, text: &str) -> PathBuf {
        let path = self.0.join("scene.toml");
        std::fs::write(&path, text).expect("the temporary folder can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn load(path: &Path) -> Loaded {
    scene::load(path, BackendKind::default(), &SearchPath::on_disk(Vec::new()))
}

fn run(text: &str, names: Option<&[&str]>, threads: usize) -> RenderOutput {
    let folder = Folder::new();
    let mut loaded = load(&folder.scene(text));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{said}"));
    let aovs = names.map(|names| resolve(names, &scene.materials, &scene.light_names).expect("they are there"));
    let options = RenderOptions { aovs, threads: Some(threads), ..RenderOptions::default() };
    render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

#[track_caller]
fn layer<'a>(picture: &'a Picture, name: &str) -> &'a Layer {
    picture.layers.iter().find(|l| l.aov.name() == name).unwrap_or_else(|| panic!("no layer {name}"))
}

/// The channels of a pixel.
#[track_caller]
fn at<'a>(picture: &'a Picture, name: &str, x: u32, y: u32) -> &'a [f32] {
    let layer = layer(picture, name);
    let n = layer.aov.channels().len();
    &layer.values[(y * picture.width + x) as usize * n..][..n]
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f32]) {
    let near = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= 2e-5 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} is not {expected:?}");
}

/// Looked at along −z from (0, 0, 5): a square of 2 units at z = 1 in front of nothing, 8 pixels over 4 units.
fn square(film: &str, samples: u32, shader: &str) -> String {
    format!(
        r#"
        camera = {{ position = [0, 0, 5], look_at = [0, 0, 0], type = "orthographic", width = 4 }}
        film = {{ width = 8, height = 8, {film} }}
        integrator = {{ samples = {samples} }}
        [materials.a]
        source = "shader a(out closure c) {{ c = make_closure<Lambert>(color(0.1), global_value<normal>); }}"
        [materials.shown]
        source = '''{shader}'''
        [[shapes]]
        type = "sphere"
        material = "a"
        translate = [0, 0, 90]
        [[shapes]]
        type = "rectangle"
        material = "shown"
        scale = [2, 1, 2]
        rotate = [90, 0, 0]
        translate = [0, 0, 1]
        "#
    )
}

const OUTPUTS: &str = r#"
shader shown(out closure c, out float height, out color tint, out float2 two, out int side, out bool on, out matrix no)
{
    const float3 p = global_value<position>;
    height = p.y;
    tint = color(p.x, 2.0, p.z);
    two = global_value<uvw>.xy;
    side = p.x < 0.0 ? -3 : 5;
    on = p.y > 0.0;
    no = matrix(1.0);
    c = make_closure<Lambert>(color(0.2, 0.4, 0.6), normalize(vector(0.0, 3.0, 4.0)))
        + 0.5 * make_closure<Mirror>(color(0.5), global_value<normal>);
}
"#;

const ALL: &str = r#"aovs = ["albedo", "normal", "depth", "position", "uv", "object_id", "material_id", "samples",
    "height", "tint", "two", "side", "on"], filter = "center""#;

#[test]
fn every_layer_is_what_the_first_hit_has() {
    let picture = run(&square(ALL, 1, OUTPUTS), None, 1).picture;
    let at = |name, x, y| at(&picture, name, x, y);
    // The pixel right of the middle and above it: half a pixel is a quarter of a unit.
    let (x, y) = (4, 3);
    assert_near(at("position", x, y), &[0.25, 0.25, 1.0]);
    assert_near(at("depth", x, y), &[4.0]);
    assert_near(at("albedo", x, y), &[0.45, 0.65, 0.85]);
    assert_near(at("height", x, y), &[0.25]);
    assert_near(at("tint", x, y), &[0.25, 2.0, 1.0]);
    assert_near(at("two", x, y), at("uv", x, y));
    assert_near(at("side", x, y), &[5.0]);
    assert_near(at("on", x, y), &[1.0]);
    assert_near(at("side", 3, 4), &[-3.0]);
    assert_near(at("on", 3, 4), &[0.0]);
    assert_eq!(
        (at("object_id", x, y), at("material_id", x, y), at("samples", x, y)),
        (&[1.0][..], &[1.0][..], &[1.0][..])
    );
    // Of both normals by their lobes' shares, 0.6 and 0.25.
    let normal = glam::Vec3::new(0.0, 0.6 * 0.6, 0.8 * 0.6 + 0.25).normalize();
    assert_near(at("normal", x, y), &normal.to_array());
    // Beside the square there is nothing.
    for (name, expected) in [("depth", f32::INFINITY), ("object_id", -1.0), ("material_id", -1.0), ("height", 0.0)] {
        assert_eq!(at(name, 0, 0), [expected], "{name}");
    }
    for name in ["albedo", "normal", "position", "tint"] {
        assert_eq!(at(name, 0, 0), [0.0; 3], "{name}");
    }
}

#[test]
fn layers_leave_the_picture_alone_and_do_not_depend_on_threads() {
    let plain = run(&square("", 9, OUTPUTS), None, 2);
    let all = ALL.replace(", filter = \"center\"", "");
    let (one, three) = (run(&square(&all, 9, OUTPUTS), None, 1), run(&square(&all, 9, OUTPUTS), None, 3));
    assert_eq!(plain.picture.pixels, one.picture.pixels);
    assert_eq!(one.picture, three.picture);
    assert_eq!(one.part.encode(), three.part.encode());
}

/// A pixel of which a share p of n samples sees light of radiance L has the mean Lp, of variance L² p (1 − p) / (n − 1).
#[test]
fn the_variance_is_that_of_the_mean() {
    let glow = "shader glow(out closure c) { c = make_closure<Emission>(color(8.0, 2.0, 0.5)); }";
    let picture = run(&square("", 16, glow), Some(&["variance", "samples", "albedo"]), 1).picture;
    let mut varied = 0;
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        assert_eq!(at(&picture, "samples", x, y), [16.0]);
        assert_eq!(at(&picture, "albedo", x, y), [0.0; 3]);
        let expected = [8.0, 2.0, 0.5].map(|radiance: f32| {
            let p = picture.pixel(x, y).x / 8.0;
            radiance * radiance * p * (1.0 - p) / 15.0
        });
        assert_near(at(&picture, "variance", x, y), &expected);
        varied += u32::from(expected[0] > 0.0);
    }
    assert!(varied > 8, "the edges are not sharp");
}

/// Where pixels are filtered over an edge, means mix and what must not be mixed is that of one sample.
#[test]
fn ids_and_depths_are_never_mixed() {
    let names = ["depth", "object_id", "material_id", "position", "side", "height", "albedo"];
    let picture = run(&square("filter = \"gaussian\"", 32, OUTPUTS), Some(&names), 2).picture;
    let mut mixed = 0;
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        // The samples nearest the middle are of the square just where the middle is.
        let inside = (2..6).contains(&x) && (2..6).contains(&y);
        let expected = if inside { [4.0, 1.0, 1.0] } else { [f32::INFINITY, -1.0, -1.0] };
        for (name, expected) in ["depth", "object_id", "material_id"].into_iter().zip(expected) {
            assert_near(at(&picture, name, x, y), &[expected]);
        }
        assert!([-3.0, 0.0, 5.0].contains(&at(&picture, "side", x, y)[0]));
        let share = at(&picture, "albedo", x, y)[0] / 0.45;
        mixed += u32::from(share > 0.01 && share < 0.99);
    }
    assert!(mixed >= 12, "{mixed}");
}

/// The albedo is that of what is seen, be it a mirror, glass or metal: no noise, no light.
#[test]
fn albedos_of_mirrors_and_glass_are_their_own() {
    let mirror = "shader m(out closure c) { c = make_closure<Mirror>(color(0.9, 0.5, 0.1), global_value<normal>); }";
    let glass =
        "shader g(out closure c) { c = make_closure<Dielectric>(color(1.0, 0.5, 0.0), global_value<normal>, 1.5); }";
    let of = |shader: &str| {
        at(&run(&square("filter = \"box\"", 4, shader), Some(&["albedo"]), 1).picture, "albedo", 4, 4).to_vec()
    };
    assert_near(&of(mirror), &[0.9, 0.5, 0.1]);
    assert_near(&of(glass), &[1.0, 0.52, 0.04]);
}

fn refused(text: &str, code: &str, words: &str) {
    let folder = Folder::new();
    let loaded = load(&folder.scene(text));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    assert!(loaded.scene.is_none() && said.contains(code) && said.contains(words), "{said}");
}

#[test]
fn names_that_mean_nothing_are_refused_where_they_stand() {
    refused(&square("aovs = [\"uv\", \"dept\"]", 1, OUTPUTS), "S0003", "did you mean `depth`?");
    refused(&square("aovs = [\"no\"]", 1, OUTPUTS), "S0003", "there is no layer `no`");
    refused(&square("aovs = [\"tintt\"]", 1, OUTPUTS), "S0003", "did you mean `tint`?");
    refused(&square("aovs = [\"uv\", \"depth\", \"uv\"]", 1, OUTPUTS), "S0006", "`uv` is named twice");
    let both = square("aovs = [\"tint\"]", 1, OUTPUTS)
        .replace("shader a(out closure c) {", "shader a(out closure c, out float tint) { tint = 1.0;");
    refused(&both, "S0006", "`tint` is of one type in the shader of `a`, of another in that of `shown`");
}

fn shade(arguments: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("built for this test");
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn the_command_line_names_layers_and_says_what_a_png_leaves_out() {
    let folder = Folder::new();
    let scene = folder.scene(&square("", 2, OUTPUTS)).display().to_string();
    let file = |name: &str| folder.0.join(name).display().to_string();
    let (png, exr) = (file("a.png"), file("a.exr"));
    assert_eq!(shade(&["render", &scene, "-o", &exr, "--aov", "uv,height"]), (Some(0), String::new()));
    let (code, said) = shade(&["render", &scene, "-o", &png, "--aov", "uv,height"]);
    assert!(code == Some(0) && said.contains("a PNG holds the picture alone") && said.contains("uv, height"), "{said}");
    let (code, said) = shade(&["render", &scene, "-o", &exr, "--aov", "hight"]);
    assert!(code == Some(1) && said.contains("S0003") && said.contains("did you mean `height`?"), "{said}");
    let read = exr::prelude::read_first_flat_layer_from_file(&exr).expect("a whole file");
    let names: Vec<String> = read.layer_data.channel_data.list.iter().map(|c| c.name.to_string()).collect();
    assert_eq!(names, ["B", "G", "R", "height.Y", "uv.U", "uv.V"]);
    // What knows nothing of layers reads the picture.
    assert!(image::open(&exr).is_ok());
}

/// Lights of all kinds about matte, glossy, clear and glassy shapes; `kept` says which lines with lights stay.
fn lights(kept: impl Fn(&str) -> bool) -> String {
    let lights: String = [
        ("key", r#"{ type = "point", position = [2, 3, 2], intensity = [9, 8, 7], name = "key" },"#),
        (
            "rim",
            r#"{ type = "spot", position = [-3, 2, -2], look_at = [0, 0, 0], intensity = [3, 5, 9], name = "rim" },"#,
        ),
        ("far", r#"{ type = "distant", direction = [1, -2, -1], irradiance = [0.5, 0.4, 0.3], name = "key" },"#),
        ("sun", r#"{ type = "distant", direction = [-1, -1, 0], irradiance = [1, 1, 1], angle = 20, name = "sun" },"#),
        ("moon", r#"{ type = "distant", direction = [0, -1, 1], irradiance = [0.2, 0.2, 0.4], angle = 9 },"#),
    ]
    .iter()
    .filter(|(light, _)| kept(light))
    .map(|(_, text)| *text)
    .collect();
    let sky = r#"environment = { type = "sky", name = "sky" }"#;
    let panel = r#"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        emission = [4, 2, 1]
        translate = [0, 3, 0]
        rotate = [180, 0, 0]
        name = "panel"
        [[shapes]]
        type = "sphere"
        material = "shines"
        radius = 0.2
        translate = [1.2, 0.2, 0.5]
        name = "rim"
    "#;
    format!(
        r#"
        lights = [{lights}]
        {}
        camera = {{ position = [0, 1.5, 5], look_at = [0, 0.6, 0] }}
        film = {{ width = 12, height = 10 }}
        [integrator]
        samples = 8
        max_depth = 4
        [materials]
        matte.source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(0.6), global_value<normal>); }}"
        glossy.source = "shader m(out closure c) {{ c = make_closure<Glossy>(color(0.8), global_value<normal>, 0.4); }}"
        clear.source = "shader m(out closure c) {{ c = make_closure<Transparent>(color(0.7)); }}"
        glass.source = "shader m(out closure c) {{ c = make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5); }}"
        shines.source = "shader m(out closure c) {{ c = make_closure<Emission>(2.0 + abs(global_value<position>)); }}"
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [8, 1, 8]
        [[shapes]]
        type = "sphere"
        material = "glossy"
        radius = 0.6
        translate = [-0.8, 0.6, 0]
        [[shapes]]
        type = "sphere"
        material = "glass"
        radius = 0.5
        translate = [0.5, 0.5, 0.6]
        [[shapes]]
        type = "rectangle"
        material = "clear"
        scale = [1, 1, 1]
        rotate = [90, 0, 0]
        translate = [-1, 1, 1]
        {}
        "#,
        if kept("sky") { sky } else { "" },
        if kept("panel") { panel } else { "" },
    )
}

/// The layers of lights add up to the picture, for every kind of light, clamped or not.
#[test]
fn layers_of_lights_add_up_to_the_picture() {
    let all = ["light:key", "light:rim", "light:sky", "light:sun", "light:panel", "light:other"];
    let scene = lights(|_| true);
    let clamped = scene.replace("max_depth = 4", "max_depth = 4\nclamp_direct = 1.5\nclamp_indirect = 0.5");
    let whitted = scene.replace("max_depth = 4", "max_depth = 4\ntype = \"whitted\"");
    for text in [&scene, &clamped, &whitted] {
        for names in [&all[..], &["light:key", "normal", "light:other"]] {
            let picture = run(text, Some(names), 2).picture;
            let layers: Vec<&str> = names.iter().copied().filter(|name| name.starts_with("light:")).collect();
            for (i, pixel) in picture.pixels.iter().enumerate() {
                let (x, y) = (i as u32 % picture.width, i as u32 / picture.width);
                let sum: glam::Vec3 = layers.iter().map(|name| glam::Vec3::from_slice(at(&picture, name, x, y))).sum();
                assert!((sum - *pixel).abs().max_element() <= 2e-5 * pixel.max_element(), "{i}: {sum} is not {pixel}");
            }
            if names.len() == all.len() && text == &scene {
                for name in names {
                    assert!(layer(&picture, name).values.iter().any(|light| *light > 0.0), "{name} is black");
                }
            }
        }
    }
}

/// The layer of a name is the picture of a scene that has the lights of this name alone. Delta lights draw no random numbers, and
/// the others of their paths stay as they are, so it is the same to rounding.
#[test]
fn a_layer_of_lights_is_the_picture_with_these_alone() {
    let deltas = |light: &str| matches!(light, "key" | "rim" | "far");
    let of_all = run(&lights(deltas), Some(&["light:key", "light:rim"]), 2).picture;
    for (name, kept) in [("light:key", ["key", "far"]), ("light:rim", ["rim", ""])] {
        let alone = run(&lights(|light| kept.contains(&light)), Some(&[]), 2).picture;
        for (i, pixel) in alone.pixels.iter().enumerate() {
            let (x, y) = (i as u32 % alone.width, i as u32 / alone.width);
            let found = glam::Vec3::from_slice(at(&of_all, name, x, y));
            assert!(
                (found - *pixel).abs().max_element() <= 2e-5 * pixel.max_element().max(1e-3),
                "{name} {i}: {found} {pixel}"
            );
        }
    }
}

/// A name that no light has is told, with the nearest one.
#[test]
fn layers_of_unknown_lights_are_told() {
    let loaded = load(&Folder::new().scene(&lights(|_| true)));
    let scene = loaded.scene.expect("a sound scene");
    let bad = resolve(&["light:kye"], &scene.materials, &scene.light_names).expect_err("there is no such light");
    assert_eq!((bad.code.id, bad.message.as_str()), ("S0003", "no light has the name `kye`"));
    assert!(bad.hint.contains("did you mean `light:key`?") && bad.hint.contains("light:other"), "{}", bad.hint);
}
