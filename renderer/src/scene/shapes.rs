//! The shapes of a scene's tables, read and placed in their group.

use super::context::Context;
use super::expand;
use super::folders::Folders;
use super::linking::Linking;
use super::loaded::{All, Loaded, Piece, material_named};
use super::models::{self, Model};
use super::schema::ShapeTable;
use super::strands;
use super::variables;
use super::vertex_tables;
use super::{codes, nearby};
use crate::geometry::normals::Smoothing;
use crate::geometry::obj_vertices::{OnVertices, OtherLength};
use crate::geometry::{Body, Disk, Quad, Shape, Sphere, Transform, VertexTable, obj};
use crate::material::Space;
use glam::{DAffine3, DMat3, DVec3, Vec2, Vec3};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Those that bring their own materials.
const MODELS: [&str; 2] = ["obj", "gltf"];

/// What a table turns into, before its file is read.
enum Source {
    Body(Body),
    Obj { path: PathBuf, smoothing: Smoothing, transform: Transform },
    Model { path: PathBuf, smoothing: Smoothing, transform: Transform },
    Instance(DAffine3),
}

/// The same when it has been read.
enum Read {
    One(Piece, DAffine3),
    Model(Model, Transform),
}

/// A table on its way.
struct Begun<'a> {
    group: usize,
    table: &'a ShapeTable,
    shape: Shape,
    /// Which of the scene's materials it names.
    material: Option<u32>,
    /// Variables for the vertices of its file.
    of_vertices: Vec<Arc<VertexTable>>,
    space: Space,
}

/// Why there is no mesh.
enum Unusable {
    File(String),
    Variable(OtherLength),
}

impl From<String> for Unusable {
    fn from(why: String) -> Unusable {
        Unusable::File(why)
    }
}

/// Makes what tables describe, in their order; each comes with the table of its group and its place there.
/// `materials` are the names in the order of their numbers. Images within files go to one of `folders`.
pub fn load<'a>(
    tables: Vec<(usize, (usize, &'a ShapeTable))>,
    materials: &[String],
    folders: &Folders,
    linking: &mut Linking,
    context: &mut Context,
) -> All<'a> {
    let mut sources = Vec::new();
    for (group, (place, table)) in tables {
        let material = material_of(table, materials, context);
        let emission = context.color(&table.emission, "emission", Vec3::ZERO);
        let is_obj = table.kind.get_ref() == "obj";
        let variables::Given { constants, of_vertices } = variables::read(&table.variables, is_obj, context);
        let read = source(table, context);
        if let (Some(material), Some((source, space))) = (material, read) {
            let number = material.unwrap_or(0);
            let object_id = place as u32;
            let (light_name, lit_by) = (linking.number(&table.name), linking.list(table, context));
            let shape =
                Shape { object_id, material: number, see_through: false, emission, light_name, lit_by, constants };
            sources.push((Begun { group, table, shape, material, of_vertices, space }, source));
        }
    }
    // Reading meshes is most of the time that loading takes.
    let read = |(begun, source): (Begun<'a>, Source)| {
        let read = read(&begun, source, folders);
        (begun, read)
    };
    let read: Vec<(Begun<'a>, Result<Read, Unusable>)> = sources.into_par_iter().map(read).collect();
    let mut all = All::default();
    for (Begun { group, table, shape, material, space, .. }, read) in read {
        match read {
            Ok(Read::One(piece, to_parent)) => {
                all.shapes.push(Loaded { group, table, shape, piece, space, to_parent });
            }
            Ok(Read::Model(model, transform)) => {
                expand::model(model, transform, (group, table, shape, material), materials, &mut all, context);
            }
            Err(Unusable::File(why)) => refuse_mesh(table, &why, context),
            Err(Unusable::Variable(other)) => vertex_tables::refuse_length(table, &other, context),
        }
    }
    all
}

/// Reads the file of a table, if it has one.
fn read(begun: &Begun<'_>, source: Source, folders: &Folders) -> Result<Read, Unusable> {
    let is_told = begun.table.smooth.is_some() || begun.table.crease_angle.is_some();
    let variables = |path: &Path| OnVertices::of(path, begun.of_vertices.clone()).map_err(Unusable::Variable);
    Ok(match source {
        Source::Body(body) => Read::One(Piece::Body(Box::new(body)), DAffine3::IDENTITY),
        Source::Instance(to_parent) => Read::One(Piece::Instance, to_parent),
        Source::Obj { path, smoothing, transform } => {
            let mut mesh = obj::load(path.as_path(), smoothing, &variables(&path)?)?;
            mesh.is_smooth_by_default &= !is_told;
            mesh.transform(&transform);
            Read::One(Piece::Body(Box::new(mesh.into())), DAffine3::IDENTITY)
        }
        Source::Model { path, smoothing, transform } => {
            let wanted: Vec<&str> = begun.table.materials.keys().map(String::as_str).collect();
            let mut model = match begun.table.kind.get_ref().as_str() {
                "gltf" => models::gltf::read(&path, folders.all())?,
                _ => models::obj::read(&path, smoothing, &wanted, &variables(&path)?)?,
            };
            model.meshes.iter_mut().flatten().for_each(|part| part.mesh.is_smooth_by_default &= !is_told);
            Read::Model(model, transform)
        }
    })
}

fn refuse_mesh(table: &ShapeTable, why: &str, context: &mut Context) {
    if let Some(file) = &table.file {
        let path = context.path(file.get_ref());
        let message = format!("`{}` cannot be used: {why}", path.display());
        let hint = match table.kind.get_ref().as_str() {
            "gltf" => "the file must be glTF 2.0, as `.gltf` or `.glb`",
            _ => "the file must be a Wavefront OBJ with faces",
        };
        context.error(&codes::BAD_MESH, file.span(), message, nearby::hint(&path, hint));
    }
}

/// The number of the material that a table names, if it names one; `None` after saying what is wrong.
fn material_of(table: &ShapeTable, materials: &[String], context: &mut Context) -> Option<Option<u32>> {
    let Some(named) = &table.material else {
        if table.spoiled {
            return None;
        }
        if table.kind.get_ref() == "instance" || MODELS.contains(&table.kind.get_ref().as_str()) {
            return Some(None);
        }
        let message = "the shape has no material";
        context.error(&codes::CONFLICT, table.kind.span(), message, "add `material = \"…\"`");
        return None;
    };
    material_named(named, materials, context).map(Some)
}

fn source(table: &ShapeTable, context: &mut Context) -> Option<(Source, Space)> {
    let translate = context.vector(&table.translate, "translation", Vec3::ZERO);
    let rotate = context.vector(&table.rotate, "rotation", Vec3::ZERO);
    let scale = context.scale(&table.scale);
    let transform = Transform::new(translate, rotate, scale);
    let space = Space::object(&transform);
    let source = match table.kind.get_ref().as_str() {
        "obj" | "gltf" => file(table, transform, context)?,
        "rectangle" => {
            let mut quad = Quad::rectangle(repeat(table, context)?);
            quad.transform(&transform);
            Source::Body(quad.into())
        }
        "quad" => {
            let mut quad = Quad::new(corners(table, context)?, repeat(table, context)?);
            quad.transform(&transform);
            Source::Body(quad.into())
        }
        "disk" => {
            let mut disk = Disk::new(context.number(&table.radius, "radius", 0.0..1e9, 1.0));
            disk.transform(&transform);
            Source::Body(disk.into())
        }
        "sphere" => {
            let radius = context.number(&table.radius, "radius", 0.0..1e9, 1.0);
            Source::Body(Sphere { center: translate, radius }.into())
        }
        "curves" => Source::Body(strands::read(table, &transform, context)?.into()),
        "instance" => Source::Instance(placement(table, &transform, context)?),
        // The check has spoken of it.
        _ => return None,
    };
    Some((source, space))
}

fn file(table: &ShapeTable, transform: Transform, context: &mut Context) -> Option<Source> {
    let kind = table.kind.get_ref();
    let Some(file) = &table.file else {
        if table.spoiled {
            return None;
        }
        let hint = format!("add `file = \"….{}\"`", if kind == "obj" { "obj" } else { "glb" });
        context.error(&codes::CONFLICT, table.kind.span(), format!("a shape of type `{kind}` needs a file"), hint);
        return None;
    };
    let path = context.path(file.get_ref());
    let smoothing = smoothing(table, context)?;
    // With one material for all of it, an OBJ file is one mesh.
    let whole = kind == "obj" && table.material.is_some() && table.materials.is_empty();
    Some(if whole { Source::Obj { path, smoothing, transform } } else { Source::Model { path, smoothing, transform } })
}

/// Where computed normals are smooth.
fn smoothing(table: &ShapeTable, context: &mut Context) -> Option<Smoothing> {
    let flat = table.smooth.as_ref().is_some_and(|smooth| !*smooth.get_ref());
    let Some(angle) = &table.crease_angle else {
        return Some(if flat { Smoothing::Flat } else { Smoothing::Whole });
    };
    if flat {
        let message = "`crease_angle` says where edges are smooth, and `smooth = false` that none is";
        context.error(&codes::CONFLICT, angle.span(), message, "give one of them");
        return None;
    }
    let degrees = context.number_within(&table.crease_angle, "crease angle", 0.0..=180.0, 180.0);
    Some(if degrees == 180.0 { Smoothing::Whole } else { Smoothing::Crease(degrees.to_radians().cos()) })
}

fn repeat(table: &ShapeTable, context: &mut Context) -> Option<Vec2> {
    let Some(repeat) = &table.uv_repeat else { return Some(Vec2::ONE) };
    let value = Vec2::from(*repeat.get_ref());
    if value.is_finite() && value.abs().max_element() < 1e9 {
        return Some(value);
    }
    let hint = "both must be numbers between -1e9 and 1e9";
    context.error(&codes::BAD_NUMBER, repeat.span(), "the repetition is not usable", hint);
    None
}

fn corners(table: &ShapeTable, context: &mut Context) -> Option<[Vec3; 3]> {
    let Some(corners) = &table.corners else {
        if table.spoiled {
            return None;
        }
        let message = "a `quad` needs its corners";
        let hint = "add `corners = [a, b, c]`: u runs from a to b, v from a to c";
        context.error(&codes::CONFLICT, table.kind.span(), message, hint);
        return None;
    };
    let [a, b, c] = corners.get_ref().map(Vec3::from);
    let fits = |p: Vec3| p.is_finite() && p.abs().max_element() <= 1e9;
    let (e, f) = ((b - a).as_dvec3(), (c - a).as_dvec3());
    let hint = "they must be numbers between -1e9 and 1e9, and not on one line";
    if [a, b, c].into_iter().all(fits) && e.cross(f).length() > 1e-6 * e.length() * f.length() {
        return Some([a, b, c]);
    }
    context.error(&codes::BAD_NUMBER, corners.span(), "the corners span no parallelogram", hint);
    None
}

/// Where an instance puts its group.
fn placement(table: &ShapeTable, transform: &Transform, context: &mut Context) -> Option<DAffine3> {
    let Some(matrix) = &table.matrix else { return Some(transform.exact()) };
    let other = [&table.translate, &table.rotate, &table.scale].into_iter().flatten().next();
    if let Some(other) = other {
        let message = "`matrix` already says where the instance stands";
        context.error(
            &codes::CONFLICT,
            other.span(),
            message,
            "give either `matrix` or `translate`, `rotate` and `scale`",
        );
        return None;
    }
    let rows = matrix.get_ref().map(|row| row.map(f64::from));
    if !rows.iter().flatten().all(|x| x.abs() <= 1e9) {
        let hint = "it is three rows of four numbers between -1e9 and 1e9, the last of a row being the translation";
        context.error(&codes::BAD_NUMBER, matrix.span(), "the matrix is not usable", hint);
        return None;
    }
    let column = |i: usize| DVec3::new(rows[0][i], rows[1][i], rows[2][i]);
    let linear = DMat3::from_cols(column(0), column(1), column(2));
    Some(DAffine3 { matrix3: linear, translation: column(3) })
}
