//! Curves of a scene: strands in its own tables, or in a text file.
//!
//! The file has a point a line, `x y z radius`, and an empty line between strands; what follows a `#` is a comment.

use super::codes;
use super::context::Context;
use super::schema::ShapeTable;
use crate::geometry::curves::Basis;
use crate::geometry::{Curves, Transform};
use formats::text;
use glam::Vec4;
use std::ops::Range;

/// The curves of a table, placed; `None` after saying what is wrong.
pub fn read(table: &ShapeTable, transform: &Transform, context: &mut Context) -> Option<Curves> {
    let basis = basis(table);
    let (strands, span) = match (&table.strands, &table.file) {
        (Some(strands), None) => {
            let points = |strand: &Vec<[f32; 4]>| strand.iter().map(|p| Vec4::from(*p)).collect();
            (strands.get_ref().iter().map(points).collect(), strands.span())
        }
        (None, Some(file)) => {
            let id = context.text_file(file)?;
            let parsed = parse(&context.sources.get(id).text);
            (parsed.map_err(|why| refuse(&why, file.span(), context)).ok()?, file.span())
        }
        _ if table.spoiled => return None,
        _ => {
            let message = "`curves` need either a file or strands";
            let hint = "add `file = \"….txt\"` or `strands = [[[x, y, z, radius], …], …]`";
            context.error(&codes::CONFLICT, table.kind.span(), message, hint);
            return None;
        }
    };
    if strands.is_empty() {
        refuse("there are none", span, context);
        return None;
    }
    let mut curves = Curves::default();
    let added: Result<(), String> = strands.iter().try_for_each(|s: &Vec<Vec4>| curves.add_strand(basis, s));
    added.map_err(|why| refuse(&why, span, context)).ok()?;
    curves.transform(transform);
    Some(curves)
}

fn basis(table: &ShapeTable) -> Basis {
    match table.basis.as_ref().map(|b| b.get_ref().as_str()) {
        Some("bezier") => Basis::Bezier,
        _ => Basis::BSpline,
    }
}

fn refuse(why: &str, span: Range<usize>, context: &mut Context) {
    let hint = "a point is `x y z radius`; strands in a file are parted by empty lines";
    context.error(&codes::BAD_MESH, span, format!("the strands cannot be used: {why}"), hint);
}

fn parse(text: &str) -> Result<Vec<Vec<Vec4>>, String> {
    if let Some(why) = text::fault(text.as_bytes()) {
        return Err(why.to_owned());
    }
    // A byte order mark is no part of the first number.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut strands = vec![Vec::new()];
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            strands.push(Vec::new());
            continue;
        }
        let numbers: Result<Vec<f32>, _> = line.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[x, y, z, r]) => strands.last_mut().into_iter().for_each(|s| s.push(Vec4::new(x, y, z, r))),
            _ => return Err(format!("line {} is not four numbers", number + 1)),
        }
    }
    strands.retain(|s| !s.is_empty());
    if strands.is_empty() { Err("there are none".to_owned()) } else { Ok(strands) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_strands_of_points() {
        let text = "# two strands\n0 0 0 0.1\n1 2 3 .5 # wide\n\n\n4 5 6 0\n";
        let expected = vec![
            vec![Vec4::new(0.0, 0.0, 0.0, 0.1), Vec4::new(1.0, 2.0, 3.0, 0.5)],
            vec![Vec4::new(4.0, 5.0, 6.0, 0.0)],
        ];
        assert_eq!(parse(text), Ok(expected.clone()));
        assert_eq!(parse(&format!("\u{feff}{}", &text[14..])), Ok(expected));
        assert!(parse("0 0 0 1\r1 0 0 1\r").is_err_and(|why| why.contains("CR")));
        assert_eq!(parse("1 2 3"), Err("line 1 is not four numbers".to_owned()));
        assert!(parse("# nothing").is_err() && parse("a b c d").is_err());
    }
}
