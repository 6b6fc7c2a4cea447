//! Variables against neighbouring rays that are traced to the triangle's plane in the world, and which value wins.

use super::*;
use crate::geometry::{Shape, Sphere, TriangleMesh, Wanted, surface};
use crate::ray::{Ray, RayDifferential};
use crate::sampler::Sampler;
use glam::{DAffine3, DMat3, DVec3, Vec3};

fn signed(s: &mut Sampler) -> f64 {
    f64::from(s.next_1d()) * 2.0 - 1.0
}

fn vector(s: &mut Sampler) -> DVec3 {
    DVec3::new(signed(s), signed(s), signed(s))
}

/// A transform that turns, stretches and shears.
fn affine(s: &mut Sampler) -> DAffine3 {
    let shear = DMat3::from_cols(vector(s), vector(s), vector(s)) * 0.4;
    DAffine3 { matrix3: DMat3::IDENTITY + shear, translation: vector(s) }
}

/// A triangle with a variable of one number and so on up to four, in a group that is placed in a group that is placed.
fn placed_triangle(s: &mut Sampler) -> (Geometry, DAffine3) {
    let mut mesh = TriangleMesh { indices: vec![[0, 1, 2]], ..TriangleMesh::default() };
    mesh.positions = (0..3).map(|_| vector(s).as_vec3()).collect();
    mesh.variables = (1..=MAX_COMPONENTS)
        .map(|components| VertexVariable {
            name: format!("v{components}"),
            components,
            values: (0..3 * components).map(|_| 5.0 * signed(s) as f32).collect(),
            source: None,
        })
        .collect();
    mesh.complete(true);
    let (mut geometry, inner, outer) = (Geometry::new(), affine(s), affine(s));
    let (leaf, branch) = (geometry.add_group(), geometry.add_group());
    geometry.add_to(leaf, mesh, Shape::default());
    geometry.add_instance(branch, leaf, inner, 0).expect("it is well-formed");
    geometry.add_instance(Geometry::WORLD, branch, outer, 0).expect("it is well-formed");
    (geometry, outer * inner)
}

/// Barycentrics of the second and third vertex where a line meets the plane of a triangle, by areas.
fn meet(p: [DVec3; 3], origin: DVec3, direction: DVec3) -> (f64, f64) {
    let n = (p[1] - p[0]).cross(p[2] - p[0]);
    let q = origin + direction * ((p[0] - origin).dot(n) / direction.dot(n));
    let share = |a: DVec3, b: DVec3| a.cross(b).dot(n) / n.length_squared();
    (share(q - p[0], p[2] - p[0]), share(p[1] - p[0], q - p[0]))
}

#[test]
fn every_kind_matches_its_neighbours_through_instances() {
    let mut seen = 0;
    for case in 0..200 {
        let mut s = Sampler::new(case, (3, 4), 0);
        let (geometry, to_world) = placed_triangle(&mut s);
        let Primitive::Triangle(mesh, 0) = geometry.primitive(0) else { panic!("the triangle comes first") };
        let corners = [0, 1, 2].map(|i| to_world.transform_point3(mesh.positions[i].as_dvec3()));
        let aim = corners[0] * 0.4 + corners[1] * 0.35 + corners[2] * 0.25;
        let origin = aim + vector(&mut s) * 3.0;
        let direction = (aim - origin).normalize();
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        if normal.length() < 0.1 || normal.normalize().dot(direction).abs() < 0.1 {
            continue;
        }
        seen += 1;
        let (d_origin, turn) = ([(); 2].map(|()| vector(&mut s) * 0.3), [(); 2].map(|()| vector(&mut s)));
        let d_direction = turn.map(|d| (d - direction * direction.dot(d)) * 0.5);
        let ray = Ray::new(origin.as_vec3(), direction.as_vec3(), 0.0);
        let differential =
            RayDifferential { origin: d_origin.map(|d| d.as_vec3()), direction: d_direction.map(|d| d.as_vec3()) };
        let hit = crate::accel::Accel::build(&geometry).closest(&ray).expect("aimed inside of the triangle");
        let wanted = Wanted { barycentrics: true, ..Wanted::default() };
        let partials = surface::partials_at(&geometry, &ray, &differential, &hit, wanted);
        for (number, variable) in mesh.variables.iter().enumerate() {
            let n = variable.components;
            for c in 0..n {
                let at = |(u, v): (f64, f64)| {
                    let corner = |i: usize| f64::from(variable.values[i * n + c]);
                    corner(0) * (1.0 - u - v) + corner(1) * u + corner(2) * v
                };
                let value = geometry.variable(number as u32, &hit, c);
                assert!((f64::from(value) - at((0.35, 0.25))).abs() < 1e-3, "case {case}: {value}");
                for axis in 0..2 {
                    let h = 1e-4;
                    let [ahead, behind] = [h, -h]
                        .map(|e| at(meet(corners, origin + d_origin[axis] * e, direction + d_direction[axis] * e)));
                    let expected = (ahead - behind) / (2.0 * h);
                    let got = geometry.variable_partial(number as u32, &hit, c, partials.barycentrics[axis]);
                    let error = (f64::from(got) - expected).abs() / expected.abs().max(10.0);
                    assert!(error < 1e-3, "case {case}, v{n}.{c}, axis {axis}: {got} for {expected}");
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} triangles could be met");
}

fn constant(name: &str, value: &[f32]) -> Constant {
    Constant { name: name.to_owned(), value: value.to_vec() }
}

fn with(constants: Vec<Constant>) -> Shape {
    Shape { constants, ..Shape::default() }
}

const SPHERE: Sphere = Sphere { center: Vec3::ZERO, radius: 1.0 };

/// Own, then the instance of the inner group, then that of the outer one, then the scene.
#[test]
fn the_innermost_goes_before() {
    let mut geometry = Geometry::new();
    let (leaf, branch) = (geometry.add_group(), geometry.add_group());
    geometry.add_to(leaf, SPHERE, with(vec![constant("a", &[1.0])]));
    let inner = with(vec![constant("a", &[2.0]), constant("b", &[2.0])]);
    geometry.place(branch, leaf, DAffine3::IDENTITY, inner).expect("it is well-formed");
    let outer = with(["a", "b", "c"].map(|n| constant(n, &[3.0])).to_vec());
    geometry.place(0, branch, DAffine3::IDENTITY, outer).expect("it is well-formed");
    geometry.set_scene_variables(["a", "b", "c", "d"].map(|n| constant(n, &[4.0])).to_vec());
    // Past the outer group, which is the first path.
    let hit = Hit { instance: 2, ..Hit::default() };
    let value = |name: &str| geometry.variable(geometry.variables().find(name).expect("it is there"), &hit, 2);
    assert_eq!(["a", "b", "c", "d"].map(value), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(geometry.variable_partial(0, &hit, 0, DVec2::ONE), 0.0);
}

#[test]
fn what_some_place_lacks_is_found() {
    let mut geometry = Geometry::new();
    let group = geometry.add_group();
    geometry.add_to(group, SPHERE, Shape { material: 1, ..Shape::default() });
    let tint = |value: &[f32]| with(vec![constant("tint", value)]);
    geometry.place(0, group, DAffine3::IDENTITY, tint(&[1.0, 0.5, 0.2])).expect("it is well-formed");
    assert_eq!((geometry.lacking("tint", 3, 1), geometry.lacking("tint", 3, 0)), (vec![], vec![]));
    assert_eq!(geometry.lacking("tint", 4, 1), [(0, Lack::Short(3))]);
    geometry.place(0, group, DAffine3::IDENTITY, tint(&[1.0])).expect("as before");
    assert_eq!(geometry.lacking("tint", 3, 1), []);
    assert_eq!(geometry.components_of(geometry.variables().find("tint").expect("it is there")), 3);
    geometry.add_instance(0, group, DAffine3::IDENTITY, 0).expect("as before");
    assert_eq!(geometry.lacking("tint", 3, 1), [(0, Lack::Missing)]);
    assert_eq!(geometry.lacking("unheard", 1, 1), [(0, Lack::Missing)]);
    geometry.set_scene_variables(vec![constant("tint", &[0.0; 3])]);
    assert_eq!(geometry.lacking("tint", 3, 1), []);
}
