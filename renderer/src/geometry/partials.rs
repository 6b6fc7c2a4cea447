//! The partials of a triangle hit's members by film x and y, the triangle taken as an infinite plane.
//!
//! In f64: `EG − F²` of a thin triangle, and `D·N` at a grazing hit, cancel most of the digits
//! of an f32. The derivation is that of SORT's "programmable shading" notes but for the position, whose
//! partial is Igehy's transfer (SIGGRAPH 1999, equation 10): the neighbouring pixel's ray may miss the
//! plane near a horizon, its differential never does.

use glam::{DVec2, DVec3};

/// A triangle with what is interpolated over it.
#[derive(Clone, Copy, Debug)]
pub struct TriangleAttributes {
    pub positions: [DVec3; 3],
    pub normals: [DVec3; 3],
    pub tangents: [DVec3; 3],
    pub colors: [DVec3; 3],
    pub uvs: [DVec2; 3],
}

/// One ray and one of its two differentials.
#[derive(Clone, Copy, Debug)]
pub struct RayPartial {
    pub direction: DVec3,
    pub d_origin: DVec3,
    pub d_direction: DVec3,
}

/// `∂P = ∂O + t ∂D + D ∂t` with `∂t = −((∂O + t ∂D)·N̂)/(D·N̂)`; 0 where the ray runs along the plane.
pub fn position(ray: &RayPartial, t: f64, normal: DVec3) -> DVec3 {
    let moved = ray.d_origin + ray.d_direction * t;
    let cosine = ray.direction.dot(normal);
    if cosine == 0.0 { DVec3::ZERO } else { moved - ray.direction * (moved.dot(normal) / cosine) }
}

/// Partials of the barycentric coordinates of the second and third vertex, from ∂P in the plane; 0 for a
/// triangle without area.
pub fn barycentrics(positions: &[DVec3; 3], dp: DVec3) -> (f64, f64) {
    let (e1, e2) = (positions[1] - positions[0], positions[2] - positions[0]);
    let (e, f, g) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
    let determinant = e * g - f * f;
    if determinant <= 0.0 {
        return (0.0, 0.0);
    }
    let (a, b) = (e1.dot(dp), e2.dot(dp));
    ((g * a - f * b) / determinant, (e * b - f * a) / determinant)
}

/// A linear interpolation's value at barycentric coordinates `(u, v)` of the second and third vertex.
pub fn interpolate(values: &[DVec3; 3], u: f64, v: f64) -> DVec3 {
    values[0] + (values[1] - values[0]) * u + (values[2] - values[0]) * v
}

/// A linear interpolation's partial, from those of the barycentric coordinates.
pub fn interpolated(values: &[DVec3; 3], (du, dv): (f64, f64)) -> DVec3 {
    (values[1] - values[0]) * du + (values[2] - values[0]) * dv
}

/// The partial of `n/|n|`: `(∂n − n̂ (n̂·∂n))/|n|`; 0 where n is.
pub fn normalized(n: DVec3, dn: DVec3) -> DVec3 {
    let length = n.length();
    if length == 0.0 {
        return DVec3::ZERO;
    }
    let unit = n / length;
    (dn - unit * unit.dot(dn)) / length
}

/// The partials of all members of one hit along one film axis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Members {
    pub position: DVec3,
    pub uvw: DVec3,
    pub normal: DVec3,
    pub tangent: DVec3,
    pub bitangent: DVec3,
    pub incident: DVec3,
    pub color: DVec3,
    /// Of a triangle, those of the second and third vertex.
    pub barycentrics: DVec2,
}

/// Which members' partials somebody wants; the others stay 0 and cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub position: bool,
    pub uvw: bool,
    pub normal: bool,
    pub tangent: bool,
    pub bitangent: bool,
    pub incident: bool,
    pub color: bool,
    pub barycentrics: bool,
}

impl Wanted {
    pub const ALL: Wanted = Wanted {
        position: true,
        uvw: true,
        normal: true,
        tangent: true,
        bitangent: true,
        incident: true,
        color: true,
        barycentrics: true,
    };

    /// Those that [`PlainPartials`](super::plain_partials::PlainPartials) has, and that of the ray itself.
    pub const PLAIN: Wanted = Wanted {
        position: true,
        uvw: true,
        normal: false,
        tangent: false,
        bitangent: false,
        incident: true,
        color: false,
        barycentrics: false,
    };

    pub fn any(&self) -> bool {
        *self != Wanted::default()
    }

    /// Whether [`Wanted::PLAIN`] has all of these.
    pub fn is_plain(self) -> bool {
        self.and(Wanted::PLAIN) == Wanted::PLAIN
    }

    /// What either wants.
    pub fn and(self, other: Wanted) -> Wanted {
        Wanted {
            position: self.position || other.position,
            uvw: self.uvw || other.uvw,
            normal: self.normal || other.normal,
            tangent: self.tangent || other.tangent,
            bitangent: self.bitangent || other.bitangent,
            incident: self.incident || other.incident,
            color: self.color || other.color,
            barycentrics: self.barycentrics || other.barycentrics,
        }
    }
}

/// What the partials of one hit have in common, whatever the ray's.
#[derive(Clone, Copy, Debug)]
pub struct TrianglePartials<'a> {
    attributes: &'a TriangleAttributes,
    wanted: Wanted,
    gnormal: DVec3,
    /// Interpolated, unnormalised.
    normal: DVec3,
    tangent: DVec3,
    handedness: f64,
}

impl<'a> TrianglePartials<'a> {
    /// At barycentrics `(u, v)`; `handedness` is ±1 (see `surface`). Attributes that nothing wanted comes from may be
    /// anything.
    pub fn new(attributes: &'a TriangleAttributes, (u, v): (f64, f64), handedness: f64, wanted: Wanted) -> Self {
        let p = &attributes.positions;
        TrianglePartials {
            attributes,
            wanted,
            gnormal: (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero(),
            normal: interpolate(&attributes.normals, u, v),
            tangent: interpolate(&attributes.tangents, u, v),
            handedness,
        }
    }

    /// The wanted members along one film axis, at distance `t`.
    pub fn along(&self, t: f64, ray: &RayPartial) -> Members {
        let a = self.attributes;
        let dp = position(ray, t, self.gnormal);
        let mut members = Members { position: dp, incident: ray.d_direction, ..Members::default() };
        let Wanted { uvw, normal, tangent, bitangent, color, .. } = self.wanted;
        if !(uvw || normal || tangent || bitangent || color || self.wanted.barycentrics) {
            return members;
        }
        let db = barycentrics(&a.positions, dp);
        members.barycentrics = db.into();
        if uvw {
            members.uvw = interpolated(&a.uvs.map(|uv| uv.extend(0.0)), db);
        }
        if color {
            members.color = interpolated(&a.colors, db);
        }
        if normal || bitangent {
            members.normal = normalized(self.normal, interpolated(&a.normals, db));
        }
        if tangent || bitangent {
            members.tangent = normalized(self.tangent, interpolated(&a.tangents, db));
        }
        if bitangent {
            let partial = self::bitangent(self.normal, members.normal, self.tangent, members.tangent);
            members.bitangent = partial * self.handedness;
        }
        members
    }
}

/// The partial of the unit `n̂ × t̂`, from unnormalised `n` and `t` and the partials of their unit vectors.
pub fn bitangent(n: DVec3, dn: DVec3, t: DVec3, dt: DVec3) -> DVec3 {
    let (n, t) = (n.normalize_or_zero(), t.normalize_or_zero());
    normalized(n.cross(t), dn.cross(t) + n.cross(dt))
}

#[cfg(test)]
#[path = "partials_tests.rs"]
mod tests;
