//! Wavefront OBJ files ("Advanced Visualizer Manual", appendix B): vertices, faces as triangles, names and groups of smoothing.
//! Points, lines, curves and surfaces are passed over.

mod faults;
mod joined;
mod lines;
mod polygon;
mod statements;

pub use statements::{NONE, Piece, Statements, Vertex};

use glam::Vec3;
use joined::Joined;
use ssl_compiler::input;
use std::io::{self, BufRead};
use std::path::Path;

/// How far from the origin vertices may lie, along each axis: a product of four such lengths is still a finite f32.
pub const MOST_FAR: f32 = 1e9;

/// Of a file, which is read piece by piece.
const MOST_BYTES: u64 = 1 << 36;

/// A file's text, in which lines that a backslash continues are one. A reader opens it several times, from the
/// beginning: files are larger than their meshes, so they are not held whole.
pub trait Text: Sync {
    fn open(&self) -> io::Result<Box<dyn BufRead + Send + '_>>;
}

impl Text for Path {
    fn open(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(Box::new(Joined::new(input::open(self, MOST_BYTES)?.0)))
    }
}

impl Text for [u8] {
    fn open(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(Box::new(Joined::new(self)))
    }
}

/// Reads a file. Polygons are cut into triangles; all vertices of faces are there and have usable numbers. Pieces end with each
/// `o` and `g`, and where `by_material` with each other material.
///
/// The error is a sentence for the user, with the number of a line where it is about one.
pub fn read<T: Text + ?Sized>(text: &T, by_material: bool) -> Result<Statements, String> {
    let mut file = Statements::read(text, by_material)?;
    check(text, &file)?;
    let Statements { positions, vertices, triangles, polygons, .. } = &mut file;
    let at = |vertex: u32| positions[vertices[vertex as usize].position as usize];
    for polygon in polygons.drain(..) {
        polygon::cut(&mut triangles[polygon.start as usize..polygon.end as usize], at);
    }
    Ok(file)
}

/// The number of vertices of a file, by its `v` lines.
pub fn count_positions<T: Text + ?Sized>(text: &T) -> io::Result<usize> {
    faults::positions(text, usize::MAX).map(|(count, _)| count)
}

fn check<T: Text + ?Sized>(text: &T, file: &Statements) -> Result<(), String> {
    let Statements { positions, colors, coordinates, normals, vertices, triangles, .. } = file;
    if triangles.is_empty() {
        return Err("it holds no faces".to_owned());
    }
    let counts = [positions.len(), coordinates.len(), normals.len()];
    if !vertices.iter().all(|v| v.is_there(counts)) {
        let line = faults::face(text, counts);
        return Err(with_line(line, "a face names a vertex that is not there".to_owned()));
    }
    let usable = |p: Vec3| p.is_finite() && p.abs().max_element() <= MOST_FAR;
    let of_position = |number: u32, what: String| {
        Err(with_line(faults::positions(text, number as usize).ok().and_then(|(_, line)| line), what))
    };
    if let Some(v) = vertices.iter().find(|v| !usable(positions[v.position as usize])) {
        return of_position(v.position, "a vertex position is not a number from -1e9 to 1e9".to_owned());
    }
    if !colors.is_empty() && colors.len() != positions.len() {
        return Err("some of its vertices have a color, and some have none".to_owned());
    }
    match colors.iter().position(|color| !color.is_finite()) {
        Some(number) => of_position(number as u32, "the color of a vertex is not a usable number".to_owned()),
        None => Ok(()),
    }
}

fn with_line(line: Option<usize>, what: String) -> String {
    line.map_or(what.clone(), |line| format!("line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &[u8]) -> String {
        read(text, false).err().unwrap_or_default()
    }

    /// Lines count as in an editor, also where a backslash joins them.
    #[test]
    fn errors_name_the_line() {
        let square = "v 0 0 0\nv 1 0 0\nv 1 1 \\\n0\nv 0 1 0\n";
        for (text, line) in [
            ("v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n".to_owned(), 3),
            ("\u{feff}# a\nv 0 0 0\n v 1 0 0\n\nv 2e9 1 0\nf 1 2 3\n".to_owned(), 5),
            (format!("{square}f 1 2 3 4\nf 1 2 5\n"), 7),
            (format!("{square}f 1 2 3\nf -1 -2 -5\n"), 7),
            (format!("{square}vt 0 0\nf 1/1 2/1 3/1\nf 1/1 2/2 3/1\n"), 8),
            (format!("{square}f 1 2 x\n"), 6),
            (format!("{square}f 1 \\\n 2 3\n# b\nv 1 2\n"), 9),
            ("v 0 0 0 1 1 1\nv 1 0 0 1 1 1\nv 0 1 0 inf 1 1\nf 1 2 3\n".to_owned(), 3),
        ] {
            let said = said(text.as_bytes());
            assert!(said.starts_with(&format!("line {line}: ")), "{text}: {said}");
        }
        let mut long = "v 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned();
        (0..200_000).for_each(|_| long.push_str("f 1 2 3\n"));
        long.push_str("f 1 2 4\nf 1 a 2\n");
        assert!(said(long.as_bytes()).starts_with("line 200005: "), "{}", said(long.as_bytes()));
        assert!(said(long.replace("f 1 a 2\n", "").as_bytes()).starts_with("line 200004: "));
    }

    #[test]
    fn other_texts_are_told_by_their_kind() {
        let utf_16: Vec<u8> = "\u{feff}v 0 0 0\nf 1 1 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(said(&utf_16).contains("UTF-16"), "{}", said(&utf_16));
        assert!(said(b"v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r").contains("CR"));
        // Names in another encoding, and a comment with one, do no harm.
        assert_eq!(said(b"# caf\xe9\no caf\xe9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), "");
    }

    /// The arrow's fan about its first corner would reach beyond it.
    #[test]
    fn concave_polygons_are_cut_and_lines_are_no_faces() {
        let file =
            read(&b"v -.5 -.5 0\nv 0 0 0\nv .5 -.5 0\nv 0 .9 0\nl 1 2 3\nf 1 2 3 4 # 5\n"[..], false).expect("sound");
        let at = |corner: u32| file.positions[file.vertices[corner as usize].position as usize];
        let area = |[a, b, c]: [u32; 3]| 0.5 * (at(b) - at(a)).cross(at(c) - at(a)).z;
        let areas: Vec<f32> = file.triangles.iter().map(|t| area(*t)).collect();
        assert!(areas.len() == 2 && areas.iter().all(|a| *a > 0.0), "{areas:?}");
        assert!((areas.iter().sum::<f32>() - 0.45).abs() < 1e-6);
    }

    /// The corners of a triangle: position, texture coordinates and normal, the latter two as NaN where a corner has none.
    type Corners = [[[f32; 3]; 3]; 3];

    /// tobj fills missing texture coordinates and normals with zeros, so `has` tells whether they are there.
    fn by_tobj(text: &[u8], has: [bool; 2]) -> Vec<Corners> {
        let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
        let (models, _) = tobj::load_obj_buf(&mut &text[..], &options, |_| Ok(Default::default())).expect("sound");
        let mut found = Vec::new();
        for tobj::Model { mesh, .. } in models {
            let of = |values: &[f32], width: usize, index: u32| {
                let (mut to, from) = ([f32::NAN; 3], index as usize * width);
                to[..width].copy_from_slice(&values[from..from + width]);
                to
            };
            let none = [f32::NAN; 3];
            let corner = |i: usize| {
                [
                    of(&mesh.positions, 3, mesh.indices[i]),
                    if has[0] { of(&mesh.texcoords, 2, mesh.texcoord_indices[i]) } else { none },
                    if has[1] { of(&mesh.normals, 3, mesh.normal_indices[i]) } else { none },
                ]
            };
            found.extend((0..mesh.indices.len() / 3).map(|t| [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]));
        }
        found
    }

    fn by_this(text: &[u8]) -> Vec<Corners> {
        let file = read(text, true).expect("sound");
        let corner = |number: u32| {
            let v = &file.vertices[number as usize];
            let coordinates = file.coordinates.get(v.coordinates as usize);
            let normal = file.normals.get(v.normal as usize);
            [
                file.positions[v.position as usize].to_array(),
                coordinates.map_or([f32::NAN; 3], |c| [c.x, c.y, f32::NAN]),
                normal.map_or([f32::NAN; 3], |n| n.to_array()),
            ]
        };
        file.triangles.iter().map(|t| t.map(corner)).collect()
    }

    /// A grid of triangles with a random order of statements, kinds of indices and groups.
    fn random_file(seed: u64, form: usize) -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let (mut text, mut count) = (String::new(), 0);
        for i in 0..40 {
            text += &format!("v {} {} {}\nvt {} {}\n", below(99), below(99), i, below(9), below(9));
            text += &format!("vn {} {} 1\n", below(9), below(9));
            count += 1;
            match below(6) {
                0 => text += &format!("o part{i}\n"),
                1 => text += &format!("usemtl m{i}\n"),
                _ => {}
            }
            if count < 3 {
                continue;
            }
            let first = below(count - 2);
            let corners: Vec<String> = (first..first + 3)
                .map(|k| {
                    let number =
                        if below(2) == 0 { (k + 1).to_string() } else { (k as i64 - count as i64).to_string() };
                    match form {
                        0 => number,
                        1 => format!("{number}/{number}"),
                        2 => format!("{number}//{number}"),
                        _ => format!("{number}/{number}/{number}"),
                    }
                })
                .collect();
            text += &format!("f {}\n", corners.join(" "));
        }
        text
    }

    /// An independent reader gives the same triangles, in the same order.
    #[test]
    fn triangles_are_those_that_tobj_reads() {
        let bits = |list: Vec<Corners>| {
            list.into_iter().map(|t| t.map(|c| c.map(|v| v.map(f32::to_bits)))).collect::<Vec<_>>()
        };
        for seed in 0..50 {
            for form in 0..4 {
                let text = random_file(seed, form);
                assert_eq!(
                    bits(by_this(text.as_bytes())),
                    bits(by_tobj(text.as_bytes(), [form % 2 == 1, form >= 2])),
                    "{text}"
                );
            }
        }
    }
}
