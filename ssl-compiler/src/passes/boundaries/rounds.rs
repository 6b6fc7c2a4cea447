//! Loops that add, and the fuel that they take.

use crate::ir::builder::Builder;
use crate::ir::*;

/// Calls `write` with the number of each round and the values so far, and hands on what it gives. Gives the values behind
/// the loop.
pub(super) fn rounds(
    b: &mut Builder,
    count: Value,
    start: &[Value],
    write: impl FnOnce(&mut Builder, Value, &[Value]) -> Values,
) -> Values {
    written(b, None, count, start, |b, _, index, carried| write(b, index, carried))
}

/// Likewise. Each round takes fuel, at least so much. The token behind the loop comes first.
pub(super) fn paid_rounds(
    b: &mut Builder,
    token: Value,
    price: u32,
    count: Value,
    start: &[Value],
    write: impl FnOnce(&mut Builder, Value, &[Value]) -> Values,
) -> Values {
    threaded_rounds(b, (token, price), count, start, |b, token, index, carried| (token, write(b, index, carried)))
}

/// Likewise, for rounds that have effects: `write` takes the token and hands it on.
pub(super) fn threaded_rounds(
    b: &mut Builder,
    (token, price): (Value, u32),
    count: Value,
    start: &[Value],
    write: impl FnOnce(&mut Builder, Value, Value, &[Value]) -> (Value, Values),
) -> Values {
    written(b, Some((token, price)), count, start, |b, tokens, index, carried| {
        let (token, values) = write(b, tokens[0], index, carried);
        tokens[0] = token;
        values
    })
}

fn written(
    b: &mut Builder,
    paid: Option<(Value, u32)>,
    count: Value,
    start: &[Value],
    write: impl FnOnce(&mut Builder, &mut [Value], Value, &[Value]) -> Values,
) -> Values {
    let mut initial: Values = paid.iter().map(|&(token, _)| token).collect();
    let own = initial.len();
    initial.push(b.int(0));
    initial.extend(start.iter().copied());
    let types: Vec<Ty> = initial.iter().map(|&v| b.ty(v)).collect();

    let condition = b.open(&types);
    let mut carried = b.params(condition);
    let mut go = b.int_compare(Compare::Lt, carried[own], count);
    if let Some((_, price)) = paid {
        let burnt = b.push(Op::Burn(price), Values::from_slice(&carried[..1]), &[Ty::Token, BOOL], &[]);
        let (token, alive) = (b.results(burnt)[0], b.results(burnt)[1]);
        carried[0] = token;
        go = b.and(alive, go);
    }
    let mut tested = Values::from_slice(&[go]);
    tested.extend(carried);
    b.close(tested);

    let body = b.open(&types);
    let carried = b.params(body);
    let one = b.int(1);
    let next = b.int2(Int2::Add, carried[own], one);
    let mut handed = Values::from_slice(&carried[..own]);
    let values = write(b, &mut handed, carried[own], &carried[own + 1..]);
    handed.push(next);
    handed.extend(values);
    b.close(handed);

    let inst = b.push(Op::Loop(Checkpoint::Free), initial, &types, &[condition, body]);
    let results = b.results(inst);
    let tokens = &results[..own];
    tokens.iter().chain(&results[own + 1..]).copied().collect()
}
