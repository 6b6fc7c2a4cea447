//! How the parameters of a scene are read and set.

use super::{Parameter, Target};
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::ParameterValue;

/// The floats that parameters of a scene have. Of textures that are not held, there are none.
pub fn values(scene: &Scene, parameters: &[Parameter]) -> Vec<Vec<f32>> {
    let one = |p: &Parameter| match &p.target {
        Target::Material { material, name } => {
            let material = &scene.materials[*material as usize];
            let found = material.differentiable_parameters().find(|d| d.name == *name);
            found.map_or(vec![0.0; p.len], |d| material.numbers(d))
        }
        Target::Light { setting } => scene.light_settings[*setting].value.to_array().to_vec(),
        Target::Variable { setting } => scene.variable(&scene.variable_settings[*setting]).to_vec(),
        Target::Exposure => vec![scene.film.exposure],
        Target::Texels { texture, channels } => channels.numbers(scene.textures.texels(*texture).unwrap_or_default()),
    };
    parameters.iter().map(one).collect()
}

impl Scene {
    /// Gives parameters other floats. Nothing is built or compiled anew but what follows from them: light trees, and what
    /// light samples know of materials that glow. Tables by which environments are sampled follow when the next picture is
    /// begun.
    ///
    /// # Errors
    /// Those of [`Scene::follow`].
    pub fn update<'a>(&mut self, values: impl IntoIterator<Item = (&'a Parameter, &'a [f32])>) -> Result<(), String> {
        let (mut lights, mut images) = (false, false);
        for (parameter, numbers) in values {
            match &parameter.target {
                Target::Material { material, name } => {
                    let value = match numbers {
                        [one] => ParameterValue::Float(*one),
                        several => ParameterValue::Vector(several.to_vec()),
                    };
                    // The parameter was found in the material, and has so many floats.
                    let _ = self.materials[*material as usize].bind(name, &value);
                }
                Target::Light { setting } => {
                    lights = true;
                    self.set_light(*setting, Vec3::from_slice(numbers));
                }
                Target::Variable { setting } => self.set_variable(*setting, numbers),
                Target::Exposure => self.film.exposure = numbers[0],
                Target::Texels { texture, channels } => {
                    images = true;
                    let old = self.textures.texels(*texture).unwrap_or_default();
                    let texels = channels.texels(numbers, old);
                    self.textures.set_texels(*texture, texels);
                }
            }
        }
        // What a texture emits may be on any shape.
        self.follow(lights || images)
    }
}
