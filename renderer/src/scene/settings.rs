//! `--set PATH=VALUE`: keys of a scene from the command line, put into its tree before the check. So they are checked
//! like those in the file, and mistakes in them are shown where they were made.
//!
//! A path names tables, keys and places in lists, with dots between: `film.width`, `shapes.0.radius`,
//! `camera.position.1`. A shape or a light may go by its `name`. After the name of a material stands one of its keys or
//! one of its shader's parameters, which may leave out `parameters`. A part with dots in it stands in quotes.

use super::codes;
use super::context::Context;
use super::foreign_words;
use super::keys::{self, Holds, ROOT};
use super::tree::{self, Data, Entry, Place, Setting, Table, Value};
use ssl_compiler::diagnostics::closest;

/// Why a path leads nowhere, and what there is instead.
type Unknown = (String, String);

/// Puts settings into the tree of a scene, in their order.
pub fn apply(root: &mut Table, settings: &[Setting], context: &mut Context) {
    if settings.is_empty() {
        return;
    }
    let text: String = settings.iter().map(|s| format!("{}={}\n", s.path, s.value)).collect();
    let mut from = context.add_settings(text);
    for setting in settings {
        let Setting { path, value } = setting;
        let key_at = from..from + path.len();
        let value_at = key_at.end + 1..key_at.end + 1 + value.len();
        from = value_at.end + 1;
        let found = Found { value: tree::given(value, value_at), key_at: key_at.clone() };
        if let Err((message, hint)) = set(root, &setting.steps(), found) {
            context.error(&codes::UNKNOWN_NAME, key_at, message, hint);
        }
    }
}

/// What is to be put, and where its key stands.
struct Found {
    value: Value,
    key_at: Place,
}

fn set(root: &mut Table, steps: &[&str], found: Found) -> Result<(), Unknown> {
    let Some((first, rest)) = steps.split_first() else { return Ok(()) };
    let Some((_, holds)) = ROOT.iter().find(|(key, _)| key == first) else {
        return Err(unknown(&format!("a scene has no `{first}`"), first, ROOT.iter().map(|(key, _)| *key)));
    };
    match holds {
        Holds::One(table) => match rest {
            [] => put(root, first, found),
            _ => in_table(table_of(root, first, &found.key_at)?, table, first, rest, found),
        },
        Holds::Named(table) => {
            let all = table_of(root, first, &found.key_at)?;
            let (one, name, rest) = named(all, table, rest)?;
            in_table(one, table, name, rest, found)
        }
        Holds::List(table) => {
            let (one, rest) = listed(root, first, table, rest)?;
            in_table(one, table, first, rest, found)
        }
        Holds::Groups => {
            let all = table_of(root, first, &found.key_at)?;
            let (group, name, rest) = named(all, "group", rest)?;
            let Some(("shapes", rest)) = rest.split_first().map(|(key, rest)| (*key, rest)) else {
                return Err((format!("a group holds `shapes`: `groups.{name}.shapes.0.…`"), String::new()));
            };
            let (one, rest) = listed(group, "shapes", "shape", rest)?;
            in_table(one, "shape", "shapes", rest, found)
        }
        Holds::Variables => within(root, first, rest, found),
    }
}

/// The table behind a key, made where there is none.
fn table_of<'a>(parent: &'a mut Table, key: &str, at: &Place) -> Result<&'a mut Table, Unknown> {
    if !parent.contains(key) {
        parent.supply(key, Data::Table(Table::default()), at.clone());
    }
    match parent.entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.value.data) {
        Some(Data::Table(table)) => Ok(table),
        Some(other) => Err((format!("`{key}` is {}, not a table", other.what()), "set all of it".to_owned())),
        None => Err((format!("there is no `{key}`"), String::new())),
    }
}

/// One of some tables with names, which is there.
fn named<'a, 's>(
    all: &'a mut Table,
    what: &str,
    steps: &'s [&'s str],
) -> Result<(&'a mut Table, &'s str, &'s [&'s str]), Unknown> {
    let names: Vec<String> = all.keys().map(str::to_owned).collect();
    let Some((name, rest)) = steps.split_first() else {
        return Err((
            format!("the path ends before the name of a {what}"),
            there_are(names.iter().map(String::as_str)),
        ));
    };
    if !names.iter().any(|known| known == name) {
        let message = format!("the scene has no {what} `{name}`");
        return Err(unknown(&message, name, names.iter().map(String::as_str)));
    }
    Ok((table_of(all, name, &(0..0))?, name, rest))
}

/// One of a list of tables, by its place or its name.
fn listed<'a, 's>(
    parent: &'a mut Table,
    key: &str,
    what: &str,
    steps: &'s [&'s str],
) -> Result<(&'a mut Table, &'s [&'s str]), Unknown> {
    let entry = parent.entries.iter_mut().find(|e| e.key == key);
    let list = match entry.map(|e| &mut e.value.data) {
        Some(Data::List(list)) => list.as_mut_slice(),
        _ => &mut [],
    };
    let count = list.len();
    let is_named = |value: &Value, name: &str| match &value.data {
        Data::Table(t) => matches!(t.get("name").map(|v| &v.data), Some(Data::Text(text)) if text == name),
        _ => false,
    };
    let hint = match count {
        0 => format!("the list `{key}` is empty"),
        _ => format!("`{key}` has {count}: name one by its place, from 0 to {}, or by its `name`", count - 1),
    };
    let Some((step, rest)) = steps.split_first() else {
        return Err((format!("the path ends before the place of a {what}"), hint));
    };
    let index = step.parse().ok().or_else(|| list.iter().position(|v| is_named(v, step)));
    match index.and_then(|index: usize| list.get_mut(index)).map(|v| &mut v.data) {
        Some(Data::Table(table)) => Ok((table, rest)),
        _ => Err((format!("the scene has no {what} `{step}`"), hint)),
    }
}

/// Into a table with keys that are known.
fn in_table(table: &mut Table, kind: &str, subject: &str, steps: &[&str], found: Found) -> Result<(), Unknown> {
    let schema = keys::table(kind);
    let known = || schema.keys.iter().map(|k| k.name).chain(schema.has_types().then_some("type"));
    let Some((key, rest)) = steps.split_first() else {
        return Err((format!("the path ends before a key of the {kind}"), there_are(known())));
    };
    let key = foreign_words::spelled(kind, key);
    match known().any(|name| name == key) {
        true => within(table, key, rest, found),
        // The material's shader says whether it has such a parameter, where the scene is built.
        false if kind == "material" => within(table, "parameters", steps, found),
        false => Err(unknown(&format!("`{key}` is no key of `{subject}`"), key, known())),
    }
}

/// To a key of a table, or further into what stands there.
fn within(table: &mut Table, key: &str, steps: &[&str], found: Found) -> Result<(), Unknown> {
    let Some((next, rest)) = steps.split_first() else { return put(table, key, found) };
    match table.entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.value.data) {
        None => within(table_of(table, key, &found.key_at)?, next, rest, found),
        Some(Data::Table(inner)) => within(inner, next, rest, found),
        Some(Data::List(list)) => {
            let count = list.len();
            let place = next.parse().ok().and_then(|index: usize| list.get_mut(index));
            let place = place.ok_or_else(|| {
                let hint = format!("`{key}` has {count} elements, counted from 0");
                (format!("`{key}` has no element `{next}`"), hint)
            })?;
            into_element(place, rest, found)
        }
        Some(other) => Err((format!("`{key}` is {} and has no `{next}`", other.what()), format!("set `{key}` itself"))),
    }
}

fn into_element(place: &mut Value, steps: &[&str], found: Found) -> Result<(), Unknown> {
    let Some((next, rest)) = steps.split_first() else {
        *place = found.value;
        return Ok(());
    };
    let what = place.data.what();
    match &mut place.data {
        Data::Table(inner) => within(inner, next, rest, found),
        Data::List(list) => match next.parse().ok().and_then(|index: usize| list.get_mut(index)) {
            Some(inner) => into_element(inner, rest, found),
            None => Err((format!("the list has no element `{next}`"), "elements are counted from 0".to_owned())),
        },
        _ => Err((format!("this element is {what} and has no `{next}`"), "set the element itself".to_owned())),
    }
}

fn put(table: &mut Table, key: &str, found: Found) -> Result<(), Unknown> {
    table.entries.retain(|e| e.key != key);
    table.entries.push(Entry { key: key.to_owned(), key_at: found.key_at, value: found.value });
    Ok(())
}

fn unknown<'a>(message: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Unknown {
    let known: Vec<&str> = known.collect();
    let near = closest(name, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
    (message.to_owned(), near + &there_are(known.into_iter()))
}

fn there_are<'a>(known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) }
}
