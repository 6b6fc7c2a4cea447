//! A document of words and possible line breaks, and the one pass that decides which breaks to take.
//!
//! After Oppen (Prettyprinting, 1980): a group stays on its line if it fits there with everything that follows up to
//! the next possible break. Sums made beforehand answer every question, so the time is linear.

use super::words::Comment;

/// The widest line, unless a single word or comment is wider.
pub(super) const WIDTH: usize = 100;
const INDENT: usize = 4;
/// Further in than this nothing moves, so that deep nesting does not become a file of blanks.
const MAX_INDENT: usize = 60;

#[derive(Clone, Copy, Debug)]
pub(super) enum Op<'a> {
    Text(&'a str),
    /// A comment among words. If it has several lines, its group is broken.
    Inline(Comment<'a>),
    /// A comment that ends its line. It may be as long as it likes.
    Comment(Comment<'a>),
    Space,
    /// A line break, or a space (`true`), or nothing.
    Line(bool),
    Hard {
        blank: bool,
    },
    /// In a filled group each line break is taken only where it is needed; otherwise all or none are.
    Begin {
        fill: bool,
    },
    End,
    Indent,
    Dedent,
}

/// Wider than any line.
const ENDLESS: u64 = 1 << 32;

fn width(op: &Op<'_>) -> u64 {
    match op {
        Op::Text(text) => text.chars().count() as u64,
        Op::Inline(c) if c.text.contains('\n') => ENDLESS,
        Op::Inline(c) => c.text.chars().count() as u64,
        Op::Space | Op::Line(true) => 1,
        Op::Hard { .. } => ENDLESS,
        _ => 0,
    }
}

/// The text of a document, ended by a line break unless it is empty.
pub(super) fn print(ops: &[Op<'_>]) -> String {
    let mut printer = Printer {
        before: Vec::with_capacity(ops.len() + 1),
        next_break: vec![ops.len(); ops.len() + 1],
        end: vec![ops.len(); ops.len()],
        groups: vec![Group { flat: false, fill: false }],
        out: String::new(),
        column: 0,
        indent: 0,
        space: false,
    };
    printer.measure(ops);
    (0..ops.len()).for_each(|i| printer.op(ops, i));
    let length = printer.out.trim_end().len();
    printer.out.truncate(length);
    if length > 0 {
        printer.out.push('\n');
    }
    printer.out
}

#[derive(Clone, Copy)]
struct Group {
    flat: bool,
    fill: bool,
}

struct Printer {
    /// The width of everything before an operation, were it all on one line.
    before: Vec<u64>,
    /// The first break at or behind an operation.
    next_break: Vec<usize>,
    /// Where the group that an operation begins ends.
    end: Vec<usize>,
    groups: Vec<Group>,
    out: String,
    column: usize,
    indent: usize,
    /// A space is due before the next word on this line.
    space: bool,
}

impl Printer {
    fn measure(&mut self, ops: &[Op<'_>]) {
        let mut sum = 0;
        let mut open = Vec::new();
        for (i, op) in ops.iter().enumerate() {
            self.before.push(sum);
            sum += width(op);
            match op {
                Op::Begin { .. } => open.push(i),
                Op::End => {
                    if let Some(begin) = open.pop() {
                        self.end[begin] = i;
                    }
                }
                _ => {}
            }
        }
        self.before.push(sum);
        for i in (0..ops.len()).rev() {
            let is_break = matches!(ops[i], Op::Line(_) | Op::Hard { .. });
            self.next_break[i] = if is_break { i } else { self.next_break[i + 1] };
        }
    }

    /// Whether the operations from one to another, and the words behind them up to a possible break, fit.
    fn fits(&self, from: usize, to: usize) -> bool {
        let stop = self.next_break[to.min(self.end.len())];
        let width = self.before[stop] - self.before[from];
        let column = if self.column == 0 { self.margin() } else { self.column + usize::from(self.space) };
        self.before[to] - self.before[from] < ENDLESS && column as u64 + width <= WIDTH as u64
    }

    fn op(&mut self, ops: &[Op<'_>], i: usize) {
        let group = self.groups[self.groups.len() - 1];
        match ops[i] {
            Op::Text(text) => self.text(text),
            Op::Inline(comment) => self.comment(comment),
            Op::Comment(comment) => {
                self.space = self.column > 0;
                self.comment(comment);
            }
            Op::Space => self.space = true,
            Op::Hard { blank } => self.newline(blank),
            Op::Line(space) => {
                let unit = match ops.get(i + 1) {
                    Some(Op::Begin { .. }) => self.end[i + 1],
                    _ => self.next_break[i + 1],
                };
                let stays = group.flat || group.fill && self.fits(i, unit);
                if stays { self.space |= space } else { self.newline(false) }
            }
            Op::Begin { fill } => {
                let flat = group.flat || self.fits(i, self.end[i]);
                self.groups.push(Group { flat, fill });
            }
            Op::End => {
                if self.groups.len() > 1 {
                    self.groups.pop();
                }
            }
            Op::Indent => self.indent += INDENT,
            Op::Dedent => self.indent = self.indent.saturating_sub(INDENT),
        }
    }

    fn margin(&self) -> usize {
        self.indent.min(MAX_INDENT)
    }

    fn newline(&mut self, blank: bool) {
        self.space = false;
        if self.out.is_empty() {
            return;
        }
        self.out.push_str(if blank { "\n\n" } else { "\n" });
        self.column = 0;
    }

    fn start_word(&mut self) {
        if self.column == 0 {
            self.column = self.margin();
            self.out.extend(std::iter::repeat_n(' ', self.column));
        } else if self.space {
            self.out.push(' ');
            self.column += 1;
        }
        self.space = false;
    }

    fn text(&mut self, text: &str) {
        self.start_word();
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// A comment of several lines keeps its shape: all its lines move as far as the first one does.
    fn comment(&mut self, comment: Comment<'_>) {
        self.start_word();
        let column = self.column;
        for (i, line) in comment.text.split('\n').enumerate() {
            let line = line.trim_end();
            if i > 0 {
                self.out.push('\n');
                let inside = line.trim_start_matches([' ', '\t']);
                let blanks = &line[..line.len() - inside.len()];
                let indent: usize = blanks.chars().map(|c| if c == '\t' { INDENT } else { 1 }).sum();
                let moved = if inside.is_empty() { 0 } else { (indent + column).saturating_sub(comment.column) };
                self.out.extend(std::iter::repeat_n(' ', moved));
                self.out.push_str(inside);
                self.column = moved + inside.chars().count();
            } else {
                self.out.push_str(line);
                self.column += line.chars().count();
            }
        }
    }
}
