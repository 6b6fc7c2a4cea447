//! What of a scene can be fitted, by name, and how it is read and set.

use crate::integrator::replay::Numbers;
use crate::material::{GradientBy, Refused};
use crate::scene::Scene;
use glam::Vec3;
use rayon::prelude::*;
use ssl_compiler::diagnostics::closest;
use ssl_compiler::runtime::ParameterValue;
use std::collections::BTreeMap;

/// One thing of a scene that can be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As `materials.gold.base_color`.
    pub name: String,
    pub target: Target,
    /// How many floats it consists of.
    pub len: usize,
    /// The least and the greatest value that make sense of each, infinite where the scene does not know.
    pub bounds: Vec<[f32; 2]>,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Of a material, by its number, that of this name.
    Material { material: u32, name: String },
    /// How strongly something shines, by its number among the scene's light settings.
    Light { setting: usize },
    /// That of the film, in stops.
    Exposure,
}

/// All that can be fitted, in the order of the scene.
pub fn list(scene: &Scene) -> Vec<Parameter> {
    let of = |(number, material): (usize, &crate::material::Material)| {
        let of_material = |p: &ssl_compiler::runtime::ParameterDesc| Parameter {
            name: format!("materials.{}.{}", material.name, p.name),
            target: Target::Material { material: number as u32, name: p.name.clone() },
            len: p.scalars.len(),
            bounds: (0..p.scalars.len()).map(|i| p.bounds(i)).collect(),
        };
        material.differentiable_parameters().map(of_material).collect::<Vec<_>>()
    };
    let lights = scene.light_settings.iter().enumerate().map(|(setting, light)| Parameter {
        name: light.name.clone(),
        target: Target::Light { setting },
        len: 3,
        bounds: vec![[0.0, f32::INFINITY]; 3],
    });
    let exposure = Parameter {
        name: "film.exposure".to_owned(),
        target: Target::Exposure,
        len: 1,
        bounds: vec![[f32::NEG_INFINITY, f32::INFINITY]],
    };
    scene.materials.iter().enumerate().flat_map(of).chain(lights).chain([exposure]).collect()
}

/// Those whose name a pattern matches, in which `*` stands for any text without a dot.
///
/// # Errors
/// There are none; the text says what there is.
pub fn choose(all: &[Parameter], pattern: &str) -> Result<Vec<Parameter>, String> {
    let found: Vec<Parameter> = all.iter().filter(|p| matches(pattern, &p.name)).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let hint = closest(pattern, all.iter().map(|p| p.name.as_str()));
    Err(match hint {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => "the scene has nothing that can be fitted".to_owned(),
        None => format!("there is, for example, `{}`; `--list` shows all", all[0].name),
    })
}

/// Whether a name is what a pattern says.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let stops = rest.find('.').unwrap_or(rest.len());
            // Of names that have letters of several bytes, only whole letters are cut.
            (0..=stops).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

/// The floats that parameters of a scene have.
pub fn values(scene: &Scene, parameters: &[Parameter]) -> Vec<Vec<f32>> {
    let one = |p: &Parameter| match &p.target {
        Target::Material { material, name } => {
            let material = &scene.materials[*material as usize];
            let found = material.differentiable_parameters().find(|d| d.name == *name);
            found.map_or(vec![0.0; p.len], |d| material.numbers(d))
        }
        Target::Light { setting } => scene.light_settings[*setting].value.to_array().to_vec(),
        Target::Exposure => vec![scene.film.exposure],
    };
    parameters.iter().map(one).collect()
}

/// A scene with the parameters by which gradients are taken. Their numbers stand behind each other.
pub struct Differentiated {
    pub scene: Scene,
    parameters: Vec<Parameter>,
    firsts: Vec<u32>,
    len: usize,
    pub(super) numbers: Numbers,
}

impl Differentiated {
    /// Compiles what gradients by these parameters take.
    ///
    /// # Errors
    /// A shader has no gradient.
    pub fn new(mut scene: Scene, parameters: Vec<Parameter>) -> Result<Differentiated, Refused> {
        let (mut firsts, mut len) = (Vec::new(), 0);
        for p in &parameters {
            firsts.push(len as u32);
            len += p.len;
        }
        let mut numbers = Numbers::default();
        let mut asked: Vec<GradientBy> = scene.materials.iter().map(|_| GradientBy::default()).collect();
        for (p, first) in parameters.iter().zip(&firsts) {
            match &p.target {
                Target::Material { material, name } => {
                    asked[*material as usize].parameters.push((name.clone(), *first));
                }
                Target::Light { setting } => numbers.add_light(&scene, *setting, *first),
                Target::Exposure => numbers.exposure = Some(*first),
            }
        }
        let variables = scene.values.variables().to_vec();
        scene
            .materials
            .par_iter_mut()
            .zip(&asked)
            .try_for_each(|(material, asked)| material.differentiate(asked, &variables))?;
        Ok(Differentiated { scene, parameters, firsts, len, numbers })
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
        let first = self.firsts[parameter] as usize;
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
        let ranges = (0..self.parameters.len()).map(|i| self.range_of(i)).collect::<Vec<_>>();
        self.scene.update(self.parameters.iter().zip(ranges.into_iter().map(|range| &values[range])))
    }
}

impl Scene {
    /// Gives parameters other floats. Nothing is built or compiled anew but what follows from them: light trees, and what
    /// light samples know of materials that glow. Tables by which environments are sampled follow when the next picture is
    /// begun.
    ///
    /// # Errors
    /// Those of [`Scene::follow`].
    pub fn update<'a>(&mut self, values: impl IntoIterator<Item = (&'a Parameter, &'a [f32])>) -> Result<(), String> {
        let mut lights = false;
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
                Target::Exposure => self.film.exposure = numbers[0],
            }
        }
        self.follow(lights)
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_within_dots() {
        for (pattern, name, found) in [
            ("materials.*.base_color", "materials.gold.base_color", true),
            ("materials.*.base_color", "materials.gold.roughness", false),
            ("materials.*", "materials.gold.base_color", false),
            ("*.*.*", "materials.gold.base_color", true),
            ("materials.g*d.*color", "materials.gold.base_color", true),
            ("materials.gold", "materials.gold.base_color", false),
            ("materials.ä*.x", "materials.äöü.x", true),
        ] {
            assert_eq!(matches(pattern, name), found, "{pattern} {name}");
        }
    }
}
