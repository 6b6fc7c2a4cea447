//! Light samples where rounding is large: on large grounds, far from the origin, through large sheets, and close to lamps.

use super::{agree, mean, picture};

/// A lamp so high above a square ground of so much length, all of it moved aside.
struct Place {
    lamp: &'static str,
    ground: f32,
    height: f32,
    aside: f32,
}

impl Place {
    fn scene(&self, sampling: &str, more: &str) -> String {
        let Place { lamp, ground, height, aside } = self;
        let lamp = match *lamp {
            "sphere" => format!("type = \"sphere\"\nradius = 0.5\ntranslate = [{aside}, {}, {aside}]\n", height + 0.5),
            flat => format!("type = \"{flat}\"\nrotate = [180, 0, 0]\ntranslate = [{aside}, {height}, {aside}]\n"),
        };
        format!(
            "[camera]\nposition = [{aside}, 2, {}]\nlook_at = [{aside}, 0, {aside}]\nfov = 40\n\
             [film]\nwidth = 16\nheight = 8\nfilter = \"box\"\n\
             [integrator]\nsamples = 1024\nmax_depth = 1\nsampling = \"{sampling}\"\n\
             [materials.m]\nsource = \"shader m(out closure c) {{ c = make_closure<Lambert>(color(0.5), \
             global_value<normal>); }}\"\n\
             [materials.clear]\nsource = \"shader m(out closure c) {{ c = make_closure<Transparent>(color(1.0)); }}\"\n\
             [[shapes]]\ntype = \"rectangle\"\nmaterial = \"m\"\nscale = [{ground}, 1, {ground}]\n\
             translate = [{aside}, 0, {aside}]\n\
             [[shapes]]\nmaterial = \"m\"\nemission = 5\n{lamp}{more}",
            6.0 + aside
        )
    }

    fn agree(&self, more: &str) {
        let pictures = ["lobes", "lights", "both"].map(|sampling| (sampling, picture(&self.scene(sampling, more))));
        agree(&pictures, 0.05);
    }
}

/// Where a ray starts and where it ends is off by more than a ten-thousandth of its length in most of these.
#[test]
fn all_strategies_have_the_same_mean_whatever_rounding_is() {
    for lamp in ["rectangle", "disk", "sphere"] {
        for (ground, height, aside) in [(1000.0, 3.0, 0.0), (100.0, 0.5, 0.0), (6.0, 2.5, 3000.0)] {
            Place { lamp, ground, height, aside }.agree("");
        }
    }
}

/// As large as the ground above, so that each ray is moved by as much where it passes.
#[test]
fn large_sheets_let_light_samples_pass() {
    let sheet =
        "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"clear\"\nscale = [2000, 1, 2000]\ntranslate = [0, 1, 0]\n";
    Place { lamp: "rectangle", ground: 4.0, height: 3.0, aside: 0.0 }.agree(sheet);
}

/// One that is much closer to a lamp than lamps are to what they light.
#[test]
fn covers_close_to_a_lamp_hide_it() {
    let cover =
        "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"m\"\nscale = [1.1, 1, 1.1]\ntranslate = [0, 2.99995, 0]\n";
    let place = Place { lamp: "rectangle", ground: 4.0, height: 3.0, aside: 0.0 };
    assert_eq!(mean(&picture(&place.scene("lights", cover))).0, [0.0; 3]);
}
