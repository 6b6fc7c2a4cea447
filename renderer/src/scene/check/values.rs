//! Whether a value is of the kind that its key takes.

use crate::scene::codes;
use crate::scene::keys::Kind;
use crate::scene::tree::{Data, Place, Value};
use ssl_compiler::diagnostics::{Code, closest};

/// What is wrong with a value. Messages go on from the key: "`fov` of the camera …".
pub struct Wrong {
    pub code: &'static Code,
    pub at: Place,
    pub message: String,
    /// What to do, where that is more than what the key means.
    pub hint: Option<String>,
    /// What to write instead.
    pub fix: Option<String>,
}

/// Looks at a value and says all that is wrong with it. What stands for several numbers becomes those; what is wrong in a
/// table of names is taken out of it. Returns whether the value can be used.
pub fn fit(value: &mut Value, kind: Kind, wrong: &mut Vec<Wrong>) -> bool {
    match kind {
        Kind::Names => return fit_each(value, wrong, "names with texts", |v, wrong| fit(v, Kind::Text, wrong)),
        Kind::Variables => {
            return fit_each(value, wrong, "names with a number or up to four", |v, wrong| {
                let is_file = matches!(&v.data, Data::Text(name) if name.ends_with(".npy"));
                is_file || fit_numbers(v, wrong, "a number, a list of up to four, or an `.npy` with values of vertices")
            });
        }
        Kind::Values => return fit_each(value, wrong, "names with values", fit_parameter),
        Kind::Links => return fit_links(value, wrong),
        _ => {}
    }
    match fit_one(value, kind) {
        Ok(()) => true,
        Err(found) => {
            wrong.push(*found);
            false
        }
    }
}

fn fit_one(value: &mut Value, kind: Kind) -> Result<(), Box<Wrong>> {
    match (kind, &mut value.data) {
        (Kind::Text, Data::Text(_)) | (Kind::Flag, Data::Bool(_)) | (Kind::Integer(..), Data::Integer(_)) => Ok(()),
        (Kind::Number | Kind::Above(_) | Kind::Threshold, Data::Integer(_) | Data::Float(_)) => Ok(()),
        (Kind::Threshold, Data::Text(word)) if word == "off" => Ok(()),
        // Programs that write JSON write so.
        (Kind::Integer(..), &mut Data::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => {
            value.data = Data::Integer(x as i64);
            Ok(())
        }
        (Kind::Choice(words), Data::Text(word)) if words.contains(&word.as_str()) => Ok(()),
        (Kind::Choice(words), Data::Text(word)) => Err(Box::new(no_choice(word, words, value.at.clone()))),
        (Kind::Color, Data::Integer(_) | Data::Float(_)) => {
            repeat(value, 3);
            Ok(())
        }
        (Kind::Factors(n), Data::Integer(_) | Data::Float(_)) => {
            repeat(value, n);
            Ok(())
        }
        (Kind::Numbers(n) | Kind::Factors(n), Data::List(_)) => fit_list(value, kind, n, Kind::Number),
        (Kind::Color, Data::List(_)) => fit_list(value, kind, 3, Kind::Number),
        (Kind::Integers(n), Data::List(_)) => fit_list(value, kind, n, WHOLE),
        (Kind::Rows(rows, n), Data::List(_)) => fit_list(value, kind, rows, Kind::Numbers(n)),
        (Kind::Texts, Data::List(list)) => list.iter_mut().try_for_each(|v| fit_one(v, Kind::Text)),
        (Kind::Strands, Data::List(strands)) => strands.iter_mut().try_for_each(|strand| match &mut strand.data {
            Data::List(points) => points.iter_mut().try_for_each(|p| fit_one(p, Kind::Numbers(4))),
            _ => Err(Box::new(other_kind(strand, kind))),
        }),
        _ => Err(Box::new(other_kind(value, kind))),
    }
}

const WHOLE: Kind = Kind::Integer(i64::MIN, i64::MAX);

/// One number that stands for all.
fn repeat(value: &mut Value, times: usize) {
    value.data = Data::List(vec![value.clone(); times]);
}

fn fit_list(value: &mut Value, kind: Kind, length: usize, each: Kind) -> Result<(), Box<Wrong>> {
    let Data::List(list) = &mut value.data else { return Ok(()) };
    if list.len() != length {
        let found = match list.len() {
            0 => "this list is empty".to_owned(),
            1 => "this is a list of one".to_owned(),
            n => format!("these are {n}"),
        };
        let message = format!("takes {}, and {found}", expected(kind));
        return Err(Box::new(Wrong { code: &codes::SYNTAX, at: value.at.clone(), message, hint: None, fix: None }));
    }
    list.iter_mut().try_for_each(|v| fit_one(v, each))
}

fn other_kind(value: &Value, kind: Kind) -> Wrong {
    let quoted = match &value.data {
        Data::Text(text) => Some(text.trim()),
        _ => None,
    };
    let bare = quoted.filter(|text| match kind {
        Kind::Number | Kind::Above(_) | Kind::Threshold | Kind::Color | Kind::Factors(_) => {
            text.parse::<f64>().is_ok_and(f64::is_finite)
        }
        Kind::Integer(..) => text.parse::<i64>().is_ok(),
        Kind::Flag => matches!(*text, "true" | "false"),
        Kind::Numbers(_) | Kind::Integers(_) | Kind::Rows(..) => {
            text.starts_with('[') && text.ends_with(']') && text.chars().all(|c| "0123456789[]+-.eE, ".contains(c))
        }
        _ => false,
    });
    let hint = match (&value.data, kind) {
        _ if bare.is_some() => Some(format!("write it without quotes: {}", bare.unwrap_or_default())),
        (Data::Text(text), Kind::Texts) => Some(format!("write it as a list: [\"{text}\"]")),
        (Data::Integer(n @ (0 | 1)), Kind::Flag) => Some(format!("write `{}`", *n == 1)),
        (Data::Float(_), Kind::Integer(..)) => Some("write it without a fraction".to_owned()),
        (_, Kind::Text | Kind::Choice(_)) => Some("texts stand in quotes".to_owned()),
        _ => None,
    };
    let found = match (&value.data, kind) {
        (Data::Float(_), Kind::Integer(..)) => "a number with a fraction",
        (data, _) => data.what(),
    };
    let message = format!("takes {}, and this is {found}", expected(kind));
    Wrong { code: &codes::SYNTAX, at: value.at.clone(), message, hint, fix: bare.map(str::to_owned) }
}

fn no_choice(word: &str, words: &'static [&'static str], at: Place) -> Wrong {
    // What is cut short has one long form, if it is clear.
    let mut longer = words.iter().copied().filter(|w| word.len() > 2 && w.starts_with(word));
    let near = closest(word, words.iter().copied()).or(longer.next().filter(|_| longer.next().is_none()));
    let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let message = format!("has no choice `{word}`");
    let hint = Some(format!("it must be {}{meant}", or(words)));
    Wrong { code: &codes::BAD_CHOICE, at, message, hint, fix: near.map(|near| format!("\"{near}\"")) }
}

/// "`a`, `b` or `c`"
pub fn or(words: &[&str]) -> String {
    joined(words, "or")
}

/// "`a`, `b` and `c`"
pub fn and(words: &[&str]) -> String {
    joined(words, "and")
}

fn joined(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Number | Kind::Above(_) => "a number".to_owned(),
        Kind::Threshold => "a number or `\"off\"`".to_owned(),
        Kind::Integer(..) => "a whole number".to_owned(),
        Kind::Choice(words) => or(words),
        Kind::Numbers(n) => format!("a list of {n} numbers"),
        Kind::Rows(rows, n) => format!("{rows} lists of {n} numbers"),
        Kind::Color => "a color, which is a list of 3 numbers or one number for all".to_owned(),
        Kind::Factors(n) => format!("a list of {n} numbers, or one number for all"),
        Kind::Integers(n) => format!("a list of {n} whole numbers"),
        Kind::Strands => "lists of points [x, y, z, radius]".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Names | Kind::Links | Kind::Variables | Kind::Values => "a table".to_owned(),
    }
}

/// A table of names, entry by entry.
fn fit_each(
    value: &mut Value,
    wrong: &mut Vec<Wrong>,
    of: &str,
    one: impl Fn(&mut Value, &mut Vec<Wrong>) -> bool,
) -> bool {
    let what = value.data.what();
    let Data::Table(table) = &mut value.data else {
        let message = format!("takes a table of {of}, and this is {what}");
        let hint = Some("write it as `{ name = … }`".to_owned());
        wrong.push(Wrong { code: &codes::SYNTAX, at: value.at.clone(), message, hint, fix: None });
        return false;
    };
    let before = wrong.len();
    table.entries.retain_mut(|entry| {
        let first = wrong.len();
        let fits = one(&mut entry.value, wrong);
        for found in &mut wrong[first..] {
            found.message = format!("has an entry `{}` that {}", entry.key, found.message);
        }
        fits
    });
    wrong.len() == before
}

fn fit_numbers(value: &mut Value, wrong: &mut Vec<Wrong>, expected: &str) -> bool {
    let fits = match &value.data {
        Data::Integer(_) | Data::Float(_) => true,
        Data::List(list) => list.iter().all(|v| v.data.number().is_some()),
        _ => false,
    };
    if !fits {
        let message = format!("takes {expected}, and this is {}", several(&value.data));
        wrong.push(Wrong { code: &codes::SYNTAX, at: value.at.clone(), message, hint: None, fix: None });
    }
    fits
}

fn several(data: &Data) -> &'static str {
    match data {
        Data::List(_) => "a list of something else",
        other => other.what(),
    }
}

fn fit_parameter(value: &mut Value, wrong: &mut Vec<Wrong>) -> bool {
    if matches!(value.data, Data::Bool(_) | Data::Text(_)) {
        return true;
    }
    if !fit_numbers(value, wrong, "a number, a list of numbers, a text, or `true` or `false`") {
        return false;
    }
    // A float of the language has 32 bits.
    let finite = |data: &Data| data.number().is_none_or(|x| (x as f32).is_finite());
    let fits = finite(&value.data) && !matches!(&value.data, Data::List(list) if !list.iter().all(|v| finite(&v.data)));
    if !fits {
        let message = "takes numbers that are finite as floats".to_owned();
        let hint = Some("the largest float is about 3.4e38".to_owned());
        wrong.push(Wrong { code: &codes::BAD_NUMBER, at: value.at.clone(), message, hint, fix: None });
    }
    fits
}

fn fit_links(value: &mut Value, wrong: &mut Vec<Wrong>) -> bool {
    let Data::Table(table) = &mut value.data else {
        let found = other_kind(value, Kind::Links);
        let hint =
            Some("`{ include = [\"…\"] }` names the lights that light it, `exclude` those that do not".to_owned());
        wrong.push(Wrong { hint, ..found });
        return false;
    };
    let before = wrong.len();
    for entry in &mut table.entries {
        if !["include", "exclude"].contains(&entry.key.as_str()) {
            let message = format!("has no key `{}`", entry.key);
            let hint = Some("it takes `include` or `exclude`, with a list of names".to_owned());
            wrong.push(Wrong { code: &codes::SYNTAX, at: entry.key_at.clone(), message, hint, fix: None });
        } else if let Err(found) = fit_one(&mut entry.value, Kind::Texts) {
            wrong.push(*found);
        }
    }
    wrong.len() == before
}
