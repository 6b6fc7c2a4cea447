//! A file that reads as if other bytes stood at one place of it.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};

pub struct OtherBytes {
    file: File,
    /// Where the next read begins.
    at: u64,
    /// What reads find from this place on.
    instead: (u64, Vec<u8>),
}

impl OtherBytes {
    /// `file` was not read yet. With no bytes, it reads as it is.
    pub fn new(file: File, place: u64, bytes: Vec<u8>) -> OtherBytes {
        OtherBytes { file, at: 0, instead: (place, bytes) }
    }
}

impl Read for OtherBytes {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.file.read(buffer)?;
        let (place, bytes) = &self.instead;
        for (byte, place) in bytes.iter().zip(*place..) {
            let within = place.checked_sub(self.at).and_then(|i| usize::try_from(i).ok());
            if let Some(found) = within.and_then(|i| buffer[..count].get_mut(i)) {
                *found = *byte;
            }
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for OtherBytes {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_others_wherever_reading_begins() {
        let path = std::env::temp_dir().join(format!("ssl-other-bytes-{}", std::process::id()));
        std::fs::write(&path, b"0123456789").expect("the temporary folder can be written");
        for begin in 0..10 {
            for count in 1..=10 - begin {
                let file = File::open(&path).expect("it was written");
                let mut reader = OtherBytes::new(file, 4, b"ab".to_vec());
                reader.seek(SeekFrom::Start(begin as u64)).expect("it is inside");
                let mut found = vec![0; count];
                reader.read_exact(&mut found).expect("so much is there");
                assert_eq!(found, b"0123ab6789"[begin..begin + count]);
                assert_eq!(reader.stream_position().expect("it has one"), (begin + count) as u64);
            }
        }
        std::fs::remove_file(&path).expect("as above");
    }
}
