//! The default structure, in Rust alone: a tree over each group, whose leaves are triangles, other primitives, and
//! instances of other groups. A ray goes on into an instance's group in that group's own space.

mod tree;

use super::primitives::{Analytic, ShearedRay};
use crate::geometry::{Geometry, Hit, Primitive, instance};
use crate::ray::Ray;
use glam::{DAffine3, Vec3};
use rayon::prelude::*;
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
    leaves: Vec<Leaf>,
    analytic: Vec<Analytic>,
    instances: Vec<Placement>,
}

#[derive(Clone, Copy, Debug)]
struct Leaf {
    body: LeafBody,
    primitive: u32,
}

#[derive(Clone, Copy, Debug)]
enum LeafBody {
    Triangle([Vec3; 3]),
    /// In the group's list of these.
    Analytic(u32),
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

    /// The nearest hit within the ray's interval.
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        self.search::<false>(Geometry::WORLD, ray, 0)
    }

    /// Whether anything lies within the ray's interval.
    pub fn occluded(&self, ray: &Ray) -> bool {
        self.search::<true>(Geometry::WORLD, ray, 0).is_some()
    }

    /// Looks in a group, reached by a path, for a hit within the ray's interval: the nearest, or with `ANY` the
    /// first one found.
    fn search<const ANY: bool>(&self, group: u32, ray: &Ray, path: u64) -> Option<Hit> {
        let group = &self.groups[group as usize];
        let sheared = ShearedRay::new(ray);
        let mut best = None;
        group.tree.walk(ray, |leaves, mut t_max| {
            for &Leaf { body, primitive } in &group.leaves[leaves] {
                let here = |(t, u, v)| Hit { t, primitive, instance: path, u, v };
                let found = match body {
                    LeafBody::Triangle(p) => sheared.intersect(&p, ray.t_min, t_max).map(here),
                    LeafBody::Analytic(i) => group.analytic[i as usize].intersect(ray, &sheared, t_max).map(here),
                    LeafBody::Instance(i) => {
                        let placement = &group.instances[i as usize];
                        let inside = instance::transformed(&Ray { t_max, ..*ray }, &placement.from_parent);
                        self.search::<ANY>(placement.group, &inside, path + placement.base)
                    }
                };
                if let Some(hit) = found {
                    t_max = if ANY { f32::NEG_INFINITY } else { hit.t };
                    best = found;
                    if ANY {
                        break;
                    }
                }
            }
            t_max
        });
        best
    }

    /// Primitives over all groups, instances among them: what memory grows with.
    pub fn primitive_count(&self) -> usize {
        self.groups.iter().map(|g| g.leaves.len()).sum()
    }
}

impl Group {
    fn build(geometry: &Geometry, group: u32) -> Group {
        let (mut analytic, mut instances) = (Vec::new(), Vec::new());
        let (mut leaves, mut boxes) = (Vec::new(), Vec::new());
        for primitive in geometry.primitives_of(group) {
            let (body, bounds) = match geometry.primitive(primitive) {
                Primitive::Triangle(mesh, t) => {
                    let p = mesh.vertices(t);
                    (LeafBody::Triangle(p), Some((p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]))))
                }
                Primitive::Instance(i) => {
                    instances.push(Placement { group: i.group, from_parent: i.from_parent, base: i.base });
                    let inside = geometry.bounds_of(i.group);
                    let bounds = inside.map(|b| instance::bounds_outside(&i.to_parent, b));
                    (LeafBody::Instance(instances.len() as u32 - 1), bounds)
                }
                other => {
                    analytic.extend(Analytic::of(other));
                    (LeafBody::Analytic(analytic.len() as u32 - 1), analytic.last().map(Analytic::bounds))
                }
            };
            // No ray meets what lies nowhere: an empty group, a triangle with a vertex that is no number.
            let usable = |b: &(Vec3, Vec3)| is_usable(body, *b);
            if let Some(bounds) = bounds.filter(usable) {
                leaves.push(Leaf { body, primitive });
                boxes.push(bounds);
            }
        }
        let (tree, order) = Tree::build(&boxes);
        let leaves = order.iter().map(|&i| leaves[i as usize]).collect();
        Group { tree, leaves, analytic, instances }
    }
}

/// Whether a box and what it was made from are numbers: the smaller of a number and NaN is the number.
fn is_usable(body: LeafBody, (low, high): (Vec3, Vec3)) -> bool {
    let vertices = match body {
        LeafBody::Triangle(p) => p.iter().all(|p| p.is_finite()),
        _ => true,
    };
    vertices && low.is_finite() && high.is_finite()
}
