//! Doubts about a fit that has taken all its steps.

use super::codes;
use super::fit::{Fit, Fitted};
use super::plan::Plan;
use crate::buffer::{Arrangement, Buffer};
use crate::graph::Graph;
use crate::kernel::Control;
use crate::optimise::review::{self, Doubt, Number, Problem};
use ssl_compiler::diagnostics::Diagnostic;
use std::sync::atomic::AtomicBool;

/// A warning of a doubt.
pub fn warning(doubt: &Doubt) -> Diagnostic {
    let code = match doubt {
        Doubt::AtBound { .. } | Doubt::ManyAtBound { .. } => &codes::AT_BOUND,
        Doubt::NoEffect { .. } => &codes::NO_EFFECT,
        Doubt::Undetermined { .. } => &codes::UNDETERMINED,
    };
    let (message, hint) = doubt.sentences();
    Diagnostic::warning_without_place(code, message, hint)
}

/// The numbers that move, where they are few, and the names of columns, where they are many.
#[derive(Default)]
pub(super) struct Reviewed {
    numbers: Vec<Number>,
    /// Of each number the fitted buffer and the word in its memory.
    places: Vec<(usize, usize)>,
    /// By fitted buffer, the paths of its columns.
    paths: Vec<Vec<String>>,
}

impl Reviewed {
    /// For buffers that hold the start of the fit.
    pub fn of(graph: &Graph, fitted: &[Fitted], plan: &Plan) -> Reviewed {
        let paths: Vec<Vec<String>> = plan.fits.iter().map(|fit| plan.buffers[fit.buffer].paths.clone()).collect();
        let all: usize = fitted.iter().map(|fitted| graph.buffer(fitted.buffer).words().len()).sum();
        let mut reviewed = Reviewed { paths, ..Reviewed::default() };
        if !review::is_small(all, plan.steps) {
            return reviewed;
        }
        for (number, fitted) in fitted.iter().enumerate() {
            let (buffer, columns) = (graph.buffer(fitted.buffer), fitted.optimiser.columns());
            for (word, bits) in buffer.words().iter().enumerate() {
                let (element, column) = place(buffer, word);
                let (rate, bounds) = columns[column];
                if rate == 0.0 {
                    continue;
                }
                let index = if buffer.len() > 1 { format!("[{element}]") } else { String::new() };
                let part = index + &reviewed.member(number, column);
                let of = fitted.name.clone();
                reviewed.numbers.push(Number { of, part, start: f32::from_bits(*bits), bounds });
                reviewed.places.push((number, word));
            }
        }
        reviewed
    }

    /// A member of the elements, as it stands behind their name.
    fn member(&self, fitted: usize, column: usize) -> String {
        match self.paths[fitted].get(column).map_or("", String::as_str) {
            "" => String::new(),
            path if path.starts_with('[') => path.to_owned(),
            path => format!(".{path}"),
        }
    }
}

/// The element and the column of a word.
fn place(buffer: &Buffer, word: usize) -> (usize, usize) {
    let (columns, length) = (buffer.element().len().max(1), buffer.len().max(1));
    match buffer.arrangement() {
        Arrangement::Rows => (word / columns, word % columns),
        Arrangement::Columns => (word % length, word / length),
    }
}

impl Fit {
    /// Doubts about the final values of the fit. Where they are few, it asks for losses and gradients around them. The
    /// values and the reports of the fit stay as they are.
    pub fn review(&mut self, cancel: &AtomicBool) -> Vec<Doubt> {
        if self.loss.is_none() || self.step() < self.steps() {
            return Vec::new();
        }
        let reviewed = std::mem::take(&mut self.reviewed);
        let doubts = if reviewed.numbers.is_empty() { self.many(&reviewed) } else { self.few(&reviewed, cancel) };
        self.reviewed = reviewed;
        doubts
    }

    fn few(&mut self, reviewed: &Reviewed, cancel: &AtomicBool) -> Vec<Doubt> {
        let findings = self.findings;
        let word = |(fitted, word): &(usize, usize)| {
            f32::from_bits(self.graph.buffer(self.fitted[*fitted].buffer).words()[*word])
        };
        let end: Vec<f32> = reviewed.places.iter().map(word).collect();
        let control = self.control(cancel);
        let mut asked = Asked { fit: self, reviewed, control: &control };
        let doubts = review::review(&mut asked, &reviewed.numbers, &end);
        // Buffers of the host's can always be changed.
        let _ = asked.set(&end);
        self.findings = findings;
        doubts
    }

    fn many(&self, reviewed: &Reviewed) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for (number, fitted) in self.fitted.iter().enumerate() {
            let buffer = self.graph.buffer(fitted.buffer);
            for (column, (rate, bounds)) in fitted.optimiser.columns().into_iter().enumerate() {
                if rate == 0.0 || bounds.iter().all(|bound| bound.is_infinite()) {
                    continue;
                }
                let words = buffer.words().iter().enumerate().filter(|(word, _)| place(buffer, *word).1 == column);
                let name = format!("{}{}", fitted.name, reviewed.member(number, column));
                doubts.extend(review::many_at_bound(&name, bounds, words.map(|(_, bits)| f32::from_bits(*bits))));
            }
        }
        doubts
    }
}

/// A fit that is asked at other values than its own.
struct Asked<'a> {
    fit: &'a mut Fit,
    reviewed: &'a Reviewed,
    control: &'a Control<'a>,
}

impl Asked<'_> {
    fn set(&mut self, at: &[f32]) -> Option<()> {
        for (x, (fitted, word)) in at.iter().zip(&self.reviewed.places) {
            let buffer = self.fit.graph.change(self.fit.fitted[*fitted].buffer).ok()?;
            buffer.words_mut()[*word] = x.to_bits();
        }
        Some(())
    }
}

impl Problem for Asked<'_> {
    fn loss(&mut self, at: &[f32]) -> Option<f64> {
        self.set(at)?;
        let loss = self.fit.loss?;
        self.fit.update(&[loss], self.control).ok()?;
        let value = f32::from_bits(*self.fit.graph.buffer(loss).words().first()?);
        self.fit.graph.left_out_before(loss).is_none().then_some(f64::from(value))
    }

    fn gradient(&mut self, at: &[f32]) -> Option<Vec<f32>> {
        self.set(at)?;
        let gradients = self.fit.gradients.clone();
        self.fit.update(&gradients, self.control).ok()?;
        let word = |(fitted, word): &(usize, usize)| {
            f32::from_bits(self.fit.graph.buffer(self.fit.fitted[*fitted].gradient).words()[*word])
        };
        Some(self.reviewed.places.iter().map(word).collect())
    }
}
