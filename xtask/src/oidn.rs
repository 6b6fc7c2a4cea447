//! Open Image Denoise, which programs with the `oidn` feature load when a picture is to be denoised. It comes from a Python
//! package that holds it, into a folder that git ignores; of its devices only the processor's is taken.

use super::Outcome;
use super::commands::{has, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, and the platform and Python that its file is for, as for Embree.
const PACKAGE: &str = "pyoidn==2.5.1";
const PLATFORM: [&str; 2] = ["manylinux2014_x86_64", "3.11"];

/// The files to take; where a version follows, all that stands before it. Others are for graphics processors.
const FILES: [&str; 4] = [
    "libOpenImageDenoise.so.2.",
    "libOpenImageDenoise_core.so.2.",
    "libOpenImageDenoise_device_cpu.so.2.",
    "libtbb.so.12",
];
/// The name that programs load.
const PLAIN: &str = "libOpenImageDenoise.so";

/// Where the renderer looks for the library.
fn folder() -> PathBuf {
    std::env::var_os("OIDN_DIR").map_or_else(|| root().join("third_party/oidn"), PathBuf::from)
}

/// Whether programs that are built here will find it. They look for each other in a folder `lib`.
pub fn is_there() -> bool {
    folder().join("lib").join(PLAIN).exists()
}

/// Reports the library, and installs it where it can. Nothing else depends on it.
pub fn set_up() {
    let line = |state: &str, text: &str| println!("{state:<9} {:<14} {text}", "OIDN");
    let adds = || format!("{}: `--features oidn` denoises with it", folder().display());
    if is_there() {
        return line("ok", &adds());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let what = "for `--features oidn`: install Open Image Denoise 2, and set OIDN_DIR to its folder";
        return line("optional", what);
    }
    match bring() {
        Ok(()) => line("installed", &adds()),
        Err(why) => line("optional", &format!("for `--features oidn`; not installed: {why}")),
    }
}

fn bring() -> Outcome {
    let python = ["python3", "python"].into_iter().find(|p| has(&[p, "-m", "pip", "--version"]));
    let python = python.ok_or("Python's pip is wanted, to fetch the package that holds the library")?;
    let (folder, unpacked) = (folder(), folder().join("package"));
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--upgrade", "--target"]);
    command.arg(&unpacked).args(["--platform", PLATFORM[0], "--python-version", PLATFORM[1], PACKAGE]);
    // A warning of pip's about whom it runs as, which is no matter for a folder of its own.
    command.env("PIP_ROOT_USER_ACTION", "ignore");
    run(command)?;
    let moved = take_libraries(&unpacked.join("pyoidn/oidn/lib"), &folder.join("lib"));
    // The rest of the package is of no use; a failed removal does no harm.
    let _ = std::fs::remove_dir_all(&unpacked);
    moved.map_err(|e| format!("the library cannot be put into {}: {e}", folder.display()))
}

/// Moves the libraries out of the package, and gives the one that programs load its plain name.
fn take_libraries(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let mut names: Vec<_> =
        std::fs::read_dir(from)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<_>>()?;
    names.sort();
    for name in names {
        let text = name.to_string_lossy();
        let Some(kind) = FILES.iter().position(|file| is_of(&text, file)) else { continue };
        std::fs::rename(from.join(&name), to.join(&name))?;
        if kind == 0 {
            link(&name, &to.join(PLAIN))?;
        }
    }
    Ok(())
}

fn is_of(name: &str, file: &str) -> bool {
    if file.ends_with('.') { name.starts_with(file) } else { name == file }
}

/// Gives a file another name beside its own, and replaces the file of that name.
#[cfg(unix)]
fn link(file: &std::ffi::OsStr, other: &Path) -> std::io::Result<()> {
    // That nothing is there is usual.
    let _ = std::fs::remove_file(other);
    std::os::unix::fs::symlink(file, other)
}

#[cfg(not(unix))]
fn link(file: &std::ffi::OsStr, other: &Path) -> std::io::Result<()> {
    std::fs::copy(other.with_file_name(file), other).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_processor_needs_is_taken() {
        let folder = std::env::temp_dir().join(format!("xtask-oidn-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        std::fs::create_dir_all(&from).expect("the temporary folder can be written");
        let names = [
            "libOpenImageDenoise.so",
            "libOpenImageDenoise.so.2.5.1",
            "libOpenImageDenoise_core.so.2.5.1",
            "libOpenImageDenoise_device_cpu.so.2.5.1",
            "libOpenImageDenoise_device_cuda.so.2.5.1",
            "libtbb.so.12",
            "libtbb.so.12.19",
            "libur_loader.so",
        ];
        for name in names {
            std::fs::write(from.join(name), name).expect("as above");
        }
        take_libraries(&from, &to).expect("as above");
        let entries = std::fs::read_dir(&to).expect("as above").flatten();
        let mut taken: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        taken.sort();
        assert_eq!(taken, [names[0], names[1], names[2], names[3], names[5]]);
        assert_eq!(std::fs::read_to_string(to.join(PLAIN)).expect("as above"), names[1]);
        std::fs::remove_dir_all(&folder).expect("as above");
    }
}
