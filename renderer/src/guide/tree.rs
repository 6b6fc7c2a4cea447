//! A tree that cuts space in two at each node, until few photons are in each part.

use super::photon::Photon;
use glam::Vec3;

/// Photons in a part at most, but for those that share one place.
pub const ROOM: usize = 128;

#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// What is below `cut` along `axis` is behind the next node, all else behind the one of number `above`.
#[derive(Clone, Copy, Debug)]
struct Node {
    cut: f32,
    /// Or [`PART`].
    axis: u32,
    /// Of a part, its own number.
    above: u32,
}

const PART: u32 = 3;

/// The corners of a box.
pub type Bounds = (Vec3, Vec3);

impl Tree {
    /// Of photons, which it sorts; `part` is called for each part in the order of their numbers.
    pub fn new(photons: &mut [Photon], mut part: impl FnMut(&mut [Photon], Bounds)) -> Tree {
        let mut tree = Tree::default();
        tree.divide(photons, &mut 0, &mut part);
        tree
    }

    fn divide(&mut self, photons: &mut [Photon], parts: &mut u32, part: &mut impl FnMut(&mut [Photon], Bounds)) {
        let node = self.nodes.len();
        let (low, high) = bounds(photons);
        let side = high - low;
        if photons.len() <= ROOM || side == Vec3::ZERO {
            self.nodes.push(Node { cut: 0.0, axis: PART, above: *parts });
            *parts += 1;
            part(photons, (low, high));
            return;
        }
        let axis = (0..3).fold(0, |best, axis| if side[axis] > side[best] { axis } else { best });
        photons.sort_by(|a, b| a.position[axis].total_cmp(&b.position[axis]));
        // All in one place stay together.
        let lowest = photons.partition_point(|photon| photon.position[axis] <= low[axis]);
        let at = photons[lowest.max(photons.len() / 2)].position[axis];
        let below = photons.partition_point(|photon| photon.position[axis] < at);
        let (below, above) = photons.split_at_mut(below);
        self.nodes.push(Node { cut: at, axis: axis as u32, above: 0 });
        self.divide(below, parts, part);
        self.nodes[node].above = self.nodes.len() as u32;
        self.divide(above, parts, part);
    }

    /// The number of the part that a place belongs to.
    pub fn find(&self, position: Vec3) -> u32 {
        let along = position.to_array();
        let mut at = 0;
        loop {
            let node = &self.nodes[at as usize];
            if node.axis == PART {
                return node.above;
            }
            // Which way is a toss-up: nothing branches on it.
            let is_below = u32::from(along[node.axis as usize] < node.cut);
            at = is_below * (at + 1) + (1 - is_below) * node.above;
        }
    }
}

fn bounds(photons: &[Photon]) -> Bounds {
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    photons.iter().fold(none, |(low, high), photon| (low.min(photon.position), high.max(photon.position)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// Spread in a box, on a line, in a few places, in one.
    #[test]
    fn photons_are_found_in_their_parts() {
        for (count, places) in [(0, 1), (1, 1), (ROOM, 1000), (1000, 1), (1000, 3), (5000, 40), (5000, 1 << 20)] {
            let one = |i: usize| {
                let mut s = Sampler::new(2, (7, 7), (i % places) as u32);
                let x = s.next_1d();
                let position = if places == 40 { Vec3::X * x } else { s.next_2d().extend(x) };
                Photon { position, wi: Vec3::Z, power: 1.0 }
            };
            let mut photons: Vec<Photon> = (0..count).map(one).collect();
            let mut parts: Vec<Vec<Vec3>> = Vec::new();
            let tree = Tree::new(&mut photons, |photons, (low, high)| {
                assert!(photons.iter().all(|p| p.position.cmpge(low).all() && p.position.cmple(high).all()));
                assert!(photons.len() <= ROOM || low == high);
                parts.push(photons.iter().map(|p| p.position).collect());
            });
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), count);
            for (number, part) in parts.iter().enumerate() {
                assert!(part.iter().all(|position| tree.find(*position) == number as u32), "{count} {places}");
            }
        }
    }
}
