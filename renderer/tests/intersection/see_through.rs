//! Shadow rays among shapes that are see-through and shapes that are not: what structures find at once is what a walk from hit
//! to hit finds.

use super::random::{Random, closed_sphere, on_each};
use glam::{DAffine3, DVec3};
use renderer::accel::{Accel, Occlusion};
use renderer::geometry::{Geometry, Shape, Sphere};
use renderer::ray::Ray;

const OPAQUE: u32 = 0;
const GLASSY: u32 = 1;

fn of(material: u32) -> Shape {
    Shape { material, ..Shape::default() }
}

/// Balls by formulas and of triangles, of both materials in turn, in the world and in a group that stands there twice.
fn scene() -> Geometry {
    let mut random = Random::new(77);
    let mut geometry = Geometry::new();
    let group = geometry.add_group();
    for i in 0..40 {
        let (into, material) = (if i % 4 < 2 { Geometry::WORLD } else { group }, i % 2);
        let (center, radius) = (random.vector() * 3.0, 0.3 + 0.4 * random.unit());
        if i % 3 == 0 {
            geometry.add_to(into, Sphere { center, radius }, of(material));
        } else {
            let mut mesh = closed_sphere(1, radius);
            mesh.positions.iter_mut().for_each(|p| *p += center);
            geometry.add_to(into, mesh, of(material));
        }
    }
    for x in [-1.0, 1.5] {
        let placed = DAffine3::from_translation(DVec3::new(x, 0.5, -0.3));
        // Of an instance the material means nothing.
        geometry.place(Geometry::WORLD, group, placed, of(GLASSY)).expect("it is well-formed");
    }
    geometry
}

/// The materials along a ray; `None` where something is so close to its end that rounding decides.
fn along(geometry: &Geometry, accel: &Accel, ray: &Ray) -> Option<Vec<u32>> {
    let (mut rest, mut found) = (Ray { t_max: ray.t_max * 1.001, ..*ray }, Vec::new());
    while let Some(hit) = accel.closest(&rest) {
        if hit.t > ray.t_max * 0.999 {
            return None;
        }
        found.push(geometry.shape(geometry.shape_of(hit.primitive)).material);
        rest.t_min = hit.t.next_up();
    }
    Some(found)
}

#[test]
fn opaque_shapes_block_and_others_are_told() {
    let mut geometry = scene();
    geometry.mark_see_through(|material| material == GLASSY);
    on_each(&geometry, |name, accel| {
        let mut random = Random::new(5);
        let origins = std::iter::repeat_with(|| {
            let origin = random.vector() * 5.0;
            (origin, (random.vector() * 2.0 - origin).normalize(), 1.0 + 6.0 * random.unit())
        });
        let rays: Vec<Ray> = origins.take(2000).map(|(o, d, t_max)| Ray { t_max, ..Ray::new(o, d, 0.0) }).collect();
        let (mut found, mut blocked) = (vec![Occlusion::Blocked; 3], Vec::new());
        accel.occlusion_each(&rays, &mut found);
        accel.occluded_each(&rays, &mut blocked);
        assert_eq!(found.len(), rays.len());
        let mut counts = [0; 3];
        for ((ray, found), blocked) in rays.iter().zip(&found).zip(blocked) {
            let Some(materials) = along(&geometry, accel, ray) else { continue };
            let expected = match &materials[..] {
                [] => Occlusion::Clear,
                all if all.contains(&OPAQUE) => Occlusion::Blocked,
                _ => Occlusion::SeeThrough,
            };
            assert_eq!(*found, expected, "{name}: {ray:?} meets {materials:?}");
            assert_eq!(blocked, expected != Occlusion::Clear, "{name}: all shapes are in the way of other rays");
            counts[expected as usize] += 1;
        }
        assert!(counts.iter().all(|count| *count > 100), "{name}: {counts:?}");
    });
}

/// Nothing is see-through unless it is marked, and the last marks count.
#[test]
fn without_marks_all_shapes_block() {
    let mut geometry = scene();
    geometry.mark_see_through(|material| material == GLASSY);
    geometry.mark_see_through(|_| false);
    on_each(&geometry, |name, accel| {
        let mut random = Random::new(6);
        let ray = |_| Ray::new(random.vector() * 5.0, random.direction(), 0.0);
        let rays: Vec<Ray> = (0..500).map(ray).collect();
        let (mut found, mut blocked) = (Vec::new(), Vec::new());
        accel.occlusion_each(&rays, &mut found);
        accel.occluded_each(&rays, &mut blocked);
        let expected = |blocked: &bool| if *blocked { Occlusion::Blocked } else { Occlusion::Clear };
        assert_eq!(found, blocked.iter().map(expected).collect::<Vec<_>>(), "{name}");
    });
}
