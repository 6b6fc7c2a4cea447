//! Where a generator's choices come from: a seed, or bytes that a fuzzer varies.

/// A source of choices. The same one gives the same choices.
pub struct Random {
    state: u64,
    /// Bytes to take choices from, and how many were taken.
    script: Option<(Vec<u8>, usize)>,
}

impl Random {
    /// SplitMix64 (Steele, Lea & Flood 2014).
    pub fn new(seed: u64) -> Random {
        Random { state: seed, script: None }
    }

    /// Each choice takes a byte, or as many as its number of ways needs. Past the end it is always the first
    /// way, so that a shorter script is a smaller program.
    pub fn scripted(bytes: &[u8]) -> Random {
        Random { state: 0, script: Some((bytes.to_vec(), 0)) }
    }

    fn draw(&mut self, ways: usize) -> u64 {
        if let Some((bytes, at)) = &mut self.script {
            let (mut value, mut reach) = (0, 1);
            while reach < ways {
                value = value << 8 | u64::from(bytes.get(*at).copied().unwrap_or(0));
                reach = reach.saturating_mul(256);
                *at += 1;
            }
            return value;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `n` − 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw(n) % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}
