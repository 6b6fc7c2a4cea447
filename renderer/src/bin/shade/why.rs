//! What `shade dump --why` says: why a variable carries shadows, or why not, as text or JSON.

use serde_json::{Value, json};
use ssl_compiler::passes::ad::why::{Answer, Chain, Step, Verdict};
use ssl_compiler::source::{SourceMap, Span};

/// The answers, each with its chains of source lines.
pub fn text(answers: &[Answer], sources: &SourceMap) -> String {
    let mut out = String::new();
    for (i, a) in answers.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(&format!("{} in `{}`, {}: {}\n", a.parts.join(", "), a.function, sources.place(a.span), said(a)));
        for chain in &a.demand {
            out.push_str("  asked for by\n");
            out.push_str(&steps(chain, sources));
        }
        if a.further > 0 {
            let places = if a.further == 1 { "place" } else { "places" };
            out.push_str(&format!("    and by {} more {places}\n", a.further));
        }
        for chain in &a.lineage {
            out.push_str("  varies with\n");
            out.push_str(&steps(chain, sources));
        }
    }
    out
}

fn said(a: &Answer) -> String {
    let directions = match (a.shadows.get(0), a.shadows.get(1)) {
        (true, true) => "x and y",
        (true, false) => "x",
        _ => "y",
    };
    match a.verdict {
        Verdict::Carries if a.order == 1 => format!("carries its derivative in {directions}"),
        Verdict::Carries => format!("carries a derivative of order {} in {directions}", a.order),
        Verdict::NotAsked => "carries none; nothing asks for its derivative".to_owned(),
        Verdict::NeverVaries => NEVER.to_owned(),
        Verdict::Neither => format!("{NEVER}, and nothing asks for its derivative"),
        Verdict::Apart => {
            "carries none; it varies in one call of the function, and its derivative is asked for in another".to_owned()
        }
        Verdict::Unused => "carries none; nothing uses this value, so it is left out".to_owned(),
    }
}

const NEVER: &str =
    "carries none; its derivative is always 0: it is made of constants, parameters and globals without partials";

pub(super) fn steps(chain: &Chain, sources: &SourceMap) -> String {
    let places: Vec<String> = chain.iter().map(|s| sources.place(s.span)).collect();
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let place_width = width(&mut places.iter().map(|p| p.chars().count()));
    let operation_width = width(&mut chain.iter().map(|s| s.operation.chars().count()));
    let line = |(place, step): (&String, &Step)| {
        let line = source_line(step.span, sources);
        format!("    {place:place_width$}  {:operation_width$}  | {line}\n", step.operation)
    };
    places.iter().zip(chain).map(line).collect()
}

/// Bytes of a line that stand in a step; of a longer one, these around the place.
const SHOWN: usize = 100;

/// The line of a place. Of a long line, which several steps may lie in, the part around the place.
fn source_line(span: Span, sources: &SourceMap) -> String {
    let file = sources.get(span.file);
    let number = file.line_at(span.start);
    let (line, start) = (file.line(number), file.line_range(number).start);
    if line.trim().len() <= SHOWN {
        return line.trim().to_owned();
    }
    let at = (span.start as usize).saturating_sub(start).min(line.len());
    let from = line.floor_char_boundary(at.saturating_sub(SHOWN / 4));
    let to = line.ceil_char_boundary((from + SHOWN).min(line.len()));
    let [before, behind] = [from > 0, to < line.len()].map(|cut| if cut { "…" } else { "" });
    format!("{before}{}{behind}", line[from..to].trim())
}

pub(super) fn json_place(span: Span, sources: &SourceMap) -> Value {
    let file = sources.get(span.file);
    let (line, column) = file.line_column(span.start);
    json!({"file": file.name, "line": line, "column": column, "text": source_line(span, sources)})
}

pub(super) fn json_chain(chain: &Chain, sources: &SourceMap) -> Value {
    let step = |s: &Step| {
        let mut value = json_place(s.span, sources);
        value["operation"] = s.operation.clone().into();
        value
    };
    chain.iter().map(step).collect()
}

/// The same as JSON.
pub fn json(query: &str, answers: &[Answer], sources: &SourceMap) -> Value {
    let place = |span: Span| json_place(span, sources);
    let chains = |list: &[Chain]| -> Vec<Value> { list.iter().map(|c| json_chain(c, sources)).collect() };
    let list: Vec<Value> = answers
        .iter()
        .map(|a| {
            let carries =
                [(a.shadows.get(0), "x"), (a.shadows.get(1), "y")].into_iter().filter(|(on, _)| *on).map(|(_, d)| d);
            json!({
                "function": a.function, "parts": a.parts, "place": place(a.span), "order": a.order,
                "verdict": a.verdict.name(), "carries": carries.collect::<Vec<_>>(),
                "asked_for_by": chains(&a.demand), "further_places": a.further, "varies_with": chains(&a.lineage),
            })
        })
        .collect();
    json!({"why": query, "answers": list})
}
