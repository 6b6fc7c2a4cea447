//! How a function returns its scalar results: a single one as itself, several as a struct that packs more than two
//! floats into vectors.
//!
//! On x86-64, LLVM returns the third and fourth float of a struct on the x87 stack. That is slow; it makes
//! signalling NaNs quiet; and the fast instruction selector takes such a result into a register that its
//! instruction cannot name. Vectors come back in registers of their own.

use super::BackendError;
use super::module::{LlvmModule, Types};
use crate::backend::emit::{Kind, Made, Shape, unexpected};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicValue, BasicValueEnum};
use smallvec::SmallVec;

/// Floats in one vector.
const LANES: usize = 4;

/// Most floats that a struct may hold beside one another.
const MAX_LOOSE: usize = 2;

/// Where a result stands in the struct.
#[derive(Clone, Copy)]
enum Place {
    Field(u32),
    Lane(u32, u64),
}

/// The struct for several results: its fields' types, and each result's place in it.
struct Layout<'ctx> {
    fields: Vec<BasicTypeEnum<'ctx>>,
    places: Vec<Place>,
}

impl<'ctx> Layout<'ctx> {
    /// By the types of the results. Only single floats are packed.
    fn of(types: Types<'ctx>, results: &[BasicTypeEnum<'ctx>]) -> Layout<'ctx> {
        let float = BasicTypeEnum::from(types.float);
        let floats = results.iter().filter(|&&ty| ty == float).count();
        let vectors = if floats > MAX_LOOSE { floats.div_ceil(LANES) } else { 0 };
        let mut layout =
            Layout { fields: vec![types.float.vec_type(LANES as u32).into(); vectors], places: Vec::new() };
        let mut packed = 0;
        for &ty in results {
            if ty == float && vectors > 0 {
                layout.places.push(Place::Lane((packed / LANES) as u32, (packed % LANES) as u64));
                packed += 1;
            } else {
                layout.places.push(Place::Field(layout.fields.len() as u32));
                layout.fields.push(ty);
            }
        }
        layout
    }
}

/// The type of a function of these parameters and results.
pub(super) fn function_type<'ctx>(
    context: &'ctx Context,
    types: Types<'ctx>,
    results: &[Shape],
    lanes: u32,
    params: &[BasicMetadataTypeEnum<'ctx>],
) -> FunctionType<'ctx> {
    debug_assert!(results.iter().all(|s| s.kind != Kind::Pointer), "arrays come back in memory");
    let results: Vec<BasicTypeEnum<'ctx>> = results.iter().map(|&s| types.of(s, lanes)).collect();
    match results.as_slice() {
        [] => context.void_type().fn_type(params, false),
        [one] => one.fn_type(params, false),
        several => context.struct_type(&Layout::of(types, several).fields, false).fn_type(params, false),
    }
}

/// Ends a function with its results.
pub(super) fn give_back<'ctx>(made: &LlvmModule<'_, 'ctx>, b: &Builder<'ctx>, values: &[BasicValueEnum<'ctx>]) -> Made {
    if values.len() < 2 {
        b.build_return(values.first().map(|v| v as &dyn BasicValue<'ctx>))?;
        return Ok(());
    }
    let types: Vec<BasicTypeEnum<'ctx>> = values.iter().map(BasicValueEnum::get_type).collect();
    let layout = Layout::of(made.types, &types);
    let mut fields: Vec<Option<BasicValueEnum<'ctx>>> = vec![None; layout.fields.len()];
    for (place, &value) in layout.places.iter().zip(values) {
        match *place {
            Place::Field(i) => fields[i as usize] = Some(value),
            Place::Lane(i, lane) => {
                let vector = made.types.float.vec_type(LANES as u32);
                let so_far = fields[i as usize].map_or(vector.get_poison(), BasicValueEnum::into_vector_value);
                let lane = made.types.long.const_int(lane, false);
                let filled = b.build_insert_element(so_far, value.into_float_value(), lane, "")?;
                fields[i as usize] = Some(filled.into());
            }
        }
    }
    let fields: Option<Vec<_>> = fields.into_iter().collect();
    let fields = fields.ok_or_else(|| BackendError("a result has no value".to_owned()))?;
    b.build_aggregate_return(&fields)?;
    Ok(())
}

/// Takes a call's results out of what it returned.
pub(super) fn take_back<'ctx>(
    made: &LlvmModule<'_, 'ctx>,
    b: &Builder<'ctx>,
    shapes: &[Shape],
    returned: BasicValueEnum<'ctx>,
) -> Made<SmallVec<[BasicValueEnum<'ctx>; 4]>> {
    let all = match (shapes, returned) {
        ([_], value) => return Ok([value].into_iter().collect()),
        (_, BasicValueEnum::StructValue(all)) => all,
        _ => return unexpected(),
    };
    let types: Vec<BasicTypeEnum<'ctx>> = shapes.iter().map(|&s| made.types.of(s, made.unit.plan.lanes)).collect();
    let layout = Layout::of(made.types, &types);
    let mut fields = Vec::new();
    for i in 0..layout.fields.len() {
        fields.push(b.build_extract_value(all, i as u32, "")?);
    }
    let mut out = SmallVec::new();
    for place in &layout.places {
        out.push(match *place {
            Place::Field(i) => fields[i as usize],
            Place::Lane(i, lane) => {
                let lane = made.types.long.const_int(lane, false);
                b.build_extract_element(fields[i as usize].into_vector_value(), lane, "")?
            }
        });
    }
    Ok(out)
}
