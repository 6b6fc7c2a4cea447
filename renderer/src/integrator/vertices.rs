//! The vertices of a block: up to 16 hits of one material, shaded together. Each stage reads and writes arrays of them, lane by
//! lane.

use super::differentials::Differentials;
use super::faults::FaultyVertex;
use super::guided_lanes::GuidedLanes;
use super::narrow_shares::Mapped;
use super::numbers::BlockNumbers;
use super::path::Path;
use super::termination::Termination;
use crate::bsdf::{BlockBsdf, Bsdf, BsdfSample, LobeMasks, SslLobes, SslLobesOfHit, WeightedLobe};
use crate::geometry::PlaceRows;
use crate::light::LightSampleContext;
use crate::material::{Shaded, ShadingPoint};
use crate::math::lanes::{Row3, mask_of};
use crate::ray::RayDifferential;
use crate::scene::Scene;
use glam::Vec3;

/// What each lane has. The lists are as long as the block, but for `lobes` and `next_differentials`.
#[derive(Default)]
pub struct Vertices {
    /// Rays that the paths have had before.
    pub step: u32,
    pub material: u32,
    /// When the rays that go on get their differentials.
    pub differentials: Differentials,
    pub paths: Vec<u32>,
    pub points: Vec<ShadingPoint>,
    /// Somebody wanted partials of them.
    pub has_partials: bool,
    pub shaded: Vec<Shaded>,
    /// Of all lanes: `shaded` says whose are which.
    pub lobes: Vec<WeightedLobe>,
    /// Likewise those whose code is a struct of a shader file.
    pub ssl: SslLobes,
    /// The geometric normals on the sides that the rays came from.
    pub gnormals: Row3,
    /// Where they are.
    pub places: PlaceRows,
    /// What lobes the lanes have.
    pub masks: LobeMasks,
    /// What the guide has for them.
    pub guided: GuidedLanes,
    /// Where the photon map stands for light.
    pub mapped: Mapped,
    /// What light sampling knows of each.
    pub receivers: Vec<LightSampleContext>,
    /// The throughput with which the path arrived.
    pub throughput: Row3,
    /// Whether the path was scattered on its way here.
    pub scattered: Vec<bool>,
    /// Whether all that the vertex came to were numbers.
    pub finite: Vec<bool>,
    /// What the shape emits, and the share of emission that counts beside light sampling.
    pub emission: Vec<ShapeEmission>,
    /// The direction that the lobes gave, and the chance of going on.
    pub next: Vec<Option<BsdfSample>>,
    pub survival: Vec<f32>,
    /// The differential of the next ray. Empty unless it is found at once.
    pub next_differentials: Vec<RayDifferential>,
    /// Why the path goes no further, where it does not.
    pub terminated: Vec<Option<Termination>>,
}

#[derive(Clone, Copy, Debug)]
pub struct ShapeEmission {
    pub radiance: Vec3,
    pub share: f32,
}

impl ShapeEmission {
    pub const NONE: ShapeEmission = ShapeEmission { radiance: Vec3::ZERO, share: 1.0 };
}

/// One of them: a place where a path meets a surface.
#[derive(Clone, Copy)]
pub struct Vertex<'a> {
    pub scene: &'a Scene,
    /// As it arrived.
    pub path: &'a Path,
    pub point: &'a ShadingPoint,
    pub receiver: LightSampleContext,
}

impl Vertices {
    /// Makes room for what stages find, once the points are shaded.
    pub fn begin(&mut self, scene: &Scene, paths: &[Path]) {
        let lanes = self.paths.len();
        for (lane, point) in self.points.iter().enumerate() {
            self.gnormals.set(lane, point.surface.gnormal_seen());
            self.throughput.set(lane, paths[self.paths[lane] as usize].beta);
        }
        self.masks = self.ask_lobes(scene, |block| block.masks());
        let through = self.masks.non_specular_through;
        self.receivers.clear();
        let numbered = self.points.iter().enumerate();
        self.receivers.extend(numbered.map(|(lane, point)| receiver(scene, point, through >> lane & 1 == 0)));
        self.scattered.clear();
        self.scattered.extend(self.paths.iter().map(|path| paths[*path as usize].scattered));
        self.finite.clear();
        self.finite.extend(self.shaded.iter().map(|shaded| shaded.finite));
        refill(&mut self.emission, lanes, ShapeEmission::NONE);
        refill(&mut self.next, lanes, None);
        refill(&mut self.survival, lanes, 1.0);
        let next_differentials = if self.differentials == Differentials::Always { lanes } else { 0 };
        refill(&mut self.next_differentials, next_differentials, RayDifferential::default());
        refill(&mut self.terminated, lanes, None);
        self.guided.clear();
        self.mapped = Mapped::default();
    }

    pub fn lanes(&self) -> std::ops::Range<usize> {
        0..self.paths.len()
    }

    /// The lanes whose paths go on as far as is known.
    pub fn going_on(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.lanes().filter(|&lane| self.terminated[lane].is_none())
    }

    /// The random numbers of this bounce of the paths.
    pub fn random_numbers(&self, paths: &[Path]) -> BlockNumbers {
        BlockNumbers::new(self.paths.iter().map(|path| paths[*path as usize].sampler), self.step)
    }

    /// Asks the lobes of all lanes together.
    pub fn ask_lobes<R>(&mut self, scene: &Scene, ask: impl FnOnce(&mut BlockBsdf<'_>) -> R) -> R {
        let Vertices { ssl, lobes, shaded, points, gnormals, .. } = self;
        let rust = mask_of((0..shaded.len()).filter(|&lane| !shaded[lane].lobes.is_empty()));
        let bent_normals = scene.integrator.bent_normals;
        let rust_lobes_of = |lane: usize| {
            let (lobes, wo) = (&lobes[shaded[lane].lobes.clone()], -points[lane].incident);
            Bsdf { lobes, ssl: None, wo, gnormal: gnormals.get(lane), bent_normals }
        };
        ask(&mut BlockBsdf { ssl, gnormal: gnormals, bent_normals, rust, rust_lobes_of: &rust_lobes_of })
    }

    /// The interpolated normal of a lane, on the side that its ray came from.
    pub fn shading_normal(&self, lane: usize) -> Vec3 {
        self.points[lane].surface.normal_seen()
    }

    /// A bit for each lane whose path goes on as far as is known.
    pub fn going_on_mask(&self) -> u32 {
        mask_of(self.going_on())
    }

    /// All lobes of one lane, where they are listed.
    #[inline]
    pub fn bsdf(&self, scene: &Scene, lane: usize) -> Bsdf<'_> {
        let point = &self.points[lane];
        let lobes = &self.lobes[self.shaded[lane].lobes.clone()];
        let gnormal = point.surface.gnormal_seen();
        let ssl = &self.ssl.list[self.shaded[lane].ssl.clone()];
        let ssl = (!ssl.is_empty()).then_some(SslLobesOfHit { all: &self.ssl, list: ssl });
        Bsdf { lobes, ssl, wo: -point.incident, gnormal, bent_normals: scene.integrator.bent_normals }
    }

    /// That of a lane.
    #[inline]
    pub fn vertex<'a>(&'a self, scene: &'a Scene, paths: &'a [Path], lane: usize) -> Vertex<'a> {
        let (path, point) = (&paths[self.paths[lane] as usize], &self.points[lane]);
        Vertex { scene, path, point, receiver: self.receivers[lane] }
    }

    /// Bounces before this vertex; 0 for what the camera sees.
    pub fn depth(&self, lane: usize) -> u32 {
        self.points[lane].ray_depth
    }

    /// As it is named where something of it is no number.
    pub fn named(&self, lane: usize) -> FaultyVertex {
        FaultyVertex { bounce: self.depth(lane), material: self.material }
    }

    /// Whether no path goes on from it but straight on.
    pub fn is_last(&self, scene: &Scene, lane: usize) -> bool {
        self.depth(lane) == scene.integrator.max_depth
    }
}

/// What light sampling knows of a place. What lets light through is lit from behind as well; `one_sided` is what does not.
pub fn receiver(scene: &Scene, point: &ShadingPoint, one_sided: bool) -> LightSampleContext {
    let s = &point.surface;
    let normal = if one_sided { s.gnormal_seen() } else { Vec3::ZERO };
    LightSampleContext { position: s.position, normal, list: scene.geometry.shape(s.shape).lit_by }
}

fn refill<T: Clone>(list: &mut Vec<T>, lanes: usize, value: T) {
    list.clear();
    list.resize(lanes, value);
}
