//! From text to syntax tree. Lexer and parser never give up: they report what they do not understand
//! and go on, so that one run shows several mistakes.

pub mod ast;
pub(crate) mod foreign;
pub mod format;
pub mod lexer;
mod operators;
pub mod parser;
pub(crate) mod parser_derivatives;
mod parser_expr;
mod parser_foreign;
mod parser_foreign_items;
mod parser_generics;
mod parser_integrals;
mod parser_items;
mod parser_metadata;
mod parser_methods;
mod parser_mistakes;
mod parser_operators;
mod parser_statements;
mod parser_strings;
mod parser_switch;
mod parser_tests;
mod parser_types;
pub mod print;
mod written_types;

pub use format::format;
pub(crate) use parser::is_reserved;
pub use parser::parse;
pub(crate) use parser_derivatives::{DIFFERENTIAL, PAIR};
