//! The surfaces at the hits of a block: those on triangles in the world itself, which most are, side by side.

use super::plain_partials::PlainPartials;
use super::surface::{self, Asked, Partials, Place, Surface};
use super::{Geometry, Hit, Primitive, Wanted};
use crate::math::lanes::{Row, Row3, mask_where, wide};
use crate::ray::{Ray, RayDifferential};
use glam::{Vec2, Vec3};
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
    differentials: DifferentialRows,
    partials: PartialRows,
}

/// What partials come from beside the triangles.
#[derive(Default)]
struct DifferentialRows {
    t: Row,
    /// Texture coordinates of the corners.
    uvs: [[Row; 2]; 3],
    /// Differentials of the rays.
    origin: [Row3; 2],
    direction: [Row3; 2],
}

/// Partials of the hits, where they are sound.
#[derive(Default)]
struct PartialRows {
    sound: [u32; LANES],
    position: [Row3; 2],
    uv: [[Row; 2]; 2],
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

    /// Finds the partials at the hits that were gathered, with the differentials of their rays, where f32 suffices. Returns a bit for
    /// each lane where it does.
    pub fn find_partials<'a>(
        &mut self,
        geometry: &Geometry,
        hits: impl Iterator<Item = (u32, &'a RayDifferential, &'a Hit)>,
        wanted: Wanted,
    ) -> u32 {
        if self.plain == 0 || !wanted.any() || !wanted.is_plain() {
            return 0;
        }
        let DifferentialRows { t, uvs, origin, direction } = &mut self.differentials;
        if !wanted.uvw {
            *uvs = Default::default();
        }
        for (lane, (shape, differential, hit)) in hits.enumerate() {
            if self.plain >> lane & 1 == 0 {
                continue;
            }
            t[lane] = hit.t;
            for axis in [0, 1] {
                origin[axis].set(lane, differential.origin[axis]);
                direction[axis].set(lane, differential.direction[axis]);
            }
            if wanted.uvw
                && let Primitive::Triangle(mesh, triangle) = geometry.primitive_of(shape, hit.primitive)
            {
                for (rows, vertex) in uvs.iter_mut().zip(mesh.indices[triangle]) {
                    let uv = mesh.uvs[vertex as usize];
                    (rows[0][lane], rows[1][lane]) = (uv.x, uv.y);
                }
            }
        }
        find_partials(&self.triangles, &self.differentials, &mut self.partials);
        self.plain & mask_where(&self.partials.sound)
    }

    /// Those of a lane, and the partial of its ray.
    pub fn partials(&self, lane: usize, differential: &RayDifferential) -> Partials {
        let PartialRows { position, uv, .. } = &self.partials;
        let uv = [Vec2::new(uv[0][0][lane], uv[0][1][lane]), Vec2::new(uv[1][0][lane], uv[1][1][lane])];
        PlainPartials { position: [position[0].get(lane), position[1].get(lane)], uv }.into_all(differential)
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

wide! {
    fn find_partials(triangles: &Triangles, differentials: &DifferentialRows, found: &mut PartialRows) {
        let DifferentialRows { t, uvs, origin, direction } = differentials;
        for lane in 0..LANES {
            let [a, b, c] = &triangles.corners;
            let uv = |corner: usize| Vec2::new(uvs[corner][0][lane], uvs[corner][1][lane]);
            let differential = RayDifferential {
                origin: [origin[0].get(lane), origin[1].get(lane)],
                direction: [direction[0].get(lane), direction[1].get(lane)],
            };
            let corners = [a.get(lane), b.get(lane), c.get(lane)];
            let incident = triangles.incident.get(lane);
            let (plain, sound) =
                PlainPartials::new(corners, [uv(0), uv(1), uv(2)], incident, &differential, t[lane]);
            found.sound[lane] = sound.into();
            for axis in 0..2 {
                found.position[axis].set(lane, plain.position[axis]);
                (found.uv[axis][0][lane], found.uv[axis][1][lane]) = (plain.uv[axis].x, plain.uv[axis].y);
            }
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

    /// In each width of registers, where f32 suffices: most places, but not those of a needle, nor of the ball.
    #[test]
    fn partials_of_a_block_are_those_of_its_hits() {
        let mut geometry = scene();
        let mut needle = TriangleMesh {
            positions: vec![Vec3::new(-1.0, 0.9, 0.0), Vec3::new(1.0, 0.9, 0.0), Vec3::new(0.0, 0.9, 0.004)],
            indices: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        };
        needle.complete(true);
        geometry.add_mesh(needle, Shape::default());
        let mut random = Sampler::new(7, (2, 2), 0);
        let hits: Vec<(Ray, RayDifferential, Hit)> = (0..400)
            .map(|i| {
                let mut vector = || random.next_2d().extend(random.next_1d()) - 0.5;
                let (ray, primitive) = (Ray::new(vector() * 4.0, vector().normalize(), 0.0), i % 7 % 6);
                let differential = RayDifferential { origin: [vector(), vector()], direction: [vector(), vector()] };
                let (u, v) = (0.3 * random.next_1d(), 0.3 * random.next_1d());
                // One of the triangles has no area.
                (ray, differential, Hit { t: 1.0 + random.next_1d(), primitive, instance: 0, u, v })
            })
            .collect();
        let [places, all] = [false, true].map(|uvw| Wanted { position: true, uvw, ..Wanted::default() });
        for wanted in [all, places, all] {
            let blocks = || {
                let (mut block, mut sound) = (SurfaceBlock::default(), 0);
                for of_block in hits.chunks(LANES) {
                    let shape = |hit: &Hit| geometry.find(hit.primitive).0;
                    block.gather(&geometry, of_block.iter().map(|(ray, _, hit)| (shape(hit), ray, hit)));
                    let differentials = of_block.iter().map(|(_, differential, hit)| (shape(hit), differential, hit));
                    let found = block.find_partials(&geometry, differentials, wanted);
                    sound += found.count_ones() as usize;
                    for (lane, (ray, differential, hit)) in of_block.iter().enumerate() {
                        if found >> lane & 1 != 0 {
                            let alone = surface::partials_at(&geometry, ray, differential, hit, wanted);
                            let bits = |p: Partials| {
                                [p.position, p.uvw, p.incident].map(|v| v.map(|v| v.to_array().map(f32::to_bits)))
                            };
                            assert_eq!(bits(block.partials(lane, differential)), bits(alone));
                        }
                    }
                }
                sound
            };
            narrow::each(blocks).into_iter().for_each(|sound| assert!((150..300).contains(&sound), "{sound}"));
        }
        // Those of normals are none that f32 has.
        let mut block = SurfaceBlock::default();
        let first = &hits[..LANES];
        block.gather(&geometry, first.iter().map(|(ray, _, hit)| (geometry.find(hit.primitive).0, ray, hit)));
        let mut ask = |wanted: Wanted| {
            let differentials = first.iter().map(|(_, d, hit)| (geometry.find(hit.primitive).0, d, hit));
            block.find_partials(&geometry, differentials, wanted)
        };
        assert!(ask(all) != 0 && ask(Wanted { normal: true, ..all }) == 0 && ask(Wanted::default()) == 0);
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
