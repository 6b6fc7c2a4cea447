//! Files with a value for each vertex of a mesh.

use super::codes;
use super::context::Context;
use super::nearby;
use super::schema::ShapeTable;
use crate::geometry::VertexTable;
use crate::geometry::obj_vertices::OtherLength;
use crate::geometry::variables::MAX_COMPONENTS;
use formats::npy::Array;
use ssl_compiler::input;
use std::ops::Range;

/// Of a file.
const MOST_BYTES: u64 = 1 << 33;

const HINT: &str = "it must be an `.npy` with a row of one to four numbers for each vertex, as `numpy.save` writes it";

/// The table that a file has for a variable; what is wrong with others is said. `has_vertices` if the shape has some for it.
pub fn read(
    name: &str,
    (file, at): (&str, Range<usize>),
    has_vertices: bool,
    context: &mut Context,
) -> Option<VertexTable> {
    if !has_vertices {
        let message = format!("a file has values of `{name}` for vertices, and only shapes of type `obj` take such");
        let hint =
            "give a number, or a list of up to four; glTF files have values of vertices as attributes, such as `_WEAR`";
        context.error(&codes::BAD_VERTEX_VALUES, at, message, hint);
        return None;
    }
    let path = context.path(file);
    let bytes = match input::bytes(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(e) => {
            let hint = nearby::hint(&path, HINT);
            context.error(&codes::UNREADABLE, at, nearby::why(&path, &e), hint);
            return None;
        }
    };
    match Array::read(&bytes).and_then(table) {
        Ok((components, values)) => Some(VertexTable { name: name.to_owned(), components, values }),
        Err(why) => {
            context.error(&codes::BAD_VERTEX_VALUES, at, format!("`{}` {why}", path.display()), HINT);
            None
        }
    }
}

/// The columns of an array, and its numbers.
fn table(array: Array) -> Result<(usize, Vec<f32>), String> {
    let components = match array.shape[..] {
        [_] => 1,
        [_, columns] if (1..=MAX_COMPONENTS).contains(&columns) => columns,
        _ => return Err(format!("has the shape {:?}", array.shape)),
    };
    let values: Vec<f32> = array.numbers.iter().map(|x| *x as f32).collect();
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(format!("has {:?} in row {}, which is no finite float", array.numbers[at], at / components)),
        None => Ok((components, values)),
    }
}

/// Says that a table has too few or too many rows for the mesh of a shape.
pub fn refuse_length(table: &ShapeTable, other: &OtherLength, context: &mut Context) {
    let OtherLength { name, rows, vertices } = other;
    let at = table.variables.get(name).map_or(table.kind.span(), toml::Spanned::span);
    let mesh = table.file.as_ref().map_or("the mesh", |file| file.get_ref().as_str());
    let message = format!("the file of `{name}` has {rows} rows, and `{mesh}` has {vertices} vertices");
    context.error(
        &codes::BAD_VERTEX_VALUES,
        at,
        message,
        "write a row for each line of the mesh that begins with `v`, in their order",
    );
}
