//! The test of a ray with eight boxes.

use super::boxes::{Boxes, STEPS, WIDTH};
use crate::ray::Ray;
use glam::{Vec3, Vec4};

/// Those of eight boxes that a ray meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The first `count` are those of boxes that are met, if they are ordered the furthest first. A key is the distance at which
    /// the ray enters, as bits, the last three of which are the box's slot: of numbers that are not negative, bits are in order.
    /// Without order, the distance is 0.
    pub keys: [u32; WIDTH],
    pub count: usize,
}

/// Which bits of a key are the slot.
const SLOT: u32 = WIDTH as u32 - 1;

/// The distance of a key, rounded towards 0.
#[inline(always)]
pub fn distance_of(key: u32) -> f32 {
    f32::from_bits(key & !SLOT)
}

impl Met {
    /// Of what stands in slots, that of the boxes which are met, in their order. `LANES` as in [`Slabs::meet`].
    #[inline(always)]
    pub fn order<const LANES: bool>(&self, of_slots: &[u32; WIDTH]) -> [u32; WIDTH] {
        #[cfg(target_arch = "x86_64")]
        if LANES {
            // SAFETY: who sets `LANES` has asked the processor.
            return unsafe { self.order_in_lanes(of_slots) };
        }
        self.keys.map(|key| of_slots[(key & SLOT) as usize])
    }

    /// # Safety
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn order_in_lanes(&self, of_slots: &[u32; WIDTH]) -> [u32; WIDTH] {
        use std::arch::x86_64::*;
        let mut ordered = [0; WIDTH];
        // SAFETY: all of them are eight numbers. Of a key, the instruction looks at the last three bits, which are the slot.
        unsafe {
            let of_slots = _mm256_loadu_si256(of_slots.as_ptr().cast());
            let keys = _mm256_loadu_si256(self.keys.as_ptr().cast());
            _mm256_storeu_si256(ordered.as_mut_ptr().cast(), _mm256_permutevar8x32_epi32(of_slots, keys));
        }
        ordered
    }
}

/// A ray prepared for tests of boxes. Of vectors, the last number is 0.
pub struct Slabs {
    origin: Vec4,
    /// Of the direction.
    reciprocal: Vec4,
    /// By how much further or nearer the ray may be at a plane, for each unit of the largest coordinate that takes part.
    error: Vec4,
    /// 1 where the near planes are the high ones, else 0.
    backwards: [usize; 3],
}

/// The grid of eight boxes as a ray passes it: at `near` or `far`, and `step` more for each step of the grid.
struct Passed {
    near: Vec4,
    far: Vec4,
    step: Vec4,
}

/// Three roundings on either side. Where the exit is negative there is no hit, whatever they do.
const SLACK: f32 = 1.0 + 8.0 * f32::EPSILON;

/// How wrong a plane may be, in proportion to the largest coordinate, seen from the ray's origin, of the grid. The watertight
/// test rounds in proportion to how far the vertices are along an axis, and along the ray's largest axis: five times for each. Here,
/// what is rounded in proportion to the grid rather than to the distance comes to five times more: the origin's place (twice,
/// by subtraction and product), its sum with the error, and up to two for the product of steps, as the grid is no longer than twice
/// the largest coordinate. The rest is for second orders, and for planes that f64 rounded. Directions shorter than 1e-29 might
/// overflow here and not there; no instance stretches that far.
const ERROR: f32 = 15.1 * 0.5 * f32::EPSILON;

impl Slabs {
    pub fn new(ray: &Ray) -> Slabs {
        let (o, d) = (ray.origin, ray.direction);
        // No component is so small beside the others that its reciprocal would overflow.
        let least = d.abs().max_element() * 1e-18;
        let reciprocal = Vec3::from_array(std::array::from_fn(|i| 1.0 / d[i].abs().max(least).copysign(d[i])));
        Slabs {
            origin: o.extend(0.0),
            reciprocal: reciprocal.extend(0.0),
            error: (reciprocal.abs() * ERROR).extend(0.0),
            backwards: std::array::from_fn(|i| usize::from(d[i].is_sign_negative())),
        }
    }

    /// Whether the ray has an origin and a direction. Of others every comparison fails, so that they would meet all boxes.
    #[inline(always)]
    pub fn is_sound(&self) -> bool {
        // NaN is above nothing.
        self.origin.is_finite() & self.reciprocal.truncate().abs().cmpgt(Vec3::ZERO).all()
    }

    /// Where the sums are no numbers, no plane counts, so the boxes are met.
    #[inline(always)]
    fn pass(&self, boxes: &Boxes) -> Passed {
        let step = Vec4::from_array(boxes.step);
        let low = Vec4::from_array(boxes.origin) - self.origin;
        let reach = low.abs().max((low + step * STEPS).abs()).max_element();
        let (at, error) = (low * self.reciprocal, self.error * reach);
        Passed { near: at - error, far: at + error, step: step * self.reciprocal }
    }

    /// The boxes that the ray meets between the distances, which are not negative. `LANES` chooses the form for
    /// processors with AVX2, which gives the same to the bit.
    #[inline(always)]
    pub fn meet<const ORDERED: bool, const LANES: bool>(&self, boxes: &Boxes, t_min: f32, t_max: f32) -> Met {
        #[cfg(target_arch = "x86_64")]
        if LANES {
            // SAFETY: who sets `LANES` has asked the processor.
            return unsafe { self.meet_in_lanes::<ORDERED>(boxes, t_min, t_max) };
        }
        self.meet_in_turn::<ORDERED>(boxes, t_min, t_max)
    }

    #[inline(always)]
    fn meet_in_turn<const ORDERED: bool>(&self, boxes: &Boxes, t_min: f32, t_max: f32) -> Met {
        let (mut entry, mut exit) = ([t_min; WIDTH], [f32::INFINITY; WIDTH]);
        let Passed { near, far, step } = self.pass(boxes);
        for axis in 0..3 {
            let back = self.backwards[axis] & 1;
            let (near_planes, far_planes) = (&boxes.planes[axis][back], &boxes.planes[axis][back ^ 1]);
            for i in 0..WIDTH {
                let t = f32::from(near_planes[i]) * step[axis] + near[axis];
                entry[i] = if t > entry[i] { t } else { entry[i] };
                let t = f32::from(far_planes[i]) * step[axis] + far[axis];
                exit[i] = if t < exit[i] { t } else { exit[i] };
            }
        }
        let mut met = Met { keys: [0; WIDTH], count: 0 };
        for i in 0..boxes.filled as usize {
            let exit = exit[i] * SLACK;
            if entry[i] <= exit && entry[i] <= t_max {
                met.keys[met.count] = if ORDERED { entry[i].to_bits() & !SLOT | i as u32 } else { i as u32 };
                met.count += 1;
            }
        }
        if ORDERED {
            met.keys.sort_unstable_by(|a, b| b.cmp(a));
        }
        met
    }

    /// # Safety
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn meet_in_lanes<const ORDERED: bool>(&self, boxes: &Boxes, t_min: f32, t_max: f32) -> Met {
        use std::arch::x86_64::*;
        let planes = |axis: usize, side: usize| {
            // SAFETY: they are eight bytes.
            let bytes = unsafe { _mm_loadl_epi64(boxes.planes[axis][side].as_ptr().cast()) };
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes))
        };
        let (mut entry, mut exit) = (_mm256_set1_ps(t_min), _mm256_set1_ps(f32::INFINITY));
        let Passed { near, far, step } = self.pass(boxes);
        for axis in 0..3 {
            let back = self.backwards[axis] & 1;
            let (near, far, step) = (near[axis], far[axis], _mm256_set1_ps(step[axis]));
            let near = _mm256_add_ps(_mm256_mul_ps(planes(axis, back), step), _mm256_set1_ps(near));
            entry = _mm256_max_ps(near, entry);
            let far = _mm256_add_ps(_mm256_mul_ps(planes(axis, back ^ 1), step), _mm256_set1_ps(far));
            exit = _mm256_min_ps(far, exit);
        }
        let exit = _mm256_min_ps(_mm256_mul_ps(exit, _mm256_set1_ps(SLACK)), _mm256_set1_ps(t_max));
        let slots = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let there = _mm256_cmpgt_epi32(_mm256_set1_epi32(boxes.filled as i32), slots);
        let met = _mm256_and_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(entry, exit), _mm256_castsi256_ps(there));
        if !ORDERED {
            let mask = _mm256_movemask_ps(met) as usize;
            return Met { keys: SLOTS[mask].map(u32::from), count: mask.count_ones() as usize };
        }
        let keys = _mm256_andnot_si256(_mm256_set1_epi32(SLOT as i32), _mm256_castps_si256(entry));
        let keys = _mm256_and_si256(_mm256_or_si256(keys, slots), _mm256_castps_si256(met));
        let mut sorted = [0; WIDTH];
        // SAFETY: there is room for eight.
        unsafe { _mm256_storeu_si256(sorted.as_mut_ptr().cast(), descending(keys)) };
        Met { keys: sorted, count: _mm256_movemask_ps(met).count_ones() as usize }
    }
}

/// For each set of slots, as bits, those that are in it, the lowest first; then 0.
static SLOTS: [[u8; WIDTH]; 1 << WIDTH] = {
    let mut all = [[0; WIDTH]; 1 << WIDTH];
    let mut set = 0;
    while set < all.len() {
        let (mut slot, mut count) = (0, 0);
        while slot < WIDTH {
            if set >> slot & 1 == 1 {
                all[set][count] = slot as u8;
                count += 1;
            }
            slot += 1;
        }
        set += 1;
    }
    all
};

/// Eight keys sorted, the largest first, by Batcher's bitonic network ("Sorting networks and their applications", 1968):
/// without branches, which no processor could predict here.
///
/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn descending(keys: std::arch::x86_64::__m256i) -> std::arch::x86_64::__m256i {
    use std::arch::x86_64::*;
    /// Of each pair of lanes the first, by cleared bits of `LAST`, takes the larger one.
    macro_rules! exchange {
        ($keys:expr, $partners:expr, $last:literal) => {{
            let (keys, partners) = ($keys, $partners);
            _mm256_blend_epi32::<$last>(_mm256_max_epu32(keys, partners), _mm256_min_epu32(keys, partners))
        }};
    }
    let keys = exchange!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010);
    let keys = exchange!(keys, _mm256_shuffle_epi32::<0b00_01_10_11>(keys), 0b1100_1100);
    let keys = exchange!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010);
    let reversed = _mm256_permutevar8x32_epi32(keys, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    let keys = exchange!(keys, reversed, 0b1111_0000);
    let keys = exchange!(keys, _mm256_shuffle_epi32::<0b01_00_11_10>(keys), 0b1100_1100);
    exchange!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::ShearedRay;
    use crate::sampler::Sampler;

    /// A box that is met is there, whatever the numbers of the ray are, and both forms agree.
    #[test]
    fn boxes_that_are_not_there_are_never_met() {
        const ODD: [f32; 9] = [0.0, -0.0, 1e-45, 1e-38, 1.0, 1e30, f32::MAX, f32::INFINITY, f32::NAN];
        let mut random = Sampler::new(9, (0, 0), 0);
        let mut odd = || ODD[(random.next_1d() * 9.0) as usize].copysign(random.next_1d() - 0.5);
        let mut sound = 0;
        for round in 0..20_000 {
            let mut vector = || Vec3::new(odd(), odd(), odd());
            let ray = Ray::new(vector(), vector(), 0.0);
            let slabs = Slabs::new(&ray);
            sound += u32::from(slabs.is_sound());
            let corners = (0..round % (WIDTH + 1)).map(|_| (vector(), vector()));
            let there: Vec<(Vec3, Vec3)> =
                corners.filter(|(a, b)| a.is_finite() && b.is_finite()).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let boxes = if there.is_empty() { Boxes::NONE } else { Boxes::new(&there) };
            let (t_min, t_max) = (odd().abs(), odd());
            let met = slabs.meet::<true, false>(&boxes, t_min, t_max);
            let unordered = slabs.meet::<false, false>(&boxes, t_min, t_max);
            for met in [met, unordered] {
                assert!(met.keys[..met.count].iter().all(|key| ((key & SLOT) as usize) < there.len()), "{ray:?}");
            }
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                assert_eq!(slabs.meet::<true, true>(&boxes, t_min, t_max), met, "{ray:?}");
                assert_eq!(slabs.meet::<false, true>(&boxes, t_min, t_max), unordered, "{ray:?}");
            }
        }
        assert!(sound > 500, "{sound}");
    }

    /// Rays that only just meet an edge of a triangle, on the edge of its box, which lies on lines of the grid, so that no rounding
    /// outwards helps: where the watertight test finds the triangle, the box is met.
    #[test]
    fn boxes_are_met_wherever_the_watertight_test_meets_what_is_inside() {
        let mut random = Sampler::new(12, (0, 0), 0);
        let mut hits = 0;
        for round in 0..60_000 {
            let mut number = |from: f32, to: f32| from + (to - from) * random.next_1d();
            let step = number(-6.0, 3.0).floor().exp2();
            let far = [0.0, 64.0, 1000.0, 4e4][number(0.0, 4.0) as usize];
            let base = Vec3::from_array(std::array::from_fn(|_| (number(-1.0, 1.0) * far).round()));
            // The box from one corner to the opposite one; the edge runs from the former along an axis.
            let corner = Vec3::from_array(std::array::from_fn(|_| number(0.0, 255.0).floor()));
            let opposite = Vec3::from_array(std::array::from_fn(|_| number(0.0, 255.0).floor()));
            let (corner, opposite) = (base + step * corner, base + step * opposite);
            let axis = round % 3;
            let mut end = corner;
            end[axis] = opposite[axis];
            let third = corner + (opposite - corner) * [0.0, 0.3, 0.7, 1.0][number(0.0, 4.0) as usize];
            // Past the edge, such that the rest of the box stays on one side.
            let inwards = (opposite - corner).map(|x| 1.0_f32.copysign(x));
            let mut direction = inwards * Vec3::new(number(0.01, 1.0), number(0.01, 1.0), number(0.01, 1.0));
            direction[(axis + 1) % 3] *= -1.0;
            let aim = corner.lerp(end, number(0.0, 1.0));
            let origin = aim - direction.normalize() * 10_f32.powf(number(-1.0, 4.0));
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            if ShearedRay::new(&ray).intersect(&[corner, end, third], 0.0, f32::INFINITY).is_none() {
                continue;
            }
            hits += 1;
            let held = (corner.min(opposite), corner.max(opposite));
            let boxes = Boxes::new(&[held, (base, base), (base + 255.0 * step, base + 255.0 * step)]);
            let met = Slabs::new(&ray).meet::<false, false>(&boxes, 0.0, f32::INFINITY);
            assert!(met.keys[..met.count].contains(&0), "{round}: {ray:?} {corner} {opposite}");
        }
        assert!(hits > 5000, "{hits}");
    }

    /// Both forms agree to the bit, on boxes before, behind, around and beside rays, flat ones and missing ones.
    #[test]
    fn lanes_give_what_one_after_the_other_gives() {
        let mut random = Sampler::new(3, (0, 0), 0);
        let mut vector = || (random.next_2d().extend(random.next_1d()) * 2.0 - 1.0) * 4.0;
        const ALL: [u32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut some = 0;
        for i in 0..2000 {
            let one = |slot| {
                let (a, b) = (vector(), vector());
                let b = if slot == 3 { b.with_y(a.y) } else { b };
                (a.min(b), a.max(b))
            };
            let boxes: Vec<(Vec3, Vec3)> = (0..i % (WIDTH + 1)).map(one).collect();
            let boxes = if boxes.is_empty() { Boxes::NONE } else { Boxes::new(&boxes) };
            let direction = if i % 5 == 0 { Vec3::NEG_Z } else { vector() };
            let ray = Ray::new(vector(), direction.normalize(), 0.0);
            let slabs = Slabs::new(&ray);
            let met = slabs.meet::<true, false>(&boxes, 0.0, 9.0);
            let unordered = slabs.meet::<false, false>(&boxes, 0.0, 9.0);
            let mut same = met.order::<false>(&ALL)[..met.count].to_vec();
            same.sort_unstable();
            assert_eq!(unordered.keys[..unordered.count], same[..]);
            some += met.count;
            let keys = &met.keys[..met.count];
            assert!(keys.is_sorted_by(|a, b| distance_of(*a) >= distance_of(*b)), "near ones last");
            let slots = met.order::<false>(&ALL);
            assert!(slots[..met.count].iter().all(|slot| *slot < (i % (WIDTH + 1)) as u32), "a box that is not there");
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                assert_eq!(slabs.meet::<true, true>(&boxes, 0.0, 9.0), met);
                assert_eq!(slabs.meet::<false, true>(&boxes, 0.0, 9.0), unordered);
                assert_eq!(met.order::<true>(&ALL), slots);
            }
        }
        assert!(some > 500, "{some}");
    }
}
