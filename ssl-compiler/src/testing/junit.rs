//! Test reports as the JUnit XML that build servers read: a suite for each file, and a case for each test on each back
//! end.

use super::report::{BrokenFile, Failure, TestReport};
use std::fmt::Write;

/// The whole document.
pub fn junit(reports: &[TestReport], broken: &[BrokenFile]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let failures = reports.iter().filter(|r| !r.passed()).count();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "<testsuites name=\"shade test\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\" time=\"{:.6}\">",
        reports.len() + broken.len(),
        broken.len(),
        reports.iter().map(|r| r.seconds).sum::<f64>(),
    );
    for suite in reports.chunk_by(|a, b| a.file == b.file) {
        let failures = suite.iter().filter(|r| !r.passed()).count();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{:.6}\">",
            escape(&suite[0].file),
            suite.len(),
            suite.iter().map(|r| r.seconds).sum::<f64>(),
        );
        suite.iter().for_each(|r| case(&mut out, r));
        out.push_str("  </testsuite>\n");
    }
    for b in broken {
        let (file, reason) = (escape(&b.file), escape(&b.reason));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{file}\" tests=\"1\" failures=\"0\" errors=\"1\" time=\"0\">\n    \
             <testcase classname=\"{file}\" name=\"compiles\" time=\"0\">\n      \
             <error message=\"the file has errors\">{reason}</error>\n    </testcase>\n  </testsuite>"
        );
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, r: &TestReport) {
    let name = escape(&format!("{} [{}]", r.name, r.backend));
    let _ = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{name}\" file=\"{}\" line=\"{}\" time=\"{:.6}\"",
        escape(&r.file),
        escape(&r.file),
        r.line,
        r.seconds
    );
    let said: Vec<&str> = r.note.iter().map(String::as_str).chain(r.messages.iter().map(|m| m.trim_end())).collect();
    if r.passed() && said.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for f in &r.failures {
        let _ = writeln!(
            out,
            "      <failure message=\"{}\" type=\"expectation\">{}</failure>",
            escape(&f.message),
            escape(&details(f))
        );
    }
    if !said.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escape(&said.join("\n")));
    }
    out.push_str("    </testcase>\n");
}

fn details(f: &Failure) -> String {
    let mut lines = vec![f.place.clone(), f.source.trim().to_owned()];
    lines.extend(f.inputs.iter().map(|i| format!("with {i}")));
    lines.extend(f.reproduce.iter().map(|c| format!("see it with: {c}")));
    lines.join("\n")
}

/// For text and attributes alike. What XML 1.0 cannot hold becomes U+FFFD; line breaks and tabs become
/// references, which attributes would otherwise lose.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
