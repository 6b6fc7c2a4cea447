//! A graph as a drawing in the language of Graphviz: launches in the order of their data, and which of them run again and again.

use super::{BufferId, Graph, Source};
use std::fmt::Write;

impl Graph {
    /// What brings `wanted` up to date, again and again while `changing` change: `dot` makes a picture of it. What runs each
    /// time is drawn in a heavy line, what runs once in a dashed one. Without `cached`, everything runs each time.
    pub fn drawing(&self, wanted: &[BufferId], changing: &[BufferId], cached: bool) -> String {
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
            again[i] |= self.nodes[i].reads().any(|buffer| changes[buffer.0]);
            if again[i] {
                self.nodes[i].gives().for_each(|buffer| changes[buffer.0] = true);
            }
        }
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = "digraph {\n    node [shape = box];\n".to_owned();
        // Writing to a string does not fail.
        for &i in self.order.iter().filter(|i| needed[**i]) {
            let style = if again[i] { "bold" } else { "dashed" };
            let _ = writeln!(text, "    n{i} [label = \"{}\", style = {style}];", quoted(&self.nodes[i].name));
        }
        for (number, slot) in self.slots.iter().enumerate().filter(|(number, _)| asked[*number]) {
            let givers: Vec<usize> = match &slot.source {
                Source::Host => {
                    let name = quoted(&slot.name);
                    let _ = writeln!(text, "    b{number} [label = \"{name}\", shape = ellipse];");
                    Vec::new()
                }
                Source::Written(node) => node.iter().map(|node| node.0).collect(),
                Source::Sums(_, nodes) => nodes.iter().map(|node| node.0).collect(),
            };
            let style = if changes[number] { "bold" } else { "dashed" };
            let reads = |i: &usize| needed[*i] && self.nodes[*i].reads().any(|buffer| buffer.0 == number);
            for reader in (0..self.nodes.len()).filter(reads) {
                let label = quoted(&slot.name);
                if let Source::Host = slot.source {
                    let _ = writeln!(text, "    b{number} -> n{reader} [style = {style}];");
                }
                for giver in givers.iter().filter(|giver| needed[**giver]) {
                    let _ = writeln!(text, "    n{giver} -> n{reader} [label = \"{label}\", style = {style}];");
                }
            }
        }
        text + "}\n"
    }

    /// Takes all results for stale: the next update runs all that it needs.
    pub fn forget(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.fresh = false);
    }
}
