//! Meshes as Wavefront OBJ files: their parts as elements of buffers, and a mesh with other positions as a file.

use super::{Elements, gltf, words};
use crate::buffer::Buffer;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A mesh of triangles. Texture coordinates and normals have faces of their own, with indices of their own; these may be
/// empty.
#[derive(Debug, Default)]
pub struct Mesh {
    positions: Vec<[f32; 3]>,
    faces: Vec<[u32; 3]>,
    uvs: Vec<[f32; 2]>,
    uv_faces: Vec<[u32; 3]>,
    normals: Vec<[f32; 3]>,
    normal_faces: Vec<[u32; 3]>,
}

impl Mesh {
    /// Polygons are cut into triangles; all objects of the file are one mesh. The error goes on from the file's name.
    pub fn read(bytes: &[u8]) -> Result<Mesh, String> {
        let options =
            tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..Default::default() };
        let read = tobj::load_obj_buf(&mut &bytes[..], &options, |_| Ok(Default::default()));
        let (models, _) = read.map_err(|e| format!("is no OBJ that can be read: {e}"))?;
        let mut mesh = Mesh::default();
        for model in models {
            let part = model.mesh;
            let indices = |list: &[u32], first: usize| -> Vec<[u32; 3]> {
                list.as_chunks().0.iter().map(|face: &[u32; 3]| face.map(|i| i + first as u32)).collect()
            };
            mesh.faces.extend(indices(&part.indices, mesh.positions.len()));
            mesh.uv_faces.extend(indices(&part.texcoord_indices, mesh.uvs.len()));
            mesh.normal_faces.extend(indices(&part.normal_indices, mesh.normals.len()));
            mesh.positions.extend(part.positions.as_chunks().0);
            mesh.uvs.extend(part.texcoords.as_chunks().0);
            mesh.normals.extend(part.normals.as_chunks().0);
        }
        if mesh.faces.is_empty() {
            return Err("has no faces".to_owned());
        }
        if [mesh.positions.len(), 3 * mesh.faces.len()].iter().any(|n| *n > i32::MAX as usize) {
            return Err("has more vertices or faces than an index can name".to_owned());
        }
        Ok(mesh)
    }

    /// The elements of a part, by its name in a job.
    pub fn part(&self, name: &str) -> Result<Part, String> {
        let floats = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        let complete = |faces: &[[u32; 3]], what: &str| match faces.len() == self.faces.len() {
            true => Ok(()),
            false if faces.is_empty() => Err(format!("has no {what}")),
            false => Err(format!("has {what} at some faces only")),
        };
        let (words, width) = match name {
            "positions" => (floats(self.positions.as_flattened()), 3),
            "faces" => (self.faces.as_flattened().to_vec(), 3),
            "uvs" => complete(&self.uv_faces, "texture coordinates").map(|()| (floats(self.uvs.as_flattened()), 2))?,
            "uv_faces" => {
                complete(&self.uv_faces, "texture coordinates").map(|()| (self.uv_faces.as_flattened().to_vec(), 3))?
            }
            "normals" => complete(&self.normal_faces, "normals").map(|()| (floats(self.normals.as_flattened()), 3))?,
            "normal_faces" => {
                complete(&self.normal_faces, "normals").map(|()| (self.normal_faces.as_flattened().to_vec(), 3))?
            }
            _ => (self.edges().into_iter().flatten().collect(), 2),
        };
        let of_floats = matches!(name, "positions" | "uvs" | "normals");
        Ok(Part {
            elements: Elements { length: words.len() / width, words, size: None, is_shown: false },
            width,
            of_floats,
        })
    }

    /// Each edge once, with the lower index first: of one face, of two, or of any number.
    fn edges(&self) -> BTreeSet<[u32; 2]> {
        let of = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]);
        self.faces.iter().flat_map(of).filter(|[a, b]| a != b).collect()
    }

    /// The positions of a mesh that has other ones than this.
    fn moved(&self, positions: &Buffer) -> Result<Vec<[f32; 3]>, String> {
        if positions.len() != self.positions.len() {
            let (written, own) = (positions.len(), self.positions.len());
            return Err(format!("there are {written} positions, and the mesh has {own} vertices"));
        }
        Ok(words(positions).map(f32::from_bits).collect::<Vec<f32>>().as_chunks().0.to_vec())
    }

    /// The binary glTF of a mesh with these positions, and the faces and texture coordinates of this one.
    pub fn gltf(&self, positions: &Buffer) -> Result<Vec<u8>, String> {
        // Texture coordinates at some faces only are none.
        let whole = self.uv_faces.len() == self.faces.len();
        gltf::write(&self.moved(positions)?, &self.faces, &self.uvs, if whole { &self.uv_faces } else { &[] })
    }

    /// As [`Mesh::gltf`], as an OBJ.
    pub fn obj(&self, positions: &Buffer) -> Result<Vec<u8>, String> {
        let mut text = String::new();
        // Writing to a string does not fail.
        for [x, y, z] in self.moved(positions)? {
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        for [u, v] in &self.uvs {
            let _ = writeln!(text, "vt {u} {v}");
        }
        for (i, face) in self.faces.iter().enumerate() {
            let corner = |k: usize| match self.uv_faces.get(i) {
                Some(uvs) => format!("{}/{}", face[k] + 1, uvs[k] + 1),
                None => (face[k] + 1).to_string(),
            };
            let _ = writeln!(text, "f {} {} {}", corner(0), corner(1), corner(2));
        }
        Ok(text.into_bytes())
    }
}

/// A part of a mesh, and what its elements are.
pub struct Part {
    pub elements: Elements,
    /// Scalars of an element.
    pub width: usize,
    pub of_floats: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Arrangement;

    const SQUARE: &[u8] = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\nvt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3 4/1\n";

    #[test]
    fn a_quad_is_two_triangles_with_five_edges() {
        let mesh = Mesh::read(SQUARE).expect("it is right");
        let words = |name: &str| mesh.part(name).map(|part| part.elements.words);
        assert_eq!(words("faces"), Ok(vec![0, 1, 2, 0, 2, 3]));
        assert_eq!(words("uv_faces"), Ok(vec![0, 1, 2, 0, 2, 0]));
        assert_eq!(words("edges"), Ok(vec![0, 1, 0, 2, 0, 3, 1, 2, 2, 3]));
        assert_eq!(mesh.part("positions").map(|part| part.elements.length), Ok(4));
        assert_eq!(words("normals"), Err("has no normals".to_owned()));
    }

    #[test]
    fn a_written_mesh_has_other_positions() {
        let mesh = Mesh::read(SQUARE).expect("it is right");
        let moved = [[0.0f32, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.25, 1.0, 1.5]];
        let moved = Buffer::from_values(Arrangement::Columns, &moved).expect("there is memory");
        let again = Mesh::read(&mesh.obj(&moved).expect("as many")).expect("it is right");
        assert_eq!(again.positions[3], [0.25, 1.0, 1.5]);
        assert_eq!((again.faces, again.uv_faces), (mesh.faces, mesh.uv_faces));
        let few = Buffer::from_values(Arrangement::Rows, &[[0.0f32; 3]]).expect("there is memory");
        assert!(Mesh::read(SQUARE).expect("it is right").obj(&few).is_err());
    }

    #[test]
    fn what_is_no_mesh_is_refused() {
        assert_eq!(Mesh::read(b"v 0 0 0\n").map(|_| ()), Err("has no faces".to_owned()));
        for text in [&b"v 0 0 0\nf 1 2 3\n"[..], b"v 0 x 0\nf 1 1 1\n", b"f 1 2 3\n"] {
            assert!(Mesh::read(text).is_err());
        }
    }
}
