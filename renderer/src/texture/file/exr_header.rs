//! The header of an EXR file with one part: the attributes that matter to a texture.

use super::FileError;
use super::levels::{fingerprint, sides, wraps};
use crate::texture::not_finite::NOT_FINITE;
use crate::texture::{ColorSpace, Level, NotFinite, Wrap};

pub struct Header {
    pub levels: Vec<Level>,
    /// In the order of the file.
    pub channels: Vec<Channel>,
    pub compression: u8,
    pub color_space: Option<ColorSpace>,
    pub wrap: Option<[Wrap; 2]>,
    pub fingerprint: Option<String>,
    pub not_finite: Option<NotFinite>,
    /// Bytes of the header: the table of tiles follows.
    pub length: u64,
}

pub struct Channel {
    pub name: String,
    pub float: bool,
}

impl Channel {
    pub fn bytes(&self) -> usize {
        if self.float { 4 } else { 2 }
    }
}

/// What is asked of one header, as it comes.
#[derive(Default)]
struct Found {
    window: Option<[u32; 2]>,
    tiles: Option<(u32, u32, u8)>,
    channels: Vec<Channel>,
    compression: Option<u8>,
    color_space: Option<ColorSpace>,
    wrap: Option<[Wrap; 2]>,
    fingerprint: Option<String>,
    not_finite: Option<NotFinite>,
}

pub const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];

/// Parses a header; `Ok(None)` where `bytes` end before it does.
pub fn parse(bytes: &[u8]) -> Result<Option<Header>, FileError> {
    let mut rest = Cursor(bytes);
    let (Some(magic), Some(version)) = (rest.take(4), rest.take(4)) else { return Ok(None) };
    if magic != MAGIC || version[0] != 2 {
        return Err(FileError::unsupported("this kind of file"));
    }
    match version[1] {
        // Beside tiles, names may be long.
        flags if flags & 0x18 != 0 => return Err(FileError::unsupported("an EXR with several parts or deep pixels")),
        flags if flags & 0x02 == 0 => return Err(FileError::unsupported("an EXR without tiles")),
        _ => {}
    }
    let mut found = Found::default();
    loop {
        let Some(name) = rest.text() else { return Ok(None) };
        if name.is_empty() {
            break;
        }
        let (Some(_), Some(size)) = (rest.text(), rest.number()) else { return Ok(None) };
        let size = usize::try_from(size).map_err(|_| FileError::corrupt("an attribute has no size"))?;
        let Some(value) = rest.take(size) else { return Ok(None) };
        found.attribute(name, value)?;
    }
    let length = (bytes.len() - rest.0.len()) as u64;
    let missing = || FileError::corrupt("the header lacks a needed attribute");
    let ([width, height], tiles) = (found.window.ok_or_else(missing)?, found.tiles.ok_or_else(missing)?);
    if found.channels.is_empty() {
        return Err(missing());
    }
    Ok(Some(Header {
        levels: levels(width, height, tiles)?,
        channels: found.channels,
        compression: found.compression.ok_or_else(missing)?,
        color_space: found.color_space,
        wrap: found.wrap,
        fingerprint: found.fingerprint,
        not_finite: found.not_finite,
        length,
    }))
}

impl Found {
    fn attribute(&mut self, name: &[u8], value: &[u8]) -> Result<(), FileError> {
        let wrong = || FileError::corrupt("an attribute of the header has a wrong size");
        let mut cursor = Cursor(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"dataWindow" => {
                let mut next = || cursor.number().map(i64::from).ok_or_else(wrong);
                let [x0, y0, x1, y1] = [next()?, next()?, next()?, next()?];
                let side = |from: i64, to: i64| u32::try_from(to - from + 1).unwrap_or(0);
                self.window = Some([side(x0, x1), side(y0, y1)]);
            }
            b"tiles" => {
                let (Some(w), Some(h), Some(mode)) = (cursor.number(), cursor.number(), cursor.take(1)) else {
                    return Err(wrong());
                };
                self.tiles = Some((w as u32, h as u32, mode[0]));
            }
            b"channels" => self.channels = channels(value)?,
            b"compression" => self.compression = Some(*value.first().ok_or_else(wrong)?),
            b"oiio:ColorSpace" => self.color_space = ColorSpace::named(&text()),
            b"wrapmodes" => self.wrap = wraps(&text()),
            b"ssl:fingerprint" => self.fingerprint = fingerprint("ssl:fingerprint", &text()),
            name if name == NOT_FINITE.as_bytes() => self.not_finite = NotFinite::from_header(&text()),
            b"oiio:SHA-1" => self.fingerprint = fingerprint("oiio:SHA-1", &text()),
            _ => {}
        }
        Ok(())
    }
}

fn channels(value: &[u8]) -> Result<Vec<Channel>, FileError> {
    let cut = || FileError::corrupt("the list of channels is cut off");
    let mut cursor = Cursor(value);
    let mut channels = Vec::new();
    loop {
        let name = cursor.text().ok_or_else(cut)?;
        if name.is_empty() {
            return Ok(channels);
        }
        let kind = cursor.number().ok_or_else(cut)?;
        let _linear = cursor.take(4).ok_or_else(cut)?;
        let (x, y) = (cursor.number().ok_or_else(cut)?, cursor.number().ok_or_else(cut)?);
        if x != 1 || y != 1 {
            return Err(FileError::unsupported("an EXR with subsampled channels"));
        }
        let float = match kind {
            1 => false,
            2 => true,
            _ => return Err(FileError::unsupported("an EXR with integer channels")),
        };
        channels.push(Channel { name: String::from_utf8_lossy(name).into_owned(), float });
    }
}

/// The sizes of all levels, by the mode of the tiles' description.
fn levels(width: u32, height: u32, (tile_width, tile_height, mode): (u32, u32, u8)) -> Result<Vec<Level>, FileError> {
    let top = Level { width, height, tile_width, tile_height };
    sides(&top)?;
    let largest = width.max(height);
    let (count, up) = match mode {
        0x00 | 0x10 => (1, false),
        0x01 => (largest.ilog2() + 1, false),
        0x11 => (largest.next_power_of_two().ilog2() + 1, true),
        _ => return Err(FileError::unsupported("an EXR with levels other than those of a mip map")),
    };
    let side = |n: u32, level: u32| if up { n.div_ceil(1 << level) } else { (n >> level).max(1) };
    Ok((0..count).map(|l| Level { width: side(width, l), height: side(height, l), ..top }).collect())
}

/// Bytes from the front, as long as there are any.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<i32> {
        Some(i32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Up to a NUL, which is taken too.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }
}
