//! What the layers of the picture keep of each path: the values of its first hit, whatever that is, mirrors and glass
//! included. So the light divided by the albedo is the light that arrives at the visible surface.

use crate::bsdf::Bsdf;
use crate::camera::Projection;
use crate::film::{Aov, Rule, Shape};
use crate::light::LightName;
use crate::material::{Material, Scratch, ShadingPoint};
use crate::scene::Scene;
use glam::Vec3;
use std::collections::HashMap;

/// The values of all layers for each path of a batch.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    aovs: Vec<Aov>,
    shape: Shape,
    /// Where among the means of a path the light of each name stands, by its number; none where no layer holds it.
    lights: Vec<Option<usize>>,
    /// For each path the means, then those of which the nearest sample counts.
    values: Vec<f32>,
}

/// A first hit.
pub struct FirstHit<'a> {
    pub point: &'a ShadingPoint,
    pub bsdf: &'a Bsdf<'a>,
    pub material: (u32, &'a Material),
    /// Holds what the material's shader gave, in this lane.
    pub outputs: (&'a Scratch, usize),
    /// Along the ray.
    pub distance: f32,
}

impl Recorded {
    /// For a film that keeps so much of each pixel, and a scene whose lights have these names.
    pub fn new(aovs: Vec<Aov>, shape: Shape, light_names: &[String]) -> Recorded {
        let lights = light_places(&aovs, light_names);
        Recorded { shape, aovs, lights, values: Vec::new() }
    }

    /// Adds light that arrives at a path from a light of this name to the layer that holds it, if there is one.
    pub fn add_light(&mut self, path: u32, from: LightName, light: Vec3) {
        let Some(place) = self.lights.get(from as usize).copied().flatten() else { return };
        let n = self.shape.means + self.shape.nearest;
        let sum = &mut self.values[path as usize * n + place..][..3];
        sum.iter_mut().zip(light.to_array()).for_each(|(sum, light)| *sum += light);
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Forgets what there was; so many paths meet nothing yet.
    pub fn begin(&mut self, paths: usize) {
        let of = |rule| {
            let these = self.aovs.iter().filter(move |a| a.rule() == rule);
            these.flat_map(|a| a.channels().iter().map(|_| a.background()))
        };
        let one: Vec<f32> = of(Rule::Mean).chain(of(Rule::Nearest)).collect();
        self.values.clear();
        self.values.extend((0..paths).flat_map(|_| &one));
    }

    /// The means of a path, and what counts if it is the nearest.
    pub fn of(&self, path: usize) -> (&[f32], &[f32]) {
        let n = self.shape.means + self.shape.nearest;
        self.values[path * n..][..n].split_at(self.shape.means)
    }

    /// Whether all of it were numbers.
    pub fn record(&mut self, scene: &Scene, path: usize, hit: &FirstHit<'_>) -> bool {
        let n = self.shape.means + self.shape.nearest;
        let (means, nearest) = self.values[path * n..][..n].split_at_mut(self.shape.means);
        let (mut means, mut nearest, mut numbers) = (means.iter_mut(), nearest.iter_mut(), true);
        for aov in &self.aovs {
            if let Aov::Light { .. } = aov {
                // It is added up as it arrives.
                means.by_ref().take(aov.channels().len()).for_each(|_| ());
                continue;
            }
            let values = value(aov, scene, hit);
            let into = match aov.rule() {
                Rule::Mean => &mut means,
                Rule::Nearest => &mut nearest,
                Rule::Derived => continue,
            };
            // As many as there are channels; the others stay for the next layer.
            values.iter().take(aov.channels().len()).zip(into).for_each(|(value, into)| *into = *value);
            numbers &= values.iter().all(|v| v.is_finite());
        }
        numbers
    }
}

/// For lights without a name, then for each of the names, the first mean of the layer that holds their light.
fn light_places(aovs: &[Aov], light_names: &[String]) -> Vec<Option<usize>> {
    let (mut places, mut first) = (HashMap::new(), 0);
    for aov in aovs.iter().filter(|aov| aov.rule() == Rule::Mean) {
        if let Aov::Light { layer } = aov {
            places.insert(layer.as_str(), first);
        }
        first += aov.channels().len();
    }
    if places.is_empty() {
        return Vec::new();
    }
    let other = places.get(Aov::OTHER_LIGHT).copied();
    let of_name = |name: &String| places.get(format!("{}{name}", Aov::OF_LIGHT).as_str()).copied().or(other);
    std::iter::once(other).chain(light_names.iter().map(of_name)).collect()
}

/// The channels of a layer, filled up with 0.
fn value(aov: &Aov, scene: &Scene, hit: &FirstHit<'_>) -> [f32; 4] {
    let of = |v: Vec3| [v.x, v.y, v.z, 0.0];
    let one = |x: f32| [x, 0.0, 0.0, 0.0];
    let surface = &hit.point.surface;
    match aov {
        Aov::Albedo => of(hit.bsdf.directional_albedo()),
        Aov::Normal => of(hit.bsdf.mean_normal().unwrap_or_else(|| surface.normal_seen())),
        Aov::Depth => one(match scene.view.projection {
            Projection::Panoramic => hit.distance,
            _ => -scene.spaces.camera.from_world.transform_point3(surface.position).z,
        }),
        Aov::Position => of(surface.position),
        Aov::Uv => [surface.uv.x, surface.uv.y, 0.0, 0.0],
        Aov::ObjectId => one(surface.object_id as f32),
        Aov::MaterialId => one(hit.material.0 as f32),
        Aov::Output { name, .. } => hit.material.1.output(name, hit.outputs.0, hit.outputs.1),
        Aov::Variance | Aov::Samples | Aov::Light { .. } => [0.0; 4],
    }
}
