//! Everything that the rays of a scene can hit: shapes in groups, of which the world is the first.
//!
//! Primitives are numbered in the order in which their shapes are added, whatever the group. A group is complete once
//! an instance places it, so none can contain itself.

use super::body::{Body, Primitive};
use super::instance::{self, GroupError, Instance, MAX_DEPTH};
use super::variables::{Constant, Variables};
use super::{Shape, Sphere, TriangleMesh};
use glam::{DAffine3, Vec3};

#[derive(Debug)]
pub struct Geometry {
    bodies: Vec<Body>,
    /// As many as bodies.
    shapes: Vec<Shape>,
    groups: Vec<Group>,
    /// For each body its first primitive; a primitive's number less that gives its place there. Filled up with what is
    /// above all numbers.
    firsts: Vec<[u32; BLOCK]>,
    primitives: u32,
    any_see_through: bool,
    variables: Variables,
}

/// Bodies whose numbers are compared at once.
const BLOCK: usize = 16;

#[derive(Debug)]
struct Group {
    /// Numbers of its bodies, and those of them that are instances.
    bodies: Vec<u32>,
    instances: Vec<u32>,
    /// Paths into it and what is below, its own among them.
    paths: u64,
    /// Levels of instances below.
    depth: u32,
    placed: bool,
    bounds: Option<(Vec3, Vec3)>,
}

impl Default for Geometry {
    fn default() -> Geometry {
        let mut geometry = Geometry {
            bodies: Vec::new(),
            shapes: Vec::new(),
            groups: Vec::new(),
            firsts: Vec::new(),
            primitives: 0,
            any_see_through: false,
            variables: Variables::default(),
        };
        geometry.add_group();
        geometry
    }
}

impl Geometry {
    /// The group that rays start in.
    pub const WORLD: u32 = 0;

    pub fn new() -> Geometry {
        Geometry::default()
    }

    /// A new, empty group, which stands nowhere yet.
    pub fn add_group(&mut self) -> u32 {
        self.groups.push(Group {
            bodies: Vec::new(),
            instances: Vec::new(),
            paths: 1,
            depth: 0,
            placed: false,
            bounds: None,
        });
        self.groups.len() as u32 - 1
    }

    /// Adds a shape to the world.
    pub fn add(&mut self, body: impl Into<Body>, shape: Shape) {
        self.add_to(Geometry::WORLD, body, shape);
    }

    /// Adds a shape to a group.
    ///
    /// # Panics
    /// If an instance has placed the group already.
    pub fn add_to(&mut self, group: u32, body: impl Into<Body>, shape: Shape) {
        let body = body.into();
        assert!(!self.groups[group as usize].placed, "a group is complete once it is placed");
        let number = self.bodies.len() as u32;
        let bounds = self.body_bounds(&body);
        let all = &mut self.groups[group as usize].bounds;
        *all = [*all, bounds].into_iter().flatten().reduce(union);
        self.groups[group as usize].bodies.push(number);
        if matches!(body, Body::Instance(_)) {
            self.groups[group as usize].instances.push(number);
        }
        let of_mesh = if let Body::Mesh(mesh) = &body { mesh.variables.as_slice() } else { &[] };
        self.variables.add(of_mesh, &shape.constants);
        if (number as usize).is_multiple_of(BLOCK) {
            self.firsts.push([u32::MAX; BLOCK]);
        }
        self.firsts[number as usize / BLOCK][number as usize % BLOCK] = self.primitives;
        self.primitives += body.count() as u32;
        self.bodies.push(body);
        self.shapes.push(shape);
    }

    /// Places `group` in another one, `into`. For an instance in the world `object_id` becomes that of all that is
    /// placed.
    ///
    /// # Panics
    /// As [`Geometry::place`].
    pub fn add_instance(
        &mut self,
        into: u32,
        group: u32,
        to_parent: DAffine3,
        object_id: u32,
    ) -> Result<(), GroupError> {
        self.place(into, group, to_parent, Shape { object_id, ..Shape::default() })
    }

    /// Likewise; of `shape` the constants count too, for what is placed and has none of the same name itself.
    ///
    /// # Panics
    /// If an instance has placed `into` already, or if it is `group`.
    pub fn place(&mut self, into: u32, group: u32, to_parent: DAffine3, shape: Shape) -> Result<(), GroupError> {
        assert_ne!(into, group, "a group cannot contain itself");
        let from_parent = instance::inverse(&to_parent).ok_or(GroupError::Singular)?;
        let (below, depth) = (self.groups[group as usize].paths, self.groups[group as usize].depth + 1);
        let base = self.groups[into as usize].paths;
        let paths = base.checked_add(below).ok_or(GroupError::TooMany)?;
        if depth > MAX_DEPTH {
            return Err(GroupError::TooDeep);
        }
        let (number, object_id) = (self.shapes.len() as u32, shape.object_id);
        let instance = Instance { group, to_parent, from_parent, base, object_id, shape: number };
        self.add_to(into, Body::Instance(instance), shape);
        let parent = &mut self.groups[into as usize];
        (parent.paths, parent.depth) = (paths, parent.depth.max(depth));
        self.groups[group as usize].placed = true;
        Ok(())
    }

    /// Adds a mesh to the world.
    pub fn add_mesh(&mut self, mesh: TriangleMesh, shape: Shape) {
        self.add(mesh, shape);
    }

    /// Adds a sphere to the world.
    pub fn add_sphere(&mut self, sphere: Sphere, shape: Shape) {
        self.add(sphere, shape);
    }

    /// How many levels of instances lie below a group.
    pub fn depth_of(&self, group: u32) -> u32 {
        self.groups[group as usize].depth
    }

    pub fn group_count(&self) -> u32 {
        self.groups.len() as u32
    }

    /// How many times anything is placed, the world counted once.
    pub fn path_count(&self) -> u64 {
        self.groups[Geometry::WORLD as usize].paths
    }

    /// The bodies of a group, each with the number of its first primitive.
    pub fn bodies_of(&self, group: u32) -> impl Iterator<Item = (u32, &Body)> {
        let bodies = self.groups[group as usize].bodies.iter();
        bodies.map(|&number| (self.first_of(number), &self.bodies[number as usize]))
    }

    /// The bodies of a group, each with its shape.
    pub fn members_of(&self, group: u32) -> impl Iterator<Item = (&Body, &Shape)> {
        let bodies = self.groups[group as usize].bodies.iter();
        bodies.map(|&number| (&self.bodies[number as usize], &self.shapes[number as usize]))
    }

    /// Numbers of the bodies of a group that are instances, in the order of their paths.
    pub(super) fn instances(&self, group: u32) -> &[u32] {
        &self.groups[group as usize].instances
    }

    pub(super) fn instance(&self, body: u32) -> &Instance {
        match &self.bodies[body as usize] {
            Body::Instance(instance) => instance,
            other => unreachable!("the lists of instances hold nothing else: {other:?}"),
        }
    }

    pub fn primitive_count(&self) -> usize {
        self.primitives as usize
    }

    pub fn primitive(&self, number: u32) -> Primitive<'_> {
        self.find(number).1
    }

    /// A primitive of a shape.
    #[inline]
    pub fn primitive_of(&self, shape: u32, number: u32) -> Primitive<'_> {
        self.bodies[shape as usize].primitive((number - self.first_of(shape)) as usize)
    }

    /// A primitive and the shape that it belongs to, for the price of one.
    #[inline]
    pub fn find(&self, number: u32) -> (u32, Primitive<'_>) {
        let (body, place) = self.body_of(number);
        (body as u32, self.bodies[body].primitive(place))
    }

    fn first_of(&self, body: u32) -> u32 {
        self.firsts[body as usize / BLOCK][body as usize % BLOCK]
    }

    /// The body of a primitive, and its place there.
    #[inline]
    fn body_of(&self, primitive: u32) -> (usize, usize) {
        // The last that does not begin behind it; empty ones begin where the next does.
        let block = if self.firsts.len() == 1 { 0 } else { self.firsts.partition_point(|b| b[0] <= primitive) - 1 };
        let before = self.firsts[block].iter().map(|first| u32::from(*first <= primitive)).sum::<u32>() as usize;
        let within = before - 1;
        (block * BLOCK + within, (primitive - self.firsts[block][within % BLOCK]) as usize)
    }

    /// Index of the shape that a primitive belongs to.
    pub fn shape_of(&self, primitive: u32) -> u32 {
        self.body_of(primitive).0 as u32
    }

    pub fn shape(&self, index: u32) -> &Shape {
        &self.shapes[index as usize]
    }

    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Lets a shape send out another radiance.
    pub fn set_emission(&mut self, shape: u32, emission: Vec3) {
        self.shapes[shape as usize].emission = emission;
    }

    /// Marks the shapes of the materials that may let light pass straight on. A structure that is built afterwards tells them
    /// from opaque ones. Says whether any mark changed.
    pub fn mark_see_through(&mut self, is_see_through: impl Fn(u32) -> bool) -> bool {
        let mut changed = false;
        for (body, shape) in self.bodies.iter().zip(&mut self.shapes) {
            // Light meets what an instance places, not the instance.
            let before = shape.see_through;
            shape.see_through = !matches!(body, Body::Instance(_)) && is_see_through(shape.material);
            changed |= shape.see_through != before;
        }
        self.any_see_through = self.shapes.iter().any(|shape| shape.see_through);
        changed
    }

    /// Whether any shape is marked.
    pub fn has_see_through(&self) -> bool {
        self.any_see_through
    }

    /// Whether the shape of a primitive is marked.
    pub fn is_see_through(&self, primitive: u32) -> bool {
        self.any_see_through && self.shape(self.shape_of(primitive)).see_through
    }

    /// What shapes, instances and the scene bring for shaders by name.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    pub(super) fn variables_and_shapes(&mut self) -> (&mut Variables, &mut [Shape]) {
        (&mut self.variables, &mut self.shapes)
    }

    /// Gives the variables that nothing in the scene goes before.
    pub fn set_scene_variables(&mut self, constants: Vec<Constant>) {
        self.variables.set_scene(constants);
    }

    /// Numbers of the shapes that stand in a group, but for instances.
    pub(super) fn shapes_of(&self, group: u32) -> impl Iterator<Item = u32> {
        let bodies = self.groups[group as usize].bodies.iter().copied();
        bodies.filter(|&number| !matches!(self.bodies[number as usize], Body::Instance(_)))
    }

    /// For each group where it is placed: the group there, and the shape of the instance.
    pub(super) fn placements(&self) -> Vec<Vec<(u32, u32)>> {
        let mut placements = vec![Vec::new(); self.groups.len()];
        for (into, group) in self.groups.iter().enumerate() {
            for instance in group.instances.iter().map(|&body| self.instance(body)) {
                placements[instance.group as usize].push((into as u32, instance.shape));
            }
        }
        placements
    }

    /// The mesh that a shape is, if it is one.
    pub(super) fn mesh_of_shape(&self, shape: u32) -> Option<&TriangleMesh> {
        // Each body comes with its shape.
        match &self.bodies[shape as usize] {
            Body::Mesh(mesh) => Some(mesh),
            _ => None,
        }
    }

    pub(super) fn mesh_of_shape_mut(&mut self, shape: u32) -> Option<&mut TriangleMesh> {
        match &mut self.bodies[shape as usize] {
            Body::Mesh(mesh) => Some(mesh),
            _ => None,
        }
    }

    /// The smallest and largest corner of everything in a group; `None` when there is nothing.
    pub fn bounds_of(&self, group: u32) -> Option<(Vec3, Vec3)> {
        self.groups[group as usize].bounds
    }

    /// The smallest and largest corner of a body, in the space of its group.
    pub fn body_bounds(&self, body: &Body) -> Option<(Vec3, Vec3)> {
        match body {
            // A vertex that is no number bounds nothing; no ray meets its triangles.
            Body::Mesh(mesh) => mesh.positions.iter().filter(|p| p.is_finite()).map(|&p| (p, p)).reduce(union),
            Body::Sphere(sphere) => Some(sphere.bounds()),
            Body::Disk(disk) => Some(disk.bounds()),
            Body::Quad(quad) => Some(quad.bounds()),
            Body::Curves(curves) => curves.bounds(),
            Body::Instance(i) => self.bounds_of(i.group).map(|b| instance::bounds_outside(&i.to_parent, b)),
        }
    }

    /// The smallest and largest corner of everything; `None` when there is nothing.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.bounds_of(Geometry::WORLD)
    }
}

/// The smallest and largest corner of what two boxes hold.
pub fn union(a: (Vec3, Vec3), b: (Vec3, Vec3)) -> (Vec3, Vec3) {
    (a.0.min(b.0), a.1.max(b.1))
}
