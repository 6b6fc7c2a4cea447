//! Where the time of compiling goes, and how it grows.

use crate::measure::{Stages, compile, label, milliseconds, natives, totals};
use ssl_benches::{ROUNDS, compiled, in_turn, table_source};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Target};

/// Stages of the program D on each back end.
pub fn stages() -> Result<(), String> {
    let source = table_source("D", "ddx")?;
    let targets: Vec<Target> = natives().into_iter().filter(|t| t.opt == OptLevel::O2).collect();
    let columns: Result<Vec<Stages>, String> =
        targets.iter().map(|t| compile(ROUNDS, || compiled(&source, *t)).map(|(_, stages)| stages)).collect();
    let columns = columns?;
    let names: Vec<String> = targets.iter().map(|t| label(*t)).collect();
    println!("| ms of compiling D | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    let mut order: Vec<&str> = Vec::new();
    for (stage, _) in columns.iter().rev().flatten() {
        if !order.contains(stage) {
            order.push(stage);
        }
    }
    for stage in order {
        let cell = |c: &Stages| {
            c.iter().find(|(n, _)| *n == stage).map_or(String::new(), |s| format!("{:.2}", milliseconds(s.1)))
        };
        println!("| {stage} | {} |", columns.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    let total = |c: &Stages| format!("{:.2}", milliseconds(totals(c).0));
    println!("| all | {} |", columns.iter().map(total).collect::<Vec<_>>().join(" | "));
    Ok(())
}

/// What each level costs and brings.
pub fn levels() -> Result<(), String> {
    println!("| back end | back end's ms: D, F | ns per point: D, F |\n| --- | --- | --- |");
    let sources = [table_source("D", "ddx")?, table_source("F", "ddx")?];
    let kinds = BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter);
    for target in kinds.flat_map(|&backend| OptLevel::ALL.map(|opt| Target { backend, opt, ..Target::default() })) {
        let mut cells = Vec::new();
        let mut shaders = Vec::new();
        for source in &sources {
            let (shader, stages) = compile(ROUNDS, || compiled(source, target))?;
            cells.push(format!("{:.1}", milliseconds(totals(&stages).1)));
            shaders.push(shader);
        }
        let run: Vec<String> = in_turn(&shaders).iter().map(|ns| format!("{ns:.0}")).collect();
        println!("| {} | {} | {} |", label(target), cells.join(", "), run.join(", "));
    }
    Ok(())
}

/// Lines of straight arithmetic, `each` of them to a function, a call of the math library in every eighth.
fn program(lines: usize, each: usize) -> String {
    let mut text = String::new();
    let functions = lines.div_ceil(each);
    for f in 0..functions {
        text.push_str(&format!("float f{f}(float x, float y) {{\n    float a = x; float b = y;\n"));
        for i in 0..each.min(lines - f * each) {
            let (c, d) = ((i * 7 + f) % 13 + 1, (i * 5 + f) % 11 + 2);
            text.push_str(&match i % 4 {
                0 => format!("    a = a * 0.{c} + b;\n"),
                1 => format!("    b = b - a / {d}.5;\n"),
                2 => format!("    if (a > b) a = a - 0.{d}; else b = b * 0.{c};\n"),
                _ if i % 8 == 3 => "    b = sin(a) + b * 0.5;\n".to_owned(),
                _ => format!("    a = min(a, b + {c}.0) * 0.{d};\n"),
            });
        }
        text.push_str("    return a + b;\n}\n");
    }
    text.push_str("shader main(out float r) {\n    float t = global_value<position>.x;\n");
    (0..functions).for_each(|f| text.push_str(&format!("    t = f{f}(t, global_value<position>.y);\n")));
    text.push_str("    r = t;\n}\n");
    text
}

/// Microseconds a line: the same at every length where time grows with the length alone.
pub fn lengths() -> Result<(), String> {
    let targets = natives();
    let names: Vec<String> = targets.iter().map(|t| format!("{}, all", label(*t))).collect();
    println!("| lines | a function | {} |\n| --- | --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    for lines in [100, 300, 1000, 3000, 10_000, 20_000] {
        for each in [50, lines] {
            let source = program(lines, each);
            let mut cells = Vec::new();
            for &target in &targets {
                let (_, stages) = compile(3, || compiled(&source, target))?;
                let (all, native) = totals(&stages);
                let micros = |d: std::time::Duration| d.as_secs_f64() * 1e6 / lines as f64;
                cells.push(format!("{:.1}, {:.1}", micros(native), micros(all)));
            }
            println!("| {lines} | {each} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}
