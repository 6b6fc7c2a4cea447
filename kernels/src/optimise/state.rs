//! Saving an optimiser and going on from there, to the bit.

use super::{OptimiseError, Optimiser};
use formats::npy;
use std::io::{self, Read, Write};

/// Begins every saved state; the number grows with the format.
const MAGIC: &[u8; 8] = b"SSLOPT\0\x01";

impl Optimiser {
    /// Writes the state: the steps taken, the numbers that the optimiser moves, and their moments. All numbers are
    /// little-endian: after 8 bytes that name the format come the steps (64 bits), the number of moments (32 bits), the
    /// number of floats (64 bits), and then the floats and each moment.
    ///
    /// # Errors
    /// Writing fails.
    pub fn save(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        to.write_all(&self.steps.to_le_bytes())?;
        to.write_all(&(self.moments.len() as u32).to_le_bytes())?;
        to.write_all(&(self.raw.len() as u64).to_le_bytes())?;
        for buffer in std::iter::once(&self.raw).chain(&self.moments) {
            npy::write_words(to, buffer.words().iter().copied())?;
        }
        Ok(())
    }

    /// Takes a saved state in place of its own. Method, groups and schedule stay those with which it was made.
    ///
    /// # Errors
    /// Reading fails, or the state is of another method or of a buffer of another size. The optimiser is unchanged then.
    pub fn load(&mut self, from: &mut impl Read) -> Result<(), OptimiseError> {
        let damaged = |e: io::Error| OptimiseError::State(format!("the state of the optimiser cannot be read: {e}"));
        let mut magic = [0; 8];
        let (mut steps, mut moments, mut length) = ([0; 8], [0; 4], [0; 8]);
        from.read_exact(&mut magic).map_err(damaged)?;
        if magic != *MAGIC {
            return Err(OptimiseError::State("this is no state of an optimiser".to_owned()));
        }
        from.read_exact(&mut steps).map_err(damaged)?;
        from.read_exact(&mut moments).map_err(damaged)?;
        from.read_exact(&mut length).map_err(damaged)?;
        let found = (u32::from_le_bytes(moments) as usize, u64::from_le_bytes(length));
        let wanted = (self.moments.len(), self.raw.len() as u64);
        if found != wanted {
            let text = |(moments, length)| format!("{length} floats with {moments} moments");
            let (found, wanted) = (text(found), text(wanted));
            return Err(OptimiseError::State(format!("the state is of {found}, and the optimiser has {wanted}")));
        }
        let count = self.raw.len();
        let mut all = vec![0; 4 * count * (1 + self.moments.len())];
        from.read_exact(&mut all).map_err(damaged)?;
        let words: Vec<u32> = all.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        for (i, buffer) in std::iter::once(&mut self.raw).chain(&mut self.moments).enumerate() {
            buffer.words_mut().copy_from_slice(&words[i * count..(i + 1) * count]);
        }
        self.steps = u64::from_le_bytes(steps);
        Ok(())
    }
}
