//! Arrays of NumPy (`.npy`): <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. The header is one
//! Python literal with three keys, and so is read here.

use half::f16;
use std::io::{self, Write};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The numbers of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// How long each axis is.
    pub shape: Vec<usize>,
    /// The last axis is the fastest.
    pub numbers: Vec<f64>,
}

impl Array {
    /// Reads a file of whole numbers, truth values or floats, in either order of axes.
    ///
    /// # Errors
    /// It is none, or damaged. The sentence goes on from the file's name.
    pub fn read(bytes: &[u8]) -> Result<Array, String> {
        let (header, data) = split(bytes)?;
        let number = Number::of(&text(header, "descr")?)?;
        let fortran = value(header, "fortran_order")?.starts_with("True");
        let shape = shape(header)?;
        let count = shape.iter().try_fold(1usize, |count, n| count.checked_mul(*n)).ok_or("is too large")?;
        if count.checked_mul(number.bytes()) != Some(data.len()) {
            return Err(format!("has {} bytes of numbers, and its shape {shape:?} needs another number", data.len()));
        }
        let at = |place: usize| number.read(&data[place * number.bytes()..][..number.bytes()]);
        let numbers = (0..count).map(|i| at(if fortran { reversed(i, &shape) } else { i })).collect();
        Ok(Array { shape, numbers })
    }
}

/// The place in memory of what is at a place in order of the last axis, where the first axis is the fastest.
fn reversed(mut at: usize, shape: &[usize]) -> usize {
    let mut place = 0;
    let mut stride: usize = shape.iter().product();
    for n in shape.iter().rev() {
        stride /= n;
        place += at % n * stride;
        at /= n;
    }
    place
}

fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let broken = || "is no .npy file, or a damaged one".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(broken)?;
    let (&[major, _], rest) = rest.split_first_chunk().ok_or_else(broken)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(broken)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(broken)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return Err(format!("is an .npy file of version {major}, and versions 1 to 3 can be read")),
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(broken)?;
    Ok((std::str::from_utf8(header).map_err(|_| broken())?, data))
}

/// What stands behind a key of the header.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let found = ['\'', '"'].into_iter().find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")));
    let rest = found.and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    rest.map(str::trim_start).ok_or_else(|| format!("has a header without `{key}`"))
}

fn text(header: &str, key: &str) -> Result<String, String> {
    let rest = value(header, key)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let quoted = quote.and_then(|quote| rest[1..].split_once(quote));
    quoted
        .map(|(text, _)| text.to_owned())
        .ok_or_else(|| "has elements of several numbers with names, which cannot be read".to_owned())
}

fn shape(header: &str) -> Result<Vec<usize>, String> {
    let inside = value(header, "shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let numbers = inside.map(|(list, _)| list.split(',').map(str::trim).filter(|n| !n.is_empty()));
    let shape: Option<Vec<usize>> = numbers.and_then(|numbers| numbers.map(|n| n.parse().ok()).collect());
    shape.ok_or_else(|| "has a header without a shape".to_owned())
}

/// A type of numbers.
struct Number {
    kind: char,
    bytes: usize,
    big: bool,
}

impl Number {
    fn of(descr: &str) -> Result<Number, String> {
        let order = descr.chars().next().filter(|c| matches!(c, '<' | '>' | '|' | '='));
        let rest = &descr[order.map_or(0, char::len_utf8)..];
        let known = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"];
        let Some(&known) = known.iter().find(|known| **known == rest) else {
            return Err(format!("has numbers of the type `{descr}`; there are {}", known.join(", ")));
        };
        let (kind, bytes) = known.split_at(1);
        let native_is_big = cfg!(target_endian = "big");
        let big = order == Some('>') || order == Some('=') && native_is_big;
        Ok(Number { kind: kind.chars().next().unwrap_or('f'), bytes: bytes.parse().unwrap_or(4), big })
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, bytes: &[u8]) -> f64 {
        // The lowest byte first, in eight.
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        if self.big {
            all[..bytes.len()].reverse();
        }
        let unsigned = u64::from_le_bytes(all);
        match self.kind {
            'f' if self.bytes == 2 => f64::from(f16::from_bits(unsigned as u16)),
            'f' if self.bytes == 4 => f64::from(f32::from_bits(unsigned as u32)),
            'f' => f64::from_bits(unsigned),
            'i' => {
                let unused = 64 - 8 * self.bytes as u32;
                ((unsigned << unused) as i64 >> unused) as f64
            }
            _ => unsigned as f64,
        }
    }
}

/// What numbers are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// The bits of floats.
    Floats,
    /// Those of whole numbers.
    Ints,
}

/// The file of an array, whose last axis is the fastest.
pub fn write(shape: &[usize], kind: Words, words: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writes to memory do not fail.
    let _ = write_to(&mut bytes, shape, kind, words);
    bytes
}

/// Writes the same somewhere, a few kilobytes at a time: it takes no memory by the length of the array.
///
/// # Errors
/// Writing fails.
pub fn write_to(
    to: &mut (impl Write + ?Sized),
    shape: &[usize],
    kind: Words,
    words: impl Iterator<Item = u32>,
) -> io::Result<()> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let shape = if shape.matches(',').count() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let descr = match kind {
        Words::Floats => "<f4",
        Words::Ints => "<i4",
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Numbers begin at a multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    let padding = 63 - (before + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    to.write_all(&[MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat())?;
    write_words(to, words)
}

/// Writes words, little-endian, a few kilobytes at a time.
///
/// # Errors
/// Writing fails.
pub fn write_words(to: &mut (impl Write + ?Sized), words: impl Iterator<Item = u32>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(PIECE);
    for word in words {
        bytes.extend(word.to_le_bytes());
        if bytes.len() == PIECE {
            to.write_all(&bytes)?;
            bytes.clear();
        }
    }
    to.write_all(&bytes)
}

/// Bytes that are written at once, a multiple of a word.
const PIECE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    /// `numpy.save` of `numpy.arange(6, dtype=…).reshape(2, 3)`, in both orders.
    #[test]
    fn numbers_of_all_types_are_read() {
        let f8: Vec<u8> = (0..6).flat_map(|x| f64::from(x).to_le_bytes()).collect();
        let expected = Ok(Array { shape: vec![2, 3], numbers: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0] });
        assert_eq!(Array::read(&file("<f8", "False", "(2, 3)", &f8)), expected);
        let big: Vec<u8> = (0..6i16).flat_map(i16::to_be_bytes).collect();
        assert_eq!(Array::read(&file(">i2", "False", "(2, 3)", &big)), expected);
        assert_eq!(Array::read(&file("|u1", "True", "(2, 3)", &[0, 3, 1, 4, 2, 5])), expected);
        let signed: Vec<u8> = (0..6i8).map(|x| -x as u8).collect();
        let negative = Array::read(&file("|i1", "False", "(2, 3)", &signed)).map(|array| array.numbers[5]);
        assert_eq!(negative, Ok(-5.0));
        // By IEEE 754: 1 is 0x3c00, and each power of two 0x400 more; 3 and 5 have half and quarter mantissas.
        let halves: Vec<u8> =
            [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500_u16].iter().flat_map(|h| h.to_be_bytes()).collect();
        assert_eq!(Array::read(&file(">f2", "False", "(2, 3)", &halves)), expected);
        let tenth = Array::read(&file("<f2", "False", "(2,)", &[0x66, 0xae, 0x01, 0x00])).map(|array| array.numbers);
        // -0.1 to 11 bits, and the smallest half.
        assert_eq!(tenth, Ok(vec![-0.099_975_585_937_5, 2.0_f64.powi(-24)]));
        for (descr, shape) in [("<c8", "(2, 3)"), ("<f8", "(2, 4)"), ("<f8", "2"), ("<M8[s]", "(6,)")] {
            assert!(Array::read(&file(descr, "False", shape, &f8)).is_err(), "{descr} {shape}");
        }
        assert!(Array::read(b"\x93NUMPY\x01").is_err() && Array::read(b"").is_err());
    }

    /// More words than are written at once.
    #[test]
    fn long_arrays_are_written_in_pieces() {
        struct Pieces(Vec<usize>, Vec<u8>);
        impl Write for Pieces {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.len());
                self.1.extend(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (count, mut pieces) = (3 * PIECE as u32 / 4 + 5, Pieces(Vec::new(), Vec::new()));
        write_to(&mut pieces, &[count as usize], Words::Ints, 0..count).expect("memory takes all");
        assert!(pieces.0.iter().all(|piece| *piece <= PIECE) && pieces.0.len() == 5);
        let numbers: Vec<f64> = (0..count).map(f64::from).collect();
        assert_eq!(Array::read(&pieces.1), Ok(Array { shape: vec![count as usize], numbers }));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let floats = [1.0f32, -2.0, 0.5, f32::MIN_POSITIVE, 3.0, 4.0];
        let bytes = write(&[3, 2], Words::Floats, floats.iter().map(|x| x.to_bits()));
        assert_eq!(&bytes[10..68], b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), ");
        assert_eq!((bytes.len() - 4 * 6) % 64, 0);
        assert_eq!(Array::read(&bytes).map(|array| array.numbers), Ok(floats.map(f64::from).to_vec()));
        let bytes = write(&[2], Words::Ints, [3, -4i32 as u32].into_iter());
        assert!(String::from_utf8_lossy(&bytes).contains("'descr': '<i4', 'fortran_order': False, 'shape': (2,), "));
        assert_eq!(Array::read(&bytes), Ok(Array { shape: vec![2], numbers: vec![3.0, -4.0] }));
    }
}
