//! Tests that run in release, too, where they are longer.

mod equal_pictures;
mod guide_caustics;
mod ran;
