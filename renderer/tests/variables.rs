//! Vertex colors and variables of shapes, from files and scenes to what shaders see of them.

use renderer::render::{RenderOptions, render};
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Loads a scene that looks straight down on the square from −1 to 1, 8 × 8 pixels, x to the right and −z up.
fn load(scene: &str, files: &[(&str, &str)]) -> Loaded {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("renderer-variables-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("as above");
    }
    // Keys of no table come first.
    let (first, rest) = scene.split_once("---").unwrap_or(("", scene));
    let scene = format!(
        "{first}\n[camera]\ntype = \"orthographic\"\nposition = [0, 2, 0]\nlook_at = [0, 0, 0]\nup = [0, 0, -1]\n\
         width = 2\n[film]\nwidth = 8\nheight = 8\nfilter = \"center\"\n[integrator]\nsamples = 1\nmax_depth = 0\n{rest}"
    );
    std::fs::write(folder.join("scene.toml"), scene).expect("as above");
    let loaded = scene::load(&folder.join("scene.toml"), BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    std::fs::remove_dir_all(&folder).expect("as above");
    loaded
}

fn picture(scene: &str, files: &[(&str, &str)]) -> Vec<[f32; 3]> {
    let mut loaded = load(scene, files);
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{said}"));
    assert!(loaded.diagnostics.is_empty(), "{said}");
    let output =
        render(scene, &RenderOptions::default(), &AtomicBool::new(false), &|_| ()).expect("it can be rendered");
    output.picture.pixels.iter().map(|p| [p[0], p[1], p[2]]).collect()
}

/// What the middle of a pixel shows should be this function of x and z.
fn shows(pixels: &[[f32; 3]], expected: impl Fn(f32, f32) -> [f32; 3]) {
    for (i, found) in pixels.iter().enumerate() {
        let middle = |i: usize| (i as f32 + 0.5) / 4.0 - 1.0;
        let wanted = expected(middle(i % 8), middle(i / 8));
        let error = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(error < 1e-4, "pixel {i}: {found:?} for {wanted:?}");
    }
}

/// Red grows with x from 0 to 1, green with −z, and blue is a half.
const COLORED: &str = "v -1 0 1 0 0 0.5\nv 1 0 1 1 0 0.5\nv 1 0 -1 1 1 0.5\nv -1 0 -1 0 1 0.5\nf 1 2 3 4\n";

fn mesh_with(source: &str) -> String {
    format!(
        "[materials.m]\nsource = '''\n{source}\n'''\n[[shapes]]\ntype = \"obj\"\nfile = \"c.obj\"\nmaterial = \"m\"\n"
    )
}

#[test]
fn vertex_colors_are_interpolated_and_derived() {
    let files = [("c.obj", COLORED)];
    let plain = mesh_with("shader m(out closure c) { c = make_closure<Emission>(global_value<color>); }");
    shows(&picture(&plain, &files), |x, z| [0.5 + 0.5 * x, 0.5 - 0.5 * z, 0.5]);
    // A pixel is a quarter wide; y of the image runs along z.
    let derived = mesh_with(
        "shader m(out closure c) { color k = global_value<color>; \
         c = make_closure<Emission>(color(ddx(k).x, -ddy(k).y, ddx(k).y)); }",
    );
    shows(&picture(&derived, &files), |_, _| [0.125, 0.125, 0.0]);
}

/// A name that only the scene knows, one that the shader declares, and one that an instance gives.
#[test]
fn constants_come_from_shapes_instances_and_the_scene() {
    let scene = r#"
        variables = { wear = 0.25, tint = [0.1, 0.2, 0.3] }
        ---
        [materials.m]
        source = '''
        globals { color tint; }
        shader m(out closure c)
        {
            color k = global_value<tint> + color(global_value<wear>) + color(ddx(global_value<wear>));
            c = make_closure<Emission>(k);
        }
        '''
        [[groups.half.shapes]]
        type = "rectangle"
        material = "m"
        scale = [1, 1, 2]
        [[shapes]]
        type = "instance"
        group = "half"
        translate = [-0.5, 0, 0]
        [[shapes]]
        type = "instance"
        group = "half"
        translate = [0.5, 0, 0]
        variables = { tint = 0.5, wear = 0.0 }
    "#;
    shows(&picture(scene, &[]), |x, _| if x < 0.0 { [0.35, 0.45, 0.55] } else { [0.5; 3] });
}

#[test]
fn what_a_shape_lacks_is_said_by_name() {
    let source = "globals { float2 wear; float tin; } \
                  shader worn(out closure c) { c = make_closure<Emission>(color(global_value<wear>, global_value<tin>)); }";
    let scene = format!("variables = {{ tint = 1.0 }}\n---\n{}variables = {{ wear = 1.0 }}\n", mesh_with(source));
    let loaded = load(&scene, &[("c.obj", COLORED)]);
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    assert!(loaded.scene.is_none() && loaded.diagnostics.list.len() == 1, "{said}");
    assert!(["S0024", "`tin`", "`m`", "did you mean `tint`?"].iter().all(|w| said.contains(w)), "{said}");
}

#[test]
fn variables_that_cannot_be_read_are_refused() {
    let shader = "shader m(out closure c) { c = make_closure<Emission>(color(1)); }";
    let matrix = "globals { matrix frame; } shader m(out closure c) { c = make_closure<Emission>(color(determinant(global_value<frame>))); }";
    let three = "globals { float3 way; } shader m(out closure c) { c = make_closure<Emission>(global_value<way>); }";
    for (source, variables, code, word) in [
        (shader, "variables = { uvw = 1 }", "S0006", "uvw"),
        (shader, "variables = { way = [1, 2, 3, 4, 5] }", "S0004", "up to four"),
        (shader, "variables = { way = nan }", "S0004", "way"),
        (shader, "variables = { way = \"far\" }", "S0002", ""),
        (three, "variables = { way = [1, 2] }", "S0024", "2 numbers"),
        (matrix, "", "S0024", "frame"),
    ] {
        let loaded = load(&format!("{}{variables}\n", mesh_with(source)), &[("c.obj", COLORED)]);
        let said = text(&loaded.diagnostics, &loaded.sources, false);
        assert!(loaded.scene.is_none() && said.contains(code) && said.contains(word), "{variables}: {said}");
    }
}

#[test]
fn colors_of_some_vertices_alone_are_refused() {
    let shader = "shader m(out closure c) { c = make_closure<Emission>(global_value<color>); }";
    let some = COLORED.replace("v 1 0 1 1 0 0.5", "v 1 0 1");
    let loaded = load(&mesh_with(shader), &[("c.obj", &some)]);
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    assert!(loaded.scene.is_none() && said.contains("S0007") && said.contains("color"), "{said}");
}
