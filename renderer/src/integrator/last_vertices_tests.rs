//! Pictures are what they are where every vertex is shaded, and fewer are.

use super::*;
use crate::camera::Camera;
use crate::film::{Tile, TileSums};
use crate::integrator::occupancy::Kind;
use crate::integrator::scenes_for_tests::{BALLS, load};
use crate::integrator::{BatchCounts, trace};
use crate::sampler::{Noise, Pattern};

/// A sky, and nothing that shines beside it.
const DARK: &str = r#"
    camera = { position = [0, 1.2, 5], look_at = [0, 0.8, 0], fov = 50 }
    integrator = { max_depth = 2 }
    environment = { type = "sky" }
"#;

/// A wall behind them.
const WALL: &str = r#"
    [[shapes]]
    type = "rectangle"
    material = "matte"
    scale = [9, 1, 9]
    rotate = [90, 0, 0]
    translate = [0, 0, -2]
"#;

const LAMP: &str = r#"
    [[shapes]]
    type = "rectangle"
    material = "matte"
    emission = [5, 4, 3]
    rotate = [180, 0, 0]
    translate = [0.5, 3, 0]
"#;

const GLOW: &str = r#"
    [materials.glow]
    source = "shader m(out closure c) { c = make_closure<Emission>(color(2.0) * global_value<uvw>.x); }"
    [[shapes]]
    type = "sphere"
    material = "glow"
    radius = 0.3
    translate = [0.2, 1.6, 0]
"#;

const PANE: &str = r#"
    [materials.clear]
    source = "shader m(out closure c) { c = make_closure<Transparent>(color(0.5, 0.9, 0.7)); }"
    [[shapes]]
    type = "rectangle"
    material = "clear"
    scale = [9, 1, 9]
    translate = [0, 2, 0]
"#;

fn traced(scene: &Scene, work: &mut Workspace) -> (TileSums, BatchCounts) {
    let tile = Tile { x0: 0, y0: 0, x1: 16, y1: 16 };
    let view = &scene.view;
    let camera = Camera::new(view.position, view.target, view.up, view.projection, (16, 16));
    let pattern = Pattern { seed: 3, noise: Noise::White, samples: 8, is_centered: false };
    trace(scene, &camera, &pattern, tile, 0..8, work)
}

#[test]
fn what_sends_out_nothing_is_not_shaded_and_no_pixel_changes() {
    for (name, more, nowhere) in
        [("dark", "", true), ("lamp", LAMP, false), ("glow", GLOW, false), ("pane", PANE, false)]
    {
        for depth in [0, 1, 2, 4] {
            let text = format!("{DARK}{BALLS}{WALL}{more}").replace("max_depth = 2", &format!("max_depth = {depth}"));
            let scene = load(&format!("{name}-{depth}"), &text);
            let last = LastVertices::new(&scene, &Workspace::default(), depth.max(1));
            assert_eq!(last.matter_nowhere(), nowhere, "{name}");
            let (few, counts) = traced(&scene, &mut Workspace::default());
            // Who follows a gradient sees all vertices.
            let (all, of_all) = traced(&scene, &mut Workspace { followed: Some(Vec::new()), ..Workspace::default() });
            assert!(few == all, "{name}, {depth}");
            let shaded = |counts: &BatchCounts| counts.occupancy.of(Kind::Surfaces).lanes;
            let fewer = shaded(&counts) < shaded(&of_all);
            // Behind a pane, the first vertex is that of a second ray.
            assert_eq!(fewer, depth > 0 || name == "pane", "{name}, {depth}: {} {}", shaded(&counts), shaded(&of_all));
        }
    }
}

/// Without a sky, the last rays are traced only where they may meet something that shines, also where that is an instance.
#[test]
fn last_rays_that_pass_all_lamps_are_not_traced_and_no_pixel_changes() {
    const PLACED: &str = r#"
        [[groups.lamps.shapes]]
        type = "sphere"
        material = "matte"
        emission = [5, 4, 3]
        radius = 0.2
        [[shapes]]
        type = "instance"
        group = "lamps"
        translate = [0.5, 2, 0]
    "#;
    let dark = DARK.replace(r#"environment = { type = "sky" }"#, "");
    const SUN: &str = r#"
        [[lights]]
        type = "distant"
        direction = [0, -1, -0.3]
        irradiance = [3, 3, 3]
        angle = 40
    "#;
    for (name, more, bounded) in [
        ("lamp", LAMP, true),
        ("glow", GLOW, true),
        ("placed", PLACED, true),
        ("pane", &[PANE, LAMP].concat(), false),
        ("sun", &[SUN, LAMP].concat(), false),
    ] {
        for depth in [1, 2, 4] {
            let text = format!("{dark}{BALLS}{WALL}{more}").replace("max_depth = 2", &format!("max_depth = {depth}"));
            let scene = load(&format!("without-sky-{name}-{depth}"), &text);
            let last = LastVertices::new(&scene, &Workspace::default(), depth);
            assert_eq!(last.matter_where_shapes_emit(), bounded, "{name}");
            let (few, counts) = traced(&scene, &mut Workspace::default());
            // Who follows a gradient sees all vertices.
            let (all, of_all) = traced(&scene, &mut Workspace { followed: Some(Vec::new()), ..Workspace::default() });
            assert!(few == all, "{name}, {depth}");
            assert_eq!(counts.rays < of_all.rays, bounded, "{name}, {depth}: {} {}", counts.rays, of_all.rays);
        }
    }
}

#[test]
fn what_shaders_say_at_the_last_vertex_is_said() {
    let text = format!("{DARK}{BALLS}{WALL}").replace(
        "shader m(out closure c) { c = make_closure<Lambert>",
        "shader m(out closure c) { if (global_value<ray_depth> == 2) { printf(\\\"last\\\"); } c = make_closure<Lambert>",
    );
    let scene = load("says", &text);
    assert!(!LastVertices::new(&scene, &Workspace::default(), 2).matter_nowhere());
    let mut work = Workspace::default();
    traced(&scene, &mut work);
    assert!(!work.messages.is_empty());
}
