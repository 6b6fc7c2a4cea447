//! Partials against re-traced neighbouring rays, with the order of convergence.

use super::*;
use crate::sampler::Sampler;

struct Random(Sampler);

impl Random {
    fn new(case: u32) -> Random {
        Random(Sampler::new(case, (1, 2), 0))
    }

    fn signed(&mut self) -> f64 {
        f64::from(self.0.next_1d()) * 2.0 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    fn unit(&mut self) -> DVec3 {
        self.vector().normalize_or(DVec3::Y)
    }
}

/// A random triangle and a ray that meets it at the given sine of elevation over its plane.
struct Case {
    triangle: TriangleAttributes,
    origin: DVec3,
    ray: RayPartial,
    at: (f64, f64),
    t: f64,
}

fn case(number: u32, elevation: f64) -> Case {
    let mut r = Random::new(number);
    let positions = [r.vector(), r.vector(), r.vector()];
    let axis = (positions[1] - positions[0]).cross(positions[2] - positions[0]).normalize();
    let mut near = |n: DVec3| (n + r.vector() * 0.4).normalize();
    let normals = [near(axis), near(axis), near(axis)];
    let along = (positions[1] - positions[0]).normalize();
    let tangents = [near(along), near(along), near(along)];
    let colors = [r.vector(), r.vector(), r.vector()];
    let uvs = [(); 3].map(|()| DVec2::new(r.signed(), r.signed()) * 3.0);
    let at = (0.2 + 0.1 * r.signed(), 0.5 + 0.2 * r.signed());
    let hit = interpolate(&positions, at.0, at.1);
    let in_plane = axis.cross(r.unit()).normalize();
    let toward_eye = (in_plane * (1.0 - elevation * elevation).sqrt() + axis * elevation).normalize();
    let t = 2.0 + r.signed();
    let direction = -toward_eye;
    // ∂D of a unit vector is perpendicular to it.
    let d = r.vector();
    let d_direction = (d - direction * direction.dot(d)) * 0.5;
    let ray = RayPartial { direction, d_origin: r.vector() * 0.3, d_direction };
    Case {
        triangle: TriangleAttributes { positions, normals, tangents, colors, uvs },
        origin: hit + toward_eye * t,
        ray,
        at,
        t,
    }
}

/// The members where the neighbouring ray (O + ε∂O, D + ε∂D) meets the plane; `None` behind the eye.
fn neighbour(c: &Case, epsilon: f64) -> Option<Members> {
    let (o, d) = (c.origin + c.ray.d_origin * epsilon, c.ray.direction + c.ray.d_direction * epsilon);
    let [p0, p1, p2] = c.triangle.positions;
    let n = (p1 - p0).cross(p2 - p0);
    let t = (p0 - o).dot(n) / d.dot(n);
    let p = o + d * t;
    // Barycentrics by areas: another way than the one under test.
    let area = n.length_squared();
    let u = (p - p0).cross(p2 - p0).dot(n) / area;
    let v = (p1 - p0).cross(p - p0).dot(n) / area;
    let a = &c.triangle;
    let uv = |i: usize| a.uvs[i].extend(0.0);
    let (normal, tangent) = (interpolate(&a.normals, u, v).normalize(), interpolate(&a.tangents, u, v).normalize());
    (t > 0.0).then(|| Members {
        position: p,
        uvw: interpolate(&[uv(0), uv(1), uv(2)], u, v),
        normal,
        tangent,
        bitangent: -normal.cross(tangent).normalize(),
        incident: d.normalize(),
        color: interpolate(&a.colors, u, v),
        barycentrics: DVec2::new(u, v),
    })
}

fn list(m: &Members) -> [DVec3; 8] {
    [m.position, m.uvw, m.normal, m.tangent, m.bitangent, m.incident, m.color, m.barycentrics.extend(0.0)]
}

const NAMES: [&str; 8] = ["position", "uvw", "normal", "tangent", "bitangent", "I", "color", "barycentrics"];

/// The error of SORT's form, (neighbour − hit)/ε, for each member.
fn one_sided_errors(c: &Case, epsilon: f64) -> Option<[f64; 8]> {
    let exact = list(&TrianglePartials::new(&c.triangle, c.at, -1.0, Wanted::ALL).along(c.t, &c.ray));
    let (here, there) = (list(&neighbour(c, 0.0)?), list(&neighbour(c, epsilon)?));
    Some(std::array::from_fn(|i| ((there[i] - here[i]) / epsilon - exact[i]).length()))
}

/// A forward difference of a smooth function errs by ε f''/2, so a tenth of ε is a tenth of the error,
/// down to rounding. At grazing hits ε must be small beside the elevation for the series to hold.
#[test]
fn every_member_converges_to_the_neighbouring_ray_with_first_order() {
    for elevation in [1.0, 0.5, 0.1, 0.01, 1e-3] {
        for number in 0..200 {
            let c = case(number, elevation);
            let epsilon = 1e-3 * elevation * elevation;
            let [coarse, fine] =
                [epsilon, epsilon * 0.1].map(|e| one_sided_errors(&c, e).expect("ε is far from the horizon"));
            let exact = list(&TrianglePartials::new(&c.triangle, c.at, -1.0, Wanted::ALL).along(c.t, &c.ray));
            for i in 0..8 {
                let scale = exact[i].length().max(1.0);
                // What rounding leaves of a difference of numbers of size 1/elevation.
                let rounding = 1e-14 / (epsilon * elevation) * scale.max(10.0);
                let what = NAMES[i];
                assert!(
                    fine[i] <= coarse[i] * 0.2 + rounding,
                    "{what}, case {number}, elevation {elevation}: {} then {}",
                    coarse[i],
                    fine[i]
                );
            }
        }
    }
}

/// Where the neighbouring ray passes the horizon SORT's form has no answer or one from behind the eye;
/// the transfer keeps its linear one.
#[test]
fn beyond_the_horizon_the_transfer_stays_finite_and_in_the_plane() {
    let mut beyond = 0;
    for number in 0..200 {
        let c = case(number, 1e-3);
        beyond += u32::from(neighbour(&c, 0.1).is_none());
        let m = TrianglePartials::new(&c.triangle, c.at, 1.0, Wanted::ALL).along(c.t, &c.ray);
        let [p0, p1, p2] = c.triangle.positions;
        let n = (p1 - p0).cross(p2 - p0).normalize();
        assert!(list(&m).iter().all(|v| v.is_finite()), "case {number}");
        assert!(m.position.dot(n).abs() < 1e-9 * m.position.length().max(1.0), "case {number}");
    }
    assert!(beyond > 50, "only {beyond} neighbours passed the horizon");
}

#[test]
fn degenerate_triangles_have_zero_partials() {
    let c = case(1, 0.5);
    let mut flat = c.triangle;
    flat.positions = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
    let m = TrianglePartials::new(&flat, c.at, 1.0, Wanted::ALL).along(c.t, &c.ray);
    assert_eq!((m.uvw, m.normal, m.color), (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO));
    assert!(list(&m).iter().all(|v| v.is_finite()));
    assert_eq!(normalized(DVec3::ZERO, DVec3::X), DVec3::ZERO);
}
