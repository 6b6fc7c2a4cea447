//! Which build of the program makes the samples of a part.

use crate::film::TILE_SIDE;
use xxhash_rust::xxh3::xxh3_64;

/// Samples a pixel that are traced together. With tiles of 16×16 a batch has 1024 paths: enough to fill
/// blocks of one shader, few enough to stay in a core's cache.
pub const BATCH: u32 = 4;

/// A number that differs between builds whose samples, tiles or batches of samples may differ: samples of one seed go
/// together only where one program made all of them. It is the same on all machines, for builds of the same sources.
pub fn build() -> u64 {
    of(env!("SOURCES"), BATCH, TILE_SIDE)
}

fn of(sources: &str, batch: u32, tile_side: u32) -> u64 {
    xxh3_64(format!("{} {sources} {batch} {tile_side}", env!("CARGO_PKG_VERSION")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_decides_counts() {
        let all = [of("a", 4, 16), of("b", 4, 16), of("a", 8, 16), of("a", 4, 32)];
        assert!((1..4).all(|i| all[..i].iter().all(|before| *before != all[i])));
    }
}
