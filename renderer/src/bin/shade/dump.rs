//! `shade dump FILE --stage …`: what the compiler makes of a shader.

use super::cotangents;
use super::derivatives::DerivativeArguments;
use super::gradients;
use super::includes::Includes;
use super::json::JsonArgument;
use super::linked;
use super::outcome::{self, Outcome};
use super::program::Program;
use super::target;
use super::why;
use renderer::material::ShadingLanguage;
use ssl_compiler::analysis::axes::Axes;
use ssl_compiler::backend::{BackendError, Text};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::ir::print::print_function;
use ssl_compiler::ir::{Module, Value};
use ssl_compiler::passes::ad::reverse::report;
use ssl_compiler::passes::ad::why::why_cotangents;
use ssl_compiler::passes::ad::{Variant, tangent_variants, variants_as};
use ssl_compiler::passes::expand_math;
use ssl_compiler::passes::remarks::Remarks;
use ssl_compiler::pipeline::Stage as Reached;
use ssl_compiler::pipeline::{Options, run_remarking};
use ssl_compiler::source::{FileId, SourceFile, SourceMap};
use ssl_compiler::{BackendKind, CompileOptions, GradientRequest, OpenInterface, Target, lower_checked, syntax};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The shader file, or a graph of shaders
    file: PathBuf,
    /// The name of the shader. Needed if the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The stage whose result to show
    #[arg(long, value_enum)]
    stage: Stage,
    /// Explain why a variable carries its derivative or has a cotangent, or why not. Name a variable as `p`, `p.x`, `list[2]` or `function.p`, or a line as
    /// `file.ssl:12`
    #[arg(long, value_name = "NAME")]
    why: Option<String>,
    /// Show the code of the gradient of all outputs by this parameter, global, buffer or texture; may be repeated
    #[arg(long, value_name = "NAME")]
    by: Vec<String>,
    /// With `--stage linked`, leave an interface open, whose values have room for so many floats and ints; may be repeated
    #[arg(long, value_name = "NAME:FLOATS,INTS", value_parser = linked::open_interface)]
    open: Vec<OpenInterface>,
    /// With `--stage linked`, a file whose types are linked to the compiled shader; may be repeated
    #[arg(long, value_name = "FILE")]
    link: Vec<PathBuf>,
    #[command(flatten)]
    json: JsonArgument,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    target: target::TargetArguments,
    #[command(flatten)]
    derivatives: DerivativeArguments,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Stage {
    /// The syntax tree
    Ast,
    /// The intermediate code after lowering
    Ir,
    /// Which values vary over the surface: the source with marks, and the intermediate code with notes
    Lineage,
    /// Which values carry derivatives: the source with marks, and the intermediate code with notes
    Demand,
    /// The intermediate code after differentiation
    Ad,
    /// The optimised intermediate code, which all back ends start from
    Opt,
    /// What the passes that optimise did, and why
    Remarks,
    /// Through which values the cotangents of gradients pass: the source with marks, and the intermediate code with notes
    Adjoint,
    /// Which values the reverse sweeps of gradients read: the source with marks, and the intermediate code with notes
    Needed,
    /// What the reverse sweeps of gradients keep of each loop and call, in bytes, and why
    Tape,
    /// How the code runs over the points of a block together: branches, masks and calls, with the reasons
    Simd,
    /// The same with mathematical functions expanded, which the back ends that make machine code translate
    Math,
    /// What is compiled where `--link` links types to the shader, and nothing else is
    Linked,
    /// Cranelift's intermediate code
    Clif,
    /// LLVM's optimised intermediate code
    Llvm,
    /// The machine code of the back end
    Asm,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut outcome = Outcome::default();
    let explained = matches!(arguments.stage, Stage::Demand | Stage::Lineage | Stage::Adjoint | Stage::Needed);
    if arguments.why.is_some() && !explained {
        return outcome.usage("`--why` goes with the stages `demand`, `lineage`, `adjoint` and `needed`");
    }
    if arguments.json.is_wanted() && arguments.why.is_none() {
        return outcome.usage("`--json` goes with `--why`: all else that is dumped is text");
    }
    let links = !arguments.open.is_empty() || !arguments.link.is_empty();
    if links && arguments.stage != Stage::Linked {
        return outcome.usage("`--open` and `--link` go with the stage `linked`");
    }
    if arguments.stage == Stage::Linked {
        let Arguments { file, open, link, by, .. } = arguments;
        let (entry, target) = (arguments.entry.as_deref(), arguments.target.target());
        return linked::run(
            &linked::Asked { file, entry, by, open, link, target },
            &arguments.includes.search(),
            outcome,
        );
    }
    let native = match native(arguments) {
        Ok(native) => native,
        Err(message) => return outcome.usage(message),
    };
    let language = ShadingLanguage::new();
    let imports = arguments.includes.search();
    let passes = arguments.derivatives.passes();
    let names = arguments.why.is_some();
    let options = CompileOptions {
        imports: &imports,
        passes,
        names,
        externals: language.functions(),
        ..CompileOptions::new(language.globals(), language.closures())
    };
    let program = match Program::read(&arguments.file, &mut outcome.sources, &options) {
        Ok(program) => program,
        Err(errors) => return outcome.refuse(errors),
    };
    if arguments.stage == Stage::Ast {
        let tree = syntax::parse(&outcome.sources, program.file, &mut outcome.diagnostics);
        outcome.output = syntax::print::tree(&tree);
        outcome.code = if outcome.diagnostics.has_errors() { outcome::INPUT_AT_FAULT } else { outcome::FINE };
        return outcome;
    }
    match dump(arguments, native, &mut outcome.sources, &program, &options) {
        Ok(Ok(Dump::Text(output))) => {
            outcome.output = output;
            outcome
        }
        Ok(Ok(Dump::Report(report))) => {
            outcome.report = Some(Box::new(report));
            outcome
        }
        Ok(Err(message)) => outcome.usage(&message),
        Err(diagnostics) => outcome.refuse(program.blame(diagnostics)),
    }
}

/// What a back end of this build is asked to show.
type Native = Option<(Target, Text)>;

fn native(arguments: &Arguments) -> Result<Native, &'static str> {
    let target = arguments.target.target();
    Ok(match arguments.stage {
        Stage::Clif => Some((Target { backend: BackendKind::Cranelift, ..target }, Text::Intermediate)),
        Stage::Llvm => {
            let llvm = BackendKind::ALL.iter().find(|b| b.name() == "llvm").ok_or(target::NO_LLVM)?;
            Some((Target { backend: *llvm, ..target }, Text::Intermediate))
        }
        Stage::Simd => Some((target, Text::Plan)),
        Stage::Asm => Some((target, Text::Assembly)),
        _ => None,
    })
}

/// The text, or why there is none: what the user asked for cannot be had, or the shader is at fault.
type Dumped = Result<Result<Dump, String>, Diagnostics>;

enum Dump {
    Text(String),
    /// For `--json`.
    Report(serde_json::Value),
}

fn dump(
    arguments: &Arguments,
    native: Native,
    sources: &mut SourceMap,
    program: &Program,
    options: &CompileOptions<'_>,
) -> Dumped {
    let file = program.file;
    let (checked, diagnostics) = ssl_compiler::check(sources, file, options);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let wanted = match arguments.stage {
        Stage::Ir | Stage::Remarks | Stage::Tape | Stage::Adjoint | Stage::Needed => Reached::Lowered,
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
    let entry = arguments.entry.as_deref().or(program.entry.as_deref());
    let asked = match arguments.by.as_slice() {
        [] => None,
        names => {
            let (_, interface) = lower_checked(&checked, file, entry, options, &mut |_, _| {})?;
            match gradients::by_names(GradientRequest::of_all(), names, &interface) {
                Ok(request) => Some(request),
                Err(message) => return Ok(Err(message)),
            }
        }
    };
    let options = &CompileOptions { gradient: asked.as_ref(), ..*options };
    let (module, _) = lower_checked(&checked, file, entry, options, &mut look)?;
    let module = seen.unwrap_or(module);
    if let Some((target, text)) = native {
        let text = ssl_compiler::on_large_stack(|| target.instance(None).text(&module, text));
        return Ok(text.map(Dump::Text).map_err(|BackendError(message)| message));
    }
    if matches!(arguments.stage, Stage::Adjoint | Stage::Needed) {
        return Ok(sweeps(arguments, module, options.passes, sources, file));
    }
    if let Some(query) = &arguments.why {
        let passes = options.passes;
        let found = ssl_compiler::passes::ad::why::why(&module, passes.call_policy, passes.derivatives, sources, query);
        return Ok(match (found, arguments.json.is_wanted()) {
            (Err(unknown), _) => Err(format!("{}; {}", unknown.message, unknown.hint)),
            (Ok(answers), false) => Ok(Dump::Text(why::text(&answers, sources))),
            (Ok(answers), true) => Ok(Dump::Report(why::json(query, &answers, sources))),
        });
    }
    Ok(Ok(Dump::Text(match arguments.stage {
        Stage::Remarks => remarks(module, options.passes, sources, |pass| pass != report::PASS),
        Stage::Tape => remarks(module, options.passes, sources, |pass| pass == report::PASS),
        Stage::Lineage | Stage::Demand => {
            marked(&module, options.passes, (sources.get(file), file), arguments.stage == Stage::Demand)
        }
        Stage::Math => {
            let mut module = module;
            expand_math::run(&mut module);
            module.to_string()
        }
        _ => module.to_string(),
    })))
}

/// What reverse mode sweeps through in a module as it was lowered.
fn sweeps(
    arguments: &Arguments,
    module: Module,
    passes: Options,
    sources: &SourceMap,
    file: FileId,
) -> Result<Dump, String> {
    let found = heard(module.clone(), passes).sweeps;
    let Some(query) = &arguments.why else {
        let needed = arguments.stage == Stage::Needed;
        return Ok(Dump::Text(cotangents::marked(&found, (sources.get(file), file), needed)));
    };
    let answers = why_cotangents(&module, &found, sources, query);
    let answers = answers.map_err(|unknown| format!("{}; {}", unknown.message, unknown.hint))?;
    Ok(match arguments.json.is_wanted() {
        true => Dump::Report(cotangents::json(query, &answers, sources)),
        false => Dump::Text(cotangents::text(&answers, sources)),
    })
}

/// What the passes say of a module as it was lowered.
fn heard(mut module: Module, passes: Options) -> Remarks {
    let mut remarks = Remarks::heard();
    // It went through the same passes before.
    let ran = ssl_compiler::on_large_stack(|| run_remarking(&mut module, passes, &mut |_, _| {}, &mut remarks));
    debug_assert!(ran.is_ok(), "{ran:?}");
    remarks
}

/// What these passes say of a module as it was lowered, a line each.
fn remarks(module: Module, passes: Options, sources: &SourceMap, wanted: impl Fn(&str) -> bool) -> String {
    heard(module, passes)
        .list
        .iter()
        .filter(|r| wanted(r.pass))
        .map(|r| format!("{}: {r}\n", sources.place(r.span)))
        .collect()
}

/// The source with a mark before each line, then each variant's code with notes.
fn marked(module: &Module, passes: Options, (source, file): (&SourceFile, FileId), demand: bool) -> String {
    let mut list = variants_as(module, passes.call_policy, passes.derivatives);
    let tangents = tangent_variants(module, passes.call_policy);
    let has_tangents = !tangents.is_empty();
    list.extend(tangents);
    let of_tangents = |v: &Variant| v.activity.axes() == Axes::Tangent;
    let mark = |v: &Variant, value: Value| -> String {
        match demand {
            true => v.activity.marks(value),
            false if v.activity.is_varied(value) => if of_tangents(v) { "t" } else { "v" }.to_owned(),
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
    let also = match (has_tangents, demand) {
        (false, _) => "",
        (true, true) => "; t: one carries a tangent of `fwd_diff`",
        (true, false) => "; t: one depends on a tangent of `fwd_diff`",
    };
    let mut out = format!("{legend}{also}\n\n");
    for (i, marks) in lines.iter().enumerate().skip(1) {
        out.push_str(format!("{marks:>3} | {}", source.line(i)).trim_end());
        out.push('\n');
    }
    for v in &list {
        out.push('\n');
        let note = |value: Value| match (demand, mark(v, value)) {
            (_, m) if m.is_empty() => m,
            (true, _) if of_tangents(v) => "tangent".to_owned(),
            (false, _) if of_tangents(v) => "varied along tangents".to_owned(),
            (true, m) => format!("shadow {m}"),
            (false, _) => "varied".to_owned(),
        };
        out.push_str(&print_function(module.function(v.function), module, &note));
    }
    out
}
