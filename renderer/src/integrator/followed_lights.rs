//! Light samples for who follows them: an observer, which keeps where each comes from, for the gradient of it.

use super::light_directions::Radiance;
use super::light_samples::{DrawnLight, Origin};
use super::light_weights::Weighed;
use super::vertices::Vertex;
use super::workspace::Workspace;
use crate::material::Material;
use crate::math::lanes::lanes_of;
use crate::scene::Scene;
use glam::Vec3;

/// Keeps what a round of directions towards lights came to, for who follows them.
pub fn keep(scene: &Scene, work: &mut Workspace, weighed: &Weighed) {
    let Workspace { followed: Some(followed), vertices, paths, round, .. } = work else { return };
    for lane in lanes_of(weighed.samples.lanes) {
        let vertex = vertices.vertex(scene, paths, lane);
        followed.extend(weighed.samples.of_lane(lane).map(|sample| DrawnLight {
            sample: sample as u32,
            lane: lane as u32,
            wi: round.wi.get(lane),
            scale: weighed.weights.scale[lane],
            origin: vertex.origin(&round.radiance[lane], weighed.of_lobes.pdf[lane]),
        }));
    }
}

impl Vertex<'_> {
    /// What a gradient can go back to.
    fn origin(&self, radiance: &Radiance, lobe_pdf: f32) -> Origin {
        match radiance {
            Radiance::Constant { from, per_unit, .. } => Origin::Light(*from, *per_unit),
            Radiance::Environment => Origin::Environment,
            Radiance::Shape(drawn) => {
                let material = self.scene.geometry.shape(drawn.shape).material;
                let follows = |m: &Material| m.has_adjoint() && m.emission().is_some();
                let follows = self.scene.materials.get(material as usize).is_some_and(follows);
                let point = follows.then(|| Box::new(self.emitter_point(drawn, Vec3::ZERO, lobe_pdf)));
                Origin::Shape { shape: drawn.shape, front: !drawn.behind, point }
            }
        }
    }
}
