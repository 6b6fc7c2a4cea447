//! Where boxes and lines go: in layers from left to right, after Sugiyama.
//!
//! A node stands one layer before the first node that needs it. Lines over several layers pass through waypoints, which
//! take part like nodes, so no line crosses a box. Sweeps order each layer by the barycentres of its neighbours, and
//! the order with the fewest crossings is kept. Then come the heights: each node goes as near to its neighbours as the
//! order and its own size allow, which is an isotonic regression.

use super::{Diagram, Kind, Node};

const ROW: f64 = 18.0;
const TITLE: f64 = 40.0;
/// As wide as letters of the drawing are on average, and a little more.
const CHARACTER: f64 = 6.8;
const GAP_X: f64 = 70.0;
const GAP_Y: f64 = 22.0;
/// Between a line that passes and what is beside it.
const GAP_LINE: f64 = 10.0;
const MARGIN: f64 = 24.0;
const SWEEPS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Debug)]
pub struct Layout {
    /// Of each node.
    pub boxes: Vec<Rect>,
    /// Of each edge: the points that it passes, the ports first and last.
    pub lines: Vec<Vec<[f64; 2]>>,
    pub width: f64,
    pub height: f64,
}

/// How high the middle of an input or output lies in its box.
pub fn port_y(node: &Node, number: usize) -> f64 {
    match node.kind {
        Kind::Source => TITLE / 2.0,
        _ => TITLE + (number as f64 + 0.5) * ROW,
    }
}

fn size(node: &Node) -> [f64; 2] {
    let characters = |text: &str| text.chars().count() as f64 * CHARACTER;
    let row = |i: usize| {
        let input = node
            .inputs
            .get(i)
            .map_or(0.0, |p| characters(&p.name) + p.value.as_ref().map_or(0.0, |v| characters(" = ") + characters(v)));
        let output = node.outputs.get(i).map_or(0.0, |o| characters(o));
        input + output + if input > 0.0 && output > 0.0 { 24.0 } else { 0.0 }
    };
    let rows = match node.kind {
        Kind::Source => 0,
        _ => node.inputs.len().max(node.outputs.len()),
    };
    let widest = (0..rows).map(row).fold(characters(&node.title).max(characters(&node.subtitle)), f64::max);
    let bottom = if rows > 0 { 8.0 } else { 0.0 };
    [widest + 28.0, TITLE + rows as f64 * ROW + bottom]
}

/// A node, or the waypoint of a line in a layer that it passes.
struct Item {
    layer: usize,
    height: f64,
    width: f64,
    y: f64,
    waypoint: bool,
}

/// Part of a line between neighbouring layers: items, and how high it meets them.
struct Segment {
    from: usize,
    to: usize,
    leaves: f64,
    enters: f64,
}

pub fn layout(diagram: &Diagram) -> Layout {
    let layers = layers(diagram);
    let mut items: Vec<Item> = Vec::new();
    for (node, &layer) in diagram.nodes.iter().zip(&layers) {
        let [width, height] = size(node);
        items.push(Item { layer, height, width, y: 0.0, waypoint: false });
    }
    let mut segments = Vec::new();
    let mut ways: Vec<Vec<usize>> = Vec::new();
    for edge in &diagram.edges {
        let (from, to) = (edge.from.0, edge.to.0);
        let mut last = (from, port_y(&diagram.nodes[from], edge.from.1));
        let mut way = Vec::new();
        for layer in layers[from] + 1..layers[to] {
            items.push(Item { layer, height: 0.0, width: 0.0, y: 0.0, waypoint: true });
            let next = items.len() - 1;
            segments.push(Segment { from: last.0, to: next, leaves: last.1, enters: 0.0 });
            way.push(next);
            last = (next, 0.0);
        }
        let enters = port_y(&diagram.nodes[to], edge.to.1);
        segments.push(Segment { from: last.0, to, leaves: last.1, enters });
        ways.push(way);
    }
    let columns = order(&items, &segments);
    heights(&mut items, &segments, &columns);
    place(diagram, &items, &columns, &ways)
}

/// The layer of each node: as far to the right as what needs it allows.
fn layers(diagram: &Diagram) -> Vec<usize> {
    let n = diagram.nodes.len();
    let mut depth = vec![0usize; n];
    let mut open = vec![0usize; n];
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); n];
    for edge in &diagram.edges {
        open[edge.from.0] += 1;
        feeds[edge.to.0].push(edge.from.0);
    }
    let mut ready: Vec<usize> = (0..n).filter(|&i| open[i] == 0).collect();
    while let Some(i) = ready.pop() {
        for &from in &feeds[i] {
            depth[from] = depth[from].max(depth[i] + 1);
            open[from] -= 1;
            if open[from] == 0 {
                ready.push(from);
            }
        }
    }
    let last = depth.iter().copied().max().unwrap_or(0);
    depth.iter().map(|d| last - d).collect()
}

/// The items of each layer from top to bottom.
fn order(items: &[Item], segments: &[Segment]) -> Vec<Vec<usize>> {
    let count = items.iter().map(|i| i.layer + 1).max().unwrap_or(0);
    let mut columns = vec![Vec::new(); count];
    items.iter().enumerate().for_each(|(i, item)| columns[item.layer].push(i));
    let mut rank = vec![0usize; items.len()];
    let number = |columns: &[Vec<usize>], rank: &mut [usize]| {
        columns.iter().for_each(|c| c.iter().enumerate().for_each(|(r, &i)| rank[i] = r));
    };
    number(&columns, &mut rank);
    let (mut left, mut right) = (vec![Vec::new(); items.len()], vec![Vec::new(); items.len()]);
    for s in segments {
        left[s.to].push((s.from, s.leaves));
        right[s.from].push((s.to, s.enters));
    }
    let mut best = (crossings(&columns, &rank, segments, items), columns.clone());
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        let neighbours = if forward { &left } else { &right };
        let mut list: Vec<usize> = (0..count).collect();
        if !forward {
            list.reverse();
        }
        for c in list {
            // Ports of one box differ by less than boxes do.
            let centre = |i: usize| {
                let near = &neighbours[i];
                let sum: f64 = near.iter().map(|(n, y)| rank[*n] as f64 + y / 1e4).sum();
                if near.is_empty() { rank[i] as f64 } else { sum / near.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> = columns[c].iter().map(|&i| (centre(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[c] = keyed.into_iter().map(|(_, i)| i).collect();
            columns[c].iter().enumerate().for_each(|(r, &i)| rank[i] = r);
        }
        let found = crossings(&columns, &rank, segments, items);
        if found < best.0 {
            best = (found, columns.clone());
        }
    }
    best.1
}

/// How often lines cross.
fn crossings(columns: &[Vec<usize>], rank: &[usize], segments: &[Segment], items: &[Item]) -> usize {
    let mut between: Vec<Vec<(f64, f64)>> = vec![Vec::new(); columns.len()];
    for s in segments {
        let end = |i: usize, y: f64| rank[i] as f64 + y / 1e4;
        between[items[s.from].layer].push((end(s.from, s.leaves), end(s.to, s.enters)));
    }
    let pairs = |list: &Vec<(f64, f64)>| {
        let crossed = |i: usize| list[i + 1..].iter().filter(|b| (list[i].0 - b.0) * (list[i].1 - b.1) < 0.0).count();
        (0..list.len()).map(crossed).sum::<usize>()
    };
    between.iter().map(pairs).sum()
}

/// Brings each item near to its neighbours, sweeping from left to right and back.
fn heights(items: &mut [Item], segments: &[Segment], columns: &[Vec<usize>]) {
    for column in columns {
        let mut y = 0.0;
        for pair in 0..column.len() {
            let i = column[pair];
            if pair > 0 {
                y += items[column[pair - 1]].height + gap(&items[column[pair - 1]], &items[i]);
            }
            items[i].y = y;
        }
    }
    for sweep in 0..SWEEPS {
        let both = sweep + 4 >= SWEEPS;
        let forward = sweep % 2 == 0;
        let mut wanted = vec![(0.0, 0.0); items.len()];
        let mut list: Vec<usize> = (0..columns.len()).collect();
        if !forward {
            list.reverse();
        }
        for c in list {
            columns[c].iter().for_each(|&i| wanted[i] = (0.0, 0.0));
            for s in segments {
                // Straight lines through several layers are worth more than short ones.
                let weight = if items[s.from].waypoint && items[s.to].waypoint { 4.0 } else { 1.0 };
                if items[s.to].layer == c && (forward || both) {
                    add(&mut wanted[s.to], items[s.from].y + s.leaves - s.enters, weight);
                }
                if items[s.from].layer == c && (!forward || both) {
                    add(&mut wanted[s.from], items[s.to].y + s.enters - s.leaves, weight);
                }
            }
            settle(items, &columns[c], &wanted);
        }
    }
}

fn add(sum: &mut (f64, f64), y: f64, weight: f64) {
    sum.0 += y * weight;
    sum.1 += weight;
}

fn gap(above: &Item, below: &Item) -> f64 {
    if above.waypoint || below.waypoint { GAP_LINE } else { GAP_Y }
}

/// The heights of a column nearest to those wanted (a sum and its weight) that keep order and distances:
/// distances taken off, that is a rising sequence, found by pooling neighbours that are out of order.
fn settle(items: &mut [Item], column: &[usize], wanted: &[(f64, f64)]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(column.len());
    // Mean, weight, members.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (k, &i) in column.iter().enumerate() {
        if k > 0 {
            offset += items[column[k - 1]].height + gap(&items[column[k - 1]], &items[i]);
        }
        offsets.push(offset);
        let (sum, weight) = wanted[i];
        let (y, weight) = if weight > 0.0 { (sum / weight, weight) } else { (items[i].y, 0.01) };
        pools.push((y - offset, weight, 1));
        while let [.., a, b] = pools.as_slice()
            && a.0 > b.0
        {
            let weight = a.1 + b.1;
            let pool = ((a.0 * a.1 + b.0 * b.1) / weight, weight, a.2 + b.2);
            pools.truncate(pools.len() - 2);
            pools.push(pool);
        }
    }
    let levels = pools.iter().flat_map(|(y, _, n)| std::iter::repeat_n(*y, *n));
    for ((&i, offset), y) in column.iter().zip(offsets).zip(levels) {
        items[i].y = y + offset;
    }
}

fn place(diagram: &Diagram, items: &[Item], columns: &[Vec<usize>], ways: &[Vec<usize>]) -> Layout {
    let top = items.iter().map(|i| i.y).fold(f64::INFINITY, f64::min);
    let top = if top.is_finite() { top - MARGIN } else { 0.0 };
    let mut x = MARGIN;
    // Left edge and width of each column.
    let mut spans = Vec::new();
    for (c, column) in columns.iter().enumerate() {
        let width = column.iter().map(|&i| items[i].width).fold(0.0, f64::max);
        // Many lines side by side need room to turn.
        let lines = diagram
            .edges
            .iter()
            .zip(ways)
            .filter(|(e, way)| items[e.from.0].layer + way.len() >= c && items[e.from.0].layer <= c);
        spans.push((x, width));
        x += width + GAP_X + (lines.count() as f64).min(40.0);
    }
    let boxes: Vec<Rect> = items[..diagram.nodes.len()]
        .iter()
        .map(|item| {
            let (left, width) = spans[item.layer];
            // Arguments stand close to what they feed.
            Rect { x: left + (width - item.width), y: item.y - top, width: item.width, height: item.height }
        })
        .collect();
    let line = |(edge, way): (&super::Edge, &Vec<usize>)| {
        let (from, to) = (boxes[edge.from.0], boxes[edge.to.0]);
        let mut points = vec![[from.x + from.width, from.y + port_y(&diagram.nodes[edge.from.0], edge.from.1)]];
        for &i in way {
            let (left, width) = spans[items[i].layer];
            points.extend([[left, items[i].y - top], [left + width, items[i].y - top]]);
        }
        points.push([to.x, to.y + port_y(&diagram.nodes[edge.to.0], edge.to.1)]);
        points
    };
    let lines: Vec<Vec<[f64; 2]>> = diagram.edges.iter().zip(ways).map(line).collect();
    let right = spans.last().map_or(0.0, |(x, width)| x + width) + MARGIN;
    let points = lines.iter().flatten().map(|p| p[1]);
    let bottom = boxes.iter().map(|b| b.y + b.height).chain(points).fold(0.0, f64::max) + MARGIN;
    Layout { boxes, lines, width: right, height: bottom }
}
