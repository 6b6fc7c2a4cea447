//! Differentials that paths find where they are asked are those that they would have carried along.

use super::*;
use crate::integrator::scenes_for_tests::{BALLS, load};
use crate::render::{RenderOptions, render};
use std::sync::atomic::AtomicBool;

/// A ball that shows its footprints, met straight, by mirror, glass and matte surfaces, and behind many clear panes.
const SCENE: &str = r#"
    camera = { position = [0, 1.2, 5], look_at = [0, 0.8, 0], fov = 50 }
    film = { width = 40, height = 30 }
    integrator = { samples = 4, max_depth = 5 }
    environment = { type = "constant", radiance = [0.8, 0.9, 1.0] }
    [materials.asks]
    source = "shader m(out closure c) { c = make_closure<Lambert>(min(abs(ddx(global_value<position>)) * 4.0, 0.9), global_value<normal>); }"
    [materials.clear]
    source = "shader m(out closure c) { c = make_closure<Transparent>(color(0.99)); }"
    [[shapes]]
    type = "sphere"
    material = "asks"
    radius = 0.5
    translate = [0, 0.6, 0]
"#;

const UNUSED: &str = r#"
    [materials.unused]
    source = "shader m(out closure c) { c = make_closure<Emission>(abs(ddx(global_value<position>))); }"
"#;

fn picture(scene: &mut Scene) -> Vec<[u32; 3]> {
    let rendered = render(scene, &RenderOptions::default(), &AtomicBool::new(false), &|_| ()).expect("there is memory");
    rendered.picture.pixels.iter().map(|p| p.to_array().map(f32::to_bits)).collect()
}

#[test]
fn what_is_found_on_demand_is_what_would_have_been_carried() {
    let pane = |i: u32| {
        format!(
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"clear\"\nscale = [8, 1, 8]\nrotate = [90, 0, 0]\ntranslate = [0, 0, {}]\n",
            2.0 + 0.02 * i as f32
        )
    };
    let panes: String = (0..30).map(pane).collect();
    for (name, text) in [("few", SCENE.to_owned()), ("many", format!("{SCENE}{panes}"))] {
        let text = text + BALLS;
        let mut asked = load(name, &text);
        // A light that asks makes every vertex carry its differential, though this one is nowhere.
        let mut carried = load(&format!("{name}-carried"), &format!("{text}{UNUSED}"));
        assert_eq!(Differentials::of_scene(&asked), Differentials::OnDemand);
        assert_eq!(Differentials::of_scene(&carried), Differentials::Always);
        let (asked, carried) = (picture(&mut asked), picture(&mut carried));
        assert!(asked.iter().any(|p| *p != asked[0]), "an empty picture compares nothing");
        assert_eq!(asked, carried, "{name}");
    }
}

#[test]
fn who_asks_decides() {
    let of = |name: &str, replaced: (&str, &str)| {
        Differentials::of_scene(&load(name, &(SCENE.replace(replaced.0, replaced.1) + BALLS)))
    };
    assert_eq!(of("nobody", ("ddx(global_value<position>)", "global_value<position>")), Differentials::Never);
    assert_eq!(of("one", ("", "")), Differentials::OnDemand);
    assert_eq!(of("whitted", ("max_depth", "type = \"whitted\", max_depth")), Differentials::Always);
}
