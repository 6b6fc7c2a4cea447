//! Views of what the renderer does, against what is known of their scenes.

use renderer::film::{Picture, ToneCurve};
use renderer::integrator::View;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, Scene};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// That of the view of mip levels.
fn middle(name: &str, scene: &str, options: &[&str]) -> [u8; 3] {
    middle_of("mip-level", name, scene, options)
}

/// The middle pixel of a view.
fn middle_of(view: &str, name: &str, scene: &str, options: &[&str]) -> [u8; 3] {
    let folder = Folder(std::env::temp_dir().join(format!("renderer-views-{}-{name}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be written");
    let at = |file: &str| folder.0.join(file);
    image::GrayImage::from_fn(1024, 1024, |x, y| image::Luma([(x ^ y) as u8])).save(at("t.png")).expect("as above");
    if scene.contains("sky.png") {
        image::GrayImage::new(2048, 1024).save(at("sky.png")).expect("as above");
    }
    std::fs::write(at("scene.toml"), scene).expect("as above");
    let out = Command::new(env!("CARGO_BIN_EXE_shade"))
        .arg("render")
        .arg(at("scene.toml"))
        .args(["--view", view, "-o"])
        .arg(at("view.png"))
        .args(options)
        .env("SSL_TEXTURE_CACHE", at("converted"))
        .output()
        .expect("the program was built for this test");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let picture = image::open(Path::new(&at("view.png"))).expect("a whole picture").into_rgb8();
    picture.get_pixel(picture.width() / 2, picture.height() / 2).0
}

/// Straight down on a square of 1024 texels, a unit a side: of so many texels a pixel.
fn downward(texels: f32, material: &str, more: &str) -> String {
    // Over 64 pixels, from a height of 1.
    let fov = 2.0 * (0.5 * texels * 64.0 / 1024.0_f32).atan().to_degrees();
    format!(
        r#"
        camera = {{ position = [0, 1, 0], look_at = [0, 0, 0], up = [0, 0, -1], fov = {fov} }}
        film = {{ width = 64, height = 64, filter = "center", exposure = 3.0 }}
        integrator = {{ samples = 1 }}
        {more}
        [textures.t]
        file = "t.png"
        [materials.textured]
        textures = {{ t = "t" }}
        source = """
        texture2d t;
        shader s(out closure c)
        {{
            const float3 p = global_value<uvw>;
            c = make_closure<Lambert>(texture2d_sample<t>(p.x, p.y), global_value<normal>);
        }}
        """
        [materials.mirror]
        source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(0.5), global_value<normal>); }}"
        [[shapes]]
        type = "rectangle"
        material = "{material}"
        "#
    )
}

const SKY: &str = "environment = { type = \"image\", file = \"sky.png\" }";
const COLORS: [[u8; 3]; 4] = [[0xd7, 0x19, 0x1c], [0xf6, 0x8b, 0x33], [0xfc, 0xe9, 0x4f], [0x73, 0xd2, 0x16]];

fn assert_near(found: [u8; 3], expected: [u8; 3]) {
    // The middle of the middle pixel is half a pixel beside the axis.
    assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 2), "{found:x?} is not {expected:x?}");
}

#[test]
fn the_level_has_its_color() {
    for (level, expected) in COLORS.into_iter().enumerate() {
        assert_near(middle(&format!("level{level}"), &downward((1 << level) as f32, "textured", ""), &[]), expected);
    }
    assert_near(middle("bias", &downward(2.0, "textured", ""), &["--mip-bias", "2"]), COLORS[3]);
    // Four samples share the pixel: a level finer.
    assert_near(middle("samples", &downward(4.0, "textured", ""), &["--spp", "4"]), COLORS[1]);
}

/// A mirror shows the level of what is seen in it: here the environment, of 2048 texels around.
#[test]
fn mirrors_are_followed() {
    // Half a pixel beside the pole, through which the camera looks; a tilted one looks at the horizon.
    let texel = std::f32::consts::TAU / 2048.0 * 1024.0;
    let tilted = downward(texel * 4.0, "mirror", SKY) + "rotate = [45, 0, 0]\nscale = [3, 1, 3]\n";
    assert_near(middle("mirror", &tilted, &[]), COLORS[2]);
    assert_near(middle("plain", &downward(4.0, "mirror", ""), &[]), [0x30; 3]);
}

/// A pixel that is four texels wide has the color of level 2, however that is filtered.
#[test]
fn footprints_have_the_color_of_their_length() {
    let scene = downward(4.0, "textured", "");
    for filter in ["auto", "nearest"] {
        assert_near(middle_of("footprint", &format!("footprint-{filter}"), &scene, &["--mip", filter]), COLORS[2]);
    }
}

/// Two units wide in 8 pixels, straight down: the left half diffuse and mirroring by halves, the right half 0/0 and glowing.
const SPLIT: &str = r#"
    camera = { position = [0, 2, 0], look_at = [0, 0, 0], up = [0, 0, -1], type = "orthographic", width = 2 }
    film = { width = 8, height = 8, filter = "center" }
    integrator = { samples = 2 }
    environment = { type = "constant" }
    [materials.left]
    source = """
    shader left(out closure c)
    {
        c = make_closure<Lambert>(color(0.3), global_value<normal>)
            + make_closure<Mirror>(color(0.3), global_value<normal>);
    }
    """
    [materials.right]
    source = """
    shader right(out closure c)
    {
        const float x = global_value<position>.x;
        c = make_closure<Emission>(color(x > 0.5 ? 0.0 / (x - x) : 3.0));
    }
    """
    [[shapes]]
    type = "rectangle"
    material = "left"
    translate = [-0.5, 0, 0]
    [[shapes]]
    type = "rectangle"
    material = "right"
    translate = [0.5, 0, 0]
    variables = { heat = 7.5 }
"#;

fn load(name: &str, text: &str) -> Scene {
    let folder = Folder(std::env::temp_dir().join(format!("renderer-views-{}-{name}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be written");
    let path = folder.0.join("scene.toml");
    std::fs::write(&path, text).expect("as above");
    let loaded = scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.scene.unwrap_or_else(|| panic!("{said}"))
}

fn show(scene: &mut Scene, view: &str) -> (Picture, ToneCurve) {
    let view = View::named(view, &scene.values).unwrap_or_else(|e| panic!("{view}: {e}"));
    let options = RenderOptions { view: Some(view), ..RenderOptions::default() };
    let output = render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started");
    (output.picture, output.part.plan.tone)
}

#[test]
fn globals_and_their_partials_are_shown_as_they_are() {
    let mut scene = load("globals", SPLIT);
    // A pixel is a quarter of a unit; down the picture is towards +z.
    for (view, expected) in [
        ("position", [0.125, 0.0, 0.125]),
        ("normal", [0.0, 1.0, 0.0]),
        ("I", [0.0, -1.0, 0.0]),
        ("ddx:position", [0.25, 0.0, 0.0]),
        ("ddy:position", [0.0, 0.0, 0.25]),
        ("ddx:uvw", [0.25, 0.0, 0.0]),
        ("ddy:uvw", [0.0, -0.25, 0.0]),
        ("ddx:normal", [0.0; 3]),
        ("backfacing", [0.0; 3]),
        ("heat", [7.5; 3]),
    ] {
        let (picture, tone) = show(&mut scene, view);
        let found = picture.pixel(4, 4).to_array();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{view}: {found:?}");
        // Beside the squares there is nothing; negative values are told from none.
        assert_eq!(picture.pixel(4, 0).to_array(), [0.0; 3], "{view}");
        assert_eq!(tone, if view == "backfacing" { ToneCurve::Clamp } else { ToneCurve::Signed }, "{view}");
    }
    let (numbers, _) = show(&mut scene, "object_id");
    assert!(numbers.pixel(3, 4) != numbers.pixel(4, 4) && numbers.pixel(4, 4) == numbers.pixel(5, 3));
    // Every one that is named can be shown.
    let all = View::named("", &scene.values).expect_err("nothing has no name");
    let (plain, varying) = all.split_once("; and ddx: or ddy: before ").expect("it lists both");
    let plain = plain.strip_prefix("There are ").expect("it lists them");
    for name in plain.split(", ").map(str::to_owned).chain(varying.split(", ").map(|n| format!("ddy:{n}"))) {
        show(&mut scene, &name);
    }
    assert!(varying.split(", ").any(|n| n == "heat") && !varying.contains("backfacing") && !plain.contains("to_world"));
}

#[test]
fn lobes_and_what_is_no_number_have_their_colors() {
    let mut scene = load("lobes", SPLIT);
    let srgb = |picture: &Picture, x: u32| {
        picture.pixel(x, 4).to_array().map(|c| (renderer::math::linear_to_srgb(c) * 255.0).round() as u8)
    };
    let linear = |c: u8| renderer::math::srgb_to_linear(f32::from(c) / 255.0);
    let (lobes, _) = show(&mut scene, "lobe");
    let half =
        [0x34, 0x65, 0xd8].map(|c| (renderer::math::linear_to_srgb(0.5 + 0.5 * linear(c)) * 255.0).round() as u8);
    assert_near(srgb(&lobes, 2), half);
    assert_near(srgb(&lobes, 4), [0xd6, 0x4f, 0xc8]);
    let (nan, _) = show(&mut scene, "nan");
    assert_near(srgb(&nan, 4), [0x30; 3]);
    assert_near(srgb(&nan, 7), [0xd7, 0x19, 0x1c]);
}

#[test]
fn the_time_of_shaders_is_where_they_ran() {
    let mut scene = load("time", SPLIT);
    let (time, tone) = show(&mut scene, "shader-time");
    assert_eq!(tone, ToneCurve::Scaled);
    assert!(time.pixel(4, 4).x > 0.0 && time.pixel(2, 3).x > 0.0);
    assert_eq!(time.pixel(4, 0).x, 0.0);
}

#[test]
fn unknown_views_are_told_what_there_is() {
    let scene = load("unknown", SPLIT);
    let told = |name: &str| View::named(name, &scene.values).expect_err(name);
    assert!(told("posision").starts_with("did you mean `position`? There are mip-level, footprint, lobe,"));
    for name in ["ddx:backfacing", "ddz:position", "object_to_world", "ddx:lobe", ""] {
        assert!(told(name).contains("nan, uvw, position"), "{name}");
    }
}
