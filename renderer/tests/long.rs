//! Tests that run in release, too, where they are longer.

mod caustics;
mod equal_pictures;
mod ran;
