//! Choices between two numbers, one inside the other: signs of zeros and NaN come out as the language says, whatever a
//! back end makes of comparisons that choose between their own operands.

use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::runtime::{GlobalsLayout, LANES};
use ssl_compiler::{BackendKind, Target};
use ssl_tests::{Host, Way, messages, run_block};

type Choice = (&'static str, fn(f32, f32) -> f32);

/// How to choose, as SSL has it and by definition.
const FORMS: [Choice; 8] = [
    ("min(P, Q)", |p, q| if q < p { q } else { p }),
    ("max(P, Q)", |p, q| if p < q { q } else { p }),
    ("(P < Q ? P : Q)", |p, q| if p < q { p } else { q }),
    ("(P > Q ? P : Q)", |p, q| if p > q { p } else { q }),
    ("(P <= Q ? P : Q)", |p, q| if p <= q { p } else { q }),
    ("(P >= Q ? P : Q)", |p, q| if p >= q { p } else { q }),
    ("branch(P, Q)", |p, q| if p < q { p } else { q }),
    ("either(P > Q, P, Q)", |p, q| if p > q { p } else { q }),
];

/// What is chosen from, likewise.
const OPERANDS: [Choice; 5] =
    [("a", |a, _| a), ("b", |_, b| b), ("0.0", |_, _| 0.0), ("(-0.0)", |_, _| -0.0), ("1.0", |_, _| 1.0)];

const VALUES: [f32; 6] = [0.0, -0.0, 1.0, 2.0, -1.0, f32::NAN];

/// Which forms and operands: an inner choice, and the choice between it and a third number.
#[derive(Clone, Copy)]
struct Nest {
    inner: usize,
    outer: usize,
    operands: [usize; 3],
    inner_first: bool,
}

impl Nest {
    fn all() -> Vec<Nest> {
        let mut all = Vec::new();
        for [inner, outer] in pairs(FORMS.len()) {
            for [p, q] in pairs(OPERANDS.len()).filter(|[p, q]| p + q == 1 || p.min(q) == &0 && p.max(q) > &1) {
                for (third, inner_first) in [(p, false), (q, false), (p, true), (q, true)] {
                    all.push(Nest { inner, outer, operands: [p, q, third], inner_first });
                }
            }
        }
        all
    }

    fn text(self) -> String {
        let [p, q, third] = self.operands.map(|o| OPERANDS[o].0);
        let choose = |form: usize, p: &str, q: &str| FORMS[form].0.replace('P', p).replace('Q', q);
        let inner = choose(self.inner, p, q);
        if self.inner_first { choose(self.outer, &inner, third) } else { choose(self.outer, third, &inner) }
    }

    fn value(self, a: f32, b: f32) -> f32 {
        let [p, q, third] = self.operands.map(|o| OPERANDS[o].1(a, b));
        let inner = FORMS[self.inner].1(p, q);
        if self.inner_first { FORMS[self.outer].1(inner, third) } else { FORMS[self.outer].1(third, inner) }
    }
}

fn pairs(n: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..n * n).map(move |i| [i / n, i % n])
}

/// Also as lowered: there the back end sees the branches and calls that our passes would write out.
fn ways() -> Vec<Way> {
    let way = |backend, opt, lanes, optimise| Way { target: Target { backend, opt, lanes }, optimise };
    let portable = [
        way(BackendKind::Interpreter, OptLevel::O2, Lanes::ONE, true),
        way(BackendKind::Cranelift, OptLevel::O2, Lanes::ONE, false),
        way(BackendKind::Cranelift, OptLevel::O2, Lanes::Auto, true),
    ];
    #[cfg(not(feature = "llvm"))]
    let others = [];
    #[cfg(feature = "llvm")]
    let others = [
        way(BackendKind::Llvm, OptLevel::O2, Lanes::ONE, true),
        way(BackendKind::Llvm, OptLevel::O1, Lanes::AtMost(4), true),
        way(BackendKind::Llvm, OptLevel::O2, Lanes::Auto, true),
        way(BackendKind::Llvm, OptLevel::O3, Lanes::ONE, false),
        way(BackendKind::Llvm, OptLevel::O3, Lanes::Auto, false),
    ];
    portable.into_iter().chain(others).collect()
}

#[test]
fn a_choice_inside_a_choice_is_what_its_definition_says() {
    const A_SHADER: usize = 64;
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let inputs: Vec<[f32; 2]> = pairs(VALUES.len()).map(|[a, b]| [VALUES[a], VALUES[b]]).collect();
    let mut faults = Vec::new();
    for nests in Nest::all().chunks(A_SHADER) {
        let outputs: Vec<String> = (0..nests.len()).map(|i| format!("out float r{i}")).collect();
        let body: String = nests.iter().enumerate().map(|(i, n)| format!("r{i} = {};\n", n.text())).collect();
        let source = format!(
            "globals {{ float a; float b; }}\n\
             float branch(float p, float q) {{ if (p < q) {{ return p; }} return q; }}\n\
             float either(bool first, float p, float q) {{ if (first) {{ return p; }} return q; }}\n\
             shader main({}) {{ const float a = global_value<a>, b = global_value<b>;\n{body}}}",
            outputs.join(", ")
        );
        for way in ways() {
            let shader = host.compile(&source, way).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d)));
            for block in inputs.chunks(LANES) {
                let point = |lane: usize| block[lane % block.len()];
                let globals = std::array::from_fn(|lane| {
                    let [a, b] = point(lane);
                    vec![a, 0.0, 0.0, b, 0.0, 0.0]
                });
                for (lane, found) in run_block(&shader, &globals, 0xffff, 100_000).outputs {
                    let [a, b] = point(lane);
                    for (nest, found) in nests.iter().zip(found.into_iter().map(f32::from_bits)) {
                        let expected = nest.value(a, b);
                        if found.to_bits() != expected.to_bits() && !(found.is_nan() && expected.is_nan()) {
                            faults.push(format!(
                                "{way:?}: {} at a = {a:?}, b = {b:?} is {expected:?}, not {found:?}",
                                nest.text()
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults, the first: {:#?}", faults.len(), &faults[..faults.len().min(20)]);
}
