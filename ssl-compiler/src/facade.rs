//! The stages of compilation in order: from a file to a shader that runs.

use crate::analysis::derivatives::Derivatives;
use crate::analysis::variation;
use crate::backend::cache::CodeCache;
use crate::backend::cranelift::Cranelift;
use crate::backend::generator::Native;
use crate::backend::{Backend, BackendError, Lanes, OptLevel, interpreter::Interpreter};
use crate::diagnostics::{Diagnostic, Diagnostics, closest, codes};
use crate::ir::{Module, Op};
use crate::jit::Shader;
pub use crate::lower::Roots;
use crate::lower::{self, Bake, Request};
use crate::modules::{self, Modules, SearchPath};
use crate::passes::ad::Refused;
use crate::passes::{expand_math, poison};
use crate::pipeline::{self, Failure, Options, Stage};
use crate::runtime::externals::NO_EXTERNALS;
use crate::runtime::linked::Facet;
use crate::runtime::{
    ClosureId, ClosureRegistry, ExternalRegistry, GlobalRead, GlobalsLayout, GradientRequest, ParameterBlock,
    ShaderInterface,
};
pub use crate::sema::Checked;
use crate::sema::OpenInterface;
use crate::sema::hir::FunctionId;
use crate::source::{FileId, SourceMap, Span};
use crate::{defaults, sema, syntax};
use std::collections::BTreeSet;
#[cfg(feature = "llvm")]
use std::sync::Arc;
use std::time::{Duration, Instant};

mod closures;
mod gradients;
mod jumps;
mod refusals;

/// What makes code of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BackendKind {
    /// The reference interpreter, which makes no code.
    Interpreter,
    /// Cranelift: quick to compile.
    #[default]
    Cranelift,
    /// Native code through LLVM, which takes longer to make and less to run.
    #[cfg(feature = "llvm")]
    Llvm,
    /// Cranelift's code at once, and LLVM's as soon as a thread has made it; Cranelift's alone in builds without LLVM.
    Auto,
}

impl BackendKind {
    /// Those that this build has, each by itself.
    pub const ALL: &'static [BackendKind] = &[
        BackendKind::Interpreter,
        BackendKind::Cranelift,
        #[cfg(feature = "llvm")]
        BackendKind::Llvm,
    ];

    /// As it is spelled on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BackendKind::Interpreter => "interp",
            BackendKind::Cranelift => "cranelift",
            #[cfg(feature = "llvm")]
            BackendKind::Llvm => "llvm",
            BackendKind::Auto => "auto",
        }
    }
}

/// What makes the code of a shader, and how hard it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Target {
    /// Which back end makes the code.
    pub backend: BackendKind,
    /// How hard it tries.
    pub opt: OptLevel,
    /// How many of a block's points it runs together.
    pub lanes: Lanes,
}

impl Target {
    /// The back end, which keeps machine code in the cache, and takes it from there.
    #[doc(hidden)]
    pub fn instance(self, cache: Option<&CodeCache>) -> Box<dyn Backend> {
        let cranelift = || {
            let generator = Cranelift { opt: self.opt, lanes: self.lanes };
            // LLVM writes calls out itself, at the same level.
            let expand = if self.opt == OptLevel::O3 { expand_math::in_place } else { expand_math::run };
            Native { generator, expand, cache: cache.cloned() }
        };
        #[cfg(feature = "llvm")]
        let llvm = || {
            let generator = crate::backend::llvm::Llvm { opt: self.opt, lanes: self.lanes };
            Native { generator, expand: expand_math::run, cache: cache.cloned() }
        };
        match self.backend {
            BackendKind::Interpreter => Box::new(Interpreter),
            BackendKind::Cranelift => Box::new(cranelift()),
            #[cfg(not(feature = "llvm"))]
            BackendKind::Auto => Box::new(cranelift()),
            #[cfg(feature = "llvm")]
            BackendKind::Auto => {
                let (first, better) = (Box::new(cranelift()), Arc::new(llvm()));
                Box::new(crate::backend::tiered::Tiered { first, better })
            }
            #[cfg(feature = "llvm")]
            BackendKind::Llvm => Box::new(llvm()),
        }
    }

    /// The back end for a module: the default one where the one asked for would take too long.
    fn suiting(self, module: &Module, cache: Option<&CodeCache>) -> Box<dyn Backend> {
        let asked = self.instance(cache);
        match asked.suits(module) {
            true => asked,
            false => Target { backend: BackendKind::default(), ..self }.instance(cache),
        }
    }
}

impl From<BackendKind> for Target {
    fn from(backend: BackendKind) -> Target {
        Target { backend, ..Target::default() }
    }
}

/// What a host offers to shaders, and how it wants them.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct CompileOptions<'a> {
    /// The globals that shaders may read.
    pub globals: &'a GlobalsLayout,
    /// The closure types that shaders may make.
    pub closures: &'a ClosureRegistry,
    /// The host's functions, for prototypes without a body.
    pub externals: &'a ExternalRegistry,
    /// What makes the code.
    pub target: Target,
    /// Where machine code is kept from run to run.
    pub cache: Option<&'a CodeCache>,
    /// How the passes treat derivatives and calls.
    pub passes: Options,
    /// Parameter values to write into the code instead of reading the block.
    pub bake: Option<&'a ParameterBlock>,
    /// Reports what reaches each sink to the interpreter.
    pub probes: bool,
    /// How many samples all integrals take, in place of what they say. Their seeds are moved by the global
    /// [`RESEEDED`](crate::ir::points::RESEEDED), which the host must have.
    pub resampled: Option<i32>,
    /// Notes which values the author's variables hold, for explaining them.
    pub names: bool,
    /// The globals whose partials the host fills; all that have rows for them where this is `None`.
    pub seeded: Option<&'a [String]>,
    /// Where imported files are looked for.
    pub imports: &'a SearchPath<'a>,
    /// Which results the host wants.
    pub roots: Roots<'a>,
    /// The gradient that the host wants beside them.
    pub gradient: Option<&'a GradientRequest>,
    /// The closure type of the files' own of which the entry is a function.
    pub closure: Option<ClosureId>,
    /// Whether the host runs kernels, and not only shaders.
    pub kernels: bool,
    /// Whether code prints which conditions of an integral change at the same place by chance, where a derivative is asked for.
    pub coincidences: bool,
    /// The interfaces whose values may hold types that the host links later.
    pub open: &'a [OpenInterface],
    /// The entry is this facet of a method that is linked.
    pub linked: Option<Facet>,
}

impl<'a> CompileOptions<'a> {
    /// What is usual, for a host that offers these globals and closures.
    pub fn new(globals: &'a GlobalsLayout, closures: &'a ClosureRegistry) -> CompileOptions<'a> {
        CompileOptions {
            globals,
            closures,
            externals: &NO_EXTERNALS,
            target: Target::default(),
            cache: None,
            passes: Options::default(),
            bake: None,
            probes: false,
            resampled: None,
            names: false,
            seeded: None,
            imports: &modules::LIBRARY_ONLY,
            roots: Roots::All,
            gradient: None,
            closure: None,
            kernels: true,
            coincidences: false,
            open: &[],
            linked: None,
        }
    }
}

/// Stack that compiling may use: deeply nested sources recurse deeply.
const STACK: usize = 256 << 20;

/// Runs something on a thread with a large stack; on this one where the system gives no such thread.
///
/// The memory is only reserved; a shader of ordinary depth touches a few kilobytes of it.
pub fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let mut result = None;
    let mut pending = Some(run);
    for stack in [STACK, STACK / 8] {
        let once = || result = pending.take().map(|run| run());
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("ssl".to_owned()).stack_size(stack);
            if let Ok(handle) = thread.spawn_scoped(scope, once)
                && let Err(panic) = handle.join()
            {
                std::panic::resume_unwind(panic);
            }
        });
        if let Some(result) = result.take() {
            return result;
        }
    }
    match pending {
        Some(run) => run(),
        None => unreachable!("what was run gave a result"),
    }
}

/// Parses a file and all that it imports, which is added to the sources, and the files that join it.
pub fn load(
    sources: &mut SourceMap,
    (file, joining): (FileId, &[FileId]),
    imports: &SearchPath<'_>,
) -> (Modules, Diagnostics) {
    on_large_stack(|| {
        let mut diagnostics = Diagnostics::new();
        let modules = modules::load(sources, (file, joining), imports, &mut diagnostics);
        (modules, diagnostics)
    })
}

/// Parses and checks a file and all that it imports. The result may be compiled only if there was no error.
pub fn check(sources: &mut SourceMap, file: FileId, options: &CompileOptions<'_>) -> (Checked, Diagnostics) {
    on_large_stack(|| check_here(sources, file, options))
}

/// A file laid out in the one style of the language, or why it does not parse. Comments and tokens stay.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Diagnostics> {
    on_large_stack(|| syntax::format(sources, file))
}

fn check_here(sources: &mut SourceMap, file: FileId, options: &CompileOptions<'_>) -> (Checked, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let modules = modules::load(sources, (file, &[]), options.imports, &mut diagnostics);
    check_modules(sources, &modules, diagnostics, options)
}

/// Keeps the warnings about the file itself that it does not allow, and brings what is said into order.
fn settle(diagnostics: &mut Diagnostics, file: FileId, sources: &SourceMap) {
    // Who imports a file is not the one to mend it.
    diagnostics.list.retain(|d| d.is_error() || d.span.is_none_or(|s| s.file == file));
    crate::diagnostics::allow::apply(diagnostics, sources);
    diagnostics.sort();
}

/// Compiles the shader `entry` of a file, or its only one. Warnings come back beside the shader.
pub fn compile(
    sources: &mut SourceMap,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
) -> Result<(Shader, Diagnostics), Diagnostics> {
    on_large_stack(|| {
        let start = Instant::now();
        let (checked, diagnostics) = check_here(sources, file, options);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let front = start.elapsed();
        let id = choose(&checked, file, entry, options)?;
        compile_here(&checked, id, options, diagnostics, front)
    })
}

/// Checks a file that was loaded; what loading had to say is passed on.
pub(crate) fn check_loaded(
    sources: &SourceMap,
    modules: &Modules,
    found: Diagnostics,
    options: &CompileOptions<'_>,
) -> (Checked, Diagnostics) {
    on_large_stack(|| check_modules(sources, modules, found, options))
}

fn check_modules(
    sources: &SourceMap,
    modules: &Modules,
    mut diagnostics: Diagnostics,
    options: &CompileOptions<'_>,
) -> (Checked, Diagnostics) {
    let host = sema::Host {
        globals: options.globals,
        closures: options.closures,
        externals: options.externals,
        open: options.open,
    };
    let mut checked = sema::check(modules, &host, &mut diagnostics);
    checked.sources = sources.clone();
    settle(&mut diagnostics, modules.root().file, sources);
    (checked, diagnostics)
}

/// Compiles one shader of a checked file.
pub fn compile_checked(
    checked: &Checked,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
) -> Result<(Shader, Diagnostics), Diagnostics> {
    compile_front(checked, file, entry, options, Duration::ZERO)
}

/// Likewise; checking took the time `front`, which the shader reports among its timings.
pub(crate) fn compile_front(
    checked: &Checked,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
    front: Duration,
) -> Result<(Shader, Diagnostics), Diagnostics> {
    on_large_stack(|| {
        let id = choose(checked, file, entry, options)?;
        compile_here(checked, id, options, Diagnostics::new(), front)
    })
}

/// Compiles a facet of a method that is linked to other code.
pub(crate) fn compile_linked(
    checked: &Checked,
    (root, facet): (FunctionId, Facet),
    options: &CompileOptions<'_>,
) -> Result<Shader, Diagnostics> {
    let options = CompileOptions { linked: Some(facet), ..*options };
    on_large_stack(|| compile_here(checked, root, &options, Diagnostics::new(), Duration::ZERO))
        .map(|(shader, _)| shader)
}

/// The IR of one shader, brought through the passes; `look` sees each stage.
pub fn lower_checked(
    checked: &Checked,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
    look: &mut (dyn FnMut(Stage, &Module) + Send),
) -> Result<(Module, ShaderInterface), Diagnostics> {
    lower_and_warn(checked, file, entry, options, look).map(|(module, interface, _)| (module, interface))
}

/// Likewise; warnings come back beside it.
pub fn lower_and_warn(
    checked: &Checked,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
    look: &mut (dyn FnMut(Stage, &Module) + Send),
) -> Result<(Module, ShaderInterface, Diagnostics), Diagnostics> {
    on_large_stack(|| {
        let id = choose(checked, file, entry, options)?;
        let mut diagnostics = Diagnostics::new();
        let (module, interface, _) = lower_here(checked, id, options, &mut diagnostics, look)?;
        Ok((module, interface, diagnostics))
    })
}

/// The shader, or kernel, of this name; without a name the only shader, or the only kernel of a file without shaders.
fn choose(
    checked: &Checked,
    file: FileId,
    entry: Option<&str>,
    options: &CompileOptions<'_>,
) -> Result<FunctionId, Diagnostics> {
    if let Some(closure) = options.closure {
        return closures::of_closure(checked, file, closure, entry);
    }
    let start = Span::new(file, 0..0);
    let (kernels, mut shaders): (Vec<_>, Vec<_>) = checked.program.shaders().partition(|(_, f)| f.is_kernel);
    if options.kernels && (entry.is_some() || shaders.is_empty()) {
        shaders.extend(kernels);
    } else if let Some((_, kernel)) = kernels.iter().find(|(_, f)| entry.is_none_or(|name| f.name == name))
        && (entry.is_some() || shaders.is_empty())
    {
        let message = format!("`{}` is a kernel, and what runs here are shaders", kernel.name);
        let hint = "kernels run over buffers, which a program hands to them: see the chapter on kernels";
        return Err(Diagnostic::error(&codes::NO_SHADER, kernel.span, message, hint).into());
    }
    let names = || shaders.iter().map(|(_, f)| format!("`{}`", f.name)).collect::<Vec<_>>().join(", ");
    let failure =
        |message: String, hint: String| Err(Diagnostic::error(&codes::NO_SHADER, start, message, hint).into());
    match (entry, shaders.as_slice()) {
        (None, [(id, _)]) => Ok(*id),
        (_, []) => failure(
            "this file has no shader".to_owned(),
            "write one: `shader main(out closure result) { … }`".to_owned(),
        ),
        (None, _) => failure(
            format!("this file has {} shaders", shaders.len()),
            format!("choose one of {}: by `--entry`, or by `entry` in a scene", names()),
        ),
        (Some(name), list) => match list.iter().find(|(_, f)| f.name == name) {
            Some((id, _)) => Ok(*id),
            None => {
                let near = closest(name, list.iter().map(|(_, f)| f.name.as_str()));
                let hint = near.map_or_else(|| format!("there is {}", names()), |c| format!("did you mean `{c}`?"));
                failure(format!("there is no shader `{name}`"), hint)
            }
        },
    }
}

/// The defaults of a shader's parameters that take running some of its functions.
pub(crate) fn computed_defaults(checked: &Checked, id: FunctionId, options: &CompileOptions<'_>) -> lower::Defaults {
    on_large_stack(|| defaults::computed(checked, id, options.externals))
}

type Lowered = (Module, ShaderInterface, pipeline::Timings);

fn lower_here(
    checked: &Checked,
    id: FunctionId,
    options: &CompileOptions<'_>,
    diagnostics: &mut Diagnostics,
    look: &mut dyn FnMut(Stage, &Module),
) -> Result<Lowered, Diagnostics> {
    let start = Instant::now();
    let poison = options.passes.derivatives == Derivatives::Poisoned;
    let request = Request {
        checked,
        externals: options.externals,
        shader: id,
        bake: options.bake.map(|block| Bake { block, except: options.gradient.map_or(&[], |g| &g.parameters) }),
        defaults: &defaults::computed(checked, id, options.externals),
        probes: options.probes,
        resampled: options.resampled,
        call_sites: false,
        names: options.names,
        poison,
        coincidences: options.coincidences,
        roots: options.roots,
        precision: options.passes.precision,
        linked: options.linked,
    };
    let mut said = Diagnostics::new();
    let lowered = lower::lower(&request, &mut said);
    settle(&mut said, checked.program.function(id).span.file, &checked.sources);
    diagnostics.extend(said);
    let Some((mut module, mut interface)) = lowered else {
        return Err(std::mem::take(diagnostics));
    };
    for global in &mut module.globals {
        global.withheld = options.seeded.is_some_and(|list| !list.contains(&global.name));
    }
    if poison {
        poison::run(&mut module, checked.program.formats.len(), &|span| checked.sources.place(span));
    }
    let shader = checked.program.function(id).span;
    if let Some(request) = options.gradient {
        let mut layout = interface.globals.clone();
        gradients::ask(request, &mut module, &mut interface, &mut layout, shader)?;
        interface.globals = layout;
    }
    few_loops(&module, shader)?;
    let mut timings = vec![("lower", start.elapsed())];
    // A graph connects inputs without a default to outputs of other shaders, which vary.
    let open = interface.parameters.iter().filter(|p| !p.has_default);
    let open: Vec<_> = open.map(|p| p.first_word..p.first_word + p.scalars.len()).collect();
    let mut flat = Vec::new();
    let mut both = |stage: Stage, module: &Module| {
        if stage == Stage::BeforeAd {
            flat = variation::flat_look_ups(module, &open);
        }
        look(stage, module);
    };
    match pipeline::run(&mut module, options.passes, &mut both) {
        Ok(passes) => timings.extend(passes),
        // What the author calls the variable is known only where that was noted.
        Err(Failure::Refused(Refused::NoUndo { .. })) if !options.names => {
            return lower_here(checked, id, &CompileOptions { names: true, ..*options }, diagnostics, look);
        }
        Err(failure) => return Err(refusals::explain(failure, shader).into()),
    }
    // Inlining may have brought more together.
    few_loops(&module, shader)?;
    fits_memory(&module, shader)?;
    diagnostics.extend(flat_look_ups(checked, id, &flat));
    interface.globals_read = globals_read(&module);
    if let Some(request) = options.gradient {
        gradients::tell(request, &module, &mut interface);
    }
    Ok((module, interface, timings))
}

fn few_loops(module: &Module, shader: Span) -> Result<(), Diagnostics> {
    let refuse = |text| Diagnostic::error(&codes::TOO_LARGE, shader, text, "put loops round loops").into();
    crate::analysis::loops::check(module).map_err(refuse)
}

fn fits_memory(module: &Module, shader: Span) -> Result<(), Diagnostics> {
    let hint = "use smaller arrays, or fewer levels of calls";
    crate::analysis::stack::check(module)
        .map_err(|text| Diagnostic::error(&codes::TOO_LARGE, shader, text, hint).into())
}

/// Warns of look-ups whose coordinates never vary, as the file itself allows.
fn flat_look_ups(checked: &Checked, shader: FunctionId, found: &[Span]) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    for &span in found {
        let message = "this texture is read at the same place for every point: its coordinates never vary";
        let hint = "use coordinates that vary over the surface, such as those of `global_value<uvw>`; where one texel is \
                    meant, a color parameter says so";
        warnings.push(Diagnostic::warning(&codes::FLAT_LOOK_UP, span, message, hint));
    }
    settle(&mut warnings, checked.program.function(shader).span.file, &checked.sources);
    warnings
}

fn compile_here(
    checked: &Checked,
    id: FunctionId,
    options: &CompileOptions<'_>,
    mut diagnostics: Diagnostics,
    front: Duration,
) -> Result<(Shader, Diagnostics), Diagnostics> {
    let (module, interface, passes) = lower_here(checked, id, options, &mut diagnostics, &mut |_, _| {})?;
    let mut timings = vec![("front", front)];
    timings.extend(passes);
    match options.target.suiting(&module, options.cache).compile(&module) {
        Ok(code) => Ok((Shader::new(interface, code, module, timings), diagnostics)),
        Err(e) => {
            let span = checked.program.function(id).span;
            Err(Diagnostic::error(&codes::BACKEND, span, e.0, "please report this with the shader").into())
        }
    }
}

/// A shader of intermediate code as it stands: its outputs and the words of its parameters have no names. Where the code
/// comes from the text, its globals have their rows in order.
#[doc(hidden)]
pub fn compile_module(module: Module, target: Target) -> Result<Shader, BackendError> {
    let interface = ShaderInterface {
        parameter_words: module.parameters.len(),
        columns: module.columns.len(),
        output_rows: module.entry().results.len() - 1,
        globals_read: globals_read(&module),
        ..ShaderInterface::default()
    };
    let code = target.suiting(&module, None).compile(&module)?;
    Ok(Shader::new(interface, code, module, Vec::new()))
}

/// The rows that a module reads.
fn globals_read(module: &Module) -> Vec<GlobalRead> {
    let mut found = BTreeSet::new();
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Global { field, component, order } = data.op
                && let Some(row) = module.globals[field as usize].row(component as usize, order)
            {
                found.insert((row, field as usize, component as usize, order));
            }
        });
    }
    found.into_iter().map(|(row, field, component, order)| GlobalRead { field, component, order, row }).collect()
}
