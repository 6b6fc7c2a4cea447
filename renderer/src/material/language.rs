//! What a scene's shaders may use, and how they are compiled with it.

use super::globals::{self, HitGlobals};
use crate::bsdf::{ClosureKind, closures};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::modules::Modules;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::{ClosureId, ClosureRegistry, GlobalsLayout, Orders};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, CompileOptions, Roots, Shader, Target};
use std::sync::Arc;

/// How a scene's shaders are compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Making {
    pub target: Target,
    pub passes: Options,
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
    /// What each of those means, by its id.
    pub(super) kinds: Vec<ClosureKind>,
}

impl ShadingLanguage {
    pub fn new() -> ShadingLanguage {
        let mut language = ShadingLanguage {
            globals: HitGlobals::layout(),
            variables: Vec::new(),
            closures: ClosureRegistry::new(),
            kinds: Vec::new(),
        };
        closures().into_iter().for_each(|kind| language.add(kind));
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

    /// The globals, and those variables of the scene that the files do not declare themselves: they may mean another
    /// type by them.
    fn globals_for(&self, modules: &Modules) -> GlobalsLayout {
        let mut globals = self.globals.clone();
        let declared = modules.declared_globals();
        for (name, components) in self.variables.iter().filter(|(name, _)| !declared.contains(name.as_str())) {
            // A name that is taken stays what it was.
            let _ = globals.add(name, globals::type_of(*components), Orders::First);
        }
        globals
    }

    /// Compiles one shader of a file that was loaded; what loading had to say is passed on. Warnings come
    /// back beside the shader.
    pub fn compile(
        &self,
        sources: &SourceMap,
        loaded: (&Modules, Diagnostics),
        entry: Option<&str>,
        making: Making,
    ) -> Result<(Compiled, Diagnostics), Diagnostics> {
        let Making { target, passes } = making;
        let (modules, found) = loaded;
        let globals = self.globals_for(modules);
        let options = CompileOptions { target, passes, ..CompileOptions::new(&globals, &self.closures) };
        let (whole, warnings) = ssl_compiler::compile_loaded(sources, (modules, found), entry, &options)?;
        // What of it is asked for apart from the rest. The whole says all that there is to say.
        let part = |has: fn(&ClosureKind) -> bool| {
            let of = |id: &ClosureId| self.kinds.get(id.0 as usize).is_some_and(has);
            let wanted: Vec<ClosureId> = whole.interface().lobes.iter().map(|l| l.closure).filter(of).collect();
            let options = CompileOptions { roots: Roots::Lobes(&wanted), ..options };
            let compile = || ssl_compiler::compile_loaded(sources, (modules, Diagnostics::new()), entry, &options);
            (!wanted.is_empty()).then(compile)?.ok().map(|(shader, _)| Arc::new(shader))
        };
        let (emission, passage) = (part(|kind| kind.emits), part(|kind| kind.passes));
        Ok((Compiled { whole: Arc::new(whole), emission, passage }, warnings))
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
}
