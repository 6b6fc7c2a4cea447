//! Samples one of many lights by a tree: at each node, the side that may bring more light to the receiver is more
//! likely.

use super::bounds::{Cluster, Clusters, LightBounds};
use super::{LightChoice, LightSampleContext, Receivers};
use crate::math::lanes::{Row, lanes_of, wide};
use ssl_compiler::runtime::LANES;

/// A binary tree over lights, which are known by numbers.
#[derive(Clone, Debug, Default)]
pub struct LightTree {
    /// In depth-first order, so that a node's first child stands behind it. The root is the first, if there is one.
    nodes: Vec<Node>,
    /// Numbers of lights, leaf after leaf.
    lights: Vec<u32>,
    /// Of those, their intensities.
    intensities: Vec<f32>,
    /// Where each number stands among them, and in which leaf; [`Place::NOWHERE`] for those that are not in the tree.
    places: Vec<Place>,
    choice: LightChoice,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    lights: Cluster,
    /// 0 for the root.
    parent: u32,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// The second child.
    Inner(u32),
    /// The first of its lights and how many there are.
    Leaf(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Place {
    leaf: u32,
    index: u32,
}

impl Place {
    const NOWHERE: Place = Place { leaf: u32::MAX, index: 0 };
}

/// Places of splits that are tried along an axis, less one.
const BUCKETS: usize = 12;
/// Below, lights are split in equal halves, so that no tree is too deep for the stack.
const DEEPEST: u32 = 64;
/// With more lights, leaves hold several, so that the tree takes less memory than the lights do.
const SINGLE: usize = 1 << 17;

impl LightTree {
    /// Over lights with their numbers; those that are black are left out. `count` is above all numbers.
    pub fn new(lights: impl IntoIterator<Item = (u32, LightBounds)>, count: usize, choice: LightChoice) -> LightTree {
        let mut lights: Vec<(u32, LightBounds)> = lights.into_iter().filter(|(_, b)| b.intensity > 0.0).collect();
        let mut tree = LightTree { places: vec![Place::NOWHERE; count], choice, ..LightTree::default() };
        if !lights.is_empty() {
            let most = lights.len().div_ceil(SINGLE).next_power_of_two();
            tree.build(&mut lights, most, 0, 0);
        }
        tree
    }

    fn build(&mut self, lights: &mut [(u32, LightBounds)], most: usize, parent: u32, depth: u32) {
        let bounds = lights.iter().skip(1).fold(lights[0].1, |all, (_, b)| all.union(b));
        let cluster = bounds.cluster();
        let number = self.nodes.len() as u32;
        if lights.len() <= most {
            let first = self.lights.len() as u32;
            self.nodes.push(Node { lights: cluster, parent, content: Content::Leaf(first, lights.len() as u32) });
            for (light, bounds) in lights {
                self.places[*light as usize] = Place { leaf: number, index: self.lights.len() as u32 };
                self.lights.push(*light);
                self.intensities.push(bounds.intensity);
            }
            return;
        }
        self.nodes.push(Node { lights: cluster, parent, content: Content::Inner(0) });
        let middle = split(lights, &bounds, depth);
        let (left, right) = lights.split_at_mut(middle);
        self.build(left, most, number, depth + 1);
        self.nodes[number as usize].content = Content::Inner(self.nodes.len() as u32);
        self.build(right, most, number, depth + 1);
    }

    /// For each of the wanted lanes a light for its `u` in [0, 1), its probability, and `u` stretched to be uniform again; `None`
    /// where none can bring anything.
    pub fn sample(&self, receivers: &Receivers, wanted: u32, u: &Row) -> [Option<ChosenLight>; LANES] {
        let mut ways = [Way { at: 0, p: 1.0, left: 0.0 }; LANES];
        lanes_of(wanted).for_each(|lane| ways[lane].left = u[lane]);
        let mut dark = if self.nodes.is_empty() { wanted } else { 0 };
        let mut descending = wanted & !dark;
        while descending != 0 {
            descending = self.descend(receivers, descending, &mut ways, &mut dark);
        }
        let mut chosen = [None; LANES];
        lanes_of(wanted & !dark).for_each(|lane| chosen[lane] = self.in_leaf(&ways[lane], &receivers.get(lane)));
        chosen
    }

    /// Takes lanes from their nodes to one of the children, unless those are leaves; says whom it took.
    fn descend(&self, receivers: &Receivers, lanes: u32, ways: &mut [Way; LANES], dark: &mut u32) -> u32 {
        let (mut clusters, mut seconds, mut inner) = ([Clusters::NONE; 2], [0; LANES], 0);
        for lane in lanes_of(lanes) {
            let at = ways[lane].at;
            let Content::Inner(second) = self.nodes[at as usize].content else { continue };
            inner |= 1 << lane;
            seconds[lane] = second;
            clusters[0].set(lane, &self.nodes[at as usize + 1].lights);
            clusters[1].set(lane, &self.nodes[second as usize].lights);
        }
        if inner == 0 {
            return 0;
        }
        let importances = match self.choice {
            LightChoice::Tree => importances_of(&clusters, receivers),
            LightChoice::Power => clusters.map(|clusters| clusters.intensity),
        };
        for lane in lanes_of(inner) {
            match share(ways[lane].at, [importances[0][lane], importances[1][lane]]) {
                Some(first) => ways[lane].turn(first, seconds[lane]),
                None => *dark |= 1 << lane,
            }
        }
        inner & !*dark
    }

    /// One of the lights of the leaf that a way has come to.
    fn in_leaf(&self, &Way { at, p, left: u }: &Way, receiver: &LightSampleContext) -> Option<ChosenLight> {
        match self.nodes[at as usize].content {
            // Nobody stops there.
            Content::Inner(_) => None,
            Content::Leaf(..) if at == 0 && !self.reaches(receiver) => None,
            Content::Leaf(first, 1) => Some(ChosenLight { number: self.lights[first as usize], p, u }),
            Content::Leaf(first, count) => {
                let of = first as usize..(first + count) as usize;
                let total: f32 = self.intensities[of.clone()].iter().sum();
                let (mut left, mut index) = (u * total, of.start);
                while index + 1 < of.end && left >= self.intensities[index] {
                    left -= self.intensities[index];
                    index += 1;
                }
                let intensity = self.intensities[index];
                let u = (left / intensity).clamp(0.0, 1.0_f32.next_down());
                Some(ChosenLight { number: self.lights[index], p: p * intensity / total, u })
            }
        }
    }

    /// Its lights by their numbers, and their intensities.
    pub fn intensities(&self) -> impl Iterator<Item = (u32, f32)> {
        self.lights.iter().copied().zip(self.intensities.iter().copied())
    }

    /// The probability with which `sample` draws a light.
    pub fn probability(&self, receiver: &LightSampleContext, light: u32) -> f32 {
        let Some(&Place { leaf, index }) = self.places.get(light as usize) else { return 0.0 };
        let Some(Node { content: Content::Leaf(first, count), .. }) = self.nodes.get(leaf as usize) else { return 0.0 };
        let total: f32 = self.intensities[*first as usize..(first + count) as usize].iter().sum();
        let mut p = self.intensities[index as usize] / total;
        if leaf == 0 && !self.reaches(receiver) {
            return 0.0;
        }
        let mut at = leaf;
        while at != 0 {
            let parent = self.nodes[at as usize].parent;
            let Content::Inner(second) = self.nodes[parent as usize].content else { return 0.0 };
            let children = [parent + 1, second].map(|child| self.importance(child, receiver));
            let Some(first) = share(parent, children) else { return 0.0 };
            p *= if at == second { 1.0 - first } else { first };
            at = parent;
        }
        p
    }

    /// Whether any light may; of a tree that is one leaf.
    fn reaches(&self, receiver: &LightSampleContext) -> bool {
        self.importance(0, receiver) > 0.0
    }

    fn importance(&self, node: u32, receiver: &LightSampleContext) -> f32 {
        let lights = &self.nodes[node as usize].lights;
        match self.choice {
            LightChoice::Tree => lights.importance(receiver),
            LightChoice::Power => lights.intensity,
        }
    }
}

/// A light that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct ChosenLight {
    pub number: u32,
    /// The probability of choosing it.
    pub p: f32,
    /// What is left of the random number.
    pub u: f32,
}

/// The way of a lane down the tree.
#[derive(Clone, Copy)]
struct Way {
    at: u32,
    p: f32,
    /// Of the random number.
    left: f32,
}

impl Way {
    /// To the first child, as likely as `first` says, or to the second.
    fn turn(&mut self, first: f32, second: u32) {
        let goes = self.left < first;
        let (node, share) = if goes { (self.at + 1, first) } else { (second, 1.0 - first) };
        let left = if goes { self.left } else { self.left - first };
        self.left = (left / share).clamp(0.0, 1.0_f32.next_down());
        (self.at, self.p) = (node, self.p * share);
    }
}

wide! {
    /// Of a pair of clusters for each lane.
    fn importances_of(clusters: &[Clusters; 2], receivers: &Receivers) -> [Row; 2] {
        let mut found = [[0.0; LANES]; 2];
        for (clusters, found) in clusters.iter().zip(&mut found) {
            for lane in 0..LANES {
                found[lane] = clusters.get(lane).importance(&receivers.get(lane));
            }
        }
        found
    }
}

/// How likely the first child of a node is by the importances of both; of the root `None` where neither brings anything.
fn share(node: u32, [first, second]: [f32; 2]) -> Option<f32> {
    let (sum, share) = (first + second, first / (first + second));
    // Further down it does not matter where both are dark, and infinite ones, of lights where the receiver is, say nothing.
    (node != 0 || sum > 0.0).then_some(if share.is_finite() { share } else { 0.5 })
}

/// Orders lights so that those of one child come first; how many they are, at least one and not all.
fn split(lights: &mut [(u32, LightBounds)], all: &LightBounds, depth: u32) -> usize {
    let centers = lights.iter().map(|(_, b)| b.center());
    let (low, high) = centers.fold((all.high, all.low), |(low, high), c| (low.min(c), high.max(c)));
    let side = all.high - all.low;
    let mut best: Option<(f32, usize, usize)> = None;
    for axis in (0..3).filter(|&axis| high[axis] > low[axis] && depth < DEEPEST) {
        let mut buckets: [Option<LightBounds>; BUCKETS] = [None; BUCKETS];
        for (_, b) in lights.iter() {
            let bucket = &mut buckets[bucket(b.center()[axis], low[axis], high[axis])];
            *bucket = Some(bucket.map_or(*b, |all| all.union(b)));
        }
        // Long boxes are rather cut across.
        let shape = side.max_element() / side[axis];
        for at in 1..BUCKETS {
            let of = |half: &[Option<LightBounds>]| half.iter().flatten().copied().reduce(|a, b| a.union(&b));
            let (Some(left), Some(right)) = (of(&buckets[..at]), of(&buckets[at..])) else { continue };
            let cost = shape * (left.cost() + right.cost());
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, at));
            }
        }
    }
    let Some((_, axis, at)) = best else {
        // All in one place, or too deep.
        return lights.len() / 2;
    };
    let mut first = 0;
    for i in 0..lights.len() {
        if bucket(lights[i].1.center()[axis], low[axis], high[axis]) < at {
            lights.swap(i, first);
            first += 1;
        }
    }
    first
}

fn bucket(center: f32, low: f32, high: f32) -> usize {
    (((center - low) / (high - low) * BUCKETS as f32) as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform_cone;
    use crate::sampler::Sampler;
    use glam::Vec3;

    fn point(s: &mut Sampler) -> Vec3 {
        Vec3::new(s.next_1d(), s.next_1d(), s.next_1d()) * 8.0 - 4.0
    }

    fn lights(n: u32) -> Vec<(u32, LightBounds)> {
        let one = |i: u32| {
            let mut s = Sampler::new(2, (5, n), i);
            let (a, power) = (point(&mut s), (4.0 * s.next_1d()).exp());
            let axis = uniform_cone(s.next_2d(), 2.0);
            let bounds = match i % 4 {
                0 => LightBounds::flat(
                    (a, a + s.next_1d()),
                    axis,
                    [power, if i.is_multiple_of(8) { 0.3 * power } else { 0.0 }],
                ),
                1 => LightBounds::round((a, a), power),
                2 => LightBounds::cone(a, axis, (s.next_1d(), s.next_1d()), power),
                // Several in one place, and some that are black.
                _ => LightBounds::round((Vec3::ONE, Vec3::ONE), if i.is_multiple_of(3) { 0.0 } else { power }),
            };
            (i, bounds)
        };
        (0..n).map(one).collect()
    }

    /// As if it were the only one that asks.
    fn chosen(tree: &LightTree, receiver: &LightSampleContext, u: f32) -> Option<ChosenLight> {
        tree.sample(&Receivers::new(&[*receiver]), 1, &[u; LANES])[0]
    }

    fn receiver(i: u32) -> LightSampleContext {
        let mut s = Sampler::new(3, (0, 0), i);
        let normal = if i.is_multiple_of(2) { Vec3::ZERO } else { uniform_cone(s.next_2d(), 2.0) };
        LightSampleContext { position: point(&mut s) * if i.is_multiple_of(5) { 30.0 } else { 1.0 }, normal, list: 0 }
    }

    #[test]
    fn probabilities_add_up_to_one_wherever_any_light_counts() {
        let mut any = 0;
        for n in [1, 2, 3, 100, 1000] {
            let lights = lights(n);
            let tree = LightTree::new(lights.iter().copied(), n as usize, LightChoice::Tree);
            for i in 0..100 {
                let receiver = receiver(i);
                let sum: f64 = (0..n).map(|l| f64::from(tree.probability(&receiver, l))).sum();
                let expected = if chosen(&tree, &receiver, 0.5).is_some() { 1.0 } else { 0.0 };
                assert!((sum - expected).abs() < 1e-4, "{n} {i}: {sum}");
                any += expected as u32;
            }
        }
        assert!(any > 300, "{any}");
    }

    /// Of as many draws as a light takes by its probability, and of the number that is left over, by its mean.
    #[test]
    fn lights_are_drawn_as_often_as_their_probabilities_say() {
        const DRAWS: u32 = 1 << 14;
        for n in [7, 300] {
            let tree = LightTree::new(lights(n), n as usize, LightChoice::Tree);
            for i in 0..6 {
                let receiver = receiver(i);
                let (mut times, mut left) = (vec![0.0; n as usize], vec![0.0; n as usize]);
                for draw in 0..DRAWS {
                    let u = (draw as f32 + 0.5) / DRAWS as f32;
                    let Some(ChosenLight { number: light, p, u: rest }) = chosen(&tree, &receiver, u) else { continue };
                    assert!((p / tree.probability(&receiver, light) - 1.0).abs() < 1e-4 && (0.0..1.0).contains(&rest));
                    times[light as usize] += 1.0;
                    left[light as usize] += rest;
                }
                for light in 0..n as usize {
                    let expected = DRAWS as f32 * tree.probability(&receiver, light as u32);
                    assert!((times[light] - expected).abs() < 2.5, "{light}: {} {expected}", times[light]);
                    if times[light] > 100.0 {
                        assert!((left[light] / times[light] - 0.5).abs() < 0.03);
                    }
                }
            }
        }
    }

    /// Leaves of several lights, as trees of very many have them.
    #[test]
    fn lights_of_one_leaf_are_drawn_by_their_intensity() {
        let mut tree = LightTree { places: vec![Place::NOWHERE; 40], ..LightTree::default() };
        let mut all: Vec<_> = lights(40).into_iter().filter(|l| l.1.intensity > 0.0).collect();
        tree.build(&mut all, 8, 0, 0);
        let receiver = LightSampleContext { position: Vec3::splat(20.0), normal: Vec3::ZERO, list: 0 };
        let sum: f32 = (0..40).map(|l| tree.probability(&receiver, l)).sum();
        assert!((sum - 1.0).abs() < 1e-4 && tree.nodes.len() < 20, "{sum}");
        for i in 0..1000 {
            let chosen = chosen(&tree, &receiver, (i as f32 + 0.5) / 1000.0).expect("some shine there");
            assert!((chosen.p / tree.probability(&receiver, chosen.number) - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn very_many_lights_in_one_place_make_no_deep_tree() {
        let one = |i| (i, LightBounds::round((Vec3::ZERO, Vec3::ZERO), 1.0));
        let tree = LightTree::new((0..1 << 18).map(one), 1 << 18, LightChoice::Tree);
        let receiver = LightSampleContext { position: Vec3::X, normal: Vec3::ZERO, list: 0 };
        assert!((tree.probability(&receiver, 77) * (1 << 18) as f32 - 1.0).abs() < 1e-3);
        assert!(tree.nodes.len() < 1 << 19);
        assert!(chosen(&LightTree::new([], 0, LightChoice::Tree), &receiver, 0.5).is_none());
    }
}
