//! [`Cloth`] in Rust.

use super::rough_boundary::RoughBoundary;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{Cloth, Lambert, Lobes, Place, SurfaceClosure, bounded, clean, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

impl SurfaceClosure for Cloth {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let normal = reflecting(self.normal, place.gnormal, place.wo);
        let warp = Frame::along(normal, self.tangent.into());
        let weft = Frame::along(normal, warp.t);
        let share = bounded(self.weft_share, 0.0, 1.0, 0.5);
        let mut diffuse = Vec3::ZERO;
        for (frame, color, share) in [(warp, self.warp, 1.0 - share), (weft, self.weft, share)] {
            let gloss = self.gloss(frame, place.wo);
            lobes.add(Vec3::splat(share), gloss);
            diffuse += clean(color).min(Vec3::ONE) * (share * (1.0 - gloss.reflected));
        }
        lobes.add_closure(Vec3::ONE, &Lambert { albedo: diffuse.to_array(), normal: normal.to_array() }, place);
    }
}

impl Cloth {
    /// Of the threads along the first axis of a frame.
    fn gloss(&self, frame: Frame, wo: Vec3) -> RoughBoundary {
        let eta = bounded(self.ior, 1.0, 10.0, 1.5);
        let along = bounded(self.roughness, 0.0, 1.0, 0.5);
        RoughBoundary::new("Cloth", frame, Ggx::of_roughnesses(Vec2::new(along, 1.0)), eta, wo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{WeightedLobe, harness};

    const SILK: Cloth = Cloth {
        warp: [1.0; 3],
        weft: [1.0; 3],
        weft_share: 0.3,
        roughness: 0.4,
        ior: 1.54,
        normal: [0.0, 0.0, 1.0],
        tangent: [1.0, 0.0, 0.0],
    };

    fn lobes(cloth: &Cloth, wo: Vec3) -> Vec<WeightedLobe> {
        let mut list = Vec::new();
        cloth.scatter(&Place { wo, gnormal: Vec3::Z, inside: false }, &mut Lobes::new(&mut list));
        list
    }

    fn value(cloth: &Cloth, wo: Vec3, wi: Vec3) -> Vec3 {
        lobes(cloth, wo).iter().map(|l| l.weight * l.lobe.eval(wo, wi)).sum()
    }

    #[test]
    fn each_lobe_passes_the_harness() {
        for number in 0..3 {
            let make = |pose: &harness::Pose| {
                let turned = Cloth { normal: pose.normal.to_array(), tangent: pose.tangent.to_array(), ..SILK };
                let mut list = Vec::new();
                turned.scatter(&pose.place(), &mut Lobes::new(&mut list));
                list[number].lobe
            };
            harness::check_one_way(&format!("Cloth, lobe {number}"), &make);
        }
    }

    #[test]
    fn white_cloth_keeps_all_light() {
        for (roughness, ior) in [(0.1, 1.54), (0.3, 1.46), (0.6, 1.54), (1.0, 1.8)] {
            for wo in harness::directions() {
                let list = lobes(&Cloth { roughness, ior, ..SILK }, wo);
                let all: f32 = list.iter().map(|l| l.weight.x * harness::albedo(&l.lobe, wo)).sum();
                assert!((all - 1.0).abs() < 0.03, "{roughness} {ior} {wo}: {all}");
            }
        }
    }

    /// The same cloth, turned by a right angle.
    #[test]
    fn warp_and_weft_change_places() {
        let shot = Cloth { warp: [0.8, 0.1, 0.1], weft: [0.1, 0.2, 0.7], ..SILK };
        let turned = Cloth { warp: shot.weft, weft: shot.warp, weft_share: 0.7, tangent: [0.0, 1.0, 0.0], ..shot };
        for wo in harness::directions() {
            for wi in harness::directions() {
                let (one, other) = (value(&shot, wo, wi), value(&turned, wo, wi));
                assert!((one - other).abs().max_element() < 1e-4 * one.max_element().max(1.0), "{one} {other}");
            }
        }
        // As much of each color as there is of its threads.
        let diffuse = lobes(&shot, Vec3::Z)[2].lobe.albedo();
        let mixed = Vec3::new(0.8, 0.1, 0.1).lerp(Vec3::new(0.1, 0.2, 0.7), 0.3);
        assert!((diffuse / diffuse.x - mixed / mixed.x).abs().max_element() < 1e-5);
    }

    /// Light on warp alone spreads across the threads, far more than along.
    #[test]
    fn threads_spread_light_across() {
        let satin = Cloth { warp: [0.0; 3], weft_share: 0.0, roughness: 0.2, ..SILK };
        let tilted = |x: f32, y: f32| value(&satin, Vec3::Z, Vec3::new(x, y, (1.0 - x * x - y * y).sqrt())).x;
        assert!(tilted(0.5, 0.0) < 0.05 * tilted(0.0, 0.0));
        assert!(tilted(0.0, 0.5) > 0.5 * tilted(0.0, 0.0));
    }
}
