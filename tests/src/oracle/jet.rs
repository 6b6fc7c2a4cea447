//! Functions of the pixel's x and y, known up to some order around a point: truncated Taylor series in two variables
//! (A. Griewank and A. Walther, "Evaluating Derivatives", chapter 13).
//!
//! The coefficient of dxⁱ dyʲ stands at `at(i, j)`; a partial derivative is that times i! j!.

use super::number::Number;

/// The highest order that is ever kept.
pub const MAX_ORDER: usize = 4;
const TERMS: usize = (MAX_ORDER + 1) * (MAX_ORDER + 2) / 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// Up to which order the terms are known.
    pub order: usize,
    terms: [Number; TERMS],
}

/// Where dxⁱ dyʲ stands: by total order, then by j.
const fn at(i: usize, j: usize) -> usize {
    (i + j) * (i + j + 1) / 2 + j
}

const fn count(order: usize) -> usize {
    (order + 1) * (order + 2) / 2
}

/// How many pairs of terms have a product of an order or below.
const PAIRS_TO: [usize; MAX_ORDER + 1] = [1, 5, 15, 35, 70];

/// Every pair of terms whose product is kept, with the place of the product, by the order of that.
static PAIRS: [(usize, usize, usize); PAIRS_TO[MAX_ORDER]] = {
    let mut pairs = [(0, 0, 0); PAIRS_TO[MAX_ORDER]];
    let (mut n, mut k) = (0, 0);
    while k <= MAX_ORDER {
        let mut j = 0;
        while j <= k {
            let mut a = 0;
            while a <= k - j {
                let mut b = 0;
                while b <= j {
                    pairs[n] = (at(k - j, j), at(a, b), at(k - j - a, j - b));
                    (n, b) = (n + 1, b + 1);
                }
                a += 1;
            }
            j += 1;
        }
        k += 1;
    }
    pairs
};

impl Jet {
    pub fn constant(value: Number) -> Jet {
        let mut terms = [Number::ZERO; TERMS];
        terms[0] = value;
        Jet { order: MAX_ORDER, terms }
    }

    pub fn exact(value: f64) -> Jet {
        Jet::constant(Number::exact(value))
    }

    /// From value, ∂x, ∂y, ∂xx, ∂xy, ∂yy; all else is 0.
    pub fn seeded(partials: [Number; 6], order: usize) -> Jet {
        let [v, x, y, xx, xy, yy] = partials;
        let mut jet = Jet::constant(v);
        for (i, j, value) in [(1, 0, x), (0, 1, y), (2, 0, xx.scaled(0.5)), (1, 1, xy), (0, 2, yy.scaled(0.5))] {
            if i + j <= order {
                jet.terms[at(i, j)] = value;
            }
        }
        jet.order = order;
        jet
    }

    pub fn number(&self) -> Number {
        self.terms[0]
    }

    pub fn value(&self) -> f64 {
        self.terms[0].value
    }

    /// The same with another value.
    pub fn with_number(mut self, value: Number) -> Jet {
        self.terms[0] = value;
        self
    }

    /// Without derivatives.
    pub fn flat(&self) -> Jet {
        Jet::constant(self.terms[0])
    }

    /// Whether no derivative differs from zero.
    pub fn is_flat(&self) -> bool {
        self.terms[1..count(self.order)].iter().all(|t| t.is_zero())
    }

    pub fn is_finite(&self) -> bool {
        self.terms[..count(self.order)].iter().all(|t| t.value.is_finite() && t.error.is_finite())
    }

    /// Forgets all terms from this order on: what they are is not said anywhere.
    pub fn unknown_from(mut self, order: usize) -> Jet {
        if order <= self.order {
            self.terms[count(order) - order - 1..].fill(Number { value: f64::NAN, error: f64::INFINITY });
        }
        self
    }

    /// The derivative by x (0) or y (1); `None` where its value is not known.
    pub fn derivative(&self, direction: usize) -> Option<Jet> {
        let order = self.order.checked_sub(1)?;
        let mut jet = Jet { order, terms: [Number::ZERO; TERMS] };
        for k in 0..=order {
            for j in 0..=k {
                let (i, j) = (k - j, j);
                let (from, factor) = if direction == 0 { (at(i + 1, j), i + 1) } else { (at(i, j + 1), j + 1) };
                jet.terms[at(i, j)] =
                    if factor == 1 { self.terms[from] } else { self.terms[from].scaled(factor as f64) };
            }
        }
        Some(jet)
    }

    fn zip(&self, other: &Jet, f: impl Fn(Number, Number) -> Number) -> Jet {
        let order = self.order.min(other.order);
        let mut terms = [Number::ZERO; TERMS];
        for (k, term) in terms.iter_mut().enumerate().take(count(order)) {
            *term = f(self.terms[k], other.terms[k]);
        }
        Jet { order, terms }
    }

    pub fn scale(&self, factor: f64) -> Jet {
        *self * Jet::exact(factor)
    }

    /// f(self), given f's Taylor series around the value: the n-th term is f⁽ⁿ⁾/n!.
    pub fn compose(&self, series: &[Number]) -> Jet {
        let value = Jet { order: self.order, ..Jet::constant(series[0]) };
        if self.is_flat() && series.iter().all(|s| s.value.is_finite()) {
            return value;
        }
        let offset = self.with_number(Number::ZERO);
        let top = self.order.min(series.len() - 1);
        let mut sum = Jet::constant(series[top]);
        for term in series[..top].iter().rev() {
            sum = sum * offset;
            sum.terms[0] = *term;
        }
        sum.order = self.order;
        sum.with_number(series[0])
    }
}

impl std::ops::Add for Jet {
    type Output = Jet;
    fn add(self, other: Jet) -> Jet {
        self.zip(&other, |a, b| a + b).with_number(self.terms[0].defined_add(other.terms[0]))
    }
}

impl std::ops::Sub for Jet {
    type Output = Jet;
    fn sub(self, other: Jet) -> Jet {
        self.zip(&other, |a, b| a - b).with_number(self.terms[0].defined_sub(other.terms[0]))
    }
}

impl std::ops::Neg for Jet {
    type Output = Jet;
    fn neg(mut self) -> Jet {
        self.terms.iter_mut().for_each(|t| *t = -*t);
        self
    }
}

impl std::ops::Mul for Jet {
    type Output = Jet;
    fn mul(self, other: Jet) -> Jet {
        let order = self.order.min(other.order);
        let mut terms = [Number::ZERO; TERMS];
        for &(place, a, b) in &PAIRS[1..PAIRS_TO[order]] {
            terms[place] = terms[place] + self.terms[a] * other.terms[b];
        }
        Jet { order, terms }.with_number(self.terms[0].defined_mul(other.terms[0]))
    }
}

impl std::ops::Div for Jet {
    type Output = Jet;
    /// q b = a, solved term by term.
    fn div(self, other: Jet) -> Jet {
        let order = self.order.min(other.order);
        let mut terms = [Number::ZERO; TERMS];
        terms[0] = self.terms[0].defined_div(other.terms[0]);
        // All others are solved for below.
        for k in 1..=order {
            for j in 0..=k {
                let (i, place) = (k - j, at(k - j, j));
                let mut rest = self.terms[place];
                for a in 0..=i {
                    for b in (0..=j).filter(|b| a + b > 0) {
                        rest = rest - other.terms[at(a, b)] * terms[at(i - a, j - b)];
                    }
                }
                terms[place] = rest / other.terms[0];
            }
        }
        Jet { order, terms }
    }
}
