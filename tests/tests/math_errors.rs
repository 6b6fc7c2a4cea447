//! The math library errs by no more than the manual states.
//!
//! `SSL_MATH_STRIDE` says how far apart the floats lie that functions of one number are tested with: 1 is all of them.
//! `SSL_MATH_PAIRS` says how many pairs those of two are, `SSL_MATH_FUNCTION` which function to test alone.
//! `cargo xtask prove math` sets the first two.

use ssl_compiler::ir::math::{self, Class};
use ssl_compiler::ir::{Float1, Float2, Precision};
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::math::double;
use ssl_compiler::runtime::{Block, GlobalsLayout, LANES, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::{CompileOptions, Shader, compile};
use ssl_tests::floats::{pair, special};
use ssl_tests::{Host, WAYS, folder};
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
    // The power of two below the number's size, over 2²³: its exponent alone, without the fraction.
    let size = wanted.abs().clamp(f32::MIN_POSITIVE.into(), f32::MAX.into());
    let place = f64::from_bits((size.to_bits() & (0x7ff << 52)) - (23 << 52));
    (found - wanted).abs() / place
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

fn worse(a: Worst, b: Worst) -> Worst {
    if b.0 > a.0 { b } else { a }
}

/// Looks for the worst case of each class in parts, on all cores.
fn worst(count: u64, case: impl Fn(u64) -> [Worst; 2] + Sync) -> [Worst; 2] {
    const PART: u64 = 1 << 12;
    let both = |a: [Worst; 2], b: [Worst; 2]| [worse(a[0], b[0]), worse(a[1], b[1])];
    let next = AtomicU64::new(0);
    let work = || {
        let mut worst = [(0.0, 0); 2];
        loop {
            let start = next.fetch_add(PART, Ordering::Relaxed);
            if start >= count {
                return worst;
            }
            worst = (start..count.min(start + PART)).map(&case).fold(worst, both);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().map(|t| t.join().expect("no case panics")).fold([(0.0, 0); 2], both)
    })
}

/// What gives the values of a function of one number.
enum Values {
    /// The widest code that there is here. That its bits are those of the kernels is another test's subject.
    Code(Box<Shader>),
    Kernel(Float1, Class),
}

impl Values {
    fn new(op: Float1, class: Class) -> Values {
        // Only derivatives have the slope; shaders cannot call it.
        if op == Float1::TanhSlope {
            return Values::Kernel(op, class);
        }
        let name = op.name();
        let text = format!("globals {{ float x; }} shader main(out float y) {{ y = {name}(global_value<x>); }}");
        let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
        let usual = host.options(WAYS[WAYS.len() - 1]);
        let precision = if class == Class::Fast { Precision::Fast } else { Precision::Single };
        let options = CompileOptions { passes: Options { precision, ..usual.passes }, ..usual };
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", text);
        Values::Code(Box::new(compile(&mut sources, file, None, &options).expect("the shader is right").0))
    }

    fn of(&self, arguments: &Row) -> Row {
        let shader = match self {
            Values::Kernel(op, class) => {
                return Row(arguments.0.map(|x| math::unary(*op, x, *class).expect("it has a kernel")));
            }
            Values::Code(shader) => shader,
        };
        let (globals, mut values) = ([*arguments], [Row::ZERO]);
        let parameters = ParameterBlock::new(shader.interface());
        shader.run(&mut Block { host: &TestTexture, ..Block::new(&globals, &parameters, &mut values) });
        values[0]
    }
}

#[test]
fn functions_of_one_number_err_by_no_more_than_stated() {
    let stride = setting("SSL_MATH_STRIDE", 65_521).max(1);
    let only = std::env::var("SSL_MATH_FUNCTION").ok();
    let list = Float1::ALL.iter().filter(|op| math::is_unary(**op));
    let list = list.filter(|op| only.as_deref().is_none_or(|name| name == op.name()));
    let special = special();
    for &op in list {
        let reference = unary_reference(op);
        let values = CLASSES.map(|class| Values::new(op, class));
        let count = special.len() as u64 + (1u64 << 32).div_ceil(stride);
        let bits = |i: u64| match i.min(count - 1).checked_sub(special.len() as u64) {
            None => special[i as usize].to_bits(),
            Some(i) => (i * stride) as u32,
        };
        // A case is a block of floats, and both classes at once: what a function is in f64 takes longer than code.
        let worst = worst(count.div_ceil(LANES as u64), |block| {
            let bits: [u32; LANES] = std::array::from_fn(|lane| bits(block * LANES as u64 + lane as u64));
            let x = bits.map(f32::from_bits);
            let wanted = x.map(|x| reference(x.into()));
            std::array::from_fn(|class| {
                let found = values[class].of(&Row(x)).0;
                let lanes = (0..LANES).filter(|&lane| promised(CLASSES[class], &[x[lane]], wanted[lane]));
                lanes.map(|lane| (error(found[lane], wanted[lane]), bits[lane].into())).fold((0.0, 0), worse)
            })
        });
        for (class, (worst, bits)) in worst.into_iter().enumerate() {
            let x = f32::from_bits(bits as u32);
            println!("{:6} {:5?} {worst:.4} at {x:e}", op.name(), CLASSES[class]);
            let found = values[class].of(&Row([x; LANES])).0[0];
            assert!(
                worst <= stated(op.name(), CLASSES[class]),
                "{}({x:e}) = {found:?} is off by {worst} places",
                op.name()
            );
        }
    }
}

#[test]
fn functions_of_two_numbers_err_by_no_more_than_stated() {
    let pairs = setting("SSL_MATH_PAIRS", 40_000);
    let special = special();
    let count = special.len() as u64;
    for &op in Float2::ALL.iter().filter(|op| math::is_binary(**op)) {
        let reference = binary_reference(op);
        let arguments = |i: u64| match i.checked_sub(count * count) {
            None => (special[(i / count) as usize], special[(i % count) as usize]),
            Some(seed) => pair(seed),
        };
        let worst = worst(count * count + pairs, |i| {
            let (a, b) = arguments(i);
            let wanted = reference(a.into(), b.into());
            CLASSES.map(|class| {
                let found = math::binary(op, a, b, class).expect("it has a kernel");
                // The fast power errs in proportion to its exponent of 2.
                let scale =
                    if op == Float2::Pow && class == Class::Fast { 1.0 + wanted.abs().log2().abs() } else { 1.0 };
                let scale = if scale.is_finite() { scale } else { 1.0 };
                (if promised(class, &[a, b], wanted) { error(found, wanted) / scale } else { 0.0 }, i)
            })
        });
        for (class, (worst, i)) in CLASSES.into_iter().zip(worst) {
            let (a, b) = arguments(i);
            println!("{:6} {class:5?} {worst:.4} at {a:e}, {b:e}", op.name());
            let found = math::binary(op, a, b, class);
            assert!(
                worst <= stated(op.name(), class),
                "{}({a:e}, {b:e}) = {found:?} is off by {worst} places",
                op.name()
            );
        }
    }
}
