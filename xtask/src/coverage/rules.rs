//! The rules that the pages of the book mark, and whether every item of the reference is marked.

use crate::{Kind, Rule, Rules};
use std::path::Path;

/// Pages of which every bullet and every row must carry a rule, but for sections that say otherwise.
const REFERENCE: &[&str] = &["language.md", "derivatives.md", "testing.md"];

const MARK: &str = "<!-- rule: ";

/// Behind a heading: the items of its section are no rules.
const NO_RULES: &str = "<!-- no rules here -->";

pub fn of_the_book(folder: &Path, faults: &mut Vec<String>) -> Rules {
    let mut rules = Rules::new();
    let mut pages: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    pages.sort();
    for page in pages.iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(page).unwrap_or_default();
        for (at, _) in text.match_indices(MARK) {
            // One in code is an example of a mark.
            let Some((mark, _)) = text[at + MARK.len()..].split_once("-->").filter(|_| !text[..at].ends_with('`'))
            else {
                continue;
            };
            if let Err(fault) = add(&mut rules, mark) {
                faults.push(format!("{name}: {fault}"));
            }
        }
        if REFERENCE.contains(&name.as_str()) {
            faults.extend(unmarked(&text).map(|line| format!("{name}: no rule is marked in: {line}")));
        }
    }
    rules
}

/// `integers.wrap: accept reject`
fn add(rules: &mut Rules, mark: &str) -> Result<(), String> {
    let (id, needs) = mark.split_once(':').ok_or(format!("`{}` says no kinds of tests", mark.trim()))?;
    let kinds: Option<Vec<Kind>> = needs.split_whitespace().map(Kind::named).collect();
    let needs = kinds.filter(|k| !k.is_empty()).ok_or(format!("`{id}` needs something else than tests"))?;
    match rules.insert(id.to_owned(), Rule { needs, ..Rule::default() }) {
        None => Ok(()),
        Some(_) => Err(format!("there are two rules `{id}`")),
    }
}

/// Bullets and rows without a rule.
fn unmarked(text: &str) -> impl Iterator<Item = String> {
    let (mut items, mut code, mut exempt) = (Vec::<String>::new(), false, false);
    let mut inside = false;
    let mut previous_is_row = false;
    for line in text.lines() {
        let row = line.starts_with('|');
        let head = row && !previous_is_row;
        previous_is_row = row;
        if line.starts_with("```") {
            code = !code;
        }
        if line.starts_with('#') {
            exempt = false;
        }
        exempt |= line.contains(NO_RULES);
        if code || exempt || line.trim().is_empty() || head || line.starts_with("| ---") {
            inside = false;
        } else if row || line.starts_with("- ") {
            (inside, _) = (!row, items.push(line.to_owned()));
        } else if let Some(item) = items.last_mut().filter(|_| inside && line.starts_with("  ")) {
            item.push_str(line);
        }
    }
    items.into_iter().filter(|i| !i.contains(MARK))
}
