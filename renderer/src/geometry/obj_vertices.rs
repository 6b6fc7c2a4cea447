//! Which vertices of an OBJ file the corners of its triangles are. Vertices are split where normals or texture coordinates
//! differ, and tobj does not tell from which `v` line each comes, so the lines of faces are read once more.

use super::obj::Text;
use super::vertex_variables::{VertexTable, VertexVariable};
use super::{TableRows, TriangleMesh};
use std::io;
use std::sync::Arc;

/// Variables for the vertices of a file, in the order of its `v` lines.
#[derive(Default)]
pub struct OnVertices {
    tables: Vec<Arc<VertexTable>>,
    /// By triangle.
    corners: Vec<[u32; 3]>,
}

/// A table that does not belong to a file.
#[derive(Debug)]
pub struct OtherLength {
    pub name: String,
    pub rows: usize,
    /// That the file has.
    pub vertices: usize,
}

impl OnVertices {
    /// What a file cannot be read for is told by [`super::obj::load`].
    ///
    /// # Errors
    /// A table has more or fewer rows than the file has vertices.
    pub fn of<T: Text + ?Sized>(text: &T, tables: Vec<Arc<VertexTable>>) -> Result<OnVertices, OtherLength> {
        if tables.is_empty() {
            return Ok(OnVertices::default());
        }
        let Ok((vertices, corners)) = corners(text) else { return Ok(OnVertices { tables, corners: Vec::new() }) };
        match tables.iter().find(|table| table.len() != vertices) {
            Some(table) => Err(OtherLength { name: table.name.clone(), rows: table.len(), vertices }),
            None => Ok(OnVertices { tables, corners }),
        }
    }

    /// The variables of a mesh that has all triangles of the file, in their order.
    pub(super) fn variables(&self, mesh: &TriangleMesh) -> Result<Vec<VertexVariable>, String> {
        if self.tables.is_empty() {
            return Ok(Vec::new());
        }
        let differ = || "its faces are written in a way that does not tell which vertices they have".to_owned();
        if self.corners.len() != mesh.indices.len() {
            return Err(differ());
        }
        let mut rows = vec![None; mesh.positions.len()];
        for (vertex, row) in mesh.indices.as_flattened().iter().zip(self.corners.as_flattened()) {
            match rows.get_mut(*vertex as usize) {
                Some(place) if place.is_none_or(|known| known == *row) => *place = Some(*row),
                _ => return Err(differ()),
            }
        }
        // A vertex that no face has is never seen.
        let rows: Vec<u32> = rows.into_iter().map(|row| row.unwrap_or(0)).collect();
        let variable =
            |table: &Arc<VertexTable>| VertexVariable::of(TableRows { table: table.clone(), rows: rows.clone() });
        Ok(self.tables.iter().map(variable).collect())
    }
}

/// How many vertices a file has, and which of them are the corners of each triangle. Polygons are cut as fans, as tobj does.
fn corners<T: Text + ?Sized>(text: &T) -> io::Result<(usize, Vec<[u32; 3]>)> {
    let (mut reader, mut line) = (text.open()?, Vec::new());
    let (mut vertices, mut corners) = (0, Vec::new());
    while reader.read_until(b'\n', &mut line)? > 0 {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            Some(b"v") => vertices += 1,
            Some(b"f" | b"l") => {
                let all: Option<Vec<u32>> = words.map(|word| vertex(word, vertices)).collect();
                if let Some([first, rest @ ..]) = all.as_deref() {
                    corners.extend(rest.array_windows().map(|[b, c]| [*first, *b, *c]));
                }
            }
            _ => {}
        }
        line.clear();
    }
    Ok((vertices, corners))
}

/// The vertex that a corner of a face has, as `3`, `3/1` or `3//2`; `-1` is the last one so far.
fn vertex(word: &[u8], vertices: usize) -> Option<u32> {
    let number = word.split(|byte| *byte == b'/').next()?;
    let number: i64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    let vertex = if number < 0 { i64::try_from(vertices).ok()? + number } else { number - 1 };
    u32::try_from(vertex).ok()
}

#[cfg(test)]
mod tests {
    use super::super::obj;
    use super::*;

    /// Rows of so many vertices, each with its number.
    fn table(rows: usize) -> Vec<Arc<VertexTable>> {
        let values = (0..rows).map(|row| row as f32).collect();
        vec![Arc::new(VertexTable { name: "wear".to_owned(), components: 1, values })]
    }

    /// x is the number of the vertex, whichever way the file names it.
    const FILE: &[u8] = b"v 0 0 0\nv 1 0 0\nvt 0 0\nvt 1 1\n  v 2 1 0\nusemtl red\nf 1/1 2/1 -1/1\nv 3 1 0\nv 4 2 0\n\
        p 5\nf 1/2 3/1 4/2 5/2\nusemtl blue\nf 2//\tf\nv 5 0 1\nf 6/1 2/2 1/1\n";

    #[test]
    fn vertices_keep_their_rows_when_they_are_split_and_parted() {
        let file = std::str::from_utf8(FILE).expect("it is ASCII").replace("f 2//\tf\n", "");
        for smooth in [true, false] {
            let on = OnVertices::of(file.as_bytes(), table(6)).expect("there are six vertices");
            let whole = obj::load(file.as_bytes(), smooth, &on).expect("a well-formed file");
            let parts = obj::load_parts(file.as_bytes(), smooth, &[], &on).expect("as before").parts;
            assert_eq!(parts.len(), 2);
            for mesh in parts.iter().map(|part| &part.mesh).chain([&whole]) {
                let values = &mesh.variables[0].values;
                let expected: Vec<f32> = mesh.positions.iter().map(|p| p.x).collect();
                assert_eq!(values, &expected);
            }
        }
    }

    #[test]
    fn tables_of_another_length_and_faces_of_no_vertex_are_refused() {
        let other = OnVertices::of(FILE, table(5)).map(|_| ()).expect_err("there are six vertices");
        assert_eq!((other.rows, other.vertices), (5, 6));
        let on = OnVertices::of(FILE, table(6)).expect("there are six vertices");
        assert!(obj::load(FILE, true, &on).is_err());
    }
}
