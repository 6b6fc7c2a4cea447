//! Diagnostics as text for people and as JSON for programs.

use super::{Diagnostic, Diagnostics, Severity};
use crate::source::SourceMap;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

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

fn one(d: &Diagnostic, sources: &SourceMap, renderer: &Renderer) -> String {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&d.message).id(d.code.id);
    let mut group = annotate_snippets::Group::with_title(title);
    if let Some(span) = d.span {
        let file = sources.get(span.file);
        let clamp = |s: crate::source::Span| clamp_range(&file.text, s.range());
        let same_file = d.labels.iter().filter(|l| l.span.file == span.file);
        let snippet = Snippet::source(&*file.text)
            .path(&file.name)
            .annotation(AnnotationKind::Primary.span(clamp(span)))
            .annotations(same_file.map(|l| AnnotationKind::Context.span(clamp(l.span)).label(&l.text)));
        group = group.element(snippet);
    }
    if !d.hint.is_empty() {
        group = group.element(Level::HELP.message(&d.hint));
    }
    renderer.render(&[group])
}

/// A range inside the text, on character boundaries, whatever was asked.
fn clamp_range(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let floor = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

/// An array of objects: `code`, `severity`, `message`, `hint`, `file`, `line`, `column`, `end_line`,
/// `end_column`, `labels`; lines and columns from 1.
pub fn json(diagnostics: &Diagnostics, sources: &SourceMap) -> serde_json::Value {
    let place = |span: crate::source::Span| {
        let file = sources.get(span.file);
        let ((line, column), (end_line, end_column)) = (file.line_column(span.start), file.line_column(span.end));
        serde_json::json!({"file": file.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column})
    };
    let object = |d: &Diagnostic| {
        let severity = if d.is_error() { "error" } else { "warning" };
        let mut value = serde_json::json!({
            "code": d.code.id, "severity": severity, "message": d.message, "hint": d.hint,
            "labels": d.labels.iter().map(|l| {
                let mut v = place(l.span);
                v["text"] = l.text.clone().into();
                v
            }).collect::<Vec<_>>(),
        });
        if let (Some(span), Some(map)) = (d.span, value.as_object_mut())
            && let serde_json::Value::Object(p) = place(span)
        {
            map.extend(p);
        }
        value
    };
    serde_json::Value::Array(diagnostics.list.iter().map(object).collect())
}
