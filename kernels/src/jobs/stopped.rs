//! The messages of fits that stop early: the points of a launch, and a remedy.

use super::fit::FitError;
use crate::graph::{BufferId, Graph, NodeId};
use crate::kernel::{Control, Status};

/// The points that ended, and a remedy.
pub(super) fn ended(name: &str, status: &Status, step: u64) -> String {
    let hint = match (status.out_of_fuel > 0, status.tape_full > 0) {
        (true, _) => "; `fuel` in the job sets what a point may spend on loops and calls",
        (_, true) => "; `tape_rows` in the job sets how long the tape of a point may be",
        _ => "",
    };
    let first =
        status.first_ended.map_or(String::new(), |(index, why)| format!(", the first one with index {index}: {why}"));
    format!("{} of {} points of `{name}` ended early after {step} steps{first}{hint}", status.ended(), status.points)
}

/// Looks whether the loss is a number, of which sums left out nothing on the way there.
pub(super) fn check_loss(graph: &mut Graph, loss: BufferId, step: u64, control: &Control<'_>) -> Result<f64, FitError> {
    let value = graph.buffer(loss).words().first().map_or(0.0, |word| f32::from_bits(*word));
    if let Some(node) = graph.left_out_before(loss) {
        return Err(FitError::Stopped(left_out(graph, node, step, control)));
    }
    if value.is_finite() {
        return Ok(f64::from(value));
    }
    let from = graph.not_finite_before(loss).filter(|found| found.buffer != loss);
    let from = from.map_or(String::new(), |found| format!(": {}", not_finite(graph, &found)));
    Err(FitError::Stopped(format!("the loss is {value} after {step} steps{from}")))
}

/// Which point adds something that no sum holds, and where that comes from.
fn left_out(graph: &mut Graph, node: NodeId, step: u64, control: &Control<'_>) -> String {
    let (name, count) = (graph.name(node).to_owned(), graph.status(node).left_out);
    // Without the point, the rest of the sentence still holds.
    let first = graph.first_left_out(node, control).ok().flatten();
    let first = first.map_or(String::new(), |(buffer, found)| {
        let term = if found.term.is_finite() {
            format!("{:e}, which is too large,", found.term)
        } else {
            found.term.to_string()
        };
        format!(": the point with index {} adds {term} to element {} of `{buffer}`", found.point, found.element)
    });
    let from = graph.not_finite_input(node).map(|found| format!("; {}", not_finite(graph, &found)));
    format!(
        "the loss is not a finite number after {step} steps: {count} terms of `{name}` are none{first}{}",
        from.unwrap_or_default()
    )
}

fn not_finite(graph: &Graph, found: &crate::graph::NotFinite) -> String {
    let (buffer, value) = (graph.buffer_name(found.buffer), found.value);
    let writer = found.writer.map_or(String::new(), |node| format!(", which `{}` writes,", graph.name(node)));
    format!("element {} of `{buffer}`{writer} is {value}", found.element)
}
