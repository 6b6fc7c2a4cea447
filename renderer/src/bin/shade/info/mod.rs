//! `shade info SCENE`: what a scene holds, as text or as JSON.

mod report;
mod text;

use super::includes::Includes;
use super::json::JsonArgument;
use super::kinds::Kind;
use super::outcome::{self, Outcome};
use super::progress::{self, Progress};
use super::warnings::Warnings;
use renderer::scene::{self, LoadOptions, TextureSetup, codes};
use report::Report;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Arguments {
    /// The scene: a `.toml` or `.json` file
    scene: PathBuf,
    #[command(flatten)]
    set: super::set::SetArguments,
    #[command(flatten)]
    json: JsonArgument,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    warnings: Warnings,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let bar = Arc::new(Progress::new("converting textures", progress::EVERY));
    let shown = bar.clone();
    let progress = Arc::new(move |share| {
        shown.set(share);
        true
    });
    let textures = TextureSetup { progress, ..TextureSetup::default() };
    let options = LoadOptions { textures, set: arguments.set.list(), ..LoadOptions::default() };
    let loaded = scene::load(&arguments.scene, options, &arguments.includes.search());
    bar.finish();
    let mut outcome = Outcome { diagnostics: loaded.diagnostics, sources: loaded.sources, ..Outcome::default() };
    arguments.warnings.apply_to(&mut outcome);
    let Some(scene) = loaded.scene.filter(|_| outcome.code == outcome::FINE) else {
        Kind::Scene.tell_if_other(&arguments.scene, &codes::UNREADABLE, &mut outcome);
        outcome.code = if loaded.machine_failed { outcome::ENVIRONMENT_FAILED } else { outcome::INPUT_AT_FAULT };
        return outcome;
    };
    if loaded.incomplete {
        outcome.code = outcome::SOMETHING_MISSING;
    }
    let report = Report::of(&arguments.scene, &scene);
    match arguments.json.is_wanted() {
        true => outcome.report = serde_json::to_value(&report).ok().map(Box::new),
        false => outcome.output = text::of(&report),
    }
    outcome
}
