//! The table of lobes that a shader leaves for a block, and how a material reads it.

use super::language::ShadingLanguage;
use super::lobe_code::SslLobeCodes;
use crate::bsdf::{ClosureCode, LobeCode, RustCode};
use smallvec::SmallVec;
use ssl_compiler::runtime::{ClosureType, LANES, Layer, LobeDesc, Row, ShaderInterface};
use ssl_compiler::types::Type;
use std::sync::Arc;

/// Who says how a lobe scatters light.
#[derive(Clone)]
pub enum SlotKind {
    Rust(RustCode),
    /// A struct of a file. The shader gives the first `given` rows of its members, of which `floats` hold floats; `bases` are
    /// those of its closures that hold something, as its code counts them.
    Ssl {
        code: Arc<dyn LobeCode>,
        given: usize,
        floats: Vec<usize>,
        bases: Vec<usize>,
    },
}

/// One entry of the lobe table.
#[derive(Clone)]
pub struct LobeSlot {
    pub kind: SlotKind,
    pub layer: Option<Layer>,
    pub weight_row: usize,
    pub parameter_row: usize,
    pub closure: ClosureType,
    /// Of the parameters, the rows that hold floats.
    floats: Vec<usize>,
}

/// The entries of a shader's lobe table.
pub fn slots(interface: &ShaderInterface, language: &ShadingLanguage, ssl: &SslLobeCodes) -> Vec<LobeSlot> {
    let list = &interface.lobes;
    list.iter().enumerate().map(|(entry, l)| LobeSlot::new(l, (entry, list), interface, language, ssl)).collect()
}

impl LobeSlot {
    fn new(
        l: &LobeDesc,
        (entry, list): (usize, &[LobeDesc]),
        interface: &ShaderInterface,
        language: &ShadingLanguage,
        ssl: &SslLobeCodes,
    ) -> LobeSlot {
        let closure = interface.closure_types.get(l.closure).clone();
        let rows = rows(&closure);
        let kind = match ssl.iter().find(|(id, _)| *id == l.closure) {
            None => match language.kinds[l.closure.0 as usize].code {
                ClosureCode::Rust(code) => SlotKind::Rust(code),
                // The language compiles the code of all such closures that a shader makes.
                ClosureCode::Ssl(file) => unreachable!("nobody compiled {file}"),
            },
            Some((_, code)) => {
                let beneath = list.iter().filter_map(|l| l.layer).filter(|layer| layer.lobe == entry);
                let mut bases: Vec<usize> = beneath.map(|layer| base_number(&closure, layer.parameter)).collect();
                bases.sort_unstable();
                bases.dedup();
                SlotKind::Ssl { code: code.clone(), given: rows.len(), floats: float_rows(&rows, 0), bases }
            }
        };
        let (floats, layer) = (float_rows(&rows, l.parameter_row), l.layer);
        LobeSlot { kind, layer, weight_row: l.weight_row, parameter_row: l.parameter_row, closure, floats }
    }

    /// Whether there are floats among its parameters.
    pub fn has_floats(&self) -> bool {
        !self.floats.is_empty()
    }

    /// Which of its bases a parameter is.
    pub fn base_number(&self, parameter: usize) -> usize {
        base_number(&self.closure, parameter)
    }

    /// A bit for each lane in which it has a weight.
    pub fn weighted(&self, rows: &[Row]) -> u32 {
        let mut any = [false; LANES];
        for row in &rows[self.weight_row..self.weight_row + 3] {
            any.iter_mut().zip(&row.0).for_each(|(any, x)| *any |= *x != 0.0);
        }
        any.iter().enumerate().map(|(lane, any)| u32::from(*any) << lane).sum()
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
    /// Of each entry whose code is a struct of a file, the slot of its lobes.
    pub slots: &'a [usize],
    /// Of each entry. All lanes of a row are looked at together.
    numbers: SmallVec<[u32; 8]>,
}

impl<'a> Table<'a> {
    pub fn new(entries: &[LobeSlot], rows: &'a [Row], slots: &'a [usize]) -> Table<'a> {
        Table { rows, slots, numbers: entries.iter().map(|slot| slot.numbers(rows)).collect() }
    }

    /// Whether the parameters of an entry are numbers.
    pub fn holds_numbers(&self, entry: usize, lane: usize) -> bool {
        self.numbers[entry] >> lane & 1 != 0
    }
}

fn base_number(closure: &ClosureType, parameter: usize) -> usize {
    closure.parameters[..parameter].iter().filter(|p| p.ty == Type::Closure).count()
}

/// Of each row that the parameters of a closure take, whether it holds floats. Closures have no rows.
pub fn rows(closure: &ClosureType) -> Vec<bool> {
    let of = |ty: &Type| match ty {
        Type::Float => vec![true],
        Type::Vector(kind) => vec![true; kind.len()],
        Type::Matrix => vec![true; 16],
        Type::Closure => Vec::new(),
        _ => vec![false],
    };
    closure.parameters.iter().flat_map(|p| of(&p.ty)).collect()
}

/// Of a lobe whose parameters begin at row `first`, the rows that hold floats.
pub fn float_rows(rows: &[bool], first: usize) -> Vec<usize> {
    let floats = rows.iter().enumerate().filter(|(_, is_float)| **is_float);
    floats.map(|(row, _)| first + row).collect()
}
