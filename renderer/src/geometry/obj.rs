//! Wavefront OBJ files, through tobj: as one mesh, or in parts by material and object.

use super::TriangleMesh;
use super::obj_lines::Joined;
use super::obj_vertices::OnVertices;
use glam::{Vec2, Vec3};
use ssl_compiler::input;
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// Of a file, which is read piece by piece.
const MOST_BYTES: u64 = 1 << 36;

/// A file's text, in which lines that a backslash continues are one. It is read from its beginning as often as it is opened: files
/// are larger than what is made of them, so they are not held whole.
pub trait Text: Sync {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>>;
}

impl Text for Path {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(Joined::new(input::open(self, MOST_BYTES)?.0)))
    }
}

impl Text for [u8] {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(Joined::new(self)))
    }
}

/// Reads a file in its own space. Polygons are cut into triangles; points and lines are left out;
/// missing texture coordinates are 0; missing normals are computed. With `smooth` off, every face gets
/// its own normal, whatever the file says.
///
/// The error is a sentence for the user.
pub fn load<T: Text + ?Sized>(text: &T, smooth: bool, variables: &OnVertices) -> Result<TriangleMesh, String> {
    // Large files take a while to read, so both passes run at once: the longer one without waiting for a thread.
    let (models, survey) = rayon::join(|| models(text, &[]), || Survey::of(text));
    survey?;
    Ok(whole(models?, smooth, variables)?.0)
}

/// A part of a file: triangles between a `usemtl` and the next, and with them all others of the same names.
pub struct ObjPart {
    pub mesh: TriangleMesh,
    /// As `usemtl` names it.
    pub material: Option<String>,
    /// As `o` or `g` names it, if asked for.
    pub object: Option<String>,
}

/// A file in parts.
pub struct ObjFile {
    pub parts: Vec<ObjPart>,
    /// The files that `mtllib` names.
    pub libraries: Vec<String>,
}

/// As [`load`], in parts by the names of their materials, and of those objects and groups that are `wanted`. Normals that
/// the file does not give are as smooth between parts as within them.
pub fn load_parts<T: Text + ?Sized>(
    text: &T,
    smooth: bool,
    wanted: &[&str],
    variables: &OnVertices,
) -> Result<ObjFile, String> {
    let survey = Survey::of(text)?;
    let names = &survey.materials;
    let models = models(text, names)?;
    let key = |m: &tobj::Model| (m.mesh.material_id.and_then(|i| names.get(i)), wanted.iter().find(|w| **w == m.name));
    let keys: Vec<_> = models.iter().map(key).collect();
    let (mesh, model_of) = whole(models, smooth, variables)?;
    let mut distinct = Vec::new();
    for key in &keys {
        if !distinct.contains(key) {
            distinct.push(*key);
        }
    }
    let named = |key: &(Option<&String>, Option<&&str>)| (key.0.cloned(), key.1.map(|o| (*o).to_owned()));
    if let [one] = distinct[..] {
        let (material, object) = named(&one);
        return Ok(ObjFile { parts: vec![ObjPart { mesh, material, object }], libraries: survey.libraries });
    }
    let part = |key: &(Option<&String>, Option<&&str>)| {
        let faces = model_of.iter().enumerate().filter(|(_, model)| keys[**model as usize] == *key);
        let (material, object) = named(key);
        ObjPart { mesh: mesh.part(faces.map(|(face, _)| face)), material, object }
    };
    let parts = distinct.iter().map(part).filter(|p| !p.mesh.indices.is_empty()).collect();
    Ok(ObjFile { parts, libraries: survey.libraries })
}

/// What must be known of a file before its faces are read.
#[derive(Default)]
struct Survey {
    /// Behind `mtllib`.
    libraries: Vec<String>,
    /// Behind `usemtl`, each once.
    materials: Vec<String>,
}

impl Survey {
    fn of<T: Text + ?Sized>(text: &T) -> Result<Survey, String> {
        let mut reader = text.open().map_err(|e| e.to_string())?;
        let (mut survey, mut known) = (Survey::default(), HashSet::new());
        let (mut line, mut colored) = (Vec::new(), None);
        while reader.read_until(b'\n', &mut line).map_err(|e| e.to_string())? > 0 {
            let text = line.trim_ascii();
            if let Some(name) = value_of(text, "mtllib") {
                survey.libraries.push(name);
            } else if let Some(name) = value_of(text, "usemtl") {
                if known.insert(name.clone()) {
                    survey.materials.push(name);
                }
            } else if text.starts_with(b"v ") {
                // `v x y z r g b`: beside vertices without a color, their order would be lost.
                let words = 1 + text.windows(2).filter(|two| is_blank(two[0]) && !is_blank(two[1])).count();
                if *colored.get_or_insert(words >= 7) != (words >= 7) {
                    return Err("some of its vertices have a color, and some have none".to_owned());
                }
            }
            line.clear();
        }
        Ok(survey)
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// What stands behind a keyword.
fn value_of(line: &[u8], keyword: &str) -> Option<String> {
    let rest = line.strip_prefix(keyword.as_bytes())?;
    let behind = rest.first().is_some_and(u8::is_ascii_whitespace);
    behind.then(|| String::from_utf8_lossy(rest.trim_ascii()).into_owned())
}

/// The pieces of a file. Numbers of materials are those of `names`.
fn models<T: Text + ?Sized>(text: &T, names: &[String]) -> Result<Vec<tobj::Model>, String> {
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ignore_points: true, ignore_lines: true };
    // Names of materials are kept if a library has them: one that is put first has them all, the file's own are not read.
    let first = Cell::new(true);
    let named = |_: &Path| {
        let names = if first.replace(false) { names } else { &[] };
        let material = |name: &String| tobj::Material { name: name.clone(), ..tobj::Material::default() };
        let numbers = names.iter().cloned().zip(0..).collect();
        Ok((names.iter().map(material).collect(), numbers))
    };
    let mut text = (&b"mtllib names\n"[..]).chain(text.open().map_err(|e| e.to_string())?);
    let (models, _) = tobj::load_obj_buf(&mut text, &options, named)
        .map_err(|e| format!("it is not a well-formed OBJ file ({e})"))?;
    Ok(models)
}

/// All pieces as one mesh, and of which piece each face is.
fn whole(models: Vec<tobj::Model>, smooth: bool, variables: &OnVertices) -> Result<(TriangleMesh, Vec<u32>), String> {
    let mut mesh = TriangleMesh::default();
    let with_normals = models.iter().all(|m| m.mesh.normals.len() == m.mesh.positions.len());
    let with_colors = models.iter().all(|m| m.mesh.vertex_color.len() == m.mesh.positions.len());
    let mut model_of = Vec::new();
    for (number, model) in models.into_iter().enumerate() {
        append(&mut mesh, &model.mesh, with_normals, with_colors)?;
        model_of.resize(mesh.indices.len(), number as u32);
    }
    if mesh.indices.is_empty() {
        return Err("it holds no faces".to_owned());
    }
    if !mesh.positions.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e18) {
        return Err("a vertex position is not a usable number".to_owned());
    }
    mesh.variables = variables.variables(&mesh)?;
    mesh.complete(smooth);
    Ok((mesh, model_of))
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
        let on = OnVertices::default();
        let mesh =
            load(&b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n"[..], true, &on).expect("a well-formed file");
        assert_eq!(mesh.indices.len(), 2);
        assert!(mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
        assert!(mesh.uvs.iter().all(|uv| *uv == Vec2::ZERO));
        assert_eq!(
            load(&b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n"[..], false, &on)
                .expect("as before")
                .positions
                .len(),
            6
        );
    }

    /// The square above, and the library of its material, in lines that go on in the next.
    #[test]
    fn reads_lines_that_go_on() {
        let text = b"mtllib \\\na.mtl\nv 0 0 \\\n0\nv 1 \\\r\n0 0\nv 1 0 -1\nv 0 0 -1\nf 1 \\\n  2 3\\\n 4\n";
        let ObjFile { parts, libraries } =
            load_parts(&text[..], true, &[], &OnVertices::default()).expect("a well-formed file");
        assert_eq!((libraries, parts.len()), (vec!["a.mtl".to_owned()], 1));
        let mesh = &parts[0].mesh;
        assert_eq!((mesh.positions.len(), mesh.indices.len()), (4, 2));
        assert!(mesh.positions.contains(&Vec3::X) && mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
    }

    /// Two squares side by side, of two materials, the border's normals between them shared.
    #[test]
    fn parts_have_their_names_and_what_belongs_to_them() {
        let text = b"mtllib a.mtl\nmtllib b c.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nv 2 1 0\nv 2 1 -1\n\
            o left\nusemtl red\nf 1 2 3 4\no right\nusemtl blue\nf 2 5 6 3\nusemtl red\nf 1 2 3\n";
        let ObjFile { parts, libraries } =
            load_parts(&text[..], true, &[], &OnVertices::default()).expect("a well-formed file");
        assert_eq!(libraries, ["a.mtl", "b c.mtl"]);
        let names: Vec<_> = parts.iter().map(|p| p.material.as_deref()).collect();
        assert_eq!((names, parts[0].mesh.indices.len()), (vec![Some("red"), Some("blue")], 3));
        let at_border = |mesh: &TriangleMesh| {
            let i = mesh.positions.iter().position(|p| *p == Vec3::X).expect("both have the corner");
            mesh.normals[i]
        };
        assert!((at_border(&parts[0].mesh) - at_border(&parts[1].mesh)).length() < 1e-6);
        let parts = load_parts(&text[..], true, &["right"], &OnVertices::default()).expect("as before").parts;
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
            assert!(load(bad, true, &OnVertices::default()).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
