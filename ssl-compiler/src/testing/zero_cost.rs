//! Whether a shader computes anything for derivatives.
//!
//! The passes run on the shader twice: as it is, and with every `ddx` and `ddy` replaced by 0 and every texture given a
//! footprint of 0. If nothing has a shadow, both end with the same instructions. Constants and the prices of iterations
//! do not count: constants are free, and prices follow from the code as written.

use crate::ir::{Const, FuncId, Function, InstData, Module, Op, Ty};
use crate::pipeline::{self, Options};
use crate::source::Span;
use crate::types::Scalar;
use std::collections::HashMap;

/// What derivatives cost.
pub(super) struct Cost {
    /// Instructions that are there for their sake.
    pub instructions: usize,
    /// The place in the source that has most of them, and how many.
    pub most: Option<(Span, usize)>,
}

/// Compares a module, as lowered, with itself without derivatives. An error names a broken pass.
pub(super) fn cost(lowered: &Module, options: Options) -> Result<Cost, String> {
    let mut with = lowered.clone();
    let mut without = lowered.clone();
    without.functions.iter_mut().for_each(cut);
    for module in [&mut with, &mut without] {
        pipeline::run(module, options, &mut |_, _| {}).map_err(|e| format!("the shader cannot be compiled: {e:?}"))?;
    }
    let (mut extra, plain) = (count(&with), count(&without));
    for (key, n) in plain {
        if let Some(more) = extra.get_mut(&key) {
            *more = more.saturating_sub(n);
        }
    }
    let mut places: HashMap<Span, usize> = HashMap::new();
    for ((_, span), n) in &extra {
        *places.entry(*span).or_default() += n;
    }
    let most = places.into_iter().filter(|(_, n)| *n > 0).max_by_key(|(span, n)| (*n, std::cmp::Reverse(span.start)));
    Ok(Cost { instructions: extra.values().sum(), most })
}

/// The instructions that run, by what they do and where they come from.
fn count(module: &Module) -> HashMap<(String, Span), usize> {
    let mut found = HashMap::new();
    let mut reached = vec![false; module.functions.len()];
    let mut open = vec![module.entry];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut reached[id.index()], true) {
            continue;
        }
        module.function(id).walk(|_, data| {
            let name = match data.op {
                Op::Const(_) => return,
                Op::Burn(_) => "burn".to_owned(),
                Op::Prepay(_) => "prepay".to_owned(),
                Op::Call(callee) => {
                    open.push(callee);
                    called(module, callee)
                }
                op => format!("{op:?}"),
            };
            *found.entry((name, data.span)).or_default() += 1;
        });
    }
    found
}

/// A call, by how many values go in and come out: a variant that carries shadows has more.
fn called(module: &Module, id: FuncId) -> String {
    let f = module.function(id);
    format!("call {}→{}", f.params().len(), f.results.len())
}

/// Replaces what asks for derivatives by what there is without them.
fn cut(f: &mut Function) {
    let zero = Op::Const(Const::Float(0.0f32.to_bits()));
    for region in 0..f.regions.len() {
        let mut insts = Vec::with_capacity(f.regions[region].insts.len());
        for inst in std::mem::take(&mut f.regions[region].insts) {
            match f.insts[inst.index()].op {
                Op::Derivative(_) => {
                    let data = &mut f.insts[inst.index()];
                    data.op = zero;
                    data.args.clear();
                }
                Op::Sample { word } => {
                    let value = f.new_value(Ty::Scalar(Scalar::Float));
                    let span = f.insts[inst.index()].span;
                    let none = InstData {
                        op: zero,
                        args: Default::default(),
                        results: [value].into_iter().collect(),
                        regions: Default::default(),
                        span,
                    };
                    insts.push(f.new_inst(none));
                    let data = &mut f.insts[inst.index()];
                    data.op = Op::Texture { word, gradient: false, level: false };
                    data.args.extend([value; 4]);
                }
                _ => {}
            }
            insts.push(inst);
        }
        f.regions[region].insts = insts;
    }
}
