//! Groups of shapes that stand in a scene many times, without copies: where each stands, and the globals of a hit there
//! in world space.
//!
//! An instance places a group in another, to any depth. A *path* names one chain of instances from the world down:
//! 0 is the world itself, and an instance of a group adds its `base`, before which lie the paths of the instances
//! before it. So every placed group has a number, and the numbers of any scene that fits 64 bits need no table.

use super::partials::{self, Members, RayPartial};
use super::{Geometry, Surface};
use crate::ray::Ray;
use glam::{DAffine3, DMat3, DVec3, Vec3};

/// The most levels of instances one below the other. Intersecting takes a level of the stack for each.
pub const MAX_DEPTH: u32 = 64;

/// A group placed in another one.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub group: u32,
    pub to_parent: DAffine3,
    pub from_parent: DAffine3,
    /// What a path grows by through this instance.
    pub base: u64,
    /// Its place in the scene file, which counts for instances in the world.
    pub object_id: u32,
    /// Its number among all shapes.
    pub shape: u32,
}

/// What groups refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// More than [`MAX_DEPTH`] instances below one another.
    TooDeep,
    /// Placed groups that no 64 bits can number.
    TooMany,
    /// The transform has no inverse, or none that rays could go through.
    Singular,
}

/// The most that a map may stretch along an axis of either space, and shrink. Beside coordinates of up to 1e9, squares and
/// products of what comes of it still fit f32.
const MOST: f64 = 1e12;

/// The inverse of a placement; `None` where it has none, or where numbers in it leave no room for computing in f32.
pub fn inverse(to_parent: &DAffine3) -> Option<DAffine3> {
    let from_parent = to_parent.inverse();
    let fits = |m: &DAffine3| {
        let columns = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
        // NaN is below nothing.
        columns.iter().all(|c| c.abs().cmple(DVec3::splat(MOST)).all()) && m.translation.is_finite()
    };
    (fits(to_parent) && fits(&from_parent)).then_some(from_parent)
}

/// Where a path leads.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub to_world: DAffine3,
    pub from_world: DAffine3,
    /// Of the outermost instance.
    pub object_id: u32,
    /// Turns normals: the inverse transpose.
    normal: DMat3,
    /// −1 where the placement mirrors.
    hand: f64,
}

/// The instances of a path from the world down.
pub fn chain(geometry: &Geometry, path: u64) -> impl Iterator<Item = &Instance> {
    let (mut group, mut rest) = (Geometry::WORLD, path);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let list = geometry.instances(group);
        // The last that does not begin behind the path.
        let found = list.partition_point(|&body| geometry.instance(body).base <= rest);
        let instance = geometry.instance(*list.get(found.checked_sub(1)?)?);
        (group, rest) = (instance.group, rest - instance.base);
        Some(instance)
    })
}

/// Where a path leads; `None` for the world itself.
#[inline]
pub fn placed(geometry: &Geometry, path: u64) -> Option<Placed> {
    (path != 0).then(|| placed_below(geometry, path))
}

#[inline(never)]
fn placed_below(geometry: &Geometry, path: u64) -> Placed {
    let (mut to_world, mut from_world, mut object_id) = (DAffine3::IDENTITY, DAffine3::IDENTITY, None);
    for instance in chain(geometry, path) {
        to_world *= instance.to_parent;
        from_world = instance.from_parent * from_world;
        object_id = object_id.or(Some(instance.object_id));
    }
    let normal = from_world.matrix3.transpose();
    let hand = if to_world.matrix3.determinant() < 0.0 { -1.0 } else { 1.0 };
    Placed { to_world, from_world, object_id: object_id.unwrap_or(0), normal, hand }
}

/// Bound of how far apart a world position and itself may be after it went down the path as the origin of a ray,
/// rounded to f32 at each level.
fn rounding_on_the_way(geometry: &Geometry, path: u64, position: Vec3) -> DVec3 {
    // An affine map in f32 rounds less than five times in a row for each component.
    const GAMMA: f64 = 5.0 * f32::EPSILON as f64;
    let (mut to_world, mut here, mut error) = (DMat3::IDENTITY, position.as_dvec3(), DVec3::ZERO);
    for instance in chain(geometry, path) {
        to_world *= instance.to_parent.matrix3;
        let down = instance.from_parent;
        let rounded = absolute(down.matrix3) * here.abs() + down.translation.abs();
        error += absolute(to_world) * rounded * GAMMA;
        here = down.transform_point3(here);
    }
    error
}

fn absolute(m: DMat3) -> DMat3 {
    DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs())
}

/// A ray in the space of an instance. Its direction keeps the length that the map gives it, so that distances stay
/// those of the world.
pub fn transformed(ray: &Ray, from: &DAffine3) -> Ray {
    let origin = from.transform_point3(ray.origin.as_dvec3()).as_vec3();
    Ray { origin, direction: from.transform_vector3(ray.direction.as_dvec3()).as_vec3(), ..*ray }
}

/// Corners of the box in the parent that holds a box of the group, rounded outwards.
pub fn bounds_outside(to_parent: &DAffine3, (low, high): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let (low, high) = (low.as_dvec3(), high.as_dvec3());
    let (center, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let center = to_parent.transform_point3(center);
    let half = absolute(to_parent.matrix3) * half;
    let (low, high) = ((center - half).as_vec3(), (center + half).as_vec3());
    (low.map(f32::next_down), high.map(f32::next_up))
}

impl Placed {
    /// What a surface of the group is in the world.
    pub fn surface(&self, geometry: &Geometry, path: u64, local: &Surface) -> Surface {
        let position = self.to_world.transform_point3(local.position.as_dvec3());
        // That of the group, that of this very rounding, and that on the way down for rays that leave.
        let error = absolute(self.to_world.matrix3) * local.position_error.as_dvec3()
            + position.abs() * f64::from(f32::EPSILON)
            + rounding_on_the_way(geometry, path, position.as_vec3());
        let (normal, tangent) = (self.turned(local.normal), self.carried(local.tangent));
        // On the side of the normal that it had before.
        let hand = self.hand * f64::from(local.normal.cross(local.tangent).dot(local.bitangent)).signum();
        Surface {
            position: position.as_vec3(),
            position_error: error.as_vec3(),
            normal: normal.as_vec3(),
            gnormal: self.turned(local.gnormal).as_vec3(),
            tangent: tangent.as_vec3(),
            bitangent: (normal.cross(tangent) * hand).normalize_or(DVec3::Z).as_vec3(),
            object_id: self.object_id,
            instance: path,
            ..*local
        }
    }

    /// A world ray's partial in the group's space.
    pub fn ray_partial(&self, ray: &RayPartial) -> RayPartial {
        let down = |v: DVec3| self.from_world.transform_vector3(v);
        RayPartial { direction: down(ray.direction), d_origin: down(ray.d_origin), d_direction: down(ray.d_direction) }
    }

    /// The partials of a surface of the group in the world, where `local` is that surface and `incident` the
    /// world's partial of the direction.
    pub fn members(&self, local: &Surface, m: &Members, incident: DVec3) -> Members {
        let up = |v: DVec3| self.to_world.transform_vector3(v);
        let (n, dn) = (self.normal * local.normal.as_dvec3(), self.normal * m.normal);
        let (t, dt) = (up(local.tangent.as_dvec3()), up(m.tangent));
        let (dn, dt) = (partials::normalized(n, dn), partials::normalized(t, dt));
        let hand = self.hand * f64::from(local.normal.cross(local.tangent).dot(local.bitangent)).signum();
        Members {
            position: up(m.position),
            normal: dn,
            tangent: dt,
            bitangent: partials::bitangent(n, dn, t, dt) * hand,
            incident,
            ..*m
        }
    }

    /// The unit normal of the placed surface.
    pub fn turned(&self, normal: Vec3) -> DVec3 {
        (self.normal * normal.as_dvec3()).normalize_or_zero()
    }

    /// By how much areas grow that have this unit normal before they are placed.
    pub fn growth(&self, normal: Vec3) -> f64 {
        self.to_world.matrix3.determinant().abs() * (self.normal * normal.as_dvec3()).length()
    }

    fn carried(&self, direction: Vec3) -> DVec3 {
        self.to_world.transform_vector3(direction.as_dvec3()).normalize_or_zero()
    }
}
