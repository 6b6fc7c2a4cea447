//! The math library: special values are C's, and code computes what the interpreter does.

use ssl_compiler::interp::{Inputs, Program};
use ssl_compiler::ir::math::{self, Class};
use ssl_compiler::ir::{Float1, Float2, Precision, verify};
use ssl_compiler::passes::expand_math;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{Block, GlobalsLayout, LANES, Order, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::{CompileOptions, Shader, compile};
use ssl_tests::floats::{pair, special};
use ssl_tests::{Host, WAYS, Way};

const CLASSES: [Class; 2] = [Class::Close, Class::Fast];

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
