//! Generates what comes from the source: the pages of the book on built-ins, lobes and diagnostics, and the schema of
//! scenes. `cargo xtask reference` writes them; with `--check` it writes nothing, and fails if a page is stale.
//!
//! Either way it compiles every listing of the book and of the README that is marked as plain `c`, and runs the tests
//! in it: such a listing is a whole file, formatted as by `shade fmt`. Fragments are marked `c fragment` and left
//! alone.

mod lobes;

use renderer::material::ShadingLanguage;
use ssl_compiler::builtins::{Expand, TABLE, constants, library};
use ssl_compiler::diagnostics::{Code, Diagnostics, codes, examples, render};
use ssl_compiler::runtime::{ClosureDefault, ClosureParameter, ClosureRegistry, GlobalsLayout, Orders};
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::ast::Item;
use ssl_compiler::testing::{Session, run_file};
use ssl_compiler::types::TypeTable;
use ssl_compiler::{CompileOptions, check, compile_checked};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const NOTICE: &str = "<!-- Written by `cargo xtask reference` from the source. Do not edit. -->\n\n";

fn main() -> ExitCode {
    let check_only = std::env::args().skip(1).any(|a| a == "--check");
    let language = ShadingLanguage::new();
    let pages = [("builtins.md", builtins(&language)), ("errors.md", errors())];
    let mut faults: Vec<String> = Vec::new();
    match lobes::page(&root(), language.closures()) {
        Ok(text) => faults.extend(keep(&book().join("lobes.md"), &format!("{NOTICE}{text}"), check_only).err()),
        Err(e) => faults.push(format!("the lobes' pages of the manual cannot be read: {e}")),
    }
    faults.extend(pages.iter().filter_map(|(name, text)| keep(&book().join(name), text, check_only).err()));
    for (name, text) in [
        ("scene.schema.json", renderer::scene::json_schema::text()),
        ("job.schema.json", kernels::jobs::schema::text()),
        ("scene-job.schema.json", format!("{:#}\n", renderer::inverse::job::keys::schema())),
    ] {
        faults.extend(keep(&root().join("scenes").join(name), &text, check_only).err());
    }
    match listings(&language, check_only) {
        Ok((count, found)) => {
            println!("{count} listings were compiled");
            faults.extend(found);
        }
        Err(e) => faults.push(format!("the pages cannot be read: {e}")),
    }
    faults.iter().for_each(|f| eprintln!("{f}"));
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn book() -> PathBuf {
    root().join("docs/src")
}

/// Writes a page, or only looks whether it is what it should be.
fn keep(path: &Path, text: &str, check_only: bool) -> Result<(), String> {
    // Git may have given the file the line ends of the platform.
    let same = std::fs::read_to_string(path).is_ok_and(|old| old.replace("\r\n", "\n") == text);
    match (same, check_only) {
        (true, _) => Ok(()),
        (false, true) => Err(format!("{} is stale: run `cargo xtask reference`", path.display())),
        (false, false) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display())),
    }
}

const BUILTINS: &str = "# Built-ins

`T` stands for `float` or any vector type. All arguments of a call convert to one `T`, the type of the first vector
among them; a float stands for all components. A function works component by component unless it is marked *whole*.

Derivatives have no column of their own. A built-in becomes operations of the intermediate code, and each operation
has its rule ([Derivatives](derivatives.md)).

";

const LIBRARY_HEAD: &str = "
## Functions of the library

These functions are written in SSL. The compiler differentiates them like any other function, and compiles only those
that a shader calls. If you import their file under a name, [this name](language.md#several-files) stands before theirs.

| function | what | file |
| --- | --- | --- |
";

const FORMS: &str = "
## Forms with a name in angle brackets

| form | gives | what |
| --- | --- | --- |
| `global_value<NAME>` | the global's type | the value from the host for this point |
| `texture2d_sample<SLOT>(u, v)` | `color` | the filtered texture, with the footprint from the derivatives of `u` and `v` |
| `texture2d_sample_alpha<SLOT>(u, v)` | `float` | its alpha |
| `texture2d_sample4<SLOT>(u, v)` | `float4` | color and alpha in one look-up |
| `printf(FORMAT, …)` | nothing | prints, see [Printing](language.md#printing) |
| `make_closure<NAME>(…)` | `closure` | one lobe of weight 1 |

";

fn builtins(language: &ShadingLanguage) -> String {
    let mut out = format!("{NOTICE}{BUILTINS}");
    let mut section = "";
    for b in TABLE {
        if b.section != section {
            section = b.section;
            let _ = write!(out, "\n## {section}\n\n| function | what |\n| --- | --- |\n");
        }
        let whole = if matches!(b.expand, Expand::Whole(_)) { " *Whole.*" } else { "" };
        let _ = writeln!(out, "| `{}` | {}{whole} |", b.signature(), b.doc);
    }
    out.push_str("\n## Constants\n\n| name | value |\n| --- | --- |\n");
    for c in constants::TABLE {
        let _ = writeln!(out, "| `{}` | {} |", c.name, c.text);
    }
    out + &library() + FORMS + &globals(language.globals()) + &closures(language.closures())
}

/// The functions of the library that need no import, as they stand in its files.
fn library() -> String {
    let mut out = LIBRARY_HEAD.to_owned();
    for file in library::LIBRARY {
        // What has no text of its own belongs to what stands above it.
        let mut groups: Vec<(String, String)> = Vec::new();
        for (head, doc) in documented(file.text, file.functions) {
            match groups.last_mut().filter(|_| doc.is_empty()) {
                Some((heads, _)) => heads.push_str(&format!("<br>`{head}`")),
                None => groups.push((format!("`{head}`"), doc)),
            }
        }
        for (heads, doc) in groups {
            let _ = writeln!(out, "| {heads} | {doc} | `{}` |", file.name);
        }
    }
    out
}

/// Heads and documentation of all functions with these names: the `///` lines above them.
fn documented(text: &str, names: &[&str]) -> Vec<(String, String)> {
    let mut sources = SourceMap::new();
    let file = sources.add("library", text);
    let tree = ssl_compiler::syntax::parse(&sources, file, &mut Diagnostics::new());
    let mut found = Vec::new();
    for item in &tree.items {
        let Item::Function(f) = item else { continue };
        if !names.contains(&f.name.text.as_str()) || f.body.is_none() {
            continue;
        }
        let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        let above: Vec<&str> =
            text[..f.span.range().start].lines().rev().map_while(|l| l.strip_prefix("///")).collect();
        let doc = above.into_iter().rev().collect::<Vec<_>>().join(" ");
        found.push((words(&text[f.span.range()]), words(&doc).replace('|', "\\|")));
    }
    found
}

fn globals(layout: &GlobalsLayout) -> String {
    let mut out = "## Globals of the renderer\n\n[Scenes](scenes.md#what-shaders-can-use) says what each holds.\n\n| global | type | partials |\n| --- | --- | --- |\n".to_owned();
    for f in layout.fields() {
        let partials = match f.orders {
            Orders::Value => "none: values computed from it alone have zero derivatives",
            Orders::First => "∂/∂x, ∂/∂y",
            Orders::Second => "first and second",
        };
        let _ = writeln!(out, "| `{}` | `{}` | {partials} |", f.name, TypeTable::default().display(&f.ty));
    }
    out
}

fn closures(registry: &ClosureRegistry) -> String {
    let mut out =
        "\n## Closures of the renderer\n\n[Lobes](lobes.md) describes each of them. You may leave out parameters with a default, and closures in brackets.\n\n| closure |\n| --- |\n".to_owned();
    for c in registry.types() {
        let parameters: Vec<String> = c.parameters.iter().map(closure_parameter).collect();
        let _ = writeln!(out, "| `make_closure<{}>({})` |", c.name, parameters.join(", "));
    }
    out
}

/// `float ior = 1.5`
fn closure_parameter(p: &ClosureParameter) -> String {
    let types = TypeTable::default();
    let ty = types.display(&p.ty);
    let number = |x: f32| format!("{x:?}");
    let default = match &p.default {
        None => return format!("{ty} {}", p.name),
        // What a closure without lobes is has no word in the language.
        Some(ClosureDefault::NoLobes) => return format!("[{ty} {}]", p.name),
        Some(ClosureDefault::Float(x)) => number(*x),
        Some(ClosureDefault::Int(x)) => x.to_string(),
        Some(ClosureDefault::Bool(x)) => x.to_string(),
        Some(ClosureDefault::Vector([x, y, z])) if x == y && y == z => format!("{ty}({})", number(*x)),
        Some(ClosureDefault::Vector(v)) => format!("{ty}({})", v.map(number).join(", ")),
        Some(ClosureDefault::Global(name)) => format!("global_value<{name}>"),
    };
    format!("{ty} {} = {default}", p.name)
}

fn errors() -> String {
    let mut out = format!(
        "{NOTICE}# Diagnostics\n\nEvery message has a code. `shade explain CODE` prints the text of this page, and \
         `shade explain` lists all codes.\n`E` and `W` come from the compiler, `S` from scenes and renders, `J` from [jobs](fit.md).\n"
    );
    let mut section = |title: &str, list: &[&Code], examples: &str| {
        let _ = write!(out, "\n## {title}\n");
        for c in list {
            let _ = write!(out, "\n### {}: {}\n\n{}\n", c.id, c.title, c.explanation);
            if let Some(e) = examples::find(examples, c.id) {
                // A wrong listing is no file that compiles; the tests of the diagnostics try both.
                let language = if e.language == "c" { "c fragment" } else { e.language };
                let _ =
                    write!(out, "\n```{language}\n{}\n```\n\nCorrected:\n\n```{language}\n{}\n```\n", e.wrong, e.right);
            }
        }
    };
    section("Shaders", codes::ALL, examples::TEXT);
    section("Scenes and renders", renderer::scene::codes::ALL, renderer::scene::codes::EXAMPLES);
    section("Jobs", kernels::jobs::codes::ALL, kernels::jobs::codes::EXAMPLES);
    out
}

/// Compiles the listings of every page; how many there are, and what is wrong with them.
fn listings(language: &ShadingLanguage, check_only: bool) -> std::io::Result<(usize, Vec<String>)> {
    let mut pages = vec![root().join("README.md")];
    for entry in std::fs::read_dir(book())? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    let (mut count, mut faults) = (0, Vec::new());
    for page in pages {
        let mut written = std::fs::read_to_string(&page)?.replace("\r\n", "\n");
        for (line, text) in whole_files(&written.clone()) {
            let mut sources = SourceMap::new();
            let file = sources.add("listing", text.as_str());
            if let Ok(laid_out) = ssl_compiler::format(&sources, file) {
                written = written.replacen(&format!("```c\n{text}```"), &format!("```c\n{laid_out}```"), 1);
            }
            count += 1;
            let name = format!("{}, the listing behind line {line}", page.display());
            faults.extend(try_listing(language, &name, text));
        }
        faults.extend(keep(&page, &written, check_only).err());
    }
    Ok((count, faults))
}

/// The blocks fenced as plain `c`, each with the line of its fence.
fn whole_files(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (i, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((i + 1, info == "c", String::new())),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (Some(_), Some(_)) => found.extend(open.take().filter(|o| o.1).map(|(line, _, text)| (line, text))),
            (None, None) => {}
        }
    }
    found
}

/// What keeps a listing from compiling, or its tests from passing.
fn try_listing(language: &ShadingLanguage, name: &str, text: String) -> Vec<String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name.to_owned(), text);
    let report = |d: &Diagnostics, sources: &SourceMap| vec![render::text(d, sources, false)];
    let options = CompileOptions::new(language.globals(), language.closures());
    let (checked, diagnostics) = check(&mut sources, file, &options);
    // What the book shows is free of warnings, too.
    if !diagnostics.is_empty() {
        return report(&diagnostics, &sources);
    }
    for (_, shader) in checked.program.shaders() {
        if let Err(d) = compile_checked(&checked, file, Some(&shader.name), &options) {
            return report(&d, &sources);
        }
    }
    let session = Session::new(language.globals(), language.closures());
    match run_file(&session, &mut sources, file) {
        Ok((tests, _)) => {
            let failures =
                tests.iter().flat_map(|t| t.failures.iter().map(move |f| format!("{name}: {}: {}", t.name, f.message)));
            failures.collect()
        }
        Err(d) => report(&d, &sources),
    }
}
