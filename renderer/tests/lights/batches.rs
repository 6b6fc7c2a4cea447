//! Shaders that light samples ask run in full blocks, and only where the answer counts.

use super::{floor, picture, statistics};
use renderer::render::{MeanLanes, Statistics};

fn lanes<'a>(statistics: &'a Statistics, kind: &str) -> &'a MeanLanes {
    statistics.lanes.iter().find(|l| l.kind == kind).expect("it is a kind of blocks")
}

/// A sun straight above.
const SUN: &str = "lights = [{ type = \"distant\", direction = [0, -1, 0], irradiance = [2, 2, 2] }]\n";

/// A square about x at this height.
fn square(material: &str, x: f32, side: f32, y: f32) -> String {
    format!(
        "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"{material}\"\nscale = [{side}, 1, {side}]\ntranslate = [{x}, {y}, 0]\n"
    )
}

/// Lets a part of the light pass, which depends on the place.
const CARD: &str = "[materials.card]\nsource = \"shader s(out closure c) { c = make_closure<Transparent>(color(0.5 + 0.1 * global_value<uvw>.x)); }\"\n";

/// Only the shadow rays that meet the card ask its shader, 16 at a time: half of the floor's.
#[test]
fn a_card_is_asked_by_the_rays_that_meet_it() {
    let samples = 16;
    // The right half of the floor that the camera sees lies below it.
    let scene = |card: &str| format!("{SUN}{}", floor(&format!("samples = {samples}, max_depth = 1"), card));
    let with = statistics(&scene(&format!("{CARD}{}", square("card", 2.8, 4.0, 1.0))));
    let opacity = lanes(&with, "opacity");
    let asked = opacity.blocks as f64 * opacity.mean;
    assert_eq!(asked.round() as u32, 8 * samples, "{opacity:?}");
    assert!(opacity.mean > 15.0, "{opacity:?}");
    // Each of them is traced once more to the card, and once behind it.
    let without = statistics(&scene(""));
    assert_eq!(without.shadow_rays + 2 * u64::from(8 * samples), with.shadow_rays);
}

/// Where something opaque stands behind the card, nobody asks the card.
#[test]
fn what_is_blocked_is_not_asked() {
    let roofs = format!("{CARD}{}{}", square("card", 0.0, 9.0, 1.0), square("white", 0.0, 9.0, 2.0));
    let below =
        floor("samples = 4, max_depth = 1", &roofs).replace("position = [0.8, 50, 0]", "position = [0.8, 0.5, 0]");
    let scene = format!("{SUN}{below}");
    assert_eq!(lanes(&statistics(&scene), "opacity").blocks, 0);
    assert!(picture(&scene).pixels.iter().all(|p| p.max_element() == 0.0));
}

/// A material that could let light pass, but by its parameters does not, is as opaque as one that could not.
#[test]
fn a_card_without_holes_is_opaque() {
    let scene = |holes: f32| {
        let card = format!(
            "[materials.card]\nparameters = {{ holes = {holes:?} }}\nsource = \"shader s(float holes, out closure c) {{ c = \
             make_closure<Transparent>(color(holes)) + make_closure<Lambert>(color(0.5), global_value<normal>); }}\"\n{}",
            square("card", 0.0, 9.0, 1.0)
        );
        let below = floor("samples = 4, max_depth = 1", &card);
        format!("{SUN}{}", below.replace("position = [0.8, 50, 0]", "position = [0.8, 0.5, 0]"))
    };
    let (closed, open) = (statistics(&scene(0.0)), statistics(&scene(0.25)));
    assert_eq!(lanes(&closed, "opacity").blocks, 0);
    assert!(lanes(&open, "opacity").mean > 15.0, "{open:?}");
    assert!(picture(&scene(0.0)).pixels.iter().all(|p| p.max_element() == 0.0));
    // 2 from the sun, a quarter of it let through, off a white floor.
    let expected = 2.0 * 0.25 / std::f32::consts::PI;
    assert!(picture(&scene(0.25)).pixels.iter().all(|p| (p.x / expected - 1.0).abs() < 1e-4));
}

/// Points of emitters that light sampling draws are shaded together.
#[test]
fn emitters_are_asked_in_full_blocks() {
    let lamp = "[materials.lamp]\nsource = \"shader l(out closure c) { c = make_closure<Emission>(color(1.0 + global_value<uvw>.x)); }\"\n\
                [[shapes]]\ntype = \"rectangle\"\nmaterial = \"lamp\"\nrotate = [180, 0, 0]\ntranslate = [0.8, 2, 0]\n";
    let below = floor("samples = 16, max_depth = 1", lamp).replace("position = [0.8, 50, 0]", "position = [0.8, 1, 0]");
    let found = statistics(&below);
    let emission = lanes(&found, "emission");
    assert!(emission.mean > 15.0, "{emission:?}");
    // One for each sample at most: all pixels see the floor.
    let asked = (emission.blocks as f64 * emission.mean).round() as u32;
    assert!((200..=256).contains(&asked), "{asked}");
}
