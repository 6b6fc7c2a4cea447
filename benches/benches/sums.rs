//! Ways to add many terms to elements from all threads: what each costs, and how far its sums are from exact ones.
//!
//! `cargo bench -p ssl-benches --bench sums` prints a table. The ways take turns; each figure is the median of nine turns.

use kernels::launch::Sorter;
use kernels::sums::Sums;
use kernels::{Arrangement, Buffer, Element};
use rayon::prelude::*;
use ssl_compiler::runtime::AddRequest;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};
use std::time::Instant;

const TURNS: usize = 9;
/// Terms that a thread takes at once.
const PART: usize = 1 << 12;

struct Case {
    name: &'static str,
    elements: usize,
    indices: Vec<u32>,
    terms: Vec<f32>,
}

/// What a way gives: the sums. It may be called again.
type Way = (&'static str, &'static str, fn(&Case) -> Vec<f32>);

const WAYS: [Way; 4] = [
    ("f32, compare and swap", "4", swapped),
    ("64-bit fixed point, an exponent a buffer", "8", fixed),
    ("sort by element, then f64 in order", "4 + 24 a term", sorted),
    ("exact sums (`kernels::sums`)", "24 + 20 a thread", exact),
];

/// Differs from run to run: what the others are compared with.
fn swapped(case: &Case) -> Vec<f32> {
    let sums: Vec<AtomicU32> = (0..case.elements).map(|_| AtomicU32::new(0)).collect();
    case.indices.par_iter().zip(&case.terms).for_each(|(&i, &x)| {
        let sum = &sums[i as usize];
        let mut old = sum.load(Relaxed);
        while let Err(other) = sum.compare_exchange_weak(old, (f32::from_bits(old) + x).to_bits(), Relaxed, Relaxed) {
            old = other;
        }
    });
    sums.iter().map(|sum| f32::from_bits(sum.load(Relaxed))).collect()
}

/// The exponent leaves room for all terms in one element, which takes a pass over the terms of its own.
fn fixed(case: &Case) -> Vec<f32> {
    let largest = case.terms.par_iter().map(|x| x.abs()).reduce(|| 0.0, f32::max);
    let bits = (f64::from(largest) * case.terms.len() as f64).log2().ceil() as i32;
    let unit = 2f64.powi(bits - 62);
    let sums: Vec<AtomicI64> = (0..case.elements).map(|_| AtomicI64::new(0)).collect();
    case.indices.par_iter().zip(&case.terms).for_each(|(&i, &x)| {
        sums[i as usize].fetch_add((f64::from(x) / unit) as i64, Relaxed);
    });
    sums.iter().map(|sum| (sum.load(Relaxed) as f64 * unit) as f32).collect()
}

fn sorted(case: &Case) -> Vec<f32> {
    let mut pairs: Vec<(u64, u32)> =
        case.indices.par_iter().enumerate().map(|(term, &i)| (u64::from(i), term as u32)).collect();
    Sorter::default().sort(&mut pairs);
    let mut sums = vec![0.0; case.elements];
    sums.par_iter_mut().with_min_len(256).enumerate().for_each(|(i, sum)| {
        let start = pairs.partition_point(|pair| pair.0 < i as u64);
        let own = pairs[start..].iter().take_while(|pair| pair.0 == i as u64);
        *sum = own.map(|pair| f64::from(case.terms[pair.1 as usize])).sum::<f64>() as f32;
    });
    sums
}

fn exact(case: &Case) -> Vec<f32> {
    let mut sums = Sums::new(&Element::floats(1), case.elements).expect("there is memory");
    let parts = case.indices.par_chunks(PART).zip(case.terms.par_chunks(PART));
    parts.for_each(|(indices, terms)| {
        let mut adder = sums.adder(rayon::current_thread_index().unwrap_or(0));
        let mut request = AddRequest { count: 1, ..AddRequest::new() };
        for (indices, terms) in indices.chunks(16).zip(terms.chunks(16)) {
            request.index.0[..indices.len()].copy_from_slice(indices);
            request.values[0].0[..terms.len()].copy_from_slice(terms);
            request.mask = ((1u32 << terms.len()) - 1) & 0xffff;
            adder.request(&request, 0, false);
        }
    });
    let mut buffer = Buffer::new(Element::floats(1), Arrangement::Columns, case.elements).expect("there is memory");
    sums.write(buffer.view_mut()).expect("the buffer is of the same type");
    buffer.values().expect("the buffer holds floats")
}

/// Blocks of 16 points that add nine floats each to one element: what splatting does. Blocks of a tile visit the same
/// elements in turn.
fn splats() {
    const ELEMENTS: u32 = 20_480;
    const TILES: u32 = 1024;
    const LIST: u32 = 80;
    let blobs = |tile: u32| (0..LIST).map(move |i| (tile * 20 + i * 7) % ELEMENTS);
    let values = |seed: u32| {
        let mut request = AddRequest { count: 9, mask: 0xffff, uniform: 1, ..AddRequest::new() };
        for (i, row) in request.values[..9].iter_mut().enumerate() {
            row.0 = std::array::from_fn(|lane| {
                let x = (seed.wrapping_mul(31) + (i * 16 + lane) as u32) as f32;
                x.sin() * (-(0.1 * x).sin() * 8.0).exp() * 1e-6
            });
        }
        request
    };
    let requests: Vec<AddRequest> = (0..256).map(values).collect();
    let mut sums = Sums::new(&Element::floats(9), ELEMENTS as usize).expect("there is memory");
    let mut buffer = Buffer::new(Element::floats(9), Arrangement::Columns, ELEMENTS as usize).expect("there is memory");
    let (mut adding, mut ending) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let start = Instant::now();
        (0..TILES).into_par_iter().for_each(|tile| {
            let mut adder = sums.adder(rayon::current_thread_index().unwrap_or(0));
            for row in 0..16 {
                for blob in blobs(tile) {
                    let mut request = requests[(row * 16 + blob % 16) as usize].clone();
                    request.index.0[0] = blob;
                    adder.request(&request, 0, false);
                }
            }
        });
        adding.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        sums.write(buffer.view_mut()).expect("the buffer is of the same type");
        sums.clear();
        ending.push(start.elapsed().as_secs_f64());
    }
    [&mut adding, &mut ending].into_iter().for_each(|times| times.sort_by(f64::total_cmp));
    let requests = f64::from(TILES * LIST * 16);
    println!(
        "blocks that add 9 floats to one element: {:.1} ns a block; rounding and clearing {ELEMENTS} elements {:.2} ms",
        adding[TURNS / 2] * 1e9 / requests,
        ending[TURNS / 2] * 1e3
    );
}

/// Terms of either sign whose sizes spread over nine powers of ten, as those of gradients do.
fn case(name: &'static str, terms: u32, elements: usize) -> Case {
    let drawn = |i: u32| {
        let mut x = i.wrapping_add(0x9e37_79b9);
        x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        x ^ (x >> 16)
    };
    let term = |i| {
        let size = 10f32.powf(drawn(i) as f32 / u32::MAX as f32 * 9.0 - 8.0);
        if drawn(i ^ 0x5555_5555) & 1 == 0 { size } else { -size }
    };
    Case {
        name,
        elements,
        indices: (0..terms).map(|i| drawn(i.wrapping_mul(3)) % elements as u32).collect(),
        terms: (0..terms).map(term).collect(),
    }
}

fn main() {
    let cases = [
        case("many to few: 2²² terms, 16 elements", 1 << 22, 16),
        case("as many: 2²² terms, 2²² elements", 1 << 22, 1 << 22),
        case("few to many: 2¹⁶ terms, 2²² elements", 1 << 16, 1 << 22),
    ];
    println!("{} threads\n", rayon::current_num_threads());
    for case in &cases {
        let mut exact = vec![0.0f64; case.elements];
        let mut size = vec![0.0f64; case.elements];
        for (&i, &x) in case.indices.iter().zip(&case.terms) {
            exact[i as usize] += f64::from(x);
            size[i as usize] += f64::from(x).abs();
        }
        let mut times = [const { Vec::new() }; WAYS.len()];
        let mut errors = [0f64; WAYS.len()];
        for _ in 0..TURNS {
            for (way, (_, _, run)) in WAYS.iter().enumerate() {
                let start = Instant::now();
                let sums = run(case);
                times[way].push(start.elapsed().as_secs_f64());
                let error = |i: usize| (f64::from(sums[i]) - exact[i]).abs() / size[i].max(f64::MIN_POSITIVE);
                errors[way] = (0..case.elements).map(error).fold(errors[way], f64::max);
            }
        }
        println!("| {} | ns a term | bytes an element | largest error |\n| --- | --- | --- | --- |", case.name);
        for ((name, bytes, _), (times, error)) in WAYS.iter().zip(times.iter_mut().zip(errors)) {
            times.sort_by(f64::total_cmp);
            println!("| {name} | {:.1} | {bytes} | {error:.1e} |", times[TURNS / 2] * 1e9 / case.terms.len() as f64);
        }
        println!();
    }
    splats();
}
