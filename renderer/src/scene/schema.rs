//! The scene file as written: one schema for TOML and JSON. Values that may be refused later keep their
//! place in the file.
//!
//! `at` and `spoiled` are no keys; the check supplies them. A spoiled table has lost a value that could not be used.
//! That was reported, so what the table lacks need not be.

use crate::bsdf::BentNormals;
use crate::film::{PixelFilter, ToneCurve};
use crate::light::{LightChoice, LightSampling};
use crate::sampler::Noise;
use crate::texture::Wrap;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub type Triple = [f32; 3];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    pub camera: CameraTable,
    #[serde(default)]
    pub film: FilmTable,
    #[serde(default)]
    pub integrator: IntegratorTable,
    pub environment: Option<EnvironmentTable>,
    #[serde(default)]
    pub textures: BTreeMap<String, TextureTable>,
    #[serde(default)]
    pub materials: BTreeMap<String, MaterialTable>,
    #[serde(default)]
    pub groups: BTreeMap<String, GroupTable>,
    #[serde(default)]
    pub shapes: Vec<ShapeTable>,
    #[serde(default)]
    pub lights: Vec<LightTable>,
    /// For shaders of shapes that have none of the same name.
    #[serde(default)]
    pub variables: BTreeMap<String, Spanned<Numbers>>,
}

/// Shapes that stand nowhere until an instance places them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupTable {
    /// That there are some, the check makes sure of.
    #[serde(default)]
    pub shapes: Vec<ShapeTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraTable {
    pub at: Spanned<()>,
    pub spoiled: bool,
    pub position: Option<Spanned<Triple>>,
    pub look_at: Option<Spanned<Triple>>,
    /// A glTF file whose camera it is, instead of a place.
    pub file: Option<Spanned<String>>,
    /// Which camera of the file.
    pub name: Option<Spanned<String>>,
    pub up: Option<Spanned<Triple>>,
    /// `perspective`, `orthographic` or `panoramic`.
    #[serde(rename = "type")]
    pub kind: Option<Spanned<String>>,
    /// Horizontal, in degrees.
    pub fov: Option<Spanned<f32>>,
    /// The lens's radius.
    pub aperture: Option<Spanned<f32>>,
    pub focus_distance: Option<Spanned<f32>>,
    /// Of the film, in the scene's units.
    pub width: Option<Spanned<f32>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilmTable {
    pub width: Option<Spanned<i64>>,
    pub height: Option<Spanned<i64>>,
    pub filter: PixelFilter,
    /// In stops; PNG only.
    pub exposure: Option<Spanned<f32>>,
    pub tone: ToneCurve,
    /// Left, top, right and bottom in pixels; the last two are the first that are left out.
    pub crop: Option<Spanned<[i64; 4]>>,
    /// Layers beside the light.
    pub aovs: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntegratorTable {
    #[serde(rename = "type")]
    pub kind: IntegratorKind,
    pub samples: Option<Spanned<i64>>,
    /// The noise at which a tile has samples enough, and how many it gets at least.
    pub adaptive: Option<Spanned<ThresholdText>>,
    pub min_samples: Option<Spanned<i64>>,
    pub max_depth: Option<Spanned<i64>>,
    pub seed: Option<Spanned<i64>>,
    pub sampling: LightSampling,
    pub light_choice: LightChoice,
    pub bent_normals: BentNormals,
    pub noise: Noise,
    /// Whether paths that carry little may end at random.
    pub roulette: Option<bool>,
    /// The most that light may bring at once, by one bounce or by more.
    pub clamp_direct: Option<Spanned<f32>>,
    pub clamp_indirect: Option<Spanned<f32>>,
    /// The least roughness of lobes that a path meets after a rough bounce.
    pub regularize: Option<Spanned<f32>>,
    /// How light behind mirrors and glass is found.
    pub caustics: Option<Spanned<Caustics>>,
    /// How far occlusion reaches.
    pub distance: Option<Spanned<f32>>,
}

/// How light is found that mirrors, glass and glossy surfaces throw on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caustics {
    /// Paths meet it by chance.
    #[default]
    Paths,
    /// Photons show paths the way to it. The mean stays the same.
    Guided,
    /// Photons bring it, which blurs it a little.
    Photons,
}

/// Which paths of light count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntegratorKind {
    /// All.
    #[default]
    Path,
    /// Light that comes to what is seen, directly or in mirrors, straight from where it is made.
    Direct,
    /// None: ambient occlusion of what is seen.
    Ao,
    /// Of lights without extent, directly or through mirrors and smooth glass, without random numbers.
    Whitted,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentTable {
    pub spoiled: bool,
    /// `constant`, `sky`, `daylight` or `image`.
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    pub radiance: Option<Spanned<Triple>>,
    pub zenith: Option<Spanned<Triple>>,
    pub horizon: Option<Spanned<Triple>>,
    pub ground: Option<Spanned<Triple>>,
    /// Of the sun, in degrees above the horizon, and from −z over +x.
    pub elevation: Option<Spanned<f32>>,
    pub azimuth: Option<Spanned<f32>>,
    /// Instead of both, towards the sun.
    pub sun_direction: Option<Spanned<Triple>>,
    pub turbidity: Option<Spanned<f32>>,
    pub ground_albedo: Option<Spanned<Triple>>,
    /// Whether the sun itself shines, and its diameter in degrees.
    pub sun: Option<Spanned<bool>>,
    pub sun_angle: Option<Spanned<f32>>,
    pub file: Option<Spanned<String>>,
    pub scale: Option<Spanned<Triple>>,
    /// About y, in degrees.
    pub rotate: Option<Spanned<f32>>,
    /// By which shapes link to it.
    pub name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureTable {
    pub spoiled: bool,
    pub file: Spanned<String>,
    #[serde(default)]
    pub raw: bool,
    #[serde(default)]
    pub wrap: Option<Wrap>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    pub at: Spanned<()>,
    pub spoiled: bool,
    pub file: Option<Spanned<String>>,
    pub source: Option<Spanned<String>>,
    pub graph: Option<Spanned<String>>,
    pub entry: Option<String>,
    #[serde(default)]
    pub parameters: BTreeMap<String, Spanned<ValueText>>,
    #[serde(default)]
    pub textures: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub measured: BTreeMap<String, Spanned<String>>,
}

/// A noise that is small enough, or that none is.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ThresholdText {
    At(f32),
    Word(ThresholdWord),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdWord {
    Off,
}

/// A shader parameter's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum ValueText {
    Bool(bool),
    Int(i32),
    Float(f32),
    Vector(Vec<f32>),
    String(String),
}

/// The value of a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    One(f32),
    List(Vec<f32>),
    /// One for each vertex, in an `.npy`.
    File(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeTable {
    pub spoiled: bool,
    /// `obj`, `gltf`, `rectangle`, `quad`, `disk`, `sphere`, `curves` or `instance`.
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    /// All but instances and files that bring their own need one.
    pub material: Option<Spanned<String>>,
    /// Other materials for parts of a file, by the names that it has for their materials, objects or groups.
    #[serde(default)]
    pub materials: BTreeMap<String, Spanned<String>>,
    /// The name of what an instance places.
    pub group: Option<Spanned<String>>,
    pub file: Option<Spanned<String>>,
    pub smooth: Option<Spanned<bool>>,
    pub crease_angle: Option<Spanned<f32>>,
    /// Of curves: `bspline` or `bezier`.
    pub basis: Option<Spanned<String>>,
    /// Of curves: strands of points with radii, instead of a file.
    pub strands: Option<Spanned<Vec<Vec<[f32; 4]>>>>,
    pub radius: Option<Spanned<f32>>,
    /// The first three of a quad.
    pub corners: Option<Spanned<[Triple; 3]>>,
    pub uv_repeat: Option<Spanned<[f32; 2]>>,
    pub translate: Option<Spanned<Triple>>,
    /// Degrees about x, then y, then z.
    pub rotate: Option<Spanned<Triple>>,
    pub scale: Option<Spanned<Triple>>,
    /// The upper three rows of an affine transform, instead of the three keys before.
    pub matrix: Option<Spanned<[[f32; 4]; 3]>>,
    /// Radiance that the front sends out.
    pub emission: Option<Spanned<Triple>>,
    /// Of an instance, for what it places and has none of the same name.
    #[serde(default)]
    pub variables: BTreeMap<String, Spanned<Numbers>>,
    /// As a light, by which shapes link to it.
    pub name: Option<String>,
    /// The lights that light it.
    pub lights: Option<Spanned<LinkTable>>,
}

/// Names of lights: those that light a shape, or those that do not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTable {
    pub include: Option<Vec<Spanned<String>>>,
    pub exclude: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightTable {
    pub spoiled: bool,
    /// `distant`, `point` or `spot`.
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    /// From the light into the scene.
    pub direction: Option<Spanned<Triple>>,
    /// Instead, a point that it is aimed at.
    pub look_at: Option<Spanned<Triple>>,
    pub irradiance: Option<Spanned<Triple>>,
    /// The diameter of a distant light in degrees.
    pub angle: Option<Spanned<f32>>,
    pub position: Option<Spanned<Triple>>,
    pub intensity: Option<Spanned<Triple>>,
    /// Between opposite edges, in degrees; within the inner one all goes out.
    pub cone_angle: Option<Spanned<f32>>,
    pub inner_angle: Option<Spanned<f32>>,
    /// A luminaire's profile, and whether its strongest intensity counts as 1.
    pub ies: Option<Spanned<String>>,
    pub normalize: Option<Spanned<bool>>,
    /// Of the luminaire about its direction, in degrees.
    pub roll: Option<Spanned<f32>>,
    /// Of the light's color, in kelvins.
    pub temperature: Option<Spanned<f32>>,
    /// By which shapes link to it.
    pub name: Option<String>,
}
