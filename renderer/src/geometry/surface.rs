//! What a hit offers: the values of the surface there, and on demand their partials.

use super::partials::{self, Members, RayPartial, TriangleAttributes, Wanted};
use super::{Geometry, Hit, Primitive, Sphere, TriangleMesh, sphere};
use crate::ray::{Ray, RayDifferential};
use glam::{DVec3, Vec2, Vec3};

/// The surface at a hit; world space unless said. Vectors are of unit length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surface {
    pub position: Vec3,
    /// Bound of the rounding error of each component of `position`.
    pub position_error: Vec3,
    /// The shading normal, outwards.
    pub normal: Vec3,
    /// The normal of the triangle's plane or of the sphere, outwards.
    pub gnormal: Vec3,
    pub tangent: Vec3,
    pub bitangent: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    pub color: Vec3,
    pub shape: u32,
    /// Of the shape in the scene file.
    pub object_id: u32,
    /// The ray came from the inside.
    pub backfacing: bool,
}

impl Surface {
    /// The geometric normal on the side that the ray came from.
    pub fn gnormal_seen(&self) -> Vec3 {
        if self.backfacing { -self.gnormal } else { self.gnormal }
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
}

/// The surface where `ray` met a primitive.
pub fn at(geometry: &Geometry, ray: &Ray, hit: &Hit) -> Surface {
    let mut surface = match geometry.primitive(hit.primitive) {
        Primitive::Triangle(mesh, triangle) => on_triangle(mesh, triangle, hit),
        Primitive::Sphere(s) => on_sphere(s, ray.at(hit.t)),
    };
    surface.shape = geometry.shape_of(hit.primitive);
    surface.object_id = geometry.shape(surface.shape).object_id;
    surface.backfacing = ray.direction.dot(surface.gnormal) > 0.0;
    surface
}

/// The partials at the same hit; at least the wanted ones.
pub fn partials_at(
    geometry: &Geometry,
    ray: &Ray,
    differential: &RayDifferential,
    hit: &Hit,
    wanted: Wanted,
) -> Partials {
    if !wanted.any() {
        return Partials::default();
    }
    let along = |axis: usize| {
        let partial = RayPartial {
            direction: ray.direction.as_dvec3(),
            d_origin: differential.origin[axis].as_dvec3(),
            d_direction: differential.direction[axis].as_dvec3(),
        };
        let t = f64::from(hit.t);
        match geometry.primitive(hit.primitive) {
            Primitive::Triangle(mesh, triangle) => {
                let at = (f64::from(hit.u), f64::from(hit.v));
                let hand = f64::from(handedness(mesh, triangle));
                partials::triangle(&attributes(mesh, triangle), at, hand, t, &partial, wanted)
            }
            Primitive::Sphere(s) => sphere_members(s, ray.at(hit.t), t, &partial),
        }
    };
    let (x, y) = (along(0), along(1));
    let both = |get: fn(&Members) -> DVec3| [finite(get(&x)), finite(get(&y))];
    Partials {
        position: both(|m| m.position),
        uvw: both(|m| m.uvw),
        normal: both(|m| m.normal),
        tangent: both(|m| m.tangent),
        bitangent: both(|m| m.bitangent),
        incident: both(|m| m.incident),
        color: both(|m| m.color),
    }
}

/// Into f32 without becoming infinite: a footprint at the horizon may be larger than an f32 can say.
fn finite(v: DVec3) -> Vec3 {
    const LARGEST: f64 = 1e30;
    if v.is_finite() { v.clamp(DVec3::splat(-LARGEST), DVec3::splat(LARGEST)).as_vec3() } else { Vec3::ZERO }
}

fn attributes(mesh: &TriangleMesh, triangle: usize) -> TriangleAttributes {
    let corners = mesh.indices[triangle].map(|i| i as usize);
    TriangleAttributes {
        positions: corners.map(|i| mesh.positions[i].as_dvec3()),
        normals: corners.map(|i| mesh.normals[i].as_dvec3()),
        tangents: corners.map(|i| mesh.tangents[i].as_dvec3()),
        colors: corners.map(|i| mesh.colors.get(i).map_or(DVec3::ONE, |c| c.as_dvec3())),
        uvs: corners.map(|i| mesh.uvs[i].as_dvec2()),
    }
}

/// −1 where the texture is mirrored on the surface, so that the bitangent follows growing v.
fn handedness(mesh: &TriangleMesh, triangle: usize) -> f32 {
    let [a, b, c] = mesh.indices[triangle].map(|i| mesh.uvs[i as usize]);
    if (b - a).perp_dot(c - a) < 0.0 { -1.0 } else { 1.0 }
}

fn on_triangle(mesh: &TriangleMesh, triangle: usize, hit: &Hit) -> Surface {
    let corners = mesh.indices[triangle].map(|i| i as usize);
    let weights = [1.0 - hit.u - hit.v, hit.u, hit.v];
    let mix = |values: &[Vec3]| (0..3).map(|i| values[corners[i]] * weights[i]).sum::<Vec3>();
    let gnormal = mesh.geometric_normal(triangle);
    let normal = mix(&mesh.normals).normalize_or(gnormal);
    let tangent = mix(&mesh.tangents).normalize_or(Vec3::X);
    // Seven rounded operations make a component (Pharr et al., "Physically Based Rendering", 6.8.2).
    const GAMMA: f32 = 7.0 * f32::EPSILON * 0.5 * 1.01;
    let error = (0..3).map(|i| (mesh.positions[corners[i]] * weights[i]).abs()).sum::<Vec3>() * GAMMA;
    Surface {
        position: mix(&mesh.positions),
        position_error: error,
        normal,
        gnormal,
        tangent,
        bitangent: (normal.cross(tangent) * handedness(mesh, triangle)).normalize_or(Vec3::Z),
        uv: (0..3).map(|i| mesh.uvs[corners[i]] * weights[i]).sum(),
        color: if mesh.colors.is_empty() { Vec3::ONE } else { mix(&mesh.colors) },
        ..Surface::default()
    }
}

fn on_sphere(s: &Sphere, near: Vec3) -> Surface {
    let normal = s.normal(near);
    let n = normal.as_dvec3();
    let (u, v) = sphere::uv(n);
    let tangent = sphere::tangent(n).0.as_vec3();
    // Put back onto the surface, which the ray's own arithmetic left by more than this.
    let position = s.center + normal * s.radius;
    Surface {
        position,
        position_error: (s.center.abs() + Vec3::splat(s.radius)) * (4.0 * f32::EPSILON),
        normal,
        gnormal: normal,
        tangent,
        bitangent: normal.cross(tangent),
        uv: Vec2::new(u as f32, v as f32),
        color: Vec3::ONE,
        ..Surface::default()
    }
}

/// A sphere's members. To first order the neighbouring ray meets the tangent plane where it meets the
/// sphere, and the normal moves by ∂P/r.
fn sphere_members(s: &Sphere, near: Vec3, t: f64, ray: &RayPartial) -> Members {
    let n = s.normal(near).as_dvec3();
    let dp = partials::position(ray, t, n);
    let dn = dp / f64::from(s.radius);
    let (du, dv) = sphere::uv_partial(n, dn);
    let (_, tangent) = sphere::tangent(n);
    let dt = partials::normalized(tangent, DVec3::new(dn.z, 0.0, -dn.x));
    Members {
        position: dp,
        uvw: DVec3::new(du, dv, 0.0),
        normal: dn,
        tangent: dt,
        bitangent: partials::bitangent(n, dn, tangent, dt),
        incident: ray.d_direction,
        color: DVec3::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the ray `origin + direction` meets the unit sphere about the origin, and the members there.
    fn traced(origin: DVec3, direction: DVec3) -> Members {
        let d = direction.normalize();
        let b = origin.dot(d);
        let n = origin + d * (-b - (b * b - origin.length_squared() + 1.0).sqrt());
        let (u, v) = sphere::uv(n);
        let tangent = DVec3::new(n.z, 0.0, -n.x).normalize();
        let uvw = DVec3::new(u, v, 0.0);
        Members { position: n, uvw, normal: n, tangent, bitangent: n.cross(tangent), incident: d, color: DVec3::ONE }
    }

    /// To first order the tangent plane is the sphere: central differences of rays traced to the sphere
    /// itself agree.
    #[test]
    fn a_spheres_partials_match_neighbouring_rays() {
        let s = Sphere { center: Vec3::ZERO, radius: 1.0 };
        for i in 0..100 {
            let a = f64::from(i);
            let origin = DVec3::new((a * 0.7).sin() * 3.0, (a * 1.1).cos(), (a * 0.7).cos() * 3.0);
            let aim = DVec3::new((a * 1.9).sin(), (a * 2.3).cos(), (a * 0.4).sin()) * 0.5;
            let d = (aim - origin).normalize();
            let turn = DVec3::new((a * 0.9).cos(), 0.4, (a * 1.7).sin());
            let ray =
                RayPartial { direction: d, d_origin: DVec3::new(0.1, -0.2, 0.05), d_direction: turn - d * d.dot(turn) };
            let h = 1e-5;
            let [plus, minus] = [h, -h].map(|e| traced(origin + ray.d_origin * e, d + ray.d_direction * e));
            let here = traced(origin, d);
            let t = (here.position - origin).length();
            let got = sphere_members(&s, here.position.as_vec3(), t, &ray);
            let pairs = [
                (got.position, plus.position - minus.position),
                (got.normal, plus.normal - minus.normal),
                (got.tangent, plus.tangent - minus.tangent),
                (got.bitangent, plus.bitangent - minus.bitangent),
                (got.incident, plus.incident - minus.incident),
            ];
            for (member, (exact, difference)) in pairs.into_iter().enumerate() {
                // The hit enters as f32.
                let error = (exact - difference / (2.0 * h)).length() / exact.length().max(1.0);
                assert!(error < 1e-5, "ray {i}, member {member}: off by {error}");
            }
        }
    }

    #[test]
    fn what_nobody_wants_stays_zero() {
        let mut geometry = Geometry::new();
        let shape = crate::geometry::Shape { object_id: 0, material: 0, emission: Vec3::ZERO };
        geometry.add_mesh(TriangleMesh::rectangle(Vec2::ONE), shape);
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
