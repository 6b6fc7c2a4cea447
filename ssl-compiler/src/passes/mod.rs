//! The transforms of the IR, one in each file. Each takes a verified module and leaves a verified module.

pub mod ad;
pub mod additions;
pub mod boundaries;
mod copies;
pub mod dce;
pub mod dead_parameters;
pub mod expand_math;
pub mod fuel;
pub mod gradients;
pub mod hoist;
pub mod inline;
pub mod lift;
pub mod poison;
pub mod remarks;
pub mod simplify;
pub mod sweeps;
pub mod tables;
pub mod tails;
pub mod unroll;
