//! The differentials of rays, and so the footprints of all look-ups on their way. What the differential behind a vertex follows
//! from is small, so where few materials ask for partials, paths remember it, and find their differentials when they come to one.

use super::path::Path;
use crate::bsdf::{BsdfSample, Refraction, Specular};
use crate::geometry::{Hit, Wanted, surface};
use crate::material::{Material, ShadingPoint};
use crate::ray::{Ray, RayDifferential};
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;
use smallvec::SmallVec;

/// When rays get their differentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Differentials {
    /// Never: nobody asks for a partial.
    #[default]
    Never,
    /// Where a path comes to a material that asks.
    OnDemand,
    /// At every vertex.
    Always,
}

impl Differentials {
    /// What materials, lights and the environment of a scene need.
    pub fn of_scene(scene: &Scene) -> Differentials {
        let asks = |material: Option<&Material>| material.is_some_and(|m| m.wanted().any());
        // What light samples meet on their way, and where they end, any vertex may come to ask.
        let by_light = scene.environment.needs_partials()
            || scene.materials.iter().any(|m| asks(m.emission()) || asks(m.passage()));
        // Whitted's paths have branches, which would share what they remember.
        let branches = scene.integrator.kind == IntegratorKind::Whitted;
        match scene.materials.iter().any(|m| asks(Some(m))) {
            _ if by_light => Differentials::Always,
            false => Differentials::Never,
            true if branches => Differentials::Always,
            true => Differentials::OnDemand,
        }
    }

    /// At vertices of a material.
    pub fn at(self, material: &Material) -> Differentials {
        if self == Differentials::OnDemand && material.wanted().any() { Differentials::Always } else { self }
    }
}

/// What a path did at a vertex, as far as the differential of its next ray follows from it.
#[derive(Clone, Copy, Debug)]
pub struct BounceRecord {
    /// That arrived, and where.
    ray: Ray,
    hit: Hit,
    /// The shading normal, outwards.
    normal: Vec3,
    next: BsdfSample,
}

impl BounceRecord {
    pub fn new(path: &Path, point: &ShadingPoint, next: &BsdfSample) -> BounceRecord {
        BounceRecord { ray: path.ray, hit: point.hit, normal: point.surface.normal, next: *next }
    }

    /// The differential of the next ray, from that of the one that arrived and the partials of its hit's position: through a
    /// mirror or a smooth surface by Igehy's formulas with the interpolated normal's partials; else by the rule for scattering.
    pub fn differential(&self, scene: &Scene, arrived: &RayDifferential, position: [Vec3; 2]) -> RayDifferential {
        let BounceRecord { ray, hit, normal, next } = self;
        let Some(Specular { normal: turned_about, .. }) = next.specular else {
            return arrived.scattered(position, next.wi, next.pdf);
        };
        let wanted = Wanted { normal: true, ..Wanted::default() };
        let partials = surface::partials_at(&scene.geometry, ray, arrived, hit, wanted).normal;
        // The partials are those of the outward normal, the lobe's faces the viewer.
        let sign = 1.0_f32.copysign(turned_about.dot(*normal));
        let (d, dn) = (ray.direction, partials.map(|n| n * sign));
        match next.refracted {
            None => arrived.reflected(d, position, turned_about, dn),
            Some(Refraction { eta }) => arrived.refracted((d, next.wi), position, turned_about, dn, eta),
        }
    }
}

/// The bounces of a wavefront whose differentials nobody has asked for yet.
#[derive(Default)]
pub struct BounceRecords {
    /// Each with that of the same path before it.
    records: Vec<(BounceRecord, Option<u32>)>,
}

/// Those of 1024 paths at 16 vertices: 2 MB, or twice that where the list has just grown.
const MOST_RECORDS: usize = 1 << 14;

impl BounceRecords {
    pub fn clear(&mut self) {
        self.records.clear();
    }

    /// Remembers what a path does.
    pub fn remember(&mut self, path: &mut Path, record: BounceRecord) {
        self.records.push((record, path.last_record));
        path.last_record = Some(self.records.len() as u32 - 1);
    }

    /// Finds the differential of a path's ray.
    pub fn update_differential(&self, scene: &Scene, path: &mut Path) {
        let mut list: SmallVec<[&BounceRecord; 8]> = SmallVec::new();
        while let Some(number) = path.last_record {
            let (record, before) = &self.records[number as usize];
            list.push(record);
            path.last_record = *before;
        }
        let wanted = Wanted { position: true, ..Wanted::default() };
        for record in list.into_iter().rev() {
            let arrived = path.differential;
            let position = surface::partials_at(&scene.geometry, &record.ray, &arrived, &record.hit, wanted).position;
            path.differential = record.differential(scene, &arrived, position);
        }
    }

    /// Forgets all of them where they have become many: paths that go straight on through hundreds of surfaces would fill memory.
    pub fn limit(&mut self, scene: &Scene, paths: &mut [Path], active: &[u32]) {
        if self.records.len() > MOST_RECORDS {
            active.iter().for_each(|path| self.update_differential(scene, &mut paths[*path as usize]));
            self.clear();
        }
    }
}

/// The differential after a bounce into `wi`, which the lobes draw with density `lobe_pdf`: the rule for all bounces but off
/// mirrors.
pub fn scattered(path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> RayDifferential {
    path.differential.scattered(point.partials.position, wi, lobe_pdf)
}

#[cfg(test)]
#[path = "differentials_tests.rs"]
mod tests;
