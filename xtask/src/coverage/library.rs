//! The functions of the standard library as rules, each overload by itself.
//!
//! One is accepted by a test that runs a shader which calls it, in its own file, and then expects a value. That another
//! function of the library calls it shows nothing of it. Those that need an import are none of this.

use crate::shaders::Tested;
use crate::{Kind, Rule, Rules};
use ssl_compiler::builtins::library::LIBRARY;
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::sema::reach;
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::ast::{FunctionDecl, Item};
use ssl_compiler::syntax::parse;
use std::collections::HashMap;

pub fn rules(tested: &[Tested]) -> Rules {
    let mut calls: HashMap<String, usize> = HashMap::new();
    for Tested { checked, file, shaders } in tested {
        let program = &checked.program;
        for shader in shaders.iter().filter(|s| s.by_value) {
            let own = reach::functions(program, shader.id).into_iter().filter(|(_, place)| place.file == *file);
            for (id, _) in own {
                let f = program.function(id);
                let types: Vec<String> = f.signature().iter().map(|t| program.types.display(t).to_string()).collect();
                let name = &checked.sources.get(f.span.file).name;
                *calls.entry(key(name, &f.name, &types)).or_default() += 1;
            }
        }
    }
    let mut rules = Rules::new();
    for file in LIBRARY {
        let mut sources = SourceMap::new();
        let id = sources.add(file.name, file.text);
        for item in parse(&sources, id, &mut Diagnostics::new()).items {
            if let Item::Function(f) = item
                && file.functions.contains(&f.name.text.as_str())
            {
                let types = types(&f);
                let count = calls.get(&key(&format!("std/{}", file.name), &f.name.text, &types)).copied();
                let mut rule = Rule { needs: vec![Kind::Accept], ..Rule::default() };
                rule.tests.insert(Kind::Accept, count.unwrap_or(0));
                rules.insert(format!("library {} {}({})", f.result.name.text, f.name.text, types.join(", ")), rule);
            }
        }
    }
    rules
}

/// What tells a function from all others.
fn key(file: &str, name: &str, types: &[String]) -> String {
    format!("{file} {name}({})", types.join(", "))
}

/// Of the parameters; no function of the library takes an array.
fn types(f: &FunctionDecl) -> Vec<String> {
    f.parameters.iter().map(|p| p.ty.name.text.clone()).collect()
}
