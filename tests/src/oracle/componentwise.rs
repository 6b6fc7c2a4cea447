//! Built-ins that do the same to every component.

use super::decisions::Decisions;
use super::functions;
use super::jet::Jet;
use super::number::Number;
use super::{Result, Stop};

fn zero() -> Jet {
    Jet::exact(0.0)
}

fn one() -> Jet {
    Jet::exact(1.0)
}

pub fn min(d: &mut Decisions, a: Jet, b: Jet) -> Result<Jet> {
    Ok(if d.less_unless_alike(&b, &a)? { b } else { a })
}

pub fn max(d: &mut Decisions, a: Jet, b: Jet) -> Result<Jet> {
    Ok(if d.less_unless_alike(&a, &b)? { b } else { a })
}

pub fn clamp(d: &mut Decisions, x: Jet, low: Jet, high: Jet) -> Result<Jet> {
    let raised = max(d, x, low)?;
    min(d, raised, high)
}

/// −1, 0 or 1.
fn sign(d: &mut Decisions, x: &Jet) -> Result<f64> {
    d.apart(x.number(), Number::ZERO)?;
    let sign: f64 = if x.value() > 0.0 {
        1.0
    } else if x.value() < 0.0 {
        -1.0
    } else {
        0.0
    };
    d.note(sign.to_bits());
    Ok(sign)
}

fn abs(d: &mut Decisions, x: Jet) -> Result<Jet> {
    let sign = sign(d, &x)?;
    let value = Number { value: x.value().abs(), error: x.number().error };
    // At zero all derivatives are zero; of NaN nothing is known, and its sign is 0 too.
    Ok((if sign < 0.0 {
        -x
    } else if sign > 0.0 {
        x
    } else {
        x.scale(0.0)
    })
    .with_number(value))
}

fn floor(d: &mut Decisions, x: &Jet) -> Result<Jet> {
    Ok(Jet::exact(d.steps(x.number(), f64::floor)?))
}

/// 0 or 1; the edge comes first.
fn step(d: &mut Decisions, edge: Jet, x: Jet) -> Result<Jet> {
    Ok(if d.less(x.number(), edge.number())? { zero() } else { one() })
}

fn linearstep(d: &mut Decisions, low: Jet, high: Jet, x: Jet) -> Result<Jet> {
    d.apart(low.number(), high.number())?;
    if low.value() == high.value() {
        return step(d, low, x);
    }
    clamp(d, (x - low) / (high - low), zero(), one())
}

/// A function of one number.
pub fn one_number(d: &mut Decisions, name: &str, x: Jet) -> Result<Option<Jet>> {
    let jump = |d: &mut Decisions, f: fn(f64) -> f64| Ok::<_, Stop>(Jet::exact(d.steps(x.number(), f)?));
    Ok(Some(match name {
        "abs" | "fabs" => abs(d, x)?,
        "sign" => Jet::exact(sign(d, &x)?),
        "floor" => floor(d, &x)?,
        "ceil" => jump(d, f64::ceil)?,
        "round" => jump(d, f64::round)?,
        "trunc" => jump(d, f64::trunc)?,
        "fract" | "frac" => x - floor(d, &x)?,
        "saturate" => clamp(d, x, zero(), one())?,
        "radians" => x * Jet::constant(Number::rounded(std::f64::consts::PI / 180.0, 0.0)),
        "degrees" => x * Jet::constant(Number::rounded(180.0 / std::f64::consts::PI, 0.0)),
        "rsqrt" | "inversesqrt" => one() / one_number(d, "sqrt", x)?.ok_or_else(|| Stop::unknown("sqrt"))?,
        _ => {
            let n = x.number();
            // Where a function has an end or a pole, it must be certain on which side of it the number lies.
            let edges: &[f64] = match name {
                "sqrt" | "cbrt" | "log" | "ln" | "log2" | "log10" => &[0.0],
                "asin" | "acos" | "atanh" => &[-1.0, 1.0],
                "acosh" => &[1.0],
                "log1p" => &[-1.0],
                _ => &[],
            };
            for &edge in edges {
                d.apart(n, Number::exact(edge))?;
            }
            // The sides are different functions to finite differences.
            d.note(edges.iter().filter(|e| x.value() > **e).count());
            return Ok(functions::series(name, n).map(|series| x.compose(&series)));
        }
    }))
}

/// a − b times the whole part of a / b, of which no rounding of the quotient makes the next whole number.
fn remainder(d: &mut Decisions, a: Jet, b: Jet, whole_part: fn(f64) -> f64) -> Result<Jet> {
    let ratio = a.number().defined_div(b.number());
    d.steps(ratio, whole_part)?;
    let cut = a.value() % b.value();
    let quotient = ((a.value() - cut) / b.value()).round();
    // What is left of a / b has the sign of the remainder over b.
    let below = whole_part(cut / b.value()).min(0.0);
    let value = if below < 0.0 { cut + b.value() } else { cut };
    let whole = quotient + below;
    let error = a.number().error + whole.abs() * b.number().error;
    let moved = if b.is_flat() { a } else { a - b.scale(whole) };
    Ok(moved.with_number(Number::defined(value, error)))
}

pub fn two_numbers(d: &mut Decisions, name: &str, a: Jet, b: Jet) -> Result<Option<Jet>> {
    Ok(Some(match name {
        "min" => min(d, a, b)?,
        "max" => max(d, a, b)?,
        "step" => step(d, a, b)?,
        "atan2" | "atan" => {
            d.apart(a.number(), Number::ZERO)?;
            if a.value() == 0.0 {
                d.apart(b.number(), Number::ZERO)?;
            }
            // The angle jumps where x < 0 and y changes its sign.
            d.note((a.value() < 0.0, b.value() < 0.0, a.value() == 0.0 && b.value() == 0.0));
            functions::atan2(&a, &b)
        }
        "hypot" => {
            d.note(a.value() == 0.0 && b.value() == 0.0);
            functions::hypot(&a, &b)
        }
        "pow" => {
            d.apart(a.number(), Number::ZERO)?;
            d.note(a.value() > 0.0);
            functions::power(&a, &b)
        }
        "log" => {
            let logarithm = |d: &mut Decisions, x| one_number(d, "log", x);
            match (logarithm(d, a)?, logarithm(d, b)?) {
                (Some(a), Some(b)) => a / b,
                _ => return Ok(None),
            }
        }
        "fmod" => remainder(d, a, b, f64::trunc)?,
        "mod" => remainder(d, a, b, f64::floor)?,
        "copysign" => {
            d.apart(b.number(), Number::ZERO)?;
            let magnitude = abs(d, a)?;
            d.note(b.value().is_sign_negative());
            if b.value().is_sign_negative() { -magnitude } else { magnitude }
        }
        _ => return Ok(None),
    }))
}

pub fn more_numbers(d: &mut Decisions, name: &str, x: &[Jet]) -> Result<Option<Jet>> {
    Ok(Some(match (name, x) {
        ("clamp", &[x, low, high]) => clamp(d, x, low, high)?,
        ("mix" | "lerp", &[a, b, t]) => a * (one() - t) + b * t,
        ("fma", &[a, b, c]) => {
            let value = a.value().mul_add(b.value(), c.value());
            let sum = a * b + c;
            sum.with_number(Number::defined(value, if a.is_flat() && b.is_flat() { 0.0 } else { sum.number().error }))
        }
        ("linearstep", &[low, high, x]) => linearstep(d, low, high, x)?,
        ("smoothstep", &[low, high, x]) => {
            let t = linearstep(d, low, high, x)?;
            (t * t) * (Jet::exact(3.0) - Jet::exact(2.0) * t)
        }
        ("remap", &[x, a, b, c, e]) => c + (x - a) / (b - a) * (e - c),
        _ => return Ok(None),
    }))
}
