//! Rules of the source tree, as tests: who may import whom, where `unsafe` may stand, that files open
//! with their promise and stay of a readable length.

use ssl_tests::{files, folder};
use std::path::{Path, PathBuf};

/// The compiler's modules, bottom up: each may use those of earlier rows, and its own row.
const LAYERS: &[&[&str]] = &[
    &["input"],
    &["source"],
    &["diagnostics"],
    &["types"],
    &["syntax"],
    &["runtime"],
    &["ir"],
    &["builtins"],
    &["modules"],
    &["sema"],
    &["lower"],
    &["analysis"],
    &["passes"],
    &["pipeline"],
    &["interp"],
    &["defaults"],
    // A shader holds what a back end made, and a back end the memory that a shader frees.
    &["backend", "jit"],
    &["facade"],
    &["graph"],
    &["testing"],
    &["compiler"],
];

/// Uses against the order, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Folders and files in which `unsafe` may stand.
const UNSAFE_ROOMS: &[&str] = &[
    "ssl-compiler/src/jit",
    "ssl-compiler/src/runtime",
    "ssl-compiler/src/backend",
    "renderer/src/accel/bvh",
    "renderer/src/accel/embree",
    "renderer/src/bsdf/lobe.rs",
    "renderer/src/fiber",
    "renderer/src/math/prefetch.rs",
    "renderer/src/memory.rs",
];

const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    folder("..")
}

fn sources() -> Vec<(String, String)> {
    let crates = ["ssl-compiler", "renderer", "tests", "benches", "xtask"];
    let mut all = Vec::new();
    for name in crates {
        for path in files(&root().join(name), &["rs"]) {
            let relative = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if !relative.contains("/target/") {
                all.push((relative, read(&path)));
            }
        }
    }
    assert!(all.len() > 50, "only {} files were found", all.len());
    all
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// The code of a file without its comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or("");
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The modules of the crate that a file names: `crate::x`, and `{x, y}` behind `crate::`.
fn uses(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && c.is_alphabetic() => {
                        found.push(word(&list[i..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.push(word(rest));
        }
    }
    found
}

#[test]
fn modules_of_the_compiler_use_only_those_below() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(inside) = path.strip_prefix("ssl-compiler/src/") else { continue };
        let module = inside.split('/').next().unwrap_or("").trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("`{module}` has no place in the order of modules"));
        for used in uses(&code(&text)) {
            let excused = EXCEPTIONS.contains(&(module, used.as_str()));
            if rank(&used).is_some_and(|other| other > own) && !excused {
                wrong.push(format!("{path} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these modules use what is above them:\n{}", wrong.join("\n"));
}

#[test]
fn back_ends_know_nothing_of_each_other_or_of_derivatives() {
    for (path, text) in sources() {
        let Some(inside) = path.strip_prefix("ssl-compiler/src/backend/") else { continue };
        let code = code(&text);
        let used = uses(&code);
        assert!(!used.iter().any(|m| m == "passes" || m == "lower") && !code.contains("Activity"), "{path}");
        // What they share, and the list of them, are no back ends.
        if inside == "mod.rs" || inside == "native.rs" {
            continue;
        }
        for other in ["cranelift", "interp", "llvm", "inkwell"] {
            let own = inside.starts_with(other) || (inside.starts_with("llvm") && other == "inkwell");
            assert!(own || !code.contains(&format!("{other}::")), "{path} names {other}");
        }
    }
}

#[test]
fn the_compiler_knows_nothing_of_rendering() {
    let manifest = read(&root().join("ssl-compiler/Cargo.toml"));
    assert!(!manifest.contains("renderer"));
    assert!(
        sources().iter().filter(|(p, _)| p.starts_with("ssl-compiler")).all(|(_, t)| !code(t).contains("renderer::"))
    );
}

#[test]
fn every_file_opens_with_its_promise() {
    let without: Vec<String> = sources().into_iter().filter(|(_, t)| !t.starts_with("//! ")).map(|(p, _)| p).collect();
    assert!(without.is_empty(), "these files do not open with `//!`:\n{}", without.join("\n"));
}

#[test]
fn unsafe_stands_in_its_rooms_only() {
    let word = |code: &str| code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe");
    let allowed =
        |path: &str| UNSAFE_ROOMS.iter().any(|room| path.starts_with(room)) || path == "tests/tests/structure.rs";
    let outside: Vec<String> =
        sources().into_iter().filter(|(p, t)| !allowed(p) && word(&code(t))).map(|(p, _)| p).collect();
    assert!(outside.is_empty(), "`unsafe` outside its rooms:\n{}", outside.join("\n"));
}

#[test]
fn files_are_not_too_long() {
    let long = sources().into_iter().filter(|(_, t)| t.lines().count() > MAX_LINES);
    let long: Vec<String> = long.map(|(p, t)| format!("{p}: {}", t.lines().count())).collect();
    assert!(long.is_empty(), "more than {MAX_LINES} lines:\n{}", long.join("\n"));
}

#[test]
fn nothing_is_skipped() {
    let skipped: Vec<String> = sources()
        .into_iter()
        .filter(|(_, t)| code(t).lines().any(|l| l.trim_start().starts_with("#[ignore")))
        .map(|(p, _)| p)
        .collect();
    assert!(skipped.is_empty(), "{}", skipped.join("\n"));
}
