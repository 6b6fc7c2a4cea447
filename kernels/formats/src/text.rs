//! Texts in UTF-8: a byte order mark in front of one is left out, and encodings that are not read are told by their names.

/// The byte order mark of UTF-8, which some editors write before a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text without its byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// The fault of a text with this beginning, if it cannot be read line by line.
pub fn fault(beginning: &[u8]) -> Option<&'static str> {
    let utf_16 = "it is in UTF-16; save it as UTF-8";
    match beginning {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(utf_16),
        // Letters of ASCII without a mark.
        [0, letter, 0, _, ..] | [letter, 0, _, 0, ..] if letter.is_ascii() && *letter != 0 => Some(utf_16),
        text => {
            let ends = |line_end: u8| text.contains(&line_end);
            (ends(b'\r') && !ends(b'\n')).then_some(
                "its lines end with CR alone, as those of old Mac OS; save it with LF or CR LF at the ends of lines",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_left_out_and_other_encodings_are_named() {
        assert_eq!((without_mark(b"\xef\xbb\xbf1 2\n"), without_mark(b"1 2\n")), (&b"1 2\n"[..], &b"1 2\n"[..]));
        let utf_16 = |units: &str, to: fn(u16) -> [u8; 2]| units.encode_utf16().flat_map(to).collect::<Vec<u8>>();
        for units in ["\u{feff}1 2\n", "1 2\n"] {
            for to in [u16::to_le_bytes, u16::to_be_bytes] {
                assert!(fault(&utf_16(units, to)).is_some_and(|why| why.contains("UTF-16")), "{units:?}");
            }
        }
        assert!(fault(b"v 0 0 0\rv 1 0 0\r").is_some_and(|why| why.contains("CR")));
        for text in [&b"v 0 0 0\r\nv"[..], b"v 0 0 0", b"", b"\xe9t\xe9\n", b"\xef\xbb\xbf1"] {
            assert_eq!(fault(text), None);
        }
    }
}
