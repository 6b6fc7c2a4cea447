//! The entries of a lobe table at a point: lobes with their weights, beneath the layers above them.

use super::table::{LobeSlot, SlotKind, Table};
use super::{Material, ShadingPoint, place};
use crate::bsdf::{Lobes, OwnLobes, Place, WeightedLobe, WeightedOwn};
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
    pub native: Range<usize>,
    pub own: Range<usize>,
}

impl Material {
    /// One lane of the lobe table: its emission, and whether it holds numbers only; its lobes appended.
    pub(super) fn read(
        &self,
        point: &ShadingPoint,
        table: &Table<'_>,
        lane: usize,
        lists: (&mut Vec<WeightedLobe>, &mut OwnLobes),
    ) -> (Vec3, bool) {
        self.read_entries(point, table, lane, lists, |_| {})
    }

    /// Likewise; tells of each entry that came to something.
    pub(super) fn read_entries(
        &self,
        point: &ShadingPoint,
        table: &Table<'_>,
        lane: usize,
        (lobes, own): (&mut Vec<WeightedLobe>, &mut OwnLobes),
        mut tell: impl FnMut(Entry),
    ) -> (Vec3, bool) {
        let (outputs, place) = (table.rows, place(point));
        let (mut lobes, mut numbers) = (Lobes::new(lobes), true);
        for (entry, slot) in self.lobes.iter().enumerate() {
            let weight = Vec3::from(read3(outputs, slot.weight_row, lane));
            if weight == Vec3::ZERO {
                continue;
            }
            numbers &= weight.is_finite() && table.holds_numbers(entry, lane);
            if !weight.is_finite() {
                continue;
            }
            let passing = self.passing(slot, table, lane, (&place, own));
            let (given, weight) = (weight, weight * passing);
            if weight == Vec3::ZERO {
                continue;
            }
            let begin = (lobes.count(), own.list.len());
            match &slot.kind {
                SlotKind::Native(kind) => {
                    lobes.set_weight(weight);
                    (kind.scatter)(&outputs[slot.parameter_row..], lane, &place, &mut lobes);
                }
                SlotKind::Own { .. } => {
                    let lobe = own.lobe(table.slots[entry], lane);
                    own.list.extend(lobe.map(|lobe| WeightedOwn::new(lobe, weight)));
                }
            }
            let (native, own) = (begin.0..lobes.count(), begin.1..own.list.len());
            tell(Entry { entry, given, passing, native, own });
        }
        (lobes.emission, numbers)
    }

    /// The share of a lobe's light that passes the layers above it.
    pub(super) fn passing(&self, slot: &LobeSlot, table: &Table<'_>, lane: usize, at: (&Place, &OwnLobes)) -> Vec3 {
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
        at: (&Place, &OwnLobes),
    ) -> Vec3 {
        match &above.kind {
            SlotKind::Native(kind) => (kind.beneath)(&table.rows[above.parameter_row..], lane, at.0, parameter),
            SlotKind::Own { .. } => at.1.beneath(table.slots[lobe], lane, above.base_number(parameter)),
        }
    }
}
