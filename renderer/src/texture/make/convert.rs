//! The conversion: rows go from a decoder on a thread of its own down the chain of levels, into a file that appears
//! when it is whole.

use super::bands::Bands;
use super::conversion::{Compression, Conversion};
use super::exr_writer::Exr;
use super::kernel::Taps;
use super::light::{Light, Stored};
use super::normals::{self, Normals};
use super::not_finite;
use super::partial::Partial;
use super::shrink::{Row, Shrink};
use super::tiff_writer::Tiff;
use super::writer::{Container, Writer};
use crate::texture::{Alpha, ColorSpace, Level, Sample};
use formats::picture::{self, Picture};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::mpsc::sync_channel;

/// Why there is no texture.
#[derive(Debug, PartialEq, Eq)]
pub enum MakeError {
    /// What is asked for cannot be.
    Usage(String),
    /// The image is at fault.
    Input(String),
    /// The result cannot be written.
    Output(String),
    /// Whoever watched the progress wanted no more.
    Interrupted,
}

impl fmt::Display for MakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MakeError::Usage(what) | MakeError::Input(what) | MakeError::Output(what) => f.write_str(what),
            MakeError::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Makes `output`, by its extension a TIFF (`.tx`, `.tif`) or an EXR, from the image `input`. `progress` hears the share that is done,
/// 0 to 1, and says whether to go on. Either the whole file is at its place in the end, or nothing is.
pub fn convert(input: &Path, output: &Path, how: &Conversion, progress: &dyn Fn(f32) -> bool) -> Result<(), MakeError> {
    let (shown, exr) = (input.display(), has_extension(output, &["exr"]));
    if !exr && !has_extension(output, &["tx", "tif", "tiff"]) {
        let what = format!("`{}` is no name of a texture; let it end in .tx, .tif or .exr", output.display());
        return Err(MakeError::Usage(what));
    }
    check(how, exr)?;
    // Who says what the numbers mean gets the numbers of the file.
    let keep_codes = how.color.is_some() || how.normal_map;
    let unreadable = |e: String| MakeError::Input(format!("`{shown}` cannot be read: {e}"));
    let mut rows = picture::open(input, keep_codes).map_err(unreadable)?;
    if how.without_alpha {
        rows = picture::without_alpha(rows);
    }
    let plan = Plan::new(rows.picture(), how, exr).map_err(|e| MakeError::Input(format!("`{shown}`: {e}")))?;
    let failed = |e: std::io::Error| MakeError::Output(format!("`{}` cannot be written: {e}", output.display()));
    let (partial, file) = Partial::create(output).map_err(failed)?;
    let container: Box<dyn Container> = match exr {
        true => Box::new(Exr::new(plan.to, &plan.levels, how)),
        false => Box::new(Tiff::new(plan.to, &plan.levels, how)),
    };
    let writer = Writer::new(container.as_ref(), &plan.levels, plan.to.texel_bytes(), file).map_err(failed)?;
    let mut chain = Chain::new(&plan, how, writer);
    let picture = rows.picture();
    let band_height = plan.levels[0].tile_height;
    std::thread::scope(|scope| {
        let (sender, bands) = sync_channel(2);
        scope.spawn(move || {
            for first in (0..picture.height).step_by(band_height as usize) {
                let height = band_height.min(picture.height - first) as usize;
                let mut band = vec![0; height * picture.row_bytes()];
                let read = rows.read(&mut band).map(|()| band);
                let stop = read.is_err();
                // Who does not listen any more has met an error, or enough.
                if sender.send(read).is_err() || stop {
                    return;
                }
            }
        });
        let count = picture.height.div_ceil(band_height);
        for (index, band) in (0..count).zip(&bands) {
            let band = band.map_err(unreadable)?;
            chain.band(index, &band).map_err(failed)?;
            if !progress((index + 1) as f32 / count as f32) {
                return Err(MakeError::Interrupted);
            }
        }
        Ok(())
    })?;
    chain.writer.finish().and_then(|()| partial.finish()).map_err(failed)
}

fn has_extension(path: &Path, of: &[&str]) -> bool {
    let found = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    of.iter().any(|e| e.eq_ignore_ascii_case(found))
}

fn check(how: &Conversion, exr: bool) -> Result<(), MakeError> {
    let refuse = |what: &str| Err(MakeError::Usage(what.to_owned()));
    if !how.tile.is_multiple_of(16) || !(16..=1024).contains(&how.tile) {
        return refuse("tiles are a multiple of 16 wide, from 16 to 1024");
    }
    if exr && matches!(how.sample, Some(Sample::U8 | Sample::U16)) {
        return refuse("EXR holds f16 or f32; write a `.tx` or `.tif` for integers");
    }
    if exr && matches!(how.compression, Compression::Lzw | Compression::PackBits) {
        return refuse("EXR is written with `none`, `fast` or `deflate`");
    }
    if exr && how.normal_map {
        return refuse("normal maps with their variance are written as TIFF; write a `.tx` or `.tif`");
    }
    Ok(())
}

/// How an image becomes a texture.
struct Plan {
    levels: Vec<Level>,
    from: Stored,
    to: Stored,
    codec: Codec,
}

/// From stored samples to what is filtered, and from there to what is stored.
enum Codec {
    Color { from: Light, to: Light },
    Normals(Normals),
}

impl Plan {
    fn new(picture: Picture, how: &Conversion, exr: bool) -> Result<Plan, String> {
        let sample = match how.sample {
            Some(sample) => sample,
            None if exr && !picture.sample.is_float() => Sample::F16,
            None => picture.sample,
        };
        let space = how.color.unwrap_or(picture.color_space());
        let (channels, alpha) = (picture.channels, picture.alpha);
        let from = Stored { sample: picture.sample, channels, alpha, space };
        let levels = levels(picture.width, picture.height, how.tile, exr);
        if how.normal_map {
            if channels < 3 {
                return Err(format!("a normal map has three channels, not {channels}"));
            }
            let (normals, to) = Normals::new(from, sample);
            picture::check_bytes(picture.width, picture.height, to.texel_bytes())?;
            return Ok(Plan { levels, from, to, codec: Codec::Normals(normals) });
        }
        // Floats hold light; EXR holds associated alpha.
        let space = if sample.is_float() { ColorSpace::Linear } else { space };
        let alpha = if exr && alpha == Alpha::Straight { Alpha::Associated } else { alpha };
        let to = Stored { sample, channels, alpha, space };
        picture::check_bytes(picture.width, picture.height, to.texel_bytes())?;
        Ok(Plan { levels, from, to, codec: Codec::Color { from: Light::new(from), to: Light::new(to) } })
    }

    /// Channels that are filtered.
    fn filtered(&self) -> usize {
        if matches!(self.codec, Codec::Normals(_)) { normals::FILTERED } else { self.to.channels }
    }
}

impl Codec {
    fn decode(&self, row: &[u8], out: &mut Vec<f32>) {
        match self {
            Codec::Color { from, .. } => from.decode(row, out),
            Codec::Normals(normals) => normals.decode(row, out),
        }
    }

    fn encode(&self, row: &[f32], out: &mut [u8]) {
        match self {
            Codec::Color { to, .. } => to.encode(row, out),
            Codec::Normals(normals) => normals.encode(row, out),
        }
    }
}

/// Each level half of the one before, rounded down, to 1×1. Levels that are smaller than a tile have a smaller one,
/// except in EXR, which has one size for all.
fn levels(width: u32, height: u32, tile: u32, one_size: bool) -> Vec<Level> {
    let count = width.max(height).ilog2() + 1;
    let level = |l: u32| {
        let (width, height) = ((width >> l).max(1), (height >> l).max(1));
        let side = |n: u32| if one_size { tile } else { tile.min(n.next_multiple_of(16)) };
        Level { width, height, tile_width: side(width), tile_height: side(height) }
    };
    (0..count).map(level).collect()
}

/// The levels one after the other, each fed by the one before.
struct Chain<'a> {
    plan: &'a Plan,
    writer: Writer<'a>,
    bands: Vec<Bands>,
    /// From level i to i + 1.
    shrinks: Vec<Shrink>,
}

impl<'a> Chain<'a> {
    fn new(plan: &'a Plan, how: &Conversion, writer: Writer<'a>) -> Chain<'a> {
        let shrink = |pair: &[Level]| {
            let columns = Taps::columns(how.filter, how.wrap[0], pair[0].width, pair[1].width);
            let rows = Taps::rows(how.filter, how.wrap[1], pair[0].height, pair[1].height);
            Shrink::new(plan.filtered(), columns, &rows, pair[0].height)
        };
        let shrinks = plan.levels.windows(2).map(shrink).collect();
        let bands = plan.levels.iter().map(|l| Bands::new(*l, plan.to.texel_bytes())).collect();
        Chain { plan, writer, bands, shrinks }
    }

    /// Takes the next row of tiles of the image.
    fn band(&mut self, index: u32, texels: &[u8]) -> std::io::Result<()> {
        let (plan, top) = (self.plan, self.plan.levels[0]);
        let row_bytes = top.width as usize * plan.from.texel_bytes();
        let first = index * top.tile_height;
        let (texels, odd) = not_finite::replace(texels, &plan.from, (top.width, first));
        odd.into_iter().for_each(|odd| self.writer.note(odd));
        let texels = &*texels;
        let count = texels.len() / row_bytes;
        let decode = |n: usize, row: &mut Vec<f32>| {
            plan.codec.decode(&texels[n * row_bytes..][..row_bytes], row);
            first + n as u32
        };
        if plan.from == plan.to && matches!(plan.codec, Codec::Color { .. }) {
            // The finest level is the image, bit by bit where it is finite.
            self.writer.band(0, index, texels)?;
        } else {
            let decoded = |n| {
                let mut row = Vec::new();
                (decode(n, &mut row), row)
            };
            let rows: Vec<Row> = (0..count).map(decoded).collect();
            self.store(0, &rows)?;
        }
        let Some(shrink) = self.shrinks.first_mut() else { return Ok(()) };
        let mut rows = shrink.push(count, decode);
        for level in 1..self.plan.levels.len() {
            self.store(level, &rows)?;
            if let Some(shrink) = self.shrinks.get_mut(level).filter(|_| !rows.is_empty()) {
                rows = shrink.push(rows.len(), |n, row| {
                    row.extend_from_slice(&rows[n].1);
                    rows[n].0
                });
            } else {
                break;
            }
        }
        Ok(())
    }

    fn store(&mut self, level: usize, rows: &[Row]) -> std::io::Result<()> {
        let codec = &self.plan.codec;
        for (band, texels) in self.bands[level].push(rows, |row, out| codec.encode(row, out)) {
            self.writer.band(level, band, &texels)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_decides_whether_it_is_too_large() {
        // A third more with all levels: 199 GiB as bytes, 795 as floats.
        let (width, height, sample) = (400_000, 400_000, Sample::U8);
        let picture = Picture { width, height, sample, channels: 1, alpha: Alpha::None, space: None, frame: None };
        let plan = |how: Conversion| Plan::new(picture, &how, false).map(|plan| plan.levels.len());
        assert_eq!(plan(Conversion::default()), Ok(19));
        let refused = plan(Conversion { sample: Some(Sample::F32), ..Conversion::default() });
        assert!(refused.is_err_and(|why| why.contains("256 GiB")));
        // A normal map gets a fourth channel.
        let picture = Picture { channels: 3, width: 240_000, height: 240_000, ..picture };
        let plan = |how: Conversion| Plan::new(picture, &how, false).map(|plan| plan.levels.len());
        assert_eq!(plan(Conversion::default()), Ok(18));
        assert!(plan(Conversion { normal_map: true, ..Conversion::default() }).is_err());
    }
}
