//! Sums against exact ones in integers, in any order, on any number of threads.

use kernels::sums::{LIMIT, Sums};
use kernels::{Arrangement, Buffer, Element};
use proptest::prelude::*;
use rayon::prelude::*;
use ssl_compiler::runtime::AddRequest;
use ssl_compiler::types::Scalar;

/// Terms of which all bits lie above 2⁻⁸⁰, as multiples of 2⁻⁸⁰ that fit into 128 bits.
fn exact(term: f32) -> i128 {
    let bits = term.to_bits();
    let mantissa = i128::from(bits & 0x7f_ffff | 0x80_0000);
    let size = mantissa << ((bits >> 23 & 0xff) as i32 - 127 - 23 + 80);
    if term < 0.0 { -size } else { size }
}

fn floats(len: usize) -> Sums {
    Sums::new(&Element::floats(1), len).unwrap()
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
        let sums = floats(1);
        let mut backwards = floats(5000);
        for i in 0..terms.len() {
            sums.add(0, 0, terms[(i + start % terms.len()) % terms.len()].into());
            backwards.add(4999, 0, terms[terms.len() - 1 - i].into());
        }
        prop_assert_eq!(sums.read(0, 0), wanted);
        prop_assert_eq!(backwards.read(4999, 0), wanted);
        prop_assert_eq!(backwards.read(4998, 0), 0.0);
        prop_assert_eq!(sums.left_out(), 0);
        backwards.clear();
        prop_assert_eq!(backwards.read(4999, 0), 0.0);
    }

    #[test]
    fn one_term_is_rounded_once(bits in any::<u64>()) {
        let term = f64::from_bits(bits);
        let sums = floats(1);
        sums.add(0, 0, term);
        if term.abs() < LIMIT {
            // Rounded to f32 at once, since cutting off at 2⁻⁸⁰ cannot move a number of f64 across a tie of f32 above 2⁻⁴⁸.
            let wanted = if term.abs() < 2f64.powi(-25) { (term * 2f64.powi(80)).trunc() * 2f64.powi(-80) } else { term };
            prop_assert_eq!(sums.read(0, 0), wanted as f32);
            prop_assert_eq!(sums.left_out(), 0);
        } else {
            prop_assert_eq!((sums.read(0, 0), sums.left_out()), (0.0, 1));
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
                let sums = floats(len);
                terms.par_iter().enumerate().for_each(|(i, &x)| sums.add(i % len, 0, x.into()));
                (0..len).map(|i| sums.read(i, 0).to_bits()).collect::<Vec<_>>()
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
    let sums = floats(1);
    let large = LIMIT * (1.0 - 2f64.powi(-30));
    (0..10_000).for_each(|_| sums.add(0, 0, large));
    assert_eq!(sums.read(0, 0), (large * 1e4) as f32);
    (0..20_000).for_each(|_| sums.add(0, 0, -large));
    assert_eq!(sums.read(0, 0), (-large * 1e4) as f32);
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LIMIT, -LIMIT].iter().for_each(|&x| sums.add(0, 0, x));
    assert_eq!((sums.read(0, 0), sums.left_out()), ((-large * 1e4) as f32, 5));
}

/// What compiled code asks for: two floats and an int for each lane.
#[derive(Clone, Debug)]
struct Asked {
    request: AddRequest,
    terms: Vec<(usize, [f32; 2], i32)>,
}

const ELEMENTS: usize = 11;
/// The element's columns do not begin at 0.
const FIRST: usize = 5;

fn asked() -> impl Strategy<Value = Asked> {
    // Sizes that suit one unit, and some that do not.
    let float = prop_oneof![8 => (-(1i32 << 24)..1 << 24, 0i32..8), 1 => (-(1i32 << 24)..1 << 24, -56i32..20)];
    let float = prop_oneof![9 => float.prop_map(|(m, e)| m as f32 * 2f32.powi(e)), 1 => Just(0.0), 1 => Just(-0.0f32)];
    let lane = (0..ELEMENTS, [float.clone(), float], any::<i32>());
    (prop::collection::vec(lane, 16), any::<bool>(), 1u32..1 << 16, 1usize..4).prop_map(
        |(lanes, uniform, mask, count)| {
            let mut request = AddRequest::new();
            let first_lane = lanes[mask.trailing_zeros() as usize].0;
            let mut terms = Vec::new();
            for (i, &(element, floats, int)) in lanes.iter().enumerate() {
                let taken = mask >> i & 1 != 0;
                // What stands in other lanes is not to be read.
                let element = if uniform { first_lane } else { element };
                request.index.0[i] = if taken { element as u32 } else { u32::MAX };
                request.values[0].0[i] = if taken { floats[0] } else { f32::NAN };
                request.values[1].0[i] = floats[1];
                request.values[2].set_int(i, int);
                if taken {
                    let kept = |column: usize, x: f32| if column < count { x } else { 0.0 };
                    let int = if count == 3 { int } else { 0 };
                    terms.push((element, [floats[0], kept(1, floats[1])], int));
                }
            }
            (request.column, request.count) = (FIRST as u32, count as u32);
            (request.mask, request.uniform) = (mask, u32::from(uniform));
            Asked { request, terms }
        },
    )
}

proptest! {
    #[test]
    fn requests_of_compiled_code_add_exactly(all in prop::collection::vec(asked(), 1..60), taken in 0usize..60) {
        let element = Element::new(&[Scalar::Float, Scalar::Float, Scalar::Int]);
        let mut wanted = [([0i128; 2], 0i32); ELEMENTS];
        for (element, floats, int) in all.iter().flat_map(|asked| &asked.terms) {
            let (sums, ints) = &mut wanted[*element];
            floats.iter().zip(sums).filter(|(x, _)| **x != 0.0).for_each(|(&x, sum)| *sum += exact(x));
            *ints = ints.wrapping_add(*int);
        }
        let rounded = |sum: i128| sum as f32 * 2f32.powi(-80);
        let wanted = wanted.map(|(floats, int)| (floats.map(rounded), int));

        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let mut sums = pool.install(|| Sums::new(&element, ELEMENTS)).unwrap();
        for order in 0..3 {
            sums.clear();
            let mut requests: Vec<&Asked> = all.iter().collect();
            match order {
                0 => {}
                1 => requests.reverse(),
                // What is added and taken away again is as if it had not been.
                _ => requests.extend(all.iter().take(taken)),
            }
            for (i, asked) in requests.iter().enumerate() {
                // Two threads with parts of their own, and one that shares the part of the second.
                let mut first = sums.adder(0);
                let mut second = sums.adder(1);
                let mut third = sums.adder(1);
                [&mut first, &mut second, &mut third][i % 3].request(&asked.request, FIRST, false);
            }
            if order == 2 {
                all.iter().take(taken).for_each(|asked| sums.adder(0).request(&asked.request, FIRST, true));
            }
            let mut found = Buffer::new(element.clone(), Arrangement::Rows, ELEMENTS).unwrap();
            sums.write(found.view_mut()).unwrap();
            prop_assert_eq!(&found.values::<([f32; 2], i32)>().unwrap(), &wanted);
            let read: Vec<f32> = (0..ELEMENTS).map(|i| sums.read(i, 1)).collect();
            prop_assert_eq!(read, wanted.map(|(floats, _)| floats[1]));
        }
        prop_assert_eq!(sums.left_out(), 0);
    }
}

/// A request of two floats for each lane: to neighbours, to one element, or to any. Terms reach below what sums hold.
fn of_floats() -> impl Strategy<Value = AddRequest> {
    let float = (-(1i32 << 24)..1 << 24, -110i32..8).prop_map(|(m, e)| m as f32 * 2f32.powi(e));
    let float = prop_oneof![9 => float, 1 => Just(0.0), 1 => Just(-0.0f32)];
    let lane = (0..NEIGHBOURS as u32, [float.clone(), float]);
    let lanes = prop::collection::vec(lane, 16);
    (lanes, 0u32..3, 1u32..1 << 16, 1u32..3).prop_map(|(lanes, kind, mask, count)| {
        let mut request = AddRequest { column: 0, count, mask, uniform: u32::from(kind == 0), ..AddRequest::new() };
        for (i, (element, floats)) in lanes.iter().enumerate() {
            request.index.0[i] = match kind {
                0 => lanes[0].0,
                1 => lanes[0].0 % (NEIGHBOURS as u32 - 15) + i as u32,
                _ => *element,
            };
            request.values[0].0[i] = floats[0];
            request.values[1].0[i] = floats[1];
        }
        request
    })
}

const NEIGHBOURS: usize = 77;

proptest! {
    #[test]
    fn neighbours_add_as_others_do(all in prop::collection::vec(of_floats(), 1..40), taken in 0usize..40) {
        let mut wanted = [[0i128; 2]; NEIGHBOURS];
        for request in &all {
            for lane in request.lanes() {
                let sums = &mut wanted[request.index.0[lane] as usize];
                for (sum, row) in sums.iter_mut().zip(&request.values[..request.count as usize]) {
                    *sum += (f64::from(row.0[lane]) * 2f64.powi(80)).trunc() as i128;
                }
            }
        }
        let wanted = wanted.map(|sums| sums.map(|sum| (sum as f32 * 2f32.powi(-80)).to_bits()));
        let element = Element::floats(2);
        let mut sums = Sums::new(&element, NEIGHBOURS).unwrap();
        for order in 0..3 {
            sums.clear();
            let mut requests: Vec<&AddRequest> = all.iter().collect();
            match order {
                0 => {}
                1 => requests.reverse(),
                _ => requests.extend(all.iter().take(taken)),
            }
            requests.iter().for_each(|request| sums.adder(0).request(request, 0, false));
            if order == 2 {
                all.iter().take(taken).for_each(|request| sums.adder(0).request(request, 0, true));
            }
            let mut found = Buffer::new(element.clone(), Arrangement::Rows, NEIGHBOURS).unwrap();
            sums.write(found.view_mut()).unwrap();
            let found = found.values::<[f32; 2]>().unwrap();
            let found: Vec<[u32; 2]> = found.iter().map(|sums| sums.map(f32::to_bits)).collect();
            prop_assert_eq!(&found, &wanted);
            let read: Vec<u32> = (0..NEIGHBOURS).map(|i| sums.read(i, 1).to_bits()).collect();
            prop_assert_eq!(read, wanted.map(|sums| sums[1]));
        }
    }
}

/// A request by all lanes to one element.
fn uniform(element: u32, value: f32) -> AddRequest {
    let mut request = AddRequest { column: 0, count: 1, mask: 0xffff, uniform: 1, ..AddRequest::new() };
    request.index.0 = [element; 16];
    request.values[0].0 = [value; 16];
    request
}

#[test]
fn terms_that_are_not_finite_are_left_out_and_counted() {
    let mut sums = floats(2);
    let mut adder = sums.adder(0);
    adder.request(&uniform(0, 1.5), 0, false);
    adder.request(&uniform(0, f32::NAN), 0, false);
    adder.request(&uniform(0, f32::INFINITY), 0, false);
    adder.request(&AddRequest { uniform: 0, mask: 7, ..uniform(1, f32::NEG_INFINITY) }, 0, false);
    adder.request(&AddRequest { uniform: 0, mask: 1, ..uniform(1, f32::NEG_INFINITY) }, 0, true);
    adder.request(&uniform(0, 0.25), 0, false);
    drop(adder);
    assert_eq!((sums.read(0, 0), sums.read(1, 0), sums.left_out()), (28.0, 0.0, 34));
    sums.clear();
    assert_eq!((sums.read(0, 0), sums.left_out()), (0.0, 0));
}

#[test]
fn one_element_takes_a_million_additions() {
    // The integers of 64 bits of a thread overflow many times.
    let sums = floats(1);
    let mut adder = sums.adder(0);
    let term = 16_777_215.0 * 2f32.powi(-20);
    (0..1_000_000).for_each(|_| adder.request(&uniform(0, term), 0, false));
    drop(adder);
    assert_eq!(sums.read(0, 0), (f64::from(term) * 16e6) as f32);
}

#[test]
fn elements_that_share_an_entry_keep_their_sums() {
    // More elements than a thread keeps, each added to in turns.
    let len = 3_000_000;
    let mut sums = floats(len);
    let mut adder = sums.adder(0);
    for round in 0..2 {
        for i in [0, 1 << 19, 1 << 20, 5, 2 << 20, (1 << 20) + 5] {
            adder.request(&uniform(i, (i + round) as f32), 0, false);
            adder.request(&AddRequest { uniform: 0, mask: 3, ..uniform(i + 1, 0.5) }, 0, false);
        }
    }
    drop(adder);
    let mut found = Buffer::new(Element::floats(1), Arrangement::Columns, len).unwrap();
    sums.write(found.view_mut()).unwrap();
    for i in [0u32, 1 << 19, 1 << 20, 5, 2 << 20, (1 << 20) + 5] {
        assert_eq!(found.get::<f32>(i as usize).unwrap(), 16.0 * (2 * i + 1) as f32);
        assert_eq!(found.get::<f32>(i as usize + 1).unwrap(), 2.0);
    }
    assert_eq!(found.column::<f32>(0).unwrap().iter().filter(|x| **x != 0.0).count(), 12);
}

#[test]
fn bools_have_no_sums() {
    let error = Sums::new(&Element::new(&[Scalar::Bool]), 3).err().unwrap();
    assert_eq!(error.to_string(), "the buffer holds 1 bool, not floats and ints");
}
