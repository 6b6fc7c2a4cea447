//! What lights and eyes see through surfaces that light passes straight.

use super::{agree, floor, picture};
use std::f32::consts::PI;

/// So many sheets one above the other between the floor and all else, of this closure.
fn sheets(count: u32, closure: &str) -> String {
    let sheet = |i: u32| {
        format!(
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"sheet\"\nscale = [20, 1, 20]\ntranslate = [0, {}, 0]\n",
            1.0 + 0.1 * f64::from(i)
        )
    };
    let material = format!("[materials.sheet]\nsource = \"shader s(out closure c) {{ c = {closure}; }}\"\n");
    material + &(0..count).map(sheet).collect::<String>()
}

const TINT: &str = "make_closure<Transparent>(color(0.9, 0.8, 0.7))";

/// A lamp above all sheets, and the eye there, too: light is filtered on both ways, however many bounces are allowed.
#[test]
fn each_sheet_filters_what_passes_it() {
    let sun = "lights = [{ type = \"distant\", direction = [0, -1, 0], irradiance = [2, 2, 2] }]\n";
    for count in [1, 5, 20] {
        let found = picture(&format!("{sun}{}", floor("samples = 1, max_depth = 1", &sheets(count, TINT))));
        for (channel, share) in [0.9_f32, 0.8, 0.7].into_iter().enumerate() {
            let expected = 2.0 / PI * share.powi(2 * count as i32);
            let color = found.pixel(3, 0)[channel];
            assert!((color / expected - 1.0).abs() < 1e-4, "{count} sheets: {color} {expected}");
        }
    }
}

/// The environment and shapes that shine are found through sheets with the same mean by light sampling, by the lobes, and
/// by both with their shares.
#[test]
fn all_strategies_have_the_same_mean_behind_sheets() {
    let scene = |sampling: &str, kind: &str| {
        let integrator = format!("type = \"{kind}\", samples = 512, max_depth = 2, sampling = \"{sampling}\"");
        let half = "0.6 * make_closure<Transparent>(color(0.9, 0.8, 0.7)) \
                    + 0.3 * make_closure<Lambert>(color(1.0), global_value<normal>)";
        let lamp = r#"
            [[shapes]]
            type = "rectangle"
            material = "white"
            emission = [9, 9, 9]
            rotate = [180, 0, 0]
            translate = [1, 2.5, 0]
            [[shapes]]
            type = "sphere"
            material = "glow"
            radius = 0.4
            translate = [-0.5, 2.3, 0.5]
            [materials.glow]
            source = "shader g(out closure c) { c = make_closure<Emission>(color(3.0, 2.0, 1.0)); }"
            [environment]
            type = "constant"
            radiance = [0.3, 0.4, 0.5]
        "#;
        floor(&integrator, &format!("{}{lamp}", sheets(2, half)))
    };
    for kind in ["path", "direct"] {
        let pictures = ["both", "lights", "lobes"].map(|sampling| (sampling, picture(&scene(sampling, kind))));
        agree(&pictures, 0.03);
    }
}

/// Light sampling draws the near side of a ball alone; the far side, seen through the near one, is left to the lobes.
#[test]
fn all_strategies_have_the_same_mean_below_a_ball_that_is_seen_through() {
    let scene = |sampling: &str| {
        let ball = r#"
            [[shapes]]
            type = "sphere"
            material = "glow"
            radius = 0.6
            translate = [0.8, 1.2, 0]
            [materials.glow]
            source = '''
            shader g(out closure c)
            {
                c = make_closure<Emission>(color(3.0)) + make_closure<Transparent>(color(0.9));
            }
            '''
        "#;
        let integrator = format!("samples = 1024, max_depth = 1, sampling = \"{sampling}\"");
        picture(&floor(&integrator, ball).replace("position = [0.8, 50, 0]", "position = [0.8, 0.4, 0]"))
    };
    agree(&["both", "lights", "lobes"].map(|sampling| (sampling, scene(sampling))), 0.03);
}

/// Shadows of what is cut out by its shader: bars, half of which is not there, let half of a wide sky through.
#[test]
fn cut_outs_cast_shadows_of_what_is_left() {
    let bars = "c = make_closure<Transparent>(color(step(0.5, fract(global_value<uvw>.x * 500.0))))";
    let material = format!("[materials.bars]\nsource = \"shader s(out closure c) {{ {bars}; }}\"\n");
    let roof = format!(
        "{material}[[shapes]]\ntype = \"rectangle\"\nmaterial = \"bars\"\nscale = [400, 1, 400]\ntranslate = [0, 3, 0]\n"
    );
    let below = |rest: &str| {
        let sky = "[environment]\ntype = \"constant\"\nradiance = [1, 1, 1]\n";
        let scene = floor("samples = 256, max_depth = 1", &format!("{rest}{sky}"));
        picture(&scene.replace("position = [0.8, 50, 0]", "position = [0.8, 2, 0]"))
    };
    let (open, barred) = (below(""), below(&roof));
    let sum = |p: &renderer::film::Picture| p.pixels.iter().map(|p| p.x).sum::<f32>();
    let share = sum(&barred) / sum(&open);
    assert!((share - 0.5).abs() < 0.02, "{share}");
}
