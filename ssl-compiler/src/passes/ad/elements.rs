//! Operations on floats, for float arrays element by element.

use crate::ir::builder::Builder;
use crate::ir::*;

/// Elements that are written one after the other. A loop is shorter, but no token passes through it, so that a reverse
/// sweep cannot keep what its rounds compute.
const UNROLLED: u32 = 64;

/// What an operation makes of values of one type, which are floats or arrays of them.
pub(super) fn each(b: &mut Builder, values: &[Value], op: impl Fn(&mut Builder, &[Value]) -> Value) -> Value {
    let ty = b.ty(values[0]);
    let Ty::Array(_, length) = ty else { return op(b, values) };
    if length <= UNROLLED {
        let mut made = Values::new();
        for i in 0..length {
            let index = b.int(i as i32);
            let elements: Values = values.iter().map(|&array| b.array_get(array, index)).collect();
            made.push(op(b, &elements));
        }
        return b.emit(Op::ArrayNew, &made, ty);
    }
    let (start, end, one) = (b.int(0), b.int(length as i32), b.int(1));
    let condition = b.open(&[INT, ty]);
    let params = b.params(condition);
    let more = b.int_compare(Compare::Lt, params[0], end);
    b.close(Values::from_slice(&[more, params[0], params[1]]));
    let body = b.open(&[INT, ty]);
    let params = b.params(body);
    // What the loop has not come to yet is the first value's.
    let element = |(k, &v): (usize, &Value)| if k == 0 { params[1] } else { v };
    let arrays: Values = values.iter().enumerate().map(element).collect();
    let elements: Values = arrays.iter().map(|&array| b.array_get(array, params[0])).collect();
    let made = op(b, &elements);
    let array = b.array_set(params[1], params[0], made);
    let next = b.int2(Int2::Add, params[0], one);
    b.close(Values::from_slice(&[next, array]));
    let args = Values::from_slice(&[start, values[0]]);
    let inst = b.push(Op::Loop(Checkpoint::Free), args, &[INT, ty], &[condition, body]);
    b.results(inst)[1]
}
