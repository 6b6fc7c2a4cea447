//! Launches against what the standard library says, for parts of one element less and more, and for any number of threads.

use kernels::launch::{
    Box2, Sorter, TileLists, Tiles, TooMany, compact, histogram, max, min, offsets, prefix_sum, suffix_sum, sum,
};
use proptest::prelude::*;

/// Of no element, a part, its neighbours, and several.
const LENGTHS: [usize; 6] = [0, 1, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 100_003];

/// Numbers that look drawn: a counter through the finaliser of MurmurHash3.
fn drawn(i: usize) -> u64 {
    let mut x = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

fn floats(len: usize) -> Vec<f32> {
    (0..len).map(|i| (drawn(i) as i32) as f32 * 1e-6).collect()
}

/// What a launch gives on one thread, two and four.
fn on_threads<T: Send + PartialEq + std::fmt::Debug>(launch: impl Fn() -> T + Sync) -> T {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
        pool.install(&launch)
    };
    let first = run(1);
    for threads in [2, 4] {
        assert_eq!(run(threads), first, "with {threads} threads");
    }
    first
}

#[test]
fn offsets_are_sums_of_what_comes_before() {
    for len in LENGTHS {
        let counts: Vec<u32> = (0..len).map(|i| drawn(i) as u32 % 5).collect();
        let found = on_threads(|| {
            let mut found = vec![7; 3];
            offsets(&counts, &mut found).map(|()| found)
        });
        let wanted: Vec<u32> = std::iter::once(0)
            .chain(counts.iter().scan(0, |sum, c| {
                *sum += c;
                Some(*sum)
            }))
            .collect();
        assert_eq!(found, Ok(wanted));
    }
}

#[test]
fn more_entries_than_indices_are_refused() {
    assert_eq!(offsets(&[u32::MAX, 1], &mut Vec::new()), Err(TooMany { total: 1 << 32 }));
    let mut most = Vec::new();
    assert_eq!(offsets(&[u32::MAX, 0], &mut most), Ok(()));
    assert_eq!(most, [0, u32::MAX, u32::MAX]);
}

#[test]
fn running_sums_are_each_others_transpose() {
    for len in LENGTHS {
        let (x, y) = (floats(len), floats(len + 1));
        let [forward, backward] = on_threads(|| {
            let mut sums = [vec![0.0; len], vec![0.0; len]];
            prefix_sum(&x, &mut sums[0]);
            suffix_sum(&y[1..], &mut sums[1]);
            sums
        });
        let mut exact = 0.0;
        for (found, &x) in forward.iter().zip(&x) {
            exact += f64::from(x);
            assert!((f64::from(*found) - exact).abs() <= 1e-6 * exact.abs() + 1e-6);
        }
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
        let size: f64 = dot(&forward, &forward).sqrt() * dot(&y, &y).sqrt();
        assert!((dot(&forward, &y[1..]) - dot(&x, &backward)).abs() <= 1e-6 * size);
    }
}

#[test]
fn sorting_is_stable_and_agrees_with_the_standard_library() {
    let mut sorter = Sorter::default();
    for (len, mask) in LENGTHS.into_iter().flat_map(|len| [(len, 0xff), (len, 0xf0_f000), (len, u64::MAX), (len, 0)]) {
        let pairs: Vec<(u64, u32)> = (0..len).map(|i| (drawn(i) & mask, i as u32)).collect();
        let found = on_threads(|| {
            let mut found = pairs.clone();
            Sorter::default().sort(&mut found);
            found
        });
        let mut again = pairs.clone();
        sorter.sort(&mut again);
        assert_eq!(again, found, "with memory of another sort");
        let mut wanted = pairs;
        wanted.sort_by_key(|pair| pair.0);
        assert!(found == wanted, "{len} keys under {mask:x}");
    }
}

#[test]
fn packing_keeps_the_order() {
    for len in LENGTHS {
        let keep = |i: u32| drawn(i as usize).is_multiple_of(3);
        let found = on_threads(|| {
            let mut kept = vec![9; 2];
            compact(len, keep, &mut kept);
            kept
        });
        assert!(found == (0..len as u32).filter(|&i| keep(i)).collect::<Vec<_>>());
    }
}

#[test]
fn counts_of_keys() {
    for (len, bins) in LENGTHS.into_iter().flat_map(|len| [(len, 1), (len, 10), (len, 20_000)]) {
        let keys: Vec<u32> = (0..len).map(|i| (drawn(i) % 11) as u32).collect();
        let (found, outside) = on_threads(|| {
            let mut counts = vec![5; bins];
            let outside = histogram(&keys, &mut counts);
            (counts, outside)
        });
        for (key, &count) in found.iter().enumerate() {
            let wanted = if key < 11 { keys.iter().filter(|&&k| k as usize == key).count() } else { 0 };
            assert_eq!(count as usize, wanted);
        }
        assert_eq!(outside, keys.iter().filter(|&&k| k as usize >= bins).count());
    }
}

#[test]
fn lists_of_tiles() {
    let place = |i: usize| [drawn(2 * i), drawn(2 * i + 1)].map(|x| (x % 400) as f32);
    for len in LENGTHS {
        let boxes: Vec<Box2> =
            (0..len).map(place).map(|[x, y]| Box2 { min: [x, y], max: [x + 30.0, y + 10.0] }).collect();
        let tiles = Tiles::covering(300, 200, 16);
        let (starts, entries) = on_threads(|| {
            let mut lists = TileLists::default();
            // Again, into what is there.
            (0..2).for_each(|_| lists.fill(tiles, &boxes).expect("few entries"));
            (lists.starts, lists.boxes)
        });
        assert_eq!((starts.len(), *starts.last().unwrap() as usize), (19 * 13 + 1, entries.len()));
        for tile in [0, 20, 19 * 13 - 1] {
            let [x, y] = [tile % 19, tile / 19].map(|t| 16.0 * t as f32);
            let touches = |&i: &u32| {
                let [a, b] = place(i as usize);
                a < x + 16.0 && a + 30.0 >= x && b < y + 16.0 && b + 10.0 >= y
            };
            let wanted: Vec<u32> = (0..len as u32).filter(touches).collect();
            assert!(entries[starts[tile] as usize..starts[tile + 1] as usize] == wanted);
        }
    }
}

#[test]
fn one_number_from_many() {
    for len in LENGTHS {
        let mut values = floats(len);
        if len > 2 {
            values[1] = f32::NAN;
        }
        let found = on_threads(|| (min(&values), max(&values)));
        let numbers = || values.iter().copied().enumerate().filter(|(_, x)| !x.is_nan());
        assert_eq!(found.0.map(|b| b.1), numbers().map(|b| b.1).reduce(f32::min));
        assert_eq!(found.1.map(|b| b.1), numbers().map(|b| b.1).reduce(f32::max));
        assert_eq!(found.0.map(|b| b.0), found.0.and_then(|b| values.iter().position(|&x| x == b.1)));
        let whole: Vec<f32> = (0..len).map(|i| i as f32).collect();
        assert_eq!(on_threads(|| sum(&whole)), (len as f64) * (len as f64 - 1.0).max(0.0) / 2.0);
    }
    assert_eq!(min(&[f32::NAN]), None);
    assert_eq!(max(&[3.0, 7.0, 7.0]), Some((1, 7.0)), "the first of equals");
}

/// Bounds that are ordinary, and some that are not.
fn bound() -> impl Strategy<Value = f32> {
    prop_oneof![20 => -40.0f32..140.0, 1 => Just(f32::NAN), 1 => Just(f32::INFINITY), 1 => Just(f32::NEG_INFINITY), 1 => Just(1e30)]
}

proptest! {
    #[test]
    fn tiles_hold_what_touches_them(boxes in prop::collection::vec((bound(), bound(), bound(), bound()), 0..60)) {
        let boxes: Vec<Box2> = boxes.into_iter().map(|(a, b, c, d)| Box2 { min: [a, b], max: [c, d] }).collect();
        let tiles = Tiles::covering(100, 50, 16);
        let mut lists = TileLists::default();
        lists.fill(tiles, &boxes).expect("few entries");
        prop_assert_eq!(tiles.count, [7, 4]);
        for tile in 0..28 {
            let corner = [tile % 7, tile / 7].map(|t| 16.0 * t as f32);
            let touches = |b: &Box2| (0..2).all(|axis| {
                b.min[axis] <= b.max[axis] && b.min[axis] < corner[axis] + 16.0 && b.max[axis] >= corner[axis]
            });
            let wanted: Vec<u32> = (0..boxes.len() as u32).filter(|&i| touches(&boxes[i as usize])).collect();
            prop_assert_eq!(lists.of(tile), &wanted[..]);
        }
    }
}
