//! `spline`: each basis by its own textbook construction; `splineinverse` by halves, and its derivatives by Newton.

use super::decisions::Decisions;
use super::jet::Jet;
use super::{Result, Stop, componentwise};

fn c(x: f64) -> Jet {
    Jet::exact(x)
}

fn between(a: Jet, b: Jet, t: Jet) -> Jet {
    a + (b - a) * t
}

fn cubic(t: Jet, [a, b, d, e]: [Jet; 4]) -> Jet {
    ((a * t + b) * t + d) * t + e
}

/// Values from one segment to the next, and how many segments there are.
fn segments(basis: &str, knots: &[Jet]) -> (usize, usize) {
    let step = match basis {
        "bezier" => 3,
        "hermite" => 2,
        _ => 1,
    };
    (step, (knots.len() - 4) / step + 1)
}

/// The curve of one component at x from 0 to 1.
pub fn spline(d: &mut Decisions, basis: &str, x: Jet, knots: &[Jet]) -> Result<Jet> {
    let (step, segments) = segments(basis, knots);
    let along = componentwise::clamp(d, x, c(0.0), c(1.0))? * c(segments as f64);
    let segment = (d.steps(along.number(), f64::floor)? as usize).min(segments - 1);
    let t = along - c(segment as f64);
    Ok(super::geometry::loose(curve(basis, std::array::from_fn(|k| knots[segment * step + k]), t)?))
}

/// The place from 0 to 1 at which the curve, which only rises or only falls, is y.
pub fn inverse(d: &mut Decisions, basis: &str, y: Jet, knots: &[Jet]) -> Result<Jet> {
    let (step, segments) = segments(basis, knots);
    let values = |segment: usize| -> [Jet; 4] { std::array::from_fn(|k| knots[segment * step + k]) };
    let at = |segment: usize, t: Jet| curve(basis, values(segment), t);
    let (start, end) = (at(0, c(0.0))?, at(segments - 1, c(1.0))?);
    let sign = if d.less(start.number(), end.number())? { 1.0 } else { -1.0 };
    let (target, up) = (y.scale(sign), |x: Jet| x.scale(sign));
    if d.less(target.number(), up(start).number())? {
        return Ok(c(0.0));
    }
    if d.less(up(end).number(), target.number())? {
        return Ok(c(1.0));
    }
    let mut segment = 0;
    while segment + 1 < segments && !d.less(target.number(), up(at(segment + 1, c(0.0))?).number())? {
        segment += 1;
    }
    let value = |t: f64| -> Result<f64> { Ok(sign * at(segment, c(t))?.value() - target.value()) };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if value(middle)? <= 0.0 { low = middle } else { high = middle }
    }
    let root = 0.5 * (low + high);
    let slope = (value(root + 1e-5)? - value(root - 1e-5)?) / 2e-5;
    let mut t = c(root);
    // A step with a slope that is nearly right leaves of the error of each order nearly nothing but higher orders.
    for _ in 0..8 {
        t = t - (up(at(segment, t)?) - target) / c(slope);
    }
    Ok(super::geometry::loose((t + c(segment as f64)) / c(segments as f64)))
}

/// The curve of one segment at t from 0 to 1.
fn curve(basis: &str, p: [Jet; 4], t: Jet) -> Result<Jet> {
    let third = |x: Jet| x / c(3.0);
    Ok(match basis {
        // By Barry and Goldman's pyramid, with uniform parameters.
        "catmull-rom" => {
            let line = |i: usize, s: Jet| between(p[i], p[i + 1], s);
            let (a, b, e) = (line(0, t + c(1.0)), line(1, t), line(2, t - c(1.0)));
            let (f, g) = (between(a, b, (t + c(1.0)).scale(0.5)), between(b, e, t.scale(0.5)));
            between(f, g, t)
        }
        // By de Boor's.
        "bspline" => {
            let (a, b, e) = (
                between(p[0], p[1], third(t + c(2.0))),
                between(p[1], p[2], third(t + c(1.0))),
                between(p[2], p[3], third(t)),
            );
            let (f, g) = (between(a, b, (t + c(1.0)).scale(0.5)), between(b, e, t.scale(0.5)));
            between(f, g, t)
        }
        // By de Casteljau's.
        "bezier" => {
            let (a, b, e) = (between(p[0], p[1], t), between(p[1], p[2], t), between(p[2], p[3], t));
            between(between(a, b, t), between(b, e, t), t)
        }
        // Values at 0 and 1 in places 0 and 2, slopes in 1 and 3.
        "hermite" => {
            let (rise, from, to) = (p[2] - p[0], p[1], p[3]);
            cubic(t, [from + to - rise.scale(2.0), rise.scale(3.0) - from.scale(2.0) - to, from, p[0]])
        }
        "linear" => between(p[1], p[2], t),
        "constant" => p[1],
        _ => return Err(Stop::unknown(format!("the basis `{basis}`"))),
    })
}
