//! Elements of buffers from arrays of NumPy, and arrays from them.

use super::{Elements, word};
use crate::buffer::{Buffer, Element};
use formats::npy::{self, Array, Words};
use ssl_compiler::types::Scalar;
use std::io::{self, Write};

/// Elements from an array. Its last axes are the scalars of an element, and those before count the elements; an array of
/// three axes (height, width, scalars) is a picture, and so is one of two if elements have one scalar.
pub fn read(bytes: &[u8], element: &Element) -> Result<Elements, String> {
    let Array { shape, numbers } = Array::read(bytes)?;
    let columns = element.len();
    let (length, size) = elements(&shape, columns).ok_or_else(|| {
        format!("has the shape {shape:?}, and an element of {element} has {columns} numbers: the last axis must have as many")
    })?;
    let words = numbers.iter().enumerate().map(|(at, x)| word(element.scalars()[at % columns], *x));
    Ok(Elements { words: words.collect(), length, size })
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

/// Writes the file of a buffer whose scalars are all of one type. Truth values become whole numbers.
pub fn write(buffer: &Buffer, size: Option<[u32; 2]>, to: &mut dyn Write) -> io::Result<()> {
    let columns = buffer.element().len();
    let is_float = buffer.element().scalars().first() == Some(&Scalar::Float);
    let mut shape: Vec<usize> = match size {
        Some([width, height]) => vec![height as usize, width as usize],
        None => vec![buffer.len()],
    };
    if columns != 1 {
        shape.push(columns);
    }
    npy::write_to(to, &shape, if is_float { Words::Floats } else { Words::Ints }, super::words(buffer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Arrangement;

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

    fn written(buffer: &Buffer) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(buffer, None, &mut bytes).expect("memory takes all");
        bytes
    }

    #[test]
    fn what_is_written_is_read_again() {
        let buffer = Buffer::from_values(Arrangement::Columns, &[[1.0f32, -2.0], [0.5, f32::MIN_POSITIVE], [3.0, 4.0]]);
        let buffer = buffer.expect("there is memory");
        let bytes = written(&buffer);
        let elements = read(&bytes, &Element::floats(2)).expect("its own file");
        assert_eq!((&elements.words, elements.length), (&super::super::words(&buffer).collect(), 3));
        assert!(read(&bytes, &Element::floats(3)).is_err());
        let one = Buffer::from_values(Arrangement::Rows, &[3i32, -4]).expect("there is memory");
        assert_eq!(read(&written(&one), &Element::int()).expect("its own file").words, [3, -4i32 as u32]);
    }
}
