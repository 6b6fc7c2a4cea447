//! Reads input files: only regular files, and none above a size limit. Opening a pipe that nobody writes to would wait
//! for ever, and some devices have no end.
//!
//! A file named on the command line may be a pipe, such as `/dev/stdin` or a shell's `<(…)`: see [`named_text`].

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes that a text may have: shaders, graphs, scenes.
pub const MOST_TEXT: u64 = 1 << 28;

/// Opens a regular file of at most so many bytes; with its length.
pub fn open(path: &Path, most: u64) -> Result<(File, u64)> {
    // A folder is refused by name: some systems open it and say later what is wrong.
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(Error::other(if about.is_dir() { "it is a folder" } else { "it is not a regular file" }));
    }
    let file = File::open(path)?;
    let length = about.len();
    if length > most { Err(too_large(most)) } else { Ok((file, length)) }
}

/// The contents of a regular file of at most so many bytes.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let (file, length) = open(path, most)?;
    let mut bytes = Vec::new();
    // More than the system has room for is an error, and no end of the program.
    bytes.try_reserve_exact(length as usize).map_err(|_| Error::from(ErrorKind::OutOfMemory))?;
    read(file, most, &mut bytes)?;
    Ok(bytes)
}

/// As [`bytes`], of a text.
pub fn text(path: &Path, most: u64) -> Result<String> {
    of_utf8(bytes(path, most)?)
}

/// A text that is named on the command line: of a pipe, too, whose end is waited for.
pub fn named_text(path: &Path) -> Result<String> {
    if std::fs::metadata(path)?.is_file() {
        return text(path, MOST_TEXT);
    }
    let mut bytes = Vec::new();
    read(File::open(path)?, MOST_TEXT, &mut bytes)?;
    of_utf8(bytes)
}

/// All there is, which may have become more since the length was asked.
fn read(file: File, most: u64, bytes: &mut Vec<u8>) -> Result<()> {
    file.take(most + 1).read_to_end(bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(()) }
}

fn too_large(most: u64) -> Error {
    Error::new(
        ErrorKind::FileTooLarge,
        format!("it is larger than {} MB, the most that is read of such a file", most >> 20),
    )
}

fn of_utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_some_size_are_read() {
        let folder = std::env::temp_dir().join(format!("ssl-input-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let path = folder.join("a");
        std::fs::write(&path, b"abc").expect("as above");
        assert_eq!(bytes(&path, 3).expect("it fits"), b"abc");
        assert_eq!(text(&path, 3).expect("it fits"), "abc");
        assert_eq!(bytes(&path, 2).expect_err("it is larger").kind(), ErrorKind::FileTooLarge);
        std::fs::write(&path, [0xff]).expect("as above");
        assert_eq!(named_text(&path).expect_err("no text").kind(), ErrorKind::InvalidData);
        assert_eq!(bytes(&folder, 9).expect_err("a folder").to_string(), "it is a folder");
        assert_eq!(bytes(&folder.join("b"), 9).expect_err("nothing").kind(), ErrorKind::NotFound);
        // More than there is room for, without taking it from the disk.
        File::create(&path).and_then(|f| f.set_len(1 << 40)).expect("the file may have holes");
        assert_eq!(named_text(&path).expect_err("it is huge").kind(), ErrorKind::FileTooLarge);
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[cfg(unix)]
    #[test]
    fn devices_without_end_are_refused_or_read_to_a_bound() {
        let zero = Path::new("/dev/zero");
        assert_eq!(bytes(zero, 9).expect_err("a device").to_string(), "it is not a regular file");
        assert_eq!(named_text(zero).expect_err("it has no end").kind(), ErrorKind::FileTooLarge);
        assert_eq!(named_text(Path::new("/dev/null")).expect("it is empty"), "");
    }
}
