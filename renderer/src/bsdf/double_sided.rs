//! `DoubleSided(closure front, closure back)`: one look for each side of a surface.
//!
//! | parameter | what |
//! | --- | --- |
//! | front | what is seen from where the normal points to |
//! | back | what is seen from the other side |
//!
//! The sides are those of the geometric normal. Light that one of them emits counts for that side alone; what is beneath
//! both may be any closure, also a sum or a layer.

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
