//! Parts through files, and merged with each other.

use super::*;
use crate::film::{FilmSample, OutputKind, Provenance, TileSums, shape};
use glam::Vec3;
use xxhash_rust::xxh3::xxh3_64;

fn plan() -> Plan {
    let window = Tile { x0: 3, y0: 1, x1: 22, y1: 5 };
    let tone = ToneCurve::Filmic;
    Plan {
        fingerprint: 77,
        frame: (30, 20),
        window,
        seed: 5,
        samples: 8,
        dependence: 3,
        photon_rounds: 12,
        exposure: 0.5,
        tone,
        aovs: aovs(),
        adaptive: None,
        provenance: Provenance { scene: "a.toml".to_owned(), command: "shade render a.toml".to_owned() },
    }
}

/// Of every rule: three channels of means and two of the nearest sample's.
fn aovs() -> Vec<Aov> {
    let normal = Aov::Output { name: "n".to_owned(), kind: OutputKind::Vector(3) };
    vec![Aov::Depth, normal, Aov::Variance, Aov::ObjectId, Aov::Samples]
}

/// A sample's radiance, of all signs and sizes.
fn radiance(pixel: u32, sample: u32) -> Vec3 {
    let n = (pixel * 31 + sample * 7919) as f32;
    Vec3::new(n.sin() * 1e3, (n * 0.1).exp2().min(1e15), -1e-9 * n)
}

fn part(range: Range<u32>) -> Part {
    let film = Film::new(plan().window, shape(&aovs()));
    for index in 0..film.tile_count() {
        let mut batch = TileSums::new(film.tile(index).pixels(), film.shape());
        for pixel in 0..film.tile(index).pixels() {
            for sample in range.clone() {
                let rank = FilmSample::rank((sample * 5 % 8) as f32, sample);
                let (means, nearest) = ([pixel, sample, 7].map(|n| n as f32), [sample, pixel].map(|n| n as f32));
                let radiance = radiance(pixel, sample);
                batch.add(pixel as usize, &FilmSample { radiance, means: &means, nearest: &nearest, rank });
            }
        }
        film.add(index, &batch);
    }
    Part { plan: plan(), ranges: vec![range], unfinished: None, film }
}

#[test]
fn parts_come_back_as_they_were_written() {
    let mut written = part(2..5);
    written.unfinished = Done::new(1, vec![3, 9]).map(|d| d.holding(4));
    let bytes = written.encode();
    let read = Part::decode(&bytes).expect("a whole part");
    assert_eq!((read.plan.clone(), read.ranges.clone()), (written.plan.clone(), written.ranges.clone()));
    assert_eq!(read.unfinished, written.unfinished);
    assert_eq!(read.picture(), written.picture());
    assert!(read.encode() == bytes);
    assert_eq!(read.mean_samples(), 3.0);
    written.plan.adaptive = Some(Adaptive { threshold: 0.01, least: 16 });
    let read = Part::decode(&written.encode()).expect("a whole part");
    assert_eq!(read.plan, written.plan);
}

#[test]
fn parts_in_any_order_are_the_whole() {
    let whole = part(0..8).encode();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let ranges = [0..3, 3..4, 4..8];
        let mut sum = part(ranges[order[0]].clone());
        for &i in &order[1..] {
            sum.join(&part(ranges[i].clone())).expect("they are apart");
        }
        assert!(sum.missing().is_empty() && sum.encode() == whole);
    }
}

#[test]
fn what_does_not_go_together_is_told_apart() {
    let join = |change: &dyn Fn(&mut Part)| {
        let mut other = part(4..8);
        change(&mut other);
        part(0..4).join(&other)
    };
    assert_eq!(join(&|_| ()), Ok(()));
    assert_eq!(join(&|p| p.plan.fingerprint = 1), Err(Misfit::Scene));
    assert_eq!(join(&|p| p.plan.adaptive = Some(Adaptive { threshold: 0.1, least: 4 })), Err(Misfit::Scene));
    assert_eq!(join(&|p| p.plan.seed = 1), Err(Misfit::Seed(5, 1)));
    assert_eq!(join(&|p| p.plan.samples = 16), Err(Misfit::Samples(8, 16)));
    assert_eq!(join(&|p| p.plan.frame = (30, 30)), Err(Misfit::Frame((30, 20), (30, 30))));
    let layers = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<String>>();
    let all = layers(&["depth", "n", "variance", "object_id", "samples"]);
    let without = Err(Misfit::Layers(all, layers(&["uv"])));
    assert_eq!(join(&|p| p.plan.aovs = vec![Aov::Uv]), without);
    assert_eq!(join(&|p| p.unfinished = Some(Done::default())), Err(Misfit::Unfinished));
    assert_eq!(part(0..4).join(&part(2..6)), Err(Misfit::Overlap(2..4)));
    let mut gaps = part(1..3);
    gaps.join(&part(5..6)).expect("they are apart");
    assert_eq!(gaps.missing(), [0..1, 3..5, 6..8]);
    let read = Part::decode(&gaps.encode()).expect("a whole part");
    assert_eq!(read.ranges, [1..3, 5..6]);
}

#[test]
fn every_truncation_and_every_changed_byte_is_found() {
    let good = part(0..1).encode();
    for length in 0..good.len() {
        assert!(Part::decode(&good[..length]).is_err(), "{length} bytes");
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(Part::decode(&bad).is_err(), "byte {at}");
    }
    assert_eq!(Part::decode(b"P6 1 1 255").err(), Some(PartFileError::Other));
    let mut newer = good.clone();
    newer[8] = 9;
    assert_eq!(Part::decode(&newer).err(), Some(PartFileError::Version(9)));
    // Behind the version stands what built it.
    let mut other = good;
    other[12] ^= 1;
    assert_eq!(Part::decode(&other).err(), Some(PartFileError::Build));
}

/// As one who knows the format would forge it: the checksum is right, the contents are anything.
#[test]
fn forged_contents_neither_panic_nor_take_memory() {
    let mut forged = part(0..2);
    forged.unfinished = Done::new(0, vec![1]);
    let good = forged.encode();
    let content = good.len() - 8;
    let others = part(2..4).ranges;
    for at in 20..content {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] = value;
            let sum = xxh3_64(&bad[..content]).to_le_bytes();
            bad[content..].copy_from_slice(&sum);
            if let Ok(mut read) = Part::decode(&bad) {
                let same = Part { unfinished: None, ranges: others.clone(), ..read.clone() };
                read.unfinished = None;
                // Whether they fit or not: sums stay in bounds.
                let _ = read.join(&same);
                let _ = read.picture();
            }
        }
    }
}
