//! Built-ins of whole vectors. The reference does not say how their sums and quotients are grouped, so their values may
//! be rounded differently.

use super::Result;
use super::decisions::Decisions;
use super::functions;
use super::jet::Jet;
use super::number::Number;

/// The same, rounded on another way.
pub fn loose(x: Jet) -> Jet {
    let n = x.number();
    x.with_number(Number::rounded(n.value, n.error + 2.0 * f64::EPSILON * n.value.abs()))
}

pub fn dot(a: &[Jet], b: &[Jet]) -> Jet {
    let mut products = a.iter().zip(b).map(|(x, y)| *x * *y);
    // No vector is empty.
    let first = products.next().unwrap_or(Jet::exact(0.0));
    products.fold(first, |sum, x| sum + x)
}

pub fn cross(a: &[Jet], b: &[Jet]) -> Vec<Jet> {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i]).to_vec()
}

pub fn minus(a: &[Jet], b: &[Jet]) -> Vec<Jet> {
    a.iter().zip(b).map(|(x, y)| *x - *y).collect()
}

fn root(x: Jet) -> Jet {
    // The square root is there.
    functions::series("sqrt", x.number()).map_or(x, |series| x.compose(&series))
}

pub fn length(d: &mut Decisions, v: &[Jet]) -> Result<Jet> {
    if let [x] = v {
        return Ok(super::componentwise::one_number(d, "abs", *x)?.unwrap_or(*x));
    }
    let square = dot(v, v);
    d.apart(square.number(), Number::ZERO)?;
    Ok(root(square))
}

pub fn normalize(d: &mut Decisions, v: &[Jet]) -> Result<Vec<Jet>> {
    let square = dot(v, v);
    d.apart(square.number(), Number::ZERO)?;
    d.note(square.value() > 0.0);
    if square.value() > 0.0 {
        let length = root(square);
        return Ok(v.iter().map(|x| loose(*x / length)).collect());
    }
    Ok(v.iter().map(|x| Jet::exact(if square.value().is_nan() { f64::NAN } else { 0.0 * x.value() })).collect())
}

pub fn reflect(i: &[Jet], n: &[Jet]) -> Vec<Jet> {
    let twice = dot(n, i).scale(2.0);
    i.iter().zip(n).map(|(i, n)| loose(*i - twice * *n)).collect()
}

pub fn refract(d: &mut Decisions, i: &[Jet], n: &[Jet], eta: Jet) -> Result<Vec<Jet>> {
    let (one, cosine) = (Jet::exact(1.0), dot(n, i));
    let k = loose(one - eta * eta * (one - cosine * cosine));
    d.apart(k.number(), Number::ZERO)?;
    d.note(k.value() >= 0.0);
    if k.value() < 0.0 {
        return Ok(vec![Jet::exact(0.0); 3]);
    }
    let scale = eta * cosine + root(k);
    Ok(i.iter().zip(n).map(|(i, n)| loose(eta * *i - scale * *n)).collect())
}

/// N, turned against I where R is not.
pub fn faceforward(d: &mut Decisions, n: &[Jet], i: &[Jet], r: &[Jet]) -> Result<Vec<Jet>> {
    let faces = d.less(loose(dot(r, i)).number(), Number::ZERO)?;
    Ok(n.iter().map(|x| if faces { *x } else { -*x }).collect())
}
