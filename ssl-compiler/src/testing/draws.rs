//! The random numbers of one sample: drawn from a seed, recorded, and replayed on request.

/// A number that a test drew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    pub low: f64,
    pub high: f64,
    /// For something that takes whole numbers only.
    pub whole: bool,
    pub value: f64,
}

/// SplitMix64 (Steele, Lea & Flood 2014), seeded from a name, so that a test draws the same samples
/// wherever and whenever it runs.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn named(name: &str) -> Random {
        // FNV-1a
        Random(name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
    }

    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Clone, Debug)]
pub(super) struct Draws {
    random: Random,
    /// Values to give instead of drawing, in the order in which they were drawn once.
    replayed: Vec<f64>,
    /// Of this sample, in order.
    pub list: Vec<Draw>,
}

impl Draws {
    pub fn named(name: &str) -> Draws {
        Draws { random: Random::named(name), replayed: Vec::new(), list: Vec::new() }
    }

    /// Starts another sample, with these values as far as they go.
    pub fn start(&mut self, replayed: Vec<f64>) {
        self.replayed = replayed;
        self.list.clear();
    }

    /// A number of `[low, high]` that f32 can hold, if the interval has one, since shaders compute in f32.
    pub fn between(&mut self, low: f64, high: f64, whole: bool) -> f64 {
        let value = match self.replayed.get(self.list.len()) {
            Some(&value) => value,
            None if whole => {
                let (first, last) = (low.ceil(), high.floor());
                (first + (self.random.unit() * (last - first + 1.0)).floor()).clamp(first, last.max(first))
            }
            None => {
                let exact = low + (high - low) * self.random.unit();
                let float = f64::from(exact as f32);
                if (low..=high).contains(&float) { float } else { exact }
            }
        };
        self.list.push(Draw { low, high, whole, value });
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_range_come_back_by_name_and_can_be_replayed() {
        let (mut a, mut b) = (Draws::named("x"), Draws::named("x"));
        for _ in 0..1000 {
            let value = a.between(-0.3, 0.1, false);
            assert!((-0.3..=0.1).contains(&value) && value == f64::from(value as f32));
            assert_eq!(value, b.between(-0.3, 0.1, false));
        }
        let mut seen = [0; 3];
        for _ in 0..300 {
            let whole = a.between(-1.0, 1.0, true);
            seen[(whole + 1.0) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
        a.start(vec![0.05]);
        assert_eq!(a.between(-0.3, 0.1, false), 0.05);
        assert_eq!(a.list.len(), 1);
    }
}
