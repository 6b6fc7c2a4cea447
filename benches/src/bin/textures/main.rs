//! Prints what texture look-ups cost: patterns of access, filters and threads, with tiles in memory and with tiles that
//! have to be read.
//!
//! The patterns are those of the OpenImageIO harness whose figures docs/src/performance.md quotes.

mod patterns;
mod source;

use patterns::{Pattern, Run};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use std::process::ExitCode;

fn main() -> ExitCode {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|c| name.contains(c.as_str()));
    println!("| pattern | filter | threads | million look-ups a second a thread |");
    println!("| --- | --- | --- | --- |");
    for (pattern, modes) in WARM {
        for mode in *modes {
            for threads in [1, 2] {
                let name = format!("{} {}", pattern.name(), filter(*mode));
                if wanted(&name) {
                    let cache = CacheOptions { bytes: 1 << 30, threads, reads: 8 };
                    let textures =
                        if *pattern == Pattern::Plane { source::set(64, 1024) } else { source::set(1, 4096) };
                    let rate = patterns::measure(&Run { pattern: *pattern, mode: *mode, threads, cache }, textures);
                    println!("| {} | {} | {threads} | {rate:.2} |", pattern.name(), filter(*mode));
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
