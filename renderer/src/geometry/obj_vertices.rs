//! Variables with a value for each vertex of an OBJ file. A mesh may have several vertices where the file has one: they are split
//! where normals, texture coordinates, smoothing or pieces differ.

use super::TableRows;
use super::vertex_variables::{VertexTable, VertexVariable};
use formats::obj::{Text, count_positions};
use std::sync::Arc;

/// Variables for the vertices of a file, in the order of its `v` lines.
#[derive(Default)]
pub struct OnVertices {
    tables: Vec<Arc<VertexTable>>,
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
        let Ok(vertices) = count_positions(text) else { return Ok(OnVertices { tables }) };
        match tables.iter().find(|table| table.len() != vertices) {
            Some(table) => Err(OtherLength { name: table.name.clone(), rows: table.len(), vertices }),
            None => Ok(OnVertices { tables }),
        }
    }

    /// The variables of a mesh, where `rows` tells of each of its vertices which of the file's `vertices` it is.
    pub(super) fn variables(
        &self,
        rows: impl Iterator<Item = u32> + Clone,
        vertices: usize,
    ) -> Result<Vec<VertexVariable>, String> {
        if self.tables.iter().any(|table| table.len() != vertices) {
            return Err("it changed while it was read".to_owned());
        }
        let of = |table: &Arc<VertexTable>| TableRows { table: table.clone(), rows: rows.clone().collect() };
        Ok(self.tables.iter().map(|table| VertexVariable::of(of(table))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::normals::Smoothing;
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
        for smooth in [Smoothing::Whole, Smoothing::Crease(0.5), Smoothing::Flat] {
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
        assert!(obj::load(FILE, Smoothing::Whole, &on).is_err());
    }
}
