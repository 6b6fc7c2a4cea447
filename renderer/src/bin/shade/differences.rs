//! `shade eval --differences`: every derivative that a shader takes at a point, against finite differences.

use super::inputs::GlobalArgument;
use super::setup::Setup;
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::FileId;
use ssl_compiler::testing::{Differences, Globals, differences, zero_globals};
use ssl_compiler::{Checked, CompileOptions};

pub fn tolerance(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|t: &f64| *t > 0.0 && t.is_finite())
        .ok_or_else(|| "a tolerance is a number above 0".to_owned())
}

/// The globals as they were given; others are 0.
pub fn given_globals(checked: &Checked, given: &[GlobalArgument]) -> Globals {
    let mut globals = zero_globals(checked);
    for g in given {
        if let Some((field, _)) = checked.layout.find(&g.name) {
            globals.iter_mut().zip(&g.orders).for_each(|(order, values)| order[field].clone_from(values));
        }
    }
    globals
}

/// What finite differences say at the point that was given, and whether no derivative differs from them.
pub fn told(
    shader: (&Checked, FileId, Option<&str>),
    options: &CompileOptions<'_>,
    given: &[GlobalArgument],
    setup: &Setup<'_>,
    tolerance: f64,
) -> Result<(String, bool), Diagnostics> {
    let checked = shader.0;
    let globals = given_globals(checked, given);
    let text = match differences(shader, options, globals, (&setup.parameters, &setup.textures), tolerance)? {
        Differences::Agree(0) => "the shader takes no derivatives here".to_owned(),
        Differences::Agree(count) => format!("{count} derivatives agree with finite differences"),
        Differences::NotSmooth => {
            let text = "the point lies on a branch, a kink or a singular point, where finite differences mean nothing";
            text.to_owned()
        }
        Differences::Differ(d) => {
            let place = checked.sources.place(d.place);
            let text = format!(
                "at {place}, {} is {}, finite differences give {} ± {:.1e} (tolerance {tolerance})",
                d.direction, d.found, d.expected, d.error
            );
            return Ok((text, false));
        }
    };
    Ok((text, true))
}
