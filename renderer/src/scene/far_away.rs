//! Scenes that are small for their distance from the origin. World coordinates are 32-bit floats, whose steps grow with
//! the coordinate, and surfaces are off by so much.

use super::codes;
use super::context::Context;
use super::setup::View;
use crate::geometry::Geometry;
use glam::Vec3;
use ssl_compiler::diagnostics::{Diagnostic, Severity};

/// The least number of coordinate steps across a scene, or from the camera to its target. With a thousand, a closed
/// room of matte and glassy surfaces is a hundredth off at most.
const STEPS: f32 = 1000.0;

/// Warns where the whole scene is fewer steps across, or the camera's target is fewer steps away. `aimed` tells whether
/// the scene names that target.
pub fn check(geometry: &Geometry, view: &View, aimed: bool, context: &mut Context) {
    let whole = geometry.bounds().and_then(|(low, high)| {
        let extent = (high - low).length();
        few_steps(extent, low.abs().max(high.abs())).map(|at| ("the whole scene is only", extent, "across", at))
    });
    let seen = || {
        let away = view.position.distance(view.target);
        let at = few_steps(away, view.position.abs().max(view.target.abs())).filter(|_| aimed)?;
        Some(("the camera is only", away, "from what it looks at", at))
    };
    let Some((what, size, how, coordinate)) = whole.or_else(seen) else { return };
    let step = step_at(coordinate);
    let message = format!(
        "{what} {size} {how}, but its coordinates reach {coordinate}, where 32-bit floats are {step} apart: the picture is wrong"
    );
    let hint = "move the scene and the camera near the origin: take the same vector from all positions";
    let warning = Diagnostic::without_place(&codes::FAR_AWAY, message, hint);
    context.diagnostics.push(Diagnostic { severity: Severity::Warning, ..warning });
}

/// The largest coordinate, if a length is too few steps there. A length of 0 tells nothing.
fn few_steps(length: f32, coordinates: Vec3) -> Option<f32> {
    let largest = coordinates.max_element();
    (length > 0.0 && largest.is_finite() && length < STEPS * step_at(largest)).then_some(largest)
}

/// From a coordinate to the next one that there is.
fn step_at(coordinate: f32) -> f32 {
    coordinate.next_up() - coordinate
}
