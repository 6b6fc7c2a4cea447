//! A shader ready to run from the command line, and its results as JSON.

use super::describe::shaped;
use renderer::math::figures::number;
use serde_json::{Value, json};
use ssl_compiler::runtime::{
    Block, BlockStatus, GlobalsLayout, HostServices, LANES, Listener, ParameterBlock, Row, ShaderInterface,
    host_string_id,
};
use ssl_compiler::testing::TestTextures;
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{Shader, on_large_stack};
use std::time::{Duration, Instant};

/// A shader with everything that it needs to run.
pub struct Setup<'a> {
    pub shader: &'a Shader,
    pub layout: &'a GlobalsLayout,
    pub rows: Vec<Row>,
    pub parameters: ParameterBlock,
    pub textures: TestTextures,
    /// Rows that each lane may have on its tape.
    pub tape_rows: u32,
}

impl Setup<'_> {
    pub fn run(&self, rows: &[Row], outputs: &mut [Row], mask: u32) -> BlockStatus {
        self.run_with(rows, outputs, mask, &self.textures)
    }

    /// As above; and what the shader says, each message with its lane.
    pub fn run_heard(&self, rows: &[Row], outputs: &mut [Row], mask: u32) -> (BlockStatus, Vec<(usize, String)>) {
        if !self.shader.prints() {
            return (self.run(rows, outputs, mask), Vec::new());
        }
        let listener = Listener::new(&self.textures, &self.parameters);
        let status = self.run_with(rows, outputs, mask, &listener);
        (status, listener.messages())
    }

    fn run_with(&self, rows: &[Row], outputs: &mut [Row], mask: u32, host: &dyn HostServices) -> BlockStatus {
        let tape_rows = self.tape_rows;
        let mut block = Block { host, mask, tape_rows, ..Block::new(rows, &self.parameters, outputs) };
        self.shader.run(&mut block)
    }

    pub fn output_rows(&self) -> Vec<Row> {
        vec![Row::ZERO; self.shader.interface().output_rows]
    }

    /// The text that a number stands for: one of the shader, or of what it was given.
    fn string(&self, id: i32) -> Value {
        let interface = self.shader.interface();
        let given =
            || self.parameters.texts().iter().find(|s| host_string_id(s, &interface.strings) == id).map(String::as_str);
        json!(interface.string(id).or_else(given))
    }

    /// `{"outputs": {…}}`, with `"messages"` where the shader said something, `"error"` where the shader did not end, and what was counted where
    /// there is something.
    pub fn point(&self) -> Value {
        let mut outputs = self.output_rows();
        let (status, messages) = on_large_stack(|| self.run_heard(&self.rows, &mut outputs, 1));
        let interface = self.shader.interface();
        let mut values = serde_json::Map::new();
        for o in &interface.outputs {
            let one = |(s, row): (&Scalar, &Row)| match o.ty {
                Type::String => self.string(row.int(0)),
                _ => scalar(*s, row),
            };
            let list: Vec<Value> = o.scalars.iter().zip(&outputs[o.first_row..]).map(one).collect();
            values.insert(o.name.clone(), shaped(&o.ty, list));
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
        let said: Vec<String> = messages.into_iter().map(|(_, text)| text).collect();
        if !said.is_empty() {
            result["messages"] = said.into();
        }
        for (name, count) in [
            ("clamped_indices", status.clamped_indices),
            ("non_finite_derivatives", status.non_finite_derivatives),
            ("lost_texture_gradients", status.lost_texture_gradients),
            ("tape_rows", status.tape_rows),
        ] {
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
    pub fn time(&self, compile: Duration, points: u64) -> Value {
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

fn scalar(s: Scalar, row: &Row) -> Value {
    match s {
        Scalar::Float => number(row.0[0]),
        Scalar::Int => json!(row.int(0)),
        Scalar::Bool => json!(row.int(0) != 0),
    }
}

/// Replaces the numbers of closures by their names, and adds their parameters.
pub fn name_closures(evaluated: &mut Value, interface: &ShaderInterface) {
    let rows: Vec<u32> =
        evaluated["rows"].as_array().into_iter().flatten().filter_map(|v| v.as_u64()).map(|v| v as u32).collect();
    if let Value::Object(map) = evaluated {
        map.remove("rows");
    }
    for lobe in &interface.lobes {
        let Some(list) = evaluated["outputs"][&lobe.output].as_array_mut() else { continue };
        let Some(entry) = list.iter_mut().find(|l| l["first"] == json!(lobe.parameter_row)) else { continue };
        let closure = interface.closure_types.get(lobe.closure);
        let mut parameters = serde_json::Map::new();
        let mut at = lobe.parameter_row;
        for p in &closure.parameters {
            let Some(n) = p.ty.components() else { continue };
            let mut words = rows.iter().skip(at).take(n).map(|&w| Row::splat(f32::from_bits(w)));
            let scalars = p.ty.component_scalar().unwrap_or(Scalar::Float);
            let values: Vec<Value> = words.by_ref().map(|row| scalar(scalars, &row)).collect();
            parameters.insert(p.name.to_string(), if n == 1 { values[0].clone() } else { Value::Array(values) });
            at += n;
        }
        if let Value::Object(map) = entry {
            map.remove("first");
            map.insert("closure".to_owned(), (&*closure.name).into());
            map.insert("parameters".to_owned(), Value::Object(parameters));
            if map["layer"].is_null() {
                map.remove("layer");
            }
        }
    }
}
