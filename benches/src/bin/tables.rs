//! Prints the tables of the performance page: compile times, run times and code size of the shaders of
//! the derivative-cost table, and the speed of a render.
//!
//! Each figure is the least of several runs; what is compared is measured in turn, in one process.

use renderer::render::{RenderOptions, render};
use ssl_benches::{KINDS, Points, compiled, root, table_source};
use ssl_compiler::BackendKind;
use ssl_compiler::backend::cranelift::Effort;
use ssl_compiler::runtime::LANES;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;

fn main() {
    if let Err(reason) = shader_table() {
        println!("{reason}");
    }
    if let Err(reason) = stage_table() {
        println!("{reason}");
    }
    if let Err(reason) = sieve_table() {
        println!("{reason}");
    }
    render_table();
}

fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

/// Compile time, run time and code size, with nobody asking for derivatives and with `ddx`/`ddy` outputs.
fn shader_table() -> Result<(), String> {
    println!(
        "| | effort | compile ms: none → ddx | run ns a point: none → ddx | run ratio | code bytes | interpreter ns |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for kind in KINDS {
        let sources = [table_source(kind, "none")?, table_source(kind, "ddx")?];
        for effort in [Effort::Quick, Effort::Speed] {
            let mut compile = [Duration::MAX; 2];
            let mut shaders = Vec::new();
            for _ in 0..ROUNDS {
                shaders.clear();
                for (i, source) in sources.iter().enumerate() {
                    let start = Instant::now();
                    let shader = compiled(source, BackendKind::Cranelift, effort)?;
                    compile[i] = compile[i].min(start.elapsed());
                    shaders.push(shader);
                }
            }
            let run = in_turn(&shaders);
            let interpreter = match effort {
                Effort::Quick => String::new(),
                Effort::Speed => {
                    let shader = compiled(&sources[1], BackendKind::Interpreter, effort)?;
                    format!("{:.0}", in_turn(std::slice::from_ref(&shader))[0])
                }
            };
            println!(
                "| {kind} | {effort:?} | {:.2} → {:.2} | {:.1} → {:.1} | {:.3} | {} → {} | {interpreter} |",
                milliseconds(compile[0]),
                milliseconds(compile[1]),
                run[0],
                run[1],
                run[1] / run[0],
                shaders[0].code_bytes(),
                shaders[1].code_bytes(),
            );
        }
    }
    println!();
    Ok(())
}

/// Nanoseconds a point of each shader, measured by turns.
fn in_turn(shaders: &[ssl_compiler::Shader]) -> Vec<f64> {
    let mut best = vec![f64::MAX; shaders.len()];
    let mut points: Vec<Points> = shaders.iter().map(Points::new).collect();
    let mut blocks = vec![0u32; shaders.len()];
    for (i, shader) in shaders.iter().enumerate() {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            points[i].run(shader);
            blocks[i] += 1;
        }
    }
    for _ in 0..ROUNDS {
        for (i, shader) in shaders.iter().enumerate() {
            let start = Instant::now();
            (0..blocks[i]).for_each(|_| points[i].run(shader));
            let each = start.elapsed().as_nanos() as f64 / (f64::from(blocks[i]) * LANES as f64);
            best[i] = best[i].min(each);
        }
    }
    best
}

/// Where the time of compiling D goes.
fn stage_table() -> Result<(), String> {
    let source = table_source("D", "ddx")?;
    let mut best: Vec<(&str, Duration)> = Vec::new();
    for _ in 0..ROUNDS {
        let shader = compiled(&source, BackendKind::Cranelift, Effort::Speed)?;
        if best.is_empty() {
            best = shader.timings().to_vec();
        }
        for (b, t) in best.iter_mut().zip(shader.timings()) {
            b.1 = b.1.min(t.1);
        }
    }
    println!("| stage of D | ms |\n| --- | --- |");
    best.iter().for_each(|(name, t)| println!("| {name} | {:.2} |", milliseconds(*t)));
    println!();
    Ok(())
}

/// The sieve of Eratosthenes up to n: linear in n only if setting an element copies no array.
fn sieve_table() -> Result<(), String> {
    println!("| sieve of n | ns a number: Cranelift | interpreter |\n| --- | --- | --- |");
    for n in [1 << 10, 1 << 12, 1 << 14, 1 << 16] {
        let source = format!(
            "shader sieve(out int primes) {{ bool composite[{n}]; primes = 0; for (int i = 2; i < {n}; ++i) {{ \
             if (composite[i]) continue; primes++; for (int j = 2 * i; j < {n}; j += i) composite[j] = true; }} }}"
        );
        let mut line = format!("| {n} |");
        for backend in [BackendKind::Cranelift, BackendKind::Interpreter] {
            let shader = compiled(&source, backend, Effort::Speed)?;
            let each = in_turn(std::slice::from_ref(&shader))[0] / f64::from(n);
            line.push_str(&format!(" {each:.2} |"));
        }
        println!("{line}");
    }
    println!();
    Ok(())
}

/// Camera samples a second of the first scene, on one thread and on all.
fn render_table() {
    let path = root().join("scenes/first-light.toml");
    println!("| first-light, 320×180, 16 samples | seconds | million samples a second |\n| --- | --- | --- |");
    for (name, threads) in [("one thread", Some(1)), ("all threads", None)] {
        let Some(mut scene) = renderer::scene::load(&path, BackendKind::Cranelift).scene else {
            println!("skipped: {} does not load", path.display());
            return;
        };
        let options = RenderOptions { samples: Some(16), size: Some((320, 180)), threads, ..RenderOptions::default() };
        let best = (0..3)
            .filter_map(|_| {
                let start = Instant::now();
                render(&mut scene, &options, &AtomicBool::new(false), &|_| {})
                    .ok()
                    .map(|_| start.elapsed().as_secs_f64())
            })
            .fold(f64::MAX, f64::min);
        println!("| {name} | {best:.2} | {:.3} |", 320.0 * 180.0 * 16.0 / best / 1e6);
    }
}
