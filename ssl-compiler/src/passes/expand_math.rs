//! Mathematical functions become calls of functions of the module: the kernels of `ir::math`, as code.
//!
//! Runs last, for back ends that make machine code. Until here `sin` is one operation, with one derivative and one
//! folding rule. The pass requires nothing and keeps every bit: the interpreter runs the operation by the same kernel.
//! It writes each kernel once for a module. If a region needs both sine and cosine of one angle, one call gives both; so it is
//! with the hyperbolic tangent and its slope.

use crate::ir::math::{self, Class, ExpOf};
use crate::ir::ranges::Range;
use crate::ir::*;
use std::collections::{HashMap, HashSet};

/// What a call computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kernel {
    Unary(Float1),
    Binary(Float2),
    /// `exp` where the bounds of its argument are known.
    Exp(ExpOf),
    SinCos,
    TanhAndSlope,
}

impl Kernel {
    /// Two functions of one number that one call computes, in the order in which it gives them.
    const PAIRS: [([Float1; 2], Kernel); 2] =
        [([Float1::Sin, Float1::Cos], Kernel::SinCos), ([Float1::Tanh, Float1::TanhSlope], Kernel::TanhAndSlope)];

    fn of(op: Op) -> Option<Kernel> {
        match op {
            Op::Float1(op) => math::is_unary(op).then_some(Kernel::Unary(op)),
            Op::Float2(op) => math::is_binary(op).then_some(Kernel::Binary(op)),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kernel::Unary(op) => op.name(),
            Kernel::Binary(op) => op.name(),
            Kernel::Exp(ExpOf::Normal) => "exp.normal",
            Kernel::Exp(ExpOf::Bounded) => "exp.bounded",
            Kernel::SinCos => "sincos",
            Kernel::TanhAndSlope => "tanh_and_slope",
        }
    }

    fn write(self, class: Class, name: &str) -> Function {
        match self {
            Kernel::Unary(op) => math::unary_function(op, class, name),
            Kernel::Binary(op) => math::binary_function(op, class, name),
            Kernel::Exp(part) => part.function(name),
            Kernel::SinCos => math::sin_cos_function(class, name),
            Kernel::TanhAndSlope => math::tanh_and_slope_function(name),
        }
    }
}

/// Likewise, with the short functions written out where they are called.
pub fn in_place(module: &mut Module) {
    let own = module.functions.len();
    run(module);
    super::inline::short(module, own);
    debug_assert_eq!(verify::verify(module), Ok(()), "`inline` broke the module");
}

pub fn run(module: &mut Module) {
    let mut kernels = Kernels { ids: HashMap::new(), first: module.functions.len(), list: Vec::new() };
    // A module is made for one precision.
    let class = module.entry().precision.class();
    for f in &mut module.functions {
        join_pairs(f, &mut kernels);
        for (inst, part) in bounded_exps(f, class) {
            f.insts[inst.index()].op = Op::Call(kernels.id(Kernel::Exp(part)));
        }
        for data in &mut f.insts {
            if let Some(kernel) = Kernel::of(data.op) {
                data.op = Op::Call(kernels.id(kernel));
            }
        }
    }
    let taken: HashSet<String> = module.functions.iter().map(|f| f.name.clone()).collect();
    for kernel in kernels.list {
        let mut name = format!("math.{}", kernel.name());
        while taken.contains(&name) {
            name.push('\'');
        }
        module.functions.push(kernel.write(class, &name));
    }
    debug_assert_eq!(verify::verify(module), Ok(()), "`expand-math` broke the module");
}

/// The exponential functions whose arguments have bounds that make them shorter.
fn bounded_exps(f: &Function, class: Class) -> Vec<(Inst, ExpOf)> {
    let mut exps = Vec::new();
    let mut definitions = vec![None; f.types.len()];
    f.walk(|inst, data| {
        data.results.iter().for_each(|r| definitions[r.index()] = Some(inst));
        if data.op == Op::Float1(Float1::Exp) {
            exps.push(inst);
        }
    });
    let definition = |v: Value| {
        let data = f.inst(definitions[v.index()]?);
        Some((data.op, data.args.clone()))
    };
    let bounded = |inst: Inst| {
        let range = Range::of(f.inst(inst).args[0], &definition)?;
        Some((inst, ExpOf::within(range, class)?))
    };
    exps.into_iter().filter_map(bounded).collect()
}

/// The kernels that are called, which come behind the module's own functions.
struct Kernels {
    ids: HashMap<Kernel, FuncId>,
    first: usize,
    list: Vec<Kernel>,
}

impl Kernels {
    fn id(&mut self, kernel: Kernel) -> FuncId {
        *self.ids.entry(kernel).or_insert_with(|| {
            self.list.push(kernel);
            FuncId((self.first + self.list.len() - 1) as u32)
        })
    }
}

/// Puts two functions of one number together, at the place of the first of them.
fn join_pairs(f: &mut Function, kernels: &mut Kernels) {
    for region in 0..f.regions.len() {
        let mut met: HashMap<(Float1, Value), Inst> = HashMap::new();
        let mut gone = HashSet::new();
        for &inst in &f.regions[region].insts {
            let data = &f.insts[inst.index()];
            let Op::Float1(own) = data.op else { continue };
            let Some(&(pair, kernel)) = Kernel::PAIRS.iter().find(|(pair, _)| pair.contains(&own)) else { continue };
            let place = usize::from(own == pair[1]);
            let (number, result) = (data.args[0], data.results[0]);
            let Some(&first) = met.get(&(pair[1 - place], number)) else {
                met.entry((own, number)).or_insert(inst);
                continue;
            };
            let joined = &mut f.insts[first.index()];
            if joined.results.len() == 1 {
                joined.op = Op::Call(kernels.id(kernel));
                joined.results.insert(place, result);
                gone.insert(inst);
            }
        }
        f.regions[region].insts.retain(|i| !gone.contains(i));
        // What stands nowhere needs no kernel of its own.
        gone.iter().for_each(|inst| f.insts[inst.index()].op = Op::Const(Const::Int(0)));
    }
}
