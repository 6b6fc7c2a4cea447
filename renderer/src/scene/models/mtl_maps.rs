//! Images as MTL files name them: options, each with its values, and then the file, whose name may have blanks.

/// An image of a material.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    pub file: String,
    /// Some of its options would change the picture.
    pub has_options: bool,
}

/// Reads options and file name behind the keyword of a map.
pub fn map(key: &str, text: &str) -> Result<Map, String> {
    let (mut rest, mut has_options) = (text.trim(), false);
    while rest.starts_with('-') {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let Some(count) = values(&words) else {
            // A name that begins so, or an option that is not known: then the last word is the name.
            let last = words.last().copied().unwrap_or(rest);
            return Ok(Map { file: last.to_owned(), has_options: has_options || words.len() > 1 });
        };
        has_options |= !changes_nothing(&words[..=count]);
        rest = behind(rest, count + 1);
    }
    match rest {
        "" => Err(format!("`{key}` is without the name of an image")),
        file => Ok(Map { file: file.to_owned(), has_options }),
    }
}

/// How many values follow an option, which is the first word; `None` if it is none.
fn values(words: &[&str]) -> Option<usize> {
    let (least, most) = match *words.first()? {
        "-blendu" | "-blendv" | "-cc" | "-clamp" | "-imfchan" | "-type" | "-boost" | "-bm" | "-texres" => (1, 1),
        "-mm" => (2, 2),
        "-o" | "-s" | "-t" => (1, 3),
        _ => return None,
    };
    // The name of the file may be a number, too: one word is left for it.
    let room = words.len().saturating_sub(2);
    let numbers = words[1..].iter().take(room.min(most)).take_while(|word| word.parse::<f32>().is_ok()).count();
    Some(numbers.max(least).min(words.len() - 1))
}

/// The rest of a text behind so many words.
fn behind(text: &str, words: usize) -> &str {
    (0..words)
        .fold(text.trim_start(), |rest, _| rest.split_once(char::is_whitespace).map_or("", |(_, r)| r.trim_start()))
}

/// Whether an option has the value that counts without it.
fn changes_nothing(option: &[&str]) -> bool {
    let all = |values: &[&str], number: f32| values.iter().all(|v| v.parse() == Ok(number));
    match option {
        ["-s", values @ ..] => all(values, 1.0),
        ["-o" | "-t", values @ ..] => all(values, 0.0),
        ["-mm", base, gain] => all(&[base], 0.0) && all(&[gain], 1.0),
        ["-bm", values @ ..] => all(values, 1.0),
        ["-clamp", "off"] | ["-blendu" | "-blendv", "on"] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_no_more_values_than_they_may() {
        for (text, file) in [
            ("a.png", "a.png"),
            ("my maps/a -s.png", "my maps/a -s.png"),
            ("-s 1 1 1 3 tiles.png", "3 tiles.png"),
            ("-o 0 0 0 -mm 0 1 -clamp off two  words.png", "two  words.png"),
            ("-s 1 1 1 7", "7"),
            ("-s 1 7", "7"),
            ("-bm 1 1 of 2.png", "1 of 2.png"),
            ("-blendu on\ta.png", "a.png"),
        ] {
            let found = map("map_Kd", text);
            assert_eq!(found, Ok(Map { file: file.to_owned(), has_options: false }), "{text}");
        }
        for (text, file) in [
            ("-s 2 2 1 a.png", "a.png"),
            ("-o 0 -0.5 0 a.png", "a.png"),
            ("-s 1 1 1 -clamp on a.png", "a.png"),
            ("-bm 0.3 maps\\a.png", "maps\\a.png"),
            ("-t 1 b c.png", "b c.png"),
            ("-imfchan r a.png", "a.png"),
            ("-unknown 3 a.png", "a.png"),
        ] {
            assert_eq!(map("map_Kd", text), Ok(Map { file: file.to_owned(), has_options: true }), "{text}");
        }
        assert_eq!(map("map_Kd", "-x.png").map(|map| map.file), Ok("-x.png".to_owned()));
        for text in ["", "  ", "-s", "-clamp off"] {
            assert!(map("map_Kd", text).is_err(), "{text}");
        }
    }
}
