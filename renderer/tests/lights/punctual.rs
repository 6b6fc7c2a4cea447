//! Point and spot lights on a floor: E = I cos θ/d².

use super::{Folder, floor, picture};
use std::f32::consts::PI;

const ONE_BOUNCE: &str = "samples = 1, max_depth = 1";

/// Radiance of a white floor, at x, under a light of intensity 1 two units above its origin.
fn under_a_point(x: f32) -> f32 {
    2.0 / (4.0 + x * x).powf(1.5) / PI
}

fn middle(pixel: u32) -> f32 {
    (pixel as f32 + 0.5) * 0.1
}

#[test]
fn a_spot_lights_its_circle_and_fades_at_the_edge() {
    // On a floor two units below, the cone reaches to x = 2 tan 30° = 1.155 and all of it to 2 tan 20° = 0.728.
    let spot = "lights = [{ type = \"spot\", position = [0, 2, 0], look_at = [0, 0, 0], intensity = [6, 12, 18], \
        cone_angle = 60, inner_angle = 40 }]";
    let text = format!("{spot}\n{}", floor(ONE_BOUNCE, ""));
    let found = picture(&text);
    for pixel in 0..16 {
        let x = middle(pixel);
        let cosine = 2.0 / (4.0 + x * x).sqrt();
        let [inner, outer] = [20.0_f32, 30.0].map(|a| a.to_radians().cos());
        let t = ((cosine - outer) / (inner - outer)).clamp(0.0, 1.0);
        let expected = 6.0 * under_a_point(x) * t * t * (3.0 - 2.0 * t);
        let color = found.pixel(pixel, 0);
        assert!(
            (color.x - expected).abs() < 1e-4 && (color.z - 3.0 * expected).abs() < 3e-4,
            "{x}: {color} {expected}"
        );
    }
    let whole = text.replace("cone_angle = 60, inner_angle = 40", "cone_angle = 359, inner_angle = 359");
    assert!((picture(&whole).pixel(15, 0).y - 12.0 * under_a_point(1.55)).abs() < 1e-4);
}

/// A luminaire as strong to all sides is a point light; one whose intensity falls with the cosine is darker by that.
#[test]
fn luminaires_are_as_strong_as_their_profiles() {
    let folder = Folder::temporary();
    let file = |angles: &str, values: &str, n: usize| {
        format!("IESNA:LM-63-2002\nTILT=NONE\n1 -1 2 {n} 1 1 2 0 0 0 0.5 1 10\n{angles}\n0\n{values}\n")
    };
    folder.write("even.ies", file("0 180", "3 3", 2));
    let angles: Vec<f32> = (0..=90).map(|a| a as f32).collect();
    let list = |values: Vec<f32>| values.iter().map(|v| v.to_string()).collect::<Vec<_>>().join(" ");
    let cosines = angles.iter().map(|a| (8.0 * a.to_radians().cos()).max(0.0)).collect();
    folder.write("cosine.ies", file(&list(angles), &list(cosines), 91));
    let found = |light: &str| {
        let light = format!("lights = [{{ position = [0, 2, 0], intensity = [2, 2, 2], {light} }}]");
        folder.picture(&format!("{light}\n{}", floor(ONE_BOUNCE, "")))
    };
    let (even, cosine) =
        (found("type = \"point\", ies = \"even.ies\""), found("type = \"point\", ies = \"cosine.ies\""));
    let normal = found("type = \"point\", ies = \"cosine.ies\", normalize = true");
    let up = found("type = \"point\", ies = \"cosine.ies\", direction = [0, 1, 0]");
    let cut = found("type = \"spot\", ies = \"cosine.ies\", direction = [0, -1, 0], cone_angle = 50, inner_angle = 50");
    for pixel in 0..16 {
        let x = middle(pixel);
        let (point, down) = (2.0 * under_a_point(x), 2.0 / (4.0 + x * x).sqrt());
        let near = |found: &renderer::film::Picture, expected: f32| {
            assert!((found.pixel(pixel, 0).x - expected).abs() < 2e-4, "{x}: {} {expected}", found.pixel(pixel, 0));
        };
        near(&even, 3.0 * point);
        near(&cosine, 8.0 * point * down);
        near(&normal, point * down);
        near(&up, 0.0);
        near(&cut, if x < 2.0 * 25.0_f32.to_radians().tan() { 8.0 * point * down } else { 0.0 });
    }
}
