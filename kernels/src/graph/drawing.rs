//! A graph as a drawing: launches in the order of their data, which of them run again and again, and which run together. As a text
//! in the language of Graphviz, and as a picture.

use super::{BufferId, Graph, Source};
use std::fmt::Write;

/// Pixels of the picture: a box, and from the middle of one to the middle of the next.
const BOX: [usize; 2] = [170, 26];
const STEP: [usize; 2] = [190, 62];
/// Letters of a name that fit into a box.
const LETTERS: usize = 25;

/// What brings buffers up to date.
pub struct Drawing {
    boxes: Vec<Node>,
    /// From box to box, the buffer between them, and whether it changes.
    arrows: Vec<(usize, usize, String, bool)>,
}

struct Node {
    name: String,
    /// A buffer of the host's, not a launch.
    host: bool,
    /// Whether it runs, or changes, again and again.
    again: bool,
    /// The number of the pack that it runs in.
    pack: Option<usize>,
    /// The most arrows that lead to it in a row.
    depth: usize,
}

impl Graph {
    /// What brings `wanted` up to date, again and again while `changing` change. Without `cached`, everything runs each time.
    pub fn drawing(&self, wanted: &[BufferId], changing: &[BufferId], cached: bool) -> Drawing {
        let (mut needed, mut asked) = (vec![false; self.nodes.len()], vec![false; self.slots.len()]);
        wanted.iter().for_each(|buffer| asked[buffer.0] = true);
        for &i in self.order.iter().rev() {
            needed[i] = self.nodes[i].gives().any(|buffer| asked[buffer.0]);
            if needed[i] {
                self.nodes[i].reads().for_each(|buffer| asked[buffer.0] = true);
            }
        }
        let (mut again, mut changes) = (vec![!cached; self.nodes.len()], vec![false; self.slots.len()]);
        changing.iter().for_each(|buffer| changes[buffer.0] = true);
        for &i in &self.order {
            again[i] = needed[i] && (again[i] || self.nodes[i].reads().any(|buffer| changes[buffer.0]));
            if again[i] {
                self.nodes[i].gives().for_each(|buffer| changes[buffer.0] = true);
            }
        }
        let packs = self.packs(&again);
        let mut drawing = Drawing { boxes: Vec::new(), arrows: Vec::new() };
        let mut places = vec![None; self.nodes.len()];
        for &i in self.order.iter().filter(|i| needed[**i]) {
            places[i] = Some(drawing.boxes.len());
            let (name, again) = (self.nodes[i].name.clone(), again[i]);
            drawing.boxes.push(Node { name, host: false, again, pack: packs[i], depth: 0 });
        }
        for (number, slot) in self.slots.iter().enumerate().filter(|(number, _)| asked[*number]) {
            let givers: Vec<usize> = match &slot.source {
                Source::Host => {
                    let (name, again) = (slot.name.clone(), changes[number]);
                    drawing.boxes.push(Node { name, host: true, again, pack: None, depth: 0 });
                    vec![drawing.boxes.len() - 1]
                }
                Source::Written(node) => node.iter().filter_map(|node| places[node.0]).collect(),
                Source::Sums(_, nodes) => nodes.iter().filter_map(|node| places[node.0]).collect(),
            };
            for (reader, place) in places.iter().enumerate().filter_map(|(i, place)| Some((i, (*place)?))) {
                if self.nodes[reader].reads().any(|buffer| buffer.0 == number) {
                    let arrow = |&giver: &usize| (giver, place, slot.name.clone(), changes[number]);
                    drawing.arrows.extend(givers.iter().map(arrow));
                }
            }
        }
        drawing.deepen();
        drawing
    }

    /// By node, the pack in which it runs with others, if these nodes are stale.
    fn packs(&self, stale: &[bool]) -> Vec<Option<usize>> {
        let (mut left, mut packs) = (stale.to_vec(), vec![None; self.nodes.len()]);
        for (place, &node) in self.order.iter().enumerate() {
            if left[node] {
                let pack = self.pack(place, &left);
                for &member in &pack {
                    left[member] = false;
                    packs[member] = (pack.len() > 1).then_some(place);
                }
            }
        }
        packs
    }

    /// Takes all results for stale: the next update runs all that it needs.
    pub fn forget(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.fresh = false);
    }
}

impl Drawing {
    /// Arrows lead from a box to one that is deeper.
    fn deepen(&mut self) {
        // No circle of launches was made, so each round settles at least one depth.
        for _ in 0..self.boxes.len() {
            for &(from, to, ..) in &self.arrows {
                self.boxes[to].depth = self.boxes[to].depth.max(self.boxes[from].depth + 1);
            }
        }
        // What the host gives stands right above the first that reads it.
        for i in (0..self.boxes.len()).filter(|i| self.boxes[*i].host).collect::<Vec<_>>() {
            let readers = self.arrows.iter().filter(|(from, ..)| *from == i).map(|(_, to, ..)| self.boxes[*to].depth);
            self.boxes[i].depth = readers.min().map_or(0, |depth| depth.saturating_sub(1));
        }
    }

    /// The packs, in the order in which they run.
    fn packs(&self) -> Vec<usize> {
        let mut packs: Vec<usize> = self.boxes.iter().filter_map(|node| node.pack).collect();
        packs.sort_unstable();
        packs.dedup();
        packs
    }

    /// How many launches run again and again, and in how many passes.
    pub fn counts(&self) -> (usize, usize) {
        let again = || self.boxes.iter().filter(|node| node.again && !node.host);
        (again().count(), again().filter(|node| node.pack.is_none()).count() + self.packs().len())
    }

    /// For `dot`: what runs each time has a heavy line, what runs once a dashed one, and what runs together a frame.
    pub fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let style = |again: bool| if again { "bold" } else { "dashed" };
        let mut text = "digraph {\n    node [shape = box];\n".to_owned();
        // Writing to a string does not fail.
        for (i, node) in self.boxes.iter().enumerate() {
            let shape = if node.host { ", shape = ellipse" } else { "" };
            let line = format!("n{i} [label = \"{}\"{shape}, style = {}];", quoted(&node.name), style(node.again));
            let _ = match node.pack {
                Some(pack) => writeln!(text, "    subgraph cluster_{pack} {{ {line} }}"),
                None => writeln!(text, "    {line}"),
            };
        }
        for (from, to, name, again) in &self.arrows {
            let _ = writeln!(text, "    n{from} -> n{to} [label = \"{}\", style = {}];", quoted(name), style(*again));
        }
        text + "}\n"
    }

    /// A picture in SVG, from top to bottom, with the same lines. What runs together has the same color.
    pub fn svg(&self) -> String {
        const COLORS: [&str; 6] = ["#ffe0b0", "#c8e6ff", "#d2f0c8", "#f0d0f0", "#fff3a8", "#d8d8ff"];
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let mut rows: Vec<usize> = Vec::new();
        let places: Vec<[usize; 2]> = self.boxes.iter().map(|node| place(&mut rows, node.depth)).collect();
        let (width, height) = (rows.iter().max().map_or(1, |most| *most) * STEP[0], rows.len().max(1) * STEP[1]);
        let packs = self.packs();
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let line = |again: bool| if again { "stroke-width=\"1.6\"" } else { "stroke-dasharray=\"4 3\"" };
        for &(from, to, ref name, again) in &self.arrows {
            let ([x0, y0], [x1, y1]) = (places[from], places[to]);
            let (y0, y1) = (y0 + BOX[1] / 2, y1 - BOX[1] / 2);
            let bend = STEP[1] / 2;
            let _ = writeln!(
                text,
                "<path d=\"M{x0} {y0}C{x0} {} {x1} {} {x1} {y1}\" fill=\"none\" stroke=\"gray\" {}><title>{}</title></path>",
                y0 + bend,
                y1.saturating_sub(bend),
                line(again),
                escaped(name)
            );
        }
        for (node, [x, y]) in self.boxes.iter().zip(&places) {
            let color = node.pack.and_then(|pack| packs.iter().position(|other| *other == pack));
            let fill = color.map_or("white", |number| COLORS[number % COLORS.len()]);
            let short: String = match node.name.chars().count() > LETTERS {
                true => node.name.chars().take(LETTERS - 1).chain(['…']).collect(),
                false => node.name.clone(),
            };
            let _ = writeln!(
                text,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{fill}\" stroke=\"black\" {}/>\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}<title>{}</title></text>",
                x - BOX[0] / 2,
                y - BOX[1] / 2,
                BOX[0],
                BOX[1],
                if node.host { BOX[1] / 2 } else { 2 },
                line(node.again),
                y + 4,
                escaped(&short),
                escaped(&node.name)
            );
        }
        text + "</svg>\n"
    }
}

/// The middle of the next box of a row.
fn place(rows: &mut Vec<usize>, row: usize) -> [usize; 2] {
    if rows.len() <= row {
        rows.resize(row + 1, 0);
    }
    rows[row] += 1;
    [STEP[0] * (rows[row] - 1) + STEP[0] / 2, STEP[1] * row + STEP[1] / 2]
}
