//! Values that stand on a command line in place of a file.

use super::{Data, Entry, Place, Table, Value, Wording, toml_text};

/// Faults are not shown: what is no value of TOML is a text.
const WORDING: Wording = Wording { what: "value", json: "", heads: "", twice: "" };

/// One key of a file and its value, as `--set` gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Names, and places in lists, with dots between. A name with dots in it stands in quotes.
    pub path: String,
    /// As TOML writes it; what is no value of TOML counts as a text, so that words need no quotes.
    pub value: String,
}

impl Setting {
    /// The parts of the path; empty if one of them is.
    pub fn steps(&self) -> Vec<&str> {
        steps(&self.path).unwrap_or_default()
    }
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let form = "write NAME=VALUE, such as `film.width=640` or `fit.0.rate=0.01`";
        let (path, value) = text.split_once('=').ok_or(form)?;
        let (path, value) = (path.trim().to_owned(), value.trim().to_owned());
        if steps(&path).is_none() || value.is_empty() { Err(form.to_owned()) } else { Ok(Setting { path, value }) }
    }
}

fn steps(path: &str) -> Option<Vec<&str>> {
    let (mut steps, mut rest) = (Vec::new(), path);
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (step, behind) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if step.trim().is_empty() {
            return None;
        }
        steps.push(step.trim());
        match behind.strip_prefix('.') {
            Some(more) => rest = more,
            None if behind.is_empty() => return Some(steps),
            None => return None,
        }
    }
}

/// A value as TOML writes it, or a text, so that words need no quotes. All its parts stand at one place.
pub fn given(text: &str, at: Place) -> Value {
    let parsed = toml_text::parse(&format!("value = {text}"), &WORDING).ok();
    let only = parsed.filter(|table| table.entries.len() == 1).and_then(|mut table| table.entries.pop());
    match only {
        Some(entry) => placed(entry.value, &at),
        None => Value { data: Data::Text(text.to_owned()), at },
    }
}

fn placed(value: Value, at: &Place) -> Value {
    let data = match value.data {
        Data::List(list) => Data::List(list.into_iter().map(|v| placed(v, at)).collect()),
        Data::Table(table) => {
            let entry = |e: Entry| Entry { key: e.key, key_at: at.clone(), value: placed(e.value, at) };
            Data::Table(Table { entries: table.entries.into_iter().map(entry).collect() })
        }
        other => other,
    };
    Value { data, at: at.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let parts = |path: &str| steps(path).map(|s| s.join("|"));
        assert_eq!(parts("materials.floor.roughness").as_deref(), Some("materials|floor|roughness"));
        assert_eq!(parts("materials.\"a.b\".c").as_deref(), Some("materials|a.b|c"));
        assert_eq!(parts("materials.'a'").as_deref(), Some("materials|a"));
        for wrong in ["", ".", "a.", "a..b", "\"a", "\"a\"b", "''"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_are_those_of_toml_and_words_are_texts() {
        let at = 3..9;
        assert_eq!(given("0.5", at.clone()).data, Data::Float(0.5));
        assert_eq!(given("-7", at.clone()).data, Data::Integer(-7));
        assert_eq!(given("true", at.clone()).data, Data::Bool(true));
        assert_eq!(given("clamp", at.clone()).data, Data::Text("clamp".to_owned()));
        assert_eq!(given("\"a b\"", at.clone()).data, Data::Text("a b".to_owned()));
        // No second key slips in.
        assert_eq!(given("1\nother = 2", at.clone()).data, Data::Text("1\nother = 2".to_owned()));
        let one = Value { data: Data::Integer(1), at: at.clone() };
        assert_eq!(given("[1, 1]", at.clone()).data, Data::List(vec![one.clone(), one]));
    }
}
