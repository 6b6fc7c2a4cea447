//! Finishes the watches of a module whose unseeded partials are poison: the pass notes for each which globals it may
//! report, and removes those that can report none.
//!
//! A watch looks at a value and reports if it is NaN. The pass finds the globals to name backwards: along data for the
//! value itself, and along the edges of derivatives for its shadow, and counts how often the value is differentiated on
//! the way. A global is poison if the host does not give derivatives of that order. All calls of a function count
//! alike, and so do both branches of an `if`, so a watch may name a global besides the guilty one.

use crate::analysis::axes::Axes;
use crate::analysis::flow::{Along, Flow};
use crate::analysis::graph::Neighbours;
use crate::analysis::net::Net;
use crate::ir::{Compare, Module, Op, Value};
use crate::runtime::{GlobalField, Order};
use crate::source::Span;
use std::collections::{BTreeMap, HashSet};

/// Orders of derivatives that are told apart.
const MAX_ORDER: usize = 7;

/// Finishes the watches, whose formats begin at `first`; `place` says where a span is.
pub fn run(module: &mut Module, first: usize, place: &dyn Fn(Span) -> String) {
    let search = Search::of(module);
    let mut texts: Vec<(usize, Option<String>)> = Vec::new();
    for (id, f) in module.functions.iter().enumerate() {
        // What an `if` asks: whether a value differs from itself.
        let mut asked = vec![None; f.types.len()];
        f.walk(|_, data| {
            if data.op == Op::FloatCompare(Compare::Ne) && data.args[0] == data.args[1] {
                asked[data.results[0].index()] = Some(data.args[0]);
            }
        });
        f.walk(|_, data| {
            let Some(watched) = (data.op == Op::If).then(|| asked[data.args[0].index()]).flatten() else { return };
            for &inst in &f.region(data.regions[0]).insts {
                let Op::Print(format) = f.inst(inst).op else { continue };
                let format = format as usize;
                if format >= first {
                    let about = search.poison(module, id, watched);
                    let what = &module.texts.formats[format];
                    texts.push((format, sentence(module, &about, what, &place(f.inst(inst).span), place)));
                }
            }
        });
    }
    for (format, text) in texts {
        match text {
            // It is a format, where a percent sign means something.
            Some(text) => module.texts.formats[format] = text.replace('%', "%%"),
            None => silence(module, format as u32),
        }
    }
}

fn sentence(
    module: &Module,
    about: &BTreeMap<(u32, usize), Span>,
    what: &str,
    here: &str,
    place: &dyn Fn(Span) -> String,
) -> Option<String> {
    let one = |((field, order), span): (&(u32, usize), &Span)| {
        let partials = match order {
            1 => "partials".to_owned(),
            2 => "second partials".to_owned(),
            n => format!("partials of order {n}"),
        };
        format!("{partials} of `{}` ({})", module.globals[*field as usize].name, place(*span))
    };
    let names: Vec<String> = about.iter().map(one).collect();
    let all = names.join(", or ");
    (!names.is_empty()).then(|| format!("poisoned: {here}: {what} is made of {all}, which the host does not give\n"))
}

/// Takes a watch out of its branch.
fn silence(module: &mut Module, format: u32) {
    for f in &mut module.functions {
        for region in 0..f.regions.len() {
            let insts = std::mem::take(&mut f.regions[region].insts);
            let (gone, kept): (Vec<_>, Vec<_>) =
                insts.into_iter().partition(|i| f.insts[i.index()].op == Op::Print(format));
            f.regions[region].insts = kept;
            for inst in gone {
                let (before, after) = (f.insts[inst.index()].args[0], f.insts[inst.index()].results[0]);
                f.regions[region].results.iter_mut().filter(|r| **r == after).for_each(|r| *r = before);
            }
        }
    }
}

/// The values of all functions as graphs, backwards.
struct Search {
    /// Data and derivatives have the same nodes.
    net: Net,
    data: Neighbours,
    derivatives: Neighbours,
    /// What each `ddx` or `ddy` derives.
    derived: BTreeMap<u32, u32>,
    globals: BTreeMap<u32, (u32, Span)>,
}

impl Search {
    fn of(module: &Module) -> Search {
        let along = |along: Along| -> Net {
            let flows: Vec<Flow> = module.functions.iter().map(|f| Flow::of(f, &module.externals, along)).collect();
            Net::of(module, &flows)
        };
        let net = along(Along::Data);
        let (mut derived, mut globals) = (BTreeMap::new(), BTreeMap::new());
        for (id, f) in module.functions.iter().enumerate() {
            f.walk(|_, data| match data.op {
                Op::Global { field, .. } => {
                    globals.insert(net.at(id, data.results[0]).0, (field, data.span));
                }
                Op::Derivative(_) => {
                    derived.insert(net.at(id, data.results[0]).0, net.at(id, data.args[0]).0);
                }
                _ => {}
            });
        }
        let derivatives = along(Along::Derivatives(Axes::Screen)).backward();
        Search { data: net.backward(), derivatives, net, derived, globals }
    }

    /// The globals of which a value needs partials that the host does not give, the orders of these, and where each
    /// is read.
    fn poison(&self, module: &Module, function: usize, watched: Value) -> BTreeMap<(u32, usize), Span> {
        let start = (self.net.at(function, watched).0, 0);
        let mut seen: HashSet<(u32, usize)> = HashSet::from([start]);
        let mut work = vec![start];
        let mut found = BTreeMap::new();
        while let Some((v, order)) = work.pop() {
            if let Some(&(field, span)) = self.globals.get(&v)
                && order > given(&module.globals[field as usize])
            {
                found.entry((field, order)).or_insert(span);
            }
            let mut next: Vec<(u32, usize)> = Vec::new();
            let edges = if order == 0 { &self.data } else { &self.derivatives };
            next.extend(edges.of(Value(v)).iter().map(|w| (w.0, order)));
            // A shadow is made of values, too.
            next.extend(order.checked_sub(1).map(|lower| (v, lower)));
            next.extend(self.derived.get(&v).map(|&w| (w, order + 1)));
            for node in next {
                if node.1 <= MAX_ORDER && seen.insert(node) {
                    work.push(node);
                }
            }
        }
        found
    }
}

/// How often the host derives a global.
fn given(global: &GlobalField) -> usize {
    [Order::Dxx, Order::Ddx].iter().zip([2, 1]).find(|(o, _)| global.row(0, **o).is_some()).map_or(0, |(_, n)| n)
}
