//! Rules of the source tree, as tests: who may import whom, where `unsafe` may stand, that files open
//! with their promise and stay of a readable length.

use ssl_tests::rust_source::{code, without_tests};
use ssl_tests::{files, folder};
use std::path::{Path, PathBuf};

/// Modules bottom up: each may use those of earlier rows, and its own row.
type Layers = &'static [&'static [&'static str]];

const COMPILER: Layers = &[
    &["input"],
    &["tree"],
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
    &["backend"],
    &["jit"],
    &["facade"],
    &["graph"],
    &["testing"],
    &["compiler"],
];

const KERNELS: Layers = &[&["buffer", "launch"], &["sums"], &["kernel"], &["graph"]];

const RENDERER: Layers = &[
    &["caches", "math", "memory", "ray"],
    &["sampler"],
    // Groups of shapes hold structures over them, and those hold shapes.
    &["geometry", "accel"],
    &["fiber"],
    &["texture"],
    &["bsdf"],
    &["material"],
    &["light", "camera", "film"],
    &["scene"],
    &["integrator"],
    &["render"],
];

/// Folders and files in which `unsafe` may stand.
const UNSAFE_ROOMS: &[&str] = &[
    "ssl-compiler/src/jit",
    "ssl-compiler/src/runtime",
    "ssl-compiler/src/backend",
    "kernels/src/buffer",
    "kernels/src/kernel",
    "kernels/src/launch/sort.rs",
    "kernels/src/sums/lanes.rs",
    "kernels/tests/allocations.rs",
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
    let crates = ["ssl-compiler", "kernels", "renderer", "tests", "benches", "xtask"];
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

/// The modules of the crate that a file names: `crate::x`, `{x, y}` behind `crate::`, and the same behind as many
/// `super::` as lead from the file to the crate.
fn uses(path: &str, code: &str) -> Vec<String> {
    let depth = path.trim_end_matches("/mod.rs").split('/').count();
    let up = "super::".repeat(depth);
    let mut found = Vec::new();
    for prefix in ["crate::", &up] {
        for (at, _) in code.match_indices(prefix) {
            if !code[..at].ends_with(['$', ':']) {
                found.extend(named(&code[at + prefix.len()..]));
            }
        }
    }
    found
}

/// Whether a file as a whole is for tests: the line that declares it says so, and so does its name.
fn is_for_tests(path: &str) -> bool {
    path.ends_with("tests.rs")
}

/// The first words of a path, or of the paths in a list.
fn named(rest: &str) -> Vec<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut found, mut depth, mut start) = (Vec::new(), 0, true);
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
    found
}

/// What modules of a crate use from above themselves.
fn uses_from_above(sources: &str, layers: Layers) -> Vec<String> {
    let rank = |module: &str| layers.iter().position(|row| row.contains(&module));
    let mut wrong = Vec::new();
    for (path, text) in self::sources() {
        let Some(inside) = path.strip_prefix(sources) else { continue };
        let module = inside.split('/').next().unwrap_or("").trim_end_matches(".rs");
        // Programs are crates of their own.
        if module == "lib" || module == "bin" || is_for_tests(inside) {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("`{module}` has no place in the order of modules"));
        for used in uses(inside, &without_tests(&code(&text))) {
            if rank(&used).is_some_and(|other| other > own) {
                wrong.push(format!("{path} uses crate::{used}"));
            }
        }
    }
    wrong
}

#[test]
fn modules_use_only_those_below() {
    for (sources, layers) in [("ssl-compiler/src/", COMPILER), ("kernels/src/", KERNELS), ("renderer/src/", RENDERER)] {
        let wrong = uses_from_above(sources, layers);
        assert!(wrong.is_empty(), "these modules use what is above them:\n{}", wrong.join("\n"));
    }
}

#[test]
fn only_materials_know_the_compiler() {
    // What compiled code hands out, lobes and texture requests, is for all; so are places and messages.
    let rooms = ["material", "scene", "bin", "lib"];
    let wrong: Vec<String> = sources()
        .into_iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("renderer/src/")?.to_owned(), text)))
        .filter(|(path, _)| !rooms.contains(&path.split(['/', '.']).next().unwrap_or("")) && !is_for_tests(path))
        .filter(|(_, text)| {
            let code = without_tests(&code(text));
            let named = code.match_indices("ssl_compiler::").flat_map(|(at, m)| named(&code[at + m.len()..]));
            let shared = ["runtime", "closure_type", "shader_globals", "types", "diagnostics", "source", "input"];
            named.into_iter().any(|n| !shared.contains(&n.as_str()))
        })
        .map(|(path, _)| path)
        .collect();
    assert!(wrong.is_empty(), "these know the compiler:\n{}", wrong.join("\n"));
}

#[test]
fn back_ends_know_nothing_of_each_other_or_of_derivatives() {
    for (path, text) in sources() {
        let Some(inside) = path.strip_prefix("ssl-compiler/src/backend/") else { continue };
        let code = without_tests(&code(&text));
        let used = uses(inside, &code);
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
    for (path, text) in sources().iter().filter(|(p, _)| p.starts_with("ssl-compiler")) {
        assert!(!code(text).contains("renderer::"), "{path}");
    }
}

#[test]
fn every_file_opens_with_its_promise() {
    let without: Vec<String> = sources().into_iter().filter(|(_, t)| !t.starts_with("//! ")).map(|(p, _)| p).collect();
    assert!(without.is_empty(), "these files do not open with `//!`:\n{}", without.join("\n"));
}

#[test]
fn unsafe_stands_in_its_rooms_only() {
    let word = |code: &str| code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe");
    let allowed = |path: &str| UNSAFE_ROOMS.iter().any(|room| path.starts_with(room));
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
fn no_test_is_skipped_without_being_counted() {
    let ignored = |text: &str| code(text).lines().any(|l| l.trim_start().starts_with("#[ignore"));
    // `ssl_tests::skip` says this for all of them.
    let own_words = |path: &str, text: &str| {
        let is_test = path.starts_with("tests/tests") || path.starts_with("renderer/tests");
        is_test && path != "tests/tests/structure.rs" && text.contains("\"skipped")
    };
    let skipped = sources().into_iter().filter(|(p, t)| ignored(t) || own_words(p, t));
    let skipped: Vec<String> = skipped.map(|(p, _)| p).collect();
    assert!(skipped.is_empty(), "{}", skipped.join("\n"));
}
