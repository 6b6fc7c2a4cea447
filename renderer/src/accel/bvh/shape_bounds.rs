//! Where the shapes of some kind stand: a few boxes, so that rays which pass all of them need not ask for such shapes.

use super::boxes::{Boxes, WIDTH};
use super::search::has_lanes;
use super::slabs::Slabs;
use crate::geometry::{Body, Geometry, Instance, Shape, union};
use crate::ray::Ray;
use glam::Vec3;
use std::collections::HashMap;

/// Up to eight boxes in world space. The default is nowhere.
#[derive(Debug, Default)]
pub struct ShapeBounds {
    boxes: Option<Boxes>,
}

/// The smallest and the largest corner of a box.
type Bounds = (Vec3, Vec3);

impl ShapeBounds {
    /// Around the shapes that are `wanted`, and all of instances that place one of them: the boxes that the structures have.
    pub fn of(geometry: &Geometry, wanted: impl Fn(&Shape) -> bool) -> ShapeBounds {
        let mut search = Search { geometry, wanted, known: HashMap::new() };
        let members = geometry.members_of(Geometry::WORLD).filter(|(body, shape)| search.finds(body, shape));
        let bounds = members.filter_map(|(body, _)| geometry.body_bounds(body));
        // As the structures have it, nothing stands where no number says.
        let boxes = gathered(bounds.filter(|(low, high)| low.is_finite() && high.is_finite()).collect());
        ShapeBounds { boxes: (!boxes.is_empty()).then(|| Boxes::new(&boxes)) }
    }

    /// Whether there is no such shape.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_none()
    }

    /// Whether a ray may meet one of the shapes within its interval. Where it says no, the default structure finds none; another may
    /// find one in a hair's breadth around them.
    pub fn may_intersect(&self, ray: &Ray) -> bool {
        let Some(boxes) = &self.boxes else { return false };
        let slabs = Slabs::new(ray);
        if !slabs.is_sound() {
            return false;
        }
        let met = match has_lanes() {
            true => slabs.meet::<false, true>(boxes, ray.t_min, ray.t_max),
            false => slabs.meet::<false, false>(boxes, ray.t_min, ray.t_max),
        };
        met.count > 0
    }
}

/// Looks for wanted shapes.
struct Search<'a, F> {
    geometry: &'a Geometry,
    wanted: F,
    /// By group, whether it has any, or places one that does.
    known: HashMap<u32, bool>,
}

impl<F: Fn(&Shape) -> bool> Search<'_, F> {
    /// Whether a body with its shape is wanted, or places what is.
    fn finds(&mut self, body: &Body, shape: &Shape) -> bool {
        let &Body::Instance(Instance { group, .. }) = body else { return (self.wanted)(shape) };
        if let Some(known) = self.known.get(&group) {
            return *known;
        }
        let geometry = self.geometry;
        let found = geometry.members_of(group).any(|(body, shape)| self.finds(body, shape));
        self.known.insert(group, found);
        found
    }
}

/// As many boxes as are tested together: neighbours along the axis on which all of them reach furthest share one.
fn gathered(mut boxes: Vec<Bounds>) -> Vec<Bounds> {
    let Some((low, high)) = boxes.iter().copied().reduce(union) else { return boxes };
    let axis = (high - low).max_position();
    boxes.sort_by(|a, b| (a.0[axis] + a.1[axis]).total_cmp(&(b.0[axis] + b.1[axis])));
    let share = boxes.len().div_ceil(WIDTH);
    boxes.chunks(share).filter_map(|some| some.iter().copied().reduce(union)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::Accel;
    use crate::geometry::{Sphere, TriangleMesh};
    use crate::sampler::Sampler;
    use glam::{DAffine3, DQuat, DVec3};
    use std::f64::consts::TAU;

    const WANTED: u32 = 1;

    fn triangle(random: &mut Sampler, place: Vec3) -> TriangleMesh {
        let mut vector = || random.next_2d().extend(random.next_1d()) * 2.0 - 1.0;
        let mut mesh = TriangleMesh {
            positions: (0..3).map(|_| place + vector() * 3.0).collect(),
            indices: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        };
        mesh.complete(true);
        mesh
    }

    /// Whatever is placed where, a ray that meets a wanted shape meets the boxes, and many others do not.
    #[test]
    fn rays_that_meet_wanted_shapes_meet_their_bounds() {
        let mut random = Sampler::new(9, (0, 0), 0);
        let (mut met, mut missed) = (0, 0);
        for round in 0..60 {
            let mut geometry = Geometry::new();
            let (outer, inner) = (geometry.add_group(), geometry.add_group());
            let shape = |material| Shape { material, ..Shape::default() };
            for i in 0..round % 21 {
                let material = if i % 3 == 0 { WANTED } else { 0 };
                let place = (random.next_2d().extend(random.next_1d()) * 2.0 - 1.0) * 12.0;
                match i % 4 {
                    0 => geometry.add_sphere(Sphere { center: place, radius: 2.0 }, shape(material)),
                    1 => geometry.add_to(inner, triangle(&mut random, Vec3::ZERO), shape(material)),
                    _ => geometry.add_mesh(triangle(&mut random, place), shape(material)),
                }
            }
            for into in [outer, outer, Geometry::WORLD, Geometry::WORLD] {
                let place = (random.next_2d().extend(random.next_1d()) * 2.0 - 1.0) * 12.0;
                let turn = DQuat::from_rotation_y(f64::from(random.next_1d()) * TAU);
                let scale = DVec3::new(1.0, 2.0, 0.5);
                let placed = DAffine3::from_scale_rotation_translation(scale, turn, place.as_dvec3());
                let group = if into == outer { inner } else { outer };
                geometry.place(into, group, placed, shape(0)).expect("groups of few levels");
            }
            let bounds = ShapeBounds::of(&geometry, |shape| shape.material == WANTED);
            let accel = Accel::build(&geometry);
            for _ in 0..300 {
                let mut vector = || (random.next_2d().extend(random.next_1d()) * 2.0 - 1.0) * 12.0;
                let (origin, aim) = (vector(), vector());
                let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
                let hit = accel
                    .closest(&ray)
                    .filter(|hit| geometry.shape(geometry.shape_of(hit.primitive)).material == WANTED);
                if hit.is_some() {
                    met += 1;
                    assert!(bounds.may_intersect(&ray), "{round}: {ray:?}");
                }
                missed += u32::from(!bounds.may_intersect(&ray));
            }
        }
        assert!(met > 300 && missed > 3000, "{met} {missed}");
    }

    #[test]
    fn nothing_meets_the_bounds_of_nothing() {
        let mut geometry = Geometry::new();
        geometry.add_sphere(Sphere { center: Vec3::ZERO, radius: 1.0 }, Shape::default());
        let ray = Ray::new(Vec3::Z * 3.0, Vec3::NEG_Z, 0.0);
        assert!(!ShapeBounds::of(&geometry, |_| false).may_intersect(&ray));
        assert!(ShapeBounds::of(&geometry, |_| true).may_intersect(&ray));
        assert!(!ShapeBounds::of(&geometry, |_| true).may_intersect(&Ray { t_max: 1.0, ..ray }));
    }
}
