//! Updating an array whose old value is dead happens in place: what that rests on, without timing.

use ssl_compiler::analysis::storage::Storage;
use ssl_compiler::ir::{Function, Op, Region, Ty, Value};
use ssl_compiler::pipeline::Stage;
use ssl_tests::{Host, WAYS, messages, on_large_stack, run_with_default_fuel};

/// Copies of arrays that a back end makes, inside loops and elsewhere: wherever one array becomes
/// another that lies in a different slot.
fn copies(f: &Function) -> (usize, usize) {
    let storage = Storage::of(f);
    let mut count = (0, 0);
    region(f, &storage, f.body, false, &mut count);
    count
}

fn region(f: &Function, storage: &Storage, at: Region, in_loop: bool, count: &mut (usize, usize)) {
    let differ = |from: &[Value], to: &[Value]| {
        let pairs = from.iter().zip(to).filter(|(v, _)| matches!(f.ty(**v), Ty::Array(..)));
        pairs.filter(|(a, b)| storage.slot(**a) != storage.slot(**b)).count()
    };
    let mut add = |n: usize, inside: bool| if inside { count.0 += n } else { count.1 += n };
    for &inst in &f.region(at).insts {
        let data = f.inst(inst);
        match data.op {
            Op::ArraySet => add(differ(&data.args[..1], &data.results), in_loop),
            Op::If => data.regions.iter().for_each(|&r| add(differ(&f.region(r).results, &data.results), in_loop)),
            Op::Loop(_) => {
                let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
                add(differ(&data.args, &condition.params), in_loop);
                add(differ(&condition.results[1..], &data.results), in_loop);
                add(differ(&condition.results[1..], &body.params) + differ(&body.results, &condition.params), true);
            }
            _ => {}
        }
    }
    for &inst in &f.region(at).insts {
        let data = f.inst(inst);
        data.regions.iter().for_each(|&r| region(f, storage, r, in_loop || data.op.is_loop(), count));
    }
}

const SIEVE: &str = "shader main(int n = 5000, out int primes) {
    bool composite[5000];
    for (int k = 2; k < n; ++k) {
        if (composite[k]) continue;
        primes++;
        for (int m = 2 * k; m < n; m += k) composite[m] = true;
    }
}";

#[test]
fn a_sieve_copies_nothing_and_holds_one_array() {
    let module = Host::default().stage(SIEVE, Stage::Optimised);
    let arrays = Storage::of(module.entry()).list;
    assert_eq!(arrays.len(), 1, "{module}");
    assert_eq!(copies(module.entry()), (0, 0), "{module}");
}

#[test]
fn a_sieve_counts_the_primes() {
    for way in WAYS {
        let shader = Host::default().compile(SIEVE, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        assert_eq!(run_with_default_fuel(&shader, &[]).outputs, [669], "{way:?}");
    }
}

#[test]
fn an_array_that_is_still_needed_is_copied_once() {
    let source = "shader main(out float r) {
        float a[100]; int k = int(global_value<time>); a[k] = 1.0;
        float b[100] = a;
        for (int i = 0; i < 50; ++i) b[k + i] += 2.0;
        r = a[k] + b[k];
    }";
    let module = Host::default().stage(source, Stage::Optimised);
    assert_eq!(copies(module.entry()), (0, 1), "{module}");
}

#[test]
fn sorting_in_a_function_stays_in_place() {
    let source = "void sort(inout float a[64]) {
            for (int i = 1; i < 64; ++i) {
                float v = a[i];
                int j = i;
                while (j > 0 && a[j - 1] > v) { a[j] = a[j - 1]; --j; }
                a[j] = v;
            }
        }
        shader main(out float lowest, out float middle, out float highest) {
            float a[64];
            for (int i = 0; i < 64; ++i) a[i] = float((i * 37) % 64);
            sort(a);
            lowest = a[0]; middle = a[31]; highest = a[63];
        }";
    let module = Host::default().stage(source, Stage::Optimised);
    for f in &module.functions {
        assert_eq!(copies(f).0, 0, "{module}");
    }
    for way in WAYS {
        let shader = Host::default().compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        assert_eq!(run_with_default_fuel(&shader, &[]).floats(), [0.0, 31.0, 63.0], "{way:?}");
    }
}

/// Reads one element, which updates of others do not change, while it updates two.
fn mixed(length: u32) -> String {
    format!(
        "shader main(int n = 1000, out float o) {{
            float a[{length}];
            for (int i = 2; i < n; ++i) {{ a[0] = float(i); o += a[1]; a[i] = o; a[1] = a[i - 1] + 1.0; }}
        }}"
    )
}

#[test]
fn a_read_past_an_update_does_not_keep_the_older_array() {
    let module = Host::default().stage(&mixed(1000), Stage::Optimised);
    assert_eq!(Storage::of(module.entry()).list.len(), 1, "{module}");
    assert_eq!(copies(module.entry()), (0, 0), "{module}");
    let (mut a, mut o) = (vec![0.0f32; 1000], 0.0);
    for i in 2..1000 {
        a[0] = i as f32;
        o += a[1];
        a[i] = o;
        a[1] = a[i - 1] + 1.0;
    }
    // Two of these arrays would be more than a shader may have.
    on_large_stack(|| {
        for way in WAYS {
            let shader = Host::default().compile(&mixed(600_000), way).unwrap_or_else(|d| panic!("{}", messages(&d)));
            let ran = run_with_default_fuel(&shader, &[]);
            assert_eq!((ran.floats(), ran.status.first_error()), (vec![o], None), "{way:?}");
        }
    });
}
