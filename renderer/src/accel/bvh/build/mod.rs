//! Building: the primitives of a group as references, a tree over these, and blocks of primitives in its leaves.

mod binary;
mod parts;
mod split;
#[cfg(test)]
mod tests;
mod widen;

use super::super::primitives::Analytic;
use super::super::watertight::FourTriangles;
use super::{Block, Group, Placement};
use crate::geometry::{Body, Geometry, Primitive, instance};
use glam::Vec3;
use smallvec::SmallVec;
use split::{BLOCK, Reference};

/// What is no triangle, in the group's lists.
#[derive(Clone, Copy, Debug)]
enum Other {
    Analytic(u32, u32),
    Instance(u32),
}

/// A group's primitives on their way into a tree. What a ray cannot meet is left out: an empty group, a triangle with a vertex
/// that is no number.
#[derive(Default)]
struct Gathered {
    /// Of a triangle the item is its primitive, else a place in `others`.
    references: Vec<Reference>,
    others: Vec<Other>,
    analytic: Vec<Analytic>,
    instances: Vec<Placement>,
}

impl Group {
    pub fn build(geometry: &Geometry, group: u32) -> Group {
        let Gathered { references, others, analytic, instances } = Gathered::of(geometry, group);
        let primitives = references.len();
        let (tree, blocks) = parts::build(references, |leaf, blocks| pack(geometry, &others, leaf, blocks));
        Group { tree, blocks, primitives, analytic, instances }
    }
}

impl Gathered {
    fn of(geometry: &Geometry, group: u32) -> Gathered {
        let mut all = Gathered::default();
        all.references.reserve_exact(geometry.bodies_of(group).map(|(_, body)| body.count()).sum());
        for (first, body) in geometry.bodies_of(group) {
            if let Body::Mesh(mesh) = body {
                let triangles = (0..mesh.indices.len()).map(|t| mesh.vertices(t));
                all.references.extend(triangles.zip(first..).filter_map(|(p, primitive)| {
                    // The smaller of a number and NaN is the number, so the box alone does not tell.
                    let finite = p.iter().all(|p| p.is_finite());
                    let bounds = (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]));
                    finite.then(|| Reference::new(bounds, primitive, 1))
                }));
            } else {
                (first..first + body.count() as u32).for_each(|primitive| all.add(geometry, primitive));
            }
        }
        all
    }

    /// Adds what is no triangle.
    fn add(&mut self, geometry: &Geometry, primitive: u32) {
        let (other, bounds) = match geometry.primitive(primitive) {
            Primitive::Instance(i) => {
                self.instances.push(Placement { group: i.group, from_parent: i.from_parent, base: i.base });
                let inside = geometry.bounds_of(i.group);
                let bounds = inside.map(|b| instance::bounds_outside(&i.to_parent, b));
                (Other::Instance(self.instances.len() as u32 - 1), bounds)
            }
            other => {
                self.analytic.extend(Analytic::of(other));
                let last = self.analytic.len() as u32 - 1;
                (Other::Analytic(last, primitive), self.analytic.last().map(Analytic::bounds))
            }
        };
        if let Some(bounds) = bounds.filter(|(low, high)| low.is_finite() && high.is_finite()) {
            self.references.push(Reference::new(bounds, self.others.len() as u32, BLOCK));
            self.others.push(other);
        }
    }
}

/// Appends a leaf's blocks: those of opaque triangles first, as they end a shadow ray, then those of others.
fn pack(geometry: &Geometry, others: &[Other], leaf: &[Reference], blocks: &mut Vec<Block>) {
    let triangles = leaf.iter().filter(|r| r.weight < BLOCK).map(|r| r.item);
    let (see_through, opaque): (SmallVec<[u32; 16]>, SmallVec<[u32; 16]>) =
        triangles.partition(|&primitive| geometry.is_see_through(primitive));
    pack_triangles(geometry, &opaque, false, blocks);
    pack_triangles(geometry, &see_through, true, blocks);
    let others = leaf.iter().filter(|r| r.weight == BLOCK).map(|r| others[r.item as usize]);
    blocks.extend(others.map(|other| match other {
        Other::Analytic(number, primitive) => {
            Block::Analytic { number, primitive, see_through: geometry.is_see_through(primitive) }
        }
        Other::Instance(i) => Block::Instance(i),
    }));
}

fn pack_triangles(geometry: &Geometry, triangles: &[u32], see_through: bool, blocks: &mut Vec<Block>) {
    for four in triangles.chunks(BLOCK as usize) {
        let corners = four.iter().filter_map(|&primitive| match geometry.primitive(primitive) {
            Primitive::Triangle(mesh, t) => Some(mesh.vertices(t)),
            _ => None,
        });
        let corners: SmallVec<[[Vec3; 3]; 4]> = corners.collect();
        let primitives = std::array::from_fn(|lane| four.get(lane).copied().unwrap_or(0));
        blocks.push(Block::Triangles { triangles: FourTriangles::new(&corners), primitives, see_through });
    }
}
