//! Graphs as a user of the command line and of scene files meets them.

use crate::shade;
use shade::{shade, text};
use ssl_tests::temporary::Folder;
use std::path::Path;

fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(name).display().to_string()
}

const GRAPHS: [&str; 4] = ["graphs/grain.toml", "graphs/lacquer.toml", "graphs/inlay.toml", "graphs/stained.toml"];

#[test]
fn shipped_graphs_have_nothing_wrong_with_them() {
    for graph in GRAPHS {
        for arguments in [&["graph", "check", "--assets"][..], &["check", "--deny-warnings"]] {
            let out = shade(&[arguments, &[&shipped(graph)[..]]].concat());
            assert!(out.status.success() && out.stderr.is_empty(), "{graph}: {}", text(&out.stderr));
        }
    }
}

#[test]
fn what_is_wrong_is_said_as_json_too() {
    let folder = Folder::new("wrong");
    let graph = "[units.a]\nsource = '''\nshader a(texture2d map, out color c) { c = texture2d_sample<map>(global_value<uvw>.x, 0.5); }\n'''\n\
                 textures = { map = \"gone.png\" }\n[outputs]\nc = \"a.c\"\n";
    let fine = folder.write("fine.toml", graph);
    let wrong = folder.write("wrong.toml", "[units.a]\n[outputs]\nc = \"b.c\"\n");
    assert_eq!(shade(&["graph", "check", &fine]).status.code(), Some(0));
    let out = shade(&["graph", "check", "--assets", "--format", "json", &fine, &wrong]);
    assert_eq!(out.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let codes: Vec<&str> =
        json["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str()).collect();
    assert_eq!(codes, ["S0008", "E0902"]);
    for arguments in [&["graph", "show"][..], &["graph", "build"], &["eval"], &["dump", "--stage", "ir"], &["check"]] {
        assert_eq!(shade(&[arguments, &[&wrong[..]]].concat()).status.code(), Some(1), "{arguments:?}");
    }
    // A graph is no scene, and says so.
    let out = shade(&["render", &fine, "-o", &folder.file("x.png")]);
    assert!(
        out.status.code() == Some(1) && text(&out.stderr).contains("is a graph, not a scene"),
        "{}",
        text(&out.stderr)
    );
}

/// The images of a UDIM set are looked for one by one.
#[test]
fn images_of_udim_sets_are_read() {
    let folder = Folder::new("udim");
    let unit = "[units.a]\nsource = '''\nshader a(texture2d map, out color c) { c = texture2d_sample<map>(global_value<uvw>.x, 0.5); }\n'''\n\
                textures = { map = \"set.<UDIM>.png\" }\n[outputs]\nc = \"a.c\"\n";
    let graph = folder.write("graph.toml", unit);
    let check = || {
        let out = shade(&["graph", "check", "--assets", &graph]);
        (out.status.code(), text(&out.stderr))
    };
    let (code, said) = check();
    assert!(code == Some(1) && said.contains("S0008") && said.contains("set.1001.png"), "{code:?} {said}");
    for tile in [1001, 1012] {
        let image = image::RgbImage::from_pixel(4, 4, image::Rgb([9; 3]));
        image.save(folder.file(&format!("set.{tile}.png"))).expect("the folder can be written");
    }
    assert_eq!(check(), (Some(0), String::new()));
    folder.write("set.1002.png", "no image");
    let (code, said) = check();
    assert!(code == Some(1) && said.contains("set.1002.png"), "{code:?} {said}");
}

#[test]
fn graphs_are_drawn_as_svg_and_as_dot() {
    let folder = Folder::new("drawn");
    for graph in GRAPHS {
        let svg = folder.file("x.svg");
        let out = shade(&["graph", "show", &shipped(graph), "-o", &svg]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let drawn = std::fs::read_to_string(&svg).expect("it was written");
        assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n") && drawn.contains("#c6e9c4"));
        assert_eq!(drawn.matches("<text").count(), drawn.matches("</text>").count());
        let out = shade(&["graph", "show", &shipped(graph)]);
        assert!(text(&out.stdout).starts_with("digraph "));
    }
    assert_eq!(shade(&["graph", "show", &shipped(GRAPHS[0]), "-o", &folder.file("x.png")]).status.code(), Some(2));
}

#[test]
fn eval_and_dump_take_graphs() {
    let out = shade(&["eval", &shipped("graphs/grain.toml"), "--param", "at=(0.5,0)", "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    // v = 0.06 sin(1.3 · 7 · 0.5), r = 6 √(0.25 + v²) = 3.02096, x = 0.47904, t = (x − 0.12) / 0.36 = 0.99733.
    let grain = json["outputs"]["grain"].as_f64().expect("a number");
    assert!((grain - 0.999_978_6).abs() < 1e-6, "{grain}");
    let out = shade(&["dump", &shipped("graphs/lacquer.toml"), "--stage", "opt"]);
    assert!(out.status.success() && text(&out.stdout).contains("entry fn @lacquer"), "{}", text(&out.stderr));
}

/// A sphere and a floor with a material each.
fn scene(materials: &str) -> String {
    format!(
        "[camera]\nposition = [0, 1, 3]\nlook_at = [0, 0.5, 0]\n[environment]\ntype = \"sky\"\n{materials}\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"ball\"\ntranslate = [0, 0.6, 0]\nradius = 0.6\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"floor\"\nscale = [9, 1, 9]\n"
    )
}

#[test]
fn the_shader_that_a_graph_becomes_gives_the_same_picture() {
    let folder = Folder::new("same");
    for name in ["lacquer", "inlay"] {
        let out = shade(&[
            "graph",
            "build",
            &shipped(&format!("graphs/{name}.toml")),
            "-o",
            &folder.file(&format!("{name}.ssl")),
        ]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    let by_graph = scene(&format!(
        "[materials.ball]\ngraph = '{}'\nparameters = {{ scale = 2.0 }}\n[materials.floor]\ngraph = '{}'\n",
        shipped("graphs/lacquer.toml"),
        shipped("graphs/inlay.toml")
    ));
    let by_shader = scene(&format!(
        "[textures.tiles]\nfile = '{}'\nraw = true\n\
         [materials.ball]\nfile = \"lacquer.ssl\"\nentry = \"lacquer\"\nparameters = {{ scale = 2.0 }}\n\
         [materials.floor]\nfile = \"inlay.ssl\"\nentry = \"inlay\"\ntextures = {{ pattern_map = \"tiles\" }}\n",
        shipped("textures/tiles.png")
    ));
    let picture = |name: &str, scene: &str| {
        let (scene, picture) = (folder.write(&format!("{name}.toml"), scene), folder.file(&format!("{name}.exr")));
        let out = shade(&["render", &scene, "--size", "48x32", "--spp", "4", "-o", &picture]);
        assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
        // Not what it says of how it was made.
        let image = exr::prelude::read_all_flat_layers_from_file(picture).expect("a whole picture");
        image.layer_data.into_iter().map(|layer| layer.channel_data).collect::<Vec<_>>()
    };
    let pictures = [picture("graph", &by_graph), picture("shader", &by_shader)];
    assert!(pictures[0] == pictures[1], "the pictures differ");
    let other = by_graph.replace("scale = 2.0", "scale = 1.0");
    assert!(picture("other", &other) != pictures[0], "the parameter has no effect");
}

#[test]
fn a_scene_reports_what_is_wrong_with_its_graphs() {
    let folder = Folder::new("scene");
    folder.write("wrong.toml", "[units.a]\nsource = \"shader a(out float c) { c = 1.0; }\"\n[outputs]\nc = \"a.d\"\n");
    folder.write(
        "wrap.toml",
        "[units.a]\nsource = \"shader a(texture2d t, out color c) { c = texture2d_sample<t>(0.5, 0.5); }\"\n\
         textures = { t = { file = \"gone.png\", wrap = \"sideways\" } }\n[outputs]\nc = \"a.c\"\n",
    );
    let cases = [
        ("graph = \"gone.toml\"", "S0001"),
        ("graph = \"wrong.toml\"", "E0906"),
        ("graph = \"wrap.toml\"", "S0005"),
        ("graph = \"wrap.toml\"\nfile = \"x.ssl\"", "S0006"),
        ("graph = \"wrap.toml\"\nentry = \"a\"", "S0006"),
        ("graph = \"wrap.toml\"\nparameters = { scale = 1 }", "S0009"),
    ];
    for (material, code) in cases {
        let matte = "[materials.floor]\nsource = \"shader m(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>); }\"";
        let scene = folder.write("scene.toml", &scene(&format!("[materials.ball]\n{material}\n{matte}\n")));
        let out = shade(&["check", &scene]);
        assert_eq!(out.status.code(), Some(1), "{material}");
        assert!(text(&out.stderr).contains(code), "{material}: {}", text(&out.stderr));
    }
}
