//! Variables that a mesh has at its vertices, and the tables that scenes give them from, whose values can change without the mesh
//! being built anew.

use super::variables::Kept;
use super::{Geometry, Hit, Primitive, TriangleMesh};
use glam::DVec2;
use ssl_compiler::runtime::Order;
use std::sync::Arc;

/// A variable of a mesh: `components` numbers a vertex, one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexVariable {
    pub name: String,
    pub components: usize,
    pub values: Vec<f32>,
    /// Where they come from, if that is a table of their own.
    pub source: Option<TableRows>,
}

/// Which rows of a table the vertices of a mesh have.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRows {
    pub table: Arc<VertexTable>,
    /// By vertex. Vertices of the file are split where normals or texture coordinates differ, so several may have one row.
    pub rows: Vec<u32>,
}

/// Values for the vertices of a mesh's file, a row each.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexTable {
    pub name: String,
    pub components: usize,
    /// Row by row.
    pub values: Vec<f32>,
}

impl VertexTable {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.components.max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl VertexVariable {
    /// What vertices have by their rows.
    pub fn of(source: TableRows) -> VertexVariable {
        let table = source.table.clone();
        let (name, components) = (table.name.clone(), table.components);
        let mut variable = VertexVariable { name, components, values: Vec::new(), source: Some(source) };
        variable.follow(&table.values);
        variable
    }

    /// Takes other values, which are given row by row of the table.
    pub fn follow(&mut self, table: &[f32]) {
        let Some(TableRows { rows, .. }) = &self.source else { return };
        let of = |row: &u32| &table[*row as usize * self.components..][..self.components];
        self.values = rows.iter().flat_map(of).copied().collect();
    }

    /// That of some vertices.
    pub fn picked(&self, vertices: &[usize]) -> VertexVariable {
        let of = |&i: &usize| &self.values[i * self.components..][..self.components];
        let values = vertices.iter().flat_map(of).copied().collect();
        let rows = |source: &TableRows| vertices.iter().map(|i| source.rows[*i]).collect();
        let source = self.source.as_ref().map(|s| TableRows { table: s.table.clone(), rows: rows(s) });
        VertexVariable { name: self.name.clone(), components: self.components, values, source }
    }
}

impl Geometry {
    /// The shape whose table of vertices gives a hit a variable, and the rows of the corners of the hit's triangle, each with the
    /// weight by which its value counts in the variable at the hit, or in a partial of it. `barycentrics` are the partials of those
    /// of the triangle's second and third vertex. `None` where it is no table of its shape that gives it.
    pub fn rows(
        &self,
        variable: u32,
        hit: &Hit,
        order: Order,
        barycentrics: [DVec2; 2],
    ) -> Option<(u32, [(u32, f32); 3])> {
        let shape = self.shape_of(hit.primitive);
        let Kept::Vertex(i) = self.variables().kept(shape, variable)? else { return None };
        let Primitive::Triangle(mesh, triangle) = self.primitive(hit.primitive) else { return None };
        let source = mesh.variables[i].source.as_ref()?;
        let along = |b: DVec2| [(-b.x - b.y) as f32, b.x as f32, b.y as f32];
        let weights = match order {
            Order::Value => [1.0 - hit.u - hit.v, hit.u, hit.v],
            Order::Ddx => along(barycentrics[0]),
            Order::Ddy => along(barycentrics[1]),
            // Within a triangle it is linear.
            Order::Dxx | Order::Dxy | Order::Dyy => [0.0; 3],
        };
        let corners = mesh.indices[triangle];
        Some((shape, [0, 1, 2].map(|corner| (source.rows[corners[corner] as usize], weights[corner]))))
    }

    /// The variable of a shape that has it from a table of its vertices, and its mesh.
    pub fn of_table(&self, shape: u32, variable: u32) -> Option<(&VertexVariable, &TriangleMesh)> {
        let Kept::Vertex(i) = self.variables().kept(shape, variable)? else { return None };
        let mesh = self.mesh_of_shape(shape)?;
        Some((&mesh.variables[i], mesh)).filter(|(found, _)| found.source.is_some())
    }

    /// Gives the vertices of such a shape other values, row by row of the table.
    pub fn set_of_table(&mut self, shape: u32, variable: u32, values: &[f32]) {
        let Some(Kept::Vertex(i)) = self.variables().kept(shape, variable) else { return };
        if let Some(mesh) = self.mesh_of_shape_mut(shape) {
            mesh.variables[i].follow(values);
        }
    }
}
