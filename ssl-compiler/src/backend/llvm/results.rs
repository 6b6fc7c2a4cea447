//! How the scalar results of a function come back: one as itself, several as a struct in which more than
//! two floats are packed into vectors.
//!
//! On x86-64, LLVM returns the third and fourth float of a struct on the x87 stack. That is slow; it makes
//! signalling NaNs quiet; and the fast instruction selector takes such a result into a register that its
//! instruction cannot name. Vectors come back in registers of their own.

use super::BackendError;
use super::function::{Made, Translator, unexpected};
use super::unit::Types;
use crate::ir::{Function, Ty, Value};
use crate::types::Scalar;
use inkwell::context::Context;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicValue, BasicValueEnum};

/// Floats in one vector.
const LANES: usize = 4;

/// Most floats that a struct may hold beside one another.
const MAX_LOOSE: usize = 2;

const FLOAT: Ty = Ty::Scalar(Scalar::Float);

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
    fn of(types: Types<'ctx>, results: &[Ty]) -> Layout<'ctx> {
        let floats = results.iter().filter(|&&ty| ty == FLOAT).count();
        let vectors = if floats > MAX_LOOSE { floats.div_ceil(LANES) } else { 0 };
        let mut layout =
            Layout { fields: vec![types.float.vec_type(LANES as u32).into(); vectors], places: Vec::new() };
        let mut packed = 0;
        for &ty in results {
            if ty == FLOAT && vectors > 0 {
                layout.places.push(Place::Lane((packed / LANES) as u32, (packed % LANES) as u64));
                packed += 1;
            } else {
                layout.places.push(Place::Field(layout.fields.len() as u32));
                layout.fields.push(types.of(ty));
            }
        }
        layout
    }
}

fn scalars(tys: impl Iterator<Item = Ty>) -> Vec<Ty> {
    tys.filter(|ty| !ty.is_array()).collect()
}

/// The type of a function of these parameters with the scalar results of `f`.
pub(super) fn function_type<'ctx>(
    context: &'ctx Context,
    types: Types<'ctx>,
    f: &Function,
    params: &[BasicMetadataTypeEnum<'ctx>],
) -> FunctionType<'ctx> {
    match scalars(f.results.iter().copied()).as_slice() {
        [] => context.void_type().fn_type(params, false),
        &[one] => types.of(one).fn_type(params, false),
        several => context.struct_type(&Layout::of(types, several).fields, false).fn_type(params, false),
    }
}

impl<'ctx> Translator<'_, 'ctx> {
    /// Ends the function with its scalar results.
    pub(super) fn give_back(&self, values: &[BasicValueEnum<'ctx>]) -> Made {
        if values.len() < 2 {
            self.b.build_return(values.first().map(|v| v as &dyn BasicValue<'ctx>))?;
            return Ok(());
        }
        let layout = Layout::of(self.unit.types, &scalars(self.f.results.iter().copied()));
        let mut fields: Vec<Option<BasicValueEnum<'ctx>>> = vec![None; layout.fields.len()];
        for (place, &value) in layout.places.iter().zip(values) {
            match *place {
                Place::Field(i) => fields[i as usize] = Some(value),
                Place::Lane(i, lane) => {
                    let vector = self.unit.types.float.vec_type(LANES as u32);
                    let so_far = fields[i as usize].map_or(vector.get_poison(), BasicValueEnum::into_vector_value);
                    let lane = self.unit.types.long.const_int(lane, false);
                    let filled = self.b.build_insert_element(so_far, value.into_float_value(), lane, "")?;
                    fields[i as usize] = Some(filled.into());
                }
            }
        }
        let fields: Option<Vec<_>> = fields.into_iter().collect();
        let fields = fields.ok_or_else(|| BackendError("a result has no value".to_owned()))?;
        self.b.build_aggregate_return(&fields)?;
        Ok(())
    }

    /// Takes a call's scalar results out of what it returned.
    pub(super) fn take_back(&mut self, results: &[Value], returned: BasicValueEnum<'ctx>) -> Made {
        let results: Vec<Value> = results.iter().copied().filter(|&r| !self.f.ty(r).is_array()).collect();
        let all = match (results.as_slice(), returned) {
            (&[one], value) => {
                self.set(one, value);
                return Ok(());
            }
            (_, BasicValueEnum::StructValue(all)) => all,
            _ => return unexpected(),
        };
        let layout = Layout::of(self.unit.types, &scalars(results.iter().map(|&r| self.f.ty(r))));
        let mut fields = Vec::new();
        for i in 0..layout.fields.len() {
            fields.push(self.b.build_extract_value(all, i as u32, "")?);
        }
        for (&result, place) in results.iter().zip(&layout.places) {
            let value = match *place {
                Place::Field(i) => fields[i as usize],
                Place::Lane(i, lane) => {
                    let lane = self.unit.types.long.const_int(lane, false);
                    self.b.build_extract_element(fields[i as usize].into_vector_value(), lane, "")?
                }
            };
            self.set(result, value);
        }
        Ok(())
    }
}
