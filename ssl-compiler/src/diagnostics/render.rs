//! Diagnostics as text for people and as JSON for programs.

use super::{Diagnostic, Diagnostics, Label, Severity};
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
        let file = sources.get(span.file);
        let labels = || d.labels.iter().take(MAX_LABELS);
        let beside = |l: &&Label| l.span.file == span.file && near(file, span, l.span);
        let frame = Frame::of(file, std::iter::once(span).chain(labels().filter(beside).map(|l| l.span)));
        if let Some(origin) = frame.origin(file, span) {
            group = group.element(origin);
        }
        let context = labels().filter(beside).map(|l| frame.context(file, l));
        group = group.element(frame.snippet(file).annotation(frame.primary(file, span)).annotations(context));
        // What is far away, or in another file, gets a frame of its own.
        for label in labels().filter(|l| !beside(l)) {
            let file = sources.get(label.span.file);
            let frame = Frame::of(file, std::iter::once(label.span));
            if let Some(origin) = frame.origin(file, label.span) {
                group = group.element(origin);
            }
            group = group.element(frame.snippet(file).annotation(frame.context(file, label)));
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

/// Lines within which a finding and a label share a frame, and that a frame shows of a place of several lines.
const NEAR: usize = 200;

/// Whether one frame can show both places.
fn near(file: &SourceFile, a: Span, b: Span) -> bool {
    let (first, second) = (file.line_at(a.start), file.line_at(b.start));
    let cut = |line: usize| is_long(file.line_range(line));
    // A cut line shows the neighbourhood of one place only.
    first.abs_diff(second) <= NEAR && !cut(first) && !cut(second)
}

fn is_long(line: Range<usize>) -> bool {
    line.len() > Frame::LONG_LINE
}

/// The part of a text that is shown: some lines, or a piece of one that is too long to show.
///
/// The renderer reads all that it is given, and would copy a line of any length.
struct Frame {
    range: Range<usize>,
    /// The number of the first line.
    line: usize,
    /// Whether it begins or ends within its line.
    cut: bool,
}

impl Frame {
    /// Bytes of a line that are shown as they are, and those on either side of a place in a longer one.
    const LONG_LINE: usize = 400;
    const BESIDE: usize = 120;

    /// The lines of these places, which are near each other.
    fn of(file: &SourceFile, places: impl Iterator<Item = Span> + Clone) -> Frame {
        let first = places.clone().map(|s| file.line_at(s.start)).min().unwrap_or(1);
        let range = file.line_range(first);
        if is_long(range.clone()) {
            let at = places.map(|s| boundary(&file.text, s.start as usize)).min().unwrap_or(range.start);
            let from = boundary(&file.text, at.saturating_sub(Self::BESIDE)).max(range.start);
            let to = boundary(&file.text, at + 2 * Self::BESIDE).min(range.end);
            return Frame { range: from..to.max(from), line: first, cut: true };
        }
        let last = |s: Span| {
            let (start, end) = (file.line_at(s.start), file.line_at(s.end.max(s.start)));
            if end - start > NEAR || is_long(file.line_range(end)) { start } else { end }
        };
        let last = places.map(last).max().unwrap_or(first);
        Frame { range: range.start..file.line_range(last).end, line: first, cut: false }
    }

    fn snippet<'a>(&self, file: &'a SourceFile) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let path = (!self.cut).then_some(file.name.as_str());
        Snippet::source(&file.text[self.range.clone()]).line_start(self.line).path(path)
    }

    /// The place in words, where the shown piece does not know its place in the line.
    fn origin<'a>(&self, file: &'a SourceFile, span: Span) -> Option<Origin<'a>> {
        let (line, column) = file.line_column(span.start);
        self.cut.then(|| Origin::path(&file.name).line(line).char_column(column))
    }

    fn primary<'a>(&self, file: &SourceFile, span: Span) -> annotate_snippets::Annotation<'a> {
        AnnotationKind::Primary.span(self.inside(file, span))
    }

    fn context<'a>(&self, file: &SourceFile, label: &'a Label) -> annotate_snippets::Annotation<'a> {
        AnnotationKind::Context.span(self.inside(file, label.span)).label(&label.text)
    }

    /// A span inside the frame, on character boundaries, whatever was asked.
    fn inside(&self, file: &SourceFile, span: Span) -> Range<usize> {
        let place =
            |at: u32| boundary(&file.text, at as usize).clamp(self.range.start, self.range.end) - self.range.start;
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
