//! Light linking: a shape that is lit by some lights only looks as if there were no others.

use super::{Folder, agree, floor, picture};
use renderer::film::Picture;

/// Lights of each kind, two of each, the first of which is named `key` and the second `fill`.
fn lights(which: &[&str]) -> String {
    let light = |kind: &str, a: &str, b: &str| {
        let one = |name: &str, more: &str| match which.contains(&name) {
            true => format!("{{ {kind}, name = \"{name}\", {more} }},"),
            false => String::new(),
        };
        one("key", a) + &one("fill", b)
    };
    let point = light("type = \"point\"", "position = [0, 2, 0]", "position = [1, 2, 1]");
    let sun = light(
        "type = \"distant\", angle = 40",
        "direction = [0, -1, 0.2], irradiance = [1, 0, 0]",
        "direction = [0.3, -1, 0], irradiance = [0, 1, 0]",
    );
    let parallel = light("type = \"distant\"", "direction = [0, -1, 0]", "direction = [1, -1, 0]");
    format!("lights = [{point}{sun}{parallel}]\n")
}

/// Spheres that shine; the others are there as well, but dark.
fn shapes(which: &[&str]) -> String {
    let one = |name: &str, x: f32, color: &str| {
        let emission = if which.contains(&name) { color } else { "[0, 0, 0]" };
        format!(
            "[[shapes]]\ntype = \"sphere\"\nmaterial = \"white\"\nradius = 0.4\ntranslate = [{x}, 1.5, 0]\n\
             emission = {emission}\nname = \"{name}\"\n"
        )
    };
    one("key", 0.0, "[5, 1, 1]") + &one("fill", 1.6, "[1, 1, 5]")
}

fn same(a: &Picture, b: &Picture) {
    agree(&[("linked", a.clone()), ("alone", b.clone())], 0.02);
}

/// The floor under both, lit by one of them, against the floor under that one alone.
#[test]
fn what_is_left_out_lights_nothing() {
    let seen = |integrator: &str, links: &str, which: &[&str]| {
        let link = format!("scale = [4, 1, 4]\n{links}");
        let scene = floor(integrator, &shapes(which)).replace("scale = [4, 1, 4]", &link);
        picture(&format!("{}{}", lights(which), scene.replace("position = [0.8, 50, 0]", "position = [0.8, 1, 0]")))
    };
    for sampling in ["both", "lights", "lobes"] {
        let samples = if sampling == "lobes" { 4096 } else { 256 };
        let integrator = format!("samples = {samples}, max_depth = 1, sampling = \"{sampling}\"");
        let alone = seen(&integrator, "", &["key"]);
        same(&seen(&integrator, "lights = { include = [\"key\"] }", &["key", "fill"]), &alone);
        same(&seen(&integrator, "lights = { exclude = [\"fill\"] }", &["key", "fill"]), &alone);
        let none = seen(&integrator, "lights = { include = [] }", &["key", "fill"]);
        assert!(none.pixels.iter().all(|p| p.max_element() == 0.0), "nothing is linked to it");
    }
}

/// Of a hundred lights each third is linked; a tree of those alone is drawn from.
#[test]
fn trees_hold_the_lights_that_are_linked() {
    let scene = |links: &str, kept: &dyn Fn(i32) -> bool| {
        let of = |i: i32| {
            let (x, z) = (0.4 * f64::from(i % 10) - 1.0, 0.3 * f64::from(i / 10) - 1.5);
            let name = if i % 3 == 0 { "name = \"third\", " } else { "" };
            format!("{{ type = \"point\", {name}position = [{x}, 0.7, {z}] }},")
        };
        let lights: String = (0..100).filter(|&i| kept(i)).map(of).collect();
        let link = format!("scale = [4, 1, 4]\n{links}");
        let floor = floor("samples = 1024, max_depth = 1", "").replace("scale = [4, 1, 4]", &link);
        picture(&format!("lights = [{lights}]\n{floor}"))
    };
    let third = |i: i32| i % 3 == 0;
    same(&scene("lights = { include = [\"third\"] }", &|_| true), &scene("", &third));
    same(&scene("lights = { exclude = [\"third\"] }", &|_| true), &scene("", &|i| !third(i)));
}

#[test]
fn an_environment_can_be_left_out() {
    let scene = |links: &str, more: &str| {
        let link = format!("scale = [4, 1, 4]\n{links}");
        let floor = floor("samples = 64, max_depth = 1", "").replace("scale = [4, 1, 4]", &link);
        picture(&format!("environment = {{ type = \"sky\", name = \"sky\" }}\n{more}{floor}"))
    };
    let dark = scene("lights = { exclude = [\"sky\"] }", "");
    assert!(dark.pixels.iter().all(|p| p.max_element() == 0.0));
    let lamp = "lights = [{ type = \"distant\", direction = [0, -1, 0], name = \"lamp\" }]\n";
    let lit = scene("lights = { include = [\"lamp\"] }", lamp).pixel(3, 0).x;
    assert!((lit - std::f32::consts::FRAC_1_PI).abs() < 1e-5, "{lit}");
    assert!(scene("", lamp).pixel(3, 0).x > 0.5);
}

#[test]
fn names_that_no_light_has_are_refused() {
    let refused = |links: &str, code: &str, words: &str| {
        let link = format!("scale = [4, 1, 4]\n{links}");
        let (loaded, said) = Folder::temporary().load(&format!(
            "{}{}",
            lights(&["key"]),
            floor("samples = 1", "").replace("scale = [4, 1, 4]", &link)
        ));
        assert!(loaded.scene.is_none() && said.contains(code) && said.contains(words), "{said}");
    };
    refused("lights = { include = [\"kye\"] }", "S0003", "did you mean `key`?");
    refused("lights = { exclude = [\"lantern\"] }", "S0003", "name = \"lantern\"");
    refused("lights = { include = [\"key\"], exclude = [] }", "S0006", "one of two lists");
    refused("lights = {}", "S0006", "one of two lists");
    refused("lights = [\"key\"]", "S0002", "");
}
