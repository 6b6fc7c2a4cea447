//! Fits of scenes that stop and go on: what the checkpoint must be, and that nothing of a step is done by half.

use crate::ran;
use ran::shade;
use ssl_tests::rooms::{LAMP, MATTE, materials, room};
use ssl_tests::temporary::Folder;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const JOB: &str = "steps = 6\nsamples = 1\n[[views]]\ntarget = \"target.exr\"\n\
    [[fit]]\nparameters = \"materials.floor.tint\"\nrate = 0.05\nstart = 0.4\n\
    [[fit]]\nparameters = \"materials.ball.*\"\nrate = 0.03\n";

fn scene(folder: &Folder) -> String {
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("target.exr"), "--spp", "4", "--size", "8x6"]);
    assert_eq!(code, 0, "{said}");
    folder.write("job.toml", JOB);
    scene
}

fn fit(folder: &Folder, scene: &str, more: &[&str]) -> (i32, String) {
    let (job, out) = (folder.file("job.toml"), folder.file("out"));
    let (code, _, said) = shade(&[&["fit", scene, "--job", &job, "-o", &out], more].concat());
    (code, said)
}

fn checkpoint(folder: &Folder) -> Vec<u8> {
    std::fs::read(folder.file("out/fit.checkpoint")).expect("it is kept")
}

#[test]
fn damaged_checkpoints_are_refused() {
    let folder = Folder::new("damaged-fit");
    let scene = scene(&folder);
    assert_eq!(fit(&folder, &scene, &[]).0, 0);
    let whole = checkpoint(&folder);
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let longer = [&whole[..], &[0; 4]].concat();
    let shorter = whole[..whole.len() - 1].to_vec();
    for bytes in [flipped(16), flipped(whole.len() / 2), flipped(whole.len() - 20), longer, shorter] {
        std::fs::write(folder.file("out/fit.checkpoint"), bytes).expect("as before");
        let (code, said) = fit(&folder, &scene, &["--resume", "--steps", "8"]);
        assert!(code == 1 && said.contains("damaged"), "{code} {said}");
    }
}

#[test]
fn checkpoints_of_other_jobs_are_refused() {
    let folder = Folder::new("other-fit");
    let scene = scene(&folder);
    assert_eq!(fit(&folder, &scene, &[]).0, 0);
    for (old, new, why) in [
        ("steps = 6", "steps = 5", "it has taken 6 steps, and the job has 5"),
        ("start = 0.4", "start = 0.1", "of another job"),
        ("rate = 0.05", "rate = 0.1", "of another job"),
    ] {
        folder.write("job.toml", &JOB.replace(old, new));
        let (code, said) = fit(&folder, &scene, &["--resume"]);
        assert!(code == 1 && said.contains(why), "{new}: {code} {said}");
    }
    folder.write("job.toml", JOB);
    assert_eq!(fit(&folder, &scene, &["--resume", "--steps", "8"]).0, 0);
}

/// A crop of the scene's film is none of a fit: views are as large as their targets.
#[test]
fn the_films_crop_changes_no_fit() {
    let folder = Folder::new("cropped-fit");
    let scene = scene(&folder);
    assert_eq!(fit(&folder, &scene, &[]).0, 0);
    let losses = || std::fs::read_to_string(folder.file("out/loss.csv")).expect("it is written");
    let whole = losses();
    let (code, said) = fit(&folder, &scene, &["--set", "film.crop=[1, 1, 4, 4]"]);
    assert!(code == 0 && losses() == whole, "{said}\n{whole}{}", losses());
}

/// Interrupted again and again, whatever it is doing.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_goes_on_to_the_same_bytes() {
    let folder = Folder::new("interrupted-fit");
    let scene = scene(&folder);
    let steps = ["--steps", "60", "--checkpoint-every", "0"];
    assert_eq!(fit(&folder, &scene, &steps).0, 0);
    let kept =
        || ["loss.csv", "scene.json", "fit.checkpoint"].map(|name| std::fs::read(folder.file(&format!("out/{name}"))));
    let whole = kept().map(|file| file.expect("it is written"));
    std::fs::remove_dir_all(folder.file("out")).expect("it was written");
    for delay in 0..8 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_shade"))
            .args(["fit", &scene, "--job", &folder.file("job.toml"), "-o", &folder.file("out"), "--resume"])
            .args(steps)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program was built for this test");
        let (begin, before) = (Instant::now(), kept()[2].as_ref().ok().cloned());
        while kept()[2].as_ref().ok() == before.as_ref()
            && child.try_wait().expect("a child").is_none()
            && begin.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(3 * delay));
        let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupted.is_ok());
        let ended = child.wait_with_output().expect("a child");
        let (code, said) = (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned());
        // It may be done by then.
        assert!(code == Some(130) && said.contains("`--resume` goes on") || code == Some(0), "{code:?} {said}");
    }
    assert_eq!(fit(&folder, &scene, &[&steps[..], &["--resume"]].concat()).0, 0);
    assert!(kept().map(|file| file.expect("it is written")) == whole);
}
