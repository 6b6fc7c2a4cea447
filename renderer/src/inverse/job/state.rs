//! Saving a fit and going on from there, to the bit: the floats, the states of the optimisers, and the losses.

use super::fit::Fit;
use kernels::jobs::Point;
use std::io::{self, Read};
use xxhash_rust::xxh3::xxh3_64;

/// Begins every checkpoint; the number grows with the format.
const MAGIC: &[u8; 8] = b"SSLFIT\0\x02";

impl Fit {
    /// The state. All numbers are little-endian: after 8 bytes that name the format come a number that tells jobs apart, the
    /// steps, the points of the loss, and for each `[[fit]]` its floats and the state of its optimiser; then a sum of all that.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn save(&mut self) -> io::Result<Vec<u8>> {
        let mut out = MAGIC.to_vec();
        out.extend(self.job.fingerprint.to_le_bytes());
        out.extend(self.step.to_le_bytes());
        out.extend((self.history.len() as u64).to_le_bytes());
        for point in &self.history {
            out.extend(point.step.to_le_bytes());
            out.extend(point.loss.to_le_bytes());
        }
        for i in 0..self.movers.len() {
            let (_, values) = self.values_of(i);
            out.extend(values.words().iter().flat_map(|word| word.to_le_bytes()));
            self.movers[i].optimiser.save(&mut out)?;
        }
        let sum = xxh3_64(&out);
        out.extend(sum.to_le_bytes());
        Ok(out)
    }

    /// Goes on from a state.
    ///
    /// # Errors
    /// It is damaged, or of another job or scene. The fit is of no use then.
    pub fn load(&mut self, saved: &[u8]) -> Result<(), String> {
        let damaged = |e: io::Error| format!("it is damaged: {e}");
        if !saved.starts_with(MAGIC) {
            return Err("it is no checkpoint of a scene's fit, or one of another version".to_owned());
        }
        let is_whole = |(all, sum): &(&[u8], &[u8; 8])| xxh3_64(all) == u64::from_le_bytes(**sum);
        let Some((mut from, _)) = saved.split_last_chunk::<8>().filter(is_whole) else {
            return Err("it is damaged".to_owned());
        };
        from = &from[MAGIC.len()..];
        let mut bytes = |n: usize| {
            let mut out = vec![0; n];
            from.read_exact(&mut out).map_err(damaged).map(|()| out)
        };
        let number = |bytes: Vec<u8>| bytes.iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        if number(bytes(8)?) != self.job.fingerprint {
            return Err("it is of another job or of another scene".to_owned());
        }
        let step = number(bytes(8)?);
        if step > self.job.steps {
            return Err(format!("it has taken {step} steps, and the job has {}", self.job.steps));
        }
        self.step = step;
        let points = number(bytes(8)?);
        self.history.clear();
        for _ in 0..points {
            let step = number(bytes(8)?);
            let loss = f64::from_bits(number(bytes(8)?));
            self.history.push(Point { step, loss, psnr: self.job.psnr(loss) });
        }
        for i in 0..self.movers.len() {
            let count = self.values_of(i).1.words().len();
            let mut raw = vec![0; 4 * count];
            from.read_exact(&mut raw).map_err(damaged)?;
            let words = raw.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word));
            let values: Vec<f32> = words.collect();
            self.values_of(i).1.set_values(&values).map_err(|e| e.to_string())?;
            self.movers[i].optimiser.load(&mut from).map_err(|e| e.to_string())?;
        }
        self.follow().map_err(|e| e.to_string())
    }
}
