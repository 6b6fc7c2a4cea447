//! What every tree must satisfy, whatever it is built over.

use super::super::boxes::{Boxes, WIDTH};
use super::super::node::{Child, Node};
use super::binary::{Branch, tree};
use super::parts;
use super::split::{BLOCK, Extent, Measure, Reference, split};
use super::widen::{LEAF, LonePlan, NODE, leaf_costs};
use crate::sampler::Sampler;
use glam::Vec3;

type Bounds = (Vec3, Vec3);

/// A tree whose blocks are items.
fn built(boxes: &[Bounds], weight: impl Fn(usize) -> u32) -> (Vec<Node>, Vec<Vec<u32>>) {
    let reference = |(i, bounds): (usize, &Bounds)| Reference::new(*bounds, i as u32, weight(i));
    let references = boxes.iter().enumerate().map(reference).collect();
    parts::build(references, |leaf, blocks| {
        let (parts, whole): (Vec<&Reference>, Vec<&Reference>) = leaf.iter().partition(|r| r.weight < BLOCK);
        blocks.extend(parts.chunks(BLOCK as usize).map(|four| four.iter().map(|r| r.item).collect()));
        blocks.extend(whole.iter().map(|r| vec![r.item]));
    })
}

/// Whether one of a node's boxes holds another box.
fn holds(boxes: &Boxes, slot: usize, inner: &Bounds) -> bool {
    let plane = |side: usize, axis: usize| {
        f64::from(boxes.origin[axis]) + f64::from(boxes.planes[axis][side][slot]) * f64::from(boxes.step[axis])
    };
    (0..3).all(|axis| plane(0, axis) <= f64::from(inner.0[axis]) && plane(1, axis) >= f64::from(inner.1[axis]))
}

/// Checks that all boxes are in one leaf each, within all that is around it; returns the number of levels.
fn check(boxes: &[Bounds], weight: impl Fn(usize) -> u32) -> usize {
    let (tree, blocks) = built(boxes, &weight);
    let mut sorted = blocks.concat();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..boxes.len() as u32), "each is there once");
    let mut reached = (vec![false; tree.len()], vec![false; blocks.len()]);
    // Nodes, with the nodes and slots above them.
    let (mut open, mut deepest) = (vec![(0, Vec::new())], 0);
    while let Some((index, above)) = open.pop() {
        assert!(!std::mem::replace(&mut reached.0[index], true), "a node has one parent");
        deepest = deepest.max(above.len() + 1);
        let Node { boxes: around, children } = &tree[index];
        for (slot, child) in children[..around.filled as usize].iter().map(|child| Child(*child)).enumerate() {
            let above: Vec<(usize, usize)> = above.iter().copied().chain([(index, slot)]).collect();
            let Some(leaf) = child.blocks() else {
                open.push((child.first(), above));
                continue;
            };
            let filled: u32 = blocks[leaf.clone()].concat().iter().map(|item| weight(*item as usize)).sum();
            assert!(filled <= LEAF || leaf.len() == 1, "a leaf of {filled}");
            for at in leaf {
                assert!(!std::mem::replace(&mut reached.1[at], true), "a block is in one leaf");
                for item in &blocks[at] {
                    let inner = &boxes[*item as usize];
                    assert!(above.iter().all(|(node, slot)| holds(&tree[*node].boxes, *slot, inner)));
                }
            }
        }
    }
    assert!(reached.0.into_iter().chain(reached.1).all(|reached| reached), "all is to be found from the root");
    deepest
}

fn random_boxes(count: usize, size: f32) -> Vec<Bounds> {
    let mut random = Sampler::new(5, (0, 0), 0);
    let mut vector = || random.next_2d().extend(random.next_1d());
    let one = |_| {
        let low = vector() * 2.0 - 1.0;
        (low, low + vector() * size)
    };
    (0..count).map(one).collect()
}

#[test]
fn whatever_it_is_built_over_all_is_found_once_and_within_its_boxes() {
    let point = |p: Vec3| (p, p);
    let along = |scale: f32| (0..2000).map(move |i| point(Vec3::new(i as f32 * scale, 2.0, -1.0)));
    // Each as far from the first as all before it together: where cuts halve lengths, none halves their number.
    let powers = (0..250).map(|i| point(Vec3::splat(2.0_f32.powi(i - 125))));
    let huge = random_boxes(2000, 1.0).into_iter().map(|(low, high)| (low * 1.5e38, high * 1.5e38));
    let cases: [(&str, Vec<Bounds>, usize); 10] = [
        ("one", random_boxes(1, 1.0), 1),
        ("two", random_boxes(2, 1.0), 1),
        ("random ones", random_boxes(10_000, 0.05), 8),
        ("large ones", random_boxes(10_000, 2.0), 9),
        ("equal ones", vec![(Vec3::ZERO, Vec3::ONE); 10_000], 7),
        ("equal points", vec![point(Vec3::X); 1000], 6),
        ("a line", along(1.0).collect(), 8),
        ("a line of almost no length", along(1e-41).collect(), 16),
        ("powers of two", powers.collect(), 40),
        ("huge ones", huge.collect(), 12),
    ];
    for (name, boxes, levels) in cases {
        let deepest = check(&boxes, |_| 1);
        assert!(deepest <= levels, "{name}: {deepest} levels");
        check(&boxes, |i| if i % 3 == 0 { BLOCK } else { 1 });
    }
    assert!(built(&[], |_| 1).0.is_empty());
}

#[test]
fn the_tree_is_the_same_for_any_number_of_threads() {
    // More parts than one thread makes at a time.
    let boxes = random_boxes(60_000, 0.02);
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
        let (tree, blocks) = pool.install(|| built(&boxes, |_| 1));
        (format!("{tree:?}"), blocks)
    };
    assert!(by(1) == by(3));
}

/// Triangles of two far ends of a room are cut apart, though they fill one block; neighbors in a plane are not.
#[test]
fn a_block_is_cut_where_two_are_cheaper() {
    let cut = |places: [(f32, f32); 4]| {
        let tile = |(x, z): (f32, f32)| (Vec3::new(x, 0.0, z), Vec3::new(x + 1.0, 0.1, z + 1.0));
        let mut references = places.map(|place| Reference::new(tile(place), 0, 1));
        let whole = Measure::of(&references);
        split(&mut references, &whole, false).map(|(middle, _)| middle)
    };
    assert_eq!(cut([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]), None);
    assert_eq!(cut([(0.0, 0.0), (90.0, 0.0), (91.0, 1.0), (1.0, 1.0)]), Some(2));
    assert_eq!(cut([(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 90.0)]), Some(3));
}

/// What each branch costs in one slot, by looking at every way to choose children.
fn cheapest(branches: &[Branch]) -> Vec<f64> {
    let mut costs = vec![0.0; branches.len()];
    for (i, branch) in branches.iter().enumerate().rev() {
        let ways = cuts(branches, i).into_iter().filter(|cut| cut.len() > 1);
        let children = ways.map(|cut| cut.iter().map(|child| costs[*child]).sum::<f64>());
        let node = branch.extent.half_area() * NODE + children.fold(f64::INFINITY, f64::min);
        let [leaf, ..] = leaf_costs(branch);
        costs[i] = if branch.weight <= LEAF { leaf.min(node) } else { node };
    }
    costs
}

/// Every set of descendants that together hold what a branch holds, and fit into a node.
fn cuts(branches: &[Branch], branch: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![branch]];
    if branches[branch].second > 0 {
        let second = cuts(branches, branches[branch].second as usize);
        for first in cuts(branches, branch + 1) {
            let fitting = second.iter().filter(|second| first.len() + second.len() <= WIDTH);
            all.extend(fitting.map(|second| [first.as_slice(), second].concat()));
        }
    }
    all
}

/// What is around a node, and what rays cost in it if its blocks are full ones.
fn cost(tree: &[Node], blocks: &[Extent], node: usize) -> (Extent, f64) {
    let (mut all, mut costs) = (Extent::EMPTY, 0.0);
    for child in &tree[node].children[..tree[node].boxes.filled as usize] {
        let (extent, cost) = match Child(*child).blocks() {
            None => cost(tree, blocks, Child(*child).first()),
            Some(leaf) => {
                let extent = blocks[leaf.clone()].iter().fold(Extent::EMPTY, |all, b| all.union(*b));
                (extent, extent.half_area() * leaf.len() as f64)
            }
        };
        (all, costs) = (all.union(extent), costs + cost);
    }
    (all, all.half_area() * NODE + costs)
}

#[test]
fn children_are_chosen_such_that_nothing_is_cheaper() {
    for (count, size) in [(40, 0.05), (33, 0.8), (30, 0.0)] {
        let boxes = random_boxes(count, size);
        let reference = |(i, bounds): (usize, &Bounds)| Reference::new(*bounds, i as u32, 1);
        let references: Vec<Reference> = boxes.iter().enumerate().map(reference).collect();
        let branches = tree(&mut references.clone(), |_| false);
        let expected = cheapest(&branches)[0];
        let root = branches[0].extent;
        assert_eq!(root, boxes.iter().fold(Extent::EMPTY, |all, b| all.union(around(b))));
        let close = |cost: f64| assert!((cost - expected).abs() <= 1e-9 * expected, "{cost} {expected}");
        close(LonePlan::new(branches, leaf_costs).get().costs[0]);
        // What is laid out costs what was planned.
        let block = |four: &[Reference]| four.iter().fold(Extent::EMPTY, |all, r| all.union(r.extent()));
        let (tree, blocks) = parts::build(references, |leaf, blocks| {
            blocks.extend(leaf.chunks(BLOCK as usize).map(block));
        });
        let (extent, cost) = cost(&tree, &blocks, 0);
        assert_eq!(extent, root);
        close(cost);
    }
}

fn around(bounds: &Bounds) -> Extent {
    Extent { low: bounds.0.into(), high: bounds.1.into() }
}
