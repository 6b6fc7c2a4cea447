//! Gradients of pictures: path replay against finite differences.
//!
//! Where no density and no choice depends on a parameter, the paths of a seed stay where they are while it changes. Then the
//! gradient must be the slope of the very same samples, up to rounding.

use crate::ran;
use formats::npy::{self, Words};
use glam::Vec3;
use ran::shade;
use renderer::inverse::{Differentiated, choose, list};
use renderer::material::Making;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use ssl_tests::rooms::{DUST, GLASS, LAMP, MATTE, MIRROR, PICTURED, materials, pictured, room};
use ssl_tests::temporary::{File, Folder};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A lamp that shines unevenly.
const STRIPES: &str = "shader lamp(color radiance = color(6.0, 5.0, 4.0), float power = 1.5, out closure c)\n{\n    \
    c = (power + 0.5 * sin(9.0 * global_value<uvw>.x)) * make_closure<Emission>(radiance);\n}\n";

/// A lamp whose light comes through a layer that is written in the language.
const VARNISHED: &str = "shader lamp(color radiance = color(6.0, 5.0, 4.0), color varnish = color(0.9, 0.7, 0.6), out closure c)\n{\n    \
    c = make_closure<Coat>(1.5, 0.5, varnish, 0.8, global_value<normal>, make_closure<Emission>(radiance));\n}\n";

fn differentiated(scene: &str, patterns: &[&str]) -> Differentiated {
    let file = File::new("scene.toml", scene);
    let making = Making { differentiable: true, ..Making::from(BackendKind::default()) };
    let path = file.path();
    let loaded = scene::load(Path::new(&path), LoadOptions::from(making), &SearchPath::on_disk(Vec::new()));
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.unwrap_or_else(|| panic!("{said}"));
    let all = list(&scene);
    let chosen = patterns.iter().flat_map(|p| choose(&all, p).unwrap_or_else(|e| panic!("{p}: {e}"))).collect();
    Differentiated::new(scene, chosen).unwrap_or_else(|e| panic!("{e}"))
}

/// By how much the loss changes with each pixel: any numbers do.
fn cotangent(pixels: usize) -> Vec<Vec3> {
    let one = |i: usize| Vec3::new((i as f32 * 0.7).sin(), (i as f32 * 0.3).cos(), 0.5 + (i as f32 * 1.1).sin());
    (0..pixels).map(one).collect()
}

fn loss(scene: &mut Differentiated, options: &RenderOptions) -> f64 {
    let output = render(&mut scene.scene, options, &AtomicBool::new(false), &|_| ()).expect("it can be rendered");
    let pixels = &output.picture.pixels;
    let products = pixels.iter().zip(cotangent(pixels.len())).map(|(p, c)| (p.as_dvec3() * c.as_dvec3()).element_sum());
    products.sum::<f64>() * f64::from(scene.scene.film.exposure).exp2()
}

fn gradient(scene: &mut Differentiated, options: &RenderOptions) -> Vec<f32> {
    let size = options.size.unwrap_or((scene.scene.film.width, scene.scene.film.height));
    let gain = scene.scene.film.exposure.exp2();
    let cotangent: Vec<Vec3> = cotangent((size.0 * size.1) as usize).into_iter().map(|c| gain * c).collect();
    let gradient = scene.gradient(options, &cotangent, &AtomicBool::new(false)).expect("there is one");
    assert_eq!(gradient.left_out, 0);
    gradient.values
}

/// Compares the gradient by every float with the slope of the same samples.
fn assert_slopes(what: &str, scene: &str, patterns: &[&str]) {
    assert_slopes_by(1.0 / 32.0, what, scene, patterns);
}

/// The same with slopes over `step` to both sides, and half of it.
fn assert_slopes_by(step: f32, what: &str, scene: &str, patterns: &[&str]) {
    let mut scene = differentiated(scene, patterns);
    let options = RenderOptions { threads: Some(2), ..RenderOptions::default() };
    let (found, values) = (gradient(&mut scene, &options), scene.values());
    let largest = found.iter().fold(0.0, |m: f64, g| m.max(f64::from(g.abs())));
    assert!(largest > 0.0, "{what}: nothing depends on anything");
    for i in 0..values.len() {
        let mut slope = |h: f32| {
            let at = |h: f32, scene: &mut Differentiated| {
                let mut moved = values.clone();
                moved[i] += h;
                scene.set(&moved).expect("the structure stays");
                loss(scene, &options)
            };
            (at(h, &mut scene) - at(-h, &mut scene)) / f64::from(2.0 * h)
        };
        let (coarse, fine) = (slope(step), slope(0.5 * step));
        let expected = (4.0 * fine - coarse) / 3.0;
        let error = (f64::from(found[i]) - expected).abs();
        let tolerance = 1e-3 * expected.abs() + 3e-4 * largest;
        assert!(error <= tolerance, "{what}, float {i}: {} instead of {expected}", found[i]);
    }
}

#[test]
fn weights_emission_and_members_have_the_slopes_of_the_same_paths() {
    for depth in [1, 6] {
        let scene = room(&materials(MATTE, DUST, LAMP), depth, "");
        assert_slopes(&format!("even lamp, {depth} bounces"), &scene, &["materials.*.*"]);
    }
    let scene = room(&materials(DUST, MATTE, STRIPES), 3, "");
    assert_slopes("striped lamp", &scene, &["materials.*.*"]);
    let scene = room(&materials(DUST, MATTE, STRIPES), 3, "sampling = \"lobes\"\n");
    assert_slopes("without light samples", &scene, &["materials.*.*"]);
    let scene = room(&materials(MATTE, MATTE, VARNISHED), 2, "sampling = \"lights\"\n");
    assert_slopes("light under varnish", &scene, &["materials.floor.*", "materials.lamp.*"]);
    // Behind the first bounce it is the darker.
    let widening = "[mutating] void regularize(float least) { albedo *= 1.0 - least; }\n    color rho(";
    let widened = DUST.replacen("color rho(", widening, 1);
    assert_ne!(widened, DUST);
    let scene = room(&materials(&widened, MATTE, LAMP), 4, "regularize = 0.5\n");
    assert_slopes("regularised lobes", &scene, &["materials.*.*"]);
}

const LIGHTS: &str = "[[lights]]\ntype = \"point\"\nname = \"key\"\nposition = [2, 3, 2]\nintensity = [9, 8, 7]\ntemperature = 3000\n\
    [[lights]]\ntype = \"spot\"\nposition = [-2, 3, 2]\nlook_at = [0, 0, 0]\nintensity = [20, 25, 30]\n\
    [[lights]]\ntype = \"distant\"\ndirection = [1, -2, -1]\nirradiance = [0.5, 0.6, 0.7]\n\
    [[lights]]\ntype = \"distant\"\ndirection = [-1, -1, -1]\nirradiance = [0.7, 0.6, 0.5]\nangle = 20\n\
    [[shapes]]\ntype = \"rectangle\"\nname = \"panel\"\nmaterial = \"floor\"\ntranslate = [-1, 3, 1]\nrotate = [180, 0, 0]\n\
    emission = [3, 4, 5]\n";

#[test]
fn lights_of_all_kinds_have_the_slopes_of_the_same_paths() {
    for (ball, depth) in [(MATTE, 1), (GLASS, 4)] {
        let scene =
            room(&materials(MATTE, ball, MATTE), depth, "").replace("height = 5\n", "height = 5\nexposure = 0.5\n");
        let scene = scene + LIGHTS;
        let patterns = ["lights.*.*", "shapes.panel.emission", "environment.radiance", "film.exposure"];
        assert_slopes(&format!("lights, {depth} bounces"), &scene, &patterns);
    }
}

const PAINTED: &str = "shader painted(out closure c)\n{\n    \
    c = global_value<paint> * make_closure<Lambert>(color(0.5 + global_value<wear>), global_value<normal>);\n}\n";

const GLOWING: &str = "globals { color shine; }\nshader glowing(out closure c)\n{\n    \
    c = global_value<shine> * make_closure<Emission>(color(1.0));\n}\n";

/// A shape's own value, that of the instance within, that of the instance around, and that of the scene; one number for all
/// components; and what light samples find.
/// A room whose floor, ball and lamp read variables, which the scene, shapes, instances and shapes of groups give.
fn painted(depth: u32) -> String {
    let declared = format!("globals {{ color paint; float wear; }}\n{PAINTED}");
    let shape = |kind: &str, place: &str, variables: &str| {
        format!("type = \"{kind}\"\n{place}\nvariables = {{ {variables} }}\n")
    };
    let room = room(&materials(&declared, &declared, GLOWING), depth, "");
    format!(
        "variables = {{ wear = 0.2, paint = 0.4 }}\n{room}variables = {{ shine = [4.0, 5.0, 6.0] }}\n\
         [[shapes]]\n{}[[shapes]]\n{}[[shapes]]\nname = \"other\"\n{}\
         [[groups.pair.shapes]]\n{}[[groups.one.shapes]]\nname = \"own\"\n{}\
         [[groups.one.shapes]]\ntype = \"sphere\"\nmaterial = \"ball\"\nradius = 0.3\n",
        shape("instance", "group = \"pair\"\ntranslate = [-1, 0.5, 1]", "paint = [0.3, 0.5, 0.7], wear = 0.1"),
        shape("instance", "group = \"pair\"\ntranslate = [1, 0.5, 1]", "paint = 0.6"),
        shape("sphere", "material = \"ball\"\ntranslate = [-1, 2, 0]\nradius = 0.2", "wear = 0.0"),
        shape("instance", "group = \"one\"", "wear = 0.4"),
        shape("disk", "material = \"floor\"\ntranslate = [0.4, 0.2, 0.2]\nradius = 0.4", "paint = [0.2, 0.4, 0.6]"),
    )
}

const VARIABLES: [&str; 3] = ["variables.*", "shapes.*.variables.*", "groups.*.shapes.*.variables.*"];

#[test]
fn variables_have_the_slopes_of_the_same_paths() {
    for depth in [1, 4] {
        assert_slopes(&format!("variables, {depth} bounces"), &painted(depth), &VARIABLES);
    }
}

/// What it shows and how much of it depend on values of vertices, and on how these change from pixel to pixel.
const TENT: &str = "globals { color paint; float wear; }\nshader tent(out closure c)\n{\n    \
    const float w = sin(3.0 * global_value<wear>);\n    \
    c = (global_value<paint> + color(0.3 * w + 0.5 * ddx(w) - 0.4 * ddy(w))) *\n        \
    make_closure<Lambert>(color(0.9), global_value<normal>);\n}\n";

/// A tent of two materials, whose corners are split by texture coordinates, and a panel that shines unevenly.
fn tent(folder: &Folder, depth: u32, more: &str) -> String {
    let corners = "v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\nv 0 1.4 0\nv 9 9 9\nvt 0 0\nvt 1 0\nvt 0.5 1\n";
    let faces = "f 1/1 2/2 5/3\nf 2/1 3/2 5/3\nusemtl dark\nf 3/1 4/2 5/3\nf 4/1 1/2 5/3\n";
    let tent = folder.write("tent.obj", &format!("{corners}{faces}"));
    let panel = folder.write("panel.obj", "v -1 2.6 1\nv 0.4 2.6 1\nv 0.4 2.4 2\nv -1 2.6 2\nf 4 3 2\n");
    let write = |name: &str, rows: usize, components: usize, low: f32| {
        let values = (0..rows * components).map(|i| low + 0.4 * (1.7 * i as f32).sin().abs());
        let bytes = npy::write(&[rows, components], Words::Floats, values.map(f32::to_bits));
        std::fs::write(folder.file(name), bytes).expect("the folder can be written");
        folder.file(name)
    };
    let (paint, wear, shine) =
        (write("paint.npy", 6, 3, 1.5), write("wear.npy", 6, 1, 0.1), write("shine.npy", 4, 3, 5.0));
    format!(
        "{}[materials.tent]\nsource = '''\n{TENT}'''\n[materials.glow]\nsource = '''\n{GLOWING}'''\n\
         [[shapes]]\ntype = \"obj\"\nname = \"tent\"\nfile = '{tent}'\nmaterial = \"tent\"\n\
         materials = {{ dark = \"floor\" }}\ntranslate = [-0.3, 0, 1.2]\nsmooth = false\n\
         variables = {{ paint = '{paint}', wear = '{wear}' }}\n\
         [[shapes]]\ntype = \"obj\"\nname = \"panel\"\nfile = '{panel}'\nmaterial = \"glow\"\n\
         variables = {{ shine = '{shine}' }}\n",
        room(&materials(MATTE, MATTE, LAMP), depth, more)
    )
}

#[test]
fn values_of_vertices_have_the_slopes_of_the_same_paths() {
    let folder = Folder::new("vertices");
    for (depth, more) in [(1, ""), (4, "sampling = \"lobes\"\n")] {
        let scene = tent(&folder, depth, more);
        assert_slopes_by(1.0 / 128.0, &format!("vertices, {depth} bounces"), &scene, &["shapes.tent.variables.*"]);
        // Light samples choose among lights by how much these shine, so there is one triangle only that does.
        let alone = scene
            .replace("radiance = [0.3, 0.4, 0.5]", "radiance = 0")
            .replace("material = \"lamp\"", "material = \"floor\"");
        let what = format!("shining vertices, {depth} bounces");
        assert_slopes_by(0.5, &what, &alone, &["shapes.panel.variables.*"]);
    }
}

const VEIL: &str = "texture2d picture;\nshader veil(color tint = color(0.7, 0.8, 0.9), float cover = 0.3, out closure c)\n{\n    \
    const float3 at = global_value<uvw>;\n    \
    const color holes = texture2d_sample<picture>(2.0 * at.x, at.y).rgb;\n    \
    c = cover * make_closure<Lambert>(tint, global_value<normal>) +\n        \
    (1.0 - cover) * holes * make_closure<Transparent>(tint * tint);\n}\n";

const FILTER: &str = "shader filter(color tint = color(0.6, 0.8, 0.7), float ior = 1.4, out closure c)\n{\n    \
    c = make_closure<Coat>(ior, 0.5, tint, 0.9, global_value<normal>, make_closure<Transparent>(color(0.8)));\n}\n";

/// Two sheets between the lamp and what it lights, one of them under a layer; none is met by paths.
fn veiled(folder: &Folder) -> String {
    let sheet = |material: &str, y: f32| {
        format!(
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"{material}\"\ntranslate = [0.5, {y}, 1]\nscale = [1.6, 1, 1.6]\n"
        )
    };
    let sheets = format!(
        "[materials.veil]\ntextures = {{ picture = \"seen\" }}\nsource = '''\n{VEIL}'''\n[materials.filter]\nsource = '''\n{FILTER}'''\n\
         {}{}",
        sheet("veil", 2.8),
        sheet("filter", 2.6)
    );
    pictured(folder, MATTE, LAMP, 1, "sampling = \"lights\"\n")
        .replace("[textures.seen]", &format!("{sheets}[textures.seen]"))
}

#[test]
fn what_shadow_rays_pass_has_the_slopes_of_the_same_paths() {
    let folder = Folder::new("veils");
    let scene = veiled(&folder);
    for pattern in ["materials.veil.*", "materials.filter.*", "materials.floor.*", "textures.seen"] {
        assert_slopes_by(1.0 / 128.0, &format!("two sheets, {pattern}"), &scene, &[pattern]);
    }
}

/// Lobes alone look for the light: light sampling would draw from tables that follow it.
#[test]
fn skies_have_the_slopes_of_the_same_paths() {
    let constant = "type = \"constant\"\nradiance = [0.3, 0.4, 0.5]\n";
    for sky in ["type = \"sky\"\nzenith = [0.2, 0.4, 0.9]\n", "type = \"daylight\"\nscale = 0.1\nsun_angle = 30\n"] {
        let scene = room(&materials(MATTE, GLASS, MATTE), 4, "sampling = \"lobes\"\n").replace(constant, sky);
        assert_slopes(sky, &scene, &["environment.*", "materials.floor.*"]);
    }
}

const SCREEN: &str = "texture2d picture;\nshader lamp(out closure c)\n{\n    const float3 at = global_value<uvw>;\n    \
    c = 6.0 * texture2d_sample<picture>(at.x, at.y).rgb * make_closure<Emission>(color(1.0));\n}\n";

/// Look-ups that magnify and that shrink, of all levels, under anisotropic footprints, through glass as well; and of what
/// shines.
#[test]
fn texels_have_the_slopes_of_the_same_paths() {
    let folder = Folder::new("texels");
    for (what, floor, lamp, depth) in
        [("a floor", PICTURED, LAMP, 1), ("a floor, four bounces", PICTURED, LAMP, 4), ("a lamp", MATTE, SCREEN, 2)]
    {
        assert_slopes(what, &pictured(&folder, floor, lamp, depth, ""), &["textures.seen"]);
    }
    let constant = "type = \"constant\"\nradiance = [0.3, 0.4, 0.5]\n";
    let image = format!("type = \"image\"\nfile = '{}'\nscale = [1.0, 0.8, 1.2]\n", folder.file("picture.exr"));
    let around = room(&materials(MATTE, GLASS, MATTE), 3, "sampling = \"lobes\"\n").replace(constant, &image);
    assert_slopes("all around", &around, &["environment.*"]);
}

/// The derivative of each pixel is the slope of its samples.
#[test]
fn pixels_have_derivatives() {
    let scene = room(&materials(MATTE, DUST, LAMP), 3, "");
    let mut scene = differentiated(&scene, &["materials.ball.k", "environment.radiance"]);
    let options = RenderOptions { threads: Some(2), ..RenderOptions::default() };
    let never = AtomicBool::new(false);
    let (found, values) = (scene.derivative(&options, &never).expect("there is one").pixels, scene.values());
    let mut slope = |h: f32| {
        let mut at = |h: f32| {
            let moved: Vec<f32> = values.iter().map(|x| x + h).collect();
            scene.set(&moved).expect("the structure stays");
            render(&mut scene.scene, &options, &never, &|_| ()).expect("it can be rendered").picture.pixels
        };
        let (up, down) = (at(h), at(-h));
        up.iter().zip(down).map(|(up, down)| (*up - down) / (2.0 * h)).collect::<Vec<Vec3>>()
    };
    let (coarse, fine) = (slope(1.0 / 32.0), slope(1.0 / 64.0));
    for (i, found) in found.iter().enumerate() {
        let expected = (4.0 * fine[i] - coarse[i]) / 3.0;
        assert!((*found - expected).abs().max_element() < 2e-3, "pixel {i}: {found} instead of {expected}");
    }
    assert!(found.iter().any(|d| d.x > 0.1));
}

#[test]
fn gradients_of_pixels_are_written_and_mistakes_are_told() {
    let folder = Folder::new("gradient");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 2, ""));
    let run = |parameter: &str, output: &str| {
        shade(&["render", &scene, "--spp", "2", "--gradient", parameter, "-o", &folder.file(output)])
    };
    for output in ["a.exr", "a.png"] {
        let (code, _, said) = run("materials.floor.tint", output);
        assert_eq!(code, 0, "{said}");
        assert!(Path::new(&folder.file(output)).exists());
    }
    // A floor that gets brighter is above the gray of no change, and nothing is below.
    let shown = image::open(folder.file("a.png")).expect("it is a picture").to_rgb8();
    assert!(shown.pixels().all(|p| p.0[0] >= 127) && shown.pixels().any(|p| p.0[0] > 150));
    let layers = exr::prelude::read_all_flat_layers_from_file(folder.file("a.exr")).expect("it is an .exr").layer_data;
    let mut channels = layers.iter().flat_map(|layer| &layer.channel_data.list);
    let red = channels.find(|channel| channel.name.to_string() == "gradient.R").expect("there is the layer");
    assert!(red.sample_data.values_as_f32().any(|x| x > 0.01));
    for (parameter, output, message) in [
        ("film.exposure", "b.exr", "does not depend on the exposure"),
        ("materials.flor.tint", "b.exr", "did you mean `materials.floor.tint`?"),
        ("materials.floor.tint", "b.part", "no gradient"),
    ] {
        let (code, _, said) = run(parameter, output);
        assert!(code == 1 && said.contains(message), "{code} {said}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::new("threads");
    let striped = room(&materials(MATTE, DUST, STRIPES), 4, "") + LIGHTS;
    for (scene, patterns) in [
        (striped, &["materials.*.*", "lights.*.*", "environment.*", "film.exposure"][..]),
        (painted(4), &VARIABLES),
        (tent(&folder, 4, ""), &["shapes.*.variables.*"]),
        (veiled(&folder), &["materials.veil.*", "materials.filter.*", "textures.seen"]),
        (pictured(&folder, PICTURED, SCREEN, 3, ""), &["textures.seen"]),
    ] {
        let mut scene = differentiated(&scene, patterns);
        let mut of = |threads| {
            let options =
                RenderOptions { threads: Some(threads), size: Some((40, 30)), samples: Some(4), ..Default::default() };
            gradient(&mut scene, &options).into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let one = of(1);
        assert!(one == of(2) && one == of(5), "{patterns:?}");
    }
}

/// The same colors as members of the lobes, which have one direction only.
const TINTED_MIRROR: &str = "shader mirror(color tint = color(0.9, 0.8, 0.7), out closure c)\n{\n    \
    c = make_closure<Mirror>(tint, global_value<normal>);\n}\n";

const TINTED_GLASS: &str = "shader glass(color tint = color(0.9, 0.8, 0.7), out closure c)\n{\n    \
    c = make_closure<Dielectric>(tint, global_value<normal>, 1.5);\n}\n";

/// Light passes straight through the ball, and is not reflected.
const FOG: &str = "shader fog(color tint = color(0.9, 0.8, 0.7), out closure c)\n{\n    \
    c = 0.9 * make_closure<Transparent>(tint);\n}\n";

#[test]
fn what_is_seen_in_mirrors_and_through_glass_has_the_slopes_of_the_same_paths() {
    for (what, ball) in [
        ("in a mirror", MIRROR),
        ("through glass", GLASS),
        ("in a mirror that has the color itself", TINTED_MIRROR),
        ("through glass that has the color itself", TINTED_GLASS),
        ("through a filter", FOG),
    ] {
        let scene = room(&materials(DUST, ball, LAMP), 5, "");
        assert_slopes(what, &scene, &["materials.floor.*", "materials.ball.tint"]);
    }
}

/// Matte under a layer, beside a gloss: which lobe a path takes depends on the parameters.
const LAYERED: &str = "import \"bsdf.ssl\";\nstruct Veil : IBsdf\n{\n    float cover;\n    closure base;\n    \
    color eval(vector _wo, vector wi) { return color(cover * wi.z * M_1_PI); }\n    \
    float pdf(vector _wo, vector wi) { return wi.z * M_1_PI; }\n    \
    BsdfSample sample(vector wo, float2 u)\n    {\n        const vector wi = bsdf_cosine_hemisphere(u);\n        \
    return bsdf_sample(wi, eval(wo, wi), pdf(wo, wi));\n    }\n    \
    color rho(vector _wo) { return color(cover); }\n    \
    color beneath(vector _wo, int _base) { return color(1.0 - cover); }\n}\n\
    shader veiled(color tint = color(0.7, 0.5, 0.3), float cover = 0.3, float gloss = 0.4, out closure c)\n{\n    \
    const normal n = global_value<normal>;\n    \
    c = make_closure<Veil>(cover, tint * make_closure<Lambert>(color(1.0), n)) +\n        \
    gloss * make_closure<Glossy>(color(1.0), n, 0.5);\n}\n";

/// Layers of the renderer on each other: what the upper one lets through is the lower one's weight.
const COATED: &str = "shader coated(color tint = color(0.7, 0.5, 0.3), float ior = 1.6, float rough = 0.5, \
    color varnish = color(0.9, 0.7, 0.6), float cover = 0.8, float felt = 0.4, out closure c)\n{\n    \
    const normal n = global_value<normal>;\n    \
    const closure paint = tint * make_closure<OrenNayar>(color(0.9), n, rough) + 0.3 * make_closure<Glossy>(tint, n, rough);\n    \
    c = make_closure<Sheen>(felt * varnish, rough, n, make_closure<Coat>(ior, rough, varnish, cover, n, paint));\n}\n";

/// Light samples alone look for the light, and no path goes on, so no chance depends on the parameters. Tables of albedos
/// are linear between their entries, so slopes are taken over less than the distance of two.
#[test]
fn layers_have_the_slopes_of_the_same_paths() {
    for (what, floor) in [("layers of the renderer", COATED), ("a layer of the file", LAYERED)] {
        let scene = room(&materials(floor, floor, LAMP), 1, "sampling = \"lights\"\n");
        assert_slopes_by(1.0 / 128.0, what, &scene, &["materials.floor.*", "materials.ball.*"]);
    }
}

/// Sampling is detached: where chances follow the parameters, the gradient is right in the mean. The mean over many seeds is
/// compared with the slope of a picture of many samples, within what the noise of both allows. A lobe's directions move with its
/// share, so that slope takes more samples than the mean does.
#[test]
fn the_mean_over_seeds_is_the_slope_of_converged_pictures() {
    let scene = room(&materials(LAYERED, MATTE, LAMP), 4, "");
    let mut scene = differentiated(&scene, &["materials.floor.*"]);
    let size = Some((3, 2));
    let values = scene.values();
    const SEEDS: u32 = 1000;
    let (mut sums, mut squares) = (vec![0.0_f64; values.len()], vec![0.0_f64; values.len()]);
    for seed in 0..SEEDS {
        let options =
            RenderOptions { threads: Some(1), seed: Some(seed), samples: Some(4), size, ..Default::default() };
        for (i, g) in gradient(&mut scene, &options).into_iter().enumerate() {
            sums[i] += f64::from(g);
            squares[i] += f64::from(g) * f64::from(g);
        }
    }
    let n = f64::from(SEEDS);
    for i in 0..values.len() {
        let mut at = |h: f32| {
            let mut moved = values.clone();
            moved[i] += h;
            scene.set(&moved).expect("the structure stays");
            let options = RenderOptions { seed: Some(77), samples: Some(1 << 16), size, ..Default::default() };
            loss(&mut scene, &options)
        };
        let expected = (at(0.05) - at(-0.05)) / 0.1;
        let mean = sums[i] / n;
        let error = ((squares[i] / n - mean * mean) / n).sqrt();
        // The slope has noise of its own.
        let allowed = 5.0 * error + 0.01 * expected.abs();
        assert!((mean - expected).abs() < allowed, "float {i}: {mean} ± {error} instead of {expected}");
    }
}

/// Of a smooth pane under a bright sky and above dark ground, the picture is the share that it reflects. That share decides how
/// often a path is reflected, and nothing else depends on it: no weight does.
#[test]
fn shares_of_directions_have_slopes_where_no_weight_depends_on_them() {
    const PANE: &str = "shader pane(float ior = 1.5, out closure c)\n{\n    \
        c = make_closure<Dielectric>(color(1.0), global_value<normal>, ior);\n}\n";
    const SHEET: &str = "import \"bsdf.ssl\";\nstruct Sheet : IBsdf\n{\n    float share;\n    \
        color eval(vector _wo, vector _wi) { return color(0.0); }\n    \
        float pdf(vector _wo, vector _wi) { return 0.0; }\n    \
        BsdfSample sample(vector wo, float2 u)\n    {\n        const bool mirrors = u.x < share;\n        \
        return bsdf_weighted_sample(mirrors ? vector(-wo.x, -wo.y, wo.z) : -wo, color(1.0), mirrors ? share : 1.0 - share);\n    }\n    \
        color rho(vector _wo) { return color(1.0); }\n    int reach() { return BSDF_BOTH; }\n    \
        bool is_specular() { return true; }\n}\n\
        shader pane(float ior = 0.3, out closure c) { c = make_closure<Sheet>(ior); }\n";
    // Unpolarised reflectance of a plane boundary (Born and Wolf, "Principles of Optics", 1.5), and its slope by the index.
    let fresnel = |cosine: f64, ior: f64| {
        let inside = (1.0 - (1.0 - cosine * cosine) / (ior * ior)).sqrt();
        let parallel = (ior * cosine - inside) / (ior * cosine + inside);
        let across = (cosine - ior * inside) / (cosine + ior * inside);
        0.5 * (parallel * parallel + across * across)
    };
    let cosine = 3.0 / 45.0_f64.sqrt();
    let of_fresnel = (fresnel(cosine, 1.501) - fresnel(cosine, 1.499)) / 0.002;
    for (what, shader, share, slope) in
        [("glass", PANE, fresnel(cosine, 1.5), of_fresnel), ("a sheet of the file", SHEET, 0.3, 1.0)]
    {
        let scene = format!(
            "[camera]\nposition = [0.0, 3.0, 6.0]\nlook_at = [0.0, 0.0, 0.0]\nfov = 0.5\n\
             [film]\nwidth = 4\nheight = 4\nfilter = \"box\"\n[integrator]\nmax_depth = 2\n\
             [environment]\ntype = \"sky\"\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\nground = [0, 0, 0]\n\
             [materials.pane]\nsource = '''\n{shader}'''\n\
             [[shapes]]\ntype = \"quad\"\nmaterial = \"pane\"\ncorners = [[-5, 0, 5], [5, 0, 5], [-5, 0, -5]]\n"
        );
        let mut scene = differentiated(&scene, &["materials.pane.ior"]);
        let options = RenderOptions { samples: Some(1 << 14), ..Default::default() };
        let pixels = 16;
        let ones = vec![Vec3::X / pixels as f32; pixels];
        let gradient = scene.gradient(&options, &ones, &AtomicBool::new(false)).expect("there is one").values[0];
        // Each path is reflected or not: the mean of slope/share over those that are has this deviation.
        let deviation = slope / share * (share * (1.0 - share) / f64::from((1 << 14) * pixels as u32)).sqrt();
        let off = f64::from(gradient) - slope;
        assert!(off.abs() < 4.0 * deviation + 0.002 * slope, "{what}: {gradient} instead of {slope}");
    }
}
