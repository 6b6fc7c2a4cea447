//! TOML as a tree.

use super::{Data, Entry, Fault, Place, Table, Value, Wording};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub fn parse(text: &str, wording: &Wording) -> Result<Table, Vec<Fault>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut faults: Vec<Fault> = errors.iter().map(|e| fault(e, text, wording)).collect();
    let table = table(root.into_inner(), &mut faults);
    if faults.is_empty() { Ok(table) } else { Err(faults) }
}

fn fault(error: &toml::de::Error, text: &str, wording: &Wording) -> Fault {
    let at = error.span().unwrap_or(0..0);
    let said = error.message();
    let line = text.get(..at.start).map_or("", |before| before.rsplit('\n').next().unwrap_or(""));
    let hint = if said.contains("duplicate key") {
        wording.twice
    } else if said.contains("quoted") {
        "texts stand in quotes: `name = \"text\"`"
    } else if line.trim_start().starts_with('[') {
        wording.heads
    } else {
        "a line is `key = value`: texts stand in quotes, lists in `[ ]` with commas between"
    };
    Fault { at, message: format!("the file is not well-formed TOML: {said}"), hint }
}

fn table(table: DeTable<'_>, faults: &mut Vec<Fault>) -> Table {
    let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>), faults: &mut Vec<Fault>| {
        let (key_at, key): (Place, std::borrow::Cow<'_, str>) = (key.span(), key.into_inner());
        Entry { key: key.into_owned(), key_at, value: self::value(value, faults) }
    };
    let mut entries: Vec<Entry> = table.into_iter().map(|e| entry(e, faults)).collect();
    // The parser gives them by their names.
    entries.sort_by_key(|e| e.key_at.start);
    Table { entries }
}

fn value(value: Spanned<DeValue<'_>>, faults: &mut Vec<Fault>) -> Value {
    let at = value.span();
    let data = match value.into_inner() {
        DeValue::String(text) => Data::Text(text.into_owned()),
        DeValue::Boolean(b) => Data::Bool(b),
        DeValue::Datetime(_) => Data::Date,
        DeValue::Float(x) => Data::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(i) => Data::Integer(i),
            Err(_) => {
                let message = format!("the number {i} is too large");
                let hint = "whole numbers have 64 bits; with `.0` behind it, it is a number of any size";
                faults.push(Fault { at: at.clone(), message, hint });
                Data::Integer(0)
            }
        },
        DeValue::Array(list) => Data::List(list.into_iter().map(|v| self::value(v, faults)).collect()),
        DeValue::Table(t) => Data::Table(table(t, faults)),
    };
    Value { data, at }
}

#[cfg(test)]
mod tests {
    use super::super::tests::WORDING;
    use super::super::{Data, parse};

    #[test]
    fn values_and_keys_have_their_places() {
        let text = "[camera]\nfov = 40\n[[shapes]]\ntype = 'sphere'\n[materials.red]\nsource = '''x'''\n";
        let tree = parse(text, false, &WORDING).expect("it is well-formed");
        let said: Vec<&str> = tree.entries.iter().map(|e| &text[e.key_at.clone()]).collect();
        assert_eq!(said, ["camera", "shapes", "materials"]);
        let Some(Data::Table(materials)) = tree.get("materials").map(|v| &v.data) else { panic!("a table") };
        assert_eq!(&text[materials.entries[0].key_at.clone()], "red");
        let Data::Table(red) = &materials.entries[0].value.data else { panic!("a table") };
        assert_eq!(&text[red.entries[0].value.at.clone()], "'''x'''");
    }

    #[test]
    fn every_fault_is_found() {
        let faults =
            parse("[camera]\nfov = \nname = sphere\nfar = 99999999999999999999\n", false, &WORDING).expect_err("three");
        let lines: Vec<usize> = faults.iter().map(|f| f.at.start).collect();
        assert!(faults.len() >= 3, "{faults:?} {lines:?}");
    }
}
