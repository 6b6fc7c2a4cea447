//! Every function of the standard library in every form: first, second and mixed derivatives against finite
//! differences of the f64 interpreter. The forms come from the library itself, so that a new one is proven too.

use ssl_compiler::BackendKind;
use ssl_compiler::CompileOptions;
use ssl_compiler::builtins::library::{LIBRARY, LibraryFile};
use ssl_compiler::sema::hir::{Function, Parameter, Program};
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::ast::Direction;
use ssl_compiler::testing::{Session, run_file};
use ssl_compiler::types::{Scalar, Type};
use ssl_tests::{Host, explain, on_large_stack};
use std::fmt::Write;

/// Periods that every periodic noise takes: simplex noise in three dimensions only knows multiples of 3.
const PERIOD: f32 = 6.0;

/// An argument that varies with q, of which the first ones take different parts.
fn argument(program: &Program, f: &Function, i: usize, p: &Parameter) -> Option<String> {
    let variable = &f.variables[p.variable.0 as usize];
    let ty = program.types.display(&variable.ty).to_string();
    if variable.name.contains("period") {
        return Some(format!("{ty}({PERIOD:?})"));
    }
    // Later arguments are mixed from others, so that no two are the same.
    let varied = if i == 0 { "q".to_owned() } else { format!("(0.{i} + 0.3 * q.wxyz)") };
    Some(match variable.ty {
        Type::Float => format!("{varied}.x"),
        Type::Int => "2".to_owned(),
        Type::Bool => "true".to_owned(),
        _ => match (variable.ty.component_scalar()?, variable.ty.components()?) {
            (Scalar::Float, 2) => format!("{varied}.xy"),
            (Scalar::Float, 3) => format!("{ty}({varied}.xyz)"),
            (Scalar::Float, 4) => varied,
            _ => return None,
        },
    })
}

/// A shader that derives a function's results; `None` where it gives no floats.
fn probe(program: &Program, f: &Function, number: usize) -> Option<String> {
    let (mut declared, mut arguments, mut results) = (String::new(), Vec::new(), Vec::new());
    let is_float = |ty: &Type| ty.component_scalar() == Some(Scalar::Float);
    for (i, p) in f.parameters.iter().enumerate() {
        if p.direction != Direction::In {
            let ty = &f.variables[p.variable.0 as usize].ty;
            let start = argument(program, f, i, p)?;
            writeln!(declared, "    {} o{i} = {start};", program.types.display(ty)).expect("text grows");
            arguments.push(format!("o{i}"));
            results.extend(is_float(ty).then(|| format!("o{i}")));
        } else if p.default.is_none() {
            arguments.push(argument(program, f, i, p)?);
        } else {
            break;
        }
    }
    let call = format!("{}({})", f.name, arguments.join(", "));
    let mut body = declared;
    if is_float(&f.result) {
        writeln!(body, "    {} r = {call};", program.types.display(&f.result)).expect("text grows");
        results.push("r".to_owned());
    } else {
        writeln!(body, "    {call};").expect("text grows");
    }
    // Weights that keep components apart.
    let sum: Vec<String> = results.iter().map(|r| format!("weighed({r})")).collect();
    if sum.is_empty() {
        return None;
    }
    Some(format!(
        "shader probe{number}(out float4 slopes)\n{{\n    const float4 q = global_value<q>;\n{body}\
         \n    const float s = {};\n    slopes = float4(ddx(s), ddy(s), ddx(ddx(s)), ddx(ddy(s)));\n}}\n\
         test \"{call}\" {{ samples = 2; {GIVEN} run probe{number}(); \
         expect_numeric_derivatives(1e-3); }}\n",
        sum.join(" + ")
    ))
}

/// What probes read, by themselves and through `bump`.
const GIVEN: &str = "q = uniform(float4(0.1), float4(0.9)); position = uniform(float3(-1.0), float3(1.0)); \
     normal = uniform(float3(0.1), float3(0.9)); \
     tangent = uniform(float3(0.5, -0.9, -0.9), float3(0.9, -0.5, -0.5)); \
     bitangent = uniform(float3(-0.9, 0.5, -0.9), float3(-0.5, 0.9, -0.5));";

const HEAD: &str = "globals { float4 q; point position; normal normal; vector tangent; vector bitangent; }
float weighed(float x) { return x; }
float weighed(float2 x) { return dot(x, float2(1.0, 0.6)); }
float weighed(float3 x) { return dot(x, float3(1.0, 0.6, -0.7)); }
float weighed(float4 x) { return dot(x, float4(1.0, 0.6, -0.7, 0.4)); }
";

/// How many forms of a file's functions were derived; what is wrong with them.
fn prove(file: &LibraryFile) -> (usize, String) {
    let host = Host::default();
    let options = CompileOptions::new(&host.globals, &host.closures);
    let mut sources = SourceMap::new();
    let id = sources.add(format!("std/{}", file.name), file.text);
    let (checked, _) = ssl_compiler::check(&mut sources, id, &options);
    let offered = |f: &&Function| {
        let name = f.name.as_str();
        f.span.file == id && file.functions.contains(&name) && !STEPS.contains(&name)
    };
    let functions = checked.program.functions.iter().filter(offered);
    let probes: Vec<String> = functions.enumerate().filter_map(|(i, f)| probe(&checked.program, f, i)).collect();
    let text = format!("{HEAD}{}", probes.concat());
    let mut sources = SourceMap::new();
    let id = sources.add(format!("probes of {}", file.name), text);
    let session = Session { backends: &[BackendKind::Interpreter], ..Session::new(&host.globals, &host.closures) };
    let reports = match run_file(&session, &mut sources, id) {
        Ok((reports, _)) => reports,
        Err(diagnostics) => return (0, explain(&sources, &diagnostics)),
    };
    let failed = reports.iter().flat_map(|r| r.failures.iter().map(move |f| (r, f)));
    let wrong = failed.map(|(r, f)| format!("{}: {}\n", r.name, f.message)).collect();
    (reports.len(), wrong)
}

/// Steps that leave finite differences no room; their derivative is 0 by definition and tested by name.
const STEPS: &[&str] = &["hashnoise", "hashnoise_float3"];

/// Proves the files that are wanted; at least so many forms.
fn prove_all(wanted: impl Fn(&LibraryFile) -> bool + Sync, at_least: usize) {
    on_large_stack(|| {
        let (mut forms, mut wrong) = (0, String::new());
        for file in LIBRARY.iter().filter(|f| !f.functions.is_empty() && wanted(f)) {
            let (count, said) = prove(file);
            forms += count;
            wrong.push_str(&said);
        }
        assert!(wrong.is_empty(), "{wrong}");
        assert!(forms >= at_least, "only {forms} forms were derived");
    });
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn every_form_of_noise_has_its_first_and_second_derivatives() {
    prove_all(|f| f.name.starts_with("noise/"), 150);
}

#[test]
fn every_other_form_has_its_first_and_second_derivatives() {
    prove_all(|f| !f.name.starts_with("noise/"), 60);
}
