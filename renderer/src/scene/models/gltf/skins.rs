//! Where skinned meshes stand. The transform of a node with a skin does not count: the joints move its mesh from where it was bound
//! (Khronos, "glTF 2.0", 3.7.3.3). At rest mostly all of them move it alike, and here as the first one does.

use super::nodes::Placement;
use crate::geometry::gltf::Container;
use crate::geometry::gltf::document::Index;
use glam::{DAffine3, DMat4};

/// How much the joints of a skin may move a mesh apart, as a share of how much they move it, and pass for one piece.
const ALIKE: f64 = 1e-4;

/// The way from a mesh's space to the model's, and whether it is that of all joints.
pub fn placement(container: &Container, skin: Index, placed: &[Placement<'_>]) -> Result<(DAffine3, bool), String> {
    let skin = container.document.skins.get(skin).ok_or("a node names a skin that is not there")?;
    let bound = skin.inverse_bind_matrices.map(|index| container.numbers(index)).transpose()?;
    let matrices = bound.as_ref().map(|numbers| numbers.values.as_chunks::<16>().0);
    let moved = |(number, joint): (usize, &Index)| {
        let joint = placed.iter().find(|p| p.index == *joint).ok_or("a skin has a joint that is not in its scene")?;
        let unbound = match matrices {
            None => DMat4::IDENTITY,
            Some(list) => {
                let columns = list.get(number).ok_or("a skin has fewer matrices than joints")?;
                DMat4::from_cols_array(&columns.map(f64::from))
            }
        };
        Ok(joint.to_model * DAffine3::from_mat4(unbound))
    };
    let all: Vec<DAffine3> = skin.joints.iter().enumerate().map(moved).collect::<Result<_, String>>()?;
    let first = *all.first().ok_or("a skin has no joints")?;
    let determinant = first.matrix3.determinant();
    if !first.is_finite() || !determinant.is_finite() {
        return Err("the joints of a skin have numbers that are too large".to_owned());
    }
    let size = first.to_cols_array().into_iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    Ok((first, all.iter().all(|other| other.abs_diff_eq(first, ALIKE * size))))
}
