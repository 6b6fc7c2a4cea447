//! `shade fmt` as a user meets it: what is written, what is left alone, exit codes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const UGLY: &str = "float f(float x){return x ;} // kept\n";
const NEAT: &str = "float f(float x) { return x; } // kept\n";
const BROKEN: &str = "float f(float x) { return x }\n";

fn shade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("the program was built for this test")
}

fn from_stdin(arguments: &[&str], text: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shade"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("as above");
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it is read to its end");
    child.wait_with_output().expect("it ends")
}

/// A folder with a file that would change, one that would not, one in a folder below, and one that is no shader.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("shade-fmt-{}-{name}", std::process::id()));
    std::fs::create_dir_all(path.join("below")).expect("the temporary folder can be written");
    for (file, text) in [("ugly.ssl", UGLY), ("neat.ssl", NEAT), ("below/ugly.ssl", UGLY), ("notes.txt", UGLY)] {
        std::fs::write(path.join(file), text).expect("as above");
    }
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\\', "/")
}

#[test]
fn files_and_folders_are_formatted_once() {
    let folder = folder("once");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("it is there");
    let path = folder.display().to_string();
    let first = shade(&["fmt", &path]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(text(&first.stdout).lines().count(), 2, "{}", text(&first.stdout));
    assert_eq!([read("ugly.ssl"), read("neat.ssl"), read("below/ugly.ssl")], [NEAT, NEAT, NEAT]);
    assert_eq!(read("notes.txt"), UGLY);
    let second = shade(&["fmt", &path]);
    assert_eq!((second.status.code(), second.stdout.len()), (Some(0), 0));
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 4, "nothing is left beside");
}

#[test]
fn check_lists_and_changes_nothing() {
    let folder = folder("check");
    let out = shade(&["fmt", "--check", &folder.display().to_string()]);
    assert_eq!(out.status.code(), Some(1));
    let listed = text(&out.stdout);
    assert!(listed.lines().count() == 2 && listed.lines().all(|l| l.ends_with("ugly.ssl")), "{listed}");
    assert_eq!(std::fs::read_to_string(folder.join("ugly.ssl")).expect("it is there"), UGLY);
    assert_eq!(shade(&["fmt", "--check", &folder.join("neat.ssl").display().to_string()]).status.code(), Some(0));
}

#[test]
fn a_file_that_does_not_parse_is_reported_and_others_are_formatted() {
    let folder = folder("broken");
    std::fs::write(folder.join("broken.ssl"), BROKEN).expect("it can be written");
    let out = shade(&["fmt", &folder.display().to_string()]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("E0106"), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_to_string(folder.join("broken.ssl")).expect("it is there"), BROKEN);
    assert_eq!(std::fs::read_to_string(folder.join("ugly.ssl")).expect("it is there"), NEAT);
    assert_eq!(shade(&["fmt", &folder.join("missing.ssl").display().to_string()]).status.code(), Some(1));
}

#[test]
fn stdin_becomes_stdout() {
    let out = from_stdin(&["fmt", "--stdin"], UGLY);
    assert_eq!((out.status.code(), text(&out.stdout)), (Some(0), NEAT.to_owned()));
    assert_eq!(from_stdin(&["fmt", "--stdin", "--check"], UGLY).status.code(), Some(1));
    assert_eq!(from_stdin(&["fmt", "--stdin", "--check"], NEAT).status.code(), Some(0));
    let broken = from_stdin(&["fmt", "--stdin"], BROKEN);
    assert_eq!((broken.status.code(), broken.stdout.len()), (Some(1), 0));
    assert_eq!(shade(&["fmt"]).status.code(), Some(2));
    assert_eq!(shade(&["fmt", "--stdin", "x.ssl"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("links");
    let (file, link) = (folder.join("ugly.ssl"), folder.join("link.ssl"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink(&file, &link).expect("the folder is ours");
    assert_eq!(shade(&["fmt", &link.display().to_string()]).status.code(), Some(0));
    assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), NEAT);
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);
}
