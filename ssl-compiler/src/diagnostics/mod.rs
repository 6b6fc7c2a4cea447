//! What the tools say about a user's input, as data. Nothing here prints: `render` makes text or JSON, and only a
//! program's `main` prints that.

#[doc(hidden)]
pub mod allow;
pub mod codes;
#[doc(hidden)]
pub mod examples;
pub mod foreign;
pub mod policy;
pub mod render;
mod shown;
#[doc(hidden)]
pub mod suggest;

pub use policy::Policy;
pub use shown::shown;
pub use suggest::closest;

use crate::source::{SourceMap, Span};

/// A diagnostic's stable identity.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Such as `E0201`.
    pub id: &'static str,
    /// What the code is about, in a few words.
    pub title: &'static str,
    /// A paragraph for somebody who meets it for the first time: what it means, what to do.
    pub explanation: &'static str,
}

/// Whether a finding stops the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be compiled.
    Error,
    /// The file compiles, and probably does not do what was meant.
    Warning,
}

/// A further place of a finding.
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// Something to know beside the finding, such as a function that was considered and why it does not fit.
#[derive(Clone, Debug)]
pub struct Note {
    /// What to know.
    pub text: String,
    /// The place that it speaks of, if there is one.
    pub span: Option<Span>,
}

/// A replacement that an editor may make as it stands.
#[derive(Clone, Debug)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// What it is replaced with.
    pub text: String,
}

/// One finding: what is wrong, where, and what to do about it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// `None` where no file can be pointed into, such as a file that cannot be read.
    pub span: Option<Span>,
    /// Further places that explain the finding.
    pub labels: Vec<Label>,
    /// What to know beside the finding.
    pub notes: Vec<Note>,
    /// What to do about it.
    pub hint: String,
    /// Replacements that mend it, all to be made together.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// An error about a place in a file. All texts of a diagnostic quote the author's file at a length that can be
    /// [shown].
    pub fn error(code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: shown(message.into()),
            span: Some(span),
            labels: Vec::new(),
            notes: Vec::new(),
            hint: shown(hint.into()),
            fixes: Vec::new(),
        }
    }

    /// A warning about a place in a file.
    pub fn warning(code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message, hint) }
    }

    /// An error about something that has no place in a file.
    pub fn without_place(code: &'static Code, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { span: None, ..Diagnostic::error(code, Span::default(), message, hint) }
    }

    /// A warning about something that has no place in a file.
    pub fn warning_without_place(
        code: &'static Code,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::without_place(code, message, hint) }
    }

    /// With a further place that explains the finding.
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: shown(text.into()) });
        self
    }

    /// With something to know beside the finding.
    pub fn with_note(mut self, span: Option<Span>, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { text: shown(text.into()), span });
        self
    }

    /// With a replacement that an editor may make.
    pub fn with_fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fixes.push(Fix { span, text: text.into() });
        self
    }

    /// With its places in the files that a user has, instead of in texts that are embedded in them.
    pub fn at_home(mut self, sources: &SourceMap) -> Diagnostic {
        self.span = self.span.map(|span| sources.home(span));
        self.labels.iter_mut().for_each(|label| label.span = sources.home(label.span));
        self.notes.iter_mut().for_each(|note| note.span = note.span.map(|span| sources.home(span)));
        let fix =
            |fix: &Fix| Some(Fix { span: sources.home(fix.span), text: sources.written(fix.span.file, &fix.text)? });
        // Together they are one: part of them might make it worse.
        self.fixes = self.fixes.iter().map(fix).collect::<Option<_>>().unwrap_or_default();
        self
    }

    /// Whether it is an error, not a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Findings in the order in which they were made; at most [`Diagnostics::LIMIT`] errors and as many
/// warnings are kept.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// What was kept.
    pub list: Vec<Diagnostic>,
    suppressed: usize,
}

impl Diagnostics {
    /// How many errors, and how many warnings, are kept.
    pub const LIMIT: usize = 100;

    /// No findings.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a finding; one past the limit is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        // Counted apart, so that warnings never crowd out an error.
        let alike = self.list.iter().filter(|d| d.severity == diagnostic.severity).count();
        if alike < Self::LIMIT {
            self.list.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    /// Leaves out what was added behind the first `earlier` and says the same of the same place as one of those.
    pub(crate) fn leave_out_repeated(&mut self, earlier: usize) {
        let added = self.list.split_off(earlier.min(self.list.len()));
        let same = |a: &Diagnostic, b: &Diagnostic| a.code == b.code && a.span == b.span;
        let new: Vec<Diagnostic> = added.into_iter().filter(|d| !self.list.iter().any(|e| same(d, e))).collect();
        self.list.extend(new);
    }

    /// Adds the findings of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        other.list.into_iter().for_each(|d| self.push(d));
        self.suppressed += other.suppressed;
    }

    /// Whether one of the findings is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Whether further errors would only be counted; what costs time to say about them need not be found.
    pub fn is_full(&self) -> bool {
        self.suppressed > 0 && self.list.iter().filter(|d| d.is_error()).count() >= Self::LIMIT
    }

    /// All of them [at home](Diagnostic::at_home).
    pub fn at_home(self, sources: &SourceMap) -> Diagnostics {
        Diagnostics { list: self.list.into_iter().map(|d| d.at_home(sources)).collect(), ..self }
    }

    /// Brings the findings into the order of their places; those without one come first.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|d| d.span.map(|s| (s.file, s.start)));
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Findings past the limit, which were counted only.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }
}

/// The code, what is wrong and what to do, in one line. [`render`] shows the places too.
impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        write!(f, "{severity}[{}]: {}; {}", self.code.id, self.message, self.hint)
    }
}

impl std::error::Error for Diagnostic {}

/// A line for each finding.
impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.list.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))?;
        match self.suppressed {
            0 => Ok(()),
            n => write!(f, "\nand {n} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![diagnostic], suppressed: 0 }
    }
}
