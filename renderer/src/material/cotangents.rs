//! Cotangents of a lobe table, gathered lane by lane for a block, and how they go back from lobes to the rows that the shader
//! left: through layers to the weights beneath them, and through the code of lobes to their parameters.

use super::table::{LobeSlot, SlotKind, Table};
use super::{Entry, Material, ShadingPoint, place, places};
use crate::bsdf::{LobeLists, Lobes, Place, SslLobeCotangents, SslLobes};
use crate::math::lanes::first_lanes;
use glam::Vec3;
use smallvec::SmallVec;
use ssl_compiler::runtime::{LANES, Layer, Row, read3};

/// What of a material a cotangent belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// As [`Material::emission`].
    Emission,
    /// As [`Material::passage`].
    Passage,
}

/// Those of a block. Used over and over.
#[derive(Default)]
pub struct TableCotangents {
    /// By output row of the shader.
    rows: Vec<Row>,
    /// By entry, of the weights as lobes have them: those of the shader times what passes the layers above.
    weights: Vec<[Row; 3]>,
    /// Of the lobes whose code is a struct of a file.
    pub ssl: SslLobeCotangents,
    /// By layer and base, of the share that passes.
    shares: Vec<(usize, usize, [Row; 3])>,
}

impl TableCotangents {
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds to the cotangent of the weight of an entry, as its lobes have it.
    pub fn add_weight(&mut self, entry: usize, lane: usize, cotangent: Vec3) {
        add(&mut self.weights[entry], lane, cotangent);
    }

    /// Adds to the cotangent of the share of light that a layer lets pass to a base.
    fn add_share(&mut self, layer: usize, base: usize, lane: usize, cotangent: Vec3) {
        let at = self.shares.iter().position(|(l, b, _)| (*l, *b) == (layer, base));
        let at = at.unwrap_or_else(|| {
            self.shares.push((layer, base, [Row::ZERO; 3]));
            self.shares.len() - 1
        });
        add(&mut self.shares[at].2, lane, cotangent);
    }
}

fn add(rows: &mut [Row], lane: usize, v: Vec3) {
    for (row, x) in rows.iter_mut().zip(v.to_array()) {
        // One lane that is no number must not poison a sum.
        row.0[lane] += if x.is_finite() { x } else { 0.0 };
    }
}

/// The entries of one lane.
pub type Entries = SmallVec<[Entry; 4]>;

impl Material {
    /// Makes zeros for a block.
    pub fn begin_cotangents(&self, ssl: &SslLobes, cotangents: &mut TableCotangents) {
        cotangents.rows.clear();
        cotangents.rows.resize(self.shader.interface().output_rows, Row::ZERO);
        cotangents.weights.clear();
        cotangents.weights.resize(self.lobes.len(), [Row::ZERO; 3]);
        cotangents.shares.clear();
        cotangents.ssl.begin(ssl);
    }

    /// The entries of the lobe table of each lane which came to something, from the rows that [`Material::shade`] left and the
    /// lobes that it made of them. Places in the lists of lobes are counted from the lane's first.
    pub fn entries(&self, rows: &[Row], points: &[ShadingPoint], ssl: &mut SslLobes) -> SmallVec<[Entries; LANES]> {
        let slots = self.slots();
        let table = Table::new(&self.lobes, rows, &slots);
        let (mut rust, list) = (Vec::new(), std::mem::take(&mut ssl.list));
        let mut of_lane = |(lane, point): (usize, &ShadingPoint)| {
            let mut entries = Entries::new();
            rust.clear();
            ssl.list.clear();
            self.read_entries(point, &table, lane, LobeLists { rust: &mut rust, ssl }, |entry| entries.push(entry));
            entries
        };
        let entries = points.iter().enumerate().map(&mut of_lane).collect();
        ssl.list = list;
        entries
    }

    /// By entry, the slot of its lobes if their code is a struct of a file.
    fn slots(&self) -> SmallVec<[usize; 8]> {
        let mut next = 0;
        let slot = |slot: &LobeSlot| match slot.kind {
            SlotKind::Rust(_) => usize::MAX,
            SlotKind::Ssl { .. } => {
                next += 1;
                next - 1
            }
        };
        self.lobes.iter().map(slot).collect()
    }

    /// Adds what a cotangent of the emission of a lane means for its entries, or, for [`Part::Passage`], one of the share of
    /// light that passes straight on. Both are linear in the weight and in the color of the closure.
    pub fn add_light(
        &self,
        part: Part,
        (rows, point, lane): (&[Row], &ShadingPoint, usize),
        entries: &[Entry],
        cotangent: Vec3,
        cotangents: &mut TableCotangents,
    ) {
        for e in entries {
            let slot = &self.lobes[e.entry];
            let SlotKind::Rust(code) = &slot.kind else { continue };
            let wanted = if part == Part::Passage { code.passes } else { code.emits };
            if !wanted {
                continue;
            }
            let (mut list, place) = (Vec::new(), place(point));
            let mut lobes = Lobes::new(&mut list);
            (code.scatter)(&rows[slot.parameter_row..], lane, &place, &mut lobes);
            let emitted = lobes.emission;
            let passed = || list.iter().filter(|l| l.lobe.is_straight()).map(|l| l.weight * l.lobe.albedo()).sum();
            let light: Vec3 = if part == Part::Passage { passed() } else { emitted };
            cotangents.add_weight(e.entry, lane, cotangent * light);
            // It is a parameter as it is, where that is in its bounds.
            if Vec3::from(read3(rows, slot.parameter_row, lane)) == light {
                let sum = &mut cotangents.rows[slot.parameter_row..slot.parameter_row + 3];
                add(sum, lane, cotangent * e.given * e.passing);
            }
        }
    }

    /// Takes what was gathered back to the rows that the shader left.
    pub fn settle(
        &self,
        (rows, points): (&[Row], &[ShadingPoint]),
        entries: &[Entries],
        ssl: &SslLobes,
        cotangents: &mut TableCotangents,
    ) {
        let slots = self.slots();
        let table = Table::new(&self.lobes, rows, &slots);
        for (lane, (entries, point)) in entries.iter().zip(points).enumerate() {
            let place = place(point);
            for e in entries {
                let slot = &self.lobes[e.entry];
                let of_weight = Vec3::from(read3(&cotangents.weights[e.entry], 0, lane));
                let at = &mut cotangents.rows[slot.weight_row..slot.weight_row + 3];
                add(at, lane, of_weight * e.passing);
                self.settle_layers(slot, &table, lane, (&place, ssl), of_weight * e.given, cotangents);
            }
        }
        for (layer, base, seeds) in std::mem::take(&mut cotangents.shares) {
            ssl.pull_back_shares(slots[layer], base, &seeds, &mut cotangents.ssl);
        }
        let (places, lanes) = (places(points), first_lanes(points.len()));
        for (slot, number) in self.lobes.iter().zip(&slots) {
            let SlotKind::Ssl { given: count, floats, .. } = &slot.kind else { continue };
            let given = (&rows[slot.parameter_row..][..*count], &floats[..]);
            let members = ssl.pull_back_begin(*number, given, (&places, lanes), &mut cotangents.ssl);
            for (row, gradient) in cotangents.rows[slot.parameter_row..][..*count].iter_mut().zip(members) {
                row.0.iter_mut().zip(&gradient.0).for_each(|(sum, x)| *sum += if x.is_finite() { *x } else { 0.0 });
            }
        }
    }

    /// The cotangents of the shares that the layers above a lobe let pass, where `cotangent` is that of their product.
    fn settle_layers(
        &self,
        slot: &LobeSlot,
        table: &Table<'_>,
        lane: usize,
        at: (&Place, &SslLobes),
        cotangent: Vec3,
        cotangents: &mut TableCotangents,
    ) {
        let Some(Layer { lobe, parameter }) = slot.layer else { return };
        let above = &self.lobes[lobe];
        let share = self.share(above, (lobe, parameter), table, lane, at);
        if let SlotKind::Ssl { .. } = above.kind {
            let further = self.passing(above, table, lane, at);
            cotangents.add_share(lobe, above.base_number(parameter), lane, cotangent * further);
        }
        self.settle_layers(above, table, lane, at, cotangent * share, cotangents);
    }
}
