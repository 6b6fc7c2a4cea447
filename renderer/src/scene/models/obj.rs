//! OBJ files with the materials of their libraries.

use super::mtl_lines::{Readable, readable};
use super::{Model, Part, mtl};
use crate::geometry::obj;
use crate::geometry::obj_vertices::OnVertices;
use glam::{DAffine3, Vec3};
use ssl_compiler::input;
use std::path::{Path, PathBuf};

/// Reads a file in parts. `wanted` are names of objects and groups whose parts are kept apart. The error is a sentence for
/// the user.
pub fn read(path: &Path, smooth: bool, wanted: &[&str], variables: &OnVertices) -> Result<Model, String> {
    let mut model = Model { nodes: vec![(0, DAffine3::IDENTITY)], ..Model::default() };
    let obj::ObjFile { parts, libraries } = obj::load_parts(path, smooth, wanted, variables)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut known = Vec::new();
    for library in libraries.iter().flat_map(|named| files(named, folder)) {
        match materials(&folder.join(library)) {
            Ok(Library { materials, file, faults }) => {
                known.extend(materials.into_iter().map(|m| (m, file.clone())));
                model.files.push(file);
                let fault = |(line, why)| format!("line {line} of the library of materials `{library}`: {why}");
                let more = format!("more lines of the library of materials `{library}`");
                model.leave_out_many(faults.into_iter().map(fault).collect(), &more);
            }
            Err(why) => model.leave_out(format!("the library of materials `{library}`: {why}")),
        }
    }
    let unread = |m: &tobj::Material| {
        let maps = [&m.specular_texture, &m.normal_texture, &m.shininess_texture];
        maps.iter().any(|map| map.is_some()) || m.unknown_param.contains_key("map_Ke")
    };
    if known.iter().any(|(m, _)| unread(m)) {
        model.leave_out("images of its materials other than `map_Kd` and `map_d`");
    }
    let has_options = |m: &tobj::Material| {
        [&m.diffuse_texture, &m.dissolve_texture].into_iter().flatten().any(|text| mtl::has_options(text))
    };
    if known.iter().any(|(m, _)| has_options(m)) {
        model.leave_out("options of `map_Kd` and `map_d`, such as `-s`");
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

/// A library that could be read.
struct Library {
    materials: Vec<tobj::Material>,
    file: PathBuf,
    /// The numbers of lines that are left out, and why.
    faults: Vec<(usize, String)>,
}

fn materials(path: &Path) -> Result<Library, String> {
    let bytes = input::bytes(path, input::MOST_TEXT).map_err(|e| e.to_string())?;
    let Readable { text, faults } = readable(&bytes);
    let (materials, _) =
        tobj::load_mtl_buf(&mut text.as_bytes()).map_err(|e| format!("it is not well-formed ({e})"))?;
    Ok(Library { materials, file: path.to_owned(), faults })
}
