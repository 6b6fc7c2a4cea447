//! What the tools have to say about a user's input, as data. Nothing here prints; `render` makes text
//! or JSON of it, and only a program's `main` writes that out.

pub mod codes;
pub mod render;

use crate::source::Span;

/// A diagnostic's stable identity.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Such as `E0201`.
    pub id: &'static str,
    pub title: &'static str,
    /// A paragraph for somebody who meets it for the first time: what it means, what to do.
    pub explanation: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One finding: what is wrong, where, and what to do about it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub code: &'static Code,
    pub severity: Severity,
    pub message: String,
    /// `None` where no file can be pointed into, such as a file that cannot be read.
    pub span: Option<Span>,
    /// Further places that explain the finding.
    pub labels: Vec<Label>,
    pub hint: String,
}

impl Diagnostic {
    pub fn error(code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            labels: Vec::new(),
            hint: hint.into(),
        }
    }

    pub fn warning(code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message, hint) }
    }

    /// An error about something that has no place in a file.
    pub fn without_place(code: &'static Code, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { span: None, ..Diagnostic::error(code, Span::default(), message, hint) }
    }

    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Findings in the order in which they were made; at most [`Diagnostics::LIMIT`] errors and as many
/// warnings are kept.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    pub list: Vec<Diagnostic>,
    suppressed: usize,
}

impl Diagnostics {
    pub const LIMIT: usize = 100;

    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        // Counted apart, so that warnings never crowd out an error.
        let alike = self.list.iter().filter(|d| d.severity == diagnostic.severity).count();
        if alike < Self::LIMIT {
            self.list.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    pub fn extend(&mut self, other: Diagnostics) {
        other.list.into_iter().for_each(|d| self.push(d));
        self.suppressed += other.suppressed;
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Findings past the limit, which were counted only.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![diagnostic], suppressed: 0 }
    }
}

/// The name among `candidates` that `wanted` was most likely meant to be.
///
/// Optimal string alignment distance, at most a third of the length.
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (edit_distance(wanted, c), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn suggests_the_nearest_name() {
        assert_eq!(closest("positon", ["normal", "position"]), Some("position"));
        assert_eq!(closest("lenght", ["length", "log"]), Some("length"));
        assert_eq!(closest("frobnicate", ["length", "log"]), None);
    }
}
