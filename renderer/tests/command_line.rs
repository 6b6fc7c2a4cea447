//! `shade render` as a user meets it: exit codes, and what is left behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn shade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("the program was built for this test")
}

fn tiny() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/render_scenes/tiny.toml").display().to_string()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("shade-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the temporary folder can be written");
    path
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_scene_becomes_a_picture_with_statistics() {
    let folder = folder("picture");
    let (picture, stats) = (folder.join("tiny.exr"), folder.join("tiny.json"));
    let (p, s) = (picture.display().to_string(), stats.display().to_string());
    let out = shade(&["render", &tiny(), "-o", &p, "--spp", "2", "--size", "32x18", "--stats", &s]);
    assert_eq!(code(&out), 0, "{}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stderr.is_empty(), "nothing is said where nothing is wrong");
    let image = image::open(&picture).expect("a whole picture").into_rgb32f();
    assert_eq!((image.width(), image.height()), (32, 18));
    let stats: serde_json::Value = serde_json::from_slice(&std::fs::read(&stats).expect("written")).expect("JSON");
    assert_eq!(stats["samples"], 32 * 18 * 2);
    // What threads did takes no longer than they were there, and they were not idle.
    let stages = stats["stages"].as_array().expect("a list");
    let spent = |name: &str| {
        let stage = stages.iter().find(|s| s["stage"] == name).unwrap_or_else(|| panic!("no stage {name}"));
        stage["seconds"].as_f64().expect("a number")
    };
    let all: f64 = stages.iter().map(|s| spent(s["stage"].as_str().expect("a name"))).sum();
    let number = |name: &str| stats[name].as_f64().expect("a number");
    assert!(all <= number("seconds") * number("threads") * 1.01, "{all} {stats}");
    assert!(spent("rays") > 0.0 && spent("shaders") > 0.0 && spent("sampling") > 0.0, "{stats}");
    // Each hit is a lane of one block.
    let lanes = stats["lanes"].as_array().expect("a list");
    let kinds: Vec<&str> = lanes.iter().map(|l| l["kind"].as_str().expect("a name")).collect();
    assert_eq!(kinds, ["surfaces", "emission", "opacity", "environment"]);
    let [blocks, mean] = ["blocks", "mean"].map(|key| lanes[0][key].as_f64().expect("a number"));
    assert!((blocks * mean - number("shaded_points")).abs() < 0.5 && (1.0..=16.0).contains(&mean), "{stats}");
    assert_eq!(std::fs::read_dir(&folder).expect("as above").count(), 2);
    std::fs::remove_dir_all(&folder).expect("as above");
}

#[test]
fn exit_codes_say_whose_fault_it_is() {
    let scene = tiny();
    let folder = folder("codes");
    let out = |name: &str| folder.join(name).display().to_string();
    assert_eq!(code(&shade(&["render", &scene, "-o", &out("a.jpeg")])), 1);
    assert_eq!(code(&shade(&["render", "no-such-scene.toml", "-o", &out("a.png")])), 1);
    assert_eq!(code(&shade(&["render", &scene, "-o", "/no/such/folder/a.png"])), 4);
    for wrong in [
        &["render"][..],
        &["render", &scene, "--size", "0x10"],
        &["render", &scene, "--spp", "-1"],
        &["paint"],
        &["render", &scene, "--mip-bias", "nan"],
        &["render", &scene, "--exr", "quarter"],
        &["eval", "a.ssl", "--points", "10"],
        &["texture", "make", "a.png", "-o", &out("new/")],
    ] {
        assert_eq!(code(&shade(wrong)), 2, "{wrong:?}");
    }
    assert_eq!(code(&shade(&["render", "--help"])), 0);
    assert_eq!(std::fs::read_dir(&folder).expect("as above").count(), 0, "nothing was left behind");
    std::fs::remove_dir_all(&folder).expect("as above");
}

#[test]
fn a_missing_texture_is_magenta_and_exit_code_3() {
    let folder = folder("missing");
    let text = std::fs::read_to_string(tiny()).expect("the scene is part of the project");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").display().to_string();
    let moved = text.replace("../../scenes/textures/tiles.png", "gone.png").replace("../..", &root);
    let scene = folder.join("scene.toml");
    std::fs::write(&scene, moved).expect("as above");
    let picture = folder.join("a.png").display().to_string();
    let out = shade(&["render", &scene.display().to_string(), "-o", &picture, "--spp", "4"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 3, "{said}");
    assert_eq!(said.matches("S0008").count(), 1, "{said}");
    // The floor fills the lower edge of the picture.
    let image = image::open(&picture).expect("a whole picture").into_rgb8();
    let p = image.get_pixel(image.width() / 2, image.height() - 1).0;
    assert!(p[0] > 2 * p[1] && p[2] > 2 * p[1], "{p:?} is not magenta");
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// Images are converted, into a folder. Where files stand in the places of folders, nothing can be written.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_costs_no_texture() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = folder("conversions");
    let (blocked, other) = (folder.join("file"), folder.join("other"));
    std::fs::write(&blocked, "").expect("the temporary folder can be written");
    std::fs::create_dir(&other).expect("as above");
    let picture = |name: &str| folder.join(name).display().to_string();
    let render = |textures: &Path, temporary: &Path, picture: &str| {
        let mut shade = Command::new(env!("CARGO_BIN_EXE_shade"));
        shade.env("SSL_TEXTURE_CACHE", textures).env("TMPDIR", temporary);
        let out = shade.args(["render", &tiny(), "-o", picture, "--spp", "1", "--size", "32x18"]).output();
        let out = out.expect("the program was built for this test");
        (code(&out), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert_eq!(render(&folder.join("good"), &other, &picture("good.png")), (0, String::new()));
    // The other folder takes its place, and the picture is the same.
    let (code, said) = render(&blocked, &other, &picture("other.png"));
    assert_eq!((code, said.matches("S0023").count(), said.contains("S0008")), (0, 1, false), "{said}");
    let bytes = |name: &str| std::fs::read(picture(name)).expect("it was rendered");
    assert!(bytes("good.png") == bytes("other.png"));
    // It is this user's alone.
    let about = std::fs::metadata(&other).expect("it was made");
    let own = other.join(format!("ssl-textures-{}", about.uid()));
    assert_eq!(std::fs::metadata(&own).expect("it was made").mode() & 0o777, 0o700);
    // Where others could put files into it, it is not used.
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    let (code, said) = render(&blocked, &other, &picture("none.png"));
    assert!(code == 4 && said.contains("others may write to it"), "{code} {said}");
    // Neither: nothing is rendered.
    let (code, said) = render(&blocked, &blocked, &picture("none.png"));
    assert_eq!((code, said.matches("S0023").count(), said.contains("S0008")), (4, 1, false), "{said}");
    assert!(said.contains("SSL_TEXTURE_CACHE"), "{said}");
    assert!(!Path::new(&picture("none.png")).exists());
    std::fs::remove_dir_all(&folder).expect("as above");
}

#[test]
fn a_time_limit_stops_in_time_with_a_picture() {
    let folder = folder("limit");
    let picture = folder.join("a.png").display().to_string();
    let begin = std::time::Instant::now();
    let out = shade(&["render", &tiny(), "-o", &picture, "--spp", "1000000", "--time-limit", "0.3"]);
    // The picture is less than was asked for, and that is said.
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 3, "{said}");
    assert!(said.contains("the time limit was reached") && said.contains("of 1000000 samples a pixel"), "{said}");
    assert!(begin.elapsed().as_secs() < 20);
    assert!(String::from_utf8_lossy(&out.stdout).contains("stopped at"));
    assert!(image::open(&picture).is_ok());
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// A link stays a link, and no picture takes the place of a device.
#[cfg(unix)]
#[test]
fn what_links_lead_to_is_written() {
    let folder = folder("links");
    let (real, link, null) = (folder.join("real.png"), folder.join("link.png"), folder.join("null.png"));
    for (target, name) in [(real.as_path(), &link), (Path::new("/dev/null"), &null)] {
        std::os::unix::fs::symlink(target, name).expect("the folder is there");
        let out = shade(&["render", &tiny(), "--spp", "1", "-o", &name.display().to_string()]);
        assert_eq!(code(&out), 0, "{}", String::from_utf8_lossy(&out.stderr));
        assert!(name.is_symlink());
    }
    assert!(image::open(&real).is_ok());
    assert!(!std::fs::metadata(&null).expect("it leads there").is_file());
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// A picture without samples would be black, and a checkpoint without them be worth less than what is there.
#[test]
fn what_has_no_samples_replaces_no_picture_and_no_checkpoint() {
    let folder = folder("none-taken");
    let picture = folder.join("a.png").display().to_string();
    let checkpoint = format!("{picture}.checkpoint");
    std::fs::write(&picture, "a picture").expect("the folder is there");
    std::fs::write(&checkpoint, "a checkpoint").expect("as above");
    let out = shade(&["render", &tiny(), "-o", &picture, "--spp", "64", "--time-limit", "1e-9"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(code(&out) == 3 && said.contains("nothing was written") && !said.contains("kept in"), "{said}");
    let summary = String::from_utf8_lossy(&out.stdout);
    assert!(summary.starts_with("no picture was written: stopped at 0.0 of 64 samples a pixel"), "{summary}");
    assert_eq!(std::fs::read(&picture).expect("it is there"), b"a picture");
    assert_eq!(std::fs::read(&checkpoint).expect("it is there"), b"a checkpoint");
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// Fewer samples than tiles take at least are all taken.
#[test]
fn few_samples_are_taken_whatever_the_noise() {
    let folder = folder("few");
    let picture = folder.join("a.png").display().to_string();
    let few = ["render", &tiny(), "-o", &picture, "--adaptive", "0.1", "--spp", "8"];
    let out = shade(&few);
    assert_eq!(code(&out), 0, "{}", String::from_utf8_lossy(&out.stderr));
    let out = shade(&[&few[..], &["--min-spp", "16"]].concat());
    assert_eq!(code(&out), 1, "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// No clock reaches that far.
#[test]
fn a_time_limit_beyond_all_time_is_none() {
    let folder = folder("endless");
    let picture = folder.join("a.png").display().to_string();
    let out = shade(&["render", &tiny(), "-o", &picture, "--spp", "1", "--time-limit", "1e19"]);
    assert_eq!(code(&out), 0, "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::remove_dir_all(&folder).expect("as above");
}

#[cfg(unix)]
#[test]
fn an_interrupted_render_keeps_its_picture() {
    let folder = folder("interrupt");
    let picture = folder.join("a.png");
    let child = Command::new(env!("CARGO_BIN_EXE_shade"))
        .args(["render", &tiny(), "-o", &picture.display().to_string(), "--spp", "1000000"])
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut child = child.expect("the program was built for this test");
    // Long enough to be past loading, which takes milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("every Unix has kill").success());
    let status = child.wait().expect("it is our child");
    assert_eq!(status.code(), Some(130));
    assert!(image::open(&picture).is_ok());
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// The folder of code saves time and changes nothing, also where it cannot be used.
#[test]
fn code_is_kept_where_it_is_to_be_and_pictures_stay_the_same() {
    let folder = folder("code");
    let code_folder = folder.join("code");
    let render = |kept: &str, picture: &str| {
        let path = folder.join(picture);
        let mut shade = Command::new(env!("CARGO_BIN_EXE_shade"));
        shade.args(["render", &tiny(), "--spp", "1", "--size", "32x18", "--code-cache", kept, "-o"]).arg(&path);
        // With two tiers, how much is kept depends on how far the better one comes before the end.
        shade.args(["--backend", "cranelift"]);
        let out = shade.output().expect("the program was built for this test");
        assert_eq!(code(&out), 0);
        (std::fs::read(path).expect("it was rendered"), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let files = || std::fs::read_dir(&code_folder).expect("it was made").count();
    let (plain, said) = render("off", "off.png");
    assert!(said.is_empty() && !code_folder.exists(), "{said}");
    let kept = code_folder.display().to_string();
    assert_eq!(render(&kept, "first.png"), (plain.clone(), String::new()));
    let count = files();
    assert!(count > 0);
    assert_eq!(render(&kept, "second.png"), (plain.clone(), String::new()));
    assert_eq!(files(), count);
    // Damaged: made anew.
    for entry in std::fs::read_dir(&code_folder).expect("as above").flatten() {
        std::fs::write(entry.path(), "SSLCODE1 and then nothing of the kind").expect("it is ours");
    }
    assert_eq!(render(&kept, "third.png"), (plain.clone(), String::new()));
    let file = folder.join("off.png").display().to_string();
    let (picture, said) = render(&file, "fourth.png");
    assert_eq!(picture, plain);
    assert!(said.contains("compiled code is not kept") && said.contains("--code-cache"), "{said}");
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// A number that is out of range is told of as one, not taken for an option.
#[test]
fn hostile_numbers_are_told_of_as_what_they_are() {
    let folder = folder("numbers");
    let shader = folder.join("k.ssl");
    std::fs::write(&shader, "shader k(float k = 1.0, out float o) { o = k; }").expect("the folder can be written");
    let shader = shader.display().to_string();
    let (scene, missing) = (tiny(), folder.join("gone.toml").display().to_string());
    let cases: [(&[&str], i32, &str); 6] = [
        (&["render", &scene, "--spp", "-1"], 2, "'-1' for '--spp <N>'"),
        (&["render", &scene, "--time-limit", "-1"], 2, "a time limit is a positive number"),
        (&["render", &scene, "--threads", "-2"], 2, "'-2' for '--threads <N>'"),
        (&["eval", &shader, "--param", "k=1e400"], 2, "`1e400` is too large for a float"),
        (&["eval", &shader, "--param", "k=1e39"], 2, "`1e39` is too large for a float"),
        (&["eval", &shader, "--param", "k=inf"], 0, ""),
    ];
    for (arguments, expected, said) in cases {
        let out = shade(arguments);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(code(&out), expected, "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    // The path of a scene is taken from where the program runs.
    let out = shade(&["render", &missing]);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    std::fs::remove_dir_all(&folder).expect("it was made");
    assert!(code(&out) == 1 && !stderr.contains("the folder of the scene"), "{stderr}");
}

#[test]
fn hints_say_what_to_do_about_what_is_wrong() {
    let folder = folder("hints");
    let at = |name: &str| folder.join(name).display().to_string();
    std::fs::write(at("hill.ssl"), "shader hill(out float o) { o = 1.0; }").expect("the folder can be written");
    let (scene, shader, picture, stats) = (tiny(), at("hill.ssl"), at("a.png"), at("none/s.json"));
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--stats", &stats, &scene], "name a file in a folder that exists", "choose a picture"),
        (&["--gradient", "nope", &scene], "`shade fit SCENE --list` names all", "; `--list`"),
        (&[&shader], "is a shader file, not a scene", "key"),
        (&[&shader], "`shade eval ", "table"),
    ];
    for (arguments, wanted, unwanted) in cases {
        let out = shade(&[&["render", "-o", &picture], arguments].concat());
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(code(&out) != 0 && said.contains(wanted) && !said.contains(unwanted), "{arguments:?}: {said}");
    }
    std::fs::remove_dir_all(&folder).expect("as above");
}

/// A file of another kind than the command takes is named, with the command that takes it; what would be found in it is not told.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = folder("kinds");
    let at = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the folder can be written");
        path.display().to_string()
    };
    let shader = at("hill.ssl", "shader hill(out float o) { o = 1.0; }");
    let graph = at("graph.toml", "[graph]\nname = \"g\"\n[units.hill]\nfile = \"hill.ssl\"\n");
    let job = at("job.toml", "file = \"a.ssl\"\n[[launches]]\nrun = \"draw\"\n");
    let scene_job = at("scene-job.toml", "steps = 1\n[[views]]\ntarget = \"a.png\"\n");
    let scene = tiny();
    let cases: [(&[&str], &str, &str); 11] = [
        (&["eval", &scene], "is a scene, not a graph", "`shade render"),
        (&["dump", "--stage", "ast", &scene], "is a scene, not a graph", "`shade render"),
        (&["graph", "check", &job], "is a job of kernels, not a graph", "`shade fit "),
        (&["render", &graph], "is a graph, not a scene", "a material that has `graph"),
        (&["render", &job], "is a job of kernels, not a scene", "`shade fit "),
        (&["info", &scene_job], "is a job that fits a scene, not a scene", "`shade fit SCENE.toml --job"),
        (&["fit", &shader], "is a shader file, not a job of kernels", "`shade eval"),
        (&["fit", &scene], "is a scene, not a job of kernels", "`shade render"),
        (&["fit", &scene_job], "is a job that fits a scene, not a job of kernels", "`shade fit SCENE.toml --job"),
        (&["fit", &scene, "--job", &job], "is a job of kernels, not a job that fits a scene", "`shade fit "),
        (&["fit", &job, "--list"], "is a job of kernels, not a scene", "`shade fit "),
    ];
    for (arguments, wanted, hint) in cases {
        let out = shade(arguments);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(code(&out) == 1 && said.contains(wanted) && said.contains(hint), "{arguments:?}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{arguments:?}: {said}");
    }
    // Where it is not beyond doubt, what is wrong with the file is told.
    let unseen =
        at("unseen.toml", "steps = 1\n[[view]]\ntarget = \"a.png\"\n[[fit]]\nparameters = \"*\"\nrate = 0.1\n");
    let stray = at(
        "stray.toml",
        "steps = 1\n[camera]\n[[views]]\ntarget = \"a.png\"\n[[fit]]\nparameters = \"*\"\nrate = 0.1\n",
    );
    let broken = at("broken.json", "{ \"buffers\": { \"camera\": {} } \"launches\": [] }");
    let cases: [(&[&str], &str); 4] = [
        (&["fit", &scene, "--job", &unseen], "`view`"),
        (&["fit", &scene, "--job", &stray], "`camera`"),
        (&["check", &stray], "`camera`"),
        (&["fit", &broken], "J0002"),
    ];
    for (arguments, wanted) in cases {
        let out = shade(arguments);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(code(&out) == 1 && said.contains(wanted) && !said.contains(", not a"), "{arguments:?}: {said}");
    }
    std::fs::remove_dir_all(&folder).expect("as above");
}
