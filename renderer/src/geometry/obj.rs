//! Wavefront OBJ files, through tobj: as one mesh, or in parts by material and object.

use super::TriangleMesh;
use glam::{Vec2, Vec3};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

/// Reads a file in its own space. Polygons are cut into triangles; points and lines are left out;
/// missing texture coordinates are 0; missing normals are computed. With `smooth` off, every face gets
/// its own normal, whatever the file says.
///
/// The error is a sentence for the user.
pub fn load(path: &Path, smooth: bool) -> Result<TriangleMesh, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    parse(&bytes, smooth)
}

/// As [`load`], from a file's bytes.
pub fn parse(bytes: &[u8], smooth: bool) -> Result<TriangleMesh, String> {
    Ok(whole(&models(bytes, &[])?, smooth)?.0)
}

/// A part of a file: triangles between a `usemtl` and the next, and with them all others of the same names.
pub struct ObjPart {
    pub mesh: TriangleMesh,
    /// As `usemtl` names it.
    pub material: Option<String>,
    /// As `o` or `g` names it, if asked for.
    pub object: Option<String>,
}

/// As [`parse`], in parts by the names of their materials, and of those objects and groups that are `wanted`. Normals that
/// the file does not give are as smooth between parts as within them.
pub fn parse_parts(bytes: &[u8], smooth: bool, wanted: &[&str]) -> Result<Vec<ObjPart>, String> {
    let names = material_names(bytes);
    let models = models(bytes, &names)?;
    let (mesh, model_of) = whole(&models, smooth)?;
    let keys: Vec<_> = models
        .iter()
        .map(|m| (m.mesh.material_id.and_then(|i| names.get(i)), wanted.iter().find(|w| **w == m.name)))
        .collect();
    let mut distinct = Vec::new();
    for key in &keys {
        if !distinct.contains(key) {
            distinct.push(*key);
        }
    }
    let part = |key: &(Option<&String>, Option<&&str>)| {
        let faces = model_of.iter().enumerate().filter(|(_, model)| keys[**model] == *key).map(|(face, _)| face);
        let (material, object) = (key.0.cloned(), key.1.map(|o| (*o).to_owned()));
        ObjPart { mesh: mesh.part(faces), material, object }
    };
    Ok(distinct.iter().map(part).filter(|p| !p.mesh.indices.is_empty()).collect())
}

/// The files that `mtllib` names.
pub fn libraries(bytes: &[u8]) -> Vec<String> {
    values_of(bytes, "mtllib")
}

/// The names behind `usemtl`, each once.
fn material_names(bytes: &[u8]) -> Vec<String> {
    let mut names = values_of(bytes, "usemtl");
    let mut known = HashSet::new();
    names.retain(|name| known.insert(name.clone()));
    names
}

/// What stands behind a keyword, line by line.
fn values_of(bytes: &[u8], keyword: &str) -> Vec<String> {
    let lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let behind = lines.filter_map(|line| line.strip_prefix(keyword.as_bytes()));
    let behind = behind.filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace));
    behind.map(|rest| String::from_utf8_lossy(rest.trim_ascii()).into_owned()).collect()
}

/// The pieces of a file. Numbers of materials are those of `names`.
fn models(bytes: &[u8], names: &[String]) -> Result<Vec<tobj::Model>, String> {
    if some_have_colors(bytes) {
        return Err("some of its vertices have a color, and some have none".to_owned());
    }
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ignore_points: true, ignore_lines: true };
    // Names of materials are kept if a library has them: one that is put first has them all, the file's own are not read.
    let first = Cell::new(true);
    let named = |_: &Path| {
        let names = if first.replace(false) { names } else { &[] };
        let material = |name: &String| tobj::Material { name: name.clone(), ..tobj::Material::default() };
        let numbers = names.iter().cloned().zip(0..).collect();
        Ok((names.iter().map(material).collect(), numbers))
    };
    let mut text = (&b"mtllib names\n"[..]).chain(bytes);
    let (models, _) = tobj::load_obj_buf(&mut text, &options, named)
        .map_err(|e| format!("it is not a well-formed OBJ file ({e})"))?;
    Ok(models)
}

/// All pieces as one mesh, and of which piece each face is.
fn whole(models: &[tobj::Model], smooth: bool) -> Result<(TriangleMesh, Vec<usize>), String> {
    let mut mesh = TriangleMesh::default();
    let with_normals = models.iter().all(|m| m.mesh.normals.len() == m.mesh.positions.len());
    let with_colors = models.iter().all(|m| m.mesh.vertex_color.len() == m.mesh.positions.len());
    let mut model_of = Vec::new();
    for (number, model) in models.iter().enumerate() {
        append(&mut mesh, &model.mesh, with_normals, with_colors)?;
        model_of.resize(mesh.indices.len(), number);
    }
    if mesh.indices.is_empty() {
        return Err("it holds no faces".to_owned());
    }
    if !mesh.positions.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e18) {
        return Err("a vertex position is not a usable number".to_owned());
    }
    mesh.complete(smooth);
    Ok((mesh, model_of))
}

/// Whether there are vertices with a color, `v x y z r g b`, and others without: their order would be lost.
fn some_have_colors(bytes: &[u8]) -> bool {
    let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let vertices = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_start);
    let mut colored = vertices.filter(|line| line.starts_with(b"v ")).map(|line| words(line) >= 7);
    colored.next().is_some_and(|first| colored.any(|other| other != first))
}

fn append(mesh: &mut TriangleMesh, part: &tobj::Mesh, with_normals: bool, with_colors: bool) -> Result<(), String> {
    let first = mesh.positions.len() as u32;
    let count = part.positions.len() / 3;
    if part.indices.iter().any(|&i| i as usize >= count) {
        return Err("a face names a vertex that is not there".to_owned());
    }
    mesh.positions.extend(threes(&part.positions));
    if with_normals {
        mesh.normals.extend(threes(&part.normals).map(|n| n.normalize_or(Vec3::Y)));
    }
    if with_colors {
        mesh.colors.extend(threes(&part.vertex_color));
    }
    let uv = |i: usize| match part.texcoords.get(2 * i..2 * i + 2) {
        Some(&[u, v]) if u.is_finite() && v.is_finite() => Vec2::new(u, v),
        _ => Vec2::ZERO,
    };
    mesh.uvs.extend((0..count).map(uv));
    mesh.indices.extend(part.indices.chunks_exact(3).map(|t| [t[0] + first, t[1] + first, t[2] + first]));
    Ok(())
}

fn threes(flat: &[f32]) -> impl Iterator<Item = Vec3> + '_ {
    flat.chunks_exact(3).map(|c| Vec3::new(c[0], c[1], c[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_polygons_without_normals_or_coordinates() {
        let mesh = parse(b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n", true).expect("a well-formed file");
        assert_eq!(mesh.indices.len(), 2);
        assert!(mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
        assert!(mesh.uvs.iter().all(|uv| *uv == Vec2::ZERO));
        assert_eq!(
            parse(b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n", false).expect("as before").positions.len(),
            6
        );
    }

    /// Two squares side by side, of two materials, the border's normals between them shared.
    #[test]
    fn parts_have_their_names_and_what_belongs_to_them() {
        let text = b"mtllib a.mtl\nmtllib b c.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nv 2 1 0\nv 2 1 -1\n\
            o left\nusemtl red\nf 1 2 3 4\no right\nusemtl blue\nf 2 5 6 3\nusemtl red\nf 1 2 3\n";
        assert_eq!(libraries(text), ["a.mtl", "b c.mtl"]);
        let parts = parse_parts(text, true, &[]).expect("a well-formed file");
        let names: Vec<_> = parts.iter().map(|p| p.material.as_deref()).collect();
        assert_eq!((names, parts[0].mesh.indices.len()), (vec![Some("red"), Some("blue")], 3));
        let at_border = |mesh: &TriangleMesh| {
            let i = mesh.positions.iter().position(|p| *p == Vec3::X).expect("both have the corner");
            mesh.normals[i]
        };
        assert!((at_border(&parts[0].mesh) - at_border(&parts[1].mesh)).length() < 1e-6);
        let parts = parse_parts(text, true, &["right"]).expect("as before");
        let names: Vec<_> = parts.iter().map(|p| (p.material.as_deref(), p.object.as_deref())).collect();
        assert_eq!(names, [(Some("red"), None), (Some("blue"), Some("right")), (Some("red"), Some("right"))]);
    }

    #[test]
    fn refuses_bad_files_with_a_sentence() {
        for bad in [
            &b"v 0 0"[..],
            b"f 1 2 3",
            b"",
            b"\xff\xfe\x00",
            b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
            b"v 1 0 0\nf 1 1 9",
        ] {
            assert!(parse(bad, true).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
