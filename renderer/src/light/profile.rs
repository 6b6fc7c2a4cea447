//! How a luminaire's intensity varies with direction, as photometers measure it (type C): by the angle from the nadir, and
//! by half-planes about the vertical axis.

use glam::Vec3;

/// Intensities on a grid of angles, in candela or in shares of the strongest.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// From the nadir, in degrees, ascending within 0 to 180. Outside them nothing goes out.
    vertical: Vec<f32>,
    /// Of the half-planes, in degrees, ascending: 0 alone, or from 0 to 90, 180 or 360, or from 90 to 270.
    horizontal: Vec<f32>,
    /// For each half-plane all vertical angles.
    values: Vec<f32>,
}

impl Profile {
    /// The error is a sentence for the user.
    pub fn new(vertical: Vec<f32>, horizontal: Vec<f32>, values: Vec<f32>) -> Result<Profile, String> {
        let ascending = |angles: &[f32]| angles.windows(2).all(|w| w[0] < w[1]);
        let ends = |angles: &[f32]| (angles.first().copied(), angles.last().copied());
        if !ascending(&vertical) || !ascending(&horizontal) {
            return Err("its angles do not ascend".to_owned());
        }
        if !matches!(ends(&vertical), (Some(first), Some(last)) if first >= 0.0 && last <= 180.0 && first < last) {
            return Err("its vertical angles are not several from 0 to 180 degrees".to_owned());
        }
        let known = [(0.0, 0.0), (0.0, 90.0), (0.0, 180.0), (0.0, 360.0), (90.0, 270.0)];
        if !matches!(ends(&horizontal), (Some(first), Some(last)) if known.contains(&(first, last))) {
            let message = "its horizontal angles do not run from 0 to 0, 90, 180 or 360 degrees, or from 90 to 270";
            return Err(message.to_owned());
        }
        if values.len() != vertical.len() * horizontal.len() {
            return Err(format!(
                "it has {} intensities for {} directions",
                values.len(),
                vertical.len() * horizontal.len()
            ));
        }
        if !values.iter().all(|v| (0.0..=1e12).contains(v)) {
            return Err("an intensity of it is below 0, too large, or no number".to_owned());
        }
        Ok(Profile { vertical, horizontal, values })
    }

    /// In the unit direction `d`: the nadir at −y, the first half-plane at +x, the quarter at −z. Linear between angles.
    pub fn intensity(&self, d: Vec3) -> f32 {
        let nadir = d.x.hypot(d.z).atan2(-d.y).to_degrees();
        let around = (-d.z).atan2(d.x).to_degrees();
        self.at(nadir, if around < 0.0 { around + 360.0 } else { around })
    }

    /// Angles in degrees, from 0 to 180 and from 0 to 360.
    fn at(&self, nadir: f32, around: f32) -> f32 {
        let [first, last] = [self.vertical[0], self.vertical[self.vertical.len() - 1]];
        // Rounding takes the straight down to a little beside it.
        if nadir < first - 1e-3 || nadir > last + 1e-3 {
            return 0.0;
        }
        let (v, s) = place(&self.vertical, nadir);
        let (h, t) = place(&self.horizontal, self.folded(around));
        let column = |h: usize| {
            let of = &self.values[h * self.vertical.len()..];
            of[v] + (of[(v + 1).min(self.vertical.len() - 1)] - of[v]) * s
        };
        let (here, next) = (column(h), column((h + 1).min(self.horizontal.len() - 1)));
        here + (next - here) * t
    }

    /// What symmetry makes of an angle about the axis.
    fn folded(&self, around: f32) -> f32 {
        let half = if around > 180.0 { 360.0 - around } else { around };
        match (self.horizontal[0], self.horizontal[self.horizontal.len() - 1]) {
            (_, 90.0) => half.min(180.0 - half),
            (_, 180.0) => half,
            (_, 270.0) if around < 90.0 => 180.0 - around,
            (_, 270.0) if around > 270.0 => 540.0 - around,
            _ => around,
        }
    }

    pub fn peak(&self) -> f32 {
        self.values.iter().copied().fold(0.0, f32::max)
    }

    /// With the strongest intensity as 1; the same where there is none.
    pub fn normalised(mut self) -> Profile {
        let peak = self.peak();
        if peak > 0.0 {
            self.values.iter_mut().for_each(|v| *v /= peak);
        }
        self
    }
}

/// The last angle that is not above, and how far it is to the next.
fn place(angles: &[f32], angle: f32) -> (usize, f32) {
    let index = angles.partition_point(|a| *a <= angle).saturating_sub(1);
    match angles.get(index + 1) {
        Some(next) => (index, ((angle - angles[index]) / (next - angles[index])).clamp(0.0, 1.0)),
        None => (index, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toward(nadir: f32, around: f32) -> Vec3 {
        let ((sin, cos), (s, c)) = (nadir.to_radians().sin_cos(), around.to_radians().sin_cos());
        Vec3::new(sin * c, -cos, -sin * s)
    }

    #[test]
    fn intensities_are_linear_between_angles_and_symmetric() {
        let vertical = vec![0.0, 45.0, 90.0];
        for (horizontal, pairs) in [
            (vec![0.0, 45.0, 90.0], vec![(30.0, 150.0), (30.0, 210.0), (30.0, 330.0)]),
            (vec![0.0, 90.0, 180.0], vec![(30.0, 330.0), (100.0, 260.0)]),
            (vec![90.0, 180.0, 270.0], vec![(30.0, 150.0), (300.0, 240.0)]),
        ] {
            let values = (0..9).map(|i| (i * i) as f32).collect();
            let profile = Profile::new(vertical.clone(), horizontal, values).expect("it is a table");
            for (a, b) in pairs {
                let [x, y] = [a, b].map(|around| profile.intensity(toward(60.0, around)));
                assert!(x > 0.0 && (x - y).abs() < 1e-3, "{a} {b}: {x} {y}");
            }
            assert_eq!(profile.intensity(toward(100.0, 20.0)), 0.0);
        }
        let profile = Profile::new(vec![0.0, 90.0], vec![0.0, 180.0, 360.0], vec![1.0, 3.0, 5.0, 11.0, 1.0, 3.0]);
        let profile = profile.expect("it is a table");
        // A third of the way down, a quarter of that about: (1 + 2/3), (5 + 2) and their middle.
        assert!((profile.intensity(toward(30.0, 90.0)) - 0.5 * (5.0 / 3.0 + 7.0)).abs() < 1e-3);
        assert!((profile.intensity(toward(30.0, 270.0)) - 0.5 * (5.0 / 3.0 + 7.0)).abs() < 1e-3);
    }

    #[test]
    fn normalised_profiles_have_a_peak_of_one() {
        let even = Profile::new(vec![0.0, 180.0], vec![0.0], vec![4.0, 4.0]).expect("it is a table");
        assert_eq!(even.intensity(Vec3::new(0.6, 0.0, 0.8)), 4.0);
        assert_eq!((even.peak(), even.normalised().peak()), (4.0, 1.0));
        let dark = Profile::new(vec![0.0, 180.0], vec![0.0], vec![0.0, 0.0]).expect("it is a table");
        assert_eq!(dark.normalised().peak(), 0.0);
    }
}
