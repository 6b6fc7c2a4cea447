//! Prints what a megabyte of each hostile shape costs: `hostile [--bytes N] [--backend NAME] [--over MS] [WORD…]`.
//! Words choose the shapes that have one of them in their names.
//!
//! A process of its own compiles each shape and is ended after a minute. So a shape that hangs, overflows its stack or
//! takes all memory is a row of the table like any other. `--over` leaves out shapes that take less time.

use ssl_benches::process::{peak_megabytes, processor_milliseconds};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, Target, check, compile, format};
use ssl_tests::hostile::{Shape, shapes};
use ssl_tests::{Host, Way};
use std::io::Read;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

struct Wanted {
    bytes: usize,
    backend: BackendKind,
    over: f64,
    /// The shape that this process is to compile.
    one: Option<String>,
    words: Vec<String>,
}

fn main() -> ExitCode {
    let wanted = match Wanted::read(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    match &wanted.one {
        Some(name) => shapes().filter(|s| s.name == name).for_each(|s| println!("{}", measured(s, &wanted))),
        None => table(&wanted),
    }
    ExitCode::SUCCESS
}

impl Wanted {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut wanted =
            Wanted { bytes: 1_000_000, backend: BackendKind::default(), over: 0.0, one: None, words: Vec::new() };
        while let Some(word) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{word}` takes a value"));
            match word.as_str() {
                "--bytes" => wanted.bytes = value()?.parse().map_err(|e| format!("`--bytes`: {e}"))?,
                "--over" => wanted.over = value()?.parse().map_err(|e| format!("`--over`: {e}"))?,
                "--one" => wanted.one = Some(value()?),
                "--backend" => {
                    let name = value()?;
                    let found = BackendKind::ALL.iter().find(|b| b.name() == name);
                    wanted.backend = *found.ok_or_else(|| format!("there is no back end `{name}`"))?;
                }
                _ => wanted.words.push(word),
            }
        }
        Ok(wanted)
    }
}

/// One row for each shape.
fn table(wanted: &Wanted) {
    println!("| shape | ms: check, compile, format | MB | outcome |\n| --- | --- | --- | --- |");
    for shape in shapes().filter(|s| wanted.words.is_empty() || wanted.words.iter().any(|w| s.name.contains(w))) {
        let start = Instant::now();
        let row = apart(shape, wanted).unwrap_or_else(|why| format!(" | | {why}"));
        if start.elapsed().as_secs_f64() * 1e3 >= wanted.over {
            println!("| {} | {row} |", shape.name);
        }
    }
}

/// What another process measures.
fn apart(shape: &Shape, wanted: &Wanted) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(program);
    command.args(["--one", shape.name, "--backend", wanted.backend.name(), "--bytes", &wanted.bytes.to_string()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|e| e.to_string())?;
    let status = ended(&mut child)?;
    let mut row = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut row).map_err(|e| e.to_string())?;
    }
    if status.success() { Ok(row.trim().to_owned()) } else { Err(status.to_string()) }
}

fn ended(child: &mut Child) -> Result<std::process::ExitStatus, String> {
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => return Ok(status),
            None if start.elapsed() > DEADLINE => {
                child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
                return Err(format!("not done after {} s", DEADLINE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Times of a shape here, the most memory that this process had, and what was said.
fn measured(shape: &Shape, wanted: &Wanted) -> String {
    let text = (shape.text)(wanted.bytes);
    let host = Host::default();
    let way =
        Way { target: Target { backend: wanted.backend, opt: OptLevel::O2, ..Target::default() }, optimise: true };
    let options = host.options(way);
    let mut sources = SourceMap::new();
    let file = sources.add("hostile.ssl", text);
    let (checking, checked) = timed(|| {
        let (_, found) = check(&mut sources, file, &options);
        said(&found, &sources)
    });
    let (compiling, compiled) = timed(|| match compile(&mut sources, file, None, &options) {
        Ok((shader, _)) => {
            let times = shader.timings().iter().filter(|(_, t)| t.as_millis() > 100);
            let slow: Vec<String> = times.map(|(name, t)| format!("{name} {:.0}", t.as_secs_f64() * 1e3)).collect();
            if slow.is_empty() { "compiled".to_owned() } else { format!("compiled: {}", slow.join(", ")) }
        }
        Err(found) => said(&found, &sources),
    });
    let (formatting, _) = timed(|| format(&sources, file).map_or(0, |text| text.len()));
    let outcome = if compiled.starts_with("compiled") { compiled } else { format!("{checked}; {compiled}") };
    format!(
        "{checking:.0}, {compiling:.0}, {formatting:.0} | {} | {outcome}",
        peak_megabytes().map_or(String::new(), |mb| mb.to_string())
    )
}

/// Milliseconds of processor time where the system tells, as other work does not count in it, and the result.
fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let (start, spent) = (Instant::now(), processor_milliseconds());
    let result = run();
    let time = spent
        .zip(processor_milliseconds())
        .map_or(start.elapsed().as_secs_f64() * 1e3, |(before, after)| after - before);
    (time, result)
}

/// The code of the first error, or that there is none. All findings are shown, which takes its time too.
fn said(found: &Diagnostics, sources: &SourceMap) -> String {
    let shown = render::text(found, sources, false).len() + render::json(found, sources).to_string().len();
    std::hint::black_box(shown);
    found.list.iter().find(|d| d.is_error()).map_or("no error".to_owned(), |d| d.code.id.to_owned())
}
