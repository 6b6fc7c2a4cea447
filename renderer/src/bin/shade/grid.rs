//! `shade eval --grid`: a shader over a unit square, with its outputs as the layers of an EXR.

use super::outcome::{self, Outcome};
use super::setup::Setup;
use exr::prelude::*;
use ssl_compiler::runtime::{LANES, Order, OutputDesc, Row};
use ssl_compiler::types::Scalar;
use std::path::Path;

/// The globals that run over the grid, with their partials.
pub const GLOBALS: [&str; 2] = ["uvw", "position"];

/// Messages of the shader that are shown.
const MAX_SHOWN: usize = 100;

/// The longest side of a grid.
const MAX_SIDE: u32 = 16384;

pub fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let side = |s: &str| s.parse().ok().filter(|n| (1..=MAX_SIDE).contains(n));
    let parsed = text.split_once(['x', 'X']).and_then(|(w, h)| Some((side(w)?, side(h)?)));
    parsed.ok_or_else(|| format!("a size is written 256x256, with sides from 1 to {MAX_SIDE}"))
}

pub fn run(setup: &Setup<'_>, (width, height): (u32, u32), output: Option<&Path>, outcome: Outcome) -> Outcome {
    let Some(path) = output else {
        return outcome.usage("`--grid` needs `-o FILE.exr` for what it computes");
    };
    if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("exr")) {
        return outcome.usage("a grid is written as `.exr`, with a layer for each output");
    }
    if setup.shader.interface().outputs.is_empty() {
        return outcome.usage("the shader has no `out` floats or vectors to write");
    }
    if let Err(e) = renderer::film::check_writable(path) {
        return fail(outcome, path, &e.reason);
    }
    let mut outcome = outcome;
    let planes = shade(setup, width as usize, height as usize, &mut outcome);
    let bytes = match encode(setup, &planes, width as usize, height as usize) {
        Ok(bytes) => bytes,
        Err(e) => return fail(outcome, path, &e.to_string()),
    };
    match renderer::film::write_whole(path, &bytes) {
        Ok(()) => {
            outcome.output = format!("{}: {width}×{height}\n", path.display());
            let outputs: Vec<&str> = setup.shader.interface().outputs.iter().map(|o| o.name.as_str()).collect();
            let report =
                serde_json::json!({"file": path.display().to_string(), "size": [width, height], "layers": outputs});
            outcome.report = Some(Box::new(report));
            outcome
        }
        Err(e) => fail(outcome, path, &e.reason),
    }
}

fn fail(mut outcome: Outcome, path: &Path, why: &str) -> Outcome {
    outcome.code = outcome::ENVIRONMENT_FAILED;
    outcome.note.push_str(&format!("`{}` could not be written: {why}\n", path.display()));
    outcome
}

/// Every output row as an image, top row first.
fn shade(setup: &Setup<'_>, width: usize, height: usize, outcome: &mut Outcome) -> Vec<Vec<f32>> {
    let mut planes = vec![vec![0.0; width * height]; setup.shader.interface().output_rows];
    let mut rows: Vec<Row> = setup.rows.iter().map(|r| Row::splat(r.0[0])).collect();
    let mut outputs = setup.output_rows();
    let mut failed = 0usize;
    let mut said = Said::default();
    for first in (0..width * height).step_by(LANES) {
        let count = LANES.min(width * height - first);
        for lane in 0..count {
            let (x, y) = ((first + lane) % width, (first + lane) / width);
            place(setup, &mut rows, lane, [x, y], [width, height]);
        }
        let mask = ((1u64 << count) - 1) as u32;
        let (status, messages) = setup.run_heard(&rows, &mut outputs, mask);
        said.add(messages.into_iter().map(|(lane, text)| ((first + lane) % width, (first + lane) / width, text)));
        failed += status.errors.iter().flatten().count();
        for (plane, row) in planes.iter_mut().zip(&outputs) {
            plane[first..first + count].copy_from_slice(&row.0[..count]);
        }
    }
    outcome.note.push_str(&said.note());
    if failed > 0 {
        outcome.code = outcome::SOMETHING_MISSING;
        outcome.note.push_str(&format!("the shader did not end at {failed} points, which are 0\n"));
    }
    planes
}

/// What the shader said: the first messages, and how many more there were.
#[derive(Default)]
struct Said {
    shown: Vec<String>,
    more: usize,
}

impl Said {
    /// Messages with the column and row of the pixel that each is from.
    fn add(&mut self, messages: impl Iterator<Item = (usize, usize, String)>) {
        for (x, y, text) in messages {
            match self.shown.len() < MAX_SHOWN {
                true => self.shown.push(format!("({x}, {y}): {}\n", text.trim_end_matches('\n'))),
                false => self.more += 1,
            }
        }
    }

    fn note(&self) -> String {
        let rest = match self.more {
            0 => String::new(),
            more => format!("and {more} more messages\n"),
        };
        self.shown.concat() + &rest
    }
}

/// `uvw` and `position` of a pixel's middle: (0,0) is the lower left corner of the square.
fn place(setup: &Setup<'_>, rows: &mut [Row], lane: usize, at: [usize; 2], size: [usize; 2]) {
    let [w, h] = size.map(|n| n as f32);
    let values = [(at[0] as f32 + 0.5) / w, 1.0 - (at[1] as f32 + 0.5) / h, 0.0];
    let ddx = [1.0 / w, 0.0, 0.0];
    let ddy = [0.0, -1.0 / h, 0.0];
    for name in GLOBALS {
        let Some((_, field)) = setup.layout.find(name) else { continue };
        for (order, list) in [(Order::Value, values), (Order::Ddx, ddx), (Order::Ddy, ddy)] {
            for (c, x) in list.into_iter().enumerate() {
                if let Some(row) = field.row(c, order) {
                    rows[row].0[lane] = x;
                }
            }
        }
    }
}

fn encode(setup: &Setup<'_>, planes: &[Vec<f32>], width: usize, height: usize) -> Result<Vec<u8>> {
    let layers: Vec<Layer<AnyChannels<FlatSamples>>> =
        setup.shader.interface().outputs.iter().map(|o| layer(o, planes, width, height)).collect();
    let attributes = ImageAttributes::new(IntegerBounds::from_dimensions((width, height)));
    let image = Image::from_layers(attributes, layers);
    let mut bytes = std::io::Cursor::new(Vec::new());
    // In order, so that equal grids give equal bytes.
    image.write().non_parallel().to_buffered(&mut bytes)?;
    Ok(bytes.into_inner())
}

/// Row and column of each element, both from 0.
const MATRIX_CHANNELS: [&str; 16] =
    ["00", "01", "02", "03", "10", "11", "12", "13", "20", "21", "22", "23", "30", "31", "32", "33"];

fn layer(o: &OutputDesc, planes: &[Vec<f32>], width: usize, height: usize) -> Layer<AnyChannels<FlatSamples>> {
    let names: &[&str] = match o.scalars.len() {
        1 => &["Y"],
        16 => &MATRIX_CHANNELS,
        _ => &["R", "G", "B", "A"],
    };
    let channels = o.scalars.iter().zip(names).enumerate().map(|(i, (s, name))| {
        let plane = &planes[o.first_row + i];
        let samples = match s {
            Scalar::Float => plane.clone(),
            Scalar::Int | Scalar::Bool => plane.iter().map(|x| x.to_bits() as i32 as f32).collect(),
        };
        AnyChannel::new(*name, FlatSamples::F32(samples))
    });
    let attributes = LayerAttributes::named(o.name.as_str());
    Layer::new((width, height), attributes, Encoding::FAST_LOSSLESS, AnyChannels::sort(channels.collect()))
}
