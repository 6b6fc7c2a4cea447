//! How a module's functions run over the lanes of a block, decided before any code is made and the same for every
//! native back end: which values are wide, which branches become selects, which regions run under a
//! mask, which calls run once.
//!
//! A *wide* value holds a word for each of the plan's lanes; a *uniform* value holds one word for all of them. Wide
//! code runs every lane through every side that any lane takes. Its *mask* says which lanes are active. Values of the
//! other lanes may be anything, so only visible effects use the mask: host calls, counters, memory, and whether there
//! is anything left to do.
//!
//! Rejected: a pass that writes masks into the IR. Every analysis behind it would have to know that `and`s of masks are
//! control flow. The scalar code, against which tests check the wide code, would come from other IR.

use crate::analysis::stack;
use crate::analysis::storage::Storage;
use crate::analysis::uniformity::{self, Facts};
use crate::ir::facts::{Facts as Row, Reach};
use crate::ir::{FuncId, Function, Inst, InstData, Module, Op, Region, Ty, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The price of both sides of an `if` up to which lanes compute both and select.
const MAX_SELECTED: usize = 24;

/// Which code of a function is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// For one lane, or for all of them if they agree in everything.
    Lane,
    Wide,
}

/// What an `if` or a `loop` becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// A branch that all lanes take together.
    Together,
    /// Both sides, and a choice between their results.
    Select,
    /// Under a mask, as long as any lane is in it.
    Masked,
}

/// One version of one function.
#[derive(Clone, Debug, Default)]
pub struct FunctionPlan {
    facts: Facts,
    treatments: HashMap<Inst, Treatment>,
    pub takes_mask: bool,
}

impl FunctionPlan {
    pub fn is_wide(&self, v: Value) -> bool {
        self.facts.varies(v)
    }

    pub fn slot_is_wide(&self, slot: u32) -> bool {
        self.facts.slot_is_wide(slot)
    }

    pub fn treatment(&self, inst: Inst) -> Treatment {
        self.treatments.get(&inst).copied().unwrap_or(Treatment::Together)
    }

    pub fn is_made_once(&self, inst: Inst) -> bool {
        self.facts.is_made_once(inst)
    }
}

/// The versions that a module needs.
pub struct Plan {
    /// Lanes that run together; 1 for scalar code.
    pub lanes: u32,
    /// By function; `None` where lanes never call it together.
    wide: Vec<Option<FunctionPlan>>,
    /// By function: whether the version for one lane is called.
    alone: Vec<bool>,
    scalar: FunctionPlan,
}

impl Plan {
    /// Each lane by itself.
    pub fn scalar(module: &Module) -> Plan {
        let n = module.functions.len();
        Plan { lanes: 1, wide: vec![None; n], alone: vec![true; n], scalar: FunctionPlan::default() }
    }

    /// So many lanes together; `None` where arrays of so many lanes would need too much memory.
    pub fn wide(module: &Module, storage: &[Storage], lanes: u32) -> Option<Plan> {
        // Arrays grow by all lanes, spilled registers by fewer.
        if stack::needed(module).saturating_mul(u64::from(lanes)) > stack::MAX_STACK {
            return None;
        }
        let facts = uniformity::of(module, storage);
        let mut alone = vec![false; module.functions.len()];
        let mut wide: Vec<Option<FunctionPlan>> = Vec::new();
        for (f, facts) in module.functions.iter().zip(facts) {
            wide.push(facts.reached.then(|| {
                let treatments = treatments(f, &facts);
                FunctionPlan { facts, treatments, takes_mask: false }
            }));
        }
        mark_alone(module, &wide, &mut alone);
        let mut plan = Plan { lanes, wide, alone, scalar: FunctionPlan::default() };
        plan.find_masks(module);
        Some(plan)
    }

    pub fn is_wide(&self) -> bool {
        self.lanes > 1
    }

    /// Everything that must be made: functions in order, the version for one lane first.
    pub fn versions(&self) -> impl Iterator<Item = (FuncId, Version)> + '_ {
        (0..self.wide.len()).flat_map(|i| {
            let lane = self.alone[i].then_some((FuncId(i as u32), Version::Lane));
            let wide = self.wide[i].is_some().then_some((FuncId(i as u32), Version::Wide));
            lane.into_iter().chain(wide)
        })
    }

    /// The version in which the host calls the entry.
    pub fn entry_version(&self) -> Version {
        if self.is_wide() { Version::Wide } else { Version::Lane }
    }

    pub fn of(&self, id: FuncId, version: Version) -> &FunctionPlan {
        match version {
            Version::Lane => &self.scalar,
            // Only versions that are made are asked for.
            Version::Wide => self.wide[id.index()].as_ref().unwrap_or(&self.scalar),
        }
    }

    /// Who asks for the mask: first by what a function does itself, then by what it calls.
    fn find_masks(&mut self, module: &Module) {
        let mut changed = true;
        while changed {
            changed = false;
            for (i, f) in module.functions.iter().enumerate() {
                let Some(plan) = &self.wide[i] else { continue };
                if plan.takes_mask {
                    continue;
                }
                let mut needs = FuncId(i as u32) == module.entry || f.results.iter().any(|ty| ty.is_array());
                f.walk(|inst, data| {
                    needs |= match data.op {
                        Op::If | Op::Loop(_) => plan.treatment(inst) == Treatment::Masked,
                        Op::Call(callee) => {
                            let made_once = plan.is_made_once(inst);
                            !made_once && self.wide[callee.index()].as_ref().is_some_and(|p| p.takes_mask)
                        }
                        Op::Texture { .. } | Op::Sample { .. } | Op::External(_) | Op::Print(_) => true,
                        Op::Push(_) | Op::Pop(_) | Op::TextureAdjoint { .. } | Op::AddTo(_) => true,
                        Op::ArrayNew | Op::ArrayFill => true,
                        op => op.counts(),
                    };
                });
                if needs && let Some(plan) = &mut self.wide[i] {
                    plan.takes_mask = true;
                    changed = true;
                }
            }
        }
    }

    /// For people: what each function's branches, calls, arrays and values became, and why.
    pub fn text(&self, module: &Module, storage: &[Storage]) -> String {
        let mut out = format!("{} lanes\n", self.lanes);
        for (i, f) in module.functions.iter().enumerate() {
            if self.alone[i] {
                let why = if self.is_wide() { "called once for all lanes" } else { "a lane at a time" };
                let _ = writeln!(out, "\nfn @{}: scalar, {why}", f.name);
            }
            if let Some(plan) = &self.wide[i] {
                plan.describe(&mut out, f, &storage[i], module);
            }
        }
        out
    }
}

/// The functions that wide code calls in their version for one lane, and those that these call.
fn mark_alone(module: &Module, wide: &[Option<FunctionPlan>], alone: &mut [bool]) {
    let mut pending = Vec::new();
    for (f, plan) in module.functions.iter().zip(wide) {
        let Some(plan) = plan else { continue };
        f.walk(|inst, data| {
            if let Op::Call(callee) = data.op
                && plan.is_made_once(inst)
            {
                pending.push(callee);
            }
        });
    }
    while let Some(id) = pending.pop() {
        if !std::mem::replace(&mut alone[id.index()], true) {
            module.function(id).walk(|_, data| {
                if let Op::Call(callee) = data.op {
                    pending.push(callee);
                }
            });
        }
    }
}

fn treatments(f: &Function, facts: &Facts) -> HashMap<Inst, Treatment> {
    let mut out = HashMap::new();
    f.walk(|inst, data| {
        let treatment = match data.op {
            Op::If if facts.diverges(inst) => match cost_of_sides(f, data) {
                Some(cost) if cost <= MAX_SELECTED => Treatment::Select,
                _ => Treatment::Masked,
            },
            Op::Loop(_) if facts.diverges(inst) => Treatment::Masked,
            _ => return,
        };
        out.insert(inst, treatment);
    });
    out
}

/// The price of both sides of an `if` that any lane may run, whether they are meant or not; `None` where one may not. An array
/// that comes out is copied under a mask.
fn cost_of_sides(f: &Function, data: &InstData) -> Option<usize> {
    let gives_arrays = data.results.iter().any(|&r| f.ty(r).is_array());
    if gives_arrays { None } else { data.regions.iter().map(|&r| cost(f, r)).sum() }
}

/// Likewise of a region.
fn cost(f: &Function, region: Region) -> Option<usize> {
    let of = |data: &InstData| match data.op {
        Op::Const(_) => Some(0),
        Op::If => cost_of_sides(f, data).map(|cost| cost + data.results.len()),
        Op::ArrayNew | Op::ArrayFill | Op::ArraySet => None,
        op => match op.facts() {
            Row { reach: Reach::Nothing | Reach::Counter | Reach::Block | Reach::Temporary, price } => {
                Some(price as usize)
            }
            Row { reach: Reach::Token, price } => Some(price as usize),
            _ => None,
        },
    };
    f.region(region).insts.iter().map(|&i| of(f.inst(i))).sum()
}

impl FunctionPlan {
    fn describe(&self, out: &mut String, f: &Function, storage: &Storage, module: &Module) {
        let mask = if self.takes_mask { "takes a mask" } else { "needs no mask" };
        let _ = writeln!(out, "\nfn @{}: wide, {mask}", f.name);
        let (mut wide, mut uniform) = (0, 0);
        f.walk(|inst, data| {
            for &r in data.results.iter().filter(|r| !f.ty(**r).is_array()) {
                *if self.is_wide(r) { &mut wide } else { &mut uniform } += 1;
            }
            let place = data.results.first().or(data.args.first()).map_or_else(String::new, |v| format!(" %{}", v.0));
            let why = match (data.op, self.treatment(inst)) {
                (Op::If, Treatment::Together) => "a branch: all lanes agree on the condition",
                (Op::If, Treatment::Select) => "selects: the condition varies, and both sides cost little",
                (Op::If, _) => "masked: the condition varies, and a side costs much or does more than compute",
                (Op::Loop(_), Treatment::Together) => "a plain loop: all lanes go through the same rounds",
                (Op::Loop(_), _) => "masked: lanes leave in different rounds",
                (Op::Call(_), _) if self.is_made_once(inst) => "once for all lanes: its arguments do not vary",
                (Op::Call(_), _) => "by all lanes together",
                (Op::Texture { .. } | Op::Sample { .. } | Op::TextureAdjoint { .. }, _) => "one request for all lanes",
                (Op::AddTo(_), _) if !self.is_wide(data.args[1]) => "one request: all lanes add to one element",
                (Op::AddTo(_), _) => "one request: each lane adds to an element of its own",
                (Op::Push(_) | Op::Pop(_), _) if !self.is_wide(data.args[0]) => {
                    "a row for all lanes: their tapes are equally long"
                }
                (Op::Push(_) | Op::Pop(_), _) => {
                    "a row for all lanes where their tapes are equally long, else one a lane"
                }
                _ => return,
            };
            let name = match data.op {
                Op::Call(callee) => format!("call @{}", module.function(callee).name),
                Op::If => "if".to_owned(),
                Op::Loop(_) => "loop".to_owned(),
                Op::Push(site) => format!("push {site}"),
                Op::Pop(site) => format!("pop {site}"),
                Op::TextureAdjoint { .. } => "transposed look-up".to_owned(),
                Op::AddTo(_) => "addition to a buffer".to_owned(),
                _ => "look-up".to_owned(),
            };
            let _ = writeln!(out, "  {name}{place}: {why}");
        });
        for (i, slot) in storage.list.iter().enumerate() {
            let kind = if self.slot_is_wide(i as u32) { "an element a lane" } else { "one for all lanes" };
            let _ = writeln!(out, "  array of {}: {kind}", slot.length);
        }
        let tokens = f.types.iter().filter(|ty| **ty == Ty::Token).count();
        let _ = writeln!(out, "  {wide} wide values, {uniform} uniform ones, {tokens} tokens among them");
    }
}
