//! Values that change from step to step: how soft edges are, say, or how strongly a surface is smoothed.

use super::codes;
use super::file::{Given, Numbers, RampTable};
use super::plan::Planner;
use crate::graph::{Graph, GraphError, NodeId};
use ssl_compiler::runtime::ParameterValue;

/// The values of a parameter at steps.
#[derive(Clone, Debug)]
pub(super) struct Ramp {
    value: String,
    /// In ascending order of the steps; at least one.
    points: Vec<(u64, f64)>,
    whole: bool,
}

impl Ramp {
    pub fn name(&self) -> &str {
        &self.value
    }

    /// The value at a step: between two points on the straight line, before the first and behind the last as there. Whole
    /// numbers are rounded.
    fn at(&self, step: u64) -> ParameterValue {
        let behind = self.points.partition_point(|(at, _)| *at <= step);
        let x = match (self.points.get(behind.wrapping_sub(1)), self.points.get(behind)) {
            (Some(&(from, a)), Some(&(to, b))) => a + (b - a) * ((step - from) as f64 / (to - from) as f64),
            (Some(&(_, x)), None) | (None, Some(&(_, x))) => x,
            (None, None) => 0.0,
        };
        if self.whole { ParameterValue::Int(x.round() as i32) } else { ParameterValue::Float(x as f32) }
    }
}

/// A ramp and the nodes whose kernels take its value.
pub(super) struct Ramped {
    ramp: Ramp,
    nodes: Vec<NodeId>,
}

impl Ramped {
    pub fn new(ramp: Ramp, nodes: Vec<NodeId>) -> Ramped {
        Ramped { ramp, nodes }
    }

    /// Sets the value of a step.
    pub fn set(&self, graph: &mut Graph, step: u64) -> Result<(), GraphError> {
        let value = self.ramp.at(step);
        self.nodes.iter().try_for_each(|node| graph.set(*node, &self.ramp.value, value.clone()))
    }
}

impl Planner<'_> {
    pub(super) fn plan_ramps(&mut self) -> Vec<Ramp> {
        let job = self.job;
        let mut ramps: Vec<Ramp> = Vec::new();
        for table in &job.ramps {
            let name = table.value.get_ref();
            let Some(given) = job.values.get(name) else {
                let message = format!("there is no value `{name}`");
                self.context.unknown(table.value.span(), message, name, job.values.keys().map(String::as_str));
                continue;
            };
            if ramps.iter().any(|ramp| ramp.value == *name) {
                let message = format!("`{name}` has two ramps");
                self.context.error(&codes::CONFLICT, table.value.span(), message, "put all points into one of them");
                continue;
            }
            let whole = match given.get_ref() {
                Given::Int(_) => true,
                Given::Float(_) => false,
                _ => {
                    let message = format!("`{name}` is no number, so it cannot change from step to step");
                    self.context.error(&codes::MISFIT, given.span(), message, "write a number under `values`");
                    continue;
                }
            };
            let points = self.points(table);
            ramps.extend(points.map(|points| Ramp { value: name.clone(), points, whole }));
        }
        ramps
    }

    fn points(&mut self, table: &RampTable) -> Option<Vec<(u64, f64)>> {
        let point = |numbers: &Numbers| match numbers {
            Numbers::List(list) => match list[..] {
                [step, value] if step >= 0.0 && step.fract() == 0.0 => Some((step as u64, value)),
                _ => None,
            },
            Numbers::One(_) => None,
        };
        let points: Option<Vec<(u64, f64)>> = table.points.get_ref().iter().map(point).collect();
        let points = points.filter(|points| points.is_sorted_by(|a, b| a.0 < b.0));
        if points.is_none() {
            let message = "the points are pairs of a step and a value, in the order of the steps";
            self.context.error(
                &codes::BAD_NUMBER,
                table.points.span(),
                message,
                "write `points = [[0, 8.0], [200, 1.0]]`",
            );
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_straight_from_point_to_point() {
        let ramp = |whole| Ramp { value: String::new(), points: vec![(10, 8.0), (20, 4.0), (22, 1.0)], whole };
        let expected = [(0, 8.0), (10, 8.0), (15, 6.0), (20, 4.0), (21, 2.5), (22, 1.0), (99, 1.0)];
        for (step, value) in expected {
            assert_eq!(ramp(false).at(step), ParameterValue::Float(value));
        }
        assert_eq!(ramp(true).at(21), ParameterValue::Int(3));
    }
}
