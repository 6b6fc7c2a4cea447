//! Shades a grid of points, block by block, and shows the albedo of what was found as characters.

use ssl_compiler::{Block, Compiler, FileId, LANES};
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

const WIDTH: usize = 40;
const HEIGHT: usize = 20;
const SHADES: &[u8] = b" .:-=+*#%@";

/// A session that offers what this host has, with the shader file in it.
fn session() -> (Compiler, FileId) {
    let mut compiler = Compiler::new();
    compiler.set_globals(Point::layout());
    compiler.register_closure::<Lambert>();
    let file = compiler.add_source("rings.ssl", include_str!("rings.ssl"));
    (compiler, file)
}

/// The points of a row from `start` on, as many as fit into a block, at x and y from -1 to 1.
fn fill(globals: &mut Point, start: usize, row: usize) -> usize {
    let (step_x, step_y) = (2.0 / WIDTH as f32, 2.0 / HEIGHT as f32);
    let count = LANES.min(WIDTH - start);
    for lane in 0..count {
        let [x, y, _] = globals.uvw();
        x[0].0[lane] = ((start + lane) as f32 + 0.5) * step_x - 1.0;
        y[0].0[lane] = (row as f32 + 0.5) * step_y - 1.0;
        x[1].0[lane] = step_x;
        y[2].0[lane] = step_y;
        globals.normal()[2][0].0[lane] = 1.0;
    }
    count
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (mut compiler, file) = session();
    let shader = compiler.compile(file, "rings")?;
    let parameters = shader.new_parameters();
    let (mut globals, mut outputs) = (Point::default(), shader.new_outputs());
    for row in 0..HEIGHT {
        let mut line = String::new();
        for start in (0..WIDTH).step_by(LANES) {
            let count = fill(&mut globals, start, row);
            // Bit i stands for point i; the last block of a row is not full.
            let mask = (1 << count) - 1;
            let status = shader.run(&mut Block { mask, ..Block::new(globals.rows(), &parameters, &mut outputs) });
            status.first_error().map_or(Ok(()), Err)?;
            for lane in 0..count {
                let red = |lobe: &ssl_compiler::LobeDesc| {
                    lobe.weight(&outputs, lane)[0] * lobe.read::<Lambert>(&outputs, lane).albedo[0]
                };
                let albedo: f32 = shader.interface().lobes.iter().map(red).sum();
                let shade = (albedo * SHADES.len() as f32) as usize;
                line.push(SHADES[shade.min(SHADES.len() - 1)].into());
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

pub fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}

#[test]
fn the_tests_in_the_shader_file_pass() -> Result<(), ssl_compiler::CompileError> {
    let (mut compiler, file) = session();
    for report in compiler.test(file)? {
        assert!(report.passed(), "{report}");
    }
    Ok(())
}
