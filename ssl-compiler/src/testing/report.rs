//! What running tests gives, and its JSON and JUnit forms.

use crate::source::Span;

/// One expectation that did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    pub span: Span,
    pub message: String,
    /// A `shade eval` command that shows the same values, where one can.
    pub reproduce: Option<String>,
}

/// A test on one back end.
#[derive(Clone, Debug)]
pub struct TestReport {
    pub file: String,
    pub line: usize,
    pub name: String,
    pub backend: &'static str,
    pub failures: Vec<Failure>,
    /// What the shaders said.
    pub messages: Vec<String>,
    /// Remarks about a test that passed, such as samples that were drawn again.
    pub note: Option<String>,
}

impl TestReport {
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

pub type FileReport = Vec<TestReport>;

/// `{"passed": n, "failed": n, "tests": [{file, line, name, backend, passed, failures, note, messages}]}`
pub fn json(reports: &[TestReport]) -> serde_json::Value {
    let failed = reports.iter().filter(|r| !r.passed()).count();
    let tests: Vec<serde_json::Value> = reports
        .iter()
        .map(|r| {
            let failures: Vec<_> = r
                .failures
                .iter()
                .map(|f| serde_json::json!({"message": f.message, "reproduce": f.reproduce}))
                .collect();
            serde_json::json!({
                "file": r.file, "line": r.line, "name": r.name, "backend": r.backend,
                "passed": r.passed(), "failures": failures, "note": r.note, "messages": r.messages,
            })
        })
        .collect();
    serde_json::json!({"passed": reports.len() - failed, "failed": failed, "tests": tests})
}

/// The XML that build servers read.
pub fn junit(reports: &[TestReport]) -> String {
    let failed = reports.iter().filter(|r| !r.passed()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"shade test\" tests=\"{}\" failures=\"{failed}\">\n",
        reports.len()
    );
    for r in reports {
        let name = escape(&format!("{} [{}]", r.name, r.backend));
        out.push_str(&format!("  <testcase classname=\"{}\" name=\"{name}\"", escape(&r.file)));
        if r.passed() {
            out.push_str("/>\n");
            continue;
        }
        out.push_str(">\n");
        for f in &r.failures {
            let detail = f.reproduce.as_deref().unwrap_or("");
            out.push_str(&format!("    <failure message=\"{}\">{}</failure>\n", escape(&f.message), escape(detail)));
        }
        out.push_str("  </testcase>\n");
    }
    out.push_str("</testsuite>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
