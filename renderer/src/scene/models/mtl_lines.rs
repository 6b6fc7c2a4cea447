//! A library of materials (MTL) made ready for tobj, line by line: tobj drops a whole library for one line that it cannot read,
//! and ends the program at a color of fewer than three numbers.
//!
//! What comes out has only lines that tobj can read. A color of one number gets its other two, and `d -halo x` becomes `d x`. All
//! other lines stay as they are, or are left out with a sentence for the user.

use std::borrow::Cow;

/// What is left of a library.
pub struct Readable {
    pub text: String,
    /// What is wrong with the lines that are left out, by their numbers, from 1.
    pub faults: Vec<(usize, String)>,
}

pub fn readable(library: &[u8]) -> Readable {
    let mut out = Readable { text: String::with_capacity(library.len()), faults: Vec::new() };
    // Without a name, a material has no place to put its values.
    let mut nameless = false;
    for (i, bytes) in library.split(|byte| *byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(bytes);
        let begins = line.split_whitespace().next() == Some("newmtl");
        match line_of(&line) {
            Ok(line) if begins || !nameless => {
                nameless = false;
                out.text.push_str(&line);
                out.text.push('\n');
            }
            Err(why) if begins || !nameless => {
                nameless |= begins;
                out.faults.push((i + 1, why));
            }
            _ => {}
        }
    }
    out
}

/// A line as tobj can read it, or what is wrong with it.
fn line_of(line: &str) -> Result<Cow<'_, str>, String> {
    let mut words = line.split_whitespace();
    let Some(key) = words.next() else { return Ok(line.into()) };
    let is_empty = words.clone().next().is_none();
    // Where numbers are expected, a comment may follow them.
    let mut values = words.take_while(|word| !word.starts_with('#')).peekable();
    match key {
        "Ka" | "Kd" | "Ks" | "Ke" | "Tf" => {
            let [r, g, b] = color(key, &values.collect::<Vec<_>>())?;
            Ok(format!("{key} {r} {g} {b}").into())
        }
        "Ns" | "Ni" => Ok(format!("{key} {}", number(key, values.next())?).into()),
        "d" => {
            // A halo makes the silhouette opaque. The number is what counts where the surface faces the viewer.
            values.next_if_eq(&"-halo");
            Ok(format!("d {}", number(key, values.next())?).into())
        }
        "illum" => match values.next() {
            Some(model) if model.parse::<u8>().is_ok() => Ok(format!("illum {model}").into()),
            Some(other) => Err(format!("`{}` is no illumination model, which is a number from 0 to 10", shown(other))),
            None => Err("`illum` is without its number".to_owned()),
        },
        "newmtl" if is_empty => {
            Err("`newmtl` is without a name, so the lines up to the next `newmtl` are left out as well".to_owned())
        }
        "map_Ka" | "map_Kd" | "map_Ks" | "map_Bump" | "map_bump" | "map_Ns" | "map_ns" | "map_NS" | "bump"
        | "map_d"
            if is_empty =>
        {
            Err(format!("`{key}` is without the name of an image"))
        }
        _ => Ok(line.into()),
    }
}

/// Three numbers; of one, the others are the same.
fn color<'a>(key: &str, values: &[&'a str]) -> Result<[&'a str; 3], String> {
    let numbers = match *values {
        [] => return Err(format!("`{key}` is without its numbers")),
        [kind @ ("spectral" | "xyz"), ..] => {
            return Err(format!("`{key} {kind}`: colors are read as red, green and blue"));
        }
        [r] => [r; 3],
        [r, g] => {
            let (r, g) = (shown(r), shown(g));
            return Err(format!("`{key} {r} {g}` has two numbers, and a color has one or three"));
        }
        [r, g, b, ..] => [r, g, b],
    };
    for value in numbers {
        number(key, Some(value))?;
    }
    match numbers.iter().find(|value| value.parse::<f32>().is_ok_and(|x| x < 0.0)) {
        Some(value) => Err(format!("`{}` behind `{key}` is less than 0", shown(value))),
        None => Ok(numbers),
    }
}

fn number<'a>(key: &str, value: Option<&'a str>) -> Result<&'a str, String> {
    let value = value.ok_or_else(|| format!("`{key}` is without its number"))?;
    match value.parse::<f32>() {
        Ok(x) if x.is_finite() => Ok(value),
        _ => Err(format!("`{}` behind `{key}` is not a usable number", shown(value))),
    }
}

/// The beginning of a word that may be very long.
fn shown(word: &str) -> String {
    const MOST: usize = 24;
    match word.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_completed_or_kept() {
        for (line, expected) in [
            ("Kd .5", "Kd .5 .5 .5"),
            ("  Ks\t0 # black", "Ks 0 0 0"),
            ("Ke 1 2 3 4", "Ke 1 2 3"),
            ("Tf 0.5", "Tf 0.5 0.5 0.5"),
            ("d -halo .25", "d .25"),
            ("d .25\r", "d .25"),
            ("Ns 1e2 # sharp", "Ns 1e2"),
            ("illum 2", "illum 2"),
            ("newmtl a # b", "newmtl a # b"),
            ("map_Kd #1.png", "map_Kd #1.png"),
            ("Pr 1,5", "Pr 1,5"),
            ("# Kd xyz", "# Kd xyz"),
            ("", ""),
        ] {
            assert_eq!(line_of(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn each_fault_has_its_line_and_its_sentence() {
        let library =
            b"newmtl a\nKd xyz 1 1 1\nKd .5 .5\nKs\nKe nan 0 0\nKa 1 -1 0\nNi 1,5\nd -halo\nillum 2.0\nmap_Kd \n\
            Ns 7\nnewmtl\nKd bad\nd 0\nnewmtl b\nbump";
        let Readable { text, faults } = readable(library);
        assert_eq!(text, "newmtl a\nNs 7\nnewmtl b\n");
        let expected = [
            (2, "`Kd xyz`"),
            (3, "`Kd .5 .5` has two numbers"),
            (4, "`Ks` is without its numbers"),
            (5, "`nan` behind `Ke` is not a usable number"),
            (6, "`-1` behind `Ka` is less than 0"),
            (7, "`1,5` behind `Ni` is not a usable number"),
            (8, "`d` is without its number"),
            (9, "`2.0` is no illumination model"),
            (10, "`map_Kd` is without the name of an image"),
            (12, "`newmtl` is without a name"),
            (16, "`bump` is without the name of an image"),
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for ((number, why), (at, words)) in faults.iter().zip(expected) {
            assert!(*number == at && why.contains(words), "{number}: {why}, and not {at}: {words}");
        }
    }

    /// Of any bytes something is left that tobj reads: words and numbers that mean something in such files, in any order and
    /// with any bytes between them.
    #[test]
    fn tobj_reads_what_is_left_of_any_bytes() {
        let words = "newmtl Ka Kd Ks Ke Tf Ns Ni d illum map_Ka map_Kd map_Ks map_Bump map_bump map_Ns map_ns map_NS bump \
            map_d Tr -halo spectral xyz # #x .5 1 0 -1 2.0 1,5 1e39 nan inf 255 256 a";
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut state = 1_u32;
        let mut draw = move |below: usize| {
            // Marsaglia's xorshift.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as usize % below
        };
        for _ in 0..20_000 {
            let mut library = Vec::new();
            for _ in 0..draw(24) {
                library.extend(words[draw(words.len())].as_bytes());
                match draw(8) {
                    0 => library.push(draw(256) as u8),
                    1 => library.extend("\u{a0}".as_bytes()),
                    2 | 3 => library.push(b'\n'),
                    4 => library.extend(b"\r\n"),
                    _ => library.push(b' '),
                }
            }
            let Readable { text, .. } = readable(&library);
            let found = tobj::load_mtl_buf(&mut text.as_bytes());
            assert!(found.is_ok(), "{:?}: {:?}", String::from_utf8_lossy(&library), found.err());
        }
    }
}
