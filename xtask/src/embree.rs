//! Embree 4 and libclang, which only the `embree` feature needs. The library comes from a Python package that holds it,
//! into a folder that git ignores; libclang, which reads its headers, comes from Debian's packages.

use super::commands::{has, root, run};
use super::{Outcome, apt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, and the platform and Python that its file is for: the machine's own Python need not be that one, as
/// nothing of it is run.
const PACKAGE: &str = "embreex==4.4.0.post1";
const PLATFORM: [&str; 2] = ["manylinux_2_28_x86_64", "3.11"];

const CLANG: &[&str] = &["libclang-19-dev"];

/// Where the build script of the renderer looks for the library.
fn folder() -> PathBuf {
    std::env::var_os("EMBREE_DIR").map_or_else(|| root().join("third_party/embree"), PathBuf::from)
}

/// Whether the feature can be built here.
pub fn is_there() -> bool {
    folder().join("libembree4.so").exists() && has_clang()
}

fn has_clang() -> bool {
    if std::env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let holds = |folder: &Path| {
        let Ok(entries) = std::fs::read_dir(folder) else { return false };
        // Not libclang-cpp, which is another library.
        let mut names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        names.any(|n| n.starts_with("libclang.so") || n.starts_with("libclang-1") && n.contains(".so"))
    };
    let versions = (11..=30).map(|v| PathBuf::from(format!("/usr/lib/llvm-{v}/lib")));
    versions
        .chain(["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"].map(PathBuf::from))
        .any(|f| holds(&f))
}

/// Says what there is, and brings what is missing where it can. Nothing else depends on it.
pub fn set_up() {
    let line = |state: &str, text: &str| println!("{state:<9} {:<14} {text}", "Embree");
    if is_there() {
        return line("ok", &format!("{}: `--features embree` adds it", folder().display()));
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let what = "for `--features embree`: install Embree 4 and libclang, and set EMBREE_DIR to the library's folder";
        return line("optional", what);
    }
    let missing = bring_library().and_then(|()| if has_clang() { Ok(()) } else { apt(CLANG, "libclang") });
    match missing {
        Ok(()) => line("installed", &format!("{}: `--features embree` adds it", folder().display())),
        Err(why) => line("optional", &format!("for `--features embree`; not installed: {why}")),
    }
}

fn bring_library() -> Outcome {
    let folder = folder();
    if folder.join("libembree4.so").exists() {
        return Ok(());
    }
    let python = ["python3", "python"].into_iter().find(|p| has(&[p, "-m", "pip", "--version"]));
    let python = python.ok_or("Python's pip is wanted, to fetch the package that holds the library")?;
    let unpacked = folder.join("package");
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--upgrade", "--target"]);
    command.arg(&unpacked).args(["--platform", PLATFORM[0], "--python-version", PLATFORM[1], PACKAGE]);
    // A warning of pip's about whom it runs as, which is no matter for a folder of its own.
    command.env("PIP_ROOT_USER_ACTION", "ignore");
    run(command)?;
    let moved = take_libraries(&unpacked.join("embreex.libs"), &folder);
    // What is left of the package is of no use; where it cannot be removed, it does no harm.
    let _ = std::fs::remove_dir_all(&unpacked);
    moved.map_err(|e| format!("the library cannot be put into {}: {e}", folder.display()))
}

/// Moves the libraries out of the package, and gives the one that programs link to its plain name.
fn take_libraries(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        std::fs::rename(entry.path(), to.join(&name))?;
        if name.to_string_lossy().starts_with("libembree4") {
            let plain = to.join("libembree4.so");
            #[cfg(unix)]
            std::os::unix::fs::symlink(&name, plain)?;
            #[cfg(not(unix))]
            std::fs::copy(to.join(&name), plain).map(drop)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_folder_is_one_that_git_ignores() {
        let ignored = std::fs::read_to_string(super::root().join(".gitignore")).expect("the workspace has one");
        assert!(ignored.lines().any(|l| l == "/third_party"));
    }
}
