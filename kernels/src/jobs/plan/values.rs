//! Numbers that go by names: values of the job, and the width, height and length of its buffers.

use super::{Planner, Work};
use crate::jobs::codes;
use crate::jobs::file::{Count, Given, Values};
use crate::jobs::host::Operation;
use crate::jobs::keys::MOST_LENGTH;
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::tree::Place;
use std::collections::BTreeSet;
use toml::Spanned;

/// Values may stand for other values; more than this many in a row are a circle.
const MOST_NAMES: usize = 16;

fn shown(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Int(n) => n.to_string(),
        ParameterValue::Float(x) => x.to_string(),
        ParameterValue::Bool(b) => b.to_string(),
        _ => "no number".to_owned(),
    }
}

impl Planner<'_> {
    /// The elements of a buffer, of which there must be some.
    pub(super) fn length(&mut self, count: &Spanned<Count>) -> Option<usize> {
        let length = self.count(count.get_ref(), count.span())?;
        if length == 0 {
            self.context.error(
                &codes::BAD_NUMBER,
                count.span(),
                "the buffer has no elements",
                "it must have at least 1",
            );
            return None;
        }
        Some(length)
    }

    pub(super) fn count(&mut self, count: &Count, at: Place) -> Option<usize> {
        let name = match count {
            Count::Number(n) => return Some(*n as usize),
            Count::Name(name) => name,
        };
        // `width * height` are both numbers together.
        if let Some((a, b)) = name.split_once('*') {
            let [a, b] = [a, b].map(|part| match part.trim().parse::<u64>() {
                Ok(number) => Count::Number(number),
                Err(_) => Count::Name(part.trim().to_owned()),
            });
            return self.count(&a, at.clone())?.checked_mul(self.count(&b, at)?);
        }
        // `height / 4` is so many that four times as many are enough.
        let divided = name.split_once('/').and_then(|(name, by)| Some((name.trim(), by.trim().parse::<usize>().ok()?)));
        let (whole, by) = divided.filter(|(_, by)| *by > 0).unwrap_or((name, 1));
        let value = self.value(&Given::Text(whole.to_owned()), 0);
        match value {
            Ok(Some(ParameterValue::Int(n))) if (0..=MOST_LENGTH).contains(&i64::from(n)) => {
                Some((n as usize).div_ceil(by))
            }
            // Of a buffer whose size is not known yet; another round may know it.
            Ok(None) => None,
            Ok(Some(value)) if self.job.values.contains_key(whole) && !matches!(value, ParameterValue::String(_)) => {
                let given = self.job.values.get(whole).map_or(at, Spanned::span);
                let message = format!("`{whole}` is {}, and counts something", shown(&value));
                let hint = format!("write a whole number from 0 to {MOST_LENGTH}");
                self.context.error(&codes::BAD_NUMBER, given, message, hint);
                None
            }
            Ok(Some(_)) => {
                let names: Vec<String> = self.job.values.keys().cloned().collect();
                let message = format!("`{name}` is no count");
                let hint = format!(
                    "write a whole number, the name of a value ({}), or `BUFFER.width`, `BUFFER.height` or `BUFFER.length`",
                    if names.is_empty() { "there are none".to_owned() } else { names.join(", ") }
                );
                self.context.error(&codes::UNKNOWN_NAME, at, message, hint);
                None
            }
            Err(why) => {
                self.context.error(&codes::UNKNOWN_NAME, at, why, "name a value of the job");
                None
            }
        }
    }

    /// What a text stands for: a value of the job, something about a buffer, or itself. `None` if it is not known yet.
    fn value(&mut self, given: &Given, depth: usize) -> Result<Option<ParameterValue>, String> {
        let text = match given {
            Given::Bool(b) => return Ok(Some(ParameterValue::Bool(*b))),
            Given::Int(i) => {
                let fits = i32::try_from(*i).map_err(|_| format!("{i} is too large for an int"));
                return fits.map(|i| Some(ParameterValue::Int(i)));
            }
            Given::Float(x) => return Ok(Some(ParameterValue::Float(*x as f32))),
            Given::Vector(list) => return Ok(Some(ParameterValue::Vector(list.iter().map(|x| *x as f32).collect()))),
            Given::Text(text) => text,
        };
        if depth > MOST_NAMES {
            return Err(format!("`{text}` stands for itself"));
        }
        if let Some(value) = self.job.values.get(text) {
            self.used.insert(text.clone());
            return self.value(value.get_ref(), depth + 1);
        }
        let about = text.split_once('.').and_then(|(buffer, what)| Some((*self.ids.get(buffer)?, what)));
        let Some((id, what)) = about else { return Ok(Some(ParameterValue::String(text.clone()))) };
        let buffer = &self.buffers[id];
        let number = match what {
            "length" => buffer.length.map(|n| n as i32),
            "width" => buffer.size.map(|[width, _]| width as i32),
            "height" => buffer.size.map(|[_, height]| height as i32),
            _ => {
                return Err(format!("buffers have a `length`, and pictures a `width` and a `height`, but no `{what}`"));
            }
        };
        if number.is_none() && what != "length" && buffer.length.is_some() {
            return Err(format!("`{}` is no picture, and so has no `{what}`", buffer.name));
        }
        Ok(number.map(ParameterValue::Int))
    }

    /// The value of a parameter: that of the launch before that of the job.
    fn given(
        &mut self,
        launch: Option<&Values>,
        name: &str,
    ) -> Option<(Result<Option<ParameterValue>, String>, Place)> {
        let job = self.job;
        let of_launch = launch.and_then(|values| values.get(name));
        if of_launch.is_none() && job.values.contains_key(name) {
            self.used.insert(name.to_owned());
        }
        let given = of_launch.or_else(|| job.values.get(name))?;
        // A text that is the parameter's own name is no circle.
        Some((self.value(given.get_ref(), 0), given.span()))
    }

    /// Gives all parameters of all launches their values.
    pub(super) fn set_values(&mut self) {
        let job = self.job;
        for number in 0..self.launches.len() {
            let Some(table) = self.launches[number].table.map(|table| &job.launches[table]) else { continue };
            let (taken, needed): (Vec<String>, BTreeSet<String>) = match &self.launches[number].work {
                Work::Kernel { kernel, .. } => {
                    let parameters = &kernel.shader().interface().parameters;
                    let needed = parameters.iter().filter(|p| !p.has_default).map(|p| p.name.clone());
                    (parameters.iter().map(|p| p.name.clone()).collect(), needed.collect())
                }
                Work::Run(operation) => {
                    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
                    (names(operation.values()), names(operation.needed()).into_iter().collect())
                }
            };
            for (name, value) in &table.values {
                if !taken.contains(name) {
                    let message = format!("`{}` has no parameter `{name}`", self.launches[number].name);
                    self.context.unknown(value.span(), message, name, taken.iter().map(String::as_str));
                }
            }
            for name in &taken {
                self.set_value(number, name, needed.contains(name));
            }
        }
        for (name, value) in &job.values {
            if !self.used.contains(name) && !self.context.released.contains(name) {
                let names: Vec<String> = self.parameters();
                let message = format!("nothing takes the value `{name}`");
                self.context.unknown(value.span(), message, name, names.iter().map(String::as_str));
            }
        }
    }

    fn set_value(&mut self, number: usize, name: &str, needed: bool) {
        let (job, launch) = (self.job, &self.launches[number]);
        let (at, title) = (launch.at.clone(), launch.name.clone());
        let values = launch.table.map(|table| &job.launches[table].values);
        let (value, at) = match self.given(values, name) {
            Some((value, at)) => (value, at),
            None if needed => {
                let message = format!("`{title}` needs a value for `{name}`");
                let hint = format!("add `{name} = …` under `[values]`, or to the `values` of the launch");
                return self.context.error(&codes::UNKNOWN_NAME, at, message, hint);
            }
            None => return,
        };
        let value = match value {
            Ok(Some(value)) => value,
            Ok(None) => {
                let message = format!("the length for `{name}` is not known before the launches run");
                return self.context.error(&codes::MISFIT, at, message, "kernels know the `length` of their buffers");
            }
            Err(why) => return self.context.error(&codes::BAD_NUMBER, at, why, format!("correct `{name}`")),
        };
        let shared = job.values.contains_key(name) && values.is_none_or(|values| !values.contains_key(name));
        let launch = &mut self.launches[number];
        match &mut launch.work {
            Work::Kernel { kernel, .. } => {
                launch.shared.extend(shared.then(|| name.to_owned()));
                launch.values.push((name.to_owned(), value.clone()));
                let parameters = &kernel.shader().interface().parameters;
                let described = parameters.iter().find(|parameter| parameter.name == name);
                if let Some(found) = described.and_then(|parameter| parameter.disallowed(&value)) {
                    return self.context.error(&codes::BAD_NUMBER, at, found.message, found.hint);
                }
                if let Err(e) = kernel.set(name, value) {
                    let hint = "values are numbers, lists of numbers, truth values, names of values, or `BUFFER.width`";
                    self.context.error(&codes::MISFIT, at, e.message(name), hint);
                }
            }
            Work::Run(operation) => {
                if !operation.set(name, &value) {
                    let message = format!("`{name}` of `{title}` is a whole number above 0");
                    self.context.error(&codes::BAD_NUMBER, at, message, format!("correct `{name}`"));
                }
            }
        }
    }

    /// The names of all parameters.
    fn parameters(&self) -> Vec<String> {
        let of = |work: &Work| match work {
            Work::Kernel { kernel, .. } => {
                kernel.shader().interface().parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>()
            }
            Work::Run(operation) => operation.values().iter().map(|name| (*name).to_owned()).collect(),
        };
        self.launches.iter().flat_map(|launch| of(&launch.work)).collect()
    }

    /// An operation with its numbers, as far as they are known.
    pub(super) fn with_values(&mut self, number: usize, mut operation: Operation) -> Operation {
        let job = self.job;
        let values = self.launches[number].table.map(|table| &job.launches[table].values);
        for name in operation.values() {
            if let Some((Ok(Some(value)), _)) = self.given(values, name) {
                operation.set(name, &value);
            }
        }
        operation
    }
}
