//! Numbers that know how far another evaluator's result may lie from theirs.
//!
//! Two evaluators that do the same IEEE operations in the order that the language defines agree to the bit. Where a
//! derivative went in they need not: its formula may be written in more than one way. So a number carries a bound
//! on the *disagreement*, to first order (the running error analysis of N. Higham, "Accuracy and Stability of
//! Numerical Algorithms", section 3.3): an operation passes on what its operands bring, times its own slopes, and
//! adds half a unit in the last place where its result may be rounded differently.

/// Half the distance from 1 to the next number.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// How many times the first-order bound two right evaluators may lie apart, and how near to a boundary a decision
/// is left open.
pub const SLACK: f64 = 256.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// What another evaluator's value may differ by.
    pub error: f64,
}

impl Number {
    pub const ZERO: Number = Number::exact(0.0);

    pub const fn exact(value: f64) -> Number {
        Number { value, error: 0.0 }
    }

    /// A result whose operands bring `inherited`, and which everybody rounds alike from the same operands.
    pub fn defined(value: f64, inherited: f64) -> Number {
        let error = if inherited == 0.0 { 0.0 } else { inherited + UNIT * value.abs() };
        Number { value, error: if error.is_nan() { f64::INFINITY } else { error } }
    }

    /// A result that may have been rounded on another way.
    pub fn rounded(value: f64, inherited: f64) -> Number {
        let error = inherited + UNIT * value.abs();
        Number { value, error: if error.is_nan() { f64::INFINITY } else { error } }
    }

    pub fn is_zero(self) -> bool {
        self.value == 0.0 && self.error == 0.0
    }

    pub fn is_exact(self) -> bool {
        self.error == 0.0
    }

    /// As far as two right evaluators may be apart.
    pub fn slack(self) -> f64 {
        SLACK * self.error
    }

    pub fn defined_add(self, other: Number) -> Number {
        Number::defined(self.value + other.value, self.error + other.error)
    }

    pub fn defined_sub(self, other: Number) -> Number {
        Number::defined(self.value - other.value, self.error + other.error)
    }

    pub fn defined_mul(self, other: Number) -> Number {
        Number::defined(self.value * other.value, product_error(self, other))
    }

    pub fn defined_div(self, other: Number) -> Number {
        Number::defined(self.value / other.value, quotient_error(self, other))
    }

    /// Times a number that everybody has.
    pub fn scaled(self, factor: f64) -> Number {
        let product = self.value * factor;
        // Half and double are exact.
        let exact = product / factor == self.value && factor.abs().log2().fract() == 0.0;
        let error = self.error * factor.abs();
        if exact { Number { value: product, error } } else { Number::rounded(product, error) }
    }
}

fn product_error(a: Number, b: Number) -> f64 {
    if a.is_exact() && b.is_exact() {
        return 0.0;
    }
    a.value.abs() * b.error + b.value.abs() * a.error + a.error * b.error
}

fn quotient_error(a: Number, b: Number) -> f64 {
    if a.is_exact() && b.is_exact() {
        return 0.0;
    }
    (a.error + (a.value / b.value).abs() * b.error) / b.value.abs()
}

impl std::ops::Add for Number {
    type Output = Number;
    fn add(self, other: Number) -> Number {
        // Adding zero rounds nothing.
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Number::rounded(self.value + other.value, self.error + other.error)
    }
}

impl std::ops::Sub for Number {
    type Output = Number;
    fn sub(self, other: Number) -> Number {
        self + -other
    }
}

impl std::ops::Neg for Number {
    type Output = Number;
    fn neg(self) -> Number {
        Number { value: -self.value, error: self.error }
    }
}

impl std::ops::Mul for Number {
    type Output = Number;
    fn mul(self, other: Number) -> Number {
        let product = self.value * other.value;
        if product == 0.0 && (self.is_zero() || other.is_zero()) {
            return Number::ZERO;
        }
        Number::rounded(product, product_error(self, other))
    }
}

impl std::ops::Div for Number {
    type Output = Number;
    fn div(self, other: Number) -> Number {
        let quotient = self.value / other.value;
        if quotient == 0.0 && self.is_zero() {
            return Number::ZERO;
        }
        Number::rounded(quotient, quotient_error(self, other))
    }
}
