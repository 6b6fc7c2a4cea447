//! The parts of a file that were read so far, so that parsing costs few reads: each reads more than was requested,
//! because what comes next usually stands beside it.

use super::FileError;
use crate::texture::StoredFile;
use std::ops::Range;

/// What a read takes at least.
pub const GUESS: u64 = 64 << 10;

/// How much of that stands before what was asked: some writers put a directory's values there.
const BEFORE: u64 = 16 << 10;

/// Files up to this length are read at once.
pub const WHOLE: u64 = 128 << 10;

/// How much of the end is read to find what is scattered.
const TAIL: u64 = 256 << 10;

pub struct Window<'a> {
    file: &'a dyn StoredFile,
    /// Where each begins, and what stands there.
    segments: Vec<(u64, Vec<u8>)>,
}

impl<'a> Window<'a> {
    /// Reads the beginning: one read.
    pub fn open(file: &'a dyn StoredFile) -> Result<Window<'a>, FileError> {
        let mut window = Window { file, segments: Vec::new() };
        let first = if file.length() <= WHOLE { file.length() } else { GUESS };
        window.load(0..first)?;
        Ok(window)
    }

    pub fn length(&self) -> u64 {
        self.file.length()
    }

    /// What stands from `offset` on; at most one read.
    pub fn bytes(&mut self, offset: u64, length: u64) -> Result<&[u8], FileError> {
        let end = offset.checked_add(length).filter(|&end| end <= self.length()).ok_or_else(past_end)?;
        if self.find(offset, end).is_none() {
            let begin = offset.saturating_sub(BEFORE);
            self.load(begin..end.max(begin.saturating_add(GUESS)).min(self.length()))?;
        }
        self.prepared(offset..end)
    }

    /// What stands in a range that was read before.
    pub fn prepared(&self, range: Range<u64>) -> Result<&[u8], FileError> {
        let at = self.find(range.start, range.end).ok_or_else(past_end)?;
        let (begin, bytes) = &self.segments[at];
        // Inside the segment, as `find` says, whose length is in memory and so fits.
        Ok(&bytes[(range.start - begin) as usize..(range.end - begin) as usize])
    }

    /// Reads ranges that will be wanted, those close together at once.
    pub fn prepare(&mut self, mut ranges: Vec<Range<u64>>) -> Result<(), FileError> {
        ranges.retain(|r| r.end <= self.length() && r.start < r.end && self.find(r.start, r.end).is_none());
        ranges.sort_by_key(|r| r.start);
        let mut pending: Option<Range<u64>> = None;
        for range in ranges {
            pending = match pending {
                Some(p) if range.start <= p.end.saturating_add(GUESS) => Some(p.start..p.end.max(range.end)),
                Some(p) => {
                    self.load(p)?;
                    Some(range)
                }
                None => Some(range),
            };
        }
        pending.map_or(Ok(()), |p| self.load(p))
    }

    /// Reads the end of the file, the first time that a place is asked for which was not read yet.
    pub fn look_at_end(&mut self, offset: u64) -> Result<(), FileError> {
        let begin = self.length().saturating_sub(TAIL);
        if self.find(offset, offset).is_none() && self.find(begin, self.length()).is_none() {
            self.load(begin..self.length())?;
        }
        Ok(())
    }

    fn load(&mut self, range: Range<u64>) -> Result<(), FileError> {
        let length = usize::try_from(range.end - range.start).map_err(|_| past_end())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| FileError::unsupported("a file with tables this large"))?;
        bytes.resize(length, 0);
        self.file.read_at(range.start, &mut bytes)?;
        self.segments.push((range.start, bytes));
        Ok(())
    }

    fn find(&self, offset: u64, end: u64) -> Option<usize> {
        self.segments.iter().position(|(begin, bytes)| *begin <= offset && end <= begin + bytes.len() as u64)
    }
}

fn past_end() -> FileError {
    FileError::corrupt("a table reaches past the end of the file")
}
