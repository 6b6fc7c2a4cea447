//! EXR: scanlines or tiles, the finest level, the first layer, a band of blocks at a time. If bands do not stand in the
//! file from the top down, those that come too early are held.

use super::channels::choose;
use super::rows::{Frame, Picture, Rows};
use super::{Alpha, ColorSpace, Sample};
use exr::block::reader::{ChunksReader, FilteredChunksReader, SequentialBlockDecompressor};
use exr::block::{UncompressedBlock, read};
use exr::meta::BlockDescription;
use exr::meta::attribute::{ChannelDescription, SampleType};
use exr::meta::header::Header;
use half::f16;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

struct ByBand {
    picture: Picture,
    blocks: SequentialBlockDecompressor<FilteredChunksReader<BufReader<File>>>,
    channels: Channels,
    band_height: usize,
    /// Begun by their numbers from the top.
    begun: HashMap<usize, Band>,
    /// The band that is given out, how many of its bytes were, and the number of the next.
    held: Vec<u8>,
    given: usize,
    next: usize,
}

#[derive(Default)]
struct Band {
    texels: Vec<u8>,
    /// So many of them are there.
    filled: usize,
}

/// How a line of a block is laid out: all samples of one channel, then those of the next.
struct Channels {
    kinds: Vec<SampleType>,
    /// For each channel of the picture where its samples stand in a line, by the texel, and what they are; `None` for
    /// zeros.
    chosen: Vec<Option<(usize, SampleType)>>,
    half: bool,
}

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let reader = read(BufReader::with_capacity(1 << 18, file), false).map_err(|e| e.to_string())?;
    let layer =
        reader.headers().iter().position(|h| !h.deep).ok_or("only deep images are in it, which are not read")?;
    let header = &reader.headers()[layer];
    let (channels, alpha) = Channels::of(&header.channels.list)?;
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (width, height) = (side(header.layer_size.x()), side(header.layer_size.y()));
    let sample = if channels.half { Sample::F16 } else { Sample::F32 };
    let space = Some(ColorSpace::Linear);
    let frame = frame(header);
    let picture = Picture { width, height, sample, channels: channels.chosen.len(), alpha, space, frame };
    picture.check()?;
    let band_height = band_height(header);
    let finest = |_: &_, tile: exr::block::chunk::TileCoordinates, block: exr::block::BlockIndex| {
        block.layer == layer && tile.level_index.x() == 0 && tile.level_index.y() == 0
    };
    let blocks = reader.filter_chunks(false, finest).map_err(|e| e.to_string())?.sequential_decompressor(false);
    let begun = HashMap::new();
    Ok(Box::new(ByBand { picture, blocks, channels, band_height, begun, held: Vec::new(), given: 0, next: 0 }))
}

/// The display window, where the data window is another. An empty one counts as none.
fn frame(header: &Header) -> Option<Frame> {
    let (data, display) = (header.own_attributes.layer_position, header.shared_attributes.display_window);
    let [width, height] = [display.size.x(), display.size.y()].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
    let from = |data: i32, display: i32| i64::from(data) - i64::from(display);
    let left = from(data.x(), display.position.x());
    let top = from(data.y(), display.position.y());
    let same = left == 0 && top == 0 && display.size == header.layer_size;
    (!same && width > 0 && height > 0).then_some(Frame { width, height, left, top })
}

fn band_height(header: &Header) -> usize {
    match header.blocks {
        BlockDescription::ScanLines => header.compression.scan_lines_per_block(),
        BlockDescription::Tiles(tiles) => tiles.tile_size.y(),
    }
    .max(1)
}

impl Channels {
    fn of(list: &[ChannelDescription]) -> Result<(Channels, Alpha), String> {
        let names: Vec<String> = list.iter().map(|c| c.name.to_string()).collect();
        let (chosen, alpha) = choose(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let used = |c: &Option<u16>| c.map(|c| &list[usize::from(c)]);
        if chosen.iter().filter_map(used).any(|c| (c.sampling.x(), c.sampling.y()) != (1, 1)) {
            return Err("subsampled channels are not read".to_owned());
        }
        // Others would stand between the samples of these.
        if list.iter().any(|c| (c.sampling.x(), c.sampling.y()) != (1, 1)) {
            return Err("subsampled channels are beside those of the image; save it without them".to_owned());
        }
        let kinds: Vec<SampleType> = list.iter().map(|c| c.sample_type).collect();
        let before = |c: usize| kinds[..c].iter().map(|k| k.bytes_per_sample()).sum();
        let chosen: Vec<_> =
            chosen.iter().map(|c| c.map(|c| (before(usize::from(c)), kinds[usize::from(c)]))).collect();
        let half = chosen.iter().flatten().all(|(_, kind)| *kind == SampleType::F16);
        Ok((Channels { kinds, chosen, half }, alpha))
    }

    /// Bytes of a texel in a block.
    fn bytes(&self) -> usize {
        self.kinds.iter().map(|k| k.bytes_per_sample()).sum()
    }

    /// A line of a block into texels.
    fn spread(&self, line: &[u8], texels: &mut [u8]) {
        let width = line.len() / self.bytes();
        let size = if self.half { 2 } else { 4 };
        let texel = size * self.chosen.len();
        for (k, chosen) in self.chosen.iter().enumerate() {
            let Some((before, kind)) = *chosen else { continue };
            let samples = &line[before * width..(before + kind.bytes_per_sample()) * width];
            let places = texels.chunks_exact_mut(texel).map(|t| &mut t[k * size..(k + 1) * size]);
            match kind {
                SampleType::F16 if self.half => {
                    places.zip(samples.as_chunks::<2>().0).for_each(|(to, s)| to.copy_from_slice(s));
                }
                SampleType::F16 => places.zip(samples.as_chunks::<2>().0).for_each(|(to, s)| {
                    to.copy_from_slice(&f16::from_ne_bytes(*s).to_f32().to_ne_bytes());
                }),
                SampleType::F32 => {
                    places.zip(samples.as_chunks::<4>().0).for_each(|(to, s)| to.copy_from_slice(s));
                }
                SampleType::U32 => places.zip(samples.as_chunks::<4>().0).for_each(|(to, s)| {
                    to.copy_from_slice(&(u32::from_ne_bytes(*s) as f32).to_ne_bytes());
                }),
            }
        }
    }
}

impl Rows for ByBand {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        let mut filled = 0;
        while filled < out.len() {
            if self.given == self.held.len() {
                self.held = self.band()?;
                self.given = 0;
            }
            let count = (out.len() - filled).min(self.held.len() - self.given);
            out[filled..filled + count].copy_from_slice(&self.held[self.given..self.given + count]);
            (filled, self.given) = (filled + count, self.given + count);
        }
        Ok(())
    }
}

impl ByBand {
    /// The texels of the next band.
    fn band(&mut self) -> Result<Vec<u8>, String> {
        let wanted = self.next;
        let bytes = self.rows(wanted) * self.picture.row_bytes();
        loop {
            if self.begun.get(&wanted).is_some_and(|band| band.filled == bytes) {
                self.next += 1;
                return Ok(self.begun.remove(&wanted).unwrap_or_default().texels);
            }
            let block = self.blocks.decompress_next_block().ok_or("the image ends too early")?;
            self.place(block.map_err(|e| e.to_string())?)?;
        }
    }

    /// Of the band of a number.
    fn rows(&self, band: usize) -> usize {
        (self.picture.height as usize).saturating_sub(band * self.band_height).min(self.band_height)
    }

    fn place(&mut self, block: UncompressedBlock) -> Result<(), String> {
        let damaged = || "the image does not fit the size that it says".to_owned();
        let (position, size) = (block.index.pixel_position, block.index.pixel_size);
        let number = position.y() / self.band_height;
        let (rows, row_bytes) = (self.rows(number), self.picture.row_bytes());
        let texel = row_bytes / self.picture.width as usize;
        let line = size.x() * self.channels.bytes();
        let fits = position.x() + size.x() <= self.picture.width as usize
            && position.y() % self.band_height == 0
            && size.y() == rows
            && block.data.len() == line * rows
            && rows > 0
            && number >= self.next;
        if !fits {
            return Err(damaged());
        }
        let band = self.begun.entry(number).or_default();
        // Small blocks may be tall ones of a wide image.
        let more = (rows * row_bytes).saturating_sub(band.texels.len());
        band.texels.try_reserve_exact(more).map_err(|_| "its blocks need more memory than there is".to_owned())?;
        band.texels.resize(rows * row_bytes, 0);
        band.filled += size.x() * rows * texel;
        if line > 0 {
            for (samples, row) in block.data.chunks_exact(line).zip(band.texels.chunks_exact_mut(row_bytes)) {
                self.channels.spread(samples, &mut row[position.x() * texel..][..size.x() * texel]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{
        AnyChannel, AnyChannels, Blocks, Compression, Encoding, FlatSamples, Image, Layer, LayerAttributes, LineOrder,
        Vec2, WritableImage,
    };

    const SIZE: (usize, usize) = (77, 53);

    /// Whole numbers, which all kinds of samples hold.
    fn value(x: usize, y: usize, channel: usize) -> f32 {
        (x * 7 + y * 13 + channel * 5) as f32
    }

    fn samples(channel: usize, kind: SampleType) -> FlatSamples {
        let values = (0..SIZE.0 * SIZE.1).map(|i| value(i % SIZE.0, i / SIZE.0, channel));
        match kind {
            SampleType::F16 => FlatSamples::F16(values.map(f16::from_f32).collect()),
            SampleType::F32 => FlatSamples::F32(values.collect()),
            SampleType::U32 => FlatSamples::U32(values.map(|v| v as u32).collect()),
        }
    }

    /// All rows, several at a time, as floats.
    fn rows(path: &Path) -> Result<Vec<f32>, String> {
        let mut rows = open(path)?;
        let picture = rows.picture();
        let mut floats = Vec::new();
        for first in (0..picture.height).step_by(10) {
            let mut bytes = vec![0; picture.row_bytes() * (picture.height - first).min(10) as usize];
            rows.read(&mut bytes)?;
            match picture.sample {
                Sample::F16 => floats.extend(bytes.as_chunks().0.iter().map(|b| f16::from_ne_bytes(*b).to_f32())),
                _ => floats.extend(bytes.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b))),
            }
        }
        Ok(floats)
    }

    #[test]
    fn rows_come_from_the_top_however_they_are_stored() {
        use SampleType::{F16, F32, U32};
        let path = std::env::temp_dir().join(format!("ssl-rows-{}.exr", std::process::id()));
        let (lines, tiles) = (Blocks::ScanLines, Blocks::Tiles(Vec2(16, 24)));
        for (blocks, compression, line_order) in [
            (lines, Compression::Uncompressed, LineOrder::Increasing),
            (lines, Compression::ZIP1, LineOrder::Decreasing),
            (lines, Compression::ZIP16, LineOrder::Increasing),
            (lines, Compression::PIZ, LineOrder::Decreasing),
            (tiles, Compression::RLE, LineOrder::Increasing),
            (tiles, Compression::ZIP16, LineOrder::Decreasing),
        ] {
            for kinds in [[F16; 4], [F32, F16, U32, F16]] {
                // One that nobody asks for stands among them.
                let names = ["R", "G", "B", "A", "Depth"].into_iter().zip(kinds.into_iter().chain([F32]));
                let list = names.enumerate().map(|(c, (name, kind))| AnyChannel::new(name, samples(c, kind))).collect();
                let encoding = Encoding { compression, blocks, line_order };
                let layer = Layer::new(SIZE, LayerAttributes::named("a"), encoding, AnyChannels::sort(list));
                Image::from_layer(layer).write().to_file(&path).expect("the temporary folder can be written");
                let place = |i: usize| value(i / 4 % SIZE.0, i / 4 / SIZE.0, i % 4);
                let expected: Vec<f32> = (0..SIZE.0 * SIZE.1 * 4).map(place).collect();
                assert!(rows(&path) == Ok(expected), "{blocks:?} {compression:?} {line_order:?} {kinds:?}");
                let whole = std::fs::read(&path).expect("it was written");
                std::fs::write(&path, &whole[..whole.len() - 9]).expect("as above");
                assert!(rows(&path).is_err(), "cut short: {blocks:?} {compression:?} {line_order:?}");
            }
        }
        std::fs::remove_file(&path).expect("as above");
    }
}
