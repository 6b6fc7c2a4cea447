//! A tree that cuts space in two at each node, until few photons are in each part.

use super::photon::Photon;
use crate::math::lanes::Row3;
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// Photons in a part at most, but for those that share one place.
pub const ROOM: usize = 128;

#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// For each node that is a part, its number.
    parts: Vec<u32>,
    /// Cuts on the way to a part, at most.
    depth: u32,
}

/// A cut along an axis.
#[derive(Clone, Copy, Debug)]
struct Node {
    cut: f32,
    axis: u32,
    /// The nodes behind which all else is, and what is below the cut. Of a part, itself.
    next: [u32; 2],
}

/// The corners of a box.
pub type Bounds = (Vec3, Vec3);

impl Tree {
    /// Of photons, which it sorts; `part` is called for each part in the order of their numbers.
    pub fn new(photons: &mut [Photon], mut part: impl FnMut(&mut [Photon], Bounds)) -> Tree {
        let mut tree = Tree::default();
        tree.divide(photons, 0, &mut 0, &mut part);
        tree
    }

    fn divide(
        &mut self,
        photons: &mut [Photon],
        cuts: u32,
        parts: &mut u32,
        part: &mut impl FnMut(&mut [Photon], Bounds),
    ) {
        let node = self.nodes.len() as u32;
        self.depth = self.depth.max(cuts);
        let (low, high) = bounds(photons);
        let side = high - low;
        if photons.len() <= ROOM || side == Vec3::ZERO {
            self.push(Node { cut: 0.0, axis: 0, next: [node; 2] }, *parts);
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
        self.push(Node { cut: at, axis: axis as u32, next: [0, node + 1] }, 0);
        self.divide(below, cuts + 1, parts, part);
        self.nodes[node as usize].next[0] = self.nodes.len() as u32;
        self.divide(above, cuts + 1, parts, part);
    }

    fn push(&mut self, node: Node, part: u32) {
        self.nodes.push(node);
        self.parts.push(part);
    }

    /// The numbers of the parts that places belong to. All take their steps together, as each step waits for the one before.
    pub fn find(&self, places: &Row3) -> [u32; LANES] {
        let along = places.rows();
        let mut at = [0; LANES];
        for _ in 0..self.depth {
            for (lane, at) in at.iter_mut().enumerate() {
                let node = &self.nodes[*at as usize];
                // Which way is a toss-up: nothing branches on it.
                *at = node.next[usize::from(along[node.axis as usize][lane] < node.cut)];
            }
        }
        at.map(|at| self.parts[at as usize])
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
            let all =
                parts.iter().enumerate().flat_map(|(number, part)| part.iter().map(move |place| (*place, number)));
            for some in all.collect::<Vec<_>>().chunks(LANES) {
                let mut places = Row3::ZERO;
                some.iter().enumerate().for_each(|(lane, (place, _))| places.set(lane, *place));
                let found = tree.find(&places);
                assert!(
                    some.iter().zip(found).all(|((_, number), found)| *number as u32 == found),
                    "{count} {places:?}"
                );
            }
        }
    }
}
