//! NaN and infinities out of shaders: counted, attributed, and kept where they are.

use renderer::integrator::faults::FaultPlace;
use renderer::render::{NonFinite, RenderOptions, RenderOutput, render};
use renderer::scene;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("renderer-faults-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Two squares side by side over the picture of 8 pixels by 4, and a floor that both light: `left` and `right` have these
/// bodies.
fn scene_text(left: &str, right: &str) -> String {
    format!(
        r#"
        camera = {{ position = [0, 0, 5], look_at = [0, 0, 0], type = "orthographic", width = 4 }}
        film = {{ width = 8, height = 4, filter = "center" }}
        integrator = {{ samples = 4, max_depth = 3 }}
        environment = {{ type = "constant" }}
        [materials.left]
        source = '''shader left(out closure c, out float mask) {{ const float x = global_value<position>.x; mask = 1.0; {left} }}'''
        [materials.right]
        source = '''shader right(out closure c) {{ const float y = global_value<position>.y; {right} }}'''
        [[shapes]]
        type = "rectangle"
        material = "left"
        scale = [2, 1, 2]
        rotate = [90, 0, 0]
        translate = [-1, 0, 0]
        [[shapes]]
        type = "rectangle"
        material = "right"
        scale = [2, 1, 2]
        rotate = [90, 0, 0]
        translate = [1, 0, 0]
        "#
    )
}

fn run(text: &str, aovs: &str, threads: usize) -> RenderOutput {
    let folder = Folder::new();
    let path = folder.0.join("scene.toml");
    let text = text.replace("filter = \"center\"", &format!("filter = \"center\", aovs = [{aovs}]"));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let mut loaded = scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{said}"));
    let options = RenderOptions { threads: Some(threads), ..RenderOptions::default() };
    render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

const MATTE: &str = "c = make_closure<Lambert>(color(0.5), global_value<normal>);";
/// Matte but for the columns of pixels at x = −0.75, where the albedo is 1/0.
const DIVIDES: &str =
    "c = make_closure<Lambert>(color(abs(x + 0.75) < 0.1 ? 1.0 / (x - x) : 0.5), global_value<normal>);";
const BLACK: &str = "c = make_closure<Lambert>(color(abs(x + 0.75) < 0.1 ? 0.0 : 0.5), global_value<normal>);";

#[test]
fn what_is_no_number_stays_in_its_pixel_and_is_attributed() {
    let expected = run(&scene_text(BLACK, MATTE), "", 1);
    assert!(expected.statistics.non_finite_materials.is_empty() && expected.diagnostics.list.is_empty());
    for threads in [1, 3] {
        let found = run(&scene_text(DIVIDES, MATTE), "", threads);
        assert_eq!(found.picture, expected.picture);
        // One column of four pixels, four samples each.
        let place = |y| FaultPlace { y, x: 2, sample: 0, bounce: 0 };
        let left =
            NonFinite { material: "left".to_owned(), hits: 16, first: vec![place(0), place(1), place(2), place(3)] };
        assert_eq!(found.statistics.non_finite_materials, [left]);
        assert_eq!(found.statistics.non_finite_samples, 16);
        let said: Vec<&str> = found.diagnostics.list.iter().map(|d| d.message.as_str()).collect();
        assert!(said.len() == 1 && said[0].contains("`left`") && said[0].contains("2,0 2,1 2,2 2,3"), "{said:?}");
        assert!(found.diagnostics.list[0].hint.contains("`--pixel 2,0 --sample 0`"));
    }
}

/// Weights, normals, emission and values for layers count, of each material by itself.
#[test]
fn every_way_out_of_a_shader_is_watched() {
    let weight = format!("{MATTE} c = sqrt(y - 9.0) * c;");
    let emission = "c = make_closure<Emission>(color(1.0, exp(1000.0), 0.0));";
    let normal = "c = make_closure<Lambert>(color(0.5), normal(0.0, log(y - 9.0), 1.0));";
    for body in [&weight, emission, normal] {
        let found = run(&scene_text(MATTE, body), "", 2).statistics.non_finite_materials;
        // All that the camera sees; with a normal that is none, paths go on and may graze the other square.
        assert!(found.len() == 1 && found[0].material == "right" && found[0].hits >= 64, "{body}: {found:?}");
        assert_eq!(found[0].first.len(), 4);
    }
    // Only where the picture keeps the value does it matter.
    let mask = format!("{MATTE} mask = 1.0 / (x - x);");
    assert!(run(&scene_text(&mask, MATTE), "", 1).statistics.non_finite_materials.is_empty());
    let both = run(&scene_text(&mask, normal), "\"mask\"", 1);
    let names: Vec<&str> = both.statistics.non_finite_materials.iter().map(|m| m.material.as_str()).collect();
    assert_eq!(names, ["left", "right"]);
    assert_eq!(both.diagnostics.list.len(), 2);
    assert!(both.picture.layers[0].values.iter().all(|v| *v == 0.0), "{:?}", both.picture.layers[0].values);
}

#[test]
fn the_report_has_them_too() {
    let folder = Folder::new();
    let file = |name: &str| folder.0.join(name).display().to_string();
    std::fs::write(file("scene.toml"), scene_text(DIVIDES, MATTE)).expect("the temporary folder can be written");
    let arguments = ["render", &file("scene.toml"), "-o", &file("a.png"), "--stats", &file("stats.json")];
    let out = Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("built for this test");
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&out.stderr).contains("S0014"));
    let text = std::fs::read_to_string(file("stats.json")).expect("it was asked for");
    let stats: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let left = &stats["non_finite_materials"][0];
    assert_eq!((left["material"].as_str(), left["hits"].as_u64()), (Some("left"), Some(16)));
    assert_eq!((left["first"][1]["x"].as_u64(), left["first"][1]["y"].as_u64()), (Some(2), Some(1)));
}
