//! Inverse rendering: the gradient of a picture by what a scene consists of, and what it takes to go down it.
//!
//! A [`Parameter`] is one thing of a scene that can be fitted, by its name. [`Differentiated`] is a scene with the
//! parameters that were chosen; it renders, takes a picture's cotangents back to the parameters, and moves them without being
//! built anew.

mod attached;
mod derivative;
mod differentiated;
mod gradient;
pub mod job;
mod parameters;
mod texels;
mod update;

pub use derivative::Derivative;
pub use differentiated::{Differentiated, NotDifferentiable};
pub use gradient::{Gradient, GradientError};
pub use parameters::{Parameter, Target, choose, list, not_chosen};
pub use texels::Channels;
pub use update::values;
