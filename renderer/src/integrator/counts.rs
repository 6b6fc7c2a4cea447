//! What a batch cost, and what went wrong in it.

use super::clock::Times;
use super::occupancy::Occupancy;

#[derive(Clone, Copy, Debug, Default)]
pub struct BatchCounts {
    pub rays: u64,
    pub shadow_rays: u64,
    pub occupancy: Occupancy,
    /// Samples on whose way something was no number and counts as black.
    pub non_finite: u64,
    /// Nothing unless the workspace's clock runs.
    pub times: Times,
}

impl BatchCounts {
    pub fn add(&mut self, other: &BatchCounts) {
        self.rays += other.rays;
        self.shadow_rays += other.shadow_rays;
        self.occupancy.add(&other.occupancy);
        self.non_finite += other.non_finite;
        self.times.add(&other.times);
    }
}
