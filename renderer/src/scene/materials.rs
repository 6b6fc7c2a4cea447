//! The materials of a scene: shaders compiled, values bound.

use super::context::Context;
use super::graphs::{Graphs, LinkedGraph};
use super::schema::{MaterialTable, SceneFile, ValueText};
use super::{codes, keys, nearby};
use crate::bsdf::load_measured;
use crate::material::{Making, Material, ShadingLanguage};
use rayon::prelude::*;
use ssl_compiler::diagnostics::{Diagnostic, closest};
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::{FileId, Program, SearchPath};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Where a material's shader comes from.
type ShaderKey = (FileId, Option<String>);

/// Compiles each shader once, several at a time, and makes the materials in the order of their names.
pub fn build_materials(
    scene: &SceneFile,
    graphs: &Graphs,
    language: &ShadingLanguage,
    making: &Making,
    imports: &SearchPath<'static>,
    context: &mut Context,
) -> Vec<Material> {
    let SceneFile { materials: tables, textures, .. } = scene;
    let keys: Vec<Option<ShaderKey>> = tables.iter().map(|(name, t)| shader_key(name, t, graphs, context)).collect();
    let mut distinct: Vec<&ShaderKey> = keys.iter().flatten().collect();
    distinct.sort();
    distinct.dedup();
    let mut compiler = language.compiler(making, imports).with_sources(std::mem::take(&mut context.sources));
    let programs: Vec<_> = distinct.iter().map(|(file, _)| compiler.program(*file)).collect();
    context.sources = compiler.into_sources();
    let compile =
        |((_, entry), program): (&&ShaderKey, &Arc<Program>)| language.compile(making, program, entry.as_deref());
    let compiled: Vec<_> = distinct.par_iter().zip(&programs).map(compile).collect();
    let mut shaders = BTreeMap::new();
    for (key, result) in distinct.iter().zip(compiled) {
        match result {
            Ok(shader) => {
                context.diagnostics.extend(graphs.blame(shader.whole.warnings().clone()));
                shaders.insert((*key).clone(), shader);
            }
            Err(e) => context.diagnostics.extend(graphs.blame(e.into_diagnostics())),
        }
    }
    let texture_names: Vec<&str> = textures.keys().map(String::as_str).collect();
    let mut materials = Vec::new();
    for ((name, table), key) in tables.iter().zip(&keys) {
        if let Some(shader) = key.as_ref().and_then(|k| shaders.get(k)) {
            let mut material = Material::new(name, shader.clone(), language);
            if let Some(graph) = table.graph.as_ref().and_then(|g| graphs.get(&context.path(g.get_ref()))) {
                bind_images(&mut material, graph, texture_names.len());
            }
            bind(&mut material, table, &texture_names, context);
            materials.push(material);
        }
    }
    materials
}

fn shader_key(name: &str, table: &MaterialTable, graphs: &Graphs, context: &mut Context) -> Option<ShaderKey> {
    let given = [&table.file, &table.source, &table.graph].into_iter().flatten();
    if let Some(second) = given.clone().nth(1) {
        let message = format!("the material `{name}` has several of a file, a source and a graph");
        context.error(&codes::CONFLICT, second.span(), message, "keep one of them");
        return None;
    }
    let file = match (&table.file, &table.source, &table.graph) {
        (Some(file), ..) => context.text_file(file)?,
        (_, Some(source), _) => context.embedded(&format!("<material {name}>"), source),
        (.., Some(graph)) => {
            if table.entry.is_some() {
                let message = format!("the graph of the material `{name}` has no shaders to choose from");
                context.error(&codes::CONFLICT, graph.span(), message, "remove `entry`");
            }
            let linked = &graphs.get(&context.path(graph.get_ref()))?.linked;
            return Some((linked.file, Some(linked.shader.clone())));
        }
        (None, None, None) => {
            let message = format!("the material `{name}` has no shader");
            let hint = "add `file = \"….ssl\"`, `source = '''…'''` or `graph = \"….toml\"`";
            if !table.spoiled {
                context.error(&codes::CONFLICT, table.at.span(), message, hint);
            }
            return None;
        }
    };
    Some((file, table.entry.clone()))
}

/// Gives a graph's slots the images that it names, which stand behind the scene's own.
fn bind_images(material: &mut Material, graph: &LinkedGraph, first: usize) {
    for (slot, image) in &graph.slots {
        // The shader has every slot that linking gave it.
        let _ = material.bind(slot, &ParameterValue::Texture((first + image) as u32));
    }
}

fn bind(material: &mut Material, table: &MaterialTable, textures: &[&str], context: &mut Context) {
    for (name, value) in &table.parameters {
        let value_of = |v: &ValueText| match v.clone() {
            ValueText::Bool(b) => ParameterValue::Bool(b),
            ValueText::Int(i) => ParameterValue::Int(i),
            ValueText::Float(x) => ParameterValue::Float(x),
            ValueText::Vector(v) => ParameterValue::Vector(v),
            ValueText::String(text) => ParameterValue::String(text),
        };
        let given = value_of(value.get_ref());
        if let Err(e) = material.bind(name, &given) {
            refuse(&material.name, name, value.span(), e, context);
        } else if let Some(found) = material.disallowed(name, &given) {
            let span = context.span(value.span());
            context.diagnostics.push(found.warning(Some(span)));
        }
    }
    for (slot, name) in &table.textures {
        let Some(number) = textures.iter().position(|t| t == name.get_ref()) else {
            let hint = match closest(name.get_ref(), textures.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add a table [textures.{}]", keys::quoted(name.get_ref())),
            };
            let message = format!("there is no texture `{}`", name.get_ref());
            context.error(&codes::UNKNOWN_NAME, name.span(), message, hint);
            continue;
        };
        if let Err(e) = material.bind(slot, &ParameterValue::Texture(number as u32)) {
            refuse(&material.name, slot, name.span(), e, context);
        }
    }
    bind_measured(material, table, context);
    say_what_is_missing(material, table, context);
    for slot in material.unbound_textures() {
        // A name that was refused above has been spoken of.
        if !table.textures.contains_key(&slot) {
            let message = format!("nothing is bound to the texture `{slot}` of the material `{}`", material.name);
            let hint = format!("add `textures = {{ {} = \"…\" }}` to the material", keys::quoted(&slot));
            context.diagnostics.push(Diagnostic {
                severity: ssl_compiler::diagnostics::Severity::Warning,
                ..Diagnostic::without_place(&codes::UNBOUND_TEXTURE, message, hint)
            });
            context.incomplete = true;
        }
    }
}

/// Warns of parameters that nobody gives a value, and of a shader that makes nothing to be seen.
fn say_what_is_missing(material: &Material, table: &MaterialTable, context: &mut Context) {
    let given = |name: &String| table.parameters.contains_key(name) || table.measured.contains_key(name);
    for name in material.parameters_without_default().filter(|name| !given(name) && !table.spoiled) {
        let message = format!("the parameter `{name}` of `{}` has no default, and is given no value", material.name);
        let hint = format!("it is 0; add `parameters = {{ {name} = … }}`, or a default in the shader");
        context.warn(&codes::NO_VALUE, table.at.span(), message, hint);
    }
    if !material.makes_closures() {
        let message = format!("the shader of the material `{}` makes no closure", material.name);
        let hint =
            "it is black; give an `out closure` parameter a closure, such as make_closure<Lambert>(albedo, normal)";
        context.warn(&codes::NO_CLOSURE, table.at.span(), message, hint);
    }
}

/// Gives parameters the numbers of the measured materials that they stand for.
fn bind_measured(material: &mut Material, table: &MaterialTable, context: &mut Context) {
    for (name, file) in &table.measured {
        let path = context.path(file.get_ref());
        match load_measured(&path) {
            Ok(number) => {
                if let Err(e) = material.bind_number(name, number) {
                    refuse(&material.name, name, file.span(), e, context);
                }
            }
            Err(why) => {
                let message = format!("`{}` cannot be used: {why}", path.display());
                let hint = "the file must be a table of the MERL database, or one in its format";
                context.error(&codes::BAD_MEASURED, file.span(), message, nearby::hint(&path, hint));
            }
        }
    }
}

fn refuse(material: &str, name: &str, span: Range<usize>, error: ParameterError, context: &mut Context) {
    let (message, hint) = match error {
        ParameterError::Unknown(names) => {
            let hint = match closest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "it has none".to_owned(),
                None => format!("it has {}", names.join(", ")),
            };
            (format!("the shader of `{material}` has no parameter `{name}`"), hint)
        }
        ParameterError::Type(wanted) => (
            format!("the parameter `{name}` of `{material}` does not take this value"),
            format!("its type is {wanted}"),
        ),
    };
    context.error(&codes::BAD_PARAMETER, span, message, hint);
}
