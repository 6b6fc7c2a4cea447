//! Renders in parts: by samples, by windows, and cut short and gone on with, as a user meets them. Each gives the bytes of
//! one render that nothing disturbed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("shade-parts-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("it is there");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("it is there").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shade"));
    command.args(arguments);
    command
}

fn shade(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program was built for this test")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn good(arguments: &[&str]) -> Output {
    let output = shade(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", said(&output));
    output
}

#[track_caller]
fn refused(arguments: &[&str], code: &str, words: &str) {
    let output = shade(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
    assert!(said(&output).contains(code) && said(&output).contains(words), "{}", said(&output));
}

fn tiny() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/render_scenes/tiny.toml").display().to_string()
}

/// Of every kind: means, the nearest sample's, and those that follow from sums.
const LAYERS: [&str; 2] = ["--aov", "albedo,normal,depth,position,uv,object_id,material_id,variance,samples"];

#[test]
fn parts_of_the_samples_merge_to_the_bytes_of_one_render() {
    let (folder, scene) = (Folder::new("merge"), tiny());
    let options = [&["--size", "40x23", "--spp", "8"], &LAYERS[..]].concat();
    let render = |more: &[&str]| good(&[&["render", &scene], &options[..], more].concat());
    let [a, b, c] = ["a.part", "b.part", "c.part"].map(|name| folder.file(name));
    // Cut where batches of samples are not.
    for (range, file) in [("0..3", &a), ("3..4", &b), ("4..8", &c)] {
        render(&["--sample-range", range, "-o", file, "--threads", "1"]);
    }
    for extension in ["png", "exr"] {
        let file = |name: &str| folder.file(&format!("{name}.{extension}"));
        render(&["-o", &file("whole"), "--threads", "2"]);
        let whole = folder.bytes(&format!("whole.{extension}"));
        for (name, order) in [("abc", [&a, &b, &c]), ("cab", [&c, &a, &b]), ("bca", [&b, &c, &a])] {
            good(&["merge", order[0], order[1], order[2], "-o", &file(name)]);
            assert!(folder.bytes(&format!("{name}.{extension}")) == whole, "{name}.{extension}");
        }
        // Merging may be done in steps.
        let both = folder.file("both.part");
        good(&["merge", &c, &a, "-o", &both]);
        good(&["merge", &b, &both, "-o", &file("steps")]);
        assert!(folder.bytes(&format!("steps.{extension}")) == whole);
    }
    // The precision is the picture's, not the parts'.
    let [half, merged] = ["half.exr", "merged.exr"].map(|name| folder.file(name));
    render(&["-o", &half, "--exr", "half"]);
    good(&["merge", &a, &b, &c, "-o", &merged, "--exr", "half"]);
    assert!(folder.bytes("half.exr") == folder.bytes("merged.exr"));
    assert!(folder.bytes("half.exr").len() < folder.bytes("whole.exr").len());
    let picture = folder.file("x.png");
    refused(&["merge", &a, &c, "-o", &picture], "S0022", "no part has 3..4");
    refused(&["merge", &a, &b, &a, "-o", &picture], "S0021", "its samples 0..3 are there already");
    assert!(!folder.names().contains(&"x.png".to_owned()));
    good(&["merge", &a, &c, "-o", &picture, "--allow-missing"]);
}

#[test]
fn parts_of_different_pictures_are_not_merged() {
    let (folder, scene) = (Folder::new("misfits"), tiny());
    let [a, b, picture] = ["a.part", "b.part", "x.png"].map(|name| folder.file(name));
    let render = |scene: &str, more: &[&str]| {
        good(&[&["render", scene, "--sample-range", "2..4", "-o", &b], more].concat());
    };
    good(&["render", &scene, "--size", "16x9", "--spp", "4", "--sample-range", "0..2", "-o", &a]);
    let merge = |words: &str| refused(&["merge", &a, &b, "-o", &picture], "S0021", words);
    render(&scene, &["--size", "16x8", "--spp", "4"]);
    merge("16×8 pixels, not 16×9");
    render(&scene, &["--size", "16x9", "--spp", "5"]);
    merge("5 samples a pixel, not 4");
    render(&scene, &["--size", "16x9", "--spp", "4", "--seed", "9"]);
    merge("its seed is 9, not 1");
    render(&scene, &["--size", "16x9", "--spp", "4", "--crop", "0,0,16,8"]);
    merge("the pixels 0,0,16,8");
    render(&scene, &["--size", "16x9", "--spp", "4", "--aov", "uv,depth"]);
    merge("its layers are uv, depth, not none");
    for option in [["--mip", "nearest"], ["--mip-bias", "1"], ["--derivative-calls", "merged"]] {
        render(&scene, &[&["--size", "16x9", "--spp", "4"], &option[..]].concat());
        merge("of another scene");
    }
    // A shader that the scene imports differs, in nothing but a constant.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").display().to_string();
    let moved = std::fs::read_to_string(&scene).expect("part of the project").replace("../..", &root);
    let matte = std::fs::read_to_string(format!("{root}/scenes/materials/matte.ssl")).expect("part of the project");
    let text = moved.replace(&format!("{root}/scenes/materials/matte.ssl"), "matte.ssl");
    let own = folder.file("scene.toml");
    std::fs::write(&own, text).expect("the temporary folder can be written");
    std::fs::write(folder.file("matte.ssl"), &matte).expect("as above");
    good(&["render", &own, "--size", "16x9", "--spp", "4", "--sample-range", "0..2", "-o", &a]);
    std::fs::write(folder.file("matte.ssl"), matte + "\n// changed\n").expect("as above");
    render(&own, &["--size", "16x9", "--spp", "4"]);
    merge("files have changed");
    std::fs::write(&b, b"P6").expect("as above");
    refused(&["merge", &a, &b, "-o", &picture], "S0020", "no partial render");
    std::fs::write(&b, &folder.bytes("a.part")[..300]).expect("as above");
    refused(&["merge", &a, &b, "-o", &picture], "S0020", "damaged");
    refused(&["merge", &a, &folder.file("gone.part"), "-o", &picture], "S0020", "gone.part");
    refused(&["render", &scene, "--spp", "4", "--sample-range", "2..5", "-o", &a], "S0004", "no 2..5");
}

/// A part takes its exposure along. Where parts have different ones, none of them is the picture's, in whichever order.
#[test]
fn parts_of_different_exposures_need_one() {
    let (folder, scene) = (Folder::new("exposures"), tiny());
    let file = |name: &str| folder.file(name);
    let render = |name: &str, more: &[&str]| {
        good(&[&["render", &scene, "--size", "16x9", "--spp", "4", "-o", &file(name)], more].concat());
    };
    let [a, b] = ["a.part", "b.part"].map(file);
    render("a.part", &["--sample-range", "0..2"]);
    render("b.part", &["--sample-range", "2..4", "--exposure", "2"]);
    render("whole.png", &["--exposure", "-1"]);
    for [first, second] in [[&a, &b], [&b, &a]] {
        for output in ["x.png", "x.part"] {
            refused(&["merge", first, second, "-o", &file(output)], "S0021", "say with `--exposure`");
        }
        good(&["merge", first, second, "-o", &file("x.png"), "--exposure", "-1"]);
        assert!(folder.bytes("x.png") == folder.bytes("whole.png"));
        // Light is the same with any.
        good(&["merge", first, second, "-o", &file("x.exr")]);
    }
}

#[test]
fn windows_have_the_pixels_of_the_whole() {
    let (folder, scene) = (Folder::new("crop"), tiny());
    let size = ["--size", "40x24", "--spp", "3"];
    let render = |name: &str, more: &[&str]| {
        good(&[&["render", &scene, "-o", &folder.file(name)], &size[..], more].concat());
    };
    render("whole.exr", &[]);
    render("whole.png", &[]);
    let whole = image::open(folder.file("whole.exr")).expect("a whole picture").into_rgb32f();
    let shown = image::open(folder.file("whole.png")).expect("a whole picture").into_rgb8();
    for [x0, y0, x1, y1] in [[0, 0, 40, 24], [5, 3, 38, 23], [17, 9, 18, 10]] {
        let crop = format!("{x0},{y0},{x1},{y1}");
        render("crop.exr", &["--crop", &crop]);
        render("crop.png", &["--crop", &crop]);
        let png = image::open(folder.file("crop.png")).expect("a whole picture").into_rgb8();
        assert_eq!((png.width(), png.height()), (x1 - x0, y1 - y0));
        let exr = exr::prelude::read_first_rgba_layer_from_file(
            folder.file("crop.exr"),
            |size, _| vec![vec![[0.0_f32; 3]; size.width()]; size.height()],
            |rows, at, (r, g, b, _): (f32, f32, f32, f32)| rows[at.y()][at.x()] = [r, g, b],
        )
        .expect("a whole picture");
        assert_eq!(exr.attributes.display_window.position, (0, 0).into());
        assert_eq!(exr.attributes.display_window.size, (40, 24).into());
        assert_eq!(exr.layer_data.attributes.layer_position, (x0 as i32, y0 as i32).into());
        assert_eq!(exr.layer_data.size, ((x1 - x0) as usize, (y1 - y0) as usize).into());
        for (x, y) in (y0..y1).flat_map(|y| (x0..x1).map(move |x| (x, y))) {
            assert_eq!(png.get_pixel(x - x0, y - y0), shown.get_pixel(x, y));
            let pixel = exr.layer_data.channel_data.pixels[(y - y0) as usize][(x - x0) as usize];
            assert_eq!(pixel.map(f32::to_bits), whole.get_pixel(x, y).0.map(f32::to_bits), "{x},{y}");
        }
    }
    let outside = ["--crop", "0,0,41,24"];
    let file = folder.file("x.png");
    refused(&[&["render", &scene, "-o", &file], &size[..], &outside].concat(), "S0004", "0,0,41,24");
    // As the scene says.
    let text = std::fs::read_to_string(&scene).expect("part of the project");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").display().to_string();
    let text = text
        .replace("../..", &root)
        .replace("width = 64\nheight = 36", "width = 40\nheight = 24\ncrop = [5, 3, 38, 23]");
    std::fs::write(folder.file("scene.toml"), &text).expect("the temporary folder can be written");
    good(&["render", &folder.file("scene.toml"), "-o", &folder.file("scene.png"), "--spp", "3"]);
    render("crop.png", &["--crop", "5,3,38,23"]);
    assert!(folder.bytes("crop.png") == folder.bytes("scene.png"));
    std::fs::write(folder.file("scene.toml"), text.replace("38, 23", "5, 23")).expect("as above");
    refused(&["check", &folder.file("scene.toml")], "S0004", "crop = [");
}

const LONG: [&str; 4] = ["--size", "48x27", "--spp", "32"];

#[test]
fn a_killed_render_goes_on_to_the_same_bytes() {
    let (folder, scene) = (Folder::new("kill"), tiny());
    let render = |name: &str, more: &[&str]| {
        let file = folder.file(name);
        let arguments = [&["render", &scene, "-o", &file], &LONG[..], &LAYERS[..], more].concat();
        let mut command = command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the program was built for this test")
    };
    let begun = Instant::now();
    let whole = render("whole.exr", &[]).wait_with_output().expect("our child");
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    let duration = begun.elapsed();
    let mut kept = 0;
    // At moments before, between and while checkpoints are written, with threads in other numbers each time. What the
    // machine needs for the whole picture tells how long that is.
    for (n, part) in [0.05, 0.2, 0.4, 0.6, 0.8].into_iter().enumerate() {
        let threads = (n % 3 + 1).to_string();
        let mut child = render("a.exr", &["--resume", "--checkpoint-every", "0.02", "--threads", &threads]);
        std::thread::sleep(duration.mul_f64(part));
        // SIGKILL, where there are signals; it may have ended by itself.
        let _ = child.kill();
        child.wait().expect("our child");
        kept += u32::from(folder.names().contains(&"a.exr.checkpoint".to_owned()));
    }
    assert!(kept > 0, "no checkpoint was kept: {:?}", folder.names());
    let last = render("a.exr", &["--resume", "--threads", "2"]).wait_with_output().expect("our child");
    assert_eq!(last.status.code(), Some(0), "{}", said(&last));
    assert!(folder.bytes("a.exr") == folder.bytes("whole.exr"));
    let left = folder.names().into_iter().filter(|n| !n.contains(".partial-")).collect::<Vec<_>>();
    assert_eq!(left, ["a.exr", "whole.exr"], "checkpoints go when the picture is there");
}

#[test]
fn checkpoints_of_other_pictures_are_refused_and_missing_ones_are_told() {
    let (folder, scene) = (Folder::new("resume"), tiny());
    let file = folder.file("a.png");
    let render = |more: &[&str]| shade(&[&["render", &scene, "-o", &file, "--size", "16x9"], more].concat());
    let begun = render(&["--spp", "4", "--resume"]);
    assert_eq!(begun.status.code(), Some(0));
    assert!(said(&begun).contains("there is no checkpoint") && said(&begun).contains("a.png.checkpoint"));
    // A limit of time keeps what there is, to go on from.
    let stopped = render(&["--spp", "100000", "--time-limit", "0.2"]);
    assert!(said(&stopped).contains("`--resume` goes on"), "{}", said(&stopped));
    let arguments = ["render", &scene, "-o", &file, "--size", "16x9", "--resume", "--spp"];
    refused(&[&arguments[..], &["9"]].concat(), "S0021", "100000 samples a pixel, not 9");
    refused(&[&arguments[..], &["100000", "--sample-range", "0..9"]].concat(), "S0021", "0..100000, not 0..9");
    let mut damaged = folder.bytes("a.png.checkpoint");
    damaged.pop();
    std::fs::write(folder.file("a.png.checkpoint"), damaged).expect("the temporary folder can be written");
    refused(&[&arguments[..], &["100000"]].concat(), "S0020", "damaged");
    // Without checkpoints nothing is kept, nor said of them.
    std::fs::remove_file(folder.file("a.png.checkpoint")).expect("as above");
    let stopped = render(&["--spp", "100000", "--time-limit", "0.2", "--checkpoint-every", "0"]);
    assert!(!said(&stopped).contains("--resume"), "{}", said(&stopped));
    assert_eq!(folder.names(), ["a.png"]);
}

#[test]
fn checkpoints_that_cannot_be_written_are_told_once_and_harm_nothing() {
    let (folder, scene) = (Folder::new("full"), tiny());
    // A folder stands where the checkpoint would be written.
    std::fs::create_dir_all(folder.file(".a.png.checkpoint.new")).expect("the temporary folder can be written");
    let file = folder.file("a.png");
    let out = good(&[&["render", &scene, "-o", &file, "--checkpoint-every", "0.01"], &LONG[..]].concat());
    assert_eq!(said(&out).matches("checkpoint could not be kept").count(), 1, "{}", said(&out));
    assert!(image::open(&file).is_ok());
}

#[cfg(unix)]
#[test]
fn signals_leave_a_checkpoint_that_is_named() {
    let (folder, scene) = (Folder::new("signals"), tiny());
    let file = folder.file("a.png");
    good(&[&["render", &scene, "-o", &folder.file("whole.png")], &LONG[..]].concat());
    for signal in ["-INT", "-TERM"] {
        let arguments = [&["render", &scene, "-o", &file, "--resume", "--threads", "1"], &LONG[..]].concat();
        let child = command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let child = child.expect("the program was built for this test");
        // Past loading, which takes milliseconds.
        std::thread::sleep(Duration::from_millis(150));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("every Unix has kill").success());
        let out = child.wait_with_output().expect("our child");
        // On a busy machine it may not have begun, on a fast one have ended.
        if out.status.code() == Some(130) && !said(&out).contains("before the first sample") {
            assert!(said(&out).contains("kept in `") && said(&out).contains("a.png.checkpoint"), "{}", said(&out));
            assert!(folder.names().contains(&"a.png.checkpoint".to_owned()));
        } else {
            assert!(matches!(out.status.code(), Some(0 | 130)), "{:?} {}", out.status, said(&out));
        }
    }
    good(&[&["render", &scene, "-o", &file, "--resume"], &LONG[..]].concat());
    assert!(folder.bytes("a.png") == folder.bytes("whole.png"));
}

/// Where memory has a limit, which can be set on Linux.
#[cfg(target_os = "linux")]
#[test]
fn a_film_too_large_for_the_memory_is_said_so() {
    let (folder, scene) = (Folder::new("memory"), tiny());
    let program = env!("CARGO_BIN_EXE_shade");
    let script = "ulimit -v 16000000; exec \"$0\" render \"$1\" -o \"$2\" --size 32768x32768 --threads 1";
    let out = Command::new("sh").args(["-c", script, program, &scene, &folder.file("a.exr")]).output();
    let out = out.expect("every Linux has sh");
    assert_eq!(out.status.code(), Some(4), "{:?} {}", out.status, said(&out));
    assert!(said(&out).contains("32768×32768 pixels takes"), "{}", said(&out));
    assert!(folder.names().is_empty());
}
