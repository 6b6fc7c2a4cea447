//! Rows with a number or a vector for each lane of a block, and functions that are compiled for wide registers.
//!
//! What all lanes compute alike is written once, for one lane, without branches, and called in a loop over rows. The compiler
//! makes of the loop instructions for as many lanes as a register holds. Lanes do the same arithmetic in any register, so
//! results do not depend on the processor.

use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// A number for each lane.
pub type Row = [f32; LANES];

/// A vector for each lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Row3 {
    x: Row,
    y: Row,
    z: Row,
}

impl Default for Row3 {
    fn default() -> Row3 {
        Row3::ZERO
    }
}

impl Row3 {
    pub const ZERO: Row3 = Row3 { x: [0.0; LANES], y: [0.0; LANES], z: [0.0; LANES] };

    /// Of three rows of numbers.
    pub fn of([x, y, z]: [&Row; 3]) -> Row3 {
        Row3 { x: *x, y: *y, z: *z }
    }

    pub fn rows(&self) -> [&Row; 3] {
        [&self.x, &self.y, &self.z]
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }

    /// The same in all lanes.
    #[inline(always)]
    pub fn splat(v: Vec3) -> Row3 {
        Row3 { x: [v.x; LANES], y: [v.y; LANES], z: [v.z; LANES] }
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, v: Vec3) {
        (self.x[lane], self.y[lane], self.z[lane]) = (v.x, v.y, v.z);
    }
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lane
    })
}

/// A bit for each of the lanes.
pub fn mask_of(lanes: impl IntoIterator<Item = usize>) -> u32 {
    lanes.into_iter().fold(0, |mask, lane| mask | 1 << lane)
}

/// A bit for each of the first lanes.
pub fn first_lanes(count: usize) -> u32 {
    ((1_u64 << count) - 1) as u32
}

/// A bit for each lane that has not 0.
#[inline(always)]
pub fn mask_where(lanes: &[u32; LANES]) -> u32 {
    let mut mask = 0;
    for (lane, is) in lanes.iter().enumerate() {
        mask |= u32::from(*is != 0) << lane;
    }
    mask
}

/// Whether all are finite numbers, without branches.
#[inline(always)]
pub fn all_finite(numbers: &[f32]) -> bool {
    let mut all = true;
    for x in numbers {
        all &= x.abs() < f32::INFINITY;
    }
    all
}

/// Sets of lanes that have the same key, with it, as many as there are keys among the lanes of a mask.
pub fn alike<K: PartialEq>(mut lanes: u32, key: impl Fn(usize) -> K) -> impl Iterator<Item = (u32, K)> {
    std::iter::from_fn(move || {
        let of_first = (lanes != 0).then(|| key(lanes.trailing_zeros() as usize))?;
        let same = mask_of(lanes_of(lanes).filter(|&lane| key(lane) == of_first));
        lanes &= !same;
        Some((same, of_first))
    })
}

/// A function that is compiled for several widths of registers, of which the widest is called that the processor has. What
/// it calls must be `#[inline(always)]` to be compiled with it.
macro_rules! wide {
    ($(#[$about:meta])* $vis:vis fn $name:ident($($arg:ident: $of:ty),* $(,)?) $(-> $gives:ty)? $body:block) => {
        $(#[$about])*
        $vis fn $name($($arg: $of),*) $(-> $gives)? {
            #[inline(always)]
            // Several rows are read at the same lane.
            #[allow(clippy::needless_range_loop)]
            fn here($($arg: $of),*) $(-> $gives)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn sixteen($($arg: $of),*) $(-> $gives)? {
                    here($($arg),*)
                }
                #[target_feature(enable = "avx2")]
                fn eight($($arg: $of),*) $(-> $gives)? {
                    here($($arg),*)
                }
                match $crate::math::lanes::widest() {
                    // SAFETY: the processor has what the function needs.
                    16 => return unsafe { sixteen($($arg),*) },
                    // SAFETY: likewise.
                    8 => return unsafe { eight($($arg),*) },
                    _ => {}
                }
            }
            here($($arg),*)
        }
    };
}

pub(crate) use wide;

/// How many floats a register holds of those that functions are compiled for and the processor has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn widest() -> usize {
    let has_sixteen = std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl");
    let widest = if has_sixteen {
        16
    } else if std::is_x86_feature_detected!("avx2") {
        8
    } else {
        4
    };
    #[cfg(test)]
    let widest = widest.min(narrow::LIMIT.get());
    widest
}

/// Narrower registers than the processor has, for tests.
#[cfg(test)]
pub mod narrow {
    use std::cell::Cell;

    thread_local! {
        pub static LIMIT: Cell<usize> = const { Cell::new(16) };
    }

    /// What `run` gives by registers of 4, 8 and 16 floats, as far as there are such.
    pub fn each<T>(run: impl Fn() -> T) -> Vec<T> {
        let of = |limit: usize| {
            LIMIT.set(limit);
            run()
        };
        [4, 8, 16].map(of).into()
    }
}
