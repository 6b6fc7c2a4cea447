//! Samples one of many lights by a tree: at each node, the side that may bring more light to the receiver is more
//! likely.

use super::bounds::{Cluster, Clusters, LightBounds};
use super::{LightChoice, LightSampleContext, Receivers};
use crate::math::lanes::{Row, alike, lanes_of, mask_where, wide};
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

    /// Gives each of the wanted lanes a light for its `u` in [0, 1), its probability, and `u` stretched to be uniform again; none
    /// where no light can bring anything.
    pub fn sample(&self, receivers: &Receivers, wanted: u32, u: &Row, chosen: &mut [Option<ChosenLight>; LANES]) {
        if self.nodes.is_empty() {
            return;
        }
        let mut ways = Ways { at: [0; LANES], p: [1.0; LANES], left: *u };
        let (mut descending, mut lit) = (wanted, wanted);
        while descending != 0 {
            self.descend(receivers, &mut descending, &mut lit, &mut ways);
        }
        lanes_of(lit).for_each(|lane| chosen[lane] = self.in_leaf(&ways, lane, &receivers.get(lane)));
    }

    /// Takes lanes from their nodes to one of the children, if they have some. Those are no longer `lit` for which both are dark.
    fn descend(&self, receivers: &Receivers, descending: &mut u32, lit: &mut u32, ways: &mut Ways) {
        let mut step = Step { clusters: [Clusters::NONE; 2], seconds: [0; LANES], inner: 0, at_root: false };
        let children_of = |at: u32| match self.nodes[at as usize].content {
            Content::Inner(second) => Some((second, [at + 1, second].map(|child| &self.nodes[child as usize].lights))),
            Content::Leaf(..) => None,
        };
        match alike(*descending, |lane| ways.at[lane]).next() {
            // At the root, and in small trees.
            Some((lanes, at)) if lanes == *descending => {
                if let Some((second, children)) = children_of(at) {
                    (step.inner, step.at_root) = (lanes, at == 0);
                    (step.seconds, step.clusters) = ([second; LANES], children.map(Clusters::splat));
                }
            }
            _ => {
                for lane in lanes_of(*descending) {
                    let Some((second, children)) = children_of(ways.at[lane]) else { continue };
                    step.inner |= 1 << lane;
                    step.seconds[lane] = second;
                    step.clusters.iter_mut().zip(children).for_each(|(clusters, child)| clusters.set(lane, child));
                }
            }
        }
        *descending = step.inner;
        if step.inner != 0 {
            let dark = take_step(&step, receivers, self.choice, ways);
            *descending &= !dark;
            *lit &= !dark;
        }
    }

    /// One of the lights of the leaf that a way has come to.
    fn in_leaf(&self, ways: &Ways, lane: usize, receiver: &LightSampleContext) -> Option<ChosenLight> {
        let (at, p, u) = (ways.at[lane], ways.p[lane], ways.left[lane]);
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
            if parent == 0 && !is_lit(children) {
                return 0.0;
            }
            let first = share(children);
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

/// The ways of the lanes down the tree.
struct Ways {
    at: [u32; LANES],
    p: Row,
    /// Of the random numbers.
    left: Row,
}

/// From the nodes where lanes are to their children.
struct Step {
    clusters: [Clusters; 2],
    seconds: [u32; LANES],
    /// Lanes whose nodes have children.
    inner: u32,
    /// All lanes begin there together.
    at_root: bool,
}

wide! {
    /// Takes lanes to the first child as often as its importance says, else to the second. Says for which of them both are dark.
    fn take_step(step: &Step, receivers: &Receivers, choice: LightChoice, ways: &mut Ways) -> u32 {
        let mut dark = [0; LANES];
        for lane in 0..LANES {
            let receiver = receivers.get(lane);
            // `map` of an array would be a call that is not compiled for wide registers.
            let [first, second] = [step.clusters[0].get(lane), step.clusters[1].get(lane)];
            let by_tree = [first.importance(&receiver), second.importance(&receiver)];
            let children =
                if choice == LightChoice::Tree { by_tree } else { [first.intensity, second.intensity] };
            let share = share(children);
            let goes = ways.left[lane] < share;
            let (node, of_node) = if goes { (ways.at[lane] + 1, share) } else { (step.seconds[lane], 1.0 - share) };
            let left = if goes { ways.left[lane] } else { ways.left[lane] - share };
            let takes = step.inner >> lane & 1 != 0;
            let stretched = (left / of_node).clamp(0.0, 1.0_f32.next_down());
            ways.left[lane] = if takes { stretched } else { ways.left[lane] };
            ways.p[lane] = if takes { ways.p[lane] * of_node } else { ways.p[lane] };
            ways.at[lane] = if takes { node } else { ways.at[lane] };
            dark[lane] = u32::from(takes & step.at_root & !is_lit(children));
        }
        mask_where(&dark)
    }
}

/// How likely the first of two children is by their importances. Infinite ones, of lights where the receiver is, say nothing.
#[inline(always)]
fn share([first, second]: [f32; 2]) -> f32 {
    let share = first / (first + second);
    if share.is_finite() { share } else { 0.5 }
}

/// Whether one of the root's children may bring anything. Further down it does not matter.
#[inline(always)]
fn is_lit([first, second]: [f32; 2]) -> bool {
    first + second > 0.0
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
        let mut chosen = [None; LANES];
        tree.sample(&Receivers::new(&[*receiver]), 1, &[u; LANES], &mut chosen);
        chosen[0]
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
