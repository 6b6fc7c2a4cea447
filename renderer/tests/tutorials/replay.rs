//! Replays a page of the book: writes the files that it shows, runs the commands that it shows, and compares what they
//! print with what it shows.
//!
//! `<!-- file: NAME -->` before a listing says that the reader has a file NAME with this text from there on.
//! `<!-- file: NAME from PATH -->` says that it is a file of this repository besides. `<!-- append: NAME -->` says that the
//! reader appends the listing to the file. A listing marked `text` that begins with `$ ` is a terminal: commands behind
//! `$ `, and under each what it prints. A line `…` there stands for any lines, a `…` within a line for any text. The
//! program's lines of progress are left out, since they depend on the machine.
//! `UPDATE_EXPECT=1` writes what was printed into the page.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that a page's `src/main.rs` is, and what runs it in place of `cargo run`.
pub type Program = (&'static str, fn(&mut dyn Write) -> Result<(), Box<dyn Error>>);

/// What the reader has done so far.
pub struct Replay<'a> {
    pub programs: &'a [Program],
    /// Commands that are shown but not run, since they need a machine of the reader's own.
    pub not_run: &'a [&'a str],
    folder: PathBuf,
    faults: Vec<String>,
    page: Vec<String>,
    commands: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.replace("\r\n", "\n")
}

impl<'a> Replay<'a> {
    pub fn new(programs: &'a [Program], not_run: &'a [&'a str]) -> Replay<'a> {
        Replay { programs, not_run, folder: PathBuf::new(), faults: Vec::new(), page: Vec::new(), commands: 0 }
    }

    /// Replays the page of this name; gives how many commands it ran.
    pub fn page(mut self, name: &str) -> usize {
        let path = root().join("docs/src").join(name);
        self.folder = std::env::temp_dir().join(format!("ssl-{}-{}", name.trim_end_matches(".md"), std::process::id()));
        std::fs::create_dir_all(&self.folder).expect("the temporary folder can be written");
        let text = read(&path);
        let mut lines = text.lines();
        let mut file: Option<(&str, bool)> = None;
        while let Some(line) = lines.next() {
            self.page.push(line.to_owned());
            let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")).unwrap_or_default();
            let written = comment.strip_prefix("file: ").map(|name| (name, false));
            let named = written.or(comment.strip_prefix("append: ").map(|name| (name, true)));
            if let Some(info) = line.strip_prefix("```") {
                let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
                match file.take() {
                    Some((name, false)) => self.file(name, &block),
                    Some((name, true)) => self.append(name, &block),
                    None if info == "text" && block.first().is_some_and(|l| l.starts_with("$ ")) => {
                        self.terminal(&block)
                    }
                    None => self.page.extend(block.iter().map(|l| (*l).to_owned())),
                }
                self.page.push("```".to_owned());
            }
            file = named.or(file);
        }
        std::fs::remove_dir_all(&self.folder).expect("it was written");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, self.page.join("\n") + "\n").expect("the page can be written");
        } else {
            assert!(self.faults.is_empty(), "{name}:\n{}\nUPDATE_EXPECT=1 writes the page", self.faults.join("\n"));
        }
        self.commands
    }

    /// The reader writes a file.
    fn file(&mut self, what: &str, block: &[&str]) {
        let (name, origin) = what.split_once(" from ").map_or((what, None), |(name, origin)| (name, Some(origin)));
        let shown = block.join("\n") + "\n";
        let text = origin.map_or(shown.clone(), |origin| read(&root().join(origin)));
        if text != shown {
            self.faults.push(format!("`{name}` is not {}", origin.unwrap_or_default()));
        }
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.folder)).expect("the temporary folder can be written");
        std::fs::write(path, &text).expect("the temporary folder can be written");
        self.page.extend(text.lines().map(str::to_owned));
    }

    /// The reader writes more lines into a file.
    fn append(&mut self, name: &str, block: &[&str]) {
        let path = self.folder.join(name);
        let text = read(&path) + &block.join("\n") + "\n";
        std::fs::write(path, text).expect("the temporary folder can be written");
        self.page.extend(block.iter().map(|l| (*l).to_owned()));
    }

    fn terminal(&mut self, block: &[&str]) {
        let mut at = 0;
        while at < block.len() {
            let command = block[at].trim_start_matches("$ ");
            let shown: Vec<&str> = block[at + 1..].iter().copied().take_while(|l| !l.starts_with("$ ")).collect();
            self.page.push(block[at].to_owned());
            at += 1 + shown.len();
            let printed = if self.not_run.contains(&command) { None } else { Some(self.run(command)) };
            match printed {
                Some(printed) if !fits(&shown, &printed.lines().map(str::trim_end).collect::<Vec<_>>()) => {
                    let shown = shown.join("\n");
                    self.faults.push(format!("$ {command}\nis shown as\n{shown}\nand prints\n{printed}"));
                    self.page.extend(printed.lines().map(|l| l.trim_end().to_owned()));
                }
                _ => self.page.extend(shown.iter().map(|l| (*l).to_owned())),
            }
        }
    }

    /// What a command prints, in the reader's folder.
    fn run(&mut self, command: &str) -> String {
        self.commands += 1;
        if command == "cargo run" {
            let main = read(&self.folder.join("src/main.rs"));
            let known = self.programs.iter().find(|(text, _)| text.replace("\r\n", "\n") == main);
            let Some((_, run)) = known else { return "there is no program with this `src/main.rs`".to_owned() };
            let mut out = Vec::new();
            return match run(&mut out) {
                Ok(()) => String::from_utf8(out).expect("programs print text"),
                Err(e) => format!("Error: {e:?}"),
            };
        }
        if let Some((from, to)) = command.strip_prefix("cp ../ssl/").and_then(|files| files.split_once(' ')) {
            let copied = std::fs::copy(root().join(from), self.folder.join(to));
            return copied.err().map(|e| e.to_string()).unwrap_or_default();
        }
        let Some(("shade", arguments)) = command.split_once(' ') else {
            return "the replay knows `shade`, `cargo run`, and `cp` from the repository".to_owned();
        };
        let mut shade = Command::new(env!("CARGO_BIN_EXE_shade"));
        shade.current_dir(&self.folder).env("SSL_TEXTURE_CACHE", self.folder.join("converted"));
        let done = shade.args(words(arguments)).output().expect("shade can be started");
        let remarks = String::from_utf8_lossy(&done.stderr);
        let remarks: String = remarks.split_inclusive('\n').filter(|l| !l.starts_with("rendering: ")).collect();
        let printed = format!("{remarks}{}", String::from_utf8_lossy(&done.stdout));
        if arguments.starts_with("test ") { without_llvm(&printed) } else { printed.trim_end().to_owned() }
    }
}

/// What `shade test` prints in a build that has no LLVM, as the pages show it.
fn without_llvm(printed: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut foreign = false;
    for line in printed.lines().filter(|line| !line.ends_with(" failed")) {
        if !line.starts_with(' ') {
            foreign = line.contains(" [llvm]");
        }
        if !foreign {
            kept.push(line);
        }
    }
    let count = |verdict: &str| kept.iter().filter(|line| line.starts_with(verdict)).count();
    format!("{}\n{} passed, {} failed", kept.join("\n"), count("ok "), count("FAILED "))
}

/// As a shell splits it: at spaces outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words
}

/// Whether lines are as shown, where `…` stands for any.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|skip| fits(rest, &printed[skip..])),
        [first, rest @ ..] => printed.first().is_some_and(|line| line_fits(first, line)) && fits(rest, &printed[1..]),
    }
}

/// Whether a line is as shown, where `…` stands for any text.
fn line_fits(shown: &str, printed: &str) -> bool {
    let Some((before, behind)) = shown.split_once('…') else { return shown == printed };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_fits(behind, &rest[at..]))
}

#[test]
fn reports_of_llvm_are_left_out() {
    let printed =
        "FAILED a [cranelift]\n    a\nFAILED a [llvm]\n    b\nok     c [interp]\nok     c [llvm]\n2 passed, 2 failed\n";
    assert_eq!(without_llvm(printed), "FAILED a [cranelift]\n    a\nok     c [interp]\n1 passed, 1 failed");
}

#[test]
fn dots_stand_for_any_lines_or_text() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]) && fits(&["…"], &[]));
    assert!(fits(&["took … s", "b…"], &["took 1.5 s", "b"]) && !fits(&["took … s"], &["took 1.5 ms"]));
    assert!(!fits(&["a", "…", "d"], &["a", "d", "e"]) && !fits(&["a"], &[]) && !fits(&[], &["a"]));
}
