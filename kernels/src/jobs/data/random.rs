//! Random numbers that depend on the seed, the buffer's name and the place alone.

use super::word;
use crate::buffer::Element;
use ssl_compiler::types::Scalar;

/// Two numbers for each scalar.
pub type Ends = Vec<[f64; 2]>;

#[derive(Clone, Debug, PartialEq)]
pub enum Random {
    /// From the first to the second one, which is left out for floats.
    Uniform(Ends),
    /// Mean and standard deviation.
    Normal(Ends),
}

impl Random {
    /// The word of each scalar of each element.
    pub fn of(&self, element: &Element, seed: u64, name: &str) -> impl Fn(usize, usize) -> u32 + use<'_> {
        let stream = mix(seed ^ mix(xxhash_rust::xxh3::xxh3_64(name.as_bytes())));
        let scalars = element.scalars().to_vec();
        move |index, column| {
            let (scalar, at) = (scalars[column], index * scalars.len() + column);
            // Two numbers for each, in case they are needed.
            let drawn = [0, 1].map(|i| unit(mix(stream ^ mix(2 * at as u64 + i))));
            word(scalar, self.number(column, scalar, drawn))
        }
    }

    fn number(&self, column: usize, scalar: Scalar, [u, v]: [f64; 2]) -> f64 {
        match self {
            Random::Uniform(ends) => {
                let [low, high] = ends[column];
                match scalar {
                    Scalar::Float => low + (high - low) * u,
                    // Both ends count.
                    _ => (low + ((high - low + 1.0) * u).floor()).min(high),
                }
            }
            // Box and Muller; u is below 1.
            Random::Normal(ends) => {
                let [mean, deviation] = ends[column];
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - u));
                mean + deviation * radius * libm::cos(std::f64::consts::TAU * v)
            }
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// From 0 to 1, below 1 as a float of 32 bits, too.
fn unit(x: u64) -> f64 {
    (x >> 40) as f64 / (1u64 << 24) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(random: &Random, seed: u64, name: &str) -> Vec<f64> {
        let word = random.of(&Element::floats(1), seed, name);
        (0..10_000).map(|index| f64::from(f32::from_bits(word(index, 0)))).collect()
    }

    #[test]
    fn distributions_have_their_moments() {
        let moments = |x: &[f64]| {
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64)
        };
        // Within five standard errors: of the mean √(σ²/n), of the variance σ² √((κ−1)/n) with the kurtosis κ.
        let (mean, variance) = moments(&floats(&Random::Uniform(vec![[-1.0, 3.0]]), 7, "x"));
        assert!((mean - 1.0).abs() < 0.058 && (variance - 4.0 / 3.0).abs() < 0.06, "{mean} {variance}");
        let (mean, variance) = moments(&floats(&Random::Normal(vec![[2.0, 0.5]]), 7, "x"));
        assert!((mean - 2.0).abs() < 0.025 && (variance - 0.25).abs() < 0.018, "{mean} {variance}");
    }

    #[test]
    fn seeds_and_names_make_a_difference() {
        let uniform = Random::Uniform(vec![[0.0, 1.0]]);
        let of = |seed, name| floats(&uniform, seed, name);
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(2, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
        assert!(of(1, "a").iter().all(|x| (0.0..1.0).contains(x)));
    }

    #[test]
    fn whole_numbers_reach_both_ends() {
        let uniform = Random::Uniform(vec![[-1.0, 1.0]]);
        let word = uniform.of(&Element::int(), 0, "x");
        let words: Vec<u32> = (0..1000).map(|index| word(index, 0)).collect();
        let count = |x: i32| words.iter().filter(|word| **word as i32 == x).count();
        assert_eq!(count(-1) + count(0) + count(1), 1000);
        assert!([-1, 0, 1].into_iter().all(|x| (250..420).contains(&count(x))));
    }
}
