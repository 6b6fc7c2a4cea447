//! A tree that cuts space in two at each node, until few of the things that lie in it are in each part.

use super::lanes::Row3;
use glam::Vec3;
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;

/// What lies at a point.
pub trait Located {
    fn position(&self) -> Vec3;
}

#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// For each node that is a part, its number.
    parts: Vec<u32>,
    /// How many there are.
    count: u32,
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
    /// Adds a tree of things, which it sorts, with so much `room` in a part but for those that share one place; `part` is called for
    /// each part in the order of their numbers, which go on from those of the trees before. Returns where it begins.
    pub fn add<T: Located>(&mut self, things: &mut [T], room: usize, mut part: impl FnMut(&mut [T], Bounds)) -> u32 {
        let root = self.nodes.len() as u32;
        self.divide(things, (room, 0), &mut part);
        root
    }

    fn divide<T: Located>(
        &mut self,
        things: &mut [T],
        (room, cuts): (usize, u32),
        part: &mut impl FnMut(&mut [T], Bounds),
    ) {
        let node = self.nodes.len() as u32;
        self.depth = self.depth.max(cuts);
        let (low, high) = bounds(things);
        let side = high - low;
        if things.len() <= room || side == Vec3::ZERO {
            self.push(Node { cut: 0.0, axis: 0, next: [node; 2] }, self.count);
            self.count += 1;
            part(things, (low, high));
            return;
        }
        let axis = (0..3).fold(0, |best, axis| if side[axis] > side[best] { axis } else { best });
        things.sort_by(|a, b| a.position()[axis].total_cmp(&b.position()[axis]));
        // All in one place stay together.
        let lowest = things.partition_point(|thing| thing.position()[axis] <= low[axis]);
        let at = things[lowest.max(things.len() / 2)].position()[axis];
        let below = things.partition_point(|thing| thing.position()[axis] < at);
        let (below, above) = things.split_at_mut(below);
        self.push(Node { cut: at, axis: axis as u32, next: [0, node + 1] }, 0);
        self.divide(below, (room, cuts + 1), part);
        self.nodes[node as usize].next[0] = self.nodes.len() as u32;
        self.divide(above, (room, cuts + 1), part);
    }

    fn push(&mut self, node: Node, part: u32) {
        self.nodes.push(node);
        self.parts.push(part);
    }

    /// The numbers of the parts that places belong to, each in the tree that begins at its root. All take their steps together, as each
    /// step waits for the one before.
    pub fn find(&self, roots: [u32; LANES], places: &Row3) -> [u32; LANES] {
        let along = places.rows();
        let mut at = roots;
        for _ in 0..self.depth {
            for (lane, at) in at.iter_mut().enumerate() {
                let node = &self.nodes[*at as usize];
                // Which way is a toss-up: nothing branches on it.
                *at = node.next[usize::from(along[node.axis as usize][lane] < node.cut)];
            }
        }
        at.map(|at| self.parts[at as usize])
    }

    /// The numbers of all parts, of the tree that begins at a root, in which anything may lie within a ball.
    pub fn within(&self, root: u32, center: Vec3, radius: f32, mut part: impl FnMut(u32)) {
        let mut open = SmallVec::<[u32; 64]>::from_slice(&[root]);
        while let Some(at) = open.pop() {
            let Node { cut, axis, next: [above, below] } = self.nodes[at as usize];
            if above == at {
                part(self.parts[at as usize]);
                continue;
            }
            let along = center[axis as usize];
            if along + radius >= cut {
                open.push(above);
            }
            if along - radius <= cut {
                open.push(below);
            }
        }
    }
}

fn bounds<T: Located>(things: &[T]) -> Bounds {
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    things.iter().fold(none, |(low, high), thing| (low.min(thing.position()), high.max(thing.position())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 128;

    impl Located for Vec3 {
        fn position(&self) -> Vec3 {
            *self
        }
    }

    /// Well spread in [0, 1) for each number (Roberts' R3 sequence).
    fn spread(i: usize) -> Vec3 {
        (Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5) * i as f32).fract()
    }

    /// Spread in a box, on a line, in a few places, in one.
    #[test]
    fn things_are_found_in_their_parts() {
        for (count, places) in [(0, 1), (1, 1), (ROOM, 1000), (1000, 1), (1000, 3), (5000, 40), (5000, 1 << 20)] {
            let one = |i: usize| {
                let place = spread(i % places);
                if places == 40 { Vec3::X * place.x } else { place }
            };
            let mut photons: Vec<Vec3> = (0..count).map(one).collect();
            let mut parts: Vec<Vec<Vec3>> = Vec::new();
            let mut tree = Tree::default();
            let root = tree.add(&mut photons, ROOM, |photons, (low, high)| {
                assert!(photons.iter().all(|p| p.cmpge(low).all() && p.cmple(high).all()));
                assert!(photons.len() <= ROOM || low == high);
                parts.push(photons.to_vec());
            });
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), count);
            let all =
                parts.iter().enumerate().flat_map(|(number, part)| part.iter().map(move |place| (*place, number)));
            for some in all.collect::<Vec<_>>().chunks(LANES) {
                let mut places = Row3::ZERO;
                some.iter().enumerate().for_each(|(lane, (place, _))| places.set(lane, *place));
                let found = tree.find([root; LANES], &places);
                assert!(
                    some.iter().zip(found).all(|((_, number), found)| *number as u32 == found),
                    "{count} {places:?}"
                );
            }
        }
    }

    /// Two trees in one, each asked for its own: whatever is within a ball lies in the parts that are named.
    #[test]
    fn balls_are_searched_in_their_tree_alone() {
        let mut tree = Tree::default();
        let mut parts: Vec<Vec<Vec3>> = Vec::new();
        let roots = [0, 5000].map(|first| {
            let mut things: Vec<Vec3> = (first..first + 1000).map(spread).collect();
            let root = tree.add(&mut things, 8, |part, _| parts.push(part.to_vec()));
            (root, things)
        });
        for (i, (root, things)) in (0..40).zip(roots.iter().cycle()) {
            let (center, radius) = (spread(90_000 + i), 0.02 * i as f32);
            let inside = |thing: &&Vec3| thing.distance(center) <= radius;
            let mut found = Vec::new();
            let mut looked_at = 0;
            tree.within(*root, center, radius, |part| {
                looked_at += 1;
                found.extend(parts[part as usize].iter().copied());
            });
            // A small ball is in few of the 128 parts.
            assert!(radius > 0.1 || looked_at < 40, "{looked_at}");
            assert!(found.iter().all(|thing| things.contains(thing)));
            assert_eq!(found.iter().filter(inside).count(), things.iter().filter(inside).count(), "{i}");
        }
    }
}
