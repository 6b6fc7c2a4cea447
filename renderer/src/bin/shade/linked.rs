//! `--stage linked`: what linking types to a compiled program compiles.

use super::gradients;
use super::outcome::Outcome;
use renderer::material::ShadingLanguage;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::{
    CompileError, Compiler, GradientRequest, LinkedType, LinkedUnit, OpenInterface, Program, ShaderRequest, Target,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `NAME:FLOATS,INTS`: an interface, and how many floats and ints its values have room for.
pub fn open_interface(text: &str) -> Result<OpenInterface, String> {
    let parts = text.split_once(':').and_then(|(name, room)| Some((name, room.split_once(',')?)));
    let wanted = || {
        format!("{text:?} does not say an interface and its room, as IShade:4,0 does, with at most 128 floats and ints")
    };
    let (name, (floats, ints)) = parts.ok_or_else(wanted)?;
    let number = |text: &str| text.parse().ok().filter(|n| *n <= 128).ok_or_else(wanted);
    Ok(OpenInterface { name: name.to_owned(), floats: number(floats)?, ints: number(ints)? })
}

/// What is compiled, and what is linked to it.
pub struct Asked<'a> {
    pub file: &'a Path,
    pub entry: Option<&'a str>,
    /// What the gradient is by that the code is for, if any.
    pub by: &'a [String],
    pub open: &'a [OpenInterface],
    pub link: &'a [PathBuf],
    pub target: Target,
}

/// Compiles the program, links the types of each file in turn, and lists what each took.
pub fn run(asked: &Asked<'_>, imports: &SearchPath<'static>, mut outcome: Outcome) -> Outcome {
    let language = ShadingLanguage::new();
    let mut compiler = Compiler::new();
    compiler.set_globals(language.globals().clone()).set_closures(language.closures().clone());
    compiler.set_externals(language.functions().clone()).set_target(asked.target).set_imports(imports);
    for open in asked.open {
        compiler.open_interface(open.clone());
    }
    match listed(asked, &mut compiler) {
        Ok(Ok(text)) => {
            outcome.output = text;
            outcome
        }
        Ok(Err(message)) => outcome.usage(&message),
        Err(refused) => {
            outcome.sources = refused.sources().clone();
            outcome.refuse(refused.into_diagnostics())
        }
    }
}

/// The list; what cannot be read; or what is refused.
fn listed(asked: &Asked<'_>, compiler: &mut Compiler) -> Result<Result<String, String>, CompileError> {
    let mut load = |path: &Path| -> Result<Arc<Program>, String> {
        let file = compiler.add_file(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(compiler.program(file))
    };
    let program = match load(asked.file) {
        Ok(program) => program,
        Err(message) => return Ok(Err(message)),
    };
    let mut request = ShaderRequest { entry: asked.entry.map(str::to_owned), ..ShaderRequest::default() };
    if !asked.by.is_empty() {
        let interface = program.lower(asked.entry)?.interface;
        match gradients::by_names(GradientRequest::of_all(), asked.by, &interface) {
            Ok(gradient) => request.gradient = Some(gradient),
            Err(message) => return Ok(Err(message)),
        }
    }
    let shader = program.compile(request)?;
    let mut text = format!("{}: compiled once, {} bytes\n", shader.interface().name, shader.code_bytes());
    for path in asked.link {
        let added = match load(path) {
            Ok(added) => added,
            Err(message) => return Ok(Err(message)),
        };
        program.link(&added)?.iter().for_each(|linked| text.push_str(&of_type(linked, path)));
    }
    Ok(Ok(text))
}

fn of_type(linked: &LinkedType, path: &Path) -> String {
    let head = format!("\n{} of {} as {} {}\n", linked.name, path.display(), linked.interface, linked.kind);
    let unit = |unit: &LinkedUnit| format!("  {}: {}, {} bytes\n", unit.method, unit.gives, unit.code_bytes);
    head + &linked.units.iter().map(unit).collect::<String>()
}
