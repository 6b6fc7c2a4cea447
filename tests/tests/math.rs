//! The math library: its errors are those that the manual states, special values are C's, and code computes what the
//! interpreter does.
//!
//! `SSL_MATH_STRIDE` says how far apart the floats lie that functions of one number are tested with: 1 is all of them.
//! `SSL_MATH_PAIRS` says how many pairs those of two are. `cargo xtask prove math` sets both.

use ssl_compiler::interp::{Inputs, Program};
use ssl_compiler::ir::math::{self, Class};
use ssl_compiler::ir::{Float1, Float2, Precision, verify};
use ssl_compiler::passes::expand_math;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::math::double;
use ssl_compiler::runtime::{Block, GlobalsLayout, LANES, Order, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::{CompileOptions, Shader, compile};
use ssl_tests::generate::Random;
use ssl_tests::{Host, WAYS, Way, folder};
use std::sync::atomic::{AtomicU64, Ordering};

const CLASSES: [Class; 2] = [Class::Close, Class::Fast];

/// What a function is in f64.
fn unary_reference(op: Float1) -> fn(f64) -> f64 {
    match op {
        Float1::Neg => |x| -x,
        Float1::Abs => f64::abs,
        Float1::Sqrt => f64::sqrt,
        Float1::Floor => f64::floor,
        Float1::Ceil => f64::ceil,
        Float1::Trunc => f64::trunc,
        Float1::Round => f64::round,
        Float1::Sin => double::ssl_sin,
        Float1::Cos => double::ssl_cos,
        Float1::Tan => double::ssl_tan,
        Float1::Asin => double::ssl_asin,
        Float1::Acos => double::ssl_acos,
        Float1::Atan => double::ssl_atan,
        Float1::Sinh => double::ssl_sinh,
        Float1::Cosh => double::ssl_cosh,
        Float1::Tanh => double::ssl_tanh,
        Float1::TanhSlope => double::tanh_slope,
        Float1::Asinh => double::ssl_asinh,
        Float1::Acosh => double::ssl_acosh,
        Float1::Atanh => double::ssl_atanh,
        Float1::Exp => double::ssl_exp,
        Float1::Exp2 => double::ssl_exp2,
        Float1::Expm1 => double::ssl_expm1,
        Float1::Log => double::ssl_log,
        Float1::Log2 => double::ssl_log2,
        Float1::Log10 => double::ssl_log10,
        Float1::Log1p => double::ssl_log1p,
        Float1::Cbrt => double::ssl_cbrt,
        Float1::Erf => double::ssl_erf,
        Float1::Erfc => double::ssl_erfc,
    }
}

fn binary_reference(op: Float2) -> fn(f64, f64) -> f64 {
    match op {
        Float2::Fmod => |a, b| a % b,
        Float2::Pow => double::ssl_pow,
        Float2::Atan2 => double::ssl_atan2,
        Float2::Hypot => double::ssl_hypot,
        op => panic!("{} has no kernel", op.name()),
    }
}

/// The distance from the true value in units of the last place that a float of its size has. Overflow counts as 2¹²⁸;
/// where NaN, infinity or the sign of a zero is wrong, the distance is infinite.
fn error(found: f32, wanted: f64) -> f64 {
    if wanted.is_nan() || found.is_nan() || wanted.is_infinite() {
        let right = (wanted.is_nan() && found.is_nan()) || f64::from(found) == wanted;
        return if right { 0.0 } else { f64::INFINITY };
    }
    if found.is_infinite() && wanted as f32 == found {
        return 0.0;
    }
    if found == 0.0 && wanted == 0.0 {
        return if found.is_sign_negative() == wanted.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    let found = if found.is_infinite() { 2f64.powi(128).copysign(found.into()) } else { found.into() };
    let size = wanted.abs().clamp(f32::MIN_POSITIVE.into(), f32::MAX.into());
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    (found - wanted).abs() / 2f64.powi(exponent - 23)
}

/// The bound that the manual states for a function in a class; a function that is exact has the bound 0.
fn stated(name: &str, class: Class) -> f64 {
    let page = std::fs::read_to_string(folder("../docs/src/math.md")).expect("the page exists");
    let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` ")));
    let row = row.unwrap_or_else(|| panic!("math.md says nothing of {name}"));
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let cell = match (class, cells[4]) {
        (Class::Close, _) | (Class::Fast, "as it is") => cells[3],
        (Class::Fast, fast) => fast,
    };
    if cell == "exact" { 0.0 } else { cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no bound of {name}")) }
}

/// Whether the fast class promises anything: not for subnormal numbers, nor near the ends of what a float can hold.
fn promised(class: Class, arguments: &[f32], wanted: f64) -> bool {
    let middling = |x: f64| x == 0.0 || !x.is_finite() || (2e-38..2e38).contains(&x.abs());
    class == Class::Close || (arguments.iter().all(|&x| middling(x.into())) && middling(wanted))
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The worst of many cases: its error, and the bits of the arguments.
type Worst = (f64, u64);

/// Looks for the worst case in parts, on all cores.
fn worst(count: u64, case: impl Fn(u64) -> Worst + Sync) -> Worst {
    const PART: u64 = 1 << 16;
    let next = AtomicU64::new(0);
    let work = || {
        let mut worst = (0.0, 0);
        loop {
            let start = next.fetch_add(PART, Ordering::Relaxed);
            if start >= count {
                return worst;
            }
            for i in start..count.min(start + PART) {
                let found = case(i);
                if found.0 > worst.0 {
                    worst = found;
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let all = all.into_iter().map(|t| t.join().expect("no case panics"));
        all.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
    })
}

#[test]
fn functions_of_one_number_err_by_no_more_than_stated() {
    let stride = setting("SSL_MATH_STRIDE", 65_521).max(1);
    let only = std::env::var("SSL_MATH_FUNCTION").ok();
    let list = Float1::ALL.iter().filter(|op| math::is_unary(**op));
    let list = list.filter(|op| only.as_deref().is_none_or(|name| name == op.name()));
    for (&op, class) in list.flat_map(|op| CLASSES.map(|class| (op, class))) {
        let reference = unary_reference(op);
        let (worst, bits) = worst((1u64 << 32).div_ceil(stride), |i| {
            let x = f32::from_bits((i * stride) as u32);
            let (found, wanted) = (math::unary(op, x, class).expect("it has a kernel"), reference(x.into()));
            (if promised(class, &[x], wanted) { error(found, wanted) } else { 0.0 }, i * stride)
        });
        println!("{:6} {class:5?} {worst:.4} at {:e}", op.name(), f32::from_bits(bits as u32));
        let x = f32::from_bits(bits as u32);
        let found = math::unary(op, x, class);
        assert!(worst <= stated(op.name(), class), "{}({x:e}) = {found:?} is off by {worst} places", op.name());
    }
}

/// Zeros, ends of ranges, halves, whole numbers odd and even, with both signs.
fn special() -> Vec<f32> {
    let sizes = [
        0.0,
        f32::from_bits(1),
        f32::from_bits(3),
        f32::from_bits(0x7f_ffff),
        f32::MIN_POSITIVE,
        f32::from_bits(0x80_0001),
        1e-30,
        1e-20,
        1e-10,
        0.1,
        0.25,
        1.0 / 3.0,
        0.5,
        0.75,
        1.0 - f32::EPSILON / 2.0,
        1.0,
        1.0 + f32::EPSILON,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        7.0,
        10.0,
        31.0,
        100.0,
        127.0,
        128.0,
        149.0,
        150.0,
        255.0,
        1e4,
        8_388_607.5,
        8_388_609.0,
        16_777_215.0,
        16_777_216.0,
        16_777_218.0,
        1e10,
        1e20,
        1e30,
        1e38,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    sizes.iter().flat_map(|&x| [x, -x]).collect()
}

/// Pairs of any bits, of moderate numbers, of such that are near in size, and of a base near 1 with a large exponent.
fn pair(seed: u64) -> (f32, f32) {
    let mut random = Random::new(seed);
    let mut word = || random.below(1 << 31) as u32 ^ ((random.below(1 << 31) as u32) << 1);
    let (a, b) = (word(), word());
    let unit = |w: u32| f64::from(w) / 4_294_967_296.0;
    match seed % 4 {
        0 => (f32::from_bits(a), f32::from_bits(b)),
        1 => ((8.0 * unit(a)) as f32, (40.0 * unit(b) - 20.0) as f32),
        2 => {
            let near = |w: u32, exponent: i32| ((1.0 + unit(w)) * 2f64.powi(exponent)) as f32;
            (near(a, (word() % 8) as i32 - 4), near(b, (word() % 64) as i32 - 32))
        }
        _ => {
            let base = (1.0 + (unit(a) - 0.5) * 2f64.powi(-((word() % 20) as i32))) as f32;
            (base, (300.0 * (unit(b) - 0.5) / f64::from(base).log2()) as f32)
        }
    }
}

#[test]
fn functions_of_two_numbers_err_by_no_more_than_stated() {
    let pairs = setting("SSL_MATH_PAIRS", 40_000);
    let special = special();
    let count = special.len() as u64;
    let list = Float2::ALL.iter().filter(|op| math::is_binary(**op));
    for (&op, class) in list.flat_map(|op| CLASSES.map(|class| (op, class))) {
        let reference = binary_reference(op);
        let arguments = |i: u64| match i.checked_sub(count * count) {
            None => (special[(i / count) as usize], special[(i % count) as usize]),
            Some(seed) => pair(seed),
        };
        let (worst, i) = worst(count * count + pairs, |i| {
            let (a, b) = arguments(i);
            let (found, wanted) =
                (math::binary(op, a, b, class).expect("it has a kernel"), reference(a.into(), b.into()));
            // The fast power errs in proportion to its exponent of 2.
            let scale = if op == Float2::Pow && class == Class::Fast { 1.0 + wanted.abs().log2().abs() } else { 1.0 };
            let scale = if scale.is_finite() { scale } else { 1.0 };
            (if promised(class, &[a, b], wanted) { error(found, wanted) / scale } else { 0.0 }, i)
        });
        let (a, b) = arguments(i);
        println!("{:6} {class:5?} {worst:.4} at {a:e}, {b:e}", op.name());
        let found = math::binary(op, a, b, class);
        assert!(worst <= stated(op.name(), class), "{}({a:e}, {b:e}) = {found:?} is off by {worst} places", op.name());
    }
}

/// Where the true value is a float, nothing else will do.
#[test]
fn what_can_be_exact_is() {
    let class = Class::Close;
    let one = |op, x| math::unary(op, x, class).expect("it has a kernel");
    for n in -149..128 {
        let power = 2f64.powi(n) as f32;
        assert_eq!(one(Float1::Exp2, n as f32), power);
        assert_eq!(one(Float1::Log2, power), n as f32);
        assert_eq!(math::binary(Float2::Pow, 2.0, n as f32, class), Some(power));
    }
    for n in 0..=10 {
        assert_eq!(one(Float1::Log10, 10f32.powi(n)), n as f32);
    }
    for n in 1..=255 {
        let x = n as f32;
        assert_eq!(one(Float1::Cbrt, x * x * x), x);
        assert_eq!(math::binary(Float2::Pow, x, 2.0, class), Some(x * x));
        assert_eq!(math::binary(Float2::Pow, x * x, 0.5, class), Some(x));
    }
    for (a, b, c) in [(3.0, 4.0, 5.0), (5.0, 12.0, 13.0), (3e30, 4e30, 5e30), (20.0, 21.0, 29.0)] {
        assert_eq!(math::binary(Float2::Hypot, a, b, class), Some(c));
    }
}

const SOURCE: &str = "\
globals { float a; float b; }
shader main(out float o_round, out float o_sin, out float o_cos, out float o_tan, out float o_asin, out float o_acos, \
out float o_atan, out float o_sinh, out float o_cosh, out float o_tanh, out float o_asinh, out float o_acosh, \
out float o_atanh, out float o_exp, out float o_exp2, out float o_expm1, out float o_log, out float o_log2, \
out float o_log10, out float o_log1p, out float o_cbrt, out float o_erf, out float o_erfc, out float o_fmod, \
out float o_pow, out float o_atan2, out float o_hypot)
{
    const float x = global_value<a>;
    const float y = global_value<b>;
    o_round = round(x); o_sin = sin(x); o_cos = cos(x); o_tan = tan(x); o_asin = asin(x); o_acos = acos(x);
    o_atan = atan(x); o_sinh = sinh(x); o_cosh = cosh(x); o_tanh = tanh(x); o_asinh = asinh(x); o_acosh = acosh(x);
    o_atanh = atanh(x); o_exp = exp(x); o_exp2 = exp2(x); o_expm1 = expm1(x); o_log = log(x); o_log2 = log2(x);
    o_log10 = log10(x); o_log1p = log1p(x); o_cbrt = cbrt(x); o_erf = erf(x); o_erfc = erfc(x); o_fmod = fmod(x, y);
    o_pow = pow(x, y); o_atan2 = atan2(x, y); o_hypot = hypot(x, y);
}
";

/// The kernels' values, in the order of the shader's outputs.
fn kernels(x: f32, y: f32, class: Class) -> Vec<u32> {
    // Only derivatives have the slope; shaders cannot call it.
    let ones = Float1::ALL.iter().filter(|&&op| op != Float1::TanhSlope);
    let ones = ones.filter_map(|&op| math::unary(op, x, class));
    let twos = Float2::ALL.iter().filter_map(|&op| math::binary(op, x, y, class));
    ones.chain(twos).map(canonical).collect()
}

/// Which NaN it is, is not defined.
fn canonical(x: f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
}

fn arguments() -> Vec<(f32, f32)> {
    let special = special();
    let turned = special.iter().enumerate().map(|(i, &x)| (x, special[(i * 7 + 3) % special.len()]));
    turned.chain((0..300).map(pair)).collect()
}

struct Two(f32, f32);

impl Inputs<f32> for Two {
    fn global(&self, field: usize, _: usize, _: Order) -> f32 {
        if field == 0 { self.0 } else { self.1 }
    }
    fn global_bits(&self, _: usize, _: usize) -> u32 {
        0
    }
    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

/// The shader's passes for a class.
fn options(host: &Host, way: Way, class: Class) -> CompileOptions<'_> {
    let options = host.options(way);
    let precision = if class == Class::Fast { Precision::Fast } else { Precision::Single };
    CompileOptions { passes: Options { precision, ..options.passes }, ..options }
}

/// Runs a block, in which each lane has arguments of its own.
fn block(shader: &Shader, arguments: &[(f32, f32)]) -> Vec<Row> {
    let rows = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
    let mut globals = vec![Row::ZERO; rows];
    for read in &shader.interface().globals_read {
        for (lane, &(x, y)) in arguments.iter().enumerate() {
            globals[read.row].0[lane] = if read.field == 0 { x } else { y };
        }
    }
    let parameters = ParameterBlock::new(shader.interface());
    let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
    shader.run(&mut Block {
        host: &TestTexture,
        mask: (1 << arguments.len()) - 1,
        ..Block::new(&globals, &parameters, &mut outputs)
    });
    outputs
}

#[test]
fn code_computes_what_the_kernels_do() {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    for (way, class) in WAYS.into_iter().flat_map(|way| CLASSES.map(|class| (way, class))) {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", SOURCE);
        let (shader, _) = compile(&mut sources, file, None, &options(&host, way, class)).expect("the shader is right");
        for lanes in arguments().chunks(LANES) {
            let outputs = block(&shader, lanes);
            for (lane, &(x, y)) in lanes.iter().enumerate() {
                let found: Vec<u32> = outputs.iter().map(|row| canonical(row.0[lane])).collect();
                assert_eq!(found, kernels(x, y, class), "{way:?}, {class:?} at {x:e}, {y:e}");
            }
        }
    }
}

/// The interpreter runs the operations; here it runs what they expand to.
#[test]
fn expanded_code_gives_the_bits_of_the_operations() {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    for class in CLASSES {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", SOURCE);
        let (shader, _) =
            compile(&mut sources, file, None, &options(&host, WAYS[1], class)).expect("the shader is right");
        let mut module = shader.module().clone();
        expand_math::run(&mut module);
        verify::verify(&module).expect("expanding keeps the rules");
        let program = Program::new(module);
        for (x, y) in arguments() {
            let outcome = program.run::<f32>(&Two(x, y), &TestTexture, DEFAULT_FUEL);
            let found: Vec<u32> = outcome.results.iter().map(|c| canonical(f32::from_bits(c.bits()))).collect();
            assert_eq!(found, kernels(x, y, class), "{class:?} at {x:e}, {y:e}");
        }
    }
}
