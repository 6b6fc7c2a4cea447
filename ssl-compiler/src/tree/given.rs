//! Values that stand on a command line in place of a file.

use super::{Data, Entry, Place, Table, Value, Wording, toml_text};

/// Faults are not shown: what is no value of TOML is a text.
const WORDING: Wording = Wording { what: "value", json: "", heads: "", twice: "" };

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
