//! The renderer's lobes that are written in SSL: their files, which every shader may import, and their code.
//!
//! A closure of the renderer whose [kind](crate::bsdf::ClosureKind) names a file stands for the struct of its name in that file. The members
//! begin with the closure's parameters; what follows them is for `prepare` to compute, and begins as zeros. The code does not
//! depend on the scene, so it is compiled once for each target, when a shader first makes such a closure.

use super::lobe_code::SslLobeCode;
use ssl_compiler::builtins::library::LibraryFile;
use ssl_compiler::runtime::{ClosureId, ClosureType};
use ssl_compiler::types::{Type, TypeTable};
use ssl_compiler::{CompileError, Program, Target};
use std::sync::{Arc, Mutex, PoisonError};

macro_rules! files {
    ($($name:literal)*) => {
        &[$(LibraryFile {
            name: concat!("bsdfs/", $name),
            text: include_str!(concat!("../../bsdfs/", $name)),
            functions: &[],
        }),*]
    };
}

/// What the renderer adds to the library.
pub static LIBRARY: &[LibraryFile] = files! {
    "anisotropic_conductor.ssl"
    "ashikhmin_shirley.ssl"
    "boundary.ssl"
    "cloth.ssl"
    "coat.ssl"
    "conductor.ssl"
    "dielectric.ssl"
    "energy.ssl"
    "fresnel.ssl"
    "ggx.ssl"
    "glossy.ssl"
    "lambert.ssl"
    "mirror.ssl"
    "openpbr.ssl"
    "oren_nayar.ssl"
    "phong.ssl"
    "principled.ssl"
    "rough_dielectric.ssl"
    "schlick.ssl"
    "sheen.ssl"
    "translucent.ssl"
};

/// The code of one closure for one target, once somebody has compiled it.
type Kept = Arc<Mutex<Option<Arc<SslLobeCode>>>>;

static CODES: Mutex<Vec<((&str, Target), Kept)>> = Mutex::new(Vec::new());

/// The code of a closure whose kind names this file, for a target. `program` makes the closure; `host` is the number of closure
/// types that the host registered.
pub fn code(
    program: &Program,
    target: Target,
    file: &'static str,
    closure: &ClosureType,
    host: usize,
) -> Result<Arc<SslLobeCode>, CompileError> {
    let kept = kept((file, target));
    // Held while it is compiled: who needs the same code waits for it.
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(code) = &*kept {
        return Ok(Arc::clone(code));
    }
    let made = program.beside((&format!("<the lobe {}>", closure.name), &text(file, closure)), LIBRARY, target);
    let is_layer = closure.parameters.iter().any(|p| p.ty == Type::Closure);
    let id = ClosureId(host as u32);
    let code = Arc::new(SslLobeCode::compile(&made, id, &closure.name, is_layer)?.at_home(made, id));
    *kept = Some(Arc::clone(&code));
    Ok(code)
}

fn kept(key: (&'static str, Target)) -> Kept {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, kept)) = codes.iter().find(|(known, _)| *known == key) {
        return Arc::clone(kept);
    }
    let kept = Kept::default();
    codes.push((key, Arc::clone(&kept)));
    kept
}

/// A program that makes the closure: its struct is a closure type once something makes it.
fn text(file: &str, closure: &ClosureType) -> String {
    let types = TypeTable::default();
    let zero = |ty: &Type| match ty {
        Type::Closure => "none".to_owned(),
        Type::Bool => "false".to_owned(),
        ty => format!("{}(0)", types.display(ty)),
    };
    let named = closure.parameters.iter().map(|p| format!("{} = {}", p.name, zero(&p.ty)));
    let (name, arguments) = (&closure.name, named.collect::<Vec<_>>().join(", "));
    format!(
        "import \"{file}\";\nshader made(out closure c) {{ closure none; c = make_closure<{name}>({arguments}); }}\n"
    )
}
