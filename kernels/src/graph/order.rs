//! An order in which every node comes behind those that make what it reads.

use super::Node;

/// Nodes in order, the earlier one first where both may come first; or the nodes of a cycle.
pub(super) fn of(nodes: &[Node], buffers: usize) -> Result<Vec<usize>, Vec<usize>> {
    let mut makers = vec![Vec::new(); buffers];
    for (i, node) in nodes.iter().enumerate() {
        node.gives().for_each(|buffer| makers[buffer.0].push(i));
    }
    let before = |node: &Node| node.reads().flat_map(|buffer| makers[buffer.0].iter().copied()).collect::<Vec<_>>();
    let before: Vec<Vec<usize>> = nodes.iter().map(before).collect();
    let (mut order, mut done) = (Vec::with_capacity(nodes.len()), vec![false; nodes.len()]);
    while order.len() < nodes.len() {
        let ready = (0..nodes.len()).find(|&i| !done[i] && before[i].iter().all(|&other| done[other]));
        let Some(ready) = ready else { return Err(cycle(&before, &done)) };
        done[ready] = true;
        order.push(ready);
    }
    Ok(order)
}

/// A cycle among the nodes that are not done, each of which waits for another one.
fn cycle(before: &[Vec<usize>], done: &[bool]) -> Vec<usize> {
    let waits_for = |node: usize| before[node].iter().copied().find(|&other| !done[other]);
    let mut way = Vec::new();
    let mut node = done.iter().position(|done| !done);
    while let Some(at) = node {
        if let Some(start) = way.iter().position(|&other| other == at) {
            let mut cycle = way.split_off(start);
            cycle.reverse();
            return cycle;
        }
        way.push(at);
        node = waits_for(at);
    }
    way
}
