//! Hostile sources of any length: each shape repeats or nests one construct as long as the text goes on.
//!
//! Whoever compiles what strangers send must get an answer in time that is proportional to its length. The table
//! of the performance page (`hostile`, in the benches) is made from a megabyte of each, `tests/scaling.rs` compiles
//! shorter ones.

mod arrays;
mod chains;
mod copies;
mod declarations;
mod generics;
mod malformed;
mod nested;
mod statements;
mod values;

/// One kind of hostile source.
pub struct Shape {
    pub name: &'static str,
    /// The text of about so many bytes.
    pub text: fn(usize) -> String,
}

const fn shape(name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape { name, text }
}

/// Every shape, group by group.
pub fn shapes() -> impl Iterator<Item = &'static Shape> {
    [
        nested::SHAPES,
        chains::SHAPES,
        declarations::SHAPES,
        generics::SHAPES,
        values::SHAPES,
        statements::SHAPES,
        arrays::SHAPES,
        copies::SHAPES,
        malformed::SHAPES,
    ]
    .into_iter()
    .flatten()
}

/// `head`, then piece after piece up to `bytes`, then `tail`.
fn filled(bytes: usize, head: &str, piece: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = head.to_owned();
    let mut i = 0;
    while text.len() + tail.len() < bytes {
        text.push_str(&piece(i));
        i += 1;
    }
    text.push_str(tail);
    text
}

/// A shader whose body is filled; `x` is a float that is not known beforehand, `i` an int, `r` the output.
fn body(bytes: usize, declarations: &str, piece: impl Fn(usize) -> String) -> String {
    filled(bytes, &format!("{declarations}\n{MAIN}"), piece, "}\n")
}

const MAIN: &str = "shader main(out float r) {\nfloat x = global_value<position>.x; int i = int(x);\n";

/// A shader in front of which declarations are filled in.
fn above(bytes: usize, declaration: impl Fn(usize) -> String) -> String {
    filled(bytes, "", declaration, &format!("{MAIN}r = x;\n}}\n"))
}

/// How many pieces of this length fit.
fn number(bytes: usize, piece: usize) -> usize {
    (bytes / piece).max(1)
}
