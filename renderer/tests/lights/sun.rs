//! Disks in the sky: their irradiance, their shadows, and that all strategies see them alike.

use super::{agree, floor, picture};
use std::f32::consts::PI;

/// With the sun 30 degrees from the zenith the floor gets E cos 30°.
#[test]
fn a_disk_gives_its_irradiance_times_the_cosine() {
    for angle in ["0.0", "0.53", "20.0"] {
        let sun = format!(
            "lights = [{{ type = \"distant\", direction = [-0.5, -0.8660254, 0], irradiance = [2, 4, 6], angle = {angle} }}]"
        );
        let found = picture(&format!("{sun}\n{}", floor("samples = 64, max_depth = 1", "")));
        let expected = 2.0 * 30.0_f32.to_radians().cos() / PI;
        for pixel in 0..16 {
            let color = found.pixel(pixel, 0);
            assert!((color.x / expected - 1.0).abs() < 4e-3 && (color.z / color.x - 3.0).abs() < 1e-4, "{color}");
        }
    }
}

/// At the edge of what is hidden by an endless half-plane h above, half of the disk is seen; from −r to r from there, the
/// segment of a circle.
#[test]
fn shadows_blur_over_the_width_of_the_disk() {
    let roof = r#"
        [[shapes]]
        type = "rectangle"
        material = "white"
        scale = [200, 1, 200]
        translate = [-99.2, 6, 0]
    "#;
    // The radius on the floor is 6 tan 6°.
    let sun = "lights = [{ type = \"distant\", direction = [0, -1, 0], irradiance = [1, 1, 1], angle = 12 }]";
    let below =
        floor("samples = 4096, max_depth = 1", roof).replace("position = [0.8, 50, 0]", "position = [0.8, 5, 0]");
    let found = picture(&format!("{sun}\n{below}"));
    for pixel in 0..16 {
        let x = ((pixel as f32 + 0.5) * 0.1 - 0.8) / (6.0 * 6.0_f32.to_radians().tan());
        let segment = |x: f32| (x * (1.0 - x * x).sqrt() + x.asin()) / PI + 0.5;
        let expected = segment(x.clamp(-1.0, 1.0)) / PI;
        let color = found.pixel(pixel, 0).x;
        assert!((color - expected).abs() < 5e-3, "{x}: {color} {expected}");
    }
}

/// A rough metal and a matte ball under a sun and a sky: whoever looks for the light finds the same.
#[test]
fn all_strategies_have_the_same_mean() {
    let scene = |sampling: &str| {
        format!(
            r#"
            camera = {{ position = [0, 1, 5], look_at = [0, 0, 0], fov = 40 }}
            film = {{ width = 12, height = 8, filter = "box" }}
            integrator = {{ samples = 1024, max_depth = 3, sampling = "{sampling}" }}
            environment = {{ type = "sky" }}
            lights = [
                {{ type = "distant", direction = [-1, -1, -0.4], irradiance = [3, 2, 1], angle = 30 }},
                {{ type = "distant", direction = [1, -1, -0.4], irradiance = [0.3, 0.6, 1], angle = 40 }},
            ]
            [materials.metal]
            source = "shader m(out closure c) {{ c = make_closure<Glossy>(color(0.9), global_value<normal>, 0.4); }}"
            [materials.matte]
            source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(0.7), global_value<normal>); }}"
            [[shapes]]
            type = "sphere"
            material = "metal"
            translate = [-1, 0, 0]
            [[shapes]]
            type = "sphere"
            material = "matte"
            translate = [1, 0, 0]
            "#
        )
    };
    let pictures = ["both", "lights", "lobes"].map(|sampling| (sampling, picture(&scene(sampling))));
    agree(&pictures, 0.02);
}

/// A mirror shows the disk as wide and as bright as it is: L = E/(π sin² 5°).
#[test]
fn mirrors_and_the_camera_see_the_disk() {
    let scene = |camera: &str, shapes: &str| {
        format!(
            r#"
            camera = {{ {camera}, fov = 20 }}
            film = {{ width = 101, height = 1, filter = "center" }}
            integrator = {{ samples = 1, max_depth = 2 }}
            lights = [{{ type = "distant", direction = [0, -1, 0], irradiance = [1, 1, 1], angle = 10 }}]
            [materials.mirror]
            source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(0.5), global_value<normal>); }}"
            {shapes}
            "#
        )
    };
    let radiance = 1.0 / (PI * 5.0_f32.to_radians().sin().powi(2));
    let floor = "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"mirror\"\nscale = [50, 1, 50]";
    let beside = "[[shapes]]\ntype = \"sphere\"\nmaterial = \"mirror\"\ntranslate = [0, -9, 0]";
    for (camera, shapes, factor) in [
        ("position = [0, 1, 0], look_at = [0, 0, 0], up = [0, 0, -1]", floor, 0.5),
        ("position = [0, 1, 0], look_at = [0, 2, 0], up = [0, 0, -1]", beside, 1.0),
    ] {
        let found = picture(&scene(camera, shapes));
        // tan 5°/tan 10° of the half width.
        let half = 50.5 * 5.0_f32.to_radians().tan() / 10.0_f32.to_radians().tan();
        for x in 0..101 {
            let expected = if ((x as f32) - 50.0).abs() < half { factor * radiance } else { 0.0 };
            assert!((found.pixel(x, 0).x - expected).abs() < 1e-3 * radiance, "{x}: {} {expected}", found.pixel(x, 0));
        }
    }
}
