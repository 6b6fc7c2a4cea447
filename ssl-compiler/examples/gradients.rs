//! A host that fits two parameters of a shader to what its points should look like, by the shader's gradient.

use ssl_compiler::{Block, Compiler, GradientRequest, LANES, Row, ShaderRequest};
use std::error::Error;
use std::io::Write;

ssl_compiler::shader_globals! {
    /// A point, and the height that is wanted there.
    pub struct Point {
        uvw: float3, value;
        target: float, value;
    }
}

const SOURCE: &str = "
shader wave(float amplitude = 1.0, float offset = 0.0, out float height, out float loss)
{
    height = amplitude * sin(6.2831853 * global_value<uvw>.x) + offset;
    const float miss = height - global_value<target>;
    loss = 0.5 * miss * miss;
}";

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut compiler = Compiler::new();
    compiler.set_globals(Point::layout());
    let file = compiler.add_source("wave.ssl", SOURCE);
    let gradient = GradientRequest::of(["loss"]).by_parameters(["amplitude", "offset"]);
    let shader = compiler.compile(file, ShaderRequest { gradient: Some(gradient), ..ShaderRequest::default() })?;

    // Sixteen points of a wave that is half as high, and a quarter further up.
    let mut points = Point::default();
    for lane in 0..LANES {
        let x = lane as f32 / LANES as f32;
        points.uvw()[0][0].0[lane] = x;
        points.target()[0][0].0[lane] = 0.25 + 0.5 * (std::f32::consts::TAU * x).sin();
    }

    // The rows of the globals, and behind them those of the cotangents: each point's loss counts once.
    let interface = shader.interface();
    let gradient = interface.gradient.as_ref().ok_or("no gradient was asked for")?;
    let loss = interface.output("loss").ok_or("the shader has no output `loss`")?;
    let mut globals = interface.with_cotangents(points.rows());
    globals[gradient.cotangent(loss.first_row).ok_or("`loss` is a float")?] = Row::splat(1.0);

    let mut values = [1.0_f32, 0.0];
    let mut parameters = shader.new_parameters();
    let mut outputs = shader.new_outputs();
    for step in 0..=20 {
        for (name, value) in ["amplitude", "offset"].into_iter().zip(values) {
            parameters.set(interface, name, &value.into())?;
        }
        let status = shader.run(&mut Block::new(&globals, &parameters, &mut outputs));
        status.first_error().map_or(Ok(()), Err)?;
        if step % 10 == 0 {
            let sum: f32 = outputs[loss.first_row].0.iter().sum();
            writeln!(out, "step {step:2}: amplitude {:.3} offset {:.3} loss {sum:.6}", values[0], values[1])?;
        }
        // All points share the parameters, so their gradients add up.
        for (name, value) in ["amplitude", "offset"].into_iter().zip(&mut values) {
            let slope = gradient.by_parameter(name).ok_or("asked for")?.sum(&outputs, 0xffff)[0];
            *value -= 0.05 * slope;
        }
    }
    Ok(())
}

pub fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
