//! What the compiler makes of each unit of a group: does it carry derivatives, does it fold to constants?
//!
//! Both come from the linked program. Shortly before differentiation, each instruction knows which call of a unit it
//! comes from, and an analysis finds which values carry shadows. For constants, the group is linked once more with
//! every output of every unit as an output of its own.

use super::group::ShaderGroup;
use super::link::{Linked, link_here};
use crate::analysis::activity::{Activity, Carried};
use crate::diagnostics::Diagnostics;
use crate::facade::{CompileOptions, Roots, check, computed_defaults};
use crate::ir::{FuncId, InstData, Module, Op, Precision, Value};
use crate::lower::{self, Request};
use crate::passes::ad::{Variant, variants};
use crate::pipeline::{self, Stage};
use crate::runtime::ShaderInterface;
use crate::source::SourceMap;
use std::collections::{BTreeMap, HashSet};

/// What an input or output of a drawn unit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mark {
    /// Values without derivatives.
    #[default]
    Plain,
    /// Some value in it carries a shadow, or it asks for one.
    Derivative,
    /// All that it hands out folds to constants.
    Constant,
}

/// A mark for every unit. A group that does not compile has none.
pub fn marks(group: &ShaderGroup, sources: &mut SourceMap, options: &CompileOptions<'_>) -> Vec<Mark> {
    let mut marks = vec![Mark::Plain; group.units.len()];
    if let (Some(opened), ..) = link_here(&group.folder, group, sources, options, true)
        && let Some(code) = Code::of(&opened, sources, options)
    {
        code.constants(&opened).for_each(|unit| marks[unit] = Mark::Constant);
        // Equal code of two units is one; what they hand out is still asked for one by one.
        code.shadowed_outputs(&opened, options).into_iter().for_each(|unit| marks[unit] = Mark::Derivative);
    }
    if let (Some(linked), ..) = link_here(&group.folder, group, sources, options, false)
        && let Some(code) = Code::of(&linked, sources, options)
    {
        code.derivatives(&linked, options).into_iter().for_each(|unit| marks[unit] = Mark::Derivative);
    }
    marks
}

/// A linked group in two stages.
struct Code {
    before_ad: Module,
    optimised: Module,
    interface: ShaderInterface,
}

impl Code {
    fn of(linked: &Linked, sources: &mut SourceMap, options: &CompileOptions<'_>) -> Option<Code> {
        let (checked, found) = check(sources, linked.file, options);
        let (id, _) = checked.program.shaders().find(|(_, f)| f.name == linked.shader && f.span.file == linked.file)?;
        if found.has_errors() {
            return None;
        }
        let defaults = computed_defaults(&checked, id, options);
        let request = Request {
            checked: &checked,
            shader: id,
            bake: None,
            defaults: &defaults,
            probes: false,
            resampled: None,
            call_sites: true,
            names: false,
            poison: false,
            coincidences: false,
            precision: Precision::Single,
            linked: None,
            externals: options.externals,
            roots: Roots::All,
        };
        let (mut optimised, interface) = lower::lower(&request, &mut Diagnostics::new())?;
        let mut before_ad = None;
        let mut look = |stage: Stage, module: &Module| {
            if stage == Stage::BeforeAd {
                before_ad = Some(module.clone());
            }
        };
        pipeline::run(&mut optimised, options.passes, &mut look).ok()?;
        Some(Code { before_ad: before_ad?, optimised, interface })
    }

    /// The values of a module's entry that an output of the shader hands out.
    fn output<'m>(&self, module: &'m Module, name: &str) -> &'m [Value] {
        let entry = module.entry();
        // The first result is the token.
        let results = &entry.region(entry.body).results[1..];
        let output = self.interface.outputs.iter().find(|o| o.name == name);
        output.map_or(&[], |o| &results[o.first_row..o.first_row + o.scalars.len()])
    }

    /// Units of which all opened outputs are constants.
    fn constants(&self, opened: &Linked) -> impl Iterator<Item = usize> {
        let known = self.optimised.entry().constants();
        let mut folds: BTreeMap<usize, bool> = BTreeMap::new();
        for (unit, name) in &opened.opened {
            let constant = self.output(&self.optimised, name).iter().all(|v| known[v.index()].is_some());
            *folds.entry(*unit).or_insert(true) &= constant;
        }
        folds.into_iter().filter(|(_, constant)| *constant).map(|(unit, _)| unit)
    }

    fn shadowed_outputs(&self, opened: &Linked, options: &CompileOptions<'_>) -> HashSet<usize> {
        let list = variants(&self.before_ad, options.passes.call_policy);
        let Some(entry) = list.iter().find(|v| v.function == self.before_ad.entry) else { return HashSet::new() };
        let shadowed = |name: &str| self.output(&self.before_ad, name).iter().any(|v| entry.activity.shadows(*v).any());
        opened.opened.iter().filter(|(_, name)| shadowed(name)).map(|(unit, _)| *unit).collect()
    }

    /// Units with an instruction that carries a shadow or asks for one.
    fn derivatives(&self, linked: &Linked, options: &CompileOptions<'_>) -> HashSet<usize> {
        let module = &self.before_ad;
        let list = variants(module, options.passes.call_policy);
        let alone = inside(module, &list);
        let mut found = HashSet::new();
        for variant in list.iter().filter(|v| v.function == module.entry) {
            module.function(variant.function).walk(|_, data| {
                if carries(data, &variant.activity, &alone) {
                    // The call that the instruction was written for.
                    let call = linked.calls.iter().find(|(_, span)| {
                        span.file == data.span.file && span.start <= data.span.start && data.span.end <= span.end
                    });
                    found.extend(call.map(|(unit, _)| *unit));
                }
            });
        }
        found
    }
}

/// Whether an instruction gives something with a shadow, or asks for one.
fn carries(data: &InstData, activity: &Activity, alone: &HashSet<FuncId>) -> bool {
    let shadowed = |v: &Value| activity.shadows(*v).any();
    let asks = match data.op {
        Op::Derivative(_) | Op::Sample { .. } => data.args.iter().any(shadowed),
        Op::Call(callee) => alone.contains(&callee) || data.args.iter().any(shadowed),
        _ => false,
    };
    asks || data.results.iter().any(shadowed)
}

/// Functions with shadows inside them even where none go in.
fn inside(module: &Module, list: &[Variant]) -> HashSet<FuncId> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for variant in list.iter().filter(|v| v.signature.params.iter().all(|p| *p == Carried::default())) {
            let mut any = false;
            module.function(variant.function).walk(|_, data| any |= carries(data, &variant.activity, &found));
            if any {
                found.insert(variant.function);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
