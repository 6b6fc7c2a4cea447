//! `shade eval --gradient-drift`: how far what gradients restore of loops is off.

use super::setup::Setup;
use serde_json::{Value, json};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::FileId;
use ssl_compiler::testing::{Globals, drift};
use ssl_compiler::{Checked, CompileOptions, on_large_stack};

/// The drift of each variable, as a report has it.
pub fn told(
    shader: (&Checked, FileId, Option<&str>),
    options: &CompileOptions<'_>,
    globals: &Globals,
    setup: &Setup<'_>,
) -> Result<Value, Diagnostics> {
    let host = (&setup.parameters, &setup.textures as _);
    let found = on_large_stack(|| drift(shader, options, globals, host, setup.tape_rows))?;
    let one = |d: &ssl_compiler::testing::Drifted| {
        json!({
            "loop": shader.0.sources.place(d.place).to_string(),
            "variable": d.variable,
            "rounds": d.rounds,
            "largest": d.largest,
            "round": d.round,
            "was": d.was,
            "magnitude": d.magnitude,
        })
    };
    let variables: Vec<Value> = found.variables.iter().map(one).collect();
    Ok(json!({ "variables": variables, "ended": found.ended }))
}

/// A line for each variable.
pub fn text(evaluated: &Value) -> String {
    let Some(drift) = evaluated.get("drift") else { return String::new() };
    let mut out = String::new();
    let variables = drift["variables"].as_array().map_or(&[][..], Vec::as_slice);
    if variables.is_empty() {
        out.push_str("no gradient takes a loop back here\n");
    }
    for v in variables {
        let number = |key: &str| v[key].as_f64().unwrap_or(f64::NAN);
        out.push_str(&format!(
            "{}: `{}` is off by {:.1e} at most in {} rounds, in round {}, where it was {:.4e}; its largest magnitude is {:.4e}\n",
            v["loop"].as_str().unwrap_or_default(),
            v["variable"].as_str().unwrap_or_default(),
            number("largest"),
            v["rounds"],
            v["round"],
            number("was"),
            number("magnitude"),
        ));
    }
    if drift["ended"] == true {
        out.push_str("the shader ended early, for want of fuel or tape: give it more with --tape-memory\n");
    }
    out
}
