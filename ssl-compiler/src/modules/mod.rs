//! From a file to all files that it needs: this module follows imports, and adds the parts of the standard library that
//! a program calls.
//!
//! It reads and parses each file once, whichever imports lead to it. It does not know what the files mean. It only says
//! which file imports which, and lists imported files first.

mod search;

pub use search::{Confined, Disk, Files, LIBRARY_ONLY, SearchPath};

use crate::builtins::library::{self, LibraryFile};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::{self, ast};
pub(crate) use search::{Found, names_shader};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A file and all that it needs.
pub struct Modules {
    pub files: Vec<Module>,
    /// Indices into `files`: what a file imports comes before it. The file that was asked for is behind all that it needs,
    /// and before those that join it.
    pub order: Vec<usize>,
}

/// A file, parsed.
pub struct Module {
    pub file: FileId,
    pub tree: ast::File,
    pub imports: Vec<Import>,
    /// Where it is part of the standard library.
    pub library: Option<&'static LibraryFile>,
    /// What stands before its names where the file that was asked for speaks of them: nothing, or
    /// `alias::` for what it reaches under a name only.
    pub prefix: String,
}

/// An import that leads to a file.
pub struct Import {
    /// Index of the imported file.
    pub module: usize,
    pub alias: Option<ast::Ident>,
    pub span: Span,
}

/// Reads what a file imports, directly and through others, and files that join the program without an import. What cannot
/// be had is reported and left out.
pub fn load(
    sources: &mut SourceMap,
    (root, joining): (FileId, &[FileId]),
    search: &SearchPath<'_>,
    diagnostics: &mut Diagnostics,
) -> Modules {
    let modules = Modules { files: Vec::new(), order: Vec::new() };
    let mut loader = Loader { sources, search, diagnostics, modules, known: HashMap::new(), open: Vec::new() };
    for file in [root].iter().chain(joining) {
        if !loader.modules.files.iter().any(|m| m.file == *file) {
            let identity = loader.sources.get(*file).path.as_ref().and_then(|p| search.files.identity(p));
            loader.module(*file, identity, None);
        }
    }
    let mut modules = loader.modules;
    modules.name_prefixes();
    modules
}

struct Loader<'a> {
    sources: &'a mut SourceMap,
    search: &'a SearchPath<'a>,
    diagnostics: &'a mut Diagnostics,
    modules: Modules,
    /// Files by their identity; those of the standard library by `std/` and their name.
    known: HashMap<PathBuf, usize>,
    /// Files whose imports are being followed, each with the import that led on from it.
    open: Vec<(usize, Span)>,
}

impl Loader<'_> {
    /// Parses a file and follows its imports. Gives its index.
    fn module(&mut self, file: FileId, identity: Option<PathBuf>, library: Option<&'static LibraryFile>) -> usize {
        let index = self.modules.files.len();
        self.known.extend(identity.map(|id| (id, index)));
        let tree = syntax::parse(self.sources, file, self.diagnostics);
        let wanted: Vec<ast::Import> = tree.items.iter().filter_map(import_of).cloned().collect();
        let by_kind = tree.called_with.iter().filter_map(|(function, first)| library::needed_with(function, first));
        let names = tree.called.iter().map(String::as_str).chain(by_kind);
        let called: Vec<_> = names.filter_map(library::providing).collect();
        self.modules.files.push(Module { file, tree, imports: Vec::new(), library, prefix: String::new() });
        for import in wanted {
            self.open.push((index, import.path_span));
            if let Some(module) = self.import(index, &import) {
                self.modules.files[index].imports.push(Import { module, alias: import.alias, span: import.path_span });
            }
            self.open.pop();
        }
        for used in called {
            self.library(used);
        }
        self.modules.order.push(index);
        index
    }

    fn library(&mut self, file: &'static LibraryFile) -> usize {
        let identity = Path::new("std").join(file.name);
        match self.known.get(&identity) {
            Some(&index) => index,
            None => {
                let id = self.sources.add(format!("std/{}", file.name), file.text);
                self.module(id, Some(identity), Some(file))
            }
        }
    }

    fn import(&mut self, from: usize, import: &ast::Import) -> Option<usize> {
        if !import.path.is_empty() && !names_shader(&import.path) {
            let message = format!("`{}` is not a shader file", import.path);
            let hint = "an import names a file whose name ends in `.ssl`";
            self.refuse(&codes::IMPORT_UNREADABLE, import, message, hint);
            return None;
        }
        let from = &self.modules.files[from];
        let found = match import.path.as_str() {
            "" => Err(Vec::new()),
            // No file of a user's changes what the library means.
            path if from.library.is_some() => self.search.library_file(path).map(Found::Library).ok_or_else(Vec::new),
            path => self.search.find(path, self.sources.get(from.file).path.as_deref()),
        };
        match found {
            Ok(Found::Library(file)) => {
                let index = self.library(file);
                self.no_cycle(index, import).then_some(index)
            }
            Ok(Found::File(path, identity)) => match self.known.get(&identity) {
                Some(&index) => self.no_cycle(index, import).then_some(index),
                None => {
                    let file = self.read(&path, import)?;
                    Some(self.module(file, Some(identity), None))
                }
            },
            Err(places) => {
                let hint = match places.as_slice() {
                    [] => "write the path of a shader file between the quotes".to_owned(),
                    _ => format!("it was looked for in {}; `--include FOLDER` adds a place", places.join(", ")),
                };
                let message = match import.path.as_str() {
                    "" => "this import names no file".to_owned(),
                    path => format!("there is no file `{path}`"),
                };
                self.refuse(&codes::IMPORT_NOT_FOUND, import, message, hint);
                None
            }
        }
    }

    /// The text of a file, read unless that was done for another shader.
    fn read(&mut self, path: &Path, import: &ast::Import) -> Option<FileId> {
        if let Some(id) = self.sources.at(path) {
            return Some(id);
        }
        let text = self.search.files.read(path).map_err(|e| e.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(not_text));
        match text {
            Ok(text) => Some(self.sources.add_file(path, text)),
            Err(why) => {
                let message = format!("`{}` cannot be read: {why}", path.display());
                let hint = "an import names a shader file, which is UTF-8 text";
                self.refuse(&codes::IMPORT_UNREADABLE, import, message, hint);
                None
            }
        }
    }

    /// Whether an import may lead to a known file: not back to one whose imports are being followed.
    fn no_cycle(&mut self, to: usize, import: &ast::Import) -> bool {
        let Some(start) = self.open.iter().position(|(index, _)| *index == to) else { return true };
        let circle = &self.open[start..];
        let name = |index: usize| self.sources.get(self.modules.files[index].file).name.clone();
        let chain: Vec<String> = circle.iter().map(|(index, _)| name(*index)).chain([name(to)]).collect();
        let message = format!("files import each other in a circle: {}", chain.join(" → "));
        let hint = "move what both sides need into a file of its own, and import that";
        let mut diagnostic = Diagnostic::error(&codes::IMPORT_CYCLE, import.path_span, message, hint);
        for (_, span) in circle.iter().filter(|(_, span)| *span != import.path_span) {
            diagnostic = diagnostic.with_label(*span, "on the way");
        }
        self.diagnostics.push(diagnostic);
        false
    }

    fn refuse(
        &mut self,
        code: &'static Code,
        import: &ast::Import,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::error(code, import.path_span, message, hint));
    }
}

fn import_of(item: &ast::Item) -> Option<&ast::Import> {
    match item {
        ast::Item::Import(import) => Some(import),
        _ => None,
    }
}

fn not_text(e: std::string::FromUtf8Error) -> String {
    format!("it is not UTF-8 text (byte {} fits no character)", e.utf8_error().valid_up_to())
}

impl Modules {
    /// The file that was asked for.
    pub fn root(&self) -> &Module {
        &self.files[0]
    }

    /// Names of the globals that the files declare themselves.
    pub fn declared_globals(&self) -> HashSet<&str> {
        let items = self.files.iter().flat_map(|m| &m.tree.items);
        let blocks = items.filter_map(|item| if let ast::Item::Globals(list) = item { Some(list) } else { None });
        blocks.flatten().flat_map(|d| &d.declarators).map(|d| d.name.text.as_str()).collect()
    }

    /// Every file is spoken of by the shortest way that leads to it.
    fn name_prefixes(&mut self) {
        let mut named = vec![false; self.files.len()];
        // The fewest aliases first, and among equals the way that was found first.
        let mut ways = BinaryHeap::from([(Reverse((0, 0)), String::new(), 0)]);
        let mut found = 0;
        while let Some((Reverse((aliases, _)), prefix, index)) = ways.pop() {
            if std::mem::replace(&mut named[index], true) {
                continue;
            }
            for import in &self.files[index].imports {
                let alias = import.alias.as_ref().map_or(String::new(), |a| format!("{}::", a.text));
                found += 1;
                let cost = Reverse((aliases + usize::from(import.alias.is_some()), found));
                ways.push((cost, format!("{prefix}{alias}"), import.module));
            }
            self.files[index].prefix = prefix;
        }
    }
}
