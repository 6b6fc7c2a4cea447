//! What a fuzzer sends to the compiler, as functions of bytes: they panic if a promise is broken.
//!
//! The targets in `fuzz/` call these, and so does `tests/fuzz_regressions.rs` with the inputs that once
//! broke something, which lie in `fuzz/` beside this crate's sources, a folder a target.

use crate::generate::{Flavour, ROWS, Random, VALUES, kernel, kernel_and_derivative, program_from};
use crate::kernel_programs::{gives_the_same_bits, gradient_is_the_transpose};
use crate::layout::complaint;
use crate::{Host, NATIVE_AS_LOWERED, Ran, WAYS, explain, messages, run};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::diagnostics::{Diagnostics, codes};
use ssl_compiler::ir::{Module, parse, verify};
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::passes::remarks::Remarks;
use ssl_compiler::passes::{ad, dce, dead_parameters, expand_math, hoist, inline, simplify, tables, unroll};
use ssl_compiler::runtime::GlobalsLayout;
use ssl_compiler::source::{SourceMap, Span};
use ssl_compiler::{BackendKind, check, compile, graph, on_large_stack, syntax};
use std::path::Path;

/// A target's name and what it does with its input.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("syntax", syntax),
    ("checker", checker),
    ("programs", programs),
    ("kernels", kernels),
    ("ir", ir),
    ("graph", graph),
];

/// Lexer, parser and formatter on any text.
pub fn syntax(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.ssl", &*text);
    let mut diagnostics = Diagnostics::new();
    on_large_stack(|| {
        let tree = syntax::parse(&sources, file, &mut diagnostics);
        syntax::print::tree(&tree);
    });
    presentable(&diagnostics, &sources);
    if let Some(complaint) = complaint(&text) {
        panic!("{complaint}");
    }
}

/// Checker, and where it finds no error everything up to optimised intermediate code.
pub fn checker(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.ssl", &*text);
    let options = host.options(WAYS[1]);
    let (checked, diagnostics) = check(&mut sources, file, &options);
    presentable(&diagnostics, &sources);
    if diagnostics.has_errors() {
        return;
    }
    match compile(&mut sources, file, checked.program.shaders().next().map(|(_, f)| f.name.as_str()), &options) {
        Ok((_, diagnostics)) => presentable(&diagnostics, &sources),
        Err(diagnostics) => {
            presentable(&diagnostics, &sources);
            assert!(diagnostics.list.iter().all(|d| d.code != &codes::BACKEND), "{}", messages(&diagnostics));
        }
    }
}

/// Every finding has a place in the text, words and a hint, and can be shown.
fn presentable(diagnostics: &Diagnostics, sources: &SourceMap) {
    assert!(diagnostics.list.iter().all(|d| d.span.is_some()), "a finding has no place: {}", messages(diagnostics));
    placed(diagnostics, sources);
}

/// The same where a finding may be about everything, which has no place.
fn placed(diagnostics: &Diagnostics, sources: &SourceMap) {
    explain(sources, diagnostics);
    for d in &diagnostics.list {
        let inside = |s: Span| s.start <= s.end && s.end as usize <= sources.get(s.file).text.len();
        let labels = d.labels.iter().map(|l| l.span);
        assert!(d.span.into_iter().chain(labels).all(inside), "{d:?}");
        assert!(!d.hint.is_empty() && !d.message.is_empty(), "{d:?}");
    }
}

/// The text of a graph file: read, linked, checked and drawn; what it becomes gives the same bits in every way of
/// running it. Its units stand in the text, as there are no files.
pub fn graph(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let host = Host::default();
    let mut sources = SourceMap::new();
    let (group, found) = graph::read_text(Path::new("no such folder/fuzz.toml"), &text, &mut sources);
    placed(&found, &sources);
    let Some(group) = group.filter(|_| !found.has_errors()) else { return };
    let drawn = graph::show(&group, &mut sources, &host.options(WAYS[1]));
    match &drawn {
        Ok((diagram, found)) => {
            placed(found, &sources);
            graph::draw::dot::dot(diagram);
            graph::draw::svg::svg(diagram);
        }
        Err(found) => placed(found, &sources),
    }
    let linked = match graph::link(&group, &mut sources, &host.options(WAYS[1])) {
        Ok((linked, found)) => {
            placed(&found, &sources);
            linked
        }
        Err(found) => {
            assert!(drawn.is_err(), "what does not link is drawn: {}", messages(&found));
            return placed(&found, &sources);
        }
    };
    let mut ran: Vec<Ran> = Vec::new();
    for way in WAYS {
        match compile(&mut sources, linked.file, Some(&linked.shader), &host.options(way)) {
            Ok((shader, _)) => ran.push(on_large_stack(|| run(&shader, &[0.3, -0.7, 0.5], 10_000))),
            Err(found) => {
                placed(&linked.blame(found.clone()), &sources);
                assert!(found.list.iter().all(|d| d.code != &codes::BACKEND), "{}", messages(&found));
                return;
            }
        }
    }
    ran[2..].iter().for_each(|other| assert_eq!(*other, ran[1]));
}

/// A well-typed program gives the same bits in every way of running it.
pub fn programs(data: &[u8]) {
    let Some((&[size, kind, fuel], script)) = data.split_first_chunk() else { return };
    let flavour = Flavour { smooth: kind & 1 != 0, nested_derivatives: kind & 2 != 0 };
    let source = program_from(Random::scripted(script), usize::from(size) % 40, flavour);
    let rows: Vec<f32> = input_rows(kind >> 2);
    let ample = fuel == 0;
    let fuel = if ample { 100_000 } else { u32::from(fuel) };
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let mut ran: Vec<Ran> = Vec::new();
    for way in WAYS.into_iter().chain([NATIVE_AS_LOWERED]) {
        match host.compile(&source, way) {
            Ok(shader) => ran.push(on_large_stack(|| run(&shader, &rows, fuel))),
            Err(d) if d.list.iter().all(|d| d.code == &codes::UNBOUNDED_ORDER) => return,
            Err(d) => panic!("{way:?}: {}\n{source}", messages(&d)),
        }
    }
    // A round costs what its work comes to, which is less where it was simplified before it was derived.
    if ample {
        assert_eq!(ran[1].status.errors, ran[0].status.errors, "optimised differs in how it ends\n{source}");
    }
    // A shadow that is known to be 0 is left out, so folding may change the sign of a zero derivative.
    if ample && !flavour.nested_derivatives {
        assert_eq!(ran[1].outputs[..VALUES], ran[0].outputs[..VALUES], "optimised differs\n{source}");
        assert_eq!(ran[1].said, ran[0].said, "optimised says something else\n{source}");
    }
    for (way, native) in WAYS.iter().zip(&ran).skip(2) {
        assert_eq!(*native, ran[1], "{way:?} differs\n{source}");
    }
    assert_eq!(ran[WAYS.len()], ran[0], "native code of the module as lowered differs\n{source}");
}

/// A well-typed kernel gives the same bits in every way of running it, and its gradient is the transpose of its derivative.
pub fn kernels(data: &[u8]) {
    let Some((&[size, kind, seed], script)) = data.split_first_chunk() else { return };
    let (random, mut elements) = (Random::scripted(script), Random::new(u64::from(seed)));
    let size = usize::from(size) % 30;
    let held = on_large_stack(|| match kind % 3 {
        0 => gradient_is_the_transpose(&kernel_and_derivative(random, size), &mut elements).map(|_| ()),
        kind => gives_the_same_bits(&kernel(random, size, kind == 1), &mut elements),
    });
    if let Err(why) = held {
        panic!("{why}");
    }
}

fn input_rows(choice: u8) -> Vec<f32> {
    const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let mut rows: Vec<f32> = (0..ROWS)
        .map(|i| match choice & 8 {
            0 => (i as f32 - 4.0) * 0.37 * (f32::from(choice & 7) + 1.0),
            _ => SPECIAL[(i + usize::from(choice)) % SPECIAL.len()],
        })
        .collect();
    rows[ROWS - 1] = f32::from_bits([0, 1, 3, u32::MAX, 0x8000_0000][usize::from(choice) % 5]);
    rows
}

/// Textual intermediate code: read, verified, brought through each pass, printed and read back, compiled.
pub fn ir(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    on_large_stack(|| {
        let Ok(module) = parse::parse(&text) else { return };
        reads_back(&module);
        let passes: [fn(&mut Module); 10] = [
            simplify::run,
            dce::run,
            |m| dead_parameters::run(m, &mut Remarks::unheard()),
            |m| inline::run(m, &mut Remarks::unheard()),
            |m| simplify::with_identities(m, &mut Remarks::unheard()),
            |m| unroll::run(m, &mut Remarks::unheard()),
            |m| hoist::run(m, &mut Remarks::unheard()),
            tables::run,
            expand_math::run,
            |m| {
                // A derivative of unbounded order is refused.
                let _ = ad::run(m, CallPolicy::BySignature);
            },
        ];
        for pass in passes {
            let mut module = module.clone();
            pass(&mut module);
            verified(&module);
            simplify::run(&mut module);
            verified(&module);
            reads_back(&module);
        }
        if ad::run(&mut module.clone(), CallPolicy::Merged).is_ok() {
            // What cannot be compiled is refused.
            let opt = OptLevel::O0;
            let target =
                ssl_compiler::Target { backend: BackendKind::Cranelift, opt, ..ssl_compiler::Target::default() };
            let _ = target.instance(None).compile(&module);
        }
    });
}

fn verified(module: &Module) {
    if let Err(errors) = verify::verify(module) {
        panic!("{}\n{module}", errors.join("\n"));
    }
}

fn reads_back(module: &Module) {
    let text = module.to_string();
    match parse::parse(&text) {
        Ok(again) => assert_eq!(again.to_string(), text),
        Err(e) => panic!("{e}\n{text}"),
    }
}
