//! Rules of the source tree, as tests: who may import whom, where `unsafe` may stand, that files open
//! with their promise and stay of a readable length.

use ssl_tests::rust_source::{code, without_tests};
use ssl_tests::{files, folder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules bottom up: each may use those of earlier rows, and its own row.
type Layers = &'static [&'static [&'static str]];

const COMPILER: Layers = &[
    &["input", "private_folder"],
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

const KERNELS: Layers = &[&["buffer", "launch"], &["sums"], &["kernel"], &["graph", "optimise"], &["jobs"]];

const FORMATS: Layers = &[&["npy", "srgb", "text"], &["obj", "picture"]];

const RENDERER: Layers = &[
    &["caches", "math", "memory", "ray"],
    &["sampler"],
    // Groups of shapes hold structures over them, and those hold shapes.
    &["geometry", "accel"],
    &["fiber"],
    &["texture"],
    &["bsdf"],
    &["material"],
    &["light", "guide", "photon_map", "camera", "film"],
    &["scene"],
    &["integrator"],
    &["render"],
    &["inverse"],
];

/// Folders and files in which `unsafe` may stand.
const UNSAFE_ROOMS: &[&str] = &[
    "ssl-compiler/src/jit",
    "ssl-compiler/src/runtime",
    "ssl-compiler/src/backend",
    "kernels/src/buffer",
    "kernels/src/kernel",
    "kernels/src/launch/sort.rs",
    "kernels/src/sums/lanes",
    "kernels/tests/allocations.rs",
    "renderer/src/accel/bvh",
    "renderer/src/accel/embree",
    "renderer/src/bsdf/lobe.rs",
    "renderer/src/fiber",
    "renderer/src/film/denoise/oidn.rs",
    "renderer/src/math/lanes.rs",
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
    for (sources, layers) in [
        ("ssl-compiler/src/", COMPILER),
        ("kernels/formats/src/", FORMATS),
        ("kernels/src/", KERNELS),
        ("renderer/src/", RENDERER),
    ] {
        let wrong = uses_from_above(sources, layers);
        assert!(wrong.is_empty(), "these modules use what is above them:\n{}", wrong.join("\n"));
    }
}

/// A file within a folder of modules, as the names that lead there.
type Place = Vec<String>;

/// The paths behind `super::` or the folder's own name that a file names, `here` being where each begins.
fn named_paths(folder: &str, own: &Place, code: &str) -> Vec<(Place, Place)> {
    let mut found = Vec::new();
    let from_crate = format!("crate::{folder}::");
    for (at, prefix) in code.match_indices(&from_crate) {
        found.extend(use_tree(&code[at + prefix.len()..]).into_iter().map(|path| (Vec::new(), path)));
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let mut rest = &code[at..];
        let mut up = 0;
        while let Some(further) = rest.strip_prefix("super::") {
            (rest, up) = (further, up + 1);
        }
        if let Some(left) = own.len().checked_sub(up) {
            found.extend(use_tree(rest).into_iter().map(|path| (own[..left].to_vec(), path)));
        }
    }
    found
}

/// The paths of `a::b`, or of a tree such as `{a, b::{c, d}}`.
fn use_tree(rest: &str) -> Vec<Place> {
    let rest = rest.trim_start();
    if let Some(list) = rest.strip_prefix('{') {
        let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
        for (i, c) in list.char_indices() {
            match c {
                ',' | '}' if depth == 0 => {
                    found.extend(use_tree(&list[start..i]).into_iter().filter(|path| !path.is_empty()));
                    if c == '}' {
                        break;
                    }
                    start = i + 1;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
        return found;
    }
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if word.is_empty() {
        return vec![Vec::new()];
    }
    let tails = match rest[word.len()..].strip_prefix("::") {
        Some(rest) => use_tree(rest),
        None => vec![Vec::new()],
    };
    tails.into_iter().map(|tail| std::iter::once(word.clone()).chain(tail).collect()).collect()
}

/// What a file uses of those below itself, as `b::f()` in `a/mod.rs`; but for what it only hands on.
fn children_used(own: &Place, code: &str, files: &BTreeMap<Place, String>) -> Vec<Place> {
    let kept = code.split_inclusive(';').filter(|statement| !statement.contains("pub use "));
    let named = kept.flat_map(|statement| {
        let before = statement.match_indices("::").map(|(at, _)| &statement[..at]);
        before.filter_map(|before| {
            let word = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
            (!before[..word].ends_with(':')).then(|| own.iter().cloned().chain([before[word..].to_owned()]).collect())
        })
    });
    named.filter(|child: &Place| files.contains_key(child)).collect()
}

/// For each file of a folder of modules the others that it imports from, whether by their own names or by what a `mod.rs` hands
/// on.
fn imports_within(folder: &str) -> BTreeMap<Place, BTreeSet<Place>> {
    let mut texts = BTreeMap::new();
    for (path, text) in sources() {
        let inside = path.strip_prefix(&format!("renderer/src/{folder}/")).filter(|inside| !is_for_tests(inside));
        if let Some(inside) = inside {
            let place = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
            let place: Place = place.filter(|name| name != "mod").collect();
            texts.insert(place, without_tests(&code(&text)));
        }
    }
    let mut handed_on: BTreeMap<(Place, String), Place> = BTreeMap::new();
    for (place, text) in &texts {
        for line in text.split(';').filter_map(|s| s.trim_start().split_once("pub use ").map(|(_, rest)| rest)) {
            for path in use_tree(line) {
                let module: Place = place.iter().chain(path.first()).cloned().collect();
                if let (true, Some(name)) = (texts.contains_key(&module), path.last()) {
                    handed_on.insert((place.clone(), name.clone()), module);
                }
            }
        }
    }
    let resolved = |(mut at, path): (Place, Place)| {
        for name in path {
            let child: Place = at.iter().cloned().chain([name.clone()]).collect();
            at = match (texts.contains_key(&child), handed_on.get(&(at.clone(), name))) {
                (true, _) => child,
                (false, Some(module)) => return module.clone(),
                (false, None) => return at,
            };
        }
        at
    };
    let imports = texts.iter().map(|(own, text)| {
        let all = named_paths(folder, own, text).into_iter().map(resolved).chain(children_used(own, text, &texts));
        (own.clone(), all.filter(|other| other != own).collect())
    });
    imports.collect()
}

/// A way from file to file that ends where it began.
fn circle(imports: &BTreeMap<Place, BTreeSet<Place>>) -> Option<Vec<Place>> {
    fn visit(
        at: &Place,
        imports: &BTreeMap<Place, BTreeSet<Place>>,
        way: &mut Vec<Place>,
        done: &mut BTreeSet<Place>,
    ) -> Option<Vec<Place>> {
        if let Some(begin) = way.iter().position(|place| place == at) {
            return Some(way[begin..].iter().chain([at]).cloned().collect());
        }
        if done.contains(at) {
            return None;
        }
        way.push(at.clone());
        let found = imports.get(at).into_iter().flatten().find_map(|next| visit(next, imports, way, done));
        way.pop();
        done.insert(at.clone());
        found
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|place| visit(place, imports, &mut Vec::new(), &mut done))
}

/// Folders whose files lean on each other: groups hold shapes, and shapes are asked for surfaces, which know groups; the list of
/// lobes names all of them, and they name what is in the list; and Embree calls code that searches in Embree.
const IN_CIRCLES: [&str; 3] = ["accel", "bsdf", "geometry"];

/// Within other folders of the renderer, too, files can be read one after the other.
#[test]
fn files_of_the_renderer_import_in_no_circle() {
    let mut edges = 0;
    for folder in RENDERER.iter().flat_map(|row| row.iter()) {
        let imports = imports_within(folder);
        edges += imports.values().map(BTreeSet::len).sum::<usize>();
        let circle = circle(&imports).map(|way| way.iter().map(|p| p.join("/")).collect::<Vec<_>>().join(" → "));
        assert_eq!(circle.is_some(), IN_CIRCLES.contains(folder), "in renderer/src/{folder}: {circle:?}");
    }
    assert!(edges > 200, "only {edges} imports were seen");
}

#[test]
fn circles_are_found_however_they_are_written() {
    let place = |names: &str| names.split('/').map(str::to_owned).collect::<Place>();
    let paths = |own: &str, code: &str| {
        let all = named_paths("film", &place(own), code).into_iter();
        all.map(|(here, path)| [here, path].concat().join("/")).collect::<Vec<_>>()
    };
    assert_eq!(
        paths("a", "use super::b::{self, C, d::{E, F}}; super::g::h()"),
        ["b/self", "b/C", "b/d/E", "b/d/F", "g/h"]
    );
    assert_eq!(paths("a/b", "use super::super::c::D; use super::e;"), ["c/D", "a/e"]);
    assert_eq!(paths("a", "use crate::film::{x::Y, z}; use super::super::other;"), ["x/Y", "z"]);
    let imports = |all: &[(&str, &[&str])]| {
        all.iter().map(|(own, others)| (place(own), others.iter().map(|o| place(o)).collect())).collect()
    };
    assert_eq!(circle(&imports(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let found = circle(&imports(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])).expect("b and c import each other");
    assert_eq!(found, [place("b"), place("c"), place("b")]);
}

#[test]
fn only_materials_know_the_compiler() {
    // What compiled code hands out, lobes and texture requests, is for all; so are places and messages, and private folders.
    let rooms = ["material", "scene", "bin", "lib"];
    let wrong: Vec<String> = sources()
        .into_iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("renderer/src/")?.to_owned(), text)))
        .filter(|(path, _)| !rooms.contains(&path.split(['/', '.']).next().unwrap_or("")) && !is_for_tests(path))
        .filter(|(_, text)| {
            let code = without_tests(&code(text));
            let named = code.match_indices("ssl_compiler::").flat_map(|(at, m)| named(&code[at + m.len()..]));
            let shared = [
                "runtime",
                "closure_type",
                "shader_globals",
                "types",
                "diagnostics",
                "source",
                "input",
                "private_folder",
            ];
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

/// Files mean the same to scenes and to jobs, as neither is known where they are read.
#[test]
fn readers_of_files_know_nothing_of_their_users() {
    let manifest = read(&root().join("kernels/formats/Cargo.toml"));
    assert!(!manifest.contains("kernels.") && !manifest.contains("renderer."));
    for (path, text) in sources().iter().filter(|(p, _)| p.starts_with("kernels/formats")) {
        let code = code(text);
        let named = code.match_indices("ssl_compiler::").flat_map(|(at, m)| named(&code[at + m.len()..]));
        assert!(named.into_iter().all(|used| used == "input"), "{path}");
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

/// A file that no program names would be left out without a word.
#[test]
fn every_file_of_tests_is_named_by_a_program() {
    for name in ["kernels", "renderer", "tests"] {
        let (folder, manifest) = (root().join(name).join("tests"), read(&root().join(name).join("Cargo.toml")));
        let is_program = |path: &Path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            manifest.contains(&format!("path = \"tests/{file}\""))
        };
        let entries = std::fs::read_dir(&folder).expect("the folder is there").flatten().map(|entry| entry.path());
        let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
        let (programs, named): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|path| is_program(path));
        let programs: String = programs.iter().map(|path| read(path)).collect();
        for path in named {
            let module = path.file_stem().unwrap_or_default().to_string_lossy();
            let line = format!("mod {module};");
            assert!(programs.lines().any(|l| l == line), "no program of tests says `{line}`: {}", path.display());
        }
    }
}

#[test]
fn no_test_is_skipped_without_being_counted() {
    // `cargo xtask ci` runs all tests, also the long ones that are ignored elsewhere.
    const LONG: &str = "#[ignore = \"`cargo xtask ci` runs it in release\"]";
    let tasks = read(&root().join("xtask/src/ci.rs")) + &read(&root().join("xtask/src/shared_build.rs"));
    assert!(tasks.contains("shared_build::tests(true)") && tasks.contains("\"--run-ignored\", \"all\""));
    let ignored = |text: &str| {
        let all = code(text).lines().filter(|l| l.trim_start().starts_with("#[ignore")).count();
        all != text.lines().filter(|l| l.trim() == LONG).count()
    };
    // `ssl_tests::skip` says this for all of them.
    let own_words = |path: &str, text: &str| {
        let is_test = path.starts_with("tests/tests") || path.starts_with("renderer/tests");
        is_test && path != "tests/tests/structure.rs" && text.contains("\"skipped")
    };
    let skipped = sources().into_iter().filter(|(p, t)| ignored(t) || own_words(p, t));
    let skipped: Vec<String> = skipped.map(|(p, _)| p).collect();
    assert!(skipped.is_empty(), "{}", skipped.join("\n"));
}
