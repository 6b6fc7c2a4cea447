//! Files that import each other: where they are found, what of them is visible, what is refused; and the
//! part of the library that needs no import.

use ssl_compiler::builtins::library;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::modules::{Confined, Disk, Files, SearchPath};
use ssl_compiler::source::{FileId, SourceMap};
use ssl_compiler::{Checked, CompileOptions, check, compile_checked};
use ssl_tests::{Host, WAYS, messages, run_with_default_fuel};
use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Files in memory. What begins with `link:` leads to another one.
struct Memory(HashMap<PathBuf, Vec<u8>>);

impl Memory {
    fn new(files: &[(&str, &str)]) -> Memory {
        Memory(files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect())
    }
}

impl Files for Memory {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        let bytes = self.0.get(&plain)?;
        match std::str::from_utf8(bytes).ok().and_then(|t| t.strip_prefix("link:")) {
            Some(target) => Some(PathBuf::from(target)),
            None => Some(plain),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = self.identity(path).and_then(|id| self.0.get(&id).cloned());
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "nothing there"))
    }
}

struct Outcome {
    sources: SourceMap,
    file: FileId,
    checked: Checked,
    diagnostics: Diagnostics,
}

fn check_with(files: &dyn Files, folders: &[&str], root: &str, text: &str) -> Outcome {
    let host = Host::default();
    let search = SearchPath { files, folders: folders.iter().map(PathBuf::from).collect(), library: &[] };
    let options = CompileOptions { imports: &search, ..host.options(WAYS[1]) };
    let mut sources = SourceMap::new();
    let file = sources.add_file(Path::new(root), text);
    let (checked, diagnostics) = check(&mut sources, file, &options);
    Outcome { sources, file, checked, diagnostics }
}

fn check_memory(files: &[(&str, &str)], text: &str) -> Outcome {
    check_with(&Memory::new(files), &[], "main.ssl", text)
}

impl Outcome {
    /// The first output of the only shader.
    fn value(&self) -> f32 {
        assert!(!self.diagnostics.has_errors(), "{}", self.text());
        let host = Host::default();
        let compiled = compile_checked(&self.checked, self.file, None, &host.options(WAYS[2]));
        let (shader, _) = compiled.unwrap_or_else(|d| panic!("{}", messages(&d)));
        run_with_default_fuel(&shader, &[]).floats()[0]
    }

    fn text(&self) -> String {
        render::text(&self.diagnostics, &self.sources, false)
    }

    /// The only error: its code and all that is said.
    fn error(&self) -> (&'static str, String) {
        assert_eq!(self.diagnostics.list.len(), 1, "{}", self.text());
        (self.diagnostics.list[0].code.id, self.text())
    }
}

#[track_caller]
fn gives(files: &[(&str, &str)], text: &str, expected: f32) {
    assert_eq!(check_memory(files, text).value(), expected);
}

#[track_caller]
fn refuses(files: &[(&str, &str)], text: &str, code: &str, said: &[&str]) {
    let (found, text) = check_memory(files, text).error();
    assert_eq!(found, code, "{text}");
    said.iter().for_each(|s| assert!(text.contains(s), "`{s}` is not said:\n{text}"));
}

const LIB: &str = "
    struct Pair { float a; float b; };
    const float two = 2.0;
    float _twice(float x) { return two * x; }
    float sum(Pair p) { return _twice(p.a) + p.b; }
";

// rule: modules.import accept
#[test]
fn a_plain_import_makes_declarations_visible() {
    let main = "import \"lib.ssl\"; shader s(out float o) { Pair p = {1.0, 3.0}; o = sum(p) * two; }";
    gives(&[("lib.ssl", LIB)], main, 10.0);
    // Anywhere in the file, and through another file.
    let main = "shader s(out float o) { o = sum(Pair(1.0, 3.0)); } import \"other.ssl\";";
    gives(&[("lib.ssl", LIB), ("other.ssl", "import \"lib.ssl\";")], main, 5.0);
}

// rule: modules.named accept
#[test]
fn an_alias_stands_before_the_names() {
    let main = "import \"lib.ssl\" as l;
        float sum(float x) { return 100.0 * x; }
        shader s(out float o) {
            l::Pair p = {1.0, 3.0};
            l::Pair q = l::Pair(1.0, 2.0);
            const float c = (float)l::two + l::sum(q);
            o = l::sum(p) * c + (true ? l::two : 0.0) + sum(1.0);
        }";
    gives(&[("lib.ssl", LIB)], main, 5.0 * 6.0 + 2.0 + 100.0);
    let main = "import \"lib.ssl\" as l; shader s(out float o) { o = two; }";
    refuses(&[("lib.ssl", LIB)], main, "E0201", &["two"]);
    let main = "import \"lib.ssl\" as l; shader s(out float o) { o = l::tow; }";
    refuses(&[("lib.ssl", LIB)], main, "E0201", &["did you mean `l::two`?"]);
    let main = "import \"lib.ssl\" as l; shader s(out float o) { o = l::smu(l::Pair(1, 2)); }";
    refuses(&[("lib.ssl", LIB)], main, "E0202", &["did you mean `l::sum`?"]);
    let main = "import \"lib.ssl\" as lib; shader s(out float o) { o = lob::two; }";
    refuses(&[("lib.ssl", LIB)], main, "E0201", &["nothing is imported as `lob`; did you mean `lib`?"]);
    let main = "import \"lib.ssl\" as l; shader s(out float o) { l::Piar p; o = 0.0; }";
    refuses(&[("lib.ssl", LIB)], main, "E0209", &["did you mean `l::Pair`?"]);
    let main = "shader s(out float o) { o = l::two; }";
    refuses(&[], main, "E0201", &["nothing is imported as `l`", "as l;"]);
    // What a file imports under a name is its own affair.
    let main = "import \"mid.ssl\"; shader s(out float o) { o = l::two; }";
    refuses(&[("lib.ssl", LIB), ("mid.ssl", "import \"lib.ssl\" as l;")], main, "E0201", &["nothing is imported"]);
}

// rule: modules.named reject
#[test]
fn interfaces_and_generic_functions_are_imported() {
    let library = "
        interface IShape { float area(); float twice() { return 2.0 * area() + offset(); } }
        float offset() { return 1.0; }
        T square<T : IFloat>(T x) { return x * x; }
        float total<S : IShape>(S shape) { return shape.twice() + square(3.0); }
        struct Unit : IShape { float area() { return 1.0; } }
    ";
    let files = [("shapes.ssl", library)];
    // The names of a default's body are those of its own file.
    let plain = "import \"shapes.ssl\";
        struct Box : IShape { float a; float area() { return a * offset(2.0); } }
        float offset(float x) { return x; }
        shader main(out float r) { r = total(Box(5.0)) + square<float>(2.0) + total(Unit()); }";
    gives(&files, plain, 21.0 + 9.0 + 4.0 + 3.0 + 9.0);
    let named = "import \"shapes.ssl\" as s;
        struct Box : s::IShape { float a; float area() { return a; } }
        float area<B : s::IShape & IDifferentiable>(B b) { return b.area() + s::square<float>(2.0); }
        shader main(out float r) { r = s::total(Box(5.0)) + area(Box(1.0)); }";
    gives(&files, named, 20.0 + 5.0);
    refuses(&files, "import \"shapes.ssl\" as s; struct Box : IShape { } shader main() {}", "E0209", &["IShape"]);
    let twice = [("shapes.ssl", library), ("others.ssl", "interface IShape { float volume(); }")];
    let both = "import \"shapes.ssl\"; import \"others.ssl\"; shader main(out float r) { r = offset(); }";
    refuses(&twice, both, "E0704", &["IShape"]);
}

#[test]
fn an_alias_belongs_to_one_file() {
    let main = "import \"a.ssl\" as x; import \"b.ssl\" as x; shader s(out float o) { o = 1.0; }";
    refuses(&[("a.ssl", ""), ("b.ssl", "")], main, "E0208", &["the name `x` is declared twice", "the first one"]);
    let main = "shader s(out float o) { float l::x = 1.0; o = 1.0; }";
    refuses(&[], main, "E0104", &["cannot be declared"]);
}

// rule: modules.scope reject
#[test]
fn names_with_an_underscore_stay_in_their_file() {
    let main = "import \"lib.ssl\"; shader s(out float o) { o = _twice(1.0); }";
    refuses(&[("lib.ssl", LIB)], main, "E0202", &["belongs to another file"]);
    // So another file may have one of its own.
    let main = "import \"lib.ssl\";
        float _twice(float x) { return 7.0 * x; }
        shader s(out float o) { o = _twice(1.0) + sum(Pair(1.0, 3.0)); }";
    gives(&[("lib.ssl", LIB)], main, 12.0);
}

// rule: modules.scope accept
#[test]
fn what_a_file_means_does_not_depend_on_who_imports_it() {
    let lib = "float f(float x) { return sin(x); } float g() { return f(0.0) + fract(0.25); }";
    let main = "import \"lib.ssl\" as lib;
        float sin(float x) { return 50.0; }
        float f(float x) { return 60.0; }
        float fract(float x) { return 70.0; }
        shader s(out float o) { o = lib::g(); }";
    gives(&[("lib.ssl", lib)], main, 0.25);
    // Nor can it use what only the importing file has.
    let main = "import \"lib.ssl\"; const float here = 1.0; shader s(out float o) { o = f(); }";
    let (code, text) = check_memory(&[("lib.ssl", "float f() { return here; }")], main).error();
    assert!(code == "E0201" && text.contains("lib.ssl:1"), "{text}");
}

// rule: modules.once accept
#[test]
fn a_file_is_loaded_once() {
    let files = [
        ("lib.ssl", LIB),
        ("link.ssl", "link:lib.ssl"),
        ("sub/a.ssl", "import \"../lib.ssl\"; float a(Pair p) { return sum(p); }"),
    ];
    let main = "import \"lib.ssl\"; import \"./lib.ssl\"; import \"sub/../lib.ssl\"; import \"link.ssl\";
        import \"sub/a.ssl\"; import \"lib.ssl\" as l;
        shader s(out float o) { l::Pair p = Pair(1.0, 3.0); o = a(p) + sum(p); }";
    let outcome = check_memory(&files, main);
    assert_eq!(outcome.value(), 10.0);
    assert_eq!(outcome.sources.files().len(), 3);
}

// rule: modules.search accept
#[test]
fn places_are_searched_in_order() {
    let one = |n: &str| format!("float f() {{ return {n}; }}");
    let files = [("dir/x.ssl", one("1.0")), ("inc/x.ssl", one("2.0")), ("inc2/x.ssl", one("3.0"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let main = "import \"x.ssl\"; shader s(out float o) { o = f(); }";
    let value = |files: &[(&str, &str)], folders: &[&str]| {
        check_with(&Memory::new(files), folders, "dir/main.ssl", main).value()
    };
    assert_eq!(value(&files, &["inc", "inc2"]), 1.0);
    assert_eq!(value(&files[1..], &["inc", "inc2"]), 2.0);
    assert_eq!(value(&files[1..], &["inc2", "inc"]), 3.0);
    // An imported file's imports are looked for beside that file first.
    let files = [("lib/a.ssl", "import \"b.ssl\";"), ("lib/b.ssl", "const float b = 4.0;"), ("b.ssl", "")];
    gives(&files, "import \"lib/a.ssl\"; shader s(out float o) { o = b; }", 4.0);
    // The library comes last, by either name.
    for name in ["color.ssl", "std/color.ssl"] {
        let main = format!("import \"{name}\" as c; shader s(out float o) {{ o = c::rgb_to_hsv(color(0.5)).z; }}");
        gives(&[], &main, 0.5);
        let mine = "color rgb_to_hsv(color c) { return color(9.0); }";
        gives(&[(name, mine)], &main, 9.0);
    }
}

// rule: modules.search reject; modules.import reject
#[test]
fn what_cannot_be_found_or_read_is_said() {
    let main = "import \"no.ssl\"; shader s(out float o) { o = 1.0; }";
    let outcome = check_with(&Memory::new(&[]), &["inc"], "dir/main.ssl", main);
    let (code, text) = outcome.error();
    assert_eq!(code, "E0701");
    assert!(text.contains("`dir`, `inc`, the standard library"), "{text}");
    refuses(&[], "import \"\"; shader s(out float o) { o = 1.0; }", "E0701", &["between the quotes"]);
    let files = Memory([(PathBuf::from("bad.ssl"), b"float x\xff".to_vec())].into());
    let outcome = check_with(&files, &[], "main.ssl", "import \"bad.ssl\"; shader s(out float o) { o = 1.0; }");
    let (code, text) = outcome.error();
    assert!(code == "E0702" && text.contains("not UTF-8") && text.contains("byte 7"), "{text}");
}

// rule: modules.files reject
#[test]
fn what_is_no_shader_file_is_neither_read_nor_shown() {
    let secret = "root:x:0:0:root";
    for name in ["passwd", "../etc/passwd", "notes.txt", "shaders", ".", "ssl"] {
        let main = format!("import \"{name}\"; shader s(out float o) {{ o = 1.0; }}");
        let (code, text) = check_with(&Memory::new(&[(name, secret)]), &[], "main.ssl", &main).error();
        assert_eq!(code, "E0702");
        assert!(text.contains(&format!("`{name}` is not a shader file")) && text.contains("`.ssl`"), "{text}");
        assert!(!text.contains("root"), "{text}");
        // Whether the file is there is not told either.
        let nothing = check_with(&Memory::new(&[]), &[], "main.ssl", &main).error();
        assert_eq!((code, text), nothing);
    }
}

// rule: modules.files reject
#[test]
fn a_host_confines_imports_to_its_folders() {
    let files =
        [("app/lib/a.ssl", "const float a = 2.0;"), ("other/b.ssl", "secret"), ("app/out.ssl", "link:other/b.ssl")];
    let confined = || Confined::new(Memory::new(&files), ["app", "nowhere"]);
    let at = |import: &str| {
        let main = format!("import \"{import}\"; shader s(out float o) {{ o = a; }}");
        check_with(&confined(), &["other"], "app/main.ssl", &main)
    };
    assert_eq!(at("lib/a.ssl").value(), 2.0);
    assert_eq!(at("../app/lib/../lib/a.ssl").value(), 2.0);
    for outside in ["../other/b.ssl", "b.ssl", "out.ssl", "lib/../../other/b.ssl", "no.ssl"] {
        let text = at(outside).text();
        assert!(text.contains("E0701") && !text.contains("secret"), "{text}");
    }
    assert!(confined().read(Path::new("app/lib/a.ssl")).is_ok());
    let refused = confined().read(Path::new("other/b.ssl")).expect_err("it lies outside");
    assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    // A file whose name begins with a folder's name is not in it.
    assert!(Confined::new(Memory::new(&[("apples.ssl", "")]), ["app"]).read(Path::new("apples.ssl")).is_err());
}

#[cfg(unix)]
#[test]
fn links_and_dots_do_not_lead_out_of_a_folder_on_disk() {
    let root = std::env::temp_dir().join(format!("ssl-confined-{}", std::process::id()));
    let (inside, outside) = (root.join("inside"), root.join("outside.ssl"));
    std::fs::create_dir_all(&inside).expect("the temporary folder can be written");
    std::fs::write(&outside, "secret").expect("as above");
    std::fs::write(inside.join("a.ssl"), "const float a = 2.0;").expect("as above");
    std::os::unix::fs::symlink(&outside, inside.join("link.ssl")).expect("as above");
    let confined = Confined::new(Disk, [&inside]);
    assert!(confined.identity(&inside.join("a.ssl")).is_some());
    for path in [inside.join("link.ssl"), inside.join("../outside.ssl"), outside] {
        assert!(confined.identity(&path).is_none() && confined.read(&path).is_err(), "{}", path.display());
    }
    std::fs::remove_dir_all(&root).expect("as above");
}

// rule: modules.once reject
#[test]
fn circles_are_shown_whole() {
    let files = [("b.ssl", "import \"c.ssl\";\n"), ("c.ssl", "import \"main.ssl\" as m;\n"), ("main.ssl", "")];
    let main = "import \"b.ssl\"; shader s(out float o) { o = 1.0; }";
    refuses(&files, main, "E0703", &["main.ssl → b.ssl → c.ssl → main.ssl", "main.ssl:1", "b.ssl:1", "c.ssl:1"]);
    let files = [("self.ssl", "import \"self.ssl\";")];
    refuses(&files, "import \"self.ssl\"; shader s(out float o) { o = 1.0; }", "E0703", &["self.ssl → self.ssl"]);
    // Two ways to one file are no circle.
    let files = [("a.ssl", "import \"c.ssl\";"), ("b.ssl", "import \"c.ssl\";"), ("c.ssl", "const float c = 2.0;")];
    gives(&files, "import \"a.ssl\"; import \"b.ssl\"; shader s(out float o) { o = c; }", 2.0);
}

// rule: modules.clash accept reject
#[test]
fn clashes_show_both_places() {
    let main = "import \"a.ssl\"; import \"b.ssl\"; shader s(out float o) { o = 1.0; }";
    for (a, b) in [
        ("float f(float x) { return x; }", "float f(float y) { return y; }"),
        ("struct f { float x; };", "struct f { float x; };"),
        ("const float f = 1.0;", "const float f = 1.0;"),
    ] {
        let said = ["another `f`", "a.ssl:1", "b.ssl:1", "import one of the files under a name"];
        refuses(&[("a.ssl", a), ("b.ssl", b)], main, "E0704", &said);
        // With the importing file itself.
        let main = format!("import \"a.ssl\"; {b} shader s(out float o) {{ o = 1.0; }}");
        refuses(&[("a.ssl", a)], &main, "E0208", &["twice", "a.ssl:1", "main.ssl:1", "under a name"]);
        // Under a name there is none.
        let main = "import \"a.ssl\"; import \"b.ssl\" as b; shader s(out float o) { o = 1.0; }";
        gives(&[("a.ssl", a), ("b.ssl", b)], main, 1.0);
    }
    // Overloads from several files stand side by side.
    let files = [("a.ssl", "float f(int x) { return 1.0; }"), ("b.ssl", "float f(float3 x) { return 2.0; }")];
    gives(&files, "import \"a.ssl\"; import \"b.ssl\"; shader s(out float o) { o = f(1) + f(float3(1.0)); }", 3.0);
    let files = [("a.ssl", "texture2d t;"), ("b.ssl", "texture2d t;")];
    refuses(&files, main, "E0704", &["two files have a texture `t`", "a.ssl:1", "b.ssl:1"]);
}

// rule: modules.textures accept
#[test]
fn textures_are_bound_by_the_names_that_lead_to_them() {
    let lib = "texture2d wood; color grain(float u, float v) { return texture2d_sample<wood>(u, v); }";
    let main = "import \"lib.ssl\" as l; texture2d wood;
        shader s(out color o) { o = l::grain(0.1, 0.2) + texture2d_sample<wood>(0.0, 0.0)
            + texture2d_sample<l::wood>(0.1, 0.2); }";
    let outcome = check_memory(&[("lib.ssl", lib)], main);
    assert!(!outcome.diagnostics.has_errors(), "{}", outcome.text());
    assert_eq!(outcome.checked.program.textures, ["l::wood", "wood"]);
}

// rule: modules.imported accept
#[test]
fn only_the_files_own_shaders_and_tests_count() {
    let lib = "globals { float depth; } shader lib_main(out float o) { o = 8.0; } test \"t\" { run lib_main(); }";
    let main = "import \"lib.ssl\"; shader s(out float o) { o = global_value<depth>; }";
    let outcome = check_memory(&[("lib.ssl", lib)], main);
    let shaders: Vec<&str> = outcome.checked.program.shaders().map(|(_, f)| f.name.as_str()).collect();
    assert!(!outcome.diagnostics.has_errors() && shaders == ["s"] && outcome.checked.tests.is_empty());
    assert!(outcome.checked.layout.find("depth").is_some());
    // Another file's shader can be called.
    let main = "import \"lib.ssl\" as l; shader s(out float o) { float x; l::lib_main(o = x); o = x; }";
    gives(&[("lib.ssl", lib)], main, 8.0);
}

#[test]
fn a_body_belongs_into_the_file_of_its_prototype() {
    let main = "import \"a.ssl\"; float f(float x) { return x; } shader s(out float o) { o = f(1.0); }";
    refuses(&[("a.ssl", "float f(float x);")], main, "E0208", &["a.ssl:1"]);
    // To repeat a head does no harm.
    let main = "import \"a.ssl\"; float f(float x); shader s(out float o) { o = f(1.0); }";
    gives(&[("a.ssl", "float f(float x) { return 3.0; }")], main, 3.0);
}

#[test]
fn the_library_costs_nothing_unless_it_is_called() {
    let plain = check_memory(&[], "shader s(out float o) { o = sin(0.0); }");
    assert_eq!((plain.value(), plain.sources.files().len()), (0.0, 1));
    let main = "shader s(out float o) { o = rgb_to_hsv(color(0.0, 1.0, 0.0)).x; }";
    let used = check_memory(&[], main);
    assert_eq!((used.value(), used.sources.files().len()), (1.0 / 3.0, 2));
    // A function of the file's own comes first where it fits.
    let own = "float rgb_to_hsv(int x) { return 5.0; }
        shader s(out float o) { o = rgb_to_hsv(1) + rgb_to_hsv(color(0.25)).z; }";
    gives(&[], own, 5.25);
    refuses(&[], "shader s(out float o) { o = rgb_to_hvs(color(1.0)).x; }", "E0202", &["did you mean `rgb_to_hsv`?"]);
    refuses(&[], "shader s(out float o) { o = rgb_to_hsv(true).x; }", "E0203", &["color rgb_to_hsv(color)"]);
}

// rule: modules.library accept
#[test]
fn a_files_own_names_do_not_reach_into_the_library() {
    let main = "float fract(float3 x) { return 50.0; } float3 mix(float3 a, float3 b, float3 c) { return a; }
        shader s(out float o) { o = hsv_to_rgb(color(0.0, 1.0, 1.0)).y; }";
    gives(&[], main, 0.0);
}

#[test]
fn every_function_of_the_library_is_there_checked_and_documented() {
    for file in library::LIBRARY {
        if file.text.contains("make_closure<") {
            // For hosts that have these closures, as the renderer has; it is no built-in.
            assert!(file.functions.is_empty());
            continue;
        }
        // Hosts that shade surfaces have tangents.
        let text = format!("globals {{ vector tangent; vector bitangent; }}\n{}", file.text);
        let outcome = check_memory(&[], &text);
        assert!(outcome.diagnostics.is_empty(), "{}", outcome.text());
        for name in file.functions {
            let named = outcome.checked.program.functions.iter().filter(|f| f.name == *name);
            let heads: Vec<u32> = named.filter(|f| f.span.file == outcome.file).map(|f| f.span.start).collect();
            assert!(!heads.is_empty(), "std/{} has no `{name}`", file.name);
            // One text serves for all overloads.
            let above = |start: &u32| text[..*start as usize].lines().rev().nth(1);
            let documented = heads.iter().any(|start| above(start).is_some_and(|l| l.starts_with("///")));
            assert!(documented, "`{name}` is not documented");
            assert!(!name.starts_with('_'), "`{name}` is private");
            let all = library::LIBRARY.iter().filter(|f| f.functions.contains(name)).count();
            assert_eq!(all, 1, "`{name}` comes from two files");
        }
    }
}
