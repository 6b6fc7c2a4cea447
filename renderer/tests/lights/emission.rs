//! Light that shaders send out: sampled like that of shapes, textures included.

use super::{Folder, agree, floor, mean, picture};
use std::f32::consts::PI;

/// A lamp of side 1 two units above the floor's corner, facing down.
const LAMP: &str = r#"
    [[shapes]]
    type = "rectangle"
    material = "lamp"
    rotate = [180, 0, 0]
    translate = [0.8, 2, 0]
"#;

fn lamp(shader: &str) -> String {
    format!("[materials.lamp]\nsource = '''{shader}'''\n{LAMP}")
}

/// With light sampling alone, so that nothing of it is found by chance.
const LIGHTS: &str = "samples = 64, max_depth = 1, sampling = \"lights\"";

/// A lampshade of which half the light comes through from its inside, which shines evenly: 0.5 + 0.5 · 0.5 = 0.75, as it is seen from
/// outside, wherever it stands. Points of a sphere are outside of it and inside in turns, as rounding has it.
#[test]
fn a_sphere_is_lit_by_its_own_inside() {
    let shade = "shader s(out closure c) { \
        c = make_closure<Translucent>(color(0.5), global_value<normal>) + make_closure<Emission>(color(0.5)); }";
    for (sampling, aside, radius) in
        [("both", 0.0, 1.0), ("lights", 0.0, 1.0), ("lights", 300.0, 2.0), ("lobes", 7.0, 1.0)]
    {
        let scene = format!(
            "[camera]\ntype = \"orthographic\"\nwidth = 1.2\nposition = [{aside}, 0, 9]\nlook_at = [{aside}, 0, 0]\n\
             [film]\nwidth = 16\nheight = 16\n[integrator]\nsamples = 64\nmax_depth = 1\nsampling = \"{sampling}\"\n\
             [materials.shade]\nsource = \"{shade}\"\n\
             [[shapes]]\ntype = \"sphere\"\nmaterial = \"shade\"\nradius = {radius}\ntranslate = [{aside}, 0, 0]\n"
        );
        let ([red, ..], [deviation, ..]) = mean(&picture(&scene));
        assert!((red - 0.75).abs() < 4.5 * deviation + 1e-4, "{sampling}, {aside}: {red} ± {deviation}");
        assert!(deviation < 2e-3, "{sampling}: {deviation}");
    }
}

/// The same radiance from a shape, from a shader that says it, from one that reckons it, and half from each.
#[test]
fn light_of_shaders_is_that_of_shapes() {
    let below = |rest: &str| floor(LIGHTS, rest).replace("position = [0.8, 50, 0]", "position = [0.8, 1.9, 0]");
    let lambert = "shader l(out closure c) { c = make_closure<Lambert>(color(0.0), global_value<normal>); }";
    let expected = picture(&below(&format!("{}emission = [3, 2, 1]\n", lamp(lambert))));
    let said = "shader l(out closure c) { c = make_closure<Emission>(color(3.0, 2.0, 1.0)); }";
    let reckoned = "shader l(out closure c) { const float u = global_value<uvw>.x; \
        c = make_closure<Emission>(color(3.0, 2.0, 1.0) + color(floor(0.5 * u))); }";
    let front = "shader l(out closure c) { const color e = global_value<backfacing> ? color(0.0) : color(3.0, 2.0, 1.0); \
        c = make_closure<Emission>(e); }";
    let half = "shader l(out closure c) { c = make_closure<Emission>(color(2.0, 1.0, 0.5)); }";
    for (shader, own) in [(said, ""), (reckoned, ""), (front, ""), (half, "emission = [1, 1, 0.5]\n")] {
        let found = picture(&below(&format!("{}{own}", lamp(shader))));
        for (a, b) in found.pixels.iter().zip(&expected.pixels) {
            assert!((*a - *b).abs().max_element() < 1e-4 * b.x, "{shader}: {a} {b}");
        }
    }
    // Form factor of four rectangles of half a unit at distance 2.
    let (p, a) = ((1.0_f32 + 0.0625).sqrt(), 0.25_f32);
    let corner = 0.5 * (a / p * (a / p).atan() * 2.0);
    let found = (expected.pixel(7, 0).x + expected.pixel(8, 0).x) / 2.0;
    assert!((found / (3.0 * 4.0 * corner / PI) - 1.0).abs() < 0.01, "{found} {}", 12.0 * corner / PI);
}

/// What it sends up counts as well, a sphere's from within too.
#[test]
fn shaders_shine_to_both_sides() {
    let up = floor(LIGHTS, &lamp("shader l(out closure c) { c = make_closure<Emission>(color(1.0)); }"))
        .replace("rotate = [180, 0, 0]\n", "")
        .replace("position = [0.8, 50, 0]", "position = [0.8, 1.9, 0]");
    assert!(picture(&up).pixel(8, 0).x > 0.05);
    // Within a sphere of radiance 1 a white floor shines as the sphere does.
    let dome = "[materials.dome]\nsource = 'shader l(out closure c) { c = make_closure<Emission>(color(1.0)); }'\n\
        [[shapes]]\ntype = \"sphere\"\nmaterial = \"dome\"\nradius = 60\n";
    let found = picture(&floor("samples = 1024, max_depth = 1, sampling = \"lights\"", dome));
    let (found, deviation) = mean(&found);
    assert!((found[0] - 1.0).abs() < 4.0 * deviation[0] && deviation[0] < 0.02, "{found:?} {deviation:?}");
}

/// A screen with a picture, a lamp of many triangles, and instances of one that varies, with a rough metal under them.
fn screens(folder: &Folder, integrator: &str, extra: &str) -> String {
    let texel =
        |x: u32, y: u32| image::Rgb(if (x / 8 + y / 8).is_multiple_of(5) { [8.0, 5.0, 1.0] } else { [0.0, 0.1, 0.3] });
    image::Rgb32FImage::from_fn(64, 64, texel).save(folder.0.join("screen.exr")).expect("the folder can be written");
    let vertices: String = (0..9)
        .map(|i| format!("v {} {} 0\nvt {} {}\n", i % 3, i / 3, (i % 3) as f32 * 0.5, (i / 3) as f32 * 0.5))
        .collect();
    let face = |a: u32| format!("f {0}/{0} {1}/{1} {2}/{2}\nf {0}/{0} {2}/{2} {3}/{3}\n", a, a + 1, a + 4, a + 3);
    folder.write("grid.obj", format!("{vertices}{}{}{}{}", face(1), face(2), face(4), face(5)));
    format!(
        r#"
        camera = {{ position = [0, 1.5, 5], look_at = [0, 0.4, 0], fov = 40 }}
        film = {{ width = 12, height = 8, filter = "box" }}
        integrator = {{ samples = 256, max_depth = 3, {integrator} }}
        {extra}
        [textures.screen]
        file = "screen.exr"
        [materials.screen]
        source = """
        texture2d picture;
        shader s(out closure c)
        {{
            const float3 at = global_value<uvw>;
            c = make_closure<Emission>(texture2d_sample<picture>(at.x, at.y).rgb);
        }}
        """
        textures = {{ picture = "screen" }}
        [materials.metal]
        source = "shader m(out closure c) {{ c = make_closure<Glossy>(color(0.9), global_value<normal>, 0.35); }}"
        [materials.matte]
        source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(0.7), global_value<normal>); }}"
        [[shapes]]
        type = "rectangle"
        material = "metal"
        scale = [8, 1, 8]
        [[shapes]]
        type = "sphere"
        material = "matte"
        radius = 0.5
        translate = [0.8, 0.5, 0]
        [[shapes]]
        type = "rectangle"
        material = "screen"
        rotate = [90, 0, 0]
        scale = [2, 1, 1.2]
        translate = [-0.9, 0.9, -1]
        [[shapes]]
        type = "obj"
        material = "screen"
        file = "grid.obj"
        scale = [0.5, 0.5, 1]
        translate = [0.6, 0.3, -1.2]
        [[groups.lamp.shapes]]
        type = "disk"
        material = "screen"
        radius = 0.3
        [[shapes]]
        type = "instance"
        group = "lamp"
        translate = [1.5, 1.5, 0.5]
        rotate = [160, 0, 30]
        scale = [1, 1, 2]
        [[shapes]]
        type = "instance"
        group = "lamp"
        translate = [-1.5, 1.5, 0.5]
        "#
    )
}

/// Who looks for light, and how.
const WAYS: [&str; 4] = [
    "sampling = \"both\"",
    "sampling = \"lights\"",
    "sampling = \"lobes\"",
    "sampling = \"lights\", light_choice = \"power\"",
];

#[test]
fn all_strategies_have_the_same_mean_under_textured_light() {
    let folder = Folder::temporary();
    let of = |way: &'static str| (way, folder.picture(&screens(&folder, way, "")));
    agree(&WAYS.map(of), 0.05);
}

/// Drawn light is far less noisy than light that paths find.
#[test]
fn drawing_light_of_shaders_pays() {
    let stripes = "shader l(out closure c) { c = make_closure<Emission>(color(4.0 * step(0.5, fract(3.0 * global_value<uvw>.x)))); }";
    let noise = |sampling: &str| {
        let integrator = format!("samples = 64, max_depth = 1, sampling = \"{sampling}\"");
        let below = floor(&integrator, &lamp(stripes)).replace("position = [0.8, 50, 0]", "position = [0.8, 1.9, 0]");
        mean(&picture(&below)).1[1]
    };
    let (lobes, both) = (noise("lobes"), noise("both"));
    assert!(3.0 * both < lobes, "{both} {lobes}");
}

/// All kinds of light at once, enough point lights that some are drawn.
#[test]
fn all_strategies_have_the_same_mean_under_all_lights() {
    let folder = Folder::temporary();
    let points: String = (0..12)
        .map(|i| format!("{{ type = \"point\", position = [{}, 2, {}], intensity = [0.1, 0.1, 0.1] }},", i - 6, i % 3))
        .collect();
    let spots = "{ type = \"spot\", position = [0, 3, 2], look_at = [0, 0, 0], intensity = [2, 1, 1] },";
    let sun = "{ type = \"distant\", direction = [-1, -1, -0.4], irradiance = [0.3, 0.2, 0.1], angle = 30 },";
    let parallel = "{ type = \"distant\", direction = [1, -1, -0.4], irradiance = [0.1, 0.2, 0.1] },";
    let extra = format!("lights = [{points}{spots}{sun}{parallel}]\nenvironment = {{ type = \"sky\" }}");
    let of = |way: &'static str| (way, folder.picture(&screens(&folder, way, &extra)));
    agree(&WAYS.map(of), 0.05);
}
