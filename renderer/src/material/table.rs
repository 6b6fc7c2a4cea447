//! The table of lobes that a shader leaves for a block, and how a material reads it.

use super::ShadingLanguage;
use crate::bsdf::ClosureKind;
use smallvec::SmallVec;
use ssl_compiler::runtime::{ClosureType, LANES, Layer, LobeDesc, Row};
use ssl_compiler::types::Type;

/// One entry of the lobe table.
#[derive(Clone)]
pub struct LobeSlot {
    pub kind: ClosureKind,
    pub layer: Option<Layer>,
    pub weight_row: usize,
    pub parameter_row: usize,
    pub closure: ClosureType,
    /// Of the parameters, the rows that hold floats.
    floats: Vec<usize>,
}

impl LobeSlot {
    pub fn new(l: &LobeDesc, language: &ShadingLanguage) -> LobeSlot {
        let closure = language.closures.get(l.closure).clone();
        let (floats, weight_row) = (float_rows(&closure, l.parameter_row), l.weight_row);
        let (kind, layer) = (language.kinds[l.closure.0 as usize], l.layer);
        LobeSlot { kind, layer, weight_row, parameter_row: l.parameter_row, closure, floats }
    }

    /// A bit for each lane whose parameters are numbers.
    fn numbers(&self, rows: &[Row]) -> u32 {
        let mut odd = [0; LANES];
        for row in self.floats.iter().map(|&row| &rows[row].0) {
            odd.iter_mut().zip(row).for_each(|(odd, x)| *odd |= u32::from(!x.is_finite()));
        }
        odd.iter().enumerate().map(|(lane, odd)| (1 - odd) << lane).sum()
    }
}

/// What a shader left.
pub struct Table<'a> {
    pub rows: &'a [Row],
    /// Of each entry. All lanes of a row are looked at together.
    numbers: SmallVec<[u32; 8]>,
}

impl<'a> Table<'a> {
    pub fn new(slots: &[LobeSlot], rows: &'a [Row]) -> Table<'a> {
        Table { rows, numbers: slots.iter().map(|slot| slot.numbers(rows)).collect() }
    }

    /// Whether the parameters of an entry are numbers.
    pub fn holds_numbers(&self, entry: usize, lane: usize) -> bool {
        self.numbers[entry] >> lane & 1 != 0
    }
}

/// Of a lobe whose parameters begin at row `first`, the rows that hold floats.
fn float_rows(closure: &ClosureType, first: usize) -> Vec<usize> {
    let mut rows = Vec::new();
    let mut at = first;
    for parameter in &closure.parameters {
        let scalars = match &parameter.ty {
            Type::Float => 1,
            Type::Vector(kind) => kind.len(),
            Type::Matrix => 16,
            // Closures have no rows, the others one, which is no float.
            Type::Closure => continue,
            _ => {
                at += 1;
                continue;
            }
        };
        rows.extend(at..at + scalars);
        at += scalars;
    }
    rows
}
