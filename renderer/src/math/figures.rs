//! Numbers in JSON. JSON has no NaN and no infinities, so they are the texts `NaN`, `Infinity` and `-Infinity`:
//! Python's `float`, JavaScript's `Number` and Rust's `parse` read all three.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The shortest digits that name this number.
pub fn number(x: f32) -> Value {
    match x.to_string().parse::<f64>() {
        Ok(digits) if x.is_finite() => json!(digits),
        _ => json!(unwritable(f64::from(x))),
    }
}

/// As [`number`], of a number in double precision.
pub fn double(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { json!(unwritable(x)) }
}

fn unwritable(x: f64) -> &'static str {
    match x {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// A number, or numbers in lists.
pub trait Figures {
    fn json(&self) -> Value;
}

impl Figures for f32 {
    fn json(&self) -> Value {
        number(*self)
    }
}

impl<T: Figures, const N: usize> Figures for [T; N] {
    fn json(&self) -> Value {
        self.iter().map(T::json).collect()
    }
}

impl<T: Figures> Figures for Vec<T> {
    fn json(&self) -> Value {
        self.iter().map(T::json).collect()
    }
}

impl<T: Figures> Figures for Option<T> {
    fn json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::json)
    }
}

/// Named numbers, as a list of pairs.
impl<T: Figures> Figures for (String, T) {
    fn json(&self) -> Value {
        json!([self.0, self.1.json()])
    }
}

/// For `#[serde(serialize_with = …)]`.
pub fn serialize<T: Figures, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.json().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_write_is_text_that_reads_back() {
        assert_eq!(number(0.1).to_string(), "0.1");
        assert_eq!(number(-0.0).to_string(), "-0.0");
        let list = vec![1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        assert_eq!(list.json().to_string(), r#"[1.0,"Infinity","-Infinity","NaN"]"#);
        for (x, text) in list.iter().zip(["1", "Infinity", "-Infinity", "NaN"]) {
            let read: f32 = text.parse().expect("Rust reads them");
            assert!(read == *x || (read.is_nan() && x.is_nan()));
        }
        assert_eq!(double(f64::NAN), json!("NaN"));
        assert_eq!(Some([1.5_f32]).json(), json!([1.5]));
        assert_eq!(None::<f32>.json(), Value::Null);
    }
}
