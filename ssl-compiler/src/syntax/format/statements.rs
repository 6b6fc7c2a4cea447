//! Lays out statements and declarations at file level, by their first word: a head, a body, and the rest.
//!
//! Bodies at file level open on a line of their own, others behind their head. A body that the author wrote on one line
//! stays there if it fits and contains no block.

use super::document::Op;
use super::words::Kind;
use super::writer::Writer;

/// Line breaks that are taken together.
#[derive(Default)]
struct Breaks {
    ops: Vec<usize>,
    /// A block stands in a block, so they are taken.
    nested: bool,
}

impl Writer<'_, '_> {
    /// The whole file.
    pub fn file(&mut self) {
        let end = self.words.len();
        let mut i = 0;
        while i < end {
            self.hard_before(i, i > 0);
            i = self.statement(i, end, true);
        }
        self.hard_before(end, end > 0);
    }

    /// The statement that starts at word `i`; gives the word behind it.
    fn statement(&mut self, i: usize, end: usize, at_file_level: bool) -> usize {
        let i = self.attributes(i, end, at_file_level);
        let has_head = self.words.is(i + 1, "(") && self.words.kind(i) == Kind::Name;
        let mut breaks = Breaks::default();
        self.begin();
        let next = match self.words.text(i) {
            "{" if self.words.kind(i) == Kind::Punct => self.block(i, &mut breaks),
            "if" if has_head => self.branches(i, end, &mut breaks),
            "for" | "while" | "switch" if has_head => self.headed(i, end, &mut breaks).1,
            "do" if self.words.kind(i) == Kind::Name => self.do_loop(i, end, &mut breaks),
            _ => self.plain(i, end, at_file_level, &mut breaks),
        };
        self.end();
        if breaks.nested || !self.words.on_one_line(i, next - 1) {
            self.harden(&breaks);
        }
        next
    }

    /// `[Name(…)]` before a function or a loop: on a line of its own at file level, elsewhere where the author wrote so.
    /// Gives the first word behind.
    fn attributes(&mut self, mut i: usize, end: usize, at_file_level: bool) -> usize {
        while self.words.is(i, "[") && self.words.past(i) < end {
            let next = self.words.past(i);
            self.word(i);
            self.expression(i + 1, next - 1);
            self.word(next - 1);
            if at_file_level || self.words.get(next).before.newline {
                self.hard_before(next, false);
            } else {
                self.space();
            }
            i = next;
        }
        i
    }

    /// A declaration, an expression, a function, a struct: up to its `;`, or the end of its body.
    fn plain(&mut self, i: usize, end: usize, at_file_level: bool, breaks: &mut Breaks) -> usize {
        let mut at = i;
        while at < end
            && !self.words.is(at, ";")
            && !(self.words.is(at, "{") && self.opens_block(at) && !self.opens_integrand(at))
        {
            at = self.words.past(at);
        }
        self.expression(i, at.min(end));
        if at >= end {
            return end;
        }
        if self.words.is(at, ";") {
            self.word(at);
            return at + 1;
        }
        if at_file_level && !self.is_empty_block(at) {
            breaks.ops.push(self.line_before(at, true));
        } else {
            self.space();
        }
        let next = self.block(at, breaks);
        if next < end && self.words.is(next, ";") {
            self.word(next);
            return next + 1;
        }
        next
    }

    /// Whether a `{` opens a block and no list.
    fn opens_block(&self, i: usize) -> bool {
        let before = i.saturating_sub(1);
        match self.words.kind(before) {
            Kind::Name => self.words.text(before) != "return",
            Kind::Punct => matches!(self.words.text(before), ")" | "]" | ">>>" | ">"),
            _ => true,
        }
    }

    /// Whether a `{` stands behind `integral(…)`.
    pub(super) fn opens_integrand(&self, i: usize) -> bool {
        let opens = |open: &usize| self.words.get(*open).close == Some(i - 1);
        // Only behind a parenthesis is there a partner to look for, or each block would be sought through the whole file.
        i > 0
            && self.words.is(i - 1, ")")
            && (1..i).rev().find(opens).is_some_and(|open| self.words.is(open - 1, "integral"))
    }

    /// The block of an integral, inside an expression.
    pub(super) fn integrand(&mut self, i: usize) {
        let mut breaks = Breaks::default();
        self.begin();
        let next = self.block(i, &mut breaks);
        self.end();
        if breaks.nested || !self.words.on_one_line(i, next - 1) {
            self.harden(&breaks);
        }
    }

    fn is_empty_block(&self, open: usize) -> bool {
        let before = &self.words.get(open + 1).before;
        self.words.past(open) == open + 2
            && before.rows.is_empty()
            && before.trailing.is_empty()
            && before.inline.is_empty()
    }

    /// The block that opens at word `i`; gives the word behind it.
    fn block(&mut self, i: usize, breaks: &mut Breaks) -> usize {
        let close = self.words.past(i) - 1;
        self.blocks += 1;
        let blocks = self.blocks;
        self.word(i);
        if self.is_empty_block(i) {
            self.word(close);
            return close + 1;
        }
        self.indent();
        let mut at = i + 1;
        while at < close {
            if self.label_end(at, close).is_some() {
                breaks.nested = true;
                self.hard_before(at, at > i + 1);
                at = self.labelled(at, close);
                continue;
            }
            breaks.ops.push(self.between_statements(at, at > i + 1));
            at = self.statement(at, close, false);
        }
        breaks.nested |= self.blocks > blocks;
        breaks.ops.push(self.close_before(close, false, true));
        self.word(close);
        close + 1
    }

    /// A break before a statement: hard where comments or an empty line stand.
    fn between_statements(&mut self, i: usize, blank: bool) -> usize {
        let before = &self.words.get(i).before;
        if before.newline { self.hard_before(i, blank) } else { self.line_before(i, true) }
    }

    /// The `:` of the `case` or `default` at word `i`.
    fn label_end(&self, i: usize, end: usize) -> Option<usize> {
        if self.words.kind(i) != Kind::Name || !matches!(self.words.text(i), "case" | "default") {
            return None;
        }
        let (mut at, mut choices) = (i + 1, 0usize);
        while at < end {
            match self.words.text(at) {
                ":" if choices == 0 => return Some(at),
                ":" => choices -= 1,
                "?" => choices += 1,
                ";" | "{" => return None,
                _ => {}
            }
            at = self.words.past(at);
        }
        None
    }

    /// A label and the statements up to the next one or the end of the block.
    fn labelled(&mut self, i: usize, end: usize) -> usize {
        let colon = self.label_end(i, end).unwrap_or(i);
        self.begin();
        self.expression(i, colon);
        self.word(colon);
        let mut at = colon + 1;
        if at < end && self.words.is(at, "{") && !self.words.get(at).before.newline {
            self.space();
            at = self.statement(at, end, false);
        }
        self.indent();
        let mut breaks = Breaks::default();
        let blocks = self.blocks;
        while at < end && self.label_end(at, end).is_none() {
            breaks.ops.push(self.between_statements(at, at > colon + 1));
            at = self.statement(at, end, false);
        }
        self.dedent();
        self.end();
        if self.blocks > blocks || !self.words.on_one_line(i, at - 1) {
            self.harden(&breaks);
        }
        at
    }

    fn harden(&mut self, breaks: &Breaks) {
        for &at in &breaks.ops {
            if let Op::Line(_) = self.ops[at] {
                self.ops[at] = Op::Hard { blank: false };
            }
        }
    }

    /// `for`, `while`, `switch` or `if`, with its body; gives the body's first word and the word behind it.
    fn headed(&mut self, i: usize, end: usize, breaks: &mut Breaks) -> (usize, usize) {
        let body = self.words.past(i + 1);
        // A statement stays behind a head that takes one line only.
        let is_group = !self.words.is(body, "{");
        if is_group {
            self.begin();
        }
        self.head(i);
        let next = self.body(body, end, breaks);
        if is_group {
            self.end();
        }
        (body, next)
    }

    /// A keyword with its parentheses; gives the word behind them.
    fn head(&mut self, i: usize) -> usize {
        let close = self.words.past(i + 1) - 1;
        self.word(i);
        self.space();
        self.begin();
        self.word(i + 1);
        self.indent();
        let (mut start, mut at) = (i + 2, i + 2);
        while at < close {
            if self.words.is(at, ";") {
                self.expression(start, at);
                self.word(at);
                self.line_before(at + 1, !matches!(self.words.text(at + 1), ";" | ")"));
                start = at + 1;
            }
            at = self.words.past(at);
        }
        self.expression(start, close);
        self.dedent();
        self.word(close);
        self.end();
        close + 1
    }

    /// What a head rules over, from word `i` on: a block behind it, or a statement behind or below it.
    fn body(&mut self, i: usize, end: usize, breaks: &mut Breaks) -> usize {
        if self.words.is(i, ";") {
            self.word(i);
            return i + 1;
        }
        if self.words.is(i, "{") {
            self.space();
            return self.block(i, breaks);
        }
        if i >= end {
            return end;
        }
        self.indent();
        if self.words.get(i).before.newline {
            self.hard_before(i, false);
        } else {
            self.line_before(i, true);
        }
        let next = self.statement(i, end, false);
        self.dedent();
        next
    }

    /// A body that breaks off its keyword only where it must.
    fn grouped_body(&mut self, i: usize, end: usize, breaks: &mut Breaks) -> usize {
        if self.words.is(i, "{") {
            return self.body(i, end, breaks);
        }
        self.begin();
        let next = self.body(i, end, breaks);
        self.end();
        next
    }

    /// `if` with all its `else if` and `else`.
    fn branches(&mut self, mut i: usize, end: usize, breaks: &mut Breaks) -> usize {
        loop {
            let (body, mut next) = self.headed(i, end, breaks);
            if next >= end || !self.words.is(next, "else") {
                return next;
            }
            if self.words.is(body, "{") {
                self.space();
            } else {
                breaks.ops.push(self.line_before(next, true));
            }
            self.word(next);
            next += 1;
            if !(self.words.is(next, "if") && self.words.is(next + 1, "(")) {
                return self.grouped_body(next, end, breaks);
            }
            self.space();
            i = next;
        }
    }

    /// `do … while (…);`
    fn do_loop(&mut self, i: usize, end: usize, breaks: &mut Breaks) -> usize {
        self.word(i);
        let mut next = self.grouped_body(i + 1, end, breaks);
        if next < end && self.words.is(next, "while") && self.words.is(next + 1, "(") {
            if self.words.is(i + 1, "{") {
                self.space();
            } else {
                breaks.ops.push(self.line_before(next, true));
            }
            next = self.head(next);
            if next < end && self.words.is(next, ";") {
                self.word(next);
                next += 1;
            }
        }
        next
    }
}
