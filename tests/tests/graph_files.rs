//! Graph files: each way in which one can be wrong, where that is reported, and graphs that nest.

use ssl_compiler::CompileOptions;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes, examples};
use ssl_compiler::graph;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::SourceMap;
use ssl_tests::{Host, explain};
use std::path::PathBuf;

/// A folder of files for one test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = Folder(std::env::temp_dir().join(format!("ssl-graphs-{}-{name}", std::process::id())));
        for (file, text) in files {
            let path = folder.0.join(file);
            std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("it can be written");
            std::fs::write(path, text).expect("it can be written");
        }
        folder
    }

    /// What is found wrong with a graph, and the linked text where there is one.
    fn link(&self, file: &str) -> (SourceMap, Diagnostics, Option<String>) {
        let host = Host::default();
        let imports = SearchPath::on_disk(Vec::new());
        let options = CompileOptions { imports: &imports, ..CompileOptions::new(&host.globals, &host.closures) };
        let mut sources = SourceMap::new();
        let (group, mut found) = graph::read(&self.0.join(file), &mut sources);
        let Some(group) = group.filter(|_| !found.has_errors()) else { return (sources, found, None) };
        match graph::link(&group, &mut sources, &options) {
            Ok((linked, warnings)) => {
                found.extend(warnings);
                let (_, checked) = ssl_compiler::check(&mut sources, linked.file, &options);
                found.extend(linked.blame(checked));
                let text = sources.get(linked.file).text.to_string();
                (sources, found, Some(text))
            }
            Err(errors) => {
                found.extend(errors);
                (sources, found, None)
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Nine lines that are fine by themselves.
const START: &str = "\
[units.a]
file = \"units/unit.ssl\"
set = { x = 1.0 }

[units.b]
file = \"units/unit.ssl\"
inputs = { x = \"a.y\" }

[outputs]
";

const UNIT: &str = "shader unit(float x, float3 tint = float3(1.0, 1.0, 1.0), out float y, out float3 v)
{
    y = x + tint.x;
    v = tint;
}
";

/// Code, line and the text at the place, for each finding.
fn findings(name: &str, text: &str) -> (Vec<(&'static str, usize, String)>, String) {
    let files = [("g.toml", text), ("units/unit.ssl", UNIT), ("units/broken.ssl", "shader b( {\n")];
    let folder = Folder::new(name, &files);
    let (sources, found, _) = folder.link("g.toml");
    let one = |d: &Diagnostic| {
        assert!(!d.hint.is_empty() && !d.message.is_empty());
        d.span.map_or((d.code.id, 0, String::new()), |span| {
            let file = sources.get(span.file);
            (d.code.id, file.line_column(span.start).0, file.text[span.range()].to_owned())
        })
    };
    (found.list.iter().map(one).collect(), explain(&sources, &found))
}

/// The text behind the nine lines; code, line, what is marked; part of what is said.
type Case = (&'static str, (&'static str, usize, &'static str), &'static str);

const CASES: &[Case] = &[
    ("o = \n", ("E0901", 10, ""), ""),
    ("o = \"b.y\"\n[units.c]\nfiel = \"x\"\n", ("E0901", 12, "fiel"), "did you mean `file`"),
    ("o = \"b.y\"\n[unit.c]\nfile = \"units/unit.ssl\"\n", ("E0901", 11, "unit"), "did you mean `units`"),
    ("o = 3\n", ("E0901", 10, "3"), "the output `o` takes a text, and this is a number"),
    ("o = \"b.y\"\n[units]\nc = 3\n", ("E0901", 12, "3"), "the unit `c` is a table, and this is a number"),
    ("o = \"b.y\"\n[units.c]\nfile = 3\n", ("E0901", 12, "3"), "`file` of the unit `c` takes a text"),
    (
        "o = \"b.y\"\n[arguments.k]\nparameter = \"b.tint\"\nmin = \"0\"\n",
        ("E0901", 13, "\"0\""),
        "`min` of the argument `k` takes a number, and this is a text",
    ),
    (
        "o = \"b.y\"\n[units.c]\nfile = \"units/unit.ssl\"\n[units.c.textures.t]\nraw = true\n",
        ("E0901", 13, ""),
        "has no `file`",
    ),
    (
        "o = \"b.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nset = { x = {} }\n",
        ("E0901", 13, "{}"),
        "`x` in `set` of the unit `c` takes a number",
    ),
    ("o = \"b.y\"\n[units.c]\n", ("E0902", 11, "c"), "no shader"),
    ("o = \"b.y\"\n[units.c]\nfile = \"a\"\ngraph = \"b\"\n", ("E0902", 11, "c"), "several"),
    ("o = \"b.y\"\n[units.c]\nfile = \"units/gone.ssl\"\n", ("E0903", 12, "\"units/gone.ssl\""), "looked for in"),
    ("o = \"b.y\"\n[units.c]\ngraph = \"gone.toml\"\n", ("E0903", 12, "\"gone.toml\""), "cannot be read"),
    ("o = \"b.y\"\n[units.c]\nfile = \"../passwd\"\n", ("E0903", 12, "\"../passwd\""), "ends in `.ssl`"),
    ("o = \"b.y\"\n[units.c]\ngraph = \"../passwd\"\n", ("E0903", 12, "\"../passwd\""), "ends in `.toml`"),
    (
        "o = \"b.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nshader = \"unti\"\n",
        ("E0904", 12, "\"units/unit.ssl\""),
        "did you mean `unit`",
    ),
    ("o = \"bb.y\"\n", ("E0905", 10, "o = \"bb.y\""), "there is no unit `bb`"),
    ("o = \"b.yy\"\n", ("E0906", 10, "o = \"b.yy\""), "it has `y`, `v`"),
    ("o = \"b.v.q\"\n", ("E0210", 10, "o = \"b.v.q\""), "has no member `q`"),
    ("o = \"b.y.x\"\n", ("E0210", 10, "o = \"b.y.x\""), "no member"),
    ("o = \"b.x\"\n", ("E0906", 10, "o = \"b.x\""), "this is an input"),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nset = { x = 1 }\ninputs = { x = \"b.y\" }\n",
        ("E0907", 14, "x = \"b.y\""),
        "both set and connected",
    ),
    ("o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\n", ("E0908", 11, "c"), "`x` of `c`"),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\ninputs = { x = \"d.y\" }\n\
         [units.d]\nfile = \"units/unit.ssl\"\ninputs = { x = \"c.y\" }\n",
        ("E0909", 13, "x = \"d.y\""),
        "d → c → d",
    ),
    ("o = \"b.y\"\n[units.c]\ngraph = \"g.toml\"\n", ("E0910", 12, "\"g.toml\""), "g.toml → g.toml"),
    ("", ("E0911", 1, ""), "no outputs"),
    (
        "o = \"c.y\"\n[units.\"two words\"]\nfile = \"units/unit.ssl\"\nset = { x = 1 }\n[units.c]\n\
         file = \"units/unit.ssl\"\ninputs = { x = \"two words.y\" }\n",
        ("E0912", 11, "\"two words\""),
        "cannot be called",
    ),
    ("float = \"b.y\"\n", ("E0912", 10, "float = \"b.y\""), "cannot be called"),
    ("o = \"b\"\n", ("E0913", 10, "o = \"b\""), "unit.output"),
    ("o = \"b.y\"\n[arguments.k]\nparameter = \"x\"\n", ("E0913", 12, "\"x\""), "unit.input"),
    ("o = \"b.y\"\n[arguments.k]\nlabel = \"x\"\n", ("E0913", 11, "k"), "feeds nothing"),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nset = { x = \"red\" }\n",
        ("E0914", 13, "x = \"red\""),
        "its type is float",
    ),
    ("o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nset = { x = nan }\n", ("E0914", 13, "x = nan"), "finite"),
    (
        "o = \"c.y\"\n[units.c]\nsource = 'shader c(int n, out float y) { y = n; }'\nset = { n = 99999999999 }\n",
        ("E0914", 13, "n = 99999999999"),
        "a whole number from -2147483648 to 2147483647",
    ),
    ("o = \"b.y\"\n[arguments.k]\nparameter = \"b.tint\"\ndefault = \"red\"\n", ("E0914", 13, "\"red\""), "float3"),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\nset = { x = 1, tint = [1, 2] }\n",
        ("E0222", 13, "tint = [1, 2]"),
        "3 components",
    ),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\ninputs = { x = \"b.v\" }\n",
        ("E0205", 13, "x = \"b.v\""),
        "expected float",
    ),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\ninputs = { x = \"b.v.q\" }\n",
        ("E0210", 13, "x = \"b.v.q\""),
        "",
    ),
    (
        "o = \"c.y\"\n[units.c]\nfile = \"units/unit.ssl\"\ninputs = { x = \"global.tiem\" }\n",
        ("E0215", 13, "x = \"global.tiem\""),
        "did you mean `time`",
    ),
    (
        "o = \"c.y\"\n[units.c]\nsource = '''\nshader c(out float y)\n{\n    y = missing;\n}\n'''\n",
        ("E0201", 15, "missing"),
        "",
    ),
    ("o = \"a.y\"\n", ("W0901", 5, "b"), "no output needs"),
];

#[test]
fn every_mistake_has_its_place() {
    for (i, (text, (code, line, marked), said)) in CASES.iter().enumerate() {
        let (found, rendered) = findings(&format!("case-{i}"), &format!("{START}{text}"));
        // What comes of a mistake may be idle, too.
        let found: Vec<_> = found.iter().filter(|f| f.0.starts_with('E') || code.starts_with('W')).collect();
        assert_eq!(found.len(), 1, "{text}\n{rendered}");
        let (found_code, found_line, found_text) = found[0];
        assert_eq!((*found_code, *found_line), (*code, *line), "{text}\n{rendered}");
        assert!(marked.is_empty() || found_text == marked, "{text}\n`{found_text}`\n{rendered}");
        assert!(rendered.contains(said), "{text}\n{rendered}");
    }
}

/// One run says all that is wrong with the form of a file and of the graphs that it nests.
#[test]
fn all_mistakes_are_said_in_one_run() {
    let outer = "[grph]\nnam = \"x\"\n[units.a]\nfil = \"u.ssl\"\nset = { k = 1979-01-01, m = {}, n = [1, \"2\"] }\n\
                 inputs = { x = 3 }\ncolour = 1\n[units.b]\ngraph = \"inner.toml\"\n[arguments.q]\nparametre = \"a.k\"\nmin = \"0\"\n\
                 parameters = [\"a.x\", 4]\n[outputs]\nresult = 5\n";
    let inner = "[units.u]\nfile = 1\n[outputs]\ny = { }\n";
    let folder = Folder::new("many", &[("g.toml", outer), ("inner.toml", inner)]);
    let (sources, found, _) = folder.link("g.toml");
    let place = |d: &Diagnostic| {
        let span = d.span.expect("each has a place");
        let file = sources.get(span.file);
        assert_eq!(d.code.id, "E0901");
        (file.name.ends_with("inner.toml"), file.line_column(span.start).0, file.text[span.range()].to_owned())
    };
    let places: Vec<(bool, usize, String)> = found.list.iter().map(place).collect();
    let places: Vec<(bool, usize, &str)> =
        places.iter().map(|(inner, line, text)| (*inner, *line, &text[..])).collect();
    let expected = [
        (false, 1, "grph"),
        (false, 2, "nam"),
        (false, 4, "fil"),
        (false, 5, "1979-01-01"),
        (false, 5, "{}"),
        (false, 5, "[1, \"2\"]"),
        (false, 6, "3"),
        (false, 7, "colour"),
        (false, 11, "parametre"),
        (false, 12, "\"0\""),
        (false, 13, "4"),
        (false, 15, "5"),
        (true, 2, "1"),
        (true, 4, "{ }"),
    ];
    assert_eq!(places, expected, "{}", explain(&sources, &found));
    let folder = Folder::new("forms", &[("g.toml", "[units.a\nfile = \n[units.a]\nx = 1\nx = 2\n")]);
    let (sources, found, _) = folder.link("g.toml");
    assert_eq!(found.list.len(), 2, "{}", explain(&sources, &found));
}

#[test]
fn examples_on_the_pages_do_what_they_say() {
    const WAVE: &str = "shader wave(float x, float height = 1.0, out float y) { y = height * sin(x); }\n";
    let of_graphs = |id: &str| id.starts_with("E09") || id.starts_with("W09");
    assert!(examples::TEXT.contains(WAVE.trim_end()), "the page says what lies beside its graphs");
    for code in codes::ALL.iter().filter(|c| of_graphs(c.id)) {
        let example = examples::find(examples::TEXT, code.id).unwrap_or_else(|| panic!("{} has no example", code.id));
        assert_eq!(example.language, "toml", "{}", code.id);
        for (text, expected) in [(example.wrong, &[code.id][..]), (example.right, &[])] {
            let folder = Folder::new(&format!("page-{}", code.id), &[("graph.toml", text), ("wave.ssl", WAVE)]);
            let (sources, found, _) = folder.link("graph.toml");
            let ids: Vec<&str> = found.list.iter().map(|d| d.code.id).collect();
            assert_eq!(ids, expected, "{text}\n{}", explain(&sources, &found));
        }
    }
}

#[test]
fn mistakes_in_a_units_file_are_reported_there_and_once() {
    let broken = "file = \"units/broken.ssl\"";
    let text = format!("{START}o = \"b.y\"\n[units.c]\n{broken}\n[units.d]\n{broken}\n");
    let (found, rendered) = findings("broken", &text);
    assert_eq!(found.iter().filter(|f| f.0.starts_with('E')).count(), 1, "{rendered}");
    assert!(rendered.contains("broken.ssl:1"), "{rendered}");
}

#[test]
fn imports_of_two_texts_that_clash_are_reported_once() {
    let unit = |name: &str, file: &str| {
        let shader = format!("import \"{file}\"; shader {name}(float x, out float y) {{ y = f(x); }}");
        format!("[units.{name}]\nsource = '{shader}'\n")
    };
    let text = format!(
        "{}set = {{ x = 1.0 }}\n{}inputs = {{ x = \"a.y\" }}\n[outputs]\no = \"b.y\"\n",
        unit("a", "one.ssl"),
        unit("b", "two.ssl")
    );
    let f = "float f(float x) { return x; }";
    let folder = Folder::new("clash", &[("g.toml", &text), ("one.ssl", f), ("two.ssl", f)]);
    let (sources, found, _) = folder.link("g.toml");
    let errors: Vec<&str> = found.list.iter().filter(|d| d.is_error()).map(|d| d.code.id).collect();
    assert_eq!(errors, ["E0704"], "{}", explain(&sources, &found));
}

#[test]
fn nested_graphs_are_found_beside_each_other_and_linked_once() {
    let inner = "[units.u]\nfile = \"../units/unit.ssl\"\n[arguments.x]\nparameter = \"u.x\"\n[outputs]\ny = \"u.y\"\n";
    let outer = "[units.one]\ngraph = \"inner/twice.toml\"\nset = { x = 2 }\n[units.two]\ngraph = \"inner/twice.toml\"\n\
                 inputs = { x = \"one.y\" }\n[units.u]\nfile = \"units/unit.ssl\"\ninputs = { x = \"two.y\" }\n[outputs]\ny = \"u.y\"\n";
    let folder = Folder::new("nested", &[("g.toml", outer), ("inner/twice.toml", inner), ("units/unit.ssl", UNIT)]);
    let (sources, found, text) = folder.link("g.toml");
    assert!(found.is_empty(), "{}", explain(&sources, &found));
    let text = text.expect("it links");
    assert_eq!(text.matches("shader twice(").count(), 1, "{text}");
    assert_eq!(text.matches("import ").count(), 1, "{text}");
    assert!(text.contains("two_y"), "{text}");
}

#[test]
fn graphs_that_contain_each_other_are_refused() {
    let other = |file: &str| format!("[units.u]\ngraph = \"{file}\"\n[outputs]\ny = \"u.y\"\n");
    let folder = Folder::new("circle", &[("a.toml", &other("b.toml")), ("b.toml", &other("a.toml"))]);
    let (sources, found, _) = folder.link("a.toml");
    let rendered = explain(&sources, &found);
    assert_eq!(found.list.iter().map(|d| d.code.id).collect::<Vec<_>>(), ["E0910"], "{rendered}");
    assert!(rendered.contains("a.toml → b.toml → a.toml"), "{rendered}");
}

#[test]
fn slots_of_a_units_file_take_images_too() {
    let unit = "texture2d map;\nshader s(out color c) { c = texture2d_sample<map>(0.5, 0.5); }\n";
    let graph = |second: &str| {
        format!(
            "[units.a]\nfile = \"s.ssl\"\ntextures = {{ map = \"a.png\" }}\n[units.b]\nfile = \"s.ssl\"\n\
             textures = {{ map = \"{second}\" }}\n[outputs]\na = \"a.c\"\nb = \"b.c\"\n"
        )
    };
    let files = [("same.toml", &graph("a.png")[..]), ("other.toml", &graph("b.png")[..]), ("s.ssl", unit)];
    let folder = Folder::new("slots", &files);
    let (sources, found, _) = folder.link("same.toml");
    assert!(found.is_empty(), "{}", explain(&sources, &found));
    let (_, found, _) = folder.link("other.toml");
    assert_eq!(found.list.iter().map(|d| d.code.id).collect::<Vec<_>>(), ["E0907"]);
}
