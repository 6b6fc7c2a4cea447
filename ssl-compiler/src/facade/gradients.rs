//! From the gradient that a host asks for by names to what the passes need, and from what they made to the rows that the
//! host must know.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, closest, codes};
use crate::ir::gradients::Input;
use crate::ir::{ColumnWord, Module};
use crate::runtime::{
    BufferDesc, BufferRole, GlobalsLayout, GradientBy, GradientColumns, GradientDesc, GradientInterface,
    GradientRequest, Orders, ShaderInterface,
};
use crate::source::Span;
use crate::types::{Scalar, Type};

/// Notes in a module, as it was lowered, what a host wants differentiated. The layout gets a global for each cotangent.
pub fn ask(
    request: &GradientRequest,
    module: &mut Module,
    interface: &mut ShaderInterface,
    layout: &mut GlobalsLayout,
    shader: Span,
) -> Result<(), Diagnostics> {
    let mut asking = Asking { interface, layout, shader, found: Diagnostics::new() };
    let rows = asking.rows(request);
    let words = asking.words(request);
    let globals = asking.globals(request);
    let textures = asking.textures(request);
    asking.check_buffers(request);
    let by_values = !request.parameters.is_empty() || !request.globals.is_empty();
    if !by_values && request.textures.is_empty() && request.buffers.is_empty() {
        let hint = "name parameters, globals, texture slots or buffers";
        asking.refuse("the gradient is taken by nothing", hint.to_owned());
    }
    if asking.found.has_errors() {
        return Err(asking.found);
    }
    module.gradients.words = words;
    module.gradients.globals = globals;
    module.gradients.textures = textures;
    let mut gradient = GradientInterface { cotangents: vec![None; interface.output_rows], ..Default::default() };
    let results = module.entry().results.clone();
    // A lobe may have parameters that are no floats.
    for row in rows.into_iter().filter(|row| results[row + 1].is_differentiable()) {
        // No global of a host or a file has a dot in its name, and each row comes once.
        let Ok(field) = layout.add(&format!("cotangent.{row}"), Type::Float, Orders::Value) else { continue };
        let field_of = layout.field(field).clone();
        gradient.cotangents[row] = Some(field_of.first_row);
        module.globals.push(field_of);
        module.gradients.of.push((row as u32, field as u32));
    }
    if interface.kernel {
        columns(request, module, interface, &mut gradient);
    }
    interface.gradient = Some(gradient);
    Ok(())
}

/// Gives a kernel's gradient columns of its own.
fn columns(
    request: &GradientRequest,
    module: &mut Module,
    interface: &mut ShaderInterface,
    gradient: &mut GradientInterface,
) {
    let wanted = |name: &String| request.of.is_empty() || request.of.contains(name);
    for b in &interface.buffers {
        let (kind, added) = match b.role {
            BufferRole::Add if wanted(&b.name) => ("cotangent", false),
            BufferRole::In | BufferRole::InOut if request.buffers.contains(&b.name) => ("gradient", true),
            _ => continue,
        };
        let first = module.columns.len();
        let pairs = b.scalars.iter().enumerate().filter(|(_, s)| **s == Scalar::Float);
        let pairs = pairs.map(|(i, _)| ((b.first_column + i) as u32, (first + i) as u32));
        let (map, list) = match added {
            true => (&mut module.gradients.columns.by, &mut gradient.gradient_columns),
            false => (&mut module.gradients.columns.of, &mut gradient.cotangent_columns),
        };
        map.extend(pairs);
        list.push(GradientColumns { buffer: b.name.clone(), first_column: first, count: b.scalars.len() });
        for path in &b.paths {
            let dot = if path.is_empty() { "" } else { "." };
            let name = format!("{kind}.{}{dot}{path}", b.name);
            module.columns.push(ColumnWord { name, scalar: Scalar::Float, added, first: first as u32 });
        }
    }
    module.gradients.columns.alone = true;
    interface.columns = module.columns.len();
}

/// Tells where the gradients lie that the passes made.
pub fn tell(request: &GradientRequest, module: &Module, interface: &mut ShaderInterface) {
    let alone = module.gradient_columns.alone;
    let first = if alone { 0 } else { interface.output_rows };
    let row = |input: Input| module.gradient_rows.iter().position(|i| *i == input).map(|i| first + i);
    let mut gradients = Vec::new();
    for name in &request.parameters {
        let Some(p) = interface.parameters.iter().find(|p| p.name == *name) else { continue };
        let rows = (0..p.scalars.len()).map(|i| row(Input::Parameter((p.first_word + i) as u32))).collect();
        gradients.push(GradientDesc { by: GradientBy::Parameter(name.clone()), rows });
    }
    for name in &request.globals {
        let Some(field) = module.globals.iter().position(|g| g.name == *name) else { continue };
        let components = module.globals[field].components() as u32;
        for order in crate::runtime::Order::ALL {
            let input = |component| Input::Global { field: field as u32, component, order };
            let rows: Vec<Option<usize>> = (0..components).map(|component| row(input(component))).collect();
            if rows.iter().any(Option::is_some) {
                gradients.push(GradientDesc { by: GradientBy::Global(name.clone(), order), rows });
            }
        }
    }
    interface.output_rows = first + module.gradient_rows.len();
    if let Some(gradient) = &mut interface.gradient {
        gradient.gradients = gradients;
    }
}

struct Asking<'a> {
    interface: &'a ShaderInterface,
    layout: &'a GlobalsLayout,
    shader: Span,
    found: Diagnostics,
}

impl Asking<'_> {
    fn refuse(&mut self, message: impl Into<String>, hint: String) {
        let code: &'static Code = &codes::GRADIENT;
        self.found.push(Diagnostic::error(code, self.shader, message, hint));
    }

    /// Says that there is nothing of this name.
    fn unknown(&mut self, kind: &str, name: &str, known: &[&str]) {
        let hint = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "it has none".to_owned(),
            None => format!("there is {}", known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
        };
        self.refuse(format!("the shader has no {kind} `{name}`, so it has no gradient"), hint);
    }

    fn no_float(&mut self, name: &str) {
        let hint = "whole numbers, booleans and strings change in steps".to_owned();
        self.refuse(format!("`{name}` holds no float, so it has no gradient"), hint);
    }

    /// The output rows for which the host gives cotangents.
    fn rows(&mut self, request: &GradientRequest) -> Vec<usize> {
        let interface = self.interface;
        let written = |b: &&BufferDesc| b.role != BufferRole::In;
        let buffers = interface.buffers.iter().filter(written).map(|b| b.name.as_str());
        let plain = interface.outputs.iter().map(|o| o.name.as_str()).chain(buffers);
        let all: Vec<&str> = plain.chain(interface.closures.iter().map(|c| c.name.as_str())).collect();
        let mut rows = Vec::new();
        let names = || request.of.iter().map(String::as_str);
        let wanted: Vec<&str> = if request.of.is_empty() { all.clone() } else { names().collect() };
        for name in wanted {
            if let Some(b) = interface.buffers.iter().find(|b| b.name == name && written(b)) {
                let floats = b.scalars.iter().enumerate().filter(|(_, s)| **s == Scalar::Float);
                if floats.clone().count() == 0 && !request.of.is_empty() {
                    self.no_float(name);
                }
                rows.extend(b.first_row.into_iter().flat_map(|first| floats.clone().map(move |(i, _)| first + i)));
            } else if let Some(o) = interface.output(name) {
                let floats = o.scalars.iter().enumerate().filter(|(_, s)| **s == Scalar::Float);
                let before = rows.len();
                rows.extend(floats.map(|(i, _)| o.first_row + i));
                if rows.len() == before && !request.of.is_empty() {
                    self.no_float(name);
                }
            } else if !all.contains(&name) {
                self.unknown("output", name, &all);
            } else {
                rows.extend(self.lobes(name));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The rows of weights and parameters of a closure's lobes. What is no float among them has no cotangent.
    fn lobes(&self, closure: &str) -> Vec<usize> {
        let mut starts: Vec<usize> = self.interface.lobes.iter().map(|l| l.weight_row).collect();
        starts.push(self.interface.output_rows);
        let lobes = self.interface.lobes.iter().zip(starts.windows(2));
        lobes.filter(|(l, _)| l.output == closure).flat_map(|(_, ends)| ends[0]..ends[1]).collect()
    }

    fn words(&mut self, request: &GradientRequest) -> Vec<u32> {
        let interface = self.interface;
        let mut words = Vec::new();
        for name in &request.parameters {
            let Some(p) = interface.parameters.iter().find(|p| p.name == *name) else {
                let known: Vec<&str> = interface.parameters.iter().map(|p| p.name.as_str()).collect();
                self.unknown("parameter", name, &known);
                continue;
            };
            let floats = p.scalars.iter().enumerate().filter(|(_, s)| **s == Scalar::Float);
            let before = words.len();
            words.extend(
                floats.map(|(i, _)| (p.first_word + i) as u32).filter(|w| !words.contains(w)).collect::<Vec<_>>(),
            );
            if words.len() == before && !p.scalars.contains(&Scalar::Float) {
                self.no_float(name);
            }
        }
        words
    }

    fn globals(&mut self, request: &GradientRequest) -> Vec<u32> {
        let mut fields = Vec::new();
        for name in &request.globals {
            match self.layout.find(name) {
                None => {
                    let known: Vec<&str> = self.layout.fields().iter().map(|g| g.name.as_str()).collect();
                    self.unknown("global", name, &known);
                }
                Some((_, field)) if field.ty.component_scalar() != Some(Scalar::Float) => self.no_float(name),
                Some((index, _)) if fields.contains(&(index as u32)) => {}
                Some((index, _)) => fields.push(index as u32),
            }
        }
        fields
    }

    fn check_buffers(&mut self, request: &GradientRequest) {
        let interface = self.interface;
        let read = |b: &&BufferDesc| matches!(b.role, BufferRole::In | BufferRole::InOut);
        for name in &request.buffers {
            match interface.buffers.iter().filter(read).find(|b| b.name == *name) {
                None => {
                    let known: Vec<&str> = interface.buffers.iter().filter(read).map(|b| b.name.as_str()).collect();
                    self.unknown("buffer that is read, called", name, &known);
                }
                Some(b) if !b.scalars.contains(&Scalar::Float) => self.no_float(name),
                Some(_) => {}
            }
        }
    }

    fn textures(&mut self, request: &GradientRequest) -> Vec<u32> {
        let interface = self.interface;
        let mut words = Vec::new();
        for name in &request.textures {
            match interface.textures.iter().find(|t| t.name == *name) {
                Some(t) => words.push(t.word as u32),
                None => {
                    let known: Vec<&str> = interface.textures.iter().map(|t| t.name.as_str()).collect();
                    self.unknown("texture slot", name, &known);
                }
            }
        }
        words.sort_unstable();
        words.dedup();
        words
    }
}
