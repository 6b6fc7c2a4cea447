//! Bad files: a sentence each, and never a crash.

use super::writer::Writer;
use super::{Folder, seen_from_the_front};
use serde_json::{Value, json};

fn sound() -> Writer {
    let mut w = Writer::empty();
    let texture = w.texture(&[&[[255; 4]]], json!({}));
    let info = json!({"index": texture});
    let number = w.add("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": info}}));
    let mesh = w.square(Some(number), json!({}));
    let camera = w.add("cameras", json!({"type": "orthographic", "orthographic": {"xmag": 1.0, "ymag": 1.0}}));
    w.add("nodes", json!({"mesh": mesh, "children": [1]}));
    w.add("nodes", json!({"camera": camera, "name": "eye"}));
    w
}

const MODEL: &str = "[[shapes]]\ntype = \"gltf\"\nfile = \"m.glb\"\n";

#[test]
fn each_fault_has_its_sentence() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 18] = [
        (|d| d["asset"]["version"] = json!("1.0"), "version `1.0`"),
        (|d| d["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]), "`KHR_draco_mesh_compression`"),
        (|d| d["nodes"][0]["mesh"] = json!(7), "mesh that is not there"),
        (|d| d["nodes"][1]["children"] = json!([0]), "below itself"),
        (|d| d["nodes"][0]["children"] = json!([9]), "node is named"),
        (|d| d["nodes"][0]["scale"] = json!([1e200, 1e200, 1]), "the transform of its node 0"),
        (|d| d["bufferViews"][1]["byteLength"] = json!(1u64 << 60), "accessor 0"),
        (|d| d["accessors"][0]["count"] = json!(1u64 << 62), "accessor 0"),
        (|d| d["accessors"][0]["count"] = json!(0), "accessor 0"),
        (|d| d["accessors"][0]["byteOffset"] = json!(u64::MAX), "accessor 0"),
        (|d| d["accessors"][0]["type"] = json!("MAT4"), "accessor 0"),
        (|d| d["accessors"][1]["count"] = json!(3), "each of its 4 vertices"),
        (|d| d["accessors"][0]["count"] = json!(3), "each of its 3 vertices"),
        (|d| d["meshes"][0]["primitives"][0]["attributes"] = json!({}), "no positions"),
        (|d| d["meshes"][0]["primitives"][0]["material"] = json!(4), "material that is not there"),
        (|d| d["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"] = json!(3), "texture that is not"),
        (|d| d["images"][0]["bufferView"] = json!(1), "neither PNG nor JPEG"),
        (
            |d| {
                let spot = json!({"type": "spot", "spot": {"innerConeAngle": 0.8, "outerConeAngle": 0.7}});
                d["extensions"] = json!({"KHR_lights_punctual": {"lights": [spot]}});
                d["nodes"][0]["extensions"] = json!({"KHR_lights_punctual": {"light": 0}});
            },
            "angles of a spot light",
        ),
    ];
    for (change, words) in cases {
        let mut w = sound();
        change(&mut w.document);
        let folder = Folder::temporary();
        folder.write("m.glb", w.glb());
        let said = folder.said(&seen_from_the_front(MODEL));
        assert!(said.contains("S0007") && said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_is_left_out_is_said_and_the_rest_is_shown() {
    let mut w = sound();
    w.document["extensionsUsed"] = json!(["KHR_materials_clearcoat", "KHR_materials_volume", "EXT_maker"]);
    w.document["animations"] = json!([{"channels": [], "samplers": []}]);
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    let loaded = folder.load(&seen_from_the_front(MODEL));
    let codes: Vec<&str> = loaded.diagnostics.list.iter().map(|d| d.code.id).collect();
    assert!(loaded.scene.is_some() && codes == ["S0025"; 4], "{codes:?}");
}

/// Its attributes have other types, which are read anyway.
#[test]
fn quantised_meshes_are_read_where_they_are_required() {
    let mut w = sound();
    w.document["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    w.document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let folder = Folder::temporary();
    folder.write("m.glb", w.glb());
    assert_eq!(folder.said(&seen_from_the_front(MODEL)), "");
}

#[test]
fn cameras_that_are_not_there_are_refused() {
    let folder = Folder::temporary();
    folder.write("m.glb", sound().glb());
    let rest = format!("[film]\nwidth = 2\nheight = 2\n{MODEL}");
    for (camera, code, words) in [
        ("file = \"m.glb\"\nname = \"ear\"", "S0026", "it has `eye`"),
        ("file = \"gone.glb\"", "S0026", "gone.glb"),
        ("file = \"m.glb\"\nposition = [0, 0, 1]", "S0006", "`position`"),
        ("name = \"eye\"\nposition = [0, 0, 1]\nlook_at = [0, 0, 0]", "S0006", "add `file"),
        ("position = [0, 0, 1]", "S0006", "look_at"),
    ] {
        let said = folder.said(&format!("[camera]\n{camera}\n{rest}"));
        assert!(said.contains(code) && said.contains(words), "{camera}: {said}");
    }
    assert_eq!(folder.said(&format!("[camera]\nfile = \"m.glb\"\n{rest}")), "");
}

/// Cut anywhere, and with any byte changed, a file is read or refused.
#[test]
fn damaged_files_are_read_or_refused() {
    let whole = sound().glb();
    let folder = Folder::temporary();
    let scene = seen_from_the_front(MODEL);
    let cuts = (0..whole.len()).step_by(97).map(|n| whole[..n].to_vec());
    let changes = (0..whole.len()).step_by(29).map(|i| {
        let mut bytes = whole.clone();
        bytes[i] ^= 0x15 << (i % 3);
        bytes
    });
    let (mut read, mut refused) = (0, 0);
    for bytes in cuts.chain(changes) {
        folder.write("m.glb", bytes);
        match folder.load(&scene).scene {
            Some(_) => read += 1,
            None => refused += 1,
        }
    }
    assert!(read > 5 && refused > 20, "{read} {refused}");
}
