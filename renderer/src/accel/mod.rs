//! Which primitive a ray hits: one interface, behind which the structure may change.
//!
//! The default is a bounding volume hierarchy in Rust; with the feature `embree` there is Embree's, too. Both find the
//! same hits, up to the rounding of triangles' distances.

mod bvh;
#[cfg(feature = "embree")]
mod embree;
mod occlusion;
mod primitives;
mod watertight;

pub use bvh::ShapeBounds;
pub use occlusion::Occlusion;
pub use watertight::ShearedRay;

use crate::geometry::{Geometry, Hit};
use crate::ray::Ray;
use bvh::Bvh;
use glam::Vec3;

/// The structures that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// A hierarchy of boxes, in Rust.
    #[default]
    Bvh,
    /// The library of that name.
    #[cfg(feature = "embree")]
    Embree,
}

impl Structure {
    /// Those that this build has, each under the name by which it is chosen.
    pub const NAMED: &[(&str, Structure)] = &[
        ("bvh", Structure::Bvh),
        #[cfg(feature = "embree")]
        ("embree", Structure::Embree),
    ];
}

/// An acceleration structure over a scene's geometry.
#[derive(Debug)]
pub struct Accel {
    kind: Kind,
    /// Of shapes that are marked as see-through.
    see_through: ShapeBounds,
}

#[derive(Debug)]
enum Kind {
    Bvh(Bvh),
    #[cfg(feature = "embree")]
    Embree(embree::Embree),
}

impl Accel {
    /// The default structure.
    pub fn build(geometry: &Geometry) -> Accel {
        Accel::new(Kind::Bvh(Bvh::build(geometry)), geometry)
    }

    /// A structure of choice; the error is a sentence that says why it is not to be had.
    pub fn build_with(geometry: &Geometry, structure: Structure) -> Result<Accel, String> {
        match structure {
            Structure::Bvh => Ok(Accel::build(geometry)),
            #[cfg(feature = "embree")]
            Structure::Embree => Ok(Accel::new(Kind::Embree(embree::Embree::build(geometry)?), geometry)),
        }
    }

    fn new(kind: Kind, geometry: &Geometry) -> Accel {
        Accel { kind, see_through: ShapeBounds::of(geometry, |shape| shape.see_through) }
    }

    /// Which one it is.
    pub fn structure(&self) -> Structure {
        match &self.kind {
            Kind::Bvh(_) => Structure::Bvh,
            #[cfg(feature = "embree")]
            Kind::Embree(_) => Structure::Embree,
        }
    }

    /// The nearest hit within the ray's interval.
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        match &self.kind {
            Kind::Bvh(bvh) => bvh.closest(ray),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => embree.closest(ray),
        }
    }

    /// Whether anything lies within the ray's interval.
    pub fn occluded(&self, ray: &Ray) -> bool {
        match &self.kind {
            Kind::Bvh(bvh) => bvh.occluded(ray),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => embree.occluded(ray),
        }
    }

    /// The nearest hit of each of many rays, which costs less than one after the other: `hits` is cleared first.
    pub fn closest_each(&self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        hits.clear();
        hits.resize(rays.len(), None);
        match &self.kind {
            Kind::Bvh(bvh) => bvh.closest_each(rays, |ray, hit| hits[ray] = hit),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => rays.iter().zip(hits).for_each(|(ray, hit)| *hit = embree.closest(ray)),
        }
    }

    /// For each of many rays, whether anything lies within its interval: `blocked` is cleared first.
    pub fn occluded_each(&self, rays: &[Ray], blocked: &mut Vec<bool>) {
        blocked.clear();
        blocked.resize(rays.len(), false);
        match &self.kind {
            Kind::Bvh(bvh) => bvh.occluded_each(rays, |ray, hit| blocked[ray] = hit),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => rays.iter().zip(blocked).for_each(|(ray, hit)| *hit = embree.occluded(ray)),
        }
    }

    /// For each of many rays what stands within its interval, where shapes that are marked as see-through do not block:
    /// `found` is cleared first.
    pub fn occlusion_each(&self, rays: &[Ray], found: &mut Vec<Occlusion>) {
        found.clear();
        found.resize(rays.len(), Occlusion::Clear);
        match &self.kind {
            Kind::Bvh(bvh) => bvh.occlusion_each(rays, |ray, occlusion| found[ray] = occlusion),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => rays.iter().zip(found).for_each(|(ray, found)| *found = embree.occlusion(ray)),
        }
    }

    /// Whether what is marked as see-through may stand within a ray's interval: see [`ShapeBounds::may_intersect`].
    pub fn may_see_through(&self, ray: &Ray) -> bool {
        self.see_through.may_intersect(ray)
    }

    /// Primitives that it holds, instances among them: what its memory grows with, however often groups are placed.
    pub fn primitive_count(&self) -> usize {
        match &self.kind {
            Kind::Bvh(bvh) => bvh.primitive_count(),
            #[cfg(feature = "embree")]
            Kind::Embree(embree) => embree.primitive_count(),
        }
    }
}

/// Where a ray that leaves a surface must start so as not to meet it again: moved along the geometric
/// normal, to the side of `direction`, past the bound of the position's rounding error, and then to the
/// next float outwards (Pharr et al., "Physically Based Rendering", 6.8.6; the same thought as Wächter
/// and Binder's, with a bound that also knows the size of the triangle).
#[inline(always)]
pub fn offset_origin(position: Vec3, error: Vec3, gnormal: Vec3, direction: Vec3) -> Vec3 {
    // Twice the bound: the test at the other end rounds as well. It mixes the axes, so that a plane of which one coordinate
    // is exactly 0 does not save a grazing ray from the rounding of the others.
    let distance = 2.0 * error.dot(gnormal.abs()).max(error.max_element());
    let offset = if direction.dot(gnormal) < 0.0 { -gnormal * distance } else { gnormal * distance };
    let outwards = |p: f32, o: f32| match o {
        o if o > 0.0 => (p + o).next_up(),
        o if o < 0.0 => (p + o).next_down(),
        _ => p,
    };
    Vec3::new(outwards(position.x, offset.x), outwards(position.y, offset.y), outwards(position.z, offset.z))
}
