//! Which warnings a user wants to see, and which count as errors.

use super::{Diagnostics, Severity, codes};

/// Applied to findings before they are shown; errors stay what they are.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Every warning is an error.
    pub deny_warnings: bool,
    /// Ids of warnings that are left out.
    pub allow: Vec<String>,
    /// Ids of warnings that are errors.
    pub deny: Vec<String>,
}

impl Policy {
    /// Leaves out warnings, and makes errors of others.
    pub fn apply(&self, diagnostics: &mut Diagnostics) {
        let listed = |list: &[String], id: &str| list.iter().any(|c| c.eq_ignore_ascii_case(id));
        diagnostics.list.retain(|d| d.is_error() || !listed(&self.allow, d.code.id));
        for d in &mut diagnostics.list {
            if self.deny_warnings || listed(&self.deny, d.code.id) {
                d.severity = Severity::Error;
            }
        }
    }

    /// A warning's id as a user writes it, or what is wrong with it. Codes of other parts of the program are
    /// given as `more`.
    pub fn warning(id: &str, more: &[&'static super::Code]) -> Result<String, String> {
        let id = id.trim();
        let all = || codes::ALL.iter().chain(more).map(|c| c.id);
        match all().find(|c| c.eq_ignore_ascii_case(id)) {
            Some(c) if c.starts_with('E') => Err(format!("{c} is an error, which cannot be allowed or denied")),
            Some(c) => Ok(c.to_owned()),
            None => {
                let hint = super::closest(id, all()).map_or(String::new(), |c| format!("; did you mean {c}?"));
                Err(format!("there is no diagnostic `{id}`{hint}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;
    use crate::diagnostics::{Diagnostic, Diagnostics, codes};
    use crate::source::Span;

    fn findings() -> Diagnostics {
        let mut all = Diagnostics::new();
        all.push(Diagnostic::error(&codes::SYNTAX, Span::default(), "a", "b"));
        all.push(Diagnostic::warning(&codes::UNUSED_RESULT, Span::default(), "a", "b"));
        all
    }

    #[test]
    fn warnings_are_left_out_or_denied_and_errors_stay() {
        let mut all = findings();
        Policy { allow: vec!["w0402".to_owned(), "E0104".to_owned()], ..Policy::default() }.apply(&mut all);
        assert_eq!(all.list.iter().map(|d| d.code.id).collect::<Vec<_>>(), ["E0104"]);
        let mut all = findings();
        Policy { deny: vec!["W0402".to_owned()], ..Policy::default() }.apply(&mut all);
        assert!(all.list.iter().all(Diagnostic::is_error));
        let mut all = findings();
        Policy { deny_warnings: true, ..Policy::default() }.apply(&mut all);
        assert!(all.list.iter().all(Diagnostic::is_error));
    }

    #[test]
    fn only_warnings_can_be_chosen() {
        assert_eq!(Policy::warning("w0402", &[]), Ok("W0402".to_owned()));
        assert!(Policy::warning("E0104", &[]).is_err());
        assert!(Policy::warning("W9999", &[]).is_err());
    }
}
