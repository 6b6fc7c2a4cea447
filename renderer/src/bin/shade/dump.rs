//! `shade dump FILE --stage …`: what the compiler made of a shader.

use super::check::read;
use super::outcome::{self, Outcome};
use renderer::material::ShadingLanguage;
use ssl_compiler::backend::cranelift::{Effort, text};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::ir::print::print_function;
use ssl_compiler::ir::{Module, Value};
use ssl_compiler::passes::ad::{CallPolicy, Variant, variants};
use ssl_compiler::pipeline::Stage as Reached;
use ssl_compiler::source::{FileId, SourceMap};
use ssl_compiler::{CompileOptions, lower_checked, syntax};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The shader file
    file: PathBuf,
    /// The shader, where the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// How far the compiler goes
    #[arg(long, value_enum)]
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Stage {
    /// The syntax tree
    Ast,
    /// Intermediate code as lowered
    Ir,
    /// What varies over the surface, as source with marks and as code with notes
    Lineage,
    /// What carries shadows, likewise
    Demand,
    /// Differentiated
    Ad,
    /// Optimised, as back ends get it
    Opt,
    /// Cranelift's intermediate code
    Clif,
    /// LLVM's intermediate code
    Llvm,
    /// Machine code
    Asm,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut outcome = Outcome::default();
    if arguments.stage == Stage::Llvm {
        outcome.code = outcome::USAGE;
        outcome.note =
            "this build has no LLVM back end; `--stage clif` and `--stage asm` show the Cranelift one\n".to_owned();
        return outcome;
    }
    let file = match read(&arguments.file, &mut outcome.sources) {
        Ok(file) => file,
        Err(d) => return outcome.refuse((*d).into()),
    };
    if arguments.stage == Stage::Ast {
        let tree = syntax::parse(&outcome.sources, file, &mut outcome.diagnostics);
        outcome.output = syntax::print::tree(&tree);
        outcome.code = if outcome.diagnostics.has_errors() { outcome::INPUT_AT_FAULT } else { outcome::FINE };
        return outcome;
    }
    match dump(arguments, &outcome.sources, file) {
        Ok(output) => {
            outcome.output = output;
            outcome
        }
        Err(diagnostics) => outcome.refuse(diagnostics),
    }
}

fn dump(arguments: &Arguments, sources: &SourceMap, file: FileId) -> Result<String, Diagnostics> {
    let language = ShadingLanguage::new();
    let options = CompileOptions::new(language.globals(), language.closures());
    let (checked, diagnostics) = ssl_compiler::check(sources, file, &options);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let wanted = match arguments.stage {
        Stage::Ir => Reached::Lowered,
        Stage::Lineage | Stage::Demand => Reached::BeforeAd,
        Stage::Ad => Reached::Differentiated,
        _ => Reached::Optimised,
    };
    let mut seen = None;
    let mut look = |stage: Reached, module: &Module| {
        if stage == wanted {
            seen = Some(module.clone());
        }
    };
    let (module, _) = lower_checked(&checked, file, arguments.entry.as_deref(), &options, &mut look)?;
    let module = seen.unwrap_or(module);
    Ok(match arguments.stage {
        Stage::Lineage | Stage::Demand => marked(&module, sources.get(file), file, arguments.stage == Stage::Demand),
        Stage::Clif | Stage::Asm => {
            text(&module, Effort::default(), arguments.stage == Stage::Asm).unwrap_or_else(|e| format!("{}\n", e.0))
        }
        _ => module.to_string(),
    })
}

/// The source with a mark before each line, then each variant's code with notes.
fn marked(module: &Module, source: &ssl_compiler::source::SourceFile, file: FileId, demand: bool) -> String {
    let list = variants(module, CallPolicy::default());
    let mark = |v: &Variant, value: Value| -> String {
        let shadows = if demand { v.activity.shadows(value) } else { Default::default() };
        match demand {
            true => [(shadows.x, "x"), (shadows.y, "y")].iter().filter(|(on, _)| *on).map(|(_, s)| *s).collect(),
            false if v.activity.is_varied(value) => "v".to_owned(),
            false => String::new(),
        }
    };
    let mut lines = vec![String::new(); source.line_count() + 1];
    for v in &list {
        module.function(v.function).walk(|_, data| {
            if data.span.file == file {
                let (line, _) = source.line_column(data.span.start);
                for c in data.results.iter().flat_map(|&r| mark(v, r).chars().collect::<Vec<_>>()) {
                    if !lines[line].contains(c) {
                        lines[line].push(c);
                    }
                }
            }
        });
    }
    let legend = if demand {
        "x, y: a value of this line carries that shadow"
    } else {
        "v: a value of this line varies over the surface"
    };
    let mut out = format!("{legend}\n\n");
    for (i, marks) in lines.iter().enumerate().skip(1) {
        out.push_str(format!("{marks:>3} | {}", source.line(i)).trim_end());
        out.push('\n');
    }
    for v in &list {
        out.push('\n');
        let note = |value: Value| match (demand, mark(v, value)) {
            (_, m) if m.is_empty() => m,
            (true, m) => format!("shadow {m}"),
            (false, _) => "varied".to_owned(),
        };
        out.push_str(&print_function(module.function(v.function), module, &note));
    }
    out
}
