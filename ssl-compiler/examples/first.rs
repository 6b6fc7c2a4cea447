//! The smallest host: one shader, one call.

use ssl_compiler::{Block, Compiler};
use std::error::Error;
use std::io::Write;

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("square.ssl", "shader square(float x = 3.0, out float y) { y = x * x; }");
    let shader = compiler.compile(file, "square")?;

    let parameters = shader.new_parameters();
    let mut outputs = shader.new_outputs();
    shader.run(&mut Block::new(&[], &parameters, &mut outputs));

    let y = shader.interface().output("y").ok_or("the shader has no output `y`")?;
    writeln!(out, "y = {}", y.read(&outputs, 0)[0])?;
    Ok(())
}

pub fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
