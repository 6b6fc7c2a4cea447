//! A host in one file: its own globals and closure type, a shader with a parameter, a block of points, lobes read back.

use ssl_compiler::{Block, Compiler, LANES, NoTextures};

ssl_compiler::shader_globals! {
    /// What this host knows of a point.
    pub struct Point {
        uvw: float3, first;
        normal: normal, value;
    }
}

ssl_compiler::closure_type! {
    /// Ideal diffuse reflection.
    pub struct Lambert { albedo: color, normal: normal }
}

const SOURCE: &str = "
shader rings(float count = 4.0, out float slope, out closure surface)
{
    const float wave = sin(2.0 * 3.14159265 * count * global_value<uvw>.x);
    slope = ddx(wave);
    surface = make_closure<Lambert>(color(0.5 + 0.5 * wave), global_value<normal>);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What shaders may use.
    let mut compiler = Compiler::new();
    compiler.set_globals(Point::layout());
    let lambert = compiler.register_closure::<Lambert>();

    // From source to machine code.
    let file = compiler.add_source("rings.ssl", SOURCE);
    let shader = compiler.compile(file, "rings")?;
    let interface = shader.interface();

    // Sixteen points in a row, each a sixteenth further; the partial of x by the pixel says so too.
    let mut globals = Point::default();
    for lane in 0..LANES {
        globals.uvw()[0][0].0[lane] = (lane as f32 + 0.5) / LANES as f32;
        globals.uvw()[0][1].0[lane] = 1.0 / LANES as f32;
        globals.normal()[2][0].0[lane] = 1.0;
    }

    // Parameters by name, then one call for all points.
    let mut parameters = shader.new_parameters();
    parameters.set(interface, "count", &2.0.into())?;
    let mut outputs = shader.new_outputs();
    let mut block = Block { host: &NoTextures, ..Block::new(globals.rows(), &parameters, &mut outputs) };
    if let Some(error) = shader.run(&mut block).first_error() {
        return Err(error.into());
    }

    // Plain outputs by name; lobes by their closure type.
    let slope = interface.output("slope").ok_or("the shader has no `slope`")?;
    for lane in 0..4 {
        println!("point {lane}: slope {:.3}", slope.read(&outputs, lane)[0]);
        for lobe in interface.lobes.iter().filter(|lobe| lobe.closure == lambert) {
            let Lambert { albedo, normal } = lobe.read(&outputs, lane);
            println!("  Lambert: weight {:?}, albedo {:.3}, normal {normal:?}", lobe.weight(&outputs, lane), albedo[0]);
        }
    }
    Ok(())
}
