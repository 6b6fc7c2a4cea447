//! Puts words into a document, each comment beside the word it belongs to.
//!
//! A comment that ends a line still ends one, but lets a `,`, `;`, `)` or `]` that followed it go first.

use super::document::Op;
use super::words::{Comment, Kind, Words};

pub(super) struct Writer<'a, 'w> {
    pub words: &'w Words<'a>,
    pub ops: Vec<Op<'a>>,
    /// How many blocks were written.
    pub blocks: usize,
    /// Comments that end the line of the last word; written once the line ends.
    trailing: Vec<Comment<'a>>,
    /// The comments on lines of their own above the words before this one are written.
    rows_done: usize,
}

impl<'a, 'w> Writer<'a, 'w> {
    pub fn new(words: &'w Words<'a>) -> Writer<'a, 'w> {
        Writer { words, ops: Vec::new(), blocks: 0, trailing: Vec::new(), rows_done: 0 }
    }

    pub fn push(&mut self, op: Op<'a>) {
        self.ops.push(op);
    }

    pub fn space(&mut self) {
        self.push(Op::Space);
    }

    pub fn begin(&mut self) {
        self.push(Op::Begin { fill: false });
    }

    pub fn begin_filled(&mut self) {
        self.push(Op::Begin { fill: true });
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.push(Op::End);
    }

    pub fn indent(&mut self) {
        self.push(Op::Indent);
    }

    pub fn dedent(&mut self) {
        self.push(Op::Dedent);
    }

    /// A possible break before word `i`; taken in any case where comments ask for it. Gives the index of
    /// its operation.
    pub fn line_before(&mut self, i: usize, space: bool) -> usize {
        let has_rows = self.rows_done <= i && !self.words.get(i).before.rows.is_empty();
        if !self.trailing.is_empty() || has_rows {
            return self.hard_before(i, false);
        }
        self.push(Op::Line(space));
        self.ops.len() - 1
    }

    /// A break before word `i`, with the comments that stand above it. An empty line that was there stays if
    /// `blank` allows it.
    pub fn hard_before(&mut self, i: usize, blank: bool) -> usize {
        self.end_line();
        let before = &self.words.get(i).before;
        let has_rows = self.rows_done <= i && !before.rows.is_empty();
        if has_rows {
            self.rows(i, blank);
        }
        // Behind comments an empty line parts them from what follows.
        let may_part = blank || (has_rows && !matches!(self.words.text(i), "}" | ""));
        self.rows_done = i + 1;
        self.push(Op::Hard { blank: before.blank && may_part });
        self.ops.len() - 1
    }

    /// Ends an indented part and breaks the line, as asked for, before the bracket at word `i` that closes it.
    /// Comments above the bracket belong to the part.
    pub fn close_before(&mut self, i: usize, hard: bool, space: bool) -> usize {
        let has_comments =
            !self.trailing.is_empty() || self.rows_done <= i && !self.words.get(i).before.rows.is_empty();
        self.end_line();
        if self.rows_done <= i {
            self.rows(i, true);
        }
        self.dedent();
        self.push(if hard || has_comments { Op::Hard { blank: false } } else { Op::Line(space) });
        self.ops.len() - 1
    }

    /// The comments on lines of their own above word `i`.
    fn rows(&mut self, i: usize, blank: bool) {
        for (n, row) in self.words.get(i).before.rows.iter().enumerate() {
            // An empty line may part comments wherever it may part what they stand above.
            self.ops.push(Op::Hard { blank: row.blank_before && (blank || n > 0) });
            self.ops.extend(row.comments.iter().map(|c| Op::Comment(*c)));
        }
        self.rows_done = i + 1;
    }

    fn end_line(&mut self) {
        let mut ends_line = false;
        for comment in self.trailing.drain(..) {
            // Nothing stands behind a `//` comment, so what was put off goes below.
            if std::mem::replace(&mut ends_line, comment.text.starts_with("//")) {
                self.ops.push(Op::Hard { blank: false });
            }
            self.ops.push(Op::Comment(comment));
        }
    }

    /// Word `i`, with what must stand before it.
    pub fn word(&mut self, i: usize) {
        let word = self.words.get(i);
        let goes_first = word.kind == Kind::Punct && matches!(word.text, "," | ";" | ")" | "]");
        let has_rows = self.rows_done <= i && !word.before.rows.is_empty();
        if has_rows || (!self.trailing.is_empty() && !goes_first) {
            self.hard_before(i, false);
        }
        if self.trailing.is_empty() {
            self.inline_comments(i, goes_first);
        } else {
            // They stay in order.
            self.trailing.extend(&word.before.inline);
        }
        self.push(Op::Text(word.text));
        self.trailing.extend(&self.words.get(i + 1).before.trailing);
    }

    fn inline_comments(&mut self, i: usize, goes_first: bool) {
        let word = self.words.get(i);
        for comment in &word.before.inline {
            let last = self.ops.iter().rev().find(|op| !matches!(op, Op::Begin { .. } | Op::Indent | Op::Dedent));
            if !matches!(last, Some(Op::Text("(" | "[" | "{") | Op::Line(_) | Op::Space | Op::Hard { .. }) | None) {
                self.space();
            }
            self.push(Op::Inline(*comment));
            if !goes_first && !matches!(word.text, "." | ">>>") {
                self.space();
            }
        }
    }
}
