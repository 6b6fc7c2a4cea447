//! The tokens of a file as the formatter needs them: with the comments between them, with operators of several `>`
//! joined, and with the partner of every bracket.

use crate::syntax::ast::Mode;
use crate::syntax::lexer::{Token, TokenKind};
use crate::syntax::parser_derivatives::{BUFFER, PAIR};
use crate::syntax::parser_expr::GENERIC;
use crate::syntax::parser_generics::generic_names;
use crate::types::Type;
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    Str,
    Punct,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    pub text: &'a str,
    /// The column in which it started.
    pub column: usize,
}

/// Comments that have a line to themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'a> {
    pub blank_before: bool,
    pub comments: Vec<Comment<'a>>,
}

/// What stands between a word and the one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Between<'a> {
    /// Comments that end the line of the word before.
    pub trailing: Vec<Comment<'a>>,
    pub rows: Vec<Row<'a>>,
    /// Comments on the word's own line, before it.
    pub inline: Vec<Comment<'a>>,
    /// An empty line stands right before the word, or before its inline comments.
    pub blank: bool,
    pub newline: bool,
    pub space: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    pub kind: Kind,
    pub before: Between<'a>,
    /// The line on which it starts.
    pub line: usize,
    /// An opening bracket's partner.
    pub close: Option<usize>,
    /// It is the `>` of a form in angle brackets.
    pub closes_generic: bool,
}

pub(super) struct Words<'a> {
    list: Vec<Word<'a>>,
    types: HashSet<&'a str>,
    /// The functions that the file declares with `<…>`.
    generics: HashSet<&'a str>,
}

/// Words between `<` and `>` of a generic function: more are no list of types.
const MAX_LIST: usize = 64;

impl<'a> Words<'a> {
    /// The words of a text that parses; `None` where brackets do not match.
    pub fn new(text: &'a str, tokens: &[Token]) -> Option<Words<'a>> {
        let mut list: Vec<Word<'a>> = Vec::with_capacity(tokens.len());
        let mut types = HashSet::new();
        let (mut at, mut line, mut next) = (0, 0, 0);
        let mut column = Column::default();
        let generics = generic_names(tokens.iter().map(|t| (t.kind, &text[t.span.range()])));
        let pairs = pair_closers(text, tokens, &generics);
        while next < tokens.len() {
            let count = if pairs.contains(&next) { 1 } else { joined(text, tokens, next) };
            let start = tokens[next].span.start as usize;
            let end = tokens[next + count - 1].span.end as usize;
            let gap = &text[at..start];
            line += gap.matches('\n').count();
            let kind = match tokens[next].kind {
                TokenKind::Name => Kind::Name,
                TokenKind::Str => Kind::Str,
                TokenKind::End => Kind::End,
                TokenKind::Punct(_) => Kind::Punct,
                _ => Kind::Number,
            };
            let behind = |n: usize, word: &str| list.iter().rev().nth(n).is_some_and(|w| w.text == word);
            if behind(0, "struct") || behind(0, "enum") || behind(1, "typedef") {
                types.insert(&text[start..end]);
            }
            list.push(Word {
                text: &text[start..end],
                kind,
                before: between(text, at, start, &mut column),
                line,
                close: None,
                closes_generic: false,
            });
            (at, next) = (end, next + count);
        }
        let mut words = Words { list, types, generics };
        words.pair_brackets().then_some(words)
    }

    /// How many there are, the one that stands for the end of the file not counted.
    pub fn len(&self) -> usize {
        self.list.len() - 1
    }

    pub fn get(&self, i: usize) -> &Word<'a> {
        &self.list[i.min(self.list.len() - 1)]
    }

    pub fn text(&self, i: usize) -> &'a str {
        self.get(i).text
    }

    pub fn kind(&self, i: usize) -> Kind {
        self.get(i).kind
    }

    pub fn is(&self, i: usize, text: &str) -> bool {
        self.text(i) == text
    }

    /// The first word behind this one or, if it opens a bracket, behind its partner.
    pub fn past(&self, i: usize) -> usize {
        self.get(i).close.unwrap_or(i) + 1
    }

    /// Whether two words, and all between them, stood on one line.
    pub fn on_one_line(&self, first: usize, last: usize) -> bool {
        self.get(first).line == self.get(last).line
    }

    pub fn is_type(&self, i: usize) -> bool {
        let text = self.text(i);
        self.kind(i) == Kind::Name && (Type::from_name(text).is_some() || self.types.contains(text))
    }

    /// Whether `name<argument>` opens its angle bracket here.
    pub fn opens_generic(&self, i: usize) -> bool {
        self.generic_close(i).is_some()
    }

    /// The `>` that belongs to the `<` of `name<argument>`, `DifferentialPair<type>` or `buffer<type>`.
    fn generic_close(&self, i: usize) -> Option<usize> {
        if i == 0 || !self.is(i, "<") {
            return None;
        }
        if GENERIC.contains(&self.text(i - 1)) {
            let closes = self.kind(i + 1) == Kind::Name && self.text(i + 2).starts_with('>');
            return closes.then_some(i + 2);
        }
        if !self.is(i - 1, PAIR) && !self.is(i - 1, BUFFER) {
            return self.list_close(i);
        }
        let mut open = 0usize;
        for at in i..self.len() {
            match self.text(at) {
                "<" => open += 1,
                ">" => open -= 1,
                ";" | "{" | "}" => return None,
                _ => {}
            }
            if open == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The `>` of a generic function's list, in its declaration or a call: `blend<T : IFloat>(`, `blend<float3>(`.
    ///
    /// As in the parser, a list with commas in a call could be two comparisons, unless the file declares the function.
    fn list_close(&self, i: usize) -> Option<usize> {
        let name = self.text(i - 1);
        if self.kind(i - 1) != Kind::Name {
            return None;
        }
        let is_declared = self.generics.contains(name);
        let is_derived = i > 2 && self.is(i - 2, "(") && Mode::from_word(self.text(i - 3)).is_some();
        let (mut open, mut commas, mut inside) = (0usize, false, 0usize);
        for at in i..(i + MAX_LIST).min(self.len()) {
            match self.text(at) {
                "(" | "[" => inside += 1,
                ")" | "]" if inside == 0 => return None,
                ")" | "]" => inside -= 1,
                "<" | ">" if inside > 0 => {}
                "<" => open += 1,
                ">" if open == 1 => {
                    let called = self.is(at + 1, "(") && (is_declared || !commas);
                    // A type, with what is declared behind it.
                    let is_type = self.kind(at + 1) == Kind::Name || is_declared && self.types.contains(name);
                    // Nothing else than the end of a list stands there: a comparison needs a value behind it.
                    let is_type = is_type || self.is(at + 1, ">") || self.is(at + 1, ",");
                    return (at > i + 1 && (called || is_derived || is_type)).then_some(at);
                }
                ">" => open -= 1,
                "," => commas = true,
                ":" | "." | "&" | "+" | "-" | "*" | "/" => {}
                _ if matches!(self.kind(at), Kind::Name | Kind::Number) => {}
                _ => return None,
            }
        }
        None
    }

    /// Whether the `:` at word `i` stands before interfaces: `T : IFloat`, `struct Sphere : IShape`.
    pub fn names_interfaces(&self, i: usize) -> bool {
        let before = ["<", ",", "let", "struct", "interface", "extension", "associatedtype"];
        // The word in front of which a list may stand: `struct Box<T : IFloat> : IShape`.
        let mut end = i;
        if i > 0 && self.get(i - 1).closes_generic {
            end = (0..i).rev().find(|at| self.get(*at).close == Some(i - 1)).unwrap_or(0);
        }
        end > 1
            && self.kind(end - 1) == Kind::Name
            && before.contains(&self.text(end - 2))
            && (end == i || self.is_head(end - 2))
    }

    fn is_head(&self, i: usize) -> bool {
        self.is(i, "struct") || self.is(i, "extension")
    }

    fn pair_brackets(&mut self) -> bool {
        let mut open: Vec<usize> = Vec::new();
        for i in 0..self.len() {
            let text = self.text(i);
            if self.kind(i) == Kind::Punct && matches!(text, "(" | "[" | "{" | "<<<") {
                open.push(i);
            } else if let Some(close) = self.generic_close(i) {
                self.list[i].close = Some(close);
                self.list[close].closes_generic = true;
            } else if self.kind(i) == Kind::Punct && matches!(text, ")" | "]" | "}" | ">>>") {
                let Some(start) = open.pop() else { return false };
                let wanted = match self.text(start) {
                    "(" => ")",
                    "[" => "]",
                    "{" => "}",
                    _ => ">>>",
                };
                if text != wanted {
                    return false;
                }
                self.list[start].close = Some(i);
            }
        }
        open.is_empty()
    }
}

/// The tokens `>` that end a `DifferentialPair<…>`, a `buffer<…>` or the list of something generic; two of them in a row
/// are no operator.
fn pair_closers(text: &str, tokens: &[Token], generics: &HashSet<&str>) -> HashSet<usize> {
    let slice = |i: usize| &text[tokens[i].span.range()];
    let (mut closers, mut open) = (HashSet::new(), 0usize);
    let is_listed = |i: usize| {
        slice(i - 1) == PAIR
            || slice(i - 1) == BUFFER
            || generics.contains(slice(i - 1))
            || is_nested_list(text, tokens, i)
    };
    for i in 1..tokens.len() {
        match slice(i) {
            "<" if open > 0 || is_listed(i) => open += 1,
            ">" if open > 0 => {
                closers.insert(i);
                open -= 1;
            }
            ";" | "{" | "}" => open = 0,
            _ => {}
        }
    }
    closers
}

/// Whether a `<` opens a list of types in lists, `Pair<Pair<float>>`, whose names other files declare: it ends in several `>`,
/// stands where a type may, and a name follows.
fn is_nested_list(text: &str, tokens: &[Token], at: usize) -> bool {
    let slice = |i: usize| tokens.get(i).map_or("", |t| &text[t.span.range()]);
    let starts = ["", ";", "{", "}", "(", ",", "const", "in", "out", "inout", "]"];
    if at > 1 && !starts.contains(&slice(at - 2)) || tokens[at - 1].kind != TokenKind::Name {
        return false;
    }
    let mut open = 0usize;
    for i in at..(at + MAX_LIST).min(tokens.len()) {
        match (slice(i), tokens[i].kind) {
            ("<", _) => open += 1,
            (">", _) => open -= 1,
            (",", _) | (_, TokenKind::Name | TokenKind::Int(_)) => {}
            _ => return false,
        }
        if open == 0 {
            return slice(i - 1) == ">" && tokens.get(i + 1).is_some_and(|t| t.kind == TokenKind::Name);
        }
    }
    false
}

/// Of how many tokens the word at `at` is made.
fn joined(text: &str, tokens: &[Token], at: usize) -> usize {
    let slice = |i: usize| tokens.get(i).map_or("", |t| &text[t.span.range()]);
    let touching = |i: usize| tokens.get(i).is_some_and(|t| t.span.start == tokens[i - 1].span.end);
    let is = |ahead: usize, wanted: &[&str]| wanted.contains(&slice(at + ahead)) && touching(at + ahead);
    // The `>` of `name<argument>` stands alone, whatever touches it.
    let closes_generic = at > 2 && slice(at - 2) == "<" && GENERIC.contains(&slice(at - 3));
    match slice(at) {
        "<<" if is(1, &["<"]) => 2,
        ":" if is(1, &[":"]) => 2,
        ">" if closes_generic => 1,
        ">" if is(1, &[">"]) => 2 + usize::from(is(2, &[">", "="])),
        ">" if is(1, &["="]) => 2,
        _ => 1,
    }
}

/// The column of a place that moves on through a text.
#[derive(Default)]
struct Column {
    at: usize,
    column: usize,
}

impl Column {
    /// In characters from the start of the line; a byte order mark counts as none.
    fn of(&mut self, text: &str, at: usize) -> usize {
        for c in text[self.at..at].chars() {
            self.column = match c {
                '\n' => 0,
                '\u{feff}' if self.column == 0 => 0,
                _ => self.column + 1,
            };
        }
        self.at = at;
        self.column
    }
}

/// The blanks and comments of `text[start..end]`, which stands between two tokens.
fn between<'a>(text: &'a str, start: usize, end: usize, place: &mut Column) -> Between<'a> {
    let mut found = Between { space: end > start, ..Between::default() };
    let mut row = Row::default();
    let (mut at, mut breaks) = (start, 0);
    // What stands on the line of the word before belongs to that word, if the line ends behind it.
    let mut first_line = start > 0;
    while at < end {
        let rest = &text[at..end];
        let length = match rest.strip_prefix("/*") {
            Some(inside) => inside.find("*/").map_or(rest.len(), |i| i + 4),
            None if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            None => 0,
        };
        if length > 0 {
            let column = place.of(text, at);
            row.blank_before |= row.comments.is_empty() && breaks > 1;
            row.comments.push(Comment { text: rest[..length].trim_end(), column });
            (at, breaks) = (at + length, 0);
            continue;
        }
        if rest.starts_with('\n') {
            breaks += 1;
            found.newline = true;
            let whole = std::mem::take(&mut row);
            if std::mem::take(&mut first_line) {
                found.trailing = whole.comments;
            } else if !whole.comments.is_empty() {
                found.rows.push(whole);
            }
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    if end == text.len() {
        // The end of the file ends a line.
        let whole = std::mem::take(&mut row);
        if first_line {
            found.trailing = whole.comments;
        } else if !whole.comments.is_empty() {
            found.rows.push(whole);
        }
    }
    found.blank = if row.comments.is_empty() { breaks > 1 } else { row.blank_before };
    found.inline = row.comments;
    found
}
