//! Diagnostics on files: the shader is the fixture.
//!
//! Below an offending line stands `//    ^^^^ E0201`: the carets mark where the span starts and ends
//! (the end of the line where it goes on below), the code says what is reported. `//@ E0301` marks a
//! span that starts where the `//` would be. Nothing else may be reported. `UPDATE_EXPECT=1` writes
//! the marks; read them.

use ssl_compiler::diagnostics::{Diagnostic, codes, examples, render};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::{SourceFile, SourceMap};
use ssl_compiler::testing::check_tests;
use ssl_compiler::{CompileOptions, check, compile_checked};
use ssl_tests::{Host, WAYS, files, folder, on_large_stack};
use std::collections::BTreeSet;
use std::path::Path;

/// Codes that no `.ssl` file brings about, each with the reason.
const UNREACHABLE: &[(&str, &str)] = &[
    ("E0001", "the file itself cannot be read"),
    ("E0307", "about what a host asks for; see tests/tests/gradients.rs"),
    ("E0901", "about graph files, which have tests of their own"),
    ("E0902", "about graph files, which have tests of their own"),
    ("E0903", "about graph files, which have tests of their own"),
    ("E0904", "about graph files, which have tests of their own"),
    ("E0905", "about graph files, which have tests of their own"),
    ("E0906", "about graph files, which have tests of their own"),
    ("E0907", "about graph files, which have tests of their own"),
    ("E0908", "about graph files, which have tests of their own"),
    ("E0909", "about graph files, which have tests of their own"),
    ("E0910", "about graph files, which have tests of their own"),
    ("E0911", "about graph files, which have tests of their own"),
    ("E0912", "about graph files, which have tests of their own"),
    ("E0913", "about graph files, which have tests of their own"),
    ("E0914", "about graph files, which have tests of their own"),
    ("W0901", "about graph files, which have tests of their own"),
    ("E0602", "a fault of the compiler, not of a file"),
    ("E0603", "a fault of the formatter, not of a file"),
];

/// What is reported, or marked: line, first and last column of the span on that line, code.
type Mark = (usize, usize, usize, String);

#[test]
fn files_are_reported_as_marked() {
    let mut wrong = String::new();
    let mut met = BTreeSet::new();
    on_large_stack(|| {
        for path in files(&folder("diagnostics"), &["ssl"]) {
            let text = std::fs::read_to_string(&path).expect("the file is readable");
            let (source, expected) = marks(&text);
            let (found, problems) = report(&path, &source);
            met.extend(found.iter().map(|m| m.3.clone()));
            wrong.push_str(&problems);
            if found == expected {
                continue;
            }
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(&path, with_marks(&source, &found)).expect("the file can be written");
                continue;
            }
            wrong.push_str(&format!("{}:\n", name(&path)));
            found
                .iter()
                .filter(|m| !expected.contains(m))
                .for_each(|m| wrong.push_str(&format!("  not expected: {m:?}\n")));
            expected
                .iter()
                .filter(|m| !found.contains(m))
                .for_each(|m| wrong.push_str(&format!("  not reported: {m:?}\n")));
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    for code in codes::ALL {
        let reason = UNREACHABLE.iter().find(|(id, _)| *id == code.id);
        assert!(
            met.contains(code.id) != reason.is_some(),
            "{} ({}) has no case, or is not out of reach",
            code.id,
            code.title
        );
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The marks of a text, and the text without them; lines are those without the marks.
fn marks(text: &str) -> (String, Vec<Mark>) {
    let (mut source, mut list, mut line) = (String::new(), Vec::new(), 0);
    for l in text.lines() {
        let trimmed = l.trim_start();
        let carets = trimmed.strip_prefix("//").map(str::trim_start).filter(|rest| rest.starts_with('^'));
        if let Some(code) = trimmed.strip_prefix("//@ ") {
            list.push((line, 1, 1, code.trim().to_owned()));
        } else if carets.is_some() {
            let columns: Vec<usize> = l.chars().enumerate().filter(|(_, c)| *c == '^').map(|(i, _)| i + 1).collect();
            let code = l.rsplit(' ').next().unwrap_or("").to_owned();
            list.push((line, columns[0], columns[columns.len() - 1], code));
        } else {
            line += 1;
            source.push_str(l);
            source.push('\n');
        }
    }
    list.sort();
    (source, list)
}

fn with_marks(source: &str, found: &[Mark]) -> String {
    let mut out = String::new();
    for (i, l) in source.lines().enumerate() {
        out.push_str(&format!("{l}\n"));
        for (_, start, end, code) in found.iter().filter(|m| m.0 == i + 1) {
            if *start < 3 {
                out.push_str(&format!("//@ {code}\n"));
            } else {
                out.push_str(&format!("//{}{} {code}\n", " ".repeat(start - 3), "^".repeat(end - start + 1)));
            }
        }
    }
    out
}

/// All that is said about a file and, where it has no errors, about each of its shaders; and what is
/// wrong with the diagnostics themselves.
fn report(path: &Path, source: &str) -> (Vec<Mark>, String) {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add_file(path, source);
    let imports = SearchPath::on_disk(Vec::new());
    let options = CompileOptions { imports: &imports, ..host.options(WAYS[1]) };
    let (checked, diagnostics) = check(&mut sources, file, &options);
    let mut all = diagnostics.list.clone();
    if !diagnostics.has_errors() {
        all.extend(check_tests(&checked, &sources).list);
        let shaders: Vec<String> = checked.program.shaders().map(|(_, f)| f.name.clone()).collect();
        let entries: Vec<Option<&str>> =
            if shaders.is_empty() { vec![None] } else { shaders.iter().map(|s| Some(s.as_str())).collect() };
        for entry in entries {
            let (Ok((_, d)) | Err(d)) = compile_checked(&checked, file, entry, &options);
            // Several shaders may run the same code.
            let known = |d: &Diagnostic| all.iter().any(|k: &Diagnostic| (k.code.id, k.span) == (d.code.id, d.span));
            let new: Vec<Diagnostic> =
                d.list.into_iter().filter(|d| !d.code.id.starts_with('W') || !known(d)).collect();
            all.extend(new);
        }
    }
    let text = sources.get(file);
    let mut list: Vec<Mark> = all.iter().map(|d| mark(d, text)).collect();
    list.sort();
    (list, all.iter().filter_map(|d| complaint(d, &sources)).collect())
}

fn mark(d: &Diagnostic, file: &SourceFile) -> Mark {
    let span = d.span.expect("what is said about a file has a place in it");
    let (line, start) = file.line_column(span.start);
    let (end_line, end) = file.line_column(span.end);
    let end = if end_line > line { file.line(line).trim_end().chars().count() } else { (end - 1).max(start) };
    if start < 3 { (line, 1, 1, d.code.id.to_owned()) } else { (line, start, end, d.code.id.to_owned()) }
}

/// What every diagnostic must have, whatever it is about.
fn complaint(d: &Diagnostic, sources: &SourceMap) -> Option<String> {
    let said = format!("{} {}", d.message, d.hint).to_lowercase();
    let wrong = if d.hint.trim().is_empty() {
        "has no hint"
    } else if d.message.trim().is_empty() {
        "has no message"
    } else if ["hir", "ssa", "token %", "leaf", "unwrap", "vardecl"]
        .iter()
        .any(|w| said.split_whitespace().any(|s| s == *w))
    {
        "speaks of the compiler's insides"
    } else if d.is_error() != d.code.id.starts_with('E') {
        "has a severity that its code does not say"
    } else if !render::text(&d.clone().into(), sources, false).contains(d.code.id) {
        "is not rendered with its code"
    } else {
        return None;
    };
    Some(format!("{} `{}` {wrong}\n", d.code.id, d.message))
}

#[test]
fn every_code_explains_itself_and_is_unique() {
    let mut ids = BTreeSet::new();
    for code in codes::ALL {
        assert!(ids.insert(code.id), "{} stands there twice", code.id);
        assert!(code.explanation.len() > 40 && !code.title.is_empty(), "{}", code.id);
        assert_eq!(codes::find(&code.id.to_lowercase()).map(|c| c.id), Some(code.id));
    }
}

/// Codes whose pages have no example, each with the reason.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("E0602", "a fault of the compiler, which no known file brings about"),
    ("E0603", "a fault of the formatter, which no known file brings about"),
];

#[test]
fn every_page_has_an_example_that_does_what_it_says() {
    let mut wrong = String::new();
    on_large_stack(|| {
        for code in codes::ALL {
            let example = examples::find(examples::TEXT, code.id);
            let excused = WITHOUT_EXAMPLE.iter().any(|(id, _)| code.id == *id);
            let Some(example) = example else {
                if !excused {
                    wrong.push_str(&format!("{} has no example\n", code.id));
                }
                continue;
            };
            if example.language != "c" {
                continue;
            }
            let ids = |source: &str| -> BTreeSet<String> {
                let found = report(Path::new("example.ssl"), &format!("{source}\n")).0;
                // A library has no shader, and needs none.
                found.into_iter().map(|m| m.3).filter(|id| code.id == "E0301" || id != "E0301").collect()
            };
            let (first, second) = (ids(example.wrong), ids(example.right));
            if !first.iter().eq([code.id]) || !second.is_empty() {
                wrong.push_str(&format!("{}: wrong gives {first:?}, right gives {second:?}\n", code.id));
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// The findings of a text.
fn findings(source: &str) -> Vec<Diagnostic> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source.to_owned());
    let (_, diagnostics) = check(&mut sources, file, &host.options(WAYS[1]));
    diagnostics.list
}

#[test]
fn what_can_be_fixed_is_gone_after_the_fix() {
    let mut fixed = 0;
    on_large_stack(|| {
        for path in files(&folder("diagnostics"), &["ssl"]) {
            let source = marks(&std::fs::read_to_string(&path).expect("the file is readable")).0;
            // Imports are found beside the file only.
            if source.contains("import \"") {
                continue;
            }
            let before = findings(&source);
            let count = |list: &[Diagnostic], code: &str| list.iter().filter(|d| d.code.id == code).count();
            for d in &before {
                for fix in &d.fixes {
                    let mut text = source.clone();
                    text.replace_range(fix.span.range(), &fix.text);
                    let after = findings(&text);
                    let gone = !after.iter().any(|a| a.span == d.span && a.message == d.message);
                    assert!(
                        gone && count(&after, d.code.id) <= count(&before, d.code.id),
                        "{}: {}",
                        name(&path),
                        d.message
                    );
                    fixed += 1;
                }
            }
        }
    });
    assert!(fixed > 40, "only {fixed} fixes were tried");
}

#[test]
fn a_call_that_fits_nothing_lists_why_nearest_first() {
    let found = findings(
        "float f(float x) { return x; }\nfloat f(float3 x, float y) { return x.x * y; }\nfloat g(float4 q) { return f(q, 1.0); }\n",
    );
    let notes: Vec<&str> = found[0].notes.iter().map(|n| n.text.as_str()).collect();
    assert_eq!(
        notes,
        ["`float f(float3, float)`: `x` is float3, found float4", "`float f(float)`: it takes 1 argument, 2 given"]
    );
    assert!(found[0].notes.iter().all(|n| n.span.is_some()));
}

/// Sources, each with its only finding: a part of the message, and a part of the hint.
const SAID: &[(&str, &str, &str)] = &[
    ("uniform float k; shader s(out float o) { o = k; }", "no `uniform`", "`shader main(float amount = 1.0, …)`"),
    ("texture2d map : register(t0);", "no semantics", "by names"),
    ("kernel k(out buffer<int> o, int id : SV_DispatchThreadID) { o = id; }", "no semantics", "`index.x`"),
    (
        "interface I<T> { T f(); } struct S : I<float> { float f() { return 1.0; } }",
        "no type parameters",
        "`associatedtype",
    ),
    ("struct A { float x; }; struct B : public A { float y; };", "do not inherit", "`A base;`"),
    (
        "T f<T>(T x) where T : IFloat { return x * x; } shader s(out float o) { o = f(2.0); }",
        "no `where`",
        "<T : IFloat>",
    ),
    ("float[3] f(float x) { float r[3]; return r; }", "does not return an array", "out float result[3]"),
    (
        "func f(x : float) -> float { return x; } shader s(out float o) { o = f(1.0); }",
        "no `func`",
        "`float f(float x)",
    ),
    ("shader s(out float o) { float[3] a = {1.0, 2.0}; o = a[0]; }", "behind its name", "`float a[3]`"),
    ("struct A { float x; }; shader s(out float o) { A a(1.0); o = a.x; }", "by `=`", "`A a = A(…);`"),
    ("struct A { B b; }; struct B { A a; };", "`A` holds itself: A → B → A", "no end"),
    ("struct A { float x; A a; };", "`A` holds itself", "no end"),
    ("struct A { B b; }; struct B { float x; };", "`B` is declared only further down", "move its declaration"),
    ("shader s(out float o) { o = f(1.0); }", "no function `f`", "anywhere in the file"),
    ("float f<T : INone>(T x) { return x.area(); }", "no interface `INone`", "declare it above"),
    (
        "float f(float x, float y) { return x * y; } shader s(out float o) { DifferentialPair<float> p = diffPair(1.0); \
      bwd_diff(f)(p, 2.0, 1.0); o = p.d; }",
        "does not take",
        "`DifferentialPair<float> y = diffPair(…);`",
    ),
    (
        "float f(float x) { return x; } shader s(out float o) { DifferentialPair<float> p = diffPair(1.0); \
      o = bwd_diff(f)(p, 1.0); }",
        "found void",
        "read `p.d`",
    ),
    (
        "float f(float x) { return x; } shader s(out float o) { o = fwd_diff(f)(diffPair(1.0)).getDifferential(); }",
        "no method `getDifferential`",
        "write `.d`",
    ),
    (
        "shader one(out float o) { o = 1; } shader s(out float o) { o = one() + 1.0; }",
        "void and float",
        "`one(o = variable);`",
    ),
    (
        "struct A { float x[2]; }; shader s(out float o) { A a = {1.0, 2.0}; o = a.x[0]; }",
        "2 values for the 1",
        "a list of its own",
    ),
    (
        "shader s(out float o) { [unroll] for (int i = 0; i < 3; ++i) o += 1.0; }",
        "no attribute `unroll`",
        "`[ForceUnroll]`",
    ),
    ("kernel k(out buffer<int> o) { o = index.xy; }", "no member `xy`", "`index.x`, `index.y` and `index.z`"),
];

#[test]
fn what_strangers_write_is_reported_once_and_says_what_to_write() {
    for (source, message, hint) in SAID {
        let errors: Vec<Diagnostic> = findings(source).into_iter().filter(Diagnostic::is_error).collect();
        let said: Vec<String> = errors.iter().map(|d| d.to_string()).collect();
        assert_eq!(errors.len(), 1, "{source}\n{said:?}");
        assert!(errors[0].message.contains(message) && errors[0].hint.contains(hint), "{source}\n{said:?}");
    }
}

#[test]
fn no_message_quotes_more_than_a_reader_can_take() {
    let (digits, word) = ("9".repeat(100_000), "x".repeat(100_000));
    for source in [
        format!("shader s(out float o) {{ o = {digits}.0e{digits}; }}"),
        format!("shader s(out float o) {{ o = {digits}; }}"),
        format!("shader s(out float o) {{ o = {digits},{digits}; }}"),
        format!("shader s(out float o) {{ o = {word}; }}"),
        format!("shader s(out float o) {{ o = {word}(1.0); {word} y; o.{word} = 1.0; }}"),
        format!("shader s(out float o) {{ o = noise(\"{word} {word}\", 1.0); }}"),
        format!("shader s(out float o) {{ printf(\"%{digits}q\", 1.0); o = \"{word}\"; }}"),
        format!("shader {word}(out float o) {{ o = 1.0; }} shader {word}(out float o) {{ o = 1.0; }}"),
        format!("import \"{word}.ssl\"; import \"{word}\";"),
        format!(
            "float f(float {word}) {{ return {word}; }} shader s(out float o) {{ o = f(\"a\"); o = f({word} = 1.0); }}"
        ),
        format!("[{word}] float f(float x) {{ return x; }} struct S {{ float {word}; float {word}; }};"),
        format!("#{word}\n/* {word}"),
        format!("shader s(out float o) {{ o = {}; }}", "1.0 + x + ".repeat(50_000)),
    ] {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source.clone());
        let host = Host::default();
        let (_, found) = check(&mut sources, file, &host.options(WAYS[1]));
        assert!(found.has_errors(), "{}", &source[..60]);
        for d in &found.list {
            let one = d.clone().into();
            let (text, json) = (render::text(&one, &sources, false), render::json(&one, &sources).to_string());
            assert!(text.len() < 8000 && json.len() < 8000, "{} of {}: {} bytes", d.code.id, &source[..60], text.len());
        }
    }
}

#[test]
fn a_clash_shows_both_places_and_a_bracket_where_it_was_opened() {
    let found = findings("float f(float a, float a) { return (a; }\n");
    let labels: Vec<(&str, u32)> =
        found.iter().flat_map(|d| &d.labels).map(|l| (l.text.as_str(), l.span.start)).collect();
    assert!(labels.contains(&("the first one", 14)) && labels.contains(&("opened here", 35)), "{labels:?}");
}
