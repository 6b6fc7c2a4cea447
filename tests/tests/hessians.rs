//! Second derivatives of functions of two numbers, and of integrals that jump, by each way of nesting forward and reverse
//! mode, against closed forms.

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

/// A number with two directions.
const ALONG: &str = "
DifferentialPair<DifferentialPair<float>> along(float x, float dx, float ex)
{
    DifferentialPair<DifferentialPair<float>> p = {{x, dx}, {ex, 0.0}};
    return p;
}
";

/// Each way gives two rows of the Hessian: `f` by the direction (dx, dy), then by x and by y.
const SHADER: &str = "
globals { float2 p; float2 d; }
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

/// Integrals whose integrands jump, or bend, at places that depend on both.
const INTEGRALS: &[Case] = &[
    Case {
        name: "a weight and an edge",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0]; samples = 4096) { return u < y ? x * u + x * x : 0.0; };
        }",
        second: |x, y| [2.0 * y, y + 2.0 * x, x],
    },
    Case {
        name: "two edges",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0], v in [0.0, 2.0]; samples = 4096) {
                return u < x && v < y ? 1.0 + u * v : 0.0;
            };
        }",
        second: |x, y| [0.5 * y * y, 1.0 + x * y, 0.5 * x * x],
    },
    Case {
        name: "an oblique edge",
        source: "float f(float x, float y) {
            return integral(u in [-1.0, 2.0], v in [0.0, 2.0]; samples = 4096) {
                return u + 0.5 * v < x && v < y ? 1.0 : 0.0;
            };
        }",
        second: |_, _| [0.0, 1.0, -0.5],
    },
    Case {
        name: "an edge that ends at one which stays",
        source: "float f(float x, float y) {
            return integral(u in [-1.0, 2.0], v in [-2.0, 2.0]; samples = 4096) {
                return u < y && u + v < 0.3 ? x : 0.0;
            };
        }",
        // x times the integral of 2.3 − u over u from −1 to y.
        second: |x, y| [0.0, 2.3 - y, -x],
    },
    Case {
        name: "a line through a corner",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0], v in [0.0, 2.0]; samples = 4096) {
                return u < x && v < y && u + v < x + y ? 1.0 : 0.0;
            };
        }",
        second: |_, _| [0.0, 1.0, 0.0],
    },
    Case {
        name: "a corner on a line",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 4.0], v in [0.0, 4.0]; samples = 4096) {
                return u < x && v < y || u + v < x + y ? 1.0 : 0.0;
            };
        }",
        second: |_, _| [1.0, 1.0, 1.0],
    },
    Case {
        name: "a cut corner",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0], v in [0.0, 2.0]; samples = 4096) {
                if (u < x)
                    return v < y && u + v < x + y - 0.2 ? 1.0 : 0.0;
                return 0.0;
            };
        }",
        second: |_, _| [0.0, 1.0, 0.0],
    },
    Case {
        name: "maxima and sizes",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0]; samples = 4096) { return max(u - x, 0.0) * y + abs(u - y); };
        }",
        second: |x, y| [y, x - 2.0, 2.0],
    },
    Case {
        name: "steps",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0]; samples = 4096) { return y * y * floor(3.0 * u + x); };
        }",
        second: |x, y| [0.0, 4.0 * y, 10.0 + 4.0 * x],
    },
    Case {
        name: "an end that moves",
        source: "float f(float x, float y) {
            return integral(u in [0.0, x]; samples = 4096) { return u < 0.5 * x * y ? u : 0.0; };
        }",
        second: |x, y| [0.25 * y * y, 0.5 * x * y, 0.25 * x * x],
    },
    Case {
        name: "a condition inside a function",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0]; samples = 4096) { return abs(u - 1.0) < 0.5 * x ? y * u * u : 0.0; };
        }",
        second: |x, y| [0.5 * x * y, 1.0 + 0.25 * x * x, 0.0],
    },
    Case {
        name: "a root",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0]; samples = 64) { return u * u - u * y < 0.3 * x ? 1.0 : 0.0; };
        }",
        second: |x, y| {
            let d3 = (y * y + 1.2 * x).sqrt().powi(3);
            [-0.18 / d3, -0.3 * y / d3, 0.6 * x / d3]
        },
    },
    Case {
        name: "a plane",
        source: "float f(float x, float y) {
            return integral(u in [0.0, 2.0], v in [0.0, 2.0], w in [0.0, 2.0]; samples = 4096) {
                return u + v + w < x ? y : 0.0;
            };
        }",
        second: |x, y| [x * y, 0.5 * x * x, 0.0],
    },
];

#[test]
fn each_way_to_a_hessian_gives_the_closed_form() {
    assert_eq!(CASES.len(), 10);
    check(CASES, 2e-5);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn each_way_to_a_hessian_of_an_integral_gives_the_closed_form() {
    check(INTEGRALS, 4e-3);
}

/// In each way of nesting, along each direction that moves the place of a jump whose second derivative is not known.
#[test]
fn second_derivatives_of_integrals_that_are_not_known_are_refused() {
    const AREA: &str = "integral(u in [-1.0, 1.0], v in [-1.0, 1.0]; samples = 16";
    let after_weight = ["1.0", "0.0"];
    let after_place = ["0.0", "1.0"];
    let bodies = [
        (") { return u * u + v * v < y ? x : 0.0; }", after_place),
        (") { return u * u + v * v < 0.5 && u < y ? x : 0.0; }", after_place),
        (") { return u < y && v * v * v + v + u < 0.3 ? x : 0.0; }", after_place),
        (") { return floor(3.0 * u + y) > 1.0 && v < 0.5 * y ? x : 0.0; }", after_place),
        (") { return u * u * u + v < y ? x : 0.0; }", after_weight),
        (", smoothing = 0.1) { return max(u, v) < y ? x : 0.0; }", after_weight),
        (") { return max(u * u * u - y, v) * x; }", after_weight),
    ];
    let ways = [
        "r = fwd_diff(fwd_diff(f))(along(0.5, DX, 0.0), along(0.4, DY, 1.0)).d.d;",
        "DifferentialPair<DifferentialPair<float>> px = along(0.5, 0.0, DX), py = along(0.4, 0.0, DY);
         fwd_diff(bwd_diff(f))(px, py, diffPair(1.0)); r = px.d.d + py.d.d;",
        "DifferentialPair<DifferentialPair<float>> px = diffPair(diffPair(0.5, DX)), py = diffPair(diffPair(0.4, DY));
         bwd_diff(fwd_diff(f))(px, py, diffPair(0.0, 1.0)); r = px.d.p + py.d.p;",
        "DifferentialPair<DifferentialPair<float>> px = diffPair(diffPair(0.5), diffPair(0.0, DX));
         DifferentialPair<DifferentialPair<float>> py = diffPair(diffPair(0.4), diffPair(0.0, DY));
         DifferentialPair<float> w = diffPair(1.0); bwd_diff(bwd_diff(f))(px, py, w); r = px.d.p + py.d.p;",
    ];
    let host = Host::default();
    for (body, [dx, dy]) in bodies {
        let f = format!("float f(float x, float y) {{ return {AREA}{body}; }}\n");
        for way in ways {
            let way = way.replace("DX", dx).replace("DY", dy);
            let source = format!("{f}{ALONG}shader main(out float r) {{ {way} }}\n");
            match host.compile(&source, WAYS[0]) {
                Ok(_) => panic!("not refused: {source}"),
                Err(d) => assert!(messages(&d).contains("E0806"), "{}: {source}", messages(&d)),
            }
        }
    }
}

fn check(cases: &[Case], tolerance: f64) {
    let host = Host::default();
    for case in cases {
        let source = format!("{}{ALONG}{SHADER}", case.source);
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
                            (f64::from(found) - wanted).abs() <= tolerance * size,
                            "{}, {way:?} by {nesting} at {point:?} along {direction:?}: {found}, not {wanted}",
                            case.name
                        );
                    }
                }
            }
        }
    }
}
