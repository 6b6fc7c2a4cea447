//! Graph files: TOML into a [`ShaderGroup`], with the files of nested graphs.

use super::form;
use super::group::{Argument, Given, Input, Output, ShaderGroup, Unit, UnitSource};
use super::resolve::error_at;
use super::schema::{ArgumentTable, Header, UnitTable};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes};
use crate::input;
use crate::modules::{Disk, Files};
use crate::source::{FileId, SourceMap, Span};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Whether a text is a graph file, as other TOML files are none: by the tables that it has.
pub fn is_graph(text: &str) -> bool {
    let heads = |word: &str| {
        text.lines().any(|line| {
            let line = line.trim_start();
            line.strip_prefix(&format!("[{word}")).is_some_and(|rest| rest.starts_with([']', '.']))
        })
    };
    (heads("graph") || heads("units") || heads("outputs"))
        && !["camera", "materials", "film", "[shapes"].into_iter().any(heads)
}

/// Reads a graph file and the graphs that it nests. What is wrong is said; what could be understood
/// comes back, so that more can be found wrong with it.
pub fn read(path: &Path, sources: &mut SourceMap) -> (Option<Arc<ShaderGroup>>, Diagnostics) {
    let mut reader = Reader::new(sources, &Disk);
    let group = reader.file(path, None, |path| input::named_text(path).map_err(|e| e.to_string()));
    (group, reader.diagnostics)
}

/// The same, with all files from one place.
pub fn read_from(files: &dyn Files, path: &Path, sources: &mut SourceMap) -> (Option<Arc<ShaderGroup>>, Diagnostics) {
    let mut reader = Reader::new(sources, files);
    let group = reader.file(path, None, |path| text_of(files, path));
    (group, reader.diagnostics)
}

/// The same for a text that stands for the file at `path`, which need not be there.
pub fn read_text(path: &Path, text: &str, sources: &mut SourceMap) -> (Option<Arc<ShaderGroup>>, Diagnostics) {
    let mut reader = Reader::new(sources, &Disk);
    let identity = reader.identity(path);
    let group = reader.text(path, identity, text, None);
    (group, reader.diagnostics)
}

fn text_of(files: &dyn Files, path: &Path) -> Result<String, String> {
    let bytes = files.read(path).map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())
}

struct Reader<'a> {
    sources: &'a mut SourceMap,
    files: &'a dyn Files,
    diagnostics: Diagnostics,
    known: HashMap<PathBuf, Option<Arc<ShaderGroup>>>,
    /// Files being read, outermost first, each with the place that led to it.
    open: Vec<(PathBuf, Option<Span>)>,
}

impl<'a> Reader<'a> {
    fn new(sources: &'a mut SourceMap, files: &'a dyn Files) -> Reader<'a> {
        Reader { sources, files, diagnostics: Diagnostics::new(), known: HashMap::new(), open: Vec::new() }
    }

    /// One file by two ways is one graph.
    fn identity(&self, path: &Path) -> PathBuf {
        self.files.identity(path).unwrap_or_else(|| path.to_owned())
    }

    /// A graph that a unit names, as the unit writes its path.
    fn nested(&mut self, name: &str, folder: &Path, at: Option<Span>) -> Option<Arc<ShaderGroup>> {
        // As of imports: a message shows lines of the file.
        if !Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            let (message, hint) = (format!("`{name}` is not a graph file"), "the name of a graph file ends in `.toml`");
            self.diagnostics.push(error_at(&codes::UNIT_FILE, at, message, hint));
            return None;
        }
        let files = self.files;
        self.file(&folder.join(name), at, |path| text_of(files, path))
    }

    fn file(
        &mut self,
        path: &Path,
        at: Option<Span>,
        text: impl FnOnce(&Path) -> Result<String, String>,
    ) -> Option<Arc<ShaderGroup>> {
        let identity = self.identity(path);
        if let Some(known) = self.known.get(&identity) {
            return known.clone();
        }
        if let Some(start) = self.open.iter().position(|(p, _)| *p == identity) {
            self.contains_itself(start, path, at);
            return None;
        }
        let text = match text(path) {
            Ok(text) => text,
            Err(e) => {
                let message = format!("`{}` cannot be read: {e}", path.display());
                let (code, hint) = match at {
                    Some(_) => (&codes::UNIT_FILE, "paths are taken from the folder of the graph"),
                    None => (&codes::UNREADABLE_FILE, "check the path, and that it is a text file"),
                };
                self.diagnostics.push(error_at(code, at, message, hint));
                return None;
            }
        };
        self.text(path, identity, &text, at)
    }

    fn text(&mut self, path: &Path, identity: PathBuf, text: &str, at: Option<Span>) -> Option<Arc<ShaderGroup>> {
        let file = self.sources.add(path.display().to_string(), text);
        self.open.push((identity.clone(), at));
        let group = self.parse(path, file, text).map(Arc::new);
        self.open.pop();
        self.known.insert(identity, group.clone());
        group
    }

    fn contains_itself(&mut self, start: usize, path: &Path, at: Option<Span>) {
        let name = |p: &Path| p.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let mut chain: Vec<String> = self.open[start..].iter().map(|(p, _)| name(p)).collect();
        chain.push(name(path));
        let message = format!("the graph contains itself: {}", chain.join(" → "));
        let hint = "take one of these graphs out of the other";
        self.diagnostics.push(error_at(&codes::GRAPH_NESTING, at, message, hint));
    }

    fn parse(&mut self, path: &Path, file: FileId, text: &str) -> Option<ShaderGroup> {
        let parsed = form::read(file, text, &mut self.diagnostics)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().replace(['-', ' ', '.'], "_"));
        let Header { name, description } = parsed.graph;
        let at = Some(Span::new(file, name.as_ref().map_or(0..0, Spanned::span)));
        let name = name.map_or(stem, Spanned::into_inner);
        let mut group = ShaderGroup { name, description, folder, at, ..ShaderGroup::default() };
        let mut part = File { file, text, reader: self };
        for (name, table) in parsed.units {
            let unit = part.unit(&name, table, &group.folder);
            group.units.extend(unit);
        }
        for (name, table) in parsed.arguments {
            let argument = part.argument(&name, table);
            group.arguments.push(argument);
        }
        for (name, from) in parsed.outputs {
            let at = Some(part.span(name.span().start..from.span().end));
            group.outputs.push(Output { name: name.into_inner(), from: from.into_inner(), at });
        }
        Some(group)
    }
}

/// A graph file being turned into a group.
struct File<'r, 'a> {
    file: FileId,
    text: &'r str,
    reader: &'r mut Reader<'a>,
}

impl File<'_, '_> {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }

    fn error(&mut self, code: &'static Code, at: Range<usize>, message: impl Into<String>, hint: &str) {
        let span = self.span(at);
        self.reader.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    fn unit(&mut self, name: &Spanned<String>, mut table: UnitTable, folder: &Path) -> Option<Unit> {
        let inputs = self.inputs(&mut table);
        let at = Some(self.span(name.span()));
        let source = self.source(name, table, folder)?;
        Some(Unit { name: name.get_ref().clone(), source, inputs, at })
    }

    fn source(&mut self, name: &Spanned<String>, table: UnitTable, folder: &Path) -> Option<UnitSource> {
        let shader = table.shader.as_ref().map(|s| s.get_ref().clone());
        match (table.file, table.source, table.graph) {
            (Some(file), None, None) => {
                let at = Some(self.span(file.span()));
                Some(UnitSource::File { path: file.into_inner(), shader, at })
            }
            (None, Some(source), None) => {
                let at = self.verbatim(&source);
                Some(UnitSource::Text { text: source.into_inner().into(), shader, at })
            }
            (None, None, Some(graph)) => {
                if let Some(shader) = table.shader {
                    let message = format!("the graph of the unit `{}` has no shaders to choose from", name.get_ref());
                    self.error(&codes::UNIT_SOURCE, shader.span(), message, "remove `shader`");
                }
                let at = Some(self.span(graph.span()));
                self.reader.nested(graph.get_ref(), folder, at).map(UnitSource::Group)
            }
            (None, None, None) if table.spoiled => None,
            (None, None, None) => {
                let message = format!("the unit `{}` has no shader", name.get_ref());
                let hint = "add `file = \"….ssl\"`, `source = '''…'''` or `graph = \"….toml\"`";
                self.error(&codes::UNIT_SOURCE, name.span(), message, hint);
                None
            }
            _ => {
                let message = format!("the unit `{}` has several of `file`, `source` and `graph`", name.get_ref());
                self.error(&codes::UNIT_SOURCE, name.span(), message, "keep one of them");
                None
            }
        }
    }

    /// Where the characters of a text stand in the file, if they stand there as they are.
    fn verbatim(&self, source: &Spanned<String>) -> Option<Span> {
        let range = source.span();
        let offset = self.text.get(range.clone())?.find(source.get_ref().as_str())?;
        let start = range.start + offset;
        Some(self.span(start..start + source.get_ref().len()))
    }

    /// What the unit's inputs are given, in the order of the file.
    fn inputs(&self, table: &mut UnitTable) -> Vec<Input> {
        let mut list: Vec<Input> = Vec::new();
        let mut add = |name: Spanned<String>, given: Given, range: Range<usize>| {
            // From the name to the end of the value.
            let at = Some(self.span(name.span().start..range.end));
            list.push(Input { parameter: name.into_inner(), given, at });
        };
        for (name, value) in std::mem::take(&mut table.set) {
            let range = value.span();
            add(name, Given::Value(value.into_inner()), range);
        }
        for (name, from) in std::mem::take(&mut table.inputs) {
            let range = from.span();
            add(name, Given::Connection(from.into_inner()), range);
        }
        for (name, image) in std::mem::take(&mut table.textures) {
            // A table may have a head of its own, in which its name stands.
            let range = if image.span().start < name.span().end { name.span() } else { image.span() };
            add(name, Given::Texture(image.into_inner()), range);
        }
        list.sort_by_key(|i| i.at.map(|s| s.start));
        list
    }

    fn argument(&mut self, name: &Spanned<String>, table: ArgumentTable) -> Argument {
        let mut parameters: Vec<Spanned<String>> = table.parameter.into_iter().chain(table.parameters).collect();
        parameters.sort_by_key(|p| p.span().start);
        Argument {
            name: name.get_ref().clone(),
            parameters: parameters.into_iter().map(|p| (p.get_ref().clone(), Some(self.span(p.span())))).collect(),
            default: table.default.map(|d| (d.get_ref().clone(), Some(self.span(d.span())))),
            label: table.label,
            min: table.min,
            max: table.max,
            at: Some(self.span(name.span())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_told_from_scenes() {
        assert!(is_graph("[units.a]\nfile = \"a.ssl\"\n"));
        assert!(is_graph("# a graph\n[graph]\nname = \"a\"\n"));
        assert!(!is_graph("[camera]\nfov = 1\n[[shapes]]\n"));
        assert!(!is_graph("[materials.graph]\nsource = \"\"\"\n[units.a]\n\"\"\"\n"));
    }
}
