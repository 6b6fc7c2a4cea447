//! Partial renders: the sums of some of a picture's samples, exactly as integers, with a description of the picture.
//! Parts of one picture with different samples add up to the bytes of a single render, in any order.

mod build;
mod decode;
mod done;
mod encode;

pub use build::{BATCH, build};
pub use decode::PartFileError;
pub use done::Done;

use super::{Adaptive, Aov, Film, Metadata, Picture, Provenance, Shape, Tile, ToneCurve, shape};
use ssl_compiler::input;
use std::fmt::{Display, Formatter};
use std::ops::Range;
use std::path::Path;

/// Bytes of a file that are read: those of the largest film with some layers.
const MOST_BYTES: u64 = 1 << 37;

/// The bytes of a partial render's file.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    input::bytes(path, MOST_BYTES)
}

/// Of which picture the samples are.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Of the scene, the files it reads and the options that change its picture.
    pub fingerprint: u64,
    /// Width and height of the whole picture.
    pub frame: (u32, u32),
    /// The pixels of it that are rendered.
    pub window: Tile,
    pub seed: u32,
    /// A pixel, all parts together.
    pub samples: u32,
    /// A number for what of each sample depends on how many there are, such as the footprints of textures: samples of two
    /// plans with the same one are the same samples.
    pub dependence: u64,
    /// Rounds of photons at most: fewer than that many samples are worth where time was short.
    pub photon_rounds: u32,
    /// How a PNG is developed: stops, and the curve.
    pub exposure: f32,
    pub tone: ToneCurve,
    /// The layers beside the light.
    pub aovs: Vec<Aov>,
    /// Where `samples` are only the most that a pixel gets.
    pub adaptive: Option<Adaptive>,
    /// Those who add parts up take that of the first samples.
    pub provenance: Provenance,
}

/// Sums of some samples of every pixel.
#[derive(Clone)]
pub struct Part {
    pub plan: Plan,
    /// The samples of each pixel, from 0: ascending, apart, none empty.
    pub ranges: Vec<Range<u32>>,
    /// Which units of the only range are in, where not all are.
    pub unfinished: Option<Done>,
    pub film: Film,
}

/// Why two partial renders do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    Scene,
    Frame((u32, u32), (u32, u32)),
    Window(Tile, Tile),
    Seed(u32, u32),
    Samples(u32, u32),
    /// Names of layers.
    Layers(Vec<String>, Vec<String>),
    /// Samples that both hold.
    Overlap(Range<u32>),
    /// The samples are others than those asked for.
    Range(Range<u32>, Range<u32>),
    /// Samples of so many a pixel differ from those of the other number.
    Dependence(u32, u32),
    /// It was interrupted in the middle of a batch that is to become longer.
    Batch(u32),
    /// They had other photons, as one was short of time.
    Photons,
    /// One was interrupted.
    Unfinished,
    /// It was put together from several.
    Ranges,
    /// It has units that there are not.
    Units,
}

impl Display for Misfit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let window = |t: &Tile| format!("{},{},{},{}", t.x0, t.y0, t.x1, t.y1);
        let named = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        match self {
            Misfit::Scene => {
                f.write_str("it is of another scene, of a scene whose files have changed, or made with other options")
            }
            Misfit::Frame(a, b) => write!(f, "its picture has {}×{} pixels, not {}×{}", b.0, b.1, a.0, a.1),
            Misfit::Window(a, b) => write!(f, "it holds the pixels {}, not {}", window(b), window(a)),
            Misfit::Seed(a, b) => write!(f, "its seed is {b}, not {a}"),
            Misfit::Samples(a, b) => write!(f, "it is for {b} samples a pixel, not {a}"),
            Misfit::Layers(a, b) => write!(f, "its layers are {}, not {}", named(b), named(a)),
            Misfit::Overlap(r) => write!(f, "its samples {}..{} are there already", r.start, r.end),
            Misfit::Range(a, b) => {
                write!(f, "it holds the samples {}..{}, not {}..{}", b.start, b.end, a.start, a.end)
            }
            Misfit::Dependence(a, b) => write!(
                f,
                "its {b} samples a pixel are not the first of {a}: with fewer than 64, textures are filtered more, a single one \
                 goes through the middle of its pixel, blue noise has a pattern of its own for each power of two, and more photons \
                 find the caustics of more samples; \
                 `--spp {a} --sample-range 0..{b}` renders {b} samples that go on to {a}"
            ),
            Misfit::Batch(samples) => {
                write!(f, "it was interrupted before it had {samples} samples a pixel: go on to those first")
            }
            Misfit::Ranges => f.write_str("it was merged from several renders"),
            Misfit::Units => f.write_str("its samples were made in other batches"),
            Misfit::Photons => f.write_str(
                "its photons were cut short by `--time-limit`, or those of the other were: samples go together that had the same ones",
            ),
            Misfit::Unfinished => f.write_str("it was interrupted before all its samples were made"),
        }
    }
}

impl Plan {
    /// Whether samples of `other` are samples of the same picture.
    pub fn fits(&self, other: &Plan) -> Result<(), Misfit> {
        match () {
            () if self.frame != other.frame => Err(Misfit::Frame(self.frame, other.frame)),
            () if self.window != other.window => Err(Misfit::Window(self.window, other.window)),
            () if self.seed != other.seed => Err(Misfit::Seed(self.seed, other.seed)),
            () if self.samples != other.samples => Err(Misfit::Samples(self.samples, other.samples)),
            () => self.looks_like(other),
        }
    }

    /// Whether a render of this plan may go on from samples of `other`, which may be for fewer samples a pixel.
    pub fn goes_on_from(&self, other: &Plan) -> Result<(), Misfit> {
        // What goes on keeps to the photons that there were.
        let as_many =
            Plan { samples: other.samples.max(self.samples), photon_rounds: self.photon_rounds, ..other.clone() };
        self.fits(&as_many)?;
        let alike = other.samples >= self.samples || other.dependence == self.dependence;
        if alike { Ok(()) } else { Err(Misfit::Dependence(self.samples, other.samples)) }
    }

    /// The rest of [`Plan::fits`].
    fn looks_like(&self, other: &Plan) -> Result<(), Misfit> {
        match () {
            () if self.aovs != other.aovs => Err(Misfit::Layers(self.layer_names(), other.layer_names())),
            () if self.fingerprint != other.fingerprint || self.adaptive != other.adaptive => Err(Misfit::Scene),
            () if self.photon_rounds != other.photon_rounds => Err(Misfit::Photons),
            () => Ok(()),
        }
    }

    /// What each pixel of the film keeps.
    pub fn shape(&self) -> Shape {
        let shape = shape(&self.aovs);
        Shape { squares: shape.squares || self.adaptive.is_some(), ..shape }
    }

    fn layer_names(&self) -> Vec<String> {
        self.aovs.iter().map(|a| a.name().to_owned()).collect()
    }
}

impl Part {
    /// Adds the samples of another part of the same picture.
    pub fn join(&mut self, other: &Part) -> Result<(), Misfit> {
        self.plan.fits(&other.plan)?;
        if self.unfinished.is_some() || other.unfinished.is_some() {
            return Err(Misfit::Unfinished);
        }
        for a in &self.ranges {
            for b in &other.ranges {
                let both = a.start.max(b.start)..a.end.min(b.end);
                if !both.is_empty() {
                    return Err(Misfit::Overlap(both));
                }
            }
        }
        self.film.add_all(&other.film);
        let first = |part: &Part| part.ranges.first().map(|r| r.start);
        if first(other) < first(self) {
            self.plan.provenance = other.plan.provenance.clone();
        }
        let mut all: Vec<Range<u32>> = self.ranges.iter().chain(&other.ranges).cloned().collect();
        all.sort_by_key(|r| r.start);
        self.ranges.clear();
        for range in all {
            match self.ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => self.ranges.push(range),
            }
        }
        Ok(())
    }

    /// The samples of each pixel that no part has brought.
    pub fn missing(&self) -> Vec<Range<u32>> {
        let ends = std::iter::once(0).chain(self.ranges.iter().map(|r| r.end));
        let starts = self.ranges.iter().map(|r| r.start).chain(std::iter::once(self.plan.samples));
        ends.zip(starts).map(|(end, start)| end..start).filter(|hole| !hole.is_empty()).collect()
    }

    /// Samples a pixel, on average.
    pub fn mean_samples(&self) -> f64 {
        let of_tile = |index: usize| {
            let sums = self.film.sums(index);
            (0..self.film.tile(index).pixels() as usize).map(|i| u64::from(sums.raw(i).count)).sum::<u64>()
        };
        let all: u64 = (0..self.film.tile_count()).map(of_tile).sum();
        all as f64 / (f64::from(self.plan.window.width()) * f64::from(self.plan.window.height()))
    }

    /// What a picture's file says of how it was made.
    pub fn metadata(&self) -> Metadata {
        let (mut provenance, seed) = (self.plan.provenance.clone(), self.plan.seed);
        // Only here: the plan is that of the whole picture, and so is its command.
        if let [range] = &self.ranges[..]
            && !self.missing().is_empty()
            && !provenance.command.is_empty()
        {
            provenance.command.push_str(&format!(" --sample-range {}..{}", range.start, range.end));
        }
        Metadata { provenance, seed, samples: self.mean_samples() }
    }

    pub fn picture(&self) -> Picture {
        self.film.picture(self.plan.frame, &self.plan.aovs)
    }
}

#[cfg(test)]
mod tests;
