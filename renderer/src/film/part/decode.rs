//! Reads a partial render from bytes that may be anything. It refuses what is not one, or not whole, and what contradicts itself.

use super::encode::{COLOR, INTEGER, LIGHT, MAGIC, SUM_BYTES, VERSION};
use super::{Done, Part, Plan, build};
use crate::film::{Adaptive, Aov, Film, OutputKind, Provenance, RawPixel, Tile, TileSums, ToneCurve};
use smallvec::SmallVec;
use std::fmt::{Display, Formatter};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Why bytes are no partial render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartFileError {
    /// They are something else.
    Other,
    /// Of another version of the format.
    Version(u32),
    /// Another build made its samples.
    Build,
    /// Cut short, or changed.
    Damaged,
}

impl Display for PartFileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            PartFileError::Other => f.write_str("it is no partial render"),
            PartFileError::Version(v) => {
                write!(f, "it was written by another version of this program: its format is {v}, not {VERSION}")
            }
            PartFileError::Build => f.write_str(
                "it was written by another build of this program, whose samples may be others: one program must make all \
                 samples of a picture",
            ),
            PartFileError::Damaged => f.write_str("it is damaged, or was not copied whole"),
        }
    }
}

impl std::error::Error for PartFileError {}

/// Sides that no picture exceeds; more would be numbers that are not to be multiplied.
const MAX_SIDE: u32 = 1 << 16;
/// Samples a pixel that no picture exceeds: sums of so many have room.
const MAX_SAMPLES: u32 = 1 << 24;
/// Layers that no picture exceeds.
const MAX_LAYERS: u32 = 1 << 10;

impl Part {
    pub fn decode(bytes: &[u8]) -> Result<Part, PartFileError> {
        let head = MAGIC.len() + size_of::<u32>() + size_of::<u64>();
        if !bytes.starts_with(MAGIC) {
            return Err(PartFileError::Other);
        }
        let mut reader = Reader { bytes: &bytes[MAGIC.len()..] };
        let version = reader.word().ok_or(PartFileError::Damaged)?;
        if version != VERSION {
            return Err(PartFileError::Version(version));
        }
        if reader.long().ok_or(PartFileError::Damaged)? != build() {
            return Err(PartFileError::Build);
        }
        let (content, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(PartFileError::Damaged)?;
        if content.len() < head || xxh3_64(content).to_le_bytes() != *sum {
            return Err(PartFileError::Damaged);
        }
        Reader { bytes: &content[head..] }.part().ok_or(PartFileError::Damaged)
    }
}

/// What is left to read. `None` wherever what is there makes no sense.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn part(mut self) -> Option<Part> {
        let plan = self.plan()?;
        let ranges = self.ranges(plan.samples)?;
        let unfinished = match self.byte()? {
            0 => None,
            1 if ranges.len() == 1 => Some(self.done()?),
            _ => return None,
        };
        let pixels = u64::from(plan.window.width()) * u64::from(plan.window.height());
        let shape = plan.shape();
        // At least a byte for the count and each sum.
        let least = 1 + shape.sums() as u64 + 4 * shape.nearest as u64;
        if pixels.checked_mul(least)? > self.bytes.len() as u64 {
            return None;
        }
        // So that parts with other samples can never add up to more than a sum holds.
        let most = ranges.iter().map(|r| r.end - r.start).sum();
        let film = Film::new(plan.window, shape);
        for index in 0..film.tile_count() {
            let mut sums = film.sums(index);
            for pixel in 0..film.tile(index).pixels() as usize {
                self.pixel(&mut sums, pixel, most)?;
            }
        }
        self.bytes.is_empty().then_some(Part { plan, ranges, unfinished, film })
    }

    fn pixel(&mut self, into: &mut TileSums, pixel: usize, most: u32) -> Option<()> {
        let before = into.raw(pixel);
        let (sums, nearest) = (before.sums.len(), before.nearest.len());
        let count = u32::try_from(self.variable()?).ok().filter(|&c| c <= most)?;
        let sums = (0..sums).map(|_| self.signed()).collect::<Option<SmallVec<[i128; 16]>>>()?;
        let rank = if nearest > 0 { self.long()? } else { u64::MAX };
        let nearest = (0..nearest).map(|_| self.word()).collect::<Option<SmallVec<[u32; 16]>>>()?;
        into.set_raw(pixel, RawPixel { count, sums: &sums, rank, nearest: &nearest }).then_some(())
    }

    fn plan(&mut self) -> Option<Plan> {
        let fingerprint = self.long()?;
        let frame = (self.word()?, self.word()?);
        let window = Tile { x0: self.word()?, y0: self.word()?, x1: self.word()?, y1: self.word()? };
        let (seed, samples) = (self.word()?, self.word()?);
        let (dependence, photon_rounds) = (self.long()?, self.word()?);
        let exposure = f32::from_bits(self.word()?);
        let tone = match self.byte()? {
            0 => ToneCurve::Clamp,
            1 => ToneCurve::Filmic,
            2 => ToneCurve::Scaled,
            3 => ToneCurve::Signed,
            _ => return None,
        };
        let inside = window.x0 < window.x1 && window.x1 <= frame.0 && window.y0 < window.y1 && window.y1 <= frame.1;
        let fits = inside && frame.0 <= MAX_SIDE && frame.1 <= MAX_SIDE && samples <= MAX_SAMPLES;
        let fits = fits && exposure.is_finite();
        let layers = self.word().filter(|&n| n <= MAX_LAYERS)?;
        let aovs = (0..layers).map(|_| self.layer()).collect::<Option<Vec<Aov>>>()?;
        let adaptive = match self.byte()? {
            0 => None,
            1 => Some(Adaptive { threshold: f32::from_bits(self.word()?), least: self.word()? }),
            _ => return None,
        };
        let provenance = Provenance { scene: self.text()?, command: self.text()? };
        let plan = Plan {
            fingerprint,
            frame,
            window,
            seed,
            samples,
            dependence,
            photon_rounds,
            exposure,
            tone,
            aovs,
            adaptive,
            provenance,
        };
        fits.then_some(plan)
    }

    fn layer(&mut self) -> Option<Aov> {
        let number = match self.byte()? {
            LIGHT => return Some(Aov::Light { layer: self.text()? }),
            number => usize::from(number),
        };
        if number != Aov::FIXED.len() {
            return Aov::FIXED.get(number).cloned();
        }
        let kind = match self.byte()? {
            1 => OutputKind::Float,
            n @ 2..=4 => OutputKind::Vector(n),
            COLOR => OutputKind::Color,
            INTEGER => OutputKind::Integer,
            _ => return None,
        };
        Some(Aov::Output { name: self.text()?, kind })
    }

    fn text(&mut self) -> Option<String> {
        let length = self.word()? as usize;
        let (text, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(std::str::from_utf8(text).ok()?.to_owned())
    }

    fn ranges(&mut self, samples: u32) -> Option<Vec<Range<u32>>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for _ in 0..self.word()? {
            let range = self.word()?..self.word()?;
            let behind = ranges.last().is_none_or(|last| last.end < range.start);
            if range.is_empty() || range.end > samples || !behind {
                return None;
            }
            ranges.push(range);
        }
        Some(ranges)
    }

    fn done(&mut self) -> Option<Done> {
        let held = self.word()?;
        let (below, n) = (self.long()?, self.long()?);
        // Nothing is set aside for more than there is.
        let beyond = (0..n).map(|_| self.long()).collect::<Option<Vec<u64>>>()?;
        Some(Done::new(below, beyond)?.holding(held))
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn long(&mut self) -> Option<u64> {
        let (first, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn variable(&mut self) -> Option<u128> {
        let mut value = 0_u128;
        for place in 0..u128::BITS.div_ceil(7) {
            let byte = self.byte()?;
            let (bits, shift) = (u128::from(byte & 0x7f), 7 * place);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i128> {
        let value = self.variable()?;
        Some((value >> 1) as i128 ^ -((value & 1) as i128))
    }
}
