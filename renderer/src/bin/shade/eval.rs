//! `shade eval FILE`: runs one shader without a scene, at one point or over a grid.

use super::code_cache::CodeCacheArgument;
use super::derivatives::DerivativeArguments;
use super::differences::{given_globals, told, tolerance};
use super::drift;
use super::gradients::{self, GradientArgument, Missing};
use super::grid;
use super::includes::Includes;
use super::inputs::{Given, GlobalArgument, ParameterArgument};
use super::json::JsonArgument;
use super::outcome::{self, Outcome};
use super::program::Program;
use super::setup::{Setup, name_closures};
use super::target;
use super::warnings::Warnings;
use renderer::material::ShadingLanguage;
use serde_json::Value;
use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::runtime::{Order, Orders, ParameterBlock, ParameterValue, Row};
use ssl_compiler::testing::TestTextures;
use ssl_compiler::types::Type;
use ssl_compiler::{Checked, CompileOptions};
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// The shader file, or a graph of shaders
    file: PathBuf,
    /// The name of the shader to run. Needed if the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Set a global to VALUE, and its partials to DDX and DDY; may be repeated. Globals that are not set are 0. If the file
    /// does not declare the global, this option does
    #[arg(long = "global", value_name = "NAME:TYPE=VALUE[,DDX,DDY]", allow_hyphen_values = true)]
    globals: Vec<GlobalArgument>,
    /// Set a parameter of the shader; may be repeated. Parameters that are not set have their defaults. For a texture slot
    /// write test_texture(2), flat_texture(0.5) and so on
    #[arg(long = "param", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    parameters: Vec<ParameterArgument>,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    target: target::TargetArguments,
    #[command(flatten)]
    derivatives: DerivativeArguments,
    /// Shade W × H points that cover a unit square. The globals `uvw` and `position` run over it
    #[arg(long, value_name = "WxH", value_parser = grid::size)]
    grid: Option<(u32, u32)>,
    /// With `--grid`, the `.exr` to write. Each output of the shader becomes a layer
    #[arg(short, long, value_name = "FILE", requires = "grid")]
    output: Option<PathBuf>,
    /// Compare every derivative that the shader takes at this point with finite differences, to this tolerance
    #[arg(long, value_name = "TOLERANCE", conflicts_with = "grid", value_parser = tolerance)]
    differences: Option<f64>,
    /// Print the gradient of an output or closure with respect to parameters and globals; may be repeated
    #[arg(long = "gradient", value_name = "OUT:NAME[,NAME...]", conflicts_with = "grid")]
    gradients: Vec<GradientArgument>,
    /// Say how far the variables of loops marked `[Undo]` are off where their gradient restores them
    #[arg(long, conflicts_with = "grid")]
    gradient_drift: bool,
    /// Measure how long the shader takes to compile and to run
    #[arg(long, conflicts_with = "grid")]
    time: bool,
    /// With `--time`, the number of points to run
    #[arg(long, value_name = "N", default_value = "1000000", requires = "time", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    points: u64,
    /// The memory for values that the reverse sweep of a gradient keeps, in MiB. A point that needs more ends with an error
    #[arg(long, value_name = "MIB", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=8192))]
    tape_memory: u32,
    #[command(flatten)]
    code_cache: CodeCacheArgument,
    #[command(flatten)]
    json: JsonArgument,
    #[command(flatten)]
    warnings: Warnings,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut outcome = Outcome::default();
    let language = ShadingLanguage::new();
    let mut layout = language.globals().clone();
    for g in &arguments.globals {
        // What is there already only gets its value, if the type agrees.
        if layout.find(&g.name).is_none()
            && let Err(e) = layout.add(&g.name, g.ty.clone(), Orders::First)
        {
            return outcome.usage(&e.to_string());
        }
    }
    let target = arguments.target.target();
    let imports = arguments.includes.search();
    let passes = arguments.derivatives.passes();
    let seeded = seeded(arguments);
    // Otherwise what was not given is 0, and reading it costs nothing.
    let seeded = (passes.derivatives == Derivatives::Poisoned).then_some(seeded.as_slice());
    // Who measures compiling wants it done.
    let (cache, note) = if arguments.time { (None, String::new()) } else { arguments.code_cache.open() };
    outcome.note.push_str(&note);
    let options = CompileOptions {
        target,
        cache: cache.as_ref(),
        passes,
        seeded,
        imports: &imports,
        kernels: false,
        // The check takes time, and a grid would repeat its message at every point.
        coincidences: arguments.grid.is_none() && !arguments.time,
        externals: language.functions(),
        ..CompileOptions::new(&layout, language.closures())
    };
    let start = Instant::now();
    let program = match Program::read(&arguments.file, &mut outcome.sources, &options) {
        Ok(program) => program,
        Err(errors) => return outcome.refuse(errors),
    };
    let (checked, found) = ssl_compiler::check(&mut outcome.sources, program.file, &options);
    let mut diagnostics = program.said.clone();
    diagnostics.extend(program.blame(found));
    arguments.warnings.apply(&mut diagnostics);
    if diagnostics.has_errors() {
        return outcome.refuse(diagnostics);
    }
    let entry = arguments.entry.as_deref().or(program.entry.as_deref());
    let compiled = ssl_compiler::compile_checked(&checked, program.file, entry, &options);
    let compile_time = start.elapsed();
    let shader = match compiled {
        Ok((shader, warnings)) => {
            let mut warnings = program.blame(warnings);
            arguments.warnings.apply(&mut warnings);
            diagnostics.extend(warnings);
            if diagnostics.has_errors() {
                return outcome.refuse(diagnostics);
            }
            outcome.diagnostics = diagnostics;
            shader
        }
        Err(diagnostics) => return outcome.refuse(program.blame(diagnostics)),
    };
    let rows = match rows(&checked, &arguments.globals) {
        Ok(rows) => rows,
        Err(message) => return outcome.usage(&message),
    };
    let mut parameters = ParameterBlock::new(shader.interface());
    let mut textures = TestTextures::default();
    for p in &arguments.parameters {
        let value = match &p.value {
            Given::Value(value) => value.clone(),
            Given::Texture(pattern) => ParameterValue::Texture(textures.add(*pattern)),
        };
        if let Err(e) = parameters.set(shader.interface(), &p.name, &value) {
            return outcome.usage(&e.message(&p.name));
        }
        let desc = shader.interface().parameters.iter().find(|d| d.name == p.name);
        if let Some(found) = desc.and_then(|d| d.disallowed(&value)) {
            outcome.diagnostics.push(found.warning(None));
        }
    }
    arguments.warnings.apply_to(&mut outcome);
    if outcome.diagnostics.has_errors() {
        return outcome;
    }
    let tape_rows = arguments.tape_memory * ((1 << 20) / size_of::<Row>() as u32);
    let setup = Setup { shader: &shader, layout: &checked.layout, rows, parameters, textures, tape_rows };
    if let Some(size) = arguments.grid {
        return grid::run(&setup, size, arguments.output.as_deref(), outcome);
    }
    let mut evaluated = setup.point();
    if arguments.time {
        evaluated["time"] = setup.time(compile_time, arguments.points);
    }
    if let Some(error) = evaluated.get("error") {
        outcome.code = outcome::INPUT_AT_FAULT;
        outcome.note = format!("{}\n", error.as_str().unwrap_or_default());
    }
    if let Some(tolerance) = arguments.differences {
        match told((&checked, program.file, entry), &options, &arguments.globals, &setup, tolerance) {
            Ok((text, agrees)) => {
                evaluated["differences"] = text.into();
                if !agrees {
                    outcome.code = outcome::INPUT_AT_FAULT;
                }
            }
            Err(errors) => return outcome.refuse(program.blame(errors)),
        }
    }
    if arguments.gradient_drift {
        let globals = given_globals(&checked, &arguments.globals);
        match drift::told((&checked, program.file, entry), &options, &globals, &setup) {
            Ok(told) => evaluated["drift"] = told,
            Err(errors) => return outcome.refuse(program.blame(errors)),
        }
    }
    if outcome.code == outcome::FINE && !arguments.gradients.is_empty() {
        match gradients::taken(&arguments.gradients, (&checked, program.file, entry), &options, &setup) {
            Ok(list) => evaluated["gradients"] = list.into(),
            Err(Missing::Refused(errors)) => return outcome.refuse(program.blame(errors)),
            Err(Missing::Said(message)) => return outcome.usage(&message),
        }
    }
    name_closures(&mut evaluated, shader.interface());
    match arguments.json.is_wanted() {
        true => outcome.report = Some(Box::new(evaluated)),
        false => outcome.output = plain(&evaluated),
    }
    outcome
}

/// The globals whose partials somebody gives.
fn seeded(arguments: &Arguments) -> Vec<String> {
    let by_the_grid = if arguments.grid.is_some() { &grid::GLOBALS[..] } else { &[] };
    let given = arguments.globals.iter().filter(|g| g.seeded).map(|g| g.name.clone());
    given.chain(by_the_grid.iter().map(|name| (*name).to_owned())).collect()
}

/// The globals block with lane 0 filled.
fn rows(checked: &Checked, given: &[GlobalArgument]) -> Result<Vec<Row>, String> {
    let mut rows = vec![Row::ZERO; checked.layout.rows()];
    for field in checked.layout.fields() {
        for c in 0..field.components() {
            if let Some(row) = field.row(c, Order::Value) {
                rows[row].0[0] = field.rest(c);
            }
        }
    }
    for g in given {
        let Some((_, field)) = checked.layout.find(&g.name) else { continue };
        let alike =
            field.ty == g.ty || matches!((&field.ty, &g.ty), (Type::Vector(a), Type::Vector(b)) if a.len() == b.len());
        if !alike {
            return Err(format!("the global `{}` is declared with another type", g.name));
        }
        for (order, values) in [Order::Value, Order::Ddx, Order::Ddy].into_iter().zip(&g.orders) {
            for (c, &x) in values.iter().enumerate() {
                let Some(row) = field.row(c, order) else { continue };
                match field.ty {
                    Type::Int | Type::Bool | Type::String => rows[row].set_int(0, x as i32),
                    _ => rows[row].0[0] = x as f32,
                }
            }
        }
    }
    Ok(rows)
}

/// A line for each output.
fn plain(evaluated: &Value) -> String {
    let mut out = String::new();
    for message in evaluated["messages"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        out.push_str(message);
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    for (name, value) in evaluated["outputs"].as_object().into_iter().flatten() {
        match value.as_array().filter(|list| list.iter().any(Value::is_object)) {
            Some(lobes) => lobes.iter().for_each(|l| out.push_str(&format!("{name}: {l}\n"))),
            None => out.push_str(&format!("{name} = {value}\n")),
        }
    }
    out.push_str(&gradients::text(evaluated));
    for key in ["clamped_indices", "non_finite_derivatives", "lost_texture_gradients"] {
        if let Some(count) = evaluated.get(key) {
            out.push_str(&format!("{key}: {count}\n"));
        }
    }
    if let Some(text) = evaluated.get("differences").and_then(Value::as_str) {
        out.push_str(&format!("{text}\n"));
    }
    out.push_str(&drift::text(evaluated));
    if let Some(time) = evaluated.get("time") {
        out.push_str(&format!(
            "compiled in {:.3} ms, {} bytes of code, {:.1} ns a point\n",
            time["compile_ms"].as_f64().unwrap_or(0.0),
            time["code_bytes"],
            time["ns_per_point"].as_f64().unwrap_or(0.0)
        ));
    }
    out
}
