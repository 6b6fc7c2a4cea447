//! The entries of a lobe table at a point: lobes with their weights, beneath the layers above them.

use super::table::{LobeSlot, SlotKind, Table};
use super::{Material, ShadingPoint, place};
use crate::bsdf::{LobeLists, Lobes, Place, SslLobes, WeightedSslLobe};
use crate::math::lanes::Row3;
use glam::Vec3;
use ssl_compiler::runtime::{Layer, read3};
use std::ops::Range;

/// An entry of the lobe table at a point.
#[derive(Clone, Debug)]
pub struct Entry {
    pub entry: usize,
    /// The weight that the shader gave, and the share of light that passes the layers above.
    pub given: Vec3,
    pub passing: Vec3,
    /// Its lobes, by their places in the lists.
    pub rust: Range<usize>,
    pub ssl: Range<usize>,
}

impl Material {
    /// One lane of the lobe table: its emission, and whether it holds numbers only; its lobes appended.
    pub(super) fn read(
        &self,
        point: &ShadingPoint,
        table: &Table<'_>,
        lane: usize,
        lists: LobeLists<'_>,
    ) -> (Vec3, bool) {
        self.read_entries(point, table, lane, lists, |_| {})
    }

    /// Likewise; tells of each entry that came to something.
    pub(super) fn read_entries(
        &self,
        point: &ShadingPoint,
        table: &Table<'_>,
        lane: usize,
        LobeLists { rust: lobes, ssl }: LobeLists<'_>,
        mut tell: impl FnMut(Entry),
    ) -> (Vec3, bool) {
        let (outputs, place) = (table.rows, place(point));
        let (mut lobes, mut numbers) = (Lobes::new(lobes), true);
        for (entry, slot) in self.lobes.iter().enumerate() {
            if ssl.is_unlisted && matches!(slot.kind, SlotKind::Ssl { .. }) {
                continue;
            }
            let weight = Vec3::from(read3(outputs, slot.weight_row, lane));
            if weight == Vec3::ZERO {
                continue;
            }
            numbers &= weight.is_finite() && table.holds_numbers(entry, lane);
            if !weight.is_finite() {
                continue;
            }
            let passing = self.passing(slot, table, lane, (&place, ssl));
            let (given, weight) = (weight, weight * passing);
            if weight == Vec3::ZERO {
                continue;
            }
            let begin = (lobes.count(), ssl.list.len());
            match &slot.kind {
                SlotKind::Rust(code) => {
                    lobes.set_weight(weight);
                    (code.scatter)(&outputs[slot.parameter_row..], lane, &place, &mut lobes);
                }
                SlotKind::Ssl { .. } => {
                    let lobe = ssl.lobe(table.slots[entry], lane);
                    ssl.list.extend(lobe.map(|lobe| WeightedSslLobe::new(lobe, weight)));
                }
            }
            let (rust, ssl) = (begin.0..lobes.count(), begin.1..ssl.list.len());
            tell(Entry { entry, given, passing, rust, ssl });
        }
        (lobes.emission, numbers)
    }

    /// Gives the closures whose code is a struct of a file their weights, all lanes of each together. A bit for each lane in which
    /// something is no number.
    pub(super) fn weigh_ssl(&self, points: &[ShadingPoint], table: &Table<'_>, ssl: &mut SslLobes) -> u32 {
        let mut odd = 0;
        for (entry, slot) in self.lobes.iter().enumerate() {
            let SlotKind::Ssl { .. } = slot.kind else { continue };
            let given = Row3::of([0, 1, 2].map(|i| &table.rows[slot.weight_row + i].0));
            let (mut weights, mut alive) = (Row3::ZERO, 0);
            let passing = slot.layer.map(|_| self.passing_rows(slot, points, table, ssl));
            for lane in 0..points.len() {
                let given = given.get(lane);
                if given == Vec3::ZERO {
                    continue;
                }
                odd |= u32::from(!(given.is_finite() && table.holds_numbers(entry, lane))) << lane;
                let weight = passing.as_ref().map_or(given, |passing| given * passing.get(lane));
                if given.is_finite() && weight != Vec3::ZERO {
                    weights.set(lane, weight);
                    alive |= 1 << lane;
                }
            }
            ssl.weigh(table.slots[entry], &weights, alive);
        }
        odd
    }

    /// As [`Material::passing`], of all lanes.
    fn passing_rows(&self, slot: &LobeSlot, points: &[ShadingPoint], table: &Table<'_>, ssl: &SslLobes) -> Row3 {
        let mut passing = Row3::ZERO;
        for (lane, point) in points.iter().enumerate() {
            passing.set(lane, self.passing(slot, table, lane, (&place(point), ssl)));
        }
        passing
    }

    /// The share of a lobe's light that passes the layers above it.
    pub(super) fn passing(&self, slot: &LobeSlot, table: &Table<'_>, lane: usize, at: (&Place, &SslLobes)) -> Vec3 {
        let Some(Layer { lobe, parameter }) = slot.layer else { return Vec3::ONE };
        let above = &self.lobes[lobe];
        self.share(above, (lobe, parameter), table, lane, at) * self.passing(above, table, lane, at)
    }

    /// The share of light from one base that passes a layer.
    pub(super) fn share(
        &self,
        above: &LobeSlot,
        (lobe, parameter): (usize, usize),
        table: &Table<'_>,
        lane: usize,
        at: (&Place, &SslLobes),
    ) -> Vec3 {
        match &above.kind {
            SlotKind::Rust(code) => (code.beneath)(&table.rows[above.parameter_row..], lane, at.0, parameter),
            SlotKind::Ssl { .. } => at.1.beneath(table.slots[lobe], lane, above.base_number(parameter)),
        }
    }
}
