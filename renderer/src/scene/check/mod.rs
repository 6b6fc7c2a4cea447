//! Checks a scene's tree against the known keys: it reports everything that is wrong in one run, and leaves a tree that
//! can be read as typed data.
//!
//! It repairs what is wrong by a guess, so that one mistake makes one message. A key that is nearly one of the table's
//! counts as that one. A value that cannot be used is removed, and its table is marked as *spoiled*. A scene with
//! errors is never rendered, so no guess reaches a picture.

mod values;

use super::codes;
use super::context::Context;
use super::foreign_words;
use super::keys::{self, Holds, Kind, ROOT};
use super::tree::{Data, Entry, Place, Table, Value};
use ssl_compiler::diagnostics::{Diagnostic, closest};
use values::{Wrong, and, fit, or};

/// Checks the whole of a scene.
pub fn check(mut root: Table, context: &mut Context) -> Table {
    without_nulls(&mut root);
    // It speaks to editors.
    root.entries.retain(|e| e.key != "$schema");
    let mut check = Check { context };
    check.root(&mut root);
    root
}

/// Keys set to null are as good as none.
fn without_nulls(table: &mut Table) {
    table.entries.retain(|e| e.value.data != Data::Null);
    table.entries.iter_mut().for_each(|e| nulls_within(&mut e.value));
}

fn nulls_within(value: &mut Value) {
    match &mut value.data {
        Data::Table(table) => without_nulls(table),
        Data::List(list) => list.iter_mut().for_each(nulls_within),
        _ => {}
    }
}

struct Check<'a> {
    context: &'a mut Context,
}

/// What is known of a key that a table does not take.
struct Unknown<'a> {
    /// The table, as messages speak of it.
    subject: &'a str,
    /// Its name among the keys.
    table: &'a str,
    /// All that it takes.
    known: Vec<&'static str>,
}

impl Check<'_> {
    fn root(&mut self, root: &mut Table) {
        let unknown = || Unknown { subject: "a scene", table: "", known: ROOT.iter().map(|(key, _)| *key).collect() };
        self.meant(root, &unknown(), |key| ROOT.iter().any(|(k, _)| *k == key));
        for Entry { key, value, .. } in &mut root.entries {
            // All others are gone.
            let Some((_, holds)) = ROOT.iter().find(|(k, _)| k == key) else { continue };
            match holds {
                Holds::One(table) => self.one(value, table, key),
                Holds::Named(table) => self.named(value, key, |check, name, at, value| {
                    let subject = format!("the {table} `{name}`");
                    check.table_or_spoiled(value, table, &subject, at);
                }),
                Holds::List(table) => self.list(value, table, &format!("[[{key}]]")),
                Holds::Groups => self.named(value, key, |check, name, at, value| check.group(value, name, at)),
                Holds::Variables => {
                    self.fit_key(value, Kind::Variables, "`variables` of the scene", ("variables", keys::VARIABLES));
                    if !matches!(value.data, Data::Table(_)) {
                        value.data = Data::Table(Table::default());
                    }
                }
            }
        }
        if !root.contains("camera") {
            let hint = "add a table [camera] with `position` and `look_at`";
            self.context.diagnostics.push(Diagnostic::without_place(&codes::SYNTAX, "the scene has no camera", hint));
            let mut camera = Table::default();
            mark(&mut camera, "camera", true, 0..0);
            root.supply("camera", Data::Table(camera), 0..0);
        }
    }

    /// A table that there is one of.
    fn one(&mut self, value: &mut Value, table: &str, key: &str) {
        if let Data::List(list) = &mut value.data
            && let Some(first) = list.iter().find(|v| matches!(v.data, Data::Table(_))).cloned()
        {
            let hint = format!("write it as `[{key}]`, once");
            self.context.error(&codes::SYNTAX, value.at.clone(), format!("a scene has one `{key}`, not a list"), hint);
            *value = first;
        }
        let subject = format!("the {table}");
        self.table_or_spoiled(value, table, &subject, value.at.clone());
    }

    /// A table of named things.
    fn named(&mut self, value: &mut Value, key: &str, mut each: impl FnMut(&mut Self, &str, Place, &mut Value)) {
        let what = value.data.what();
        let Data::Table(table) = &mut value.data else {
            let message = format!("`{key}` of a scene takes tables with names, and this is {what}");
            self.context.error(&codes::SYNTAX, value.at.clone(), message, format!("write `[{key}.NAME]`"));
            value.data = Data::Table(Table::default());
            return;
        };
        for entry in &mut table.entries {
            each(self, &entry.key, entry.key_at.clone(), &mut entry.value);
        }
    }

    fn group(&mut self, value: &mut Value, name: &str, at: Place) {
        let subject = format!("the group `{name}`");
        let what = value.data.what();
        let Data::Table(table) = &mut value.data else {
            let message = format!("{subject} is a table, and this is {what}");
            self.context.error(&codes::SYNTAX, value.at.clone(), message, format!("write `[[groups.{name}.shapes]]`"));
            value.data = Data::Table(Table::default());
            return;
        };
        self.meant(table, &Unknown { subject: &subject, table: "group", known: vec!["shapes"] }, |k| k == "shapes");
        match table.entries.first_mut() {
            Some(shapes) => self.list(&mut shapes.value, "shape", &format!("[[groups.{name}.shapes]]")),
            None => {
                let hint = format!("add `[[groups.{name}.shapes]]`");
                self.context.error(&codes::SYNTAX, at, format!("{subject} has no shapes"), hint);
            }
        }
    }

    /// A list of tables.
    fn list(&mut self, value: &mut Value, table: &str, head: &str) {
        if let Data::Table(_) = value.data {
            let message = format!("there may be several {table}s: they are a list of tables");
            self.context.error(&codes::SYNTAX, value.at.clone(), message, format!("write `{head}` for each of them"));
            value.data = Data::List(vec![value.clone()]);
        }
        let what = value.data.what();
        let Data::List(list) = &mut value.data else {
            let message = format!("the {table}s of a scene are a list of tables, and this is {what}");
            self.context.error(&codes::SYNTAX, value.at.clone(), message, format!("write `{head}` for each of them"));
            value.data = Data::List(Vec::new());
            return;
        };
        for item in list {
            let article = format!("the {table}");
            self.table_or_spoiled(item, table, &article, item.at.clone());
        }
    }

    /// A value that is to be a table; an empty one takes the place of another.
    fn table_or_spoiled(&mut self, value: &mut Value, table: &str, subject: &str, at: Place) {
        let what = value.data.what();
        if !matches!(value.data, Data::Table(_)) {
            let message = format!("{subject} is a table, and this is {what}");
            let keys: Vec<&str> = keys::table(table).keys_of(None).map(|k| k.name).collect();
            self.context.error(&codes::SYNTAX, value.at.clone(), message, format!("it takes {}", and(&keys)));
            let mut spoiled = Table::default();
            if keys::table(table).has_types() {
                spoiled.supply("type", Data::Text(String::new()), at.clone());
            }
            keys::table(table).required.iter().filter(|k| **k != "type").for_each(|k| {
                spoiled.supply(k, Data::Text(String::new()), at.clone());
            });
            mark(&mut spoiled, table, true, at);
            value.data = Data::Table(spoiled);
            return;
        }
        if let Data::Table(entries) = &mut value.data {
            self.table(entries, table, subject, at);
        }
    }

    fn table(&mut self, entries: &mut Table, name: &str, subject: &str, at: Place) {
        let table = keys::table(name);
        let mut spoiled = false;
        let one = match table.has_types() {
            true => {
                let found = self.type_of(entries, name, &at);
                spoiled |= found.is_none();
                found
            }
            false => None,
        };
        let subject = match one {
            Some(one) => format!("{subject} of type `{one}`"),
            None => subject.to_owned(),
        };
        let known: Vec<&str> = table.keys_of(one).map(|k| k.name).collect();
        let is_known = |key: &str| table.key(key).is_some() || key == "type" && table.has_types();
        spoiled |= self.meant(entries, &Unknown { subject: &subject, table: name, known: known.clone() }, is_known);
        entries.entries.retain_mut(|Entry { key: name_of, key_at, value }| {
            let Some(key) = table.key(name_of) else { return true };
            if let Some(one) = one.filter(|one| !key.of.is_empty() && !key.of.contains(one)) {
                let message = format!("`{name_of}` means nothing for {}", of_type(name, one));
                let hint = foreign_words::instead(name, one, name_of);
                let hint = hint.map_or_else(|| format!("it belongs to {}", and(key.of)), str::to_owned);
                self.context.error(&codes::CONFLICT, key_at.start..value.at.end.max(key_at.end), message, hint);
                return false;
            }
            let fits = self.fit_key(value, key.kind, &format!("`{name_of}` of {subject}"), (key.name, key.what));
            spoiled |= !fits;
            // Of a table of names, what fits is left.
            fits || matches!((key.kind, &value.data), (Kind::Names | Kind::Variables | Kind::Values, Data::Table(_)))
        });
        for key in table.required.iter().filter(|k| **k != "type") {
            if !entries.contains(key) {
                if !spoiled {
                    let hint = format!("add `{key} = …`: {}", table.key(key).map_or("", |k| k.what));
                    self.context.error(&codes::SYNTAX, at.clone(), format!("{subject} has no `{key}`"), hint);
                }
                spoiled = true;
                entries.supply(key, Data::Text(String::new()), at.clone());
            }
        }
        mark(entries, name, spoiled, at);
    }

    /// The type that a table says it is of; the nearest one where there is none such.
    fn type_of(&mut self, entries: &mut Table, name: &str, at: &Place) -> Option<&'static str> {
        let types = keys::table(name).types;
        let nearly = |e: &&mut Entry| closest(&e.key, ["type"]).is_some() || e.key == "kind";
        if !entries.contains("type")
            && let Some(entry) = entries.entries.iter_mut().find(nearly)
        {
            self.misnamed(entry, "type", &format!("the {name}"));
        }
        let Some(entry) = entries.entries.iter_mut().find(|e| e.key == "type") else {
            let message = format!("the {name} has no `type`");
            self.context.error(&codes::SYNTAX, at.clone(), message, format!("add `type = \"…\"`: {}", or(types)));
            entries.supply("type", Data::Text(String::new()), at.clone());
            return None;
        };
        let Data::Text(word) = &entry.value.data else {
            let message = format!("`type` of the {name} takes a text, and this is {}", entry.value.data.what());
            self.context.error(&codes::SYNTAX, entry.value.at.clone(), message, format!("it must be {}", or(types)));
            entry.value.data = Data::Text(String::new());
            return None;
        };
        if let Some(one) = types.iter().find(|t| *t == word) {
            return Some(one);
        }
        let near = closest(word, types.iter().copied());
        let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let span = self.context.span(entry.value.at.clone());
        let message = format!("there is no {name} type `{word}`");
        let error = Diagnostic::error(&codes::BAD_CHOICE, span, message, format!("it must be {}{meant}", or(types)));
        self.context.diagnostics.push(match near {
            Some(near) => error.with_fix(span, format!("\"{near}\"")),
            None => error,
        });
        entry.value.data = Data::Text(near.unwrap_or_default().to_owned());
        types.iter().find(|t| Some(**t) == near).copied()
    }

    /// Says which keys there are not. One that was meant for another takes its name; others are gone. Returns whether one
    /// of those was a table, which may have been meant as this one.
    fn meant(&mut self, table: &mut Table, unknown: &Unknown<'_>, is_known: impl Fn(&str) -> bool) -> bool {
        let mut tables = false;
        let given: Vec<String> = table.keys().map(str::to_owned).collect();
        let Unknown { subject, table: name, known } = unknown;
        table.entries.retain_mut(|entry| {
            if is_known(&entry.key) {
                return true;
            }
            // What stands twice in the file itself is put together.
            let free = |key: &&str| name.is_empty() || !given.iter().any(|g| g == key);
            let ours = foreign_words::spelled(name, &entry.key);
            if ours != entry.key && free(&ours) {
                entry.key = ours.to_owned();
                return true;
            }
            if ours != entry.key {
                let message = format!("{subject} has both `{}` and `{ours}`, which are one key", entry.key);
                self.context.error(&codes::SYNTAX, entry.key_at.clone(), message, "keep one of them");
                return false;
            }
            let translated = foreign_words::translated(name, &entry.key).filter(|ours| known.contains(ours));
            let near = closest(&entry.key, known.iter().copied());
            match translated.or(near).filter(free) {
                Some(meant) => {
                    self.misnamed(entry, meant, subject);
                    true
                }
                None => {
                    let message = format!("{subject} has no key `{}`", entry.key);
                    let inner = matches!(entry.value.data, Data::Table(_)) && keys::is_named(name);
                    tables |= inner;
                    let hint = match elsewhere(&entry.key, name, known) {
                        hint if inner => {
                            format!("{hint}; a name with a dot in it stands in quotes: `[{name}s.\"a.b\"]`")
                        }
                        hint => hint,
                    };
                    self.context.error(&codes::SYNTAX, entry.key_at.clone(), message, hint);
                    false
                }
            }
        });
        // Two may have been meant for one.
        let mut list: Vec<Entry> = Vec::new();
        for entry in std::mem::take(&mut table.entries) {
            match list.iter_mut().find(|e| e.key == entry.key) {
                None => list.push(entry),
                Some(first) => match (&mut first.value.data, entry.value.data) {
                    (Data::Table(all), Data::Table(more)) => all.entries.extend(more.entries),
                    (Data::List(all), Data::List(more)) => all.extend(more),
                    _ => {}
                },
            }
        }
        table.entries = list;
        tables
    }

    /// Says that a key was meant for another, whose name it takes.
    fn misnamed(&mut self, entry: &mut Entry, meant: &str, subject: &str) {
        let span = self.context.span(entry.key_at.clone());
        let quoted = self.context.sources.get(span.file).text.get(span.range()).is_some_and(|t| t.starts_with('"'));
        let fix = if quoted { format!("\"{meant}\"") } else { meant.to_owned() };
        let message = format!("{subject} has no key `{}`", entry.key);
        let hint = format!("did you mean `{meant}`?");
        self.context.diagnostics.push(Diagnostic::error(&codes::SYNTAX, span, message, hint).with_fix(span, fix));
        meant.clone_into(&mut entry.key);
    }

    /// Says what is wrong with a key's value, and whether it can be used.
    fn fit_key(&mut self, value: &mut Value, kind: Kind, subject: &str, (key, what): (&str, &str)) -> bool {
        let mut wrong = Vec::new();
        let fits = fit(value, kind, &mut wrong);
        for Wrong { code, at, message, hint, fix } in wrong {
            let span = self.context.span(at);
            let hint = hint.unwrap_or_else(|| format!("`{key}`: {what}"));
            let error = Diagnostic::error(code, span, format!("{subject} {message}"), hint);
            self.context.diagnostics.push(match fix {
                Some(fix) => error.with_fix(span, fix),
                None => error,
            });
        }
        fits
    }
}

/// Tells those who build the scene where a table stands, and whether something was taken out of it, where they ask.
fn mark(table: &mut Table, name: &str, spoiled: bool, at: Place) {
    if ["camera", "material"].contains(&name) {
        table.supply("at", Data::Null, at.clone());
    }
    // Nothing is missing from these.
    if !["film", "integrator"].contains(&name) {
        table.supply("spoiled", Data::Bool(spoiled), at);
    }
}

fn of_type(table: &str, one: &str) -> String {
    let article = if table.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {table} of type `{one}`")
}

/// What to say of a key that resembles none: where there is one of this name, or what there is here.
fn elsewhere(key: &str, table: &str, known: &[&str]) -> String {
    if !table.is_empty() && ROOT.iter().any(|(k, _)| *k == key) {
        return format!("`{key}` is a key of the scene: in TOML it stands before the first table, or is one itself");
    }
    let of = |holds: &Holds| match holds {
        Holds::One(name) | Holds::Named(name) | Holds::List(name) => Some(*name),
        _ => None,
    };
    let has = |(_, holds): &&(&str, Holds)| of(holds).is_some_and(|n| n != table && keys::table(n).key(key).is_some());
    match ROOT.iter().filter(has).map(|(name, _)| *name).collect::<Vec<_>>().as_slice() {
        [] => format!("it takes {}", and(known)),
        others => format!("it is a key of {}; this takes {}", and(others), and(known)),
    }
}
