//! The text that a group becomes. It remembers which place of the graph each part comes from, and its names never
//! clash.

use super::group::Place;
use crate::source::Span;
use crate::syntax::is_reserved;
use std::collections::HashSet;
use std::ops::Range;

/// Text with the places of the graph that its parts come from.
#[derive(Debug, Default)]
pub struct Text {
    pub text: String,
    pieces: Vec<(Range<usize>, Span)>,
}

impl Text {
    pub fn of(text: String) -> Text {
        Text { text, pieces: Vec::new() }
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends what `write` writes, as coming from a place.
    pub fn piece(&mut self, at: Place, write: impl FnOnce(&mut Text)) {
        let start = self.text.len();
        write(self);
        self.pieces.extend(at.map(|span| (start..self.text.len(), span)));
    }

    pub fn append(&mut self, other: Text) {
        let offset = self.text.len();
        self.text.push_str(&other.text);
        let moved = other.pieces.into_iter().map(|(r, span)| (r.start + offset..r.end + offset, span));
        self.pieces.extend(moved);
    }

    /// The pieces, for looking places up.
    pub fn into_parts(self) -> (String, Pieces) {
        (self.text, Pieces(self.pieces))
    }
}

/// Which part of a text comes from where.
#[derive(Clone, Debug, Default)]
pub struct Pieces(Vec<(Range<usize>, Span)>);

impl Pieces {
    /// Where the smallest piece around a range of the text comes from.
    pub fn origin(&self, range: Range<usize>) -> Place {
        let around = self.0.iter().filter(|(r, _)| r.start <= range.start && range.end <= r.end);
        around.min_by_key(|(r, _)| r.len()).map(|(_, span)| *span)
    }
}

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub struct Names(HashSet<String>);

impl Names {
    pub fn take(&mut self, name: &str) {
        self.0.insert(name.to_owned());
    }

    /// A name like the one wanted that nothing else has, and that the language accepts.
    pub fn unique(&mut self, wanted: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        // What begins with `_` would stay in its file.
        let mut base: String = wanted.chars().map(letter).collect::<String>().trim_start_matches('_').to_owned();
        if !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            base.insert_str(0, "unit_");
        }
        let free = |name: &str| !self.0.contains(name) && !is_reserved(name) && !is_builtin(name);
        let mut name = base.clone();
        let mut number = 2;
        while !free(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.0.insert(name.clone());
        name
    }
}

fn is_builtin(name: &str) -> bool {
    crate::builtins::overloads(name).next().is_some()
}

/// Whether a name may stand in the linked text as it is: that of a shader or of its parameter.
pub fn is_name(text: &str) -> bool {
    is_word(text) && !is_reserved(text)
}

/// Whether connections can name it. In the linked text it may be called otherwise.
pub fn is_word(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn names_never_clash() {
        let mut names = Names::default();
        names.take("noise");
        assert_eq!(names.unique("noise"), "noise_2");
        assert_eq!(names.unique("noise"), "noise_3");
        assert_eq!(names.unique("normal"), "normal_2");
        assert_eq!(names.unique("sin"), "sin_2");
        assert_eq!(names.unique("2-tone"), "unit_2_tone");
    }

    #[test]
    fn the_smallest_piece_around_is_found() {
        let span = |n| Span::new(FileId(0), n..n + 1);
        let mut text = Text::default();
        text.push("ab");
        text.piece(Some(span(1)), |t| {
            t.push("cd");
            t.piece(Some(span(2)), |t| t.push("ef"));
        });
        let mut outer = Text::default();
        outer.push("xx");
        outer.append(text);
        let (text, pieces) = outer.into_parts();
        assert_eq!(text, "xxabcdef");
        assert_eq!(pieces.origin(2..3), None);
        assert_eq!(pieces.origin(4..5), Some(span(1)));
        assert_eq!(pieces.origin(6..8), Some(span(2)));
        assert_eq!(pieces.origin(5..8), Some(span(1)));
    }
}
