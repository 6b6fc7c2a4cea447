//! The variables that shapes, instances and the scene give to shaders: read from their tables, and compared with what
//! the shaders of their materials read.

use super::codes;
use super::context::Context;
use super::schema::Numbers;
use super::vertex_tables;
use crate::bsdf::ClosureKind;
use crate::geometry::variables::{Lack, MAX_COMPONENTS};
use crate::geometry::{Constant, Geometry, VertexTable};
use crate::material::{Material, ShadingLanguage};
use ssl_compiler::diagnostics::{Diagnostic, closest};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// What a table of variables gives.
#[derive(Default)]
pub struct Given {
    pub constants: Vec<Constant>,
    pub of_vertices: Vec<Arc<VertexTable>>,
}

/// What a table gives; what is wrong with it is said. `has_vertices` if files may give a value for each vertex.
pub fn read(table: &BTreeMap<String, Spanned<Numbers>>, has_vertices: bool, context: &mut Context) -> Given {
    let language = ShadingLanguage::new();
    let mut all = Given::default();
    for (name, given) in table {
        if language.globals().find(name).is_some() {
            let message = format!("every hit has a `{name}` of its own");
            context.error(&codes::CONFLICT, given.span(), message, "choose another name for the variable");
            continue;
        }
        let value = match given.get_ref() {
            Numbers::One(x) => vec![*x],
            Numbers::List(list) => list.clone(),
            Numbers::File(file) => {
                match vertex_tables::read(name, (file, given.span()), has_vertices, context) {
                    Some(table) => all.of_vertices.push(Arc::new(table)),
                    // Something stands in its place, so that the shape is not said to have no such variable, too.
                    None => all.constants.push(Constant { name: name.clone(), value: vec![0.0] }),
                }
                continue;
            }
        };
        if !(1..=MAX_COMPONENTS).contains(&value.len()) || !value.iter().all(|x| x.is_finite()) {
            let message = format!("the variable `{name}` is not usable");
            let hint = "it must be a number, or a list of up to four";
            context.error(&codes::BAD_NUMBER, given.span(), message, hint);
        } else {
            all.constants.push(Constant { name: name.clone(), value });
        }
    }
    all
}

/// What shaders of the scene may read beside the globals of every hit, and closure types of the host's own.
pub fn language(geometry: &Geometry, closures: &[ClosureKind]) -> ShadingLanguage {
    let variables = geometry.variables().names().iter().enumerate();
    let variables = variables.map(|(i, n)| (n.clone(), geometry.components_of(i as u32))).collect();
    ShadingLanguage::with_closures(closures).with_variables(variables)
}

/// Says which shapes have no value for what the shader of their material reads; `places` are the shapes' in the scene
/// file, by their numbers.
pub fn check(geometry: &Geometry, materials: &[Material], places: &[Range<usize>], context: &mut Context) {
    let mut said = BTreeSet::new();
    for (number, material) in materials.iter().enumerate() {
        for read in material.variables() {
            let Some(numbers) = read.numbers else {
                let message = format!("the shader of `{}` reads `{}` as no variable can be", material.name, read.name);
                let hint =
                    "declare it as a `float`, `float2`, `float3`, `float4`, `color`, `vector`, `point` or `normal`";
                context.diagnostics.push(Diagnostic::without_place(&codes::VARIABLE, message, hint));
                continue;
            };
            for (shape, lack) in geometry.lacking(&read.name, numbers, number as u32) {
                let place = &places[shape as usize];
                if said.insert((place.start, read.name.as_str())) {
                    let (message, hint) = explanation(geometry, material, (&read.name, numbers), lack);
                    context.error(&codes::VARIABLE, place.clone(), message, hint);
                }
            }
        }
    }
}

fn explanation(geometry: &Geometry, material: &Material, read: (&str, usize), lack: Lack) -> (String, String) {
    let (name, numbers) = read;
    match lack {
        Lack::Missing => {
            let message = format!("the shape has no variable `{name}`, which its material `{}` reads", material.name);
            let near = closest(name, geometry.variables().names().iter().map(String::as_str).filter(|n| *n != name));
            let near = near.map_or(String::new(), |n| format!("; or did you mean `{n}`?"));
            let hint = format!(
                "add `variables = {{ {name} = … }}` to it, to an instance that places it, or before the tables of the \
                 scene for all shapes that have none{near}"
            );
            (message, hint)
        }
        Lack::Short(n) => {
            let message =
                format!("`{name}` of the shape has {n} numbers, its material `{}` reads {numbers}", material.name);
            (message, "give so many numbers, or one for all of them; or declare it shorter in the shader".to_owned())
        }
    }
}
