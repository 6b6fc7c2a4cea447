//! Hashes the sources of the compiler, and finds LLVM 19 for the `llvm` feature and links its shared library; where
//! that is missing, says which packages have it.
//!
//! The hash becomes the variable `SOURCES` of the build: see `backend/generator.rs`.

#[path = "build/sources.rs"]
mod sources;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the folder of an LLVM that is not to be searched for. The bindings look there too.
const PREFIX: &str = "LLVM_SYS_191_PREFIX";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let deciding = ["ssl-compiler/src", "Cargo.lock"].map(PathBuf::from);
    println!("cargo::rustc-env=SOURCES={:016x}", sources::hash(&workspace, deciding));
    if std::env::var_os("CARGO_FEATURE_LLVM").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed={PREFIX}");
    println!("cargo::rerun-if-env-changed=PATH");
    let found =
        candidates().into_iter().find(|program| ask(program, &["--version"]).is_some_and(|v| v.starts_with("19.")));
    let Some(program) = found else {
        println!("cargo::error=the `llvm` feature needs LLVM 19, which is not on this machine");
        println!("cargo::error=Debian, Ubuntu: apt-get install llvm-19-dev libpolly-19-dev zlib1g-dev libzstd-dev");
        println!("cargo::error=`cargo xtask setup` does that; elsewhere, {PREFIX} names the folder that LLVM 19 is in");
        println!("cargo::error=without `--features llvm` nothing of this is needed");
        return;
    };
    let (folder, libraries) = (ask(&program, &["--libdir"]), ask(&program, &["--link-shared", "--libs"]));
    let (Some(folder), Some(libraries)) = (folder, libraries) else {
        println!("cargo::error=`{} --link-shared --libs` fails: this LLVM has no shared library", program.display());
        return;
    };
    println!("cargo::rustc-link-search=native={folder}");
    for library in libraries.split_whitespace() {
        println!("cargo::rustc-link-lib=dylib={}", library.trim_start_matches("-l"));
    }
}

fn candidates() -> Vec<PathBuf> {
    match std::env::var_os(PREFIX) {
        Some(folder) => vec![Path::new(&folder).join("bin/llvm-config")],
        None => ["llvm-config-19", "llvm-config", "llvm-config19"].iter().map(PathBuf::from).collect(),
    }
}

/// What a program answers; `None` where it is not there or fails.
fn ask(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
