//! How much of a light is visible from a hit: all of it, nothing, or what transparent surfaces between let pass.

use super::direct::{Ledger, Site, scattered};
use super::occupancy::Kind;
use super::wavefront::MAX_PASSES;
use crate::accel::offset_origin;
use crate::geometry::surface;
use crate::material::ShadingPoint;
use crate::ray::Ray;
use glam::Vec3;

/// The way to a light: a direction, how far, and the density with which the lobes draw that direction.
#[derive(Clone, Copy)]
pub struct Way {
    pub wi: Vec3,
    pub distance: f32,
    pub lobes_pdf: f32,
    /// A path that the lobes send could come the same way.
    pub shared: bool,
}

impl Site<'_> {
    /// The share of light that arrives along the way.
    pub fn visible(&self, way: Way, ledger: &mut Ledger<'_>) -> Vec3 {
        let ray = self.shadow_ray(way);
        ledger.counts.shadow_rays += 1;
        match self.scene.has_passages {
            false if self.scene.accel.occluded(&ray) => Vec3::ZERO,
            false => Vec3::ONE,
            true => self.passed(ray, way, ledger),
        }
    }

    /// A ray along the way.
    pub fn shadow_ray(&self, way: Way) -> Ray {
        let s = self.surface;
        let origin = offset_origin(s.position, s.position_error, s.gnormal, way.wi);
        // Short of the light itself, which would shadow its own sample.
        Ray { t_max: way.distance * (1.0 - 1e-4), ..Ray::new(origin, way.wi, self.path.ray.time) }
    }

    /// What surfaces let pass straight along a ray. Their textures are read with the footprint that a path has there which
    /// the lobes send the same way.
    fn passed(&self, mut ray: Ray, way: Way, ledger: &mut Ledger<'_>) -> Vec3 {
        let (scene, geometry) = (self.scene, &self.scene.geometry);
        let differential = scattered(self.path, self.point, way.wi, way.lobes_pdf);
        // As such a path sees textures; else as the one that arrived here does.
        let textures = scene.textures.scattered(u32::from(way.shared || self.path.scattered));
        let (mut left, mut gone) = (Vec3::ONE, 0.0);
        for _ in 0..=MAX_PASSES {
            let Some(hit) = scene.accel.closest(&ray) else { return left };
            let shape = geometry.shape(geometry.shape_of(hit.primitive));
            let Some(passage) = scene.materials[shape.material as usize].passage() else { return Vec3::ZERO };
            // Differentials grow from where the ray began, not from where it passed a surface.
            let grown = differential.moved(gone);
            let point = ShadingPoint {
                hit,
                surface: surface::asked_at(geometry, &ray, &hit, passage.asked()),
                partials: surface::partials_at(geometry, &ray, &grown, &hit, passage.wanted()),
                incident: way.wi,
                time: ray.time,
                ray_depth: self.point.ray_depth + 1,
            };
            ledger.counts.occupancy.block(Kind::Opacity, 1);
            left *= passage.passed(&[point], scene.surroundings(), &textures, ledger.scratch)[0];
            if left == Vec3::ZERO {
                return left;
            }
            let s = &point.surface;
            let origin = offset_origin(s.position, s.position_error, s.gnormal, way.wi);
            ray = Ray { origin, t_max: ray.t_max - hit.t, ..ray };
            gone += hit.t;
            ledger.counts.shadow_rays += 1;
        }
        Vec3::ZERO
    }
}
