//! Samples an index in proportion to given weights.

/// A discrete distribution by its cumulative sums. Of few, all sums are compared at once; of many, which index a number
/// belongs to is looked for from a guide on, so that it takes a few steps whatever the weights (Chen and Asau, "On
/// Generating Random Variates from an Empirical Distribution", 1974). Unlike by an alias table, neighbouring numbers give
/// neighbouring indices.
#[derive(Clone, Debug)]
pub struct Distribution {
    count: usize,
    /// 0, then the sums up to and with each index, ascending to 1, and infinities.
    few: [f32; FEW + 1],
    /// One an index, where there are more.
    many: Box<[Step]>,
}

const FEW: usize = 16;

/// What belongs to an index, and what to the part of [0, 1) of the same number: side by side, since both are mostly asked for.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The sum up to and with this index, ascending to 1.
    end: f32,
    /// Of as many equal parts of [0, 1) as there are indices, the index that the beginning of this one belongs to.
    guide: u32,
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
        let (count, mut few) = (cumulative.len(), [f32::INFINITY; FEW + 1]);
        few[0] = 0.0;
        few[1..].iter_mut().zip(&cumulative).for_each(|(end, sum)| *end = *sum);
        let many = if count <= FEW { Box::default() } else { Distribution::guided(&cumulative) };
        Distribution { count, few, many }
    }

    fn guided(cumulative: &[f32]) -> Box<[Step]> {
        let count = cumulative.len();
        let guide = |part: usize| {
            let begin = part as f32 / count as f32;
            cumulative.partition_point(|&end| end <= begin).min(count - 1) as u32
        };
        cumulative.iter().enumerate().map(|(index, &end)| Step { end, guide: guide(index) }).collect()
    }

    /// The index for `u` in [0, 1), its probability, and `u` stretched to be uniform again.
    #[inline(always)]
    pub fn sample(&self, u: f32) -> (usize, f32, f32) {
        let index = if self.many.is_empty() {
            // A mask of all, which takes one comparison where registers are wide.
            let mut ended = 0_u32;
            for (i, &end) in self.few[1..].iter().enumerate() {
                ended |= u32::from(end <= u) << i;
            }
            (ended.count_ones() as usize).min(self.count - 1)
        } else {
            self.find(u)
        };
        let (start, p) = self.share(index);
        let stretched = if p > 0.0 { ((u - start) / p).clamp(0.0, 1.0_f32.next_down()) } else { 0.0 };
        (index, p, stretched)
    }

    /// Among many.
    #[inline(never)]
    fn find(&self, u: f32) -> usize {
        let (steps, last) = (&self.many, self.count - 1);
        let part = ((u * self.count as f32) as usize).min(last);
        // A part's beginning may be rounded up past `u`.
        let from = steps[part.saturating_sub(1)].guide as usize;
        let to = steps.get(part + 1).map_or(last, |next| next.guide as usize);
        from + steps[from..to].partition_point(|step| step.end <= u)
    }

    #[inline(always)]
    pub fn probability(&self, index: usize) -> f32 {
        self.share(index).1
    }

    /// Where the numbers of an index begin, and how many of all they are.
    #[inline(always)]
    fn share(&self, index: usize) -> (f32, f32) {
        let (start, end) = if self.many.is_empty() {
            (self.few[index], self.few[index + 1])
        } else {
            (if index == 0 { 0.0 } else { self.many[index - 1].end }, self.many[index].end)
        };
        (start, end - start)
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Distribution;

    /// However uneven the weights are.
    #[test]
    fn the_guide_leads_where_the_sums_do() {
        for weights in [&[1.0][..], &[1e-6, 1.0, 1e-6, 1e-6], &[0.0, 0.0, 5.0], &[2.0; 15], &[2.0; 17], &[3.0; 101]] {
            let mut weights = weights.to_vec();
            for _ in 0..3 {
                let d = Distribution::new(weights.iter().copied());
                let steps = (0..10_000).map(|i| i as f32 / 10_000.0);
                let sums = || (0..d.len()).map(|i| if d.many.is_empty() { d.few[i + 1] } else { d.many[i].end });
                let ends = sums().flat_map(|end| [end.next_down(), end]).filter(|c| (0.0..1.0).contains(c));
                for u in steps.chain(ends).chain([1.0_f32.next_down()]) {
                    assert_eq!(d.sample(u).0, sums().filter(|end| *end <= u).count(), "{u}");
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
