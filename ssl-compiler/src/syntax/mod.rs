//! From text to syntax tree. Lexer and parser never give up: they report what they do not understand
//! and go on, so that one run shows several mistakes.

pub mod ast;
pub mod lexer;
pub mod parser;
mod parser_expr;
mod parser_items;
pub mod print;

pub use parser::parse;
