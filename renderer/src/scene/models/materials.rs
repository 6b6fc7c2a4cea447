//! The materials that files define, made with the renderer's own shaders.

use super::model::{BuiltIn, ModelImage, ModelMaterial};
use crate::material::{Compiled, Making, Material, ShadingLanguage};
use crate::scene::context::Context;
use crate::scene::graphs::{Graphs, Image};
use ssl_compiler::modules::LIBRARY_ONLY;
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::source::Span;
use std::collections::BTreeMap;

/// A material of a file, and where the scene names the file.
pub struct Imported {
    pub material: ModelMaterial,
    pub at: Span,
}

/// Adds the images of all to those of the graphs; their numbers there, by slot.
pub fn images(list: &[Imported], graphs: &mut Graphs) -> Vec<Vec<usize>> {
    let mut number = |at: Span, image: &ModelImage| {
        let ModelImage { path, raw, ignores_alpha, wrap } = image.clone();
        graphs.add(Image { path, raw, ignores_alpha, wrap: Some(wrap), at: Some(at) })
    };
    list.iter().map(|i| i.material.images.iter().map(|(_, image)| number(i.at, image)).collect()).collect()
}

/// Makes the materials in their order; `images` are the numbers of their textures.
pub fn build(
    list: &[Imported],
    images: &[Vec<u32>],
    language: &ShadingLanguage,
    making: &Making,
    context: &mut Context,
) -> Vec<Material> {
    let mut shaders: BTreeMap<BuiltIn, Option<Compiled>> = BTreeMap::new();
    let mut materials = Vec::new();
    for (Imported { material, .. }, images) in list.iter().zip(images) {
        let shader =
            shaders.entry(material.shader).or_insert_with(|| compiled(material.shader, language, making, context));
        let Some(shader) = shader else { continue };
        let mut made = Material::new(&material.name, shader.clone(), language);
        let numbers = images.iter().map(|number| ParameterValue::Texture(*number));
        let slots = material.images.iter().map(|(slot, _)| *slot).zip(numbers);
        for (name, value) in material.parameters.iter().cloned().chain(slots) {
            // The shaders have all that is given them: tests bind each of them.
            let _ = made.bind(name, &value);
        }
        // A gradient may be by what makes it opaque.
        if material.opaque && !making.differentiable {
            made.forget_passage();
        }
        materials.push(made);
    }
    materials
}

fn compiled(shader: BuiltIn, language: &ShadingLanguage, making: &Making, context: &mut Context) -> Option<Compiled> {
    let file = context.sources.add(shader.name(), shader.source());
    let mut compiler = language.compiler(making, &LIBRARY_ONLY).with_sources(std::mem::take(&mut context.sources));
    let program = compiler.program(file);
    context.sources = compiler.into_sources();
    match language.compile(making, &program, None) {
        Ok(shader) => Some(shader),
        Err(e) => {
            context.diagnostics.extend(e.into_diagnostics());
            None
        }
    }
}
