//! What a render found out about its scene, for its author.

use super::Statistics;
use crate::scene::{Scene, codes};
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, Severity};

/// Each finding once, and whether something was missing.
pub fn findings(scene: &Scene, statistics: &Statistics) -> (Diagnostics, bool) {
    let mut diagnostics = Diagnostics::new();
    let mut warn = |code, message: String, hint: &str| {
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::without_place(code, message, hint) });
    };
    let mut incomplete = scene.textures.missed();
    for failure in scene.textures.failures() {
        let message =
            format!("{} tiles of the texture `{}` cannot be read: {}", failure.tiles, failure.texture, failure.why);
        warn(&codes::UNREADABLE_TILES, message, "they are magenta in the picture");
        incomplete = true;
    }
    for set in scene.textures.uncovered() {
        let message = format!("some look-ups of the set `{set}` fell where it has no image");
        warn(&codes::MISSING_TEXTURE, message, "they are magenta in the picture; add the image, or keep to the others");
        incomplete = true;
    }
    for material in &scene.materials {
        if let Some(error) = material.error() {
            let message = format!("the shader of `{}` was stopped at some hits: {error}", material.name);
            warn(&codes::LANE, message, "those hits are black; look for a loop or recursion that does not end");
            incomplete = true;
        }
    }
    for found in &statistics.non_finite_materials {
        let pixels: Vec<String> = found.first.iter().map(|p| format!("{},{}", p.x, p.y)).collect();
        let message = format!(
            "`{}` came to NaN or infinity at {} hits, which are black or lack a lobe; first in the pixels {}",
            found.material,
            found.hits,
            pixels.join(" ")
        );
        let seen = found.first.first().map_or(String::new(), |p| {
            format!("; `--pixel {},{} --sample {}` shows what it saw there", p.x, p.y, p.sample)
        });
        let hint = "look in its shader for a division by zero, or a root or power of a negative number";
        warn(&codes::NOT_A_NUMBER, message, &format!("{hint}{seen}"));
    }
    if statistics.non_finite_samples > 0 && statistics.non_finite_materials.is_empty() {
        let message = format!("{} samples were too bright to be numbers and are black", statistics.non_finite_samples);
        warn(&codes::NOT_A_NUMBER, message, "look for lights of absurd strength");
    }
    (diagnostics, incomplete)
}
