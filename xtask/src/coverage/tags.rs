//! The tags of tests: `// rule: integers.wrap accept; integers.shift accept reject`.

use crate::{Kind, Rules};
use std::path::Path;

const TAG: &str = "// rule: ";

/// Counts what a file's tags claim, where the test behind a tag bears it out.
pub fn count(root: &Path, path: &Path, rules: &mut Rules, faults: &mut Vec<String>) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let places: Vec<usize> = text.match_indices(TAG).map(|(at, _)| at).collect();
    for (i, &at) in places.iter().enumerate() {
        let end = next_test(&text, at, &places[i + 1..]);
        let (claims, test) = text[at + TAG.len()..end].split_once('\n').unwrap_or((&text[at + TAG.len()..end], ""));
        for claim in claims.split(';') {
            let mut words = claim.split_whitespace();
            let id = words.next().unwrap_or_default();
            let Some(rule) = rules.get_mut(id) else {
                faults.push(format!("{name}: there is no rule `{id}`"));
                continue;
            };
            for word in words {
                match Kind::named(word) {
                    Some(kind) if shows(kind, test) => *rule.tests.entry(kind).or_default() += 1,
                    Some(_) => faults.push(format!("{name}: what stands behind `{id} {word}` does not show it")),
                    None => faults.push(format!("{name}: `{word}` is no kind of test")),
                }
            }
        }
    }
}

/// Where a tag's test ends: at the next tag that has other tests between the two. Tags in a row share theirs.
fn next_test(text: &str, at: usize, later: &[usize]) -> usize {
    let only_tags = |to: usize| text[at..to].lines().all(|l| l.trim().is_empty() || l.trim_start().starts_with(TAG));
    later.iter().copied().find(|&to| !only_tags(to)).unwrap_or(text.len())
}

/// Whether a test has what it takes: an expectation, one about a derivative, or a diagnostic's mark.
fn shows(kind: Kind, test: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|w| test.contains(w));
    let expects = has(&[
        "expect(",
        "expect_lobe(",
        "expect_numeric_derivatives(",
        "expect_gradient(",
        "expect_integral_gradient(",
        "expect_inverse(",
        "expect_undo(",
        "assert",
        "gives(",
        "says(",
        "compiles(",
    ]);
    match kind {
        Kind::Accept => expects || has(&["// fine"]),
        Kind::Reject => has(&[
            "^ E",
            "^ W",
            "//@ E",
            "//@ W",
            "Err(",
            "is_err()",
            "codes::",
            "contains(\"E0",
            "is_refused(",
            "refused",
            "refuses(",
            "error()",
            "assert_fails(",
            "assert_ends(",
        ]),
        Kind::Derivative => expects && has(&["ddx(", "ddy(", "expect_numeric_derivatives("]),
    }
}
