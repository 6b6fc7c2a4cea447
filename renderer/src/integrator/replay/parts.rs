//! The way back through a part of a material's shader, which was asked for its light alone.

use super::gather::{Gather, add_row};
use super::gradient_slots::GradientSlots;
use crate::bsdf::SslLobes;
use crate::material::{Part, Scratch, ShadingPoint, TableCotangents};
use crate::scene::Scene;
use glam::Vec3;

/// One thread's memory, used over and over.
#[derive(Default)]
pub struct Parts {
    table: TableCotangents,
    scratch: Scratch,
    ssl: SslLobes,
}

/// Up to 16 points of one material at which a part of it was asked.
pub struct Asked<'a> {
    pub material: u32,
    pub part: Part,
    pub points: &'a [ShadingPoint],
    /// Those that asked.
    pub paths: &'a [u32],
    /// The lanes that see textures as scattered paths do, and the look-ups that were made for each before, if any.
    pub scattered: u32,
    pub look_ups: &'a [u32],
    /// Of what the part gave.
    pub cotangents: &'a [Vec3],
}

impl Asked<'_> {
    /// Takes the cotangents back to what the shader was given.
    pub fn back(&self, scene: &Scene, slots: &GradientSlots, memory: &mut Parts, gather: &mut impl Gather) {
        let whole = &scene.materials[self.material as usize];
        let Some(part) = whole.part(self.part) else { return };
        let Parts { table, scratch, ssl } = memory;
        // Look-ups are drawn anew each time, as they were.
        let textures = || scene.textures.scattered(self.scattered).after(self.look_ups.iter().copied());
        part.run_again(self.points, scene.surroundings(), &textures(), scratch, ssl);
        let rows = part.table_rows(scratch).to_vec();
        let entries = part.entries(&rows, self.points, ssl);
        part.begin_cotangents(ssl, table);
        for (lane, cotangent) in self.cotangents.iter().enumerate() {
            part.add_light(self.part, (&rows, &self.points[lane], lane), &entries[lane], *cotangent, table);
        }
        part.settle((&rows, self.points), &entries, ssl, table);
        let at = (scene.surroundings(), &textures() as _);
        whole.pull_back(self.part, self.points, at, table, scratch, |by, row| {
            add_row(scene, (slots, by), row, (self.points, self.paths), gather);
        });
    }
}
