//! Scenes: the files that describe them, and the scenes built from these.

pub mod aovs;
mod build;
mod camera;
mod changes;
mod check;
pub mod codes;
mod contents;
mod context;
mod coordinates;
mod environment;
mod expand;
mod far_away;
mod fingerprint;
mod folders;
mod foreign_words;
pub mod graphs;
mod groups;
pub mod json_schema;
mod keys;
mod light_settings;
mod lights;
mod linking;
mod loaded;
mod materials;
mod models;
mod named_tables;
mod nearby;
mod read;
mod schema;
pub mod settings;
mod setup;
mod shapes;
mod sharp_edges;
mod strands;
mod textures;
mod tree;
mod variable_settings;
mod variables;
mod vertex_tables;

pub use camera::ViewFault;
pub use contents::Scene;
pub use context::{PLACES, is_place};
pub use keys::is_key;
pub use light_settings::{LightSetting, LightSource};
pub use read::{file_as_json, is_scene, pointer_step};
pub use schema::{Caustics, IntegratorKind};
pub use setup::{Clamp, FilmSettings, IntegratorSettings, LoadOptions, MAX_SAMPLES, MAX_SIDE, View};
pub use textures::TextureSetup;
pub use tree::Setting;
pub use variable_settings::{VariableSetting, VertexSetting};

use context::Context;
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::SourceMap;
use std::path::Path;

/// The result of reading a scene file.
pub struct Loaded {
    /// `None` if there were errors.
    pub scene: Option<Scene>,
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
    /// Something is missing that the render can do without, such as a texture.
    pub incomplete: bool,
    /// There is no scene because the machine failed, for instance because a disk is full.
    pub machine_failed: bool,
}

/// Reads a scene file and all files that it names. `imports` is where its shaders look for imported files.
pub fn load(path: &Path, options: impl Into<LoadOptions>, imports: &SearchPath<'static>) -> Loaded {
    let mut context = Context::new(path);
    let options = options.into();
    let read = read::read(path, &options.set, &mut context);
    let scene = read.and_then(|file| build::build(&file, &options, imports, &mut context));
    let scene = scene.filter(|_| !context.diagnostics.has_errors());
    let Context { sources, diagnostics, incomplete, machine_failed, .. } = context;
    let mut diagnostics = diagnostics.at_home(&sources);
    diagnostics.sort();
    Loaded { scene, diagnostics, sources, incomplete, machine_failed }
}
