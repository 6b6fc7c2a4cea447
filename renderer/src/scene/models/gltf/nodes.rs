//! Where the nodes of a glTF file stand.

use crate::geometry::gltf::document::{Document, Index, Node};
use glam::{DAffine3, DMat4, DQuat, DVec3};

/// A node, and the way from its space to the model's.
pub struct Placement<'a> {
    pub index: Index,
    pub node: &'a Node,
    pub to_model: DAffine3,
}

/// All nodes of the scene that is shown, each before those below it.
pub fn placements(document: &Document) -> Result<Vec<Placement<'_>>, String> {
    let nodes = &document.nodes;
    if document.scene.is_some_and(|scene| scene >= document.scenes.len()) {
        return Err("it shows a scene that is not there".to_owned());
    }
    let roots: Vec<Index> = match document.scenes.get(document.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.clone(),
        None => {
            let children: std::collections::HashSet<Index> = nodes.iter().flat_map(|n| n.children.clone()).collect();
            (0..nodes.len()).filter(|i| !children.contains(i)).collect()
        }
    };
    let mut met = vec![false; nodes.len()];
    let mut open: Vec<(Index, DAffine3)> = roots.into_iter().rev().map(|i| (i, DAffine3::IDENTITY)).collect();
    let mut found = Vec::new();
    while let Some((index, above)) = open.pop() {
        let node = nodes.get(index).ok_or("a node is named that is not there")?;
        if std::mem::replace(&mut met[index], true) {
            return Err("a node of it stands below several others, or below itself".to_owned());
        }
        let to_model = above * local(node);
        let determinant = to_model.matrix3.determinant();
        if !to_model.is_finite() || determinant == 0.0 || !determinant.is_finite() {
            return Err("the transform of a node has no inverse".to_owned());
        }
        open.extend(node.children.iter().rev().map(|&child| (child, to_model)));
        found.push(Placement { index, node, to_model });
    }
    if document.scenes.is_empty() && found.len() < nodes.len() {
        return Err("a node of it stands below itself".to_owned());
    }
    Ok(found)
}

fn local(node: &Node) -> DAffine3 {
    if let Some(matrix) = &node.matrix {
        return DAffine3::from_mat4(DMat4::from_cols_array(matrix));
    }
    let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY };
    let scale = node.scale.map_or(DVec3::ONE, DVec3::from);
    DAffine3::from_scale_rotation_translation(scale, rotation, node.translation.map_or(DVec3::ZERO, DVec3::from))
}
