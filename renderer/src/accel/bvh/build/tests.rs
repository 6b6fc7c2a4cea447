//! What every tree must satisfy, whatever it is built over.

use super::super::boxes::{Boxes, WIDTH};
use super::super::tree::{Node, Tree};
use super::binary::{Branch, tree};
use super::parts;
use super::split::{BLOCK, Extent, Measure, Reference, split};
use super::widen::{LEAF, NODE, Plan, leaf_costs};
use crate::sampler::Sampler;
use glam::Vec3;

type Bounds = (Vec3, Vec3);

/// A tree whose blocks are the items of its leaves.
fn built(boxes: &[Bounds], weight: impl Fn(usize) -> u32) -> (Tree, Vec<u32>) {
    let reference = |(i, bounds): (usize, &Bounds)| Reference::new(*bounds, i as u32, weight(i));
    let references = boxes.iter().enumerate().map(reference).collect();
    parts::build(references, |leaf, blocks| blocks.extend(leaf.iter().map(|r| r.item)))
}

fn bounds_of(boxes: &Boxes, slot: usize) -> Bounds {
    let corner = |side: usize| Vec3::from_array(std::array::from_fn(|axis| boxes.0[side][axis][slot]));
    (corner(0), corner(1))
}

fn holds(outer: Bounds, inner: Bounds) -> bool {
    outer.0.cmple(inner.0).all() && outer.1.cmpge(inner.1).all()
}

/// Checks that all boxes are in one leaf each, within what is around it; returns the number of levels.
fn check(boxes: &[Bounds], weight: impl Fn(usize) -> u32) -> usize {
    let (tree, items) = built(boxes, &weight);
    let mut sorted = items.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..boxes.len() as u32), "each is there once");
    let mut reached = (vec![false; tree.nodes.len()], vec![false; items.len()]);
    let (mut open, mut deepest) = (vec![(0, tree.bounds, 1)], 0);
    while let Some((index, around, level)) = open.pop() {
        assert!(!std::mem::replace(&mut reached.0[index], true), "a node has one parent");
        deepest = deepest.max(level);
        let Node { boxes: children, first, count } = &tree.nodes[index];
        for slot in 0..WIDTH {
            let bounds = bounds_of(children, slot);
            if !bounds.0.cmple(bounds.1).all() {
                assert_eq!((bounds, count[slot]), (bounds_of(&Boxes::EMPTY, 0), 0), "a child that is not there");
                continue;
            }
            assert!(holds(around, bounds));
            let first = first[slot] as usize;
            if count[slot] == 0 {
                open.push((first, bounds, level + 1));
                continue;
            }
            let leaf = first..first + count[slot] as usize;
            let filled: u32 = leaf.clone().map(|at| weight(items[at] as usize)).sum();
            assert!(filled <= LEAF || leaf.len() == 1, "a leaf of {filled}");
            for at in leaf {
                assert!(!std::mem::replace(&mut reached.1[at], true), "an item is in one leaf");
                assert!(holds(bounds, boxes[items[at] as usize]));
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
    assert!(built(&[], |_| 1).0.nodes.is_empty());
}

#[test]
fn the_tree_is_the_same_for_any_number_of_threads() {
    let boxes = random_boxes(20_000, 0.02);
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
        let (tree, items) = pool.install(|| built(&boxes, |_| 1));
        (format!("{:?}", tree.nodes), items)
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

/// What rays cost in a tree whose blocks are full ones: that of the root is left out.
fn cost(tree: &Tree, node: usize) -> f64 {
    let Node { boxes, first, count } = &tree.nodes[node];
    let there = (0..WIDTH).filter(|slot| boxes.0[0][0][*slot] <= boxes.0[1][0][*slot]);
    let one = |slot: usize| match (around(&bounds_of(boxes, slot)).half_area(), count[slot]) {
        (area, 0) => area * NODE + cost(tree, first[slot] as usize),
        (area, blocks) => area * f64::from(blocks),
    };
    there.map(one).sum()
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
        close(Plan::new(branches, leaf_costs).costs[0]);
        // What is laid out costs what was planned.
        let (tree, _) = parts::build(references, |leaf, blocks| blocks.extend(leaf.chunks(BLOCK as usize).map(|_| ())));
        close(root.half_area() * NODE + cost(&tree, 0));
    }
}

fn around(bounds: &Bounds) -> Extent {
    Extent { low: bounds.0.into(), high: bounds.1.into() }
}
