//! A hash of a module, by which the cache finds the code compiled from it.

use super::{Function, Module, Region, Value};
use crate::runtime::GlobalField;
use std::hash::Hash;
use xxhash_rust::xxh3::Xxh3;

/// Adds all that decides which code a back end makes of the module, and nothing else: two modules that differ in places
/// of the source, in names that only diagnostics tell, or in code that cannot be reached add the same.
pub fn add(module: &Module, hasher: &mut Xxh3) {
    // Where the host put what is read; externals and texts are looked up at run time, by their numbers.
    module.globals.len().hash(hasher);
    for GlobalField { name: _, ty, orders, first_row, withheld, uniform } in &module.globals {
        (ty, orders.count(), first_row, withheld, uniform).hash(hasher);
    }
    module.parameters.len().hash(hasher);
    module.parameters.iter().for_each(|p| p.scalar.hash(hasher));
    module.columns.iter().for_each(|c| (c.scalar, c.added, c.first).hash(hasher));
    (module.entry, module.functions.len()).hash(hasher);
    for f in &module.functions {
        (f.precision.class(), &f.results).hash(hasher);
        region(f, f.body, hasher);
    }
}

fn region(f: &Function, at: Region, hasher: &mut Xxh3) {
    let data = f.region(at);
    typed(f, &data.params, hasher);
    data.insts.len().hash(hasher);
    for &inst in &data.insts {
        let inst = f.inst(inst);
        (inst.op, &*inst.args).hash(hasher);
        typed(f, &inst.results, hasher);
        inst.regions.len().hash(hasher);
        inst.regions.iter().for_each(|&inner| region(f, inner, hasher));
    }
    (*data.results).hash(hasher);
}

fn typed(f: &Function, values: &[Value], hasher: &mut Xxh3) {
    values.len().hash(hasher);
    values.iter().for_each(|&v| (v, f.ty(v)).hash(hasher));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    fn digest(text: &str) -> u128 {
        let module = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut hasher = Xxh3::new();
        add(&module, &mut hasher);
        hasher.digest128()
    }

    #[test]
    fn what_decides_the_code_counts_and_what_does_not_does_not() {
        let text = |name: &str, constant: &str, op: &str| {
            format!(
                "entry fn @{name}(%0: token) -> (token, float) {{\n  %1: float = const {constant}\n  %2: float = {op} %1, %1\n  return %0, %2\n}}\n"
            )
        };
        let plain = digest(&text("main", "1.5", "fadd"));
        assert_eq!(plain, digest(&text("other", "1.5", "fadd")));
        assert_ne!(plain, digest(&text("main", "1.25", "fadd")));
        assert_ne!(plain, digest(&text("main", "1.5", "fsub")));
        assert_ne!(digest(&text("main", "0.0", "fadd")), digest(&text("main", "-0.0", "fadd")));
    }
}
