//! Text to tokens. `>` always comes alone, with the parser joining `>>`, `>=` and `>>=`, because it
//! also ends `global_value<name>`.

use super::foreign::NO_DOUBLE;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::{FileId, Span};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// With its module, if it names one: `module::name`.
    Name,
    Int(i32),
    Float(f64),
    /// The contents without quotes are the span's inside.
    Str,
    /// An operator or bracket.
    Punct(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The punctuation that starts with a byte, longest first, so that the first match is the right one.
fn punctuation(first: u8) -> &'static [&'static str] {
    match first {
        b'<' => &["<<=", "<<", "<=", "<"],
        b'=' => &["==", "="],
        b'!' => &["!=", "!"],
        b'&' => &["&&", "&=", "&"],
        b'|' => &["||", "|=", "|"],
        b'+' => &["++", "+=", "+"],
        b'-' => &["--", "-=", "-"],
        b'*' => &["*=", "*"],
        b'/' => &["/=", "/"],
        b'%' => &["%=", "%"],
        b'^' => &["^=", "^"],
        b'{' => &["{"],
        b'}' => &["}"],
        b'(' => &["("],
        b')' => &[")"],
        b'[' => &["["],
        b']' => &["]"],
        b';' => &[";"],
        b',' => &[","],
        b'.' => &["."],
        b'?' => &["?"],
        b':' => &["::", ":"],
        b'>' => &[">"],
        b'~' => &["~"],
        _ => &[],
    }
}

/// Where the quote stands that ends a string, the first one that no backslash escapes; or where the line ends.
fn end_of_string(text: &str) -> Result<usize, usize> {
    let mut escaped = false;
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'"' if !escaped => return Ok(i),
            b'\n' => return Err(i),
            _ => escaped = b == b'\\' && !escaped,
        }
    }
    Err(text.len())
}

/// The tokens of a file, ended by one [`TokenKind::End`].
pub fn lex(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer { file, text, at: 0, diagnostics };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        lexer.skip_blanks();
        let token = lexer.next();
        if token.kind == TokenKind::Int(i32::MIN) {
            lexer.check_smallest(token.span, tokens.last());
        }
        let done = token.kind == TokenKind::End;
        tokens.push(token);
        if done {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    diagnostics: &'a mut Diagnostics,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.file, start..self.at)
    }

    /// `2147483648` fits only behind a minus.
    fn check_smallest(&mut self, span: Span, before: Option<&Token>) {
        let decimal = !self.text[span.range()].starts_with("0x") && !self.text[span.range()].starts_with("0X");
        if decimal && !before.is_some_and(|t| t.kind == TokenKind::Punct("-")) {
            let hint = "integers go from -2147483648 to 2147483647";
            self.report(&codes::BAD_NUMBER, span, "`2147483648` is not a number that fits", hint);
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        let start = self.at;
                        self.at = self.text.len();
                        let span = Span::new(self.file, start..start + 2);
                        self.report(&codes::UNTERMINATED, span, "this comment has no end", "close it with `*/`");
                    }
                }
            } else {
                let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
                if blank == 0 {
                    return;
                }
                self.at += blank;
            }
        }
    }

    fn next(&mut self) -> Token {
        loop {
            let (start, bytes) = (self.at, self.text.as_bytes());
            let Some(&first) = bytes.get(start) else {
                return Token { kind: TokenKind::End, span: Span::new(self.file, start..start) };
            };
            let second = bytes.get(start + 1).copied().unwrap_or(0);
            let kind = match first {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(),
                b'0'..=b'9' => self.number(),
                b'.' if second.is_ascii_digit() => self.number(),
                b'"' => self.string(),
                _ => match punctuation(first).iter().find(|p| self.rest().starts_with(**p)) {
                    Some(p) => {
                        self.at += p.len();
                        TokenKind::Punct(p)
                    }
                    None => {
                        let read_as = match self.unexpected() {
                            // A dash was meant as a minus.
                            '–' | '—' | '−' => Some(TokenKind::Punct("-")),
                            '\'' if self.at > start + 1 => Some(TokenKind::Int(0)),
                            _ => None,
                        };
                        if let Some(kind) = read_as {
                            return Token { kind, span: self.span_from(start) };
                        }
                        self.skip_blanks();
                        continue;
                    }
                },
            };
            return Token { kind, span: self.span_from(start) };
        }
    }

    fn unexpected(&mut self) -> char {
        let c = self.rest().chars().next().unwrap_or(' ');
        let start = self.at;
        self.at += c.len_utf8();
        let hint = match c {
            '‘' | '’' | '“' | '”' => "curly quotes come from a text processor: type plain ones",
            '–' | '—' | '−' => "this is a dash: type a plain minus `-`",
            _ => "remove it",
        };
        let span = self.span_from(start);
        if c == '#' {
            self.preprocessor(span);
            return c;
        }
        if c == '\'' && self.character(span) {
            return c;
        }
        self.report(
            &codes::UNEXPECTED_CHARACTER,
            span,
            format!("the character `{}` means nothing here", c.escape_debug()),
            hint,
        );
        c
    }

    /// C's `'a'`, whose first quote was taken; whether it is one.
    fn character(&mut self, quote: Span) -> bool {
        let escape = usize::from(self.rest().starts_with('\\'));
        let mut chars = self.rest().chars().skip(escape);
        let Some(c) = chars.next().filter(|_| chars.next() == Some('\'')) else { return false };
        self.at += escape + c.len_utf8() + 1;
        let span = self.span_from(quote.start as usize);
        self.report(
            &codes::UNEXPECTED_CHARACTER,
            span,
            "there are no characters",
            "a string stands in double quotes: `\"a\"`",
        );
        true
    }

    /// A line of C's preprocessor, whose `#` was taken.
    fn preprocessor(&mut self, span: Span) {
        let line = self.rest().lines().next().unwrap_or("");
        let hint = match line.split_whitespace().next() {
            Some("define") => "write a constant, `const float name = 1.0;`, or a function",
            Some("include") => "another shader file is imported: `import \"file.ssl\";`; headers do not exist",
            Some("if" | "ifdef" | "ifndef" | "else" | "elif" | "endif") => {
                "a constant of the file can serve as a switch: `if (fancy) …`"
            }
            _ => "remove the line",
        };
        self.at += line.len();
        self.report(&codes::PREPROCESSOR, span, "there is no preprocessor", hint);
    }

    fn name(&mut self) -> TokenKind {
        loop {
            let rest = self.rest();
            self.at += rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let part = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            match self.rest().strip_prefix("::") {
                Some(rest) if part(rest) => self.at += 2,
                _ => return TokenKind::Name,
            }
        }
    }

    fn string(&mut self) -> TokenKind {
        let start = self.at;
        match end_of_string(&self.text[start + 1..]) {
            Ok(length) => self.at = start + length + 2,
            Err(length) => {
                self.at = start + 1 + length;
                let span = self.span_from(start);
                self.report(
                    &codes::UNTERMINATED,
                    span,
                    "this string has no end",
                    "close it with `\"` on the same line",
                );
            }
        }
        TokenKind::Str
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let byte = |i: usize| bytes.get(i).copied().unwrap_or(0);
        let mut at = start;
        if byte(at) == b'0' && matches!(byte(at + 1), b'x' | b'X') {
            at += 2;
            while byte(at).is_ascii_alphanumeric() {
                at += 1;
            }
            self.at = at;
            return self.integer(start, u32::from_str_radix(&self.text[start + 2..at], 16).ok().map(|v| v as i32));
        }
        let digits = |mut i: usize| {
            while byte(i).is_ascii_digit() {
                i += 1;
            }
            i
        };
        at = digits(at);
        let mut float = false;
        if byte(at) == b'.' {
            (float, at) = (true, digits(at + 1));
        }
        if matches!(byte(at), b'e' | b'E') {
            let sign = at + 1 + usize::from(matches!(byte(at + 1), b'+' | b'-'));
            if byte(sign).is_ascii_digit() {
                (float, at) = (true, digits(sign));
            }
        }
        let end = at;
        let suffix = matches!(byte(at), b'f' | b'F');
        at += usize::from(suffix);
        let junk = at;
        while byte(at).is_ascii_alphanumeric() || byte(at) == b'_' {
            at += 1;
        }
        self.at = at;
        let junk = self.text[junk..at].to_ascii_lowercase();
        match junk.as_str() {
            "" => {}
            "d" | "lf" if !suffix => {
                let text = &self.text[start..at];
                let message = format!("`{text}` is a number of double precision");
                self.report(&codes::NO_DOUBLE, self.span_from(start), message, NO_DOUBLE);
                return TokenKind::Float(self.text[start..end].parse().unwrap_or(0.0));
            }
            "h" | "hf" | "f16" | "f32" if !suffix => {
                let message = format!("`{}` has a suffix that means nothing", &self.text[start..at]);
                let hint = "floats have 32 bits: leave the suffix away";
                self.report(&codes::BAD_NUMBER, self.span_from(start), message, hint);
                return TokenKind::Float(self.text[start..end].parse().unwrap_or(0.0));
            }
            "u" | "l" | "ul" | "lu" | "ll" | "ull" if !float && !suffix => {
                let message = format!("`{}` has a suffix that means nothing", &self.text[start..at]);
                let hint = "integers have 32 bits and a sign: leave the suffix away";
                self.report(&codes::BAD_NUMBER, self.span_from(start), message, hint);
                return TokenKind::Int(self.text[start..end].parse().unwrap_or(0));
            }
            _ => return self.integer(start, None),
        }
        if float || suffix {
            // Digits with at most one dot and exponent always parse. Rounded once: by way of f64, a number
            // close to the middle of two floats could end up on its wrong side.
            let value: f32 = self.text[start..end].parse().unwrap_or(0.0);
            if value.is_infinite() {
                self.integer(start, None);
            }
            let digits = self.text[start..end].split(['e', 'E']).next().unwrap_or("");
            if value == 0.0 && digits.contains(|c: char| matches!(c, '1'..='9')) {
                let message = "this number is too small for a float and becomes 0";
                let hint = "the smallest positive float is about 1.4e-45";
                let span = self.span_from(start);
                self.diagnostics.push(Diagnostic::warning(&codes::LOSSY_LITERAL, span, message, hint));
            }
            return TokenKind::Float(value.into());
        }
        self.integer(start, self.text[start..end].parse::<u32>().ok().filter(|v| *v <= 1 << 31).map(|v| v as i32))
    }

    fn integer(&mut self, start: usize, value: Option<i32>) -> TokenKind {
        if value.is_none() {
            let text = &self.text[start..self.at];
            let message = format!("`{text}` is not a number that fits");
            let hint = "integers have 32 bits; write floats as `1.0`, `1e6` or `1.0f`";
            self.report(&codes::BAD_NUMBER, self.span_from(start), message, hint);
        }
        TokenKind::Int(value.unwrap_or(0))
    }

    fn report(&mut self, code: &'static crate::diagnostics::Code, span: Span, message: impl Into<String>, hint: &str) {
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }
}
