//! A tree with eight children per node and its leaves, from references: built in parts, so that little is in memory
//! twice.

use super::super::boxes::{Boxes, WIDTH};
use super::super::node::{Child, Node};
use super::binary::{Branch, tree};
use super::split::{Extent, Reference};
use super::widen::{LonePlan, Plan, Plans, leaf_costs};
use glam::Vec3;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

/// The most references of a part, which one thread makes.
const PART: usize = 1 << 13;

/// Parts that are made at a time: as many as keep threads busy.
fn at_a_time() -> usize {
    4 * rayon::current_num_threads()
}

/// A node and its slot; `None` for the root, which is in none.
type Place = Option<(usize, usize)>;

/// Branches of a part's tree, and the places that are theirs.
type Roots = Vec<(u32, Place)>;

/// A tree over references, and its blocks. `pack` makes the blocks of a leaf, one at least.
///
/// First comes a tree whose leaves are parts, then a tree of each part, and of all together it is decided which branches
/// become nodes. These and the blocks are made from the last part on, and its tree and references let go. The same comes out for any
/// number of threads.
pub fn build<B: Send>(
    mut references: Vec<Reference>,
    pack: impl Fn(&[Reference], &mut Vec<B>) + Sync,
) -> (Vec<Node>, Vec<B>) {
    if references.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let top = tree(&mut references, |b| b.range().len() <= PART);
    let Extent { low, high } = top[0].extent;
    let ends: Vec<Branch> = top.iter().filter(|b| b.second == 0).copied().collect();
    let of_part = |range: &mut [Reference]| LonePlan::new(tree(range, |_| false), leaf_costs);
    let mut parts = Plans::over(references.len());
    let mut rest = ranges(&mut references, &ends);
    while !rest.is_empty() {
        let some = rest.drain(..rest.len().min(at_a_time())).collect::<Vec<_>>();
        some.into_par_iter().map(of_part).collect::<Vec<_>>().into_iter().for_each(|plan| parts.push(plan));
    }
    let mut nodes = Vec::new();
    let mut roots = lay_top(top, &ends, &parts, &mut nodes);
    let (mut blocks, mut root) = (Vec::new(), Child::default());
    while !roots.is_empty() {
        let first = roots.len().saturating_sub(at_a_time());
        let made =
            |(part, roots): (usize, Roots)| Made::new(&references[ends[part].range()], &parts.get(part), roots, &pack);
        let some: Vec<_> = (first..).zip(roots.split_off(first)).collect();
        // The last one first, so that where they lie does not depend on how many are made at a time.
        for made in some.into_par_iter().map(made).collect::<Vec<_>>().into_iter().rev() {
            for (child, place) in made.join(&mut nodes, &mut blocks) {
                match place {
                    Some((node, slot)) => nodes[node].children[slot] = child.0,
                    None => root = child,
                }
            }
        }
        parts.truncate(first);
        references.truncate(ends[first].begin as usize);
        references.shrink_to_fit();
    }
    if root.blocks().is_some() {
        let boxes = Boxes::new(&[(low.into(), high.into())]);
        nodes.push(Node { boxes, children: [root.0; WIDTH] });
    }
    nodes.shrink_to_fit();
    blocks.shrink_to_fit();
    (nodes, blocks)
}

/// The references of each part.
fn ranges<'a>(references: &'a mut [Reference], parts: &[Branch]) -> Vec<&'a mut [Reference]> {
    let mut rest = references;
    parts.iter().filter_map(|part| rest.split_off_mut(..part.range().len())).collect()
}

/// Makes the nodes above the parts; returns for each of these what has its place there.
fn lay_top(top: Vec<Branch>, ends: &[Branch], parts: &Plans, nodes: &mut Vec<Node>) -> Vec<Roots> {
    let mut roots = vec![Roots::new(); ends.len()];
    // Parts are in the order of their references.
    let part_of = |branch: &Branch| ends.partition_point(|end| end.begin < branch.begin);
    let top = LonePlan::new(top, |branch| parts.get(part_of(branch)).costs);
    let top = top.get();
    if ends.len() == 1 {
        roots[0].push((0, None));
        return roots;
    }
    let children = |branch| {
        let mut children = SmallVec::new();
        for share in top.children(branch) {
            let branch = &top.branches[share.branch as usize];
            if branch.second > 0 {
                children.push((branch.extent, Slot::Node(share.branch)));
                continue;
            }
            let part = part_of(branch);
            let plan = parts.get(part);
            let inside = plan.shares(0, share.slots).into_iter();
            children.extend(inside.map(|s| (plan.branches[s.branch as usize].extent, Slot::End((part, s.branch)))));
        }
        children
    };
    lay(0, nodes, children, |(part, branch), place| {
        roots[part].push((branch, Some(place)));
        Child::default()
    });
    roots
}

/// What is made of a part.
struct Made<B> {
    nodes: Vec<Node>,
    blocks: Vec<B>,
    roots: Vec<(Child, Place)>,
}

impl<B> Made<B> {
    fn new(
        references: &[Reference],
        plan: &Plan<'_>,
        roots: Roots,
        pack: impl Fn(&[Reference], &mut Vec<B>),
    ) -> Made<B> {
        let (mut nodes, mut blocks) = (Vec::new(), Vec::new());
        let mut leaf = |branch: u32| {
            let first = blocks.len();
            pack(&references[plan.branches[branch as usize].range()], &mut blocks);
            Child::leaf(first..blocks.len())
        };
        let slot = |branch| if plan.is_leaf(branch) { Slot::End(branch) } else { Slot::Node(branch) };
        let children = |branch| {
            let shares = plan.children(branch).into_iter();
            shares.map(|s| (plan.branches[s.branch as usize].extent, slot(s.branch))).collect()
        };
        let roots = roots.into_iter().map(|(branch, place)| match slot(branch) {
            Slot::End(branch) => (leaf(branch), place),
            Slot::Node(branch) => (lay(branch, &mut nodes, children, |branch, _| leaf(branch)), place),
        });
        let roots = roots.collect();
        Made { nodes, blocks, roots }
    }

    /// Puts it behind others; returns where its roots are then.
    fn join(self, nodes: &mut Vec<Node>, blocks: &mut Vec<B>) -> Vec<(Child, Place)> {
        let behind = (nodes.len(), blocks.len());
        let moved = |child: Child| child.behind(behind.0, behind.1);
        nodes.extend(self.nodes.into_iter().map(|mut node| {
            for child in &mut node.children[..node.boxes.filled as usize] {
                *child = moved(Child(*child)).0;
            }
            node
        }));
        blocks.extend(self.blocks);
        self.roots.into_iter().map(|(child, place)| (moved(child), place)).collect()
    }
}

/// What stands in a slot of a node.
enum Slot<E> {
    Node(u32),
    End(E),
}

/// Appends the node that a branch becomes, and those below; `end` says what is to be put where they end.
fn lay<E>(
    branch: u32,
    nodes: &mut Vec<Node>,
    children: impl Fn(u32) -> SmallVec<[(Extent, Slot<E>); WIDTH]>,
    mut end: impl FnMut(E, (usize, usize)) -> Child,
) -> Child {
    let node = |nodes: &mut Vec<Node>| {
        nodes.push(Node { boxes: Boxes::NONE, children: [0; WIDTH] });
        Child::node(nodes.len() - 1)
    };
    let root = node(nodes);
    // Nodes still to be filled, with what each stands for.
    let mut open: SmallVec<[(usize, u32); 64]> = smallvec![(root.first(), branch)];
    while let Some((index, branch)) = open.pop() {
        let children = children(branch);
        let boxes: SmallVec<[(Vec3, Vec3); WIDTH]> =
            children.iter().map(|(e, _)| (e.low.into(), e.high.into())).collect();
        nodes[index].boxes = Boxes::new(&boxes);
        for (slot, (_, what)) in children.into_iter().enumerate() {
            let child = match what {
                Slot::End(end_here) => end(end_here, (index, slot)),
                Slot::Node(branch) => {
                    let child = node(nodes);
                    open.push((child.first(), branch));
                    child
                }
            };
            nodes[index].children[slot] = child.0;
        }
    }
    root
}
