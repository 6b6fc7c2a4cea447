//! Predictors of TIFF: rows are stored as differences, which pack better. Rows are taken one by one, as both
//! reading and writing do; each function is the inverse of its neighbour.

/// Sums of neighbours: predictor 2 undone on one row of samples of `bytes` bytes in this machine's order.
pub fn undo_differences(row: &mut [u8], bytes: usize, channels: usize) {
    match bytes {
        1 => {
            for i in channels..row.len() {
                row[i] = row[i].wrapping_add(row[i - channels]);
            }
        }
        2 => {
            let stride = 2 * channels;
            for i in (stride..row.len() - 1).step_by(2) {
                let left = u16::from_ne_bytes([row[i - stride], row[i - stride + 1]]);
                let here = u16::from_ne_bytes([row[i], row[i + 1]]);
                row[i..i + 2].copy_from_slice(&here.wrapping_add(left).to_ne_bytes());
            }
        }
        _ => {
            let word = |row: &[u8], i: usize| u32::from_ne_bytes([row[i], row[i + 1], row[i + 2], row[i + 3]]);
            let stride = 4 * channels;
            for i in (stride..row.len() - 3).step_by(4) {
                let sum = word(row, i).wrapping_add(word(row, i - stride));
                row[i..i + 4].copy_from_slice(&sum.to_ne_bytes());
            }
        }
    }
}

/// Predictor 2 on one row of 8- or 16-bit samples in this machine's order.
pub fn differences(row: &mut [u8], bytes: usize, channels: usize) {
    let stride = bytes * channels;
    if bytes == 1 {
        for i in (stride..row.len()).rev() {
            row[i] = row[i].wrapping_sub(row[i - stride]);
        }
        return;
    }
    for i in (stride..row.len() - 1).step_by(2).rev() {
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
        for (bytes, channels) in [(1, 1), (1, 3), (1, 4), (2, 1), (2, 3), (2, 4)] {
            let row: Vec<u8> = (0..bytes * channels * 16).map(|i| (i * i * 7 % 251) as u8).collect();
            let mut other = row.clone();
            differences(&mut other, bytes, channels);
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
