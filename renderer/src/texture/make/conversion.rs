//! What to make of an image: how it becomes smaller, and how its texels are stored and packed.

use crate::texture::{ColorSpace, Sample, Wrap};

/// How images are made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MipFilter {
    /// The average over the area that a texel covers.
    #[default]
    Box,
    /// sinc windowed by sinc, three lobes.
    Lanczos,
    /// sinc windowed by Kaiser's, three lobes, α = 4.
    Kaiser,
    /// The average over the solid angle of a texel of a latitude-longitude image. Along rows it is as the box. From row
    /// to row it weighs by the difference of the cosines of the polar angle.
    LatLong,
}

impl MipFilter {
    pub const NAMED: [(&str, MipFilter); 4] = [
        ("box", MipFilter::Box),
        ("lanczos", MipFilter::Lanczos),
        ("kaiser", MipFilter::Kaiser),
        ("latlong", MipFilter::LatLong),
    ];
}

/// How tiles are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compression {
    None,
    /// Deflate where that halves a tile; others stand as they are, being read several times as fast.
    #[default]
    Fast,
    Deflate,
    Lzw,
    PackBits,
}

impl Compression {
    pub const NAMED: [(&str, Compression); 5] = [
        ("none", Compression::None),
        ("fast", Compression::Fast),
        ("deflate", Compression::Deflate),
        ("lzw", Compression::Lzw),
        ("packbits", Compression::PackBits),
    ];

    /// Whether a tile is to be stored packed.
    pub fn is_worth(self, packed: usize, plain: usize) -> bool {
        if self == Compression::Fast { packed <= plain / 2 } else { packed < plain }
    }
}

/// What to make of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub filter: MipFilter,
    /// What lies outside the image, in u and v; recorded in the file.
    pub wrap: [Wrap; 2],
    /// What the image's numbers mean; `None` is what the image says, else sRGB for integers and linear for floats.
    pub color: Option<ColorSpace>,
    /// The image's colors are directions: they are made unit vectors again on each level, and a fourth channel gets
    /// the variance that the averages lost.
    pub normal_map: bool,
    /// The image's alpha means nothing, and is not stored.
    pub without_alpha: bool,
    /// How texels are stored; `None` is as the image does (in EXR, half for integers).
    pub sample: Option<Sample>,
    /// The side of tiles, a multiple of 16 from 16 to 1024; the smallest levels have smaller ones.
    pub tile: u32,
    pub compression: Compression,
}

impl Default for Conversion {
    fn default() -> Conversion {
        Conversion {
            filter: MipFilter::Box,
            wrap: [Wrap::Repeat; 2],
            color: None,
            normal_map: false,
            without_alpha: false,
            sample: None,
            tile: 64,
            compression: Compression::default(),
        }
    }
}
