//! glTF files: what stands where, of what material, in which light, seen by which camera.

use super::writer::Writer;
use super::{Folder, LIT_WALL, asset, pixels, seen_from_the_front, shows};
use base64::Engine as _;
use serde_json::json;

const MODEL: &str = "[[shapes]]\ntype = \"gltf\"\nfile = \"m.glb\"\n";

fn picture(writer: &Writer, rest: &str) -> Vec<[f32; 3]> {
    Folder::temporary().write("m.glb", writer.glb()).picture(&seen_from_the_front(rest))
}

/// A square that stands twice, once below a node that turns and shrinks, and another one: as shapes of the scene are
/// placed.
#[test]
fn nodes_place_their_meshes() {
    let mut w = Writer::empty();
    let (red, green) = (w.unlit([0.5, 0.0, 0.0]), w.unlit([0.0, 0.25, 0.0]));
    let (twice, once) = (w.square(Some(red), json!({})), w.square(Some(green), json!({})));
    // By columns: to the right and up, half as large.
    let right = [0.5, 0., 0., 0., 0., 0.5, 0., 0., 0., 0., 1., 0., 0.5, 0.5, 0., 1.];
    w.add("nodes", json!({"mesh": twice, "matrix": right}));
    // A half turn about z takes (0.5, 0.5) to (−0.5, −0.5).
    w.add("nodes", json!({"rotation": [0, 0, 1, 0], "scale": [0.5, 0.5, 1], "children": [2]}));
    w.add("nodes", json!({"mesh": twice, "translation": [1, 1, 0]}));
    w.add("nodes", json!({"mesh": once, "translation": [0, 0, -0.5]}));
    w.document["scenes"] = json!([{"nodes": [0]}, {"nodes": [0, 1, 3]}]);
    w.document["scene"] = json!(1);
    let expected = |x: f32, y: f32| if x * y > 0.0 { [0.5, 0.0, 0.0] } else { [0.0, 0.25, 0.0] };
    shows(&picture(&w, MODEL), 1e-6, expected);
    // As a text, its buffer beside it or within; turned with its table by a quarter.
    let (text, buffer) = w.gltf("the%20buffer.bin");
    let turned = "[[shapes]]\ntype = \"gltf\"\nfile = \"m.gltf\"\nrotate = [0, 0, 90]\n";
    let folder = Folder::temporary();
    folder.write("m.gltf", text).write("the buffer.bin", buffer);
    let turned_by = |x: f32, y: f32| expected(y, -x);
    shows(&folder.picture(&seen_from_the_front(turned)), 1e-6, turned_by);
    let encoded = base64::engine::general_purpose::STANDARD.encode(w.bytes());
    folder.write("m.gltf", w.gltf(&format!("data:application/octet-stream;base64,{encoded}")).0);
    shows(&folder.picture(&seen_from_the_front(turned)), 1e-6, turned_by);
}

/// The node of a skinned mesh does not move it; its joint does, from where it was bound. Joints that part are told of.
#[test]
fn joints_place_skinned_meshes() {
    let mut w = Writer::empty();
    let square = w.unlit([0.5, 0.0, 0.0]);
    let square = w.square(Some(square), json!({}));
    // Bound at x = 8: the joint at x = 4 with half the size puts it half as large into the middle.
    let bound = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., -8., 0., 0., 1.];
    let view = w.view(&[bound, bound].concat().iter().flat_map(|x: &f32| x.to_le_bytes()).collect::<Vec<_>>());
    let bound = w.add("accessors", json!({"bufferView": view, "componentType": 5126, "count": 2, "type": "MAT4"}));
    w.add("nodes", json!({"mesh": square, "skin": 0, "translation": [100, 0, 0], "scale": [0.01, 7, 1]}));
    w.add("nodes", json!({"translation": [4, 0, 0], "scale": [0.5, 0.5, 0.5], "children": [2]}));
    w.add("nodes", json!({}));
    w.document["scenes"] = json!([{"nodes": [0, 1]}]);
    w.document["skins"] = json!([{"joints": [1, 2], "inverseBindMatrices": bound}]);
    let expected = |x: f32, y: f32| if x.abs().max(y.abs()) < 0.5 { [0.5, 0.0, 0.0] } else { [0.0; 3] };
    shows(&picture(&w, MODEL), 1e-6, expected);
    let said = |w: &Writer| Folder::temporary().write("m.glb", w.glb()).said(&seen_from_the_front(MODEL));
    w.document["nodes"][2] = json!({"translation": [0, 1, 0]});
    assert!(said(&w).contains("what joints do to parts of a mesh"), "{}", said(&w));
    for (skin, words) in [
        (json!({"joints": [9]}), "a joint that is not in its scene"),
        (json!({"joints": []}), "no joints"),
        (json!({"joints": [1, 2, 1], "inverseBindMatrices": bound}), "fewer matrices than joints"),
    ] {
        w.document["skins"] = json!([skin]);
        assert!(said(&w).contains(words), "{words}: {}", said(&w));
    }
}

/// A square a quarter as large, in each corner: by translation, by turning, and as an element that a sparse accessor gives.
#[test]
fn instances_stand_where_their_attributes_say() {
    let mut w = Writer::empty();
    let material = w.unlit([0.5, 0.0, 0.0]);
    let mesh = w.square(Some(material), json!({}));
    let translations = w.floats(3, &[-1., -1., 0., 1., 1., 0., 1., -1., 0.]);
    let turn = std::f32::consts::FRAC_1_SQRT_2;
    let rotations = w.floats(4, &[0., 0., 0., 1., 0., 0., turn, turn, 0., 0., 0., 1.]);
    // The last one has no extent, and so covers nothing.
    let scales = w.floats(3, &[1., 1., 1., 1., 1., 1., 0., 1., 1.]);
    let attributes = json!({"TRANSLATION": translations, "ROTATION": rotations, "SCALE": scales});
    w.add(
        "nodes",
        json!({"mesh": mesh, "name": "squares", "scale": [0.5, 0.5, 1],
            "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}),
    );
    w.document["extensionsUsed"] = json!(["KHR_materials_unlit", "EXT_mesh_gpu_instancing"]);
    w.document["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let scene = seen_from_the_front(MODEL);
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("`squares`") && said.matches("S0025").count() == 1, "{said}");
    let expected = |x: f32, y: f32| if x * y > 0.0 { [0.5, 0.0, 0.0] } else { [0.0; 3] };
    shows(&pixels(folder.load(&scene)), 1e-6, expected);
    w.document["accessors"][rotations]["count"] = json!(2);
    let said = Folder::temporary().write("m.glb", w.glb()).said(&scene);
    assert!(said.contains("not equally many"), "{said}");
}

/// A node without extent, and all nodes below it, cover nothing; the rest of the file is shown.
#[test]
fn nodes_without_extent_are_left_out_by_their_names() {
    let mut w = Writer::empty();
    let (red, green) = (w.unlit([0.5, 0.0, 0.0]), w.unlit([0.0, 0.25, 0.0]));
    let (hidden, seen) = (w.square(Some(red), json!({})), w.square(Some(green), json!({})));
    w.add("nodes", json!({"name": "hidden", "mesh": hidden, "scale": [0, 0, 0], "translation": [0, 0, 1]}));
    w.add("nodes", json!({"mesh": seen}));
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let scene = seen_from_the_front(MODEL);
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("`hidden`") && !said.contains("error"), "{said}");
    shows(&pixels(folder.load(&scene)), 1e-6, |_, _| [0.0, 0.25, 0.0]);
}

/// Corners that a sparse accessor replaces, or gives alone; a text with a byte order mark; an extension of one maker.
#[test]
fn sparse_corners_marks_and_other_extensions_are_known() {
    let mut w = Writer::empty();
    let material = w.unlit([0.5, 0.0, 0.0]);
    let mesh = w.square(Some(material), json!({}));
    w.add("nodes", json!({"mesh": mesh}));
    let whole = w.view(&[0, 1, 1, 0, 2, 3]);
    let (places, values) = (w.view(&[2]), w.view(&[2]));
    let sparse = |count: usize, places: usize, values: usize| json!({"count": count, "indices": {"bufferView": places, "componentType": 5121}, "values": {"bufferView": values}});
    let replaced = json!({"bufferView": whole, "componentType": 5121, "count": 6, "type": "SCALAR",
        "sparse": sparse(1, places, values)});
    let (places, values) = (w.view(&[1, 2, 4, 5]), w.view(&[1, 2, 2, 3]));
    let alone = json!({"componentType": 5121, "count": 6, "type": "SCALAR", "sparse": sparse(4, places, values)});
    for accessor in [replaced, alone] {
        let number = w.add("accessors", accessor);
        w.document["meshes"][mesh]["primitives"][0]["indices"] = json!(number);
        shows(&picture(&w, MODEL), 1e-6, |_, _| [0.5, 0.0, 0.0]);
    }
    let folder = Folder::temporary();
    let (text, buffer) = w.gltf("m.bin");
    folder.write("m.gltf", format!("\u{feff}{text}")).write("m.bin", buffer);
    let scene = seen_from_the_front(&MODEL.replace("m.glb", "m.gltf"));
    shows(&folder.picture(&scene), 1e-6, |_, _| [0.5, 0.0, 0.0]);
    w.document["extensionsUsed"] = json!(["KHR_materials_unlit", "EXT_texture_webp"]);
    let said = Folder::temporary().write("m.glb", w.glb()).said(&seen_from_the_front(MODEL));
    assert!(said.contains("S0025") && said.contains("`EXT_texture_webp`"), "{said}");
}

/// Colors as bytes, a second set of coordinates, numbers of the file's own, partly sparse; in a group that stands aside.
#[test]
fn attributes_reach_shaders() {
    let mut w = Writer::empty();
    let colors = w.view(&[0, 51, 255, 255, 255, 51, 255, 255, 255, 51, 255, 255, 0, 51, 255, 255]);
    let colors = w.add(
        "accessors",
        json!({"bufferView": colors, "componentType": 5121, "normalized": true, "count": 4, "type": "VEC4"}),
    );
    let second = w.floats(2, &[0., 0.5, 0., 0.5, 0., -0.5, 0., -0.5]);
    let places = w.view(&[1, 2]);
    let values = w.view(&[1.0_f32, 1.0].map(f32::to_le_bytes).concat());
    let wear = w.add(
        "accessors",
        json!({"componentType": 5126, "count": 4, "type": "SCALAR", "sparse": {"count": 2,
            "indices": {"bufferView": places, "componentType": 5121}, "values": {"bufferView": values}}}),
    );
    let mesh = w.square(None, json!({"COLOR_0": colors, "TEXCOORD_1": second, "_wear": wear}));
    w.add("nodes", json!({"mesh": mesh}));
    let rest = r#"
        [materials.m]
        source = '''
        globals { float2 uv1; float wear; }
        shader m(out closure c)
        {
            color k = global_value<color>;
            c = make_closure<Emission>(color(k.x + 2.0 * k.y, global_value<uv1>.y, global_value<wear> + ddx(global_value<wear>)));
        }
        '''
        [[groups.g.shapes]]
        type = "gltf"
        file = "m.glb"
        material = "m"
        [[shapes]]
        type = "instance"
        group = "g"
    "#;
    let middle = |x: f32| 0.5 + 0.5 * x;
    // v runs down in the file: 0.5 below is 0.5, −0.5 above is 1.5. A pixel is an eighth of the square.
    shows(&picture(&w, rest), 1e-5, |x, y| [middle(x) + 0.4, 0.5 + middle(y), middle(x) + 0.125]);
}

/// The four texels of an image stand where the file's coordinates say, also moved by a transform; outside it is clamped.
#[test]
fn textures_are_upright_and_wrapped() {
    let texels: [&[[u8; 4]]; 2] = [&[[255, 0, 0, 255], [0, 255, 0, 255]], &[[0, 0, 255, 255], [255, 255, 255, 255]]];
    let mut w = Writer::empty();
    let texture = w.texture(&texels, json!({"wrapS": 33071, "wrapT": 33071}));
    let unlit = json!({"KHR_materials_unlit": {}});
    let info = json!({"index": texture});
    let material = w.add("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": info}, "extensions": unlit}));
    let mesh = w.square(Some(material), json!({}));
    w.add("nodes", json!({"mesh": mesh}));
    let of = |right: bool, up: bool| match (right, up) {
        (false, true) => [1.0, 0.0, 0.0],
        (true, true) => [0.0, 1.0, 0.0],
        (false, false) => [0.0, 0.0, 1.0],
        (true, false) => [1.0; 3],
    };
    let corner = |pixels: &[[f32; 3]]| [pixels[0], pixels[7], pixels[56], pixels[63]];
    let found = corner(&picture(&w, MODEL));
    let expected = [of(false, true), of(true, true), of(false, false), of(true, false)];
    let off = found.iter().zip(expected).flat_map(|(f, e)| (0..3).map(move |i| (f[i] - e[i]).abs()));
    assert!(off.fold(0.0, f32::max) < 1e-3, "{found:?}");
    // Moved by a whole image to the right and clamped, the right column is everywhere.
    w.document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] =
        json!({"KHR_texture_transform": {"offset": [1.0, 0.0]}});
    let found = corner(&picture(&w, MODEL));
    let expected = [of(true, true), of(true, true), of(true, false), of(true, false)];
    let off = found.iter().zip(expected).flat_map(|(f, e)| (0..3).map(move |i| (f[i] - e[i]).abs()));
    assert!(off.fold(0.0, f32::max) < 1e-3, "{found:?}");
}

/// In light from everywhere: what scatters all of the light, or mirrors all of it, looks like the light times its color;
/// half of what is blended is the light behind; below the cutoff there is nothing.
#[test]
fn materials_return_the_light_that_they_should() {
    let sky = "[environment]\ntype = \"constant\"\n[integrator]\nsamples = 64\nmax_depth = 4\n";
    let pbr = |color: [f32; 4], metallic: f32, roughness: f32| json!({"baseColorFactor": color, "metallicFactor": metallic, "roughnessFactor": roughness});
    let index = |ior: f32| json!({"KHR_materials_ior": {"ior": ior}});
    let cases = [
        (
            json!({"pbrMetallicRoughness": pbr([0.2, 0.5, 0.8, 1.0], 0.0, 1.0), "extensions": index(1.0)}),
            [0.2, 0.5, 0.8],
        ),
        (json!({"pbrMetallicRoughness": pbr([0.2, 0.5, 0.8, 0.1], 1.0, 0.0)}), [0.2, 0.5, 0.8]),
        // What the highlight takes is not scattered: 0.04 at the normal, of an index of 1.5.
        (json!({"pbrMetallicRoughness": pbr([0.5, 0.5, 0.5, 1.0], 0.0, 0.0)}), [0.52, 0.52, 0.52]),
        (
            json!({"pbrMetallicRoughness": pbr([0.0, 0.0, 0.0, 0.5], 0.0, 1.0), "extensions": index(1.0), "alphaMode": "BLEND"}),
            [0.5; 3],
        ),
        (json!({"pbrMetallicRoughness": pbr([0.0, 0.0, 0.0, 0.4], 0.0, 1.0), "alphaMode": "MASK"}), [1.0; 3]),
        (
            json!({"pbrMetallicRoughness": pbr([0.0, 0.0, 0.0, 0.4], 0.0, 1.0), "extensions": index(1.0), "alphaMode": "MASK",
                "alphaCutoff": 0.3}),
            [0.0; 3],
        ),
        (
            json!({"pbrMetallicRoughness": pbr([0.0; 4], 1.0, 1.0), "emissiveFactor": [0.1, 0.2, 0.3],
                "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 2.0}}}),
            [0.2, 0.4, 0.6],
        ),
    ];
    for (material, expected) in cases {
        let mut w = Writer::empty();
        let number = w.add("materials", material.clone());
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        let pixels = picture(&w, &format!("{sky}{MODEL}"));
        let mean = |i: usize| pixels.iter().map(|p| p[i]).sum::<f32>() / 64.0;
        let off = (0..3).map(|i| (mean(i) - expected[i]).abs()).fold(0.0, f32::max);
        // The blended one takes a way at random: 4096 draws of a half.
        assert!(off < 0.03, "{material}: {:?} for {expected:?}", [mean(0), mean(1), mean(2)]);
    }
}

/// So that a wall behind is lit through it.
#[test]
fn light_samples_pass_what_alpha_leaves_open() {
    for mode in ["BLEND", "MASK"] {
        let mut w = Writer::empty();
        let number =
            w.add("materials", json!({"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0]}, "alphaMode": mode}));
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        let pixels = picture(&w, &format!("{LIT_WALL}{MODEL}"));
        let off = pixels.iter().flatten().map(|x| (x - 1.0).abs()).fold(0.0, f32::max);
        assert!(off < 1e-4, "{mode}: {pixels:?}");
    }
}

/// Of the other images than those of base colors alpha means nothing.
#[test]
fn alpha_counts_in_base_colors_alone() {
    let shown = |alpha: u8| {
        let mut w = Writer::empty();
        let image = w.texture(&[&[[200, 128, 230, alpha]; 2], &[[200, 128, 230, alpha]; 2]], json!({}));
        let maps = json!({"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": image}},
            "normalTexture": {"index": image}, "emissiveTexture": {"index": image}, "emissiveFactor": [1, 1, 1]});
        let number = w.add("materials", maps);
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        picture(&w, &format!("[environment]\ntype = \"daylight\"\nelevation = 40\n{MODEL}"))
    };
    let (plain, with) = (shown(255), shown(128));
    for (a, b) in plain.iter().flatten().zip(with.iter().flatten()) {
        assert!((a - b).abs() < 0.01 * (1.0 + a), "{a} {b}");
    }
}

/// What emits does so to its front, with and without a texture; to both sides where the material has two. A floor that the
/// square stands on shows what arrives on either side, by light sampling as by paths.
#[test]
fn light_goes_out_to_the_sides_that_the_material_has() {
    for (textured, double_sided) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut w = Writer::empty();
        let mut material = json!({"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1], "metallicFactor": 1},
            "emissiveFactor": [1.0, 0.5, 0.25], "doubleSided": double_sided});
        if textured {
            let texture = w.texture(&[&[[255; 4], [255; 4]]], json!({}));
            material["emissiveTexture"] = json!({"index": texture});
        }
        let number = w.add("materials", material);
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        let back = if double_sided { [1.0, 0.5, 0.25] } else { [0.0; 3] };
        let turned = |degrees: u32| format!("{MODEL}rotate = [0, {degrees}, 0]\n");
        shows(&picture(&w, &turned(0)), 1e-4, |_, _| [1.0, 0.5, 0.25]);
        shows(&picture(&w, &turned(180)), 1e-4, |_, _| back);
        for sampling in ["lights", "lobes", "both"] {
            let floor = format!(
                "[integrator]\nsamples = 64\nmax_depth = 1\nsampling = \"{sampling}\"\n{MODEL}translate = [0, 0, -1]\n\
                 rotate = [90, 0, 0]\nscale = [4, 1, 4]\n[materials.white]\n\
                 source = \"shader w(out closure c) {{ c = make_closure<Lambert>(color(1.0), global_value<normal>); }}\"\n\
                 [[shapes]]\ntype = \"rectangle\"\nmaterial = \"white\"\ntranslate = [0, 0, -3]\nrotate = [90, 0, 0]\nscale = [4, 1, 4]\n"
            );
            // The square lies across the view, seen by its edge; its front, turned from +z to −y, lights what is below.
            let pixels = picture(&w, &floor);
            let mean = |rows: std::ops::Range<usize>| {
                let part = &pixels[rows.start * 8..rows.end * 8];
                part.iter().map(|p| p[0]).sum::<f32>() / part.len() as f32
            };
            let (above, below) = (mean(0..3), mean(5..8));
            assert!(below > 0.02, "{textured} {double_sided} {sampling}: {below}");
            let expected = if double_sided { below } else { 0.0 };
            assert!((above - expected).abs() < 0.1 * below, "{textured} {double_sided} {sampling}: {above} {below}");
        }
    }
}

/// Roughness stands in green and metalness in blue, and a normal map bends the normal to the light on the side that it
/// should.
#[test]
fn maps_of_numbers_are_read_as_numbers() {
    let mut w = Writer::empty();
    // Metal of roughness 0 on the left, a dielectric of index 1 on the right.
    let texture = w.texture(&[&[[0, 0, 255, 255], [0, 255, 0, 255]]], json!({"wrapS": 33071}));
    let pbr = json!({"metallicRoughnessTexture": {"index": texture}, "baseColorFactor": [0.5, 0.5, 0.5, 1]});
    let number =
        w.add("materials", json!({"pbrMetallicRoughness": pbr, "extensions": {"KHR_materials_ior": {"ior": 1.0}}}));
    let mesh = w.square(Some(number), json!({}));
    w.add("nodes", json!({"mesh": mesh}));
    // Light from the eye's side but not from where a mirror looks.
    let light =
        "[[lights]]\ntype = \"distant\"\ndirection = [-1, 0, -1]\nirradiance = [3.1415927, 3.1415927, 3.1415927]\n";
    let found = picture(&w, &format!("{light}{MODEL}"));
    let scattered = 0.5 * std::f32::consts::FRAC_1_SQRT_2;
    assert!(found[24][0] < 0.01 && (found[31][0] - scattered).abs() < 1e-3, "{:?} {:?}", found[24], found[31]);
    // Bent by 45° to the right and up, in turn; what is lost below the surface is returned about its own normal, at 45° too.
    let cosine = std::f32::consts::FRAC_1_SQRT_2;
    let expected = 1.0 + 0.5 * (1.0 - cosine) * cosine;
    for (texel, towards) in [([218, 128, 218, 255], "[-1, 0, -1]"), ([128, 218, 218, 255], "[0, -1, -1]")] {
        let mut w = Writer::empty();
        let texture = w.texture(&[&[texel]], json!({}));
        let pbr = json!({"metallicFactor": 0, "roughnessFactor": 1});
        let number = w.add(
            "materials",
            json!({"pbrMetallicRoughness": pbr, "normalTexture": {"index": texture},
                "extensions": {"KHR_materials_ior": {"ior": 1.0}}}),
        );
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        let light = light.replace("[-1, 0, -1]", towards);
        shows(&picture(&w, &format!("{light}{MODEL}")), 0.01, |_, _| [expected; 3]);
    }
}

/// Lights and cameras of a file are those of a scene that says the same itself.
#[test]
fn lights_and_cameras_are_those_of_the_file() {
    let mut w = Writer::empty();
    let mesh = w.square(None, json!({}));
    w.document["extensions"] = json!({"KHR_lights_punctual": {"lights": [
        {"type": "point", "color": [1.0, 0.5, 0.25], "intensity": 4.0},
        {"type": "directional", "intensity": 0.5},
        {"type": "spot", "intensity": 2.0, "spot": {"innerConeAngle": 0.1, "outerConeAngle": 0.3}},
    ]}});
    let light = |i: usize| json!({"KHR_lights_punctual": {"light": i}});
    w.add("nodes", json!({"mesh": mesh}));
    w.add("nodes", json!({"translation": [0.5, 0.5, 2], "extensions": light(0)}));
    // Turned a quarter about y, −z looks along −x; the scene turns it on to −z and down.
    let half = std::f32::consts::FRAC_1_SQRT_2;
    w.add("nodes", json!({"rotation": [0, half, 0, half], "extensions": light(1), "translation": [9, 9, 9]}));
    w.add("nodes", json!({"extensions": light(2), "translation": [0.25, 0.25, 1]}));
    let camera = w.add("cameras", json!({"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.1}}));
    w.add("nodes", json!({"camera": camera, "name": "front", "translation": [0.5, 0.25, 3]}));
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let rest = "[film]\nwidth = 8\nheight = 4\n[integrator]\nsamples = 4\n[materials.m]\n\
        source = 'shader m(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>); }'\n\
        [[shapes]]\ntype = \"gltf\"\nfile = \"m.glb\"\nmaterial = \"m\"\n";
    let of_file = format!("[camera]\nfile = \"m.glb\"\nname = \"front\"\n{rest}");
    // The width is twice the height.
    let across = (2.0 * (0.4_f32.tan() * 2.0).atan()).to_degrees();
    let own = format!("[camera]\nposition = [0.5, 0.25, 3]\nlook_at = [0.5, 0.25, 2]\nfov = {across}\n{rest}");
    let (found, expected) = (folder.picture(&of_file), folder.picture(&own));
    assert!(found.iter().zip(&expected).all(|(a, b)| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-5)), "{found:?}");
    let square = "[[shapes]]\ntype = \"quad\"\nmaterial = \"m\"\ncorners = [[-1, -1, 0], [1, -1, 0], [-1, 1, 0]]\n";
    let lights = "[[lights]]\ntype = \"point\"\nposition = [0.5, 0.5, 2]\nintensity = [4, 2, 1]\n\
        [[lights]]\ntype = \"distant\"\ndirection = [-1, 0, 0]\nirradiance = [0.5, 0.5, 0.5]\n\
        [[lights]]\ntype = \"spot\"\nposition = [0.25, 0.25, 1]\nlook_at = [0.25, 0.25, 0]\nintensity = [2, 2, 2]\n\
        inner_angle = 11.459156\ncone_angle = 34.377468\n";
    let (before, _) = own.split_once("[[shapes]]").expect("it has one");
    let expected = folder.picture(&format!("{before}{square}{lights}"));
    assert!(found.iter().zip(&expected).all(|(a, b)| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-5)), "{found:?}");
}

/// A mesh that stands a thousand times is there once.
#[test]
fn what_stands_often_takes_memory_once() {
    let mut w = Writer::empty();
    let red = w.unlit([0.5, 0.0, 0.0]);
    let mesh = w.square(Some(red), json!({}));
    for i in 0..1000 {
        w.add("nodes", json!({"mesh": mesh, "scale": [0.01, 0.01, 1], "translation": [0, 0, f64::from(i)]}));
    }
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let loaded = folder.load(&seen_from_the_front(MODEL));
    let scene = loaded.scene.expect("a sound scene");
    // Two triangles, and the instances.
    assert_eq!(scene.geometry.primitive_count(), 1002);
}

#[test]
fn the_scene_gives_other_materials_by_name() {
    let mut w = Writer::empty();
    for (name, x) in [("left", -0.5), ("right", 0.5)] {
        let number = w.unlit([0.5, 0.5, 0.5]);
        w.document["materials"][number]["name"] = json!(name);
        let mesh = w.square(Some(number), json!({}));
        w.add("nodes", json!({"mesh": mesh, "scale": [0.5, 1, 1], "translation": [x, 0, 0]}));
    }
    let own = "[materials.blue]\nsource = 'shader m(out closure c) { c = make_closure<Emission>(color(0, 0, 1)); }'\n";
    let mapped = format!("{own}{MODEL}materials = {{ right = \"blue\" }}\n");
    shows(&picture(&w, &mapped), 1e-6, |x, _| if x < 0.0 { [0.5; 3] } else { [0.0, 0.0, 1.0] });
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let wrong = format!("{own}{MODEL}materials = {{ rihgt = \"blue\" }}\n");
    let said = folder.said(&seen_from_the_front(&wrong));
    assert!(said.contains("S0003") && said.contains("did you mean `right`?"), "{said}");
}

#[test]
fn files_that_others_made_can_be_seen() {
    for (name, scale) in [("boombox.glb", 1.0), ("shaderball.glb", 1.0)] {
        let Some(path) = asset(&format!("materialx/Geometry/{name}")) else { continue };
        let path = path.canonicalize().expect("it is there");
        let scene = format!(
            "[camera]\nposition = [1, 2, 5]\nlook_at = [0, 1, 0]\nfov = 45\n[film]\nwidth = 16\nheight = 16\n\
             [integrator]\nsamples = 4\n[environment]\ntype = \"constant\"\n\
             [[shapes]]\ntype = \"gltf\"\nfile = {path:?}\nscale = [{scale}, {scale}, {scale}]\n"
        );
        let pixels = pixels(Folder::temporary().load(&scene));
        let mean = pixels.iter().map(|p| p[1]).sum::<f32>() / pixels.len() as f32;
        let darkest = pixels.iter().map(|p| p[1]).fold(1.0, f32::min);
        // Nothing may be brighter than the sky for long, and something is before it.
        assert!(mean < 1.02 && darkest < 0.9, "{name}: mean {mean}, darkest {darkest}");
    }
}
