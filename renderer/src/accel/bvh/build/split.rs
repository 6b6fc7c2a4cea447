//! Primitives before they stand in leaves, and the split of a set of them where the expected cost of rays is least (the
//! surface area heuristic, found over bins: Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies",
//! 2007). A split reorders the set in place, so each part is a range.

use glam::{DVec3, Vec3A};

/// Triangles that are tested together, as one block.
pub const BLOCK: u32 = 4;

/// A primitive's box, and how to find it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub struct Reference {
    low: [f32; 3],
    pub item: u32,
    high: [f32; 3],
    /// How much of a block it fills, in triangles.
    pub weight: u32,
}

impl Reference {
    /// `low` and `high` are finite.
    pub fn new((low, high): (glam::Vec3, glam::Vec3), item: u32, weight: u32) -> Reference {
        Reference { low: low.to_array(), item, high: high.to_array(), weight }
    }

    #[inline(always)]
    pub fn extent(&self) -> Extent {
        Extent { low: self.low.into(), high: self.high.into() }
    }

    #[inline(always)]
    fn center(&self) -> Vec3A {
        let Extent { low, high } = self.extent();
        // Each half for itself: the sum could be too large for a number.
        low * 0.5 + high * 0.5
    }
}

/// A box by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    pub low: Vec3A,
    pub high: Vec3A,
}

impl Extent {
    pub const EMPTY: Extent = Extent { low: Vec3A::INFINITY, high: Vec3A::NEG_INFINITY };

    #[inline(always)]
    pub fn union(self, other: Extent) -> Extent {
        Extent { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    #[inline(always)]
    fn with(self, point: Vec3A) -> Extent {
        Extent { low: self.low.min(point), high: self.high.max(point) }
    }

    /// Half its surface, to which the number of rays that meet it is proportional: in f64, which holds the square of every
    /// length. No side counts as less than a thousandth of the longest, so that boxes on a line are told apart.
    #[inline(always)]
    pub fn half_area(&self) -> f64 {
        let size = self.high.as_dvec3() - self.low.as_dvec3();
        let size = size.max(DVec3::splat(size.max_element() * 1e-3));
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

/// What is known of a set of references.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Around their boxes.
    pub extent: Extent,
    /// Around their boxes' centers.
    centers: Extent,
    pub weight: u32,
}

impl Measure {
    const EMPTY: Measure = Measure { extent: Extent::EMPTY, centers: Extent::EMPTY, weight: 0 };

    pub fn of(references: &[Reference]) -> Measure {
        references.iter().fold(Measure::EMPTY, |all, one| all.and(one))
    }

    #[inline(always)]
    fn and(self, one: &Reference) -> Measure {
        Measure {
            extent: self.extent.union(one.extent()),
            centers: self.centers.with(one.center()),
            weight: self.weight + one.weight,
        }
    }
}

/// Of what one block costs, what two may cost in its place.
const GAIN: f64 = 0.8;

/// Bins along an axis, and how many references they are meant for.
const FEW: usize = 8;
const MANY: usize = 16;

#[derive(Clone, Copy)]
struct Bin {
    extent: Extent,
    weight: u32,
}

impl Bin {
    const EMPTY: Bin = Bin { extent: Extent::EMPTY, weight: 0 };

    #[inline(always)]
    fn and(self, other: &Bin) -> Bin {
        Bin { extent: self.extent.union(other.extent), weight: self.weight + other.weight }
    }

    /// What rays cost in a leaf, to a factor.
    #[inline(always)]
    fn cost(&self) -> f64 {
        if self.weight == 0 { 0.0 } else { self.extent.half_area() * f64::from(self.weight.div_ceil(BLOCK)) }
    }
}

/// Where bins are along the axes: the first is about the lowest center, the last about the highest.
struct Grid {
    low: Vec3A,
    scale: Vec3A,
}

/// From here to twice that, numbers have no fraction, and their last bits are an integer.
const WHOLE: f32 = (1 << 23) as f32;

impl Grid {
    fn new(centers: &Extent, bins: usize) -> Grid {
        let scale = Vec3A::splat((bins - 1) as f32) / (centers.high - centers.low);
        // Along an axis without length, or of more than numbers hold, all falls into the first bin.
        Grid { low: centers.low, scale: Vec3A::select(scale.is_finite_mask(), scale, Vec3A::ZERO) }
    }

    /// The bins that a center falls into.
    #[inline(always)]
    fn places(&self, center: Vec3A) -> [usize; 3] {
        let place = (center - self.low) * self.scale + Vec3A::splat(WHOLE);
        place.to_array().map(|x| x.to_bits() as usize)
    }

    /// That of one axis.
    #[inline(always)]
    fn place(&self, reference: &Reference, axis: usize) -> usize {
        let center = reference.low[axis] * 0.5 + reference.high[axis] * 0.5;
        ((center - self.low[axis]) * self.scale[axis] + WHOLE).to_bits() as usize
    }
}

/// Where to cut: before a bin of an axis.
struct Plane {
    axis: usize,
    bin: usize,
    cost: f64,
}

/// Brings the references into two parts; returns how many are in the first, and what each is like. `None` where they fill one
/// block that is expected to cost no more than two. `halve` cuts in the middle of the order that they are in.
///
/// There must be two at least.
pub fn split(references: &mut [Reference], whole: &Measure, halve: bool) -> Option<(usize, [Measure; 2])> {
    if halve && whole.weight > BLOCK {
        return Some(halves(references));
    }
    match references.len() {
        0..=MANY => split_by::<FEW>(references, whole),
        _ => split_by::<MANY>(references, whole),
    }
}

fn halves(references: &[Reference]) -> (usize, [Measure; 2]) {
    let middle = references.len() / 2;
    (middle, [Measure::of(&references[..middle]), Measure::of(&references[middle..])])
}

fn split_by<const BINS: usize>(references: &mut [Reference], whole: &Measure) -> Option<(usize, [Measure; 2])> {
    let grid = Grid::new(&whole.centers, BINS);
    let plane = best::<BINS>(references, &grid);
    if whole.weight <= BLOCK && plane.as_ref().is_none_or(|p| p.cost >= GAIN * whole.extent.half_area()) {
        return None;
    }
    let Some(Plane { axis, bin, .. }) = plane else { return Some(halves(references)) };
    let is_first = |reference: &Reference| grid.place(reference, axis) % BINS < bin;
    let [mut first, mut second] = [Measure::EMPTY; 2];
    let (mut begin, mut end) = (0, references.len());
    loop {
        while begin < end && is_first(&references[begin]) {
            first = first.and(&references[begin]);
            begin += 1;
        }
        while begin < end && !is_first(&references[end - 1]) {
            second = second.and(&references[end - 1]);
            end -= 1;
        }
        if begin == end {
            return Some((begin, [first, second]));
        }
        references.swap(begin, end - 1);
    }
}

/// The cheapest plane that has something on either side; of equal ones the first.
#[inline(never)]
fn best<const BINS: usize>(references: &[Reference], grid: &Grid) -> Option<Plane> {
    let mut bins = [[Bin::EMPTY; BINS]; 3];
    for reference in references {
        let one = Bin { extent: reference.extent(), weight: reference.weight };
        let places = grid.places(reference.center());
        for axis in 0..3 {
            let bin = &mut bins[axis][places[axis] % BINS];
            *bin = bin.and(&one);
        }
    }
    let mut best: Option<Plane> = None;
    for (axis, bins) in bins.iter().enumerate() {
        if grid.scale[axis] == 0.0 {
            continue;
        }
        let (mut behind, mut all) = ([(0.0, 0); BINS], Bin::EMPTY);
        for i in (1..BINS).rev() {
            all = all.and(&bins[i]);
            behind[i] = (all.cost(), all.weight);
        }
        let mut all = Bin::EMPTY;
        for i in 1..BINS {
            all = all.and(&bins[i - 1]);
            let (cost, weight) = behind[i];
            let cost = cost + all.cost();
            if all.weight > 0 && weight > 0 && best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Plane { axis, bin: i, cost });
            }
        }
    }
    best
}
