//! Lays out text between brackets and semicolons: expressions, parameters, declarators, lists.
//!
//! It splits a range of words at its loosest operators first. A range without operators is a sequence of words, whose
//! spaces follow from its neighbours. Unknown words keep the spaces that they had.

use super::words::Kind;
use super::writer::Writer;

/// How loosely an operator binds. A binary operator has C's precedence, 10 the tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Comma,
    Assignment,
    Choice,
    Binary(u8),
}

fn level(operator: &str) -> Option<Level> {
    Some(match operator {
        "," => Level::Comma,
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => Level::Assignment,
        "?" => Level::Choice,
        "||" => Level::Binary(1),
        "&&" => Level::Binary(2),
        "|" => Level::Binary(3),
        "^" => Level::Binary(4),
        "&" => Level::Binary(5),
        "==" | "!=" => Level::Binary(6),
        "<" | "<=" | ">" | ">=" => Level::Binary(7),
        "<<" | ">>" => Level::Binary(8),
        "+" | "-" => Level::Binary(9),
        "*" | "/" | "%" => Level::Binary(10),
        _ => return None,
    })
}

/// Words that a value stands behind.
fn takes_value(word: &str) -> bool {
    matches!(word, "return" | "case" | "else" | "do" | "in" | "out" | "inout" | "const" | "no_diff")
}

impl Writer<'_, '_> {
    /// Words `from..to`, which stand at one level of brackets.
    pub fn expression(&mut self, from: usize, to: usize) {
        match self.operators(from, to).into_iter().map(|(_, level)| level).min() {
            None => self.sequence(from, to),
            Some(Level::Comma) => self.commas(from, to),
            Some(Level::Assignment) => self.assignment(from, to),
            Some(Level::Choice) => self.choice(from, to),
            Some(binary) => self.chain(from, to, binary),
        }
    }

    /// The operators among some words, those within brackets and between `?` and `:` left out.
    fn operators(&self, from: usize, to: usize) -> Vec<(usize, Level)> {
        let (mut found, mut i, mut choices) = (Vec::new(), from, 0usize);
        while i < to {
            let is_first = i == from;
            if self.words.get(i).close.is_none() && self.words.kind(i) == Kind::Punct {
                let level = level(self.words.text(i)).filter(|_| !is_first && !self.is_prefix(from, i));
                choices -= usize::from(choices > 0 && self.words.is(i, ":"));
                if choices == 0 {
                    found.extend(level.map(|level| (i, level)));
                }
                choices += usize::from(level == Some(Level::Choice));
            }
            i = self.words.past(i);
        }
        found
    }

    /// Whether word `i` of those from `from` on is an operator before its operand.
    fn is_prefix(&self, from: usize, i: usize) -> bool {
        match self.words.text(i) {
            "!" | "~" => true,
            "-" | "+" | "--" | "++" => i == from || !self.ends_value(from, i - 1),
            _ => false,
        }
    }

    /// Whether word `i` ends a value that an operator may follow.
    fn ends_value(&self, from: usize, i: usize) -> bool {
        match (self.words.kind(i), self.words.text(i)) {
            (Kind::Name, word) => !takes_value(word),
            (Kind::Number | Kind::Str, _) => true,
            (_, ")") => !(i >= from + 2 && self.is_cast(from, i - 2)),
            (_, "]" | "}" | ">>>") => true,
            (_, ">") => self.words.get(i).closes_generic,
            (_, "++" | "--") => !self.is_prefix(from, i),
            _ => false,
        }
    }

    /// `(type)` at word `i`.
    fn is_cast(&self, from: usize, i: usize) -> bool {
        let called = i > from && self.ends_value(from, i - 1) && self.words.kind(i - 1) != Kind::Number;
        self.words.is(i, "(") && self.words.is(i + 2, ")") && self.words.is_type(i + 1) && !called
    }

    /// Several declarators, or values of a comma operator: as many on a line as there is room for.
    fn commas(&mut self, from: usize, to: usize) {
        self.begin_filled();
        let items = self.items(from, to);
        for (n, &(start, end)) in items.iter().enumerate() {
            if n == 1 {
                self.indent();
            }
            if n > 0 {
                self.line_before(start, true);
            }
            self.begin();
            self.expression(start, end);
            if end < to {
                self.word(end);
            }
            self.end();
        }
        if items.len() > 1 {
            self.dedent();
        }
        self.end();
    }

    /// The ranges between the commas of `from..to`. Nothing is left behind a comma at the end.
    fn items(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let (mut list, mut start, mut i) = (Vec::new(), from, from);
        let mut choices = 0usize;
        while i < to {
            match self.words.text(i) {
                "?" => choices += 1,
                ":" => choices = choices.saturating_sub(1),
                "," | ";" if choices == 0 => {
                    list.push((start, i));
                    start = i + 1;
                }
                _ => {}
            }
            i = self.words.past(i);
        }
        if start < to {
            list.push((start, to));
        }
        list
    }

    fn assignment(&mut self, from: usize, to: usize) {
        let first = self.operators(from, to).into_iter().find(|(_, level)| *level == Level::Assignment);
        let Some((operator, _)) = first else { return self.sequence(from, to) };
        self.expression(from, operator);
        self.space();
        self.word(operator);
        self.space();
        self.expression(operator + 1, to);
    }

    /// Operators of one precedence: on one line, or each at the start of a line of its own.
    fn chain(&mut self, from: usize, to: usize, wanted: Level) {
        let operators = self.operators(from, to).into_iter().filter(|(_, level)| *level == wanted);
        let mut start = from;
        self.begin();
        for (operator, _) in operators {
            self.expression(start, operator);
            if start == from {
                self.indent();
            }
            self.line_before(operator, true);
            self.word(operator);
            self.space();
            start = operator + 1;
        }
        self.expression(start, to);
        self.dedent();
        self.end();
    }

    /// `a ? b : c`, or a whole ladder `a ? b : c ? d : e`, each rung on a line.
    fn choice(&mut self, from: usize, to: usize) {
        let (rungs, last) = self.rungs(from, to);
        if rungs.is_empty() {
            return self.sequence(from, to);
        }
        let is_ladder = rungs.len() > 1;
        self.begin();
        for (n, &(start, question, colon)) in rungs.iter().enumerate() {
            if is_ladder {
                self.begin();
            }
            self.expression(start, question);
            if n == 0 || is_ladder {
                self.indent();
            }
            self.line_before(question, true);
            self.word(question);
            self.space();
            self.expression(question + 1, colon);
            if is_ladder {
                self.end();
                self.dedent();
                if n == 0 {
                    self.indent();
                }
            }
            self.line_before(colon, true);
            self.word(colon);
            self.space();
        }
        self.expression(last, to);
        self.dedent();
        self.end();
    }

    /// Where each rung of a ladder starts, its `?` and its `:`; and where the value behind the last one starts.
    fn rungs(&self, from: usize, to: usize) -> (Vec<(usize, usize, usize)>, usize) {
        let (mut rungs, mut start, mut question, mut open, mut i) = (Vec::new(), from, from, 0usize, from);
        while i < to {
            match self.words.text(i) {
                "?" => {
                    question = if open == 0 { i } else { question };
                    open += 1;
                }
                ":" if open > 0 => {
                    open -= 1;
                    if open == 0 {
                        rungs.push((start, question, i));
                        start = i + 1;
                    }
                }
                _ => {}
            }
            i = self.words.past(i);
        }
        (rungs, start)
    }

    /// Words without operators between them.
    fn sequence(&mut self, from: usize, to: usize) {
        let mut i = from;
        while i < to {
            if i > from && self.spaced(from, i) {
                self.space();
            }
            if self.words.get(i).close.is_some() {
                self.brackets(from, i)
            } else {
                self.word(i)
            }
            i = self.words.past(i);
        }
    }

    /// Whether a space stands between word `i` and the one before it.
    fn spaced(&self, from: usize, i: usize) -> bool {
        let (before, this) = (self.words.text(i - 1), self.words.text(i));
        let (before_kind, this_kind) = (self.words.kind(i - 1), self.words.kind(i));
        if this == ":" && self.words.names_interfaces(i) {
            return true;
        }
        if this == "." {
            return before_kind == Kind::Number;
        }
        if this == "[" && before == "in" {
            return true;
        }
        if before == "." || before == "::" || this == "::" || matches!(this, "[" | "," | ";" | ":") {
            return false;
        }
        if self.words.opens_generic(i) {
            return false;
        }
        if before_kind == Kind::Punct && self.is_prefix(from, i - 1) {
            // `- -x` must not become `--x`.
            return this_kind == Kind::Punct && before.ends_with(|c| this.starts_with(c));
        }
        if matches!(this, "++" | "--") {
            return !self.ends_value(from, i - 1);
        }
        if before == ")" && i >= from + 3 && self.is_cast(from, i - 3) {
            return false;
        }
        if this == "(" {
            return !(self.ends_value(from, i - 1) && before_kind != Kind::Number);
        }
        let is_known = |i: usize| {
            let text = self.words.text(i);
            self.words.kind(i) != Kind::Punct
                || self.words.get(i).close.is_some()
                || level(text).is_some()
                || matches!(text, ")" | "]" | "}" | ">>>" | ":" | "!" | "~" | "++" | "--" | "<<<")
        };
        is_known(i - 1) && is_known(i) || self.words.get(i).before.space
    }

    /// The bracket at word `i`, what is inside, and its partner.
    fn brackets(&mut self, from: usize, i: usize) {
        let close = self.words.past(i) - 1;
        match self.words.text(i) {
            "{" if self.opens_integrand(i) => self.integrand(i),
            "{" => self.list(i, close),
            "<<<" => self.arguments(i, close, true),
            "(" if (i > from && self.ends_value(from, i - 1)) || self.has_comma(i + 1, close) => {
                self.arguments(i, close, false);
            }
            _ => {
                self.word(i);
                self.expression(i + 1, close);
                self.word(close);
            }
        }
    }

    fn has_comma(&self, from: usize, to: usize) -> bool {
        self.items(from, to).len() > 1
    }

    /// Arguments or parameters: on one line, or each on its own.
    fn arguments(&mut self, open: usize, close: usize, airy: bool) {
        self.begin();
        self.word(open);
        self.indent();
        for (start, end) in self.items(open + 1, close) {
            self.line_before(start, airy || start > open + 1);
            self.expression(start, end);
            if end < close {
                self.word(end);
            }
        }
        self.dedent();
        if airy {
            self.line_before(close, true);
        }
        self.word(close);
        self.end();
    }

    /// `{…}`: on one line; or, where the author began a line behind the `{`, in the author's lines; or as
    /// many short values on a line as there is room for; or each on its own.
    fn list(&mut self, open: usize, close: usize) {
        let items = self.items(open + 1, close);
        let has_rows = self.words.get(open + 1).before.newline && close > open + 1;
        let is_filled = has_rows || items.iter().all(|(start, end)| end - start <= 2);
        self.begin();
        self.word(open);
        self.indent();
        for (n, &(start, end)) in items.iter().enumerate() {
            if has_rows && self.words.get(start).before.newline {
                self.hard_before(start, false);
            } else {
                self.line_before(start, n > 0);
            }
            if n == 0 && is_filled {
                self.begin_filled();
            }
            self.begin();
            self.expression(start, end);
            if end < close {
                self.word(end);
            }
            self.end();
        }
        if is_filled && !items.is_empty() {
            self.end();
        }
        self.close_before(close, has_rows, false);
        self.word(close);
        self.end();
    }
}
