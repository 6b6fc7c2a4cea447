//! `shade eval FILE`: runs one shader alone, at one point or over a grid.

use super::check::read;
use super::grid;
use super::inputs::{GlobalArgument, ParameterArgument};
use super::outcome::{self, Outcome};
use renderer::material::ShadingLanguage;
use serde_json::{Value, json};
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::runtime::{Block, ClosureRegistry, GlobalsLayout, LANES, Order, Orders, ParameterBlock, Row, ShaderInterface};
use ssl_compiler::testing::TestTexture;
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{BackendKind, Checked, CompileOptions, Shader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// The shader file
    file: PathBuf,
    /// The shader, where the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// A global's value and partials, declared where the file does not; all others are 0
    #[arg(long = "global", value_name = "NAME:TYPE=VALUE[,DDX,DDY]", allow_hyphen_values = true)]
    globals: Vec<GlobalArgument>,
    /// A parameter's value, instead of its default
    #[arg(long = "param", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    parameters: Vec<ParameterArgument>,
    /// What runs the shader
    #[arg(long, value_enum, default_value = "cranelift")]
    backend: Backend,
    /// Shade a unit square of so many points, with `uvw` and `position` running over it
    #[arg(long, value_name = "WxH", value_parser = grid::size)]
    grid: Option<(u32, u32)>,
    /// Where the grid's outputs go, as layers of an `.exr`
    #[arg(short, long, value_name = "FILE", requires = "grid")]
    output: Option<PathBuf>,
    /// Time compiling and running
    #[arg(long)]
    time: bool,
    /// Points to run for `--time`
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    points: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Backend {
    Interp,
    Cranelift,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut outcome = Outcome::default();
    let file = match read(&arguments.file, &mut outcome.sources) {
        Ok(file) => file,
        Err(d) => return outcome.refuse((*d).into()),
    };
    let language = ShadingLanguage::new();
    let mut layout = language.globals().clone();
    for g in &arguments.globals {
        // What is there already only gets its value, if the type agrees.
        if layout.find(&g.name).is_none() && let Err(e) = layout.add(&g.name, g.ty.clone(), Orders::First) {
            return outcome.usage(&e.to_string());
        }
    }
    let backend = match arguments.backend {
        Backend::Interp => BackendKind::Interpreter,
        Backend::Cranelift => BackendKind::Cranelift,
    };
    let options = CompileOptions { backend, ..CompileOptions::new(&layout, language.closures()) };
    let start = Instant::now();
    let (checked, diagnostics) = ssl_compiler::check(&outcome.sources, file, &options);
    if diagnostics.has_errors() {
        return outcome.refuse(diagnostics);
    }
    let compiled = ssl_compiler::compile_checked(&checked, file, arguments.entry.as_deref(), &options);
    let compile_time = start.elapsed();
    let shader = match compiled {
        Ok((shader, warnings)) => {
            outcome.diagnostics = diagnostics;
            outcome.diagnostics.extend(warnings);
            shader
        }
        Err(diagnostics) => return outcome.refuse(diagnostics),
    };
    let rows = match rows(&checked, &arguments.globals) {
        Ok(rows) => rows,
        Err(message) => return outcome.usage(&message),
    };
    let mut parameters = ParameterBlock::new(shader.interface());
    for p in &arguments.parameters {
        if let Err(e) = parameters.set(shader.interface(), &p.name, &p.value) {
            return outcome.usage(&explain(&p.name, &e));
        }
    }
    let setup = Setup { shader: &shader, layout: &checked.layout, rows, parameters };
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
    let closures = language.closures();
    name_closures(&mut evaluated, shader.interface(), closures);
    outcome.output = if arguments.json { format!("{evaluated:#}\n") } else { plain(&evaluated) };
    outcome
}

/// A shader with everything that it needs to run.
pub struct Setup<'a> {
    pub shader: &'a Shader,
    pub layout: &'a GlobalsLayout,
    pub rows: Vec<Row>,
    pub parameters: ParameterBlock,
}

impl Setup<'_> {
    pub fn run(&self, rows: &[Row], outputs: &mut [Row], mask: u32) -> ssl_compiler::runtime::BlockStatus {
        let mut block =
            Block { globals: rows, parameters: &self.parameters, host: &TestTexture, outputs, mask, fuel: DEFAULT_FUEL };
        self.shader.run(&mut block)
    }

    pub fn output_rows(&self) -> Vec<Row> {
        vec![Row::ZERO; self.shader.interface().output_rows]
    }

    /// `{"outputs": {…}}`, with `"error"` where the shader did not end, and what was counted where
    /// there is something.
    fn point(&self) -> Value {
        let mut outputs = self.output_rows();
        let status = on_large_stack(|| self.run(&self.rows, &mut outputs, 1));
        let interface = self.shader.interface();
        let mut values = serde_json::Map::new();
        for o in &interface.outputs {
            let list: Vec<Value> = o.scalars.iter().zip(&outputs[o.first_row..]).map(|(s, row)| scalar(*s, row)).collect();
            let value = if list.len() == 1 { list[0].clone() } else { Value::Array(list) };
            values.insert(o.name.clone(), value);
        }
        for (index, lobe) in interface.lobes.iter().enumerate() {
            let list = values.entry(lobe.output.clone()).or_insert_with(|| json!([]));
            let weight = ssl_compiler::runtime::read3(&outputs, lobe.weight_row, 0);
            // A lobe without weight is none.
            if weight == [0.0; 3] {
                continue;
            }
            let weight = weight.map(number);
            let next = json!({"closure": lobe.closure.0, "index": index, "weight": weight, "first": lobe.parameter_row,
                "layer": lobe.layer.map(|l| json!({"lobe": l.lobe, "parameter": l.parameter}))});
            if let Value::Array(list) = list {
                list.push(next);
            }
        }
        let mut result = json!({"outputs": values});
        for (name, count) in [("clamped_indices", status.clamped_indices), ("non_finite_derivatives", status.non_finite_derivatives)] {
            if count > 0 {
                result[name] = count.into();
            }
        }
        if let Some(error) = status.first_error() {
            result["error"] = error.to_string().into();
        }
        // The parameters of lobes are filled in once their types are known.
        result["rows"] = outputs.iter().map(|r| Value::from(r.0[0].to_bits())).collect();
        result
    }

    /// Compile times by stage, code size, and the time of one of many points.
    fn time(&self, compile: Duration, points: u64) -> Value {
        let mut rows = self.rows.clone();
        rows.iter_mut().for_each(|r| *r = Row::splat(r.0[0]));
        let mut outputs = self.output_rows();
        let blocks = points.div_ceil(LANES as u64);
        let elapsed = on_large_stack(|| {
            let start = Instant::now();
            for _ in 0..blocks {
                self.run(&rows, &mut outputs, (1 << LANES) - 1);
            }
            start.elapsed()
        });
        let milliseconds = |d: Duration| d.as_secs_f64() * 1e3;
        let stages: serde_json::Map<String, Value> =
            self.shader.timings().iter().map(|(name, d)| ((*name).to_owned(), milliseconds(*d).into())).collect();
        json!({
            "compile_ms": milliseconds(compile), "stages": stages, "code_bytes": self.shader.code_bytes(),
            "ns_per_point": elapsed.as_nanos() as f64 / (blocks * LANES as u64) as f64,
        })
    }
}

/// Shaders may recurse deeply.
fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(64 << 20);
        match builder.spawn_scoped(scope, run).map(|handle| handle.join()) {
            Ok(Ok(value)) => value,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => panic!("the system gives no thread: {e}"),
        }
    })
}

/// The globals block with lane 0 filled.
fn rows(checked: &Checked, given: &[GlobalArgument]) -> Result<Vec<Row>, String> {
    let mut rows = vec![Row::ZERO; checked.layout.rows()];
    for g in given {
        let Some((_, field)) = checked.layout.find(&g.name) else { continue };
        let alike = field.ty == g.ty || matches!((&field.ty, &g.ty), (Type::Vector(a), Type::Vector(b)) if a.len() == b.len());
        if !alike {
            return Err(format!("the global `{}` is declared with another type", g.name));
        }
        for (order, values) in [Order::Value, Order::Ddx, Order::Ddy].into_iter().zip(&g.orders) {
            for (c, &x) in values.iter().enumerate() {
                let Some(row) = field.row(c, order) else { continue };
                match field.ty {
                    Type::Int | Type::Bool => rows[row].set_int(0, x as i32),
                    _ => rows[row].0[0] = x as f32,
                }
            }
        }
    }
    Ok(rows)
}

fn number(x: f32) -> Value {
    // The shortest digits that name this f32; JSON knows no infinities, which become text.
    let text = x.to_string();
    match text.parse::<f64>() {
        Ok(digits) if x.is_finite() => json!(digits),
        _ => json!(text),
    }
}

fn scalar(s: Scalar, row: &Row) -> Value {
    match s {
        Scalar::Float => number(row.0[0]),
        Scalar::Int => json!(row.int(0)),
        Scalar::Bool => json!(row.int(0) != 0),
    }
}

/// Replaces the numbers of closures by their names, and adds their parameters.
fn name_closures(evaluated: &mut Value, interface: &ShaderInterface, closures: &ClosureRegistry) {
    let rows: Vec<u32> = evaluated["rows"].as_array().into_iter().flatten().filter_map(|v| v.as_u64()).map(|v| v as u32).collect();
    if let Value::Object(map) = evaluated {
        map.remove("rows");
    }
    for lobe in &interface.lobes {
        let Some(list) = evaluated["outputs"][&lobe.output].as_array_mut() else { continue };
        let Some(entry) = list.iter_mut().find(|l| l["first"] == json!(lobe.parameter_row)) else { continue };
        let closure = closures.get(lobe.closure);
        let mut parameters = serde_json::Map::new();
        let mut at = lobe.parameter_row;
        for p in &closure.parameters {
            let Some(n) = p.ty.components() else { continue };
            let mut words = rows.iter().skip(at).take(n).map(|&w| Row::splat(f32::from_bits(w)));
            let scalars = p.ty.component_scalar().unwrap_or(Scalar::Float);
            let values: Vec<Value> = words.by_ref().map(|row| scalar(scalars, &row)).collect();
            parameters.insert(p.name.to_owned(), if n == 1 { values[0].clone() } else { Value::Array(values) });
            at += n;
        }
        if let Value::Object(map) = entry {
            map.remove("first");
            map.insert("closure".to_owned(), closure.name.into());
            map.insert("parameters".to_owned(), Value::Object(parameters));
            if map["layer"].is_null() {
                map.remove("layer");
            }
        }
    }
}

/// A line for each output.
fn plain(evaluated: &Value) -> String {
    let mut out = String::new();
    for (name, value) in evaluated["outputs"].as_object().into_iter().flatten() {
        match value.as_array().filter(|list| list.iter().any(Value::is_object)) {
            Some(lobes) => lobes.iter().for_each(|l| out.push_str(&format!("{name}: {l}\n"))),
            None => out.push_str(&format!("{name} = {value}\n")),
        }
    }
    for key in ["clamped_indices", "non_finite_derivatives"] {
        if let Some(count) = evaluated.get(key) {
            out.push_str(&format!("{key}: {count}\n"));
        }
    }
    if let Some(time) = evaluated.get("time") {
        out.push_str(&format!("compiled in {:.3} ms, {} bytes of code, {:.1} ns a point\n",
            time["compile_ms"].as_f64().unwrap_or(0.0), time["code_bytes"], time["ns_per_point"].as_f64().unwrap_or(0.0)));
    }
    out
}

fn explain(name: &str, error: &ParameterError) -> String {
    match error {
        ParameterError::Unknown(known) if known.is_empty() => format!("the shader has no parameters, so no `{name}`"),
        ParameterError::Unknown(known) => format!("the shader has no parameter `{name}`; it has {}", known.join(", ")),
        ParameterError::Type(ty) => format!("the parameter `{name}` takes a value of type {ty}"),
    }
}
