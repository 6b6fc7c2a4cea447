//! What photons bring to vertices, and what paths keep beside it.

use super::light_directions::{LightDirections, Radiance};
use super::light_samples::{LaneSamples, LightSample, Source};
use super::narrow_shares::{Mapped, narrow_share, narrow_share_of};
use super::path::Path;
use super::termination::Termination;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::bsdf::BlockValues;
use crate::geometry::Hit;
use crate::light::{self, LightId};
use crate::math::lanes::{Row, Row3, lanes_of, mask_of};
use crate::photon_map::PhotonMap;
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// Irradiance is not divided by a smaller cosine: shading normals let light in where the surface itself gets next to none.
const LEAST_COSINE: f32 = 0.05;

/// Notes the bounces that the lanes go on with.
pub fn note_bounces(scene: &Scene, vertices: &Vertices, paths: &mut [Path]) {
    if scene.photon_map.is_none() {
        return;
    }
    for lane in vertices.going_on() {
        let Some(next) = vertices.next[lane].filter(|next| next.specular.is_none_or(|s| !s.straight)) else { continue };
        let (path, gnormal) = (&mut paths[vertices.paths[lane] as usize], vertices.gnormals.get(lane));
        let Mapped { near, far } = vertices.mapped;
        let mapped = if next.wi.dot(gnormal) > 0.0 { near } else { far } >> lane & 1 != 0;
        let narrow = narrow_share_of(&next, vertices.shading_normal(lane), 1.0);
        path.narrow = path.narrow.after(narrow, mapped);
    }
}

/// The share that paths keep of each light sample of a round.
pub fn kept_shares(
    map: &PhotonMap,
    (scene, vertices, paths): (&Scene, &Vertices, &[Path]),
    round: &LightDirections,
    values: &BlockValues,
) -> Row {
    let mut kept = [1.0; LANES];
    for lane in lanes_of(round.lanes) {
        let (path, wi) = (&paths[vertices.paths[lane] as usize], round.wi.get(lane));
        let cosine = wi.dot(vertices.shading_normal(lane));
        let share = path.narrow.after(narrow_share(values.value.get(lane), cosine), false).kept;
        let place = vertices.places.position.get(lane);
        let is_of_photons = || match &round.radiance[lane] {
            Radiance::Constant { from: LightId::Point(_), .. } => map.has_ray(place + wi * round.distance[lane], -wi),
            Radiance::Constant { .. } => map.has_line(place, wi),
            Radiance::Environment => map.of_environment && map.has_line(place, wi),
            Radiance::Shape(drawn) => {
                sends_photons(scene, drawn.hit.primitive) && map.has_ray(place + wi * round.distance[lane], -wi)
            }
        };
        if share < 1.0 && is_of_photons() {
            kept[lane] = share;
        }
    }
    kept
}

/// The share that a path keeps of what a shape sends it from a place that it met.
pub fn kept_of_shape(scene: &Scene, path: &Path, hit: &Hit, place: Vec3) -> f32 {
    let sends = || sends_photons(scene, hit.primitive) && scene.lights.is_drawn(hit);
    kept(scene, path, |map| map.has_ray(place, -path.ray.direction) && sends())
}

/// The share that a path keeps of the environment.
pub fn kept_of_environment(scene: &Scene, path: &Path) -> f32 {
    kept(scene, path, |map| map.of_environment && map.has_line(path.ray.origin, path.ray.direction))
}

/// The share that a path keeps of disks in the sky.
pub fn kept_of_suns(scene: &Scene, path: &Path) -> f32 {
    kept(scene, path, |map| map.has_line(path.ray.origin, path.ray.direction))
}

fn kept(scene: &Scene, path: &Path, is_of_photons: impl Fn(&PhotonMap) -> bool) -> f32 {
    let of_photons = scene.photon_map.as_ref().is_some_and(|map| path.narrow.kept < 1.0 && is_of_photons(map));
    if of_photons { path.narrow.kept } else { 1.0 }
}

/// Whether photons carry the light of a primitive.
fn sends_photons(scene: &Scene, primitive: u32) -> bool {
    light::sends_photons(&scene.geometry, &scene.lights, primitive)
}

/// Queues what the photon map has at the lanes that go on, unless they are `bounded`, and notes where it stands for the light. Returns
/// what came of it on either side.
pub fn gather(
    scene: &Scene,
    work: &mut Workspace,
    bounded: impl Fn(&Vertices, &Path, usize) -> Option<Termination>,
) -> [Option<Gathered>; 2] {
    let Some(map) = &scene.photon_map else { return [None, None] };
    let Workspace { vertices, paths, .. } = &*work;
    let asks = |&lane: &usize| bounded(vertices, &paths[vertices.paths[lane] as usize], lane).is_none();
    let lanes = mask_of(lanes_of(vertices.going_on_mask() & vertices.masks.non_specular).filter(asks));
    let through = lanes & vertices.masks.non_specular_through;
    let (near, of_near) = gather_side(scene, (map, 1.0), lanes, work);
    let (far, of_far) = gather_side(scene, (map, -1.0), through, work);
    work.vertices.mapped = Mapped { near, far };
    [of_near, of_far]
}

/// What photons brought to the lanes of a block.
pub struct Gathered {
    /// Lanes that they brought something to.
    pub samples: LaneSamples,
    /// Where some of it comes from, and the lobes' value there.
    pub wi: Row3,
    pub value: Row3,
    /// How much of that value is for photons.
    pub share: Row,
    /// What a unit of irradiance sends towards the viewer.
    pub weight: Row3,
}

/// Of the side of the surfaces that the paths came from, or of the other. Returns the lanes for whose places the map stands, and
/// what it brought there.
fn gather_side(
    scene: &Scene,
    (map, side): (&PhotonMap, f32),
    lanes: u32,
    work: &mut Workspace,
) -> (u32, Option<Gathered>) {
    if lanes == 0 {
        return (0, None);
    }
    let Workspace { vertices, light, .. } = &mut *work;
    let (mut normals, mut directions) = (Row3::ZERO, Row3::ZERO);
    (0..LANES).for_each(|lane| normals.set(lane, vertices.gnormals.get(lane) * side));
    let found = map.find(lanes, &vertices.places.position, &normals);
    let inside = mask_of(lanes_of(lanes).filter(|&lane| found[lane].is_some()));
    if inside == 0 {
        return (0, None);
    }
    lanes_of(inside).for_each(|lane| directions.set(lane, found[lane].map_or(Vec3::Z, |sample| sample.wi)));
    let values = vertices.ask_lobes(scene, |block| block.eval(inside, &directions));
    let samples = LaneSamples { lanes: 0, first: light.samples.len() };
    let mut gathered =
        Gathered { samples, wi: directions, value: values.value, share: [0.0; LANES], weight: Row3::ZERO };
    for (lane, sample) in lanes_of(inside).filter_map(|lane| Some((lane, found[lane]?))) {
        let (value, cosine) = (values.value.get(lane), sample.wi.dot(normals.get(lane)));
        let share = 1.0 - narrow_share(value, sample.wi.dot(vertices.shading_normal(lane)));
        // Light that came at once is no photon's: one bounce is the least, and this vertex is one, too.
        let most = scene.integrator.max_depth.saturating_sub(vertices.depth(lane) + 1);
        let irradiance = sample.of_bounces(most);
        let weight = value * (share / cosine.abs().max(LEAST_COSINE));
        if weight != Vec3::ZERO && irradiance != Vec3::ZERO {
            gathered.samples.lanes |= 1 << lane;
            gathered.share[lane] = share;
            gathered.weight.set(lane, weight);
            light.samples.push(LightSample {
                path: vertices.paths[lane],
                vertex: Some(vertices.named(lane)),
                weight: vertices.throughput.get(lane) * weight,
                shadow_ray: None,
                // At least: one is the photon's.
                bounces: vertices.depth(lane) + 2,
                // Photons of all lights come together.
                from: 0,
                source: Source::Known(irradiance),
            });
        }
    }
    (inside, Some(gathered))
}
