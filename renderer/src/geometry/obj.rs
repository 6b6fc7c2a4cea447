//! Wavefront OBJ files, through tobj. All objects of a file become one mesh.

use super::TriangleMesh;
use glam::{Vec2, Vec3};
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
    if some_have_colors(bytes) {
        return Err("some of its vertices have a color, and some have none".to_owned());
    }
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ignore_points: true, ignore_lines: true };
    // Material files are not read: materials come from the scene.
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut &*bytes, &options, no_materials)
        .map_err(|e| format!("it is not a well-formed OBJ file ({e})"))?;
    let mut mesh = TriangleMesh::default();
    let with_normals = models.iter().all(|m| m.mesh.normals.len() == m.mesh.positions.len());
    let with_colors = models.iter().all(|m| m.mesh.vertex_color.len() == m.mesh.positions.len());
    for model in models {
        append(&mut mesh, &model.mesh, with_normals, with_colors)?;
    }
    if mesh.indices.is_empty() {
        return Err("it holds no faces".to_owned());
    }
    if !mesh.positions.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e18) {
        return Err("a vertex position is not a usable number".to_owned());
    }
    mesh.complete(smooth);
    Ok(mesh)
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
