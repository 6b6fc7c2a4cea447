//! What optimising passes did and why, for those who ask (`shade dump --stage remarks`).

use crate::ir::Function;
use crate::passes::ad::reverse::swept::Swept;
use crate::source::Span;

/// What a pass did at a place.
#[derive(Clone, Debug)]
pub struct Remark {
    pub pass: &'static str,
    /// The function of the intermediate code.
    pub function: String,
    /// Where the code comes from.
    pub span: Span,
    /// What was done, and why.
    pub text: String,
}

/// The remarks so far. Where nobody listens, none is written.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    listening: bool,
    pub list: Vec<Remark>,
    /// What reverse mode swept through.
    pub sweeps: Vec<Swept>,
}

impl Remarks {
    /// Nobody listens.
    pub fn unheard() -> Remarks {
        Remarks::default()
    }

    pub fn heard() -> Remarks {
        Remarks { listening: true, ..Remarks::default() }
    }

    pub fn are_heard(&self) -> bool {
        self.listening
    }

    pub fn say(&mut self, pass: &'static str, function: &Function, span: Span, text: impl FnOnce() -> String) {
        if self.listening {
            self.list.push(Remark { pass, function: function.name.clone(), span, text: text() });
        }
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in @{}: {}", self.pass, self.function, self.text)
    }
}
