//! Photons that show paths the way to light behind mirrors and glass, or bring it themselves: the picture has the same mean with less
//! noise, and the same bytes however it is made.

use crate::ran;
use glam::Vec3;
use ran::shade;
use renderer::integrator::View;
use renderer::render::{RenderOptions, follow, render};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use ssl_tests::temporary::Folder;
use std::sync::atomic::AtomicBool;
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

/// With photons and without, the picture is the same but for its noise, which becomes less.
fn guides(name: &str, lights: &str, floor: &str, quieter: f32) {
    let folder = Folder::new(name);
    let both = ["", "caustics = \"guided\"\n"].map(|more| {
        let mut scene = load(&folder, &room(lights, floor, more), BackendKind::Cranelift);
        let found = statistics(&mut scene);
        assert_eq!(scene.guide.is_some(), !more.is_empty());
        found
    });
    let [plain, guided] = both;
    same(name, &plain, &guided, (0.005, 0.02));
    let (noise, less) = (plain.2, guided.2);
    assert!(less < quieter * noise, "{name}: the variance went from {noise} to {less}");
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

/// With a photon map and with guided paths, which keep the mean, the picture is the same but for a little blur, and has less noise.
fn brings(name: &str, lights: &str, floor: &str, quieter: f32) {
    let folder = Folder::new(&format!("map-{name}"));
    let both = ["guided", "photons"].map(|caustics| {
        let more = format!("caustics = \"{caustics}\"\n");
        statistics(&mut load(&folder, &room(lights, floor, &more), BackendKind::Cranelift))
    });
    let [guided, brought] = both;
    same(name, &guided, &brought, (0.01, 0.03));
    let (noise, less) = (guided.2, brought.2);
    assert!(less < quieter * noise, "{name}: the variance went from {noise} to {less}");
}

/// Of a hollow ball in which light goes to and fro, lit through a glass ball.
const HOLLOW: &str = "[camera]\nposition = [0, 1.2, 1.4]\nlook_at = [0, 0.4, 0]\nfov = 70\n\
    [film]\nwidth = 24\nheight = 24\nfilter = \"box\"\n\
    [materials.wall]\nsource = \"shader wall(out closure c) { c = make_closure<Lambert>(color(0.8, 0.6, 0.4), global_value<normal>); }\"\n\
    [materials.glass]\nsource = \"shader glass(out closure c) { c = make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5); }\"\n\
    [[shapes]]\ntype = \"sphere\"\nradius = 2\ntranslate = [0, 1, 0]\nmaterial = \"wall\"\n\
    [[shapes]]\ntype = \"sphere\"\nradius = 0.5\ntranslate = [0, 1.9, 0]\nmaterial = \"glass\"\n\
    [[shapes]]\ntype = \"quad\"\ncorners = [[-0.1, 2.6, -0.1], [0.1, 2.6, -0.1], [-0.1, 2.6, 0.1]]\nmaterial = \"wall\"\n\
    emission = [40, 40, 40]\n\
    [integrator]\nsamples = 96\nmax_depth = 6\ncaustics = \"guided\"\n";

/// A guide sends many paths to a caustic, each with a small throughput. Roulette must not take that for little light: it made the
/// variance five times as large.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn roulette_spares_paths_that_the_guide_sends_to_light() {
    let folder = Folder::new("roulette");
    let of = |roulette: bool| {
        statistics(&mut load(&folder, &format!("{HOLLOW}roulette = {roulette}\n"), BackendKind::Cranelift)).2
    };
    let (without, with) = (of(false), of(true));
    assert!(with < 2.0 * without, "the variance went from {without} to {with}");
}

#[test]
fn a_lamp_keeps_its_mean_and_loses_noise() {
    guides("lamp", LAMP, FLOOR, 0.8);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn bsdfs_of_shader_files_are_guided_likewise() {
    guides("own", LAMP, OWN_FLOOR, 0.8);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn mirrors_beside_matte_parts_keep_their_share() {
    guides("shiny", LAMP, SHINY_FLOOR, 1.0);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn round_lamps_that_shine_by_their_material_are_found() {
    guides("bulbs", BULBS, FLOOR, 0.9);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn a_wide_sun_is_found() {
    guides("sun", SUN, FLOOR, 0.8);
}

/// Its light is so even that photons gain nothing. What they draw must not change the mean, nor bring much noise.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn a_sky_is_found() {
    let sky = "[environment]\ntype = \"daylight\"\nelevation = 60\nsun = false\nscale = [0.1, 0.1, 0.1]\n";
    guides("sky", sky, FLOOR, 1.3);
}

/// A bright window in a dim room, as a picture of all around.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn an_image_of_all_around_is_found() {
    let folder = Folder::new("around-image");
    guides("around", &window(&folder), FLOOR, 0.8);
}

/// An environment of an image in which only a window is bright.
fn window(folder: &Folder) -> String {
    let image = folder.file("around.hdr");
    let window = |x: u32, y: u32| (20..24).contains(&x) && (6..9).contains(&y);
    let around = image::Rgb32FImage::from_fn(64, 32, |x, y| image::Rgb([if window(x, y) { 60.0 } else { 0.05 }; 3]));
    around.save(&image).expect("the folder is there");
    format!("[environment]\ntype = \"image\"\nfile = {image:?}\n")
}

/// Only what is placed is there: its group stands nowhere else.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn what_instances_place_focuses_light() {
    let glass = "[[groups.balls.shapes]]\ntype = \"sphere\"\nradius = 0.4\nmaterial = \"glass\"\n\
        [[shapes]]\ntype = \"instance\"\ngroup = \"balls\"\ntranslate = [0.0, 0.7, 0.8]\n";
    guides("instance", &format!("{LAMP}{glass}"), FLOOR, 0.8);
}

/// Matte and glossy in one lobe, which photons split by what is narrow of it.
const GLOSSY_FLOOR: &str = "shader floor(out closure c) { c = make_closure<Principled>(color(0.8, 0.6, 0.4), \
    roughness = 0.3); }";

/// Lit from below and from above.
const THIN_FLOOR: &str = "shader floor(out closure c) { c = 0.5 * make_closure<Lambert>(color(0.8, 0.6, 0.4), global_value<normal>) \
    + 0.5 * make_closure<Translucent>(color(0.8, 0.6, 0.4), global_value<normal>); }";

#[test]
fn photons_bring_the_light_of_a_lamp() {
    brings("lamp", LAMP, FLOOR, 0.8);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_and_paths_share_floors_of_all_kinds() {
    for (name, floor) in [("own", OWN_FLOOR), ("shiny", SHINY_FLOOR), ("glossy", GLOSSY_FLOOR), ("thin", THIN_FLOOR)] {
        // Which lobe of the shiny one is drawn is most of its noise.
        brings(name, LAMP, floor, 1.1);
    }
}

/// What is shaded where paths end, and paths of few bounces: no photon may have more.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_bring_no_more_bounces_than_paths_may_have() {
    for depth in [1, 2, 3, 4] {
        let folder = Folder::new("depth");
        let of = |caustics: &str| {
            let text = room(LAMP, FLOOR, &format!("caustics = \"{caustics}\"\n"));
            let text = text.replace("max_depth = 6", &format!("max_depth = {depth}"));
            statistics(&mut load(&folder, &text, BackendKind::Cranelift))
        };
        same(&format!("{depth} bounces"), &of("guided"), &of("photons"), (0.01, 0.03));
    }
}

/// Lamps of all kinds: also those that photons leave to paths.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_leave_lights_of_all_kinds() {
    let varying = "[materials.bulb]\nsource = \"shader bulb(out closure c) { c = make_closure<Emission>(color(60.0 * \
        global_value<uvw>[0])); }\"\n[[shapes]]\ntype = \"quad\"\ncorners = [[-0.2, 3, -0.2], [0.2, 3, -0.2], [-0.2, 3, 0.2]]\n\
        material = \"bulb\"\n";
    let squeezed = "[materials.bulb]\nsource = \"shader bulb(out closure c) { c = make_closure<Emission>(color(30.0)); }\"\n\
        [[groups.bulbs.shapes]]\ntype = \"sphere\"\nradius = 0.2\nmaterial = \"bulb\"\n\
        [[shapes]]\ntype = \"instance\"\ngroup = \"bulbs\"\ntranslate = [0.3, 2.5, 0]\nscale = [0.5, 2.0, 1.0]\n";
    let constant = format!("{LAMP}[environment]\ntype = \"constant\"\nradiance = [0.2, 0.2, 0.2]\n");
    // What varies is noisier than where photons show the way.
    for (name, lights, quieter) in [
        ("bulbs", BULBS, 0.8),
        ("varying", varying, 3.0),
        ("squeezed", squeezed, 0.8),
        ("sun", SUN, 0.8),
        ("even", &constant, 0.8),
    ] {
        brings(name, lights, FLOOR, quieter);
    }
}

/// Skies, even and with a bright window.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_bring_light_of_the_sky() {
    let folder = Folder::new("map-sky-image");
    let daylight = "[environment]\ntype = \"daylight\"\nelevation = 60\nsun = false\nscale = [0.1, 0.1, 0.1]\n";
    for (name, lights, quieter) in [("sky", daylight, 1.3), ("window", &window(&folder), 0.8)] {
        brings(name, lights, FLOOR, quieter);
    }
}

/// What small lamps throw is what lights without extent throw, which no path could meet behind glass.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_bring_caustics_of_lights_without_extent() {
    let folder = Folder::new("without-extent");
    let of = |lights: &str| {
        let text = room(lights, FLOOR, "caustics = \"photons\"\n");
        statistics(&mut load(&folder, &text, BackendKind::Cranelift))
    };
    const RADIUS: f32 = 0.02;
    let radiance = 4.0 / (std::f32::consts::PI * RADIUS * RADIUS);
    let ball = format!(
        "[materials.bulb]\nsource = \"shader bulb(out closure c) {{ c = make_closure<Emission>(color({radiance})); }}\"\n\
        [[shapes]]\ntype = \"sphere\"\nradius = {RADIUS}\ntranslate = [0.3, 2.5, 0]\nmaterial = \"bulb\"\n"
    );
    let point = "[[lights]]\ntype = \"point\"\nposition = [0.3, 2.5, 0]\nintensity = [4, 4, 4]\n";
    same("point", &of(&ball), &of(point), (0.01, 0.03));
    let distant = |angle: &str| {
        format!("[[lights]]\ntype = \"distant\"\ndirection = [0.3, -1, 0.1]\n{angle}irradiance = [3, 3, 3]\n")
    };
    same("distant", &of(&distant("angle = 0.5\n")), &of(&distant("")), (0.01, 0.03));
}

/// A lamp that does not light the glass throws nothing through it.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_keep_to_the_lists_of_lights() {
    let lamp = format!("{LAMP}name = \"lamp\"\n");
    let folder = Folder::new("lists");
    let of = |caustics: &str| {
        let text = room(&lamp, FLOOR, &format!("caustics = \"{caustics}\"\n"));
        let text = text.replace("material = \"glass\"", "material = \"glass\"\nlights = { exclude = [\"lamp\"] }");
        statistics(&mut load(&folder, &text, BackendKind::Cranelift))
    };
    same("lists", &of("paths"), &of("photons"), (0.01, 0.03));
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
        pixels(&mut scene, &options)
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
    let viewed = RenderOptions { view: Some(View::Lobe), ..options.clone() };
    for (x, y) in [(5, 12), (15, 13)] {
        let mut one = |sample| Vec3::from(follow(&mut scene, &viewed, (x, y), sample).expect("it is there").radiance);
        let mean = (0..2).map(&mut one).sum::<Vec3>() / 2.0;
        let pixel = rendered[(y * 24 + x) as usize];
        assert!((mean - pixel).abs().max_element() < 1e-4 * (1.0 + pixel.max_element()), "{x}, {y}: {mean} {pixel}");
    }
}

/// Where nothing focuses light or no light has an extent, photons change nothing.
#[test]
fn scenes_without_caustics_stay_as_they_are() {
    let folder = Folder::new("nothing");
    let bulb = "[[lights]]\ntype = \"point\"\nposition = [0, 3, 0]\nintensity = [9, 9, 9]\n";
    let dull = |text: String| {
        text.replace("material = \"glass\"", "material = \"floor\"")
            .replace("material = \"metal\"", "material = \"floor\"")
    };
    for make in [&|more: &str| room(bulb, FLOOR, more), &|more: &str| dull(room(LAMP, FLOOR, more))]
        as [&dyn Fn(&str) -> String; 2]
    {
        let [plain, guided] = ["", "caustics = \"guided\"\n"].map(|more| {
            let mut scene = load(&folder, &make(more), BackendKind::Cranelift);
            let made = pixels(&mut scene, &RenderOptions { samples: Some(8), ..RenderOptions::default() });
            assert!(scene.guide.is_none());
            made
        });
        assert!(plain == guided);
    }
}

/// Photons are none of the time beyond the limit.
#[test]
fn a_time_limit_ends_the_photons_too() {
    let folder = Folder::new("late");
    let mut scene = load(&folder, &room(LAMP, FLOOR, "caustics = \"guided\"\n"), BackendKind::Cranelift);
    let options = RenderOptions { time_limit: Some(Duration::from_nanos(1)), ..RenderOptions::default() };
    let rendered = render(&mut scene, &options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
    assert!(scene.guide.is_none() && rendered.statistics.samples == 0);
    // The next one has time.
    pixels(&mut scene, &RenderOptions { samples: Some(1), ..RenderOptions::default() });
    assert!(scene.guide.is_some());
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
