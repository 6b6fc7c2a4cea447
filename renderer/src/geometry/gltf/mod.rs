//! glTF 2.0 files: their meshes as triangle meshes, and the document for modules that read the rest of it.
//!
//! Code of this project reads them, and not a library, since files are not to be trusted: it checks every index, offset
//! and count before it uses it.

mod accessor;
mod container;
pub mod document;

use super::{MOST_FAR, TriangleMesh, VertexVariable, tangents};
use accessor::Numbers;
pub use container::{Container, ImageBytes, KNOWN, read_document};
use document::{Index, MeshPrimitive};
use glam::{Vec2, Vec3};

/// The variable that holds the alpha of `COLOR_0`. Meshes without one, or with 1 everywhere, do not have it.
pub const COLOR_ALPHA: &str = "color_alpha";

/// A primitive of a mesh.
pub struct Triangles {
    pub mesh: TriangleMesh,
    /// Some of its tangents are computed, since the file's make a texture mirrored that is not, or the other way round.
    pub leaves_out_tangents: bool,
}

impl Container {
    /// A primitive of a mesh in the mesh's space; `None` for points and lines. `texture_set` is the set of texture
    /// coordinates that its material uses. The error is a sentence for the user.
    pub fn triangles(&self, primitive: &MeshPrimitive, texture_set: u32) -> Result<Option<Triangles>, String> {
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
        if !mesh.positions.iter().all(|p| p.is_finite() && p.abs().max_element() <= MOST_FAR) {
            return Err("a vertex position is not a number from -1e9 to 1e9".to_owned());
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
        // Tangents go with normals.
        let leaves_out_tangents = match primitive.attributes.get("TANGENT") {
            Some(&accessor) if smooth => self.tangents(&mut mesh, accessor)?,
            _ => false,
        };
        mesh.complete(smooth);
        Ok(Some(Triangles { mesh, leaves_out_tangents }))
    }

    /// Gives a mesh the tangents of the file, as far as they can be used. Says whether some cannot: bitangents run along the
    /// texture's v here, and the file may mean the other way by the fourth number.
    fn tangents(&self, mesh: &mut TriangleMesh, index: Index) -> Result<bool, String> {
        let Numbers { components: 4, values } = self.of_vertices("TANGENT", index, mesh.positions.len())? else {
            return Err("`TANGENT` of a mesh is not four numbers a vertex".to_owned());
        };
        mesh.tangents = values.chunks_exact(4).map(|c| Vec3::new(c[0], c[1], c[2]).normalize_or_zero()).collect();
        mesh.has_own_tangents = true;
        mesh.uvs.resize(mesh.positions.len(), Vec2::ZERO);
        let mut leaves_out = false;
        for corners in &mesh.indices {
            let turn = tangents::turn(corners.map(|i| mesh.uvs[i as usize]));
            for corner in corners.map(|i| i as usize) {
                if values[4 * corner + 3] * turn < 0.0 {
                    mesh.tangents[corner] = Vec3::ZERO;
                    leaves_out = true;
                }
            }
        }
        Ok(leaves_out)
    }

    /// The numbers of an attribute, as many for each vertex.
    fn of_vertices(&self, name: &str, index: Index, count: usize) -> Result<Numbers, String> {
        let numbers = self.numbers(index)?;
        let fits = numbers.values.len() == count * numbers.components && numbers.components <= 4;
        fits.then_some(numbers).ok_or_else(|| format!("`{name}` of a mesh is not for each of its {count} vertices"))
    }

    fn attribute(&self, mesh: &mut TriangleMesh, name: &str, index: Index, texture_set: u32) -> Result<(), String> {
        let set = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        let count = mesh.positions.len();
        let numbers = || self.of_vertices(name, index, count);
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
            let alpha: Vec<f32> =
                numbers.values.chunks_exact(numbers.components).filter_map(|c| c.get(3)).copied().collect();
            if alpha.iter().any(|alpha| *alpha != 1.0) {
                return add(COLOR_ALPHA.to_owned(), Numbers { components: 1, values: alpha });
            }
        } else if let Some(set) = set("COLOR_") {
            return add(format!("color{set}"), numbers()?);
        } else if let Some(own) = name.strip_prefix('_') {
            return add(own.to_owned(), numbers()?);
        } else if name == "NORMAL" {
            let normals @ Numbers { components: 3, .. } = &numbers()? else {
                return Err("`NORMAL` of a mesh is not three numbers a vertex".to_owned());
            };
            // One without a length is computed.
            mesh.normals = triples(normals).map(|n| n.normalize_or_zero()).collect();
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
