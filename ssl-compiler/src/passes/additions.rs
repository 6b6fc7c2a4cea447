//! Makes one request of additions to one element of a buffer: a reverse sweep adds a cotangent for each scalar that was
//! read, and each request is a call of the host.
//!
//! Additions that follow each other on one token may change places, since sums do not depend on the order.

use crate::ir::*;
use crate::runtime::buffers::MAX_ADDED;
use std::collections::{BTreeMap, HashMap};

pub fn run(module: &mut Module) {
    if module.adds() {
        module.functions.iter_mut().for_each(function);
    }
}

fn function(f: &mut Function) {
    for region in 0..f.regions.len() {
        for chain in chains(f, &f.regions[region].insts) {
            join(f, region, &chain);
        }
    }
}

/// Additions each of which takes the token of the one before, two or more together.
fn chains(f: &Function, insts: &[Inst]) -> Vec<Vec<Inst>> {
    let mut by_token: HashMap<Value, usize> = HashMap::new();
    let mut chains: Vec<Vec<Inst>> = Vec::new();
    for &inst in insts {
        let data = f.inst(inst);
        if let Op::AddTo(_) = data.op {
            let chain = by_token.remove(&data.args[0]).unwrap_or_else(|| {
                chains.push(Vec::new());
                chains.len() - 1
            });
            chains[chain].push(inst);
            by_token.insert(data.results[0], chain);
        }
    }
    chains.retain(|chain| chain.len() > 1);
    chains
}

/// What is added to one element: values by column. A column may come several times.
type Added = BTreeMap<u32, Vec<Value>>;

fn join(f: &mut Function, region: usize, chain: &[Inst]) {
    let (mut elements, mut order): (HashMap<Value, Added>, Vec<Value>) = (HashMap::new(), Vec::new());
    for &inst in chain {
        let data = f.inst(inst);
        let Op::AddTo(first) = data.op else { continue };
        let added = elements.entry(data.args[1]).or_insert_with(|| {
            order.push(data.args[1]);
            Added::new()
        });
        for (column, &v) in (first..).zip(&data.args[2..]) {
            added.entry(column).or_default().push(v);
        }
    }
    let mut requests = Vec::new();
    for index in order {
        let mut added = elements.remove(&index).unwrap_or_default();
        while !added.is_empty() {
            requests.push((index, take_run(&mut added)));
        }
    }
    if requests.len() == chain.len() {
        return;
    }
    // Where the last one stands, all values are there.
    let (token, last) = (f.inst(chain[0]).args[0], chain[chain.len() - 1]);
    let (end, span) = (f.inst(last).results[0], f.inst(last).span);
    let count = requests.len();
    let (mut token, mut new) = (token, Vec::new());
    for (i, (index, (first, values))) in requests.into_iter().enumerate() {
        let result = if i + 1 == count { end } else { f.new_value(Ty::Token) };
        let mut args = Values::from_slice(&[token, index]);
        args.extend(values);
        let (op, regions) = (Op::AddTo(first), Default::default());
        new.push(f.new_inst(InstData { op, args, results: [result].into_iter().collect(), regions, span }));
        token = result;
    }
    let insts = &mut f.regions[region].insts;
    insts.retain(|inst| *inst == last || !chain.contains(inst));
    if let Some(at) = insts.iter().position(|inst| *inst == last) {
        insts.splice(at..=at, new);
    }
}

/// Takes columns beside each other, one value for each, as many as a request has room for.
fn take_run(added: &mut Added) -> (u32, Vec<Value>) {
    let first = added.keys().next().copied().unwrap_or_default();
    let mut values = Vec::new();
    while values.len() < MAX_ADDED {
        let column = first + values.len() as u32;
        let Some(list) = added.get_mut(&column) else { break };
        values.extend(list.pop());
        if list.is_empty() {
            added.remove(&column);
        }
    }
    (first, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    #[test]
    fn additions_to_one_element_become_one() {
        let text = "column a.x: float 0 add\ncolumn a.y: float 0 add\ncolumn a.z: float 0 add\n\n\
            entry fn @main(%0: token) -> (token) {\n\
              %1: int = const 3\n  %2: int = const 4\n  %3: float = const 1.0\n  %4: float = const 2.0\n\
              %5: token = add_to 2 %0, %1, %3\n  %6: token = add_to 0 %5, %1, %4\n  %7: token = add_to 1 %6, %2, %3\n\
              %8: token = add_to 1 %7, %1, %3\n  %9: token = add_to 1 %8, %1, %4\n  return %9\n}\n";
        let mut module = parse(text).unwrap();
        run(&mut module);
        verify::verify(&module).unwrap();
        let mut found = Vec::new();
        module.entry().walk(|_, data| {
            if let Op::AddTo(first) = data.op {
                found.push((first, data.args[1].0, data.args[2..].iter().map(|v| v.0).collect::<Vec<_>>()));
            }
        });
        assert_eq!(found, [(0, 1, vec![4, 4, 3]), (1, 1, vec![3]), (1, 2, vec![3])]);
    }
}
