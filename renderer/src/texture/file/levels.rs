//! What TIFF and EXR have in common: the sizes that levels may have, and the names of wraps and color spaces.

use super::FileError;
use super::tables::{MAX_OFFSET, MAX_TILE_BYTES};
use crate::texture::{Level, Wrap};
use formats::picture::{MAX_BYTES, MAX_SIDE};

/// The longest side of a tile.
const MAX_TILE_SIDE: u32 = 1 << 14;

/// Whether an image of this size can be a texture.
pub fn sides(level: &Level) -> Result<(), FileError> {
    let Level { width, height, tile_width, tile_height } = *level;
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(FileError::Unsupported(format!("an image of {width}×{height} pixels")));
    }
    if tile_width == 0 || tile_height == 0 || tile_width > MAX_TILE_SIDE || tile_height > MAX_TILE_SIDE {
        return Err(FileError::Unsupported(format!("an image with tiles of {tile_width}×{tile_height} pixels")));
    }
    Ok(())
}

/// Whether tiles are of a size that the file's length can account for: no packing that is read makes data shorter by
/// more than 4096.
pub fn limits(levels: &[Level], texel_bytes: u64, file_length: u64) -> Result<(), FileError> {
    for level in levels {
        sides(level)?;
        let bytes = u64::from(level.tile_width) * u64::from(level.tile_height) * texel_bytes;
        if bytes > MAX_TILE_BYTES {
            return Err(FileError::unsupported("an image with tiles beyond 64 MiB"));
        }
        if bytes > file_length.saturating_mul(4096) {
            return Err(FileError::corrupt("the tiles are larger than the file can hold"));
        }
    }
    Ok(())
}

// A picture that is small enough makes a file whose tiles all have a place.
const _: () = assert!(MAX_BYTES <= MAX_OFFSET);

/// Whether a level is the next after another: each side half, rounded up or down.
pub fn half_of(small: &Level, large: &Level) -> bool {
    let half = |s: u32, l: u32| s == (l / 2).max(1) || s == l.div_ceil(2);
    half(small.width, large.width) && half(small.height, large.height)
}

/// `u,v` with the names that texture makers write.
pub fn wraps(names: &str) -> Option<[Wrap; 2]> {
    let named = |name: &str| match name.trim() {
        "periodic" => Some(Wrap::Repeat),
        name => Wrap::by_name(name),
    };
    let (u, v) = names.split_once(',').unwrap_or((names, names));
    Some([named(u)?, named(v)?])
}

/// What makers of textures write of the content, each under its own name; as much of it as may be kept.
pub fn fingerprint(name: &str, value: &str) -> Option<String> {
    let known = ["ssl:fingerprint", "oiio:SHA-1"].contains(&name);
    let plain = (16..=64).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_hexdigit());
    (known && plain).then(|| format!("{name}={value}"))
}
