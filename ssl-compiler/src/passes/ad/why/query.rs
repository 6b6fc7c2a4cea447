//! What an author asks about: a variable (`p`, `p.x`, `list[2].v`, `function.p`), or a line (`file.ssl:12`).

use crate::diagnostics::closest;
use crate::ir::{Function, Module, Value};
use crate::source::{FileId, SourceMap, Span};

/// A question about something that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub message: String,
    pub hint: String,
}

pub(super) enum Query {
    Line(FileId, usize),
    Variable(String),
}

/// A part of a variable, given a value at a place; or what an operation makes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub function: String,
    pub part: String,
    pub span: Span,
    named: bool,
}

impl Subject {
    pub fn is(&self, function: &str, part: &str, span: Span) -> bool {
        (self.function.as_str(), self.part.as_str(), self.span) == (function, part, span)
    }

    /// The values that it is in a function of the intermediate code.
    pub fn values(&self, f: &Function) -> Vec<Value> {
        if self.named {
            let bound = f.bindings.iter().filter(|b| self.is(&b.function, &b.part, b.span));
            return bound.map(|b| b.value).collect();
        }
        let mut values = Vec::new();
        f.walk(|_, data| {
            if data.span == self.span {
                values.extend(data.results.iter().copied().filter(|r| f.ty(*r).is_differentiable()));
            }
        });
        values
    }
}

impl Query {
    pub fn parse(text: &str, module: &Module, sources: &SourceMap) -> Result<Query, Unknown> {
        let text = text.trim();
        let Some((file, line)) = text.rsplit_once(':').and_then(|(f, l)| Some((f, l.parse::<usize>().ok()?))) else {
            return Ok(Query::Variable(text.to_owned()));
        };
        let places = module.functions.iter().flat_map(|f| f.insts.iter().map(|i| i.span.file));
        let mut known: Vec<FileId> = places.collect();
        known.sort();
        known.dedup();
        let same = |name: &str| name == file || name.ends_with(&format!("/{file}"));
        match known.iter().find(|id| same(&sources.get(**id).name)) {
            Some(&id) if (1..=sources.get(id).line_count()).contains(&line) => Ok(Query::Line(id, line)),
            Some(&id) => Err(Unknown {
                message: format!("`{file}` has no line {line}"),
                hint: format!("it has {} lines", sources.get(id).line_count()),
            }),
            None => {
                let names: Vec<&str> = known.iter().map(|id| sources.get(*id).name.as_str()).collect();
                Err(Unknown {
                    message: format!("this shader runs nothing of a file `{file}`"),
                    hint: suggestion(file, names.iter().copied()),
                })
            }
        }
    }

    /// What is asked about, in the order of the source.
    pub fn subjects(&self, module: &Module, sources: &SourceMap) -> Result<Vec<Subject>, Unknown> {
        let bindings = || module.functions.iter().flat_map(|f| &f.bindings);
        let mut found: Vec<Subject> = Vec::new();
        match self {
            Query::Variable(text) => {
                let patterns = patterns(text);
                for pattern in &patterns {
                    for b in bindings().filter(|b| pattern.iter().any(|p| matches(p, &b.function, &b.part))) {
                        let (function, part) = (b.function.clone(), b.part.clone());
                        add(&mut found, Subject { function, part, span: b.span, named: true });
                    }
                    if !found.is_empty() {
                        break;
                    }
                }
            }
            Query::Line(file, line) => {
                let here = |span: Span| span.file == *file && sources.get(*file).line_column(span.start).0 == *line;
                for b in bindings().filter(|b| here(b.span)) {
                    let (function, part) = (b.function.clone(), b.part.clone());
                    add(&mut found, Subject { function, part, span: b.span, named: true });
                }
                for f in &module.functions {
                    f.walk(|_, data| {
                        if here(data.span) && data.results.iter().any(|r| f.ty(*r).is_differentiable()) {
                            let text = sources.get(*file).text.get(data.span.range()).unwrap_or("").trim();
                            let (function, part) = (f.name.clone(), text.to_owned());
                            add(&mut found, Subject { function, part, span: data.span, named: false });
                        }
                    });
                }
            }
        }
        if found.is_empty() { Err(self.unknown(module)) } else { Ok(found) }
    }

    fn unknown(&self, module: &Module) -> Unknown {
        let Query::Variable(text) = self else {
            let message = "nothing on this line computes a number".to_owned();
            return Unknown { message, hint: "ask about a line with an expression, or about a variable".to_owned() };
        };
        let mut names: Vec<String> = Vec::new();
        for b in module.functions.iter().flat_map(|f| &f.bindings) {
            let root = b.part.split(['.', '[']).next().unwrap_or(&b.part).to_owned();
            let part = b.part.split(" (").next().unwrap_or(&b.part).to_owned();
            names.extend([format!("{}.{root}", b.function), part, root]);
        }
        names.sort();
        names.dedup();
        let message = format!("no variable `{text}` is given a value in what this shader runs");
        Unknown { message, hint: suggestion(text, names.iter().map(String::as_str)) }
    }
}

fn add(found: &mut Vec<Subject>, subject: Subject) {
    if !found.contains(&subject) {
        found.push(subject);
    }
}

fn suggestion<'a>(text: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match closest(text, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let list: Vec<String> = known.filter(|n| !n.contains(['.', '['])).map(|n| format!("`{n}`")).collect();
            if list.is_empty() {
                "nothing there has a name".to_owned()
            } else {
                format!("there is {}", list.join(", "))
            }
        }
    }
}

/// Ways to read a name, the plainest first: as it stands, its last part as components, and the elements of arrays
/// that lie in memory together.
fn patterns(text: &str) -> Vec<Vec<String>> {
    let mut ways = vec![vec![text.to_owned()]];
    if let Some((head, letters)) = text.rsplit_once('.') {
        let place = |c: char| "xyzw".find(c).or_else(|| "rgba".find(c));
        let indices: Option<Vec<usize>> = letters.chars().map(place).collect();
        if let Some(indices) = indices.filter(|i| !i.is_empty()) {
            let each =
                |set: &str| -> Vec<String> { indices.iter().map(|&i| format!("{head}.{}", &set[i..=i])).collect() };
            ways.push([each("xyzw"), each("rgba")].concat());
        }
    }
    let mut together = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        together.push(c);
    }
    ways.push(vec![together]);
    ways
}

/// Whether a name means a part: it, or what it is a part of, with or without its function.
fn matches(name: &str, function: &str, part: &str) -> bool {
    let whole =
        |name: &str| part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', ' ']));
    let qualified = name.strip_prefix(function).and_then(|rest| rest.strip_prefix('.'));
    whole(name) || qualified.is_some_and(whole)
}
