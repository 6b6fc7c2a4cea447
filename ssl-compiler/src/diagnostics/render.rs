//! Diagnostics as text for people and as JSON for programs.

use super::{Diagnostic, Diagnostics, Severity};
use crate::source::{SourceFile, SourceMap, Span};
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// Rendered text with the offending lines, one paragraph a finding. `color` adds terminal escapes.
pub fn text(diagnostics: &Diagnostics, sources: &SourceMap, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for d in &diagnostics.list {
        out.push_str(&one(d, sources, &renderer));
        out.push_str("\n\n");
    }
    if diagnostics.suppressed() > 0 {
        out.push_str(&format!("… and {} more; mend the first ones and try again\n", diagnostics.suppressed()));
    }
    out
}

/// Labels of a finding; the rest is said in the messages.
const MAX_LABELS: usize = 8;

fn one(d: &Diagnostic, sources: &SourceMap, renderer: &Renderer) -> String {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&d.message).id(d.code.id);
    let mut group = annotate_snippets::Group::with_title(title);
    if let Some(span) = d.span {
        if Window::around(&sources.get(span.file).text, span).is_cut(&sources.get(span.file).text) {
            // The piece does not know its place in the line.
            let (line, column) = sources.get(span.file).line_column(span.start);
            group = group.element(Origin::path(&sources.get(span.file).name).line(line).char_column(column));
        }
        group = group.element(snippet(sources.get(span.file), Some(span), &d.labels));
        // Labels in other files get a frame of their own each.
        for other in d.labels.iter().filter(|l| l.span.file != span.file).take(MAX_LABELS) {
            group = group.element(snippet(sources.get(other.span.file), None, std::slice::from_ref(other)));
        }
    }
    for note in &d.notes {
        let place = note.span.map_or(String::new(), |s| format!(" ({})", sources.place(s)));
        group = group.element(Level::NOTE.message(format!("{}{place}", note.text)));
    }
    if !d.hint.is_empty() {
        group = group.element(Level::HELP.message(&d.hint));
    }
    renderer.render(&[group])
}

/// The lines of a file that a finding and its labels speak of.
///
/// The renderer would copy a line of any length; only the neighbourhood of what is pointed at is shown.
fn snippet<'a>(
    file: &'a SourceFile,
    primary: Option<Span>,
    labels: &'a [super::Label],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let here = labels.iter().filter(|l| primary.is_none_or(|p| p.file == l.span.file)).take(MAX_LABELS);
    let first = primary.or(labels.first().map(|l| l.span)).unwrap_or_default();
    let cut = Window::around(&file.text, first);
    let inside = |s: Span| cut.clamp(&file.text, s);
    // A label outside a cut line says nothing there.
    let here = here.filter(|l| cut.holds(l.span));
    Snippet::source(&file.text[cut.range.clone()])
        .line_start(cut.line_start(&file.text))
        .path((!cut.is_cut(&file.text)).then_some(file.name.as_str()))
        .annotations(primary.map(|p| AnnotationKind::Primary.span(inside(p))))
        .annotations(here.map(|l| AnnotationKind::Context.span(inside(l.span)).label(&l.text)))
}

/// The part of a text that is shown: all of it, or a piece of a line that is too long to show.
struct Window {
    range: Range<usize>,
}

impl Window {
    /// Bytes of a line that are shown as they are, and those on either side of a place in a longer one.
    const LONG_LINE: usize = 400;
    const BESIDE: usize = 120;

    fn around(text: &str, span: Span) -> Window {
        let at = boundary(text, span.start as usize);
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        if end - start <= Self::LONG_LINE {
            return Window { range: 0..text.len() };
        }
        let from = boundary(text, at.saturating_sub(Self::BESIDE)).max(start);
        let to = boundary(text, (span.end as usize).clamp(at, at + Self::BESIDE) + Self::BESIDE).min(end);
        Window { range: from..to.max(from) }
    }

    fn is_cut(&self, text: &str) -> bool {
        self.range != (0..text.len())
    }

    fn line_start(&self, text: &str) -> usize {
        1 + text.as_bytes()[..self.range.start].iter().filter(|b| **b == b'\n').count()
    }

    fn holds(&self, span: Span) -> bool {
        self.range.start <= span.start as usize && span.start as usize <= self.range.end
    }

    /// A span inside the window, on character boundaries, whatever was asked.
    fn clamp(&self, text: &str, span: Span) -> Range<usize> {
        let place = |at: u32| boundary(text, at as usize).clamp(self.range.start, self.range.end) - self.range.start;
        let start = place(span.start);
        start..place(span.end).max(start)
    }
}

/// The nearest character boundary at or before a byte.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// An array of objects: `code`, `severity`, `message`, `hint`, `labels`, `notes`, `fixes`, and the place.
///
/// A place is `file`; `line`, `column`, `end_line` and `end_column`, from 1 and counted in characters; and
/// `start` and `end`, from 0 and counted in bytes. Labels, notes and fixes have a `text` and a place; a fix
/// replaces its place by its text. What has no place lacks its keys.
pub fn json(diagnostics: &Diagnostics, sources: &SourceMap) -> serde_json::Value {
    let at = |span: Span, text: &str| {
        let mut v = place(span, sources);
        v["text"] = text.into();
        v
    };
    let object = |d: &Diagnostic| {
        let severity = if d.is_error() { "error" } else { "warning" };
        let note = |n: &super::Note| match n.span {
            Some(span) => at(span, &n.text),
            None => serde_json::json!({"text": n.text}),
        };
        let mut value = serde_json::json!({
            "code": d.code.id, "severity": severity, "message": d.message, "hint": d.hint,
            "labels": d.labels.iter().map(|l| at(l.span, &l.text)).collect::<Vec<_>>(),
            "notes": d.notes.iter().map(note).collect::<Vec<_>>(),
            "fixes": d.fixes.iter().map(|f| at(f.span, &f.text)).collect::<Vec<_>>(),
        });
        if let (Some(span), Some(map)) = (d.span, value.as_object_mut())
            && let serde_json::Value::Object(p) = place(span, sources)
        {
            map.extend(p);
        }
        value
    };
    serde_json::Value::Array(diagnostics.list.iter().map(object).collect())
}

fn place(span: Span, sources: &SourceMap) -> serde_json::Value {
    let file = sources.get(span.file);
    let ((line, column), (end_line, end_column)) = (file.line_column(span.start), file.line_column(span.end));
    serde_json::json!({
        "file": file.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "start": span.start, "end": span.end,
    })
}

#[cfg(test)]
mod tests {
    use super::{json, text};
    use crate::diagnostics::{Diagnostic, Diagnostics, codes};
    use crate::source::{SourceMap, Span};

    /// A text with one finding at a place in it.
    fn rendered(source: &str, range: std::ops::Range<usize>) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("a.ssl", source);
        let d = Diagnostic::error(&codes::SYNTAX, Span::new(file, range), "message", "hint")
            .with_label(Span::new(file, 0..1), "label")
            .with_note(None, "note");
        text(&d.into(), &sources, false)
    }

    #[test]
    fn any_text_and_any_place_can_be_shown() {
        let texts = ["", "\n", "a", "a\r\nb\r\n", "\tx\ty", "ö→👩‍👩‍👧\u{200b}x\n", "\u{feff}a\u{301}", &"x".repeat(5000)];
        for source in texts {
            for start in 0..(source.len() + 3).min(40) {
                for end in [start, start + 1, source.len(), source.len() + 9] {
                    let out = rendered(source, start..end);
                    assert!(out.contains("message") && out.contains("hint") && out.contains("note"), "{out}");
                    assert!(out.len() < 3000, "{} bytes are shown", out.len());
                }
            }
        }
    }

    #[test]
    fn a_long_line_shows_what_is_pointed_at_and_the_number_of_its_line() {
        let source = format!("one\ntwo {} WRONG {}\n", "x ".repeat(1000), "y ".repeat(1000));
        let at = source.find("WRONG").expect("it is there");
        let out = rendered(&source, at..at + 5);
        assert!(out.contains("WRONG") && out.contains("^^^^^") && out.contains("a.ssl:2:2006"), "{out}");
    }

    #[test]
    fn the_end_of_a_line_can_be_pointed_at() {
        let out = rendered("float x\nfloat y;\n", 7..7);
        assert!(out.contains("a.ssl:1:8"), "{out}");
    }

    #[test]
    fn json_places_count_characters_and_bytes() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.ssl", "ö = 1;\nx");
        let span = Span::new(file, 3..4);
        let d = Diagnostic::error(&codes::SYNTAX, span, "m", "h").with_fix(span, "==").with_note(None, "n");
        let value = &json(&d.into(), &sources)[0];
        assert_eq!((&value["column"], &value["start"]), (&3.into(), &3.into()));
        assert_eq!((&value["end_column"], &value["end"]), (&4.into(), &4.into()));
        assert_eq!(value["fixes"][0]["text"], "==");
        assert_eq!(value["notes"][0], serde_json::json!({"text": "n"}));
    }

    #[test]
    fn past_the_limit_findings_are_counted() {
        let mut all = Diagnostics::new();
        (0..103).for_each(|_| all.push(Diagnostic::without_place(&codes::SYNTAX, "m", "h")));
        assert!(text(&all, &SourceMap::new(), false).ends_with("… and 3 more; mend the first ones and try again\n"));
    }
}
