//! Whole renders of scenes whose pictures are known from mathematics, and of the same scene in different
//! ways.

use glam::Vec3;
use renderer::render::{Ending, RenderOptions, RenderOutput, render};
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("renderer-pictures-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn load(&self, name: &str, text: &str) -> Loaded {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the temporary folder can be written");
        scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn report(loaded: &Loaded) -> String {
    ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false)
}

fn run(mut loaded: Loaded, options: &RenderOptions) -> RenderOutput {
    let text = report(&loaded);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{text}"));
    render(scene, options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

fn picture(text: &str) -> RenderOutput {
    run(Folder::new().load("scene.toml", text), &RenderOptions::default())
}

const MATTE: &str = r#"
[materials.matte]
source = '''
shader matte(color albedo = color(0.5, 0.5, 0.5), out closure result)
{
    result = make_closure<Lambert>(albedo, global_value<normal>);
}
'''
"#;

fn camera(position: &str, target: &str, up: &str, fov: f32, samples: u32, depth: u32) -> String {
    format!(
        "[camera]\nposition = {position}\nlook_at = {target}\nup = {up}\nfov = {fov}\n[film]\nwidth = 24\nheight = 24\n\
         filter = \"box\"\n[integrator]\nsamples = {samples}\nmax_depth = {depth}\n{MATTE}"
    )
}

/// A plane hides nothing of the light above it, itself included: after one bounce all is seen.
#[test]
fn a_white_plane_in_uniform_light_is_white_at_once() {
    let folder = Folder::new();
    let mesh = "v -9 0 -7\nv -8 0 9\nv 9 0 8\nv 7 0 -9\nf 1 2 3\nf 1 3 4\n";
    std::fs::write(folder.0.join("floor.obj"), mesh).expect("the temporary folder can be written");
    for shape in [
        "type = \"rectangle\"\nscale = [14, 1, 14]",
        "type = \"obj\"\nfile = \"floor.obj\"",
        "type = \"disk\"\nradius = 8",
        "type = \"quad\"\ncorners = [[-7, -0.5, -7], [-7, 0.5, 7], [7, -0.5, -7]]",
    ] {
        let text = camera("[1, 5, 1]", "[0, 0, 0]", "[0, 1, 0]", 40.0, 16, 1)
            .replace("max_depth", "sampling = \"lobes\"\nmax_depth")
            + "parameters = { albedo = 1.0 }\n[environment]\ntype = \"constant\"\nradiance = [1, 1, 1]\n"
            + &format!("[[shapes]]\nmaterial = \"matte\"\n{shape}\n");
        let rendered = run(folder.load("scene.toml", &text), &RenderOptions::default());
        for (i, p) in rendered.picture.pixels.iter().enumerate() {
            assert!((*p - Vec3::ONE).abs().max_element() < 1e-4, "{shape}: pixel {i} is {p}");
        }
    }
}

/// All that a white body reflects in a furnace of radiance 1 is 1: a ball on a floor cannot be seen.
#[test]
fn white_things_vanish_in_a_white_furnace() {
    let text = camera("[0, 1, 4]", "[0, 0.5, 0]", "[0, 1, 0]", 60.0, 64, 300)
        + r#"
        parameters = { albedo = 1.0 }
        [environment]
        type = "constant"
        radiance = [1, 1, 1]
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [20, 1, 20]
        [[shapes]]
        type = "sphere"
        material = "matte"
        translate = [0, 0.8, 0]
        radius = 0.7
        "#;
    let out = picture(&text);
    let n = out.picture.pixels.len() as f32;
    let mean = out.picture.pixels.iter().map(|p| p.x).sum::<f32>() / n;
    assert!((mean - 1.0).abs() < 5e-3, "mean {mean}");
    // 64 samples of a variance below 1 each; the largest of 576 pixels lies within five deviations.
    let worst = out.picture.pixels.iter().map(|p| (p.x - 1.0).abs()).fold(0.0, f32::max);
    assert!(worst < 5.0 / 8.0, "worst {worst}");
}

/// The irradiance at a corner below a parallel rectangle of `a` × `b` heights.
fn corner(a: f32, b: f32) -> f32 {
    let (p, q) = ((1.0 + a * a).sqrt(), (1.0 + b * b).sqrt());
    0.5 * (a / p * (b / p).atan() + b / q * (a / q).atan())
}

/// Light sampling, lobe sampling and their weights together give the form factor: radiance ρ/π · E.
#[test]
fn a_rectangle_above_a_floor_gives_its_form_factor() {
    let text = camera("[0.3, 1.0, 0.2]", "[0.3, 0, 0.2]", "[0, 0, -1]", 1.0, 64, 1)
        + r#"
        parameters = { albedo = 0.6 }
        [[shapes]]
        type = "rectangle"
        material = "matte"
        scale = [50, 1, 50]
        [[shapes]]
        type = "rectangle"
        material = "matte"
        translate = [0, 2, 0]
        rotate = [180, 0, 0]
        scale = [2, 1, 1]
        emission = [5, 5, 5]
        "#;
    let out = picture(&text);
    // Seen from the point, the light reaches from −1.3 to 0.7 along x and from −0.7 to 0.3 along z, at
    // height 2. The camera stands between but is nothing.
    let (x0, x1, z0, z1) = (1.3 / 2.0, 0.7 / 2.0, 0.7 / 2.0, 0.3 / 2.0);
    let irradiance = 5.0 * (corner(x0, z0) + corner(x0, z1) + corner(x1, z0) + corner(x1, z1));
    let expected = 0.6 / std::f32::consts::PI * irradiance;
    let mean = out.picture.pixels.iter().map(|p| p.x).sum::<f32>() / out.picture.pixels.len() as f32;
    assert!((mean / expected - 1.0).abs() < 5e-3, "{mean} against {expected}");
}

/// Radiance ρ/π · E cos θ under a distant light, ρ/π · I cos θ / d² under a point, at every sample: no noise. A plate in
/// the way takes all of it.
#[test]
fn lights_without_extent_follow_their_closed_forms() {
    let seen = |lights: &str| {
        let text = camera("[0, 1, 0]", "[0, 0, 0]", "[0, 0, -1]", 0.01, 1, 2)
            + "parameters = { albedo = 0.6 }\n"
            + lights
            + "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nscale = [50, 1, 50]\n";
        let out = picture(&text);
        let first = out.picture.pixels[0].x;
        assert!(out.picture.pixels.iter().all(|p| (p.x - first).abs() <= 1e-3 * first));
        first
    };
    let albedo = 0.6 / std::f32::consts::PI;
    let distant = "[[lights]]\ntype = \"distant\"\ndirection = [3, -4, 0]\nirradiance = [5, 5, 5]\n";
    let point = "[[lights]]\ntype = \"point\"\nposition = [3, 4, 0]\nintensity = [50, 50, 50]\n";
    let plate = "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\ntranslate = [1.5, 2, 0]\n";
    assert!((seen(distant) / (albedo * 5.0 * 0.8) - 1.0).abs() < 1e-4);
    assert!((seen(point) / (albedo * 50.0 * 0.8 / 25.0) - 1.0).abs() < 1e-4);
    assert!((seen(&format!("{distant}{point}")) / (albedo * (4.0 + 1.6)) - 1.0).abs() < 1e-4);
    assert_eq!(seen(&format!("{point}{plate}")), 0.0);
}

/// Two white walls that face each other: with direct light alone the floor is lit as if they were black, in a mirror too.
#[test]
fn direct_light_is_that_of_the_lights_alone() {
    let scene = |kind: &str, mirror: bool| {
        let (position, target) = if mirror { ("[0, 1, 0]", "[0.0, 1, -4]") } else { ("[0, 1, 0]", "[0, 0, -2]") };
        camera(position, target, "[0, 1, 0.01]", 0.01, 4, 4)
            .replace("[integrator]\n", &format!("[integrator]\ntype = \"{kind}\"\n"))
            + r#"
            parameters = { albedo = 0.9 }
            [materials.mirror]
            source = 'shader m(out closure c) { c = make_closure<Mirror>(color(1.0), global_value<normal>); }'
            [[lights]]
            type = "distant"
            direction = [0, -1, 0]
            irradiance = [2, 2, 2]
            [[shapes]]
            type = "rectangle"
            material = "matte"
            scale = [50, 1, 50]
            [[shapes]]
            type = "rectangle"
            material = "matte"
            translate = [-1, 0, 0]
            rotate = [0, 0, -80]
            scale = [9, 1, 50]
            "#
            + if mirror {
                "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"mirror\"\ntranslate = [0, 1, -4]\nrotate = [120, 0, 0]\nscale = [2, 1, 2]\n"
            } else {
                ""
            }
    };
    let expected = 0.9 / std::f32::consts::PI * 2.0;
    for mirror in [false, true] {
        let direct = picture(&scene("direct", mirror)).picture;
        assert!(direct.pixels.iter().all(|p| (p.x / expected - 1.0).abs() < 1e-4), "{}", direct.pixels[0]);
    }
    let all = picture(&scene("path", false)).picture;
    assert!(all.pixels.iter().map(|p| p.x).sum::<f32>() / all.pixels.len() as f32 > 1.1 * expected);
}

/// A sphere seen as a disk of emission: nothing but its own radiance, whatever the sampling.
#[test]
fn emission_is_seen_as_it_is() {
    let text = camera("[0, 0, 3]", "[0, 0, 0]", "[0, 1, 0]", 10.0, 4, 0)
        + "[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\nradius = 1\nemission = [2, 3, 4]\n";
    let out = picture(&text);
    assert!(out.picture.pixels.iter().all(|p| *p == glam::Vec3::new(2.0, 3.0, 4.0)));
}

fn tiny() -> Loaded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/render_scenes/tiny.toml");
    scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()))
}

#[test]
fn pictures_do_not_depend_on_the_number_of_threads() {
    let with = |threads| run(tiny(), &RenderOptions { threads: Some(threads), ..RenderOptions::default() });
    let (one, two, five) = (with(1), with(2), with(5));
    assert_eq!(one.ending, Ending::Complete);
    assert!(one.picture == two.picture && one.picture == five.picture);
    let other = run(tiny(), &RenderOptions { seed: Some(99), ..RenderOptions::default() });
    assert!(one.picture != other.picture, "another seed is another picture");
}

#[test]
fn a_cancelled_render_keeps_what_it_has() {
    let mut loaded = tiny();
    let scene = loaded.scene.as_mut().expect("a good scene");
    let cancel = AtomicBool::new(false);
    let options = RenderOptions { samples: Some(64), threads: Some(1), ..RenderOptions::default() };
    let stop_half_way = |done: f32| {
        if done > 0.5 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let out = render(scene, &options, &cancel, &stop_half_way).expect("threads can be started");
    assert_eq!(out.ending, Ending::Cancelled);
    assert!(out.statistics.samples >= 64 * 36 * 32 && out.statistics.samples < 64 * 36 * 64);
    assert!(out.picture.pixels.iter().any(|p| p.x > 0.0));
}

#[test]
fn json_and_toml_say_the_same() {
    let folder = Folder::new();
    let toml = camera("[0, 0, 3]", "[0, 0, 0]", "[0, 1, 0]", 40.0, 4, 2)
        + "[environment]\ntype = \"sky\"\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\nradius = 1\n";
    let value: toml::Value = toml::from_str(&toml).expect("well-formed");
    let json = serde_json::to_string_pretty(&value).expect("a scene has no values that JSON lacks");
    let of = |name: &str, text: &str| run(folder.load(name, text), &RenderOptions::default()).picture;
    assert!(of("a.toml", &toml) == of("a.json", &json));
}

#[test]
fn messages_are_told_once_with_their_first_pixel_whatever_the_threads() {
    // Inside a sphere, every camera ray hits it.
    let scene = r#"
        camera = { position = [0, 0, 0], look_at = [0, 0, -1], fov = 60 }
        film = { width = 40, height = 24 }
        integrator = { samples = 3, max_depth = 0 }
        shapes = [{ type = "sphere", material = "loud", radius = 5 }]
        [materials.loud]
        source = """
            shader main(out closure c) {
                printf("hit");
                printf("%s\\n", global_value<I>.x < 0.0 ? "left" : "right");
                c = make_closure<Lambert>(color(0.5), global_value<normal>);
            }"""
    "#;
    let folder = Folder::new();
    let said = |threads| {
        let options = RenderOptions { threads: Some(threads), ..RenderOptions::default() };
        let output = run(folder.load("loud.toml", scene), &options);
        assert_eq!(output.said, (2 * 40 * 24 * 3, false));
        output.messages
    };
    let messages = said(1);
    assert_eq!(messages, said(3));
    let list: Vec<(&str, (u32, u32), u64)> =
        messages.iter().map(|m| (m.text.as_str(), (m.place.x, m.place.y), m.count)).collect();
    assert_eq!(list.len(), 3);
    assert_eq!(list[0], ("hit", (0, 0), 40 * 24 * 3));
    assert_eq!((list[1].0, list[1].1, list[2].0, list[2].1.1), ("left\n", (0, 0), "right\n", 0));
    // The filter reaches a little over the middle.
    assert!((19..=21).contains(&list[2].1.0) && list[1].2 + list[2].2 == 40 * 24 * 3);
}

/// A ramp of height over a floor, from near and far, straight down and at a slant: the bumped normal, shown as
/// light, is the same wherever the camera stands.
#[test]
fn bumps_do_not_change_with_the_distance() {
    let folder = Folder::new();
    let ramp = image::ImageBuffer::from_fn(256, 256, |x, _| image::Luma([(x * 257) as u16]));
    ramp.save(folder.0.join("ramp.png")).expect("the temporary folder can be written");
    let scene = |distance: f32, slant: f32| {
        let (up, back) = (distance * slant.cos(), distance * slant.sin());
        camera(&format!("[0, {up}, {back}]"), "[0, 0, 0]", "[0, 0, -1]", 12.0, 1, 1)
            + r#"
            [textures.ramp]
            file = "ramp.png"
            raw = true
            wrap = "clamp"
            [materials.bumped]
            textures = { ramp = "ramp" }
            source = """
            texture2d ramp;
            shader bumped(out closure result)
            {
                const float3 p = global_value<uvw>;
                const normal n = bump(texture2d_sample<ramp>(p.x, p.y).r, 2.0);
                result = make_closure<Emission>(color(0.5 + 0.5 * n));
            }
            """
            [[shapes]]
            type = "rectangle"
            material = "bumped"
            scale = [4, 1, 4]
            "#
    };
    // Two units up over four along x, seen through texels of 1/256 whose centres span 255/256 of the height.
    let slope = 2.0 * (256.0 / 255.0) / 4.0;
    let expected = glam::Vec3::new(-slope, 1.0, 0.0).normalize() * 0.5 + 0.5;
    for (distance, slant) in [(0.05, 0.0), (0.6, 0.0), (6.0, 0.0), (0.6, 1.2), (4.0, 1.2)] {
        let out = run(folder.load("scene.toml", &scene(distance, slant)), &RenderOptions::default());
        let pixels = out.picture.pixels.iter();
        let worst = pixels.map(|p| (*p - expected).abs().max_element()).fold(0.0, f32::max);
        assert!(worst < 2e-3, "{worst} from {distance} at {slant}");
    }
}

/// A floor seen straight from above by parallel rays: the bright square of side 1 in it covers as many pixels as the width
/// says. And through a lens that is focused far off, its edge becomes a disk's shadow: in the middle of a straight edge
/// half of the light is left, however wide the lens.
#[test]
fn cameras_show_what_their_geometry_says() {
    let scene = |camera: &str| {
        format!(
            "{MATTE}
[camera]
position = [0, 5, 0]
look_at = [0, 0, 0]
up = [0, 0, -1]
{camera}
[film]
width = 64
height = 64
filter = \"box\"
[integrator]
samples = 256
max_depth = 0
[[shapes]]
type = \"rectangle\"
material = \"matte\"
emission = [1, 1, 1]

"
        )
    };
    let total = |camera: &str| {
        let p = picture(&scene(camera)).picture;
        let sum: f32 = p.pixels.iter().map(|c| c.x).sum();
        (sum / p.pixels.len() as f32, p)
    };
    let (share, p) = total("type = \"orthographic\"\nwidth = 4");
    assert!((share - 1.0 / 16.0).abs() < 2e-3, "{share}");
    // From column 24 to 40: exact to the pixel.
    assert!(p.pixels[32 * 64 + 23].x == 0.0 && p.pixels[32 * 64 + 24].x == 1.0);
    let fov = 2.0 * 0.4_f32.atan().to_degrees();
    // The same plane at distance 5 is 4 wide for this angle.
    let (sharp, _) = total(&format!("fov = {fov}"));
    assert!((sharp - 1.0 / 16.0).abs() < 2e-3, "{sharp}");
    let (in_focus, p) = total(&format!("fov = {fov}\naperture = 0.5\nfocus_distance = 5"));
    assert!((in_focus - 1.0 / 16.0).abs() < 2e-3, "{in_focus}");
    assert!(p.pixels[32 * 64 + 22].x == 0.0 && p.pixels[32 * 64 + 25].x == 1.0);
    // Rays through one pixel meet at infinity, nearly: at the floor they are spread over the lens's disk, of radius 0.1.
    let (blurred, p) = total(&format!("fov = {fov}\naperture = 0.1\nfocus_distance = 1e6"));
    assert!((blurred - 1.0 / 16.0).abs() < 3e-3, "{blurred}");
    let edge = 0.5 * (p.pixels[32 * 64 + 23].x + p.pixels[32 * 64 + 24].x);
    assert!((edge - 0.5).abs() < 0.05 && p.pixels[32 * 64 + 23].x > 0.2 && p.pixels[32 * 64 + 24].x < 0.8, "{edge}");
}

/// Glass that swallows nothing cannot be seen in light that is the same from everywhere: what is reflected and what is
/// refracted, into the ball and out of it, add up, and the scale of radiance inside is undone outside.
#[test]
fn clear_glass_vanishes_in_uniform_light() {
    let text = r#"
camera = { position = [0, 0, 4], look_at = [0, 0, 0], fov = 30 }
film = { width = 24, height = 24, filter = "box" }
integrator = { samples = 400, max_depth = 60 }
environment = { type = "constant", radiance = [1, 1, 1] }
shapes = [{ type = "sphere", material = "glass", radius = 1 }]
[materials.glass]
source = "shader glass(out closure c) { c = make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5); }"
"#;
    let p = picture(text).picture;
    let mean = p.pixels.iter().map(|c| f64::from(c.x)).sum::<f64>() / p.pixels.len() as f64;
    assert!((mean - 1.0).abs() < 2e-3, "{mean}");
    // Also where the ball is seen through its middle and at its rim.
    assert!(p.pixels.iter().all(|c| (c.x - 1.0).abs() < 0.25), "{:?}", p.pixels);
}

/// Two glass surfaces of a slab, seen from the front: Σ R^(2k) T² passes, which is (1 − R)/(1 + R) with R of 4 %.
#[test]
fn a_slab_of_glass_passes_its_share() {
    let wall = |z: f32, turn: f32| {
        format!(
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"glass\"\ntranslate = [0, 0, {z}]\nrotate = [{turn}, 0, 0]\nscale = [50, 1, 50]\n"
        )
    };
    let text = format!(
        r#"
[camera]
position = [0, 0, 30]
look_at = [0, 0, 0]
type = "orthographic"
width = 1
[film]
width = 16
height = 16
filter = "box"
[integrator]
samples = 1024
max_depth = 40
[materials.glass]
source = "shader glass(out closure c) {{ c = make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5); }}"
[materials.lamp]
source = "shader lamp(out closure c) {{ c = make_closure<Emission>(color(1.0)); }}"
{}{}
[[shapes]]
type = "rectangle"
material = "lamp"
translate = [0, 0, -5]
rotate = [90, 0, 0]
scale = [50, 1, 50]
"#,
        wall(1.0, 90.0),
        wall(0.0, -90.0)
    );
    let p = picture(&text).picture;
    let mean = p.pixels.iter().map(|c| f64::from(c.x)).sum::<f64>() / p.pixels.len() as f64;
    let passed = (1.0 - 0.04) / (1.0 + 0.04);
    // Five deviations of so many samples that count 0 or 1.
    let deviation = (passed * (1.0 - passed) / (256.0 * 1024.0_f64)).sqrt();
    assert!((mean - passed).abs() < 5.0 * deviation + 1e-4, "{mean} for {passed}");
}

/// Of one sample a pixel, outlines are where the pixels' middles say, whatever the seed and the filter; of more, they are
/// where chance says. A bright disk seen straight on: a pixel is white where its middle lies within.
#[test]
fn the_only_sample_of_a_pixel_goes_through_its_middle() {
    let text = r#"
[camera]
type = "orthographic"
position = [0, 0, 5]
look_at = [0, 0, 0]
width = 2
[film]
width = 32
height = 32
filter = "gaussian"
[materials.lamp]
source = "shader lamp(out closure c) { c = make_closure<Emission>(color(1.0)); }"
[[shapes]]
type = "disk"
material = "lamp"
radius = 0.83
rotate = [90, 0, 0]
"#;
    let folder = Folder::new();
    let made = |seed: u32, samples: u32| {
        let options = RenderOptions { seed: Some(seed), samples: Some(samples), ..RenderOptions::default() };
        run(folder.load("scene.toml", text), &options).picture.pixels
    };
    let one = made(1, 1);
    for (i, c) in one.iter().enumerate() {
        let (x, y) = ((i % 32) as f32, (i / 32) as f32);
        let from_middle = ((x + 0.5) / 16.0 - 1.0).hypot((y + 0.5) / 16.0 - 1.0);
        assert_eq!(c.x, if from_middle < 0.83 { 1.0 } else { 0.0 }, "pixel {x}, {y}");
    }
    assert_eq!(one, made(2, 1));
    assert_ne!(made(1, 4), made(2, 4));
}
