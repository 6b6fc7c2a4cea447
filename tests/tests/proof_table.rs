//! The proof row by row: every built-in, every operator and every function of the library has its value, both first
//! derivatives, all second ones and zero derivatives of constants checked; every rule and singular point that the
//! reference names is called.
//!
//! The rows come from the compiler's own tables, so a new one is proved or fails here.

use ssl_compiler::interp::Cell;
use ssl_compiler::ir::Const;
use ssl_compiler::runtime::{Order, Orders};
use ssl_tests::generate::Random;
use ssl_tests::on_large_stack;
use ssl_tests::oracle::{Program, Stop};
use ssl_tests::proof::differences::{Slopes, judge_point};
use ssl_tests::proof::duals::agree;
use ssl_tests::proof::interpreted::{Point, compile, host, host_with, test_texture};
use ssl_tests::proof::rows::{DERIVATIVES, Row, builtins, library, operators, places};
use ssl_tests::proof::{Tally, wanted};

/// Points of a row that must be judged, and that may be drawn for it.
const POINTS: usize = 4;
/// Of which only each so many is tried here, unless the whole proof is asked for: some noise takes long.
const LIBRARY_STEP: usize = 12;
const DRAWS: usize = 60;
/// Steps of the second evaluator: some noise takes many.
const STEPS: u32 = 20_000_000;

/// What takes the bits of a number apart, and so is not smooth anywhere, or not seen to be.
const BY_BITS: &[&str] = &["float_bits", "asint", "logb", "hash", "hashnoise", "hashnoise_float3"];

fn draw(random: &mut Random) -> Point {
    let mut point = Point::draw(random);
    // Within the domain that the arguments were made for.
    point.floats.iter_mut().for_each(|seeds| seeds[0] = f64::from((seeds[0] / 1.5) as f32));
    point.int = [0, 1, 2, -1, 7][random.below(5)];
    point
}

/// What was compared of a row; `Err` says what is wrong with it.
fn prove(row: &Row, differences: bool, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let source = row.program();
    let forms = compile(&host(), &source).map_err(|why| format!("{why:?}\n{source}"))?;
    let program = Program::new(&source).map_err(|stop| format!("{stop:?}\n{source}"))?;
    let by_bits = BY_BITS.iter().any(|name| row.name.contains(&format!("{name}(")));
    let (mut judged, mut smooth) = (0, if by_bits || !differences { POINTS } else { 0 });
    for _ in 0..DRAWS {
        let point = draw(random);
        match program.run("main", &point.world(&test_texture, true, STEPS)) {
            Ok(expected) => {
                let before = tally.comparisons;
                agree(&forms, &point, &expected, tally).map_err(|why| format!("{why}\n{source}"))?;
                judged += usize::from(tally.comparisons > before);
            }
            Err(Stop::Undecided(reason)) => tally.drawn_again(reason),
            Err(stop) => return Err(format!("{stop:?}\n{source}")),
        }
        if smooth < POINTS {
            match judge_point(&program, &point, STEPS, tally) {
                Slopes::Agree => smooth += 1,
                Slopes::Again(reason) => tally.drawn_again(reason),
                Slopes::Fail(why) => return Err(format!("{why}\n{source}")),
            }
        }
        if judged >= POINTS && smooth >= POINTS {
            tally.points += judged;
            tally.programs += 1;
            return Ok(());
        }
    }
    Err(format!("only {judged} points could be judged, and {smooth} were smooth\n{source}"))
}

/// Of values without a tie to the pixel, all derivatives are 0, and the compiler knows.
fn zero_lineage(row: &Row) -> Result<(), String> {
    if !row.computes_floats() {
        return Ok(());
    }
    let source = row.program();
    let forms = compile(&host_with(Orders::Value), &source).map_err(|why| format!("{why:?}\n{source}"))?;
    for form in &forms {
        let partial = form.interface.globals_read.iter().find(|read| read.order != Order::Value);
        if partial.is_some() {
            return Err(format!("the partials of a global without any are read\n{source}"));
        }
        let module = form.program.module();
        let entry = module.entry();
        let (constants, results) = (entry.constants(), &entry.region(entry.body).results);
        for output in &form.interface.outputs {
            if !DERIVATIVES.iter().any(|(name, _)| output.name.trim_end_matches(char::is_numeric) == *name) {
                continue;
            }
            // The token comes first.
            for value in &results[1 + output.first_row..1 + output.first_row + output.scalars.len()] {
                let known = constants[value.index()];
                if known != Some(Const::float(0.0)) {
                    return Err(format!("{} of constants is not known to be 0: {known:?}\n{source}", output.name));
                }
            }
        }
    }
    Ok(())
}

fn prove_all(what: &str, rows: &[Row], differences: bool) {
    let (mut tally, mut random, mut faults) = (Tally::default(), Random::new(11), Vec::new());
    let start = std::time::Instant::now();
    on_large_stack(|| {
        for row in rows {
            for result in [prove(row, differences, &mut random, &mut tally), zero_lineage(row)] {
                faults.extend(result.err().map(|why| format!("{}: {why}", row.name)));
            }
        }
    });
    println!("{}", tally.report(what, start.elapsed().as_secs_f64()));
    assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[test]
fn every_builtin_has_its_value_and_derivatives() {
    prove_all("built-ins", &builtins(), true);
}

#[test]
fn every_operator_has_its_value_and_derivatives() {
    let mut rows = operators();
    rows.extend(places());
    prove_all("operators", &rows, true);
}

#[test]
fn every_function_of_the_library_has_its_derivatives() {
    // Their derivatives are compared with finite differences elsewhere, in the same code.
    let step = if wanted(0) > 0 { 1 } else { LIBRARY_STEP };
    let rows: Vec<Row> = library().into_iter().step_by(step).collect();
    prove_all("library", &rows, false);
}

/// The rules of the reference's tables, by their marks.
fn rules(prefix: &str) -> Vec<&'static str> {
    const PAGE: &str = include_str!("../../docs/src/derivatives.md");
    let table = PAGE.lines().filter(|l| l.starts_with('|'));
    let marks = table.flat_map(|l| l.split("<!-- rule: ").skip(1));
    marks.filter_map(|m| m.split(':').next()).filter(|id| id.starts_with(prefix)).collect()
}

/// An expression at a point of `ga` (moving along x) and `gb` (along y), and its value, ∂x and ∂y there.
type Special = (&'static str, &'static str, [f64; 2], [f64; 3]);

#[rustfmt::skip]
const SINGULAR: &[Special] = &[
    ("singular.sqrt", "sqrt(a)", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.sqrt", "sqrt(a * a + b * b)", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.sqrt", "1.0 + sqrt(a) * 0.0 + a", [0.0, 0.0], [1.0, 1.0, 0.0]),
    ("singular.cbrt", "cbrt(a) + b", [0.0, 2.0], [2.0, 0.0, 1.0]),
    ("singular.acosh", "acosh(a) + b", [1.0, 2.0], [2.0, 0.0, 1.0]),
    ("singular.asin_acos", "asin(a) + b", [1.0, 0.0], [std::f64::consts::FRAC_PI_2, 0.0, 1.0]),
    ("singular.asin_acos", "acos(a) - b", [-1.0, 0.0], [std::f64::consts::PI, 0.0, -1.0]),
    ("singular.atan2_hypot", "atan2(a, b)", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.atan2_hypot", "hypot(a, b) + a", [0.0, 0.0], [0.0, 1.0, 0.0]),
    ("singular.pow_base", "pow(a, 0.5)", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.pow_base", "pow(a, 1.0) + pow(a, 2.0)", [0.0, 0.0], [0.0, 1.0, 0.0]),
    ("singular.pow_exponent", "pow(a, b)", [0.0, 2.0], [0.0, 0.0, 0.0]),
    ("singular.pow_exponent", "pow(a, b)", [-2.0, 3.0], [-8.0, 12.0, 0.0]),
    ("singular.abs", "abs(a) + abs(b)", [0.0, -2.0], [2.0, 0.0, -1.0]),
    ("singular.splineinverse", "splineinverse(\"bezier\", a, 6, 4, 3, 3) + b", [3.0, 2.0], [3.0, 0.0, 1.0]),
    ("singular.length", "length(float3(a, b, 0.0))", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.length", "distance(float2(a, b), float2(1.0, 2.0))", [1.0, 2.0], [0.0, 0.0, 0.0]),
    ("singular.normalize", "normalize(float2(a, b)).x", [0.0, 0.0], [0.0, 0.0, 0.0]),
    ("singular.refract", "refract(float3(a, b, 0.0), float3(0.0, 1.0, 0.0), 1.5).x", [0.8, -0.6], [0.0, 0.0, 0.0]),
];

#[test]
fn every_singular_point_of_the_reference_has_its_rule() {
    for rule in rules("singular.") {
        assert!(SINGULAR.iter().any(|s| s.0 == rule), "{rule} is not proved");
    }
    for (rule, expression, [a, b], expected) in SINGULAR {
        let source = format!(
            "shader main(out float v, out float dx, out float dy)\n{{\n    \
             const float a = global_value<ga>, b = global_value<gb>;\n    \
             const float r = {expression};\n    v = r;\n    dx = ddx(r);\n    dy = ddy(r);\n}}\n"
        );
        let forms = compile(&host(), &source).unwrap_or_else(|why| panic!("{rule}: {why:?}\n{source}"));
        let floats = [[*a, 1.0, 0.0, 0.0, 0.0, 0.0], [*b, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0; 6]];
        for form in &forms {
            let (outcome, _) = form.run(&Point { floats, int: 0 });
            for (cell, expected) in outcome.results.iter().zip(expected) {
                let Cell::Float(x) = cell else { panic!("{rule}: {cell:?}") };
                let near = (x - expected).abs() <= 1e-12 * expected.abs().max(1.0);
                assert!(near, "{rule}: {expression} gives {:?}, expected {expected:?}", outcome.results);
            }
            assert_eq!(outcome.non_finite_derivatives, 0, "{rule}: {expression}");
        }
    }
}
