//! Puts the header of an EXR file in order.

use std::ops::Range;

/// Magic number and version.
const HEAD: usize = 8;

/// Sorts the attributes of a file with one part by their names. The library writes those that it does not know in no
/// order, and equal pictures are to be equal files. What follows stays where it is, as the header keeps its length.
pub fn sort(bytes: &mut [u8]) {
    let Some(mut attributes) = attributes(bytes) else { return };
    let (Some(first), Some(last)) = (attributes.first(), attributes.last()) else { return };
    let all = first.start..last.end;
    attributes.sort_by(|a, b| name(&bytes[a.clone()]).cmp(name(&bytes[b.clone()])));
    let sorted: Vec<u8> = attributes.into_iter().flat_map(|a| bytes[a].iter().copied()).collect();
    bytes[all].copy_from_slice(&sorted);
}

/// Where each attribute stands: name, type, size and value. `None` if the header ends before they do.
fn attributes(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let text_end = |from: usize| Some(from + bytes.get(from..)?.iter().position(|b| *b == 0)? + 1);
    let (mut list, mut at) = (Vec::new(), HEAD);
    while *bytes.get(at)? != 0 {
        let size_at = text_end(text_end(at)?)?;
        let size = u32::from_le_bytes(*bytes.get(size_at..)?.first_chunk()?) as usize;
        let end = size_at.checked_add(4)?.checked_add(size).filter(|end| *end < bytes.len())?;
        list.push(at..end);
        at = end;
    }
    Some(list)
}

fn name(attribute: &[u8]) -> &[u8] {
    attribute.split(|b| *b == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
        let size = (value.len() as u32).to_le_bytes();
        [name.as_bytes(), b"\0string\0", &size, value].concat()
    }

    #[test]
    fn attributes_are_sorted_and_the_rest_stays() {
        let (a, b, c) = (attribute("a", b""), attribute("b", b"\0\0"), attribute("c", b"xyz"));
        let file = |parts: [&Vec<u8>; 3]| [&b"12345678"[..], parts[0], parts[1], parts[2], b"\0pixels"].concat();
        let mut sorted = file([&c, &a, &b]);
        sort(&mut sorted);
        assert_eq!(sorted, file([&a, &b, &c]));
        // What is cut short is left alone.
        for length in 0..sorted.len() - 7 {
            let mut cut = file([&c, &a, &b])[..length].to_vec();
            let before = cut.clone();
            sort(&mut cut);
            assert_eq!(cut, before);
        }
    }
}
