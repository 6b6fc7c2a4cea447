//! Strings as numbers. Shaders hold no text: a string is a hash of its text. So units that were compiled apart, and
//! hosts, mean the same name by the same number.

/// The number of a text: FNV-1a (Fowler, Noll & Vo), and 0 for the empty one, so that what starts at
/// zero starts empty.
pub fn string_id(text: &str) -> i32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    match (text, hash) {
        ("", _) => 0,
        (_, 0) => 1,
        _ => hash as i32,
    }
}

/// The number of a host's text in a program that knows the texts `known`, whose numbers differ: never
/// that of another text of the program.
pub fn host_string_id(text: &str, known: &[String]) -> i32 {
    let mut id = string_id(text);
    while !known.iter().any(|k| k == text) && (id == 0 && !text.is_empty() || known.iter().any(|k| string_id(k) == id))
    {
        id = id.wrapping_add(1);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_test_vectors() {
        // http://www.isthe.com/chongo/tech/comp/fnv/: 32 bits, FNV-1a.
        assert_eq!(string_id("a") as u32, 0xe40c_292c);
        assert_eq!(string_id("foobar") as u32, 0xbf9c_f968);
        assert_eq!(string_id(""), 0);
    }

    #[test]
    fn a_text_of_the_host_equals_no_other_text_of_the_program() {
        // Two words with one FNV-1a hash.
        let (a, b) = ("costarring", "liquid");
        assert_eq!(string_id(a), string_id(b));
        let known = vec![a.to_owned(), "x".to_owned()];
        assert_eq!(host_string_id(a, &known), string_id(a));
        assert_ne!(host_string_id(b, &known), string_id(a));
        assert_eq!(host_string_id("", &known), 0);
    }
}
