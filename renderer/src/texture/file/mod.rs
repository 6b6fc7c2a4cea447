//! Texture files: tiled, mip-mapped TIFF and EXR, opened in few reads, with one read for each tile.
//!
//! Nothing here holds a file open: the caller passes in the storage. Content is never trusted: whatever the bytes are,
//! the answer is a texture, a tile or an error, and memory stays within what the file's length accounts for.

mod directory;
mod error;
mod exr;
mod exr_header;
mod levels;
mod predict;
mod source;
mod tables;
pub(super) mod tags;
mod tiff;
mod udim;
mod unpack;
mod window;

pub use error::FileError;
pub use source::FileSource;
pub use udim::{UdimTile, is_udim, udim_tiles};
pub use unpack::Scratch;
#[cfg(test)]
pub(super) use {predict::undo_differences, unpack::inflate};

pub(super) use predict::{differences, planes};

use super::{Layout, StoredFile};
use window::Window;

/// What is known of a texture file: layout and table of tiles, 8 bytes a tile.
pub struct TextureFile {
    kind: Kind,
}

enum Kind {
    Tiff(tiff::Tiff),
    Exr(exr::Exr),
}

/// What a file is to a renderer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// Tiled and mip-mapped: read as it is.
    Texture,
    /// Something that is to be converted first, if it is an image at all.
    Image,
}

/// Whether a file can be read as it is. The error is the storage's, or says what is wrong with a file that would be
/// a texture.
pub fn probe(file: &dyn StoredFile) -> Result<Probed, FileError> {
    match TextureFile::open(file) {
        Ok(texture) if texture.is_mip_mapped() => Ok(Probed::Texture),
        Ok(_) | Err(FileError::Unsupported(_)) => Ok(Probed::Image),
        Err(e) => Err(e),
    }
}

impl TextureFile {
    /// Opens a tiled file, with however many levels it has. The number of reads is said in each format's file: one or
    /// two for what `shade texture make` and makers of EXR write, a few more for TIFF by others.
    pub fn open(file: &dyn StoredFile) -> Result<TextureFile, FileError> {
        let mut window = Window::open(file)?;
        let start = window.length().min(4);
        let kind = match window.bytes(0, start)? {
            [b'I', b'I', ..] | [b'M', b'M', ..] => Kind::Tiff(tiff::Tiff::open(&mut window)?),
            magic if magic == exr_header::MAGIC => Kind::Exr(exr::Exr::open(&mut window)?),
            _ => return Err(FileError::unsupported("this kind of file")),
        };
        Ok(TextureFile { kind })
    }

    pub fn layout(&self) -> &Layout {
        match &self.kind {
            Kind::Tiff(tiff) => &tiff.layout,
            Kind::Exr(exr) => &exr.layout,
        }
    }

    /// Whether there is more than one level, where more than one is possible.
    pub fn is_mip_mapped(&self) -> bool {
        let levels = &self.layout().levels;
        levels.len() > 1 || (levels[0].width, levels[0].height) == (1, 1)
    }

    /// `TIFF` or `EXR`.
    pub fn format(&self) -> &'static str {
        match &self.kind {
            Kind::Tiff(_) => "TIFF",
            Kind::Exr(_) => "EXR",
        }
    }

    /// The name of the compression of the finest level, as `shade texture make --compression` takes it where it can write
    /// it.
    pub fn compression(&self) -> &'static str {
        match &self.kind {
            Kind::Tiff(tiff) => tiff.compression(),
            Kind::Exr(exr) => exr.compression(),
        }
    }

    /// Bytes that a level takes in the file.
    pub fn stored_bytes(&self, level: usize) -> u64 {
        self.table().stored(&self.layout().levels, level)
    }

    /// Where the last of the tiles ends, if the file is whole.
    pub fn end(&self) -> u64 {
        self.table().end()
    }

    /// Memory that this occupies, tables included.
    pub fn bytes(&self) -> usize {
        let beside = match &self.kind {
            Kind::Tiff(tiff) => tiff.bytes(),
            Kind::Exr(exr) => exr.bytes(),
        };
        let levels = self.layout().levels.capacity() * size_of::<super::Level>();
        size_of::<TextureFile>() + levels + self.table().bytes() + beside
    }

    /// Reads the tile in column `x` and row `y` of a level into `out`, which is [`Layout::tile_bytes`] long, by exactly
    /// one read of the file (none if there is no such tile).
    pub fn read_tile(
        &self,
        file: &dyn StoredFile,
        level: usize,
        x: u32,
        y: u32,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<(), FileError> {
        let layout = self.layout();
        let place = self.table().get(&layout.levels, level, x, y);
        let place = place.ok_or_else(|| FileError::corrupt("the table of tiles is shorter than the image"))?;
        debug_assert_eq!(out.len(), layout.tile_bytes(level));
        match &self.kind {
            Kind::Tiff(tiff) => tiff.read_tile(file, place, level, scratch, out),
            Kind::Exr(exr) => exr.read_tile(file, place, (level, x, y), scratch, out),
        }
    }

    fn table(&self) -> &tables::TileTable {
        match &self.kind {
            Kind::Tiff(tiff) => &tiff.table,
            Kind::Exr(exr) => &exr.table,
        }
    }
}
