//! Directories of TIFF, classic and BigTIFF, in both byte orders: lists of tags, each with its values or where they
//! stand. Every offset and count is checked against the file's length before it is used.

use super::{FileError, tags, window::Window};
use std::ops::Range;

/// More tags than any writer uses.
const MOST_ENTRIES: u64 = 1024;

/// How numbers are stored.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    pub big_endian: bool,
    /// BigTIFF: offsets and counts of 64 bits.
    pub wide: bool,
}

impl Encoding {
    /// A number of 1, 2, 4 or 8 bytes.
    pub fn number(self, bytes: &[u8]) -> u64 {
        let push = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    fn word(self) -> u64 {
        if self.wide { 8 } else { 4 }
    }
}

/// The beginning of a file: how it is encoded and where its first directory stands; `None` if it is no TIFF.
pub fn header(bytes: &[u8]) -> Option<(Encoding, u64)> {
    let big_endian = match bytes.get(..2)? {
        b"II" => false,
        b"MM" => true,
        _ => return None,
    };
    let narrow = Encoding { big_endian, wide: false };
    match narrow.number(bytes.get(2..4)?) {
        42 => Some((narrow, narrow.number(bytes.get(4..8)?))),
        43 if narrow.number(bytes.get(4..8)?) == if big_endian { 8 << 16 } else { 8 } => {
            let wide = Encoding { big_endian, wide: true };
            Some((wide, wide.number(bytes.get(8..16)?)))
        }
        _ => None,
    }
}

/// One tag: its values are numbers or text at a place of the file, inside the directory itself where they fit.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    tag: u16,
    kind: u16,
    pub count: u64,
    at: u64,
}

impl Entry {
    fn bytes(&self) -> u64 {
        // Checked when the directory was read.
        self.count * tags::type_bytes(self.kind)
    }

    pub fn range(&self) -> Range<u64> {
        self.at..self.at + self.bytes()
    }

    /// All values, which must be unsigned integers.
    pub fn numbers(&self, encoding: Encoding, window: &mut Window<'_>) -> Result<Vec<u64>, FileError> {
        let size = self.integer_bytes()?;
        let bytes = window.bytes(self.at, self.bytes())?;
        Ok(bytes.chunks_exact(size).map(|b| encoding.number(b)).collect())
    }

    /// The same one after the other, of values that the window was prepared for: tables can be long.
    pub fn prepared<'w>(
        &self,
        encoding: Encoding,
        window: &'w Window<'_>,
    ) -> Result<impl ExactSizeIterator<Item = u64> + use<'w>, FileError> {
        let size = self.integer_bytes()?;
        Ok(window.prepared(self.range())?.chunks_exact(size).map(move |b| encoding.number(b)))
    }

    fn integer_bytes(&self) -> Result<usize, FileError> {
        match self.kind {
            1 | 3 | 4 | 13 | 16 | 18 => Ok(tags::type_bytes(self.kind) as usize),
            _ => Err(FileError::Corrupt(format!("tag {} has values of a wrong type", self.tag))),
        }
    }

    /// Text up to its NUL, at most a few KiB of it.
    pub fn text(&self, window: &mut Window<'_>) -> Result<String, FileError> {
        let bytes = window.bytes(self.at, self.bytes().min(8192))?;
        let text = bytes.split(|b| *b == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

pub struct Directory {
    entries: Vec<Entry>,
    /// Where the next one stands; 0 for none.
    pub next: u64,
}

impl Directory {
    pub fn read(offset: u64, encoding: Encoding, window: &mut Window<'_>) -> Result<Directory, FileError> {
        let (head, size) = if encoding.wide { (8, 20) } else { (2, 12) };
        let word = encoding.word();
        let count = encoding.number(window.bytes(offset, head)?);
        if count > MOST_ENTRIES {
            return Err(FileError::corrupt("a directory has too many tags"));
        }
        let length = window.length();
        let begin = offset + head;
        let bytes = window.bytes(begin, count * size + word)?;
        let (list, next) = bytes.split_at((count * size) as usize);
        let mut entries = Vec::with_capacity(count as usize);
        for (i, b) in list.chunks_exact(size as usize).enumerate() {
            let values = 4 + word as usize;
            let mut entry = Entry {
                tag: encoding.number(&b[..2]) as u16,
                kind: encoding.number(&b[2..4]) as u16,
                count: encoding.number(&b[4..values]),
                at: begin + i as u64 * size + values as u64,
            };
            let Some(bytes) = entry.count.checked_mul(tags::type_bytes(entry.kind)) else { continue };
            if bytes > word {
                entry.at = encoding.number(&b[values..]);
            }
            // Values that are not there count as a missing tag: of most tags nobody asks.
            if entry.at.checked_add(bytes).is_some_and(|end| end <= length) {
                entries.push(entry);
            }
        }
        Ok(Directory { entries, next: encoding.number(next) })
    }

    pub fn find(&self, tag: u16) -> Option<&Entry> {
        self.entries.iter().find(|e| e.tag == tag && e.count > 0)
    }
}
