//! Source files and places in them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of a file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A byte range of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl Span {
    /// These bytes of a file.
    pub fn new(file: FileId, range: Range<usize>) -> Span {
        Span { file, start: range.start as u32, end: range.end as u32 }
    }

    /// The smallest span that holds both; they must lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Its bytes, for slices of the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A text that was compiled.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user gave it, or a made-up name such as `<inline>`.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Where it lies, if it is a file: what it imports is looked for beside it. For a text inside
    /// another file, a name in that file's folder.
    pub path: Option<PathBuf>,
    line_starts: Arc<[u32]>,
    /// For a text inside another file.
    embedding: Option<Embedding>,
}

/// How a text stands in another file, perhaps with escapes: findings about it are shown there.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// The file that the text stands in.
    pub host: FileId,
    /// Where runs of the text begin, in it and in the host, in order, the last one being the end. Within a run, a byte of
    /// one is a byte of the other. An escape is a run of its own.
    pub runs: Arc<[(u32, u32)]>,
    /// How a text is written there; `None` where it cannot be.
    pub write: fn(&str) -> Option<String>,
}

impl Embedding {
    fn start(&self, at: u32) -> u32 {
        let run = self.runs.partition_point(|(inner, _)| *inner <= at).saturating_sub(1);
        self.runs.get(run).map_or(0, |(inner, outer)| outer + at.saturating_sub(*inner))
    }

    /// The end of what ends before a byte: what is skipped behind it does not belong to it.
    fn end(&self, at: u32) -> u32 {
        let next = self.runs.partition_point(|(inner, _)| *inner < at);
        match self.runs.get(next) {
            Some((inner, outer)) if *inner == at => *outer,
            _ => self.start(at),
        }
    }
}

impl SourceFile {
    fn new(name: String, path: Option<PathBuf>, text: Arc<str>) -> SourceFile {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        let line_starts = std::iter::once(0).chain(newlines).collect();
        SourceFile { name, text, path, line_starts, embedding: None }
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

    /// How many lines the text has.
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }
}

/// All files that a compilation has read. A copy shares them, since every compiled shader has one. Copies of lists
/// would take memory by the square of the number of shaders in a scene.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Arc<Vec<Arc<SourceFile>>>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text that lies at no path.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.push(SourceFile::new(name.into(), None, text.into()))
    }

    fn push(&mut self, file: SourceFile) -> FileId {
        let files = Arc::make_mut(&mut self.files);
        files.push(Arc::new(file));
        FileId(files.len() as u32 - 1)
    }

    /// Adds a text that lies at a path.
    pub fn add_at(&mut self, name: impl Into<String>, path: PathBuf, text: impl Into<Arc<str>>) -> FileId {
        self.push(SourceFile::new(name.into(), Some(path), text.into()))
    }

    /// Adds a text that stands in another file, with a path in that one's folder.
    pub fn add_embedded(
        &mut self,
        name: impl Into<String>,
        path: PathBuf,
        text: impl Into<Arc<str>>,
        embedding: Embedding,
    ) -> FileId {
        let file = SourceFile::new(name.into(), Some(path), text.into());
        self.push(SourceFile { embedding: Some(embedding), ..file })
    }

    /// The place in the file that a user has: of a text that is embedded in one, there.
    pub fn home(&self, span: Span) -> Span {
        match &self.get(span.file).embedding {
            None => span,
            Some(embedding) => {
                let start = embedding.start(span.start);
                let end = if span.end > span.start { embedding.end(span.end) } else { start };
                self.home(Span { file: embedding.host, start, end: end.max(start) })
            }
        }
    }

    /// A text as it is written in the file that a user has, in place of a part of `file`; `None` where it cannot be.
    pub fn written(&self, file: FileId, text: &str) -> Option<String> {
        match &self.get(file).embedding {
            None => Some(text.to_owned()),
            Some(embedding) => self.written(embedding.host, &(embedding.write)(text)?),
        }
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

    /// The file of this number.
    ///
    /// # Panics
    /// If the number is of another map.
    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, by their numbers.
    pub fn files(&self) -> &[Arc<SourceFile>] {
        &self.files
    }

    /// `name:line:column` of a span's start.
    pub fn place(&self, span: Span) -> String {
        let span = self.home(span);
        let file = self.get(span.file);
        let (line, column) = file.line_column(span.start);
        format!("{}:{line}:{column}", file.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy takes no memory by the file, and additions to one of the two are not in the other.
    #[test]
    fn copies_share_files() {
        let mut sources = SourceMap::new();
        let first = sources.add("first", "1");
        let mut copy = sources.clone();
        assert!(std::ptr::eq(sources.files(), copy.files()));
        copy.add("second", "2");
        assert!(std::ptr::eq(sources.get(first), copy.get(first)));
        assert_eq!((sources.files().len(), copy.files().len()), (1, 2));
    }

    /// The text `a"b` + line break + `cd`, as `a\"b\n` and `cd` behind a break that is skipped.
    #[test]
    fn places_in_embedded_texts_are_places_in_their_host() {
        let mut sources = SourceMap::new();
        let quoted = "x = \"a\\\"b\\n   cd\"";
        let host = sources.add("host", quoted);
        let runs = [(0, 5), (1, 6), (2, 8), (3, 9), (4, 11), (4, 14), (6, 16)];
        let write = |text: &str| Some(text.replace('"', "\\\""));
        let embedding = Embedding { host, runs: runs.into(), write };
        let inner = sources.add_embedded("inner", "inner".into(), "a\"b\ncd", embedding);
        let shown = |start: u32, end: u32| {
            let home = sources.home(Span { file: inner, start, end });
            assert_eq!(home.file, host);
            &quoted[home.range()]
        };
        assert_eq!(shown(0, 1), "a");
        assert_eq!(shown(1, 2), "\\\"");
        assert_eq!(shown(0, 3), "a\\\"b");
        assert_eq!(shown(3, 4), "\\n");
        assert_eq!(shown(4, 6), "cd");
        assert_eq!(shown(4, 4), "");
        assert_eq!(sources.home(Span { file: inner, start: 4, end: 4 }).start, 14);
        assert_eq!(shown(0, 6), "a\\\"b\\n   cd");
        assert_eq!(sources.written(inner, "\"").as_deref(), Some("\\\""));
        assert_eq!(sources.place(Span { file: inner, start: 5, end: 6 }), "host:1:16");
    }
}
