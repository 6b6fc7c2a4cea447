//! What `printf` writes: C's formats, parsed once at compile time and filled in at run time.

use std::fmt::Write;
use std::ops::Range;

/// Widths and precisions above this are refused.
const MAX_WIDTH: usize = 200;

/// What a conversion takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Int,
    Float,
    String,
}

/// `%-8.3f`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Its bytes in the format.
    pub range: Range<usize>,
    flags: Vec<u8>,
    width: usize,
    precision: Option<usize>,
    pub letter: char,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Conversion(Conversion),
}

/// Something in a format that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub range: Range<usize>,
    pub message: String,
    pub hint: &'static str,
}

impl Conversion {
    pub fn takes(&self) -> Takes {
        match self.letter {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' => Takes::Int,
            's' => Takes::String,
            _ => Takes::Float,
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.contains(&flag)
    }
}

/// The pieces of a format, in order, and what is wrong with it.
pub fn pieces(format: &str) -> (Vec<Piece>, Vec<Mistake>) {
    let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
    let mut text = String::new();
    let mut at = 0;
    while let Some(c) = format[at..].chars().next() {
        if c != '%' {
            text.push(c);
            at += c.len_utf8();
        } else if format[at + 1..].starts_with('%') {
            text.push('%');
            at += 2;
        } else {
            let (conversion, mistake) = conversion(format, at);
            at = conversion.range.end;
            match mistake {
                Some(mistake) => mistakes.push(mistake),
                None => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Conversion(conversion));
                }
            }
        }
    }
    pieces.push(Piece::Text(text));
    (pieces, mistakes)
}

fn conversion(format: &str, start: usize) -> (Conversion, Option<Mistake>) {
    let bytes = format.as_bytes();
    let while_true = |from: usize, test: fn(&u8) -> bool| from + bytes[from..].iter().take_while(|b| test(b)).count();
    let flags_end = while_true(start + 1, |b| b"-+ 0#".contains(b));
    let width_end = while_true(flags_end, u8::is_ascii_digit);
    let dotted = bytes.get(width_end) == Some(&b'.');
    let end = if dotted { while_true(width_end + 1, u8::is_ascii_digit) } else { width_end };
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok().filter(|n| *n <= MAX_WIDTH) };
    let (width, precision) =
        (number(&format[flags_end..width_end]), dotted.then(|| number(&format[width_end + 1..end])));
    let letter = format[end..].chars().next();
    let range = start..end + letter.map_or(0, char::len_utf8);
    let shown = &format[range.clone()];
    let wrong = match letter {
        None => Some(("this `%` has no conversion behind it".to_owned(), "a percent sign itself is written `%%`")),
        Some('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' | 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 's') => None,
        Some('*') => Some(("a width or precision cannot be an argument".to_owned(), "write it as a number: `%8.3f`")),
        Some('h' | 'l' | 'L' | 'q' | 'z' | 'j' | 't') => {
            Some((format!("`{shown}` names a size"), "there is one size of int and of float: leave the letter out"))
        }
        Some(_) => {
            let hint = "there are %d %i %u %x %X %o %c for int, %f %e %g for floats and vectors, %s for strings";
            Some((format!("`{shown}` is no conversion"), hint))
        }
    };
    let wrong = wrong.or_else(|| {
        let large = width.is_none() || precision == Some(None);
        large.then(|| (format!("`{shown}` is wider than {MAX_WIDTH}"), "choose a smaller width or precision"))
    });
    let mistake = wrong.map(|(message, hint)| Mistake { range: range.clone(), message, hint });
    let flags = bytes[start + 1..flags_end].to_vec();
    let (width, precision) = (width.unwrap_or(0), precision.flatten());
    (Conversion { range, flags, width, precision, letter: letter.unwrap_or('d') }, mistake)
}

/// A format filled in: one word for each conversion, in order. `string` gives the text of a string's number.
pub fn fill(format: &str, words: &[u32], string: &dyn Fn(i32) -> String) -> String {
    let mut out = String::new();
    let mut words = words.iter().copied();
    for piece in pieces(format).0 {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Conversion(c) => {
                let word = words.next().unwrap_or(0);
                out.push_str(&convert(&c, word, string));
            }
        }
    }
    out
}

fn convert(c: &Conversion, word: u32, string: &dyn Fn(i32) -> String) -> String {
    match c.letter {
        's' => {
            let text = string(word as i32);
            let cut = c.precision.map_or(text.clone(), |n| text.chars().take(n).collect());
            pad(c, "", &cut, false)
        }
        'c' => pad(c, "", &char::from_u32(word).unwrap_or('\u{fffd}').to_string(), false),
        'd' | 'i' => {
            let x = i64::from(word as i32);
            integer(c, sign(c, x < 0), &x.unsigned_abs().to_string())
        }
        'u' => integer(c, "", &word.to_string()),
        'x' => integer(c, if c.has(b'#') && word != 0 { "0x" } else { "" }, &format!("{word:x}")),
        'X' => integer(c, if c.has(b'#') && word != 0 { "0X" } else { "" }, &format!("{word:X}")),
        'o' => {
            let digits = format!("{word:o}");
            let leading = c.has(b'#') && word != 0 && c.precision.unwrap_or(0) <= digits.len();
            integer(c, "", &if leading { format!("0{digits}") } else { digits })
        }
        _ => float(c, f32::from_bits(word)),
    }
}

fn sign(c: &Conversion, negative: bool) -> &'static str {
    match negative {
        true => "-",
        false if c.has(b'+') => "+",
        false if c.has(b' ') => " ",
        false => "",
    }
}

fn integer(c: &Conversion, prefix: &str, digits: &str) -> String {
    match c.precision {
        // A precision says how many digits there are, and switches the flag 0 off.
        Some(0) if digits == "0" => pad(c, prefix, "", false),
        Some(n) => pad(c, prefix, &format!("{digits:0>n$}"), false),
        None => pad(c, prefix, digits, true),
    }
}

fn float(c: &Conversion, x: f32) -> String {
    let upper = c.letter.is_ascii_uppercase();
    let case = |text: String| if upper { text.to_uppercase() } else { text };
    if !x.is_finite() {
        let (name, negative) = if x.is_nan() { ("nan", false) } else { ("inf", x < 0.0) };
        return pad(c, sign(c, negative), &case(name.to_owned()), false);
    }
    let size = f64::from(x.abs());
    let precision = c.precision.unwrap_or(6);
    let digits = match c.letter.to_ascii_lowercase() {
        'f' => fixed(size, precision, c.has(b'#')),
        'e' => scientific(size, precision, c.has(b'#')),
        _ => general(size, precision.max(1), c.has(b'#')),
    };
    pad(c, sign(c, x.is_sign_negative()), &case(digits), true)
}

fn fixed(x: f64, precision: usize, point: bool) -> String {
    let dot = if point && precision == 0 { "." } else { "" };
    format!("{x:.precision$}{dot}")
}

fn scientific(x: f64, precision: usize, point: bool) -> String {
    let text = format!("{x:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let dot = if point && precision == 0 { "." } else { "" };
    format!("{digits}{dot}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// `%g`: the shorter of the two, without zeros at the end unless `#` asks for them.
fn general(x: f64, precision: usize, keep: bool) -> String {
    let rounded = format!("{x:.0$e}", precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |digits: &str| match keep || !digits.contains('.') {
        true => digits.to_owned(),
        false => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = scientific(x, precision - 1, keep);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", trim(digits));
    }
    trim(&fixed(x, (precision as i32 - 1 - exponent) as usize, keep))
}

/// Brings a number to its width: blanks before, zeros behind the sign, or blanks behind.
fn pad(c: &Conversion, prefix: &str, digits: &str, zeros: bool) -> String {
    let missing = c.width.saturating_sub(prefix.chars().count() + digits.chars().count());
    let mut out = String::new();
    let fill = |out: &mut String, with: char| (0..missing).for_each(|_| out.push(with));
    let (left, zeros) = (c.has(b'-'), zeros && c.has(b'0'));
    if !left && !zeros {
        fill(&mut out, ' ');
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "{prefix}");
    if !left && zeros {
        fill(&mut out, '0');
    }
    out.push_str(digits);
    if left {
        fill(&mut out, ' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(format: &str, word: u32, expected: &str) {
        assert_eq!(pieces(format).1, []);
        assert_eq!(fill(format, &[word], &|_| "text".to_owned()), expected, "{format}");
    }

    /// What glibc's printf writes.
    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (format, x, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%.0f", 2.5, "2"),
            ("%.1f", 0.25, "0.2"),
            ("%10.3f|", 3.2109, "     3.211|"),
            ("%-10.3f|", -2.0, "-2.000    |"),
            ("%+f", 1.0, "+1.000000"),
            ("% f", 1.0, " 1.000000"),
            ("%010.2f", -3.2109, "-000003.21"),
            ("%#.0f", 1.0, "1."),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 5.5, "6e+00"),
            ("%#.0e", 1.0, "1.e+00"),
            ("%12.3E", 1e-10, "   1.000E-10"),
            ("%g", 1e+05, "100000"),
            ("%g", 1e+06, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 1e-05, "1e-05"),
            ("%g", 0.1, "0.1"),
            ("%#g", 1.0, "1.00000"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%.10g", 0.1, "0.1000000015"),
            ("%G", 1e-20, "1E-20"),
            ("%g", 0.0, "0"),
            ("%f", 1e+20, "100000002004087734272.000000"),
            ("%e", 0.0, "0.000000e+00"),
            ("%g", -0.0, "-0"),
            ("%8g|", f32::INFINITY, "     inf|"),
            ("%08g|", f32::NEG_INFINITY, "    -inf|"),
            ("%F", f32::INFINITY, "INF"),
            ("%.2f", 2.675, "2.67"),
            ("%.2f", 0.001, "0.00"),
            ("%g", 16777216.0, "1.67772e+07"),
            ("%g", 3.4e+38, "3.4e+38"),
        ] {
            prints(format, f32::to_bits(x), expected);
        }
        for (format, x, expected) in [
            ("%d", 42, "42"),
            ("%i", -7, "-7"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42, "-0042"),
            ("%+d", 42, "+42"),
            ("% d", 42, " 42"),
            ("%.3d", 7, "007"),
            ("%6.3d|", -7, "  -007|"),
            ("%06.3d|", 7, "   007|"),
            ("%.0d", 0, ""),
            ("%u", -1, "4294967295"),
            ("%x", 255, "ff"),
            ("%X", 255, "FF"),
            ("%#x", 255, "0xff"),
            ("%#X", 255, "0XFF"),
            ("%o", 8, "10"),
            ("%#o", 8, "010"),
            ("%#x", 0, "0"),
            ("%08x", 48879, "0000beef"),
            ("%#010x", 48879, "0x0000beef"),
            ("%d", -2147483648, "-2147483648"),
            ("%+.2d", 5, "+05"),
            ("%c", 65, "A"),
            ("%3c|", 66, "  B|"),
        ] {
            prints(format, x as u32, expected);
        }
    }

    #[test]
    fn texts_and_percent_signs() {
        assert_eq!(
            fill("100%% of %s, %.2s|%6s|%-6s|%c", &[1, 1, 1, 1, 65], &|_| "text".to_owned()),
            "100% of text, te|  text|text  |A"
        );
        assert_eq!(fill("", &[], &|_| String::new()), "");
    }

    #[test]
    fn mistakes_are_placed() {
        for (format, range) in
            [("a %", 2..3), ("%ld", 0..2), ("%5.*f", 0..4), ("x%y", 1..3), ("%999d", 0..5), ("%5é", 0..4)]
        {
            let (_, mistakes) = pieces(format);
            assert_eq!(mistakes.iter().map(|m| m.range.clone()).collect::<Vec<_>>(), [range], "{format}");
        }
    }
}
