//! A hash of the sources that decide what samples come to, and where Embree is, for the feature of that name.
//!
//! The hash becomes the variable `SOURCES` of the build: see `film/part/build.rs`.
//!
//! Embree's folder is `EMBREE_DIR`, or `third_party/embree`, where `cargo xtask setup` puts it. Programs that are
//! built here look for it there, and in a folder `embree` beside themselves.

use std::path::{Path, PathBuf};

/// What samples depend on beside the renderer's own sources, from the workspace.
const DECIDING: [&str; 3] = ["ssl-compiler/src", "ssl-compiler/std", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=SOURCES={:016x}", sources());
    embree();
}

/// Names and contents of all files that samples depend on, in the order of their names. The command line is not among
/// them.
fn sources() -> u64 {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = std::fs::read_dir(workspace.join("renderer/src")).into_iter().flatten().flatten();
    let own = own.map(|entry| Path::new("renderer/src").join(entry.file_name())).filter(|path| !path.ends_with("bin"));
    let mut files = Vec::new();
    for path in own.chain(DECIDING.iter().map(PathBuf::from)) {
        println!("cargo::rerun-if-changed={}", workspace.join(&path).display());
        gather(&workspace, &path, &mut files);
    }
    files.sort();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for file in &files {
        hash.add(file.as_bytes());
        let bytes = std::fs::read(workspace.join(file)).unwrap_or_default();
        // Some systems check files out with other ends of lines.
        bytes.split(|&byte| byte == b'\r').for_each(|part| hash.add(part));
    }
    hash.0
}

/// The files below a path, by their names from the workspace.
fn gather(workspace: &Path, path: &Path, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(workspace.join(path)) else {
        // No folder: a file, or where only this crate was copied nothing.
        return files.push(path.to_string_lossy().replace('\\', "/"));
    };
    for entry in entries.flatten() {
        gather(workspace, &path.join(entry.file_name()), files);
    }
}

/// Fowler, Noll and Vo's hash FNV-1a: the standard library's may differ from version to version.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, mix);
    }
}

fn embree() {
    println!("cargo::rerun-if-env-changed=EMBREE_DIR");
    if std::env::var_os("CARGO_FEATURE_EMBREE").is_none() {
        return;
    }
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../third_party/embree");
    let folder = std::env::var_os("EMBREE_DIR").map_or(installed, PathBuf::from);
    println!("cargo::rerun-if-changed={}", folder.display());
    let Ok(folder) = folder.canonicalize() else {
        println!(
            "cargo::error=Embree is not there: run `cargo xtask setup`, or set EMBREE_DIR to the folder of libembree4"
        );
        return;
    };
    println!("cargo::rustc-link-search=native={}", beside_the_build(&folder).display());
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/embree:{}", folder.display());
    }
}

/// Links to the library's files in the build's own folder: what cargo runs is told of libraries there, also for
/// crates that depend on this one. The folder itself where no links can be made.
fn beside_the_build(folder: &Path) -> PathBuf {
    let Some(out) = std::env::var_os("OUT_DIR").map(|out| PathBuf::from(out).join("embree")) else {
        return folder.to_owned();
    };
    match link_all(folder, &out) {
        Ok(()) => out,
        Err(_) => folder.to_owned(),
    }
}

#[cfg(unix)]
fn link_all(folder: &Path, out: &Path) -> std::io::Result<()> {
    // What is left of an earlier build may lead to another place.
    let _ = std::fs::remove_dir_all(out);
    std::fs::create_dir_all(out)?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(name) = path.file_name() {
            std::os::unix::fs::symlink(&path, out.join(name))?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_all(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
