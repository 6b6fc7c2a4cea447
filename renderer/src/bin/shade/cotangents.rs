//! What `shade dump --stage adjoint` and `--stage needed` show of the sweeps of gradients, and what `--why` says there.

use super::why::{json_chain, json_place, steps};
use serde_json::{Value, json};
use ssl_compiler::ir::Value as IrValue;
use ssl_compiler::ir::print::print_function;
use ssl_compiler::passes::ad::reverse::swept::Swept;
use ssl_compiler::passes::ad::why::{CotangentAnswer as Answer, CotangentVerdict as Verdict};
use ssl_compiler::source::{FileId, SourceFile, SourceMap};

/// The source with a mark before each line, then the code of each function that is swept, with notes.
pub fn marked(sweeps: &[Swept], (source, file): (&SourceFile, FileId), needed: bool) -> String {
    let is_marked = |s: &Swept, v: IrValue| if needed { s.is_needed(v) } else { s.has_cotangent(v) };
    let mut lines = vec![false; source.line_count() + 1];
    for s in sweeps {
        s.source().walk(|_, data| {
            if data.span.file == file && data.results.iter().any(|&r| is_marked(s, r)) {
                lines[source.line_column(data.span.start).0] = true;
            }
        });
    }
    let (letter, legend, note) = match needed {
        true => ('r', "r: a sweep reads a value of this line", "read by the sweep"),
        false => ('c', "c: a value of this line has a cotangent", "cotangent"),
    };
    let mut out = format!("{legend}\n\n");
    for (i, marked) in lines.iter().enumerate().skip(1) {
        let mark = if *marked { letter } else { ' ' };
        out.push_str(format!("{mark:>3} | {}", source.line(i)).trim_end());
        out.push('\n');
    }
    for s in sweeps {
        let note = |v: IrValue| if is_marked(s, v) { note.to_owned() } else { String::new() };
        out.push('\n');
        out.push_str(&print_function(s.source(), &s.module, &note));
    }
    out
}

/// The answers, each with its chains of source lines.
pub fn text(answers: &[Answer], sources: &SourceMap) -> String {
    let one = |a: &Answer| {
        let place = sources.place(a.span);
        let mut out = match a.parts.is_empty() {
            true => format!("`{}`, {place}: is swept backwards\n", a.function),
            false => format!("{} in `{}`, {place}: {}\n", a.parts.join(", "), a.function, said(a)),
        };
        for (title, chain) in [("asked for by", &a.asked), ("leads to", &a.leads)] {
            if let Some(chain) = chain {
                out.push_str(&format!("  {title}\n{}", steps(chain, sources)));
            }
        }
        out
    };
    answers.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn said(a: &Answer) -> String {
    let cotangent = match a.verdict {
        Verdict::Passes => "has a cotangent",
        Verdict::NotAsked => "has no cotangent; nothing that has one follows from it",
        Verdict::Independent => "has no cotangent; it does not depend on anything whose gradient is wanted",
        Verdict::Neither => {
            "has no cotangent; it does not depend on anything whose gradient is wanted, and nothing that has one follows from it"
        }
        Verdict::NotSwept => "has no cotangent; no gradient goes through this place",
    };
    format!("{cotangent}{}", if a.read { ". The sweep reads the value" } else { "" })
}

/// The same as JSON.
pub fn json(query: &str, answers: &[Answer], sources: &SourceMap) -> Value {
    let one = |a: &Answer| {
        let chain = |chain: &Option<_>| chain.as_ref().map(|c| json_chain(c, sources));
        json!({
            "function": a.function, "parts": a.parts, "place": json_place(a.span, sources), "verdict": a.verdict.name(),
            "read": a.read, "asked_for_by": chain(&a.asked), "leads_to": chain(&a.leads),
        })
    };
    json!({"why": query, "answers": answers.iter().map(one).collect::<Vec<_>>()})
}
