//! How long a text may be that a message quotes: files come from strangers, and a name or a number may have a megabyte.
//!
//! Every text of a diagnostic goes through [`shown`], so that no message forgets it.

use std::borrow::Cow;

/// Bytes of a word, a name or a number, and of a path.
const WORD: usize = 160;
/// Bytes between two backticks.
const QUOTED: usize = 600;
/// Bytes of a whole text.
const WHOLE: usize = 4000;

/// A text for a message. Words, quotations and the whole are cut in the middle where they are too long, and control
/// characters of terminals are written out.
pub fn shown(text: String) -> String {
    let controls = |c: char| c.is_control() && c != '\n';
    if text.len() <= WORD && !text.contains(controls) {
        return text;
    }
    let mut out = String::with_capacity(text.len().min(2 * WHOLE));
    for (i, part) in text.split('`').enumerate() {
        if i > 0 {
            out.push('`');
        }
        let words = words(part);
        out.push_str(&if i % 2 == 1 { cut(words, QUOTED) } else { words });
        // Many quotations are long, too.
        if out.len() > 2 * WHOLE {
            break;
        }
    }
    let mut plain = String::with_capacity(out.len().min(2 * WHOLE));
    for c in cut(out.into(), WHOLE).chars() {
        match controls(c) {
            true => plain.extend(c.escape_debug()),
            false => plain.push(c),
        }
    }
    plain
}

/// A text with its long words cut.
fn words(text: &str) -> Cow<'_, str> {
    if text.split(' ').all(|word| word.len() <= WORD) {
        return text.into();
    }
    let list: Vec<Cow<'_, str>> = text.split(' ').map(|word| cut(word.into(), WORD)).collect();
    list.join(" ").into()
}

/// A text without its middle, if it is longer than `most` bytes.
fn cut(text: Cow<'_, str>, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text;
    }
    let (head, tail) = (text.floor_char_boundary(most * 2 / 3), text.ceil_char_boundary(text.len() - most / 4));
    format!("{}…{}", &text[..head], &text[tail..]).into()
}

#[cfg(test)]
mod tests {
    use super::{QUOTED, WHOLE, WORD, shown};

    #[test]
    fn what_is_short_stays_and_what_is_long_loses_its_middle() {
        let short = "`float f(float)`: it takes 1 argument, 2 given".to_owned();
        assert_eq!(shown(short.clone()), short);
        let number = format!("`{}7` is not a number that fits", "9".repeat(900_000));
        let said = shown(number);
        assert!(said.len() < WORD + 40 && said.starts_with("`999") && said.contains("…"), "{said}");
        assert!(said.ends_with("7` is not a number that fits"), "{said}");
        let string = format!("`f` knows no `\"{}\"`", "two words ".repeat(10_000));
        let said = shown(string);
        assert!(said.len() < QUOTED + 40 && said.ends_with("words \"`"), "{said}");
        let list = format!("there is {}", "`name`, ".repeat(100_000));
        assert!(shown(list).len() < WHOLE + 40);
        let marks = "`".repeat(1_000_000);
        assert!(shown(marks).len() < WHOLE + 40);
    }

    #[test]
    fn letters_stay_whole_and_terminals_are_not_controlled() {
        let said = shown("ö".repeat(10_000));
        assert!(said.len() < WORD + 40 && said.chars().all(|c| c == 'ö' || c == '…'), "{said}");
        assert_eq!(shown("there is no metal `\u{1b}[31m`".to_owned()), "there is no metal `\\u{1b}[31m`");
    }
}
