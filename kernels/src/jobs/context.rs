//! What all steps of reading a job share: the files read, and the findings.

use super::codes;
use super::keys::{TABLES, Table};
use ssl_compiler::builtins::library;
use ssl_compiler::diagnostics::{Code, Diagnostic, Diagnostics, closest};
use ssl_compiler::input;
use ssl_compiler::source::{Embedding, FileId, SourceMap, Span};
use ssl_compiler::tree::Place;
use ssl_compiler::tree::quoted::{Unquoted, unquote};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// What all steps of reading share.
pub struct Context {
    /// The files that were read.
    pub sources: SourceMap,
    /// What was found.
    pub diagnostics: Diagnostics,
    /// The job itself.
    pub file: FileId,
    /// The keys by which the file is checked.
    pub(super) tables: &'static [Table],
    folder: PathBuf,
    /// Most bytes that files may take while they are read.
    pub memory: Option<usize>,
    /// Values of the file that stood where the command line has put something else.
    pub released: BTreeSet<String>,
    /// Keys from the command line, and the place from which on places are in them.
    settings: Option<(usize, FileId)>,
}

impl Context {
    /// Nothing read yet, of a job of this name.
    pub fn new(job: &Path) -> Context {
        let folder = job.parent().unwrap_or(Path::new("")).to_owned();
        Context {
            sources: SourceMap::new(),
            diagnostics: Diagnostics::new(),
            file: FileId(0),
            tables: TABLES,
            folder,
            memory: None,
            released: BTreeSet::new(),
            settings: None,
        }
    }

    /// A place of the job.
    pub fn span(&self, at: Place) -> Span {
        match self.settings {
            Some((first, file)) if at.start >= first => Span::new(file, at.start - first..at.end - first),
            _ => Span::new(self.file, at),
        }
    }

    /// Takes in a text with keys that were given beside the file. Their places are as if they stood behind it.
    pub fn add_settings(&mut self, text: String) -> usize {
        // The end of the file is a place, too.
        let first = self.sources.get(self.file).text.len() + 1;
        self.settings = Some((first, self.sources.add("the command line", text)));
        first
    }

    /// The texts of sources that are not the job's own.
    pub fn shaders<'a>(&self, sources: &'a SourceMap) -> impl Iterator<Item = &'a str> {
        let own = [Some(self.file), self.settings.map(|(_, file)| file)];
        let files = sources.files().iter().enumerate();
        files.filter(move |(i, _)| !own.contains(&Some(FileId(*i as u32)))).map(|(_, file)| &*file.text)
    }

    /// Reports an error at a place of the job.
    pub fn error(&mut self, code: &'static Code, at: Place, message: impl Into<String>, hint: impl Into<String>) {
        let span = self.span(at);
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    /// A name that there is not, among those that there are.
    pub fn unknown<'a>(&mut self, at: Place, message: String, name: &str, known: impl Iterator<Item = &'a str>) {
        self.error(&codes::UNKNOWN_NAME, at, message, meant(name, known));
    }

    /// A path of the job starts at its folder, one of the command line at the current folder.
    pub fn path(&self, name: &Spanned<String>) -> PathBuf {
        let given = self.settings.is_some_and(|(first, _)| name.span().start >= first);
        if given { PathBuf::from(name.get_ref()) } else { self.folder.join(name.get_ref()) }
    }

    /// Reports a file that takes more bytes to be read than there may be for it.
    pub fn too_large(&mut self, name: &Spanned<String>, needed: usize, room: usize) {
        let (path, needed, room) = (self.path(name), megabytes(needed), megabytes(room));
        let message = format!("reading `{}` takes {needed}, and there may be {room} for it", path.display());
        self.error(&codes::MEMORY, name.span(), message, "scale the file down, or raise `--memory`");
    }

    /// Reports a file that cannot be read.
    pub fn unreadable(&mut self, name: &Spanned<String>, error: &std::io::Error) {
        let path = self.path(name);
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file `{}`", path.display()),
            _ => format!("`{}` cannot be read: {error}", path.display()),
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let names: Vec<String> = std::fs::read_dir(folder).map_or(Vec::new(), |entries| {
            let name = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
            entries.take(10_000).filter_map(name).collect()
        });
        let wanted = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let near = closest(wanted, names.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
            None => "paths are taken from the folder of the job file, those of the command line from the current \
                     folder"
                .to_owned(),
        };
        self.error(&codes::UNREADABLE, name.span(), message, hint);
    }

    /// A text that the job names, from the standard library if its name begins with `std/`; `None` after saying why it cannot
    /// be read.
    pub fn text_file(&mut self, name: &Spanned<String>) -> Option<FileId> {
        if name.get_ref().starts_with("std/")
            && let Some(file) = library::file(name.get_ref())
        {
            return Some(self.sources.add(format!("std/{}", file.name), file.text));
        }
        let path = self.path(name);
        match input::text(&path, input::MOST_TEXT) {
            Ok(text) => Some(self.sources.add_file(&path, text)),
            Err(e) => {
                self.unreadable(name, &e);
                None
            }
        }
    }

    /// A text that stands in the job itself, so that findings about it lie there. What it imports is looked for beside the
    /// job.
    pub fn embedded(&mut self, title: &str, source: &Spanned<String>) -> FileId {
        let (path, range) = (self.folder.join(title), source.span());
        let quoted = self.sources.get(self.file).text.get(range.clone()).and_then(unquote);
        let Some(Unquoted { quotes, runs, .. }) = quoted.filter(|q| q.text == *source.get_ref()) else {
            return self.sources.add_at(title, path, source.get_ref().as_str());
        };
        let runs = runs.iter().map(|(inner, outer)| (*inner as u32, (range.start + outer) as u32)).collect();
        let embedding = Embedding { host: self.file, runs, write: quotes.writer() };
        self.sources.add_embedded(title, path, source.get_ref().as_str(), embedding)
    }
}

/// The nearest of some names, and all of them.
pub fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let near = closest(name, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
    match known.is_empty() {
        true => "there are none".to_owned(),
        false => format!("{near}there are {}", known.join(", ")),
    }
}

/// Bytes, for people.
pub(super) fn megabytes(bytes: usize) -> String {
    match bytes >> 20 {
        0 => "less than 1 MB".to_owned(),
        mb => format!("{mb} MB"),
    }
}
