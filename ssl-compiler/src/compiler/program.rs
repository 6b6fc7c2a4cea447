//! A file with everything that it imports: checked at the first request, with the shaders compiled from it.

use super::links::{LinkedType, Links};
use super::{CompileError, Offer, ShaderRequest};
use crate::builtins::library::LibraryFile;
use crate::diagnostics::Diagnostics;
use crate::facade::{self, Checked, CompileOptions, Roots, Target};
use crate::ir::Module;
use crate::jit::Shader;
use crate::modules::{LIBRARY_ONLY, Modules, SearchPath};
use crate::runtime::linked::{Facet, Signature};
use crate::runtime::{GlobalsLayout, ShaderInterface};
use crate::sema::hir::FunctionId;
use crate::sema::linked_words;
use crate::source::{FileId, SourceMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A file with everything that it imports, and the host's offer at the time of loading. Several threads may compile its
/// shaders at once.
pub struct Program {
    offer: Arc<Offer>,
    file: FileId,
    /// The host's globals that this file sees.
    globals: GlobalsLayout,
    sources: SourceMap,
    modules: Modules,
    /// The diagnostics of loading.
    found: Diagnostics,
    front: OnceLock<Front>,
    shaders: Mutex<Vec<(ShaderRequest, Arc<Shader>)>>,
    links: OnceLock<Links>,
}

/// The result of checking.
struct Front {
    checked: Checked,
    found: Diagnostics,
    time: Duration,
}

/// A checked and optimised shader without code.
pub struct Lowered {
    /// What a host must know to call the shader.
    pub interface: ShaderInterface,
    /// Warnings about this shader, beside those of its file.
    pub warnings: Diagnostics,
    /// The intermediate code.
    #[doc(hidden)]
    pub module: Module,
}

impl Program {
    pub(super) fn load(
        offer: &Arc<Offer>,
        sources: &mut SourceMap,
        (file, joining): (FileId, &[FileId]),
        imports: &SearchPath<'_>,
    ) -> Program {
        let (modules, found) = facade::load(sources, (file, joining), imports);
        let mut globals = offer.globals.clone();
        let declared = modules.declared_globals();
        for (name, ty, orders) in offer.optional.iter().filter(|(name, ..)| !declared.contains(name.as_str())) {
            // A name that is taken stays what it was.
            let _ = globals.add(name, ty.clone(), *orders);
        }
        Program {
            offer: Arc::clone(offer),
            file,
            globals,
            sources: sources.clone(),
            modules,
            found,
            front: OnceLock::new(),
            shaders: Mutex::default(),
            links: OnceLock::new(),
        }
    }

    /// A program of another text with the same offer of the host, for a target. The text imports only from the library, to which
    /// `library` adds the host's files.
    pub fn beside(&self, (name, text): (&str, &str), library: &'static [LibraryFile], target: Target) -> Program {
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let imports = SearchPath { library, ..LIBRARY_ONLY.clone() };
        let offer = Arc::new(Offer { target, ..Offer::clone(&self.offer) });
        Program::load(&offer, &mut sources, (file, &[]), &imports)
    }

    /// What makes its code.
    pub fn target(&self) -> Target {
        self.offer.target
    }

    /// The requested file.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The files of the program, for showing diagnostics.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Finds the mistakes; gives warnings.
    ///
    /// # Errors
    /// There are errors.
    pub fn check(&self) -> Result<Diagnostics, CompileError> {
        self.front().map(|front| front.found.clone())
    }

    /// The names of the file's shaders, in their order.
    ///
    /// # Errors
    /// There are errors.
    pub fn shaders(&self) -> Result<Vec<&str>, CompileError> {
        let front = self.front()?;
        Ok(front.checked.program.shaders().filter(|(_, f)| !f.is_kernel).map(|(_, f)| f.name.as_str()).collect())
    }

    /// The names of the file's kernels, in their order. They are compiled like shaders.
    ///
    /// # Errors
    /// There are errors.
    pub fn kernels(&self) -> Result<Vec<&str>, CompileError> {
        let front = self.front()?;
        Ok(front.checked.program.shaders().filter(|(_, f)| f.is_kernel).map(|(_, f)| f.name.as_str()).collect())
    }

    /// Compiles one shader. The same request gives the same shader.
    ///
    /// # Errors
    /// There are errors, or the shader is not one that can be compiled.
    pub fn compile(&self, wanted: impl Into<ShaderRequest>) -> Result<Arc<Shader>, CompileError> {
        let wanted = wanted.into();
        if let Some(known) = self.known(&wanted) {
            return Ok(known);
        }
        let front = self.front()?;
        let links = self.links.get_or_init(|| Links::of(&front.checked.program, &self.offer.externals));
        // Nothing is locked meanwhile: compiling takes milliseconds, and other requests need not wait for it.
        let made = self.with_options(&wanted, |options| {
            facade::compile_front(&front.checked, self.file, wanted.entry.as_deref(), options, front.time)
        });
        let (mut shader, mut warnings) = made.map_err(|found| self.refuse(found))?;
        let mut all = front.found.clone();
        all.extend(std::mem::take(&mut warnings));
        shader.set_warnings(all);
        links.prepare(shader.module()).map_err(|(file, found)| CompileError::new(found, file.sources()))?;
        let mut shaders = self.shaders.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster; everybody gets the same shader.
        if let Some((_, known)) = shaders.iter().find(|(request, _)| *request == wanted) {
            return Ok(Arc::clone(known));
        }
        let shader = Arc::new(shader);
        shaders.push((wanted, Arc::clone(&shader)));
        Ok(shader)
    }

    /// Compiles one shader as [`Program::compile`] does, but makes no code.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn lower(&self, wanted: impl Into<ShaderRequest>) -> Result<Lowered, CompileError> {
        let (wanted, front) = (wanted.into(), self.front()?);
        let entry = wanted.entry.as_deref();
        let lowered = self.with_options(&wanted, |options| {
            facade::lower_and_warn(&front.checked, self.file, entry, options, &mut |_, _| {})
        });
        let (module, interface, warnings) = lowered.map_err(|found| self.refuse(found))?;
        Ok(Lowered { interface, warnings, module })
    }

    /// Links the types of another program that conform to interfaces which the host left open
    /// ([`Compiler::open_interface`](super::Compiler::open_interface)), and which this program does not know. It compiles
    /// their methods, and their derivatives as far as shaders of this program take them. The shaders stay as they are, also
    /// those that run: values that they hold may have the new types from now on.
    ///
    /// A value of the interface consists of its number, its floats, and its ints, as many as it has room for
    /// ([`LinkedType::room`]); a type's members fill these in their order, bools as 0 or 1.
    ///
    /// # Errors
    /// One of the programs has errors; a type takes more words than values have room for; or a method does what only a
    /// shader at a point can, such as reading a global. Then nothing is linked.
    pub fn link(&self, added: &Arc<Program>) -> Result<Vec<LinkedType>, CompileError> {
        let (own, other) = (self.front()?, added.front()?);
        let links = self.links.get_or_init(|| Links::of(&own.checked.program, &self.offer.externals));
        let linked = links.link((&own.checked.program, &other.checked.program), added);
        linked.map_err(|(file, found)| CompileError::new(found, file.sources()))
    }

    /// Compiles a facet of a method of this program for another one.
    pub(super) fn compile_linked(&self, root: FunctionId, facet: Facet) -> Result<Shader, Diagnostics> {
        let front = self.front().map_err(CompileError::into_diagnostics)?;
        self.links.get_or_init(|| Links::of(&front.checked.program, &self.offer.externals));
        self.with_options(&ShaderRequest::default(), |options| {
            facade::compile_linked(&front.checked, (root, facet), options)
        })
    }

    /// The words that a method takes and gives which is linked to another program.
    pub(super) fn signature_of(&self, root: FunctionId) -> Signature {
        let signature = self.front().ok().and_then(|front| linked_words::signature(&front.checked.program, root));
        signature.unwrap_or_else(|| Signature { takes: Vec::new(), gives: Vec::new() })
    }

    fn known(&self, wanted: &ShaderRequest) -> Option<Arc<Shader>> {
        let shaders = self.shaders.lock().unwrap_or_else(PoisonError::into_inner);
        shaders.iter().find(|(request, _)| request == wanted).map(|(_, shader)| Arc::clone(shader))
    }

    fn refuse(&self, found: Diagnostics) -> CompileError {
        CompileError::new(found, &self.sources)
    }

    fn front(&self) -> Result<&Front, CompileError> {
        let front = self.front.get_or_init(|| {
            let start = Instant::now();
            let (checked, found) = self.with_options(&ShaderRequest::default(), |options| {
                facade::check_loaded(&self.sources, &self.modules, self.found.clone(), options)
            });
            Front { checked, found, time: start.elapsed() }
        });
        match front.found.has_errors() {
            true => Err(self.refuse(front.found.clone())),
            false => Ok(front),
        }
    }

    fn with_options<T>(&self, wanted: &ShaderRequest, run: impl FnOnce(&CompileOptions<'_>) -> T) -> T {
        let Offer { closures, externals, target, cache, passes, without_kernels, open, .. } = &*self.offer;
        let externals = self.links.get().map_or(externals, Links::registry);
        run(&CompileOptions {
            externals,
            target: *target,
            cache: cache.as_ref(),
            passes: *passes,
            bake: wanted.bake.as_ref(),
            seeded: wanted.seeded.as_deref(),
            imports: &LIBRARY_ONLY,
            roots: wanted.lobes.as_deref().map_or(Roots::All, Roots::Lobes),
            gradient: wanted.gradient.as_ref(),
            closure: wanted.closure,
            kernels: !without_kernels,
            open,
            ..CompileOptions::new(&self.globals, closures)
        })
    }
}
