//! Photons that show paths the way.

use super::*;

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

/// Only what is placed is there: its group stands nowhere else.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn what_instances_place_focuses_light() {
    let glass = "[[groups.balls.shapes]]\ntype = \"sphere\"\nradius = 0.4\nmaterial = \"glass\"\n\
        [[shapes]]\ntype = \"instance\"\ngroup = \"balls\"\ntranslate = [0.0, 0.7, 0.8]\n";
    guides("instance", &format!("{LAMP}{glass}"), FLOOR, 0.8);
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
