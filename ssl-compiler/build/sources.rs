//! A hash of source files, for build scripts: it differs where anything that they make may differ.

use std::path::{Path, PathBuf};

/// Names and contents of all files below some paths of the workspace, in the order of their names. Cargo is
/// told to run the script again when they change.
pub fn hash(workspace: &Path, paths: impl IntoIterator<Item = PathBuf>) -> u64 {
    let mut files = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", workspace.join(&path).display());
        gather(workspace, &path, &mut files);
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
