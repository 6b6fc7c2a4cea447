//! The sky of a clear or hazy day, and its sun, by the formulas of Preetham, Shirley and Smits ("A Practical Analytic Model
//! for Daylight", SIGGRAPH 1999).
//!
//! Luminances are in kcd/m², illuminances in klx. The model is one of daylight: it holds while the sun is up.

use crate::math::of_xyz;
use glam::Vec3;
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// A sky under a sun.
#[derive(Clone, Debug)]
pub struct Daylight {
    /// To the sun, unit length.
    sun: Vec3,
    /// Perez's coefficients A to E of the luminance, and of the chromaticities x and y.
    perez: [[f32; 5]; 3],
    /// Those three straight up, over Perez's function there.
    zenith: [f32; 3],
    /// From below.
    ground: Vec3,
    sunlight: Vec3,
    scale: Vec3,
}

impl Daylight {
    /// `sun` is the unit direction to it, not below the horizon; `turbidity` from 2, very clear, to 10, hazy. The ground
    /// has the given albedo and lies in the light of the sky and the sun. All radiance is times `scale`.
    pub fn new(sun: Vec3, turbidity: f32, albedo: Vec3, scale: Vec3) -> Daylight {
        let angle = sun.y.clamp(0.0, 1.0).acos();
        let perez = PEREZ.map(|rows| rows.map(|[slope, offset]| slope * turbidity + offset));
        let overhead = zenith(angle, turbidity);
        let zenith = [0, 1, 2].map(|i| overhead[i] / function(&perez[i], 1.0, angle));
        let sunlight = sunlight(angle, turbidity);
        let mut sky = Daylight { sun, perez, zenith, ground: Vec3::ZERO, sunlight, scale: Vec3::ONE };
        let on_the_ground = sky.irradiance() + sunlight * sun.y.max(0.0);
        sky.ground = albedo * on_the_ground / PI;
        sky.scale = scale;
        sky
    }

    /// From the unit direction `d`, without the sun's disk.
    pub fn radiance(&self, d: Vec3) -> Vec3 {
        self.unscaled(d) * self.scale
    }

    /// The same for a scale of 1.
    pub fn unscaled(&self, d: Vec3) -> Vec3 {
        if d.y < 0.0 {
            return self.ground;
        }
        let from_sun = d.angle_between(self.sun);
        let [luminance, x, y] = [0, 1, 2].map(|i| self.zenith[i] * function(&self.perez[i], d.y, from_sun));
        let xyz = Vec3::new(x, y, 1.0 - x - y) * (luminance / y);
        of_xyz(xyz).max(Vec3::ZERO)
    }

    /// Of a surface that faces the sun.
    pub fn sunlight(&self) -> Vec3 {
        self.sunlight * self.scale
    }

    /// By which all is multiplied.
    pub fn scale(&self) -> Vec3 {
        self.scale
    }

    /// The same sky with another scale.
    pub fn set_scale(&mut self, scale: Vec3) {
        self.scale = scale;
    }

    /// Of a surface that faces the sun, for a scale of 1.
    pub fn unscaled_sunlight(&self) -> Vec3 {
        self.sunlight
    }

    /// Of a level surface, by the sky alone.
    fn irradiance(&self) -> Vec3 {
        const ROWS: usize = 64;
        let ring = |row: usize| {
            let (sin, cos) = ((row as f32 + 0.5) / ROWS as f32 * FRAC_PI_2).sin_cos();
            let at = |i: usize| {
                let (s, c) = ((i as f32 + 0.5) / (2 * ROWS) as f32 * TAU).sin_cos();
                self.radiance(Vec3::new(sin * c, cos, sin * s))
            };
            (0..2 * ROWS).map(at).sum::<Vec3>() * (sin * cos)
        };
        (0..ROWS).map(ring).sum::<Vec3>() * (FRAC_PI_2 / ROWS as f32 * TAU / (2 * ROWS) as f32)
    }
}

/// Perez's function of the direction's height and of its angle from the sun (equation 3).
fn function([a, b, c, d, e]: &[f32; 5], height: f32, from_sun: f32) -> f32 {
    let cosine = from_sun.cos();
    (1.0 + a * (b / height.max(1e-3)).exp()) * (1.0 + c * (d * from_sun).exp() + e * cosine * cosine)
}

/// Of luminance, x and y the coefficients A to E, each a multiple of the turbidity and an offset (appendix A.2).
const PEREZ: [[[f32; 2]; 5]; 3] = [
    [[0.1787, -1.4630], [-0.3554, 0.4275], [-0.0227, 5.3251], [0.1206, -2.5771], [-0.0670, 0.3703]],
    [[-0.0193, -0.2592], [-0.0665, 0.0008], [-0.0004, 0.2125], [-0.0641, -0.8989], [-0.0033, 0.0452]],
    [[-0.0167, -0.2608], [-0.0950, 0.0092], [-0.0079, 0.2102], [-0.0441, -1.6537], [-0.0109, 0.0529]],
];

/// Luminance, x and y straight up, for the sun's angle from there in radians (appendix A.2).
fn zenith(angle: f32, turbidity: f32) -> [f32; 3] {
    let chi = (4.0 / 9.0 - turbidity / 120.0) * (PI - 2.0 * angle);
    let luminance = (4.0453 * turbidity - 4.9710) * chi.tan() - 0.2155 * turbidity + 2.4192;
    let cubic = |[a, b, c, d]: [f32; 4]| ((a * angle + b) * angle + c) * angle + d;
    let of = |rows: [[f32; 4]; 3]| {
        let [second, first, none] = rows.map(cubic);
        (second * turbidity + first) * turbidity + none
    };
    let x = of([
        [0.001_66, -0.003_75, 0.002_09, 0.0],
        [-0.029_03, 0.063_77, -0.032_02, 0.003_94],
        [0.116_93, -0.211_96, 0.060_52, 0.258_86],
    ]);
    let y = of([
        [0.002_75, -0.006_10, 0.003_17, 0.0],
        [-0.042_14, 0.089_70, -0.041_53, 0.005_16],
        [0.153_46, -0.267_56, 0.066_70, 0.266_88],
    ]);
    // The fit dips below 0 for a very low sun.
    [luminance.max(0.0), x, y]
}

/// Illuminance of the sun's disk after its way through air, on a surface that faces it (appendix A.1): scattered by
/// molecules and aerosols, absorbed by ozone. Outside of the atmosphere the sun counts as a black body of 5778 K.
fn sunlight(angle: f32, turbidity: f32) -> Vec3 {
    let mass = 1.0 / (angle.cos() + 0.15 * (93.885 - angle.to_degrees()).powf(-1.253));
    let haze = 0.04608 * turbidity - 0.04586;
    const STEP: f32 = 20.0;
    let at = |i: usize| {
        let nanometers = 380.0 + STEP * i as f32;
        let micrometers = nanometers * 1e-3;
        let molecules = 0.008735 * micrometers.powf(-4.08);
        let aerosols = haze * micrometers.powf(-1.3);
        let ozone = 0.35 * OZONE[i];
        color_matching(nanometers) * (irradiance(micrometers) * (-mass * (molecules + aerosols + ozone)).exp())
    };
    // 683 lm/W, in klx.
    let xyz = (0..OZONE.len()).map(at).sum::<Vec3>() * (STEP * 0.683);
    of_xyz(xyz).max(Vec3::ZERO)
}

/// Absorption by ozone, per cm, from 380 nm in steps of 20 nm (Iqbal, "An Introduction to Solar Radiation", 1983).
const OZONE: [f32; 18] = [
    0.0, 0.0, 0.0, 0.003, 0.006, 0.014, 0.030, 0.048, 0.075, 0.103, 0.120, 0.125, 0.105, 0.079, 0.057, 0.036, 0.023,
    0.014,
];

/// Of a black body of 5778 K as wide as the sun, in W/(m² nm).
fn irradiance(micrometers: f32) -> f32 {
    // Planck's law, the sun's radius over its distance being 4.6547e-3.
    let exponent = 14_387.77 / (micrometers * 5778.0);
    let exitance = 3.741_772e8 / (micrometers.powi(5) * (exponent.exp() - 1.0));
    exitance * 4.6547e-3 * 4.6547e-3 * 1e-3
}

/// The CIE's color matching functions of 1931 (Wyman, Sloan and Shirley, "Simple Analytic Approximations to the CIE XYZ Color
/// Matching Functions", JCGT 2013).
fn color_matching(nanometers: f32) -> Vec3 {
    let lobe = |middle: f32, left: f32, right: f32| {
        let t = (nanometers - middle) * if nanometers < middle { left } else { right };
        (-0.5 * t * t).exp()
    };
    Vec3::new(
        0.362 * lobe(442.0, 0.0624, 0.0374) + 1.056 * lobe(599.8, 0.0264, 0.0323) - 0.065 * lobe(501.1, 0.0490, 0.0382),
        0.821 * lobe(568.8, 0.0213, 0.0247) + 0.286 * lobe(530.9, 0.0613, 0.0322),
        1.217 * lobe(437.0, 0.0845, 0.0278) + 0.681 * lobe(459.0, 0.0385, 0.0725),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::luminance;

    fn sky(elevation: f32, turbidity: f32) -> Daylight {
        let (sin, cos) = elevation.to_radians().sin_cos();
        Daylight::new(Vec3::new(0.6 * cos, sin, -0.8 * cos), turbidity, Vec3::splat(0.2), Vec3::ONE)
    }

    /// The published figure for straight up, evaluated by hand: T = 3, sun 45° and 20° high.
    #[test]
    fn the_zenith_is_as_bright_as_published() {
        // χ = (4/9 − 1/40)(π − π/2) = 0.658862 and 0.292828.
        for (elevation, tangent) in [(45.0, 0.658_861_5_f32.tan()), (20.0, 0.292_827_3_f32.tan())] {
            let expected = (4.0453 * 3.0 - 4.9710) * tangent - 0.2155 * 3.0 + 2.4192;
            let found = luminance(sky(elevation, 3.0).radiance(Vec3::Y));
            assert!((found / expected - 1.0).abs() < 1e-3, "{elevation}: {found} {expected}");
        }
    }

    /// Against the function written down again in f64, at directions of all kinds.
    #[test]
    fn other_directions_follow_the_ratio_of_perez() {
        let (sky, t, sun) = (sky(50.0, 4.0), 4.0_f64, 40.0_f64.to_radians());
        let perez = |cosine: f64, gamma: f64| {
            let [a, b, c, d, e] = [
                0.1787 * t - 1.4630,
                -0.3554 * t + 0.4275,
                -0.0227 * t + 5.3251,
                0.1206 * t - 2.5771,
                -0.0670 * t + 0.3703,
            ];
            (1.0 + a * (b / cosine).exp()) * (1.0 + c * (d * gamma).exp() + e * gamma.cos().powi(2))
        };
        let above = luminance(sky.radiance(Vec3::Y));
        for d in
            [Vec3::new(1.0, 0.2, 0.3), Vec3::new(-0.2, 1.0, 0.1), Vec3::new(0.6, 1.0, -0.8), Vec3::new(0.0, 0.05, 1.0)]
        {
            let d = d.normalize();
            let gamma = f64::from(d.dot(sky.sun)).acos();
            let expected = perez(f64::from(d.y), gamma) / perez(1.0, sun);
            let found = f64::from(luminance(sky.radiance(d)) / above);
            assert!((found / expected - 1.0).abs() < 2e-3, "{d}: {found} {expected}");
        }
    }

    #[test]
    fn the_sun_is_as_strong_as_the_day_has_it() {
        // Outside of the atmosphere 128 klx (Darula et al. 2005: 133 for the real sun); on a clear day some 100, and half of
        // that ten degrees above the horizon, where it is red.
        let white = (0..OZONE.len()).map(|i| 380.0 + 20.0 * i as f32);
        let outside: f32 = white.map(|l| color_matching(l).y * irradiance(l * 1e-3)).sum::<f32>() * 20.0 * 0.683;
        assert!((outside - 130.0).abs() < 5.0, "{outside}");
        let noon = sky(90.0, 2.5).sunlight();
        assert!((90.0..110.0).contains(&luminance(noon)), "{noon}");
        let evening = sky(10.0, 2.5).sunlight();
        assert!((25.0..60.0).contains(&luminance(evening)), "{evening}");
        assert!(evening.z / evening.x < 0.6 * noon.z / noon.x, "{noon} {evening}");
        assert!(luminance(sky(60.0, 8.0).sunlight()) < 0.8 * luminance(sky(60.0, 2.0).sunlight()));
    }

    /// The ground in the light of both, and all finite wherever the sun stands.
    #[test]
    fn the_ground_lies_in_the_light() {
        let sky = sky(30.0, 3.0);
        let expected = 0.2 * (sky.irradiance() + sky.sunlight() * 0.5) / PI;
        assert!((sky.radiance(Vec3::NEG_Y) - expected).length() < 1e-4 * expected.length());
        for elevation in [0.0, 0.5, 5.0, 89.9, 90.0] {
            for turbidity in [2.0, 10.0] {
                let sky = super::tests::sky(elevation, turbidity);
                for i in 0..200 {
                    let d = crate::math::uniform_cone(glam::Vec2::new(i as f32 / 200.0, i as f32 * 0.618 % 1.0), 2.0);
                    let l = sky.radiance(Vec3::new(d.x, d.z, d.y));
                    assert!(l.is_finite() && l.min_element() >= 0.0, "{elevation} {turbidity} {d}: {l}");
                }
            }
        }
    }
}
