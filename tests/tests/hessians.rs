//! Second derivatives of ten functions of two numbers, by each way of nesting forward and reverse mode, against closed
//! forms.

use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_tests::{Host, WAYS, messages, run};

/// A function of `x` and `y`, and its derivatives by x and x, x and y, y and y.
struct Case {
    name: &'static str,
    source: &'static str,
    second: fn(f64, f64) -> [f64; 3],
}

const CASES: &[Case] = &[
    Case {
        name: "a polynomial",
        source: "float f(float x, float y) { return x * x * y + y * y * y; }",
        second: |x, y| [2.0 * y, 2.0 * x, 6.0 * y],
    },
    Case {
        name: "a product of functions",
        source: "float f(float x, float y) { return sin(x) * exp(2.0 * y); }",
        second: |x, y| {
            let e = (2.0 * y).exp();
            [-x.sin() * e, 2.0 * x.cos() * e, 4.0 * x.sin() * e]
        },
    },
    Case {
        name: "a quotient",
        source: "float f(float x, float y) { return x / y; }",
        second: |x, y| [0.0, -1.0 / (y * y), 2.0 * x / (y * y * y)],
    },
    Case {
        name: "a power",
        source: "float f(float x, float y) { return pow(x, y); }",
        second: |x, y| {
            let l = x.ln();
            [y * (y - 1.0) * x.powf(y - 2.0), x.powf(y - 1.0) * (1.0 + y * l), x.powf(y) * l * l]
        },
    },
    Case {
        name: "a length",
        source: "float f(float x, float y) { return length(float2(x, y)); }",
        second: |x, y| {
            let r3 = x.hypot(y).powi(3);
            [y * y / r3, -x * y / r3, x * x / r3]
        },
    },
    Case {
        name: "an angle",
        source: "float f(float x, float y) { return atan2(y, x); }",
        second: |x, y| {
            let r4 = (x * x + y * y).powi(2);
            [2.0 * x * y / r4, (y * y - x * x) / r4, -2.0 * x * y / r4]
        },
    },
    Case {
        name: "a direction",
        source: "float f(float x, float y) { return normalize(float3(x, y, 1.0)).z; }",
        second: |x, y| {
            let s = (1.0 + x * x + y * y).sqrt();
            let at = |a: f64, b: f64| 3.0 * a * b / s.powi(5);
            [at(x, x) - s.powi(-3), at(x, y), at(y, y) - s.powi(-3)]
        },
    },
    Case {
        name: "a loop",
        source: "float f(float x, float y) { float r = 1.0; for (int i = 0; i < 5; ++i) r = r * x + y; return r; }",
        second: |x, y| {
            [20.0 * x.powi(3) + y * (12.0 * x * x + 6.0 * x + 2.0), 4.0 * x.powi(3) + 3.0 * x * x + 2.0 * x + 1.0, 0.0]
        },
    },
    Case {
        name: "a recursion",
        source: "float power(float x, int n) { return n > 0 ? x * power(x, n - 1) : 1.0; }
            float f(float x, float y) { return power(x * y, 3); }",
        second: |x, y| [6.0 * x * y.powi(3), 9.0 * x * x * y * y, 6.0 * x.powi(3) * y],
    },
    Case {
        name: "branches and an array",
        source: "float f(float x, float y) {
            float a[2] = {x, y};
            int i = x < y ? 1 : 0;
            a[i] *= a[1 - i];
            if (x < y) return log(a[0]) + a[1];
            return exp(a[0]);
        }",
        second: |x, y| {
            let e = (x * y).exp();
            if x < y { [-1.0 / (x * x), 1.0, 0.0] } else { [y * y * e, (1.0 + x * y) * e, x * x * e] }
        },
    },
];

const POINTS: [[f64; 2]; 3] = [[0.7, 0.3], [0.4, 1.3], [1.6, 0.9]];

/// Each way gives two rows of the Hessian: `f` by the direction (dx, dy), then by x and by y.
const SHADER: &str = "
globals { float2 p; float2 d; }
DifferentialPair<DifferentialPair<float>> along(float x, float dx, float ex)
{
    DifferentialPair<DifferentialPair<float>> p = {{x, dx}, {ex, 0.0}};
    return p;
}
shader main(out float2 ff, out float2 fb, out float2 bf, out float2 bb)
{
    float x = global_value<p>.x, y = global_value<p>.y, dx = global_value<d>.x, dy = global_value<d>.y;
    ff = float2(
        fwd_diff(fwd_diff(f))(along(x, dx, 1.0), along(y, dy, 0.0)).d.d,
        fwd_diff(fwd_diff(f))(along(x, dx, 0.0), along(y, dy, 1.0)).d.d);

    DifferentialPair<DifferentialPair<float>> px = along(x, 0.0, dx), py = along(y, 0.0, dy);
    fwd_diff(bwd_diff(f))(px, py, diffPair(1.0));
    fb = float2(px.d.d, py.d.d);

    px = diffPair(diffPair(x, dx));
    py = diffPair(diffPair(y, dy));
    bwd_diff(fwd_diff(f))(px, py, diffPair(0.0, 1.0));
    bf = float2(px.d.p, py.d.p);

    px = diffPair(diffPair(x), diffPair(0.0, dx));
    py = diffPair(diffPair(y), diffPair(0.0, dy));
    DifferentialPair<float> w = diffPair(1.0);
    bwd_diff(bwd_diff(f))(px, py, w);
    bb = float2(px.d.p, py.d.p);
}
";

#[test]
fn each_way_to_a_hessian_gives_the_closed_form() {
    assert_eq!(CASES.len(), 10);
    let host = Host::default();
    for case in CASES {
        let source = format!("{}{SHADER}", case.source);
        for way in WAYS {
            let shader =
                host.compile(&source, way).unwrap_or_else(|d| panic!("{}, {way:?}: {}", case.name, messages(&d)));
            for point in POINTS {
                let [xx, xy, yy] = (case.second)(point[0], point[1]);
                for (direction, rows) in [
                    ([1.0, 0.0], [xx, xy]),
                    ([0.0, 1.0], [xy, yy]),
                    ([0.6, -2.0], [0.6 * xx - 2.0 * xy, 0.6 * xy - 2.0 * yy]),
                ] {
                    let mut globals = vec![0.0; host.globals.rows()];
                    // A value and two partials each.
                    globals.extend([point, direction].iter().flatten().flat_map(|&x| [x as f32, 0.0, 0.0]));
                    let ran = run(&shader, &globals, DEFAULT_FUEL);
                    assert!(ran.status.is_clean(), "{}, {way:?}: {:?}", case.name, ran.status);
                    let size = 1.0 + xx.abs() + xy.abs() + yy.abs();
                    for (i, found) in ran.floats().into_iter().enumerate() {
                        let (nesting, wanted) = (["ff", "fb", "bf", "bb"][i / 2], rows[i % 2]);
                        assert!(
                            (f64::from(found) - wanted).abs() <= 2e-5 * size,
                            "{}, {way:?} by {nesting} at {point:?} along {direction:?}: {found}, not {wanted}",
                            case.name
                        );
                    }
                }
            }
        }
    }
}
