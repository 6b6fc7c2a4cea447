//! `check`, `eval`, `test`, `dump` and `explain` as a user meets them.

use crate::shade;
use shade::{shade, text};
use ssl_compiler::BackendKind;
use ssl_tests::temporary::File;
use std::path::Path;

const PRACTICAL: &str = "
float eval_practical(float x1, float x2)
{
    const float u = x1 * x2 / (x1 + 1.f);
    return (sin(u) + log(1.f + u) - exp(x2)) * (u - tanh(x2));
}
shader main(out float value, out float slope, out closure result)
{
    value = eval_practical(global_value<x1>, global_value<x2>);
    slope = ddx(value);
    result = make_closure<Lambert>(color(0.5, 0.25, 0.125), global_value<normal>);
}
";

#[test]
fn eval_declares_globals_and_gives_values_on_both_back_ends() {
    let file = File::new("practical.ssl", PRACTICAL);
    for backend in ["interp", "cranelift"] {
        let out = shade(&[
            "eval",
            &file.path(),
            "--backend",
            backend,
            "--json",
            "--global",
            "x1:float=1.5,1,0",
            "--global",
            "x2:float=0.5",
        ]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let number = |name: &str| json["outputs"][name].as_f64().expect("a number");
        assert!((number("value") - 0.1768).abs() < 5e-5);
        assert!((number("slope") - -0.109_633_499_279_977_76).abs() < 2e-4);
        let lobe = &json["outputs"]["result"][0];
        assert_eq!(lobe["closure"], "Lambert");
        assert_eq!(lobe["parameters"]["albedo"], serde_json::json!([0.5, 0.25, 0.125]));
    }
}

#[test]
fn kernels_are_no_shaders_to_be_run_and_stand_beside_them() {
    let kernel = "kernel k(in buffer<float> a, out buffer<float> b) { b = 2.0 * a[index]; }\n";
    let alone = File::new("kernel.ssl", kernel);
    let beside = File::new("beside.ssl", &format!("{kernel}shader s(out float x) {{ x = 1.5; }}\n"));
    for (file, entry) in [(&alone, None), (&alone, Some("k")), (&beside, Some("k"))] {
        let path = file.path();
        let mut arguments = vec!["eval", &path];
        arguments.extend(entry.iter().flat_map(|name| ["--entry", name]));
        let out = shade(&arguments);
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stderr).contains("`k` is a kernel"), "{}", text(&out.stderr));
    }
    let out = shade(&["eval", &beside.path()]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), "x = 1.5\n"), "{}", text(&out.stderr));
    assert!(shade(&["check", &alone.path(), &beside.path()]).status.success());
    let scene = "[camera]\nposition = [0, 0, 5]\nlook_at = [0, 0, 0]\n[materials.m]\nfile = \"FILE\"\n\
                 [[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n";
    let scene = File::new("kernel.toml", &scene.replace("FILE", &alone.path()));
    let picture = Path::new(&scene.path()).with_extension("png");
    let out = shade(&["render", &scene.path(), "-o", &picture.display().to_string()]);
    assert!(!out.status.success() && !picture.exists());
    assert!(text(&out.stderr).contains("`k` is a kernel"), "{}", text(&out.stderr));
}

#[test]
fn a_grid_has_exact_partials() {
    let file = File::new(
        "grid.ssl",
        "shader main(out float dx, out float dy, out color c)\n{\n    dx = ddx(global_value<uvw>.x); dy = ddy(global_value<position>.y); c = color(global_value<uvw>.y);\n}\n",
    );
    let picture = Path::new(&file.path()).with_extension("exr");
    let out = shade(&["eval", &file.path(), "--grid", "8x4", "-o", &picture.display().to_string()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let image = exr::prelude::read_all_flat_layers_from_file(&picture).expect("a whole picture");
    std::fs::remove_file(&picture).expect("it was written");
    let layer =
        |name: &str| image.layer_data.iter().find(|l| l.attributes.layer_name.as_ref().is_some_and(|n| n.eq(name)));
    let first = |name: &str| {
        let channels = &layer(name).expect("a layer for each output").channel_data.list;
        channels[0].sample_data.values_as_f32().collect::<Vec<f32>>()
    };
    assert!(first("dx").iter().all(|x| *x == 0.125));
    assert!(first("dy").iter().all(|y| *y == -0.25));
    // The top row is first; (0,0) is the lower left.
    assert_eq!([first("c")[0], first("c")[31]], [0.875, 0.125]);
}

#[test]
fn a_grid_says_at_which_pixels_it_prints() {
    let file = File::new(
        "said.ssl",
        "shader main(out float r)\n{\n    const float3 p = global_value<uvw>;\n    r = p.x;\n    if (p.y > 0.5) printf(\"%g over %g\\n\", p.y, r);\n}\n",
    );
    let picture = Path::new(&file.path()).with_extension("exr").display().to_string();
    let said = |size: &str| {
        let out = shade(&["eval", &file.path(), "--grid", size, "-o", &picture]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        std::fs::remove_file(&picture).expect("it was written");
        text(&out.stderr)
    };
    // The middles of the upper row's pixels.
    assert_eq!(said("2x2"), "(0, 0): 0.75 over 0.25\n(1, 0): 0.75 over 0.75\n");
    // 128 messages, of which 100 are shown, over blocks and rows.
    let many = said("32x8");
    assert_eq!(many.lines().count(), 101);
    assert_eq!(many.lines().nth(33), Some("(1, 1): 0.8125 over 0.046875"));
    assert_eq!(many.lines().last(), Some("and 28 more messages"));
}

#[test]
fn exit_codes_tell_bad_input_from_bad_usage() {
    let good =
        File::new("good.ssl", "shader main(out float o) { o = 1.0; }\ntest \"one\" { run main(); expect(o, 1.0); }\n");
    let bad = File::new("bad.ssl", "shader main(out float o) { o = missing; }\n");
    let failing = File::new(
        "failing.ssl",
        "shader main(out float o) { o = 1.0; }\ntest \"two\" { run main(); expect(o, 2.0); }\n",
    );
    let (good, bad, failing) = (good.path(), bad.path(), failing.path());
    let cases: &[(&[&str], i32)] = &[
        (&["check", &good], 0),
        (&["check", &bad], 1),
        (&["check", "/no/such/file.ssl"], 1),
        (&["test", &good], 0),
        (&["test", &failing], 1),
        (&["test", &bad], 1),
        (&["eval", &good], 0),
        (&["eval", &bad], 1),
        (&["eval", &good, "--global", "x"], 2),
        (&["eval", &good, "--param", "nothing=1"], 2),
        (&["eval", &good, "--grid", "4x4"], 2),
        (&["dump", &good, "--stage", "opt"], 0),
        (&["dump", &good, "--stage", "asm", "--backend", "interp"], 2),
        (&["eval", &good, "--backend", "abacus"], 2),
        (&["eval", &good, "--opt", "3"], 0),
        (&["eval", &good, "--opt", "4"], 2),
        (&["dump", &bad, "--stage", "ir"], 1),
        (&["explain", "E0201"], 0),
        (&["explain", "E9999"], 1),
        (&["frobnicate"], 2),
    ];
    for (arguments, code) in cases {
        let out = shade(arguments);
        assert_eq!(out.status.code(), Some(*code), "{arguments:?}: {}{}", text(&out.stdout), text(&out.stderr));
    }
    let out = text(&shade(&["test", &failing]).stdout);
    assert!(
        out.contains("expected 2, found 1")
            && out.contains("shade eval")
            && out.ends_with(&format!("0 passed, {} failed\n", BackendKind::ALL.len())),
        "{out}"
    );
}

#[test]
fn a_build_without_llvm_says_which_has_it() {
    let file = File::new("plain.ssl", "shader main(out float o) { o = 1.0; }\n");
    for arguments in [["eval", &file.path(), "--backend", "llvm"], ["dump", &file.path(), "--stage", "llvm"]] {
        let out = shade(&arguments);
        if BackendKind::ALL.iter().any(|b| b.name() == "llvm") {
            assert!(out.status.success(), "{}", text(&out.stderr));
        } else {
            assert_eq!(out.status.code(), Some(2));
            assert!(text(&out.stderr).contains("--features llvm"), "{}", text(&out.stderr));
        }
    }
}

#[test]
fn every_stage_can_be_dumped() {
    let file = File::new(
        "stages.ssl",
        PRACTICAL
            .replace("global_value<x1>", "global_value<uvw>.x")
            .replace("global_value<x2>", "global_value<uvw>.y")
            .as_str(),
    );
    let expected = [
        ("ast", "function eval_practical"),
        ("ir", "ddx %"),
        ("lineage", "varied"),
        ("demand", "shadow x"),
        ("ad", "eval_practical.d"),
        ("opt", "entry fn @main"),
        ("clif", "function u0:"),
        ("asm", "ret"),
    ];
    for (stage, part) in expected {
        let out = shade(&["dump", &file.path(), "--stage", stage]);
        let found = text(&out.stdout);
        assert!(out.status.success() && found.contains(part), "{stage}: {found}{}", text(&out.stderr));
        if matches!(stage, "demand") {
            assert!(!found.contains("shadow xy"), "only ddx is asked for:\n{found}");
        }
    }
    assert!(Path::new(&file.path()).exists());
}

#[test]
fn dump_shows_what_linking_compiles() {
    let scene = |name: &str| format!("{}/../scenes/integrals/{name}", env!("CARGO_MANIFEST_DIR"));
    let (plane, toon) = (scene("half-plane.ssl"), scene("toon.ssl"));
    let asked = ["dump", &plane, "--entry", "draw", "--by", "edge", "--stage", "linked"];
    let dump = |more: &[&str]| shade(&[&asked[..], more].concat());
    let out = dump(&["--open", "IShade:2,0", "--link", &toon]);
    let found = text(&out.stdout);
    assert!(out.status.success() && found.starts_with("draw: compiled once, "), "{found}{}", text(&out.stderr));
    for part in ["Toon of ", "IShade.at: value, ", "boundaries over 2 variables, derivative of reverse mode, "] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let refused: [(&[&str], i32, &str); 3] = [
        (&["--open", "IShade"], 2, "IShade:4,0"),
        (&["--open", "IShade:1,0", "--link", &toon], 1, "it takes 2 floats"),
        (&["--open", "IShade:2,0", "--link", "/no/such/file.ssl"], 2, "/no/such/file.ssl"),
    ];
    for (arguments, code, part) in refused {
        let out = dump(arguments);
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(part), "{}", text(&out.stderr));
    }
    let out = shade(&["dump", &plane, "--stage", "opt", "--link", &toon]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
}

#[test]
fn dump_shows_gradients_of_kernels() {
    let source =
        "kernel squares(in buffer<float> x, float scale, out buffer<float> y) { y = scale * x[index] * x[index]; }";
    let file = File::new("squares.ssl", source);
    let dump = |by: &str| shade(&["dump", &file.path(), "--stage", "opt", "--by", by]);
    let out = dump("x");
    let found = text(&out.stdout);
    assert!(
        out.status.success() && found.contains("column gradient.x: float 1 add") && found.contains("add_to"),
        "{found}"
    );
    let out = dump("scale");
    assert!(out.status.success() && !text(&out.stdout).contains("add_to"), "{}", text(&out.stdout));
    let out = dump("scal");
    assert!(
        out.status.code() == Some(2) && text(&out.stderr).contains("did you mean `scale`?"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn check_describes_shaders_as_json() {
    let source = "
texture2d grain;
globals { float heat; }
shader painted <<< label = \"Painted\" >>> (out color c <<< label = \"Color\" >>>, float gain <<< max = 4.0 >>> = 0.5,
    color tint = color(1.0, 0.5, 0.25), int n = -3, bool on = true, string mode = \"matte\" <<< options = {\"matte\", 1} >>>,
    texture2d map, out closure lobes)
{
    const float2 uv = global_value<uvw>.xy;
    c = gain * tint * texture2d_sample<map>(uv.x, uv.y) * global_value<heat>;
    if (on && mode == \"matte\" && n < 0) lobes = make_closure<Lambert>(c, global_value<normal>);
}
shader plain(out float r) { r = 1.0; }
";
    let file = File::new("described.ssl", source);
    let out = shade(&["check", "--format", "json", &file.path()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON is printed");
    let parameter = |name: &str, ty: &str, direction: &str, default: serde_json::Value, metadata: serde_json::Value| serde_json::json!({"name": name, "type": ty, "direction": direction, "default": default, "metadata": metadata});
    use serde_json::{Value::Null, json};
    let expected = json!([
        {
            "file": file.path(), "name": "painted", "metadata": {"label": "Painted"},
            "parameters": [
                parameter("c", "color", "out", Null, json!({"label": "Color"})),
                parameter("gain", "float", "in", json!(0.5), json!({"max": 4.0})),
                parameter("tint", "color", "in", json!([1.0, 0.5, 0.25]), json!({})),
                parameter("n", "int", "in", json!(-3), json!({})),
                parameter("on", "bool", "in", json!(true), json!({})),
                parameter("mode", "string", "in", json!("matte"), json!({"options": ["matte", 1]})),
                parameter("map", "texture2d", "in", Null, json!({})),
                parameter("lobes", "closure", "out", Null, json!({})),
            ],
            "textures": [{"name": "grain", "used": false}, {"name": "map", "used": true}],
            "globals": [
                {"name": "uvw", "type": "float3", "orders": ["value", "ddx", "ddy"]},
                {"name": "normal", "type": "normal", "orders": ["value"]},
                {"name": "heat", "type": "float", "orders": ["value"]},
            ],
            "closures": [{"output": "lobes", "closure": "Lambert"}],
        },
        {
            "file": file.path(), "name": "plain", "metadata": {}, "parameters": [parameter("r", "float", "out", Null, json!({}))],
            "textures": [{"name": "grain", "used": false}], "globals": [], "closures": [],
        },
    ]);
    assert_eq!(found["shaders"], expected);
    // What is only warned of changes nothing: the unused texture, and the output that is not always set.
    assert!(found["diagnostics"].as_array().is_some_and(|list| list.iter().all(|d| d["severity"] == "warning")));
}

#[test]
fn check_works_on_files_without_shaders() {
    let file = File::new("library.ssl", "float twice(float x) { return 2.0 * x; }\n");
    let out = shade(&["check", "--format", "json", &file.path()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON is printed");
    assert_eq!(found["shaders"], serde_json::json!([]));
}

#[test]
fn eval_takes_and_prints_strings() {
    let source = "shader main(string mode = \"a\", out string chosen, out bool known)
        { chosen = mode; known = mode == \"b\"; }";
    let file = File::new("strings.ssl", source);
    for (given, chosen, known) in [("mode=\"b\"", "b", true), ("mode=\"elsewhere\"", "elsewhere", false)] {
        let out = shade(&["eval", &file.path(), "--json", "--param", given]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON is printed");
        assert_eq!(found["outputs"], serde_json::json!({"chosen": chosen, "known": known}));
    }
}

#[test]
fn values_that_metadata_do_not_allow_are_told_wherever_they_come_from() {
    let source = "shader paint(float gain = 1.0 <<< min = 0.0, max = 4.0 >>>, \
                  string mode = \"matte\" <<< options = {\"matte\", \"bright\"} >>>, out color o) \
                  { o = color(mode == \"matte\" ? gain : 2.0 * gain); }\n";
    let file = File::new("allowed.ssl", source);
    let shader = file.path();
    let eval = |parameters: &[&str]| {
        let given = parameters.iter().flat_map(|p| ["--param", p]);
        shade(&["eval", &shader].into_iter().chain(given).collect::<Vec<_>>())
    };
    let within = eval(&["gain=4", "mode=\"bright\""]);
    assert_eq!((within.status.code(), text(&within.stderr).as_str()), (Some(0), ""));
    let outside = eval(&["gain=9", "mode=\"bride\""]);
    let said = text(&outside.stderr);
    assert_eq!(outside.status.code(), Some(0), "{said}");
    assert!(
        said.contains("`gain` is 9, above its `max` of 4") && said.contains("which is none of its options"),
        "{said}"
    );
    // It is used as it is, unless warnings are denied.
    assert!(text(&outside.stdout).contains("18"), "{}", text(&outside.stdout));
    let denied = shade(&["eval", &shader, "--param", "gain=9", "--deny", "W0451"]);
    assert_eq!((denied.status.code(), text(&denied.stdout).as_str()), (Some(1), ""));

    let graph = format!("[units.a]\nfile = '{shader}'\nset = {{ gain = 9.0 }}\n[outputs]\no = \"a.o\"\n");
    let graph = File::new("allowed.toml", &graph);
    let checked = text(&shade(&["check", &graph.path()]).stderr);
    assert!(checked.contains("W0451") && checked.contains("allowed.toml:3:9"), "{checked}");
}

/// Scenes and graphs of a folder are checked with its shaders; what else is TOML or JSON is left alone.
#[test]
fn folders_are_checked_with_their_scenes() {
    let folder = std::env::temp_dir().join(format!("shade-folder-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("sub")).expect("the temporary folder can be written");
    for (name, text) in [
        ("good.ssl", "shader main(out float o) { o = 1.0; }\n"),
        ("bad.toml", "[camera]\nposition = [0, 0, 3]\nlookat = [0, 0, 0]\n"),
        ("sub/bad.json", "{\"camera\": {\"position\": [0, 0, 3], \"target\": [0, 0, 0]}}\n"),
        ("sub/graph.toml", "[units.a]\nfile = \"gone.ssl\"\n"),
        ("other.toml", "[package]\nname = \"other\"\n"),
        ("broken.json", "{ \"other\": \n"),
    ] {
        std::fs::write(folder.join(name), text).expect("as above");
    }
    let out = shade(&["check", "--format", "json", &folder.display().to_string()]);
    std::fs::remove_dir_all(&folder).expect("as above");
    assert_eq!(out.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("it is JSON");
    let list = json["diagnostics"].as_array().expect("a list");
    let mut files: Vec<&str> = list.iter().filter_map(|d| d["file"].as_str()).collect();
    files.dedup();
    let names: Vec<&str> = files.iter().filter_map(|f| f.rsplit('/').next()).collect();
    assert_eq!(names, ["bad.toml", "bad.json", "graph.toml"], "{json:#}");
}

/// A mebibyte holds 16384 rows: enough for the gradient of ten rounds, too few for that of twenty thousand.
#[test]
fn eval_limits_what_gradients_keep() {
    let source = "float f(float x, int n) { float y = x; for (int i = 0; i < n; ++i) y = y * x; return y; }\n\
                  shader main(int n = 10, out float r)\n{\n    DifferentialPair<float> p = diffPair(1.0, 0.0);\n    \
                  bwd_diff(f)(p, n, 1.0);\n    r = p.d;\n}\n";
    let file = File::new("tape.ssl", source);
    let eval = |n: &str, memory: &str| {
        let out = shade(&["eval", &file.path(), "--json", "--param", n, "--tape-memory", memory]);
        let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("it prints JSON");
        (out.status.code(), report)
    };
    let (code, report) = eval("n=10", "1");
    assert_eq!((code, &report["outputs"]["r"]), (Some(0), &11.0.into()));
    assert!(report["tape_rows"].as_u64().is_some_and(|rows| (10..100).contains(&rows)), "{report}");
    let (code, report) = eval("n=20000", "1");
    assert!(code == Some(1) && report["error"].as_str().is_some_and(|e| e.contains("room")), "{report}");
    let (code, report) = eval("n=20000", "64");
    assert_eq!((code, &report["outputs"]["r"]), (Some(0), &20001.0.into()));
    assert_eq!(shade(&["eval", &file.path(), "--tape-memory", "0"]).status.code(), Some(2));
}

/// The path tracer in the language: spheres of three materials behind an interface, four bounces.
#[test]
fn a_path_tracer_in_the_language_renders_a_picture() {
    let tracer = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/path_tracer.ssl");
    let file = File::new("spheres.ssl", "");
    let picture = Path::new(&file.path()).with_extension("exr");
    let written = picture.display().to_string();
    let render = |parameters: &[&str]| {
        let common = ["eval", tracer, "--entry", "picture", "--grid", "32x24", "-o", &written];
        let out = shade(&[&common[..], parameters].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let image = exr::prelude::read_all_flat_layers_from_file(&picture).expect("a whole picture");
        std::fs::remove_file(&picture).expect("it was written");
        // Channels are in the order of the alphabet: blue, green, red.
        let channel = |i: usize| image.layer_data[0].channel_data.list[i].sample_data.values_as_f32().collect();
        [channel(2), channel(1), channel(0)] as [Vec<f32>; 3]
    };
    let bright = render(&["--param", "samples=4"]);
    // The upper left corner sees the sky: a mix by the height of the ray.
    let (x, y) = (0.5 / 32.0, 23.5 / 24.0);
    let ray: [f32; 3] = [2.4 * (x - 0.5), 1.8 * (y - 0.5) - 0.1, -2.0];
    let up = 0.5 + 0.5 * ray[1] / ray.iter().map(|c| c * c).sum::<f32>().sqrt();
    for (channel, zenith) in bright.iter().zip([0.3, 0.5, 1.0]) {
        assert!((channel[0] - (1.0 - up + up * zenith)).abs() < 1e-5, "{} {up}", channel[0]);
    }
    // All light goes through materials after the first bounce, and no sphere shines.
    assert!(bright.iter().flatten().all(|c| c.is_finite() && (0.0..=1.0).contains(c)));
    // The albedo of the matte sphere is that of its red channel alone.
    let dark = render(&["--param", "samples=4", "--param", "albedo=0.1"]);
    assert!(dark[0].iter().zip(&bright[0]).all(|(dark, bright)| dark <= bright));
    assert!(dark[0].iter().sum::<f32>() < bright[0].iter().sum::<f32>() - 1.0);
    assert_eq!(dark[1..], bright[1..]);
}
