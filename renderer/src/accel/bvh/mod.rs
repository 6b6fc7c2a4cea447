//! The default structure, in Rust alone: a tree over each group, whose leaves are triangles, other primitives, and
//! instances of other groups. In an instance, a ray goes on in the space of its group.

mod boxes;
mod build;
mod node;
mod search;
mod shape_bounds;
mod slabs;
mod walk;

pub use shape_bounds::ShapeBounds;

use super::primitives::Analytic;
use super::watertight::FourTriangles;
use crate::geometry::Geometry;
use glam::DAffine3;
use node::Node;
use rayon::prelude::*;

/// Everything that rays need, copied from a geometry; what stands in a group once, however often it is placed.
#[derive(Debug)]
pub struct Bvh {
    /// By the groups' numbers.
    groups: Vec<Group>,
    /// Some blocks are see-through.
    has_see_through: bool,
}

#[derive(Debug)]
struct Group {
    /// None over nothing.
    tree: Vec<Node>,
    /// In the order of the tree's leaves.
    blocks: Vec<Block>,
    primitives: usize,
    analytic: Vec<Analytic>,
    instances: Vec<Placement>,
}

/// What a leaf of the tree is made of.
#[derive(Clone, Copy, Debug)]
enum Block {
    /// Up to four, all of them see-through or none.
    Triangles {
        triangles: FourTriangles,
        primitives: [u32; 4],
        see_through: bool,
    },
    /// By its number in the group's list of these.
    Analytic {
        number: u32,
        primitive: u32,
        see_through: bool,
    },
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
        let groups = (0..geometry.group_count()).into_par_iter().map(|g| Group::build(geometry, g)).collect();
        Bvh { groups, has_see_through: geometry.has_see_through() }
    }

    /// Primitives over all groups, instances among them: what memory grows with.
    pub fn primitive_count(&self) -> usize {
        self.groups.iter().map(|g| g.primitives).sum()
    }
}
