//! LLVM 19, which only the `llvm` feature needs: finds it, or installs it if the system's package manager is Debian's.

use super::apt;
use super::commands::first_line;

const PACKAGES: &[&str] = &["llvm-19-dev", "libpolly-19-dev", "zlib1g-dev", "libzstd-dev"];

/// The version, where there is one that fits.
pub fn version() -> Option<String> {
    let folder = std::env::var("LLVM_SYS_191_PREFIX").map(|folder| format!("{folder}/bin/llvm-config"));
    let names = match folder {
        Ok(program) => vec![program],
        Err(_) => vec!["llvm-config-19".to_owned(), "llvm-config".to_owned(), "llvm-config19".to_owned()],
    };
    names.iter().filter_map(|name| first_line(&[name.as_str(), "--version"])).find(|v| v.starts_with("19."))
}

/// Says what there is, and installs what is missing where it can. Nothing else depends on it.
pub fn set_up() {
    if let Some(version) = version() {
        return println!("ok        {:<14} {version}: `--features llvm` adds the LLVM back end", "LLVM");
    }
    match apt(PACKAGES, "LLVM 19's development files") {
        Ok(()) => match version() {
            Some(version) => println!("installed {:<14} {version}: {}", "LLVM", PACKAGES.join(" ")),
            None => println!("optional  {:<14} installed, but no llvm-config of version 19 can be run", "LLVM"),
        },
        Err(why) => println!("optional  {:<14} for `--features llvm`; not installed: {why}", "LLVM"),
    }
}
