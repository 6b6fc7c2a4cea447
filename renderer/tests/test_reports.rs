//! `shade test` as a user meets it: reports that other programs read, and commands that repeat a failure.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn shade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("the program was built for this test")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("shade-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("as above");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const FAILING: &str = "globals { float x; float3 v; bool on; int k; }
texture2d slot;
shader main(float gain = 1.0, string mode, bool flip, float3 tint, texture2d map, out float r, out float3 t, out float d, out int n)
{
    r = gain * global_value<x> * (mode == \"it's <on> & off\" ? 2.0 : 1.0);
    t = (texture2d_sample<map>(global_value<x>, 0.5) + texture2d_sample<slot>(global_value<v>.x, 0.0)) * tint;
    d = ddx(r) + ddy(t.x);
    n = flip && global_value<on> ? global_value<k> : 0;
}
test \"fixed <values> & \\\"quotes\\\"\"
{
    x = dual(0.1, 0.25, -3e-5); v = dual(float3(1.5, -0.0, 1e-7), float3(0.5), 0.125); on = true; k = -7;
    run main(gain = 2.5, mode = \"it's <on> & off\", flip = true, tint = float3(1.0, 0.5, 0.25),
        map = test_texture(3.0), slot = flat_texture(0.1, 0.2, 0.3));
    expect(r, 0.0); expect(t, 0.0); expect(d, 0.0); expect(n, 0);
}
test \"drawn\" { x = uniform(1.0, 9.0); v = uniform(float3(-1.0), 1.0); run main(gain = uniform(1.0, 2.0), tint = float3(1.0)); expect(r, 1.0, 3.0); }
test \"nan\" { x = nan; run main(); expect(r, 0.0); }
test \"passes\" { run main(); expect(r, 0.0); }
";

/// The words of a command line, as a POSIX shell splits it.
fn words(line: &str) -> Vec<String> {
    let (mut list, mut word, mut quoted, mut started) = (Vec::new(), String::new(), false, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => (quoted, started) = (!quoted, true),
            '\\' if !quoted => word.extend(chars.next()),
            ' ' if !quoted => {
                if started || !word.is_empty() {
                    list.push(std::mem::take(&mut word));
                }
                started = false;
            }
            c => word.push(c),
        }
    }
    if started || !word.is_empty() {
        list.push(word);
    }
    list
}

fn report(arguments: &[&str]) -> Value {
    let out = shade(arguments);
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", text(&out.stdout), text(&out.stderr)))
}

// rule: tests.reproduce accept
#[test]
fn the_printed_command_gives_what_the_test_found() {
    let folder = Folder::new("a folder's name");
    let file = folder.file("it's failing.ssl", FAILING);
    let report = report(&["test", &file, "--format", "json"]);
    let mut repeated = 0;
    for test in report["tests"].as_array().expect("a list") {
        for failure in test["failures"].as_array().expect("a list") {
            let command = failure["reproduce"].as_str().expect("a command");
            let words = words(command);
            assert_eq!(words[0], "shade");
            let mut arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            arguments.push("--json");
            let out = shade(&arguments);
            assert!(out.status.success(), "{command}: {}", text(&out.stderr));
            let values: Value = serde_json::from_slice(&out.stdout).expect("JSON");
            let source = failure["source"].as_str().expect("text");
            let found = plain(&failure["found"]);
            // Four expectations share a line; this one is told by what it found.
            let shown: Vec<String> = ["r", "t", "d", "n"].map(|o| plain(&values["outputs"][o])).into();
            assert!(shown.contains(&found), "{command} shows {shown:?}, the test found {found} at {source}");
            repeated += 1;
        }
    }
    // Four, one and one, on each back end.
    let backends = ssl_compiler::BackendKind::ALL.len();
    assert_eq!(repeated, 6 * backends);
    assert_eq!(
        (report["passed"].as_u64(), report["failed"].as_u64()),
        (Some(backends as u64), Some(3 * backends as u64))
    );
}

/// The derivative of a texture's gradient is 0 by rule, which is not what the picture has.
#[test]
fn the_command_of_a_numeric_failure_shows_it() {
    let folder = Folder::new("differences");
    let source = "globals { float x; }
shader main(texture2d map, out float r) { r = ddx(ddx(texture2d_sample<map>(global_value<x>, 0.5).r)); }
shader smooth(out float r) { r = ddx(global_value<x> * global_value<x>); }
test \"the gradient's own\" { x = uniform(0.1, 0.9); run main(map = test_texture(2.0)); expect_numeric_derivatives(1e-4); }
";
    let file = folder.file("gradient.ssl", source);
    let report = report(&["test", &file, "--format", "json"]);
    let failure = &report["tests"][0]["failures"][0];
    let command = words(failure["reproduce"].as_str().expect("a command"));
    let arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
    let out = shade(&arguments);
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{shown}{}", text(&out.stderr));
    // Both say what the derivative is, and what it ought to be.
    for value in ["expected", "found"] {
        let value: f64 = plain(&failure[value]).parse().expect("a number");
        let mut numbers =
            shown.split(|c: char| !c.is_ascii_digit() && !"+-.e".contains(c)).filter_map(|n| n.parse().ok());
        // A report rounds to f32.
        assert!(numbers.any(|n: f64| (n - value).abs() <= 1e-6 * value.abs()), "{value} in {shown}");
    }
    let at = ["--entry", "smooth", "--global", "x:float=0.5,1,2", "--differences", "1e-6"];
    let out = shade(&[&["eval", file.as_str()][..], &at].concat());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("2 derivatives agree"), "{}", text(&out.stdout));
}

/// A value of `shade eval --json` as a report writes it.
fn plain(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("({})", list.iter().map(plain).collect::<Vec<_>>().join(",")),
        Value::String(s) => s.clone(),
        number => {
            let x = number.as_f64().unwrap_or(f64::NAN);
            if x.fract() == 0.0 {
                x.to_string()
            } else if x.abs() < 1e-3 {
                format!("{:e}", x as f32)
            } else {
                (x as f32).to_string()
            }
        }
    }
}

// rule: tests.reports accept
#[test]
fn json_tells_place_values_inputs_and_broken_files() {
    let folder = Folder::new("json");
    let failing = folder.file("failing.ssl", FAILING);
    let broken = folder.file("broken.ssl", "shader main(out float r) { r = q; }\n");
    let report = report(&["test", &failing, &broken, "--format", "json"]);
    let test = &report["tests"][0];
    let failure = &test["failures"][0];
    assert_eq!(failure["place"], serde_json::json!({"file": failing, "line": 15, "column": 5}));
    assert_eq!(report["version"], 1);
    assert_eq!(failure["source"], "    expect(r, 0.0); expect(t, 0.0); expect(d, 0.0); expect(n, 0);");
    assert_eq!((&failure["expected"], &failure["found"]), (&Value::from(0), &Value::from(0.5)));
    assert_eq!(failure["inputs"][0], "x = dual(0.1, 0.25, -3e-5)");
    assert!(test["seconds"].as_f64().is_some_and(|s| s > 0.0));
    let backends = ssl_compiler::BackendKind::ALL.len();
    let drawn = &report["tests"][backends]["failures"][0];
    // |gain x − 1| > 3 still, with numbers of one digit; what does not matter is 0.
    let inputs: Vec<&str> = drawn["inputs"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let number = |i: usize, name: &str| inputs[i].strip_prefix(name).and_then(|x| x.parse::<u8>().ok()).expect("whole");
    assert_eq!((inputs.len(), inputs[2]), (3, "tint = (1,1,1)"), "{inputs:?}");
    assert!((5..=18).contains(&(number(0, "x = ") * number(1, "gain = "))), "{inputs:?}");
    assert_eq!(drawn["drawn"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["broken"][0]["file"], broken);
    assert!(report["broken"][0]["reason"].as_str().is_some_and(|r| r.contains("E0201")));
    let found = &report["diagnostics"][0];
    assert_eq!((&found["code"], &found["file"], &found["line"]), (&"E0201".into(), &broken.clone().into(), &1.into()));
    assert_eq!(report["failed"].as_u64(), Some(3 * backends as u64 + 1));
}

// rule: tests.reports accept
#[test]
fn junit_is_well_formed_and_tells_the_same() {
    let folder = Folder::new("junit");
    let failing = folder.file("failing.ssl", FAILING);
    let broken = folder.file("broken <&>.ssl", "shader main(out float r) { r = q; }\n");
    let control = "shader main(out float r) { r = 1.0; printf(\"]]> \\t\u{1}\u{fffe} <b>\"); }\n\
                   test \"\u{8} é\" { run main(); expect(r, 1.0); }\n";
    let talking = folder.file("talking.ssl", control);
    let xml = text(&shade(&["test", &failing, &broken, &talking, "--format", "junit"]).stdout);
    let root = well_formed(&xml).unwrap_or_else(|e| panic!("{e}\n{xml}"));
    let backends = ssl_compiler::BackendKind::ALL.len();
    assert_eq!(root.name, "testsuites");
    let count = |n: usize| n.to_string();
    for (name, n) in [("tests", 5 * backends + 1), ("failures", 3 * backends), ("errors", 1)] {
        assert_eq!(root.attribute(name), count(n), "{name}");
    }
    let suites: Vec<&str> = root.children.iter().map(|s| s.attribute("name")).collect();
    assert_eq!(suites, [failing.as_str(), &talking, &broken]);
    let first = &root.children[0].children[0];
    assert_eq!(first.attribute("classname"), failing);
    let backend = ssl_compiler::BackendKind::ALL[0].name();
    assert_eq!(first.attribute("name"), format!("fixed <values> & \"quotes\" [{backend}]"));
    assert_eq!(first.children.len(), 4, "a failure for each expectation");
    assert_eq!(first.children[0].attribute("message"), "expected 0, found 0.5 (no tolerance)");
    assert!(
        first.children[0].text.contains("see it with: shade eval")
            && first.children[0].text.contains("\nwith x = dual(")
    );
    let talk = &root.children[1].children[0];
    assert_eq!(talk.attribute("name"), format!("\u{fffd} é [{backend}]"));
    assert_eq!(talk.children[0].text, "]]> \t\u{fffd}\u{fffd} <b>");
    assert_eq!(root.children[2].children[0].children[0].name, "error");
}

/// An element of an XML document.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v)
    }
}

/// Reads a document by the rules of XML 1.0, as far as there are elements, attributes and text: everything
/// else, and every breach of a rule, is refused.
fn well_formed(xml: &str) -> Result<Element, String> {
    let is_char = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    if let Some(c) = xml.chars().find(|&c| !is_char(c)) {
        return Err(format!("the character {c:?} is not allowed"));
    }
    let declared = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").ok_or("no declaration")?;
    let mut rest = declared.trim_start();
    let root = element(&mut rest)?;
    if rest.trim().is_empty() { Ok(root) } else { Err(format!("left over: {rest}")) }
}

fn name(rest: &mut &str) -> Result<String, String> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
    if end == 0 || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(format!("no name: {rest:.40}"));
    }
    let (name, behind) = rest.split_at(end);
    *rest = behind;
    Ok(name.to_owned())
}

fn eat<'a>(rest: &mut &'a str, what: &str) -> Result<(), String> {
    let behind: Option<&'a str> = rest.strip_prefix(what);
    *rest = behind.ok_or_else(|| format!("expected {what}: {:.40}", *rest))?;
    Ok(())
}

fn element(rest: &mut &str) -> Result<Element, String> {
    eat(rest, "<")?;
    let mut this = Element { name: name(rest)?, ..Element::default() };
    loop {
        let spaced = rest.starts_with(char::is_whitespace);
        *rest = rest.trim_start();
        if eat(rest, "/>").is_ok() {
            return Ok(this);
        }
        if eat(rest, ">").is_ok() {
            break;
        }
        if !spaced {
            return Err(format!("no space before an attribute: {rest:.40}"));
        }
        let attribute = name(rest)?;
        eat(rest, "=\"")?;
        let end = rest.find('"').ok_or("an attribute without an end")?;
        if this.attributes.iter().any(|(n, _)| *n == attribute) {
            return Err(format!("{attribute} twice"));
        }
        // A line break in an attribute is read as a space.
        this.attributes.push((attribute, unescape(&rest[..end].replace(['\n', '\t', '\r'], " "))?));
        *rest = &rest[end + 1..];
    }
    loop {
        let end = rest.find('<').ok_or_else(|| format!("{} is not closed", this.name))?;
        this.text.push_str(&unescape(&rest[..end])?);
        *rest = &rest[end..];
        if eat(rest, "</").is_err() {
            this.children.push(element(rest)?);
            continue;
        }
        eat(rest, &this.name)?;
        eat(rest, ">")?;
        return Ok(this);
    }
}

fn unescape(text: &str) -> Result<String, String> {
    if text.contains('<') || text.contains("]]>") {
        return Err(format!("`<` or `]]>` in {text}"));
    }
    let mut out = String::new();
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (entity, behind) = part.split_once(';').ok_or_else(|| format!("a bare `&` before {part}"))?;
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            number => {
                let code = number.strip_prefix('#').and_then(|n| n.parse().ok()).and_then(char::from_u32);
                code.filter(|c| matches!(c, '\t' | '\n' | '\r')).ok_or_else(|| format!("&{number}; is nothing"))?
            }
        });
        out.push_str(behind);
    }
    Ok(out)
}

#[test]
fn a_report_is_written_whole_and_what_cannot_be_written_is_said() {
    let folder = Folder::new("whole");
    let failing = folder.file("failing.ssl", FAILING);
    let report = folder.0.join("report.xml").display().to_string();
    let out = shade(&["test", &failing, "--format", "junit", "-o", &report]);
    assert_eq!(out.status.code(), Some(1));
    let backends = ssl_compiler::BackendKind::ALL.len();
    assert_eq!(text(&out.stdout), format!("{backends} passed, {} failed\n", 3 * backends));
    assert!(std::fs::read_to_string(&report).expect("written").ends_with("</testsuites>\n"));
    assert_eq!(std::fs::read_dir(&folder.0).expect("a folder").count(), 2, "nothing else was left behind");
    let out = shade(&["test", &failing, "-o", "/no/such/folder/report.txt"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(text(&out.stderr).contains("/no/such/folder/report.txt"));
}

/// The names and back ends of what ran.
fn ran(report: &Value) -> Vec<(String, String)> {
    let tests = report["tests"].as_array().expect("a list of tests");
    let word = |test: &Value, key: &str| test[key].as_str().expect("a text").to_owned();
    tests.iter().map(|t| (word(t, "name"), word(t, "backend"))).collect()
}

const NAMED: &str = "shader main(out float r) { r = 1.0; }
test \"red paint\" { run main(); expect(r, 1.0); }
test \"green paint\" { run main(); expect(r, 1.0); }
test \"rust\" { run main(); expect(r, 2.0); }
test \"rows\" { cases (x) { \"wet paint\": 1.0; \"dry\": 1.0; } run main(); expect(r, x); }
";

#[test]
fn a_filter_chooses_tests_by_what_their_names_contain() {
    let folder = Folder::new("filter");
    let file = folder.file("named.ssl", NAMED);
    let chosen = |filter: &str, code: i32| {
        let out = shade(&["test", &file, "--filter", filter, "--backend", "interp", "--json"]);
        assert_eq!(out.status.code(), Some(code), "{filter}: {}", text(&out.stderr));
        let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        ran(&report).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(chosen("red", 0), ["red paint"]);
    assert_eq!(chosen("green paint", 0), ["green paint"]);
    // Those that would fail are not among them.
    let paint = chosen("paint", 0);
    assert!(paint.iter().all(|name| name.contains("paint")) && paint.len() == 3, "{paint:?}");
    assert_eq!(chosen("", 1).len(), 5, "everything, and what fails fails");
    assert_eq!(chosen("rust", 1), ["rust"]);
}

#[test]
fn a_filter_that_chooses_nothing_is_told() {
    let folder = Folder::new("filter-nothing");
    let file = folder.file("named.ssl", NAMED);
    for form in [&[][..], &["--json"], &["--format", "junit"]] {
        let out = shade(&[&["test", file.as_str(), "--filter", "Paint"], form].concat());
        // Capitals count.
        assert_eq!(out.status.code(), Some(1), "{form:?}");
        assert!(text(&out.stderr).contains("no test has `Paint` in its name"), "{}", text(&out.stderr));
    }
}

#[test]
fn tests_run_on_the_back_ends_that_are_named() {
    let folder = Folder::new("backends");
    let file = folder.file("named.ssl", NAMED);
    let on = |arguments: &[&str]| {
        let out = shade(&[&["test", file.as_str(), "--filter", "red", "--json"], arguments].concat());
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        ran(&report).into_iter().map(|(_, backend)| backend).collect::<Vec<_>>()
    };
    assert_eq!(on(&["--backend", "interp"]), ["interp"]);
    assert_eq!(on(&["--backend", "cranelift"]), ["cranelift"]);
    assert_eq!(on(&["--backend", "cranelift", "--backend", "interp"]), ["cranelift", "interp"]);
    let all = if cfg!(feature = "llvm") { &["interp", "cranelift", "llvm"][..] } else { &["interp", "cranelift"] };
    assert_eq!(on(&[]), all, "all that there are, without the option");
    let refused = |backend: &str, why: &str| {
        let out = shade(&["test", &file, "--backend", backend]);
        assert_eq!(out.status.code(), Some(2), "{backend}");
        assert!(text(&out.stderr).contains(why), "{}", text(&out.stderr));
        assert_eq!(text(&out.stdout), "", "nothing ran");
    };
    let all = format!("there is {}\n", all.join(", "));
    refused("gpu", &all);
    refused("", &all);
    refused("auto", "name those to run on");
    if !cfg!(feature = "llvm") {
        refused("llvm", "llvm");
    }
}
