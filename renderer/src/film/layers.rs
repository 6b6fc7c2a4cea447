//! Layers of a picture beside its light ("arbitrary output variables"): what each holds, and how the samples of a pixel
//! become one value of it.

use super::sums::Shape;

/// What a layer shows of the first hit of each sample, or of the samples themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aov {
    /// The share of the light that the surface scatters towards the viewer: the sum of its lobes' directional albedos.
    Albedo,
    /// The lobes' normals, towards the viewer, world space, unit length a sample.
    Normal,
    /// Along the camera's line of sight; of a panorama along the ray. Infinite where nothing is.
    Depth,
    /// World space.
    Position,
    Uv,
    /// The global of that name; −1 where nothing is.
    ObjectId,
    /// The place of the material among the scene's, sorted by name, from 0; −1 where nothing is.
    MaterialId,
    /// Of the picture's pixel, not of its samples: what their spread says of the mean.
    Variance,
    /// How many samples the pixel has.
    Samples,
    /// Light from lights of a name: `light:` and the name. [`Aov::OTHER_LIGHT`] has the light that no other such layer
    /// of the picture has.
    Light {
        layer: String,
    },
    /// An `out` parameter of the shaders.
    Output {
        name: String,
        kind: OutputKind,
    },
}

/// The type of an `out` parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    Float,
    /// A truth value, too: 0 or 1.
    Integer,
    Color,
    /// Of so many components, 2 to 4.
    Vector(u8),
}

/// How samples make a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Their mean: the pixel filter applies.
    Mean,
    /// The one nearest the pixel's middle: what must not be mixed.
    Nearest,
    /// No sample has it: it follows from their sums.
    Derived,
}

impl Aov {
    /// Those that do not depend on the scene.
    pub const FIXED: [Aov; 9] = [
        Aov::Albedo,
        Aov::Normal,
        Aov::Depth,
        Aov::Position,
        Aov::Uv,
        Aov::ObjectId,
        Aov::MaterialId,
        Aov::Variance,
        Aov::Samples,
    ];

    /// Layers of lights begin with this.
    pub const OF_LIGHT: &str = "light:";

    /// The layer of all light that is in no other layer of lights.
    pub const OTHER_LIGHT: &str = "light:other";

    pub fn name(&self) -> &str {
        match self {
            Aov::Light { layer } => layer,
            Aov::Albedo => "albedo",
            Aov::Normal => "normal",
            Aov::Depth => "depth",
            Aov::Position => "position",
            Aov::Uv => "uv",
            Aov::ObjectId => "object_id",
            Aov::MaterialId => "material_id",
            Aov::Variance => "variance",
            Aov::Samples => "samples",
            Aov::Output { name, .. } => name,
        }
    }

    /// The channels of the layer, as they are named in files.
    pub fn channels(&self) -> &'static [&'static str] {
        const COLOR: &[&str] = &["R", "G", "B"];
        const VECTOR: &[&str] = &["X", "Y", "Z", "W"];
        match self {
            Aov::Albedo | Aov::Variance | Aov::Light { .. } => COLOR,
            Aov::Normal | Aov::Position => &VECTOR[..3],
            Aov::Depth => &["Z"],
            Aov::Uv => &["U", "V"],
            Aov::ObjectId | Aov::MaterialId | Aov::Samples => &["Y"],
            Aov::Output { kind, .. } => match kind {
                OutputKind::Float | OutputKind::Integer => &["Y"],
                OutputKind::Color => COLOR,
                OutputKind::Vector(n) => &VECTOR[..usize::from(*n).min(VECTOR.len())],
            },
        }
    }

    pub fn rule(&self) -> Rule {
        match self {
            Aov::Variance | Aov::Samples => Rule::Derived,
            Aov::Albedo | Aov::Normal | Aov::Light { .. } => Rule::Mean,
            Aov::Output { kind, .. } if *kind != OutputKind::Integer => Rule::Mean,
            _ => Rule::Nearest,
        }
    }

    /// Whether 16-bit floats would lose what matters.
    pub fn needs_floats(&self) -> bool {
        matches!(self, Aov::Samples) || self.rule() == Rule::Nearest
    }

    /// What each channel of a sample that meets nothing is.
    pub fn background(&self) -> f32 {
        match self {
            Aov::Depth => f32::INFINITY,
            Aov::ObjectId | Aov::MaterialId => -1.0,
            _ => 0.0,
        }
    }
}

/// What the film must add up for the layers.
pub fn shape(aovs: &[Aov]) -> Shape {
    let channels = |rule| aovs.iter().filter(|a| a.rule() == rule).map(|a| a.channels().len()).sum();
    Shape { squares: aovs.contains(&Aov::Variance), means: channels(Rule::Mean), nearest: channels(Rule::Nearest) }
}
