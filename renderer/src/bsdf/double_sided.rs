//! `DoubleSided(closure front, closure back)`: a closure for each side of a surface.
//!
//! | parameter | what |
//! | --- | --- |
//! | front | the closure of the side to which the normal points |
//! | back | the closure of the other side |
//!
//! The geometric normal tells the sides apart. If one closure emits, only its side emits. Both may be any closure, also a sum
//! or a layer.

use super::{Lobes, Place, SurfaceClosure};
use glam::Vec3;
use ssl_compiler::runtime::ClosureDefault;

ssl_compiler::closure_type! {
    /// A closure a side, as shaders make it.
    pub struct DoubleSided { front: closure = ClosureDefault::NoLobes, back: closure = ClosureDefault::NoLobes }
}

impl SurfaceClosure for DoubleSided {
    fn scatter(&self, _place: &Place, _lobes: &mut Lobes<'_>) {}

    fn beneath(&self, place: &Place, parameter: usize) -> Vec3 {
        const BACK: usize = 1;
        if (parameter == BACK) == place.inside { Vec3::ONE } else { Vec3::ZERO }
    }
}
