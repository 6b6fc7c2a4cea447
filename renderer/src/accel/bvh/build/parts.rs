//! A tree with eight children per node and its leaves, from references: built in parts, so that little is in memory
//! twice.

use super::super::boxes::WIDTH;
use super::super::tree::{Node, Tree};
use super::binary::{Branch, tree};
use super::split::{Extent, Reference};
use super::widen::{Plan, leaf_costs};
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

/// The most references of a part, which one thread makes.
const PART: usize = 1 << 13;

/// Parts of which nodes and blocks are made at a time: as many as keep threads busy.
const AT_A_TIME: usize = 32;

/// A node, or blocks of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Child {
    first: u32,
    /// 0 for a node.
    count: u32,
}

/// A node and its slot; `None` for the root, which is in none.
type Place = Option<(usize, usize)>;

/// Branches of a part's tree, and the places that are theirs.
type Roots = Vec<(u32, Place)>;

/// A tree over references, and its blocks. `pack` makes the blocks of a leaf, one at least.
///
/// First comes a tree whose leaves are parts, then a tree of each part, and of all together it is decided which branches
/// become nodes. These and the blocks are made from the last part on, and its references let go. The same comes out for any
/// number of threads.
pub fn build<B: Send>(
    mut references: Vec<Reference>,
    pack: impl Fn(&[Reference], &mut Vec<B>) + Sync,
) -> (Tree, Vec<B>) {
    if references.is_empty() {
        return (Tree::EMPTY, Vec::new());
    }
    let top = tree(&mut references, |b| b.range().len() <= PART);
    let Extent { low, high } = top[0].extent;
    let ends: Vec<Branch> = top.iter().filter(|b| b.second == 0).copied().collect();
    let of_part = |range: &mut [Reference]| Plan::new(tree(range, |_| false), leaf_costs);
    let parts: Vec<Plan> = ranges(&mut references, &ends).into_par_iter().map(of_part).collect();
    let mut nodes = Vec::new();
    let roots = lay_top(top, &ends, &parts, &mut nodes);
    let mut parts: Vec<(Branch, Plan, Roots)> =
        ends.into_iter().zip(parts).zip(roots).map(|((range, plan), roots)| (range, plan, roots)).collect();
    let (mut blocks, mut root) = (Vec::new(), Child::default());
    while !parts.is_empty() {
        let some = parts.split_off(parts.len().saturating_sub(AT_A_TIME));
        let made =
            |(range, plan, roots): (Branch, Plan, Roots)| Made::new(&references[range.range()], &plan, roots, &pack);
        let begin = some[0].0.begin as usize;
        for made in some.into_par_iter().map(made).collect::<Vec<_>>() {
            for (child, place) in made.join(&mut nodes, &mut blocks) {
                match place {
                    Some((node, slot)) => nodes[node].refer(slot, child.first, child.count),
                    None => root = child,
                }
            }
        }
        references.truncate(begin);
        references.shrink_to_fit();
    }
    if root.count > 0 {
        let mut only = Node::EMPTY;
        only.boxes.put(0, low.into(), high.into());
        only.refer(0, root.first, root.count);
        nodes.push(only);
    }
    nodes.shrink_to_fit();
    blocks.shrink_to_fit();
    (Tree { nodes, bounds: (low.into(), high.into()) }, blocks)
}

/// The references of each part.
fn ranges<'a>(references: &'a mut [Reference], parts: &[Branch]) -> Vec<&'a mut [Reference]> {
    let mut rest = references;
    parts.iter().filter_map(|part| rest.split_off_mut(..part.range().len())).collect()
}

/// Makes the nodes above the parts; returns for each of these what has its place there.
fn lay_top(top: Vec<Branch>, ends: &[Branch], parts: &[Plan], nodes: &mut Vec<Node>) -> Vec<Roots> {
    let mut roots = vec![Roots::new(); parts.len()];
    // Parts are in the order of their references.
    let part_of = |branch: &Branch| ends.partition_point(|end| end.begin < branch.begin);
    let top = Plan::new(top, |branch| parts[part_of(branch)].costs);
    if parts.len() == 1 {
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
            let inside = parts[part].shares(0, share.slots).into_iter();
            children
                .extend(inside.map(|s| (parts[part].branches[s.branch as usize].extent, Slot::End((part, s.branch)))));
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
    fn new(references: &[Reference], plan: &Plan, roots: Roots, pack: impl Fn(&[Reference], &mut Vec<B>)) -> Made<B> {
        let (mut nodes, mut blocks) = (Vec::new(), Vec::new());
        let mut leaf = |branch: u32| {
            let first = blocks.len();
            pack(&references[plan.branches[branch as usize].range()], &mut blocks);
            Child { first: first as u32, count: (blocks.len() - first) as u32 }
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
        let (first_node, first_block) = (nodes.len() as u32, blocks.len() as u32);
        let moved = |first: u32, count: u32| first + if count == 0 { first_node } else { first_block };
        nodes.extend(self.nodes.into_iter().map(|mut node| {
            for (first, count) in node.first.iter_mut().zip(node.count) {
                *first = moved(*first, count);
            }
            node
        }));
        blocks.extend(self.blocks);
        let at = |child: Child| Child { first: moved(child.first, child.count), ..child };
        self.roots.into_iter().map(|(child, place)| (at(child), place)).collect()
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
        nodes.push(Node::EMPTY);
        Child { first: nodes.len() as u32 - 1, count: 0 }
    };
    let root = node(nodes);
    // Nodes still to be filled, with what each stands for.
    let mut open: SmallVec<[(u32, u32); 64]> = smallvec![(root.first, branch)];
    while let Some((index, branch)) = open.pop() {
        let index = index as usize;
        for (slot, (extent, what)) in children(branch).into_iter().enumerate() {
            let child = match what {
                Slot::End(end_here) => end(end_here, (index, slot)),
                Slot::Node(branch) => {
                    let child = node(nodes);
                    open.push((child.first, branch));
                    child
                }
            };
            nodes[index].boxes.put(slot, extent.low.into(), extent.high.into());
            nodes[index].refer(slot, child.first, child.count);
        }
    }
    root
}
