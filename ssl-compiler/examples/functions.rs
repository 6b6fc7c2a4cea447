//! A function of the host, its derivative, and a test that finds out when that is wrong.

use ssl_compiler::{Compiler, External, Orders, Type};
use std::error::Error;
use std::io::Write;

const SOURCE: &str = "
float hill(float x);

shader main(out float slope) { slope = ddx(hill(global_value<x>)); }

test \"the slope of the hill\"
{
    x = dual(uniform(-1.0, 1.0), 1.0, 0.0);
    run main();
    expect_numeric_derivatives(1e-3);
}
";

fn hill(x: f32) -> f32 {
    1.0 / (1.0 + x * x)
}

/// Runs the tests with this for the derivative of `hill`, and shows the report of native code.
fn try_slope(slope: fn(f32) -> f32, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut compiler = Compiler::new();
    compiler.add_global("x", Type::Float, Orders::First)?;
    compiler.register_external(
        External::of("hill", hill)
            .derivative(0, "hill_slope")
            .double(|x, result| result[0] = 1.0 / (1.0 + x[0] * x[0])),
    );
    compiler.register_external(External::of("hill_slope", slope));
    let file = compiler.add_source("hill.ssl", SOURCE);
    for report in compiler.test(file)?.iter().filter(|r| r.backend == "cranelift") {
        write!(out, "{report}")?;
    }
    Ok(())
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // The chain rule wants another factor 2 here.
    try_slope(|x| -x * hill(x) * hill(x), out)?;
    try_slope(|x| -2.0 * x * hill(x) * hill(x), out)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
