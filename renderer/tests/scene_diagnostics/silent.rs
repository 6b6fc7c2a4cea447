//! What used to go by in silence: values that cannot have been meant, and things that are missing.

use super::{CAMERA, MATTE, findings, findings_with};

const SPHERE: &str = "[[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n";

fn with_shader(name: &str, shader: &str, rest: &str) -> (Vec<(&'static str, usize)>, String) {
    findings(name, &format!("{CAMERA}{SPHERE}[materials.m]\nsource = '{shader}'\n{rest}"))
}

#[test]
fn values_outside_of_metadata_are_warned_of() {
    let shader = "shader m(float gain = 1.0 <<< min = 0.0, max = 4.0 >>>, string mode = \"a\" <<< options = {\"a\", \"b\"} >>>, out closure c) \
                  { c = gain * make_closure<Lambert>(color(mode == \"a\" ? 0.5 : 0.2), global_value<normal>); }";
    assert_eq!(with_shader("in.toml", shader, "parameters = { gain = 4, mode = \"b\" }\n").0, []);
    let (list, rendered) = with_shader("out.toml", shader, "parameters = { gain = 9, mode = \"c\" }\n");
    assert_eq!(list, [("W0451", 9), ("W0451", 9)], "{rendered}");
    assert!(rendered.contains("`max` of 4") && rendered.contains("none of its options"), "{rendered}");
}

#[test]
fn a_parameter_without_a_value_is_warned_of() {
    let shader = "shader m(color albedo, out closure c) { c = make_closure<Lambert>(albedo, global_value<normal>); }";
    let (list, rendered) = with_shader("none.toml", shader, "");
    assert_eq!(list, [("S0030", 7)], "{rendered}");
    assert!(rendered.contains("`albedo`"), "{rendered}");
    assert_eq!(with_shader("given.toml", shader, "parameters = { albedo = 0.5 }\n").0, []);
}

#[test]
fn what_makes_nothing_or_too_much_is_refused() {
    let curves = format!("{CAMERA}{MATTE}[[shapes]]\ntype = \"curves\"\nmaterial = \"matte\"\nstrands = []\n");
    let (list, rendered) = findings("bald.toml", &curves);
    assert!(list.iter().any(|(code, _)| *code == "S0007") && rendered.contains("there are none"), "{rendered}");
    let day = format!("{CAMERA}{MATTE}{SPHERE}[environment]\ntype = \"daylight\"\nground_albedo = [0.2, 5, 0.2]\n");
    let (_, rendered) = findings("bright.toml", &day.replace("\"m\"", "\"matte\""));
    assert!(
        rendered.contains("albedo of the ground is [0.2, 5, 0.2]") && rendered.contains("from 0 to 1"),
        "{rendered}"
    );
}

#[test]
fn a_material_that_makes_no_closure_is_warned_of() {
    let (list, rendered) = with_shader("black.toml", "shader m(out float x) { x = 1.0; }", "");
    assert!(list.contains(&("S0032", 7)), "{rendered}");
}

#[test]
fn an_angle_of_view_in_radians_is_warned_of() {
    let shape = format!("{MATTE}[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\n");
    let fov = |fov: &str| findings("fov.toml", &format!("{CAMERA}fov = {fov}\n{shape}"));
    let (list, rendered) = fov("0.7");
    assert_eq!(list, [("S0029", 4)], "{rendered}");
    // 0.7 · 180 / π
    assert!(rendered.contains("`fov = 40.1`"), "{rendered}");
    for good in ["40", "3.2", "0.1"] {
        assert_eq!(fov(good).0, [], "{good}");
    }
}

#[test]
fn a_mesh_without_coordinates_is_warned_of_where_they_are_read() {
    let faces = |uv: &str, face: &str| format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{uv}{face}\n");
    let (bare, full) = (faces("", "f 1 2 3"), faces("vt 0 0\nvt 1 0\nvt 0 1\n", "f 1/1 2/2 3/3"));
    let files = [("bare.obj", bare.as_str()), ("full.obj", full.as_str())];
    let checks = "[materials.checks]\nsource = 'shader m(out closure c) { c = make_closure<Lambert>(color(global_value<uvw>), global_value<normal>); }'\n";
    let found = |file: &str, material: &str| {
        let shape = format!("[[shapes]]\ntype = \"obj\"\nmaterial = \"{material}\"\nfile = '{file}'\n");
        findings_with("mesh.toml", &format!("{CAMERA}{MATTE}{checks}{shape}"), &files)
    };
    let (list, rendered) = found("bare.obj", "checks");
    assert_eq!(list, [("S0031", 9)], "{rendered}");
    assert_eq!(found("full.obj", "checks").0, []);
    // Shapes are told apart where some have many primitives.
    let two = "f 1/1 2/2 3/3\nf 1/1 3/3 2/2\n";
    let many = faces("vt 0 0\nvt 1 0\nvt 0 1\n", two);
    let shape = |file: &str| format!("[[shapes]]\ntype = \"obj\"\nmaterial = \"checks\"\nfile = '{file}'\n");
    let text = format!("{CAMERA}{MATTE}{checks}{}{}", shape("many.obj"), shape("bare.obj"));
    let files = [("bare.obj", bare.as_str()), ("many.obj", many.as_str())];
    assert_eq!(findings_with("two.toml", &text, &files).0, [("S0031", 13)]);
    assert_eq!(found("bare.obj", "matte").0, []);
}

/// A box and a flat fan, neither with normals: only the box has edges, until the scene or the file says where it is smooth.
#[test]
fn sharp_edges_that_look_smooth_are_warned_of() {
    let corners: String = (0..8).map(|i| format!("v {} {} {}\n", i & 1, i >> 1 & 1, i >> 2)).collect();
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    let (plain, grouped) = (format!("{corners}{faces}"), format!("{corners}s off\n{faces}"));
    let fan = "v 0 0 0\nv 1 0 0\nv 1 1 0.1\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
    // A face without an area has no edges.
    let pole = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nf 1 2 3\nf 1 4 2\n";
    let files = [("box.obj", plain.as_str()), ("grouped.obj", grouped.as_str()), ("fan.obj", fan), ("pole.obj", pole)];
    let found = |file: &str, more: &str| {
        let shape = format!("[[shapes]]\ntype = \"obj\"\nmaterial = \"matte\"\nfile = '{file}'\n{more}");
        findings_with("box.toml", &format!("{CAMERA}{MATTE}{shape}"), &files)
    };
    let (list, rendered) = found("box.obj", "");
    assert!(matches!(list[..], [("S0037", _)]), "{rendered}");
    assert!(rendered.contains("100 % of its faces"), "{rendered}");
    for (file, more) in [
        ("box.obj", "crease_angle = 30\n"),
        ("box.obj", "smooth = false\n"),
        ("box.obj", "smooth = true\n"),
        ("grouped.obj", ""),
        ("fan.obj", ""),
        ("pole.obj", ""),
    ] {
        let (list, rendered) = found(file, more);
        assert_eq!(list, [], "{file} {more}: {rendered}");
    }
}

/// At a million, 32-bit floats are 1/16 apart: a ball of a unit is no ball there. The camera may also look closely at something in a
/// scene that is large as a whole.
#[test]
fn scenes_far_from_the_origin_are_warned_of() {
    let scene = |at: f32, away: f32, floor: &str| {
        let text = format!(
            "[camera]\nposition = [{at}, 1, {away}]\nlook_at = [{at}, 1, 0]\n{MATTE}\
             [[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\ntranslate = [{at}, 0, 0]\n{floor}"
        );
        findings("far.toml", &text)
    };
    assert_eq!(scene(0.0, 5.0, "").0, []);
    assert_eq!(scene(10_000.0, 5.0, "").0, []);
    let (list, rendered) = scene(1_000_000.0, 5.0, "");
    assert!(matches!(list[..], [("S0035", _)]), "{rendered}");
    assert!(rendered.contains("100000") && rendered.contains("0.0625 apart"), "{rendered}");
    let floor = "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nscale = [3e6, 1, 3e6]\n";
    assert!(matches!(scene(1_000_000.0, 5.0, floor).0[..], [("S0035", _)]));
    assert_eq!(scene(1_000_000.0, 9000.0, floor).0, []);
}
