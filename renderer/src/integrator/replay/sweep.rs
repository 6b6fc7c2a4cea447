//! The way back through one block of vertices: what the loss has to say about the lobes of each, and from there to what the
//! shader was given.

use super::gather::{Gather, add_row};
use super::gradient_slots::GradientSlots;
use super::kept::Kept;
use crate::bsdf::{AnyLobe, Bsdf, DrawCotangent, Request, Weighted};
use crate::integrator::light_samples::DrawnLight;
use crate::integrator::numbers::BounceNumbers;
use crate::integrator::vertices::Vertices;
use crate::integrator::workspace::Workspace;
use crate::material::{Entries, Entry, Material, Part, Scratch, ShadingPoint, TableCotangents};
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::Row;

/// What lobes whose code is a struct of a file are asked, with cotangents; and which entry and lane asks.
#[derive(Default)]
struct Requests {
    values: Vec<(Request<Vec3>, Vec3)>,
    draws: Vec<(Request<Vec2>, DrawCotangent)>,
    /// For each of `values`, the cotangent of the value times the weight.
    of_values: Vec<(usize, usize, Vec3)>,
    answers: Vec<Vec3>,
}

/// One thread's memory, used over and over.
#[derive(Default)]
pub struct Sweep {
    table: TableCotangents,
    scratch: Scratch,
    requests: Requests,
}

/// What the loss says about one lane: the cotangent of the value of all lobes together in a direction.
struct Demand {
    lane: usize,
    wi: Vec3,
    cotangent: Vec3,
}

/// A block of vertices on the way back, and what of its paths is known.
struct Back<'a> {
    scene: &'a Scene,
    work: &'a Workspace,
    material: &'a Material,
    vertices: &'a Vertices,
    /// What the shader gave, and the entries of its table by lane.
    rows: &'a [Row],
    entries: &'a [Entries],
    /// What the paths come to in all, and the cotangents of that.
    totals: &'a [Vec3],
    cotangents: &'a [Vec3],
}

/// Takes a block back, for paths that come to `totals` in all, of which the cotangents are known.
pub fn back(
    scene: &Scene,
    work: &Workspace,
    block: &mut Kept,
    (totals, cotangents, slots): (&[Vec3], &[Vec3], &GradientSlots),
    sweep: &mut Sweep,
    gather: &mut impl Gather,
) {
    let material = &scene.materials[block.vertices.material as usize];
    if !material.has_adjoint() {
        return;
    }
    let Kept { vertices, rows, lights } = block;
    let Sweep { table, scratch, requests } = sweep;
    let entries = &material.entries(rows, &vertices.points, &mut vertices.ssl)[..];
    material.begin_cotangents(&vertices.ssl, table);
    requests.clear();
    let way = Back { scene, work, material, vertices, rows, entries, totals, cotangents };
    // 1. Emission: what the vertex itself sends towards the path.
    way.emission(table);
    // 2. Light samples: value times what arrives.
    way.light_samples(lights, requests, table);
    // 3. The direction in which the path goes on: value times what it brings.
    way.directions(requests, table);
    // 4. Through the code of lobes, and through layers, to the shader, and through it.
    requests.answer(vertices, table);
    material.settle((rows, &vertices.points), entries, &vertices.ssl, table);
    let bit = |(lane, scattered): (usize, &bool)| u32::from(*scattered) << lane;
    let textures = scene.textures.scattered(vertices.scattered.iter().enumerate().map(bit).sum());
    material.pull_back(Part::Whole, &vertices.points, (scene.surroundings(), &textures), table, scratch, |by, row| {
        add_row(scene, (slots, by), row, (&vertices.points, &vertices.paths), gather);
    });
}

impl Back<'_> {
    /// The cotangent of what a vertex sends towards its path.
    fn of_radiance(&self, lane: usize) -> Vec3 {
        self.cotangents[self.vertices.paths[lane] as usize] * self.vertices.throughput.get(lane)
    }

    /// What the material needs to know a lane by.
    fn at(&self, lane: usize) -> (&[Row], &ShadingPoint, usize) {
        (self.rows, &self.vertices.points[lane], lane)
    }

    fn emission(&self, table: &mut TableCotangents) {
        for lane in self.vertices.lanes() {
            let of_emission = self.of_radiance(lane) * self.vertices.emission[lane].share;
            self.material.add_light(Part::Emission, self.at(lane), &self.entries[lane], of_emission, table);
        }
    }

    fn light_samples(&self, lights: &[DrawnLight], requests: &mut Requests, table: &mut TableCotangents) {
        let light_samples = &self.work.light;
        for light in lights {
            let (lane, sample) = (light.lane as usize, &light_samples.samples[light.sample as usize]);
            let arrives = light_samples.visibility_of(sample) * light_samples.radiance[light.sample as usize];
            if arrives != Vec3::ZERO {
                let demand = Demand { lane, wi: light.wi, cotangent: self.of_radiance(lane) * arrives * light.scale };
                requests.ask(self.scene, self.vertices, &self.entries[lane], &demand, table);
            }
        }
    }

    fn directions(&self, requests: &mut Requests, table: &mut TableCotangents) {
        let Back { scene, work, vertices, entries, .. } = *self;
        for lane in vertices.lanes() {
            let Some(next) = vertices.next[lane].filter(|_| vertices.terminated[lane].is_none()) else { continue };
            let path = vertices.paths[lane] as usize;
            // All that the path comes to but what was there so far.
            let of_rest = self.cotangents[path] * (self.totals[path] - work.paths[path].radiance);
            if of_rest == Vec3::ZERO {
                continue;
            }
            if next.specular.is_some() {
                self.specular_direction(lane, of_rest, requests, table);
            } else {
                let cotangent = over(of_rest, next.weight * next.pdf);
                requests.ask(scene, vertices, &entries[lane], &Demand { lane, wi: next.wi, cotangent }, table);
            }
        }
    }

    /// A direction of a specular lobe is drawn once more, with the same numbers.
    fn specular_direction(&self, lane: usize, of_rest: Vec3, requests: &mut Requests, table: &mut TableCotangents) {
        let (vertices, entries) = (self.vertices, &self.entries[lane]);
        let path = &self.work.paths[vertices.paths[lane] as usize];
        let (u, bsdf) = (BounceNumbers::new(path.sampler, vertices.step), vertices.bsdf(self.scene, lane));
        let Some(choice) = bsdf.choose(u.direction()) else { return };
        let (Some((chosen, with)), place) = (bsdf.asked(&choice), choice.place) else { return };
        if !chosen.lobe.is_straight() {
            requests.ask_specular(&bsdf, entries, &chosen, &Draw { lane, place, with, of_rest }, table);
            return;
        }
        let cotangent = over(of_rest, chosen.weight * chosen.lobe.albedo());
        let through = entry_of(entries, &bsdf, place);
        for entry in entries.iter().filter(|e| Some(e.entry) == through) {
            self.material.add_light(Part::Passage, self.at(lane), std::slice::from_ref(entry), cotangent, table);
        }
    }
}

/// Component by component; 0 where the divisor is: nothing went that way.
pub fn over(a: Vec3, b: Vec3) -> Vec3 {
    let one = |a: f32, b: f32| if b != 0.0 { a / b } else { 0.0 };
    Vec3::new(one(a.x, b.x), one(a.y, b.y), one(a.z, b.z))
}

/// The entry to which a lobe belongs, by its place among all lobes of the lane: first those in Rust.
fn entry_of(entries: &[Entry], bsdf: &Bsdf<'_>, place: usize) -> Option<usize> {
    let in_rust = bsdf.lobes.len();
    let holds = |e: &&Entry| match place.checked_sub(in_rust) {
        None => e.rust.contains(&place),
        Some(ssl) => e.ssl.contains(&ssl),
    };
    entries.iter().find(holds).map(|e| e.entry)
}

/// A direction that a specular lobe drew, and the cotangent times what it brings.
struct Draw {
    lane: usize,
    place: usize,
    with: Vec2,
    of_rest: Vec3,
}

impl Requests {
    fn clear(&mut self) {
        self.values.clear();
        self.draws.clear();
        self.of_values.clear();
    }

    /// Spreads a cotangent over all lobes that answer in its direction.
    fn ask(
        &mut self,
        scene: &Scene,
        vertices: &Vertices,
        entries: &[Entry],
        demand: &Demand,
        table: &mut TableCotangents,
    ) {
        let (lane, bsdf) = (demand.lane, vertices.bsdf(scene, demand.lane));
        for (place, l) in bsdf.all().enumerate() {
            let Some(entry) = entry_of(entries, &bsdf, place) else { continue };
            let parts = bsdf.parts(l.lobe, demand.wi);
            let of_value = demand.cotangent * l.weight;
            match l.lobe {
                AnyLobe::Rust(lobe) => {
                    let ssl: Vec3 = parts.directions.iter().map(|wi| lobe.eval_and_pdf(bsdf.wo, *wi).0).sum();
                    let value = ssl + lobe.albedo() * parts.returned;
                    // The lobe's weight is that of the entry times the lobe's share of the closure.
                    let given = entries.iter().find(|e| e.entry == entry).map_or(Vec3::ZERO, |e| e.given * e.passing);
                    table.add_weight(entry, lane, over(demand.cotangent * value * l.weight, given));
                }
                AnyLobe::Ssl(lobe, all) => {
                    for wi in parts.directions {
                        self.values.push((Request { lobe: *lobe, with: wi }, of_value));
                        self.of_values.push((entry, lane, demand.cotangent));
                    }
                    if parts.returned > 0.0 {
                        table.add_weight(entry, lane, demand.cotangent * lobe.albedo * parts.returned);
                        // The lost share is (1 − n·g)/2.
                        let of_lost = parts.by_lost * of_value.dot(lobe.albedo);
                        let of_normal = bsdf.gnormal * (-0.5 * of_lost);
                        let at = (lobe.slot as usize, lane);
                        table.ssl.add_albedo_and_normal(all, at, of_value * parts.returned, of_normal);
                    }
                }
            }
        }
    }

    /// What a specular lobe brings is in proportion to its weight, to that of its own sample, and to the probability of this way,
    /// by which the lobe has divided: if more light goes this way, more paths do, and each brings the same.
    fn ask_specular(
        &mut self,
        bsdf: &Bsdf<'_>,
        entries: &[Entry],
        chosen: &Weighted<'_>,
        draw: &Draw,
        table: &mut TableCotangents,
    ) {
        let Some(entry) = entry_of(entries, bsdf, draw.place) else { return };
        let given = entries.iter().find(|e| e.entry == entry).map_or(Vec3::ZERO, |e| e.given * e.passing);
        table.add_weight(entry, draw.lane, over(draw.of_rest, given));
        if let AnyLobe::Ssl(lobe, all) = chosen.lobe
            && let Some(sample) = all.drawn(lobe, bsdf.wo, draw.with)
        {
            // None has a probability of 0.
            let probability = draw.of_rest.element_sum() / sample.pdf;
            let cotangent = DrawCotangent { weight: over(draw.of_rest, sample.weight), probability };
            self.draws.push((Request { lobe: *lobe, with: draw.with }, cotangent));
        }
    }

    /// Takes all that was asked back through the code of the lobes.
    fn answer(&mut self, vertices: &Vertices, table: &mut TableCotangents) {
        if !self.values.is_empty() {
            vertices.ssl.pull_back_values(&self.values, &mut table.ssl, &mut self.answers);
            for ((entry, lane, cotangent), value) in self.of_values.iter().zip(&self.answers) {
                table.add_weight(*entry, *lane, *cotangent * *value);
            }
        }
        if !self.draws.is_empty() {
            vertices.ssl.pull_back_draws(&self.draws, &mut table.ssl);
        }
    }
}
