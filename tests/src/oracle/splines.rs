//! `spline`: each basis by its own textbook construction.

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

/// The curve of one component at x from 0 to 1.
pub fn spline(d: &mut Decisions, basis: &str, x: Jet, knots: &[Jet]) -> Result<Jet> {
    let step = match basis {
        "bezier" => 3,
        "hermite" => 2,
        _ => 1,
    };
    let segments = (knots.len() - 4) / step + 1;
    let along = componentwise::clamp(d, x, c(0.0), c(1.0))? * c(segments as f64);
    let segment = (d.steps(along.number(), f64::floor)? as usize).min(segments - 1);
    let t = along - c(segment as f64);
    let p: [Jet; 4] = std::array::from_fn(|k| knots[segment * step + k]);
    let third = |x: Jet| x / c(3.0);
    let found = match basis {
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
    };
    Ok(super::geometry::loose(found))
}
