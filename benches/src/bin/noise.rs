//! Prints the table of noises of the performance page: run time and code size of each kind and dimension, without
//! derivatives, with `ddx`, and with `ddx` and `ddy`.
//!
//! Each figure is the least of several runs over 1024 points; the three of a row are measured in turns.

use ssl_benches::{Points, compiled, in_turn_on};
use ssl_compiler::{Shader, Target};

/// Name, and the call with `P` for the point.
const KINDS: &[(&str, &str)] = &[
    ("cell", "cellnoise(P)"),
    ("Perlin", "perlin(P)"),
    ("Perlin, periodic", "pperlin(P, 8.0)"),
    ("Perlin, float3", "dot(perlin_float3(P), float3(1.0))"),
    ("simplex", "simplex(P)"),
    ("cellular F1", "cellular_f1(P)"),
    ("cellular F2 − F1", "cellular_f2_f1(P)"),
    ("Gabor", "gabor(P)"),
    ("Gabor along a direction", "gabor(P, D)"),
    ("fBm of 6 octaves", "fbm(P)"),
];

const POINTS: &[&str] = &["p.x", "p.xy", "p", "float4(p, 0.5 * p.x)"];
const DIRECTIONS: &[&str] = &["", "float2(0.6, 0.8)", "float3(0.6, 0.8, 0.0)", ""];

const BLOCKS: u32 = 64;

fn main() {
    println!("| noise | dimensions | ns per point: none, ddx, both | code bytes |\n| --- | --- | --- | --- |");
    for (name, call) in KINDS {
        for dimensions in 1..=4 {
            if call.starts_with("gabor") && !matches!(dimensions, 2 | 3) {
                continue;
            }
            let call = call.replace('P', POINTS[dimensions - 1]).replace('D', DIRECTIONS[dimensions - 1]);
            match row(&call) {
                Ok(row) => println!("| {name} | {dimensions} | {row} |"),
                Err(reason) => println!("{reason}"),
            }
        }
    }
}

fn row(call: &str) -> Result<String, String> {
    let source = |outputs: &str, sinks: &str| {
        format!("shader s({outputs}) {{ const float3 p = global_value<uvw>; value = {call}; {sinks} }}")
    };
    let sources = [
        source("out float value", ""),
        source("out float value, out float x", "x = ddx(value);"),
        source("out float value, out float x, out float y", "x = ddx(value); y = ddy(value);"),
    ];
    let shaders: Vec<Shader> = sources.iter().map(|s| compiled(s, Target::default())).collect::<Result<_, _>>()?;
    let mut blocks: Vec<Vec<Points>> =
        shaders.iter().map(|s| (1..=BLOCKS).map(|seed| Points::strewn(s, seed)).collect()).collect();
    let mut blocks: Vec<&mut [Points]> = blocks.iter_mut().map(Vec::as_mut_slice).collect();
    let times: Vec<String> = in_turn_on(&shaders, &mut blocks).iter().map(|t| format!("{t:.0}")).collect();
    let bytes: Vec<String> = shaders.iter().map(|s| s.code_bytes().to_string()).collect();
    Ok(format!("{} | {}", times.join(", "), bytes.join(", ")))
}
