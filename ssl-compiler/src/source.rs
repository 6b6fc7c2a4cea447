//! Source files and places in them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A byte range of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, range: Range<usize>) -> Span {
        Span { file, start: range.start as u32, end: range.end as u32 }
    }

    /// The smallest span that holds both; they must lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user gave it, or a made-up name such as `<inline>`.
    pub name: String,
    pub text: Arc<str>,
    /// Where it lies, if it is a file: what it imports is looked for beside it. For a text inside
    /// another file, a name in that file's folder.
    pub path: Option<PathBuf>,
    line_starts: Arc<[u32]>,
}

impl SourceFile {
    fn new(name: String, path: Option<PathBuf>, text: Arc<str>) -> SourceFile {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        let line_starts = std::iter::once(0).chain(newlines).collect();
        SourceFile { name, text, path, line_starts }
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line_at(offset);
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len()).max(start);
        let column = self.text.get(start..end).map_or(end - start, |s| s.chars().count());
        (line, column + 1)
    }

    /// The line (from 1) of a byte.
    pub fn line_at(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset).max(1)
    }

    /// The bytes of a line (from 1), with its line break.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let start = |line: usize| self.line_starts.get(line).map_or(self.text.len(), |&s| s as usize);
        start(line.wrapping_sub(1))..start(line)
    }

    /// The text of a line (from 1), without its line break.
    pub fn line(&self, line: usize) -> &str {
        let start = self.line_starts.get(line.wrapping_sub(1)).map_or(self.text.len(), |&s| s as usize);
        self.text[start..].lines().next().unwrap_or("")
    }

    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }
}

/// All files that a compilation has read.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile::new(name.into(), None, text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a text that lies at a path.
    pub fn add_at(&mut self, name: impl Into<String>, path: PathBuf, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile::new(name.into(), Some(path), text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a file, which goes by its path.
    pub fn add_file(&mut self, path: &Path, text: impl Into<Arc<str>>) -> FileId {
        self.add_at(path.display().to_string(), path.to_owned(), text)
    }

    /// The file that was added with this path.
    pub fn at(&self, path: &Path) -> Option<FileId> {
        let found = self.files.iter().position(|f| f.path.as_deref() == Some(path));
        found.map(|i| FileId(i as u32))
    }

    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// `name:line:column` of a span's start.
    pub fn place(&self, span: Span) -> String {
        let file = self.get(span.file);
        let (line, column) = file.line_column(span.start);
        format!("{}:{line}:{column}", file.name)
    }
}
