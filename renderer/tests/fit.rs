//! `shade fit` as a user meets it: results and checkpoints in a folder, exit codes, JSON.

use crate::shade;
use serde_json::Value;
use shade::{shade, text};
use ssl_tests::temporary::Folder;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(name).display().to_string()
}

/// A small version of the splats, with results in a folder.
fn splats<'a>(job: &'a str, folder: &'a str, steps: &'a str) -> Vec<&'a str> {
    let small = ["--set", "count=40", "--set", "size=4e-3", "--set", "buffers.target.size=[48,32]"];
    [&["fit", job, "-o", folder, "--steps", steps][..], &small].concat()
}

fn file(folder: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(folder).join(name)).unwrap_or_else(|e| panic!("{folder}/{name}: {e}"))
}

#[test]
fn a_fit_writes_its_results_and_says_so() {
    let folder = Folder::new("fit-curve");
    let out = folder.file("out");
    let said = shade(&["fit", &scene("fit/curve.toml"), "-o", &out, "--steps", "20", "--json"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    let json: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let fit = &json["fit"];
    assert_eq!((&fit["steps"], &fit["resumed_from"]), (&20.into(), &0.into()));
    assert_eq!(fit["history"].as_array().map(Vec::len), Some(3));
    assert_eq!(fit["last"]["step"], 20);
    for name in fit["files"].as_array().expect("a list") {
        assert!(!file(&out, name.as_str().expect("a name")).is_empty());
    }
    assert!(text(&file(&out, "loss.csv")).starts_with("step,loss,psnr\n0,"));
    let plain = shade(&["fit", &scene("fit/curve.toml"), "-o", &out, "--steps", "20"]);
    // A curve is no picture.
    assert!(text(&plain.stdout).contains("20 steps, loss ") && !text(&plain.stdout).contains("PSNR"), "{plain:?}");
    assert!(text(&plain.stderr).contains("memory: "), "{}", text(&plain.stderr));
}

/// The blobs that ship, in a picture of any size, and no checkpoint beside it.
#[test]
fn blobs_are_drawn_without_a_fit() {
    let folder = Folder::new("fit-drawn");
    let out = folder.file("out");
    let job = scene("splats/draw.toml");
    let said = shade(&["fit", &job, "-o", &out, "--set", "width=60", "--set", "height=34"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    assert!(text(&said.stdout).contains("picture.png written"), "{}", text(&said.stdout));
    let picture = file(&out, "picture.png");
    assert_eq!([picture[19], picture[23]], [60, 34]);
    let names = std::fs::read_dir(&out).expect("the folder was made").count();
    assert_eq!(names, 1, "nothing but the picture");
    let said = shade(&["fit", &job, "-o", &out, "--init", "none.npy"]);
    assert!(said.status.code() == Some(1) && text(&said.stderr).contains("J0001"), "{}", text(&said.stderr));
}

/// Killed again and again without a warning, whatever it is doing: at most the last checkpoint's step is lost.
#[cfg(unix)]
#[test]
fn a_killed_fit_goes_on_to_the_same_bytes() {
    let folder = Folder::new("fit-killed");
    let (job, straight, killed) = (scene("splats/photo.toml"), folder.file("straight"), folder.file("killed"));
    let whole = shade(&splats(&job, &straight, "60"));
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let again =
        [&splats(&job, &killed, "60")[..], &["--resume", "--checkpoint-every", "0", "--progress", "0"]].concat();
    let checkpoint = Path::new(&killed).join("fit.checkpoint");
    for _ in 0..3 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_shade"))
            .args(&again)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program was built for this test");
        let begin = Instant::now();
        let before = std::fs::metadata(&checkpoint).and_then(|m| m.modified()).ok();
        // Until it has taken a step at least, or is done.
        while child.try_wait().expect("a child").is_none() && begin.elapsed() < Duration::from_secs(60) {
            if std::fs::metadata(&checkpoint).and_then(|m| m.modified()).ok() != before {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it can be killed");
        child.wait().expect("a child");
    }
    let last = shade(&again);
    assert_eq!(last.status.code(), Some(0), "{}", text(&last.stderr));
    for name in ["blobs.npy", "picture.png", "loss.csv", "loss.svg", "fit.checkpoint"] {
        assert!(file(&straight, name) == file(&killed, name), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn two_fits_do_not_write_to_one_folder() {
    let folder = Folder::new("fit-shared");
    let (job, out) = (scene("splats/photo.toml"), folder.file("out"));
    let mut first = Command::new(env!("CARGO_BIN_EXE_shade"))
        .args([&splats(&job, &out, "1000000")[..], &["--checkpoint-every", "0"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built for this test");
    let begin = Instant::now();
    while !Path::new(&out).join("fit.checkpoint").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = shade(&splats(&job, &out, "1"));
    first.kill().expect("it can be killed");
    first.wait().expect("a child");
    assert_eq!(second.status.code(), Some(4), "{}", text(&second.stderr));
    assert!(text(&second.stderr).contains("another fit writes to the folder"), "{}", text(&second.stderr));
    // A lock does not outlive its process.
    let third = shade(&splats(&job, &out, "1"));
    assert_eq!(third.status.code(), Some(0), "{}", text(&third.stderr));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_state() {
    let folder = Folder::new("fit-interrupted");
    let (job, out) = (scene("splats/photo.toml"), folder.file("out"));
    let arguments = [&splats(&job, &out, "1000000")[..], &["--checkpoint-every", "0"]].concat();
    let child = Command::new(env!("CARGO_BIN_EXE_shade"))
        .args(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built for this test");
    let begin = Instant::now();
    while !Path::new(&out).join("fit.checkpoint").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let ended = child.wait_with_output().expect("a child");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("`--resume` goes on from there"), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).contains("stopped at "), "{}", text(&ended.stdout));
    // The loss until then can be looked at.
    assert!(text(&file(&out, "loss.csv")).starts_with("step,loss,psnr\n0,") && !file(&out, "loss.svg").is_empty());
}

#[test]
fn exit_codes_say_who_is_at_fault() {
    let folder = Folder::new("fit-codes");
    let (job, out) = (scene("splats/photo.toml"), folder.file("out"));
    let run = |more: &[&str]| {
        let said = shade(&[&splats(&job, &out, "2")[..], more].concat());
        (said.status.code(), text(&said.stderr))
    };
    let (code, said) = run(&["--set", "count=10000000", "--memory", "500"]);
    assert!(code == Some(4) && said.contains("J0010") && said.contains("may take 500 MB"), "{code:?} {said}");
    let (code, said) = run(&["--set", "target=none.png"]);
    assert!(code == Some(1) && said.contains("J0001"), "{code:?} {said}");
    let (code, said) = run(&["--set", "fuel=10"]);
    assert!(code == Some(1) && said.contains("J0009"), "{code:?} {said}");
    assert_eq!(run(&["--sweep", "guess"]).0, Some(2));
    assert_eq!(run(&["--memory", "0"]).0, Some(2));
    assert_eq!(shade(&["fit"]).status.code(), Some(2));
    let (code, said) = run(&[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["--resume", "--set", "fit.0.rate=0.1"]);
    assert!(code == Some(1) && said.contains("J0011"), "{code:?} {said}");
    std::fs::write(folder.file("file"), "").expect("it can be written");
    let blocked = folder.file("file");
    let said = shade(&splats(&job, &blocked, "1"));
    assert!(said.status.code() == Some(4) && text(&said.stderr).contains("J0012"), "{}", text(&said.stderr));
}

/// A loss that is no number is no success, however small the sum of the other terms is. Existing files stay.
#[test]
fn a_loss_that_is_not_finite_ends_with_an_error() {
    let folder = Folder::new("fit-nan");
    // The logarithm falls without end towards 0, and beyond there is none.
    let job = folder.write(
        "job.toml",
        "source = '''\nkernel k(in buffer<float> x, add buffer<float> loss) { loss[0] += log(x[index]); }\n'''\nsteps = 30\n\
         [buffers.x]\nvalues = [0.5, 0.9]\n[[launches]]\nkernel = 'k'\nover = 'x'\n[loss]\nbuffer = 'loss'\n\
         [[fit]]\nbuffer = 'x'\nmethod = 'sgd'\nrate = 0.05\n[[write]]\nbuffer = 'x'\nfile = 'x.npy'\n",
    );
    let out = folder.file("out");
    let said = shade(&["fit", &job, "-o", &out]);
    let text = text(&said.stderr);
    assert!(said.status.code() == Some(1) && text.contains("J0009"), "{text}");
    assert!(text.contains("adds NaN to element 0 of `loss`"), "{text}");
    assert!(!Path::new(&out).join("x.npy").exists(), "nothing is written as if it had ended well");
}

/// The command line says the range, and a job need not be read for it.
#[test]
fn steps_and_seeds_have_a_range() {
    let job = scene("fit/curve.toml");
    for option in ["--seed", "--steps"] {
        for n in ["9223372036854775808", "18446744073709551615", "-1"] {
            let said = shade(&["fit", &job, option, n]);
            assert_eq!(said.status.code(), Some(2), "{option} {n}");
            assert!(text(&said.stderr).contains(option), "{}", text(&said.stderr));
        }
    }
    let said = text(&shade(&["fit", &job, "--seed", "9223372036854775808"]).stderr);
    assert!(said.contains("0..=9223372036854775807"), "{said}");
    let folder = Folder::new("fit-seed");
    let out = folder.file("out");
    let said = shade(&["fit", &job, "--steps", "1", "--seed", "9223372036854775807", "-o", &out]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
}

/// Before the first step, every name is tried under which a result will be written.
#[test]
fn results_that_cannot_be_written_are_found_before_the_fit() {
    let folder = Folder::new("fit-blocked");
    let job = scene("fit/curve.toml");
    let run = |out: &str| {
        let said = shade(&["fit", &job, "-o", out, "--steps", "20"]);
        (said.status.code(), text(&said.stderr))
    };
    for name in ["curve.npy", "loss.csv", "loss.svg", "fit.checkpoint"] {
        let out = folder.file(&format!("folder-{name}"));
        std::fs::create_dir_all(Path::new(&out).join(name)).expect("it can be made");
        let (code, said) = run(&out);
        assert!(code == Some(4) && said.contains("J0012") && said.contains(name), "{name}: {code:?} {said}");
        assert_eq!(std::fs::read_dir(&out).expect("it is there").count(), 1, "{name}: nothing else was written");
    }
    #[cfg(unix)]
    {
        let (out, elsewhere) = (folder.file("linked"), folder.file("elsewhere"));
        std::fs::create_dir_all(&out).expect("it can be made");
        let link = Path::new(&out).join("curve.npy");
        std::os::unix::fs::symlink(Path::new(&elsewhere).join("curve.npy"), &link).expect("links can be made");
        let (code, said) = run(&out);
        assert!(code == Some(4) && said.contains("curve.npy"), "{code:?} {said}");
        // Once its folder is there, the file goes where the link leads.
        std::fs::create_dir_all(&elsewhere).expect("it can be made");
        let (code, said) = run(&out);
        assert_eq!(code, Some(0), "{said}");
        assert!(link.is_symlink() && Path::new(&elsewhere).join("curve.npy").is_file());
    }
}

/// Numbers of an array.
fn floats(folder: &str, name: &str) -> Vec<f32> {
    let bytes = file(folder, name);
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Conditions in integrals are all that these jobs can move; the samples alone have no gradient by them.
#[test]
fn edges_in_integrals_are_fitted() {
    let folder = Folder::new("fit-integrals");
    let run = |name: &str, array: &str| {
        let out = folder.file(name);
        let said = shade(&["fit", &scene(&format!("integrals/{name}.toml")), "-o", &out, "--json"]);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        let json: Value = serde_json::from_slice(&said.stdout).expect("JSON");
        (json["fit"]["last"]["loss"].as_f64().expect("a number"), floats(&out, array))
    };
    // Where Potto's run of 100 steps ends, with a loss below 1e-5.
    let (loss, cut) = run("risk", "cut.npy");
    assert!(loss < 1e-5, "{loss}");
    for (found, expected) in cut.iter().zip([-9.585, 10.177, 2.0]) {
        assert!((found - expected).abs() < 1e-2, "{cut:?}");
    }
    let (_, wall) = run("shadow", "wall.npy");
    assert!((wall[0] + 0.3).abs() < 2e-3 && (wall[1] - 0.5).abs() < 2e-3, "{wall:?}");
    let (loss, shape) = run("triangle", "shape.npy");
    assert!(loss < 1e-4, "{loss}");
    for (found, expected) in shape.iter().zip([0.2, 0.15, 0.85, 0.4, 0.35, 0.9]) {
        assert!((found - expected).abs() < 5e-3, "{shape:?}");
    }
}

#[test]
fn jobs_are_checked_like_scenes() {
    let said = shade(&["check", &scene("fit"), &scene("splats"), &scene("integrals"), "--json"]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stdout));
    let said = shade(&["check", &scene("fit/curve.toml"), "--set", "fit.0.method=newton"]);
    assert!(
        said.status.code() == Some(1) && text(&said.stderr).contains("there are adam, sgd"),
        "{}",
        text(&said.stderr)
    );
    let said = shade(&["fit", &scene("inverse/spheres-job.toml")]);
    assert!(
        said.status.code() == Some(1) && text(&said.stderr).contains("`shade fit SCENE.toml --job "),
        "{}",
        text(&said.stderr)
    );
    let said = shade(&["explain", "J0007"]);
    assert!(text(&said.stdout).contains("Right:"), "{}", text(&said.stdout));
}

/// A folder with a scene and with jobs of both kinds: `--set` is for the scene.
#[test]
fn keys_of_scenes_are_set_beside_jobs() {
    let folder = Folder::new("fit-beside");
    let camera = "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n";
    folder.write("scene.toml", &format!("{camera}[environment]\ntype = \"constant\"\nradiance = [1, 1, 1]\n"));
    for name in ["curve.toml", "curve.ssl"] {
        std::fs::copy(scene(&format!("fit/{name}")), folder.file(name)).expect("the folder can be written");
    }
    let check = |set: &str| {
        let said = shade(&["check", &folder.path().display().to_string(), "--set", set]);
        (said.status.code(), text(&said.stderr))
    };
    let (code, said) = check("film.width=8");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = check("film.width=-8");
    assert!(code == Some(1) && said.contains("S0004") && !said.contains("J0"), "{said}");
}

#[test]
fn the_published_schema_is_that_of_the_program() {
    let said = shade(&["fit", "--schema"]);
    let published = std::fs::read_to_string(scene("job.schema.json")).expect("it is published");
    assert_eq!(text(&said.stdout), published.replace("\r\n", "\n"));
    let schema: Value = serde_json::from_str(&published).expect("JSON");
    // Every reference leads to a table.
    let references = published.matches("\"#/$defs/").count();
    let tables = schema["$defs"].as_object().expect("tables");
    assert!(references >= tables.len() && tables.keys().all(|name| published.contains(&format!("#/$defs/{name}"))));
}
