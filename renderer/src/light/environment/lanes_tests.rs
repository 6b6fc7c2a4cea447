//! What lanes draw and see together is what each would alone, to the bit, in registers of each width.

use super::tests::{image, spotted, untextured};
use super::*;
use crate::math::lanes::narrow;
use crate::sampler::Sampler;

/// All but one.
const ASKED: u32 = 0xfff7;

fn bits(v: Vec3) -> [u32; 3] {
    v.to_array().map(f32::to_bits)
}

fn direction(s: &mut Sampler) -> Vec3 {
    uniform_cone(s.next_2d(), 2.0)
}

#[test]
fn lanes_draw_and_weigh_as_each_alone() {
    let sky = untextured(EnvironmentKind::Sky { zenith: Vec3::X, horizon: Vec3::ONE, ground: Vec3::Y });
    let constant = untextured(EnvironmentKind::Constant(Vec3::ONE));
    for (textures, mut environment) in [image(64, 32, spotted), sky, constant] {
        for others in [Others::Nobody, Others::Lobes] {
            environment.configure(TextureOptions::default(), others, &textures);
            for round in 0..200 {
                let mut s = Sampler::new(6, (1, 3), round);
                let (mut normals, mut d) = (Row3::ZERO, Row3::ZERO);
                let mut u = [Vec2::ZERO; LANES];
                for (lane, u) in u.iter_mut().enumerate() {
                    normals.set(lane, if lane == 5 { Vec3::ZERO } else { direction(&mut s) });
                    d.set(lane, if lane == 7 { Vec3::Y } else { direction(&mut s) });
                    // By the smallest numbers draws go everywhere alike.
                    let scale = if lane % 4 == 0 { 0.02 } else { 1.0 };
                    *u = s.next_2d() * Vec2::new(1.0, scale);
                }
                let alone = |lane: usize| environment.sample(normals.get(lane), u[lane]);
                narrow::each(|| {
                    let drawn = environment.sample_each(ASKED, &normals, &u);
                    let pdf = environment.pdf_each(ASKED, &normals, &d);
                    assert_eq!(drawn.lanes & !ASKED, 0);
                    for lane in lanes_of(ASKED) {
                        let found = (drawn.lanes >> lane & 1 != 0).then(|| (drawn.wi.get(lane), drawn.pdf[lane]));
                        let key = |found: Option<(Vec3, f32)>| found.map(|(wi, pdf)| (bits(wi), pdf.to_bits()));
                        assert_eq!(key(found), key(alone(lane)), "{round} {lane}");
                        assert_eq!(pdf[lane].to_bits(), environment.pdf(normals.get(lane), d.get(lane)).to_bits());
                    }
                });
            }
        }
    }
}

/// Also where partials are no numbers, and near the poles, where a direction takes several look-ups.
#[test]
fn lanes_see_an_image_as_each_alone() {
    let map = LatLong { rotation: 0.3 };
    let mut several = 0;
    for round in 0..200 {
        let mut s = Sampler::new(8, (2, 3), round);
        let (mut d, mut dd) = (Row3::ZERO, [Row3::ZERO; 2]);
        for lane in 0..LANES {
            let tilt = if lane % 3 == 0 { 1e-3 } else { 2.0 };
            let of_pole = uniform_cone(s.next_2d(), tilt);
            d.set(lane, Vec3::new(of_pole.x, of_pole.z, of_pole.y));
            let size = if lane == 9 { f32::NAN } else { 0.05 * s.next_1d() };
            dd.iter_mut().for_each(|row| row.set(lane, direction(&mut s) * size));
        }
        let size = Vec2::new(512.0, 256.0);
        let places = |footprints: &ImageFootprints, lane: usize| {
            let mut all = Vec::new();
            footprints.places(lane, |place| all.push(format!("{place:?}")));
            assert_eq!(all.len(), footprints.parts(lane));
            all
        };
        narrow::each(|| {
            let footprints = ImageFootprints::new(&map, &d, &dd, size, 0.5);
            for lane in 0..LANES {
                let one = [0, 1].map(|i| Row3::splat(dd[i].get(lane)));
                let alone = ImageFootprints::new(&map, &Row3::splat(d.get(lane)), &one, size, 0.5);
                assert_eq!(places(&footprints, lane), places(&alone, 0), "{round} {lane}");
            }
        });
        let footprints = ImageFootprints::new(&map, &d, &dd, size, 0.5);
        several += (0..LANES).filter(|&lane| footprints.parts(lane) > 1).count();
    }
    assert!(several > 100, "{several}");
}
