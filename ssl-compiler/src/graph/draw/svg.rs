//! A diagram as SVG, which browsers and editors show.

use super::layout::{Layout, Rect, layout, port_y};
use super::{Diagram, Kind, Node};
use crate::graph::marks::Mark;
use std::fmt::Write as _;

const GREEN: &str = "#c6e9c4";
const GREY: &str = "#d4d4d4";
const WHITE: &str = "#ffffff";
const SOURCE: &str = "#e6eef8";
const LEGEND_WIDTH: f64 = 560.0;
const LEGEND_HEIGHT: f64 = 44.0;

pub fn svg(diagram: &Diagram) -> String {
    let place = layout(diagram);
    let (width, height) = (place.width.max(LEGEND_WIDTH + 32.0), place.height + LEGEND_HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"11\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fafafa\"/>\n",
        escaped(&diagram.title)
    );
    lines(diagram, &place, &mut out);
    for (node, rect) in diagram.nodes.iter().zip(&place.boxes) {
        draw(node, *rect, &mut out);
    }
    labels(diagram, &place, &mut out);
    legend(place.height, &mut out);
    out.push_str("</svg>\n");
    out
}

/// Text with what XML would take for markup, or does not allow, replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Curves that leave and enter level.
fn lines(diagram: &Diagram, place: &Layout, out: &mut String) {
    out.push_str("<g fill=\"none\" stroke=\"#5b6b7b\" stroke-width=\"1.4\">\n");
    for (edge, points) in diagram.edges.iter().zip(&place.lines) {
        let dashes = if diagram.nodes[edge.to.0].unused { " stroke-dasharray=\"4 3\" opacity=\"0.6\"" } else { "" };
        let mut path = format!("M{:.1} {:.1}", points[0][0], points[0][1]);
        for pair in points.windows(2) {
            let ([x0, y0], [x1, y1]) = (pair[0], pair[1]);
            let bend = (x1 - x0) * 0.5;
            if y0 == y1 {
                let _ = write!(path, " L{x1:.1} {y1:.1}");
            } else {
                let _ = write!(path, " C{:.1} {y0:.1} {:.1} {y1:.1} {x1:.1} {y1:.1}", x0 + bend, x1 - bend);
            }
        }
        let _ = writeln!(out, "<path d=\"{path}\"{dashes}/>");
    }
    out.push_str("</g>\n");
}

fn draw(node: &Node, r: Rect, out: &mut String) {
    let fill = match (node.kind, node.mark) {
        (Kind::Unit, Mark::Derivative) => GREEN,
        (Kind::Unit, Mark::Constant) => GREY,
        (Kind::Unit, Mark::Plain) => WHITE,
        (Kind::Source | Kind::Outputs, _) => SOURCE,
    };
    let radius = if node.kind == Kind::Source { 14 } else { 5 };
    let faded = if node.unused { " opacity=\"0.6\" stroke-dasharray=\"4 3\"" } else { "" };
    let _ = writeln!(
        out,
        "<g><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"#3d4a57\"{faded}/>",
        r.x, r.y, r.width, r.height
    );
    let middle = r.x + r.width / 2.0;
    let title_y = r.y + if node.subtitle.is_empty() { 24.0 } else { 17.0 };
    let mut text = |x: f64, y: f64, style: &str, content: &str| {
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{style}>{}</text>", escaped(content));
    };
    text(middle, title_y, " text-anchor=\"middle\" font-weight=\"bold\" fill=\"#1c2733\"", &node.title);
    text(middle, r.y + 31.0, " text-anchor=\"middle\" font-size=\"10\" fill=\"#5b6b7b\"", &node.subtitle);
    for (i, port) in node.inputs.iter().enumerate() {
        let y = r.y + port_y(node, i) + 4.0;
        let shown = port.value.as_ref().map_or(port.name.clone(), |v| format!("{} = {v}", port.name));
        text(r.x + 10.0, y, "", &shown);
    }
    for (i, name) in node.outputs.iter().enumerate() {
        text(r.x + r.width - 10.0, r.y + port_y(node, i) + 4.0, " text-anchor=\"end\"", name);
    }
    let mut dot = |x: f64, y: f64| {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#3d4a57\"/>");
    };
    // What is set needs no line, and has no dot.
    for (i, _) in node.inputs.iter().enumerate().filter(|(_, p)| p.value.is_none()) {
        dot(r.x, r.y + port_y(node, i));
    }
    (0..node.outputs.len()).for_each(|i| dot(r.x + r.width, r.y + port_y(node, i)));
    out.push_str("</g>\n");
}

/// Which components a line carries, where it arrives.
fn labels(diagram: &Diagram, place: &Layout, out: &mut String) {
    for (edge, points) in diagram.edges.iter().zip(&place.lines).filter(|(e, _)| !e.label.is_empty()) {
        let [x, y] = points[points.len() - 1];
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10\" fill=\"#8a3b12\">{}</text>",
            x - 6.0,
            y - 4.0,
            escaped(&edge.label)
        );
    }
}

fn legend(top: f64, out: &mut String) {
    let entries = [
        (GREEN, "carries derivatives", ""),
        (GREY, "folds to constants", ""),
        (WHITE, "neither", ""),
        (WHITE, "not used", " stroke-dasharray=\"4 3\" opacity=\"0.6\""),
    ];
    for (i, (fill, text, style)) in entries.into_iter().enumerate() {
        let x = 24.0 + i as f64 * 145.0;
        let y = top + 8.0;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"18\" height=\"14\" rx=\"3\" fill=\"{fill}\" stroke=\"#3d4a57\"{style}/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{text}</text>",
            x + 24.0,
            y + 11.0
        );
    }
}
