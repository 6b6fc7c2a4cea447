//! Rays and placements with numbers that no scene means: walks end, and what has no usable inverse is refused.

use super::random::{Random, closed_sphere, shape};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use renderer::accel::Accel;
use renderer::geometry::{Disk, Geometry, GroupError, Sphere};
use renderer::ray::Ray;

const ODD: [f32; 13] = [0.0, -0.0, 1e-45, 1e-38, 1e-20, 1e-9, 1.0, 1e9, 1e15, 1e30, f32::MAX, f32::INFINITY, f32::NAN];

/// Balls of triangles beside each other, some of them placed, over two levels, by all that placing allows.
fn crowd(random: &mut Random) -> Geometry {
    let mut geometry = Geometry::new();
    let (inner, outer) = (geometry.add_group(), geometry.add_group());
    geometry.add_to(inner, closed_sphere(1, 1.0), shape());
    geometry.add_to(inner, Sphere { center: Vec3::ONE, radius: 0.5 }, shape());
    geometry.add_to(inner, Disk::new(1.0), shape());
    for (into, group) in [(outer, inner), (Geometry::WORLD, outer), (Geometry::WORLD, inner)] {
        for exponent in [-12, -3, 0, 5, 12] {
            let scale = DVec3::new(10.0_f64.powi(exponent), 1.0, f64::from(random.unit()) + 0.1);
            let turn = DQuat::from_axis_angle(random.direction().as_dvec3(), f64::from(random.signed()) * 3.0);
            let m = DAffine3::from_scale_rotation_translation(scale, turn, random.vector().as_dvec3() * 1e3);
            // Some stretch too far once they are turned.
            let _ = geometry.add_instance(into, group, m, 0);
        }
    }
    geometry.add(closed_sphere(2, 3.0), shape());
    geometry
}

/// A walk that met a child that is not there began anew at the root, and never ended.
#[test]
fn every_walk_ends() {
    let mut random = Random::new(61);
    let geometry = crowd(&mut random);
    let accel = Accel::build(&geometry);
    let mut odd = || ODD[(random.unit() * ODD.len() as f32) as usize].copysign(random.signed());
    let mut rays = Vec::new();
    for _ in 0..20_000 {
        let (origin, direction) = (Vec3::new(odd(), odd(), odd()), Vec3::new(odd(), odd(), odd()));
        rays.push(Ray { t_max: odd().abs(), ..Ray::new(origin, direction, 0.0) });
    }
    let (mut hits, mut blocked) = (Vec::new(), Vec::new());
    accel.closest_each(&rays, &mut hits);
    accel.occluded_each(&rays, &mut blocked);
    for (ray, hit) in rays.iter().zip(&hits) {
        assert_eq!(accel.closest(ray).map(|h| h.t), hit.map(|h| h.t));
        assert!(hit.is_none_or(|h| h.t > 0.0 && h.t < ray.t_max), "{ray:?} {hit:?}");
    }
}

/// Every number of a matrix that is all but singular, or too large: either it is refused, or its inverse undoes it.
#[test]
fn placements_without_a_usable_inverse_are_refused() {
    let mut geometry = Geometry::new();
    let group = geometry.add_group();
    geometry.add_to(group, closed_sphere(1, 1.0), shape());
    let columns = |x: f64| DMat3::from_cols(DVec3::new(x, 0.0, 0.0), DVec3::new(0.1, 1.0, 0.0), DVec3::Z * 1.2);
    let mut place =
        |matrix3| geometry.add_instance(0, group, DAffine3 { matrix3, translation: DVec3::new(2.0, 1.0, 1.0) }, 0);
    for x in [1e-45, 1e-38, 1e-20, 1e-13, 1e13, 1e30, f64::INFINITY, f64::NAN, 0.0, -0.0] {
        assert_eq!(place(columns(x)), Err(GroupError::Singular), "{x}");
    }
    for x in [1e-11, 1e-3, -1.0, 1e3, 1e11] {
        assert_eq!(place(columns(x)), Ok(()), "{x}");
    }
    let accel = Accel::build(&geometry);
    let ray = Ray::new(Vec3::new(2.0, 1.0, 9.0), Vec3::NEG_Z, 0.0);
    assert!(accel.closest(&ray).is_some_and(|hit| hit.t.is_finite()));
}
