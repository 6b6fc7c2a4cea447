//! Copies of instructions inside a function.

use crate::ir::{Function, Inst, Region, RegionData, Value};
use std::collections::HashMap;

/// From values to those that take their place in a copy.
pub(super) type Copies = HashMap<Value, Value>;

/// Copies an instruction with all that is in it; its results join the map.
pub(super) fn copy(f: &mut Function, inst: Inst, map: &mut Copies) -> Inst {
    let mut data = f.inst(inst).clone();
    data.args.iter_mut().for_each(|v| *v = mapped(map, *v));
    for region in &mut data.regions {
        let RegionData { mut params, mut results, insts } = f.region(*region).clone();
        renew(f, &mut params, map);
        let insts = insts.into_iter().map(|inner| copy(f, inner, map)).collect();
        results.iter_mut().for_each(|v| *v = mapped(map, *v));
        f.regions.push(RegionData { params, insts, results });
        *region = Region(f.regions.len() as u32 - 1);
    }
    renew(f, &mut data.results, map);
    f.new_inst(data)
}

/// Puts new values in the place of those that something defines.
pub(super) fn renew(f: &mut Function, defined: &mut [Value], map: &mut Copies) {
    for v in defined {
        let new = f.new_value(f.ty(*v));
        map.insert(*v, new);
        *v = new;
    }
}

/// What stands for a value in a copy.
pub(super) fn mapped(map: &Copies, v: Value) -> Value {
    *map.get(&v).unwrap_or(&v)
}
