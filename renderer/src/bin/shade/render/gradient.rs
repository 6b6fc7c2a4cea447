//! `shade render --gradient PARAMETER`: how every pixel changes with a parameter.

use super::Arguments;
use super::checkpoint::refuse;
use super::output::{Format, Output};
use crate::outcome::{self, Outcome};
use renderer::film::{self, Aov, ImageFormat, Layer, Metadata, OutputKind, Picture, ToneCurve};
use renderer::inverse::{Derivative, Differentiated, GradientError, NotDifferentiable, choose, list, not_chosen};
use renderer::render::{RenderError, RenderOptions, RenderOutput, Sampling, render};
use renderer::scene::{Scene, codes};
use ssl_compiler::diagnostics::Diagnostic;
use std::sync::atomic::AtomicBool;

/// Writes the picture and a layer `gradient` into an `.exr`, or the derivative alone in false color into a `.png`.
pub fn run(
    arguments: &Arguments,
    (scene, pattern): (Scene, &str),
    output: &Output,
    cancel: &AtomicBool,
    outcome: &mut Outcome,
) {
    let Format::Picture(format) = output.format else {
        let hint = "name a picture ending in .exr or .png";
        let message = "a partial render holds no gradient";
        return refuse(outcome, Diagnostic::without_place(&codes::OUTPUT, message, hint));
    };
    let parameters = match choose(&list(&scene), pattern) {
        Ok(parameters) => parameters,
        Err(hint) => {
            let (message, hint) = not_chosen(&scene, pattern, hint);
            return refuse(outcome, Diagnostic::without_place(&codes::UNKNOWN_NAME, message, hint));
        }
    };
    let options = match arguments.options(&scene) {
        Ok(options) => options,
        Err(wrong) => return refuse(outcome, *wrong),
    };
    let mut scene = match Differentiated::new(scene, parameters) {
        Ok(scene) => scene,
        Err(NotDifferentiable::Shader(refused)) => {
            outcome.code = outcome::INPUT_AT_FAULT;
            (outcome.sources, outcome.diagnostics) = (refused.sources, refused.diagnostics);
            return;
        }
        Err(NotDifferentiable::Memory(why)) => return fail(outcome, &why.to_string()),
    };
    outcome.note.push_str(output.has_no_form(&arguments.exr));
    match picture(&mut scene, &options, arguments.attached, cancel) {
        Ok((picture, metadata, Derivative { pixels: derivative, left_out })) => {
            if left_out > 0 {
                let note = format!("note: {left_out} terms of the derivative are not finite, and are left out\n");
                outcome.note.push_str(&note);
            }
            let written = match format {
                ImageFormat::Png => {
                    let shown = Picture { pixels: derivative, layers: Vec::new(), ..picture };
                    film::write(&shown, &output.path, format, (0.0, ToneCurve::Signed), None)
                }
                ImageFormat::Exr(_) => {
                    let values = derivative.iter().flat_map(|d| d.to_array()).collect();
                    let aov = Aov::Output { name: "gradient".to_owned(), kind: OutputKind::Color };
                    let with = Picture { layers: vec![Layer { aov, values }], ..picture };
                    let metadata = output.described(metadata);
                    film::write(&with, &output.path, format, (0.0, ToneCurve::Clamp), Some(&metadata))
                }
            };
            match written {
                Ok(()) => outcome.output = format!("{}: the gradient by {pattern}\n", output.path.display()),
                Err(e) => fail(outcome, &e.to_string()),
            }
        }
        Err(GradientError::Cancelled) => outcome.code = outcome::INTERRUPTED,
        Err(GradientError::Render(RenderError::Machine(why))) => fail(outcome, &why),
        Err(e) => {
            let hint = match e {
                GradientError::Step { .. } => "give `--attached` another number",
                _ => "`shade fit SCENE --list` names what there is",
            };
            refuse(outcome, Diagnostic::without_place(&codes::CONFLICT, e.to_string(), hint));
        }
    }
}

/// The picture, what its file says of how it was made, and its derivative with the same samples.
fn picture(
    scene: &mut Differentiated,
    options: &RenderOptions,
    attached: Option<f32>,
    cancel: &AtomicBool,
) -> Result<(Picture, Metadata, Derivative), GradientError> {
    let options = RenderOptions { aovs: Some(Vec::new()), sampling: Sampling::Full, ..options.clone() };
    let RenderOutput { picture, part, .. } = render(&mut scene.scene, &options, cancel, &|_| ())?;
    let metadata = part.metadata();
    drop(part);
    let derivative = match attached {
        None => scene.derivative(&options, cancel)?,
        Some(step) => {
            let floats =
                scene.parameters().iter().enumerate().flat_map(|(p, of)| (0..of.len).map(move |float| (p, float)));
            let floats: Vec<(usize, usize)> = floats.collect();
            Derivative { pixels: scene.slopes(&floats, step, &options, cancel)?, left_out: 0 }
        }
    };
    Ok((picture, metadata, derivative))
}

fn fail(outcome: &mut Outcome, why: &str) {
    outcome.code = outcome::ENVIRONMENT_FAILED;
    outcome.note.push_str(&format!("{why}\n"));
}
