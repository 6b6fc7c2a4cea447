//! What meshes of files look like: concave polygons, normals of no length, alpha and tangents at vertices.

use super::writer::Writer;
use super::{Folder, LIT_WALL, seen_from_the_front, shows};
use serde_json::{Value, json};

const MODEL: &str = "[[shapes]]\ntype = \"gltf\"\nfile = \"m.glb\"\n";

/// A square of a material with more attributes, seen from the front.
fn square(material: impl FnOnce(&mut Writer) -> Value, attributes: &[(&str, usize, &[f32])]) -> Writer {
    let mut w = Writer::empty();
    let material = material(&mut w);
    let number = w.add("materials", material);
    let mut more = json!({});
    for (name, components, values) in attributes {
        more[*name] = json!(w.floats(*components, values));
    }
    let mesh = w.square(Some(number), more);
    w.add("nodes", json!({"mesh": mesh}));
    w
}

fn picture(writer: &Writer, rest: &str) -> Vec<[f32; 3]> {
    Folder::temporary().write("m.glb", writer.glb()).picture(&seen_from_the_front(rest))
}

fn said(writer: &Writer) -> String {
    Folder::temporary().write("m.glb", writer.glb()).said(&seen_from_the_front(MODEL))
}

/// An arrow that points up: its fan about the first corner would fill the notch below.
#[test]
fn concave_polygons_show_their_own_area() {
    let folder = Folder::temporary();
    folder.write("arrow.obj", "v -1 -1 0\nv 0 -0.1 0\nv 1 -1 0\nv 0 1.05 0\nf 1 2 3 4\n");
    let scene = "[materials.m]\nsource = \"shader m(out closure c) { c = make_closure<Emission>(color(1.0)); }\"\n\
        [[shapes]]\ntype = \"obj\"\nfile = \"arrow.obj\"\nmaterial = \"m\"\n";
    let inside = |x: f32, y: f32| -0.1 - 0.9 * x.abs() < y && y < 1.05 - 2.05 * x.abs();
    shows(&folder.picture(&seen_from_the_front(scene)), 1e-6, |x, y| if inside(x, y) { [1.0; 3] } else { [0.0; 3] });
}

#[test]
fn normals_of_no_length_are_those_of_the_faces() {
    let w = square(|_| json!({}), &[("NORMAL", 3, &[0.0; 12])]);
    let normals = "[materials.m]\n\
        source = \"shader m(out closure c) { c = make_closure<Emission>(color(global_value<normal>)); }\"\n";
    shows(&picture(&w, &format!("{normals}{MODEL}material = \"m\"\n")), 1e-6, |_, _| [0.0, 0.0, 1.0]);
}

/// From 0 at the left to 1 at the right, behind the color.
const COLORS: [f32; 16] = [1., 0.5, 0.25, 0., 1., 0.5, 0.25, 1., 1., 0.5, 0.25, 1., 1., 0.5, 0.25, 0.];

/// The base color is multiplied by all four components (section 3.9.2), of which the mode of the material says what alpha means.
#[test]
fn alpha_of_vertices_counts_as_that_of_the_base_color() {
    for (mode, factor) in [("BLEND", 1.0), ("BLEND", 0.5), ("MASK", 1.0), ("MASK", 0.75), ("OPAQUE", 1.0)] {
        let material = |_: &mut Writer| {
            json!({"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, factor]}, "alphaMode": mode,
                "extensions": {"KHR_materials_unlit": {}}})
        };
        let w = square(material, &[("COLOR_0", 4, &COLORS)]);
        shows(&picture(&w, MODEL), 1e-5, |x, _| {
            let alpha = factor * (0.5 + 0.5 * x);
            let covered = match mode {
                "BLEND" => alpha,
                "MASK" if alpha < 0.5 => 0.0,
                _ => 1.0,
            };
            [covered, 0.5 * covered, 0.25 * covered]
        });
    }
}

/// The material by itself is opaque, and so is a mesh of it, beside what is seen, that has no alpha.
#[test]
fn light_samples_pass_what_alpha_of_vertices_leaves_open() {
    for mode in ["BLEND", "MASK"] {
        let clear = [[1.0, 1.0, 1.0, 0.0]; 4].concat();
        let mut w = square(|_| json!({"alphaMode": mode}), &[("COLOR_0", 4, &clear)]);
        shows(&picture(&w, &format!("{LIT_WALL}{MODEL}")), 1e-4, |_, _| [1.0; 3]);
        let beside = w.square(Some(0), json!({}));
        w.add("nodes", json!({"mesh": beside, "translation": [4, 0, 0]}));
        shows(&picture(&w, &format!("{LIT_WALL}{MODEL}")), 1e-4, |_, _| [1.0; 3]);
    }
}

/// A square whose normals are bent by a texel, in light along a direction.
fn bent(texel: [u8; 4], tangent: [f32; 4]) -> Writer {
    let normals = [[0.0, 0.0, 1.0]; 4].concat();
    let material = |w: &mut Writer| {
        let texture = w.texture(&[&[texel]], json!({}));
        json!({"pbrMetallicRoughness": {"metallicFactor": 0, "roughnessFactor": 1}, "normalTexture": {"index": texture},
            "extensions": {"KHR_materials_ior": {"ior": 1.0}}})
    };
    square(material, &[("NORMAL", 3, &normals), ("TANGENT", 4, &[tangent; 4].concat())])
}

/// Tangents point up, a quarter turn from where the texture coordinates grow, and so bitangents to the left.
#[test]
fn normal_maps_follow_tangents_of_the_file() {
    // Bent to the light by 45°; what is lost below the surface is returned about its own normal, at 45° too.
    let cosine = std::f32::consts::FRAC_1_SQRT_2;
    let expected = 1.0 + 0.5 * (1.0 - cosine) * cosine;
    for (texel, towards) in [([218, 128, 218, 255], "[0, -1, -1]"), ([128, 218, 218, 255], "[1, 0, -1]")] {
        let w = bent(texel, [0.0, 1.0, 0.0, 1.0]);
        let light = format!(
            "[[lights]]\ntype = \"distant\"\ndirection = {towards}\nirradiance = [3.1415927, 3.1415927, 3.1415927]\n"
        );
        shows(&picture(&w, &format!("{light}{MODEL}")), 0.01, |_, _| [expected; 3]);
    }
}

#[test]
fn tangents_that_mirror_the_texture_are_left_out_and_said() {
    assert_eq!(said(&bent([218, 128, 218, 255], [1.0, 0.0, 0.0, 1.0])), "");
    let text = said(&bent([218, 128, 218, 255], [1.0, 0.0, 0.0, -1.0]));
    assert!(text.contains("S0025") && text.contains("tangents that mirror"), "{text}");
    // Nothing reads them without a normal map.
    let normals = [[0.0, 0.0, 1.0]; 4].concat();
    let tangents = [[1.0, 0.0, 0.0, -1.0]; 4].concat();
    assert_eq!(said(&square(|_| json!({}), &[("NORMAL", 3, &normals), ("TANGENT", 4, &tangents)])), "");
}

#[test]
fn attributes_of_other_lengths_are_refused() {
    for (name, components, words) in
        [("NORMAL", 2, "`NORMAL` of a mesh is not three numbers"), ("COLOR_0", 2, "`COLOR_0` of a mesh is no color")]
    {
        let text = said(&square(|_| json!({}), &[(name, components, &vec![1.0; 4 * components])]));
        assert!(text.contains("S0007") && text.contains(words), "{text}");
    }
    let attributes: [(&str, usize, &[f32]); 2] = [("NORMAL", 3, &[1.0; 12]), ("TANGENT", 3, &[1.0; 12])];
    let text = said(&square(|_| json!({}), &attributes));
    assert!(text.contains("S0007") && text.contains("`TANGENT` of a mesh is not four numbers"), "{text}");
}
