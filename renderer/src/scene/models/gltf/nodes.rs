//! Where the nodes of a glTF file stand.

use crate::geometry::gltf::Container;
use crate::geometry::gltf::document::{Document, Index, Instancing, Node};
use glam::{DAffine3, DMat4, DQuat, DVec3};

/// A node, and the way from its space to the model's.
pub struct Placement<'a> {
    pub index: Index,
    pub node: &'a Node,
    pub to_model: DAffine3,
    /// Its transform has no inverse: its mesh covers no space.
    pub is_flat: bool,
}

impl Placement<'_> {
    /// As messages call it.
    pub fn name(&self) -> String {
        named(self.node, self.index)
    }
}

fn named(node: &Node, index: Index) -> String {
    node.name.as_ref().map_or(format!("its node {index}"), |name| format!("the node `{name}`"))
}

/// Whether nothing that is placed so has an extent along some axis.
pub fn is_flat(placed: &DAffine3) -> bool {
    placed.matrix3.determinant() == 0.0
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
        if !to_model.is_finite() || !to_model.matrix3.determinant().is_finite() {
            return Err(format!("the transform of {} has numbers that are too large", named(node, index)));
        }
        open.extend(node.children.iter().rev().map(|&child| (child, to_model)));
        found.push(Placement { index, node, to_model, is_flat: is_flat(&to_model) });
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
    composed(node.translation, node.rotation, node.scale)
}

fn composed(translation: Option<[f64; 3]>, rotation: Option<[f64; 4]>, scale: Option<[f64; 3]>) -> DAffine3 {
    let rotation = rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY };
    let scale = scale.map_or(DVec3::ONE, DVec3::from);
    DAffine3::from_scale_rotation_translation(scale, rotation, translation.map_or(DVec3::ZERO, DVec3::from))
}

/// Instances that a node may have.
const MOST_INSTANCES: usize = 1 << 24;

/// Where a node has its mesh, in its own space (`EXT_mesh_gpu_instancing`).
pub fn instances(container: &Container, instancing: &Instancing) -> Result<Vec<DAffine3>, String> {
    let numbers = |name: &str, components: usize| {
        let read = instancing.attributes.get(name).map(|index| container.numbers(*index)).transpose()?;
        match read {
            Some(numbers) if numbers.components != components => {
                Err(format!("`{name}` of instances is not {components} numbers each"))
            }
            read => Ok(read.map(|numbers| numbers.values.into_iter().map(f64::from).collect::<Vec<f64>>())),
        }
    };
    let (translations, rotations, scales) = (numbers("TRANSLATION", 3)?, numbers("ROTATION", 4)?, numbers("SCALE", 3)?);
    let count = |list: &Option<Vec<f64>>, components: usize| list.as_ref().map(|list| list.len() / components);
    let counts = [count(&translations, 3), count(&rotations, 4), count(&scales, 3)];
    let mut counts = counts.into_iter().flatten();
    let first = counts.next().unwrap_or(0);
    if counts.any(|other| other != first) {
        return Err("the attributes of instances are not equally many".to_owned());
    }
    if first > MOST_INSTANCES {
        return Err(format!("a node of it has {first} instances, and {MOST_INSTANCES} are read at most"));
    }
    let threes =
        |list: &Option<Vec<f64>>, i: usize| list.as_ref().and_then(|list| list.as_chunks::<3>().0.get(i).copied());
    let fours =
        |list: &Option<Vec<f64>>, i: usize| list.as_ref().and_then(|list| list.as_chunks::<4>().0.get(i).copied());
    let all = (0..first).map(|i| composed(threes(&translations, i), fours(&rotations, i), threes(&scales, i)));
    let all: Vec<DAffine3> = all.collect();
    match all.iter().all(|place| place.is_finite()) {
        true => Ok(all),
        false => Err("the place of an instance is not a usable number".to_owned()),
    }
}
