//! `shade eval FILE --gradient OUT:NAME`: the Jacobian of an output at a point, by parameters and globals.
//!
//! A gradient is asked for one component of the output at a time, each in a lane of its own.

use super::setup::Setup;
use renderer::math::figures::number;
use serde_json::{Value, json};
use ssl_compiler::diagnostics::closest;
use ssl_compiler::runtime::{Order, Row, ShaderInterface};
use ssl_compiler::{
    Block, Checked, CompileOptions, Diagnostics, FileId, GradientBy, GradientRequest, LANES, Shader, compile_checked,
    on_large_stack,
};

/// `OUT:NAME[,NAME…]`
#[derive(Clone, Debug)]
pub struct GradientArgument {
    of: String,
    by: Vec<String>,
}

impl std::str::FromStr for GradientArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<GradientArgument, String> {
        let form = "write OUT:NAME or OUT:NAME,NAME, with an output and parameters or globals";
        let (of, by) = text.split_once(':').ok_or(form)?;
        let (of, by) = (of.trim().to_owned(), by.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>());
        if of.is_empty() || by.iter().any(String::is_empty) {
            return Err(form.to_owned());
        }
        Ok(GradientArgument { of, by })
    }
}

/// Why there is no gradient.
pub enum Missing {
    /// The compiler refuses it.
    Refused(Diagnostics),
    /// A name is unknown, or the shader did not end.
    Said(String),
}

/// A part of an output: all rows of a plain one; weight or one parameter of a lobe.
struct Part {
    rows: std::ops::Range<usize>,
    /// Of a lobe, which one, and which part of it.
    lobe: Option<Value>,
}

/// The gradients that were asked for.
pub fn taken(
    asked: &[GradientArgument],
    shader: (&Checked, FileId, Option<&str>),
    options: &CompileOptions<'_>,
    setup: &Setup<'_>,
) -> Result<Vec<Value>, Missing> {
    let mut list = Vec::new();
    for one in asked {
        let request = request(one, setup)?;
        let (checked, file, entry) = shader;
        let options = CompileOptions { gradient: Some(&request), ..*options };
        let (shader, _) = compile_checked(checked, file, entry, &options).map_err(Missing::Refused)?;
        for part in parts(&one.of, shader.interface()) {
            for (by, jacobian) in jacobians(&shader, setup, &part)? {
                let mut entry = json!({"of": one.of, "by": by, "value": jacobian});
                if let Some(lobe) = &part.lobe {
                    entry["lobe"] = lobe.clone();
                }
                list.push(entry);
            }
        }
    }
    Ok(list)
}

/// A line for each.
pub fn text(evaluated: &Value) -> String {
    let mut out = String::new();
    for g in evaluated["gradients"].as_array().into_iter().flatten() {
        let word = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let lobe = &g["lobe"];
        let part = if lobe.is_null() { String::new() } else { format!("[{}].{}", lobe["index"], word(&lobe["part"])) };
        let (of, by) = (word(&g["of"]), word(&g["by"]));
        out.push_str(&format!("gradient of {of}{part} by {by} = {}\n", g["value"]));
    }
    out
}

fn request(asked: &GradientArgument, setup: &Setup<'_>) -> Result<GradientRequest, Missing> {
    let interface = setup.shader.interface();
    let request = by_names(GradientRequest::of([asked.of.as_str()]), &asked.by, interface).map_err(Missing::Said)?;
    match request.textures.first() {
        Some(name) => Err(Missing::Said(format!("`{name}` is a texture: its gradient has a number for each texel"))),
        None => Ok(request),
    }
}

/// Adds what the names stand for to a request: parameters, textures, buffers, and globals, which any of these hides.
pub fn by_names(
    mut request: GradientRequest,
    names: &[String],
    interface: &ShaderInterface,
) -> Result<GradientRequest, String> {
    let of = |list: &[&str], name: &str| list.contains(&name);
    let parameters: Vec<&str> = interface.parameters.iter().map(|p| p.name.as_str()).collect();
    let textures: Vec<&str> = interface.textures.iter().map(|t| t.name.as_str()).collect();
    let buffers: Vec<&str> = interface.buffers.iter().map(|b| b.name.as_str()).collect();
    let globals: Vec<&str> = interface.globals.fields().iter().map(|g| g.name.as_str()).collect();
    for name in names.iter().map(String::as_str) {
        request = match name {
            _ if of(&parameters, name) => request.by_parameters([name]),
            _ if of(&textures, name) => request.by_textures([name]),
            _ if of(&buffers, name) => request.by_buffers([name]),
            _ if of(&globals, name) => request.by_globals([name]),
            _ => {
                let all: Vec<&str> =
                    [&parameters, &textures, &buffers, &globals].into_iter().flatten().copied().collect();
                let hint = match closest(name, all.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there is {}", all.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
                };
                return Err(format!("the shader has no parameter, texture, buffer or global `{name}`; {hint}"));
            }
        };
    }
    Ok(request)
}

fn parts(of: &str, interface: &ShaderInterface) -> Vec<Part> {
    if let Some(o) = interface.output(of) {
        let rows = o.first_row..o.first_row + o.scalars.len();
        return vec![Part { rows, lobe: None }];
    }
    let mut parts = Vec::new();
    for (index, lobe) in interface.lobes.iter().enumerate().filter(|(_, l)| l.output == of) {
        let closure = interface.closure_types.get(lobe.closure);
        let mut add = |name: &str, rows: std::ops::Range<usize>| {
            let lobe = json!({"index": index, "closure": closure.name, "part": name});
            parts.push(Part { rows, lobe: Some(lobe) });
        };
        add("weight", lobe.weight_row..lobe.weight_row + 3);
        let mut at = lobe.parameter_row;
        for p in &closure.parameters {
            let Some(n) = p.ty.components() else { continue };
            add(&p.name, at..at + n);
            at += n;
        }
    }
    parts
}

/// As text names what a gradient is taken by.
fn name_of(by: &GradientBy) -> String {
    match by {
        GradientBy::Parameter(name) => name.clone(),
        GradientBy::Global(name, order) => match order {
            Order::Value => name.clone(),
            Order::Ddx => format!("ddx({name})"),
            Order::Ddy => format!("ddy({name})"),
            Order::Dxx => format!("ddx(ddx({name}))"),
            Order::Dxy => format!("ddx(ddy({name}))"),
            Order::Dyy => format!("ddy(ddy({name}))"),
        },
    }
}

/// The Jacobian by each thing: a number, or a list where the output or the other has components. Empty for an output
/// without floats.
fn jacobians(shader: &Shader, setup: &Setup<'_>, part: &Part) -> Result<Vec<(String, Value)>, Missing> {
    let Some(gradient) = &shader.interface().gradient else { return Ok(Vec::new()) };
    let rows: Vec<usize> = part.rows.clone().filter(|&row| gradient.cotangent(row).is_some()).collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<Vec<Value>> = vec![Vec::new(); gradient.gradients.len()];
    for chunk in rows.chunks(LANES) {
        let outputs = sweep(shader, setup, chunk)?;
        for (lane, _) in chunk.iter().enumerate() {
            for (list, desc) in found.iter_mut().zip(&gradient.gradients) {
                let numbers: Vec<Value> = desc.read(&outputs, lane).into_iter().map(number).collect();
                list.push(if let [one] = numbers.as_slice() { one.clone() } else { Value::Array(numbers) });
            }
        }
    }
    let shape = |mut list: Vec<Value>| if list.len() == 1 { list.remove(0) } else { Value::Array(list) };
    Ok(gradient.gradients.iter().zip(found).map(|(desc, list)| (name_of(&desc.by), shape(list))).collect())
}

/// Runs the point in as many lanes as there are rows, each with the cotangent of its row.
fn sweep(shader: &Shader, setup: &Setup<'_>, of: &[usize]) -> Result<Vec<Row>, Missing> {
    let interface = shader.interface();
    let mut rows = interface.with_cotangents(&setup.rows);
    rows.iter_mut().for_each(|row| *row = Row([row.0[0]; LANES]));
    for (lane, &row) in of.iter().enumerate() {
        if let Some(cotangent) = interface.gradient.as_ref().and_then(|g| g.cotangent(row)) {
            rows[cotangent].0[lane] = 1.0;
        }
    }
    let mut outputs = shader.new_outputs();
    let mask = (1 << of.len()) - 1;
    let block = Block { host: &setup.textures, mask, ..Block::new(&rows, &setup.parameters, &mut outputs) };
    let status = on_large_stack(|| {
        let mut block = block;
        shader.run(&mut block)
    });
    match status.first_error() {
        Some(error) => Err(Missing::Said(format!("the gradient was not reached: {error}"))),
        None => Ok(outputs),
    }
}
