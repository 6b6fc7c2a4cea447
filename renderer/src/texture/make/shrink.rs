//! Filters one level into the next, by rows in any order. It filters each row across as it comes and adds it to the
//! rows below that it is a part of. A row of the next level leaves when all its parts have come.
//!
//! Rows may come in any order because with wraps the first rows need the last ones: they just leave later. Only the
//! rows that are begun are in memory.

use super::kernel::Taps;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A row of a level: which, and its texels in linear light.
pub type Row = (u32, Vec<f32>);

/// The sum of the parts that have come, and how many they are.
type Begun = (Vec<f32>, u32);

pub struct Shrink {
    channels: usize,
    columns: Taps,
    /// For each row of the larger level: rows of the smaller with weights.
    uses: Vec<Vec<(u32, f32)>>,
    /// Parts that each row of the smaller level has.
    parts: Vec<u32>,
    begun: BTreeMap<u32, Begun>,
}

impl Shrink {
    /// From as many rows as `height`.
    pub fn new(channels: usize, columns: Taps, rows: &Taps, height: u32) -> Shrink {
        let mut uses = vec![Vec::new(); height as usize];
        for j in 0..rows.count() {
            for &(i, weight) in rows.of(j) {
                uses[i as usize].push((j as u32, weight));
            }
        }
        let parts = (0..rows.count()).map(|j| rows.of(j).len() as u32).collect();
        Shrink { channels, columns, uses, parts, begun: BTreeMap::new() }
    }

    /// Takes `count` rows; `fill` says which the n-th is and writes its texels. Gives the rows that are finished.
    pub fn push(&mut self, count: usize, fill: impl Fn(usize, &mut Vec<f32>) -> u32 + Sync) -> Vec<Row> {
        let across = |row: &mut Vec<f32>, n: usize| {
            row.clear();
            let i = fill(n, row);
            (i, self.narrow(row))
        };
        let rows: Vec<Row> = (0..count).into_par_iter().map_init(Vec::new, across).collect();
        // By row of the smaller level: its parts among these.
        let mut work: BTreeMap<u32, Vec<(usize, f32)>> = BTreeMap::new();
        for (n, (i, _)) in rows.iter().enumerate() {
            for &(j, weight) in &self.uses[*i as usize] {
                work.entry(j).or_default().push((n, weight));
            }
        }
        let width = self.columns.count() * self.channels;
        let begun = &mut self.begun;
        let work: Vec<_> = work.into_iter().map(|(j, parts)| (j, parts, begun.remove(&j))).collect();
        let add = |(j, parts, sum): (u32, Vec<(usize, f32)>, Option<Begun>)| {
            let (mut sum, come) = sum.unwrap_or_else(|| (vec![0.0; width], 0));
            for &(n, weight) in &parts {
                for (to, from) in sum.iter_mut().zip(&rows[n].1) {
                    *to += from * weight;
                }
            }
            (j, sum, come + parts.len() as u32)
        };
        let mut finished = Vec::new();
        for (j, sum, come) in work.into_par_iter().map(add).collect::<Vec<_>>() {
            if come == self.parts[j as usize] {
                finished.push((j, sum));
            } else {
                self.begun.insert(j, (sum, come));
            }
        }
        finished
    }

    /// Floats held between calls.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.begun.values().map(|(row, _)| row.len()).sum()
    }

    fn narrow(&self, row: &[f32]) -> Vec<f32> {
        match self.channels {
            1 => narrow::<1>(&self.columns, row),
            2 => narrow::<2>(&self.columns, row),
            3 => narrow::<3>(&self.columns, row),
            _ => narrow::<4>(&self.columns, row),
        }
    }
}

fn narrow<const C: usize>(columns: &Taps, row: &[f32]) -> Vec<f32> {
    let (texels, _) = row.as_chunks::<C>();
    let mut out = Vec::with_capacity(columns.count() * C);
    for x in 0..columns.count() {
        let mut sum = [0.0; C];
        for &(k, weight) in columns.of(x) {
            let texel = &texels[k as usize];
            for c in 0..C {
                sum[c] += texel[c] * weight;
            }
        }
        out.extend_from_slice(&sum);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::MipFilter;
    use super::*;
    use crate::texture::Wrap;

    /// Rows that wrap leave late, but what is held does not grow with the height.
    #[test]
    fn few_rows_are_held() {
        for (_, filter) in MipFilter::NAMED {
            let (width, height) = (8, 4096);
            let taps = |from| Taps::columns(filter, Wrap::Repeat, from, from / 2);
            let mut shrink = Shrink::new(1, taps(width), &taps(height), height);
            let (mut left, mut most) = (0, 0);
            for i in 0..height {
                left += shrink
                    .push(1, |_, row| {
                        row.resize(width as usize, 1.0);
                        i
                    })
                    .len();
                most = most.max(shrink.held());
            }
            assert_eq!((left, shrink.held()), (height as usize / 2, 0));
            assert!(most <= 16 * width as usize, "{filter:?}: {most}");
        }
    }
}
