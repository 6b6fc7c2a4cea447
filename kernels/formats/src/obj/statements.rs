//! The statements of an OBJ file: vertices, faces in pieces, and groups of smoothing.
//!
//! Code of this project reads them, and not a library. The former library (tobj) did not tell corners without normals
//! or texture coordinates, and knew nothing of smoothing.

use super::Text;
use super::joined::JOINT;
use super::lines::{Corner, Lines, Statement, words};
use crate::text;
use glam::{Vec2, Vec3};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::io::BufRead;
use std::ops::Range;

/// In place of the number of what a corner does not have.
pub const NONE: u32 = u32::MAX;

/// A file.
#[derive(Default)]
pub struct Statements {
    /// By the order of their statements.
    pub positions: Vec<Vec3>,
    /// None, or one for each position.
    pub colors: Vec<Vec3>,
    pub coordinates: Vec<Vec2>,
    /// Of any length.
    pub normals: Vec<Vec3>,
    /// What is one vertex of a mesh. Within a piece, few stand there twice.
    pub vertices: Vec<Vertex>,
    pub triangles: Vec<[u32; 3]>,
    /// The triangles of each face that has more than one, until it is cut: a fan about the first corner, whether that fits or not.
    pub(super) polygons: Vec<Range<u32>>,
    /// Within which group each triangle is smooth. None if the file does not speak of it, and all is smooth.
    pub groups: Vec<u32>,
    pub pieces: Vec<Piece>,
    /// Behind `mtllib`.
    pub libraries: Vec<String>,
}

/// A corner of faces, by numbers of the lists above.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vertex {
    pub position: u32,
    pub coordinates: u32,
    pub normal: u32,
    /// That of its triangles, where it has no normal that is known to have a length.
    group: u32,
}

impl Vertex {
    /// Whether a file of so many positions, texture coordinates and normals has the vertex. A file without texture
    /// coordinates or normals is fine, also if faces name some.
    pub(super) fn is_there(&self, [positions, coordinates, normals]: [usize; 3]) -> bool {
        let is_there = |number: u32, count: usize| count == 0 || number == NONE || (number as usize) < count;
        (self.position as usize) < positions
            && is_there(self.coordinates, coordinates)
            && is_there(self.normal, normals)
    }
}

/// Triangles up to the next piece.
pub struct Piece {
    pub first: usize,
    /// As `usemtl` names it.
    pub material: Option<String>,
    /// As `o` or `g` names it.
    pub object: Option<String>,
}

impl Statements {
    /// Reads a file to its end. Pieces end with each `o` and `g`, and where `by_material` with each other material.
    ///
    /// The error is a sentence for the user.
    pub(super) fn read<T: Text + ?Sized>(text: &T, by_material: bool) -> Result<Statements, String> {
        let mut reader = text.open().map_err(|e| e.to_string())?;
        if let Some(fault) = reader.fill_buf().map(text::fault).map_err(|e| e.to_string())? {
            return Err(fault.to_owned());
        }
        let mut state = State { by_material, begins: true, ..State::default() };
        let mut ready = Lines::read(&mut *reader).map_err(|e| e.to_string())?;
        while !ready.is_empty() {
            // The next lines are parsed while these are taken in.
            let (next, taken) =
                rayon::join(|| Lines::read(&mut *reader), || ready.iter().try_for_each(|lines| state.take(lines)));
            taken?;
            ready = next.map_err(|e| e.to_string())?;
        }
        Ok(state.found)
    }
}

/// Of the faces that follow.
#[derive(Clone, Copy, Default, PartialEq)]
enum Smoothing {
    /// Nothing was said.
    #[default]
    Smooth,
    Group(u32),
    /// Each face is a group of its own.
    Flat,
}

/// A vertex is compared with so many at its position. Where there are more, it may come twice; faces of a large fan would else take
/// time by the square of their number.
const MOST_COMPARED: usize = 16;

/// From here on, groups are single faces.
const FACES: u32 = 1 << 31;

#[derive(Default)]
struct State {
    found: Statements,
    by_material: bool,
    material: Option<String>,
    object: Option<String>,
    /// The next face begins a piece.
    begins: bool,
    /// By position, the last of its vertices, and by vertex the one before it at its position. Positions of faces that follow each
    /// other lie close together, so this takes a fifth of the time that a hash table takes.
    last: Vec<u32>,
    before: Vec<u32>,
    /// The first vertex of the piece.
    first: u32,
    smoothing: Smoothing,
    /// Numbers of groups by what they are called, from 1 on.
    groups: FxHashMap<Vec<u8>, u32>,
    faces: u32,
    /// Lines that were taken in.
    lines: usize,
}

impl State {
    /// Takes in what some lines say. The error is a sentence for the user.
    fn take(&mut self, lines: &Lines) -> Result<(), String> {
        let before = self.lines;
        let unsound = |first: usize| unsound(before + lines.number(first), lines.line(first));
        let mut corners = &lines.corners[..];
        for statement in &lines.statements {
            match statement {
                Statement::Position(position, color) => {
                    self.found.positions.push(*position);
                    self.found.colors.extend(*color);
                }
                Statement::Coordinates(coordinates) => self.found.coordinates.push(*coordinates),
                Statement::Normal(normal) => self.found.normals.push(*normal),
                Statement::Face(count, first) => {
                    let (face, rest) = corners.split_at(*count);
                    corners = rest;
                    self.face(face).ok_or_else(|| unsound(*first))?;
                }
                Statement::Smooth(named) => words(lines.words(named)).take(1).for_each(|named| self.smooth(named)),
                Statement::Object(named) => (self.object, self.begins) = (name(lines.words(named)), true),
                Statement::Material(named) => {
                    let material = name(lines.words(named));
                    self.begins |= self.by_material && material != self.material;
                    self.material = material;
                }
                Statement::Library(named) => self.found.libraries.extend(name(lines.words(named))),
                Statement::Unsound(first) => return Err(unsound(*first)),
            }
        }
        self.lines += lines.ends;
        Ok(())
    }

    /// `None` if a corner cannot be.
    fn face(&mut self, corners: &[Corner]) -> Option<()> {
        let group = match self.smoothing {
            Smoothing::Smooth => 0,
            Smoothing::Group(group) => group,
            Smoothing::Flat => FACES | self.faces,
        };
        let corners: SmallVec<[Vertex; 8]> = corners.iter().map(|c| self.corner(c, group)).collect::<Option<_>>()?;
        // A face of one or two corners has no area.
        if corners.len() > 2 { self.add(&corners, group) } else { Some(()) }
    }

    fn add(&mut self, corners: &[Vertex], group: u32) -> Option<()> {
        if std::mem::take(&mut self.begins) {
            let (material, object) = (self.material.clone(), self.object.clone());
            self.found.pieces.push(Piece { first: self.found.triangles.len(), material, object });
            self.first = u32::try_from(self.found.vertices.len()).ok()?;
        }
        let begin = u32::try_from(self.found.triangles.len()).ok()?;
        let (first, mut last) = (self.numbered(&corners[0])?, self.numbered(&corners[1])?);
        for corner in &corners[2..] {
            let next = self.numbered(corner)?;
            self.found.triangles.push([first, last, next]);
            last = next;
        }
        if corners.len() > 3 {
            self.found.polygons.push(begin..u32::try_from(self.found.triangles.len()).ok()?);
        }
        if self.smoothing != Smoothing::Smooth {
            self.found.groups.resize(self.found.triangles.len(), group);
        }
        self.faces = (self.faces + 1) % FACES;
        Some(())
    }

    /// The number of a vertex, which is added if it is new to the piece.
    fn numbered(&mut self, vertex: &Vertex) -> Option<u32> {
        // Those that a face names before the file gives them are not looked for.
        self.last.resize(self.found.positions.len(), NONE);
        let position = vertex.position as usize;
        let last = self.last.get(position).copied().unwrap_or(NONE);
        let mut number = last;
        for _ in 0..MOST_COMPARED {
            if number == NONE || number < self.first {
                break;
            }
            if self.found.vertices[number as usize] == *vertex {
                return Some(number);
            }
            number = self.before[number as usize];
        }
        let next = u32::try_from(self.found.vertices.len()).ok().filter(|next| *next != NONE)?;
        self.found.vertices.push(*vertex);
        self.before.push(last);
        if let Some(last) = self.last.get_mut(position) {
            *last = next;
        }
        Some(next)
    }

    fn corner(&self, corner: &Corner, group: u32) -> Option<Vertex> {
        let place = |number: i64, count: usize| if number == 0 { Some(NONE) } else { place(number, count) };
        let position = place(corner.position, self.found.positions.len()).filter(|position| *position != NONE)?;
        let coordinates = place(corner.coordinates, self.found.coordinates.len())?;
        let normal = place(corner.normal, self.found.normals.len())?;
        // One of no length counts as missing, and so may one that comes later.
        let is_given = |n: &Vec3| n.normalize_or_zero() != Vec3::ZERO;
        let group = if self.found.normals.get(normal as usize).is_some_and(is_given) { 0 } else { group };
        Some(Vertex { position, coordinates, normal, group })
    }

    fn smooth(&mut self, named: &[u8]) {
        if self.smoothing == Smoothing::Smooth {
            self.found.groups = vec![0; self.found.triangles.len()];
        }
        self.smoothing = match named {
            b"off" | b"0" => Smoothing::Flat,
            name => {
                let next = self.groups.len() as u32 + 1;
                Smoothing::Group(*self.groups.entry(name.to_vec()).or_insert(next))
            }
        };
    }
}

/// Of a material, an object or a file.
fn name(words: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(words).replace(char::from(JOINT), " ")).filter(|name| !name.is_empty())
}

/// The index of element `number`, which counts from 1; −1 is the last of `count` so far. It may stand further below.
pub fn place(number: i64, count: usize) -> Option<u32> {
    let place = if number < 0 { i64::try_from(count).ok()?.checked_add(number)? } else { number - 1 };
    u32::try_from(place).ok().filter(|place| *place != NONE)
}

fn unsound(number: usize, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    format!("line {number}: it is not a well-formed OBJ file: it has the line `{shown}`")
}
