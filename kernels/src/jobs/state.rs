//! The state of a fit as bytes, and going on from there to the bit.
//!
//! All numbers are little-endian: 8 bytes that name the format, the fingerprint of the job, the steps taken, the number of
//! points of the loss with each one's step and loss; for each fitted buffer the number of its words, the words in the order
//! of memory, and the state of its optimiser (see [`Optimiser::save`]); at the end XXH3 of all before.
//!
//! [`Optimiser::save`]: crate::optimise::Optimiser::save

use super::fit::{Fit, Point};
use formats::npy;
use ssl_compiler::passes::sweeps::Sweep;
use std::io::{self, Read, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Begins every saved state; the number grows with the format.
const MAGIC: &[u8; 8] = b"SSLFIT\0\x01";

/// What a state belongs to: the job without its steps and results, the texts of its kernels, and what its files held.
pub(super) fn fingerprint<'a>(
    job: &str,
    sweep: Sweep,
    texts: impl Iterator<Item = &'a str>,
    starts: impl Iterator<Item = &'a [u32]>,
) -> u64 {
    let mut hash = Xxh3::new();
    let mut part = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(job.as_bytes());
    part(format!("{sweep:?}").as_bytes());
    texts.for_each(|text| part(text.as_bytes()));
    for words in starts {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        part(&bytes);
    }
    hash.digest()
}

impl Fit {
    /// The state: everything that another run of the job needs to go on.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn save(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let floats: usize = self.fitted.iter().map(|fitted| self.graph.buffer(fitted.buffer).words().len()).sum();
        bytes.try_reserve(4 * floats).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.save_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the state piece by piece, so that it takes no memory by the size of the fit.
    ///
    /// # Errors
    /// Writing fails.
    pub fn save_to(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut to = Summed { to, sum: Xxh3::new() };
        to.write_all(MAGIC)?;
        let mut number = |n: u64| to.write_all(&n.to_le_bytes());
        number(self.fingerprint)?;
        number(self.step)?;
        number(self.history.len() as u64)?;
        for point in &self.history {
            number(point.step)?;
            number(point.loss.to_bits())?;
        }
        for fitted in &self.fitted {
            let words = self.graph.buffer(fitted.buffer).words();
            to.write_all(&(words.len() as u64).to_le_bytes())?;
            npy::write_words(&mut to, words.iter().copied())?;
            fitted.optimiser.save(&mut to)?;
        }
        let Summed { to, sum } = to;
        to.write_all(&sum.digest().to_le_bytes())
    }

    /// Takes a saved state in place of the start.
    ///
    /// # Errors
    /// The state is of another job, or damaged; the sentence goes on from its name. The fit is of no use then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let damaged = || "it is damaged".to_owned();
        let (mut rest, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if !rest.starts_with(MAGIC) {
            return Err("it is no checkpoint of a fit, or one of another version".to_owned());
        }
        if xxh3_64(rest) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        rest = &rest[MAGIC.len()..];
        let number = |rest: &mut &[u8]| -> Result<u64, String> {
            let mut bytes = [0; 8];
            rest.read_exact(&mut bytes).map_err(|_| damaged())?;
            Ok(u64::from_le_bytes(bytes))
        };
        if number(&mut rest)? != self.fingerprint {
            return Err("it is of another job: kernels, buffers, rates or files are not the same".to_owned());
        }
        let step = number(&mut rest)?;
        if step > self.steps() {
            return Err(format!("it has taken {step} steps, and the job has {}", self.steps()));
        }
        let mut history = Vec::new();
        for _ in 0..number(&mut rest)? {
            let (step, loss) = (number(&mut rest)?, f64::from_bits(number(&mut rest)?));
            history.push(Point { step, loss, psnr: self.psnr(loss) });
        }
        for fitted in &mut self.fitted {
            let count = number(&mut rest)? as usize;
            let buffer = self.graph.change(fitted.buffer).map_err(|e| e.to_string())?;
            let (words, behind) = count
                .checked_mul(4)
                .filter(|_| count == buffer.words().len())
                .and_then(|bytes| rest.split_at_checked(bytes))
                .ok_or_else(damaged)?;
            let words = words.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            buffer.words_mut().iter_mut().zip(words).for_each(|(to, word)| *to = word);
            rest = behind;
            fitted.optimiser.load(&mut rest).map_err(|e| e.to_string())?;
        }
        self.step = step;
        // The end of a shorter run is no point of a longer one.
        history.retain(|point| self.is_due(point.step));
        self.history = history;
        Ok(())
    }
}

/// Writes on, and takes the checksum.
struct Summed<'a> {
    to: &'a mut dyn Write,
    sum: Xxh3,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
