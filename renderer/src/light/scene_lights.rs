//! All lights of a scene that have a place: shapes that emit, and point and spot lights.
//!
//! A tree draws one of them for each sample. A few point and spot lights are each evaluated instead, without noise. A
//! shape that emits in a group does so wherever the group is placed, and each place is a light of its own.

use super::area::{Emitter, ShapeSample};
use super::bounds::LightBounds;
use super::emission::{EmissionContext, MaterialEmission};
use super::flat::{FlatLight, FlatLights, FlatSamples};
use super::links::{LightName, Links};
use super::tree::{ChosenLight, LightTree};
use super::{LightChoice, LightSampleContext, PointLight, Receivers};
use crate::accel::ShapeBounds;
use crate::geometry::{Body, Geometry, Hit, Primitive, Shape};
use crate::math::lanes::{Row, alike};
use crate::math::luminance;
use crate::ray::Ray;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;
use std::collections::{HashMap, HashSet};

/// Emitters that are drawn from. Beyond them light is found by paths that meet it, which is right but noisier.
const MAX_EMITTERS: usize = 1 << 20;

/// Point and spot lights that are all asked.
const FEW: usize = 8;

/// The lights of a scene, and how one is chosen.
#[derive(Debug)]
pub struct SceneLights {
    /// Emitting primitives, ascending.
    emitters: Vec<Emitter>,
    /// Of each what it is like, where it is flat.
    flats: Vec<Option<FlatLight>>,
    /// Point and spot lights with their names; behind the primitives if they are many.
    points: Vec<(PointLight, LightName)>,
    links: Links,
    /// For each list of the links one; numbers of lights are those of primitives, then of points.
    trees: Vec<LightTree>,
    /// By material.
    material_emissions: Vec<MaterialEmission>,
    /// Of the shapes that send out light, drawn or not.
    emitting: ShapeBounds,
    /// Shapes whose material varies and was dark at all points where it was asked.
    dark: HashSet<u32>,
    choice: LightChoice,
}

/// What was drawn.
#[derive(Debug)]
pub enum LightSample<'a> {
    /// A point of a shape.
    Surface(ShapeSample),
    /// A light without extent, its number, and the probability with which it was chosen.
    Point(u32, &'a PointLight, f32),
}

impl SceneLights {
    /// `studio` asks the materials of the shapes.
    pub fn new(
        studio: &EmissionContext<'_>,
        points: Vec<(PointLight, LightName)>,
        links: Links,
        choice: LightChoice,
    ) -> SceneLights {
        let geometry = studio.around.geometry;
        let mut found = Found {
            studio,
            material_emissions: studio.material_emissions(),
            found: Vec::new(),
            varying: HashMap::new(),
        };
        let mut emitting = found.emitting_groups();
        found.collect(&mut emitting, Geometry::WORLD, 0);
        let Found { found: mut emitters, material_emissions, varying, .. } = found;
        emitters.sort_unstable_by_key(|(emitter, _)| *emitter);
        let mut lights = SceneLights {
            flats: emitters.iter().map(|(emitter, _)| FlatLight::new(geometry, emitter)).collect(),
            emitters: emitters.iter().map(|(emitter, _)| *emitter).collect(),
            points,
            links,
            trees: Vec::new(),
            emitting: ShapeBounds::of(geometry, |shape| emits(shape, &material_emissions)),
            material_emissions,
            dark: varying.into_iter().filter(|(_, luminances)| luminances.is_none()).map(|(shape, _)| shape).collect(),
            choice,
        };
        let bounds = emitters.into_iter().map(|(emitter, bounds)| {
            let shape = geometry.shape(geometry.shape_of(emitter.primitive));
            (bounds, shape.light_name)
        });
        let many = lights.points.iter().filter(|_| lights.points_are_drawn());
        let all: Vec<(LightBounds, LightName)> = bounds.chain(many.map(|(p, name)| (p.bounds(), *name))).collect();
        let tree = |list: u32| {
            let numbered = all.iter().enumerate().filter(|(_, (_, name))| lights.links.lights(list, *name));
            LightTree::new(numbered.map(|(i, (bounds, _))| (i as u32, *bounds)), all.len(), choice)
        };
        lights.trees = (0..lights.links.count()).map(tree).collect();
        lights
    }

    /// Sets the intensity of a point or spot light. The trees do not know of it before [`SceneLights::follow`].
    pub fn set_intensity(&mut self, point: u32, intensity: Vec3) {
        self.points[point as usize].0.intensity = intensity;
    }

    /// Follows materials that have other parameters, if they send out other light by that, and shapes and point lights if
    /// some of them are `changed`.
    pub fn follow(&mut self, studio: &EmissionContext<'_>, changed: bool) {
        let material_emissions = studio.material_emissions();
        // What varies was asked at some points: it may be otherwise there.
        if changed
            || material_emissions != self.material_emissions
            || material_emissions.contains(&MaterialEmission::Varying)
        {
            *self = SceneLights::new(studio, std::mem::take(&mut self.points), self.links.clone(), self.choice);
        }
    }

    /// Whether [`SceneLights::sample`] may give anything.
    pub fn any_is_drawn(&self) -> bool {
        !self.emitters.is_empty() || self.points_are_drawn()
    }

    /// The shapes that emit, each with the luminance that it sends straight to one side, times its area.
    pub fn by_intensity(&self) -> impl Iterator<Item = (Emitter, f32)> {
        // Each list has some of the lights, the same everywhere or fewer.
        let mut intensities = vec![0.0_f32; self.emitters.len()];
        for (light, intensity) in self.trees.iter().flat_map(LightTree::intensities) {
            if let Some(known) = intensities.get_mut(light as usize) {
                *known = intensity;
            }
        }
        self.emitters.iter().copied().zip(intensities)
    }

    fn points_are_drawn(&self) -> bool {
        self.points.len() > FEW
    }

    /// Whether points are drawn where a ray met a shape that emits: of very many lights, and of what seemed dark, none are.
    pub fn is_drawn(&self, hit: &Hit) -> bool {
        self.emitters.binary_search(&Emitter::of(hit)).is_ok()
    }

    /// Whether any shape may send out light, whether [`SceneLights::sample`] gives it or not.
    pub fn any_shape_emits(&self) -> bool {
        !self.emitting.is_empty()
    }

    /// Whether a ray may meet a shape that sends out light.
    pub fn may_meet_emission(&self, ray: &Ray) -> bool {
        self.emitting.may_intersect(ray)
    }

    /// What a material sends out to both sides.
    pub fn material_emission(&self, material: u32) -> MaterialEmission {
        self.material_emissions.get(material as usize).copied().unwrap_or(MaterialEmission::None)
    }

    /// Whether a shape whose material's emission varies was dark at all points where it was asked.
    pub fn is_dark(&self, shape: u32) -> bool {
        self.dark.contains(&shape)
    }

    /// Whether a light of a name lights shapes of a list.
    pub fn linked(&self, list: u32, name: LightName) -> bool {
        self.links.lights(list, name)
    }

    /// The point and spot lights that are all to be asked, with their numbers and names, beside what `sample` draws.
    pub fn asked(&self) -> impl Iterator<Item = (u32, &PointLight, LightName)> {
        self.all_points().take(if self.points_are_drawn() { 0 } else { self.points.len() })
    }

    /// All point and spot lights, with their numbers and names.
    pub fn all_points(&self) -> impl Iterator<Item = (u32, &PointLight, LightName)> {
        self.points.iter().enumerate().map(|(i, (light, name))| (i as u32, light, *name))
    }

    /// A point or spot light by its number.
    pub fn point(&self, number: u32) -> &PointLight {
        &self.points[number as usize].0
    }

    /// The name of a point or spot light, by the light's number.
    pub fn point_name(&self, number: u32) -> LightName {
        self.points[number as usize].1
    }

    /// All point and spot lights.
    pub fn points(&self) -> impl Iterator<Item = &PointLight> {
        self.points.iter().map(|(light, _)| light)
    }

    /// Shows `drawn` for each of the wanted receivers, by its lane, one of the lights, for a point of the unit square; not where it
    /// cannot shine there.
    pub fn sample<'a>(
        &'a self,
        geometry: &Geometry,
        receivers: &[LightSampleContext],
        wanted: u32,
        u: &[Vec2; LANES],
        mut drawn: impl FnMut(usize, LightSample<'a>),
    ) {
        let rows = Receivers::new(receivers);
        let chosen = self.choose(receivers, &rows, wanted, &u.map(|u| u.x));
        let (mut flats, mut any) = (FlatLights::NONE, false);
        for (lane, chosen) in chosen.iter().enumerate() {
            if let Some(light) = chosen.as_ref().and_then(|chosen| self.flat(chosen.number)) {
                flats.set(lane, light);
                any = true;
            }
        }
        let left = [chosen.map(|chosen| chosen.map_or(0.0, |chosen| chosen.u)), u.map(|u| u.y)];
        let of_flats = any.then(|| FlatSamples::draw(&flats, &rows.position, &left));
        for (lane, ChosenLight { number, p, u: left }) in
            chosen.iter().enumerate().filter_map(|(i, c)| Some((i, (*c)?)))
        {
            let Some(emitter) = self.emitters.get(number as usize) else {
                let point = number - self.emitters.len() as u32;
                drawn(lane, LightSample::Point(point, &self.points[point as usize].0, p));
                continue;
            };
            // Flat ones were drawn if there are any.
            let sample = match self.flat(number).zip(of_flats.as_ref()) {
                Some((light, of_flats)) => of_flats.of(lane, emitter, light),
                None => emitter.draw(geometry, receivers[lane].position, Vec2::new(left, u[lane].y)),
            };
            let Some(sample) = sample else { continue };
            let dark = sample.behind
                && self.material_emission(geometry.shape(sample.shape).material) == MaterialEmission::None;
            if !dark {
                drawn(lane, LightSample::Surface(ShapeSample { pdf: sample.pdf * p, ..sample }));
            }
        }
    }

    /// Chooses a light for each of the wanted receivers, from the tree of its list.
    fn choose(
        &self,
        receivers: &[LightSampleContext],
        rows: &Receivers,
        wanted: u32,
        u: &Row,
    ) -> [Option<ChosenLight>; LANES] {
        let mut chosen = [None; LANES];
        for (lanes, list) in alike(wanted, |lane| receivers[lane].list) {
            self.tree(list).sample(rows, lanes, u, &mut chosen);
        }
        chosen
    }

    fn flat(&self, number: u32) -> Option<&FlatLight> {
        self.flats.get(number as usize)?.as_ref()
    }

    /// The density, per steradian, with which `sample` draws the direction `wi` in which `hit` was found; `None` where it
    /// is never drawn.
    pub fn pdf(&self, geometry: &Geometry, receiver: &LightSampleContext, wi: Vec3, hit: &Hit) -> Option<f32> {
        let number = self.emitters.binary_search(&Emitter::of(hit)).ok()? as u32;
        let p = self.tree(receiver.list).probability(receiver, number);
        let density = match self.flat(number) {
            Some(light) => light.density(receiver.position, wi, hit.t),
            None => Emitter::density(geometry, receiver.position, wi, hit),
        };
        let pdf = p * density;
        (pdf > 0.0).then_some(pdf)
    }

    fn tree(&self, list: u32) -> &LightTree {
        // There is one for each list.
        &self.trees[list as usize]
    }
}

/// Whether a shape, or its material, may send out light.
fn emits(shape: &Shape, material_emissions: &[MaterialEmission]) -> bool {
    let of_material = material_emissions.get(shape.material as usize).copied().unwrap_or(MaterialEmission::None);
    shape.emission != Vec3::ZERO || of_material != MaterialEmission::None
}

/// The emitters of a scene while they are collected.
struct Found<'a> {
    studio: &'a EmissionContext<'a>,
    material_emissions: Vec<MaterialEmission>,
    found: Vec<(Emitter, LightBounds)>,
    /// For shapes whose materials vary, the mean luminance of each primitive's sides; `None` for dark ones.
    varying: HashMap<u32, Option<Vec<[f32; 2]>>>,
}

impl Found<'_> {
    /// Which groups hold something that may emit, themselves or below.
    fn emitting_groups(&self) -> Vec<bool> {
        fn look(found: &Found<'_>, group: u32, emits: &mut [Option<bool>]) -> bool {
            if let Some(known) = emits[group as usize] {
                return known;
            }
            let any = found.studio.around.geometry.bodies_of(group).any(|(first, body)| match body {
                Body::Instance(i) => look(found, i.group, emits),
                _ => body.count() > 0 && found.may_emit(first),
            });
            emits[group as usize] = Some(any);
            any
        }
        let groups = self.studio.around.geometry.group_count();
        let mut emits = vec![None; groups as usize];
        (0..groups).map(|g| look(self, g, &mut emits)).collect()
    }

    fn may_emit(&self, primitive: u32) -> bool {
        let geometry = self.studio.around.geometry;
        let shape = geometry.shape(geometry.shape_of(primitive));
        Emitter::is_drawn(geometry, primitive) && emits(shape, &self.material_emissions)
    }

    /// The emitters of a group that a path leads to, and of those below. What turns out to be dark is not asked again: groups
    /// within groups may stand in very many places.
    fn collect(&mut self, emitting: &mut [bool], group: u32, path: u64) {
        if !emitting[group as usize] {
            return;
        }
        let before = self.found.len();
        for (first, body) in self.studio.around.geometry.bodies_of(group) {
            match body {
                Body::Instance(i) => self.collect(emitting, i.group, path + i.base),
                _ if body.count() > 0 && self.may_emit(first) => self.add(first, body.count() as u32, path),
                _ => {}
            }
            if self.found.len() >= MAX_EMITTERS {
                return;
            }
        }
        emitting[group as usize] = self.found.len() > before;
    }

    /// Adds a shape's primitives, as long as there is room.
    fn add(&mut self, first: u32, count: u32, path: u64) {
        let geometry = self.studio.around.geometry;
        let number = geometry.shape_of(first);
        let shape = geometry.shape(number);
        let count = count.min((MAX_EMITTERS - self.found.len()) as u32);
        let of_material =
            self.material_emissions.get(shape.material as usize).copied().unwrap_or(MaterialEmission::None);
        let studio = self.studio;
        let varying = match of_material {
            MaterialEmission::Varying => {
                self.varying.entry(number).or_insert_with(|| studio.luminances(first, count, path)).as_deref()
            }
            _ => None,
        };
        let of_shape = luminance(shape.emission);
        let sides = |i: usize| match of_material {
            MaterialEmission::None => [0.0; 2],
            MaterialEmission::Constant(radiance) => [luminance(radiance); 2],
            MaterialEmission::Varying => varying.and_then(|v| v.get(i)).copied().unwrap_or_default(),
        };
        // What looked dark where it was asked may yet have a bright emitter: it is drawn now and then.
        let least = varying.map_or(0.0, |v| 0.01 * v.iter().flatten().sum::<f32>() / (2 * v.len().max(1)) as f32);
        if of_shape == 0.0 && of_material == MaterialEmission::Varying && varying.is_none() {
            return;
        }
        for i in 0..count {
            let emitter = Emitter { instance: path, primitive: first + i };
            let Some((_, _, normal, area)) = emitter.point(geometry, Vec2::splat(0.5)) else { continue };
            let [to_front, to_back] = sides(i as usize).map(|l| l.max(least));
            let sides = [of_shape + to_front, to_back].map(|l| area * l);
            let bounds = match geometry.primitive(emitter.primitive) {
                // A quarter of it is what a direction sees of it.
                Primitive::Sphere(_) => LightBounds::round(emitter.bounds(geometry), 0.25 * sides[0].max(sides[1])),
                _ => LightBounds::flat(emitter.bounds(geometry), normal, sides),
            };
            if bounds.intensity > 0.0 && bounds.intensity.is_finite() {
                self.found.push((emitter, bounds));
            }
        }
    }
}
