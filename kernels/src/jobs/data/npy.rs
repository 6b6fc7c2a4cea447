//! Arrays of NumPy (`.npy`): <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. The header is one
//! Python literal with three keys, and so is read here.

use super::{Elements, word};
use crate::buffer::{Buffer, Element};
use ssl_compiler::types::Scalar;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Elements from an array. Its last axes are the scalars of an element, and those before count the elements; an array of
/// three axes (height, width, scalars) is a picture, and so is one of two if elements have one scalar.
pub fn read(bytes: &[u8], element: &Element) -> Result<Elements, String> {
    let (header, data) = split(bytes)?;
    let number = Number::of(&text(header, "descr")?)?;
    let fortran = value(header, "fortran_order")?.starts_with("True");
    let shape = shape(header)?;
    let count = shape.iter().try_fold(1usize, |count, n| count.checked_mul(*n)).ok_or("is too large")?;
    if count.checked_mul(number.bytes()) != Some(data.len()) {
        return Err(format!("has {} bytes of numbers, and its shape {shape:?} needs another number", data.len()));
    }
    let columns = element.len();
    let (length, size) = elements(&shape, columns).ok_or_else(|| {
        format!("has the shape {shape:?}, and an element of {element} has {columns} numbers: the last axis must have as many")
    })?;
    let numbers: Vec<f64> = data.chunks_exact(number.bytes()).map(|bytes| number.read(bytes)).collect();
    let words = (0..count).map(|at| {
        let from = if fortran { reversed(at, &shape) } else { at };
        word(element.scalars()[at % columns], numbers[from])
    });
    Ok(Elements { words: words.collect(), length, size, is_shown: false })
}

/// How many elements an array has, and its width and height.
fn elements(shape: &[usize], columns: usize) -> Option<(usize, Option<[u32; 2]>)> {
    // The axes that make an element, from the last one.
    let mut axes = shape.len();
    let mut scalars = 1;
    while scalars < columns && axes > 0 {
        axes -= 1;
        scalars *= shape[axes];
    }
    // An axis of one may stand for a single scalar.
    if columns == 1 && shape.len() != 2 && shape.last() == Some(&1) && axes > 0 {
        axes -= 1;
    }
    let before = &shape[..axes];
    let size = match before {
        [height, width] => Some([u32::try_from(*width).ok()?, u32::try_from(*height).ok()?]),
        _ => None,
    };
    (scalars == columns).then(|| (before.iter().product(), size))
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
        let known = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"];
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

/// The file of a buffer whose scalars are all of one type. Truth values become whole numbers.
pub fn write(buffer: &Buffer, size: Option<[u32; 2]>) -> Vec<u8> {
    let columns = buffer.element().len();
    let is_float = buffer.element().scalars().first() == Some(&Scalar::Float);
    let mut shape: Vec<usize> = match size {
        Some([width, height]) => vec![height as usize, width as usize],
        None => vec![buffer.len()],
    };
    if columns != 1 {
        shape.push(columns);
    }
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let shape = if shape.matches(',').count() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let descr = if is_float { "<f4" } else { "<i4" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Numbers begin at a multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    let padding = 63 - (before + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend(super::words(buffer).flat_map(u32::to_le_bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Arrangement;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn floats(elements: &Elements) -> Vec<f32> {
        elements.words.iter().map(|word| f32::from_bits(*word)).collect()
    }

    /// `numpy.save` of `numpy.arange(6, dtype=…).reshape(2, 3)`, in both orders.
    #[test]
    fn numbers_of_all_types_are_read() {
        let pair = Element::floats(3);
        let f8: Vec<u8> = (0..6).flat_map(|x| f64::from(x).to_le_bytes()).collect();
        let read = |bytes: &[u8]| read(bytes, &pair).map(|e| (floats(&e), e.length));
        let expected = Ok((vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2));
        assert_eq!(read(&file("<f8", "False", "(2, 3)", &f8)), expected);
        let big: Vec<u8> = (0..6i16).flat_map(i16::to_be_bytes).collect();
        assert_eq!(read(&file(">i2", "False", "(2, 3)", &big)), expected);
        assert_eq!(read(&file("|u1", "True", "(2, 3)", &[0, 3, 1, 4, 2, 5])), expected);
        let signed: Vec<u8> = (0..6i8).map(|x| -x as u8).collect();
        let negative = read(&file("|i1", "False", "(2, 3)", &signed)).map(|(x, _)| x[5]);
        assert_eq!(negative, Ok(-5.0));
        for (descr, shape) in
            [("<c8", "(2, 3)"), ("<f8", "(3, 2)"), ("<f8", "(2, 4)"), ("<f8", "2"), ("<M8[s]", "(6,)")]
        {
            assert!(read(&file(descr, "False", shape, &f8)).is_err(), "{descr} {shape}");
        }
        assert!(read(b"\x93NUMPY\x01").is_err() && read(b"").is_err());
    }

    #[test]
    fn pictures_have_a_size() {
        let size = |shape: &[usize], columns| elements(shape, columns);
        assert_eq!(size(&[4, 5, 3], 3), Some((20, Some([5, 4]))));
        assert_eq!(size(&[4, 5], 1), Some((20, Some([5, 4]))));
        assert_eq!(size(&[4, 5, 1], 1), Some((20, Some([5, 4]))));
        assert_eq!(size(&[7, 2, 2], 4), Some((7, None)));
        assert_eq!(size(&[3], 3), Some((1, None)));
        assert_eq!(size(&[9], 1), Some((9, None)));
        assert_eq!(size(&[4, 5], 3), None);
        assert_eq!(size(&[], 2), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let buffer = Buffer::from_values(Arrangement::Columns, &[[1.0f32, -2.0], [0.5, f32::MIN_POSITIVE], [3.0, 4.0]]);
        let buffer = buffer.expect("there is memory");
        let bytes = write(&buffer, None);
        assert_eq!(&bytes[10..68], b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), ");
        assert_eq!((bytes.len() - 4 * 6) % 64, 0);
        let elements = read(&bytes, &Element::floats(2)).expect("its own file");
        assert_eq!(elements.words, super::super::words(&buffer).collect::<Vec<_>>());
        let one = Buffer::from_values(Arrangement::Rows, &[3i32, -4]).expect("there is memory");
        let bytes = write(&one, None);
        assert!(String::from_utf8_lossy(&bytes).contains("'descr': '<i4', 'fortran_order': False, 'shape': (2,), "));
        assert_eq!(read(&bytes, &Element::int()).expect("its own file").words, [3, -4i32 as u32]);
    }
}
