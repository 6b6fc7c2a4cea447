//! One shader at one point against finite differences: what `expect_numeric_derivatives` does at each of its points,
//! for a host that has a point at hand.

use super::numeric::{Point, Verdict, seeds_for};
use crate::diagnostics::Diagnostics;
use crate::facade::{Checked, CompileOptions, Roots, lower_checked};
use crate::interp::Program;
use crate::passes::dce;
use crate::runtime::{HostServices, ParameterBlock};
use crate::source::{FileId, Span};

/// The first derivative that differs from finite differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Differing {
    /// The `ddx`, `ddy` or look-up.
    pub place: Span,
    /// `ddx` or `ddy`.
    pub direction: &'static str,
    /// What the shader computes.
    pub found: f64,
    /// What finite differences give.
    pub expected: f64,
    /// How far that may be off.
    pub error: f64,
}

/// What finite differences say of a shader at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Differences {
    /// So many derivatives agree.
    Agree(usize),
    /// The point lies too near a branch, kink or singular point to tell.
    NotSmooth,
    /// One does not agree.
    Differ(Differing),
}

/// Value and both partials of each global, by field and component.
pub type Globals = [Vec<Vec<f64>>; 3];

/// Room for the globals of a checked file, all zero.
pub fn zero_globals(checked: &Checked) -> Globals {
    let seeds = seeds_for(&checked.layout);
    let [ddx, ddy] = seeds.partials;
    [seeds.values, ddx, ddy]
}

/// Compares every derivative of a shader that is met at a point, computed in f64, with its slope along the partials.
///
/// `parameters` are laid out by the shader's interface.
pub fn differences(
    (checked, file, entry): (&Checked, FileId, Option<&str>),
    options: &CompileOptions<'_>,
    globals: Globals,
    (parameters, host): (&ParameterBlock, &dyn HostServices),
    tolerance: f64,
) -> Result<Differences, Diagnostics> {
    let options = CompileOptions { probes: true, seeded: None, roots: Roots::Lobes(&[]), ..*options };
    let (mut module, _) = lower_checked(checked, file, entry, &options, &mut |_, _| {})?;
    dce::run(&mut module);
    let [values, ddx, ddy] = globals;
    let seeds = super::numeric::Seeds { values, partials: [ddx, ddy] };
    let program = Program::new(module);
    let point = Point { program: &program, seeds: &seeds, parameters, host };
    Ok(match point.compare(tolerance) {
        Verdict::Agrees(count) => Differences::Agree(count),
        Verdict::NotSmooth => Differences::NotSmooth,
        Verdict::Differs { probe, direction, shadow, slope } => Differences::Differ(Differing {
            place: probe.span,
            direction,
            found: shadow,
            expected: slope.best,
            error: slope.error,
        }),
    })
}
