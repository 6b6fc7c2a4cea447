//! Which line of a file is at fault, found by reading it once more: nothing of this is held while a sound file is read.

use super::Text;
use super::joined::JOINT;
use super::lines::{Corner, Lines, Statement};
use super::statements::place;
use std::io::{self, BufRead};

/// How many lines of an editor end in a text.
pub fn line_ends(text: &[u8]) -> usize {
    memchr::memchr2_iter(b'\n', JOINT, text).count()
}

/// Counts positions, up to the position `number` (from 0). Also gives that position's line, from 1, if it is there.
pub fn positions<T: Text + ?Sized>(text: &T, number: usize) -> io::Result<(usize, Option<usize>)> {
    let (mut reader, mut line, mut count, mut lines) = (text.open()?, Vec::new(), 0, 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        if matches!(line.trim_ascii_start(), [b'v', after, ..] if after.is_ascii_whitespace()) {
            if count == number {
                return Ok((count, Some(lines + 1)));
            }
            count += 1;
        }
        lines += line_ends(&line);
        line.clear();
    }
    Ok((count, None))
}

/// The line of the first face with a corner that is not there, in a file of so many positions, texture coordinates and normals.
pub fn face<T: Text + ?Sized>(text: &T, counts: [usize; 3]) -> Option<usize> {
    let mut reader = text.open().ok()?;
    let (mut so_far, mut lines_before) = ([0; 3], 0);
    loop {
        let some = Lines::read(&mut *reader).ok().filter(|some| !some.is_empty())?;
        for lines in &some {
            let mut corners = &lines.corners[..];
            for statement in &lines.statements {
                match statement {
                    Statement::Position(..) => so_far[0] += 1,
                    Statement::Coordinates(_) => so_far[1] += 1,
                    Statement::Normal(_) => so_far[2] += 1,
                    Statement::Face(count, first) => {
                        let (face, rest) = corners.split_at_checked(*count)?;
                        corners = rest;
                        if !face.iter().all(|corner| is_there(corner, so_far, counts)) {
                            return Some(lines_before + lines.number(*first));
                        }
                    }
                    _ => {}
                }
            }
            lines_before += lines.ends;
        }
    }
}

fn is_there(corner: &Corner, so_far: [usize; 3], counts: [usize; 3]) -> bool {
    let numbers = [corner.position, corner.coordinates, corner.normal];
    let sound = |list: usize| {
        let found = place(numbers[list], so_far[list]).is_some_and(|place| (place as usize) < counts[list]);
        // Of coordinates and normals there may be none.
        found || list > 0 && (numbers[list] == 0 || counts[list] == 0)
    };
    (0..3).all(sound)
}
