//! Doubts about a fit of a scene that has taken all its steps.

use super::super::Target;
use super::fit::Fit;
use kernels::optimise::review::{Doubt, Number, Problem, many_at_bound, review};
use std::sync::atomic::AtomicBool;

impl Fit {
    /// Doubts about the final values of the fit. Where they are few, it renders pictures and gradients around them, all
    /// with the samples of one step. The scene and the reports of the fit stay as they are.
    pub fn review(&mut self, cancel: &AtomicBool) -> Vec<Doubt> {
        if self.step() < self.steps() || self.steps() == 0 {
            return Vec::new();
        }
        let end = self.scene.values();
        let numbers = if self.starts.len() == end.len() { self.numbers() } else { Vec::new() };
        if numbers.is_empty() {
            return self.many(&end);
        }
        let (left_out, findings) = (self.left_out, self.findings.clone());
        let mut asked = Asked { fit: self, cancel };
        let doubts = review(&mut asked, &numbers, &end);
        let _ = asked.fit.scene.set(&end);
        (self.left_out, self.findings) = (left_out, findings);
        doubts
    }

    /// All floats, one by one; none if some of them do not move.
    fn numbers(&self) -> Vec<Number> {
        let mut numbers = Vec::new();
        for planned in &self.job.fits {
            if planned.group.rate == 0.0 {
                return Vec::new();
            }
            for parameter in planned.parameters.clone() {
                let (of, range) = (&self.scene.parameters()[parameter], self.scene.range_of(parameter));
                numbers.extend(range.enumerate().map(|(i, at)| Number {
                    of: of.name.clone(),
                    part: if of.len > 1 { format!("[{i}]") } else { String::new() },
                    start: self.starts[at],
                    bounds: planned.group.shape.bounds(),
                }));
            }
        }
        numbers
    }

    fn many(&self, end: &[f32]) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for planned in &self.job.fits {
            for parameter in planned.parameters.clone() {
                let of = &self.scene.parameters()[parameter];
                let values = end[self.scene.range_of(parameter)].iter().copied();
                // Texels hold no light below 0 and none above the limit of their format.
                if !matches!(of.target, Target::Texels { .. }) || planned.group.shape.bounds() != of.bounds[0] {
                    doubts.extend(many_at_bound(&of.name, planned.group.shape.bounds(), values));
                }
            }
        }
        doubts
    }
}

/// A fit that is asked at other values than its own.
struct Asked<'a> {
    fit: &'a mut Fit,
    cancel: &'a AtomicBool,
}

impl Problem for Asked<'_> {
    fn loss(&mut self, at: &[f32]) -> Option<f64> {
        self.fit.scene.set(at).ok()?;
        self.fit.loss(self.cancel).ok()
    }

    fn gradient(&mut self, at: &[f32]) -> Option<Vec<f32>> {
        self.fit.scene.set(at).ok()?;
        self.fit.gradient(self.cancel, None).ok().map(|(_, gradient)| gradient)
    }
}
