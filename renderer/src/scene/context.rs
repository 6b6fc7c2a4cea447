//! What all steps of building a scene share: the files read, the findings, and checks of numbers.

use super::tree::quoted::{Unquoted, unquote};
use super::{codes, nearby};
use glam::Vec3;
use ssl_compiler::diagnostics::{Code, Diagnostic, Diagnostics};
use ssl_compiler::input;
use ssl_compiler::source::{Embedding, FileId, SourceMap, Span};
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Bytes of a shader, or of curves, which may be many.
const MOST_TEXT: u64 = 1 << 30;

/// What components of points and angles may be.
pub const PLACES: &str = "each component must be a number between -1e9 and 1e9";

/// Whether a component of a point or an angle is finite, and not so large that coordinates lose their meaning.
pub fn is_place(x: f32) -> bool {
    // NaN is no place.
    x.abs() <= 1e9
}

pub struct Context {
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
    /// Something is missing that the render can do without.
    pub incomplete: bool,
    /// Not the scene is at fault but the machine: a disk is full, say.
    pub machine_failed: bool,
    pub file: FileId,
    folder: PathBuf,
    /// Keys that were given beside the file, and the place from which on places are in them.
    settings: Option<(usize, FileId)>,
    read: HashMap<PathBuf, FileId>,
}

impl Context {
    pub fn new(scene: &Path) -> Context {
        Context {
            sources: SourceMap::new(),
            diagnostics: Diagnostics::new(),
            incomplete: false,
            machine_failed: false,
            file: FileId(0),
            folder: scene.parent().unwrap_or(Path::new("")).to_owned(),
            settings: None,
            read: HashMap::new(),
        }
    }

    /// A place in the scene file, or in what was given beside it.
    pub fn span(&self, range: Range<usize>) -> Span {
        match self.settings {
            Some((first, file)) if range.start >= first => Span::new(file, range.start - first..range.end - first),
            _ => Span::new(self.file, range),
        }
    }

    /// Takes in a text with keys that were given beside the file. Their places are as if they stood behind it.
    pub fn add_settings(&mut self, text: String) -> usize {
        // The end of the file is a place, too.
        let first = self.sources.get(self.file).text.len() + 1;
        self.settings = Some((first, self.sources.add("--set", text)));
        first
    }

    pub fn error(
        &mut self,
        code: &'static Code,
        range: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let span = self.span(range);
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    pub fn warn(
        &mut self,
        code: &'static Code,
        range: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let span = self.span(range);
        self.diagnostics.push(Diagnostic::warning(code, span, message, hint));
    }

    /// A path of the scene, taken from the folder that the scene lies in.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    /// A text file beside the scene, read once however often it is named.
    pub fn text_file(&mut self, name: &Spanned<String>) -> Option<FileId> {
        let path = self.path(name.get_ref());
        if let Some(&id) = self.read.get(&path) {
            return Some(id);
        }
        match input::text(&path, MOST_TEXT) {
            Ok(text) => {
                let id = self.sources.add_file(&path, text);
                self.read.insert(path, id);
                Some(id)
            }
            Err(e) => {
                let hint = nearby::hint(&path, "paths are taken from the folder of the scene file");
                self.error(&codes::UNREADABLE, name.span(), nearby::why(&path, &e), hint);
                None
            }
        }
    }

    /// A text that stands in the scene file itself, so that findings about it lie there. What it imports is looked for beside
    /// the scene.
    pub fn embedded(&mut self, title: &str, source: &Spanned<String>) -> FileId {
        let (path, range) = (self.path(title), source.span());
        let quoted = self.sources.get(self.file).text.get(range.clone()).and_then(unquote);
        let Unquoted { quotes, runs, .. } = match quoted.filter(|q| q.text == *source.get_ref()) {
            Some(quoted) => quoted,
            // Not written in quotes, but given otherwise.
            None => return self.sources.add_at(title, path, source.get_ref().as_str()),
        };
        let runs = runs.iter().map(|(inner, outer)| (*inner as u32, (range.start + outer) as u32)).collect();
        let embedding = Embedding { host: self.file, runs, write: quotes.writer() };
        self.sources.add_embedded(title, path, source.get_ref().as_str(), embedding)
    }

    /// A number in a range, or the default after saying what is wrong.
    pub fn number(&mut self, value: &Option<Spanned<f32>>, what: &str, range: Range<f32>, default: f32) -> f32 {
        let Some(value) = value else { return default };
        let x = *value.get_ref();
        if x.is_finite() && x > range.start && x < range.end {
            return x;
        }
        let message = format!("the {what} is {x}");
        let hint = format!("it must be above {} and below {}", range.start, range.end);
        self.error(&codes::BAD_NUMBER, value.span(), message, hint);
        default
    }

    /// Likewise with the ends of the range.
    pub fn number_within(
        &mut self,
        value: &Option<Spanned<f32>>,
        what: &str,
        range: RangeInclusive<f32>,
        default: f32,
    ) -> f32 {
        let Some(value) = value else { return default };
        let x = *value.get_ref();
        if range.contains(&x) {
            return x;
        }
        let hint = format!("it must be from {} to {}", range.start(), range.end());
        self.error(&codes::BAD_NUMBER, value.span(), format!("the {what} is {x}"), hint);
        default
    }

    pub fn integer(&mut self, value: &Option<Spanned<i64>>, what: &str, range: Range<i64>, default: u32) -> u32 {
        let Some(value) = value else { return default };
        let x = *value.get_ref();
        if range.contains(&x)
            && let Ok(x) = u32::try_from(x)
        {
            return x;
        }
        let hint = format!("it must be from {} to {}", range.start, range.end - 1);
        self.error(&codes::BAD_NUMBER, value.span(), format!("the {what} is {x}"), hint);
        default
    }

    /// A point or angles.
    pub fn vector(&mut self, value: &Option<Spanned<[f32; 3]>>, what: &str, default: Vec3) -> Vec3 {
        self.triple(value, what, default, PLACES, is_place)
    }

    /// Radiance or a factor of it.
    pub fn color(&mut self, value: &Option<Spanned<[f32; 3]>>, what: &str, default: Vec3) -> Vec3 {
        let hint = "each channel must be a number from 0 to 1e9";
        self.triple(value, what, default, hint, |x| (0.0..=1e9).contains(&x))
    }

    /// The share of light that goes back.
    pub fn albedo(&mut self, value: &Option<Spanned<[f32; 3]>>, what: &str, default: Vec3) -> Vec3 {
        let hint = "each channel must be a number from 0 to 1";
        self.triple(value, what, default, hint, |x| (0.0..=1.0).contains(&x))
    }

    pub fn scale(&mut self, value: &Option<Spanned<[f32; 3]>>) -> Vec3 {
        let hint = "each factor must be between 1e-9 and 1e9, or as much below 0";
        self.triple(value, "scale", Vec3::ONE, hint, |x| (1e-9..=1e9).contains(&x.abs()))
    }

    fn triple(
        &mut self,
        value: &Option<Spanned<[f32; 3]>>,
        what: &str,
        default: Vec3,
        hint: &str,
        fits: impl Fn(f32) -> bool,
    ) -> Vec3 {
        let Some(value) = value else { return default };
        let v = *value.get_ref();
        // NaN fits no range.
        if v.iter().all(|&x| fits(x)) {
            return v.into();
        }
        self.error(&codes::BAD_NUMBER, value.span(), format!("the {what} is [{}, {}, {}]", v[0], v[1], v[2]), hint);
        default
    }
}
