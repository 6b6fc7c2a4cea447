//! What of a scene can change without it being built anew: how strongly things shine, and what shaders are given by name.

use super::contents::Scene;
use super::light_settings::{LightSetting, LightSource};
use super::variable_settings::VariableSetting;
use crate::geometry::{Giver, TableRows};
use crate::light::LightId;
use glam::Vec3;

impl Scene {
    /// Gives a light setting another value, which must not be negative. What follows from it does so by [`Scene::follow`].
    pub fn set_light(&mut self, setting: usize, value: Vec3) {
        let LightSetting { source, value: kept, .. } = &mut self.light_settings[setting];
        *kept = value;
        match source {
            LightSource::Light { place: LightId::Point(i), tint } => self.lights.set_intensity(*i, value * *tint),
            LightSource::Light { place: LightId::Parallel(i), tint } => {
                self.parallel[*i as usize].0.irradiance = value * *tint;
            }
            LightSource::Light { place: LightId::Sun(i), tint } => {
                self.suns[*i as usize].0.set_irradiance(value * *tint);
            }
            LightSource::Shapes(shapes) => shapes.iter().for_each(|shape| self.geometry.set_emission(*shape, value)),
            LightSource::Environment { color, sun } => {
                self.environment.set_color(*color, value);
                if let (Some(sun), Some(sunlight)) = (sun, self.environment.sunlight()) {
                    self.suns[*sun as usize].0.set_irradiance(sunlight * value);
                }
            }
        }
    }

    /// The numbers that a variable has in a table.
    pub fn variable<'a>(&'a self, setting: &'a VariableSetting) -> &'a [f32] {
        match &setting.vertices {
            Some(vertices) => &vertices.values,
            None => {
                let first = setting.givers.first();
                first.and_then(|giver| self.geometry.given(*giver, setting.variable)).unwrap_or_default()
            }
        }
    }

    /// Gives it as many other numbers. What follows from it does so by [`Scene::follow`].
    pub fn set_variable(&mut self, setting: usize, value: &[f32]) {
        let Scene { variable_settings, geometry, .. } = self;
        let VariableSetting { variable, givers, vertices, .. } = &mut variable_settings[setting];
        for giver in givers {
            match giver {
                Giver::Shape(shape) if vertices.is_some() => geometry.set_of_table(*shape, *variable, value),
                _ => geometry.set_given(*giver, *variable, value),
            }
        }
        if let Some(vertices) = vertices {
            vertices.values.copy_from_slice(value);
        }
    }

    /// Pairs of vertices, by their rows, that have an edge of a triangle between them: each once, in order. None where the variable
    /// has no table of vertices.
    pub fn edges(&self, setting: &VariableSetting) -> Vec<[u32; 2]> {
        let shapes = setting.givers.iter().filter_map(|giver| match giver {
            Giver::Shape(shape) => Some(*shape),
            Giver::Scene => None,
        });
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for (variable, mesh) in shapes.filter_map(|shape| self.geometry.of_table(shape, setting.variable)) {
            let Some(TableRows { rows, .. }) = &variable.source else { continue };
            let corners = mesh.indices.iter().map(|triangle| triangle.map(|vertex| rows[vertex as usize]));
            edges.extend(corners.flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]).map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.retain(|[a, b]| a != b);
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
