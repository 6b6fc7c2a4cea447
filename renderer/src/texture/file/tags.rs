//! Numbers of TIFF that both reading and writing use.

pub const IMAGE_WIDTH: u16 = 256;
pub const IMAGE_LENGTH: u16 = 257;
pub const BITS_PER_SAMPLE: u16 = 258;
pub const COMPRESSION: u16 = 259;
pub const PHOTOMETRIC: u16 = 262;
pub const IMAGE_DESCRIPTION: u16 = 270;
pub const ORIENTATION: u16 = 274;
pub const SAMPLES_PER_PIXEL: u16 = 277;
pub const PLANAR_CONFIGURATION: u16 = 284;
pub const SOFTWARE: u16 = 305;
pub const PREDICTOR: u16 = 317;
pub const TILE_WIDTH: u16 = 322;
pub const TILE_LENGTH: u16 = 323;
pub const TILE_OFFSETS: u16 = 324;
pub const TILE_BYTE_COUNTS: u16 = 325;
pub const SUB_DIRECTORIES: u16 = 330;
pub const EXTRA_SAMPLES: u16 = 338;
pub const SAMPLE_FORMAT: u16 = 339;
/// Pixar's, which every maker of textures writes.
pub const TEXTURE_FORMAT: u16 = 33302;
pub const WRAP_MODES: u16 = 33303;
pub const EXIF: u16 = 34665;
/// In the Exif directory.
pub const EXIF_VERSION: u16 = 36864;
/// There too: 1 for sRGB.
pub const EXIF_COLOR_SPACE: u16 = 40961;

/// Types of values.
pub const ASCII: u16 = 2;
pub const SHORT: u16 = 3;
pub const LONG: u16 = 4;
pub const UNDEFINED: u16 = 7;
pub const LONG8: u16 = 16;

/// Bytes of a value of a type; 0 for types that are not known.
pub fn type_bytes(kind: u16) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 0,
    }
}
