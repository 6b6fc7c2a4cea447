//! Many lights: one is drawn for each sample, and the mean is what asking all of them gives.

use super::{floor, mean, picture};
use std::f64::consts::PI;

/// Groups within groups place a lamp that is dark more often than could be counted: it is looked at once.
#[test]
fn dark_lamps_in_very_many_places_take_no_time() {
    let mut text = String::from(
        "[materials.dark]\nsource = '''\nshader d(out closure c)\n{\n    \
         c = make_closure<Emission>(color(max(global_value<uvw>.x - 5.0, 0.0)));\n}\n'''\n\
         [[groups.g0.shapes]]\ntype = \"rectangle\"\nmaterial = \"dark\"\n",
    );
    for level in 1..=40 {
        for side in 0..2 {
            let within = level - 1;
            text += &format!(
                "[[groups.g{level}.shapes]]\ntype = \"instance\"\ngroup = \"g{within}\"\ntranslate = [{side}, 9, 0]\n"
            );
        }
    }
    text += "[[shapes]]\ntype = \"instance\"\ngroup = \"g40\"\ntranslate = [0, 400, 0]\n";
    let sun = "lights = [{ type = \"distant\", direction = [0, -1, 0], irradiance = [2, 2, 2] }]\n";
    let found = picture(&format!("{sun}{}", floor("samples = 1, max_depth = 1", &text)));
    assert!(found.pixels.iter().all(|pixel| pixel.is_finite()));
}

/// A grid of point lights above the floor, some of them spots, against their sum.
#[test]
fn lights_that_are_drawn_add_up_to_all_of_them() {
    let position =
        |i: i32| [0.4 * f64::from(i % 10) - 1.0, 0.5 + 0.05 * f64::from(i % 7), 0.3 * f64::from(i / 10) - 1.48];
    let lights: String = (0..100)
        .map(|i| {
            let [x, y, z] = position(i);
            let kind = if i % 4 == 0 {
                "type = \"spot\", direction = [0, -1, 0], cone_angle = 90, inner_angle = 90"
            } else {
                "type = \"point\""
            };
            format!("{{ {kind}, position = [{x}, {y}, {z}], intensity = [{0}, {0}, {0}] }},", 1 + i % 3)
        })
        .collect();
    let found = |way: &str| {
        picture(&format!("lights = [{lights}]\n{}", floor(&format!("samples = 4096, max_depth = 1, {way}"), "")))
    };
    let ways = ["light_choice = \"tree\"", "light_choice = \"power\""].map(found);
    for (pixel, found) in (0..16).flat_map(|pixel| ways.iter().map(move |found| (pixel, found))) {
        let at = (f64::from(pixel) + 0.5) * 0.1;
        let of = |i: i32| {
            let [x, y, z] = position(i);
            let d2 = (x - at).powi(2) + y * y + z * z;
            let cosine = y / d2.sqrt();
            let lit = i % 4 != 0 || cosine > 0.5_f64.sqrt();
            if lit { f64::from(1 + i % 3) * cosine / d2 / PI } else { 0.0 }
        };
        let expected: f64 = (0..100).map(of).sum();
        let (color, deviation) = (found.pixel(pixel as u32, 0).x, found.layers[0].values[3 * pixel as usize].sqrt());
        let off = (f64::from(color) - expected).abs();
        assert!(
            off < 4.5 * f64::from(deviation) && f64::from(deviation) < 0.05 * expected,
            "{at}: {color} {expected} {deviation}"
        );
    }
}

/// Small panels all over a ceiling, most of which matter to no pixel: as many samples with a hundred times as many lights are
/// about as noisy.
#[test]
fn a_hundred_times_as_many_lights_are_hardly_noisier() {
    let noise = |side: i32| {
        let panels: String = (0..side * side)
            .map(|i| {
                let at = |k: i32| 40.0 * ((f64::from(k) + 0.5) / f64::from(side) - 0.5);
                let size = 4.0 / f64::from(side);
                format!(
                    "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"white\"\nrotate = [180, 0, 0]\nscale = [{size}, 1, {size}]\n\
                     translate = [{}, 3, {}]\nemission = [9, 9, 9]\n",
                    at(i % side), at(i / side)
                )
            })
            .collect();
        let below = floor("samples = 64, max_depth = 1", &panels)
            .replace("position = [0.8, 50, 0]", "position = [0.8, 2.9, 0]");
        let (mean, deviation) = mean(&picture(&below));
        deviation[0] / mean[0]
    };
    let (few, many) = (noise(4), noise(40));
    assert!(many < 1.3 * few, "{few} {many}");
}
