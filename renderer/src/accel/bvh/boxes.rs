//! Eight boxes side by side, and the test of a ray with all of them.

use crate::ray::Ray;
use glam::Vec3;

/// Boxes that are tested together.
pub const WIDTH: usize = 8;

/// Planes of eight boxes: the low ones and the high ones, by axis.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Boxes(pub [[Eight; 3]; 2]);

type Eight = [f32; WIDTH];

impl Boxes {
    /// Boxes that begin behind their end, which no ray meets.
    pub const EMPTY: Boxes = Boxes([[[f32::INFINITY; WIDTH]; 3], [[f32::NEG_INFINITY; WIDTH]; 3]]);

    pub fn put(&mut self, slot: usize, low: Vec3, high: Vec3) {
        for axis in 0..3 {
            self.0[0][axis][slot] = low[axis];
            self.0[1][axis][slot] = high[axis];
        }
    }
}

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

/// A ray prepared for tests of boxes: for each axis where to subtract from for the near and the far plane, and
/// the reciprocal of the direction.
pub struct Slabs {
    near_origin: Vec3,
    far_origin: Vec3,
    reciprocal: Vec3,
    /// 1 where the near planes are the high ones, else 0.
    backwards: [usize; 3],
}

/// Three roundings on either side. Where the exit is negative there is no hit, whatever they do.
const SLACK: f32 = 1.0 + 8.0 * f32::EPSILON;

impl Slabs {
    /// Whether the numbers are such that a box that is not there is never met: its planes are infinite, and less something
    /// finite, times something above 0, stay so. A walk that met one would begin anew at the root, and never end.
    #[inline(always)]
    pub fn is_sound(&self) -> bool {
        // NaN is above nothing.
        let near = self.near_origin.is_finite() & self.far_origin.is_finite();
        near & self.reciprocal.abs().cmpgt(Vec3::ZERO).all()
    }

    /// For boxes within the smallest and the largest corner of `bounds`.
    pub fn new(ray: &Ray, bounds: (Vec3, Vec3)) -> Slabs {
        let (o, d) = (ray.origin, ray.direction);
        // Where the watertight test rounds, it does so in proportion to how far the vertices are along the axis in
        // question and along the ray's largest axis.
        let reach = (o - bounds.0).abs().max((bounds.1 - o).abs());
        let error = (reach + reach[d.abs().max_position()]) * (5.0 * 0.5 * f32::EPSILON);
        let error = error.map(f32::next_up);
        // No component is so small beside the others that its reciprocal would overflow.
        let least = d.abs().max_element() * 1e-18;
        let reciprocal = Vec3::from_array(std::array::from_fn(|i| 1.0 / d[i].abs().max(least).copysign(d[i])));
        // What the ray must have passed to be inside: planes nearer by the error, or further.
        let sign = Vec3::from_array(std::array::from_fn(|i| 1.0_f32.copysign(d[i])));
        Slabs {
            near_origin: o + sign * error,
            far_origin: o - sign * error,
            reciprocal,
            backwards: std::array::from_fn(|i| usize::from(d[i].is_sign_negative())),
        }
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
        for axis in 0..3 {
            let back = self.backwards[axis];
            let (near, far) = (&boxes.0[back][axis], &boxes.0[1 - back][axis]);
            for i in 0..WIDTH {
                let t = (near[i] - self.near_origin[axis]) * self.reciprocal[axis];
                entry[i] = if t > entry[i] { t } else { entry[i] };
                let t = (far[i] - self.far_origin[axis]) * self.reciprocal[axis];
                exit[i] = if t < exit[i] { t } else { exit[i] };
            }
        }
        let mut met = Met { keys: [0; WIDTH], count: 0 };
        for i in 0..WIDTH {
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
        // SAFETY: rows are aligned: the boxes are, and rows are 32 bytes.
        let row = |side: usize, axis: usize| unsafe { _mm256_load_ps(boxes.0[side][axis].as_ptr()) };
        let (mut entry, mut exit) = (_mm256_set1_ps(t_min), _mm256_set1_ps(f32::INFINITY));
        for axis in 0..3 {
            let back = self.backwards[axis];
            let along = _mm256_set1_ps(self.reciprocal[axis]);
            let near = _mm256_sub_ps(row(back, axis), _mm256_set1_ps(self.near_origin[axis]));
            entry = _mm256_max_ps(_mm256_mul_ps(near, along), entry);
            let far = _mm256_sub_ps(row(1 - back, axis), _mm256_set1_ps(self.far_origin[axis]));
            exit = _mm256_min_ps(_mm256_mul_ps(far, along), exit);
        }
        let exit = _mm256_min_ps(_mm256_mul_ps(exit, _mm256_set1_ps(SLACK)), _mm256_set1_ps(t_max));
        let met = _mm256_cmp_ps::<_CMP_LE_OQ>(entry, exit);
        if !ORDERED {
            let mask = _mm256_movemask_ps(met) as usize;
            return Met { keys: SLOTS[mask].map(u32::from), count: mask.count_ones() as usize };
        }
        let slots = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
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
    use crate::sampler::Sampler;

    /// Rays with odd numbers in them meet no box that is not there, or say that they might.
    #[test]
    fn boxes_that_are_not_there_are_never_met() {
        const ODD: [f32; 9] = [0.0, -0.0, 1e-45, 1e-38, 1.0, 1e30, f32::MAX, f32::INFINITY, f32::NAN];
        let mut random = Sampler::new(9, (0, 0), 0);
        let mut odd = || ODD[(random.next_1d() * 9.0) as usize].copysign(random.next_1d() - 0.5);
        let mut sound = 0;
        for _ in 0..20_000 {
            let mut vector = || Vec3::new(odd(), odd(), odd());
            let (ray, corner) = (Ray::new(vector(), vector(), 0.0), vector());
            let slabs = Slabs::new(&ray, (corner, corner + vector().abs()));
            if !slabs.is_sound() {
                continue;
            }
            sound += 1;
            let none = |met: Met| assert_eq!(met.count, 0, "{ray:?}");
            none(slabs.meet::<true, false>(&Boxes::EMPTY, 0.0, f32::INFINITY));
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                none(slabs.meet::<true, true>(&Boxes::EMPTY, 0.0, f32::INFINITY));
            }
        }
        assert!(sound > 500, "{sound}");
    }

    /// Both forms agree to the bit, on boxes before, behind, around and beside rays, flat ones and missing ones.
    #[test]
    fn lanes_give_what_one_after_the_other_gives() {
        let mut random = Sampler::new(3, (0, 0), 0);
        let mut vector = || (random.next_2d().extend(random.next_1d()) * 2.0 - 1.0) * 4.0;
        const ALL: [u32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut some = 0;
        for i in 0..2000 {
            let mut boxes = Boxes::EMPTY;
            for slot in 0..i % (WIDTH + 1) {
                let (a, b) = (vector(), vector());
                let b = if slot == 3 { b.with_y(a.y) } else { b };
                boxes.put(slot, a.min(b), a.max(b));
            }
            let direction = if i % 5 == 0 { Vec3::NEG_Z } else { vector() };
            let ray = Ray::new(vector(), direction.normalize(), 0.0);
            let slabs = Slabs::new(&ray, (Vec3::splat(-4.0), Vec3::splat(4.0)));
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
