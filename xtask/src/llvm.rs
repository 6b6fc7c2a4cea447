//! LLVM 19, which the `llvm` feature needs and nothing else does: finding it, and installing it where the
//! system's package manager is Debian's.

use super::{Outcome, first_line, has, run};
use std::process::Command;

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
    match install() {
        Ok(()) => match version() {
            Some(version) => println!("installed {:<14} {version}: {}", "LLVM", PACKAGES.join(" ")),
            None => println!("optional  {:<14} installed, but no llvm-config of version 19 can be run", "LLVM"),
        },
        Err(why) => println!("optional  {:<14} for `--features llvm`; not installed: {why}", "LLVM"),
    }
}

fn install() -> Outcome {
    let command = format!("apt-get install {}", PACKAGES.join(" "));
    if !has(&["apt-get", "--version"]) {
        return Err(format!("LLVM 19's development files are wanted (on Debian: `{command}`)"));
    }
    let is_root = first_line(&["id", "-u"]).as_deref() == Some("0");
    if !is_root && !has(&["sudo", "-n", "true"]) {
        return Err(format!("run `sudo {command}`"));
    }
    let apt = |arguments: &[&str]| {
        let mut words = if is_root { vec![] } else { vec!["sudo", "-n"] };
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--yes"]);
        words.extend(arguments);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        run(command)
    };
    let install = [&["install", "--no-install-recommends"], PACKAGES].concat();
    // Lists of packages may be old or not there yet.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}
