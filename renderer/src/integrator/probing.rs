//! Writes one path down while it is traced, where somebody asks: an observer, which reads what the stages leave and changes no
//! light. Blocks are of one lane then.

use super::accumulate::accumulate_light;
use super::camera_rays::film_of;
use super::caustics::Gathered;
use super::counts::BatchCounts;
use super::escape::{densities, environment_seen, footprint, seen_from};
use super::light_directions::Radiance;
use super::light_weights::Weighed;
use super::probe::{CameraRay, NotedLight, ProbedDirection, ProbedEnvironment, ProbedHit, ProbedLight};
use super::termination::Termination;
use super::workspace::Workspace;
use crate::film::Tile;
use crate::light::LightId;
use crate::math::lanes::lanes_of;
use crate::sampler::Pattern;
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;

/// Notes the ray that the camera sent.
pub fn note_camera(scene: &Scene, (pattern, tile): (&Pattern, Tile), work: &mut Workspace) {
    let Workspace { probe: Some(probe), paths, .. } = work else { return };
    probe.camera = paths.last().map(|path| {
        let ray = &path.ray;
        CameraRay {
            film: film_of(scene, pattern, tile, path).to_array(),
            origin: ray.origin.to_array(),
            direction: ray.direction.to_array(),
            time: ray.time,
            differential: path.differential.into(),
        }
    });
}

/// Notes what the path sees if it leaves the scene.
pub fn note_environment(scene: &Scene, work: &mut Workspace) {
    let instead_of_light = work.view_of_hits().is_some() || scene.integrator.kind == IntegratorKind::Ao;
    let Workspace { probe: Some(probe), paths, leaving, .. } = work else { return };
    let Some(&index) = leaving.last().filter(|_| !instead_of_light) else { return };
    let path = &paths[index as usize];
    let seen = seen_from(scene, path, densities(scene, paths, &[index])[0]);
    let radiance = if seen.linked { environment_seen(scene, path) } else { Vec3::ZERO };
    let direction = path.ray.direction;
    probe.environment = Some(ProbedEnvironment {
        direction: direction.to_array(),
        radiance: radiance.to_array(),
        level: scene.environment.level(&scene.textures, &footprint(path)),
        share: seen.share,
        suns: seen.suns.iter().map(|(_, light)| *light).sum::<Vec3>().to_array(),
        throughput: path.beta.to_array(),
    });
}

/// Notes what a round of directions towards lights came to.
pub fn note_lights(scene: &Scene, work: &mut Workspace, weighed: &Weighed) {
    let Workspace { probe: Some(_), noted, round, .. } = work else { return };
    let Weighed { of_lobes, weights, .. } = weighed;
    for lane in lanes_of(round.lanes) {
        let light = ProbedLight {
            kind: kind(scene, &round.radiance[lane]),
            wi: round.wi.get(lane).to_array(),
            distance: round.distance[lane],
            pdf: round.pdf(lane),
            lobes_pdf: of_lobes.pdf[lane],
            value: of_lobes.value.get(lane).to_array(),
            share: weights.share[lane],
            ..ProbedLight::default()
        };
        let sample = weighed.samples.of_lane(lane).map(|number| (number, weights.weight.get(lane)));
        noted.push(NotedLight { light, sample });
    }
}

/// Notes what photons brought.
pub fn note_photons(work: &mut Workspace, gathered: &Gathered) {
    let Workspace { probe: Some(_), noted, .. } = work else { return };
    for lane in lanes_of(gathered.samples.lanes) {
        let light = ProbedLight {
            kind: "photons",
            wi: gathered.wi.get(lane).to_array(),
            value: gathered.value.get(lane).to_array(),
            share: gathered.share[lane],
            ..ProbedLight::default()
        };
        let sample = gathered.samples.of_lane(lane).map(|number| (number, gathered.weight.get(lane)));
        noted.push(NotedLight { light, sample });
    }
}

fn kind(scene: &Scene, radiance: &Radiance) -> &'static str {
    match radiance {
        Radiance::Shape(_) => "area",
        Radiance::Environment => "environment",
        Radiance::Constant { from: LightId::Point(number), .. } => scene.lights.point(*number).kind(),
        Radiance::Constant { .. } => "distant",
    }
}

/// Notes a vertex. What light samples bring must be known.
pub fn note_vertex(scene: &Scene, work: &mut Workspace, counts: &mut BatchCounts) {
    if work.probe.is_none() {
        return;
    }
    let delivered = accumulate_light(scene, work, counts);
    let lights = work.noted.drain(..).map(|note| note.told(&work.light)).collect();
    work.light.clear();
    let Workspace { vertices, paths, scratch, seen, probe: Some(probe), .. } = work else { return };
    // The only one.
    let lane = 0;
    let material = &scene.materials[vertices.material as usize];
    let (point, emission) = (&vertices.points[lane], vertices.emission[lane]);
    let of_lane = seen.look_ups.iter().filter(|(l, _)| *l == lane);
    let next = vertices.next[lane].map(|next| ProbedDirection {
        wi: next.wi.to_array(),
        pdf: next.pdf,
        weight: next.weight.to_array(),
        specular: next.specular.is_some(),
        refracted: next.refracted.is_some(),
        survival: vertices.survival[lane],
        // Who follows a path wants all partials, so there is one.
        differential: vertices.next_differentials.get(lane).copied().unwrap_or_default().into(),
    });
    probe.hits.push(ProbedHit {
        bounce: vertices.depth(lane),
        material: material.name.clone(),
        distance: point.hit.t,
        throughput: vertices.throughput.get(lane).to_array(),
        globals: scene.values.all(point, scene.surroundings()),
        look_ups: of_lane.map(|(_, look_up)| look_up.clone()).collect(),
        lobes: material.lobe_values(scratch, lane),
        numbers: vertices.finite[lane] && delivered,
        emission: vertices.shaded[lane].emission.to_array(),
        shape_emission: emission.radiance.to_array(),
        shape_emission_share: emission.share,
        lights,
        next,
        end: vertices.terminated[lane].map(Termination::text),
        radiance: paths[vertices.paths[lane] as usize].radiance.to_array(),
    });
}
