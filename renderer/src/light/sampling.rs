//! Which strategy finds the light at a hit: light sampling, lobe sampling, or both with weights that add up to 1.

/// Which directions find light that both could find. Pictures have the same mean whatever is chosen; their noise differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LightSampling {
    /// Both, weighed by the power heuristic.
    #[default]
    Both,
    /// Directions towards lights alone; what they cannot draw, as in mirrors, is found by the lobes.
    Lights,
    /// Directions of the lobes alone.
    Lobes,
}

/// By what one of many lights is chosen. Pictures have the same mean either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LightChoice {
    /// What it may bring to the place at hand, as a tree over the lights bounds it.
    #[default]
    Tree,
    /// Its intensity alone.
    Power,
}

impl LightSampling {
    /// The share of a direction that a lobe drew with density `lobe`, infinite where light sampling could not have drawn
    /// it; `light` is the density of light sampling for it.
    pub fn of_lobe(self, lobe: f32, light: f32) -> f32 {
        match self {
            _ if lobe.is_infinite() => 1.0,
            LightSampling::Both => power_heuristic(lobe, light),
            LightSampling::Lights => 0.0,
            LightSampling::Lobes => 1.0,
        }
    }

    /// The share of a direction that light sampling drew with density `light`, where the lobes draw it with `lobe`.
    #[inline(always)]
    pub fn of_light(self, light: f32, lobe: f32) -> f32 {
        match self {
            LightSampling::Both => power_heuristic(light, lobe),
            LightSampling::Lights => 1.0,
            LightSampling::Lobes => 0.0,
        }
    }
}

/// Of a sample of density `a` where one of density `b` could have drawn the same (Veach's power heuristic with
/// exponent 2).
#[inline(always)]
fn power_heuristic(a: f32, b: f32) -> f32 {
    let ratio = b / a;
    1.0 / (1.0 + ratio * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shares_of_a_direction_make_one() {
        for sampling in [LightSampling::Both, LightSampling::Lights, LightSampling::Lobes] {
            for (light, lobe) in [(0.3, 2.0), (1e-6, 1e3), (50.0, 50.0)] {
                assert!((sampling.of_light(light, lobe) + sampling.of_lobe(lobe, light) - 1.0).abs() < 1e-6);
            }
            assert_eq!(sampling.of_lobe(f32::INFINITY, 3.0), 1.0);
        }
    }
}
