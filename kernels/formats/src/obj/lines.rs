//! What each line of an OBJ file says by itself (Wavefront, "Advanced Visualizer Manual", appendix B). Lines know nothing of each
//! other here, so pieces of a text are parsed side by side.

use super::faults::line_ends;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::io::{self, BufRead};
use std::ops::Range;

/// Bytes of a piece, but for the rest of its last line, and pieces of a round.
const PIECE: usize = 1 << 17;
const ROUND: usize = 8;

/// Some lines of a text, parsed.
#[derive(Default)]
pub struct Lines {
    text: Vec<u8>,
    pub statements: Vec<Statement>,
    /// Of the faces, in their order.
    pub corners: Vec<Corner>,
    /// How many lines of an editor they are.
    pub ends: usize,
}

/// What a line says. Words that are no numbers are ranges of the text.
pub enum Statement {
    /// With a color, if it has one.
    Position(Vec3, Option<Vec3>),
    Coordinates(Vec2),
    Normal(Vec3),
    /// Of so many corners, in the line that begins there.
    Face(usize, usize),
    /// Behind `s`.
    Smooth(Range<usize>),
    /// Behind `o` or `g`, `usemtl`, and `mtllib`.
    Object(Range<usize>),
    Material(Range<usize>),
    Library(Range<usize>),
    /// A line that is not well formed, where it begins.
    Unsound(usize),
}

/// A corner of a face, as `3`, `3/1`, `3//2` or `3/1/2`. Numbers count from 1, or from the end where they are negative; 0 where
/// there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    pub position: i64,
    pub coordinates: i64,
    pub normal: i64,
}

impl Lines {
    /// The next lines of a text, in several pieces; none at its end.
    pub fn read(reader: &mut (impl BufRead + ?Sized)) -> io::Result<Vec<Lines>> {
        let mut pieces = Vec::new();
        for _ in 0..ROUND {
            let text = piece(reader)?;
            if text.is_empty() {
                break;
            }
            pieces.push(Lines { text, ..Lines::default() });
        }
        pieces.par_iter_mut().for_each(Lines::parse);
        Ok(pieces)
    }

    pub fn words(&self, range: &Range<usize>) -> &[u8] {
        &self.text[range.clone()]
    }

    /// That which begins at a place.
    pub fn line(&self, first: usize) -> &[u8] {
        let rest = &self.text[first..];
        rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii()
    }

    /// The number of the line that begins at a place, from 1, among these.
    pub fn number(&self, first: usize) -> usize {
        line_ends(&self.text[..first]) + 1
    }

    fn parse(&mut self) {
        let Lines { text, statements, corners, ends } = self;
        *ends = line_ends(text);
        let mut begin = 0;
        while begin < text.len() {
            let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |length| begin + length);
            let (line, before) = (text[begin..end].trim_ascii_start(), corners.len());
            match statement(line.trim_ascii_end(), end - line.len(), corners) {
                Ok(found) => statements.extend(found),
                Err(Unsound) => {
                    corners.truncate(before);
                    statements.push(Statement::Unsound(begin));
                }
            }
            begin = end + 1;
        }
    }
}

/// Lines of about [`PIECE`] bytes.
fn piece(reader: &mut (impl BufRead + ?Sized)) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(PIECE + PIECE / 8);
    while text.len() < PIECE {
        let some = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            some => some?,
        };
        let count = some.len();
        if count == 0 {
            return Ok(text);
        }
        text.extend_from_slice(some);
        reader.consume(count);
    }
    if text.last() != Some(&b'\n') {
        reader.read_until(b'\n', &mut text)?;
    }
    Ok(text)
}

struct Unsound;

/// That of a line, which begins at a place of the text; none where it says nothing of meshes.
fn statement(line: &[u8], first: usize, corners: &mut Vec<Corner>) -> Result<Option<Statement>, Unsound> {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let name = || {
        let name = rest.trim_ascii();
        first + line.len() - name.len()..first + line.len()
    };
    Ok(Some(match keyword {
        b"v" => position(rest).ok_or(Unsound)?,
        b"vt" => {
            let mut words = words(rest);
            let u = words.next().and_then(number).ok_or(Unsound)?;
            Statement::Coordinates(Vec2::new(u, words.next().map_or(Some(0.0), number).ok_or(Unsound)?))
        }
        b"vn" => {
            let mut words = words(rest);
            let mut next = || words.next().and_then(number).ok_or(Unsound);
            Statement::Normal(Vec3::new(next()?, next()?, next()?))
        }
        b"f" => {
            let before = corners.len();
            let mut rest = Rest(rest);
            while let Some(corner) = rest.corner()? {
                corners.push(corner);
            }
            if corners.len() == before {
                return Err(Unsound);
            }
            Statement::Face(corners.len() - before, first)
        }
        b"s" => Statement::Smooth(name()),
        b"o" | b"g" => Statement::Object(name()),
        b"usemtl" if rest.trim_ascii().is_empty() => return Err(Unsound),
        b"usemtl" => Statement::Material(name()),
        b"mtllib" => Statement::Library(name()),
        _ => return Ok(None),
    }))
}

/// `x y z`, divided by a weight behind them, or followed by a color.
fn position(rest: &[u8]) -> Option<Statement> {
    let numbers: SmallVec<[f32; 8]> = words(rest).map(number).collect::<Option<_>>()?;
    match numbers[..] {
        [x, y, z] => Some(Statement::Position(Vec3::new(x, y, z), None)),
        [x, y, z, w] if w != 0.0 => Some(Statement::Position(Vec3::new(x, y, z) / w, None)),
        [x, y, z, r, g, b] => Some(Statement::Position(Vec3::new(x, y, z), Some(Vec3::new(r, g, b)))),
        _ => None,
    }
}

/// The words of a statement of numbers, up to a comment.
pub fn words(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = rest.iter().position(|byte| *byte == b'#').unwrap_or(rest.len());
    rest[..end].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<f32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// What is left of a line of corners. Half of a file are such, so each byte is looked at once.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// The next corner; none at the end, or before a comment.
    fn corner(&mut self) -> Result<Option<Corner>, Unsound> {
        self.0 = self.0.trim_ascii_start();
        if matches!(self.0, [] | [b'#', ..]) {
            return Ok(None);
        }
        let position = self.integer()?.ok_or(Unsound)?;
        let coordinates = if self.slash() { self.integer()?.unwrap_or(0) } else { 0 };
        let normal = if self.slash() { self.integer()?.unwrap_or(0) } else { 0 };
        match self.0 {
            [] | [b'#', ..] => {}
            [byte, ..] if byte.is_ascii_whitespace() => {}
            _ => return Err(Unsound),
        }
        Ok(Some(Corner { position, coordinates, normal }))
    }

    fn slash(&mut self) -> bool {
        let Some(rest) = self.0.strip_prefix(b"/") else { return false };
        self.0 = rest;
        true
    }

    /// A whole number, if there is one.
    fn integer(&mut self) -> Result<Option<i64>, Unsound> {
        let (sign, mut rest) = match self.0 {
            [b'-', rest @ ..] => (-1, rest),
            [b'+', rest @ ..] => (1, rest),
            rest => (1, rest),
        };
        let signed = rest.len() < self.0.len();
        let (begin, mut size) = (rest.len(), 0_i64);
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            // With no more digits than these, it fits.
            if begin - rest.len() == 18 {
                return Err(Unsound);
            }
            size = 10 * size + i64::from(digit - b'0');
            rest = after;
        }
        let any = rest.len() < begin;
        self.0 = rest;
        if signed && !any { Err(Unsound) } else { Ok(any.then_some(sign * size)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(line: &str) -> Option<Vec<[i64; 3]>> {
        let (mut rest, mut all) = (Rest(line.as_bytes()), Vec::new());
        while let Some(Corner { position, coordinates, normal }) = rest.corner().ok()? {
            all.push([position, coordinates, normal]);
        }
        Some(all)
    }

    #[test]
    fn corners_are_numbers_between_slashes() {
        assert_eq!(corners(" 1 2/3\t4//5 6/7/8"), Some(vec![[1, 0, 0], [2, 3, 0], [4, 0, 5], [6, 7, 8]]));
        assert_eq!(corners(" -1/-2/-3 +4#5 6"), Some(vec![[-1, -2, -3], [4, 0, 0]]));
        assert_eq!(corners(" 1/ 2//  # 3"), Some(vec![[1, 0, 0], [2, 0, 0]]));
        for unsound in ["a", "1.5", "1/2/3/4", "/1", "1/a", "1 -", "1/+", "1234567890123456789", "1,2"] {
            assert_eq!(corners(unsound), None, "{unsound}");
        }
        assert_eq!(corners("123456789012345678"), Some(vec![[123_456_789_012_345_678, 0, 0]]));
    }

    /// Pieces end with lines, wherever the reader's buffer ends.
    #[test]
    fn no_line_is_cut() {
        let text: String = (0..200_000).map(|i| format!("v {i} 0 1\r\nf {i} 1 2\n")).collect();
        for capacity in [1, 1000, 1 << 16] {
            let mut reader = io::BufReader::with_capacity(capacity, text.as_bytes());
            let (mut next, mut corners, mut rounds) = (0.0, 0, 0);
            loop {
                let all = Lines::read(&mut reader).expect("it is in memory");
                if all.is_empty() {
                    break;
                }
                rounds += 1;
                for lines in all {
                    for statement in &lines.statements {
                        match statement {
                            Statement::Position(p, None) => {
                                assert_eq!(*p, Vec3::new(next, 0.0, 1.0));
                                next += 1.0;
                            }
                            Statement::Face(3, _) => corners += 3,
                            _ => panic!("there are no others"),
                        }
                    }
                    assert_eq!(lines.corners.len() % 3, 0);
                }
            }
            assert_eq!((next, corners, rounds > 1), (200_000.0, 600_000, true));
        }
    }
}
