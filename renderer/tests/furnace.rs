//! White surfaces in light from everywhere, with normals that are not those of the surface: all of the light comes back, so
//! that neither facets nor bumps can be seen.

use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The mean of a picture of 8×8 pixels, all of one surface, and its darkest pixel.
fn seen(name: &str, closure: &str, shape: &str, bent_normals: &str) -> (f32, f32) {
    let folder = Folder(std::env::temp_dir().join(format!("renderer-furnace-{}-{name}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be written");
    let write = |name: &str, text: &str| std::fs::write(folder.0.join(name), text).expect("as above");
    write("ball.obj", &icosahedron());
    write(
        "scene.toml",
        &format!(
            "[camera]\ntype = \"orthographic\"\nposition = [1, 2, 5]\nlook_at = [0, 0, 0]\nwidth = 0.9\n\
             [film]\nwidth = 8\nheight = 8\n[integrator]\nsamples = 256\nmax_depth = 3\nroulette = false\n\
             bent_normals = \"{bent_normals}\"\n[environment]\ntype = \"constant\"\n[materials.white]\nsource = '''\n\
             shader white(out closure c)\n{{\n    const float3 p = global_value<uvw>;\n    const normal n = global_value<normal>;\n\
             const normal bent = bump(0.02 * sin(40.0 * p.x) * sin(30.0 * p.y));\n    c = {closure};\n}}\n'''\n\
             [[shapes]]\nmaterial = \"white\"\n{shape}\n"
        ),
    );
    let path = folder.0.join("scene.toml");
    let loaded = scene::load(&path, LoadOptions::from(BackendKind::default()), &SearchPath::on_disk(Vec::new()));
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    let mut scene = loaded.scene.unwrap_or_else(|| panic!("{said}"));
    let cancel = AtomicBool::new(false);
    let output = render(&mut scene, &RenderOptions::default(), &cancel, &|_| ()).expect("it can be rendered");
    assert!(!cancel.load(Ordering::Relaxed));
    let values: Vec<f32> = output.picture.pixels.iter().map(|p| p.x).collect();
    (values.iter().sum::<f32>() / values.len() as f32, values.iter().copied().fold(f32::INFINITY, f32::min))
}

/// Of radius 1: twenty faces, whose interpolated normals are up to 37° from their own.
fn icosahedron() -> String {
    let golden = (1.0 + 5.0_f32.sqrt()) / 2.0;
    let length = (1.0 + golden * golden).sqrt();
    let (a, b) = (1.0 / length, golden / length);
    let vertices = [
        [-a, b, 0.0],
        [a, b, 0.0],
        [-a, -b, 0.0],
        [a, -b, 0.0],
        [0.0, -a, b],
        [0.0, a, b],
        [0.0, -a, -b],
        [0.0, a, -b],
        [b, 0.0, -a],
        [b, 0.0, a],
        [-b, 0.0, -a],
        [-b, 0.0, a],
    ];
    const FACES: &str = "1 12 6 1 6 2 1 2 8 1 8 11 1 11 12 2 6 10 6 12 5 12 11 3 11 8 7 8 2 9 \
                         4 10 5 4 5 3 4 3 7 4 7 9 4 9 10 5 10 6 3 5 12 7 3 11 9 7 8 10 9 2";
    let mut text = String::new();
    for [x, y, z] in vertices {
        text += &format!("v {x} {y} {z}\nvn {x} {y} {z}\n");
    }
    let corners: Vec<&str> = FACES.split_whitespace().collect();
    for face in corners.chunks(3) {
        let corner = |i: usize| format!("{0}//{0}", face[i]);
        text += &format!("f {} {} {}\n", corner(0), corner(1), corner(2));
    }
    text
}

const BALL: &str = "type = \"obj\"\nfile = \"ball.obj\"";
const PLATE: &str = "type = \"rectangle\"\nscale = [3, 1, 3]\nrotate = [60, 0, 0]";

/// 16,384 samples, of each of which the weight is 0 with a chance of at most a tenth: five standard errors are 0.015. A
/// pixel's are 0.1. A rough surface about a bent normal loses not quite what a Lambertian one loses.
#[test]
fn diffuse_surfaces_return_all_light_whatever_their_normals() {
    for (i, (normal, shape)) in [("n", BALL), ("bent", BALL), ("bent", PLATE)].into_iter().enumerate() {
        let lambert = format!("make_closure<Lambert>(color(1.0), {normal})");
        let (mean, darkest) = seen(&format!("d{i}"), &lambert, shape, "conserve");
        assert!((mean - 1.0).abs() < 0.015 && darkest > 0.88, "{normal} {shape}: {mean} {darkest}");
        let rough = format!("make_closure<OrenNayar>(color(1.0), {normal}, 0.5)");
        let (mean, darkest) = seen(&format!("o{i}"), &rough, shape, "conserve");
        assert!((mean - 1.0).abs() < 0.025 && darkest > 0.85, "rough {normal} {shape}: {mean} {darkest}");
    }
}

/// The glossy one makes up for light that meets several facets to within two hundredths.
#[test]
fn reflecting_surfaces_return_all_light_whatever_their_normals() {
    for (i, (normal, shape)) in [("n", BALL), ("bent", BALL), ("bent", PLATE)].into_iter().enumerate() {
        let glossy = format!("make_closure<Glossy>(color(1.0), {normal}, 0.6)");
        let (mean, darkest) = seen(&format!("g{i}"), &glossy, shape, "conserve");
        assert!((mean - 1.0).abs() < 0.04 && darkest > 0.8, "{normal} {shape}: {mean} {darkest}");
        let mirror = format!("make_closure<Mirror>(color(1.0), {normal})");
        let (mean, darkest) = seen(&format!("m{i}"), &mirror, shape, "conserve");
        assert!((mean - 1.0).abs() < 1e-3 && darkest > 0.999, "mirror {normal} {shape}: {mean} {darkest}");
    }
}

/// A corner's normal is 37.4° from the face's, so up to (1 − cos 37.4°)/2 = 10.3 % is lost where a scene asks for that, and
/// nothing in the middle of a face: the mean lies between.
#[test]
fn a_scene_may_lose_what_other_renderers_lose() {
    let (mean, _) = seen("drop", "make_closure<Lambert>(color(1.0), n)", BALL, "drop");
    assert!((0.9..0.985).contains(&mean), "{mean}");
}
