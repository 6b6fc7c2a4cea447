//! What a hit offers: the values of the surface there, and their partials on demand.

use super::partials::{Members, RayPartial, TriangleAttributes, TrianglePartials, Wanted};
use super::plain_partials::PlainPartials;
use super::{Geometry, Hit, Primitive, TriangleMesh, instance};
use crate::ray::{Ray, RayDifferential};
use glam::{DVec2, DVec3, Vec2, Vec3};

/// The surface at a hit; world space unless said. Vectors are of unit length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surface {
    pub position: Vec3,
    /// Bound of the rounding error of each component of `position`.
    pub position_error: Vec3,
    /// The shading normal, outwards.
    pub normal: Vec3,
    /// The normal of the surface itself, a triangle's plane for one, outwards.
    pub gnormal: Vec3,
    pub tangent: Vec3,
    pub bitangent: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    pub color: Vec3,
    pub shape: u32,
    /// Which of the places where the shape's group stands; 0 in the world itself.
    pub instance: u64,
    /// Of the shape in the scene file, or of the outermost instance that places it.
    pub object_id: u32,
    /// The ray came from the inside.
    pub backfacing: bool,
}

impl Surface {
    /// The geometric normal on the side that the ray came from.
    pub fn gnormal_seen(&self) -> Vec3 {
        if self.backfacing { -self.gnormal } else { self.gnormal }
    }

    /// The shading normal on that side.
    pub fn normal_seen(&self) -> Vec3 {
        if self.backfacing { -self.normal } else { self.normal }
    }

    /// As much of it as rays need that leave it.
    pub fn place(&self) -> Place {
        let Surface { position, position_error, gnormal, .. } = *self;
        Place { position, position_error, gnormal }
    }
}

/// Partials by film x and y, per pixel. Those that nobody asked for are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Partials {
    pub position: [Vec3; 2],
    pub uvw: [Vec3; 2],
    pub normal: [Vec3; 2],
    pub tangent: [Vec3; 2],
    pub bitangent: [Vec3; 2],
    pub incident: [Vec3; 2],
    pub color: [Vec3; 2],
    /// Of a triangle's second and third vertex.
    pub barycentrics: [DVec2; 2],
}

/// Which values of a surface somebody reads, beside those that all do; the others may be anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub uv: bool,
    /// Tangent and bitangent.
    pub tangents: bool,
    pub color: bool,
}

impl Asked {
    pub const ALL: Asked = Asked { uv: true, tangents: true, color: true };
}

/// The surface where `ray` met a primitive.
pub fn at(geometry: &Geometry, ray: &Ray, hit: &Hit) -> Surface {
    asked_at(geometry, ray, hit, Asked::ALL)
}

/// As [`at`], as far as asked.
pub fn asked_at(geometry: &Geometry, ray: &Ray, hit: &Hit, asked: Asked) -> Surface {
    asked_on(geometry, geometry.find(hit.primitive), ray, hit, asked)
}

/// As [`asked_at`], where it is known what was hit, and the shape of it.
pub fn asked_on(
    geometry: &Geometry,
    (shape, primitive): (u32, Primitive<'_>),
    ray: &Ray,
    hit: &Hit,
    asked: Asked,
) -> Surface {
    let seen = |surface: Surface| Surface { shape, backfacing: ray.direction.dot(surface.gnormal) > 0.0, ..surface };
    let object_id = geometry.shape(shape).object_id;
    match (primitive, instance::placed(geometry, hit.instance)) {
        // By itself, so that the one most often met is not put together and then copied.
        (Primitive::Triangle(mesh, triangle), None) => {
            seen(Surface { object_id, ..on_triangle(mesh, triangle, hit, asked) })
        }
        (_, None) => seen(Surface { object_id, ..local(primitive, ray, hit, asked) }),
        (_, Some(placed)) => {
            let inside = local(primitive, &instance::transformed(ray, &placed.from_world), hit, asked);
            seen(placed.surface(geometry, hit.instance, &inside))
        }
    }
}

/// As much of a surface as a ray needs that leaves it or ends there.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub position: Vec3,
    pub position_error: Vec3,
    pub gnormal: Vec3,
}

/// That of [`asked_on`].
#[inline]
pub fn place_on(geometry: &Geometry, (shape, primitive): (u32, Primitive<'_>), ray: &Ray, hit: &Hit) -> Place {
    match (primitive, instance::placed(geometry, hit.instance)) {
        (Primitive::Triangle(mesh, triangle), None) => place_of(mesh.vertices(triangle), (hit.u, hit.v)),
        _ => asked_on(geometry, (shape, primitive), ray, hit, Asked::default()).place(),
    }
}

/// The surface in the space of its group, where `ray` is in that space too.
fn local(primitive: Primitive<'_>, ray: &Ray, hit: &Hit, asked: Asked) -> Surface {
    match primitive {
        Primitive::Triangle(mesh, triangle) => on_triangle(mesh, triangle, hit, asked),
        Primitive::Sphere(s) => s.surface(ray.at(hit.t)),
        Primitive::Disk(d) => d.surface(hit.u, hit.v),
        Primitive::Quad(q) => q.surface(hit.u, hit.v),
        Primitive::Curve(c) => c.surface(ray.at(hit.t), hit.u),
        // Rays go through these to what they place.
        Primitive::Instance(_) => Surface::default(),
    }
}

/// The partials at the same hit; at least the wanted ones.
pub fn partials_at(
    geometry: &Geometry,
    ray: &Ray,
    differential: &RayDifferential,
    hit: &Hit,
    wanted: Wanted,
) -> Partials {
    partials_on(geometry, geometry.primitive(hit.primitive), (ray, differential), hit, wanted)
}

/// As [`partials_at`], where it is known what was hit.
pub fn partials_on(
    geometry: &Geometry,
    primitive: Primitive<'_>,
    (ray, differential): (&Ray, &RayDifferential),
    hit: &Hit,
    wanted: Wanted,
) -> Partials {
    if !wanted.any() {
        return Partials::default();
    }
    let placed = instance::placed(geometry, hit.instance);
    if let (Primitive::Triangle(mesh, triangle), None) = (primitive, placed)
        && let Some(partials) = plain_partials(mesh, triangle, (ray, differential), hit, wanted)
    {
        return partials;
    }
    let inside = placed.map(|p| (p, instance::transformed(ray, &p.from_world)));
    let inside = inside.map(|(p, ray)| (p, ray, local(primitive, &ray, hit, Asked::ALL)));
    let partials = [0, 1].map(|axis| RayPartial {
        direction: ray.direction.as_dvec3(),
        d_origin: differential.origin[axis].as_dvec3(),
        d_direction: differential.direction[axis].as_dvec3(),
    });
    let [x, y] = match &inside {
        None => local_members(primitive, ray, hit, &partials, wanted),
        Some((placed, ray, surface)) => {
            let [x, y] = local_members(primitive, ray, hit, &partials.map(|p| placed.ray_partial(&p)), wanted);
            let placed = |members, p: &RayPartial| placed.members(surface, &members, p.d_direction);
            [placed(x, &partials[0]), placed(y, &partials[1])]
        }
    };
    let both = |get: fn(&Members) -> DVec3| [finite(get(&x)), finite(get(&y))];
    Partials {
        position: both(|m| m.position),
        uvw: both(|m| m.uvw),
        normal: both(|m| m.normal),
        tangent: both(|m| m.tangent),
        bitangent: both(|m| m.bitangent),
        incident: both(|m| m.incident),
        color: both(|m| m.color),
        barycentrics: [x.barycentrics, y.barycentrics],
    }
}

/// Those in f32 of a triangle in the world itself, where nobody wants others, and no digits cancel.
fn plain_partials(
    mesh: &TriangleMesh,
    triangle: usize,
    (ray, differential): (&Ray, &RayDifferential),
    hit: &Hit,
    wanted: Wanted,
) -> Option<Partials> {
    if !wanted.is_plain() {
        return None;
    }
    let uvs = if wanted.uvw { mesh.indices[triangle].map(|i| mesh.uvs[i as usize]) } else { [Vec2::ZERO; 3] };
    let (plain, sound) = PlainPartials::new(mesh.vertices(triangle), uvs, ray.direction, differential, hit.t);
    sound.then(|| plain.into_all(differential))
}

/// The partials in the space of the primitive's group, all that goes in being in that space too.
fn local_members(
    primitive: Primitive<'_>,
    ray: &Ray,
    hit: &Hit,
    partials: &[RayPartial; 2],
    wanted: Wanted,
) -> [Members; 2] {
    let t = f64::from(hit.t);
    let both = |members: &dyn Fn(&RayPartial) -> Members| [members(&partials[0]), members(&partials[1])];
    match primitive {
        Primitive::Triangle(mesh, triangle) => {
            let at = (f64::from(hit.u), f64::from(hit.v));
            let hand = if wanted.bitangent { f64::from(handedness(mesh, triangle)) } else { 1.0 };
            let attributes = attributes(mesh, triangle, wanted);
            let plane = TrianglePartials::new(&attributes, at, hand, wanted);
            both(&|partial| plane.along(t, partial))
        }
        Primitive::Sphere(s) => both(&|partial| s.members(ray.at(hit.t), t, partial)),
        Primitive::Disk(d) => both(&|partial| d.members(t, partial)),
        Primitive::Quad(q) => both(&|partial| q.members(t, partial)),
        Primitive::Curve(c) => both(&|partial| c.members(ray.at(hit.t), hit.u, t, partial)),
        Primitive::Instance(_) => [Members::default(); 2],
    }
}

/// Into f32 without becoming infinite: a footprint at the horizon may be larger than an f32 can say.
fn finite(v: DVec3) -> Vec3 {
    if v.is_finite() { v.clamp(DVec3::splat(-LARGEST), DVec3::splat(LARGEST)).as_vec3() } else { Vec3::ZERO }
}

/// Likewise of one number.
pub fn finite_number(x: f64) -> f32 {
    if x.is_finite() { x.clamp(-LARGEST, LARGEST) as f32 } else { 0.0 }
}

const LARGEST: f64 = 1e30;

/// Those that the wanted partials come from; the others are 0.
fn attributes(mesh: &TriangleMesh, triangle: usize, wanted: Wanted) -> TriangleAttributes {
    let corners = mesh.indices[triangle].map(|i| i as usize);
    let Wanted { uvw, normal, tangent, bitangent, color, .. } = wanted;
    let each = |asked: bool, of: &dyn Fn(usize) -> DVec3| if asked { corners.map(of) } else { [DVec3::ZERO; 3] };
    TriangleAttributes {
        positions: corners.map(|i| mesh.positions[i].as_dvec3()),
        normals: each(normal || bitangent, &|i| mesh.normals[i].as_dvec3()),
        tangents: each(tangent || bitangent, &|i| mesh.tangents[i].as_dvec3()),
        colors: each(color, &|i| mesh.colors.get(i).map_or(DVec3::ONE, |c| c.as_dvec3())),
        uvs: if uvw { corners.map(|i| mesh.uvs[i].as_dvec2()) } else { [DVec2::ZERO; 3] },
    }
}

/// −1 where the texture is mirrored on the surface, so that the bitangent follows growing v.
fn handedness(mesh: &TriangleMesh, triangle: usize) -> f32 {
    let [a, b, c] = mesh.indices[triangle].map(|i| mesh.uvs[i as usize]);
    if (b - a).perp_dot(c - a) < 0.0 { -1.0 } else { 1.0 }
}

/// A mixture of what a triangle's corners have, for the barycentrics of the second and third.
#[inline(always)]
fn mixed([a, b, c]: [Vec3; 3], (u, v): (f32, f32)) -> Vec3 {
    a * (1.0 - u - v) + b * u + c * v
}

/// Of a point of a triangle the place, and how far rounding may have moved it.
#[inline(always)]
pub fn place_of([a, b, c]: [Vec3; 3], (u, v): (f32, f32)) -> Place {
    // Seven rounded operations make a component (Pharr et al., "Physically Based Rendering", 6.8.2).
    const GAMMA: f32 = 7.0 * f32::EPSILON * 0.5 * 1.01;
    let gnormal = (b - a).cross(c - a).normalize_or_zero();
    let parts = [a * (1.0 - u - v), b * u, c * v];
    let position_error = (parts[0].abs() + parts[1].abs() + parts[2].abs()) * GAMMA;
    Place { position: parts[0] + parts[1] + parts[2], position_error, gnormal }
}

/// The shading normal there, from those of the corners.
#[inline(always)]
pub fn normal_of(normals: [Vec3; 3], at: (f32, f32), gnormal: Vec3) -> Vec3 {
    mixed(normals, at).normalize_or(gnormal)
}

#[inline(always)]
fn on_triangle(mesh: &TriangleMesh, triangle: usize, hit: &Hit, asked: Asked) -> Surface {
    let Place { position, position_error, gnormal } = place_of(mesh.vertices(triangle), (hit.u, hit.v));
    let normal = normal_of(mesh.indices[triangle].map(|i| mesh.normals[i as usize]), (hit.u, hit.v), gnormal);
    let mut surface = Surface { position, position_error, normal, gnormal, ..Surface::default() };
    write_asked(mesh, triangle, hit, asked, &mut surface);
    surface
}

/// Writes what is asked of a point of a triangle, beside its place and its normals.
#[inline(always)]
pub fn write_asked(mesh: &TriangleMesh, triangle: usize, hit: &Hit, asked: Asked, surface: &mut Surface) {
    let corners = mesh.indices[triangle].map(|i| i as usize);
    let mix = |values: &[Vec3]| mixed(corners.map(|i| values[i]), (hit.u, hit.v));
    if asked.tangents {
        surface.tangent = mix(&mesh.tangents).normalize_or(Vec3::X);
        let bitangent = surface.normal.cross(surface.tangent) * handedness(mesh, triangle);
        surface.bitangent = bitangent.normalize_or(Vec3::Z);
    }
    if asked.uv {
        let [a, b, c] = corners.map(|i| mesh.uvs[i]);
        surface.uv = a * (1.0 - hit.u - hit.v) + b * hit.u + c * hit.v;
    }
    if asked.color {
        surface.color = if mesh.colors.is_empty() { Vec3::ONE } else { mix(&mesh.colors) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_wants_stays_zero() {
        let mut geometry = Geometry::new();
        geometry.add_mesh(TriangleMesh::rectangle(Vec2::ONE), crate::geometry::Shape::default());
        let ray = Ray::new(Vec3::new(0.1, 2.0, 0.2), Vec3::NEG_Y, 0.0);
        let differential = RayDifferential { origin: [Vec3::ZERO; 2], direction: [Vec3::X * 0.1, Vec3::Z * 0.1] };
        let hit = crate::accel::Accel::build(&geometry).closest(&ray).expect("straight above the rectangle");
        let wanted = Wanted { uvw: true, ..Wanted::default() };
        let p = partials_at(&geometry, &ray, &differential, &hit, wanted);
        // Two units away, 0.1 radians to the right move u by 0.2; down the image is away from +v.
        assert!((p.uvw[0] - Vec3::X * 0.2).length() < 1e-6 && (p.uvw[1] + Vec3::Y * 0.2).length() < 1e-6);
        assert_eq!((p.normal, p.tangent, p.color), ([Vec3::ZERO; 2], [Vec3::ZERO; 2], [Vec3::ZERO; 2]));
    }
}
