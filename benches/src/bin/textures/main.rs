//! Prints what texture look-ups cost: patterns of access, filters and threads, with tiles in memory and with tiles that
//! must be read.
//!
//! With the path of a tiled, mip-mapped file, it reads this file; otherwise noise. With a folder of such files, it
//! reads all of them at budgets that hold a part. Other words choose rows.
//!
//! The patterns are those of the OpenImageIO harness whose figures docs/src/performance.md quotes.

mod patterns;
mod source;

use patterns::{Pattern, Run};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use ssl_benches::process;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let path = words.iter().position(|w| Path::new(w).exists()).map(|i| PathBuf::from(words.remove(i)));
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    let result = match &path {
        Some(folder) if folder.is_dir() => paged(folder, &wanted),
        file => warm(file.as_deref(), &wanted),
    };
    process::ended(result)
}

/// With all tiles in memory.
fn warm(file: Option<&Path>, wanted: &dyn Fn(&str) -> bool) -> Result<(), String> {
    println!("| pattern | filter | threads | million look-ups per second and thread | mean of red + green + blue |");
    println!("| --- | --- | --- | --- | --- |");
    for (pattern, modes) in WARM {
        for (mode, threads) in modes.iter().flat_map(|mode| [(mode, 1), (mode, 2)]) {
            if !wanted(&format!("{} {} {threads}", pattern.name(), filter(*mode))) {
                continue;
            }
            let cache = CacheOptions { bytes: 1 << 30, threads, reads: 8, ..CacheOptions::default() };
            let (textures, files) = match file {
                Some(file) => source::of_files(&[file.to_owned()]).map(|(textures, files)| (textures, Some(files)))?,
                None if *pattern == Pattern::Plane => (source::set(64, 1024), None),
                None => (source::set(1, 4096), None),
            };
            let run = Run { pattern: *pattern, mode: *mode, threads, cache };
            let (rate, mean) = patterns::measure(&run, textures, files);
            println!("| {} | {} | {threads} | {rate:.2} | {mean:.6} |", pattern.name(), filter(*mode));
        }
    }
    Ok(())
}

/// With budgets that hold a part of the tiles: look-ups wait for files, which the system has in memory.
fn paged(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let unreadable = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "tx"));
    paths.sort();
    println!("{} textures", paths.len());
    println!("| pattern | MB | threads | thousand look-ups per second and thread | mean of red + green + blue |");
    println!("| --- | --- | --- | --- | --- |");
    for pattern in [Pattern::Thrash, Pattern::Mixed] {
        for (megabytes, threads) in [16, 64, 256, 1024].into_iter().flat_map(|m| [(m, 1), (m, 2)]) {
            if !wanted(&format!("{} {megabytes} {threads}", pattern.name())) {
                continue;
            }
            let (textures, files) = source::of_files(&paths)?;
            let cache = CacheOptions { bytes: megabytes << 20, threads, reads: 8, ..CacheOptions::default() };
            let run = Run { pattern, mode: MipMode::Trilinear, threads, cache };
            let (rate, mean) = patterns::measure(&run, textures, Some(files));
            println!("| {} | {megabytes} | {threads} | {:.1} | {mean:.6} |", pattern.name(), 1000.0 * rate);
        }
    }
    Ok(())
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
