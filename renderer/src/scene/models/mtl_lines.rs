//! Libraries of materials (MTL; Wavefront, "MTL Material Format", with the extension of physically based materials that Clara.io
//! published), line by line. A line that cannot be read costs nothing else.

use super::mtl_maps::{Map, map};
use formats::text;
use ssl_compiler::diagnostics::closest;

/// The statements about a material; `None` where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    pub name: String,
    pub diffuse: Option<[f32; 3]>,
    pub specular: Option<[f32; 3]>,
    pub emissive: Option<[f32; 3]>,
    /// `Tf`.
    pub filter: Option<[f32; 3]>,
    /// `Ns`.
    pub exponent: Option<f32>,
    /// `Ni`.
    pub ior: Option<f32>,
    /// `d`.
    pub dissolve: Option<f32>,
    /// `Tr`, of which `d` is the rest to 1. Some writers mean `d` by it and write both, so `d` counts.
    pub transparency: Option<f32>,
    pub illumination: Option<u8>,
    /// `Pr`.
    pub roughness: Option<f32>,
    /// `Pm`.
    pub metallic: Option<f32>,
    pub diffuse_map: Option<Map>,
    pub opacity_map: Option<Map>,
    pub roughness_map: Option<Map>,
    pub metallic_map: Option<Map>,
    pub normal_map: Option<Map>,
}

/// A library, as far as it can be read.
#[derive(Default)]
pub struct Library {
    pub materials: Vec<Statements>,
    /// Faults of lines that are left out, by line numbers from 1.
    pub faults: Vec<(usize, String)>,
    /// Statements and options that are not taken over, each once.
    pub left_out: Vec<String>,
}

/// Statements that are read.
const READ: &str = "newmtl Kd Ks Ke Tf Ns Ni d Tr illum Pr Pm map_Kd map_d map_Pr map_Pm norm";

/// Statements without an effect here: there is no ambient light, and textures are always filtered.
const NEEDLESS: &str = "Ka map_Ka map_aat sharpness";

/// Statements that are reported as left out.
const LEFT_OUT: &str = "map_Ks map_Ns map_ns map_NS map_Ke map_Tr map_Tf map_Ni map_Ps map_Pc map_Pcr map_aniso \
    map_anisor map_RMA map_ORM map_refl map_Bump map_bump map_disp bump disp decal refl Pc Pcr Ps \
    aniso anisor Km";

impl Library {
    /// The error is a sentence for the user.
    pub fn read(bytes: &[u8]) -> Result<Library, String> {
        if let Some(fault) = text::fault(bytes) {
            return Err(fault.to_owned());
        }
        let mut library = Library::default();
        // Without a name, a material has no place to put its values.
        let mut nameless = false;
        for (i, bytes) in text::without_mark(bytes).split(|byte| *byte == b'\n').enumerate() {
            let line = String::from_utf8_lossy(bytes);
            let Some(key) = line.split_whitespace().next().filter(|key| !key.starts_with('#')) else { continue };
            let begins = key == "newmtl";
            if !begins && nameless {
                continue;
            }
            let read = library.line(key, line.trim_start()[key.len()..].trim());
            nameless = if begins { read.is_err() } else { nameless };
            library.faults.extend(read.err().map(|why| (i + 1, why)));
        }
        Ok(library)
    }

    /// Takes in a statement. The error is a sentence about its fault.
    fn line(&mut self, key: &str, rest: &str) -> Result<(), String> {
        if key == "newmtl" {
            if rest.is_empty() {
                let why = "`newmtl` is without a name, so the lines up to the next `newmtl` are left out as well";
                return Err(why.to_owned());
            }
            self.materials.push(Statements { name: rest.to_owned(), ..Statements::default() });
            return Ok(());
        }
        let mut nowhere = Statements::default();
        let to = self.materials.last_mut().unwrap_or(&mut nowhere);
        // Where numbers are expected, a comment may follow them.
        let mut values = rest.split_whitespace().take_while(|word| !word.starts_with('#')).peekable();
        let image = |slot: &mut Option<Map>| {
            *slot = Some(map(key, rest)?);
            Ok::<_, String>(slot.as_ref().is_some_and(|map| map.has_options))
        };
        let has_options = match key {
            "Kd" | "Ks" | "Ke" | "Tf" => {
                let color = Some(color(key, &values.collect::<Vec<_>>())?);
                match key {
                    "Kd" => to.diffuse = color,
                    "Ks" => to.specular = color,
                    "Ke" => to.emissive = color,
                    _ => to.filter = color,
                }
                false
            }
            "Ns" | "Ni" | "d" | "Tr" | "Pr" | "Pm" => {
                // A halo makes the silhouette opaque. The number counts where the surface faces the viewer.
                if key == "d" {
                    values.next_if_eq(&"-halo");
                }
                let number = Some(number(key, values.next())?);
                match key {
                    "Ns" => to.exponent = number,
                    "Ni" => to.ior = number,
                    "d" => to.dissolve = number,
                    "Tr" => to.transparency = number,
                    "Pr" => to.roughness = number,
                    _ => to.metallic = number,
                }
                false
            }
            "illum" => {
                to.illumination = Some(illumination(values.next())?);
                false
            }
            "map_Kd" => image(&mut to.diffuse_map)?,
            "map_d" => image(&mut to.opacity_map)?,
            "map_Pr" => image(&mut to.roughness_map)?,
            "map_Pm" => image(&mut to.metallic_map)?,
            "norm" => image(&mut to.normal_map)?,
            _ if is_among(NEEDLESS, key) => false,
            _ if is_among(LEFT_OUT, key) => {
                self.leave_out(format!("`{key}` of its materials"));
                false
            }
            _ => return Err(unknown(key)),
        };
        if has_options {
            self.leave_out(format!("options of `{key}`, such as `-s`"));
        }
        Ok(())
    }

    fn leave_out(&mut self, what: String) {
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }
}

fn is_among(list: &str, key: &str) -> bool {
    list.split(' ').any(|word| word == key)
}

fn unknown(key: &str) -> String {
    let known = [READ, LEFT_OUT, NEEDLESS].into_iter().flat_map(|list| list.split(' '));
    // Some writers have all in lower case.
    let same = known.clone().find(|known| known.eq_ignore_ascii_case(key));
    let hint = same.or_else(|| closest(key, known));
    let hint = hint.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("`{}` is no statement of materials{hint}", shown(key))
}

fn illumination(value: Option<&str>) -> Result<u8, String> {
    let value = value.ok_or("`illum` is without its number")?;
    value.parse().map_err(|_| format!("`{}` is no illumination model, which is a number from 0 to 10", shown(value)))
}

/// Three numbers; of one, the others are the same.
fn color(key: &str, values: &[&str]) -> Result<[f32; 3], String> {
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
    let mut color = [0.0; 3];
    for (to, value) in color.iter_mut().zip(numbers) {
        *to = number(key, Some(value))?;
        if *to < 0.0 {
            return Err(format!("`{}` behind `{key}` is less than 0", shown(value)));
        }
    }
    Ok(color)
}

fn number(key: &str, value: Option<&str>) -> Result<f32, String> {
    let value = value.ok_or_else(|| format!("`{key}` is without its number"))?;
    let number = value.parse::<f32>().ok().filter(|x| x.is_finite());
    number.ok_or_else(|| format!("`{}` behind `{key}` is not a usable number", shown(value)))
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

    fn read(text: &str) -> Library {
        Library::read(text.as_bytes()).expect("it is a text")
    }

    #[test]
    fn lines_are_completed_or_kept() {
        let library = read(
            "\u{feff}newmtl a # b\nKd .5\n  Ks\t0 # black\nKe 1 2 3 4\nTf 0.5\nd -halo .25\r\nNs 1e2 # sharp\nillum 2\n\
             map_Kd #1.png\n# Kd xyz\n\nPr 0.25\nPm 1\nTr 0.75\n",
        );
        assert!(
            library.faults.is_empty() && library.left_out.is_empty(),
            "{:?} {:?}",
            library.faults,
            library.left_out
        );
        let expected = Statements {
            name: "a # b".to_owned(),
            diffuse: Some([0.5; 3]),
            specular: Some([0.0; 3]),
            emissive: Some([1.0, 2.0, 3.0]),
            filter: Some([0.5; 3]),
            dissolve: Some(0.25),
            exponent: Some(100.0),
            illumination: Some(2),
            diffuse_map: Some(Map { file: "#1.png".to_owned(), has_options: false }),
            roughness: Some(0.25),
            metallic: Some(1.0),
            transparency: Some(0.75),
            ..Statements::default()
        };
        assert_eq!(library.materials, [expected]);
    }

    #[test]
    fn each_fault_has_its_line_and_its_sentence() {
        let library = read(
            "newmtl a\nKd xyz 1 1 1\nKd .5 .5\nKs\nKe nan 0 0\nTf 1 -1 0\nNi 1,5\nd -halo\nillum 2.0\nmap_Kd \n\
            Ns 7\nnewmtl\nKd bad\nd 0\nnewmtl b\nnorm\nmap_kd a.png\nKb 1 1 1\nsomething else",
        );
        let names: Vec<&str> = library.materials.iter().map(|m| m.name.as_str()).collect();
        assert_eq!((names, library.materials[0].exponent), (vec!["a", "b"], Some(7.0)));
        let expected = [
            (2, "`Kd xyz`"),
            (3, "`Kd .5 .5` has two numbers"),
            (4, "`Ks` is without its numbers"),
            (5, "`nan` behind `Ke` is not a usable number"),
            (6, "`-1` behind `Tf` is less than 0"),
            (7, "`1,5` behind `Ni` is not a usable number"),
            (8, "`d` is without its number"),
            (9, "`2.0` is no illumination model"),
            (10, "`map_Kd` is without the name of an image"),
            (12, "`newmtl` is without a name"),
            (16, "`norm` is without the name of an image"),
            (17, "`map_kd` is no statement of materials; did you mean `map_Kd`?"),
            (18, "`Kb` is no statement of materials; did you mean `K"),
            (19, "`something` is no statement of materials"),
        ];
        assert_eq!(library.faults.len(), expected.len(), "{:?}", library.faults);
        for ((number, why), (at, words)) in library.faults.iter().zip(expected) {
            assert!(*number == at && why.contains(words), "{number}: {why}, and not {at}: {words}");
        }
    }

    #[test]
    fn statements_that_are_not_taken_over_are_told_once() {
        let library = read("newmtl a\nKa 1 1 1\nmap_Ks a.png\nPc 1\nnewmtl b\nmap_Ks b.png\nmap_Kd -s 2 2 2 a.png\n");
        assert!(library.faults.is_empty(), "{:?}", library.faults);
        assert_eq!(
            library.left_out,
            ["`map_Ks` of its materials", "`Pc` of its materials", "options of `map_Kd`, such as `-s`"]
        );
    }

    /// Of any bytes something is left: words and numbers that mean something in such files, in any order and with any bytes between
    /// them.
    #[test]
    fn any_bytes_are_read() {
        let words = [READ, LEFT_OUT, NEEDLESS].into_iter().flat_map(|list| list.split(' '));
        let words: Vec<&str> =
            words.chain("-halo spectral -s -mm # #x .5 1 -1 2.0 1,5 1e39 nan inf 256 a".split(' ')).collect();
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
            let lines = library.iter().filter(|byte| **byte == b'\n').count() + 1;
            if let Ok(found) = Library::read(&library) {
                assert!(found.faults.iter().all(|(line, _)| (1..=lines).contains(line)));
            }
        }
    }
}
