//! Photons that bring light in place of paths.

use super::*;

/// With a photon map and with guided paths, which keep the mean, the picture is the same but for a little blur, and has less noise.
fn brings(name: &str, lights: &str, floor: &str, quieter: f32) {
    let folder = Folder::new(&format!("map-{name}"));
    let both = ["guided", "photons"].map(|caustics| {
        let more = format!("caustics = \"{caustics}\"\n");
        let mut scene = load(&folder, &room(lights, floor, &more), BackendKind::Cranelift);
        let found = statistics(&mut scene);
        assert_eq!(scene.photon_map.is_some(), caustics == "photons", "{name}");
        found
    });
    let [guided, brought] = both;
    same(name, &guided, &brought, (0.01, 0.03));
    let (noise, less) = (guided.2, brought.2);
    assert!(less < quieter * noise, "{name}: the variance went from {noise} to {less}");
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
            let mut scene = load(&folder, &text, BackendKind::Cranelift);
            let found = statistics(&mut scene);
            // One bounce leaves none for a photon.
            assert_eq!(scene.photon_map.is_some(), caustics == "photons" && depth > 1);
            found
        };
        same(&format!("{depth} bounces"), &of("guided"), &of("photons"), (0.01, 0.03));
    }
}

/// Lamps of all kinds: also those that photons leave to paths.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_leave_lights_of_all_kinds() {
    let varying = "[materials.bulb]\nsource = \"shader bulb(out closure c) { c = make_closure<Emission>(color(60.0 * \
        global_value<uvw>[0])); }\"\n[[shapes]]\ntype = \"quad\"\ncorners = [[0.4, 2.5, -0.2], [0.8, 2.5, -0.2], [0.4, 2.5, 0.2]]\n\
        material = \"bulb\"\n";
    let squeezed = "[materials.bulb]\nsource = \"shader bulb(out closure c) { c = make_closure<Emission>(color(30.0)); }\"\n\
        [[groups.bulbs.shapes]]\ntype = \"sphere\"\nradius = 0.2\nmaterial = \"bulb\"\n\
        [[shapes]]\ntype = \"instance\"\ngroup = \"bulbs\"\ntranslate = [0.3, 2.5, 0]\nscale = [0.5, 2.0, 1.0]\n";
    let constant = format!("{LAMP}[environment]\ntype = \"constant\"\nradiance = [0.2, 0.2, 0.2]\n");
    // What varies is noisier than where photons show the way.
    for (name, lights, quieter) in [
        ("bulbs", BULBS, 0.8),
        ("varying", &format!("{LAMP}{varying}"), 3.0),
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
    for (name, lights, quieter) in [("sky", daylight, 1.3), ("window", &window(&folder), 0.9)] {
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

/// What light samples find at metal so rough that lobes seldom meet the lamp.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_bring_what_light_samples_find_at_rough_metal() {
    let lamp = LAMP.replace(
        "[-0.2, 3, -0.2], [0.2, 3, -0.2], [-0.2, 3, 0.2]",
        "[-0.05, 3, -0.05], [0.05, 3, -0.05], [-0.05, 3, 0.05]",
    );
    let lamp = lamp.replace("[40, 40, 40]", "[640, 640, 640]");
    let rough = |text: String| {
        text.replace("global_value<normal>, 0.2); }", "global_value<normal>, 0.45); }")
            .replace("material = \"glass\"", "material = \"metal\"")
    };
    are_alike("rough", &|more| rough(room(&lamp, FLOOR, more)));
}

/// Where a kernel reaches over the edges of what it lies on.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_bring_as_much_to_narrow_strips() {
    let strip = |i: u32| {
        let x = i as f32 * 0.02 - 2.0;
        format!("corners = [[{x}, 0, 2], [{}, 0, 2], [{x}, 0, -2]]\nmaterial = \"floor\"\n", x + 0.005)
    };
    let strips = (0..200).map(strip).collect::<Vec<_>>().join("[[shapes]]\ntype = \"quad\"\n");
    let whole = "corners = [[-2, 0, 2], [2, 0, 2], [-2, 0, -2]]\nmaterial = \"floor\"\n";
    are_alike("strips", &|more| room(LAMP, FLOOR, more).replace(whole, &strips));
}

/// That the mean of a scene is the same with guided paths and with photons.
fn are_alike(name: &str, text: &dyn Fn(&str) -> String) {
    let folder = Folder::new(&format!("map-{name}"));
    let [guided, brought] = ["guided", "photons"].map(|caustics| {
        let text = text(&format!("caustics = \"{caustics}\"\n"));
        let mut scene = load(&folder, &text, BackendKind::Cranelift);
        let found = statistics(&mut scene);
        assert!(has_photons(&scene), "{name}");
        found
    });
    same(name, &guided, &brought, (0.01, 0.03));
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

/// A white floor below a lamp that is a point, seen from so wide a camera, with `more` between, behind or above.
fn under_a_point(fov: f32, floor: f32, light: &str, more: &str) -> String {
    format!(
        "[camera]\nposition = [0.0, 1.2, 1.2]\nlook_at = [0, 0, 0]\nfov = {fov}\n\
         [film]\nwidth = 24\nheight = 24\nfilter = \"box\"\n[integrator]\nsamples = 64\nmax_depth = 3\ncaustics = \"photons\"\n\
         [materials.floor]\nsource = \"shader floor(out closure c) {{ c = make_closure<Lambert>(color(0.8), \
         global_value<normal>); }}\"\n\
         [[shapes]]\ntype = \"quad\"\ncorners = [[-{floor}, 0, {floor}], [{floor}, 0, {floor}], [-{floor}, 0, -{floor}]]\n\
         material = \"floor\"\n[[lights]]\ntype = \"point\"\n{light}{more}"
    )
}

fn pictures_are_the_same(name: &str, expected: &str, found: &str) {
    let folder = Folder::new(&format!("map-{name}"));
    let of = |text: &str| statistics(&mut load(&folder, text, BackendKind::Cranelift));
    same(name, &of(expected), &of(found), (0.01, 0.03));
}

/// Sheets of glass that bend nothing change nothing, however large they are and however little of what is below is seen.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_pass_sheets_that_are_larger_than_the_picture() {
    let light = "position = [0.4, 4.0, 0.3]\nintensity = [20, 20, 20]\n";
    for (fov, size) in [(15.0, 4.0), (40.0, 4.0), (40.0, 40.0), (90.0, 40.0), (40.0, 4000.0)] {
        let sheet = format!(
            "[materials.glass]\nsource = \"shader glass(out closure c) {{ c = make_closure<Dielectric>(color(1.0), \
             global_value<normal>, 1.0); }}\"\n[[shapes]]\ntype = \"quad\"\n\
             corners = [[-{size}, 2, {size}], [{size}, 2, {size}], [-{size}, 2, -{size}]]\nmaterial = \"glass\"\n"
        );
        let of = |more: &str| under_a_point(fov, size, light, more);
        pictures_are_the_same(&format!("sheet-{fov}-{size}"), &of(""), &of(&sheet));
    }
}

/// A mirror behind the camera shows the floor a second lamp.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn photons_come_from_mirrors_out_of_view() {
    let light = "position = [0.0, 2.0, 1.0]\nintensity = [5, 5, 5]\n";
    for (fov, size) in [(30.0, 2.0), (30.0, 20.0), (80.0, 20.0), (30.0, 2000.0)] {
        let mirror = format!(
            "[materials.mirror]\nsource = \"shader mirror(out closure c) {{ c = make_closure<Mirror>(color(1.0), \
             global_value<normal>); }}\"\n[[shapes]]\ntype = \"quad\"\n\
             corners = [[-{size}, -0.5, 4], [{size}, -0.5, 4], [-{size}, {size}, 4]]\nmaterial = \"mirror\"\n"
        );
        let image = "[[lights]]\ntype = \"point\"\nposition = [0.0, 2.0, 7.0]\nintensity = [5, 5, 5]\n";
        let of = |more: &str| under_a_point(fov, 3.0, light, more);
        pictures_are_the_same(&format!("mirror-{fov}-{size}"), &of(image), &of(&mirror));
    }
}
