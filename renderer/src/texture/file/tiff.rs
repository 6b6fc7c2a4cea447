//! Tiled, mip-mapped TIFF: classic and BigTIFF, both byte orders, levels as successive directories or as
//! sub-directories of the first, as texture makers write them.
//!
//! Opening reads the beginning (all of a file up to 128 KiB). Files of `shade texture make` hold all directories and
//! tables there: one read, and a second if the tables are longer. Other makers scatter their directories, most of
//! them near the end: one more read for the last 256 KiB, and one for each directory that lies elsewhere (of a
//! 4096×4096 file three).

use super::directory::{Directory, Encoding, Entry, header};
use super::levels::{half_of, limits};
use super::tables::{TileTable, TileTableBuilder};
use super::unpack::{self, Scratch};
use super::window::Window;
use super::{FileError, predict, tags};
use crate::texture::not_finite::NOT_FINITE;
use crate::texture::{Alpha, ColorSpace, Layout, Level, NotFinite, Sample, StoredFile, Wrap};

/// No file has more levels than this.
const MOST_LEVELS: usize = 32;

pub struct Tiff {
    pub layout: Layout,
    pub table: TileTable,
    /// Of each level.
    storing: Box<[Storing]>,
}

/// How the tiles of a level are stored. `maketx --compression lzw` writes the finest level with LZW and the others with
/// deflate.
#[derive(Clone, Copy, Debug)]
struct Storing {
    compression: Compression,
    predictor: u8,
    /// The bytes of samples stand in the other order.
    swapped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compression {
    None,
    Deflate,
    Lzw,
    PackBits,
}

/// What one directory says.
struct Page {
    level: Level,
    sample: Sample,
    channels: u32,
    storing: Storing,
    offsets: Entry,
    lengths: Option<Entry>,
}

impl Tiff {
    pub fn open(window: &mut Window<'_>) -> Result<Tiff, FileError> {
        let start = window.length().min(16);
        let (encoding, first) =
            header(window.bytes(0, start)?).ok_or_else(|| FileError::unsupported("this kind of file"))?;
        window.look_at_end(first)?;
        let top = Directory::read(first, encoding, window)?;
        let first = Page::read(&top, encoding, window)?;
        let pages = more_levels(&top, first, encoding, window)?;
        let fingerprint = described(&top, window, super::levels::fingerprint)?;
        // Who writes fingerprints writes all levels; where some cannot be found, what leads to them is damaged.
        let last = pages[pages.len() - 1].level;
        let is_ours = fingerprint.as_deref().is_some_and(|f| f.starts_with("ssl:"));
        if (last.width, last.height) != (1, 1) && (is_ours || (fingerprint.is_some() && pages.len() > 1)) {
            return Err(FileError::corrupt("levels are missing"));
        }
        let level_bytes = u64::from(pages[0].channels) * pages[0].sample.bytes() as u64;
        limits(&pages.iter().map(|p| p.level).collect::<Vec<_>>(), level_bytes, window.length())?;
        let table = tile_table(&pages, encoding, window)?;
        let layout = Layout {
            sample: pages[0].sample,
            channels: pages[0].channels,
            alpha: alpha(&top, pages[0].channels, encoding, window)?,
            color_space: color_space(&top, encoding, window)?,
            wrap: wraps(&top, window)?,
            fingerprint,
            not_finite: described(&top, window, |name, value| {
                Some(value).filter(|_| name == NOT_FINITE).and_then(NotFinite::from_header)
            })?,
            levels: pages.iter().map(|p| p.level).collect(),
        };
        Ok(Tiff { layout, table, storing: pages.iter().map(|p| p.storing).collect() })
    }

    /// The name of the compression of the finest level.
    pub fn compression(&self) -> &'static str {
        match self.storing[0].compression {
            Compression::None => "none",
            Compression::Deflate => "deflate",
            Compression::Lzw => "lzw",
            Compression::PackBits => "packbits",
        }
    }

    /// Memory beside the struct itself, its layout and its table.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.storing)
    }

    /// One read of a tile of a level. `out` is the tile's size.
    pub fn read_tile(
        &self,
        file: &dyn StoredFile,
        (offset, stored): (u64, usize),
        level: usize,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<(), FileError> {
        if offset.checked_add(stored as u64).is_none_or(|end| end > file.length()) {
            return Err(FileError::corrupt("a tile lies past the end of the file"));
        }
        let (bytes, channels) = (self.layout.sample.bytes(), self.layout.channels as usize);
        let Storing { compression, predictor, swapped } = self.storing[level];
        let Scratch { stored: packed, plain, .. } = scratch;
        if compression == Compression::None {
            if stored < out.len() {
                return Err(FileError::corrupt("a tile is shorter than its size"));
            }
            if predictor == 3 {
                plain.resize(out.len(), 0);
                file.read_at(offset, plain)?;
            } else {
                file.read_at(offset, out)?;
            }
        } else {
            packed.resize(stored, 0);
            file.read_at(offset, packed)?;
            match compression {
                Compression::Deflate => unpack::inflate(packed, plain, out.len())?,
                Compression::Lzw => unpack::unlzw(packed, plain, out.len())?,
                _ => unpack::unpack_bits(packed, plain, out.len())?,
            }
            if predictor != 3 {
                out.copy_from_slice(plain);
            }
        }
        let row_bytes = self.layout.levels[level].tile_width as usize * channels * bytes;
        if predictor == 3 {
            let rows = out.chunks_exact_mut(row_bytes).zip(plain.chunks_exact_mut(row_bytes));
            rows.for_each(|(row, planes)| predict::undo_planes(planes, row, bytes, channels));
            return Ok(());
        }
        if swapped {
            predict::swap(out, bytes);
        }
        if predictor == 2 {
            out.chunks_exact_mut(row_bytes).for_each(|row| predict::undo_differences(row, bytes, channels));
        }
        Ok(())
    }
}

/// The first page and those after it for as long as each is half of the one before.
fn more_levels(
    top: &Directory,
    first: Page,
    encoding: Encoding,
    window: &mut Window<'_>,
) -> Result<Vec<Page>, FileError> {
    let subs = match top.find(tags::SUB_DIRECTORIES) {
        Some(entry) if entry.count <= MOST_LEVELS as u64 => entry.numbers(encoding, window)?,
        _ => Vec::new(),
    };
    let mut pages = vec![first];
    let (mut next, mut coming) = (top.next, subs.into_iter());
    let chained = coming.len() == 0;
    while pages.len() < MOST_LEVELS {
        let last = &pages[pages.len() - 1];
        let offset = if chained { next } else { coming.next().unwrap_or(0) };
        if offset == 0 || (last.level.width, last.level.height) == (1, 1) {
            break;
        }
        window.look_at_end(offset)?;
        let directory = Directory::read(offset, encoding, window)?;
        next = directory.next;
        // Another image, a thumbnail, a mask: not a level.
        let page = match Page::read(&directory, encoding, window) {
            Ok(page) => page,
            Err(e @ FileError::Storage(_)) => return Err(e),
            Err(_) => break,
        };
        let alike = page.sample == last.sample && page.channels == last.channels;
        if !alike || !half_of(&page.level, &last.level) {
            break;
        }
        pages.push(page);
    }
    Ok(pages)
}

fn tile_table(pages: &[Page], encoding: Encoding, window: &mut Window<'_>) -> Result<TileTable, FileError> {
    let entries = pages.iter().flat_map(|p| [Some(p.offsets), p.lengths]).flatten();
    window.prepare(entries.map(|e| e.range()).collect())?;
    let mut table = TileTableBuilder::default();
    for page in pages {
        let offsets = page.offsets.prepared(encoding, window)?;
        match page.lengths {
            Some(lengths) => table.extend(offsets.zip(lengths.prepared(encoding, window)?))?,
            None => {
                let bytes = u64::from(page.level.tile_width) * u64::from(page.level.tile_height);
                let bytes = bytes * u64::from(page.channels) * page.sample.bytes() as u64;
                table.extend(offsets.map(|offset| (offset, bytes)))?;
            }
        }
    }
    Ok(table.build())
}

impl Page {
    fn read(directory: &Directory, encoding: Encoding, window: &mut Window<'_>) -> Result<Page, FileError> {
        let mut one = |tag: u16, default: Option<u64>| match directory.find(tag) {
            // Of several values the first speaks for all; those that may differ are looked at below.
            Some(entry) if entry.count <= 64 => Ok(entry.numbers(encoding, window)?[0]),
            Some(_) => Err(FileError::Corrupt(format!("tag {tag} has too many values"))),
            None => default.ok_or_else(|| FileError::Corrupt(format!("tag {tag} is missing"))),
        };
        let side = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let (width, height) = (side(one(tags::IMAGE_WIDTH, None)?), side(one(tags::IMAGE_LENGTH, None)?));
        let (Ok(tile_width), Ok(tile_height)) = (one(tags::TILE_WIDTH, None), one(tags::TILE_LENGTH, None)) else {
            return Err(FileError::unsupported("a TIFF without tiles"));
        };
        let level = Level { width, height, tile_width: side(tile_width), tile_height: side(tile_height) };
        let channels = one(tags::SAMPLES_PER_PIXEL, Some(1))?;
        if !(1..=4).contains(&channels) {
            return Err(FileError::Unsupported(format!("a TIFF with {channels} channels")));
        }
        if one(tags::PLANAR_CONFIGURATION, Some(1))? != 1 && channels > 1 {
            return Err(FileError::unsupported("a TIFF whose channels are stored apart"));
        }
        let photometric = one(tags::PHOTOMETRIC, Some(1))?;
        if photometric != 1 && photometric != 2 {
            return Err(FileError::unsupported("a TIFF that is neither grey nor RGB"));
        }
        let compression = match one(tags::COMPRESSION, Some(1))? {
            1 => Compression::None,
            5 => Compression::Lzw,
            8 | 32946 => Compression::Deflate,
            32773 => Compression::PackBits,
            n => return Err(FileError::Unsupported(format!("a TIFF with compression {n}"))),
        };
        let predictor = one(tags::PREDICTOR, Some(1))?;
        let sample = sample(directory, encoding, window)?;
        if !(1..=3).contains(&predictor) || predictor == 3 && !matches!(sample, Sample::F16 | Sample::F32) {
            return Err(FileError::Unsupported(format!("a TIFF with predictor {predictor}")));
        }
        let (offsets, lengths) = (directory.find(tags::TILE_OFFSETS), directory.find(tags::TILE_BYTE_COUNTS));
        let offsets = *offsets.ok_or_else(|| FileError::corrupt("the table of tiles is missing or cut off"))?;
        if lengths.is_none() && compression != Compression::None {
            return Err(FileError::corrupt("the table of tiles is missing or cut off"));
        }
        super::levels::sides(&level)?;
        if offsets.count != level.tiles() || lengths.is_some_and(|l| l.count != level.tiles()) {
            return Err(FileError::corrupt("the table of tiles does not fit the image's size"));
        }
        // Above one byte, the order of the file's numbers is that of its samples.
        let swapped = sample.bytes() > 1 && encoding.big_endian != cfg!(target_endian = "big");
        let storing = Storing { compression, predictor: predictor as u8, swapped };
        Ok(Page { level, sample, channels: channels as u32, storing, offsets, lengths: lengths.copied() })
    }
}

fn sample(directory: &Directory, encoding: Encoding, window: &mut Window<'_>) -> Result<Sample, FileError> {
    let mut same = |tag: u16, default: u64| -> Result<u64, FileError> {
        let Some(entry) = directory.find(tag).filter(|e| e.count <= 64) else { return Ok(default) };
        let values = entry.numbers(encoding, window)?;
        if values.iter().any(|v| *v != values[0]) {
            return Err(FileError::unsupported("a TIFF whose channels differ in kind"));
        }
        Ok(values[0])
    };
    match (same(tags::BITS_PER_SAMPLE, 1)?, same(tags::SAMPLE_FORMAT, 1)?) {
        (8, 1) => Ok(Sample::U8),
        (16, 1) => Ok(Sample::U16),
        (16, 3) => Ok(Sample::F16),
        (32, 3) => Ok(Sample::F32),
        (bits, 3) => Err(FileError::Unsupported(format!("a TIFF with float samples of {bits} bits"))),
        (bits, _) => Err(FileError::Unsupported(format!("a TIFF with integer samples of {bits} bits"))),
    }
}

fn alpha(top: &Directory, channels: u32, encoding: Encoding, window: &mut Window<'_>) -> Result<Alpha, FileError> {
    let Some(entry) = top.find(tags::EXTRA_SAMPLES).filter(|e| e.count == 1 && channels.is_multiple_of(2)) else {
        return Ok(Alpha::None);
    };
    Ok(match entry.numbers(encoding, window)?[0] {
        1 => Alpha::Associated,
        2 => Alpha::Straight,
        _ => Alpha::None,
    })
}

/// From the description, where OpenImageIO's names stand as `name=value`, or from the Exif directory.
fn color_space(top: &Directory, encoding: Encoding, window: &mut Window<'_>) -> Result<Option<ColorSpace>, FileError> {
    if let Some(entry) = top.find(tags::IMAGE_DESCRIPTION) {
        let text = entry.text(window)?;
        let named = text.split_whitespace().find_map(|word| word.strip_prefix("oiio:ColorSpace="));
        if let Some(space) = named.and_then(ColorSpace::named) {
            return Ok(Some(space));
        }
    }
    // What is wrong in there costs the color space, not the texture.
    let Some(exif) = top.find(tags::EXIF).filter(|e| e.count == 1) else { return Ok(None) };
    let offset = exif.numbers(encoding, window)?[0];
    let Ok(directory) = Directory::read(offset, encoding, window) else { return Ok(None) };
    let space = directory.find(tags::EXIF_COLOR_SPACE).filter(|e| e.count == 1);
    let srgb = space.and_then(|e| e.numbers(encoding, window).ok()).is_some_and(|n| n[0] == 1);
    Ok(srgb.then_some(ColorSpace::Srgb))
}

/// The value of a name in the description, as `known` reads it.
fn described<T>(
    top: &Directory,
    window: &mut Window<'_>,
    known: impl Fn(&str, &str) -> Option<T>,
) -> Result<Option<T>, FileError> {
    let Some(entry) = top.find(tags::IMAGE_DESCRIPTION) else { return Ok(None) };
    let text = entry.text(window)?;
    let mut named = text.split_whitespace().filter_map(|word| word.split_once('='));
    Ok(named.find_map(|(name, value)| known(name, value)))
}

fn wraps(top: &Directory, window: &mut Window<'_>) -> Result<Option<[Wrap; 2]>, FileError> {
    let Some(entry) = top.find(tags::WRAP_MODES) else { return Ok(None) };
    Ok(super::levels::wraps(&entry.text(window)?))
}
