//! Prints what texture look-ups cost: patterns of access, filters and threads, with tiles in memory and with tiles that
//! have to be read.
//!
//! With the path of a tiled, mip-mapped file, of that; else of noise. Other words choose rows.
//!
//! The patterns are those of the OpenImageIO harness whose figures docs/src/performance.md quotes.

mod patterns;
mod source;

use patterns::{Pattern, Run};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.iter().position(|w| Path::new(w).is_file()).map(|i| words.remove(i));
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    println!("| pattern | filter | threads | million look-ups a second a thread | mean of red + green + blue |");
    println!("| --- | --- | --- | --- | --- |");
    for (pattern, modes) in WARM {
        for mode in *modes {
            for threads in [1, 2] {
                if wanted(&format!("{} {} {threads}", pattern.name(), filter(*mode))) {
                    let cache = CacheOptions { bytes: 1 << 30, threads, reads: 8 };
                    let (textures, files) = match &file {
                        Some(file) => match source::of_file(Path::new(file)) {
                            Ok((textures, files)) => (textures, Some(files)),
                            Err(why) => {
                                eprintln!("{file}: {why}");
                                return ExitCode::FAILURE;
                            }
                        },
                        None if *pattern == Pattern::Plane => (source::set(64, 1024), None),
                        None => (source::set(1, 4096), None),
                    };
                    let run = Run { pattern: *pattern, mode: *mode, threads, cache };
                    let (rate, mean) = patterns::measure(&run, textures, files);
                    println!("| {} | {} | {threads} | {rate:.2} | {mean:.6} |", pattern.name(), filter(*mode));
                }
            }
        }
    }
    ExitCode::SUCCESS
}

const WARM: &[(Pattern, &[MipMode])] = &[
    (
        Pattern::Coherent,
        &[MipMode::Nearest, MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso, MipMode::Stochastic],
    ),
    (Pattern::TwoLevels, &[MipMode::Trilinear, MipMode::Aniso, MipMode::Stochastic]),
    (Pattern::Random, &[MipMode::Nearest, MipMode::Trilinear, MipMode::Aniso]),
    (Pattern::Plane, &[MipMode::Nearest, MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso, MipMode::Stochastic]),
];

fn filter(mode: MipMode) -> &'static str {
    MipMode::NAMED.iter().find(|(_, m)| *m == mode).map_or("", |(name, _)| name)
}
