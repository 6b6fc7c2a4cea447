//! A cursor over the textual form: names, numbers and punctuation, with `;` comments skipped.

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// The line that the cursor is in, from 1.
    pub fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    pub fn at_end(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    pub fn eat(&mut self, literal: &str) -> bool {
        self.skip();
        let found = self.text[self.at..].starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    pub fn expect(&mut self, literal: &str) -> Result<(), String> {
        if self.eat(literal) { Ok(()) } else { Err(format!("expected `{literal}`, found `{}`", self.preview())) }
    }

    pub fn preview(&mut self) -> &'a str {
        self.skip();
        self.text[self.at..].split_whitespace().next().unwrap_or("the end")
    }

    /// Whether a value is used here: `%7`, and not `%7: float`, which defines one in the next line.
    pub fn at_use(&mut self) -> bool {
        self.skip();
        let number = self.text[self.at..].strip_prefix('%');
        number.is_some_and(|rest| !rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(':'))
    }

    /// The next word, without moving.
    pub fn peek_word(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())]
    }

    /// Letters, digits and `_ . - + : $`: names, numbers and operation names alike.
    pub fn word(&mut self) -> Result<&'a str, String> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(format!("expected a word, found `{}`", self.preview()));
        }
        self.at += word.len();
        Ok(word)
    }

    /// A name that a `:` follows.
    pub fn name(&mut self) -> Result<&'a str, String> {
        let word = self.peek_word();
        let name = &word[..word.find(':').unwrap_or(word.len())];
        if name.is_empty() {
            return Err(format!("expected a name, found `{}`", self.preview()));
        }
        self.at += name.len();
        Ok(name)
    }

    /// A text in quotes, as Rust writes it.
    pub fn quoted(&mut self) -> Result<String, String> {
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('t') => out.push('\t'),
                    Some('0') => out.push('\0'),
                    Some('u') => {
                        let digits: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        out.push(code.ok_or_else(|| format!("`{digits}` is no character"))?);
                    }
                    Some(other) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        Err("a text has no end".to_owned())
    }

    pub fn number(&mut self) -> Result<u32, String> {
        self.skip();
        let rest = &self.text[self.at..];
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        self.at += digits.len();
        digits.parse().map_err(|_| format!("expected a number, found `{}`", self.preview()))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | ':' | '$')
}
