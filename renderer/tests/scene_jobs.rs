//! Jobs that fit scenes: what is wrong with them is told, also before the scene is known, and what was fitted to something
//! else is not gone on with.

use crate::ran;
use ran::shade;
use ssl_tests::rooms::{LAMP, MATTE, materials, room};
use ssl_tests::temporary::Folder;

const FIT: &str = "steps = 40\nsamples = 4\nevery = 20\n[[views]]\ntarget = \"target.exr\"\n\
    [[fit]]\nparameters = \"materials.floor.tint\"\nrate = 0.05\nstart = 0.4\nlow = 0.01\nhigh = 1.0\n\
    [[fit]]\nparameters = \"materials.ball.*\"\nrate = 0.03\nlow = 0.01\nhigh = 2.0\n";

/// The job with more in its view.
fn seen(view: &str) -> String {
    FIT.replace("\"target.exr\"", &format!("\"target.exr\"\n{view}"))
}

/// What was fitted to a picture as seen from one place is not gone on with from another.
#[test]
fn other_cameras_are_told() {
    let folder = Folder::new("cameras");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let target = image::Rgb32FImage::from_pixel(8, 6, image::Rgb([0.5; 3]));
    target.save(folder.file("target.exr")).expect("the folder can be written");
    let run = |from: &str, more: &[&str]| {
        let job = folder.write("job.toml", &seen(from).replace("every = 20\n", ""));
        let base = ["fit", scene.as_str(), "--job", job.as_str(), "-o", &folder.file("out")];
        let (code, _, said) = shade(&[&base[..], more].concat());
        (code, said)
    };
    let begun = "position = [1, 1.5, 5]\nup = [0, 1, 0]\n";
    assert_eq!(run(begun, &["--steps", "1"]).0, 0);
    for other in ["position = [1, 1.5, 6]\n", "position = [1, 1.5, 5]\nlook_at = [0, 0.5, 0]\n", "up = [0, 1, 0.1]\n"] {
        let (code, said) = run(other, &["--steps", "2", "--resume"]);
        assert!(code == 1 && said.contains("J0011"), "{other}: {code} {said}");
    }
    // The scene's up vector, whether the view says so or not, is the same camera.
    let (code, said) = run("position = [1, 1.5, 5]\n", &["--steps", "2", "--resume"]);
    assert_eq!(code, 0, "{said}");
}

/// Of an integrator without gradients nothing is rendered first.
#[test]
fn integrators_without_gradients_are_refused_at_once() {
    let folder = Folder::new("integrator");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let target = image::Rgb32FImage::from_pixel(8, 6, image::Rgb([0.5; 3]));
    target.save(folder.file("target.exr")).expect("the folder can be written");
    let job = folder.write("job.toml", &FIT.replace("every = 20\n", ""));
    for (kind, expected) in [("ao", 1), ("whitted", 1), ("direct", 0)] {
        let set = format!("integrator.type={kind}");
        let out = folder.file(kind);
        let (code, _, said) = shade(&["fit", &scene, "--job", &job, "--set", &set, "-o", &out, "--steps", "1"]);
        assert_eq!(code, expected, "{kind}: {said}");
        assert_eq!(said.contains("only the integrators `path` and `direct` have gradients"), expected == 1, "{said}");
        assert!(!said.contains("--list"), "{said}");
    }
}

/// A start that bounds or a shape rule out would be replaced by another one.
#[test]
fn starts_lie_between_bounds() {
    let folder = Folder::new("starts");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let target = image::Rgb32FImage::from_pixel(8, 6, image::Rgb([0.5; 3]));
    target.save(folder.file("target.exr")).expect("the folder can be written");
    for (start, right) in
        [("start = 1.0", true), ("start = 7.0", false), ("start = [0.4, 0.4, 1.5]", false), ("start = 0.0", false)]
    {
        let job = folder.write("job.toml", &FIT.replace("every = 20\n", "").replace("start = 0.4", start));
        let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out"), "--steps", "1"]);
        assert_eq!((code, said.contains("cannot start at")), (i32::from(!right), !right), "{start}: {said}");
    }
    let shaped =
        FIT.replace("every = 20\n", "").replace("start = 0.4\nlow = 0.01\nhigh = 1.0", "start = 0.0\nshape = \"exp\"");
    let job = folder.write("job.toml", &shaped);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out"), "--steps", "1"]);
    assert!(code == 1 && said.contains("cannot start at 0"), "{said}");
}

/// What is wrong with a job is found before its scene is known, and in folders, too.
#[test]
fn jobs_of_scenes_are_checked_without_their_scenes() {
    let folder = Folder::new("check");
    let target = |name: &str, width: u32| {
        let picture = image::Rgb32FImage::from_pixel(width, 6, image::Rgb([0.5; 3]));
        picture.save(folder.file(name)).expect("the folder can be written");
    };
    target("target.exr", 8);
    target("mask.exr", 7);
    let check = |text: &str| {
        folder.write("job.toml", text);
        let (code, _, said) = shade(&["check", &folder.path().display().to_string()]);
        (code, said)
    };
    for good in [FIT.to_owned(), seen("position = [0, 9, 0]"), seen("position = [0, 9, 0]\nlook_at = [0, 0, 0]")] {
        let (code, said) = check(&good);
        assert_eq!((code, said.as_str()), (0, ""), "{good}");
    }
    for (text, message) in [
        (FIT.replace("rate = 0.03", "rte = 0.03"), "`rte` is no key of a fit"),
        (FIT.replace("steps = 40", "steps = 0"), "must be from 1"),
        (FIT.replace("high = 1.0", "high = 0.001"), "the bounds 0.01 and 0.001 leave no room"),
        (FIT.replace("rate = 0.03", "rate = -0.03"), "`rate` must be 0 or more"),
        (FIT.replace("target.exr", "targt.exr"), "did you mean"),
        (FIT.replace("every = 20", "halvings = 2\ncoarse_steps = 20"), "no step of 40 is left"),
        (FIT.replace("every = 20", "halvings = 2"), "multiples of 4"),
        (seen("mask = \"mask.exr\""), "the mask has 7×6 pixels, and the target 8×6"),
        (seen("position = [1, 2, 3]\nlook_at = [1, 2, 3]"), "the camera looks at where it stands"),
        (seen("position = [0, 9, 0]\nlook_at = [0, 0, 0]\nup = [0, 1, 0]"), "lies along its line of sight"),
        (seen("up = [0, 1]"), "the camera's up vector has three numbers"),
    ] {
        let (code, said) = check(&text);
        assert!(code == 1 && said.contains(message), "{message}: {code} {said}");
    }
}
