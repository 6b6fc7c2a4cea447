//! What every non-specular lobe must pass: samples distributed as `pdf` says (chi-square) over the sides that it
//! reaches, and none on others; a density that integrates to no more than 1; `eval`, `sample` and `pdf` in agreement;
//! reciprocity; no gain of energy; finite numbers at grazing and degenerate directions. Every closure must give usable
//! lobes whatever its parameters. The renderer's own lobes pass it, and hosts can test theirs: if something is wrong,
//! the functions here panic with the given name, the direction and both numbers.

use super::checks::{self, Check, Finding, Limits};
use super::{ClosureKind, Lobe, Lobes, Place, Reach, Scatter, SurfaceClosure};
use crate::sampler::Sampler;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{LANES, Row};
use std::ops::Deref;

/// How a surface under test lies, and where it is seen from.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    pub wo: Vec3,
    /// The shading normal and the geometric one, on the side of `wo`.
    pub normal: Vec3,
    /// Unit length, at right angles to the normal.
    pub tangent: Vec3,
    /// `wo` is in what lies behind the surface.
    pub inside: bool,
}

impl Pose {
    /// With the normal along z and the tangent along x.
    pub fn upright(wo: Vec3) -> Pose {
        Pose { wo, normal: Vec3::Z, tangent: Vec3::X, inside: false }
    }

    pub fn place(&self) -> Place {
        Place { wo: self.wo, gnormal: self.normal, inside: self.inside }
    }

    /// The same surface seen from `wo`, which may be on its other side.
    pub(super) fn seen_from(&self, wo: Vec3) -> Pose {
        let behind = wo.dot(self.normal) < 0.0;
        Pose { wo, normal: if behind { -self.normal } else { self.normal }, inside: self.inside != behind, ..*self }
    }
}

/// Makes the lobe under test: a [`Lobe`], or a `Box<dyn Scatter>`.
pub type MakeLobe<'a, L> = &'a dyn Fn(&Pose) -> L;

/// That of a closure which stands for one of weight 1.
pub fn only_lobe(closure: &impl SurfaceClosure, pose: &Pose) -> Lobe {
    let mut list = Vec::new();
    closure.scatter(&pose.place(), &mut Lobes::new(&mut list));
    assert!(list.len() == 1 && list[0].weight == Vec3::ONE);
    list[0].lobe
}

/// Outgoing directions about +z, from the normal down to grazing.
pub fn directions() -> Vec<Vec3> {
    [(1.0, 0.0), (0.8, 0.5), (0.4, 2.0), (0.1, 4.0), (0.01, 5.5)]
        .iter()
        .map(|&(z, phi): &(f32, f32)| Vec2::from_angle(phi).extend(0.0) * (1.0 - z * z).sqrt() + Vec3::Z * z)
        .collect()
}

/// Everything.
pub fn check<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>) {
    check_within(name, make, Limits::default().albedo);
    for inside in [false, true] {
        for wo in directions() {
            hold(name, make, &Pose { inside, ..Pose::upright(wo) }, &[Check::Reciprocity], &Limits::default());
        }
    }
}

/// Everything but reciprocity, for approximations that give it up and keep energy within 2 %.
pub fn check_one_way<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>) {
    check_within(name, make, 1.02);
}

/// Samples distributed as the density says, over the sides that the lobe reaches, and in agreement with `eval` and `pdf`.
pub fn check_distribution<L: Deref<Target = dyn Scatter>>(name: &str, lobe: &L, wo: Vec3) {
    checks::distribution(&**lobe, wo).unwrap_or_else(|e| panic!("{name}: {e}"));
}

/// Everything but reciprocity, for models that add light: up to so much of what arrives.
pub fn check_within<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>, greatest_albedo: f32) {
    const CHECKS: [Check; 8] = [
        Check::Density,
        Check::Samples,
        Check::Sides,
        Check::Agreement,
        Check::Support,
        Check::Energy,
        Check::Turning,
        Check::Finite,
    ];
    let transmits = make(&Pose::upright(Vec3::Z)).reach() != Reach::Reflects;
    let limits = Limits { albedo: greatest_albedo, ..Limits::default() };
    for inside in [false, true] {
        // Light that is reflected does not know of the other side.
        if inside && !transmits {
            continue;
        }
        for wo in directions() {
            hold(name, make, &Pose { inside, ..Pose::upright(wo) }, &CHECKS, &limits);
        }
    }
    for wo in [Vec3::X, Vec3::new(1.0, 0.0, 1e-6), Vec3::new(1.0, 0.0, 1e-30)] {
        numbers(&format_args!("{name} at {wo}"), &*make(&Pose::upright(wo)));
    }
}

/// The directional albedo in red, by the lobe's own sampling; energy, not radiance.
pub fn albedo<L: Deref<Target = dyn Scatter>>(lobe: &L, wo: Vec3) -> f32 {
    checks::albedo(&**lobe, wo)
}

/// Panics with the first rule that one of the checks finds broken.
fn hold<L: Deref<Target = dyn Scatter>>(
    name: &str,
    make: MakeLobe<'_, L>,
    pose: &Pose,
    checks: &[Check],
    limits: &Limits,
) {
    for check in checks {
        if let Some(Err(e @ Finding::Broken(_))) = check.run(make, pose, limits) {
            panic!("{name}{} at {}: {e}", if pose.inside { " from inside" } else { "" }, pose.wo);
        }
    }
}

/// No NaN, nothing negative and no infinite density, wherever the directions are.
pub fn numbers(name: &dyn std::fmt::Display, lobe: &dyn Scatter) {
    checks::finite(lobe).unwrap_or_else(|e| panic!("{name}: {e}"));
}

/// What no artist means and some shader computes.
const ODD: [f32; 12] =
    [0.0, 1.0, 0.5, -0.0, -1.0, 1e-30, 1e-42, 1e30, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

/// Rows of parameters, the same in all lanes: all alike at first; later some of them odd, the others ordinary.
pub fn odd_parameters() -> impl Iterator<Item = Vec<Row>> {
    (0..100_u32).map(|i| {
        let mut s = Sampler::new(i, (3, 8), 0);
        let mut parameter = || match ODD.get(i as usize) {
            Some(&odd) => odd,
            None if s.next_1d() < 0.3 => ODD[(s.next_1d() * ODD.len() as f32) as usize],
            None => s.next_1d(),
        };
        (0..64).map(|_| Row([parameter(); LANES])).collect()
    })
}

/// The lobes of a closure in Rust are usable, and what lies beneath gets a share, whatever its parameters.
pub fn stands_odd_parameters(kind: &ClosureKind) {
    let name = (kind.closure_type)().name;
    let Some(code) = kind.rust() else { panic!("the code of {name} is not Rust") };
    for rows in odd_parameters() {
        for (wo, inside) in directions().into_iter().zip([false, true, false, true, true]) {
            let (mut list, place) = (Vec::new(), Place { wo, gnormal: Vec3::Z, inside });
            (code.scatter)(&rows, 0, &place, &mut Lobes::new(&mut list));
            for l in &list {
                assert!(l.weight.is_finite() && !l.choice.is_nan(), "{name}: {l:?}");
                numbers(&format_args!("{name}: {l:?}"), &*l.lobe);
            }
            for parameter in 0..(kind.closure_type)().parameters.len() {
                let share = (code.beneath)(&rows, 0, &place, parameter);
                assert!(share.is_finite() && share.cmpge(Vec3::ZERO).all(), "{name} lets {share} pass");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn closures_stand_odd_parameters() {
        let closures = || crate::bsdf::closures().into_iter().filter(|kind| kind.rust().is_some());
        closures().chain(crate::bsdf::oracles()).for_each(|kind| super::stands_odd_parameters(&kind));
    }
}
