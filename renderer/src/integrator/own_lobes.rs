//! Asks the lobes of a block whose code is a struct of a shader file: those of all lanes together, before the stages look
//! at one lane after the other.

use super::vertices::{LobeChoices, Vertices};
use crate::scene::Scene;
use glam::Vec3;

/// What [`crate::bsdf::Bsdf::eval`] will ask in these directions.
pub fn evaluate(scene: &Scene, vertices: &mut Vertices, directions: impl Iterator<Item = (usize, Vec3)>) {
    if vertices.own.is_empty() {
        return;
    }
    let mut requests = std::mem::take(&mut vertices.requests);
    requests.clear();
    directions.for_each(|(lane, wi)| vertices.bsdf(scene, lane).asked_by_eval(wi, |request| requests.push(request)));
    vertices.own.evaluate(&requests);
    vertices.requests = requests;
}

/// What [`crate::bsdf::Bsdf::sample`] will ask for the lanes that go on: first a direction of the chosen lobe, then the
/// value of the others in this direction.
pub fn sample(scene: &Scene, vertices: &mut Vertices, choices: &LobeChoices) {
    if vertices.own.is_empty() {
        return;
    }
    // What the guide gave is not drawn, and all lobes are asked for it.
    let given = |vertices: &Vertices, lane: usize| vertices.guided.get(lane).copied().flatten();
    let mut draws = Vec::with_capacity(vertices.paths.len());
    for lane in vertices.going_on().filter(|&lane| given(vertices, lane).is_none()) {
        draws.extend(choices[lane].and_then(|choice| vertices.bsdf(scene, lane).asked_by_draw(&choice)));
    }
    vertices.own.draw(&draws);
    let mut requests = std::mem::take(&mut vertices.requests);
    requests.clear();
    for lane in vertices.going_on() {
        let bsdf = vertices.bsdf(scene, lane);
        match (given(vertices, lane), &choices[lane]) {
            (Some(wi), _) => bsdf.asked_by_eval(wi, |request| requests.push(request)),
            (None, Some(choice)) => bsdf.asked_by_sample(choice, |request| requests.push(request)),
            (None, None) => {}
        }
    }
    vertices.own.evaluate(&requests);
    vertices.requests = requests;
}
