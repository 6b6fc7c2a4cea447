//! Texts in quotes, as TOML and JSON write them: their value, which byte of the file each byte of the value comes from,
//! and how to write something within such quotes.

use std::ops::Range;

/// How a text is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// `"…"`, with escapes, on one line. JSON's too.
    Basic,
    /// `"""…"""`, with escapes.
    BasicLines,
    /// `'…'`, as it stands, on one line.
    Literal,
    /// `'''…'''`, as it stands.
    LiteralLines,
}

/// A text that was taken out of its quotes.
#[derive(Clone, Debug, PartialEq)]
pub struct Unquoted {
    pub quotes: Quotes,
    pub text: String,
    /// Where runs of the text begin, in it and in the quoted one: within a run, a byte of one is a byte of the other. The
    /// last one is the end.
    pub runs: Vec<(usize, usize)>,
}

impl Quotes {
    fn of(quoted: &str) -> Option<Quotes> {
        let lines = |q: &str| quoted.len() >= 6 && quoted.starts_with(q) && quoted.ends_with(q);
        let line = |q: char| quoted.len() >= 2 && quoted.starts_with(q) && quoted.ends_with(q);
        match () {
            () if lines("\"\"\"") => Some(Quotes::BasicLines),
            () if lines("'''") => Some(Quotes::LiteralLines),
            () if line('"') => Some(Quotes::Basic),
            () if line('\'') => Some(Quotes::Literal),
            () => None,
        }
    }

    fn width(self) -> usize {
        if matches!(self, Quotes::BasicLines | Quotes::LiteralLines) { 3 } else { 1 }
    }

    fn escapes(self) -> bool {
        matches!(self, Quotes::Basic | Quotes::BasicLines)
    }

    /// [`Quotes::write`] as a function of the text alone.
    pub fn writer(self) -> fn(&str) -> Option<String> {
        match self {
            Quotes::Basic => |text| Quotes::Basic.write(text),
            Quotes::BasicLines => |text| Quotes::BasicLines.write(text),
            Quotes::Literal => |text| Quotes::Literal.write(text),
            Quotes::LiteralLines => |text| Quotes::LiteralLines.write(text),
        }
    }

    /// A text as it is written within these quotes; `None` where they cannot hold it.
    pub fn write(self, text: &str) -> Option<String> {
        match self {
            Quotes::Literal => (!text.contains(['\'', '\n', '\r'])).then(|| text.to_owned()),
            // A quote at either end might come to stand beside others.
            Quotes::LiteralLines => (!text.contains('\'')).then(|| text.to_owned()),
            Quotes::Basic => Some(text.chars().flat_map(|c| escaped(c, true)).collect()),
            Quotes::BasicLines => Some(text.chars().flat_map(|c| escaped(c, false)).collect()),
        }
    }
}

fn escaped(c: char, line_breaks: bool) -> Vec<char> {
    match c {
        '"' => vec!['\\', '"'],
        '\\' => vec!['\\', '\\'],
        '\n' if line_breaks => vec!['\\', 'n'],
        '\n' | '\t' if !line_breaks => vec![c],
        '\t' => vec!['\\', 't'],
        '\r' => vec!['\\', 'r'],
        c if c.is_control() => format!("\\u{:04x}", c as u32).chars().collect(),
        c => vec![c],
    }
}

/// Takes a text out of its quotes; `None` where it is not well-formed.
pub fn unquote(quoted: &str) -> Option<Unquoted> {
    let quotes = Quotes::of(quoted)?;
    let width = quotes.width();
    let (mut at, end) = (width, quoted.len() - width);
    // A line break right behind the opening quotes does not count.
    if width == 3 {
        let rest = &quoted[at..end];
        at += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let mut out = Unquoted { quotes, text: String::new(), runs: vec![(0, at)] };
    while at < end {
        let plain = match quotes.escapes() {
            true => quoted[at..end].find('\\').unwrap_or(end - at),
            false => end - at,
        };
        out.text.push_str(&quoted[at..at + plain]);
        at += plain;
        if at < end {
            let (c, next) = escape(quoted, at..end)?;
            out.runs.push((out.text.len(), at));
            out.text.extend(c);
            at = next;
            out.runs.push((out.text.len(), at));
        }
    }
    out.runs.push((out.text.len(), end));
    Some(out)
}

/// What the escape stands for that begins a range, if anything, and where the text goes on.
fn escape(text: &str, range: Range<usize>) -> Option<(Option<char>, usize)> {
    let (start, rest) = (range.start, &text[range.clone()]);
    let letter = rest[1..].chars().next()?;
    let simple = |c| Some((Some(c), start + 2));
    match letter {
        'b' => simple('\u{8}'),
        't' => simple('\t'),
        'n' => simple('\n'),
        'f' => simple('\u{c}'),
        'r' => simple('\r'),
        'e' => simple('\u{1b}'),
        '"' | '\\' | '/' => simple(letter),
        'x' => Some((Some(char::from_u32(hex(rest, 2, 2)?)?), start + 4)),
        'U' => Some((Some(char::from_u32(hex(rest, 2, 8)?)?), start + 10)),
        'u' => {
            let first = hex(rest, 2, 4)?;
            if !(0xd800..0xdc00).contains(&first) {
                return Some((Some(char::from_u32(first)?), start + 6));
            }
            // JSON writes what is beyond 16 bits as two.
            let second = rest.get(6..8).filter(|s| *s == "\\u").and_then(|_| hex(rest, 8, 4))?;
            let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            Some((Some(char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)?), start + 12))
        }
        // In several lines, what is blank up to the next word.
        ' ' | '\t' | '\n' | '\r' => {
            let after = rest[1..].trim_start_matches([' ', '\t', '\n', '\r']);
            Some((None, start + rest.len() - after.len()))
        }
        _ => None,
    }
}

fn hex(text: &str, at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte of the text beside the byte of the quoted one that it comes from.
    fn origin(u: &Unquoted, at: usize) -> usize {
        let run = u.runs.partition_point(|r| r.0 <= at) - 1;
        u.runs[run].1 + at - u.runs[run].0
    }

    /// The parsers of both formats are the oracle of what a text stands for.
    #[test]
    fn texts_are_what_the_parsers_read() {
        let toml = [
            r#""a \"b\" \\ \t é \u00e9 \U0001F600 \x41""#,
            "\"\"\"\nline\n  two \\\n     joined \\\" \"\"\"",
            "'as \\n it stands'",
            "'''\r\nas \\n it\nstands'''",
            "''''quoted' '''",
            "\"\"",
            "''",
        ];
        for quoted in toml {
            let parsed: toml::Table = toml::from_str(&format!("x = {quoted}")).expect("it is well-formed");
            let wanted = parsed["x"].as_str().map(|s| s.replace("\r\n", "\n"));
            assert_eq!(unquote(quoted).map(|u| u.text.replace("\r\n", "\n")), wanted, "{quoted}");
        }
        for quoted in [r#""a\/b \ud83d\ude00 \u0041\n""#, r#""é""#] {
            let wanted: String = serde_json::from_str(quoted).expect("it is well-formed");
            assert_eq!(unquote(quoted).map(|u| u.text), Some(wanted), "{quoted}");
        }
        for bad in [r#""\q""#, r#""\u12""#, r#""\ud83d""#, "a", "\"", ""] {
            assert_eq!(unquote(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_character_knows_where_it_comes_from() {
        let quoted = "\"\"\"\na\\n b\\u00e9c \\\n    d\"\"\"";
        let u = unquote(quoted).expect("it is well-formed");
        for word in ["a", "b", "c", "d"] {
            let at = u.text.find(word).expect("it is there");
            assert_eq!(&quoted[origin(&u, at)..][..1], word);
        }
        let newline = u.text.find('\n').expect("it is there");
        assert_eq!(&quoted[origin(&u, newline)..][..2], "\\n");
        assert_eq!(origin(&u, u.text.len()), quoted.len() - 3);
    }

    #[test]
    fn what_is_written_reads_as_it_was() {
        let texts = ["plain", "a \"b\" \\ c", "two\nlines\t\r", "bell \u{7} é"];
        for (quotes, mark) in [(Quotes::Basic, "\""), (Quotes::BasicLines, "\"\"\"")] {
            for text in texts {
                let quoted = format!("{mark}{}{mark}", quotes.write(text).expect("these hold all"));
                assert_eq!(unquote(&quoted).map(|u| u.text).as_deref(), Some(text), "{quoted}");
                let toml: toml::Table = toml::from_str(&format!("x = {quoted}")).expect("it is well-formed");
                assert_eq!(toml["x"].as_str(), Some(text), "{quoted}");
            }
        }
        assert_eq!(Quotes::Literal.write("it's"), None);
        assert_eq!(Quotes::LiteralLines.write("a\nb").as_deref(), Some("a\nb"));
    }
}
