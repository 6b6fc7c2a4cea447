//! Sums against exact ones in integers, in any order, on any number of threads.

use kernels::sums::{LIMIT, Sums};
use proptest::prelude::*;
use rayon::prelude::*;

/// Terms of which all bits lie above 2⁻⁸⁰, as multiples of 2⁻⁸⁰ that fit into 128 bits.
fn exact(term: f32) -> i128 {
    let bits = term.to_bits();
    let mantissa = i128::from(bits & 0x7f_ffff | 0x80_0000);
    let size = mantissa << ((bits >> 23 & 0xff) as i32 - 127 - 23 + 80);
    if term < 0.0 { -size } else { size }
}

fn term() -> impl Strategy<Value = f32> {
    (-(1i32 << 24)..1 << 24, -56i32..20)
        .prop_map(|(m, e)| m as f32 * 2f32.powi(e))
        .prop_filter("a normal", |x| *x != 0.0)
}

proptest! {
    #[test]
    fn the_sum_is_exact_in_any_order(terms in prop::collection::vec(term(), 1..200), start in any::<usize>()) {
        let wanted = terms.iter().map(|&x| exact(x)).sum::<i128>() as f32 * 2f32.powi(-80);
        let sums = Sums::new(1);
        let mut backwards = Sums::new(5000);
        for i in 0..terms.len() {
            sums.add(0, terms[(i + start % terms.len()) % terms.len()].into());
            backwards.add(4999, terms[terms.len() - 1 - i].into());
        }
        prop_assert_eq!(sums.read(0), wanted);
        prop_assert_eq!(backwards.read(4999), wanted);
        prop_assert_eq!(backwards.read(4998), 0.0);
        prop_assert_eq!(sums.left_out(), 0);
        backwards.clear();
        prop_assert_eq!(backwards.read(4999), 0.0);
    }

    #[test]
    fn one_term_is_rounded_once(bits in any::<u64>()) {
        let term = f64::from_bits(bits);
        let sums = Sums::new(1);
        sums.add(0, term);
        if term.abs() < LIMIT {
            // Rounded to f32 at once, since cutting off at 2⁻⁸⁰ cannot move a number of f64 across a tie of f32 above 2⁻⁴⁸.
            let wanted = if term.abs() < 2f64.powi(-25) { (term * 2f64.powi(80)).trunc() * 2f64.powi(-80) } else { term };
            prop_assert_eq!(sums.read(0), wanted as f32);
            prop_assert_eq!(sums.left_out(), 0);
        } else {
            prop_assert_eq!((sums.read(0), sums.left_out()), (0.0, 1));
        }
    }
}

#[test]
fn threads_change_nothing() {
    let terms: Vec<f32> = (0..200_000u32).map(|i| ((i.wrapping_mul(2_654_435_761)) as i32) as f32 * 1e-7).collect();
    for len in [1, 7, 10_000] {
        let mut found = Vec::new();
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
            found.push(pool.install(|| {
                let sums = Sums::new(len);
                terms.par_iter().enumerate().for_each(|(i, &x)| sums.add(i % len, x.into()));
                (0..len).map(|i| sums.read(i).to_bits()).collect::<Vec<_>>()
            }));
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{len} elements");
        let mut exact_sums = vec![0i128; len];
        terms.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(i, &x)| exact_sums[i % len] += exact(x));
        let wanted: Vec<u32> = exact_sums.iter().map(|&sum| (sum as f32 * 2f32.powi(-80)).to_bits()).collect();
        assert_eq!(found[0], wanted);
    }
}

#[test]
fn large_terms_neither_wrap_nor_pass_unseen() {
    let sums = Sums::new(1);
    let large = LIMIT * (1.0 - 2f64.powi(-30));
    (0..10_000).for_each(|_| sums.add(0, large));
    assert_eq!(sums.read(0), (large * 1e4) as f32);
    (0..20_000).for_each(|_| sums.add(0, -large));
    assert_eq!(sums.read(0), (-large * 1e4) as f32);
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LIMIT, -LIMIT].iter().for_each(|&x| sums.add(0, x));
    assert_eq!((sums.read(0), sums.left_out()), ((-large * 1e4) as f32, 5));
}
