//! Primitive variables: named values that shapes give to shaders, beside the globals of every hit.
//!
//! A mesh has a value at each vertex, which is interpolated like texture coordinates. Any shape, any instance and the
//! scene itself have constants. A hit takes the innermost value: the shape's own, else that of the innermost instance
//! that has one and so outwards, else the scene's. Values are numbers without a space: placing a shape does not change
//! them.

use super::vertex_variables::VertexVariable;
use super::{Geometry, Hit, Primitive, instance};
use glam::DVec2;

/// The most numbers that a variable consists of.
pub const MAX_COMPONENTS: usize = 4;

/// A variable with one value for all of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    pub name: String,
    /// 1 to 4 numbers.
    pub value: Vec<f32>,
}

/// Where a shape keeps a variable: what its mesh has goes before its constants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    Vertex(usize),
    Constant(usize),
}

/// The variables of all shapes, by the numbers of names and of shapes.
#[derive(Debug, Default)]
pub struct Variables {
    names: Vec<String>,
    /// For each shape, which it has.
    kept: Vec<Vec<(u32, Kept)>>,
    scene: Vec<(u32, Constant)>,
}

impl Variables {
    /// The names that anything has, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|n| n == name).map(|i| i as u32)
    }

    fn number(&mut self, name: &str) -> u32 {
        self.find(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() as u32 - 1
        })
    }

    /// Takes note of the next shape's.
    pub(super) fn add(&mut self, of_mesh: &[VertexVariable], constants: &[Constant]) {
        let vertex = of_mesh.iter().enumerate().map(|(i, v)| (v.name.as_str(), Kept::Vertex(i)));
        let constant = constants.iter().enumerate().map(|(i, c)| (c.name.as_str(), Kept::Constant(i)));
        let list = vertex.chain(constant).map(|(name, kept)| (self.number(name), kept)).collect();
        self.kept.push(list);
    }

    pub(super) fn set_scene(&mut self, constants: Vec<Constant>) {
        self.scene = constants.into_iter().map(|c| (self.number(&c.name), c)).collect();
    }

    pub(super) fn kept(&self, shape: u32, variable: u32) -> Option<Kept> {
        self.kept[shape as usize].iter().find(|(number, _)| *number == variable).map(|&(_, kept)| kept)
    }
}

/// Who gives a hit a value that is the same all over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Giver {
    Scene,
    /// A shape, or an instance by the number of its shape.
    Shape(u32),
}

/// What a hit finds under a name.
enum Found<'a> {
    /// At the corners of its triangle, one row a corner.
    Corners([&'a [f32]; 3]),
    Constant(&'a [f32]),
}

/// A number of a list that stands for a value: the only one stands for all components.
fn component(value: &[f32], index: usize) -> f64 {
    let index = if value.len() == 1 { 0 } else { index };
    value.get(index).copied().unwrap_or(0.0).into()
}

impl Geometry {
    /// One component of a variable where a ray met something; 0 where nothing has it.
    pub fn variable(&self, variable: u32, hit: &Hit, index: usize) -> f32 {
        match self.found(variable, hit) {
            Some(Found::Constant(value)) => component(value, index) as f32,
            Some(Found::Corners(corners)) => {
                let [a, b, c] = corners.map(|v| component(v, index));
                (a + (b - a) * f64::from(hit.u) + (c - a) * f64::from(hit.v)) as f32
            }
            None => 0.0,
        }
    }

    /// Its partial, from that of the barycentric coordinates of the triangle's second and third vertex.
    pub fn variable_partial(&self, variable: u32, hit: &Hit, index: usize, barycentrics: DVec2) -> f32 {
        let Some(Found::Corners(corners)) = self.found(variable, hit) else { return 0.0 };
        let [a, b, c] = corners.map(|v| component(v, index));
        super::surface::finite_number((b - a) * barycentrics.x + (c - a) * barycentrics.y)
    }

    fn found(&self, variable: u32, hit: &Hit) -> Option<Found<'_>> {
        if let Some(Kept::Vertex(i)) = self.variables().kept(self.shape_of(hit.primitive), variable) {
            // Only meshes have such.
            let Primitive::Triangle(mesh, triangle) = self.primitive(hit.primitive) else { return None };
            let list = &mesh.variables[i];
            let at = |vertex: u32| &list.values[vertex as usize * list.components..][..list.components];
            return Some(Found::Corners(mesh.indices[triangle].map(at)));
        }
        self.given(self.giver(variable, hit)?, variable).map(Found::Constant)
    }

    /// Who gives a hit a variable; `None` where nobody does, or its mesh has a value at each vertex.
    pub fn giver(&self, variable: u32, hit: &Hit) -> Option<Giver> {
        let shape = self.shape_of(hit.primitive);
        match self.variables().kept(shape, variable) {
            Some(Kept::Constant(_)) => return Some(Giver::Shape(shape)),
            Some(Kept::Vertex(_)) => return None,
            None => {}
        }
        let givers = instance::chain(self, hit.instance).filter(|i| self.constant(i.shape, variable).is_some());
        let innermost = givers.last().map(|i| Giver::Shape(i.shape));
        innermost.or_else(|| self.scene_constant(variable).map(|_| Giver::Scene))
    }

    /// What it gives.
    pub fn given(&self, giver: Giver, variable: u32) -> Option<&[f32]> {
        match giver {
            Giver::Scene => self.scene_constant(variable),
            Giver::Shape(shape) => self.constant(shape, variable),
        }
    }

    /// Gives a constant that is there as many other numbers.
    pub fn set_given(&mut self, giver: Giver, variable: u32, value: &[f32]) {
        let (variables, shapes) = self.variables_and_shapes();
        let constant = match giver {
            Giver::Scene => variables.scene.iter_mut().find(|(number, _)| *number == variable).map(|(_, c)| c),
            Giver::Shape(shape) => match variables.kept(shape, variable) {
                Some(Kept::Constant(i)) => Some(&mut shapes[shape as usize].constants[i]),
                _ => None,
            },
        };
        if let Some(constant) = constant {
            constant.value.copy_from_slice(value);
        }
    }

    fn constant(&self, shape: u32, variable: u32) -> Option<&[f32]> {
        match self.variables().kept(shape, variable)? {
            Kept::Constant(i) => Some(&self.shape(shape).constants[i].value),
            Kept::Vertex(_) => None,
        }
    }

    fn scene_constant(&self, variable: u32) -> Option<&[f32]> {
        let (_, constant) = self.variables().scene.iter().find(|(number, _)| *number == variable)?;
        Some(&constant.value)
    }

    /// How many numbers a name stands for: the fewest that anything has under it, one that stands for all components
    /// left aside where there are others.
    pub fn components_of(&self, variable: u32) -> usize {
        let shapes = (0..self.shapes().len() as u32).filter_map(|shape| self.own_components(shape, variable));
        let all = shapes.chain(self.scene_constant(variable).map(<[f32]>::len));
        all.filter(|n| *n > 1).min().unwrap_or(1)
    }

    fn own_components(&self, shape: u32, variable: u32) -> Option<usize> {
        match self.variables().kept(shape, variable)? {
            Kept::Constant(i) => Some(self.shape(shape).constants[i].value.len()),
            Kept::Vertex(i) => self.mesh_of_shape(shape).map(|mesh| mesh.variables[i].components),
        }
    }

    /// The shapes with a material that somewhere find no value of so many numbers under a name.
    pub fn lacking(&self, name: &str, needed: usize, material: u32) -> Vec<(u32, Lack)> {
        // A number that nothing has.
        let variable = self.variables().find(name).unwrap_or(u32::MAX);
        let search = Search { geometry: self, variable, needed, placements: self.placements() };
        let mut inherited = vec![None; self.group_count() as usize];
        let mut found = Vec::new();
        for group in 0..self.group_count() {
            for shape in self.shapes_of(group) {
                if self.shape(shape).material == material
                    && let Err(lack) = search.own(shape).unwrap_or_else(|| search.inherited(group, &mut inherited))
                {
                    found.push((shape, lack));
                }
            }
        }
        found
    }
}

/// What is wrong with what a shape finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    Missing,
    /// It has only so many numbers.
    Short(usize),
}

struct Search<'a> {
    geometry: &'a Geometry,
    variable: u32,
    needed: usize,
    /// For each group, where it is placed: the group there, and the instance's shape.
    placements: Vec<Vec<(u32, u32)>>,
}

impl Search<'_> {
    /// `None` where the shape itself says nothing.
    fn own(&self, shape: u32) -> Option<Result<(), Lack>> {
        self.geometry.own_components(shape, self.variable).map(|n| self.fits(n))
    }

    fn fits(&self, components: usize) -> Result<(), Lack> {
        if components == 1 || components >= self.needed { Ok(()) } else { Err(Lack::Short(components)) }
    }

    /// What shapes in a group find outside of them, wherever the group is placed.
    fn inherited(&self, group: u32, known: &mut [Option<Result<(), Lack>>]) -> Result<(), Lack> {
        if group == Geometry::WORLD {
            return self.geometry.scene_constant(self.variable).map_or(Err(Lack::Missing), |c| self.fits(c.len()));
        }
        if let Some(known) = known[group as usize] {
            return known;
        }
        let mut result = Ok(());
        for &(parent, instance) in &self.placements[group as usize] {
            result = result.and(self.own(instance).unwrap_or_else(|| self.inherited(parent, known)));
        }
        known[group as usize] = Some(result);
        result
    }
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
