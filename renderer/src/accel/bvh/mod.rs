//! The default structure, in Rust alone: a tree over each group, whose leaves are triangles, other primitives, and
//! instances of other groups. A ray goes on into an instance's group in that group's own space.

mod boxes;
mod search;
mod tree;
mod walk;

use super::primitives::Analytic;
use super::watertight::FourTriangles;
use crate::geometry::{Geometry, Primitive, instance};
use glam::{DAffine3, Vec3};
use rayon::prelude::*;
use smallvec::SmallVec;
use tree::Tree;

/// Everything that rays need, copied from a geometry; what stands in a group once, however often it is placed.
#[derive(Debug)]
pub struct Bvh {
    /// By the groups' numbers.
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    tree: Tree,
    /// In the order of the tree's leaves.
    blocks: Vec<Block>,
    primitives: usize,
    analytic: Vec<Analytic>,
    instances: Vec<Placement>,
}

/// What a leaf of the tree is made of.
#[derive(Clone, Copy, Debug)]
enum Block {
    /// Up to four triangles, with their primitives.
    Triangles(FourTriangles, [u32; 4]),
    /// In the group's list of these.
    Analytic(u32, u32),
    Instance(u32),
}

/// A primitive before it is put into a block: as little as will do, for there are as many as triangles.
#[derive(Clone, Copy, Debug)]
enum Item {
    Triangle(u32),
    Analytic(u32, u32),
    Instance(u32),
}

#[derive(Clone, Copy, Debug)]
struct Placement {
    group: u32,
    from_parent: DAffine3,
    base: u64,
}

impl Bvh {
    pub fn build(geometry: &Geometry) -> Bvh {
        Bvh { groups: (0..geometry.group_count()).into_par_iter().map(|g| Group::build(geometry, g)).collect() }
    }

    /// Primitives over all groups, instances among them: what memory grows with.
    pub fn primitive_count(&self) -> usize {
        self.groups.iter().map(|g| g.primitives).sum()
    }
}

impl Group {
    fn build(geometry: &Geometry, group: u32) -> Group {
        let (mut analytic, mut instances) = (Vec::new(), Vec::new());
        let (mut items, mut boxes) = (Vec::new(), Vec::new());
        for primitive in geometry.primitives_of(group) {
            let (item, bounds) = match geometry.primitive(primitive) {
                Primitive::Triangle(mesh, t) => {
                    let p = mesh.vertices(t);
                    let bounds = (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]));
                    // The smaller of a number and NaN is the number, so the box alone does not tell.
                    (Item::Triangle(primitive), p.iter().all(|p| p.is_finite()).then_some(bounds))
                }
                Primitive::Instance(i) => {
                    instances.push(Placement { group: i.group, from_parent: i.from_parent, base: i.base });
                    let inside = geometry.bounds_of(i.group);
                    let bounds = inside.map(|b| instance::bounds_outside(&i.to_parent, b));
                    (Item::Instance(instances.len() as u32 - 1), bounds)
                }
                other => {
                    analytic.extend(Analytic::of(other));
                    let last = analytic.len() as u32 - 1;
                    (Item::Analytic(last, primitive), analytic.last().map(Analytic::bounds))
                }
            };
            // No ray meets what lies nowhere: an empty group, a triangle with a vertex that is no number.
            if let Some(bounds) = bounds.filter(|(low, high)| low.is_finite() && high.is_finite()) {
                items.push(item);
                boxes.push(bounds);
            }
        }
        let (mut tree, order) = Tree::build(boxes);
        let mut blocks = Vec::new();
        tree.replace_leaves(|leaf| {
            let begin = blocks.len();
            pack(geometry, order[leaf].iter().map(|&i| items[i as usize]), &mut blocks);
            begin..blocks.len()
        });
        Group { tree, blocks, primitives: items.len(), analytic, instances }
    }
}

/// A leaf's primitives as blocks, triangles first.
fn pack(geometry: &Geometry, items: impl Iterator<Item = Item>, blocks: &mut Vec<Block>) {
    let (mut triangles, mut others) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Triangle(primitive) => triangles.push(primitive),
            Item::Analytic(i, primitive) => others.push(Block::Analytic(i, primitive)),
            Item::Instance(i) => others.push(Block::Instance(i)),
        }
    }
    for four in triangles.chunks(4) {
        let corners = four.iter().filter_map(|&primitive| match geometry.primitive(primitive) {
            Primitive::Triangle(mesh, t) => Some(mesh.vertices(t)),
            _ => None,
        });
        let corners: SmallVec<[[Vec3; 3]; 4]> = corners.collect();
        let primitives = std::array::from_fn(|lane| four.get(lane).copied().unwrap_or(0));
        blocks.push(Block::Triangles(FourTriangles::new(&corners), primitives));
    }
    blocks.extend(others);
}
