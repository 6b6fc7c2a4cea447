//! Kinds of files, told apart by what is in them: so that a command that is given another kind says which takes it.

use super::outcome::Outcome;
use kernels::jobs;
use renderer::scene;
use ssl_compiler::diagnostics::{Code, Diagnostic};
use ssl_compiler::{graph, input};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shader,
    Graph,
    Scene,
    /// Of kernels.
    Job,
    SceneJob,
}

impl Kind {
    /// That of a file, by the end of its name and the tables that it has; none where it is nothing of ours.
    pub fn of(path: &Path) -> Option<Kind> {
        match path.extension().and_then(|e| e.to_str())?.to_ascii_lowercase().as_str() {
            "ssl" => Some(Kind::Shader),
            "toml" | "json" if !path.is_file() => None,
            "toml" | "json" if is_graph(path) => Some(Kind::Graph),
            "toml" | "json" if jobs::is_scene_job(path) => Some(Kind::SceneJob),
            "toml" | "json" if jobs::is_job(path) => Some(Kind::Job),
            "toml" | "json" if scene::is_scene(path) => Some(Kind::Scene),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Shader => "a shader file",
            Kind::Graph => "a graph",
            Kind::Scene => "a scene",
            Kind::Job => "a job of kernels",
            Kind::SceneJob => "a job that fits a scene",
        }
    }

    /// What takes such a file.
    fn taken_by(self, file: &str) -> String {
        match self {
            Kind::Shader => format!(
                "name a scene with a material that has `file = \"{file}\"`; `shade eval {file}` runs the shader alone, and \
                 `shade check {file}` checks it"
            ),
            Kind::Graph => format!(
                "name a scene with a material that has `graph = \"{file}\"`; `shade eval {file}` runs the graph alone, and \
                 `shade graph check {file}` checks it"
            ),
            Kind::Scene => format!("`shade render {file}` renders it, `shade fit {file} --job FILE` fits it"),
            Kind::Job => format!("`shade fit {file}` runs it"),
            Kind::SceneJob => format!("`shade fit SCENE.toml --job {file}` fits the scene"),
        }
    }

    /// The keys by which a well-formed TOML or JSON file is beyond doubt of this kind.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Kind::Shader | Kind::Graph => &[],
            Kind::Scene => &["camera", "shapes"],
            Kind::Job => &["launches"],
            Kind::SceneJob => &["views"],
        }
    }

    /// The kind of a file that is beyond doubt not of this one.
    fn other(self, path: &Path) -> Option<Kind> {
        let kind = Kind::of(path)?;
        if matches!(kind, Kind::Shader | Kind::Graph) {
            return (kind != self).then_some(kind);
        }
        // Of one that is not well-formed, what is wrong with it is all that can be said.
        let keys = keys(path)?;
        let is = |kind: &Kind| kind.marks().iter().any(|mark| keys.iter().any(|key| key == mark));
        [Kind::SceneJob, Kind::Job, Kind::Scene].into_iter().find(is).filter(|_| !is(&self))
    }

    /// Where a file of this kind was wanted: that it is of another kind, if that is beyond doubt.
    pub fn other_than(self, path: &Path, code: &'static Code) -> Option<Diagnostic> {
        let kind = self.other(path)?;
        let message = format!("`{}` is {}, not {}", path.display(), kind.name(), self.name());
        Some(Diagnostic::without_place(code, message, kind.taken_by(&path.display().to_string())))
    }

    /// Where a file of this kind could not be read: if the file is of another kind, says that in place of all that was found.
    pub fn tell_if_other(self, path: &Path, code: &'static Code, outcome: &mut Outcome) {
        if let Some(told) = self.other_than(path, code) {
            outcome.diagnostics = told.into();
        }
    }
}

/// Whether a file is a graph.
fn is_graph(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
        && input::text(path, input::MOST_TEXT).is_ok_and(|t| graph::is_graph(&t))
}

/// The keys of a file, if it is well-formed.
fn keys(path: &Path) -> Option<Vec<String>> {
    let text = input::text(path, input::MOST_TEXT).ok()?;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let table: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
        return Some(table.into_iter().map(|(key, _)| key).collect());
    }
    let table: toml::Table = text.parse().ok()?;
    Some(table.into_iter().map(|(key, _)| key).collect())
}
