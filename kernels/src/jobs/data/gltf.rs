//! Meshes as binary glTF 2.0 files: one mesh of one primitive, with positions, and texture coordinates if there are any.

use serde_json::json;
use std::collections::HashMap;

/// What the specification calls these.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The file. A vertex of glTF has a position and a texture coordinate, so one whose faces have several of these stands there
/// several times. `uv_faces` is empty, or has the texture coordinates of each face.
pub fn write(
    positions: &[[f32; 3]],
    faces: &[[u32; 3]],
    uvs: &[[f32; 2]],
    uv_faces: &[[u32; 3]],
) -> Result<Vec<u8>, String> {
    // Neither the bounds in its text nor readers of its numbers know anything else.
    if !positions.as_flattened().iter().chain(uvs.as_flattened()).all(|x| x.is_finite()) {
        return Err("some of its numbers are not finite, and a glTF file cannot hold those".to_owned());
    }
    let (mut vertices, mut numbers) = (Vec::new(), HashMap::new());
    let mut indices = Vec::with_capacity(3 * faces.len());
    for (i, face) in faces.iter().enumerate() {
        for (k, &position) in face.iter().enumerate() {
            let vertex = (position, uv_faces.get(i).map(|uvs| uvs[k]));
            indices.push(*numbers.entry(vertex).or_insert_with(|| {
                vertices.push(vertex);
                vertices.len() as u32 - 1
            }));
        }
    }
    let places: Vec<[f32; 3]> = vertices.iter().map(|(position, _)| positions[*position as usize]).collect();
    let bound = |pick: fn(f32, f32) -> f32| {
        places.iter().copied().reduce(|a, b| [0, 1, 2].map(|axis| pick(a[axis], b[axis]))).unwrap_or_default()
    };
    let mut accessors = vec![
        json!({"bufferView": 0, "componentType": UNSIGNED_INT, "count": indices.len(), "type": "SCALAR"}),
        json!({
            "bufferView": 1, "componentType": FLOAT, "count": places.len(), "type": "VEC3",
            "min": bound(f32::min), "max": bound(f32::max),
        }),
    ];
    let mut parts = vec![
        (INDICES, indices.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>()),
        (VERTICES, floats(places.as_flattened())),
    ];
    let mut attributes = json!({"POSITION": 1});
    if !uv_faces.is_empty() {
        attributes["TEXCOORD_0"] = json!(2);
        accessors.push(json!({"bufferView": 2, "componentType": FLOAT, "count": places.len(), "type": "VEC2"}));
        // In glTF the second coordinate goes down.
        let down = |uv: [f32; 2]| [uv[0], 1.0 - uv[1]];
        let all: Vec<[f32; 2]> = vertices.iter().filter_map(|(_, uv)| Some(down(uvs[(*uv)? as usize]))).collect();
        parts.push((VERTICES, floats(all.as_flattened())));
    }
    let (mut views, mut binary) = (Vec::new(), Vec::new());
    for (target, part) in parts {
        views.push(json!({"buffer": 0, "byteOffset": binary.len(), "byteLength": part.len(), "target": target}));
        binary.extend(part);
    }
    let text = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 0}]}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": binary.len()}],
    });
    let mut text = text.to_string().into_bytes();
    // Chunks are whole words; all parts of the binary one are.
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = |n: usize| u32::try_from(n).map(u32::to_le_bytes).map_err(|_| "a glTF has 4 GB at most".to_owned());
    let mut file = Vec::new();
    file.extend(b"glTF");
    file.extend(2u32.to_le_bytes());
    file.extend(length(28 + text.len() + binary.len())?);
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", binary)] {
        file.extend(length(chunk.len())?);
        file.extend(kind);
        file.extend(chunk);
    }
    Ok(file)
}

fn floats(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn word(bytes: &[u8], at: usize) -> u32 {
        bytes[at..at + 4].try_into().map(u32::from_le_bytes).expect("four bytes")
    }

    /// The numbers of an accessor, by way of its view.
    fn numbers(file: &[u8], accessor: usize) -> Vec<u32> {
        let text = word(file, 12) as usize;
        let head: Value = serde_json::from_slice(&file[20..20 + text]).expect("it is JSON");
        let accessor = &head["accessors"][accessor];
        let view = &head["bufferViews"][accessor["bufferView"].as_u64().expect("a number") as usize];
        let [start, bytes] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().expect("a number") as usize);
        let width = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            _ => 3,
        };
        assert_eq!(accessor["count"].as_u64(), Some((bytes / 4 / width) as u64));
        (start..start + bytes).step_by(4).map(|at| word(file, 28 + text + at)).collect()
    }

    #[test]
    fn vertices_stand_once_for_each_texture_coordinate() {
        let positions = [[0.0f32, 0.0, 0.0], [1.0, 0.0, -2.0], [0.0, 3.0, 0.0]];
        let uvs = [[0.0f32, 0.25], [1.0, 0.0], [0.5, 1.0]];
        let file = write(&positions, &[[0, 1, 2], [2, 1, 0]], &uvs, &[[0, 1, 2], [2, 1, 1]]).expect("it is small");
        assert_eq!((&file[..4], word(&file, 4), word(&file, 8)), (&b"glTF"[..], 2, file.len() as u32));
        let text = word(&file, 12) as usize;
        assert_eq!((text % 4, word(&file, 20 + text) as usize), (0, file.len() - 28 - text));
        assert_eq!((&file[16..20], &file[24 + text..28 + text]), (&b"JSON"[..], &b"BIN\0"[..]));
        assert_eq!(numbers(&file, 0), [0, 1, 2, 2, 1, 3]);
        let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        assert_eq!(numbers(&file, 1), bits(&[0.0, 0.0, 0.0, 1.0, 0.0, -2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]));
        assert_eq!(numbers(&file, 2), bits(&[0.0, 0.75, 1.0, 1.0, 0.5, 0.0, 1.0, 1.0]));
        let head: Value = serde_json::from_slice(&file[20..20 + text]).expect("it is JSON");
        assert_eq!(head["accessors"][1]["min"], json!([0.0, 0.0, -2.0]));
        assert_eq!(head["accessors"][1]["max"], json!([1.0, 3.0, 0.0]));
        let plain = write(&positions, &[[0, 1, 2]], &[], &[]).expect("it is small");
        assert_eq!(numbers(&plain, 0), [0, 1, 2]);
    }
}
