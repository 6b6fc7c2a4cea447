//! Daylight: a sky and its sun that go together.

use super::{agree, floor, mean, picture};

/// What a level white floor sends back of the sky, and of both.
fn under(environment: &str) -> [f64; 3] {
    let scene = format!("environment = {{ type = \"daylight\", {environment} }}\n");
    let (mean, deviation) = mean(&picture(&format!("{scene}{}", floor("samples = 1024, max_depth = 1", ""))));
    assert!(deviation[1] < 0.01 * mean[1]);
    mean
}

/// The sun adds what a distant light of the same irradiance adds, E sin of its height, wherever it stands, and turns with
/// the sky.
#[test]
fn the_sun_stands_where_the_sky_has_it() {
    let luminance = |c: [f64; 3]| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    let (sky, both) = (under("elevation = 30, sun = false"), under("elevation = 30"));
    let sun = luminance(both) - luminance(sky);
    // At 30 degrees some 80 klx on what faces the sun, half of that on the ground.
    assert!((30.0..50.0).contains(&(sun * std::f64::consts::PI)), "{sun}");
    for same in [
        "azimuth = 77, elevation = 30",
        "sun_direction = [1, 0.81649658, 1]",
        "azimuth = -20, elevation = 30, rotate = 130",
        "elevation = 30, sun_angle = 10",
    ] {
        let found = under(same);
        assert!((0..3).all(|c| (found[c] / both[c] - 1.0).abs() < 0.02), "{same}: {found:?} {both:?}");
    }
    let half = under("elevation = 30, scale = [0.5, 0.5, 0.5]");
    assert!((half[0] / both[0] - 0.5).abs() < 0.01);
}

/// A mirror that faces the sun shows it, and one beside it the sky.
#[test]
fn the_disk_is_where_the_sky_is_brightest() {
    let scene = |aim: &str| {
        format!(
            r#"
            camera = {{ position = [0, 1, 0], look_at = {aim}, fov = 3.2 }}
            film = {{ width = 2, height = 2, filter = "center" }}
            integrator = {{ samples = 1 }}
            environment = {{ type = "daylight", azimuth = 30, elevation = 40, rotate = 25, sun_angle = 3 }}
            [materials.m]
            source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(1.0), global_value<normal>); }}"
            [[shapes]]
            type = "sphere"
            material = "m"
            translate = [0, -9, 0]
            "#
        )
    };
    // Rotated about y as shapes are, the azimuth falls from 30 to 5 degrees.
    let at = |azimuth: f64, elevation: f64| {
        let ((s, c), (up, level)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
        picture(&scene(&format!("[{}, {}, {}]", level * s, 1.0 + up, -level * c))).pixel(0, 0).y
    };
    let (sun, beside, opposite) = (at(5.0, 40.0), at(5.0, 45.0), at(185.0, 40.0));
    assert!(sun > 1e3 && beside < 60.0 && opposite < 0.7 * beside, "{sun} {beside} {opposite}");
}

#[test]
fn all_strategies_have_the_same_mean_under_daylight() {
    let scene = |sampling: &str| {
        format!(
            r#"
            camera = {{ position = [0, 1, 5], look_at = [0, 0, 0], fov = 40 }}
            film = {{ width = 12, height = 8, filter = "box" }}
            integrator = {{ samples = 512, max_depth = 3, sampling = "{sampling}" }}
            environment = {{ type = "daylight", elevation = 25, azimuth = 200, sun_angle = 30 }}
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
    agree(&["both", "lights", "lobes"].map(|sampling| (sampling, picture(&scene(sampling)))), 0.03);
}
