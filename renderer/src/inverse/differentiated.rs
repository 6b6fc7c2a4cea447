//! A scene with the parameters by which gradients are taken.

use super::{Parameter, Target, values};
use crate::integrator::replay::GradientSlots;
use crate::material::{GradientBy, Refused};
use crate::scene::{Caustics, Clamp, Scene};
use crate::texture::make::MipFilter;
use kernels::BufferError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// A scene with the parameters by which gradients are taken. Their floats stand behind each other.
pub struct Differentiated {
    pub scene: Scene,
    pub(super) parameters: Vec<Parameter>,
    firsts: Vec<usize>,
    len: usize,
    pub(super) sums: Summed,
}

/// What is summed up float by float while paths are replayed: all but texels, which the textures sum up.
#[derive(Default)]
pub(super) struct Summed {
    pub slots: GradientSlots,
    /// By parameter the number of its first sum; of no meaning for texels.
    pub firsts: Vec<u32>,
    pub len: usize,
}

/// Why there is no gradient of a scene.
#[derive(Debug)]
pub enum NotDifferentiable {
    /// A shader has none.
    Shader(Refused),
    Memory(BufferError),
}

impl fmt::Display for NotDifferentiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotDifferentiable::Shader(why) => why.fmt(f),
            NotDifferentiable::Memory(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NotDifferentiable {}

impl Differentiated {
    /// Compiles what gradients by these parameters take, and holds the textures among them in memory.
    ///
    /// # Errors
    /// A shader has no gradient, or there is no memory.
    pub fn new(mut scene: Scene, parameters: Vec<Parameter>) -> Result<Differentiated, NotDifferentiable> {
        let (mut firsts, mut len, mut sums) = (Vec::new(), 0, Summed::default());
        let mut asked: Vec<GradientBy> = scene.materials.iter().map(|_| GradientBy::default()).collect();
        for p in &parameters {
            firsts.push(len);
            len += p.len;
            let first = sums.len as u32;
            sums.firsts.push(first);
            match &p.target {
                Target::Material { material, name } => asked[*material as usize].parameters.push((name.clone(), first)),
                Target::Light { setting } => sums.slots.add_light(&scene, *setting, first),
                Target::Variable { setting } => {
                    let setting = &scene.variable_settings[*setting];
                    sums.slots.add_variable(setting, (first, p.len as u32));
                    let name = &scene.values.variables()[setting.variable as usize];
                    for (material, asked) in scene.materials.iter().zip(&mut asked) {
                        let reads = material.variables().iter().any(|read| read.name == *name);
                        if reads && !asked.variables.contains(name) {
                            asked.variables.push(name.clone());
                        }
                    }
                }
                Target::Exposure => sums.slots.exposure = Some(first),
                Target::Texels { texture, .. } => {
                    let is_environment = scene.environment.texture() == Some(*texture);
                    sums.slots.environment_texels |= is_environment;
                    for (material, asked) in scene.materials.iter().zip(&mut asked) {
                        asked.textures.extend(material.slots_of(*texture).map(str::to_owned));
                    }
                    let filter = if is_environment { MipFilter::LatLong } else { MipFilter::Box };
                    scene.textures.hold(*texture, filter);
                    scene.textures.keep_gradient(*texture).map_err(NotDifferentiable::Memory)?;
                    continue;
                }
            }
            sums.len += p.len;
        }
        // Photons would go other ways for other values. Paths find the same light without them, if with more noise.
        scene.integrator.caustics = Caustics::Paths;
        // Light that is cut off has no gradient.
        scene.integrator.clamp = Clamp::OFF;
        scene.environment.follow_texture(&scene.textures);
        let variables = scene.values.variables().to_vec();
        scene
            .materials
            .par_iter_mut()
            .zip(&asked)
            .try_for_each(|(material, asked)| material.differentiate(asked, &variables))
            .map_err(NotDifferentiable::Shader)?;
        Ok(Differentiated { scene, parameters, firsts, len, sums })
    }

    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Closures of the fitted materials whose parameters count as constants, each with the names of the materials.
    pub fn without_adjoint(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for material in self.scene.materials.iter().filter(|m| m.has_adjoint()) {
            for closure in material.closures_without_adjoint() {
                let names = found.entry(closure).or_default();
                if names.last() != Some(&material.name.as_str()) {
                    names.push(&material.name);
                }
            }
        }
        found
    }

    /// How many floats there are in all.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the floats of a parameter stand.
    pub fn range_of(&self, parameter: usize) -> std::ops::Range<usize> {
        let first = self.firsts[parameter];
        first..first + self.parameters[parameter].len
    }

    /// The floats that the scene has now.
    pub fn values(&self) -> Vec<f32> {
        values(&self.scene, &self.parameters).concat()
    }

    /// Gives the parameters other floats: see [`Scene::update`].
    ///
    /// # Errors
    /// Those of [`Scene::update`].
    pub fn set(&mut self, values: &[f32]) -> Result<(), String> {
        let slices = self.firsts.iter().zip(&self.parameters).map(|(first, p)| &values[*first..first + p.len]);
        self.scene.update(self.parameters.iter().zip(slices))
    }
}
