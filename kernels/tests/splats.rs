//! The splats that ship: their gradients against a tape in doubles that knows nothing of the kernels, and their memory.

use kernels::jobs::{self, Fit, FitError, Options, Watch};
use ssl_compiler::Target;
use ssl_compiler::passes::sweeps::Sweep;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn build(list: &[&str], options: Options) -> Fit {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/splats/photo.toml");
    let settings = list.iter().map(|text| text.parse().expect("NAME=VALUE")).collect();
    let loaded = jobs::load(&path, &Options { settings, ..options });
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    let job = loaded.job.unwrap_or_else(|| panic!("{said}"));
    job.build(None).unwrap_or_else(|_| panic!("there is memory"))
}

/// Each node: what it depends on, and the derivatives by that.
#[derive(Default)]
struct Tape(RefCell<Vec<[(usize, f64); 2]>>);

#[derive(Clone, Copy)]
struct Number<'a> {
    tape: &'a Tape,
    at: usize,
    x: f64,
}

impl Tape {
    fn number(&self, x: f64, by: [(usize, f64); 2]) -> Number<'_> {
        self.0.borrow_mut().push(by);
        Number { tape: self, at: self.0.borrow().len() - 1, x }
    }

    fn of(&self, x: f64) -> Number<'_> {
        self.number(x, [(0, 0.0); 2])
    }

    /// The derivatives of a number by all before it.
    fn gradient(&self, of: Number<'_>) -> Vec<f64> {
        let nodes = self.0.borrow();
        let mut gradient = vec![0.0; nodes.len()];
        gradient[of.at] = 1.0;
        for at in (0..nodes.len()).rev() {
            for (input, by) in nodes[at] {
                gradient[input] += gradient[at] * by;
            }
        }
        gradient
    }
}

impl<'a> Number<'a> {
    fn one(self, x: f64, by: f64) -> Number<'a> {
        self.tape.number(x, [(self.at, by), (0, 0.0)])
    }

    fn exp(self) -> Number<'a> {
        self.one(self.x.exp(), self.x.exp())
    }

    fn sqrt(self) -> Number<'a> {
        self.one(self.x.sqrt(), 0.5 / self.x.sqrt())
    }

    fn inverse(self) -> Number<'a> {
        self.one(1.0 / self.x, -1.0 / (self.x * self.x))
    }

    /// x a + b.
    fn times(self, a: f64, b: f64) -> Number<'a> {
        self.one(self.x * a + b, a)
    }

    fn clamp(self, low: f64, high: f64) -> Number<'a> {
        self.one(self.x.clamp(low, high), if (low..=high).contains(&self.x) { 1.0 } else { 0.0 })
    }

    /// The smooth step from 0 to 1.
    fn smooth(self) -> Number<'a> {
        let y = self.clamp(0.0, 1.0);
        y * y * y.times(-2.0, 3.0)
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident |$a:ident, $b:ident| $x:expr, $by_a:expr, $by_b:expr;)*) => {
        $(impl<'a> std::ops::$operator for Number<'a> {
            type Output = Number<'a>;
            fn $method(self, other: Number<'a>) -> Number<'a> {
                let ($a, $b) = (self.x, other.x);
                self.tape.number($x, [(self.at, $by_a), (other.at, $by_b)])
            }
        })*
    };
}

operators! {
    Add add |a, b| a + b, 1.0, 1.0;
    Sub sub |a, b| a - b, 1.0, -1.0;
    Mul mul |a, b| a * b, b, a;
}

const SIZE: [usize; 2] = [37, 21];
const SCALE: f64 = 4e-3;

/// A blob as pixels see it: its place, inverse covariance, color and opacity; and bounds in pixels.
struct Splat<'a> {
    at: [Number<'a>; 2],
    spread: [Number<'a>; 3],
    tint: [Number<'a>; 3],
    opacity: Number<'a>,
    low: [f64; 2],
    high: [f64; 2],
}

fn splat<'a>(blob: &[Number<'a>]) -> Splat<'a> {
    let [a, b] = [2, 3].map(|i| blob[i].times(0.8, 0.0).smooth().times(1.0, 0.005));
    let skew = blob[4].times(0.6, 0.0).smooth().times(1.65, -0.825);
    let (xx, yy, xy) = (a.times(SCALE, 0.0), b.times(SCALE, 0.0), ((a * b).sqrt() * skew).times(SCALE, 0.0));
    let inverse = (xx * yy - xy * xy).inverse();
    let at = [blob[0].smooth(), blob[1].smooth()];
    let opacity = blob[8].times(0.9, 0.1).smooth();
    let reach = (2.0 * (opacity.x * 255.0).max(1.0).ln()).sqrt();
    let bound = |side: f64| [0, 1].map(|i| (at[i].x + side * reach * [xx.x, yy.x][i].sqrt()) * SIZE[i] as f64);
    Splat {
        spread: [yy * inverse, xx * inverse, xy.times(-1.0, 0.0) * inverse],
        tint: [5, 6, 7].map(|i| blob[i].times(0.8, 0.0).smooth()),
        low: bound(-1.0),
        high: bound(1.0),
        at,
        opacity,
    }
}

impl Splat<'_> {
    fn touches(&self, tile: [usize; 2]) -> bool {
        (0..2).all(|i| {
            let first = (16 * tile[i]) as f64;
            self.low[i] < first + 16.0 && self.high[i] >= first
        })
    }
}

/// The mean of squares of what misses in the picture, three channels together, and its gradient by the blobs.
fn in_doubles(blobs: &[f64], target: &[f64]) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let numbers: Vec<Number<'_>> = blobs.iter().map(|x| tape.of(*x)).collect();
    let splats: Vec<Splat<'_>> = numbers.chunks(9).map(splat).collect();
    let [width, height] = SIZE;
    let mut loss = tape.of(0.0);
    for first in (0..height).step_by(4) {
        for x in 0..width {
            // Four pixels go through the blobs of their tile together.
            let mut passing = [(); 4].map(|()| tape.of(1.0));
            let mut light = [(); 4].map(|()| [(); 3].map(|()| tape.of(0.0)));
            for s in splats.iter().filter(|s| s.touches([x / 16, first / 16])) {
                if passing.iter().map(|t| t.x * t.x).sum::<f64>() < (1.0f64 / 255.0).powi(2) {
                    break;
                }
                if s.low[1] > (first + 3) as f64 || s.high[1] < first as f64 {
                    continue;
                }
                for k in 0..4 {
                    let dx = s.at[0].times(-1.0, x as f64 / width as f64);
                    let dy = s.at[1].times(-1.0, (first + k) as f64 / height as f64);
                    let [xx, yy, xy] = s.spread;
                    let power = (dx * dx * xx + dy * dy * yy + (dx * dy * xy).times(2.0, 0.0)).times(-0.5, 0.0);
                    let alpha = (s.opacity * power.clamp(-16.0, f64::INFINITY).exp()).clamp(f64::NEG_INFINITY, 0.99);
                    let weight = alpha * passing[k];
                    (0..3).for_each(|c| light[k][c] = light[k][c] + s.tint[c] * weight);
                    passing[k] = passing[k] * alpha.times(-1.0, 1.0);
                }
            }
            for k in (0..4).filter(|k| first + k < height) {
                let covered = passing[k].times(-1.0, 1.0);
                for c in 0..3 {
                    let off =
                        (light[k][c] * covered + passing[k]).times(1.0, -target[3 * (x + width * (first + k)) + c]);
                    loss = loss + (off * off).times(1.0 / (width * height) as f64, 0.0);
                }
            }
        }
    }
    let gradient = tape.gradient(loss);
    (loss.x, numbers.iter().map(|number| gradient[number.at]).collect())
}

#[derive(Default)]
struct Files(std::collections::BTreeMap<String, Vec<u8>>);

impl Watch for Files {
    fn result(&mut self, name: &str, bytes: &[u8]) -> Result<(), FitError> {
        self.0.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect()
}

/// The job that ships, in each way of the sweep, at its first step: within 1e-4 of what doubles give. What is small against
/// the largest number of its kind has the error of that.
#[test]
fn gradients_are_those_of_a_tape_in_doubles() {
    let size = format!("buffers.target.size=[{}, {}]", SIZE[0], SIZE[1]);
    let scale = format!("size={SCALE}");
    let job = [
        "count=60",
        &scale,
        &size,
        "steps=0",
        "write.0.file=blobs.raw",
        "write.0.buffer=blobs",
        "write.1.file=target.raw",
        "write.1.buffer=target",
    ];
    let never = AtomicBool::new(false);
    let mut expected = None;
    for sweep in [Sweep::Asked, Sweep::Undo, Sweep::Tape, Sweep::Recompute] {
        let mut fit = build(&job, Options { sweep, ..Options::default() });
        let mut files = Files::default();
        fit.run(&never, &mut files).expect("nothing stops it");
        let (loss, wanted) =
            expected.get_or_insert_with(|| in_doubles(&floats(&files.0["blobs.raw"]), &floats(&files.0["target.raw"])));
        let found = fit.history()[0].loss;
        assert!((found - *loss).abs() < 1e-5 * *loss, "{found} {loss}");
        let gradient = fit.gradient("blobs", &never).expect("nothing stops it").expect("they are fitted");
        let found: Vec<[f32; 9]> = gradient.values().expect("nine floats");
        let largest = |i: usize| wanted.chunks(9).map(|g| g[i].abs()).fold(0.0, f64::max);
        let scales: Vec<f64> = (0..9).map(largest).collect();
        assert!(scales.iter().all(|scale| *scale > 1e-6), "{scales:?}");
        for (blob, (found, wanted)) in found.iter().zip(wanted.chunks(9)).enumerate() {
            for i in 0..9 {
                let off = (f64::from(found[i]) - wanted[i]).abs();
                assert!(
                    off <= 1e-4 * (wanted[i].abs() + 0.01 * scales[i]),
                    "{sweep:?}, blob {blob}, {i}: {} {}",
                    found[i],
                    wanted[i]
                );
            }
        }
        assert!(fit.gradient("target", &never).expect("nothing stops it").is_none());
    }
}

/// One tile with lists of 16 to 4,096 blobs, so small that light passes all of them. The sweep that takes rounds back needs
/// no row of a tape, however long the list is; the one that keeps them needs one for each round that counts.
#[test]
fn the_memory_of_a_sweep_does_not_grow_with_the_lists() {
    let never = AtomicBool::new(false);
    for count in [16, 256, 4096] {
        let count = format!("count={count}");
        let small = |rows: &'static str| ["size=1e-9", "buffers.target.size=[16, 16]", "steps=1", rows];
        let run = |sweep, rows| {
            let job = [&[count.as_str()][..], &small(rows)].concat();
            build(&job, Options { sweep, target: Target::default(), ..Options::default() })
                .run(&never, &mut Files::default())
        };
        assert_eq!(run(Sweep::Asked, "tape_rows=4"), Ok(()), "{count}");
        assert_eq!(run(Sweep::Tape, "tape_rows=100000"), Ok(()), "{count}");
        let kept = run(Sweep::Tape, "tape_rows=4");
        assert!(matches!(&kept, Err(FitError::Stopped(why)) if why.contains("`tape_rows`")), "{count}: {kept:?}");
    }
}
