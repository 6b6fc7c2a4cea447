//! Starts other programs, and says how they ended.

use super::Outcome;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, IsTerminal as _, PipeReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// How many of the last lines of a failed command its outcome repeats.
const LAST: usize = 40;

/// Runs a command in the root of the workspace, its output passed through. Where that goes to a file, the outcome of a
/// failure ends with the last lines of it.
pub fn run(mut command: Command) -> Outcome {
    let text = line(&command);
    println!("$ {text}");
    command.current_dir(root());
    let wrong = |e| format!("`{text}` could not be run: {e}");
    let (status, end) = if std::io::stdout().is_terminal() {
        (command.status().map_err(wrong)?, Vec::new())
    } else {
        run_keeping_the_end(command).map_err(wrong)?
    };
    if status.success() {
        return Ok(());
    }
    Err(std::iter::once(format!("`{text}` ended with {status}")).chain(end).collect::<Vec<_>>().join("\n"))
}

fn run_keeping_the_end(mut command: Command) -> std::io::Result<(ExitStatus, Vec<String>)> {
    let (output, input) = std::io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn()?;
    // It holds the pipe's other end. Reading ends when that is closed here and in all that the child started.
    drop(command);
    let end = pass_on(output);
    Ok((child.wait()?, end?))
}

/// Prints what comes, and gives the last lines.
fn pass_on(output: PipeReader) -> std::io::Result<Vec<String>> {
    let (mut reader, mut out) = (BufReader::new(output), std::io::stdout());
    let (mut end, mut bytes) = (VecDeque::new(), Vec::new());
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        out.write_all(&bytes)?;
        if end.len() == LAST {
            end.pop_front();
        }
        end.push_back(String::from_utf8_lossy(&bytes).trim_end().to_owned());
        bytes.clear();
    }
    out.flush()?;
    Ok(end.into())
}

/// A command as one would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Whether a command is there and runs.
pub fn has(words: &[&str]) -> bool {
    first_line(words).is_some()
}

/// The first line that a command prints; `None` where it cannot be run or fails.
pub fn first_line(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let output = Command::new(program).args(arguments).current_dir(root()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_both_streams_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 1 60; echo wrong >&2; exit 3"]);
        let (status, end) = run_keeping_the_end(command).expect("there is a shell");
        assert_eq!(status.code(), Some(3));
        assert_eq!(end.len(), LAST);
        assert_eq!(end[LAST - 2..], ["60", "wrong"]);
    }
}
