//! The shapes of a scene: meshes from files, rectangles, spheres, placed in the world.

use super::codes;
use super::context::Context;
use super::schema::ShapeTable;
use crate::geometry::{Geometry, Shape, Sphere, Transform, TriangleMesh, obj};
use crate::material::Space;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use ssl_compiler::diagnostics::closest;
use std::path::PathBuf;

const KINDS: [&str; 3] = ["obj", "rectangle", "sphere"];

/// What a shape turned into, before it gets its number.
enum Body {
    Mesh(TriangleMesh),
    File { path: PathBuf, smooth: bool, transform: Transform },
    Sphere(Sphere),
}

/// Builds all shapes, and the spaces they had before they were placed; `materials` are the names in the order of their numbers.
pub fn build(tables: &[ShapeTable], materials: &[String], context: &mut Context) -> (Geometry, Vec<Space>) {
    let (mut bodies, mut spaces) = (Vec::new(), Vec::new());
    for (place, table) in tables.iter().enumerate() {
        let material = material_of(table, materials, context);
        let emission = context.color(&table.emission, "emission", Vec3::ZERO);
        let (body, space) = body(table, context).unzip();
        spaces.push(space.unwrap_or(Space::WORLD));
        if let (Some(material), Some(body)) = (material, body) {
            bodies.push((table, body, Shape { object_id: place as u32, material, emission }));
        }
    }
    // Reading meshes is most of the time that loading takes.
    let load = |(table, body, shape)| match body {
        Body::File { path, smooth, transform } => {
            let mesh = obj::load(&path, smooth).map(|mut mesh| {
                mesh.transform(&transform);
                Body::Mesh(mesh)
            });
            (table, mesh, shape)
        }
        other => (table, Ok(other), shape),
    };
    let loaded: Vec<(&ShapeTable, Result<Body, String>, Shape)> = bodies.into_par_iter().map(load).collect();
    let (mut geometry, mut spheres) = (Geometry::new(), Vec::new());
    for (table, body, shape) in loaded {
        match body {
            Ok(Body::Mesh(mesh)) => geometry.add_mesh(mesh, shape),
            Ok(Body::Sphere(sphere)) => spheres.push((sphere, shape)),
            // Files were all read above.
            Ok(Body::File { .. }) => {}
            Err(why) => refuse_mesh(table, &why, context),
        }
    }
    spheres.into_iter().for_each(|(sphere, shape)| geometry.add_sphere(sphere, shape));
    (geometry, spaces)
}

fn refuse_mesh(table: &ShapeTable, why: &str, context: &mut Context) {
    if let Some(file) = &table.file {
        let message = format!("`{}` cannot be used: {why}", context.path(file.get_ref()).display());
        context.error(&codes::BAD_MESH, file.span(), message, "the file must be a Wavefront OBJ with faces");
    }
}

fn material_of(table: &ShapeTable, materials: &[String], context: &mut Context) -> Option<u32> {
    let name = table.material.get_ref();
    if let Some(index) = materials.iter().position(|m| m == name) {
        return Some(index as u32);
    }
    let hint = match closest(name, materials.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add a table [materials.{name}]"),
    };
    context.error(&codes::UNKNOWN_NAME, table.material.span(), format!("there is no material `{name}`"), hint);
    None
}

fn body(table: &ShapeTable, context: &mut Context) -> Option<(Body, Space)> {
    let translate = context.vector(&table.translate, "translation", Vec3::ZERO);
    let rotate = context.vector(&table.rotate, "rotation", Vec3::ZERO);
    let scale = context.scale(&table.scale);
    let transform = Transform::new(translate, rotate, scale);
    let kind = table.kind.get_ref().as_str();
    let space = Space::object(&transform);
    let mut only = |present: Option<std::ops::Range<usize>>, key: &str, of: &str| {
        if let Some(span) = present
            && kind != of
        {
            context.error(
                &codes::CONFLICT,
                span,
                format!("`{key}` means nothing for type `{kind}`"),
                format!("it belongs to `{of}`"),
            );
        }
    };
    only(table.file.as_ref().map(|s| s.span()), "file", "obj");
    only(table.smooth.as_ref().map(|s| s.span()), "smooth", "obj");
    only(table.radius.as_ref().map(|s| s.span()), "radius", "sphere");
    only(table.uv_repeat.as_ref().map(|s| s.span()), "uv_repeat", "rectangle");
    match kind {
        "obj" => {
            let Some(file) = &table.file else {
                context.error(
                    &codes::CONFLICT,
                    table.kind.span(),
                    "an `obj` shape needs a file",
                    "add `file = \"….obj\"`",
                );
                return None;
            };
            let smooth = table.smooth.as_ref().is_none_or(|s| *s.get_ref());
            Some((Body::File { path: context.path(file.get_ref()), smooth, transform }, space))
        }
        "rectangle" => {
            let repeat = table.uv_repeat.as_ref().map_or([1.0; 2], |r| *r.get_ref());
            let repeat = Vec2::from(repeat);
            if let Some(table) = &table.uv_repeat
                && !(repeat.is_finite() && repeat.abs().max_element() < 1e9)
            {
                let hint = "both must be numbers between -1e9 and 1e9";
                context.error(&codes::BAD_NUMBER, table.span(), "the repetition is not usable", hint);
                return None;
            }
            let mut mesh = TriangleMesh::rectangle(repeat);
            mesh.transform(&transform);
            Some((Body::Mesh(mesh), space))
        }
        "sphere" => {
            let radius = context.number(&table.radius, "radius", 0.0..1e9, 1.0);
            let turned = table.rotate.as_ref().or(table.scale.as_ref());
            if let Some(turned) = turned {
                let hint = "a sphere takes `translate` and `radius`";
                context.error(&codes::CONFLICT, turned.span(), "a sphere cannot be rotated or scaled", hint);
            }
            Some((Body::Sphere(Sphere { center: translate, radius }), space))
        }
        _ => {
            let near = closest(kind, KINDS).map_or(String::new(), |k| format!("; did you mean `{k}`?"));
            let hint = format!("it must be `obj`, `rectangle` or `sphere`{near}");
            context.error(&codes::BAD_CHOICE, table.kind.span(), format!("there is no shape type `{kind}`"), hint);
            None
        }
    }
}
