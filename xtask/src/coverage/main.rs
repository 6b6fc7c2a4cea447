//! Says for each rule of the language reference which tests accept it, reject what breaks it and
//! differentiate it; fails where one is missing, and where a test names a rule that there is not.
//!
//! A rule is marked behind its sentence in the book: `<!-- rule: integers.wrap: accept -->`, with the kinds of
//! tests that it needs. A test says `// rule: integers.wrap accept` above it. What a tag claims is looked at:
//! behind it there must be an expectation, a derivative or a marked diagnostic. Each built-in and each function of
//! the library is a rule of its own, and its tests are found without tags: by checking and lowering the shaders of
//! `tests/shaders`.

mod builtins;
mod library;
mod rules;
mod shaders;
mod tags;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a test can show of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What the rule allows works, and gives what it says.
    Accept,
    /// What breaks the rule is reported.
    Reject,
    /// The derivative is the one the rule says.
    Derivative,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Accept, Kind::Reject, Kind::Derivative];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Accept => "accept",
            Kind::Reject => "reject",
            Kind::Derivative => "derivative",
        }
    }

    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// A rule: the tests that it needs, and how many of each kind there are.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub needs: Vec<Kind>,
    pub tests: BTreeMap<Kind, usize>,
}

impl Rule {
    pub fn count(&self, kind: Kind) -> usize {
        self.tests.get(&kind).copied().unwrap_or(0)
    }

    fn gaps(&self) -> impl Iterator<Item = Kind> {
        self.needs.iter().copied().filter(|&k| self.count(k) == 0)
    }
}

pub type Rules = BTreeMap<String, Rule>;

fn main() -> ExitCode {
    let mut faults = Vec::new();
    let mut table = rules::of_the_book(&root().join("docs/src"), &mut faults);
    for path in
        files(&root(), &["tests/shaders", "tests/host_shaders", "tests/diagnostics", "tests/tests", "renderer/tests"])
    {
        tags::count(&root(), &path, &mut table, &mut faults);
    }
    let tested = shaders::tested(&files(&root(), &["tests/shaders"]), &mut faults);
    table.extend(builtins::rules(&tested));
    table.extend(library::rules(&tested));
    print!("{}", show(&table));
    for (id, rule) in &table {
        faults.extend(rule.gaps().map(|k| format!("`{id}` has no test of the kind {}", k.name())));
    }
    faults.iter().for_each(|f| eprintln!("{f}"));
    println!("{} rules, {} faults", table.len(), faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(table: &Rules) -> String {
    let width = table.keys().map(|id| id.chars().count()).max().unwrap_or(0);
    let mut out = format!("{:<width$}  accept  reject  derivative\n", "rule");
    for (id, rule) in table {
        let cell = |kind: Kind| match (rule.needs.contains(&kind), rule.count(kind)) {
            (true, 0) => "none".to_owned(),
            (false, 0) => "–".to_owned(),
            (_, n) => n.to_string(),
        };
        let [a, r, d] = Kind::ALL.map(cell);
        out.push_str(&format!("{id:<width$}  {a:>6}  {r:>6}  {d:>10}\n"));
    }
    out
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The shaders and Rust files in these folders and below, in order of their names.
fn files(root: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = folders.iter().map(|f| root.join(f)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "ssl" || e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
