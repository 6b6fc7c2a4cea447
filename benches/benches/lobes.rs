//! What the renderer's lobes cost: those that are written in SSL, on each back end, beside the lobes in Rust of the same name.
//!
//! `cargo bench -p ssl-benches --bench lobes --features llvm -- [NAME…]`
//!
//! Sixteen points are asked together, as the stages of the path tracer ask them: they are begun with parameters, evaluated in a
//! direction each, and a direction is drawn at each. All run by turns on one thread, and the least of the rounds counts.

use glam::{Vec2, Vec3};
use renderer::bsdf::{ClosureKind, Lobes, Place, Request, RustCode, SslLobes, oracles};
use renderer::material::{Making, ShadingLanguage, ShippedLobe};
use renderer::math::uniform_cone;
use renderer::sampler::Sampler;
use ssl_compiler::BackendKind;
use ssl_compiler::runtime::{LANES, Row};
use ssl_compiler::types::Type;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;
const BLOCKS: usize = 400;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    println!("| lobe | code | begin | eval | draw | all, Rust = 1 |\n| --- | --- | --- | --- | --- | --- |");
    let language = ShadingLanguage::new();
    for kind in oracles() {
        let name = (kind.closure_type)().name.to_string();
        if wanted.is_empty() || wanted.contains(&name) {
            measure(&language, &name, &kind);
        }
    }
}

fn measure(language: &ShadingLanguage, name: &str, kind: &ClosureKind) {
    let native = BackendKind::ALL.iter().copied().filter(|b| *b != BackendKind::Interpreter);
    let codes: Vec<(BackendKind, ShippedLobe)> = native
        .map(|b| (b, ShippedLobe::new(language, name, &Making::from(b)).expect("it ships").expect("it is in SSL")))
        .collect();
    let (problem, rust) = (Problem::new(kind), kind.rust().expect("oracles are in Rust"));
    let mut least = vec![[f64::INFINITY; 3]; codes.len() + 1];
    for _ in 0..ROUNDS {
        let found = std::iter::once(problem.in_rust(&rust)).chain(codes.iter().map(|(_, code)| problem.in_ssl(code)));
        for (least, found) in least.iter_mut().zip(found) {
            least.iter_mut().zip(found).for_each(|(least, x)| *least = least.min(x));
        }
    }
    let names = std::iter::once("Rust").chain(codes.iter().map(|(b, _)| b.name()));
    let of_rust: f64 = least[0].iter().sum();
    for (code, [begin, eval, draw]) in names.zip(&least) {
        let ratio = (begin + eval + draw) / of_rust;
        println!("| {name} | {code} | {begin:.1} | {eval:.1} | {draw:.1} | {ratio:.2} |");
    }
}

/// Sixteen points with what they are asked.
struct Problem {
    rows: Vec<Row>,
    places: Vec<(Place, Vec3)>,
    directions: Vec<Vec3>,
    numbers: Vec<Vec2>,
}

impl Problem {
    fn new(kind: &ClosureKind) -> Problem {
        let mut s = Sampler::new(1, (2, 3), 0);
        let mut rows = Vec::new();
        for p in (kind.closure_type)().parameters {
            let scalars = p.ty.components().unwrap_or(usize::from(p.ty != Type::Closure));
            // A normal or a tangent is in the middle of all numbers.
            let any = p.range.low == f32::NEG_INFINITY;
            for c in 0..scalars {
                let number = |s: &mut Sampler| if any { if c == 2 { 1.0 } else { 0.0 } } else { s.next_1d() };
                rows.push(Row(std::array::from_fn(|_| number(&mut s))));
            }
        }
        let place = |s: &mut Sampler| Place { wo: uniform_cone(s.next_2d(), 0.9), gnormal: Vec3::Z, inside: false };
        Problem {
            rows,
            places: (0..LANES).map(|_| (place(&mut s), Vec3::Z)).collect(),
            directions: (0..LANES).map(|_| uniform_cone(s.next_2d(), 1.0)).collect(),
            numbers: (0..LANES).map(|_| s.next_2d()).collect(),
        }
    }

    /// Nanoseconds a point, of each of the three.
    fn in_rust(&self, code: &RustCode) -> [f64; 3] {
        let mut lists = vec![Vec::new(); LANES];
        let begin = timed(|| {
            for (lane, (place, _)) in self.places.iter().enumerate() {
                lists[lane].clear();
                (code.scatter)(&self.rows, lane, place, &mut Lobes::new(&mut lists[lane]));
            }
            black_box(&lists);
        });
        let lobes = || lists.iter().zip(&self.places).enumerate();
        let eval = timed(|| {
            for (lane, (list, (place, _))) in lobes() {
                let wi = self.directions[lane];
                for l in list {
                    black_box(l.lobe.eval_and_pdf(place.wo, wi));
                }
            }
        });
        let draw = timed(|| {
            for (lane, (list, (place, _))) in lobes() {
                let u = self.numbers[lane];
                if let Some(l) = list.first() {
                    black_box(l.lobe.sample(place.wo, u));
                }
            }
        });
        [begin, eval, draw]
    }

    fn in_ssl(&self, code: &ShippedLobe) -> [f64; 3] {
        let mut own = SslLobes::default();
        let mut begin = || {
            black_box(code.begin(&self.rows, &self.places, &mut own));
        };
        begin();
        let begin = timed(begin);
        let list = own.list.clone();
        let asked: Vec<_> =
            list.iter().zip(&self.directions).map(|(l, &with)| Request { lobe: l.lobe, with }).collect();
        let drawn: Vec<_> = list.iter().zip(&self.numbers).map(|(l, &with)| Request { lobe: l.lobe, with }).collect();
        let eval = timed(|| {
            black_box(own.evaluate(&asked));
        });
        let draw = timed(|| {
            black_box(own.draw(&drawn));
        });
        [begin, eval, draw]
    }
}

/// Nanoseconds a point.
fn timed(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..BLOCKS).for_each(|_| run());
    start.elapsed().as_nanos() as f64 / (BLOCKS * LANES) as f64
}
