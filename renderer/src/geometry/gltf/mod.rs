//! glTF 2.0 files: their meshes as triangle meshes, and the document for modules that read the rest of it.
//!
//! Code of this project reads them, and not a library, since files are not to be trusted: it checks every index, offset
//! and count before it uses it.

mod accessor;
mod container;
pub mod document;

use super::{TriangleMesh, VertexVariable};
use accessor::Numbers;
pub use container::{Container, ImageBytes, KNOWN, read_document};
use document::{Index, MeshPrimitive};
use glam::{Vec2, Vec3};

impl Container {
    /// A primitive of a mesh in the mesh's space; `None` for points and lines. `texture_set` is the set of texture
    /// coordinates that its material uses. The error is a sentence for the user.
    pub fn triangles(&self, primitive: &MeshPrimitive, texture_set: u32) -> Result<Option<TriangleMesh>, String> {
        if let Some(packed) = primitive.extensions.keys().find(|e| e.contains("compression")) {
            return Err(format!("a mesh of it is packed by the extension `{packed}`, which is not read"));
        }
        let mode = primitive.mode.unwrap_or(4);
        if mode < 4 {
            return Ok(None);
        }
        let Some(&positions) = primitive.attributes.get("POSITION") else {
            return Err("a mesh of it has no positions".to_owned());
        };
        let mut mesh = TriangleMesh { positions: self.threes(positions)?, ..TriangleMesh::default() };
        if !mesh.positions.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e18) {
            return Err("a vertex position is not a usable number".to_owned());
        }
        for (name, &accessor) in &primitive.attributes {
            self.attribute(&mut mesh, name, accessor, texture_set)?;
        }
        let count = mesh.positions.len() as u32;
        let corners = match primitive.indices {
            Some(accessor) => self.indices(accessor)?,
            None => (0..count).collect(),
        };
        if corners.iter().any(|&i| i >= count) {
            return Err("a face names a vertex that is not there".to_owned());
        }
        mesh.indices = faces(mode, &corners)?;
        // Without normals, faces are flat (section 3.7.2.1).
        let smooth = !mesh.normals.is_empty();
        mesh.complete(smooth);
        Ok(Some(mesh))
    }

    fn attribute(&self, mesh: &mut TriangleMesh, name: &str, index: Index, texture_set: u32) -> Result<(), String> {
        let count = mesh.positions.len();
        let set = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        let numbers = || {
            let numbers = self.numbers(index)?;
            let fits = numbers.values.len() == count * numbers.components;
            fits.then_some(numbers).ok_or_else(|| format!("`{name}` of a mesh is not for each of its {count} vertices"))
        };
        let mut add = |name: String, Numbers { components, values }: Numbers| {
            if values.iter().all(|x| x.is_finite()) {
                mesh.variables.push(VertexVariable { name, components, values, source: None });
                return Ok(());
            }
            Err(format!("`{name}` of a mesh has values that are no numbers"))
        };
        if let Some(set) = set("TEXCOORD_") {
            let Numbers { components: 2, mut values } = numbers()? else {
                return Err(format!("`{name}` of a mesh is not two numbers a vertex"));
            };
            // There v runs down the image.
            values.iter_mut().skip(1).step_by(2).for_each(|v| *v = 1.0 - *v);
            if set == texture_set {
                let finite = |uv: Vec2| if uv.is_finite() { uv } else { Vec2::ZERO };
                mesh.uvs = values.chunks_exact(2).map(|c| finite(Vec2::new(c[0], c[1]))).collect();
                return Ok(());
            }
            return add(format!("uv{set}"), Numbers { components: 2, values });
        }
        if name == "COLOR_0" {
            let numbers = numbers()?;
            if numbers.components < 3 {
                return Err("`COLOR_0` of a mesh is no color".to_owned());
            }
            mesh.colors = triples(&numbers).collect();
        } else if let Some(set) = set("COLOR_") {
            return add(format!("color{set}"), numbers()?);
        } else if let Some(own) = name.strip_prefix('_') {
            return add(own.to_owned(), numbers()?);
        } else if name == "NORMAL" {
            mesh.normals = triples(&numbers()?).map(|n| n.normalize_or(Vec3::Y)).collect();
        }
        Ok(())
    }

    fn threes(&self, index: Index) -> Result<Vec<Vec3>, String> {
        let numbers = self.numbers(index)?;
        match numbers.components {
            3 => Ok(triples(&numbers).collect()),
            _ => Err(format!("its accessor {index} holds no vectors")),
        }
    }
}

/// The first three of each vertex's numbers.
fn triples(numbers: &Numbers) -> impl Iterator<Item = Vec3> {
    numbers.values.chunks_exact(numbers.components.max(3)).map(|c| Vec3::new(c[0], c[1], c[2]))
}

/// Corners in the order of a mode: triangles, a strip, a fan.
fn faces(mode: u32, corners: &[u32]) -> Result<Vec<[u32; 3]>, String> {
    let three = |c: &[u32]| [c[0], c[1], c[2]];
    Ok(match mode {
        4 => corners.chunks_exact(3).map(three).collect(),
        // Every second one the other way round.
        5 => corners.windows(3).enumerate().map(|(i, c)| [c[0], c[1 + i % 2], c[2 - i % 2]]).collect(),
        6 => corners.get(1..).unwrap_or_default().windows(2).map(|c| [corners[0], c[0], c[1]]).collect(),
        _ => return Err(format!("a mesh of it has the unknown mode {mode}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_their_winding() {
        assert_eq!(faces(5, &[0, 1, 2, 3, 4]), Ok(vec![[0, 1, 2], [1, 3, 2], [2, 3, 4]]));
        assert_eq!(faces(6, &[0, 1, 2, 3]), Ok(vec![[0, 1, 2], [0, 2, 3]]));
        assert_eq!(faces(4, &[0, 1, 2, 3]), Ok(vec![[0, 1, 2]]));
        assert!(faces(9, &[]).is_err() && faces(6, &[]) == Ok(vec![]));
    }
}
