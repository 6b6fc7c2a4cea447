//! Runs the tests of a file on every back end, sample by sample.

use super::compiled::{Compiled, Session};
use super::functions::{is_made, tests_of_customs};
use super::report::{Failure, FileReport, TestReport};
use super::run::{Attempt, Run, Sink};
use super::shrink::shrink;
use super::values::{constant, draws};
use super::{cases, check_tests};
use crate::diagnostics::Diagnostics;
use crate::facade::{BackendKind, check, on_large_stack};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::{TestDecl, TestStmt, TestStmtKind};
use std::collections::BTreeSet;
use std::time::Instant;

/// Samples that a test with `uniform` draws unless it says otherwise.
const SAMPLES: usize = 100;
/// The same of a test of gradients of integrals, each of which looks at thousands of samples.
const INTEGRAL_POINTS: usize = 4;
/// How often a point is drawn again that lies too near a branch or kink.
const REDRAWS: usize = 20;
/// Samples after which a test of which no point could be judged gives up.
const HOPELESS: usize = 5;
/// Runs that finding simpler inputs for a failure may take.
const SHRINK_RUNS: usize = 400;
/// Those where a run itself fails, which may take all its fuel, or looks at integrals.
const SHRINK_SLOW_RUNS: usize = 20;

/// Runs every test of a file. Fails where the file has errors.
pub fn run_file(
    session: &Session<'_>,
    sources: &mut SourceMap,
    file: FileId,
) -> Result<(FileReport, Diagnostics), Diagnostics> {
    let (checked, mut diagnostics) = check(sources, file, &session.options());
    if !diagnostics.has_errors() {
        diagnostics.extend(check_tests(&checked, sources));
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut reports = Vec::new();
    let mut compiled = Compiled::new(session, &checked, file);
    let asked = checked.tests.iter().flat_map(|t| cases::expand(t, &checked.layout));
    let tests = asked.chain(tests_of_customs(&checked));
    for test in tests.filter(|t| t.name.contains(session.filter)) {
        compiled.start_test();
        for &backend in session.backends {
            reports.push(one(&mut compiled, sources, &test, backend));
        }
    }
    Ok((reports, diagnostics))
}

fn one(compiled: &mut Compiled<'_>, sources: &SourceMap, test: &TestDecl, backend: BackendKind) -> TestReport {
    let start = Instant::now();
    let place = sources.get(compiled.file);
    let mut run = Run::new(compiled, sources, test, backend);
    // Interpreting recursive shaders recurses.
    let Ended { failures, messages, note } = on_large_stack(|| samples(&mut run));
    TestReport {
        file: place.name.clone(),
        line: place.line_column(test.name_span.start).0,
        name: test.name.clone(),
        backend: backend.name(),
        failures,
        messages,
        note,
        seconds: start.elapsed().as_secs_f64(),
    }
}

#[derive(Default)]
struct Ended {
    failures: Vec<Failure>,
    messages: Vec<String>,
    note: Option<String>,
}

/// Runs a test for as many samples as it wants, up to the first that fails.
fn samples(run: &mut Run<'_, '_>) -> Ended {
    let (mut redrawn, mut left_out, mut agreed) = (0, 0, 0);
    let mut ended = Ended::default();
    let (mut vacuous, mut met) = (Vec::new(), BTreeSet::new());
    let room = |messages: &Vec<String>| 1000usize.saturating_sub(messages.len());
    for _ in 0..wanted(run.test) {
        let mut attempt = run.sample(Vec::new());
        let mut again = 0;
        let drawn = !run.draws.list.is_empty();
        while drawn && attempt.not_smooth && attempt.failures.is_empty() && again < REDRAWS {
            again += 1;
            attempt = run.sample(Vec::new());
        }
        redrawn += again;
        agreed += attempt.agreed;
        met.append(&mut attempt.met.iter().map(place_of).collect());
        attempt.vacuous.retain(|(span, _)| !vacuous.iter().any(|(other, _)| other == span));
        vacuous.append(&mut attempt.vacuous);
        left_out += usize::from(attempt.not_smooth);
        let free = room(&ended.messages);
        ended.messages.extend(attempt.messages.drain(..).take(free));
        // One bad sample tells enough.
        if !attempt.failures.is_empty() {
            ended.failures = simplest(run, attempt);
            break;
        }
        if !drawn || (left_out >= HOPELESS && agreed == 0) {
            break;
        }
    }
    if ended.failures.is_empty() && left_out > 0 && agreed == 0 {
        let advice = match is_made(run.test) {
            true => "test the function with `expect_gradient` and other ranges",
            false => "choose other ranges",
        };
        let message = format!(
            "no sample was smooth enough for finite differences: each of {} points lies on a branch, a kink or a \
             singular point, or reaches no derivative; {advice}",
            redrawn + left_out
        );
        ended.failures.push(Failure::at(run.sources, run.test.name_span, message));
    }
    if ended.failures.is_empty() {
        let never = vacuous.into_iter().filter(|(span, _)| !met.contains(&place_of(span)));
        ended.failures.extend(never.map(|(span, message)| Failure::at(run.sources, span, message)));
    }
    if redrawn > 0 {
        let left = if left_out > 0 { format!(", {left_out} samples left out in the end") } else { String::new() };
        ended.note = Some(format!("{redrawn} points near a branch or kink drawn again{left}"));
    }
    ended
}

fn place_of(span: &Span) -> (u32, u32) {
    (span.start, span.end)
}

/// Whether a statement looks at a function at many samples for each point.
fn is_of_integrals(s: &TestStmt) -> bool {
    s.called(&["expect_integral_gradient"]).is_some()
}

/// How often the test is run: more than once where it draws something.
fn wanted(test: &TestDecl) -> usize {
    let mut drawn = false;
    let mut wanted = None;
    for s in &test.body {
        match &s.kind {
            TestStmtKind::Set(name, e) if name.text == "samples" => {
                wanted = constant(e).ok().and_then(|n| n.first().map(|&n| n as usize));
            }
            TestStmtKind::Set(_, e) => drawn |= draws(e),
            TestStmtKind::Run(_, arguments) => drawn |= arguments.iter().any(|(_, e)| draws(e)),
            TestStmtKind::Expect(name, _) => {
                let drawing = [
                    "expect_numeric_derivatives",
                    "expect_gradient",
                    "expect_integral_gradient",
                    "expect_inverse",
                    "expect_undo",
                ];
                drawn |= drawing.contains(&name.text.as_str());
            }
            TestStmtKind::ExpectError { .. } | TestStmtKind::Cases(_) => {}
        }
    }
    let usual = if test.body.iter().any(is_of_integrals) { INTEGRAL_POINTS } else { SAMPLES };
    if drawn { wanted.unwrap_or(usual) } else { 1 }
}

/// Whether two wrong derivatives show one fault: the same derivative, in the same direction, off by half as much or
/// more. At simple inputs another fault may show, or next to nothing be left of this one.
fn is_same_fault(first: Option<Sink>, other: Option<Sink>) -> bool {
    match (first, other) {
        (Some(a), Some(b)) => {
            // What is no number was off as far as can be.
            let as_far = a.off.is_nan() == b.off.is_nan() && (a.off.is_nan() || b.off >= 0.5 * a.off);
            (a.place, a.direction) == (b.place, b.direction) && as_far
        }
        (first, other) => first.is_none() && other.is_none(),
    }
}

/// The failures of a sample, or of a simpler one that fails at the same expectation.
fn simplest(run: &mut Run<'_, '_>, first: Attempt) -> Vec<Failure> {
    let drawn = run.draws.list.clone();
    if drawn.is_empty() {
        return first.failures;
    }
    let span = first.failures[0].span;
    let is_slow = |s: &TestStmt| match &s.kind {
        TestStmtKind::Run(name, _) => name.span == span,
        _ => is_of_integrals(s) && s.span == span,
    };
    let budget = if run.test.body.iter().any(is_slow) { SHRINK_SLOW_RUNS } else { SHRINK_RUNS };
    let sink = first.sinks.first().copied().flatten();
    let values = shrink(&drawn, budget, &mut |values| {
        let attempt = run.sample(values.to_vec());
        let alike = is_same_fault(sink, attempt.sinks.first().copied().flatten());
        alike && attempt.failures.first().is_some_and(|f| f.span == span)
    });
    if drawn.iter().zip(&values).all(|(d, v)| d.value == *v) {
        return first.failures;
    }
    let mut failures = run.sample(values).failures;
    for failure in &mut failures {
        let same = first.failures.iter().find(|f| f.span == failure.span);
        failure.drawn = same.map(|f| f.inputs.clone()).unwrap_or_default();
    }
    failures
}
