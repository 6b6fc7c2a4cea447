//! What running tests gives, and its JSON form.

use crate::source::{SourceMap, Span};
use std::fmt;

/// One expectation that did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The expectation.
    pub span: Span,
    /// `file:line:column`
    pub place: String,
    /// The line in the source.
    pub source: String,
    /// The line, from 1.
    pub line: usize,
    /// What did not hold.
    pub message: String,
    /// What was expected and what was found, where these are values.
    pub values: Option<(String, String)>,
    /// What the shader was run with, a line for each global and parameter, as simple as still fails.
    pub inputs: Vec<String>,
    /// The inputs that failed first, where they were made simpler.
    pub drawn: Vec<String>,
    /// A `shade eval` command that shows the same values, where one can.
    pub reproduce: Option<String>,
}

impl Failure {
    /// Without values and inputs.
    pub fn at(sources: &SourceMap, span: Span, message: String) -> Failure {
        let file = sources.get(span.file);
        let (line, _) = file.line_column(span.start);
        Failure {
            span,
            place: sources.place(span),
            source: file.line(line).trim_end().to_owned(),
            line,
            message,
            values: None,
            inputs: Vec::new(),
            drawn: Vec::new(),
            reproduce: None,
        }
    }
}

/// A test on one back end.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// The file's name.
    pub file: String,
    /// The line of the test, from 1.
    pub line: usize,
    /// The name of the test.
    pub name: String,
    /// Where it ran.
    pub backend: &'static str,
    /// What did not hold; a test stops at the first sample that fails.
    pub failures: Vec<Failure>,
    /// What the shaders said.
    pub messages: Vec<String>,
    /// Remarks about a test, such as points that were drawn again.
    pub note: Option<String>,
    /// How long it took, compiling included where it was the first to need a shader.
    pub seconds: f64,
}

impl TestReport {
    /// Whether every expectation held.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// A line for the test, and for each failure where, what and how to see it again.
impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed() { "ok    " } else { "FAILED" };
        let note = self.note.as_ref().map_or(String::new(), |n| format!(" ({n})"));
        writeln!(f, "{verdict} {}:{} {} [{}]{note}", self.file, self.line, self.name, self.backend)?;
        for line in self.messages.iter().flat_map(|m| m.lines()) {
            writeln!(f, "    | {line}")?;
        }
        self.failures.iter().try_for_each(|failure| write!(f, "{failure}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    {}: {}", self.place, self.message)?;
        writeln!(f, "    {:4} | {}", self.line, self.source)?;
        if !self.inputs.is_empty() {
            writeln!(f, "    with {}", self.inputs.join(", "))?;
        }
        if !self.drawn.is_empty() {
            writeln!(f, "    made simpler from {}", self.drawn.join(", "))?;
        }
        match &self.reproduce {
            Some(command) => writeln!(f, "    see it with: {command}"),
            None => Ok(()),
        }
    }
}

/// What the tests of a file gave, in order of tests and back ends.
pub type FileReport = Vec<TestReport>;

/// A file whose tests could not be run, and why.
#[derive(Clone, Debug)]
pub struct BrokenFile {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Failed tests and broken files.
pub fn failed(reports: &[TestReport], broken: &[BrokenFile]) -> usize {
    reports.iter().filter(|r| !r.passed()).count() + broken.len()
}

/// `{"passed": n, "failed": n, "tests": […], "broken": [{file, reason}]}`, a test being
/// `{file, line, name, backend, passed, seconds, failures, note, messages}` and a failure
/// `{message, place, source, expected, found, inputs, drawn, reproduce}`, where a place is `{file, line, column}` and what
/// was expected and found are numbers, or lists of them, wherever they are. A broken file counts as one that failed.
pub fn json(reports: &[TestReport], broken: &[BrokenFile]) -> serde_json::Value {
    let failure = |f: &Failure| {
        let (expected, found) = f.values.clone().unzip();
        serde_json::json!({
            "message": f.message, "place": place(&f.place), "source": f.source,
            "expected": expected.map(|text| value(&text)), "found": found.map(|text| value(&text)),
            "inputs": f.inputs, "drawn": f.drawn, "reproduce": f.reproduce,
        })
    };
    let test = |r: &TestReport| {
        serde_json::json!({
            "file": r.file, "line": r.line, "name": r.name, "backend": r.backend, "passed": r.passed(),
            "seconds": r.seconds, "failures": r.failures.iter().map(failure).collect::<Vec<_>>(),
            "note": r.note, "messages": r.messages,
        })
    };
    let passed = reports.iter().filter(|r| r.passed()).count();
    let broken_files: Vec<_> = broken.iter().map(|b| serde_json::json!({"file": b.file, "reason": b.reason})).collect();
    serde_json::json!({
        "passed": passed, "failed": failed(reports, broken),
        "tests": reports.iter().map(test).collect::<Vec<_>>(), "broken": broken_files,
    })
}

/// `file:line:column` taken apart.
fn place(text: &str) -> serde_json::Value {
    let mut parts = text.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|p| p.parse::<u64>().ok());
    serde_json::json!({"file": file, "line": number(line), "column": number(column)})
}

/// A value as a report writes it: a number, a list of numbers, a truth value, or text. NaN and the infinities are the texts
/// `NaN`, `Infinity` and `-Infinity`, since JSON has no numbers for them.
fn value(text: &str) -> serde_json::Value {
    let number = |text: &str| -> Option<serde_json::Value> {
        if let Ok(whole) = text.parse::<i64>() {
            return Some(whole.into());
        }
        let x = text.parse::<f64>().ok()?;
        Some(match x {
            f64::INFINITY => "Infinity".into(),
            f64::NEG_INFINITY => "-Infinity".into(),
            x if x.is_nan() => "NaN".into(),
            x => x.into(),
        })
    };
    let list = || {
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        inside.split(',').map(|part| number(part.trim())).collect::<Option<Vec<_>>>()
    };
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => number(text).or_else(|| list().map(serde_json::Value::Array)).unwrap_or_else(|| text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_numbers_where_they_are() {
        for (text, expected) in [
            ("-3", json!(-3)),
            ("-3e-5", json!(-3e-5)),
            ("(1,0.5,-2)", json!([1, 0.5, -2])),
            ("inf", json!("Infinity")),
            ("(NaN,-inf)", json!(["NaN", "-Infinity"])),
            ("true", json!(true)),
            ("(matte)", json!("(matte)")),
        ] {
            assert_eq!(value(text), expected);
        }
        assert_eq!(place("C:\\a b.ssl:12:3"), json!({"file": "C:\\a b.ssl", "line": 12, "column": 3}));
    }
}
