//! What rays hit: one ray alone, or many that take turns.

use super::walk::Walk;
use super::{Block, Bvh, Group};
use crate::geometry::{Geometry, Hit, instance};
use crate::math::prefetch;
use crate::ray::Ray;
use smallvec::SmallVec;
use std::ops::Range;

/// Rays that walk by turns: enough that memory has arrived when a ray's turn comes, few enough that the nearest cache
/// holds their stacks.
const AT_ONCE: usize = 8;

/// Whether the processor tests eight boxes at once.
#[cfg(target_arch = "x86_64")]
fn has_lanes() -> bool {
    use std::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt") && has!("bmi1")
}

impl Bvh {
    /// The nearest hit within the ray's interval.
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        self.search::<false>(Geometry::WORLD, ray, 0)
    }

    /// Whether anything lies within the ray's interval.
    pub fn occluded(&self, ray: &Ray) -> bool {
        self.search::<true>(Geometry::WORLD, ray, 0).is_some()
    }

    /// Shows `found` the nearest hit of each ray by its number, in any order.
    pub fn closest_each(&self, rays: &[Ray], found: impl FnMut(usize, Option<Hit>)) {
        self.search_each::<false>(rays, found);
    }

    /// Shows `found` for each ray by its number whether anything lies within its interval, in any order.
    pub fn occluded_each(&self, rays: &[Ray], mut found: impl FnMut(usize, bool)) {
        self.search_each::<true>(rays, |ray, hit| found(ray, hit.is_some()));
    }

    /// Looks in a group, reached by a path, for a hit within the ray's interval: the nearest, or with `ANY` the
    /// first one found.
    fn search<const ANY: bool>(&self, group: u32, ray: &Ray, path: u64) -> Option<Hit> {
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.search_in_lanes::<ANY>(group, ray, path) };
        }
        self.search_here::<ANY, false>(group, ray, path)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn search_in_lanes<const ANY: bool>(&self, group: u32, ray: &Ray, path: u64) -> Option<Hit> {
        self.search_here::<ANY, true>(group, ray, path)
    }

    #[inline(always)]
    fn search_here<const ANY: bool, const LANES: bool>(&self, group: u32, ray: &Ray, path: u64) -> Option<Hit> {
        let group = &self.groups[group as usize];
        if group.tree.nodes.is_empty() {
            return None;
        }
        let mut walk = Walk::new(&group.tree, ray);
        while self.step::<ANY, LANES>(group, &mut walk, path) {}
        walk.best
    }

    fn search_each<const ANY: bool>(&self, rays: &[Ray], found: impl FnMut(usize, Option<Hit>)) {
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.search_each_in_lanes::<ANY>(rays, found) };
        }
        self.search_each_here::<ANY, false>(rays, found);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn search_each_in_lanes<const ANY: bool>(&self, rays: &[Ray], found: impl FnMut(usize, Option<Hit>)) {
        self.search_each_here::<ANY, true>(rays, found);
    }

    #[inline(always)]
    fn search_each_here<const ANY: bool, const LANES: bool>(
        &self,
        rays: &[Ray],
        mut found: impl FnMut(usize, Option<Hit>),
    ) {
        let world = &self.groups[Geometry::WORLD as usize];
        if world.tree.nodes.is_empty() {
            return (0..rays.len()).for_each(|ray| found(ray, None));
        }
        let mut coming = rays.iter().enumerate();
        let begin = |(number, ray)| (number, Walk::new(&world.tree, ray));
        let mut walks: SmallVec<[(usize, Walk); AT_ONCE]> = coming.by_ref().take(AT_ONCE).map(begin).collect();
        while !walks.is_empty() {
            let mut turn = 0;
            while turn < walks.len() {
                let (number, walk) = &mut walks[turn];
                if self.step::<ANY, LANES>(world, walk, 0) {
                    turn += 1;
                    continue;
                }
                found(*number, walk.best);
                match coming.next() {
                    Some((next, ray)) => {
                        *number = next;
                        walk.restart(&world.tree, ray);
                    }
                    None => drop(walks.swap_remove(turn)),
                }
            }
        }
    }

    /// Visits what is next; false at the end, or where nothing more counts.
    #[inline(always)]
    fn step<const ANY: bool, const LANES: bool>(&self, group: &Group, walk: &mut Walk, path: u64) -> bool {
        if let Some(leaf) = walk.open::<LANES>(&group.tree) {
            self.visit::<ANY>(group, walk, leaf, path);
            if ANY && walk.best.is_some() {
                return false;
            }
        }
        walk.turn(&group.tree, |block| prefetch(&group.blocks[block]))
    }

    /// Tests what is in a leaf.
    #[inline(always)]
    fn visit<const ANY: bool>(&self, group: &Group, walk: &mut Walk, leaf: Range<usize>, path: u64) {
        for block in &group.blocks[leaf] {
            let (ray, sheared, t_max) = (&walk.ray, &walk.sheared, walk.t_max);
            let found = match block {
                Block::Triangles(four, primitives) => sheared
                    .intersect_four(four, ray.t_min, t_max)
                    .map(|(lane, t, u, v)| Hit { t, primitive: primitives[lane], instance: path, u, v }),
                &Block::Analytic(i, primitive) => group.analytic[i as usize]
                    .intersect(ray, sheared, t_max)
                    .map(|(t, u, v)| Hit { t, primitive, instance: path, u, v }),
                &Block::Instance(i) => {
                    let placement = &group.instances[i as usize];
                    let inside = instance::transformed(&Ray { t_max, ..*ray }, &placement.from_parent);
                    self.search::<ANY>(placement.group, &inside, path + placement.base)
                }
            };
            if let Some(hit) = found {
                walk.best = found;
                walk.t_max = hit.t;
                if ANY {
                    return;
                }
            }
        }
    }
}
