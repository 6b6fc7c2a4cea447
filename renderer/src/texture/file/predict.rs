//! Predictors of TIFF: rows are stored as differences, which compress better. Rows are processed one by one, as both
//! reading and writing do; each function is the inverse of its neighbour.

/// Sums of neighbours: predictor 2 undone on one row of samples of `bytes` bytes in this machine's order.
pub fn undo_differences(row: &mut [u8], bytes: usize, channels: usize) {
    match (bytes, channels) {
        (1, 1) => sum_bytes::<1>(row),
        (1, 2) => sum_bytes::<2>(row),
        (1, 3) => sum_bytes::<3>(row),
        (1, _) => sum_bytes::<4>(row),
        (2, _) => {
            let mut sums = [0_u16; 4];
            for texel in row.chunks_exact_mut(2 * channels) {
                for (sum, sample) in sums.iter_mut().zip(texel.as_chunks_mut::<2>().0) {
                    *sum = sum.wrapping_add(u16::from_ne_bytes(*sample));
                    *sample = sum.to_ne_bytes();
                }
            }
        }
        _ => {
            let mut sums = [0_u32; 4];
            for texel in row.chunks_exact_mut(4 * channels) {
                for (sum, sample) in sums.iter_mut().zip(texel.as_chunks_mut::<4>().0) {
                    *sum = sum.wrapping_add(u32::from_ne_bytes(*sample));
                    *sample = sum.to_ne_bytes();
                }
            }
        }
    }
}

/// The sums stay in registers: reading back what was just written takes several times as long.
fn sum_bytes<const C: usize>(row: &mut [u8]) {
    let mut sums = [0_u8; C];
    for texel in row.as_chunks_mut::<C>().0 {
        for c in 0..C {
            sums[c] = sums[c].wrapping_add(texel[c]);
        }
        *texel = sums;
    }
}

/// Predictor 2 on one row of 8- or 16-bit samples in this machine's order.
pub fn differences(row: &mut [u8], bytes: usize, channels: usize) {
    /// How many bytes are read before any of them is written, which is what lets them go side by side.
    const BLOCK: usize = 64;
    let stride = bytes * channels;
    let mut end = row.len();
    if bytes == 1 {
        while end >= stride + BLOCK {
            let begin = end - BLOCK;
            let mut here = [0; BLOCK];
            here.copy_from_slice(&row[begin..end]);
            for (to, left) in here.iter_mut().zip(&row[begin - stride..end - stride]) {
                *to = to.wrapping_sub(*left);
            }
            row[begin..end].copy_from_slice(&here);
            end = begin;
        }
        for i in (stride..end).rev() {
            row[i] = row[i].wrapping_sub(row[i - stride]);
        }
        return;
    }
    for i in (stride..row.len().saturating_sub(1)).step_by(2).rev() {
        let left = u16::from_ne_bytes([row[i - stride], row[i - stride + 1]]);
        let here = u16::from_ne_bytes([row[i], row[i + 1]]);
        row[i..i + 2].copy_from_slice(&here.wrapping_sub(left).to_ne_bytes());
    }
}

/// Predictor 3 undone: `stored` holds the differences of bytes, those of all samples' most significant bytes first;
/// `row` gets the samples in this machine's order. `stored` is used up.
pub fn undo_planes(stored: &mut [u8], row: &mut [u8], bytes: usize, channels: usize) {
    undo_differences(stored, 1, channels);
    let samples = row.len() / bytes;
    for (i, sample) in row.chunks_exact_mut(bytes).enumerate() {
        for significance in 0..bytes {
            sample[place(significance, bytes)] = stored[significance * samples + i];
        }
    }
}

/// Predictor 3: the samples of `row`, in this machine's order, into `stored`.
pub fn planes(row: &[u8], stored: &mut [u8], bytes: usize, channels: usize) {
    let samples = row.len() / bytes;
    for (i, sample) in row.chunks_exact(bytes).enumerate() {
        for significance in 0..bytes {
            stored[significance * samples + i] = sample[place(significance, bytes)];
        }
    }
    differences(stored, 1, channels);
}

/// Where in a sample the byte of a significance stands, 0 the most significant.
fn place(significance: usize, bytes: usize) -> usize {
    if cfg!(target_endian = "little") { bytes - 1 - significance } else { significance }
}

/// Swaps the bytes of samples from the other order.
pub fn swap(samples: &mut [u8], bytes: usize) {
    if bytes > 1 {
        samples.chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_predictor_is_undone() {
        for (bytes, channels) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 3), (2, 4)] {
            let row: Vec<u8> = (0..bytes * channels * 71).map(|i| (i * i * 7 % 251) as u8).collect();
            let mut other = row.clone();
            differences(&mut other, bytes, channels);
            if bytes == 1 {
                let left = |i: usize| if i < channels { 0 } else { row[i - channels] };
                assert!((0..row.len()).all(|i| other[i] == row[i].wrapping_sub(left(i))));
            }
            undo_differences(&mut other, bytes, channels);
            assert_eq!(other, row, "{bytes} {channels}");
        }
        for (bytes, channels) in [(2, 1), (2, 3), (4, 1), (4, 3)] {
            let row: Vec<u8> = (0..bytes * channels * 16).map(|i| (i * i * 7 % 251) as u8).collect();
            let (mut stored, mut back) = (vec![0; row.len()], vec![0; row.len()]);
            planes(&row, &mut stored, bytes, channels);
            undo_planes(&mut stored, &mut back, bytes, channels);
            assert_eq!(back, row, "{bytes} {channels}");
        }
    }

    /// Two samples of one channel: the planes are 3f 40, 80 00, 00 00, 00 01, then each byte less the one before.
    #[test]
    fn planes_begin_with_the_most_significant_bytes() {
        let row: Vec<u8> = [1.0_f32, f32::from_bits(0x4000_0001)].iter().flat_map(|x| x.to_ne_bytes()).collect();
        let mut stored = [0; 8];
        planes(&row, &mut stored, 4, 1);
        assert_eq!(stored, [0x3f, 0x01, 0x40, 0x80, 0x00, 0x00, 0x00, 0x01]);
    }
}
