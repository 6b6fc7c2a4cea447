//! Materials through the real compiler: errors in shaders are told at their place in the scene, and what
//! goes wrong while shading ends in a diagnostic and not in the picture.

use renderer::render::{RenderOptions, render};
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A sphere before a white sky, shaded by `source`, with more keys for its material.
fn load(source: &str, more: &str, backend: BackendKind) -> Loaded {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("renderer-materials-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let path = folder.join("scene.toml");
    let scene = format!(
        "[camera]\nposition = [0, 0, 4]\nlook_at = [0, 0, 0]\nfov = 10\n\
         [film]\nwidth = 4\nheight = 4\n[integrator]\nsamples = 4\nmax_depth = 2\n\
         [environment]\ntype = \"constant\"\nradiance = [1, 1, 1]\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n\
         [materials.m]\n{more}\nsource = '''\n{source}\n'''\n"
    );
    std::fs::write(&path, scene).expect("as above");
    let loaded = scene::load(&path, backend, &SearchPath::on_disk(Vec::new()));
    std::fs::remove_dir_all(&folder).expect("as above");
    loaded
}

/// The codes of loading and rendering, and the mean of the picture where there is one.
fn outcome(source: &str, more: &str, backend: BackendKind) -> (Vec<&'static str>, Option<[f32; 3]>) {
    let mut loaded = load(source, more, backend);
    let mut codes: Vec<&'static str> = loaded.diagnostics.list.iter().map(|d| d.code.id).collect();
    let Some(scene) = loaded.scene.as_mut() else { return (codes, None) };
    let output =
        render(scene, &RenderOptions::default(), &AtomicBool::new(false), &|_| ()).expect("threads can be started");
    codes.extend(output.diagnostics.list.iter().map(|d| d.code.id));
    let pixels = &output.picture.pixels;
    let sum = pixels.iter().fold([0.0; 3], |s, p| [s[0] + p[0], s[1] + p[1], s[2] + p[2]]);
    (codes, Some(sum.map(|s| s / pixels.len() as f32)))
}

#[test]
fn an_error_in_a_shader_is_told_at_its_place() {
    let loaded = load(
        "shader m(out closure c)\n{\n    c = make_closure<Lambertian>(color(1), global_value<normal>);\n}",
        "",
        BackendKind::default(),
    );
    assert!(loaded.scene.is_none());
    let rendered = text(&loaded.diagnostics, &loaded.sources, false);
    assert!(
        rendered.contains("E0216") && rendered.contains("Lambertian") && rendered.contains("did you mean"),
        "{rendered}"
    );
    let spans = loaded.diagnostics.list.iter().filter_map(|d| d.span);
    let lines: Vec<&str> = spans
        .map(|s| {
            let f = loaded.sources.get(s.file);
            f.line(f.line_column(s.start).0)
        })
        .collect();
    assert!(lines.iter().any(|l| l.contains("Lambertian")), "{lines:?}");
}

#[test]
fn lobes_add_up() {
    let source = "shader m(float share = 0.25, out closure c)\n{\n    normal n = global_value<normal>;\n    c = share * make_closure<Lambert>(color(1, 0, 0), n) + make_closure<Lambert>(color(0, 0.5, 0), n);\n    if (global_value<ray_depth> == 0) c += make_closure<Emission>(color(0, 0, 2));\n}";
    for &backend in BackendKind::ALL {
        // A convex body under a uniform sky shows its albedo.
        let (codes, mean) = outcome(source, "", backend);
        assert_eq!(codes, [""; 0]);
        let mean = mean.expect("the scene loads");
        for (found, expected) in mean.iter().zip([0.25, 0.5, 2.0]) {
            assert!((found - expected).abs() < 0.02, "{mean:?}");
        }
        let (_, mean) = outcome(source, "parameters = { share = 1.0 }", backend);
        assert!((mean.expect("the scene loads")[0] - 1.0).abs() < 0.02);
    }
}

#[test]
fn a_shader_without_end_is_black_and_told_once() {
    let source = "shader m(out closure c)\n{\n    float x = 0;\n    while (x < 1) x = x * 0.5;\n    c = make_closure<Emission>(color(x + 1));\n}";
    let (codes, mean) = outcome(source, "", BackendKind::Cranelift);
    assert_eq!(codes, ["S0013"]);
    assert_eq!(mean, Some([0.0; 3]));
}

#[test]
fn what_does_not_fit_the_shader_is_refused() {
    let source = "texture2d map;\nshader m(float a = 1, out closure c)\n{\n    c = make_closure<Lambert>(a * texture2d_sample<map>(0, 0), global_value<normal>);\n}";
    let (codes, mean) = outcome(source, "", BackendKind::Cranelift);
    assert!(codes.contains(&"S0010") && mean.is_some(), "an unbound slot is a warning: {codes:?}");
    for more in [
        "parameters = { b = 1.0 }",
        "parameters = { a = [1, 2, 3] }",
        "parameters = { a = \"x\" }",
        "textures = { map = \"nothing\" }",
        "textures = { a = \"nothing\" }",
    ] {
        let (codes, mean) = outcome(source, more, BackendKind::Cranelift);
        assert!(mean.is_none() && !codes.is_empty(), "{more}: {codes:?}");
    }
}

#[test]
fn globals_that_the_file_declares_and_the_shape_has_not_are_refused() {
    let source = "globals { float mine; }\nshader m(out closure c)\n{\n    c = make_closure<Emission>(color(global_value<mine>));\n}";
    let (codes, mean) = outcome(source, "", BackendKind::Cranelift);
    assert_eq!((codes, mean), (vec!["S0024"], None));
}
