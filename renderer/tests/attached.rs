//! Gradients with attached sampling, in which directions follow the parameters.

use crate::ran;
use glam::DVec3;
use ran::shade;
use renderer::inverse::{Differentiated, GradientError, choose, list};
use renderer::material::Making;
use renderer::render::{RenderOptions, Sampling};
use renderer::scene::{self, LoadOptions};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use ssl_tests::temporary::Folder;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// From above through a plane of glass, on ground whose light grows to the right.
fn pool(size: (u32, u32), fov: f32) -> String {
    format!(
        "[camera]\nposition = [-1, 1, 0]\nlook_at = [0, 0, 0]\nfov = {fov}\n[film]\nwidth = {}\nheight = {}\n\
         [integrator]\nsamples = 4\nmax_depth = 3\nroulette = false\n\
         [materials.water]\nsource = '''\nshader water(float ior = 1.5, out closure c)\n{{\n    \
         c = make_closure<Dielectric>(color(1.0), global_value<normal>, ior);\n}}\n'''\n\
         [materials.ground]\nsource = '''\nshader ground(float slope = 3.0, out closure c)\n{{\n    \
         c = max(0.2 + slope * (global_value<position>.x - 0.3), 0.0) * make_closure<Emission>(color(1.0));\n}}\n'''\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"water\"\nscale = [20, 1, 20]\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"ground\"\ntranslate = [0, -1, 0]\nscale = [20, 1, 20]\n",
        size.0, size.1
    )
}

/// What the middle of the picture shows: what passes the surface by Fresnel's equations, radiance over the square of the index, and
/// the light of the ground where the refracted ray meets it.
fn seen(ior: f64) -> f64 {
    let (cosine, sine) = (0.5_f64.sqrt(), 0.5_f64.sqrt());
    let refracted = (1.0 - sine * sine / (ior * ior)).sqrt();
    let parallel = (ior * cosine - refracted) / (ior * cosine + refracted);
    let perpendicular = (cosine - ior * refracted) / (cosine + ior * refracted);
    let passes = 1.0 - 0.5 * (parallel * parallel + perpendicular * perpendicular);
    let x = sine / (ior * ior - sine * sine).sqrt();
    passes / (ior * ior) * (0.2 + 3.0 * (x - 0.3))
}

fn differentiated(folder: &Folder, text: &str, pattern: &str) -> Differentiated {
    let path = folder.write("pool.toml", text);
    let making = Making { differentiable: true, ..Making::from(BackendKind::default()) };
    let loaded = scene::load(Path::new(&path), LoadOptions::from(making), &SearchPath::on_disk(Vec::new()));
    let scene = loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let chosen = choose(&list(&scene), pattern).expect("it is there");
    Differentiated::new(scene, chosen).unwrap_or_else(|e| panic!("{e}"))
}

/// The index moves the refracted ray, which replayed paths do not see.
#[test]
fn refracted_rays_follow_the_index() {
    let folder = Folder::new("attached");
    let mut scene = differentiated(&folder, &pool((1, 1), 0.2), "materials.water.ior");
    let options = RenderOptions { samples: Some(1 << 14), sampling: Sampling::Full, ..RenderOptions::default() };
    let cancel = AtomicBool::new(false);
    let slope = |scene: &mut Differentiated, h| scene.slopes(&[(0, 0)], h, &options, &cancel).expect("there are")[0];
    let expected = (seen(1.5 + 1e-5) - seen(1.5 - 1e-5)) / 2e-5;
    let found = slope(&mut scene, 0.02);
    assert!(
        (found.as_dvec3() - DVec3::splat(expected)).abs().max_element() < 0.03 * expected.abs(),
        "{found} {expected}"
    );
    assert_eq!(scene.values(), [1.5]);
    // A replayed path does not see that the ray moves.
    let detached = scene.derivative(&options, &cancel).expect("there is one").pixels[0];
    assert!((f64::from(detached.x) - expected).abs() > 0.3 * expected.abs(), "{detached} {expected}");
    // Where no direction depends on the parameter, both are the same.
    let mut ground = differentiated(&folder, &pool((1, 1), 0.2), "materials.ground.slope");
    let (attached, replayed) =
        (slope(&mut ground, 0.1), ground.derivative(&options, &cancel).expect("there is one").pixels[0]);
    assert!((attached - replayed).abs().max_element() < 1e-3 * replayed.x, "{attached} {replayed}");
}

#[test]
fn values_at_their_bounds_have_one_sided_slopes_or_none() {
    let folder = Folder::new("attached-bounds");
    let bounded = |range: &str| pool((1, 1), 0.2).replace("float ior = 1.5", &format!("float ior = 1.5 {range}"));
    let options = RenderOptions { samples: Some(1 << 12), sampling: Sampling::Full, ..RenderOptions::default() };
    let mut at_its_end = differentiated(&folder, &bounded("<<< min = 1.0, max = 1.5 >>>"), "materials.water.ior");
    let found = at_its_end.slopes(&[(0, 0)], 0.04, &options, &AtomicBool::new(false)).expect("there are")[0];
    let expected = (seen(1.5) - seen(1.46)) / 0.04;
    assert!((f64::from(found.x) - expected).abs() < 0.06 * expected.abs(), "{found} {expected}");
    let mut fixed = differentiated(&folder, &bounded("<<< min = 1.5, max = 1.5 >>>"), "materials.water.ior");
    let none = fixed.slopes(&[(0, 0)], 0.04, &options, &AtomicBool::new(false));
    assert!(matches!(none, Err(GradientError::NoRoom)));
}

/// Where the ground is seen through the water tells the index of the water.
#[test]
fn an_index_of_refraction_is_found() {
    let folder = Folder::new("attached-fit");
    let scene = folder.write("pool.toml", &pool((12, 8), 40.0));
    let target = folder.file("target.exr");
    let (code, _, said) = shade(&["render", &scene, "-o", &target, "--spp", "256"]);
    assert_eq!(code, 0, "{said}");
    let fit = |more: &str| {
        format!(
            "steps = 200\nsamples = 8\n[[views]]\ntarget = \"target.exr\"\n[[fit]]\nparameters = \"materials.water.ior\"\n\
             rate = 0.01\nstart = 1.2\nlow = 1.05\nhigh = 2.5\nschedule = {{ type = \"cosine\", last = 0.02 }}\n{more}"
        )
    };
    let job = folder.write("job.toml", &fit("attached = 0.02\n"));
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let text = std::fs::read_to_string(folder.file("out/scene.json")).expect("it is written");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let ior =
        found.pointer("/materials/water/parameters/ior").and_then(serde_json::Value::as_f64).expect("it is there");
    assert!((ior - 1.5).abs() < 0.015, "{ior}");
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new("attached-mistakes");
    let scene = folder.write("pool.toml", &pool((4, 3), 40.0));
    let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("target.exr"), "--attached", "0.1"]);
    assert!(code == 2 && said.contains("--gradient"), "{said}");
    let by = |step: &str| {
        let file = folder.file("gradient.png");
        shade(&["render", &scene, "-o", &file, "--gradient", "materials.water.ior", "--attached", step])
    };
    assert_eq!(by("0.02").0, 0);
    for step in ["0", "-1", "nan", "inf", "x"] {
        let (code, _, said) = by(step);
        assert!(code == 2 && said.contains("positive number"), "{step}: {said}");
    }
    for (step, wanted) in [("1e-38", "too small for `materials.water.ior`"), ("1e38", "too large for")] {
        let (code, _, said) = by(step);
        let advised = said.contains("give `--attached` another number");
        assert!(code == 1 && advised && said.contains(wanted), "{step}: {code} {said}");
    }
    assert_eq!(shade(&["render", &scene, "-o", &folder.file("target.exr")]).0, 0);
    for (fit, wanted) in [
        ("parameters = \"film.exposure\"\nattached = 0.1\n", "steers no directions"),
        ("parameters = \"materials.water.ior\"\nattached = 0.0\n", "attached"),
        ("parameters = \"materials.water.ior\"\nattached = 1e-9\n", "a step of 1e-9 is too small"),
    ] {
        let job = format!("steps = 1\n[[views]]\ntarget = \"target.exr\"\n[[fit]]\nrate = 0.1\n{fit}");
        let job = folder.write("job.toml", &job);
        let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &folder.file("out")]);
        assert!(code == 1 && said.contains(wanted), "{code} {said}");
    }
}
