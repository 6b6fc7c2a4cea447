//! Where gradients go, among all that is gathered, by what belongs to no material.

use crate::geometry::Giver;
use crate::light::LightId;
use crate::scene::{LightSource, Scene, VariableSetting};
use glam::Vec3;
use std::collections::HashMap;

/// The number of the first of three floats, and by what the cotangent of the light's own strength is multiplied to be that of
/// the floats.
type Place = Option<(u32, Vec3)>;

/// By what of a scene beside its materials a gradient is taken.
#[derive(Clone, Debug, Default)]
pub struct GradientSlots {
    points: Vec<Place>,
    parallel: Vec<Place>,
    suns: Vec<Place>,
    shapes: Vec<Place>,
    environment: [Place; 3],
    /// By variable and giver, the number of the first float, and how many there are: of a table of vertices, in each row.
    variables: HashMap<(u32, Giver), (u32, u32)>,
    /// Whether it is taken by the texels of the environment.
    pub environment_texels: bool,
    /// That of the film's exposure.
    pub exposure: Option<u32>,
}

impl GradientSlots {
    /// From now on the gradient by a light setting of the scene is taken. `first` is the number of its first float.
    pub fn add_light(&mut self, scene: &Scene, setting: usize, first: u32) {
        match &scene.light_settings[setting].source {
            LightSource::Light { place, tint } => self.put(*place, Some((first, *tint))),
            LightSource::Shapes(shapes) => {
                shapes.iter().for_each(|shape| put(&mut self.shapes, *shape, Some((first, Vec3::ONE))));
            }
            LightSource::Environment { color, sun } => {
                self.environment[*color] = Some((first, Vec3::ONE));
                if let (Some(sun), Some(sunlight)) = (sun, scene.environment.sunlight()) {
                    self.put(LightId::Sun(*sun), Some((first, sunlight)));
                }
            }
        }
    }

    /// From now on the gradient by a variable is taken. `first` is the number of its first float, and `len` says how many it has.
    pub fn add_variable(&mut self, setting: &VariableSetting, (first, len): (u32, u32)) {
        let floats = (first, setting.vertices.as_ref().map_or(len, |vertices| vertices.components as u32));
        self.variables.extend(setting.givers.iter().map(|giver| ((setting.variable, *giver), floats)));
    }

    /// The number of the float that is a component of what is given.
    pub fn of_variable(&self, variable: u32, giver: Giver, component: usize) -> Option<u32> {
        let (first, len) = *self.variables.get(&(variable, giver))?;
        match component as u32 {
            // The only one stands for all components.
            _ if len == 1 => Some(first),
            component => (component < len).then_some(first + component),
        }
    }

    /// The number of the float that is a component of a row of a shape's table of vertices.
    pub fn of_row(&self, variable: u32, shape: u32, row: u32, component: usize) -> Option<u32> {
        let giver = Giver::Shape(shape);
        let (_, components) = *self.variables.get(&(variable, giver))?;
        Some(self.of_variable(variable, giver, component)? + row * components)
    }

    fn put(&mut self, light: LightId, place: Place) {
        match light {
            LightId::Point(i) => put(&mut self.points, i, place),
            LightId::Parallel(i) => put(&mut self.parallel, i, place),
            LightId::Sun(i) => put(&mut self.suns, i, place),
        }
    }

    pub fn of_light(&self, light: LightId) -> Place {
        match light {
            LightId::Point(i) => get(&self.points, i),
            LightId::Parallel(i) => get(&self.parallel, i),
            LightId::Sun(i) => get(&self.suns, i),
        }
    }

    pub fn of_shape(&self, shape: u32) -> Place {
        get(&self.shapes, shape)
    }

    pub fn has_shapes(&self) -> bool {
        !self.shapes.is_empty()
    }

    pub fn has_suns(&self) -> bool {
        !self.suns.is_empty()
    }

    /// Of the environment's colors.
    pub fn of_environment(&self) -> &[Place; 3] {
        &self.environment
    }
}

fn put(list: &mut Vec<Place>, i: u32, place: Place) {
    list.resize(list.len().max(i as usize + 1), None);
    list[i as usize] = place;
}

fn get(list: &[Place], i: u32) -> Place {
    list.get(i as usize).copied().flatten()
}
