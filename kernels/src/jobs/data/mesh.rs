//! Meshes as Wavefront OBJ files: their parts as elements of buffers, and a mesh with other positions as a file.

use super::{Elements, gltf, words};
use crate::buffer::Buffer;
use formats::obj::{self, Vertex};
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
    /// Polygons are cut into triangles; all objects of the file are one mesh. Positions, texture coordinates and normals stand in
    /// the order of the file. The error goes on from the file's name.
    pub fn read(bytes: &[u8]) -> Result<Mesh, String> {
        let file = obj::read(bytes, false).map_err(|e| format!("is no OBJ that can be read: {e}"))?;
        // Faces by one of the three lists, as far as all of their corners have something there.
        let faces = |list: fn(&Vertex) -> u32, count: usize| -> Vec<[u32; 3]> {
            let of = |face: &[u32; 3]| face.map(|vertex| list(&file.vertices[vertex as usize]));
            file.triangles.iter().map(of).filter(|face| face.iter().all(|i| (*i as usize) < count)).collect()
        };
        let mesh = Mesh {
            faces: faces(|v| v.position, file.positions.len()),
            uv_faces: faces(|v| v.coordinates, file.coordinates.len()),
            normal_faces: faces(|v| v.normal, file.normals.len()),
            positions: file.positions.iter().map(|p| p.to_array()).collect(),
            uvs: file.coordinates.iter().map(|uv| uv.to_array()).collect(),
            normals: file.normals.iter().map(|n| n.to_array()).collect(),
        };
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
        Ok(Part { elements: Elements { length: words.len() / width, words, size: None }, width, of_floats })
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

    /// The texture coordinates of all faces, or none where some faces have none.
    fn whole_uv_faces(&self) -> &[[u32; 3]] {
        if self.uv_faces.len() == self.faces.len() { &self.uv_faces } else { &[] }
    }

    /// The binary glTF of a mesh with these positions, and the faces and texture coordinates of this one.
    pub fn gltf(&self, positions: &Buffer) -> Result<Vec<u8>, String> {
        gltf::write(&self.moved(positions)?, &self.faces, &self.uvs, self.whole_uv_faces())
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
            let corner = |k: usize| match self.whole_uv_faces().get(i) {
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

    /// Positions keep the order of the file, also if faces name them in another. Lines are no faces. Corners without
    /// coordinates leave these out of files that are written.
    #[test]
    fn files_are_read_as_in_scenes() {
        let text = b"\xef\xbb\xbf# caf\xe9\nv 0 0 0 # 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nl 1 2 3\no a\nf 4 \\\n 3 2\no b\nf 1/1 2/1 4/1\n";
        let mesh = Mesh::read(text).expect("it is right");
        assert_eq!(mesh.faces, [[3, 2, 1], [0, 1, 3]]);
        assert_eq!(mesh.positions, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(mesh.part("uv_faces").map(|_| ()), Err("has texture coordinates at some faces only".to_owned()));
        let same = Buffer::from_values(Arrangement::Rows, &mesh.positions).expect("there is memory");
        let again = Mesh::read(&mesh.obj(&same).expect("as many")).expect("it is right");
        assert!(again.faces == mesh.faces && again.uv_faces.is_empty());
        let wrong = Mesh::read(b"v 0 0 0\nv 1 0 0\nf 1 2 3\n").map(|_| ());
        assert_eq!(
            wrong,
            Err("is no OBJ that can be read: line 3: a face names a vertex that is not there".to_owned())
        );
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
        assert_eq!(
            Mesh::read(b"v 0 0 0\n").map(|_| ()),
            Err("is no OBJ that can be read: it holds no faces".to_owned())
        );
        for text in [&b"v 0 0 0\nf 1 2 3\n"[..], b"v 0 x 0\nf 1 1 1\n", b"f 1 2 3\n"] {
            assert!(Mesh::read(text).is_err());
        }
    }
}
