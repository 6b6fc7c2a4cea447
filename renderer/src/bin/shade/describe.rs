//! A shader's interface as JSON: what editors, exporters and scene tools need to know to use it.

use renderer::math::figures::number;
use serde_json::{Map, Value, json};
use ssl_compiler::runtime::interface::{GlobalRead, Metadata, MetadataValue, ParameterDesc};
use ssl_compiler::runtime::{GlobalsLayout, ShaderInterface};
use ssl_compiler::types::{Scalar, Type};

/// One shader of a file.
///
/// `order` has the names of its parameters as they stand in the file.
pub fn shader(file: &str, order: &[&str], interface: &ShaderInterface, layout: &GlobalsLayout) -> Value {
    let mut parameters = parameters(interface);
    parameters.sort_by_key(|p| order.iter().position(|name| p["name"] == *name));
    json!({
        "file": file,
        "name": interface.name,
        "metadata": metadata(&interface.metadata),
        "parameters": parameters,
        "textures": interface.textures.iter().map(|t| json!({"name": t.name, "used": t.used})).collect::<Vec<_>>(),
        "globals": globals(&interface.globals_read, layout),
        "closures": lobes(interface),
    })
}

/// Everything that stands in the shader's parentheses.
fn parameters(interface: &ShaderInterface) -> Vec<Value> {
    let one = |name: &str, ty: &str, direction: &str, default: Value, list: &[Metadata]| json!({"name": name, "type": ty, "direction": direction, "default": default, "metadata": metadata(list)});
    let values =
        interface.parameters.iter().map(|p| one(&p.name, &p.type_name, "in", default(p, interface), &p.metadata));
    let textures = interface
        .textures
        .iter()
        .filter(|t| t.parameter)
        .map(|t| one(&t.name, "texture2d", "in", Value::Null, &t.metadata));
    let outputs = interface.outputs.iter().map(|o| one(&o.name, &o.type_name, "out", Value::Null, &o.metadata));
    let closures = interface.closures.iter().map(|c| one(&c.name, "closure", "out", Value::Null, &c.metadata));
    values.chain(textures).chain(outputs).chain(closures).collect()
}

fn default(p: &ParameterDesc, interface: &ShaderInterface) -> Value {
    let one = |(scalar, &word): (&Scalar, &u32)| match (scalar, &p.ty) {
        (Scalar::Bool, _) => json!(word != 0),
        (Scalar::Int, Type::String) => json!(interface.string(word as i32)),
        (Scalar::Int, _) => json!(word as i32),
        (Scalar::Float, _) => number(f32::from_bits(word)),
    };
    shaped(&p.ty, p.scalars.iter().zip(&p.default).map(one).collect())
}

/// The components of a value: one alone, a matrix as its four rows, all else as a list.
pub fn shaped(ty: &Type, mut list: Vec<Value>) -> Value {
    match ty {
        Type::Matrix => list.chunks(4).map(|row| Value::Array(row.to_vec())).collect(),
        _ if list.len() == 1 => list.remove(0),
        _ => Value::Array(list),
    }
}

fn metadata(list: &[Metadata]) -> Value {
    Value::Object(list.iter().map(|m| (m.name.clone(), metadata_value(&m.value))).collect::<Map<_, _>>())
}

fn metadata_value(value: &MetadataValue) -> Value {
    match value {
        MetadataValue::Bool(x) => json!(x),
        MetadataValue::Int(x) => json!(x),
        MetadataValue::Float(x) => number(*x),
        MetadataValue::String(x) => json!(x),
        MetadataValue::List(list) => list.iter().map(metadata_value).collect(),
    }
}

/// Each global once, with the orders of it that are read.
fn globals(read: &[GlobalRead], layout: &GlobalsLayout) -> Vec<Value> {
    let mut fields: Vec<usize> = read.iter().map(|r| r.field).collect();
    fields.dedup();
    let one = |field: usize| {
        let mut orders: Vec<_> = read.iter().filter(|r| r.field == field).map(|r| r.order).collect();
        orders.sort();
        orders.dedup();
        let global = layout.field(field);
        let ty = ssl_compiler::types::TypeTable::default().display(&global.ty).to_string();
        json!({"name": global.name, "type": ty, "orders": orders.iter().map(|o| o.name()).collect::<Vec<_>>()})
    };
    fields.into_iter().map(one).collect()
}

/// The names of the closures that a shader makes, each once for an output.
fn lobes(interface: &ShaderInterface) -> Vec<Value> {
    let mut list: Vec<Value> = Vec::new();
    for lobe in &interface.lobes {
        let entry = json!({"output": lobe.output, "closure": interface.closure_types.get(lobe.closure).name});
        if !list.contains(&entry) {
            list.push(entry);
        }
    }
    list
}
