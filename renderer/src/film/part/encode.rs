//! Writes a partial render as bytes.
//!
//! All numbers little-endian: 8 bytes that name the format, its version (u32), [the build](super::build()) (u64), the plan, the sample ranges, the finished
//! units where not all are, then for each tile, row by row, each of its pixels: how many samples, the sums, and where
//! layers keep the nearest sample its rank (u64) and values (f32). Counts and sums are variable-length: seven bits a byte,
//! lowest first, the eighth set on all but the last; sums with the sign in the lowest bit. Last, the XXH3 of everything
//! before (u64).

use super::{Part, build};
use crate::film::{Aov, OutputKind, ToneCurve};
use xxhash_rust::xxh3::xxh3_64;

pub(super) const MAGIC: &[u8; 8] = b"SSLPART\0";
/// Of the format.
pub(super) const VERSION: u32 = 5;
/// Bytes of the checksum.
pub(super) const SUM_BYTES: usize = 8;

impl Part {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(build().to_le_bytes());
        self.encode_plan(&mut out);
        out.extend((self.ranges.len() as u32).to_le_bytes());
        for range in &self.ranges {
            words(&mut out, &[range.start, range.end]);
        }
        out.push(u8::from(self.unfinished.is_some()));
        if let Some(done) = &self.unfinished {
            words(&mut out, &[done.held()]);
            out.extend(done.below().to_le_bytes());
            out.extend((done.beyond().len() as u64).to_le_bytes());
            done.beyond().for_each(|unit| out.extend(unit.to_le_bytes()));
        }
        for index in 0..self.film.tile_count() {
            let sums = self.film.sums(index);
            for pixel in 0..self.film.tile(index).pixels() as usize {
                let raw = sums.raw(pixel);
                variable(&mut out, u128::from(raw.count));
                raw.sums.iter().for_each(|&s| variable(&mut out, ((s << 1) ^ (s >> 127)) as u128));
                if !raw.nearest.is_empty() {
                    out.extend(raw.rank.to_le_bytes());
                    words(&mut out, raw.nearest);
                }
            }
        }
        let sum = xxh3_64(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    fn encode_plan(&self, out: &mut Vec<u8>) {
        let plan = &self.plan;
        out.extend(plan.fingerprint.to_le_bytes());
        let window = plan.window;
        words(out, &[plan.frame.0, plan.frame.1, window.x0, window.y0, window.x1, window.y1, plan.seed, plan.samples]);
        out.extend(plan.dependence.to_le_bytes());
        words(out, &[plan.photon_rounds]);
        out.extend(plan.exposure.to_le_bytes());
        out.push(match plan.tone {
            ToneCurve::Clamp => 0,
            ToneCurve::Filmic => 1,
            ToneCurve::Scaled => 2,
            ToneCurve::Signed => 3,
        });
        words(out, &[plan.aovs.len() as u32]);
        plan.aovs.iter().for_each(|aov| encode_layer(out, aov));
        out.push(u8::from(plan.adaptive.is_some()));
        if let Some(adaptive) = &plan.adaptive {
            words(out, &[adaptive.threshold.to_bits(), adaptive.least]);
        }
        text(out, &plan.provenance.scene);
        text(out, &plan.provenance.command);
    }
}

/// The number of one that does not depend on the scene, or one beyond with kind and name.
fn encode_layer(out: &mut Vec<u8>, aov: &Aov) {
    let number = Aov::FIXED.iter().position(|fixed| fixed == aov).unwrap_or(Aov::FIXED.len());
    if let Aov::Light { layer } = aov {
        out.push(LIGHT);
        return text(out, layer);
    }
    out.push(number as u8);
    if let Aov::Output { name, kind } = aov {
        out.push(match kind {
            OutputKind::Float => 1,
            OutputKind::Vector(n) => *n,
            OutputKind::Color => COLOR,
            OutputKind::Integer => INTEGER,
        });
        text(out, name);
    }
}

/// In place of the number of a layer: one of lights.
pub(super) const LIGHT: u8 = u8::MAX;

/// Kinds of outputs that are not their number of components.
pub(super) const COLOR: u8 = 5;
pub(super) const INTEGER: u8 = 6;

fn text(out: &mut Vec<u8>, text: &str) {
    words(out, &[text.len() as u32]);
    out.extend(text.as_bytes());
}

fn words(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

fn variable(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
