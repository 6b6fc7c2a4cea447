//! Passes and derivatives on files: input, and behind the line `; expect:` what must come out.
//!
//! The first line says what to run. On textual IR (`.ssl-ir`): `; test: simplify`, `identities`, `dce`,
//! `dead-parameters`, `inline`, `inline-everything`, `unroll`, `tails`, `hoist`, `tables`, `expand-math`, `differentiate`,
//! `gradients`, `round-trip` or `verify-fails`. What a pass says of what it did comes first, as comments. On SSL
//! (`.ssl`): `// test: lowered`, `before-ad`, `differentiated`, `optimised` or `format`. `UPDATE_EXPECT=1` writes what
//! came out into the file; read it.

use ssl_compiler::ir::{Module, parse, verify};
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::passes::remarks::Remarks;
use ssl_compiler::passes::{
    ad, dce, dead_parameters, expand_math, gradients, hoist, inline, simplify, tables, tails, unroll,
};
use ssl_compiler::pipeline::Stage;
use ssl_compiler::source::SourceMap;
use ssl_tests::{Host, explain, files, folder, on_large_stack};
use std::path::Path;

const MARKER: &str = "; expect:\n";

#[test]
fn every_file_gives_what_it_expects() {
    let mut wrong = String::new();
    let mut count = 0;
    on_large_stack(|| {
        for path in files(&folder("filetests"), &["ssl-ir", "ssl"]) {
            count += 1;
            if let Err(message) = check(&path) {
                wrong.push_str(&format!("{}: {message}\n", path.display()));
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 30, "only {count} files were found");
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (input, expected) = text.split_once(MARKER).unwrap_or((&text, ""));
    let head = input.lines().next().unwrap_or("");
    let what = head.split_once("test: ").map_or("", |(_, what)| what.trim());
    let found = if head.starts_with("//") { from_ssl(what, input)? } else { from_ir(what, input)? };
    let matches = if what == "verify-fails" {
        // Each expected line is a part of what the verifier says.
        !expected.is_empty() && expected.lines().all(|line| found.contains(line))
    } else {
        found == expected
    };
    if matches {
        return Ok(());
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() && what != "verify-fails" {
        let input = if input.ends_with('\n') { input.to_owned() } else { format!("{input}\n") };
        return std::fs::write(path, format!("{input}{MARKER}{found}")).map_err(|e| e.to_string());
    }
    Err(format!("expected\n{expected}\nfound\n{found}"))
}

fn from_ssl(what: &str, source: &str) -> Result<String, String> {
    let stage = match what {
        "format" => return formatted(source),
        "lowered" => Stage::Lowered,
        "before-ad" => Stage::BeforeAd,
        "differentiated" => Stage::Differentiated,
        "optimised" => Stage::Optimised,
        other => return Err(format!("there is no test `{other}` of SSL")),
    };
    let host = Host { globals: ssl_compiler::runtime::GlobalsLayout::new(), ..Host::default() };
    Ok(host.stage(source, stage).to_string())
}

/// The text laid out, which laying out once more does not change.
fn formatted(source: &str) -> Result<String, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let once = ssl_compiler::format(&sources, file).map_err(|d| explain(&sources, &d))?;
    let file = sources.add("test.ssl", once.as_str());
    let twice = ssl_compiler::format(&sources, file).map_err(|d| explain(&sources, &d))?;
    if once == twice { Ok(once) } else { Err(format!("formatted\n{once}\nand once more\n{twice}")) }
}

fn from_ir(what: &str, text: &str) -> Result<String, String> {
    if what == "verify-fails" {
        return match parse::parse(text) {
            Ok(_) => Err("the verifier finds nothing".to_owned()),
            Err(message) => Ok(message),
        };
    }
    let mut module = parse::parse(text)?;
    let mut remarks = Remarks::heard();
    let run: fn(&mut Module, &mut Remarks) = match what {
        "simplify" => |m, _| simplify::run(m),
        "identities" => simplify::with_identities,
        "dce" => |m, _| dce::run(m),
        "dead-parameters" => dead_parameters::run,
        "unroll" => unroll::run,
        "tails" => tails::run,
        "hoist" => hoist::run,
        "tables" => |m, _| tables::run(m),
        "expand-math" => |m, _| expand_math::run(m),
        "inline" => inline::run,
        "inline-everything" => |m, _| inline::everything(m),
        "differentiate" => |m, _| ad::run(m, CallPolicy::BySignature).unwrap_or_else(|u| panic!("{u:?}")),
        "gradients" => |m, _| {
            gradients::run(m);
        },
        "round-trip" => |_, _| {},
        other => return Err(format!("there is no test `{other}` of IR")),
    };
    run(&mut module, &mut remarks);
    verify::verify(&module).map_err(|errors| errors.join("\n"))?;
    let found = module.to_string();
    let again = parse::parse(&found)?.to_string();
    if again != found {
        return Err(format!("printed\n{found}\nand read back\n{again}"));
    }
    let remarks: String = remarks.list.iter().map(|r| format!("; {r}\n")).collect();
    Ok(remarks + &found)
}
