//! What must hold of any kernel: all ways of running it give the same bits, and its gradient is the transpose of its
//! derivative, ⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩.

use crate::generate::Random;
use crate::grid::{Buffers, Launch, Launched, floats, launch, sweep, words};
use crate::{Host, NATIVE_AS_LOWERED, WAYS, messages};
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::GlobalsLayout;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, GradientRequest, Shader, compile};

/// More than any program of the generator needs.
const AMPLE: u32 = 100_000;

/// Points of a grid: no whole number of blocks, and rows of several blocks.
const GRID: [u32; 3] = [19, 2, 1];
const POINTS: usize = 38;
/// Elements of the buffers that are read, and of those that are added to.
const READ: usize = 11;
const ADDED: usize = 7;

fn entry(source: &str, name: &str, way: crate::Way, gradient: Option<&GradientRequest>) -> Result<Shader, String> {
    entry_by(source, name, way, gradient, CallPolicy::default())
}

fn entry_by(
    source: &str,
    name: &str,
    way: crate::Way,
    gradient: Option<&GradientRequest>,
    call_policy: CallPolicy,
) -> Result<Shader, String> {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let options = host.options(way);
    let passes = Options { call_policy, ..options.passes };
    let options = CompileOptions { gradient, passes, ..options };
    match compile(&mut sources, file, Some(name), &options) {
        Ok((kernel, _)) => Ok(kernel),
        Err(found) => Err(format!("{way:?}: {}\n{source}", messages(&found))),
    }
}

/// Floats of moderate size, with a seldom special one among them if so wanted.
fn draw(random: &mut Random, count: usize, special: bool) -> Vec<u32> {
    const SPECIAL: [f32; 6] = [0.0, -0.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let one = |_| match special && random.below(12) == 0 {
        true => SPECIAL[random.below(SPECIAL.len())],
        false => (random.below(4001) as f32 - 2000.0) / 1000.0,
    };
    words(&(0..count).map(one).collect::<Vec<_>>())
}

fn ints(random: &mut Random, count: usize) -> Vec<u32> {
    let one = |_| match random.below(8) {
        0 => [u32::MAX, 0x8000_0000, 0x7fff_ffff][random.below(3)],
        _ => random.below(2 * READ) as u32,
    };
    (0..count).map(one).collect()
}

fn named<const N: usize>(buffers: [(&str, Vec<u32>); N]) -> Buffers {
    buffers.into_iter().map(|(name, words)| (name.to_owned(), words)).collect()
}

/// The elements for [`generate::kernel`](crate::generate::kernel).
fn elements(random: &mut Random) -> Buffers {
    let mut cells = draw(random, 6 * READ, true);
    for cell in cells.chunks_exact_mut(6) {
        cell[4] = ints(random, 1)[0];
        cell[5] = random.below(2) as u32;
    }
    named([
        ("a", draw(random, READ, true)),
        ("b", draw(random, 3 * READ, true)),
        ("n", ints(random, READ)),
        ("cells", cells),
        ("s", draw(random, POINTS, true)),
        ("sums", vec![0; ADDED]),
        ("totals", vec![0; 5 * ADDED]),
    ])
}

/// Back ends change nothing at all, down to what is counted; optimising changes no value of a kernel that ends.
///
/// # Errors
/// They differ, or the kernel is refused.
pub fn gives_the_same_bits(source: &str, random: &mut Random) -> Result<(), String> {
    let given = elements(random);
    let fuel = [AMPLE, 1 + random.below(60) as u32][random.below(2)];
    let ran = |way| -> Result<Launched, String> {
        let mut launched = launch(&entry(source, "main", way, None)?, Launch { grid: GRID, fuel }, &given);
        for name in ["s", "o"] {
            let words = launched.buffers.get_mut(name).into_iter().flatten();
            // Every NaN is the same one.
            words.filter(|word| f32::from_bits(**word).is_nan()).for_each(|word| *word = f32::NAN.to_bits());
        }
        // How many lanes ask at once is a matter of the back end.
        Ok(Launched { uniform: [0; 2], ..launched })
    };
    let differ = |what, a: &Launched, b: &Launched| match a == b {
        true => Ok(()),
        false => Err(format!("{what} with fuel {fuel}: {a:?}\n{b:?}\n{given:?}\n{source}")),
    };
    let (lowered, optimised) = (ran(WAYS[0])?, ran(WAYS[1])?);
    differ("native code of the module as lowered".to_owned(), &ran(NATIVE_AS_LOWERED)?, &lowered)?;
    if fuel == AMPLE {
        let statuses = optimised.statuses.clone();
        differ("optimised".to_owned(), &optimised, &Launched { statuses, ..lowered })?;
    }
    for way in &WAYS[2..] {
        differ(format!("{way:?}"), &ran(*way)?, &optimised)?;
    }
    Ok(())
}

/// What is fitted, with the words of an element for each.
const FITTED: [&str; 3] = ["a", "b", "s"];
/// What the kernel gives.
const RESULTS: [&str; 4] = ["s", "o", "sums", "one"];

/// Both sides of ⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩, and the size of their terms.
#[derive(Clone, Copy, Debug)]
struct Sides {
    forward: f64,
    reverse: f64,
    size: f64,
}

/// The product of two lists, and the size of its terms.
fn product(x: &[f32], y: &[f32]) -> [f64; 2] {
    let terms = x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y));
    terms.fold([0.0; 2], |[sum, size], term| [sum + term, size + term.abs()])
}

/// A point, a direction and cotangents for a pair of kernels.
struct Probe {
    at: Buffers,
    tangents: Buffers,
    cotangents: Buffers,
}

impl Probe {
    fn new(random: &mut Random) -> Probe {
        let mut smooth = |count| draw(random, count, false);
        let tangents = named([("a", smooth(READ)), ("b", smooth(3 * READ)), ("s", smooth(4 * POINTS))]);
        let cotangents =
            named([("s", smooth(4 * POINTS)), ("o", smooth(POINTS)), ("sums", smooth(4 * ADDED)), ("one", smooth(1))]);
        let (a, b, s) = (smooth(READ), smooth(3 * READ), smooth(4 * POINTS));
        let n = ints(random, READ);
        let at = named([("a", a), ("b", b), ("s", s), ("n", n), ("sums", vec![0; 4 * ADDED]), ("one", vec![0])]);
        Probe { at, tangents, cotangents }
    }

    /// The same moved by some rounding errors.
    fn nearby(&self, random: &mut Random) -> Probe {
        let mut at = self.at.clone();
        for name in FITTED {
            for word in at.get_mut(name).into_iter().flatten() {
                *word = (f32::from_bits(*word) * (1.0 + (random.below(9) as f32 - 4.0) * f32::EPSILON)).to_bits();
            }
        }
        Probe { at, tangents: self.tangents.clone(), cotangents: self.cotangents.clone() }
    }

    /// The inputs of the kernel for the tangents.
    fn forward(&self) -> Buffers {
        let mut given = self.at.clone();
        given.insert("s_in".to_owned(), self.at["s"].clone());
        given.extend(self.tangents.iter().map(|(name, list)| (format!("{name}_dot"), list.clone())));
        given.remove("s");
        given
    }

    fn sides(&self, forward: &Shader, gradient: &Shader) -> Sides {
        let how = Launch { grid: GRID, fuel: AMPLE };
        let moved = launch(forward, how, &self.forward()).buffers;
        let swept = sweep(gradient, how, &self.at, &self.cotangents).buffers;
        let of =
            |pairs: &mut dyn Iterator<Item = [f64; 2]>| pairs.fold([0.0; 2], |[a, b]: [f64; 2], [c, d]| [a + c, b + d]);
        let [forward, size] =
            of(&mut RESULTS.iter().map(|r| product(&floats(&moved[*r]), &floats(&self.cotangents[*r]))));
        let [reverse, more] = of(&mut FITTED.iter().map(|f| product(&swept[*f], &floats(&self.tangents[*f]))));
        Sides { forward, reverse, size: size + more }
    }
}

/// Two files with kernels and their derivatives that mean the same: both give the same bits, forwards and in reverse.
///
/// # Errors
/// They differ, or a kernel is refused.
pub fn derivatives_are_alike(sources: [&str; 2], random: &mut Random) -> Result<(), String> {
    let request = GradientRequest::of_all().by_buffers(FITTED);
    let probe = Probe::new(random);
    let how = Launch { grid: GRID, fuel: AMPLE };
    for way in [WAYS[1], WAYS[4]] {
        let mut found = Vec::new();
        for source in sources {
            let forward = entry(source, "forward", way, None)?;
            let gradient = entry(source, "primal", way, Some(&request))?;
            let moved = launch(&forward, how, &probe.forward()).buffers;
            let swept = sweep(&gradient, how, &probe.at, &probe.cotangents).buffers;
            let bits = swept.into_iter().map(|(name, list)| (name, words(&list)));
            found.push((moved, bits.collect::<Buffers>()));
        }
        if found[0] != found[1] {
            return Err(format!("{way:?}: {:?}\n{:?}\n{}\n{}", found[0], found[1], sources[0], sources[1]));
        }
    }
    Ok(())
}

/// However derivatives cross calls: forward mode gives the same numbers, and the gradient is the same but for rounding. `false`
/// if rounding says too little to judge.
///
/// # Errors
/// They differ, or a kernel is refused.
pub fn policies_agree(source: &str, random: &mut Random) -> Result<bool, String> {
    const POLICIES: [CallPolicy; 3] = [CallPolicy::BySignature, CallPolicy::Merged, CallPolicy::Inline];
    let request = GradientRequest::of_all().by_buffers(FITTED);
    let (probe, how) = (Probe::new(random), Launch { grid: GRID, fuel: AMPLE });
    let nearby = probe.nearby(random);
    let mut all = Vec::new();
    for policy in POLICIES {
        let forward = entry_by(source, "forward", WAYS[4], None, policy)?;
        let gradient = entry_by(source, "primal", WAYS[4], Some(&request), policy)?;
        let moved = launch(&forward, how, &probe.forward()).buffers;
        let swept = |probe: &Probe| sweep(&gradient, how, &probe.at, &probe.cotangents).buffers;
        all.push((moved, swept(&probe), swept(&nearby)));
    }
    let (mut judged, (first, rest)) = (true, all.split_first().ok_or("no policies")?);
    for ((moved, swept, _), policy) in rest.iter().zip(&POLICIES[1..]) {
        for (name, list) in moved {
            let same = |(a, b): (&f32, &f32)| a == b || (a.is_nan() && b.is_nan());
            if !floats(list).iter().zip(&floats(&first.0[name])).all(same) {
                return Err(format!("{policy:?}, {name}: {list:?}\n{:?}\n{source}", first.0[name]));
            }
        }
        for (name, list) in swept {
            let (known, near) = (&first.1[name], &first.2[name]);
            let larger = |a: f32, b: f32| if a >= b || a.is_nan() { a } else { b };
            let largest = |f: &dyn Fn(usize) -> f32| (0..list.len()).map(f).fold(0.0, larger);
            let size = largest(&|i| known[i].abs());
            let slack = largest(&|i| (known[i] - near[i]).abs());
            let apart = largest(&|i| (known[i] - list[i]).abs());
            if slack.is_nan() || slack > 1e-3 * size {
                judged = false;
            } else if apart.is_nan() || apart > 1e-5 * size + 30.0 * slack {
                return Err(format!("{policy:?}, by {name}: {list:?}\n{known:?}\n{source}"));
            }
        }
    }
    Ok(judged)
}

/// The gradient has the same bits on each back end, and it is the transpose. `false` if rounding says too little to judge.
///
/// # Errors
/// It is not, or a kernel is refused.
pub fn gradient_is_the_transpose(source: &str, random: &mut Random) -> Result<bool, String> {
    let request = GradientRequest::of_all().by_buffers(FITTED);
    let forward = entry(source, "forward", WAYS[4], None)?;
    let gradient = entry(source, "primal", WAYS[4], Some(&request))?;
    let probe = Probe::new(random);
    let how = Launch { grid: GRID, fuel: AMPLE };
    let swept = |shader: &Shader| sweep(shader, how, &probe.at, &probe.cotangents);
    let native = swept(&gradient);
    for way in &WAYS[1..] {
        let other = swept(&entry(source, "primal", *way, Some(&request))?);
        let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for (name, list) in &native.buffers {
            if bits(&other.buffers[name]) != bits(list) {
                return Err(format!("{way:?}, by {name}: {:?}\n{list:?}\n{source}", other.buffers[name]));
            }
        }
        if other.statuses != native.statuses {
            return Err(format!("{way:?}: {:?}\n{:?}\n{source}", other.statuses, native.statuses));
        }
    }
    let Sides { forward: left, reverse: right, size } = probe.sides(&forward, &gradient);
    let near = probe.nearby(random).sides(&forward, &gradient);
    let slack = (near.forward - left).abs() + (near.reverse - right).abs();
    // What is not finite is added to no sum, so no comparison says anything; nor where rounding shows.
    let says_little = slack.is_nan() || slack > 1e-4 * size || !size.is_finite() || size == 0.0;
    if says_little {
        return Ok(false);
    }
    if (left - right).abs() > 1e-4 * size + 30.0 * slack {
        return Err(format!("{left} forward and {right} in reverse, of terms {size}, slack {slack}\n{source}"));
    }
    Ok(true)
}
