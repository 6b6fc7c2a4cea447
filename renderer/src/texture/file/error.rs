//! Why a texture file cannot be used, in sentences for its author.

use std::fmt;
use std::io;

#[derive(Debug)]
pub enum FileError {
    /// The storage failed; trying again may help.
    Storage(io::Error),
    /// The content contradicts itself; what is wrong.
    Corrupt(String),
    /// The content may be sound, but is of a kind that is not read; what it is.
    Unsupported(String),
}

impl FileError {
    pub(crate) fn corrupt(what: &str) -> FileError {
        FileError::Corrupt(what.to_owned())
    }

    pub(crate) fn unsupported(what: &str) -> FileError {
        FileError::Unsupported(what.to_owned())
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Storage(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "the file became shorter while it was read; make it anew from its source image")
            }
            FileError::Storage(e) => write!(f, "the file cannot be read: {e}"),
            FileError::Corrupt(what) => {
                write!(f, "the file is damaged ({what}); make it anew from its source image")
            }
            FileError::Unsupported(what) => {
                write!(f, "{what} is not read as a texture; make one of its source image with `shade texture make`")
            }
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(e: io::Error) -> FileError {
        FileError::Storage(e)
    }
}
