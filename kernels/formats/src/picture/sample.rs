//! Types, color space and alpha of a picture's numbers.

/// How one channel of a texel is stored, in the byte order of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// 0 to 255 for 0 to 1.
    U8,
    /// 0 to 65535 for 0 to 1.
    U16,
    F16,
    F32,
}

impl Sample {
    pub fn bytes(self) -> usize {
        match self {
            Sample::U8 => 1,
            Sample::U16 | Sample::F16 => 2,
            Sample::F32 => 4,
        }
    }

    /// Whether numbers have no bounds.
    pub fn is_float(self) -> bool {
        matches!(self, Sample::F16 | Sample::F32)
    }
}

/// The meaning of the numbers in color channels. Alpha is always linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorSpace {
    /// Linear light, or data: taken as they are.
    Linear,
    /// The sRGB curve, with the primaries of Rec. 709.
    Srgb,
}

impl ColorSpace {
    /// A color space by the names that are in use.
    pub fn named(name: &str) -> Option<ColorSpace> {
        let name = name.trim_matches('"').to_ascii_lowercase();
        match name.as_str() {
            "srgb" | "srgb_texture" | "srgb_rec709_scene" | "srgb_tx" => Some(ColorSpace::Srgb),
            "linear" | "lin_srgb" | "lin_rec709" | "lin_rec709_scene" | "scene_linear" | "raw" | "data" => {
                Some(ColorSpace::Linear)
            }
            _ => None,
        }
    }
}

/// How color and the fourth (of two channels: the second) channel go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alpha {
    None,
    /// Color is multiplied by alpha already.
    Associated,
    /// Color is to be multiplied by alpha before it is filtered.
    Straight,
}
