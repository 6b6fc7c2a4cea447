//! Values that are NaN or infinite: whose shader they come from, and where. What is kept does not depend on threads.

use std::collections::BTreeMap;

/// Pixels that are kept of each material.
pub const KEPT: usize = 4;

/// A vertex of a path, to be named where something of it is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyVertex {
    pub bounce: u32,
    pub material: u32,
}

/// Where a path came to a value that was no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFault {
    pub path: u32,
    pub vertex: FaultyVertex,
}

/// Where: the pixel, as y and x, its sample, and the bounce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct FaultPlace {
    pub y: u32,
    pub x: u32,
    pub sample: u32,
    pub bounce: u32,
}

/// What is known of one material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faulty {
    pub hits: u64,
    /// The first of each of the first few pixels, row by row.
    pub places: Vec<FaultPlace>,
}

/// What is known, by the number of the material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(BTreeMap<u32, Faulty>);

impl Faults {
    pub fn add(&mut self, material: u32, place: FaultPlace) {
        let faulty = self.0.entry(material).or_default();
        faulty.hits += 1;
        faulty.keep(place);
    }

    pub fn merge(&mut self, other: Faults) {
        for (material, theirs) in other.0 {
            let ours = self.0.entry(material).or_default();
            ours.hits += theirs.hits;
            theirs.places.into_iter().for_each(|place| ours.keep(place));
        }
    }

    /// Materials in order.
    pub fn list(&self) -> impl Iterator<Item = (u32, &Faulty)> {
        self.0.iter().map(|(&material, faulty)| (material, faulty))
    }
}

impl Faulty {
    fn keep(&mut self, place: FaultPlace) {
        match self.places.binary_search_by_key(&(place.y, place.x), |p| (p.y, p.x)) {
            Ok(same) => self.places[same] = self.places[same].min(place),
            Err(at) if at < KEPT => {
                self.places.insert(at, place);
                self.places.truncate(KEPT);
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_depend_on_the_order() {
        let place = |i: u32| FaultPlace { y: i * 7 % 11, x: i * 5 % 3, sample: i % 13, bounce: i % 2 };
        let collect = |numbers: &mut dyn Iterator<Item = u32>| {
            let mut all = Faults::default();
            numbers.for_each(|i| all.add(i % 2, place(i)));
            all
        };
        let forwards = collect(&mut (0..500));
        let mut parts = collect(&mut (200..500).rev());
        parts.merge(collect(&mut (0..200)));
        assert_eq!(forwards, parts);
        let (_, first) = forwards.list().next().expect("there are two");
        assert_eq!(first.hits, 250);
        // The smallest of all, a pixel at a time.
        let mut pixels: Vec<FaultPlace> = (0..500).filter(|i| i % 2 == 0).map(place).collect();
        pixels.sort_unstable();
        pixels.dedup_by_key(|p| (p.y, p.x));
        assert_eq!(first.places, pixels[..KEPT]);
    }
}
