//! Tiled, mip-mapped TIFFs of noise, made up as they are read, on slow storage.

use renderer::texture::{Storage, StoredFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Square files of red, green and blue, 8 bits each, not packed.
pub struct Virtual {
    front: Arc<[u8]>,
    length: u64,
    delay: Duration,
    /// Shared with whoever counts. Nothing is slow before the first flag is set.
    pub watch: Arc<Watch>,
}

#[derive(Default)]
pub struct Watch {
    pub is_slow: AtomicBool,
    pub reads: AtomicU64,
}

/// The side of tiles, and the bytes of one.
const TILE: u32 = 64;
const TILE_BYTES: u64 = 3 * (TILE * TILE) as u64;

impl Virtual {
    pub fn new(side: u32, delay: Duration) -> Virtual {
        let (front, length) = front(side);
        Virtual { front: front.into(), length, delay, watch: Arc::default() }
    }

    pub fn path(index: usize) -> PathBuf {
        PathBuf::from(format!("virtual-{index}.tx"))
    }
}

impl Storage for Virtual {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let seed = path.as_os_str().as_encoded_bytes().iter().fold(0, |h, &b| mix(h ^ u64::from(b)));
        let (front, watch) = (self.front.clone(), self.watch.clone());
        Ok(Arc::new(File { front, length: self.length, delay: self.delay, watch, seed }))
    }
}

struct File {
    front: Arc<[u8]>,
    length: u64,
    delay: Duration,
    watch: Arc<Watch>,
    seed: u64,
}

impl StoredFile for File {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset + buffer.len() as u64 > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.watch.is_slow.load(Ordering::Relaxed) {
            self.watch.reads.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(self.delay);
        }
        let front = self.front.get(offset.min(self.front.len() as u64) as usize..).unwrap_or(&[]);
        let known = front.len().min(buffer.len());
        buffer[..known].copy_from_slice(&front[..known]);
        for (i, bytes) in buffer[known..].chunks_mut(8).enumerate() {
            let word = mix(self.seed ^ (offset / 8 + i as u64)).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        Ok(())
    }
}

/// SplitMix64's step (Steele, Lea & Flood 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Header, a directory for each level, then the tables of tiles (TIFF 6.0); and the length of the whole file.
fn front(side: u32) -> (Vec<u8>, u64) {
    const ENTRIES: u32 = 10;
    const DIRECTORY: u32 = 2 + 12 * ENTRIES + 4;
    let sides: Vec<u32> = std::iter::successors(Some(side), |s| (*s > 1).then_some(s / 2)).collect();
    let tiles: Vec<u32> = sides.iter().map(|s| s.div_ceil(TILE).pow(2)).collect();
    // The three counts of bits, once for all levels, behind the header.
    let (bits, first) = (8, 16);
    let tables = first + DIRECTORY * sides.len() as u32;
    let data = tables + 8 * tiles.iter().filter(|&&n| n > 1).sum::<u32>();
    let mut out = b"II\x2a\0\x10\0\0\0".to_vec();
    out.extend([8_u16, 8, 8, 0].iter().flat_map(|n| n.to_le_bytes()));
    let (mut table, mut tile) = (tables, data);
    for (level, (&side, &count)) in sides.iter().zip(&tiles).enumerate() {
        // One number stands in the directory itself.
        let single = count == 1;
        let (offsets, counts) = if single { (tile, TILE_BYTES as u32) } else { (table, table + 4 * count) };
        let entries: [(u16, u16, u32, u32); ENTRIES as usize] = [
            (256, 4, 1, side),
            (257, 4, 1, side),
            (258, 3, 3, bits),
            (259, 3, 1, 1),
            (262, 3, 1, 2),
            (277, 3, 1, 3),
            (322, 4, 1, TILE),
            (323, 4, 1, TILE),
            (324, 4, count, offsets),
            (325, 4, count, counts),
        ];
        out.extend((ENTRIES as u16).to_le_bytes());
        for (tag, kind, count, value) in entries {
            out.extend(tag.to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(count.to_le_bytes());
            out.extend(value.to_le_bytes());
        }
        let next = if level + 1 < sides.len() { first + DIRECTORY * (level as u32 + 1) } else { 0 };
        out.extend(next.to_le_bytes());
        table += if single { 0 } else { 8 * count };
        tile += count * TILE_BYTES as u32;
    }
    let mut tile = data;
    for &count in &tiles {
        if count > 1 {
            out.extend((0..count).flat_map(|i| (tile + i * TILE_BYTES as u32).to_le_bytes()));
            out.extend((0..count).flat_map(|_| (TILE_BYTES as u32).to_le_bytes()));
        }
        tile += count * TILE_BYTES as u32;
    }
    let length = u64::from(data) + tiles.iter().map(|&n| u64::from(n) * TILE_BYTES).sum::<u64>();
    (out, length)
}
