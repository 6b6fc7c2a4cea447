//! Shader groups: shaders connected into one shader.
//!
//! A [`ShaderGroup`] is made in Rust or read from a graph file ([`read`], [`read_text`]). [`link`] writes it as a text
//! of the language, in which a shader calls the shaders of the units. From there on it is a file like any other: the
//! usual stages parse, check, explain and compile it, and anybody can read it. [`show`] draws it.

mod declaration;
#[doc(hidden)]
pub mod draw;
mod embed;
mod form;
mod generic;
pub mod group;
mod interface;
mod link;
mod marks;
mod read;
mod resolve;
mod schema;
mod show;
mod text;
mod units;
mod values;

pub use group::{ShaderGroup, UnitSource};
pub use link::{Linked, Slot, link, link_into};
pub use marks::Mark;
pub use read::{is_graph, read, read_from, read_text};
pub use show::show;
