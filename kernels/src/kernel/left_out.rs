//! Which point of a launch gave the first term that sums leave out: the launch runs once more, and nothing is added or
//! written.

use super::bound::Bound;
use super::{Binding, Control, Grid, Kernel, LaunchError};
use crate::sums::LIMIT;
use rayon::prelude::*;
use ssl_compiler::runtime::{AddRequest, LANES, Row, TextureDouble};
use ssl_compiler::types::Scalar;
use ssl_compiler::{Block, HostServices, TextureRequest};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// A term that sums leave out, since it is not finite or too large.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The linear index of the point.
    pub point: u32,
    /// The kernel's name for the `add` buffer.
    pub buffer: String,
    /// The element to which the point adds.
    pub element: u32,
    /// The term.
    pub term: f32,
}

/// The left-out term of the first point that has one, and of its terms the first.
pub(super) fn first(
    kernel: &Kernel,
    grid: Grid,
    bindings: &mut [Binding<'_>],
    control: &Control<'_>,
) -> Result<Option<LeftOut>, LaunchError> {
    let Some(points) = grid.points() else { return Err(LaunchError::Grid { size: grid.size() }) };
    let bound = Bound::new(kernel, points, bindings, &[])?;
    let rows = || (Vec::<Row>::new(), Vec::<Row>::new());
    let found = (0..grid.blocks())
        .into_par_iter()
        .map_init(rows, |(globals, outputs), number| of_block(&bound, grid, number, control, (globals, outputs)))
        .find_map_first(|found| found);
    Ok(found)
}

fn of_block(
    bound: &Bound<'_>,
    grid: Grid,
    number: usize,
    control: &Control<'_>,
    (globals, outputs): (&mut Vec<Row>, &mut Vec<Row>),
) -> Option<LeftOut> {
    if control.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
        return None;
    }
    let (kernel, points) = (bound.kernel, grid.block(number));
    globals.resize(kernel.index.count, Row::ZERO);
    outputs.resize(kernel.shader.interface().output_rows, Row::ZERO);
    kernel.index.fill(points, globals);
    bound.load(points.range(), globals);
    let host = Finder { host: control.host, bound, found: Mutex::new(None) };
    kernel.shader.run(&mut Block {
        columns: &bound.columns,
        host: &host,
        mask: points.mask(),
        fuel: control.fuel,
        tape_rows: control.tape_rows,
        ..Block::new(globals, &kernel.parameters, outputs)
    });
    let Finder { found, .. } = host;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for total in &bound.totals {
        for row in total.rows.iter().flatten() {
            let lanes = (0..LANES).filter(|lane| points.mask() >> lane & 1 != 0);
            let terms = lanes.map(|lane| (lane, 0, outputs[*row].0[lane]));
            note(&mut found, &total.port.name, terms);
        }
    }
    let (lane, mut found) = found?;
    found.point = (points.range().start + lane) as u32;
    Some(found)
}

/// Keeps a term that is left out if it is the first one of an earlier lane than the one kept so far.
fn note(kept: &mut Option<(usize, LeftOut)>, name: &str, terms: impl Iterator<Item = (usize, u32, f32)>) {
    let is_left_out = |term: f32| !term.is_finite() || f64::from(term).abs() >= LIMIT;
    for (lane, element, term) in terms.filter(|(.., term)| is_left_out(*term)) {
        if kept.as_ref().is_none_or(|(other, _)| lane < *other) {
            *kept = Some((lane, LeftOut { point: 0, buffer: name.to_owned(), element, term }));
        }
    }
}

/// Looks at the addends of points, and adds nothing.
struct Finder<'a, 'b> {
    host: &'a dyn HostServices,
    bound: &'a Bound<'b>,
    /// With its lane.
    found: Mutex<Option<(usize, LeftOut)>>,
}

impl HostServices for Finder<'_, '_> {
    fn texture(&self, request: &mut TextureRequest) {
        self.host.texture(request);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.host.texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn texture_adjoint(&self, _request: &TextureRequest) -> bool {
        true
    }

    fn add_to_buffer(&self, request: &AddRequest) {
        let column = request.column as usize;
        let Some(addend) = self.bound.addends.iter().find(|addend| addend.columns.contains(&column)) else { return };
        let kinds = &addend.sums.element().scalars()[column - addend.columns.start..];
        let values = request.values[..request.count as usize].iter().zip(kinds);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for (row, _) in values.filter(|(_, kind)| **kind == Scalar::Float) {
            let first = request.lanes().next().unwrap_or(0);
            let element = |lane: usize| request.index.0[if request.uniform != 0 { first } else { lane }];
            let terms = request.lanes().map(|lane| (lane, element(lane), row.0[lane]));
            note(&mut found, &addend.port.name, terms);
        }
    }
}
