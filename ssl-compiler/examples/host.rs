//! A host in one file: its own globals and closure type, a shader with a parameter, a block of points, lobes read back.

use ssl_compiler::{Block, Compiler, LANES};
use std::error::Error;
use std::io::Write;

ssl_compiler::shader_globals! {
    /// What this host knows of a point.
    pub struct Point {
        uvw: float3, first;
        normal: normal, value;
    }
}

ssl_compiler::closure_type! {
    /// Ideal diffuse reflection.
    pub struct Lambert { albedo: color in (0.0..=1.0), normal: normal }
}

const SOURCE: &str = "
shader waves(float count = 4.0, out float slope, out closure surface)
{
    const float height = sin(6.2831853 * count * global_value<uvw>.x);
    slope = ddx(height);
    surface = make_closure<Lambert>(color(0.5 + 0.5 * height), global_value<normal>);
}";

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // What shaders may use, and the way from source to machine code.
    let mut compiler = Compiler::new();
    compiler.set_globals(Point::layout());
    let lambert = compiler.register_closure::<Lambert>();
    let file = compiler.add_source("waves.ssl", SOURCE);
    let shader = compiler.compile(file, "waves")?;

    // Sixteen points in a row. Neighbours are a sixteenth apart, so that is the partial of x along the row.
    let mut globals = Point::default();
    for lane in 0..LANES {
        globals.uvw()[0][0].0[lane] = lane as f32 / LANES as f32;
        globals.uvw()[0][1].0[lane] = 1.0 / LANES as f32;
        globals.normal()[2][0].0[lane] = 1.0;
    }

    // Parameters by name; then one call shades all points.
    let mut parameters = shader.new_parameters();
    parameters.set(shader.interface(), "count", &2.0.into())?;
    let mut outputs = shader.new_outputs();
    let status = shader.run(&mut Block::new(globals.rows(), &parameters, &mut outputs));
    status.first_error().map_or(Ok(()), Err)?;

    // Outputs by name, lobes by the number of their closure type.
    let slope = shader.interface().output("slope").ok_or("the shader has no output `slope`")?;
    for lane in 0..3 {
        writeln!(out, "point {lane}: slope {:.3}", slope.read(&outputs, lane)[0])?;
        for lobe in shader.interface().lobes.iter().filter(|lobe| lobe.closure == lambert) {
            let Lambert { albedo, normal } = lobe.read(&outputs, lane);
            writeln!(out, "  weight {:?} albedo {albedo:.3?} normal {normal:?}", lobe.weight(&outputs, lane))?;
        }
    }
    Ok(())
}

pub fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
