//! Drawing an index in proportion to given weights.

/// A discrete distribution by its cumulative sums. Which index a number belongs to is looked for from a guide on, so that it
/// takes a few steps whatever the weights (Chen and Asau, "On Generating Random Variates from an Empirical Distribution",
/// 1974); unlike by an alias table, neighbouring numbers give neighbouring indices.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Ascending to 1; one entry an index.
    cumulative: Vec<f32>,
    /// For each of as many equal parts of [0, 1), the index that its beginning belongs to; and the last index.
    guide: Vec<u32>,
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
        let count = cumulative.len();
        let last = count.saturating_sub(1);
        let begins = (0..count).map(|part| part as f32 / count as f32);
        let guide = begins.chain([1.0]).map(|u| cumulative.partition_point(|&c| c <= u).min(last) as u32).collect();
        Distribution { cumulative, guide }
    }

    /// The index for `u` in [0, 1), its probability, and `u` stretched to be uniform again.
    pub fn sample(&self, u: f32) -> (usize, f32, f32) {
        let count = self.cumulative.len();
        let part = ((u * count as f32) as usize).min(count - 1);
        // A part's beginning may be rounded up past `u`.
        let (from, to) = (self.guide[part.saturating_sub(1)] as usize, self.guide[part + 1] as usize);
        let index = from + self.cumulative[from..to].partition_point(|&c| c <= u);
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

    /// However uneven the weights are.
    #[test]
    fn the_guide_leads_where_the_sums_do() {
        for weights in [&[1.0][..], &[1e-6, 1.0, 1e-6, 1e-6], &[0.0, 0.0, 5.0], &[3.0; 101]] {
            let mut weights = weights.to_vec();
            for _ in 0..3 {
                let d = Distribution::new(weights.iter().copied());
                let steps = (0..10_000).map(|i| i as f32 / 10_000.0);
                let ends = d.cumulative.iter().flat_map(|c| [c.next_down(), *c]).filter(|c| (0.0..1.0).contains(c));
                for u in steps.chain(ends).chain([1.0_f32.next_down()]) {
                    assert_eq!(d.sample(u).0, d.cumulative.partition_point(|&c| c <= u), "{u}");
                }
                weights.extend(weights.clone().iter().map(|w| w * w * 0.01));
            }
        }
    }

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
