//! OBJ files with the materials of their libraries.

use super::mtl_lines::Library;
use super::{Model, Part, mtl};
use crate::geometry::normals::Smoothing;
use crate::geometry::obj;
use crate::geometry::obj_vertices::OnVertices;
use glam::{DAffine3, Vec3};
use ssl_compiler::input;
use std::path::Path;

/// Reads a file in parts. `wanted` are names of objects and groups whose parts are kept apart. The error is a sentence for
/// the user.
pub fn read(path: &Path, smoothing: Smoothing, wanted: &[&str], variables: &OnVertices) -> Result<Model, String> {
    let mut model = Model { nodes: vec![(0, DAffine3::IDENTITY)], ..Model::default() };
    let obj::ObjFile { parts, libraries } = obj::load_parts(path, smoothing, wanted, variables)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut known = Vec::new();
    for library in libraries.iter().flat_map(|named| files(named, folder)) {
        match materials(&folder.join(library)) {
            Ok(Library { materials, faults, left_out }) => {
                let file = folder.join(library);
                known.extend(materials.into_iter().map(|m| (m, file.clone())));
                model.files.push(file);
                left_out.into_iter().for_each(|what| model.leave_out(what));
                let fault = |(line, why)| format!("line {line} of the library of materials `{library}`: {why}");
                let more = format!("more lines of the library of materials `{library}`");
                model.leave_out_many(faults.into_iter().map(fault).collect(), &more);
            }
            Err(why) => model.leave_out(format!("the library of materials `{library}`: {why}")),
        }
    }
    let mut emissions: Vec<Vec3> = Vec::new();
    for (material, file) in &known {
        let (made, emission) = mtl::made(Some(material), file.parent().unwrap_or(Path::new("")));
        model.materials.push(made);
        emissions.push(emission);
    }
    // The last one is what faces without a material get.
    model.materials.push(mtl::made(None, folder).0);
    emissions.push(Vec3::ZERO);
    let mut of_mesh = Vec::new();
    for obj::ObjPart { mesh, material, object } in parts {
        let number = known.iter().position(|(m, _)| Some(&m.name) == material.as_ref()).unwrap_or(known.len());
        let unknown = number == known.len() && material.is_some();
        let names = material.into_iter().chain(object).collect();
        of_mesh.push(Part { mesh, material: Some(number), names, emission: emissions[number], unknown });
    }
    model.meshes.push(of_mesh);
    Ok(model)
}

/// The files that stand behind `mtllib`: one, whose name may have blanks, or several with blanks between them.
fn files<'a>(named: &'a str, folder: &Path) -> Vec<&'a str> {
    let is_there = |name: &&str| folder.join(name).exists();
    let several: Vec<&str> = named.split_whitespace().collect();
    if is_there(&named) || !several.iter().any(is_there) { vec![named] } else { several }
}

fn materials(path: &Path) -> Result<Library, String> {
    Library::read(&input::bytes(path, input::MOST_TEXT).map_err(|e| e.to_string())?)
}
