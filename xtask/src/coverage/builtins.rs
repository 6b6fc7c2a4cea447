//! The built-ins as rules, and their tests as the compiler sees them.
//!
//! A row is accepted by a test that runs a shader which calls it, and then expects a value; it is
//! differentiated where its value carries a shadow there, or where it stands in the operand of `ddx` or `ddy`
//! (the derivative of a step is a known 0). That wrong arguments are refused is shown for every row at once,
//! by a test that goes through the table.

use crate::shaders::Tested;
use crate::{Kind, Rule, Rules};
use renderer::material::ShadingLanguage;
use ssl_compiler::builtins::{Builtin, BuiltinId, Expand, Gives, Param, TABLE};
use ssl_compiler::passes::ad::{CallPolicy, variants};
use ssl_compiler::pipeline::Stage;
use ssl_compiler::sema::reach;
use ssl_compiler::source::{FileId, Span};
use ssl_compiler::{Checked, CompileOptions, lower_checked};
use std::collections::BTreeSet;

/// The test that calls every row with wrong arguments; checked to be there.
const REJECTING: &str = include_str!("../../../tests/tests/wrong_arguments.rs");

pub fn rules(tested: &[Tested]) -> Rules {
    let language = ShadingLanguage::new();
    let options = CompileOptions::new(language.globals(), language.closures());
    let mut accepted = vec![0usize; TABLE.len()];
    let mut differentiated = vec![0usize; TABLE.len()];
    for Tested { checked, file, shaders } in tested {
        for shader in shaders {
            let calls = reach::builtins(&checked.program, shader.id);
            let shadows = shadowed(checked, *file, &shader.name, &options);
            let operands: Vec<Span> = calls.iter().filter(|(b, _)| is_derivative(*b)).map(|(_, s)| *s).collect();
            let within =
                |inner: &Span| operands.iter().any(|o| o.start <= inner.start && inner.end <= o.end && o != inner);
            for (builtin, span) in &calls {
                let row = usize::from(builtin.0);
                accepted[row] += usize::from(shader.by_value);
                differentiated[row] += usize::from(shadows.contains(&(span.start, span.end)) || within(span));
            }
        }
    }
    let row = |(i, b): (usize, &Builtin)| {
        let mut rule = Rule { needs: vec![Kind::Accept, Kind::Reject], ..Rule::default() };
        if computes_floats(b) {
            rule.needs.push(Kind::Derivative);
        }
        rule.tests.insert(Kind::Accept, accepted[i]);
        rule.tests.insert(Kind::Derivative, differentiated[i]);
        rule.tests
            .insert(Kind::Reject, usize::from(REJECTING.contains("for (id, builtin) in TABLE.iter().enumerate()")));
        (format!("builtin {}", b.signature()), rule)
    };
    TABLE.iter().enumerate().map(row).collect()
}

fn is_derivative(id: BuiltinId) -> bool {
    matches!(Builtin::get(id).expand, Expand::Derivative(_))
}

/// Whether there is something to differentiate: floats in, floats out.
fn computes_floats(b: &Builtin) -> bool {
    let float = |p: &Param| !matches!(p, Param::Bool | Param::Int | Param::Basis | Param::Closure);
    let gives = match b.gives {
        Gives::Bool | Gives::Int => false,
        Gives::First => b.params.first().is_some_and(float),
        _ => true,
    };
    gives && b.params.iter().any(float)
}

/// The places of a shader's source whose values carry a shadow.
fn shadowed(checked: &Checked, file: FileId, shader: &str, options: &CompileOptions<'_>) -> BTreeSet<(u32, u32)> {
    let mut lowered = None;
    let mut look = |stage: Stage, module: &ssl_compiler::ir::Module| {
        if stage == Stage::Lowered {
            lowered = Some(module.clone());
        }
    };
    if lower_checked(checked, file, Some(shader), options, &mut look).is_err() {
        return BTreeSet::new();
    }
    let Some(module) = lowered else { return BTreeSet::new() };
    let mut places = BTreeSet::new();
    for variant in variants(&module, CallPolicy::default()) {
        module.function(variant.function).walk(|_, data| {
            if data.results.iter().any(|&v| variant.activity.shadows(v).any()) {
                places.insert((data.span.start, data.span.end));
            }
        });
    }
    places
}
