//! What buffers hold at the start and at the end: pictures, arrays, words, numbers.

mod array;
mod gltf;
mod mesh;
mod picture;
mod random;

pub(super) use mesh::Mesh;
pub(super) use random::{Ends, Random};

use crate::buffer::{Arrangement, Buffer, BufferError, Element};
use formats::npy;
use ssl_compiler::input;
use ssl_compiler::types::Scalar;
use std::io::{self, Write};
use std::path::Path;

/// Bytes that a file may have.
const MOST: u64 = 1 << 33;

/// Elements that were read: their words, element by element.
#[derive(Debug)]
pub(super) struct Elements {
    pub words: Vec<u32>,
    pub length: usize,
    /// Width and height.
    pub size: Option<[u32; 2]>,
}

/// How a picture is taken in.
#[derive(Clone, Copy)]
pub(super) struct Taking<'a> {
    /// Of a mesh.
    pub part: Option<&'a str>,
    pub raw: bool,
    pub size: Option<[u32; 2]>,
}

/// Why a file gives no elements.
pub(super) enum Unusable {
    Unreadable(std::io::Error),
    /// The sentence goes on from the file's name.
    Data(String),
    /// Bytes that reading it takes, which are more than there may be.
    Memory(usize),
}

/// Reads elements of a type from a file. What takes more bytes than `room` is refused before it is taken.
pub(super) fn read(path: &Path, element: &Element, taking: Taking<'_>, room: usize) -> Result<Elements, Unusable> {
    let extension = extension(path);
    let elements = match extension.as_str() {
        "npy" | "raw" | "obj" => {
            let bytes = bytes(path, room)?;
            fits(bytes.len().saturating_mul(2), room)?;
            let elements = match extension.as_str() {
                "npy" => array::read(&bytes, element),
                "raw" => raw(&bytes, element),
                _ => part(&bytes, element, taking.part),
            };
            elements.map_err(Unusable::Data)?
        }
        _ => {
            input::open(path, MOST).map_err(Unusable::Unreadable)?;
            picture::read(path, element, taking, room)?
        }
    };
    match elements.length {
        0 => Err(Unusable::Data("has no elements".to_owned())),
        _ => finite(&elements, element).map(|()| elements).map_err(Unusable::Data),
    }
}

pub(super) fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |e| e.to_string_lossy().to_ascii_lowercase())
}

fn fits(bytes: usize, room: usize) -> Result<(), Unusable> {
    if bytes <= room { Ok(()) } else { Err(Unusable::Memory(bytes)) }
}

/// The contents of a file that takes no more bytes than there are.
fn bytes(path: &Path, room: usize) -> Result<Vec<u8>, Unusable> {
    let length = std::fs::metadata(path).map_err(Unusable::Unreadable)?.len();
    // What is no regular file is refused by the reader.
    fits(usize::try_from(length).unwrap_or(usize::MAX), room)?;
    input::bytes(path, MOST).map_err(Unusable::Unreadable)
}

/// Reads a mesh, if that takes no more bytes than `room`.
pub(super) fn mesh(path: &Path, room: usize) -> Result<Mesh, Unusable> {
    Mesh::read(&bytes(path, room)?).map_err(Unusable::Data)
}

fn part(bytes: &[u8], element: &Element, name: Option<&str>) -> Result<Elements, String> {
    let Some(name) = name else { return Err("is a mesh, and `part` says what to take from it".to_owned()) };
    let part = Mesh::read(bytes)?.part(name)?;
    let scalar = if part.of_floats { Scalar::Float } else { Scalar::Int };
    match element.len() == part.width && element.scalars().iter().all(|s| *s == scalar) {
        true => Ok(part.elements),
        false => {
            let all = Element::new(&vec![scalar; part.width]);
            Err(format!("has `{name}` of {all}, and the elements of the buffer are {element}"))
        }
    }
}

fn raw(bytes: &[u8], element: &Element) -> Result<Elements, String> {
    let width = 4 * element.len();
    if width == 0 || !bytes.len().is_multiple_of(width) {
        let message = format!("has {} bytes, and an element of {element} has {width}", bytes.len());
        return Err(message);
    }
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    // A truth value is 0 or 1, whatever the file has.
    let words = words.enumerate().map(|(i, word)| match element.scalars()[i % element.len()] {
        Scalar::Bool => u32::from(word != 0),
        _ => word,
    });
    Ok(Elements { words: words.collect(), length: bytes.len() / width, size: None })
}

/// A number that is not finite spoils every sum that it goes into.
fn finite(elements: &Elements, element: &Element) -> Result<(), String> {
    let columns = element.len();
    let bad = elements
        .words
        .iter()
        .enumerate()
        .find(|(i, word)| element.scalars()[i % columns] == Scalar::Float && !f32::from_bits(**word).is_finite());
    let Some((at, word)) = bad else { return Ok(()) };
    let (index, scalar, x) = (at / columns, at % columns, f32::from_bits(*word));
    let place = match elements.size {
        Some([width, _]) => format!("pixel ({}, {})", index % width as usize, index / width as usize),
        None => format!("element {index}"),
    };
    let part = if columns > 1 { format!(", number {scalar}") } else { String::new() };
    Err(format!("has {x} at {place}{part}, and only finite numbers can be used"))
}

/// A word of a scalar from a number; whole numbers saturate.
pub(super) fn word(scalar: Scalar, x: f64) -> u32 {
    match scalar {
        Scalar::Float => (x as f32).to_bits(),
        Scalar::Int => (x as i32) as u32,
        Scalar::Bool => u32::from(x != 0.0),
    }
}

/// A buffer of elements that were given one by one.
pub(super) fn buffer(element: &Element, arrangement: Arrangement, words: &[u32]) -> Result<Buffer, BufferError> {
    let columns = element.len();
    let length = words.len() / columns.max(1);
    let mut buffer = Buffer::new(element.clone(), arrangement, length)?;
    let place = |index: usize, scalar: usize| match arrangement {
        Arrangement::Rows => index * columns + scalar,
        Arrangement::Columns => scalar * length + index,
    };
    let to = buffer.words_mut();
    for (at, word) in words.iter().enumerate() {
        to[place(at / columns, at % columns)] = *word;
    }
    Ok(buffer)
}

/// The words of a buffer, element by element.
pub(super) fn words(buffer: &Buffer) -> impl Iterator<Item = u32> {
    let (columns, length) = (buffer.element().len(), buffer.len());
    let words = buffer.words();
    (0..columns * length).map(move |at| match buffer.arrangement() {
        Arrangement::Rows => words[at],
        Arrangement::Columns => words[at % columns * length + at / columns],
    })
}

/// What a result is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Raw,
    Png,
    Exr,
    Obj,
    Gltf,
}

impl Format {
    pub fn of(path: &Path) -> Option<Format> {
        match extension(path).as_str() {
            "npy" => Some(Format::Npy),
            "raw" => Some(Format::Raw),
            "png" => Some(Format::Png),
            "exr" => Some(Format::Exr),
            "obj" => Some(Format::Obj),
            "glb" => Some(Format::Gltf),
            _ => None,
        }
    }

    /// Why elements cannot be written so.
    pub fn check(self, element: &Element, size: Option<[u32; 2]>) -> Result<(), String> {
        let scalars = element.scalars();
        match self {
            Format::Raw => Ok(()),
            Format::Obj | Format::Gltf if scalars == [Scalar::Float; 3] => Ok(()),
            Format::Obj | Format::Gltf => {
                Err(format!("vertices of a mesh are three floats, and the elements are {element}"))
            }
            Format::Npy if scalars.iter().all(|s| *s == scalars[0]) => Ok(()),
            Format::Npy => Err(format!("an .npy has numbers of one type, and the elements are {element}")),
            Format::Png | Format::Exr => {
                let floats = (1..=4).contains(&scalars.len()) && scalars.iter().all(|s| *s == Scalar::Float);
                match (floats, size) {
                    (false, _) => {
                        Err(format!("a picture has one to four floats a pixel, and the elements are {element}"))
                    }
                    (true, None) => Err("the buffer has no width and height, as those of pictures and of launches \
                                         over [width, height] have"
                        .to_owned()),
                    (true, Some(_)) => Ok(()),
                }
            }
        }
    }

    /// Writes a file. Formats of meshes need one.
    pub fn write(
        self,
        buffer: &Buffer,
        size: Option<[u32; 2]>,
        raw: bool,
        mesh: Option<&Mesh>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        self.check(buffer.element(), size).map_err(io::Error::other)?;
        let mesh = || mesh.ok_or_else(|| "there is no mesh".to_owned());
        let bytes = match self {
            Format::Raw => return npy::write_words(to, words(buffer)),
            Format::Npy => return array::write(buffer, size, to),
            Format::Png => picture::png(buffer, size.unwrap_or_default(), raw),
            Format::Exr => picture::exr(buffer, size.unwrap_or_default()),
            Format::Obj => mesh().and_then(|mesh| mesh.obj(buffer)),
            Format::Gltf => mesh().and_then(|mesh| mesh.gltf(buffer)),
        };
        to.write_all(&bytes.map_err(io::Error::other)?)
    }

    /// About the memory that writing so many elements takes beside their buffer.
    pub fn bytes(self, element: &Element, length: usize) -> usize {
        let of_scalar = match self {
            // They are written piece by piece.
            Format::Raw | Format::Npy => 0,
            // Bytes of pixels, and the file.
            Format::Png => 2,
            // Floats by channel, and the file.
            Format::Exr => 8,
            // The longest float as a text, and the file of a glTF beside its numbers.
            Format::Obj | Format::Gltf => 16,
        };
        length.saturating_mul(element.len()).saturating_mul(of_scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_in_and_out_in_either_arrangement() {
        let element = Element::new(&[Scalar::Float, Scalar::Int]);
        let given: Vec<u32> = (0..6).collect();
        for arrangement in [Arrangement::Rows, Arrangement::Columns] {
            let buffer = buffer(&element, arrangement, &given).expect("there is memory");
            assert_eq!(words(&buffer).collect::<Vec<_>>(), given);
            let mut bytes = Vec::new();
            Format::Raw.write(&buffer, None, false, None, &mut bytes).expect("any elements");
            assert_eq!(raw(&bytes, &element).expect("whole elements").words, given);
        }
        assert!(raw(&[0; 12], &element).is_err());
    }
}
