//! The surfaces at the hits of a block: those on triangles in the world itself, which most are, side by side.

use super::surface::{self, Asked, Place, Surface};
use super::{Geometry, Hit, Primitive};
use crate::math::lanes::{Row, Row3, wide};
use crate::ray::Ray;
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// Where the hits of a block are, as far as rays need to know that leave there.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaceRows {
    pub position: Row3,
    pub position_error: Row3,
    pub gnormal: Row3,
}

impl PlaceRows {
    #[inline(always)]
    fn set(&mut self, lane: usize, place: Place) {
        self.position.set(lane, place.position);
        self.position_error.set(lane, place.position_error);
        self.gnormal.set(lane, place.gnormal);
    }
}

/// The surfaces of a block while they are found.
#[derive(Default)]
pub struct SurfaceBlock {
    /// A bit for each lane on such a triangle, and what is there.
    plain: u32,
    triangles: Triangles,
    found: Found,
}

/// Triangles with the normals of their corners, and hits on them.
#[derive(Default)]
struct Triangles {
    corners: [Row3; 3],
    normals: [Row3; 3],
    u: Row,
    v: Row,
    incident: Row3,
}

#[derive(Default)]
struct Found {
    places: PlaceRows,
    normal: Row3,
    backfacing: [u32; LANES],
}

impl SurfaceBlock {
    /// Looks at the hits of a block: the shapes that rays met, and where.
    pub fn gather<'a>(&mut self, geometry: &Geometry, hits: impl Iterator<Item = (u32, &'a Ray, &'a Hit)>) {
        self.plain = 0;
        for (lane, (shape, ray, hit)) in hits.enumerate() {
            let Primitive::Triangle(mesh, triangle) = geometry.primitive_of(shape, hit.primitive) else { continue };
            if hit.instance != 0 {
                continue;
            }
            self.plain |= 1 << lane;
            let Triangles { corners, normals, u, v, incident } = &mut self.triangles;
            for (i, vertex) in mesh.indices[triangle].into_iter().enumerate() {
                corners[i].set(lane, mesh.positions[vertex as usize]);
                normals[i].set(lane, mesh.normals[vertex as usize]);
            }
            (u[lane], v[lane]) = (hit.u, hit.v);
            incident.set(lane, ray.direction);
        }
        if self.plain != 0 {
            find(&self.triangles, &mut self.found);
        }
    }

    /// Writes the surface of a lane, for the hit that was gathered, as [`surface::asked_on`] gives it.
    pub fn write(
        &mut self,
        geometry: &Geometry,
        lane: usize,
        (shape, ray, hit): (u32, &Ray, &Hit),
        asked: Asked,
        surface: &mut Surface,
    ) {
        let primitive = geometry.primitive_of(shape, hit.primitive);
        let found = &mut self.found;
        match primitive {
            Primitive::Triangle(mesh, triangle) if self.plain >> lane & 1 != 0 => {
                surface.position = found.places.position.get(lane);
                surface.position_error = found.places.position_error.get(lane);
                surface.gnormal = found.places.gnormal.get(lane);
                surface.normal = found.normal.get(lane);
                surface.backfacing = found.backfacing[lane] != 0;
                (surface.shape, surface.instance) = (shape, 0);
                surface.object_id = geometry.shape(shape).object_id;
                surface::write_asked(mesh, triangle, hit, asked, surface);
            }
            _ => {
                *surface = surface::asked_on(geometry, (shape, primitive), ray, hit, asked);
                found.places.set(lane, surface.place());
            }
        }
    }

    /// The places of the lanes that were written.
    pub fn places(&self) -> &PlaceRows {
        &self.found.places
    }
}

wide! {
    fn find(triangles: &Triangles, found: &mut Found) {
        let Triangles { corners, normals, u, v, incident } = triangles;
        for lane in 0..LANES {
            let three = |rows: &[Row3; 3]| -> [Vec3; 3] { [rows[0].get(lane), rows[1].get(lane), rows[2].get(lane)] };
            let place = surface::place_of(three(corners), (u[lane], v[lane]));
            found.normal.set(lane, surface::normal_of(three(normals), (u[lane], v[lane]), place.gnormal));
            found.backfacing[lane] = (incident.get(lane).dot(place.gnormal) > 0.0).into();
            found.places.set(lane, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::Accel;
    use crate::geometry::{Shape, Sphere, TriangleMesh};
    use crate::math::lanes::narrow;
    use crate::sampler::Sampler;

    /// A tent of triangles whose corners have normals of their own, one without area, and a ball over it.
    fn scene() -> Geometry {
        let mut mesh = TriangleMesh {
            positions: vec![Vec3::new(-2.0, 0.0, -2.0), Vec3::X * 2.0, Vec3::Z * 2.0, Vec3::new(0.1, 0.7, 0.2)],
            indices: vec![[0, 2, 3], [2, 1, 3], [1, 0, 3], [0, 0, 3]],
            ..TriangleMesh::default()
        };
        mesh.complete(true);
        let mut geometry = Geometry::new();
        geometry.add_mesh(mesh, Shape { object_id: 3, ..Shape::default() });
        let ball = Sphere { center: Vec3::new(0.3, 1.2, 0.0), radius: 0.4 };
        geometry.add_sphere(ball, Shape { object_id: 5, ..Shape::default() });
        geometry
    }

    /// Values that nobody asked for may be left from before.
    #[test]
    fn surfaces_of_a_block_are_those_of_its_hits() {
        let geometry = scene();
        let accel = Accel::build(&geometry);
        let mut random = Sampler::new(4, (1, 2), 0);
        let mut hits = Vec::new();
        while hits.len() < 40 * LANES {
            let aim = random.next_2d().extend(random.next_1d()) - 0.5;
            let origin = Vec3::new(random.next_1d() - 0.5, if hits.len() % 3 == 0 { -3.0 } else { 3.0 }, 0.5);
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            hits.extend(accel.closest(&ray).map(|hit| (geometry.find(hit.primitive).0, ray, hit)));
        }
        let balls = hits.iter().filter(|(shape, ..)| *shape == 1).count();
        assert!(balls > LANES && balls < hits.len() - LANES, "{balls}");
        let asked = Asked::ALL;
        let expected: Vec<String> =
            hits.iter().map(|(_, ray, hit)| format!("{:?}", surface::asked_at(&geometry, ray, hit, asked))).collect();
        let blocks = || {
            let (mut block, mut found) = (SurfaceBlock::default(), Vec::new());
            for of_block in hits.chunks(LANES) {
                block.gather(&geometry, of_block.iter().map(|(shape, ray, hit)| (*shape, ray, hit)));
                for (lane, (shape, ray, hit)) in of_block.iter().enumerate() {
                    let mut surface = Surface { tangent: Vec3::splat(9.0), ..Surface::default() };
                    block.write(&geometry, lane, (*shape, ray, hit), asked, &mut surface);
                    assert_eq!(block.places().position.get(lane), surface.position);
                    assert_eq!(block.places().gnormal.get(lane), surface.gnormal);
                    assert_eq!(block.places().position_error.get(lane), surface.position_error);
                    found.push(format!("{surface:?}"));
                }
            }
            found
        };
        narrow::each(blocks).into_iter().for_each(|found| assert_eq!(found, expected));
    }
}
