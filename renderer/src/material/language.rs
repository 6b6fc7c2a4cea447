//! What the shaders of a scene may use, and how they are compiled with it.

use super::globals::{self, HitGlobals};
use super::lobe_code::{self, SslLobeCode, SslLobeCodes};
use super::shipped;
use crate::bsdf::{ClosureCode, ClosureKind, RustCode, closures, functions};
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::ExternalRegistry;
use ssl_compiler::types::Type;
use ssl_compiler::{
    BackendKind, ClosureId, ClosureRegistry, CodeCache, CompileError, Compiler, GlobalsLayout, Orders, Program,
    SearchPath, Shader, ShaderRequest, Target,
};
use std::sync::Arc;

/// How a scene's shaders are compiled.
#[derive(Clone, Debug, Default)]
pub struct Making {
    pub target: Target,
    pub passes: Options,
    /// Where machine code is kept from run to run, if anywhere.
    pub cache: Option<CodeCache>,
    /// Whether gradients may be asked for later: what it takes to compile them is kept then.
    pub differentiable: bool,
}

impl From<Target> for Making {
    fn from(target: Target) -> Making {
        Making { target, ..Making::default() }
    }
}

impl From<BackendKind> for Making {
    fn from(backend: BackendKind) -> Making {
        Target::from(backend).into()
    }
}

/// What a scene's shaders may use: the globals and the closure types.
pub struct ShadingLanguage {
    pub(super) globals: GlobalsLayout,
    /// What a scene adds to the globals: variables of its shapes, as many numbers each.
    pub(super) variables: Vec<(String, usize)>,
    pub(super) closures: ClosureRegistry,
    functions: ExternalRegistry,
    /// What each of those means, by its id.
    pub(super) kinds: Vec<ClosureKind>,
}

impl ShadingLanguage {
    pub fn new() -> ShadingLanguage {
        let mut language = ShadingLanguage {
            globals: HitGlobals::layout(),
            variables: Vec::new(),
            closures: ClosureRegistry::new(),
            functions: functions(),
            kinds: Vec::new(),
        };
        closures().into_iter().for_each(|kind| language.add(kind));
        language.closures.set_interface(lobe_code::INTERFACE);
        language
    }

    /// With closure types of the host's own beside those of the renderer; one of the same name is replaced.
    pub fn with_closures(more: &[ClosureKind]) -> ShadingLanguage {
        let mut language = ShadingLanguage::new();
        more.iter().for_each(|kind| language.add(*kind));
        language
    }

    fn add(&mut self, kind: ClosureKind) {
        let ClosureId(id) = self.closures.register((kind.closure_type)());
        match self.kinds.get_mut(id as usize) {
            Some(replaced) => *replaced = kind,
            None => self.kinds.push(kind),
        }
    }

    /// With the variables of a scene: names, and of how many numbers they are. Those that are named like something that
    /// every hit has cannot be read.
    pub fn with_variables(self, variables: Vec<(String, usize)>) -> ShadingLanguage {
        ShadingLanguage { variables, ..self }
    }

    pub fn globals(&self) -> &GlobalsLayout {
        &self.globals
    }

    pub fn closures(&self) -> &ClosureRegistry {
        &self.closures
    }

    /// What the renderer's library calls of the host.
    pub fn functions(&self) -> &ExternalRegistry {
        &self.functions
    }

    /// A session that compiles shaders for this renderer. Files may declare the scene's variables themselves: they may
    /// mean another type by them.
    pub fn compiler(&self, making: &Making, imports: &SearchPath<'static>) -> Compiler {
        let Making { target, passes, cache, .. } = making;
        let imports = imports.clone().with_library(shipped::LIBRARY);
        let mut compiler = Compiler::new();
        compiler.set_globals(self.globals.clone()).set_closures(self.closures.clone()).refuse_kernels();
        compiler.set_externals(self.functions.clone());
        compiler.set_target(*target).set_passes(*passes).set_code_cache(cache.clone()).set_imports(&imports);
        for (name, components) in &self.variables {
            compiler.offer_global(name, globals::type_of(*components), Orders::First);
        }
        compiler
    }

    /// Compiles one shader of a program that [`ShadingLanguage::compiler`] made, and those parts of it that are asked
    /// for apart from the rest.
    pub fn compile(
        &self,
        making: &Making,
        program: &Arc<Program>,
        entry: Option<&str>,
    ) -> Result<Compiled, CompileError> {
        let whole = program.compile(entry)?;
        // The whole says all that there is to say.
        let part = |has: fn(RustCode) -> bool| {
            let of = |id: &ClosureId| self.kinds.get(id.0 as usize).and_then(ClosureKind::rust).is_some_and(has);
            let wanted: Vec<ClosureId> = whole.interface().lobes.iter().map(|l| l.closure).filter(of).collect();
            let request = || ShaderRequest { lobes: Some(wanted.clone()), ..ShaderRequest::from(entry) };
            (!wanted.is_empty()).then(|| program.compile(request()))?.ok()
        };
        let (emission, passage) = (part(|code| code.emits), part(|code| code.passes));
        let ssl = self.ssl_codes(program, &whole)?;
        let source = || Source { program: Arc::clone(program), entry: entry.map(str::to_owned) };
        Ok(Compiled { whole, emission, passage, ssl, source: making.differentiable.then(source) })
    }

    /// The code of those closures of a shader that run as structs of SSL: its files declare them, or the renderer ships them.
    fn ssl_codes(&self, program: &Program, shader: &Shader) -> Result<SslLobeCodes, CompileError> {
        let mut codes = SslLobeCodes::new();
        let types = &shader.interface().closure_types;
        for l in &shader.interface().lobes {
            if codes.iter().any(|(id, _)| *id == l.closure) {
                continue;
            }
            let closure = types.get(l.closure);
            let code = match self.kinds.get(l.closure.0 as usize).map(|kind| kind.code) {
                Some(ClosureCode::Ssl(file)) => {
                    shipped::code(program, of_lobes(program.target()), file, closure, self.kinds.len())?
                }
                Some(ClosureCode::Rust(_)) => continue,
                None => {
                    let is_layer = closure.parameters.iter().any(|p| p.ty == Type::Closure);
                    Arc::new(SslLobeCode::compile(program, l.closure, &closure.name, is_layer)?)
                }
            };
            codes.push((l.closure, code));
        }
        Ok(codes)
    }
}

/// Where the code of the renderer's own lobes runs. The interpreter's answers have the same bits as those of machine code, which
/// come a hundred times sooner.
fn of_lobes(target: Target) -> Target {
    match target.backend {
        BackendKind::Interpreter => Target { backend: BackendKind::Cranelift, ..target },
        _ => target,
    }
}

impl Default for ShadingLanguage {
    fn default() -> Self {
        ShadingLanguage::new()
    }
}

/// What a shader is compiled to.
#[derive(Clone)]
pub struct Compiled {
    pub whole: Arc<Shader>,
    /// What of it makes light of the surface's own, where it may have some.
    pub emission: Option<Arc<Shader>>,
    /// What of it lets light pass straight on, where some may.
    pub passage: Option<Arc<Shader>>,
    /// The code of closures that are structs of SSL.
    pub ssl: SslLobeCodes,
    /// Where the shader comes from, for who may ask for its gradient later.
    pub source: Option<Source>,
}

/// A shader of a program.
#[derive(Clone)]
pub struct Source {
    pub program: Arc<Program>,
    pub entry: Option<String>,
}
