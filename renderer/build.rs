//! A hash of the sources that decide what samples come to, and where Embree is, for the feature of that name.
//!
//! The hash becomes the variable `SOURCES` of the build: see `film/part/build.rs`.
//!
//! Embree's folder is `EMBREE_DIR`, or `third_party/embree`, where `cargo xtask setup` puts it. Programs that are
//! built here look for it there, and in a folder `embree` beside themselves.

#[path = "../ssl-compiler/build/sources.rs"]
mod sources;

use std::path::{Path, PathBuf};

/// The files of the workspace on which samples depend, beside the renderer's own sources.
const DECIDING: [&str; 4] = ["ssl-compiler/src", "ssl-compiler/std", "kernels/formats/src", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=SOURCES={:016x}", hash_of_samples());
    embree();
}

/// Of all files that samples depend on. The command line is not among them.
fn hash_of_samples() -> u64 {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = std::fs::read_dir(workspace.join("renderer/src")).into_iter().flatten().flatten();
    let own = own.map(|entry| Path::new("renderer/src").join(entry.file_name())).filter(|path| !path.ends_with("bin"));
    sources::hash(&workspace, own.chain(DECIDING.iter().map(PathBuf::from)))
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
