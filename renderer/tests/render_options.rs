//! Options of `shade render` and what they leave in files, as a user meets them.

use crate::shade;
use exr::prelude::{AttributeValue, MetaData, Text};
use shade::{shade, text};
use ssl_tests::temporary::Folder;
use std::path::Path;
use std::process::Command;

/// What a command that goes well says.
#[track_caller]
fn good(arguments: &[&str]) -> String {
    let out = shade(arguments);
    assert_eq!(out.status.code(), Some(0), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stderr)
}

/// A scene of the tests, its files named from anywhere. It has a texture.
fn tiny() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let scene = std::fs::read_to_string(root.join("tests/render_scenes/tiny.toml")).expect("part of the project");
    scene.replace("../..", &root.display().to_string())
}

/// One without textures, with several bounces.
const PLAIN: &str = r#"
    camera = { position = [0, 1, 4], look_at = [0, 0.5, 0] }
    film = { width = 18, height = 10 }
    integrator = { samples = 3, max_depth = 4 }
    environment = { type = "constant", radiance = [0.4, 0.5, 0.6] }
    [materials.matte]
    source = """
    shader matte(out closure c) { c = make_closure<Lambert>(color(0.8), global_value<normal>); }
    """
    [[shapes]]
    type = "rectangle"
    material = "matte"
    scale = [4, 1, 4]
    [[shapes]]
    type = "sphere"
    material = "matte"
    translate = [0, 1, 0]
    "#;

const LAYERS: [&str; 4] = ["--aov", "albedo,depth,variance,samples", "--size", "20x11"];

#[test]
fn a_finished_render_goes_on_to_the_bytes_of_a_longer_one() {
    let folder = Folder::new("longer");
    let (textured, plain) = (folder.write("tiny.toml", &tiny()), folder.write("plain.toml", PLAIN));
    // In the middle of a batch of four samples and at its end; where tiles drop out; with and without textures.
    let adaptive = ["--adaptive", "0.02", "--min-spp", "8"];
    for (scene, steps, more) in [
        (&textured, &["66", "67", "78"][..], &[][..]),
        (&textured, &["64", "76"], &[]),
        (&plain, &["2", "3", "8", "30"], &[]),
        (&plain, &["10", "25", "60"], &adaptive),
    ] {
        let render = |name: &str, spp: &str, threads: &str, flags: &[&str]| {
            let file = folder.file(name);
            let arguments = ["render", scene, "-o", &file, "--spp", spp, "--threads", threads];
            good(&[&arguments[..], &LAYERS, more, flags].concat())
        };
        render("whole.exr", steps[steps.len() - 1], "2", &[]);
        render("a.exr", steps[0], "1", &["--keep-checkpoint"]);
        for spp in &steps[1..] {
            let said = render("a.exr", spp, "2", &["--resume", "--keep-checkpoint"]);
            assert!(said.contains("a.exr.checkpoint") && said.contains("adds samples"), "{said}");
        }
        assert!(folder.bytes("a.exr") == folder.bytes("whole.exr"), "{steps:?} {more:?}");
        // Finished without that option, it leaves nothing.
        assert_eq!(render("a.exr", steps[steps.len() - 1], "1", &["--resume"]), "");
        assert!(folder.bytes("a.exr") == folder.bytes("whole.exr"));
        assert!(!Path::new(&folder.file("a.exr.checkpoint")).exists());
    }
}

#[test]
fn a_partial_render_goes_on_too() {
    let folder = Folder::new("part");
    let scene = folder.write("tiny.toml", &tiny());
    let render = |name: &str, range: &str, more: &[&str]| {
        let file = folder.file(name);
        let arguments = ["render", &scene, "-o", &file, "--spp", "64", "--sample-range", range, "--size", "20x11"];
        good(&[&arguments[..], more].concat());
    };
    render("whole.part", "2..15", &[]);
    render("a.part", "2..9", &[]);
    render("a.part", "2..15", &["--resume"]);
    assert!(folder.bytes("a.part") == folder.bytes("whole.part"));
}

#[test]
fn what_would_not_be_the_longer_render_is_refused() {
    let folder = Folder::new("refused");
    let scene = folder.write("tiny.toml", &tiny());
    let file = folder.file("a.png");
    let render = |more: &[&str]| shade(&[&["render", &scene, "-o", &file, "--size", "16x9"], more].concat());
    assert_eq!(render(&["--spp", "4", "--keep-checkpoint"]).status.code(), Some(0));
    for (more, words) in [
        // Four samples filter textures wider than 64 do.
        (&["--spp", "64"][..], "not the first of 64"),
        (&["--spp", "64"], "--sample-range 0..4"),
        (&["--spp", "2"], "4 samples a pixel, not 2"),
        (&["--spp", "4", "--seed", "7"], "its seed is 1, not 7"),
        (&["--spp", "4", "--max-depth", "1"], "other options"),
    ] {
        let out = render(&[more, &["--resume"]].concat());
        let said = text(&out.stderr);
        assert!(out.status.code() == Some(1) && said.contains("S0021") && said.contains(words), "{more:?}: {said}");
    }
    // So many more samples are shown the way to caustics by more photons.
    let guided = PLAIN.replace("max_depth = 4", "max_depth = 4, caustics = \"guided\"");
    let (guided, file) = (folder.write("guided.toml", &guided), folder.file("b.png"));
    let render = |more: &[&str]| shade(&[&["render", &guided, "-o", &file, "--size", "64x64"], more].concat());
    assert_eq!(render(&["--spp", "2", "--keep-checkpoint"]).status.code(), Some(0));
    let out = render(&["--spp", "1000", "--resume"]);
    let said = text(&out.stderr);
    assert!(said.contains("not the first of 1000") && said.contains("photons"), "{said}");
    assert_eq!(render(&["--spp", "3", "--resume"]).status.code(), Some(0));
}

#[test]
fn depth_and_exposure_are_those_of_the_scene_with_other_keys() {
    let folder = Folder::new("keys");
    let scene = folder.write("plain.toml", PLAIN);
    let other = PLAIN.replace("max_depth = 4", "max_depth = 1").replace("height = 10", "height = 10, exposure = -1.5");
    let other = folder.write("other.toml", &other);
    let options = ["--max-depth", "1", "--exposure", "-1.5"];
    let [a, b] = ["a.png", "b.png"].map(|name| folder.file(name));
    assert_eq!(good(&[&["render", &scene, "-o", &a], &options[..]].concat()), "");
    good(&["render", &other, "-o", &b]);
    assert!(folder.bytes("a.png") == folder.bytes("b.png"));
    good(&["render", &scene, "-o", &b]);
    assert!(folder.bytes("a.png") != folder.bytes("b.png"));
    // An EXR holds linear light, and that is said.
    let [c, d] = ["c.exr", "d.exr"].map(|name| folder.file(name));
    let said = good(&["render", &scene, "-o", &c, "--exposure", "3"]);
    assert!(said.contains("`--exposure` is for a `.png`"), "{said}");
    good(&["render", &scene, "-o", &d]);
    let pixels = |file: &str| image::open(file).expect("a whole picture").into_rgb32f().into_raw();
    assert_eq!(pixels(&c), pixels(&d));
    // A partial render takes the exposure along, unless another one is wanted when it becomes a picture.
    let part = folder.file("a.part");
    good(&[&["render", &scene, "-o", &part, "--max-depth", "1"], &["--exposure", "2"][..]].concat());
    good(&["merge", &part, "-o", &b, "--exposure", "-1.5"]);
    assert!(folder.bytes("a.png") == folder.bytes("b.png"));
    for wrong in [["--max-depth", "1025"], ["--exposure", "nan"], ["--exposure", "1000"]] {
        assert_eq!(shade(&[&["render", &scene, "-o", &a], &wrong[..]].concat()).status.code(), Some(2));
    }
}

/// An attribute of an EXR file.
fn attribute(file: &str, name: &str) -> AttributeValue {
    let meta = MetaData::read_from_file(file, true).expect("a whole file");
    let own = &meta.headers[0].own_attributes;
    let found = own.other.get(&Text::new_or_panic(name));
    found.unwrap_or_else(|| panic!("no {name} in {:?}", own.other)).clone()
}

#[test]
fn an_exr_says_how_it_was_made() {
    let folder = Folder::new("metadata");
    folder.write("my scene.toml", PLAIN);
    let render = |name: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shade"));
        let arguments = ["render", "my scene.toml", "-o", name, "--spp", "6", "--seed", "4000000000"];
        let out = command.current_dir(folder.path()).args(arguments).args(more).output().expect("built for this test");
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    };
    let options = ["--max-depth", "2", "--size", "12x8", "--aov", "depth,samples", "--mip", "aniso"];
    render("a.exr", &options);
    let file = folder.file("a.exr");
    let said = |name: &str| match attribute(&file, name) {
        AttributeValue::Text(text) => text.to_string(),
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(said("ssl.scene"), "my scene.toml");
    let command = "shade render 'my scene.toml' --spp 6 --seed 4000000000 --max-depth 2 --size 12x8 \
                   --aov depth,samples --mip aniso";
    assert_eq!(said("ssl.command"), command);
    assert_eq!(attribute(&file, "ssl.seed"), AttributeValue::F64(4e9));
    assert_eq!(attribute(&file, "ssl.samples"), AttributeValue::F64(6.0));
    let meta = MetaData::read_from_file(&file, true).expect("a whole file");
    let software = meta.headers[0].own_attributes.software_name.as_ref().map(ToString::to_string);
    assert_eq!(software, Some(format!("shade {}", env!("CARGO_PKG_VERSION"))));
    // What does not decide the picture leaves no trace: equal pictures are equal files.
    render("b.exr", &[&options[..], &["--threads", "1", "--opt", "0", "--checkpoint-every", "9"]].concat());
    assert!(folder.bytes("a.exr") == folder.bytes("b.exr"));
    // Some of the samples are another picture. All of them together are the whole one, whoever added them up.
    for (name, range) in [("some.exr", "2..4"), ("1.part", "0..2"), ("2.part", "2..6")] {
        render(name, &[&options[..], &["--sample-range", range]].concat());
    }
    let of_some = AttributeValue::Text(Text::new_or_panic(format!("{command} --sample-range 2..4")));
    assert_eq!(attribute(&folder.file("some.exr"), "ssl.command"), of_some);
    good(&["merge", &folder.file("1.part"), &folder.file("2.part"), "-o", &folder.file("merged.exr")]);
    assert!(folder.bytes("a.exr") == folder.bytes("merged.exr"));
    // The command makes the file anew, as a shell reads it.
    #[cfg(unix)]
    {
        let script = format!("shade() {{ \"$0\" \"$@\"; }}; {command} -o c.exr");
        let mut shell = Command::new("sh");
        let out = shell.args(["-c", &script, env!("CARGO_BIN_EXE_shade")]).current_dir(folder.path()).output();
        let out = out.expect("every Unix has sh");
        assert!(out.status.success(), "{}", text(&out.stderr));
        assert!(folder.bytes("a.exr") == folder.bytes("c.exr"));
    }
}

/// The form of the file is in the command, and a picture with a gradient says as much of itself as any other.
#[test]
fn an_exr_says_how_it_was_written() {
    let folder = Folder::new("form");
    let scene = folder.write("plain.toml", PLAIN);
    let command = |name: &str, more: &[&str]| {
        let file = folder.file(name);
        let said = good(&[&["render", &scene, "-o", &file, "--spp", "2"], more].concat());
        assert_eq!(said, "");
        match attribute(&file, "ssl.command") {
            AttributeValue::Text(text) => text.to_string(),
            other => panic!("ssl.command is {other:?}"),
        }
    };
    let plain = "shade render plain.toml --spp 2";
    assert_eq!(command("a.exr", &["--exr", "float", "--exr-compression", "zip"]), plain);
    let form = ["--exr", "half", "--exr-compression", "piz"];
    assert_eq!(command("b.exr", &form), format!("{plain} --exr half --exr-compression piz"));
    // Parts have no form; what is made of them has.
    let (part, merged) = (folder.file("a.part"), folder.file("c.exr"));
    let said = good(&["render", &scene, "-o", &part, "--spp", "2"]);
    assert_eq!(said, "");
    good(&[&["merge", &part, "-o", &merged], &form[..]].concat());
    assert!(folder.bytes("b.exr") == folder.bytes("c.exr"));
    let gradient = ["--gradient", "environment.radiance", "--exr", "half"];
    assert_eq!(command("d.exr", &gradient), format!("{plain} --gradient environment.radiance --exr half"));
    let file = folder.file("d.exr");
    assert_eq!(attribute(&file, "ssl.seed"), attribute(&folder.file("a.exr"), "ssl.seed"));
    assert_eq!(attribute(&file, "ssl.samples"), AttributeValue::F64(2.0));
    // Other files have no such form, and that is said.
    for name in ["a.png", "b.part"] {
        let said = good(&["render", &scene, "-o", &folder.file(name), "--spp", "2", "--exr", "half"]);
        assert!(said.contains("`--exr` and `--exr-compression` are for an `.exr`"), "{said}");
    }
    let said = good(&["merge", &part, "-o", &folder.file("a.png"), "--exr-compression", "none"]);
    assert!(said.contains("are for an `.exr`"), "{said}");
}

#[test]
fn an_exr_is_compressed_as_it_is_asked_for() {
    let folder = Folder::new("compression");
    let scene = folder.write("plain.toml", PLAIN);
    let size = |method: &str| {
        let name = format!("{method}.exr");
        good(&["render", &scene, "-o", &folder.file(&name), "--exr-compression", method, "--size", "40x40"]);
        let pixels = image::open(folder.file(&name)).expect("a whole picture").into_rgb32f().into_raw();
        (folder.bytes(&name).len(), pixels)
    };
    let (largest, pixels) = size("none");
    for method in ["rle", "zips", "zip", "piz"] {
        let (bytes, same) = size(method);
        assert!(same == pixels && bytes < largest, "{method}: {bytes} bytes, {largest} without");
    }
    good(&["render", &scene, "-o", &folder.file("default.exr"), "--size", "40x40"]);
    assert!(folder.bytes("default.exr") == folder.bytes("zip.exr"));
    let out = shade(&["render", &scene, "--exr-compression", "jpeg"]);
    assert!(out.status.code() == Some(2) && text(&out.stderr).contains("none, rle, zips, zip, piz"));
}

#[test]
fn progress_is_lines_where_there_is_no_terminal() {
    let folder = Folder::new("progress");
    let scene = folder.write("plain.toml", PLAIN);
    let render = |every: &str| {
        good(&["render", &scene, "-o", &folder.file("a.png"), "--spp", "400", "--size", "64x36", "--progress", every])
    };
    let said = render("0.05");
    assert!(!said.is_empty());
    let mut last = 0;
    for line in said.lines() {
        let (percent, rest) = line.strip_prefix("rendering: ").and_then(|l| l.split_once(" %, ")).expect(line);
        let percent: u32 = percent.parse().expect(line);
        assert!((last..100).contains(&percent) && rest.contains(" elapsed"), "{said}");
        last = percent;
    }
    assert_eq!(render("0"), "");
    // Those who wait for less than the usual time hear nothing.
    assert_eq!(good(&["render", &scene, "-o", &folder.file("a.png"), "--spp", "1"]), "");
}

#[test]
fn options_have_aliases_and_the_compilers_a_page_of_their_own() {
    let folder = Folder::new("aliases");
    let scene = folder.write("plain.toml", PLAIN);
    let render = |name: &str, more: &[&str]| {
        good(&[&["render", &scene, "-o", &folder.file(name)], more].concat());
        folder.bytes(name)
    };
    let sparse = ["--spp", "32", "--adaptive", "0.3", "--min-spp", "8"];
    let spelled = ["--samples", "32", "--adaptive", "0.3", "--min-samples", "8"];
    assert!(render("a.exr", &sparse) == render("b.exr", &spelled));
    let layers = |names: &str| image::open(folder.file(names)).expect("a whole picture").into_rgb32f().into_raw();
    render("uv.exr", &["--view", "uv"]);
    render("uvw.exr", &["--view", "uvw"]);
    assert_eq!(layers("uv.exr"), layers("uvw.exr"));
    let channels = |name: &str, layer: &str| {
        render(name, &["--aov", layer]);
        let meta = MetaData::read_from_file(folder.file(name), true).expect("a whole file");
        meta.headers[0].channels.list.iter().map(|c| c.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(channels("c.exr", "uv"), ["B", "G", "R", "uv.U", "uv.V"]);
    assert_eq!(channels("d.exr", "uvw"), channels("c.exr", "uv"));

    let help = |arguments: &[&str]| {
        let out = shade(arguments);
        assert_eq!(out.status.code(), Some(0), "{arguments:?}");
        text(&out.stdout)
    };
    let compiler = ["--backend", "--opt", "--lanes", "--derivative-calls", "--no-derivatives", "--poison-derivatives"];
    let (usual, own) = (help(&["render", "--help"]), help(&["render", "--help-compiler"]));
    for option in compiler {
        let named =
            |page: &str| page.lines().any(|l| l.trim_start().starts_with(&format!("{option} ")) || l.trim() == option);
        assert!(!named(&usual) && named(&own) && named(&help(&["eval", "--help"])), "{option}: {own}");
    }
    assert!(usual.contains("--help-compiler") && !own.contains("--crop"));
}
