//! The tape: what is popped is what was pushed, on every back end and for any lanes together; a tape that is full ends a
//! lane at the same push everywhere; and a push that is missing is found.
//!
//! `SSL_RANDOM_CASES` runs more programs than usual. A failure prints the program.

use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::interp::{Cell, Inputs, Outcome, Program};
use ssl_compiler::ir::real::Real;
use ssl_compiler::ir::{FuncId, Inst, Module, Op, parse, verify};
use ssl_compiler::pipeline::{self, Options};
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{
    Block, BlockStatus, HostServices, LANES, LaneError, NoTextures, Order, ParameterBlock, Row, TextureRequest,
};
use ssl_compiler::{BackendKind, Shader, Target, compile_module};
use ssl_tests::generate::Random;
use ssl_tests::on_large_stack;
use ssl_tests::tape_programs::{ROWS, program};
use std::sync::Mutex;

/// The interpreter, which knows nothing of lanes, first.
fn targets() -> Vec<Target> {
    let target = |backend, opt, lanes| Target { backend, opt, lanes };
    vec![
        target(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE),
        target(BackendKind::Cranelift, OptLevel::O0, Lanes::ONE),
        target(BackendKind::Cranelift, OptLevel::O2, Lanes::Auto),
        #[cfg(feature = "llvm")]
        target(BackendKind::Llvm, OptLevel::O0, Lanes::AtMost(16)),
        #[cfg(feature = "llvm")]
        target(BackendKind::Llvm, OptLevel::O2, Lanes::ONE),
        #[cfg(feature = "llvm")]
        target(BackendKind::Llvm, OptLevel::O2, Lanes::AtMost(4)),
        #[cfg(feature = "llvm")]
        target(BackendKind::Llvm, OptLevel::O2, Lanes::AtMost(8)),
        #[cfg(feature = "llvm")]
        target(BackendKind::Llvm, OptLevel::O2, Lanes::AtMost(16)),
    ]
}

fn module(text: &str) -> Module {
    parse::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn compile(module: &Module, target: Target) -> Shader {
    compile_module(module.clone(), target).unwrap_or_else(|e| panic!("{target:?}: {}\n{module}", e.0))
}

/// How much a call may use.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    mask: u32,
    fuel: u32,
    tape_rows: u32,
}

const AMPLE: Allowance = Allowance { mask: 0xffff, fuel: DEFAULT_FUEL, tape_rows: 1 << 16 };

/// What the lanes that took part gave; every NaN is the same one.
#[derive(Clone, Debug, PartialEq)]
struct Ran {
    outputs: Vec<(usize, Vec<u32>)>,
    status: BlockStatus,
}

fn run(shader: &Shader, globals: &[Row], parameters: &[u32], allowance: Allowance, host: &dyn HostServices) -> Ran {
    const UNTOUCHED: f32 = 12345.5;
    let mut block = ParameterBlock::new(shader.interface());
    block.words.copy_from_slice(parameters);
    let mut outputs = vec![Row::splat(UNTOUCHED); shader.interface().output_rows];
    let Allowance { mask, fuel, tape_rows } = allowance;
    let status = shader.run(&mut Block { mask, fuel, tape_rows, host, ..Block::new(globals, &block, &mut outputs) });
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let of_lane = |lane: usize| (lane, outputs.iter().map(|row| bits(row.0[lane])).collect());
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 0) {
        assert!(outputs.iter().all(|row| row.0[lane] == UNTOUCHED), "lane {lane} took no part and was written");
    }
    Ran { outputs: (0..LANES).filter(|lane| mask >> lane & 1 != 0).map(of_lane).collect(), status }
}

/// Numbers of which many are apart between lanes, and some are not.
fn globals(random: &mut Random) -> Vec<Row> {
    let row = |random: &mut Random| {
        let (common, apart) = (random.below(9) as f32 - 4.0, random.chance(80));
        Row(std::array::from_fn(|_| if apart { (random.below(400) as f32 - 200.0) / 25.0 } else { common }))
    };
    (0..ROWS).map(|_| row(random)).collect()
}

fn cases(usual: u64) -> u64 {
    std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// All shaders give the same for random points, masks, and allowances of fuel and tape. Gives how lanes ended.
fn compare(text: &str, shaders: &[Shader], random: &mut Random) -> Vec<Option<LaneError>> {
    let mut ends = Vec::new();
    for round in 0..6 {
        let rows = globals(random);
        let mask = [0xffff, 1 << random.below(LANES), 1 + random.below(0xffff) as u32][random.below(3)];
        let fuel = if round % 3 == 1 { random.below(40) as u32 } else { DEFAULT_FUEL };
        let tape_rows = if round % 3 == 2 { random.below(60) as u32 } else { 1 << 16 };
        let allowance = Allowance { mask, fuel, tape_rows };
        let parameters = [(random.below(9) as f32 - 2.0).to_bits()];
        let expected = run(&shaders[0], &rows, &parameters, allowance, &NoTextures);
        for (shader, target) in shaders[1..].iter().zip(&targets()[1..]) {
            let found = run(shader, &rows, &parameters, allowance, &NoTextures);
            assert_eq!(found, expected, "{target:?}, {allowance:?}\n{rows:?}\n{text}");
        }
        ends.extend(expected.status.errors);
    }
    ends
}

#[test]
fn random_programs_give_each_lane_the_bits_that_it_has_alone() {
    let mut ends = Vec::new();
    on_large_stack(|| {
        for seed in 0..cases(30) {
            let mut random = Random::new(seed ^ 0x7a9e);
            let text = program(seed, 1 + random.below(16));
            let plain = module(&text);
            let mut optimised = plain.clone();
            pipeline::run(&mut optimised, Options::default(), &mut |_, _| {})
                .unwrap_or_else(|e| panic!("{e:?}\n{text}"));
            let mut reference: Option<Ran> = None;
            let rows = globals(&mut random);
            for module in [plain, optimised] {
                let shaders: Vec<Shader> = targets().into_iter().map(|target| compile(&module, target)).collect();
                ends.extend(compare(&text, &shaders, &mut random));
                let ran = run(&shaders[0], &rows, &[0], AMPLE, &NoTextures);
                assert!(ran.status.is_clean(), "{text}");
                // No pass changes what comes out, nor what is on the tape; some indices are no longer clamped.
                let first = reference.get_or_insert(ran.clone());
                assert_eq!((&first.outputs, first.status.tape_rows), (&ran.outputs, ran.status.tape_rows), "{text}");
            }
        }
    });
    for end in [None, Some(LaneError::OutOfFuel), Some(LaneError::TapeFull)] {
        assert!(ends.iter().filter(|e| **e == end).count() > 100, "hardly any lane ended as {end:?}");
    }
}

/// What a lane reads, in f32 or f64.
struct Point<'a>(&'a [Row], usize);

impl<R: Real> Inputs<R> for Point<'_> {
    fn global(&self, field: usize, _: usize, _: Order) -> R {
        R::from_f32(self.0[field].0[self.1])
    }

    fn global_bits(&self, field: usize, _: usize) -> u32 {
        self.0[field].0[self.1].to_bits()
    }

    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

fn interpret<R: Real>(module: &Module, rows: &[Row], lane: usize) -> Outcome<R> {
    Program::new(module.clone()).run(&Point(rows, lane), &NoTextures, DEFAULT_FUEL)
}

/// A push that is dropped: the verifier sees that nothing is pushed for a pop, or the interpreter sees that a pop finds
/// something else. Where neither does, no lane came by, and nothing changes.
#[test]
fn a_dropped_push_is_found() {
    let (mut by_verifier, mut by_interpreter) = (0, 0);
    on_large_stack(|| {
        for seed in 0..cases(30) {
            let mut random = Random::new(seed);
            let mut module = module(&program(seed, 1 + random.below(16)));
            // Calls that are written out make several pushes of one number.
            ssl_compiler::passes::inline::everything(&mut module);
            let rows = globals(&mut random);
            let outcomes = |m: &Module| (0..LANES).map(|lane| interpret::<f32>(m, &rows, lane)).collect::<Vec<_>>();
            let words = |o: &Outcome<f32>| o.results.iter().map(|c| c.bits()).collect::<Vec<u32>>();
            let whole = outcomes(&module);
            assert!(whole.iter().all(|o| o.unmatched_pops == 0), "{module}");
            for (function, inst) in pushes(&module) {
                let broken = without(&module, function, inst);
                if verify::verify(&broken).is_err() {
                    by_verifier += 1;
                    continue;
                }
                for (was, is) in whole.iter().zip(outcomes(&broken)) {
                    let found = is.unmatched_pops > 0;
                    by_interpreter += usize::from(found);
                    assert!(found || (words(was) == words(&is) && was.tape_rows == is.tape_rows), "{module}\n{broken}");
                }
            }
        }
    });
    assert!(by_verifier > 20 && by_interpreter > 50, "{by_verifier} by the verifier, {by_interpreter} lanes");
}

fn pushes(module: &Module) -> Vec<(FuncId, Inst)> {
    let mut found = Vec::new();
    for (id, f) in module.functions.iter().enumerate() {
        f.walk(|inst, data| {
            if let Op::Push(_) = data.op {
                found.push((FuncId(id as u32), inst));
            }
        });
    }
    found
}

/// The module without a push: its token goes on as it came.
fn without(module: &Module, function: FuncId, push: Inst) -> Module {
    let mut module = module.clone();
    let f = &mut module.functions[function.index()];
    let (token, result) = (f.inst(push).args[0], f.inst(push).results[0]);
    let instead = |v: &mut ssl_compiler::ir::Value| {
        if *v == result {
            *v = token;
        }
    };
    f.insts.iter_mut().for_each(|data| data.args.iter_mut().for_each(instead));
    for region in &mut f.regions {
        region.results.iter_mut().for_each(instead);
        region.insts.retain(|i| *i != push);
    }
    module
}

/// Rounds that keep x², the round's number and whether it is even; and rounds that make a number of what comes back:
/// h ← 31 h + item, from the last round to the first.
const ROUNDS: &str = "\
global x: float value
global n: int value

entry fn @main(%0: token) -> (token, float, int) {
  %1: float = global x.0.value
  %2: int = global n.0.value
  %3: int = const 0
  %4: int = const 1
  %10: token, %11: float, %12: int = loop (%5: token = %0, %6: float = %1, %7: int = %3) while {
    %8: token, %9: bool = burn 1 %5
    %30: bool = icmp.lt %7, %2
    %31: bool = band %30, %9
    test %31, %8, %6, %7
  } do (%32: token, %33: float, %34: int) {
    %35: int = iand %34, %4
    %36: bool = icmp.eq %35, %3
    %37: float = fmul %33, %33
    %38: token = push 7 %32, %37, %34, %36
    %39: float = fadd %33, %1
    %40: int = iadd %34, %4
    yield %38, %39, %40
  }
  %41: float = const 0.0
  %42: float = const 0.5
  %50: token, %51: float, %52: int, %53: int = loop (%43: token = %10, %44: float = %41, %45: int = %3, %46: int = %12) while {
    %47: token, %48: bool = burn 1 %43
    %54: bool = icmp.gt %46, %3
    %55: bool = band %54, %48
    test %55, %47, %44, %45, %46
  } do (%56: token, %57: float, %58: int, %59: int) {
    %60: token, %61: float, %62: int, %63: bool = pop 7 %56
    %64: float = fmul %57, %42
    %65: float = fadd %64, %61
    %66: int = const 31
    %67: int = imul %58, %66
    %68: int = iadd %67, %62
    %69: int = bool_to_int %63
    %70: int = iadd %68, %69
    %71: int = isub %59, %4
    yield %60, %65, %70, %71
  }
  return %50, %51, %52
}
";

/// The same in Rust, with a vector for a tape.
fn expected(x: f32, n: i32) -> [u32; 2] {
    let (mut tape, mut at) = (Vec::new(), x);
    for i in 0..n.max(0) {
        tape.push((at * at, i, i32::from(i % 2 == 0)));
        at += x;
    }
    let (mut sum, mut hash) = (0.0_f32, 0_i32);
    while let Some((square, i, even)) = tape.pop() {
        sum = sum * 0.5 + square;
        hash = hash.wrapping_mul(31).wrapping_add(i).wrapping_add(even);
    }
    [sum.to_bits(), hash as u32]
}

fn rows_of(x: [f32; LANES], n: [i32; LANES]) -> [Row; 2] {
    [Row(x), Row(n.map(|n| f32::from_bits(n as u32)))]
}

#[test]
fn rounds_come_back_in_the_order_in_which_they_left() {
    let module = module(ROUNDS);
    let x: [f32; LANES] = std::array::from_fn(|lane| 0.1 * lane as f32 - 0.55);
    for n in [[0; LANES], [1; LANES], [100; LANES], std::array::from_fn(|lane| 7 * lane as i32 - 3)] {
        for target in targets() {
            let shader = compile(&module, target);
            for mask in [0xffff, 0x8001, 0x0ff0, 0x5a5a] {
                let allowance = Allowance { mask, ..AMPLE };
                let ran = run(&shader, &rows_of(x, n), &[], allowance, &NoTextures);
                for (lane, found) in ran.outputs {
                    assert_eq!(found, expected(x[lane], n[lane]), "{target:?}, lane {lane}, {n:?}");
                }
                let most = (0..LANES).filter(|lane| mask >> lane & 1 != 0).map(|lane| n[lane].max(0)).max();
                assert_eq!(Some(ran.status.tape_rows as i32), most.map(|n| 3 * n), "{target:?}");
            }
        }
    }
}

/// Lanes of which the tape holds all rounds end well, those of which it does not end with an error and zeros.
#[test]
fn a_lane_ends_at_the_push_that_does_not_fit() {
    let module = module(ROUNDS);
    let (x, n): ([f32; LANES], [i32; LANES]) = ([0.25; LANES], std::array::from_fn(|lane| lane as i32));
    for target in targets() {
        let shader = compile(&module, target);
        for tape_rows in [0, 2, 3, 20, 21, 22, 44, 45] {
            let allowance = Allowance { tape_rows, ..AMPLE };
            let ran = run(&shader, &rows_of(x, n), &[], allowance, &NoTextures);
            for (lane, found) in ran.outputs {
                let fits = 3 * n[lane] as u32 <= tape_rows;
                let (error, words) =
                    if fits { (None, expected(x[lane], n[lane])) } else { (Some(LaneError::TapeFull), [0; 2]) };
                assert_eq!(
                    (ran.status.errors[lane], found),
                    (error, words.to_vec()),
                    "{target:?}, {tape_rows}, {lane}"
                );
            }
            assert_eq!(ran.status.tape_rows, (tape_rows / 3 * 3).min(45), "{target:?}");
        }
    }
}

/// The whole default tape: 2²⁰ rows hold 349,525 rounds of three, and no more.
#[test]
fn the_default_tape_is_as_large_as_it_says() {
    let module = module(ROUNDS);
    let shader = compile(&module, targets()[2]);
    let ends = |n: i32| {
        let parameters = shader.new_parameters();
        let mut outputs = shader.new_outputs();
        let rows = rows_of([0.0; LANES], [n; LANES]);
        shader.run(&mut Block { mask: 1 << 9, ..Block::new(&rows, &parameters, &mut outputs) })
    };
    assert_eq!((ends(349_525).errors[9], ends(349_525).tape_rows), (None, 1_048_575));
    assert_eq!((ends(349_526).errors[9], ends(349_526).tape_rows), (Some(LaneError::TapeFull), 1_048_575));
}

/// In f64 a tape keeps f64: 1/3 comes back as it went.
#[test]
fn the_interpreter_keeps_doubles() {
    let module = module(
        "global x: float value\n\nentry fn @main(%0: token) -> (token, float, float) {\n  %1: float = global x.0.value\n  \
         %2: float = const 3.0\n  %3: float = fdiv %1, %2\n  %4: float[2] = array.fill %3\n  %5: token = push 0 %0, %3, %4\n  \
         %6: token, %7: float, %8: float[2] = pop 0 %5\n  %9: int = const 1\n  %10: float = array.get %8, %9\n  return %6, %7, %10\n}\n",
    );
    let rows = [Row::splat(1.0)];
    let outcome = interpret::<f64>(&module, &rows, 0);
    for cell in outcome.results {
        assert!(matches!(cell, Cell::Float(x) if x == 1.0 / 3.0), "{cell:?}");
    }
    assert_eq!((outcome.tape_rows, outcome.unmatched_pops), (3, 0));
}

/// A pop that has nothing to take gives zeros. Code that the compiler makes has none, but for lanes that have ended.
#[test]
fn a_pop_without_a_push_gives_zeros() {
    let module = module(
        "global x: float value\n\nentry fn @main(%0: token) -> (token, float, int) {\n  %1: float = global x.0.value\n  \
         %2: int = const 5\n  %3: float = const 0.0\n  %4: bool = fcmp.lt %3, %1\n  %5: token = if %4 {\n    \
         %6: token = push 3 %0, %1, %2\n    yield %6\n  } else {\n    yield %0\n  }\n  \
         %7: token, %8: float, %9: int = pop 3 %5\n  return %7, %8, %9\n}\n",
    );
    let rows = [Row(std::array::from_fn(|lane| lane as f32 - 7.5))];
    let words = |x: f32| if x > 0.0 { [x.to_bits(), 5] } else { [0; 2] };
    // The interpreter as a back end takes it for a fault of the compiler's.
    for target in targets().into_iter().filter(|target| target.backend != BackendKind::Interpreter) {
        let ran = run(&compile(&module, target), &rows, &[], AMPLE, &NoTextures);
        assert!(ran.status.is_clean());
        for (lane, found) in ran.outputs {
            assert_eq!(found, words(rows[0].0[lane]), "{target:?}");
        }
    }
    for lane in 0..LANES {
        let (outcome, x) = (interpret::<f32>(&module, &rows, lane), rows[0].0[lane]);
        assert_eq!(outcome.results.iter().map(|c| c.bits()).collect::<Vec<u32>>(), words(x));
        assert_eq!(outcome.unmatched_pops, u32::from(x <= 0.0));
    }
}

/// A host that runs a shader with a tape of its own whenever it is asked for a texture, as another fiber of the thread
/// might.
struct Nesting<'a> {
    inner: &'a Shader,
    found: Mutex<Vec<Ran>>,
}

impl HostServices for Nesting<'_> {
    fn texture(&self, request: &mut TextureRequest) {
        let rows = rows_of([0.75; LANES], [50; LANES]);
        let ran = run(self.inner, &rows, &[], AMPLE, &NoTextures);
        self.found.lock().expect("nobody panicked").push(ran);
        request.result.iter_mut().for_each(|row| *row = Row::splat(0.5));
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        [1, 1]
    }
}

#[test]
fn a_call_inside_of_another_has_a_tape_of_its_own() {
    let asking = ROUNDS.replace("global n: int value\n", "global n: int value\nparameter t: texture2d\n").replace(
        "  %41: float = const 0.0\n",
        "  %80: token, %81: float, %82: float, %83: float, %84: float = texture 0 %10, %1, %1, %1, %1, %1, %1\n  \
         %41: float = const 0.0\n",
    );
    let asking = module(&asking.replace("%43: token = %10", "%43: token = %80"));
    let plain = module(ROUNDS);
    let n: [i32; LANES] = std::array::from_fn(|lane| 3 * lane as i32);
    for target in targets() {
        let inner = compile(&plain, target);
        let host = Nesting { inner: &inner, found: Mutex::default() };
        let ran = run(&compile(&asking, target), &rows_of([0.3; LANES], n), &[0], AMPLE, &host);
        for (lane, found) in ran.outputs {
            assert_eq!(found, expected(0.3, n[lane]), "{target:?}");
        }
        let inner = host.found.into_inner().expect("nobody panicked");
        assert!(!inner.is_empty());
        assert!(inner.iter().flat_map(|ran| &ran.outputs).all(|(_, found)| *found == expected(0.75, 50)), "{target:?}");
    }
}

/// A gradient through a loop of n rounds: y ← x y, so y = x ^ (n + 1) and ∂y/∂x = (n + 1) xⁿ.
// rule: limits.tape accept reject
#[test]
fn the_gradient_of_a_loop_ends_a_point_where_the_tape_is_full() {
    let source = "float f(float x, int n) { float y = x; for (int i = 0; i < n; ++i) y = y * x; return y; }
        shader main(out float r) {
            const int n = int(global_value<uvw>.x);
            DifferentialPair<float> p = diffPair(0.5, 0.0);
            bwd_diff(f)(p, n, 1.0);
            r = p.d;
        }";
    let (host, rounds): (_, [f32; LANES]) = (ssl_tests::Host::default(), std::array::from_fn(|lane| 3.0 * lane as f32));
    for way in ssl_tests::WAYS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", ssl_tests::messages(&d)));
        let needed = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
        let mut rows = vec![Row::ZERO; needed];
        rows[0] = Row(rounds);
        let ample = run(&shader, &rows, &[], AMPLE, &NoTextures);
        assert!(ample.status.is_clean());
        let most = ample.status.tape_rows;
        assert!(most >= 45, "each of 45 rounds keeps something: {most}");
        let short = run(&shader, &rows, &[], Allowance { tape_rows: most - 1, ..AMPLE }, &NoTextures);
        assert_eq!(short.status.first_error(), Some(LaneError::TapeFull));
        for (lane, n) in rounds.into_iter().enumerate() {
            let expected = (n + 1.0) * 0.5_f32.powf(n);
            assert_eq!(ample.outputs[lane].1, [expected.to_bits()], "{way:?}, {n} rounds");
            // Only the longest loop needs all rows.
            let (error, bits) = if lane == 15 { (Some(LaneError::TapeFull), 0) } else { (None, expected.to_bits()) };
            assert_eq!(
                (short.status.errors[lane], &short.outputs[lane].1[..]),
                (error, &[bits][..]),
                "{way:?}, {n} rounds"
            );
        }
    }
}
