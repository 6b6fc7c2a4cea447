//! `shade render --pixel X,Y`: one path, printed hit by hit, in place of a picture.

use super::Arguments;
use super::checkpoint::refuse;
use crate::outcome::{self, Outcome};
use renderer::integrator::probe::{LookUp, ProbedHit, ProbedLight};
use renderer::render::{FollowedPath, RenderError, follow};
use renderer::scene::{Scene, codes};
use ssl_compiler::diagnostics::Diagnostic;

pub fn run(arguments: &Arguments, scene: &mut Scene, pixel: (u32, u32), outcome: &mut Outcome) {
    let options = match arguments.options(scene) {
        Ok(options) => options,
        Err(wrong) => return refuse(outcome, *wrong),
    };
    match follow(scene, &options, pixel, arguments.sample) {
        Ok(path) if arguments.json => match serde_json::to_value(&path) {
            Ok(json) => outcome.report = Some(Box::new(json)),
            Err(e) => {
                outcome.code = outcome::ENVIRONMENT_FAILED;
                outcome.note.push_str(&format!("the path cannot be written as JSON: {e}\n"));
            }
        },
        Ok(path) => outcome.output = text(&path),
        Err(RenderError::Machine(why)) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("{why}\n"));
        }
        Err(e @ (RenderError::Options(_) | RenderError::Misfit(_))) => {
            let hint = "pixels count from the picture's upper left corner, samples from 0";
            refuse(outcome, Diagnostic::without_place(&codes::BAD_NUMBER, e.to_string(), hint));
        }
    }
}

fn text(path: &FollowedPath) -> String {
    let ([x, y], sample) = (path.pixel, path.sample);
    let mut out = format!("pixel {x},{y} sample {sample}: radiance {}\n", list(&path.radiance));
    if let Some(camera) = &path.path.camera {
        out += &format!("camera at {} towards {}", list(&camera.origin), list(&camera.direction));
        out += &format!(", film {}, time {}\n", list(&camera.film), camera.time);
    }
    path.path.hits.iter().for_each(|hit| out += &of_hit(hit));
    if let Some(seen) = &path.path.environment {
        out += &format!("\nnothing in the direction {}\n", list(&seen.direction));
        let level = seen.level.map_or(String::new(), |l| format!(", level {l:.3}"));
        out += &format!("  environment {}{level}, share {}\n", list(&seen.radiance), seen.share);
        out += &format!("  throughput {}\n", list(&seen.throughput));
    }
    out
}

fn of_hit(hit: &ProbedHit) -> String {
    let mut out = format!("\nbounce {}: `{}`, {} away\n", hit.bounce, hit.material, hit.distance);
    let mut line = |text: String| out += &format!("  {text}\n");
    line(format!("throughput {}", list(&hit.throughput)));
    for g in &hit.globals {
        line(format!("{} {}", g.name, list(&g.value)));
        for (axis, partial) in [("ddx", &g.ddx), ("ddy", &g.ddy)] {
            if let Some(partial) = partial {
                line(format!("  {axis} {}", list(partial)));
            }
        }
    }
    hit.look_ups.iter().for_each(|l| line(look_up(l)));
    for lobe in &hit.lobes {
        let parameters = lobe.parameters.iter().map(|(name, value)| format!("{name} {}", list(value)));
        line(format!(
            "lobe {} weight {}: {}",
            lobe.closure,
            list(&lobe.weight),
            parameters.collect::<Vec<_>>().join(", ")
        ));
    }
    if !hit.numbers {
        line("NaN or infinity came out of the shader or of its lobes".to_owned());
    }
    for (what, light, share) in
        [("emission", hit.emission, 1.0), ("the shape's light", hit.shape_emission, hit.shape_emission_share)]
    {
        if light != [0.0; 3] {
            line(format!("{what} {}, share {share}", list(&light)));
        }
    }
    hit.lights.iter().for_each(|l| line(light(l)));
    if let Some(next) = &hit.next {
        let how = match (next.specular, next.refracted) {
            (true, true) => "refracted",
            (true, false) => "mirrored",
            (false, _) => "scattered",
        };
        line(format!("{how} to {}, pdf {}, weight {}", list(&next.wi), next.pdf, list(&next.weight)));
        let [x, y] = next.differential.direction;
        line(format!("  ddx {}", list(&x)));
        line(format!("  ddy {}", list(&y)));
        if next.survival < 1.0 {
            line(format!("Russian roulette lets it go on with chance {}", next.survival));
        }
    }
    if let Some(end) = hit.end {
        line(format!("the path ends: {end}"));
    }
    line(format!("radiance so far {}", list(&hit.radiance)));
    out
}

fn look_up(l: &LookUp) -> String {
    let level = l.level.map_or("no texture".to_owned(), |level| format!("level {level:.3}"));
    let (uv, ddx, ddy) = (list(&l.uv), list(&l.ddx), list(&l.ddy));
    format!("texture {} at {uv}, ddx {ddx}, ddy {ddy}: {level}, result {}", l.texture, list(&l.result))
}

fn light(l: &ProbedLight) -> String {
    let (wi, value, adds) = (list(&l.wi), list(&l.value), list(&l.adds));
    if l.kind == "photons" {
        return format!(
            "light that photons brought, some of it from {wi}, value {value}, share {}: adds {adds}",
            l.share
        );
    }
    let pdf = l.pdf.map_or(String::new(), |pdf| format!(", pdf {pdf}"));
    let shadowed = match l.visible {
        [0.0, 0.0, 0.0] if l.shadowed => ", in shadow".to_owned(),
        [1.0, 1.0, 1.0] | [0.0, 0.0, 0.0] => String::new(),
        ref visible => format!(", of which {} passes what is between", list(visible)),
    };
    format!(
        "light {} towards {wi} at {}{pdf}, pdf of the lobes {}, value {value}, share {}{shadowed}: adds {adds}",
        l.kind, l.distance, l.lobes_pdf, l.share
    )
}

/// Numbers as shaders and `shade eval` write them.
fn list(values: &[f32]) -> String {
    match values {
        [one] => one.to_string(),
        _ => format!("({})", values.iter().map(f32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has no distance and no density does not seem to have some of 0.
    #[test]
    fn photons_are_no_light_at_a_distance() {
        let photons = ProbedLight { kind: "photons", wi: [0.0, 1.0, 0.0], share: 0.5, ..ProbedLight::default() };
        let expected =
            "light that photons brought, some of it from (0, 1, 0), value (0, 0, 0), share 0.5: adds (0, 0, 0)";
        assert_eq!(light(&photons), expected);
    }
}
