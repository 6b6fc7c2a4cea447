//! `shade fit SCENE --job JOB`: fits find back what their targets were made with, and say what is wrong.

use crate::ran;
use ran::shade;
use ssl_tests::rooms::{DUST, LAMP, MATTE, MIRROR, PICTURED, materials, pictured, room};
use ssl_tests::temporary::Folder;
use std::path::Path;

const FIT: &str = "steps = 40\nsamples = 4\nevery = 20\n[[views]]\ntarget = \"target.exr\"\n\
    [[fit]]\nparameters = \"materials.floor.tint\"\nrate = 0.05\nstart = 0.4\nlow = 0.01\nhigh = 1.0\nschedule = { type = \"cosine\", last = 0.05, steps = 40 }\n\
    [[fit]]\nparameters = \"materials.ball.*\"\nrate = 0.03\nlow = 0.01\nhigh = 2.0\n\
    schedule = { type = \"cosine\", last = 0.05, steps = 40 }\n";

/// Compares numbers of the scene that a fit wrote, by JSON pointers, with those of its target, within so much for each unit
/// of them.
fn assert_found(folder: &Folder, within: f64, wanted: &[(&str, f64)]) {
    let text = std::fs::read_to_string(folder.file("out/scene.json")).expect("it is written");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for (pointer, wanted) in wanted {
        let value = found.pointer(pointer).and_then(serde_json::Value::as_f64);
        let value = value.unwrap_or_else(|| panic!("{pointer}: {text}"));
        assert!((value - wanted).abs() < within * wanted.abs(), "{pointer} = {value} instead of {wanted}");
    }
}

/// A picture that is as shown on a screen has the film's exposure; that is found beside a color of the light.
#[test]
fn an_exposure_and_a_light_are_found() {
    let folder = Folder::new("exposure");
    let scene = room(&materials(MATTE, MATTE, MATTE), 1, "").replace("height = 5\n", "height = 5\nexposure = -0.7\n")
        + "[[lights]]\ntype = \"point\"\nname = \"key\"\nposition = [2, 3, 2]\nintensity = [20, 10, 15]\n";
    let scene = folder.write("room.toml", &scene);
    let target = folder.file("target.png");
    let (code, _, said) = shade(&["render", &scene, "-o", &target, "--spp", "256", "--size", "20x15"]);
    assert_eq!(code, 0, "{said}");
    let fit = "steps = 60\nsamples = 4\n[[views]]\ntarget = \"target.png\"\n\
        [[fit]]\nparameters = \"film.exposure\"\nrate = 0.1\nstart = -0.3\n\
        schedule = { type = \"cosine\", last = 0.05 }\n\
        [[fit]]\nparameters = \"lights.key.intensity\"\nrate = 0.5\nstart = 14\n\
        schedule = { type = \"cosine\", last = 0.05 }\n";
    let job = folder.write("job.toml", fit);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let wanted = [("/film/exposure", -0.7), ("/lights/0/intensity/0", 20.0), ("/lights/0/intensity/1", 10.0)];
    assert_found(&folder, 0.1, &wanted);
}

/// Stripes that cover half of each pixel, and its middle: a single sample that always went through the middle would find half of what is
/// right.
#[test]
fn one_sample_a_pixel_is_enough() {
    let folder = Folder::new("one-sample");
    let scene = folder.write(
        "stripes.toml",
        "[camera]\nposition = [0, 0, 4]\nlook_at = [0, 0, 0]\ntype = \"orthographic\"\nwidth = 2\n\
         [film]\nwidth = 16\nheight = 16\n[integrator]\nmax_depth = 0\n[materials.m]\nsource = '''\n\
         shader m(float k = 0.5, out closure c)\n{\n    const float s = fract(global_value<uvw>.x * 16.0) - 0.5;\n    \
         c = make_closure<Emission>(color(abs(s) < 0.25 ? k : 0.0));\n}'''\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"m\"\nrotate = [90, 0, 0]\nscale = [2, 1, 2]\n",
    );
    let target = folder.file("target.exr");
    assert_eq!(shade(&["render", &scene, "-o", &target, "--spp", "512"]).0, 0);
    let job = folder.write(
        "job.toml",
        "steps = 150\nsamples = 1\n[[views]]\ntarget = \"target.exr\"\n[[fit]]\nparameters = \"materials.m.k\"\n\
         rate = 0.03\nstart = 0.7\nschedule = { type = \"cosine\", last = 0.02 }\n",
    );
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    assert_found(&folder, 0.04, &[("/materials/m/parameters/k", 0.5)]);
}

/// Names without folders are those of files in the folder where the program runs.
#[test]
fn fits_run_in_the_folder_of_their_scene() {
    let folder = Folder::new("here");
    folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    folder.write("job.toml", &FIT.replace("steps = 40", "steps = 1").replace("every = 20\n", ""));
    let run = |arguments: &[&str]| {
        let mut shade = std::process::Command::new(env!("CARGO_BIN_EXE_shade"));
        let out = shade.args(arguments).current_dir(folder.path()).output().expect("it runs");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert_eq!(run(&["render", "room.toml", "-o", "target.exr"]).0, Some(0));
    let (code, said) = run(&["fit", "room.toml", "--job", "job.toml"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(run(&["render", "job-fit/scene.json", "-o", "found.png"]).0, Some(0));
}

/// Two shapes share a material, and a variable of each is found beside one of the scene.
#[test]
fn variables_are_found_and_kept_in_the_scene() {
    let folder = Folder::new("variables");
    let painted = "globals { color paint; float gray; }\nshader painted(out closure c)\n{\n    \
        c = global_value<paint> * make_closure<Lambert>(color(global_value<gray>), global_value<normal>);\n}\n";
    let sphere = |x: f32, paint: &str| {
        format!(
            "[[shapes]]\ntype = \"sphere\"\nmaterial = \"ball\"\ntranslate = [{x}, 0.8, 1]\nvariables = {{ paint = {paint} }}\n"
        )
    };
    let room = room(&materials(MATTE, painted, LAMP), 1, "")
        .replace("radius = 0.8\n", "radius = 0.3\nvariables = { paint = 0.3 }\n");
    let scene = format!(
        "variables = {{ gray = 0.8, unread = 1.0 }}\n{room}{}{}",
        sphere(-1.5, "[0.8, 0.4, 0.2]"),
        sphere(1.5, "0.6")
    );
    let scene = folder.write("room.toml", &scene);
    let target = folder.file("target.exr");
    let (code, _, said) = shade(&["render", &scene, "-o", &target, "--spp", "256", "--size", "20x15"]);
    assert_eq!(code, 0, "{said}");
    let (code, out, _) = shade(&["fit", &scene, "--list", "shapes.3.variables.paint"]);
    assert_eq!((code, out.as_str()), (0, "shapes.3.variables.paint = [0.8,0.4,0.2]\n"));
    let (code, _, said) = shade(&["fit", &scene, "--list", "variables.unread"]);
    assert!(code == 1 && said.contains("no parameter `variables.unread`"), "{code} {said}");
    let fit = "steps = 80\nsamples = 4\n[[views]]\ntarget = \"target.exr\"\n\
        [[fit]]\nparameters = \"shapes.*.variables.paint\"\nrate = 0.05\nstart = 0.5\nlow = 0.01\nhigh = 1.0\n\
        schedule = { type = \"cosine\", last = 0.05 }\n";
    let job = folder.write("job.toml", fit);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let wanted = [
        ("/shapes/1/variables/paint", 0.3),
        ("/shapes/3/variables/paint/0", 0.8),
        ("/shapes/3/variables/paint/2", 0.2),
        ("/shapes/4/variables/paint", 0.6),
    ];
    assert_found(&folder, 0.1, &wanted);
    // The scene that was written has them.
    let written = folder.file("out/scene.json");
    let (code, out, said) = shade(&["fit", &written, "--list", "shapes.4.variables.paint"]);
    let value = out.trim().strip_prefix("shapes.4.variables.paint = [").and_then(|text| text.strip_suffix(']'));
    let value: f64 = value.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{code} {out} {said}"));
    assert!((value - 0.6).abs() < 0.05, "{value}");
}

/// A texture is found from what is seen of it, and the scene that is written has it.
#[test]
fn a_texture_is_found_and_kept_in_a_file() {
    let folder = Folder::new("texture");
    let scene = folder.write("room.toml", &pictured(&folder, PICTURED, LAMP, 1, ""));
    let (code, _, said) =
        shade(&["render", &scene, "-o", &folder.file("target.exr"), "--spp", "128", "--size", "32x24"]);
    assert_eq!(code, 0, "{said}");
    let fit = "steps = 40\nsamples = 4\n[[views]]\ntarget = \"target.exr\"\n\
        [[fit]]\nparameters = \"textures.seen\"\nrate = 0.05\nstart = [0.5, 0.5, 0.5]\nlow = 0.01\nhigh = 1.0\n\
        schedule = { type = \"cosine\", last = 0.05 }\n";
    let job = folder.write("job.toml", fit);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let read = |name: &str| image::open(folder.file(name)).expect("it is written").into_rgb32f().into_raw();
    let errors =
        |texels: &[f32]| read("picture.exr").iter().zip(texels).map(|(a, b)| (a - b).abs()).sum::<f32>() / 36.0;
    let (before, after) = (errors(&[0.5; 36]), errors(&read("out/textures.seen.exr")));
    assert!(after < 0.3 * before, "off by {after} instead of {before}");
    let again = folder.file("again.exr");
    let (code, _, said) =
        shade(&["render", &folder.file("out/scene.json"), "-o", &again, "--spp", "4", "--size", "32x24"]);
    assert_eq!(code, 0, "{said}");
    let (code, out, said) = shade(&["fit", &scene, "--list", "textures.*"]);
    assert_eq!((code, out.as_str()), (0, "textures.seen: 4×3 texels of 3\n"), "{said}");
}

/// The command finds back what a picture was made with, resumes to the same bytes, and leaves a scene that renders.
#[test]
fn a_fit_finds_what_its_target_was_made_with() {
    let folder = Folder::new("fit");
    let scene = room(&materials(MATTE, MATTE, LAMP), 3, "");
    let scene = folder.write("room.toml", &scene);
    let job = folder.write("job.toml", FIT);
    let (code, _, said) =
        shade(&["render", &scene, "-o", &folder.file("target.exr"), "--spp", "512", "--size", "20x15"]);
    assert_eq!(code, 0, "{said}");
    let (whole, halves) = (folder.file("whole"), folder.file("halves"));
    let fit = |output: &str, more: &[&str]| {
        let base = ["fit", scene.as_str(), "--job", job.as_str(), "-o", output, "--json"];
        let (code, out, said) = shade(&[&base[..], more].concat());
        assert_eq!(code, 0, "{said}");
        serde_json::from_str::<serde_json::Value>(&out).expect("JSON")
    };
    let report = fit(&whole, &[]);
    for parameter in report["fit"]["parameters"].as_array().expect("a list") {
        for (found, wanted) in parameter["value"].as_array().expect("floats").iter().zip([0.7, 0.5, 0.3]) {
            let error = (found.as_f64().expect("a float") - wanted).abs();
            assert!(error < 0.05, "{parameter}");
        }
    }
    fit(&halves, &["--steps", "15", "--threads", "1"]);
    fit(&halves, &["--resume", "--threads", "2"]);
    let result = |folder: &str| std::fs::read(Path::new(folder).join("scene.json")).expect("it is written");
    assert!(result(&whole) == result(&halves), "a fit that was resumed came to something else");
    assert!(Path::new(&whole).join("view-0-step-20.png").exists() && Path::new(&whole).join("loss.svg").exists());
    let (code, _, said) =
        shade(&["render", &format!("{whole}/scene.json"), "-o", &folder.file("again.png"), "--spp", "4"]);
    assert_eq!(code, 0, "{said}");
}

/// `--steps` and `--seed` are keys of the job, with its schedules, its stages and its ranges; what only jobs of kernels take is
/// refused.
#[test]
fn options_that_are_keys_of_the_job_count() {
    let folder = Folder::new("seed");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("target.exr"), "--size", "20x16"]);
    assert_eq!(code, 0, "{said}");
    let job = |name: &str, keys: &str| {
        let fit = "halvings = 1\n[[views]]\ntarget = \"target.exr\"\n[[fit]]\nparameters = \"materials.floor.tint\"\n\
            rate = 0.05\nstart = 0.4\nlow = 0.01\nschedule = { type = \"cosine\", last = 0.05 }\n";
        folder.write(name, &format!("{keys}samples = 1\n{fit}"))
    };
    let fit = |job: &str, more: &[&str]| {
        let out = folder.file("out");
        let (code, _, said) = shade(&[&["fit", &scene, "--job", job, "-o", &out], more].concat());
        let result = std::fs::read_to_string(folder.file("out/scene.json"));
        // What failed has no result of its own.
        let _ = std::fs::remove_dir_all(out);
        (code, result.unwrap_or_default(), said)
    };
    let (few, many) = (job("few.toml", "steps = 2\n"), job("many.toml", "steps = 4\nseed = 7\n"));
    let (code, long, said) = fit(&many, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fit(&few, &["--steps", "4", "--seed", "7"]).1, long);
    assert_ne!(fit(&few, &["--steps", "4"]).1, long, "the seed changes nothing");
    for (option, value) in [("--seed", "5000000000"), ("--steps", "0")] {
        let (code, result, said) = fit(&few, &[option, value]);
        assert!(code == 1 && said.contains("error[J") && said.contains(value) && result.is_empty(), "{said}");
    }
    for (option, value) in [("--init", "a.npy"), ("--sweep", "tape")] {
        assert_eq!(fit(&few, &[option, value]).0, 2, "{option} means nothing for scenes");
    }
}

/// Pictures of 5×3 pixels, then of 10×6, then of 20×12, and all of them lead to the same color.
#[test]
fn a_fit_goes_from_coarse_pictures_to_fine_ones() {
    let folder = Folder::new("coarse");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 2, ""));
    let target = folder.file("target.exr");
    let render = |size: &str| shade(&["render", &scene, "-o", &target, "--spp", "256", "--size", size]);
    let (code, _, said) = render("20x12");
    assert_eq!(code, 0, "{said}");
    let fit = "steps = 60\nsamples = 4\nevery = 20\nhalvings = 2\n[[views]]\ntarget = \"target.exr\"\n\
        [[fit]]\nparameters = \"materials.floor.tint\"\nrate = 0.05\nstart = 0.4\nlow = 0.01\nhigh = 1.0\n\
        schedule = { type = \"cosine\", last = 0.05 }\n";
    let job = folder.write("job.toml", fit);
    let run = || shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out"), "--json"]);
    let (code, out, said) = run();
    assert_eq!(code, 0, "{said}");
    let sizes = [0, 20, 40, 60].map(|step| {
        let path = folder.file(&format!("out/view-0-step-{step}.png"));
        image::image_dimensions(path).expect("it is written")
    });
    assert_eq!(sizes, [(5, 3), (10, 6), (20, 12), (20, 12)]);
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let found = report.pointer("/fit/parameters/0/value").and_then(|v| v.as_array()).expect("three floats");
    for (found, wanted) in found.iter().zip([0.7, 0.5, 0.3]) {
        assert!((found.as_f64().expect("a float") - wanted).abs() < 0.05, "{found} instead of {wanted}");
    }
    let (code, _, said) = render("22x12");
    assert_eq!(code, 0, "{said}");
    let (code, out, _) = run();
    assert!(code == 1 && out.contains("multiples of 4"), "{code} {out}");
}

#[test]
fn what_can_be_fitted_is_listed_and_mistakes_are_told() {
    let folder = Folder::new("list");
    let scene = folder.write("room.toml", &room(&materials(MATTE, DUST, LAMP), 3, ""));
    let (code, out, _) = shade(&["fit", &scene, "--list", "materials.*.tint"]);
    assert_eq!((code, out.as_str()), (0, "materials.floor.tint = [0.7,0.5,0.3]\n"));
    let (code, out, _) = shade(&["fit", &scene, "--list"]);
    assert!(code == 0 && out.lines().count() == 8, "{out}");
    assert!(out.ends_with("environment.radiance = [0.3,0.4,0.5]\nfilm.exposure = [0.0]\n"), "{out}");
    let job = |text: &str| folder.write("job.toml", text);
    let seen = |from: &str| FIT.replace("\"target.exr\"", &format!("\"target.exr\"\n{from}"));
    for (text, message) in [
        (FIT.replace("floor", "flor"), "did you mean `materials.floor.tint`?"),
        (FIT.replace("rate = 0.03", "rte = 0.03"), "`rte` is no key of a fit"),
        (FIT.replace("steps = 40", "steps = 0"), "must be from 1"),
        (FIT.replace("materials.ball.*", "materials.*.tint"), "is fitted twice"),
        (FIT.replace("start = 0.4", "start = [0.4, 0.3]"), "`start` has 2 numbers"),
        (FIT.replace("materials.floor.tint", "camera.position"), "`camera.position` cannot be fitted"),
        (FIT.replace("materials.floor.tint", "shapes.pot.translate"), "`shade fit SCENE --list` names them"),
        (FIT.replace("materials.floor.tint", "shapes.pot.translat"), "has no parameter `shapes.pot.translat`"),
        (FIT.to_owned(), "there is no file"),
        (FIT.replace("every = 20", "coarse_steps = 20"), "means nothing without `halvings`"),
        (FIT.replace("every = 20", "halvings = 2\ncoarse_steps = 20"), "no step of 40 is left"),
        (FIT.replace("every = 20", "halvings = 40"), "must be from 1"),
        // The scene's camera stands at (0, 1.5, 5) and looks at (0, 0.6, 0).
        (seen("position = [0, 0.6, 0]"), "the camera looks at where it stands"),
        (seen("look_at = [0, 1.5, 5]"), "the camera looks at where it stands"),
        (seen("position = [0, 9, 0]"), "the camera's up vector lies along its line of sight"),
        (seen("up = [0, 1.8, 10]"), "the camera's up vector lies along its line of sight"),
        (seen("up = [0, 1]"), "the camera's up vector has three numbers, and this has 2"),
        (seen("position = [0, nan, 5]"), "must be finite"),
        (seen("position = [0, 2e9, 5]"), "each component must be a number between -1e9 and 1e9"),
    ] {
        let (code, _, said) = shade(&["fit", &scene, "--job", &job(&text), "-o", &folder.file("out")]);
        assert!(code == 1 && said.contains(message), "{message}: {code} {said}");
    }
}

/// What is around, from what a mirror shows of it, by light samples as well.
#[test]
fn an_environment_is_found_in_a_mirror() {
    let folder = Folder::new("around");
    let picture = folder.file("around.exr");
    let number = |x: u32, y: u32, c: u32| 0.2 + 0.3 * ((3 * x + 5 * y + 2 * c) % 7) as f32;
    let texel = |x, y| image::Rgb([0, 1, 2].map(|c| number(x, y, c)));
    image::Rgb32FImage::from_fn(8, 4, texel).save(&picture).expect("the folder can be written");
    let scene = format!(
        "[camera]\nposition = [0, 0.5, 5]\nlook_at = [0, 0, 0]\nfov = 30\n[film]\nwidth = 32\nheight = 32\n\
         [environment]\ntype = \"image\"\nfile = '{picture}'\n[materials.ball]\nsource = \'\'\'\n{MIRROR}\'\'\'\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"ball\"\nradius = 1\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"screen\"\ntranslate = [0, -1.2, 0]\n\
         [materials.screen]\nsource = \'\'\'\n{MATTE}\'\'\'\n"
    );
    let scene = folder.write("ball.toml", &scene);
    let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("target.exr"), "--spp", "256"]);
    assert_eq!(code, 0, "{said}");
    let fit = "steps = 60\nsamples = 8\n[[views]]\ntarget = \"target.exr\"\n\
        [[fit]]\nparameters = \"environment.image\"\nrate = 0.1\nstart = 1.0\nlow = 0.01\nsmooth = 1e-5\n\
        schedule = { type = \"cosine\", last = 0.05 }\n";
    let job = folder.write("job.toml", fit);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let read = |name: &str| image::open(folder.file(name)).expect("it is written").into_rgb32f().into_raw();
    let errors = |texels: &[f32]| read("around.exr").iter().zip(texels).map(|(a, b)| (a - b).abs()).sum::<f32>() / 96.0;
    let (before, after) = (errors(&[1.0; 96]), errors(&read("out/environment.image.exr")));
    assert!(after < 0.3 * before, "off by {after} instead of {before}");
    let text = std::fs::read_to_string(folder.file("out/scene.json")).expect("it is written");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let file = found.pointer("/environment/file").and_then(serde_json::Value::as_str).expect("a file");
    assert!(file.ends_with("environment.image.exr"), "{file}");
}

/// What stands in place of an image that is missing is nothing that the file says.
#[test]
fn an_environment_that_cannot_be_read_has_no_colors() {
    let folder = Folder::new("no-environment");
    let constant = "type = \"constant\"\nradiance = [0.3, 0.4, 0.5]\n";
    let scene =
        room(&materials(MATTE, MATTE, LAMP), 2, "").replace(constant, "type = \"image\"\nfile = \"none.exr\"\n");
    let scene = folder.write("room.toml", &scene);
    let (code, out, _) = shade(&["fit", &scene, "--list"]);
    assert!(code == 0 && !out.contains("environment"), "{code} {out}");
    let (code, _, said) = shade(&["fit", &scene, "--list", "environment.*"]);
    assert!(code == 1 && said.contains("the scene has no parameter `environment.*`"), "{code} {said}");
    let job = FIT.replace("materials.floor.tint", "environment.radiance");
    let job = folder.write("job.toml", &job);
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert!(code == 1 && said.contains("files of the scene are missing") && said.contains("none.exr"), "{code} {said}");
}

#[test]
fn settings_of_the_command_line_stay_in_the_scene_that_is_written() {
    let folder = Folder::new("settings");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 2, ""));
    let target = folder.file("target.exr");
    let (code, _, said) = shade(&["render", &scene, "-o", &target, "--spp", "4", "--size", "8x6"]);
    assert_eq!(code, 0, "{said}");
    let job = folder.write("job.toml", FIT);
    let set = ["--set", "materials.lamp.power=0.25", "--set", "environment.radiance=[0.1, 0.2, 0.3]"];
    let out = folder.file("out");
    let (code, _, said) = shade(&[&["fit", &scene, "--job", &job, "-o", &out, "--steps", "1"][..], &set].concat());
    assert_eq!(code, 0, "{said}");
    let (code, listed, said) = shade(&["fit", &format!("{out}/scene.json"), "--list"]);
    assert_eq!(code, 0, "{said}");
    assert!(listed.contains("materials.lamp.power = [0.25]\n"), "{listed}");
    assert!(listed.contains("environment.radiance = [0.1,0.2,0.3]\n"), "{listed}");
}

/// 256×256 texels take 48 bytes each for sums on all levels, 16 for themselves, and 7 floats for each of 3 numbers.
#[test]
fn memory_is_told_and_has_a_limit() {
    let folder = Folder::new("memory");
    let scene = pictured(&folder, PICTURED, LAMP, 1, "");
    let even = |_, _| image::Rgb([0.5_f32; 3]);
    image::Rgb32FImage::from_fn(256, 256, even).save(folder.file("picture.exr")).expect("the folder can be written");
    let scene = folder.write("room.toml", &scene);
    image::Rgb32FImage::from_fn(8, 6, even).save(folder.file("target.exr")).expect("the folder can be written");
    let fit = "steps = 1\nsamples = 1\n[[views]]\ntarget = \"target.exr\"\n\
        [[fit]]\nparameters = \"textures.seen\"\nrate = 0.05\n";
    let job = folder.write("job.toml", fit);
    let run = |memory: &str| shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out"), "--memory", memory]);
    let expected = (65536 * (4 * (48 + 16) / 3 + 3 * 7 * 4)) >> 20;
    let (code, _, said) = run("4");
    assert!(code == 4 && said.contains("J0010") && said.contains("may take 4 MB"), "{code} {said}");
    let (code, _, said) = run("100");
    assert!(code == 0 && said.contains(&format!("memory: {expected} MB beside the scene")), "{code} {said}");
}

/// What is no number ends the fit, and what was fitted to another picture is not gone on with.
#[test]
fn targets_that_hold_no_numbers_and_other_targets_are_told() {
    let folder = Folder::new("targets");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 1, ""));
    let target = |value: f32| {
        let picture = image::Rgb32FImage::from_fn(8, 6, |x, _| image::Rgb([if x == 3 { value } else { 0.5 }; 3]));
        picture.save(folder.file("target.exr")).expect("the folder can be written");
    };
    let job = folder.write("job.toml", &FIT.replace("every = 20\n", ""));
    let run = |more: &[&str]| {
        let base = ["fit", scene.as_str(), "--job", job.as_str(), "-o", &folder.file("out")];
        shade(&[&base[..], more].concat())
    };
    target(f32::NAN);
    let (code, _, said) = run(&["--steps", "2"]);
    assert!(code == 1 && said.contains("at pixel (3, 0)") && said.contains("J0006"), "{code} {said}");
    target(0.5);
    let (code, _, said) = run(&["--steps", "2", "--checkpoint-every", "0"]);
    assert_eq!(code, 0, "{said}");
    target(0.6);
    let (code, _, said) = run(&["--steps", "4", "--resume"]);
    assert!(code == 1 && said.contains("J0011"), "{code} {said}");
    target(0.5);
    let (code, _, said) = run(&["--steps", "4", "--resume"]);
    assert_eq!(code, 0, "{said}");
}

/// The parts of its shader that shine or let light pass read none of what is fitted.
#[test]
fn variables_of_materials_that_shine_a_little_are_fitted() {
    let folder = Folder::new("shining");
    let painted = "globals { color paint; }\nshader painted(out closure c)\n{\n    \
        c = make_closure<Lambert>(global_value<paint>, global_value<normal>) + make_closure<Emission>(color(0.1))\n\
        + 0.1 * make_closure<Transparent>(color(0.5));\n}\n";
    let room = room(&materials(MATTE, painted, LAMP), 1, "")
        .replace("radius = 0.8\n", "radius = 0.8\nname = \"ball\"\nvariables = { paint = 0.3 }\n");
    let scene = folder.write("room.toml", &room);
    let picture = folder.file("by.exr");
    let by = ["--gradient", "shapes.ball.variables.paint", "--size", "8x6", "--spp", "4"];
    let (code, _, said) = shade(&[&["render", &scene, "-o", &picture], &by[..]].concat());
    assert_eq!(code, 0, "{said}");
}
