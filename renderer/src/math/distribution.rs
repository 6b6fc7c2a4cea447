//! Drawing an index in proportion to given weights.

/// A discrete distribution by its cumulative sums.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Ascending to 1; one entry an index.
    cumulative: Vec<f32>,
}

impl Distribution {
    /// Weights that are negative or not finite count as 0; if none is left, all are equal.
    pub fn new(weights: impl IntoIterator<Item = f32>) -> Distribution {
        let clean: Vec<f64> =
            weights.into_iter().map(|w| if w.is_finite() { f64::from(w.max(0.0)) } else { 0.0 }).collect();
        let total: f64 = clean.iter().sum();
        let share = |w: f64| if total > 0.0 { w / total } else { 1.0 / clean.len() as f64 };
        let mut sum = 0.0;
        let mut cumulative: Vec<f32> = clean
            .iter()
            .map(|&w| {
                sum += share(w);
                sum as f32
            })
            .collect();
        // Rounding must leave no gap below 1, and none above the last index that has a share.
        if let Some(&end) = cumulative.last() {
            cumulative.iter_mut().filter(|c| **c == end).for_each(|c| *c = 1.0);
        }
        Distribution { cumulative }
    }

    /// The index for `u` in [0, 1), its probability, and `u` stretched to be uniform again.
    pub fn sample(&self, u: f32) -> (usize, f32, f32) {
        let index = self.cumulative.partition_point(|&c| c <= u).min(self.cumulative.len() - 1);
        let p = self.probability(index);
        let start = self.cumulative[index] - p;
        let stretched = if p > 0.0 { ((u - start) / p).clamp(0.0, 1.0_f32.next_down()) } else { 0.0 };
        (index, p, stretched)
    }

    pub fn probability(&self, index: usize) -> f32 {
        let before = if index == 0 { 0.0 } else { self.cumulative[index - 1] };
        self.cumulative[index] - before
    }

    pub fn len(&self) -> usize {
        self.cumulative.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cumulative.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Distribution;

    #[test]
    fn draws_in_proportion_and_never_what_has_no_weight() {
        let d = Distribution::new([1.0, 0.0, 3.0, f32::NAN, 0.0]);
        let mut counts = [0; 5];
        for i in 0..4000 {
            let u = (i as f32 + 0.5) / 4000.0;
            let (index, p, stretched) = d.sample(u);
            counts[index] += 1;
            assert_eq!(p, d.probability(index));
            assert!((0.0..1.0).contains(&stretched));
        }
        assert_eq!(counts, [1000, 0, 3000, 0, 0]);
        assert_eq!(d.sample(1.0_f32.next_down()).0, 2);
        assert_eq!(Distribution::new([0.0, 0.0]).probability(1), 0.5);
    }
}
