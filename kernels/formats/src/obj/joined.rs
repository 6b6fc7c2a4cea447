//! Lines of OBJ files that a backslash at their end continues. Blanks replace the backslash and the line end, so
//! readers see one line, and line numbers stay as in an editor. A byte order mark before the first line is left out.

use crate::text::BYTE_ORDER_MARK;
use std::io::{self, BufRead, Read};

/// Bytes that are read at once.
const CAPACITY: usize = 1 << 16;

/// The blank that stands where a line ended, a form feed.
pub const JOINT: u8 = b'\x0c';

/// A text with such lines joined. Where it has no backslash, looking for one is all that is done.
pub struct Joined<R> {
    inner: R,
    buffer: Vec<u8>,
    /// What of the buffer was not consumed yet, up to `ready`. Behind it, up to `end`, lies what may be the beginning of a
    /// joint.
    at: usize,
    ready: usize,
    end: usize,
    /// That in which the next bytes lie, up to them.
    line: Line,
    /// Nothing was read yet.
    fresh: bool,
}

impl<R: Read> Joined<R> {
    pub fn new(inner: R) -> Joined<R> {
        Joined { inner, buffer: vec![0; CAPACITY], at: 0, ready: 0, end: 0, line: Line::default(), fresh: true }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.ready..self.end, 0);
        self.end -= self.ready;
        (self.at, self.ready) = (0, 0);
        if std::mem::take(&mut self.fresh) {
            self.leave_out_mark()?;
        }
        while self.ready == 0 {
            let read = self.inner.read(&mut self.buffer[self.end..])?;
            self.end += read;
            self.ready = self.end - if read == 0 { 0 } else { held_back(&self.buffer[..self.end]) };
            if read == 0 {
                break;
            }
        }
        self.join();
        Ok(())
    }

    /// Reads what may be the mark, and forgets it if it is.
    fn leave_out_mark(&mut self) -> io::Result<()> {
        while self.end < BYTE_ORDER_MARK.len() {
            let read = self.inner.read(&mut self.buffer[self.end..BYTE_ORDER_MARK.len()])?;
            self.end += read;
            if read == 0 {
                break;
            }
        }
        if &self.buffer[..self.end] == BYTE_ORDER_MARK {
            self.end = 0;
        }
        Ok(())
    }

    fn join(&mut self) {
        let text = &mut self.buffer[..self.ready];
        let mut seen = 0;
        // This is many times as fast as a look at each byte.
        if text.contains(&b'\\') {
            for i in 0..text.len() {
                let length = match text[i..] {
                    [b'\\', b'\n', ..] => 2,
                    [b'\\', b'\r', b'\n', ..] => 3,
                    _ => continue,
                };
                self.line = self.line.with(&text[seen..i]);
                seen = i;
                // A comment may end with the path of a folder. What follows it would be lost.
                if !self.line.is_comment() {
                    text[i..i + length].fill(b' ');
                    text[i + length - 1] = JOINT;
                }
            }
        }
        self.line = self.line.with(&text[seen..]);
    }
}

/// How many bytes at the end may be the beginning of a joint.
fn held_back(text: &[u8]) -> usize {
    match text {
        [.., b'\\'] => 1,
        [.., b'\\', b'\r'] => 2,
        _ => 0,
    }
}

/// The beginning of a line.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Its first byte, but for blanks.
    first: Option<u8>,
    /// It has a `#`.
    has_sign: bool,
}

impl Line {
    /// The line in which a text ends that goes on from here.
    fn with(self, text: &[u8]) -> Line {
        let (line, more) = match text.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => (Line::default(), &text[at + 1..]),
            None => (self, text),
        };
        Line {
            first: line.first.or_else(|| more.iter().copied().find(|byte| !byte.is_ascii_whitespace())),
            has_sign: line.has_sign || more.contains(&b'#'),
        }
    }

    /// Whether what comes next belongs to a comment. Behind words that are not numbers there is none, as names may have the sign in
    /// them.
    fn is_comment(self) -> bool {
        match self.first {
            Some(b'#') => true,
            Some(b'v' | b'f' | b's' | b'l' | b'p') => self.has_sign,
            _ => false,
        }
    }
}

impl<R: Read> Read for Joined<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Joined<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.ready {
            self.refill()?;
        }
        Ok(&self.buffer[self.at..self.ready])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives so many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(into.len());
            self.0.read(&mut into[..most])
        }
    }

    #[test]
    fn lines_are_joined_wherever_pieces_end() {
        for (text, expected) in [
            ("f 1 \\\n2 3\n", "f 1  \x0c2 3\n"),
            ("f 1 \\\r\n2\\\n 3\r\n", "f 1   \x0c2 \x0c 3\r\n"),
            // Within a line, before another letter and at the end of the file, a backslash is one.
            ("usemtl a\\b\n\\", "usemtl a\\b\n\\"),
            ("v 1\\\r2\\\r", "v 1\\\r2\\\r"),
            (" # in C:\\models\\\nv 1 2 3\n", " # in C:\\models\\\nv 1 2 3\n"),
            ("g 1 \\\n#2\\\n 3\n#\\\n\\\n", "g 1  \x0c#2 \x0c 3\n#\\\n \x0c"),
            ("f 1 2 3 # in C:\\dir\\\nf 1 \\\n2 4\n", "f 1 2 3 # in C:\\dir\\\nf 1  \x0c2 4\n"),
            // A byte order mark stands at the beginning alone.
            ("\u{feff}v 1\\\n2\n\u{feff}", "v 1 \x0c2\n\u{feff}"),
            ("\u{feff}", ""),
            ("v", "v"),
            ("", ""),
        ] {
            for piece in [1, 2, 3, 5, 100] {
                let mut joined = String::new();
                Joined::new(Pieces(text.as_bytes(), piece)).read_to_string(&mut joined).expect("it is in memory");
                assert_eq!(joined, expected, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn texts_beyond_the_buffer_stay_whole() {
        let line = "v 0.25 \\\n0.5 1\n";
        let text = line.repeat(20_000);
        let mut joined = String::new();
        Joined::new(text.as_bytes()).read_to_string(&mut joined).expect("it is in memory");
        assert!(joined == "v 0.25  \x0c0.5 1\n".repeat(20_000));
    }
}
