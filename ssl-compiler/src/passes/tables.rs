//! Makes arrays of constants that a loop only reads once, at the start of the function, instead of in every iteration.
//!
//! Requires verified code, and keeps its results. Equal tables become one. A table that anything but `array_get` uses
//! stays where it is: changing it in place needs a fresh array in each iteration. Tables outside of loops stay, too, so
//! that an untaken branch costs nothing.

use crate::ir::{Const, Function, Inst, InstData, Module, Op, Region, Ty, Value, Values};
use std::collections::{HashMap, HashSet};

/// The type of a table, and its elements.
type Table = (Ty, Vec<Const>);

pub fn run(module: &mut Module) {
    module.functions.iter_mut().for_each(hoist);
}

fn hoist(f: &mut Function) {
    let constants = f.constants();
    let only_read = only_read(f);
    let table = |data: &InstData| -> Option<Table> {
        let known = || data.args.iter().map(|v| constants[v.index()]).collect::<Option<Vec<_>>>();
        let array = *data.results.first()?;
        (data.op == Op::ArrayNew && only_read.contains(&array))
            .then(known)
            .flatten()
            .map(|list| (f.types[array.index()], list))
    };
    let mut found = Vec::new();
    in_loops(f, f.body, false, &mut |inst, data| found.extend(table(data).map(|t| (inst, t))));
    let mut made: HashMap<Table, Value> = HashMap::new();
    let mut start = Vec::new();
    let mut moved = HashSet::new();
    let mut instead: HashMap<Value, Value> = HashMap::new();
    for (inst, table) in found {
        let old = f.inst(inst).results[0];
        let new = *made.entry(table).or_insert_with_key(|(ty, list)| write(f, inst, *ty, list, &mut start));
        instead.insert(old, new);
        moved.insert(inst);
    }
    if moved.is_empty() {
        return;
    }
    f.regions.iter_mut().for_each(|r| r.insts.retain(|i| !moved.contains(i)));
    // Only `array_get` uses them, and that has them first.
    for data in f.insts.iter_mut().filter(|d| d.op == Op::ArrayGet) {
        if let Some(&new) = instead.get(&data.args[0]) {
            data.args[0] = new;
        }
    }
    f.regions[f.body.index()].insts.splice(0..0, start);
}

/// Writes a table like the one that `like` makes, with its constants.
fn write(f: &mut Function, like: Inst, ty: Ty, list: &[Const], start: &mut Vec<Inst>) -> Value {
    let span = f.inst(like).span;
    let mut known: HashMap<Const, Value> = HashMap::new();
    let mut args = Values::new();
    for &c in list {
        let value = *known.entry(c).or_insert_with(|| {
            let value = f.new_value(Ty::Scalar(c.scalar()));
            let data = InstData {
                op: Op::Const(c),
                args: Values::new(),
                results: std::iter::once(value).collect(),
                regions: Default::default(),
                span,
            };
            start.push(f.new_inst(data));
            value
        });
        args.push(value);
    }
    let array = f.new_value(ty);
    let results = std::iter::once(array).collect();
    start.push(f.new_inst(InstData { op: Op::ArrayNew, args, results, regions: Default::default(), span }));
    array
}

/// Arrays that nothing but `array_get` uses.
fn only_read(f: &Function) -> HashSet<Value> {
    let (mut arrays, mut other) = (HashSet::new(), HashSet::new());
    let results_of = |region: Region| f.region(region).results.iter().copied();
    other.extend(results_of(f.body));
    f.walk(|_, data| {
        if data.op == Op::ArrayNew {
            arrays.extend(data.results.iter().copied());
        }
        let reads = usize::from(data.op == Op::ArrayGet);
        other.extend(data.args.iter().copied().skip(reads));
        data.regions.iter().for_each(|&r| other.extend(results_of(r)));
    });
    arrays.retain(|v| !other.contains(v));
    arrays
}

/// Visits the instructions that stand in loops.
fn in_loops(f: &Function, region: Region, inside: bool, visit: &mut dyn FnMut(Inst, &InstData)) {
    for &inst in &f.region(region).insts {
        let data = f.inst(inst);
        if inside {
            visit(inst, data);
        }
        for &inner in &data.regions {
            in_loops(f, inner, inside || data.op.is_loop(), visit);
        }
    }
}
