//! Turns the names of layers, from scene files and the command line, into layers of a scene.

use super::codes;
use super::context::Context;
use crate::film::{Aov, OutputKind};
use crate::material::Material;
use ssl_compiler::diagnostics::{Code, closest};
use ssl_compiler::runtime::OutputDesc;
use ssl_compiler::types::{Type, VectorKind};
use toml::Spanned;

/// Why a list of names is no list of layers.
#[derive(Clone, Debug, PartialEq)]
pub struct BadAov {
    pub code: &'static Code,
    /// Which of the list.
    pub index: usize,
    pub message: String,
    pub hint: String,
}

/// The layers of the scene file; faults are reported.
pub(super) fn read(
    names: &[Spanned<String>],
    (materials, lights): (&[Material], &[String]),
    context: &mut Context,
) -> Vec<Aov> {
    let plain: Vec<&str> = names.iter().map(|n| n.get_ref().as_str()).collect();
    resolve(&plain, materials, lights).unwrap_or_else(|bad| {
        // Shaders with errors have no outputs: that is not the list's fault.
        if !context.diagnostics.has_errors() {
            context.error(bad.code, names[bad.index].span(), bad.message, bad.hint);
        }
        Vec::new()
    })
}

/// Resolves names to layers: built-in layers, layers of lights, or else `out` parameters of the materials' shaders.
/// `lights` are the names of lights.
pub fn resolve(names: &[&str], materials: &[Material], lights: &[String]) -> Result<Vec<Aov>, BadAov> {
    let mut aovs: Vec<Aov> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let bad = |code, (message, hint)| BadAov { code, index, message, hint };
        if let Some(light) = name.strip_prefix(Aov::OF_LIGHT)
            && *name != Aov::OTHER_LIGHT
            && !lights.iter().any(|known| known == light)
        {
            return Err(bad(&codes::UNKNOWN_NAME, unknown_light(light, lights)));
        }
        let of_light = name.starts_with(Aov::OF_LIGHT).then(|| Aov::Light { layer: (*name).to_owned() });
        let fixed = of_light.or_else(|| Aov::FIXED.into_iter().find(|a| a.name() == *name));
        let found = fixed.map_or_else(|| of_shaders(name, materials), |aov| Ok(Some(aov)));
        let aov = found.map_err(|why| bad(&codes::CONFLICT, why))?;
        // The global of that name has the coordinates of the layer `uv`.
        let aov = aov.or_else(|| (*name == "uvw").then_some(Aov::Uv));
        let aov = aov.ok_or_else(|| bad(&codes::UNKNOWN_NAME, unknown(name, materials)))?;
        if aovs.contains(&aov) {
            let why = (format!("the layer `{name}` is named twice"), "name each layer once".to_owned());
            return Err(bad(&codes::CONFLICT, why));
        }
        aovs.push(aov);
    }
    Ok(aovs)
}

/// An `out` parameter, which all shaders that have it must have of one type.
fn of_shaders(name: &str, materials: &[Material]) -> Result<Option<Aov>, (String, String)> {
    let having = |m: &Material| m.outputs().iter().find(|o| o.name == name).and_then(kind).map(|k| (k, m.name.clone()));
    let mut all = materials.iter().filter_map(having);
    let Some((kind, first)) = all.next() else { return Ok(None) };
    match all.find(|(other, _)| *other != kind) {
        None => Ok(Some(Aov::Output { name: name.to_owned(), kind })),
        Some((_, second)) => {
            let message =
                format!("`{name}` is of one type in the shader of `{first}`, of another in that of `{second}`");
            Err((message, "give the `out` parameter the same type in both, or another name in one".to_owned()))
        }
    }
}

/// What a layer can show; `None` for matrices and strings.
fn kind(output: &OutputDesc) -> Option<OutputKind> {
    match output.ty {
        Type::Float => Some(OutputKind::Float),
        Type::Int | Type::Bool => Some(OutputKind::Integer),
        Type::Vector(VectorKind::Color) => Some(OutputKind::Color),
        // There are at most four.
        Type::Vector(kind) => Some(OutputKind::Vector(kind.len() as u8)),
        _ => None,
    }
}

fn unknown_light(name: &str, lights: &[String]) -> (String, String) {
    let known = || lights.iter().map(String::as_str).chain(["other"]);
    let near = closest(name, known()).map_or(String::new(), |near| format!("did you mean `{}{near}`? ", Aov::OF_LIGHT));
    let all: Vec<String> = known().map(|name| format!("{}{name}", Aov::OF_LIGHT)).collect();
    (format!("no light has the name `{name}`"), format!("{near}There are {}", all.join(", ")))
}

fn unknown(name: &str, materials: &[Material]) -> (String, String) {
    let outputs = materials.iter().flat_map(|m| m.outputs()).filter(|o| kind(o).is_some()).map(|o| o.name.as_str());
    let mut outputs: Vec<&str> = outputs.collect();
    outputs.sort_unstable();
    outputs.dedup();
    let fixed: Vec<String> = Aov::FIXED.iter().map(|a| a.name().to_owned()).collect();
    let known = || fixed.iter().map(String::as_str).chain(outputs.iter().copied());
    let near = closest(name, known()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
    let hint = format!("{near}There are {}", known().collect::<Vec<_>>().join(", "));
    (format!("there is no layer `{name}`"), hint)
}
