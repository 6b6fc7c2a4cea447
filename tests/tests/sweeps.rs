//! Reverse sweeps through loops of no, one and very many rounds, however they come by what they read; and sweeps in the
//! middle of which fuel or tape ends.

use ssl_compiler::Shader;
use ssl_compiler::runtime::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use ssl_compiler::runtime::{LANES, LaneError};
use ssl_tests::{Host, RanBlock, WAYS, messages, run_block_on};

const MANY: i32 = 100_000;

fn shaders(source: &str) -> Vec<Shader> {
    let host = Host::default();
    WAYS.into_iter()
        .map(|way| host.compile(source, way).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d))))
        .collect()
}

/// Runs lanes with these numbers of rounds in all ways, which agree to the bit.
fn run(shaders: &[Shader], rounds: &[i32], fuel: u32, tape_rows: u32) -> RanBlock {
    let globals: [Vec<f32>; LANES] = std::array::from_fn(|lane| vec![rounds.get(lane).copied().unwrap_or(0) as f32]);
    let mask = (1 << rounds.len()) - 1;
    let mut all = shaders.iter().map(|shader| run_block_on(shader, &globals, mask, fuel, tape_rows));
    // The first one is not optimised: it may end elsewhere.
    let plain = all.next().expect("there are ways");
    let expected = all.next().expect("there are several");
    if fuel == DEFAULT_FUEL && tape_rows == DEFAULT_TAPE_ROWS {
        assert_eq!(plain.outputs, expected.outputs);
    }
    for (found, way) in all.zip(&WAYS[2..]) {
        assert_eq!(found, expected, "{way:?}, fuel {fuel}, {tape_rows} rows");
    }
    expected
}

/// y goes 1, x, x², x and so on, and now and then its value is added up: all of it is exact for x = 2.
fn source(attribute: &str, orders: usize, every: i32) -> String {
    let mut text = format!(
        "float f0(float x, int n) {{
            float y = 1.0, sum = 0.0;
            {attribute} for (int i = 0; i < n; ++i) {{
                if (i % {every} == 0)
                    sum += y;
                y *= (i & 2) == 0 ? x : 1.0 / x;
            }}
            return sum;
        }}\n"
    );
    for order in 1..=orders {
        text += &format!(
            "float f{order}(float x, int n)
             {{ DifferentialPair<float> p = diffPair(x); bwd_diff(f{})(p, n, 1.0); return p.d; }}\n",
            order - 1
        );
    }
    text += &format!("shader main(out float r) {{ r = f{orders}(2.0, int(global_value<uvw>.x)); }}");
    text
}

/// The derivative by x at 2: that of xᵉ is e, or e (e − 1), times a power of two.
fn expected(n: i32, order: usize, every: i32) -> f32 {
    let exponents = [0, 1, 2, 1];
    let term = |i: i32| match (order, exponents[i as usize % 4]) {
        (1, 1) => 1.0,
        (1, 2) => 4.0,
        (2, 2) => 2.0,
        _ => 0.0,
    };
    (0..n).filter(|i| i % every == 0).map(term).sum()
}

#[test]
fn any_number_of_rounds_gives_the_gradient() {
    let rounds = [0, 1, 2, 13, 1025];
    for attribute in
        ["", "[Checkpoint(keep)]", "[Checkpoint(every = 7)]", "[Checkpoint(log)]", "[Undo]", "[MaxIters(3)]"]
    {
        for order in [1, 2] {
            let shaders = shaders(&source(attribute, order, 3));
            let ran = run(&shaders, &rounds, DEFAULT_FUEL, DEFAULT_TAPE_ROWS);
            assert!(ran.status.is_clean(), "{attribute}, order {order}: {:?}", ran.status);
            for ((_, found), n) in ran.outputs.iter().zip(rounds) {
                assert_eq!(f32::from_bits(found[0]), expected(n, order, 3), "{attribute}, order {order}, {n} rounds");
            }
        }
    }
}

#[test]
fn so_do_very_many() {
    for (attribute, order) in [
        ("", 1),
        ("[Checkpoint(every = 300)]", 1),
        ("[Checkpoint(log)]", 1),
        ("[Undo]", 1),
        ("[MaxIters(3)]", 1),
        ("", 2),
    ] {
        // Of the lanes together, one goes on alone.
        let rounds = [MANY, 0, 1];
        // Cotangents of order 2 come to the number of rounds times that of terms, and are to be exact.
        let every = if order == 1 { 3 } else { 10_007 };
        let ran = run(&shaders(&source(attribute, order, every)), &rounds, DEFAULT_FUEL, DEFAULT_TAPE_ROWS);
        assert!(ran.status.is_clean(), "{attribute}, order {order}: {:?}", ran.status);
        for ((_, found), n) in ran.outputs.iter().zip(rounds) {
            assert_eq!(f32::from_bits(found[0]), expected(n, order, every), "{attribute}, order {order}, {n} rounds");
        }
    }
}

/// A lane to which fuel or tape lacks by one unit ends, wherever that is; one that has all it needs does not.
#[test]
fn a_sweep_that_cannot_go_on_ends_its_lane_with_zeros() {
    let rounds = [0, 1, 2, 3, 5, 7];
    for (attribute, order) in
        [("", 1), ("", 2), ("[Checkpoint(every = 2)]", 1), ("[Checkpoint(log)]", 1), ("[Undo(anchor = 2)]", 1)]
    {
        let shaders = shaders(&source(attribute, order, 3));
        let ample = run(&shaders, &rounds, DEFAULT_FUEL, DEFAULT_TAPE_ROWS);
        assert!(ample.status.is_clean());
        let check = |ran: &RanBlock, error: LaneError| {
            for (lane, (_, found)) in ran.outputs.iter().enumerate() {
                match ran.status.errors[lane] {
                    None => assert_eq!(found, &ample.outputs[lane].1, "{attribute}, order {order}, lane {lane}"),
                    Some(found_error) => assert_eq!((found_error, &found[..]), (error, &[0][..])),
                }
            }
            ran.status.is_clean()
        };
        let mut ended = Vec::new();
        for fuel in 0.. {
            let ran = run(&shaders, &rounds, fuel, DEFAULT_TAPE_ROWS);
            if check(&ran, LaneError::OutOfFuel) {
                break;
            }
            ended.push(ran.status.errors.iter().flatten().count());
        }
        assert!(ended.is_sorted_by(|a, b| a >= b), "more fuel ends no more lanes: {ended:?}");
        assert!(ended.len() > 2 * 7, "no sweep of seven rounds needs so little: {}", ended.len());
        let most = ample.status.tape_rows;
        for rows in 0..most {
            assert!(!check(&run(&shaders, &rounds, DEFAULT_FUEL, rows), LaneError::TapeFull), "{rows} of {most} rows");
        }
        assert!(check(&run(&shaders, &rounds, DEFAULT_FUEL, most), LaneError::TapeFull));
        assert!(most > 0, "{attribute}");
    }
}
