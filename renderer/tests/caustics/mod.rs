//! Photons that show paths the way to light behind mirrors and glass, or bring it themselves: the picture has the same mean with less
//! noise, and the same bytes however it is made.

mod guided;
mod photons;

use crate::ran;
use glam::Vec3;
use ran::shade;
use renderer::film::Film;
use renderer::film::part::{Done, Part, Plan};
use renderer::integrator::View;
use renderer::render::{Control, Ending, RenderOptions, follow, render, render_with};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use ssl_tests::temporary::Folder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A floor below a ball of glass and a bent mirror, seen from above so that little but their caustics is to be seen.
fn room(lights: &str, floor: &str, more: &str) -> String {
    format!(
        "[camera]\nposition = [0.0, 2.5, 2.5]\nlook_at = [0, 0, 0]\nfov = 50\n\
         [film]\nwidth = 24\nheight = 24\nfilter = \"box\"\n[integrator]\nsamples = 96\nmax_depth = 6\nroulette = false\n{more}\
         [materials.floor]\nsource = '''\n{floor}\n'''\n\
         [materials.glass]\nsource = '''\nshader glass(out closure c) {{ c = make_closure<Dielectric>(color(1.0), \
         global_value<normal>, 1.5); }}\n'''\n\
         [materials.metal]\nsource = '''\nshader metal(out closure c) {{ c = make_closure<Conductor>(color(0.2), color(3.9), \
         global_value<normal>, 0.2); }}\n'''\n\
         [[shapes]]\ntype = \"quad\"\ncorners = [[-2, 0, 2], [2, 0, 2], [-2, 0, -2]]\nmaterial = \"floor\"\n\
         [[shapes]]\ntype = \"sphere\"\nradius = 0.4\ntranslate = [-0.6, 0.6, 0.0]\nmaterial = \"glass\"\n\
         [[shapes]]\ntype = \"sphere\"\nradius = 0.3\ntranslate = [0.7, 0.3, -0.2]\nmaterial = \"metal\"\n{lights}"
    )
}

const FLOOR: &str =
    "shader floor(out closure c) { c = make_closure<Lambert>(color(0.8, 0.6, 0.4), global_value<normal>); }";

/// The same as a struct of its own.
const OWN_FLOOR: &str = "import \"bsdf.ssl\";\nstruct Matte : IBsdf\n{\n    color albedo;\n    normal n;\n    \
    color eval(vector wo, vector wi) { return albedo * pdf(wo, wi); }\n    \
    float pdf(vector _wo, vector wi) { return wi.z * M_1_PI; }\n    \
    BsdfSample sample(vector wo, float2 u)\n    {\n        const vector wi = bsdf_cosine_hemisphere(u);\n        \
    return bsdf_sample(wi, eval(wo, wi), pdf(wo, wi));\n    }\n    \
    color rho(vector _wo) { return albedo; }\n    bool is_diffuse() { return true; }\n    \
    normal shading_normal() { return n; }\n}\n\
    shader floor(out closure c) { c = make_closure<Matte>(color(0.8, 0.6, 0.4), global_value<normal>); }";

/// Part of it a mirror, which the guide does not ask for directions.
const SHINY_FLOOR: &str = "shader floor(out closure c) { c = 0.7 * make_closure<Lambert>(color(0.8, 0.6, 0.4), global_value<normal>) \
    + 0.2 * make_closure<Mirror>(color(1.0), global_value<normal>); }";

const LAMP: &str = "[[shapes]]\ntype = \"quad\"\ncorners = [[-0.2, 3, -0.2], [0.2, 3, -0.2], [-0.2, 3, 0.2]]\nmaterial = \"floor\"\n\
    emission = [40, 40, 40]\n";

/// Round lamps, whose material shines.
const BULBS: &str = "[materials.bulb]\nsource = \"shader bulb(out closure c) { c = make_closure<Emission>(color(30.0)); }\"\n\
    [[shapes]]\ntype = \"sphere\"\nradius = 0.15\ntranslate = [0.3, 2.5, 0]\nmaterial = \"bulb\"\n\
    [[shapes]]\ntype = \"sphere\"\nradius = 0.2\ntranslate = [-1, 2, 1]\nmaterial = \"bulb\"\n";

const SUN: &str = "[[lights]]\ntype = \"distant\"\ndirection = [0.3, -1, 0.1]\nangle = 8\nirradiance = [3, 3, 3]\n";

fn load(folder: &Folder, text: &str, backend: BackendKind) -> Scene {
    let path = folder.write("scene.toml", text);
    let loaded = scene::load(path.as_ref(), LoadOptions::from(backend), &SearchPath::on_disk(Vec::new()));
    loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn pixels(scene: &mut Scene, options: &RenderOptions) -> Vec<Vec3> {
    let rendered = render(scene, options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
    rendered.picture.pixels
}

/// A mean over pixels, and its standard error.
type Mean = (Vec3, Vec3);

/// A mean of all pixels, those of blocks, and the mean variance of a pixel.
type Statistics = (Mean, Vec<Mean>, f32);

/// The mean over all pixels, those over blocks of 8×8, and the mean variance of a pixel, of some passes.
fn statistics(scene: &mut Scene) -> Statistics {
    const PASSES: usize = 12;
    let pass = |seed| pixels(scene, &RenderOptions { seed: Some(seed), ..RenderOptions::default() });
    let passes: Vec<Vec<Vec3>> = (0..PASSES as u32).map(pass).collect();
    let count = passes[0].len();
    let mean = |i: usize| passes.iter().map(|pass| pass[i]).sum::<Vec3>() / PASSES as f32;
    let means: Vec<Vec3> = (0..count).map(mean).collect();
    let squares = |i: usize| passes.iter().map(|pass| (pass[i] - means[i]).length_squared()).sum::<f32>();
    let variance = (0..count).map(squares).sum::<f32>() / ((PASSES - 1) * count) as f32;
    let over = |inside: &dyn Fn(usize) -> bool| {
        let inside: Vec<usize> = (0..count).filter(|i| inside(*i)).collect();
        let over = |pixels: &[Vec3]| inside.iter().map(|i| pixels[*i]).sum::<Vec3>() / inside.len() as f32;
        let mean = over(&means);
        let squares: Vec3 = passes.iter().map(|pass| (over(pass) - mean).powf(2.0)).sum();
        (mean, (squares / ((PASSES - 1) * PASSES) as f32).map(f32::sqrt))
    };
    let block = |block: usize| over(&|i| i / 24 / 8 * 3 + i % 24 / 8 == block);
    (over(&|_| true), (0..9).map(block).collect(), variance)
}

/// Light that is seldom found is in few passes, and so in the error of both. Beside that, the means of the picture and of its blocks may
/// differ by shares of that of the picture.
fn same(name: &str, plain: &Statistics, other: &Statistics, (whole, block): (f32, f32)) {
    let same = |(a, of_a): Mean, (b, of_b): Mean, share: f32| {
        let allowed = share * plain.0.0.max_element() + 3.0 * (of_a + of_b);
        assert!((a - b).abs().cmple(allowed).all(), "{name}: {a} ± {of_a} is not {b} ± {of_b}");
    };
    same(plain.0, other.0, whole);
    plain.1.iter().zip(&other.1).for_each(|(a, b)| same(*a, *b, block));
}

/// An environment of an image in which only a window is bright.
fn window(folder: &Folder) -> String {
    let image = folder.file("around.hdr");
    let window = |x: u32, y: u32| (20..24).contains(&x) && (6..9).contains(&y);
    let around = image::Rgb32FImage::from_fn(64, 32, |x, y| image::Rgb([if window(x, y) { 60.0 } else { 0.05 }; 3]));
    around.save(&image).expect("the folder is there");
    format!("[environment]\ntype = \"image\"\nfile = {image:?}\n")
}

#[test]
fn the_picture_is_the_same_however_it_is_made() {
    for caustics in ["guided", "photons"] {
        is_the_same_however_it_is_made(caustics);
    }
}

fn is_the_same_however_it_is_made(caustics: &str) {
    let folder = Folder::new("same");
    let text = room(LAMP, OWN_FLOOR, &format!("caustics = \"{caustics}\"\n"));
    let made = |backend, threads| {
        let mut scene = load(&folder, &text, backend);
        let options = RenderOptions { samples: Some(8), threads: Some(threads), ..RenderOptions::default() };
        let made = pixels(&mut scene, &options);
        assert!(has_photons(&scene));
        made
    };
    let first = made(BackendKind::Cranelift, 1);
    for threads in [2, 5] {
        assert!(made(BackendKind::Cranelift, threads) == first, "{threads} threads");
    }
    for backend in BackendKind::ALL.iter().filter(|backend| **backend != BackendKind::Interpreter) {
        assert!(made(*backend, 2) == first, "{}", backend.name());
    }
}

/// The mean of the samples that are followed one by one is the pixel, also where a view is asked for, and with another seed.
#[test]
fn who_follows_a_sample_sees_what_photons_do() {
    for caustics in ["guided", "photons"] {
        is_followed(&format!("caustics = \"{caustics}\"\n"));
    }
}

fn is_followed(more: &str) {
    let folder = Folder::new("followed");
    let mut scene = load(&folder, &room(LAMP, FLOOR, more), BackendKind::Cranelift);
    let options = RenderOptions { samples: Some(2), seed: Some(7), ..RenderOptions::default() };
    let rendered = pixels(&mut scene, &options);
    assert!(has_photons(&scene));
    let viewed = RenderOptions { view: Some(View::Lobe), ..options.clone() };
    for (x, y) in [(5, 12), (15, 13)] {
        let mut one = |sample| Vec3::from(follow(&mut scene, &viewed, (x, y), sample).expect("it is there").radiance);
        let mean = (0..2).map(&mut one).sum::<Vec3>() / 2.0;
        let pixel = rendered[(y * 24 + x) as usize];
        assert!((mean - pixel).abs().max_element() < 1e-4 * (1.0 + pixel.max_element()), "{x}, {y}: {mean} {pixel}");
    }
}

/// Photons are none of the time beyond the limit.
#[test]
fn a_time_limit_ends_the_photons_too() {
    let folder = Folder::new("late");
    for caustics in ["guided", "photons"] {
        let text = room(LAMP, FLOOR, &format!("caustics = \"{caustics}\"\n"));
        let mut scene = load(&folder, &text, BackendKind::Cranelift);
        let options = RenderOptions { time_limit: Some(Duration::from_nanos(1)), ..RenderOptions::default() };
        let rendered = render(&mut scene, &options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
        assert!(!has_photons(&scene) && rendered.statistics.samples == 0);
        // The next one has time.
        pixels(&mut scene, &RenderOptions { samples: Some(1), ..RenderOptions::default() });
        assert!(has_photons(&scene));
    }
}

/// A render that goes on has the photons of its first samples, of which a time limit may have cut some, however much time it has.
#[test]
fn what_goes_on_keeps_to_its_photons() {
    let folder = Folder::new("going-on");
    for caustics in ["guided", "photons"] {
        let text = room(LAMP, FLOOR, &format!("caustics = \"{caustics}\"\n"));
        let mut scene = load(&folder, &text, BackendKind::Cranelift);
        let options = RenderOptions { samples: Some(16), ..RenderOptions::default() };
        let plan = options.plan(&scene).expect("nothing is wrong with them");
        let mut go_on = |from: Part, stop: bool| {
            let cancel = AtomicBool::new(false);
            let progress = |_| cancel.store(stop, Ordering::Relaxed);
            let options = RenderOptions { time_limit: Some(Duration::from_secs(600)), ..options.clone() };
            let control =
                Control { cancel: &cancel, progress: &progress, from: Some(from), checkpoints: None, preview: None };
            render_with(&mut scene, &options, control).expect("it fits")
        };
        let begun = |photon_rounds: u32| Part {
            plan: Plan { photon_rounds, ..plan.clone() },
            ranges: std::iter::once(options.samples_of(&plan)).collect(),
            unfinished: Some(Done::default()),
            film: Film::new(plan.window, plan.shape()),
        };
        let [cut, whole] = [1, plan.photon_rounds].map(|rounds| go_on(begun(rounds), false).picture.pixels);
        assert!(cut != whole, "{caustics}: one round is fewer than {}", plan.photon_rounds);
        let half = go_on(begun(1), true);
        assert_eq!((half.ending, half.part.plan.photon_rounds > 0), (Ending::Cancelled, true));
        assert!(go_on(half.part, false).picture.pixels == cut, "{caustics}");
    }
}

/// A camera that looks away from all there is has nothing to bring light to.
#[test]
fn photons_of_what_is_not_seen_are_left_out() {
    let folder = Folder::new("unseen");
    let text = room(LAMP, FLOOR, "caustics = \"photons\"\n");
    let mut scene = load(&folder, &text.replace("look_at = [0, 0, 0]", "look_at = [0, 9, 9]"), BackendKind::Cranelift);
    let black = pixels(&mut scene, &RenderOptions { samples: Some(2), ..RenderOptions::default() });
    assert!(!has_photons(&scene) && black.iter().all(|pixel| *pixel == Vec3::ZERO));
}

/// Photons were traced for the picture.
fn has_photons(scene: &Scene) -> bool {
    scene.guide.is_some() || scene.photon_map.is_some()
}

#[test]
fn other_integrators_refuse_it() {
    let folder = Folder::new("refused");
    let scene = folder.write("scene.toml", &room(LAMP, FLOOR, "type = \"direct\"\ncaustics = \"guided\"\n"));
    let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("out.png")]);
    assert!(code == 1 && said.contains("`caustics` means nothing for this integrator"), "{said}");
    // It is off, so nothing is wrong.
    let scene = folder.write("scene.toml", &room(LAMP, FLOOR, "type = \"direct\"\ncaustics = \"paths\"\n"));
    assert_eq!(shade(&["render", &scene, "--spp", "1", "-o", &folder.file("out.png")]).0, 0);
}
