//! A writer of tiled TIFF as plain as the specification, for every combination that is read.

use renderer::texture::{Sample, StoredFile};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file in memory that counts its reads.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub reads: AtomicUsize,
}

impl Memory {
    pub fn new(bytes: Vec<u8>) -> Memory {
        Memory { bytes, reads: AtomicUsize::new(0) }
    }

    pub fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::Relaxed)
    }
}

impl StoredFile for Memory {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let from = usize::try_from(offset).expect("it is in memory");
        let found = self.bytes.get(from..).and_then(|b| b.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub big_endian: bool,
    pub wide: bool,
    pub compression: u16,
    pub predictor: u16,
    pub sample: Sample,
    pub channels: usize,
    pub tile: usize,
    /// Levels below the first as its sub-directories.
    pub subs: bool,
    /// Compression and predictor of the levels below the first, if they are others.
    pub below: Option<(u16, u16)>,
}

impl Default for Kind {
    fn default() -> Kind {
        Kind {
            big_endian: false,
            wide: false,
            compression: 1,
            predictor: 1,
            sample: Sample::U8,
            channels: 3,
            tile: 16,
            subs: false,
            below: None,
        }
    }
}

impl Kind {
    /// Compression and predictor of a level.
    fn storing(&self, level: usize) -> (u16, u16) {
        self.below.filter(|_| level > 0).unwrap_or((self.compression, self.predictor))
    }
}

/// The bytes of sample `channel` of the texel at (x, y): some smooth, some rough.
pub fn texel(kind: &Kind, level: usize, x: usize, y: usize, channel: usize) -> Vec<u8> {
    let n = (x * 5 + y * 3 + channel * 40 + level * 17 + (x * y) % 7) % 250;
    match kind.sample {
        Sample::U8 => vec![n as u8],
        Sample::U16 => (n as u16 * 257 + x as u16).to_ne_bytes().to_vec(),
        Sample::F16 => half::f16::from_f32(n as f32 / 97.0).to_ne_bytes().to_vec(),
        Sample::F32 => (n as f32 / 97.0 - 1.0).to_ne_bytes().to_vec(),
    }
}

pub fn sizes(width: usize, height: usize) -> Vec<(usize, usize)> {
    let mut sizes = vec![(width, height)];
    while sizes[sizes.len() - 1] != (1, 1) {
        let (w, h) = sizes[sizes.len() - 1];
        sizes.push(((w / 2).max(1), (h / 2).max(1)));
    }
    sizes
}

struct Out {
    kind: Kind,
    bytes: Vec<u8>,
}

impl Out {
    /// The header, and where its link to the first directory stands.
    fn begin(kind: Kind) -> (Out, usize) {
        let mut out = Out { kind, bytes: if kind.big_endian { b"MM".to_vec() } else { b"II".to_vec() } };
        let head = match kind.wide {
            true => [out.number(43, 2), out.number(8, 2), out.number(0, 2), out.number(0, 8)].concat(),
            false => [out.number(42, 2), out.number(0, 4)].concat(),
        };
        out.bytes.extend(head);
        (out, if kind.wide { 8 } else { 4 })
    }

    fn number(&self, n: u64, size: usize) -> Vec<u8> {
        let little = n.to_le_bytes()[..size].to_vec();
        if self.kind.big_endian { little.into_iter().rev().collect() } else { little }
    }

    fn word(&self) -> usize {
        if self.kind.wide { 8 } else { 4 }
    }

    /// The bytes of a tile, packed.
    fn tile(&self, (w, h): (usize, usize), level: usize, tx: usize, ty: usize) -> Vec<u8> {
        let (kind, n) = (&self.kind, self.kind.tile);
        let (compression, predictor) = kind.storing(level);
        let size = kind.sample.bytes();
        let mut bytes = Vec::new();
        for y in 0..n {
            let mut row: Vec<Vec<u8>> = Vec::new();
            for x in 0..n {
                let (px, py) = ((tx * n + x).min(w - 1), (ty * n + y).min(h - 1));
                row.extend((0..kind.channels).map(|c| {
                    let mut s = texel(kind, level, px, py, c);
                    s.reverse(); // most significant first
                    s
                }));
            }
            let integer = |s: &[u8]| s.iter().fold(0_u64, |sum, b| sum << 8 | u64::from(*b));
            match predictor {
                1 => row.iter().for_each(|s| bytes.extend(self.number(integer(s), size))),
                2 => {
                    for i in 0..row.len() {
                        let left = if i < kind.channels { 0 } else { integer(&row[i - kind.channels]) };
                        bytes.extend(self.number(integer(&row[i]).wrapping_sub(left), size));
                    }
                }
                _ => {
                    let planes: Vec<u8> = (0..size).flat_map(|b| row.iter().map(move |s| s[b])).collect();
                    for i in 0..planes.len() {
                        let left = if i < kind.channels { 0 } else { planes[i - kind.channels] };
                        bytes.push(planes[i].wrapping_sub(left));
                    }
                }
            }
        }
        match compression {
            5 => weezl::encode::Encoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8).encode(&bytes).expect("LZW"),
            8 | 32946 => fdeflate::compress_to_vec(&bytes),
            32773 => bytes.chunks(100).flat_map(|c| [&[(c.len() - 1) as u8], c].concat()).collect(),
            _ => bytes,
        }
    }

    /// Writes a directory at the end and gives its place and that of its link to the next.
    fn directory(&mut self, entries: &[(u16, u16, Vec<u64>)]) -> (u64, usize) {
        let word = self.word();
        let size_of = |kind: u16| match kind {
            2 => 1,
            3 => 2,
            4 => 4,
            _ => 8,
        };
        let mut fields = Vec::new();
        for (tag, kind, values) in entries {
            let mut bytes: Vec<u8> = values.iter().flat_map(|&v| self.number(v, size_of(*kind))).collect();
            if bytes.len() > word {
                let at = self.bytes.len() as u64;
                self.bytes.extend(bytes);
                bytes = self.number(at, word);
            }
            bytes.resize(word, 0);
            let head = [self.number(u64::from(*tag), 2), self.number(u64::from(*kind), 2)].concat();
            fields.extend([head, self.number(values.len() as u64, word), bytes].concat());
        }
        let at = self.bytes.len() as u64;
        let count = self.number(entries.len() as u64, if self.kind.wide { 8 } else { 2 });
        self.bytes.extend(count);
        self.bytes.extend(fields);
        let link = self.bytes.len();
        self.bytes.extend(vec![0; word]);
        (at, link)
    }

    fn patch(&mut self, at: usize, n: u64) {
        let bytes = self.number(n, self.word());
        self.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
    }
}

/// A texture of all levels down to 1×1.
pub fn write(kind: Kind, width: usize, height: usize, extra: &[(u16, u16, Vec<u64>)]) -> Vec<u8> {
    let (mut out, first_link) = Out::begin(kind);
    let mut link = first_link;
    let mut subs = Vec::new();
    let levels: Vec<_> = sizes(width, height).into_iter().enumerate().collect();
    // With sub-directories the first directory comes last, because it says where the others are.
    let order: Vec<_> =
        if kind.subs { levels[1..].iter().chain(&levels[..1]).collect() } else { levels.iter().collect() };
    for &&(level, (w, h)) in &order {
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for ty in 0..h.div_ceil(kind.tile) {
            for tx in 0..w.div_ceil(kind.tile) {
                let tile = out.tile((w, h), level, tx, ty);
                offsets.push(out.bytes.len() as u64);
                lengths.push(tile.len() as u64);
                out.bytes.extend(tile);
            }
        }
        let (compression, predictor) = kind.storing(level);
        let format = if matches!(kind.sample, Sample::F16 | Sample::F32) { 3 } else { 1 };
        let bits = 8 * kind.sample.bytes() as u64;
        let offset_type = if kind.wide { 16 } else { 4 };
        let mut entries = vec![
            (256, 3, vec![w as u64]),
            (257, 4, vec![h as u64]),
            (258, 3, vec![bits; kind.channels]),
            (259, 3, vec![u64::from(compression)]),
            (262, 3, vec![if kind.channels > 2 { 2 } else { 1 }]),
            (277, 3, vec![kind.channels as u64]),
            (284, 3, vec![1]),
            (317, 3, vec![u64::from(predictor)]),
            (322, 3, vec![kind.tile as u64]),
            (323, 3, vec![kind.tile as u64]),
            (324, offset_type, offsets),
            (325, 4, lengths),
            (339, 3, vec![format; kind.channels]),
        ];
        if level == 0 {
            entries.extend(extra.iter().cloned());
            if !subs.is_empty() {
                entries.push((330, offset_type, subs.clone()));
            }
        }
        entries.sort_by_key(|e| e.0);
        let (at, next) = out.directory(&entries);
        if kind.subs && level > 0 {
            subs.push(at);
        } else {
            out.patch(link, at);
            link = next;
        }
    }
    assert!(link >= first_link);
    out.bytes
}

/// One image of 8 bits, not compressed, in strips of so many `rows`. `data` is cut into strips, however long it is.
pub fn strips((width, height): (usize, usize), channels: usize, extra: &[u64], rows: usize, data: &[u8]) -> Vec<u8> {
    let (mut out, link) = Out::begin(Kind::default());
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for strip in data.chunks(rows * width * channels) {
        offsets.push(out.bytes.len() as u64);
        lengths.push(strip.len() as u64);
        out.bytes.extend(strip);
    }
    let mut entries = vec![
        (256, 4, vec![width as u64]),
        (257, 4, vec![height as u64]),
        (258, 3, vec![8; channels]),
        (259, 3, vec![1]),
        (262, 3, vec![if channels > 2 { 2 } else { 1 }]),
        (273, 4, offsets),
        (277, 3, vec![channels as u64]),
        (278, 4, vec![rows as u64]),
        (279, 4, lengths),
    ];
    if !extra.is_empty() {
        entries.push((338, 3, extra.to_vec()));
    }
    let (at, _) = out.directory(&entries);
    out.patch(link, at);
    out.bytes
}

/// Text as values of a tag.
pub fn text(text: &str) -> Vec<u64> {
    text.bytes().chain([0]).map(u64::from).collect()
}
