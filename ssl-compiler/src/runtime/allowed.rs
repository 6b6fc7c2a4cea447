//! Which values the metadata of a parameter allow: `min`, `max` and `options`.
//!
//! The language itself gives metadata no meaning: a shader runs with a value that they do not allow. Tools warn of such
//! values, wherever they come from: a scene, a graph, a call or the command line.

use super::interface::{Metadata, MetadataValue};
use super::parameters::ParameterValue;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;

/// A value that a parameter's metadata do not allow: what is wrong with it, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disallowed {
    /// What is wrong with the value.
    pub message: String,
    /// Which values are right.
    pub hint: String,
}

impl Disallowed {
    /// The same as a warning about a place, if there is one.
    pub fn warning(self, span: Option<Span>) -> Diagnostic {
        match span {
            Some(span) => Diagnostic::warning(&codes::PARAMETER_RANGE, span, self.message, self.hint),
            None => Diagnostic::warning_without_place(&codes::PARAMETER_RANGE, self.message, self.hint),
        }
    }
}

/// Says so if the metadata of the parameter `name` do not allow `value`.
///
/// `min` and `max` are numbers, or one number a component. `options` is a list of strings or numbers, or one text
/// as Open Shading Language writes it: `"matte|bright"`, and `"matte:0|bright:1"` for an integer. Entries of any
/// other form allow everything.
pub fn disallowed(name: &str, metadata: &[Metadata], value: &ParameterValue) -> Option<Disallowed> {
    outside_options(name, metadata, value).or_else(|| outside_range(name, metadata, value))
}

fn entry<'m>(metadata: &'m [Metadata], name: &str) -> Option<&'m MetadataValue> {
    metadata.iter().find(|m| m.name == name).map(|m| &m.value)
}

fn number(value: &MetadataValue) -> Option<f32> {
    match value {
        MetadataValue::Int(i) => Some(*i as f32),
        MetadataValue::Float(x) => Some(*x),
        _ => None,
    }
}

/// The bound for a component; one number stands for all of them.
fn bound(value: Option<&MetadataValue>, component: usize) -> Option<f32> {
    match value? {
        MetadataValue::List(list) => number(list.get(component)?),
        one => number(one),
    }
}

/// The least and the greatest number for a component; infinite where nothing is said.
pub fn bounds(metadata: &[Metadata], component: usize) -> [f32; 2] {
    let at = |name| bound(entry(metadata, name), component);
    [at("min").unwrap_or(f32::NEG_INFINITY), at("max").unwrap_or(f32::INFINITY)]
}

fn numbers(value: &ParameterValue) -> Vec<f32> {
    match value {
        ParameterValue::Int(i) => vec![*i as f32],
        ParameterValue::Float(x) => vec![*x],
        ParameterValue::Vector(list) => list.clone(),
        ParameterValue::Bool(_) | ParameterValue::String(_) | ParameterValue::Texture(_) => Vec::new(),
    }
}

fn outside_range(name: &str, metadata: &[Metadata], value: &ParameterValue) -> Option<Disallowed> {
    let (min, max) = (entry(metadata, "min"), entry(metadata, "max"));
    let values = numbers(value);
    for (i, &x) in values.iter().enumerate() {
        let (low, high) = (bound(min, i), bound(max, i));
        // A value that is not a number is outside, too.
        let (key, limit) = match (low, high) {
            (Some(low), _) if x.is_nan() || x < low => ("min", low),
            (_, Some(high)) if x.is_nan() || x > high => ("max", high),
            _ => continue,
        };
        let is = if values.len() > 1 { format!("has a component of {x}") } else { format!("is {x}") };
        let side = if key == "min" { "below" } else { "above" };
        let hint = match (low, high) {
            (Some(low), Some(high)) => format!("give it a value from {low} to {high}"),
            (Some(low), None) => format!("give it a value of at least {low}"),
            (_, high) => format!("give it a value of at most {}", high.unwrap_or(limit)),
        };
        return Some(Disallowed { message: format!("`{name}` {is}, {side} its `{key}` of {limit}"), hint });
    }
    None
}

fn outside_options(name: &str, metadata: &[Metadata], value: &ParameterValue) -> Option<Disallowed> {
    let options = entry(metadata, "options")?;
    match value {
        ParameterValue::String(text) => {
            let known = texts(options)?;
            if known.contains(&text.as_str()) {
                return None;
            }
            let hint = match closest(text, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("its options are {}", listed(known.iter().map(|t| format!("\"{t}\"")))),
            };
            Some(Disallowed { message: format!("`{name}` is \"{text}\", which is none of its options"), hint })
        }
        ParameterValue::Int(_) | ParameterValue::Float(_) => {
            let known = choices(options)?;
            let x = *numbers(value).first()?;
            let message = format!("`{name}` is {x}, which is none of its options");
            let hint = format!("its options are {}", listed(known.iter().map(f32::to_string)));
            (!known.contains(&x)).then_some(Disallowed { message, hint })
        }
        ParameterValue::Bool(_) | ParameterValue::Vector(_) | ParameterValue::Texture(_) => None,
    }
}

fn texts(options: &MetadataValue) -> Option<Vec<&str>> {
    match options {
        MetadataValue::String(text) => Some(text.split('|').collect()),
        MetadataValue::List(list) => {
            list.iter().map(|v| if let MetadataValue::String(text) = v { Some(text.as_str()) } else { None }).collect()
        }
        _ => None,
    }
}

fn choices(options: &MetadataValue) -> Option<Vec<f32>> {
    match options {
        MetadataValue::List(list) => list.iter().map(number).collect(),
        MetadataValue::String(text) => {
            text.split('|').map(|part| part.rsplit_once(':')?.1.trim().parse().ok()).collect()
        }
        _ => None,
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, MetadataValue)]) -> Vec<Metadata> {
        list.iter().map(|(name, value)| Metadata { name: (*name).to_owned(), value: value.clone() }).collect()
    }

    fn allowed(metadata: &[(&str, MetadataValue)], value: ParameterValue) -> bool {
        disallowed("p", &entries(metadata), &value).is_none()
    }

    use MetadataValue as M;
    use ParameterValue as P;

    #[test]
    fn bounds_count_themselves_in() {
        let range = [("min", M::Float(0.0)), ("max", M::Int(4))];
        for (value, inside) in [(0.0, true), (4.0, true), (-0.1, false), (4.1, false), (f32::NAN, false)] {
            assert_eq!(allowed(&range, P::Float(value)), inside, "{value}");
        }
        assert!(allowed(&range, P::Int(3)) && !allowed(&range, P::Int(5)));
        assert!(allowed(&[], P::Float(1e30)) && allowed(&range[..1], P::Float(1e30)));
    }

    #[test]
    fn each_component_has_its_bound() {
        let range = [("max", M::List(vec![M::Float(1.0), M::Float(2.0), M::Float(3.0)]))];
        assert!(allowed(&range, P::Vector(vec![1.0, 2.0, 3.0])));
        assert!(!allowed(&range, P::Vector(vec![1.0, 2.5, 3.0])));
        let found = disallowed("p", &entries(&[("max", M::Float(1.0))]), &P::Vector(vec![0.0, 9.0, 0.0]));
        assert_eq!(found.map(|d| d.message).as_deref(), Some("`p` has a component of 9, above its `max` of 1"));
    }

    #[test]
    fn options_are_a_list_or_a_text_of_osl() {
        let list = [("options", M::List(vec![M::String("matte".to_owned()), M::String("bright".to_owned())]))];
        let text = [("options", M::String("matte|bright".to_owned()))];
        for options in [&list, &text] {
            assert!(allowed(options, P::String("matte".to_owned())));
            let found = disallowed("mode", &entries(options), &P::String("mate".to_owned()));
            assert_eq!(found.map(|d| d.hint).as_deref(), Some("did you mean \"matte\"?"));
        }
        let numbers = [("options", M::List(vec![M::Int(1), M::Int(4)]))];
        let mapped = [("options", M::String("low:1|high:4".to_owned()))];
        for options in [&numbers, &mapped] {
            assert!(allowed(options, P::Int(4)) && !allowed(options, P::Int(2)));
        }
        // Of another form, they mean nothing.
        let nested = [("options", M::List(vec![M::List(vec![M::Int(1)])]))];
        assert!(allowed(&nested, P::Int(2)) && allowed(&nested, P::String("x".to_owned())));
    }
}
