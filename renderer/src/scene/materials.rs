//! The textures and materials of a scene: files read, shaders compiled, values bound.

use super::codes;
use super::context::Context;
use super::schema::{MaterialTable, TextureTable, ValueText};
use crate::material::{Material, ShadingLanguage};
use crate::texture::{self, Pyramid, TextureSystem};
use rayon::prelude::*;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, closest};
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::source::FileId;
use ssl_compiler::{BackendKind, Shader};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Reads all images, several at a time. One that cannot be read is missing, with a warning.
pub fn build_textures(tables: &BTreeMap<String, TextureTable>, context: &mut Context) -> TextureSystem {
    let entries: Vec<&TextureTable> = tables.values().collect();
    let load = |t: &&TextureTable| texture::load(&context.path(t.file.get_ref()), t.raw, t.wrap);
    let loaded: Vec<Result<Pyramid, String>> = entries.par_iter().map(load).collect();
    let mut textures = Vec::new();
    for (table, result) in entries.iter().zip(loaded) {
        if let Err(why) = &result {
            let message =
                format!("the texture `{}` cannot be read: {why}", context.path(table.file.get_ref()).display());
            context.warn(&codes::MISSING_TEXTURE, table.file.span(), message, "it is magenta in the picture");
            context.incomplete = true;
        }
        textures.push(result.ok());
    }
    TextureSystem::new(textures)
}

/// Where a material's shader comes from.
type ShaderKey = (FileId, Option<String>);

/// Compiles each shader once, several at a time, and makes the materials in the order of their names.
pub fn build_materials(
    tables: &BTreeMap<String, MaterialTable>,
    textures: &BTreeMap<String, TextureTable>,
    backend: BackendKind,
    context: &mut Context,
) -> Vec<Material> {
    let language = ShadingLanguage::new();
    let keys: Vec<Option<ShaderKey>> = tables.iter().map(|(name, t)| shader_key(name, t, context)).collect();
    let mut distinct: Vec<&ShaderKey> = keys.iter().flatten().collect();
    distinct.sort();
    distinct.dedup();
    let compile = |key: &&ShaderKey| language.compile(&context.sources, key.0, key.1.as_deref(), backend);
    let compiled: Vec<Result<(Arc<Shader>, Diagnostics), Diagnostics>> = distinct.par_iter().map(compile).collect();
    let mut shaders = BTreeMap::new();
    for (key, result) in distinct.iter().zip(compiled) {
        match result {
            Ok((shader, warnings)) => {
                context.diagnostics.extend(warnings);
                shaders.insert((*key).clone(), shader);
            }
            Err(errors) => context.diagnostics.extend(errors),
        }
    }
    let texture_names: Vec<&str> = textures.keys().map(String::as_str).collect();
    let mut materials = Vec::new();
    for ((name, table), key) in tables.iter().zip(&keys) {
        if let Some(shader) = key.as_ref().and_then(|k| shaders.get(k)) {
            let mut material = Material::new(name, shader.clone(), &language);
            bind(&mut material, table, &texture_names, context);
            materials.push(material);
        }
    }
    materials
}

fn shader_key(name: &str, table: &MaterialTable, context: &mut Context) -> Option<ShaderKey> {
    let file = match (&table.file, &table.source) {
        (Some(file), None) => context.text_file(file)?,
        (None, Some(source)) => context.sources.add(format!("<material {name}>"), source.get_ref().as_str()),
        (Some(file), Some(_)) => {
            let message = format!("the material `{name}` has both a file and a source");
            context.error(&codes::CONFLICT, file.span(), message, "keep one of them");
            return None;
        }
        (None, None) => {
            let message = format!("the material `{name}` has no shader");
            let hint = "add `file = \"….ssl\"` or `source = '''…'''`";
            context.diagnostics.push(Diagnostic::without_place(&codes::CONFLICT, message, hint));
            return None;
        }
    };
    Some((file, table.entry.clone()))
}

fn bind(material: &mut Material, table: &MaterialTable, textures: &[&str], context: &mut Context) {
    for (name, value) in &table.parameters {
        let value_of = |v: &ValueText| match v.clone() {
            ValueText::Bool(b) => ParameterValue::Bool(b),
            ValueText::Int(i) => ParameterValue::Int(i),
            ValueText::Float(x) => ParameterValue::Float(x),
            ValueText::Vector(v) => ParameterValue::Vector(v),
        };
        if let Err(e) = material.bind(name, &value_of(value.get_ref())) {
            refuse(&material.name, name, value.span(), e, context);
        }
    }
    for (slot, name) in &table.textures {
        let Some(number) = textures.iter().position(|t| t == name.get_ref()) else {
            let hint = match closest(name.get_ref(), textures.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add a table [textures.{}]", name.get_ref()),
            };
            let message = format!("there is no texture `{}`", name.get_ref());
            context.error(&codes::UNKNOWN_NAME, name.span(), message, hint);
            continue;
        };
        if let Err(e) = material.bind(slot, &ParameterValue::Texture(number as u32)) {
            refuse(&material.name, slot, name.span(), e, context);
        }
    }
    for slot in material.unbound_textures() {
        // A name that was refused above has been spoken of.
        if !table.textures.contains_key(&slot) {
            let message = format!("nothing is bound to the texture `{slot}` of the material `{}`", material.name);
            let hint = format!("add `textures = {{ {slot} = \"…\" }}` to the material");
            context.diagnostics.push(Diagnostic {
                severity: ssl_compiler::diagnostics::Severity::Warning,
                ..Diagnostic::without_place(&codes::UNBOUND_TEXTURE, message, hint)
            });
            context.incomplete = true;
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
        ParameterError::Type(wanted) => {
            (format!("the parameter `{name}` of `{material}` does not take this value"), format!("it is a {wanted}"))
        }
    };
    context.error(&codes::BAD_PARAMETER, span, message, hint);
}
