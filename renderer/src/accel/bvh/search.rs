//! What rays hit: one ray alone, or many that take turns.

use super::walk::Walk;
use super::{Block, Bvh, Group};
use crate::accel::Occlusion;
use crate::geometry::{Geometry, Hit, instance};
#[cfg(target_arch = "x86_64")]
use crate::math::lanes::widest;
use crate::ray::Ray;
use smallvec::SmallVec;
use std::ops::Range;

/// Rays that walk by turns: enough that memory has arrived when a ray's turn comes, few enough that the nearest cache
/// holds their stacks.
const AT_ONCE: usize = 8;

/// Whether the processor tests eight boxes at once.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_lanes() -> bool {
    use std::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt") && has!("bmi1")
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn has_lanes() -> bool {
    false
}

/// The hits that a search is for: the nearest one, the first one found, or the first one found that is opaque.
const NEAREST: u8 = 0;
const ANY: u8 = 1;
const OPAQUE: u8 = 2;

/// What a search came to.
#[derive(Clone, Copy)]
struct Found {
    hit: Option<Hit>,
    /// In a search for what is opaque, the ray met something that is not.
    see_through: bool,
}

impl Found {
    const NOTHING: Found = Found { hit: None, see_through: false };

    fn of(walk: &Walk) -> Found {
        Found { hit: walk.best, see_through: walk.see_through }
    }
}

impl Bvh {
    /// The nearest hit within the ray's interval.
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        self.search::<NEAREST>(Geometry::WORLD, ray, 0).hit
    }

    /// Whether anything lies within the ray's interval.
    pub fn occluded(&self, ray: &Ray) -> bool {
        self.search::<ANY>(Geometry::WORLD, ray, 0).hit.is_some()
    }

    /// Shows `found` the nearest hit of each ray by its number, in any order.
    pub fn closest_each(&self, rays: &[Ray], mut found: impl FnMut(usize, Option<Hit>)) {
        self.search_each::<NEAREST>(rays, |ray, it| found(ray, it.hit));
    }

    /// Shows `found` for each ray by its number whether anything lies within its interval, in any order.
    pub fn occluded_each(&self, rays: &[Ray], mut found: impl FnMut(usize, bool)) {
        self.search_each::<ANY>(rays, |ray, it| found(ray, it.hit.is_some()));
    }

    /// Shows `found` for each ray by its number what stands within its interval, in any order.
    pub fn occlusion_each(&self, rays: &[Ray], mut found: impl FnMut(usize, Occlusion)) {
        if !self.has_see_through {
            let occlusion = |blocked| if blocked { Occlusion::Blocked } else { Occlusion::Clear };
            return self.occluded_each(rays, |ray, blocked| found(ray, occlusion(blocked)));
        }
        self.search_each::<OPAQUE>(rays, |ray, it| {
            found(
                ray,
                match it {
                    Found { hit: Some(_), .. } => Occlusion::Blocked,
                    Found { see_through: true, .. } => Occlusion::SeeThrough,
                    Found { .. } => Occlusion::Clear,
                },
            );
        });
    }

    /// Looks in a group, reached by a path, for a hit within the ray's interval.
    fn search<const HIT: u8>(&self, group: u32, ray: &Ray, path: u64) -> Found {
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.search_in_lanes::<HIT>(group, ray, path) };
        }
        self.search_here::<HIT, false>(group, ray, path)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn search_in_lanes<const HIT: u8>(&self, group: u32, ray: &Ray, path: u64) -> Found {
        self.search_here::<HIT, true>(group, ray, path)
    }

    #[inline(always)]
    fn search_here<const HIT: u8, const LANES: bool>(&self, group: u32, ray: &Ray, path: u64) -> Found {
        let group = &self.groups[group as usize];
        if group.tree.is_empty() {
            return Found::NOTHING;
        }
        let mut walk = Walk::new(ray);
        while self.step::<HIT, LANES>(group, &mut walk, path) {}
        Found::of(&walk)
    }

    fn search_each<const HIT: u8>(&self, rays: &[Ray], found: impl FnMut(usize, Found)) {
        #[cfg(target_arch = "x86_64")]
        if has_lanes() {
            return match widest() {
                // SAFETY: the processor has what the function needs.
                16 => unsafe { self.search_each_with_masks::<HIT>(rays, found) },
                // SAFETY: likewise.
                _ => unsafe { self.search_each_in_lanes::<HIT>(rays, found) },
            };
        }
        self.search_each_here::<HIT, false>(rays, found);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn search_each_in_lanes<const HIT: u8>(&self, rays: &[Ray], found: impl FnMut(usize, Found)) {
        self.search_each_here::<HIT, true>(rays, found);
    }

    /// The same with the masks that processors with registers for 16 floats have. Rays that come alone are few, and do without.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1,avx512f,avx512bw,avx512dq,avx512vl")]
    fn search_each_with_masks<const HIT: u8>(&self, rays: &[Ray], found: impl FnMut(usize, Found)) {
        self.search_each_here::<HIT, true>(rays, found);
    }

    #[inline(always)]
    fn search_each_here<const HIT: u8, const LANES: bool>(&self, rays: &[Ray], mut found: impl FnMut(usize, Found)) {
        let world = &self.groups[Geometry::WORLD as usize];
        if world.tree.is_empty() {
            return (0..rays.len()).for_each(|ray| found(ray, Found::NOTHING));
        }
        let mut coming = rays.iter().enumerate();
        let mut walks: SmallVec<[(usize, Walk); AT_ONCE]> = SmallVec::new();
        for (number, ray) in coming.by_ref().take(AT_ONCE) {
            walks.push((number, Walk::new(ray)));
        }
        // Walks are large: those that are at their end stay where they are.
        let mut walking: SmallVec<[usize; AT_ONCE]> = (0..walks.len()).collect();
        while !walking.is_empty() {
            let mut turn = 0;
            while turn < walking.len() {
                let (number, walk) = &mut walks[walking[turn]];
                if self.step::<HIT, LANES>(world, walk, 0) {
                    turn += 1;
                    continue;
                }
                found(*number, Found::of(walk));
                match coming.next() {
                    Some((next, ray)) => {
                        *number = next;
                        walk.restart(ray);
                    }
                    None => {
                        walking.swap_remove(turn);
                    }
                }
            }
        }
    }

    /// Visits what is next; false at the end, or where nothing more counts.
    #[inline(always)]
    fn step<const HIT: u8, const LANES: bool>(&self, group: &Group, walk: &mut Walk, path: u64) -> bool {
        // To know that something is there, the order does not matter.
        let leaf = match HIT {
            NEAREST => walk.open::<true, LANES>(&group.tree),
            _ => walk.open::<false, LANES>(&group.tree),
        };
        if let Some(leaf) = leaf {
            self.visit::<HIT>(group, walk, leaf, path);
            if HIT != NEAREST && walk.best.is_some() {
                return false;
            }
        }
        walk.turn(&group.tree, &group.blocks)
    }

    /// Tests what is in a leaf.
    #[inline(always)]
    fn visit<const HIT: u8>(&self, group: &Group, walk: &mut Walk, leaf: Range<usize>, path: u64) {
        for block in &group.blocks[leaf] {
            let (ray, sheared, t_max) = (&walk.ray, &walk.sheared, walk.t_max);
            let (found, see_through) = match block {
                Block::Triangles { triangles, primitives, see_through } => {
                    let found = sheared.intersect_four(triangles, ray.t_min, t_max);
                    let hit = |(lane, t, u, v)| Hit { t, primitive: primitives[lane], instance: path, u, v };
                    (found.map(hit), *see_through)
                }
                &Block::Analytic { number, primitive, see_through } => {
                    let found = group.analytic[number as usize].intersect(ray, sheared, t_max);
                    (found.map(|(t, u, v)| Hit { t, primitive, instance: path, u, v }), see_through)
                }
                &Block::Instance(i) => {
                    let placement = &group.instances[i as usize];
                    let inside = instance::transformed(&Ray { t_max, ..*ray }, &placement.from_parent);
                    let found = self.search::<HIT>(placement.group, &inside, path + placement.base);
                    walk.see_through |= found.see_through;
                    (found.hit, false)
                }
            };
            if HIT == OPAQUE && see_through {
                walk.see_through |= found.is_some();
                continue;
            }
            if let Some(hit) = found {
                walk.best = found;
                walk.t_max = hit.t;
                if HIT != NEAREST {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Shape, TriangleMesh};
    use crate::sampler::Sampler;
    use glam::{Vec3, Vec3Swizzles};

    /// Squares of two triangles, along each side of a surface over the square from -1 to 1.
    fn surface(side: u32, height: impl Fn(f32, f32) -> f32) -> TriangleMesh {
        let along = |i: u32| 2.0 * i as f32 / side as f32 - 1.0;
        let all = (0..=side).flat_map(|j| (0..=side).map(move |i| (along(i), along(j))));
        let squares = (0..side).flat_map(|j| (0..side).map(move |i| j * (side + 1) + i));
        let mut mesh = TriangleMesh {
            positions: all.map(|(x, z)| Vec3::new(x, height(x, z), z)).collect(),
            indices: squares.flat_map(|a| [[a, a + 1, a + side + 1], [a + 1, a + side + 2, a + side + 1]]).collect(),
            ..TriangleMesh::default()
        };
        mesh.complete(true);
        mesh
    }

    /// Nodes and leaves that rays visit among hills of 20,000 triangles on a ground that reaches so far.
    fn visits(reach: f32) -> u32 {
        let mut geometry = Geometry::new();
        geometry.add(surface(100, |x, z| 0.2 + 0.1 * (9.0 * x).sin() * (7.0 * z).cos()), Shape::default());
        let mut ground = surface(1, |_, _| 0.0);
        ground.positions.iter_mut().for_each(|p| *p *= reach);
        geometry.add(ground, Shape::default());
        let bvh = Bvh::build(&geometry);
        let world = &bvh.groups[Geometry::WORLD as usize];
        let mut random = Sampler::new(6, (0, 0), 0);
        let mut visits = 0;
        for _ in 0..500 {
            let origin = (random.next_2d() * 4.0 - 2.0).extend(0.0).xzy() + Vec3::Y;
            let aim = (random.next_2d() * 2.0 - 1.0).extend(0.2).xzy();
            let mut walk = Walk::new(&Ray::new(origin, (aim - origin).normalize(), 0.0));
            visits += 1;
            while bvh.step::<NEAREST, false>(world, &mut walk, 0) {
                visits += 1;
            }
        }
        visits
    }

    /// What rays visit of a fine mesh hardly grows with the scene around it: where its boxes stand beside that of the ground, they are
    /// as coarse as that one, but those within are fine again.
    #[test]
    fn a_wide_ground_lets_rays_visit_no_more_of_what_stands_on_it() {
        let (near, wide) = (visits(10.0), visits(1e6));
        assert!(wide < 3 * near, "{wide} {near}");
    }
}
