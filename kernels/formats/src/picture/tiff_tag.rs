//! Where the value of a tag of a TIFF stands in the file, which the library does not tell.

use std::fs::File;
use std::io::{BufReader, Read, Result, Seek, SeekFrom};
use std::path::Path;

/// The place of a tag's values (numbers of 16 bits) by the first directory, and whether the file is big-endian; `None`
/// without such a tag.
pub fn values(path: &Path, tag: u16) -> Result<Option<(u64, bool)>> {
    let mut file = Numbers { file: BufReader::new(File::open(path)?), big_endian: false, large: false };
    let mut order = [0; 2];
    file.file.read_exact(&mut order)?;
    file.big_endian = &order == b"MM";
    file.large = file.number(2)? == 43;
    if file.large {
        // The size of offsets, and two zeros.
        file.number(4)?;
    }
    let directory = file.offset()?;
    file.file.seek(SeekFrom::Start(directory))?;
    let count = file.number(if file.large { 8 } else { 2 })?;
    for _ in 0..count {
        let (found, kind, values) = (file.number(2)?, file.number(2)?, file.offset()?);
        let own = file.file.stream_position()?;
        let value = file.offset()?;
        if found == u64::from(tag) {
            const SHORT: u64 = 3;
            // Values that are no longer than an offset stand in its place.
            let place = if 2 * values <= file.width() { own } else { value };
            return Ok((kind == SHORT && values > 0).then_some((place, file.big_endian)));
        }
    }
    Ok(None)
}

struct Numbers {
    file: BufReader<File>,
    big_endian: bool,
    /// It is a BigTIFF.
    large: bool,
}

impl Numbers {
    /// Bytes of an offset, and of a count of values.
    fn width(&self) -> u64 {
        if self.large { 8 } else { 4 }
    }

    fn offset(&mut self) -> Result<u64> {
        self.number(self.width() as usize)
    }

    /// The next number of so many bytes, 8 at most.
    fn number(&mut self, width: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes[..width])?;
        if self.big_endian {
            bytes[..width].reverse();
        }
        Ok(u64::from_le_bytes(bytes))
    }
}
