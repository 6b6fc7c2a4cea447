//! A session: what a host offers to shaders, the sources that it gave, and the programs compiled from them.
//!
//! ```
//! use ssl_compiler::{Block, Compiler, Row};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut compiler = Compiler::new();
//! let file = compiler.add_source("twice.ssl", "shader main(float x = 1.5, out float y) { y = 2.0 * x; }");
//! let shader = compiler.compile(file, "main")?;
//! let mut outputs = shader.new_outputs();
//! shader.run(&mut Block::new(&[], &shader.new_parameters(), &mut outputs));
//! assert_eq!(outputs[0], Row::splat(3.0));
//! # Ok(())
//! # }
//! ```

mod error;
mod links;
mod program;
mod request;

pub use error::CompileError;
pub use links::{LinkedType, LinkedUnit};
pub use program::{Lowered, Program};
pub use request::ShaderRequest;

use crate::backend::cache::CodeCache;
use crate::builtins::library::LibraryFile;
use crate::diagnostics::Diagnostics;
use crate::facade::{CompileOptions, Target};
use crate::graph::{self, Linked};
use crate::jit::Shader;
use crate::modules::{Disk, Files, SearchPath};
use crate::pipeline::Options;
use crate::runtime::globals::LayoutError;
use crate::runtime::{Closure, ClosureId, ClosureRegistry, ClosureType, External, ExternalRegistry};
use crate::runtime::{GlobalsLayout, Orders};
use crate::sema::OpenInterface;
use crate::source::{FileId, SourceMap};
use crate::testing::{self, Session, TestReport};
use crate::types::Type;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a host offers to shaders, and how it wants them compiled.
#[derive(Clone, Default)]
struct Offer {
    globals: GlobalsLayout,
    /// Globals that a file may declare itself, in another type.
    optional: Vec<(String, Type, Orders)>,
    closures: ClosureRegistry,
    externals: ExternalRegistry,
    target: Target,
    cache: Option<CodeCache>,
    passes: Options,
    without_kernels: bool,
    /// The interfaces whose values may hold types that are linked later.
    open: Vec<OpenInterface>,
}

/// Compiles shaders for one host.
///
/// A host first says what its shaders may use: globals, closure types and functions. Then it adds sources and compiles
/// them. The session parses and checks a file once, however many of its shaders the host compiles, and gives the same
/// [`Shader`] for the same request. If the host changes its offer later, the session forgets its results; shaders and
/// programs that it gave out stay as they are.
#[derive(Clone)]
pub struct Compiler {
    offer: Arc<Offer>,
    files: Arc<dyn Files + Send + Sync>,
    folders: Vec<PathBuf>,
    library: &'static [LibraryFile],
    sources: SourceMap,
    /// Files that join each program.
    implementations: Vec<FileId>,
    programs: HashMap<FileId, Arc<Program>>,
}

impl Default for Compiler {
    fn default() -> Compiler {
        Compiler {
            offer: Arc::default(),
            files: Arc::new(Disk),
            folders: Vec::new(),
            library: &[],
            sources: SourceMap::new(),
            implementations: Vec::new(),
            programs: HashMap::new(),
        }
    }
}

impl Compiler {
    /// A session of a host that offers nothing yet.
    pub fn new() -> Compiler {
        Compiler::default()
    }

    /// A session that takes over sources that were read elsewhere; [`Compiler::into_sources`] gives them back.
    pub fn with_sources(self, sources: SourceMap) -> Compiler {
        Compiler { sources, implementations: Vec::new(), programs: HashMap::new(), ..self }
    }

    fn offer_mut(&mut self) -> &mut Offer {
        self.programs.clear();
        Arc::make_mut(&mut self.offer)
    }

    /// Replaces the globals of every shader. [`shader_globals!`](crate::shader_globals) makes the layout, from a struct
    /// that the host fills.
    pub fn set_globals(&mut self, globals: GlobalsLayout) -> &mut Compiler {
        self.offer_mut().globals = globals;
        self
    }

    /// Refuses kernels: the host runs shaders only, and has no buffers for kernels.
    pub fn refuse_kernels(&mut self) -> &mut Compiler {
        self.offer_mut().without_kernels = true;
        self
    }

    /// Adds one global behind the others.
    ///
    /// # Errors
    /// The name is taken, or the type is no scalar, vector or matrix.
    pub fn add_global(&mut self, name: &str, ty: Type, orders: Orders) -> Result<&mut Compiler, LayoutError> {
        self.offer_mut().globals.add(name, ty, orders)?;
        Ok(self)
    }

    /// Offers a global to files that do not declare one of this name themselves, perhaps with another type. A global
    /// from [`Compiler::set_globals`] keeps its name and type.
    pub fn offer_global(&mut self, name: &str, ty: Type, orders: Orders) -> &mut Compiler {
        self.offer_mut().optional.push((name.to_owned(), ty, orders));
        self
    }

    /// Lets shaders make closures of a type that [`closure_type!`](crate::closure_type) declared. It replaces a type of
    /// the same name, and takes its number.
    pub fn register_closure<T: Closure>(&mut self) -> ClosureId {
        self.register_closure_type(T::closure_type())
    }

    /// The same for a closure type that the host describes at run time.
    pub fn register_closure_type(&mut self, closure: ClosureType) -> ClosureId {
        self.offer_mut().closures.register(closure)
    }

    /// Replaces the closure types.
    pub fn set_closures(&mut self, closures: ClosureRegistry) -> &mut Compiler {
        self.offer_mut().closures = closures;
        self
    }

    /// Lets shaders call a function of the host. It replaces a function of the same name.
    pub fn register_external(&mut self, external: External) -> &mut Compiler {
        self.offer_mut().externals.register(external);
        self
    }

    /// Replaces the functions of the host.
    pub fn set_externals(&mut self, externals: ExternalRegistry) -> &mut Compiler {
        self.offer_mut().externals = externals;
        self
    }

    /// Chooses the back end that makes the code, and how hard it tries.
    pub fn set_target(&mut self, target: impl Into<Target>) -> &mut Compiler {
        self.offer_mut().target = target.into();
        self
    }

    /// Keeps machine code in a folder, so that the next run need not make it again. `None`, the default, keeps nothing.
    pub fn set_code_cache(&mut self, cache: Option<CodeCache>) -> &mut Compiler {
        self.offer_mut().cache = cache;
        self
    }

    /// Sets how the passes treat derivatives and calls, for comparing the ways.
    #[doc(hidden)]
    pub fn set_passes(&mut self, passes: Options) -> &mut Compiler {
        self.offer_mut().passes = passes;
        self
    }

    /// Looks for imported files in this folder, too, after the folder of the importing file.
    pub fn include(&mut self, folder: impl Into<PathBuf>) -> &mut Compiler {
        self.programs.clear();
        self.folders.push(folder.into());
        self
    }

    /// Reads all files from here instead of the disk, also imports and the files of graphs. A host that compiles
    /// shaders of strangers gives [`Confined`](crate::Confined) files.
    pub fn set_files(&mut self, files: impl Files + Send + 'static) -> &mut Compiler {
        self.programs.clear();
        self.files = Arc::new(files);
        self
    }

    /// Sets the search path for imports.
    pub fn set_imports(&mut self, imports: &SearchPath<'static>) -> &mut Compiler {
        self.folders.clone_from(&imports.folders);
        self.library = imports.library;
        self.set_files(imports.files)
    }

    /// Adds files of the host's own to the library, from which every file may import. The list replaces the one before.
    pub fn set_library(&mut self, library: &'static [LibraryFile]) -> &mut Compiler {
        self.programs.clear();
        self.library = library;
        self
    }

    /// Lets the structs of these files be held by values of interfaces in each program that is asked for from now on, though
    /// no file of it imports them. They import what declares the interface. So a host adds implementations to a shader
    /// that it does not change. The list replaces the one before; programs that the session gave out stay as they are.
    pub fn set_implementations(&mut self, files: &[FileId]) -> &mut Compiler {
        if self.implementations != files {
            self.programs.clear();
            self.implementations = files.to_vec();
        }
        self
    }

    /// Leaves an interface open: its values may hold types that no file of a program declares, and that the host links to
    /// programs which are compiled already ([`Program::link`]). Programs and those that are linked to them need the same
    /// open interfaces. It replaces what was said of the interface before.
    pub fn open_interface(&mut self, open: OpenInterface) -> &mut Compiler {
        let list = &mut self.offer_mut().open;
        list.retain(|other| other.name != open.name);
        list.push(open);
        self
    }

    /// Adds a text. The name appears in messages. A text without a path can import only from the library and from the
    /// [included](Compiler::include) folders.
    pub fn add_source(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.sources.add(name, text)
    }

    /// Adds a file. The session reads it once: the same path gives the same file.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8 text.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> io::Result<FileId> {
        let path = path.as_ref();
        if let Some(file) = self.sources.at(path) {
            return Ok(file);
        }
        let text = String::from_utf8(self.files.read(path)?);
        let text = text.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        Ok(self.sources.add_file(path, text))
    }

    /// Reads a graph of shaders and links it to the text of one shader, which joins the sources.
    ///
    /// # Errors
    /// The graph or one of its shaders is at fault.
    pub fn add_graph(&mut self, path: impl AsRef<Path>) -> Result<Linked, CompileError> {
        let (group, found) = graph::read_from(&*self.files, path.as_ref(), &mut self.sources);
        let Some(group) = group.filter(|_| !found.has_errors()) else {
            return Err(CompileError::new(found, &self.sources));
        };
        let imports = SearchPath { files: &*self.files, folders: self.folders.clone(), library: self.library };
        let Offer { globals, closures, externals, .. } = &*self.offer;
        let options = CompileOptions { externals, imports: &imports, ..CompileOptions::new(globals, closures) };
        let linked = graph::link(&group, &mut self.sources, &options);
        linked.map(|(linked, _)| linked).map_err(|found| CompileError::new(found, &self.sources))
    }

    /// All files of the session, also imported ones.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Ends the session, and gives its sources.
    pub fn into_sources(self) -> SourceMap {
        self.sources
    }

    /// Forgets all sources and everything made from them, so that files are read again. A [`FileId`] from before has no
    /// meaning afterwards.
    pub fn clear(&mut self) {
        self.programs.clear();
        self.implementations.clear();
        self.sources = SourceMap::new();
    }

    /// The closure types that shaders may make.
    pub fn closures(&self) -> &ClosureRegistry {
        &self.offer.closures
    }

    /// The globals of every shader.
    pub fn globals(&self) -> &GlobalsLayout {
        &self.offer.globals
    }

    /// The program of a file with all its imports. Any thread can check and compile it.
    ///
    /// # Panics
    /// If the file is not one of this session.
    pub fn program(&mut self, file: FileId) -> Arc<Program> {
        if let Some(known) = self.programs.get(&file) {
            return Arc::clone(known);
        }
        let imports = SearchPath { files: &*self.files, folders: self.folders.clone(), library: self.library };
        let program = Arc::new(Program::load(&self.offer, &mut self.sources, (file, &self.implementations), &imports));
        self.programs.insert(file, Arc::clone(&program));
        program
    }

    /// Finds the mistakes of a file and of what it imports; gives warnings.
    ///
    /// # Errors
    /// The file has errors.
    pub fn check(&mut self, file: FileId) -> Result<Diagnostics, CompileError> {
        self.program(file).check()
    }

    /// Compiles one shader of a file. Its warnings are [`Shader::warnings`].
    ///
    /// # Errors
    /// The file has errors, or the shader is not one that can be compiled.
    pub fn compile(&mut self, file: FileId, wanted: impl Into<ShaderRequest>) -> Result<Arc<Shader>, CompileError> {
        self.program(file).compile(wanted)
    }

    /// Compiles one shader as [`Compiler::compile`] does, but makes no code. It gives the shader's interface, and finds
    /// the mistakes that show only when a shader is compiled with the functions that it calls.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn lower(&mut self, file: FileId, wanted: impl Into<ShaderRequest>) -> Result<Lowered, CompileError> {
        self.program(file).lower(wanted)
    }

    /// Runs the tests of a file, each on every back end of this build.
    ///
    /// # Errors
    /// The file has errors, so no test ran. A failed test is no error: its report says so.
    pub fn test(&mut self, file: FileId) -> Result<Vec<TestReport>, CompileError> {
        let imports = SearchPath { files: &*self.files, folders: self.folders.clone(), library: self.library };
        let Offer { globals, closures, externals, passes, .. } = &*self.offer;
        let session = Session { externals, passes: *passes, imports: &imports, ..Session::new(globals, closures) };
        let ran = testing::run_file(&session, &mut self.sources, file);
        ran.map(|(reports, _)| reports).map_err(|found| CompileError::new(found, &self.sources))
    }
}
