//! The names of the functions that are run for a closure: see `std/bsdf.ssl`.

pub const BEGIN: &str = "bsdf_begin";
pub const EVAL: &str = "bsdf_eval";
pub const DRAW: &str = "bsdf_draw";
pub const BENEATH: &str = "bsdf_beneath";
