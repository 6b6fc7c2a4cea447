//! JSON as a tree. A missing comma, a comma too many or a comment is a fault, and the reader goes on behind it.

use super::quoted::unquote;
use super::{Data, Entry, Fault, Place, Table, Value, Wording};

/// Lists and tables within one another, at most.
const MAX_DEPTH: u32 = 100;

pub fn parse(text: &str, wording: &Wording) -> Result<Table, Vec<Fault>> {
    let mut parser = Parser { text, at: text.len() - text.trim_start_matches('\u{feff}').len(), faults: Vec::new() };
    let root = parser.value(0);
    parser.blank();
    if root.is_some() && parser.at < text.len() {
        let what = format!("something follows behind the {}", wording.what);
        parser.fault(&what, "a file is one table, `{ … }`");
    }
    match root.map(|v| v.data) {
        Some(Data::Table(table)) if parser.faults.is_empty() => Ok(table),
        Some(_) if parser.faults.is_empty() => {
            let message = format!("a {} is a table", wording.what);
            Err(vec![Fault { at: 0..1.min(text.len()), message, hint: wording.json }])
        }
        _ => Err(parser.faults),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    faults: Vec<Fault>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Something is wrong with what comes next.
    fn fault(&mut self, what: &str, hint: &'static str) {
        let at = self.at..self.at + self.next().map_or(0, char::len_utf8);
        self.fault_at(at, what, hint);
    }

    fn fault_at(&mut self, at: Place, what: &str, hint: &'static str) {
        self.faults.push(Fault { at, message: format!("the file is not well-formed JSON: {what}"), hint });
    }

    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let word = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            self.at += rest.len() - word.len();
            let length = if word.starts_with("//") {
                word.find('\n').unwrap_or(word.len())
            } else if word.starts_with("/*") {
                word.find("*/").map_or(word.len(), |end| end + 2)
            } else {
                return;
            };
            self.fault_at(self.at..self.at + length, "a comment", "JSON has no comments; TOML has, behind `#`");
            self.at += length;
        }
    }

    /// `None` after a fault that nothing can be read behind.
    fn value(&mut self, depth: u32) -> Option<Value> {
        self.blank();
        let start = self.at;
        if depth > MAX_DEPTH {
            self.fault("lists and tables are nested too deeply", "a few levels are enough");
            return None;
        }
        let data = match self.next() {
            Some('{') => Data::Table(self.table(depth)?),
            Some('[') => Data::List(self.list(depth)?),
            Some('"') => Data::Text(self.string()?),
            Some(_) => self.word()?,
            None => {
                self.fault("it ends where a value should be", "look for a bracket that is not closed");
                return None;
            }
        };
        Some(Value { data, at: start..self.at })
    }

    /// Numbers, `true`, `false` and `null`.
    fn word(&mut self) -> Option<Data> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        let word = &rest[..length];
        let data = match word {
            "true" => Some(Data::Bool(true)),
            "false" => Some(Data::Bool(false)),
            "null" => Some(Data::Null),
            number => serde_json::from_str::<serde_json::Number>(number).ok().and_then(|n| match n.as_i64() {
                Some(i) => Some(Data::Integer(i)),
                None => n.as_f64().map(Data::Float),
            }),
        };
        match data {
            Some(_) => self.at += length,
            None if length == 0 => self.fault("this is no value", "values are numbers, texts, lists and tables"),
            None => {
                let what = format!("`{word}` is no value");
                self.fault_at(self.at..self.at + length, &what, "texts stand in double quotes; numbers are as in 0.5");
            }
        }
        data
    }

    fn string(&mut self) -> Option<String> {
        let bytes = self.rest().as_bytes();
        let mut end = 1;
        while end < bytes.len() && bytes[end] != b'"' && bytes[end] != b'\n' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if bytes.get(end) != Some(&b'"') {
            let at = self.at..(self.at + end).min(self.text.len());
            self.fault_at(at, "the text has no end", "a text ends with `\"` on its line; write a line break as `\\n`");
            return None;
        }
        let place = self.at..self.at + end + 1;
        let unquoted = unquote(&self.text[place.clone()]);
        if unquoted.is_none() {
            let hint = "`\\` stands before one of \" \\ / b f n r t, or u and four digits; write `\\\\` for itself";
            self.fault_at(place.clone(), "the text has an escape that there is not", hint);
        }
        self.at = place.end;
        Some(unquoted.map_or_else(String::new, |u| u.text))
    }

    fn list(&mut self, depth: u32) -> Option<Vec<Value>> {
        let mut list = Vec::new();
        self.at += 1;
        while self.goes_on(']', list.is_empty())? {
            list.push(self.value(depth + 1)?);
        }
        Some(list)
    }

    fn table(&mut self, depth: u32) -> Option<Table> {
        let mut table = Table::default();
        self.at += 1;
        while self.goes_on('}', table.entries.is_empty())? {
            if self.next() != Some('"') {
                self.fault("a key should be here", "keys stand in double quotes: \"fov\": 40");
                return None;
            }
            let start = self.at;
            let key = self.string()?;
            let key_at = start..self.at;
            self.blank();
            if self.next() == Some(':') {
                self.at += 1;
            } else {
                self.fault("a `:` is missing", "it stands between a key and its value: \"fov\": 40");
            }
            let value = self.value(depth + 1)?;
            if table.contains(&key) {
                self.fault_at(key_at.clone(), &format!("the key `{key}` stands twice"), "keep one of them");
            }
            table.entries.push(Entry { key, key_at, value });
        }
        Some(table)
    }

    /// Whether another element follows; steps over what parts it from the last one, or over the end.
    fn goes_on(&mut self, end: char, first: bool) -> Option<bool> {
        self.blank();
        let before = self.at;
        let comma = self.next() == Some(',');
        if comma {
            self.at += 1;
            self.blank();
        }
        match self.next() {
            None => {
                self.fault("it ends within a list or a table", "look for a bracket that is not closed");
                None
            }
            Some(c) if c == end => {
                if comma {
                    self.fault_at(before..before + 1, "a comma without anything behind it", "remove it");
                }
                self.at += 1;
                Some(false)
            }
            Some(_) => {
                match (comma, first) {
                    (true, true) => self.fault_at(before..before + 1, "a comma before anything", "remove it"),
                    (false, false) => self.fault("a comma is missing before this", "elements are parted by commas"),
                    _ => {}
                }
                Some(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::WORDING;
    use super::super::{Data, Table, Value};

    fn parse(text: &str) -> Result<Table, Vec<super::Fault>> {
        super::parse(text, &WORDING)
    }

    fn plain(value: &Value) -> serde_json::Value {
        match &value.data {
            Data::Null | Data::Date => serde_json::Value::Null,
            Data::Bool(b) => (*b).into(),
            Data::Integer(i) => (*i).into(),
            Data::Float(x) => (*x).into(),
            Data::Text(t) => t.as_str().into(),
            Data::List(list) => list.iter().map(plain).collect(),
            Data::Table(t) => table(t),
        }
    }

    fn table(t: &Table) -> serde_json::Value {
        t.entries.iter().map(|e| (e.key.clone(), plain(&e.value))).collect()
    }

    /// Another parser is the oracle.
    #[test]
    fn what_is_well_formed_is_read_as_others_read_it() {
        for text in [
            "{}",
            " { \"a\" : [ 1 , -2.5e3 , true , null , \"x\\ny\" , { } , [ ] ] } \n",
            "{\"a\":{\"b\":{\"c\":0.25}},\"é\":\"\\u00e9\\ud83d\\ude00\"}",
        ] {
            let wanted: serde_json::Value = serde_json::from_str(text).expect("it is well-formed");
            assert_eq!(parse(text).map(|t| table(&t)), Ok(wanted), "{text}");
        }
        for text in [
            "",
            "[]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":01}",
            "{\"a\":nan}",
            "{,}",
            "{\"a\":1,}",
            "{\"a\":[1,,2]}",
            "{} x",
            "{\"a\":\"\\q\"}",
            "{\"a\":\"x\ny\"}",
            "{\"a\":'x'}",
            "{\"a\": \"\\",
            "{\"a\":1 \"b\":2}",
        ] {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err() || text == "[]", "{text}");
            assert!(parse(text).is_err_and(|faults| !faults.is_empty()), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn small_faults_do_not_hide_those_behind_them() {
        let text = "{ // a comment\n \"a\": [1 2,],\n \"a\": 3,\n}";
        let faults = parse(text).expect_err("there are five");
        let said: Vec<&str> = faults.iter().map(|f| f.message.rsplit(": ").next().unwrap_or("")).collect();
        let wanted = [
            "a comment",
            "a comma is missing before this",
            "a comma without anything behind it",
            "the key `a` stands twice",
            "a comma without anything behind it",
        ];
        assert_eq!(said, wanted);
    }
}
