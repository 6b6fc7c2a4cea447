//! Inputs that are no regular files, which nobody may wait for, and signals that come twice.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of its own for a test with a pipe in it that nobody writes into; removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("shade-hostile-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        let made = Command::new("mkfifo").arg(path.join("pipe")).status().expect("the system has it");
        assert!(made.success());
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the temporary folder can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn begun(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shade"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program was built for this test")
}

/// What a program said that ends by itself, which it must soon.
#[track_caller]
fn ended(mut child: Child, what: &str) -> Output {
    let begin = Instant::now();
    while child.try_wait().expect("it is a child").is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("{what}: it does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("it is a child")
}

const CAMERA: &str = "[camera]\nposition = [0, 0, 5]\nlook_at = [0, 0, 0]\n";
const WHITE: &str = "[materials.m]\nsource = \"shader m(out closure c) \
                     { c = make_closure<Lambert>(color(1.0), global_value<normal>); }\"\n";

/// Scenes that name a file in each way that there is, and `FILE` where its name is to stand.
fn scenes() -> Vec<(&'static str, String)> {
    let shape = |keys: &str| format!("{CAMERA}{WHITE}[[shapes]]\nmaterial = \"m\"\n{keys}\n");
    let sphere = "[[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n";
    vec![
        ("camera", format!("[camera]\nfile = \"FILE\"\n{WHITE}{sphere}")),
        ("texture", format!("{CAMERA}{WHITE}{sphere}[textures.t]\nfile = \"FILE\"\n")),
        ("environment", format!("{CAMERA}{WHITE}{sphere}[environment]\ntype = \"image\"\nfile = \"FILE\"\n")),
        ("shader", format!("{CAMERA}[materials.m]\nfile = \"FILE\"\n{sphere}")),
        ("graph", format!("{CAMERA}[materials.m]\ngraph = \"FILE\"\n{sphere}")),
        (
            "import",
            format!("{CAMERA}[materials.m]\nsource = '''import \"FILE\";\nshader m(out closure c) {{ }}'''\n{sphere}"),
        ),
        (
            "measured",
            format!(
                "{CAMERA}[materials.m]\nsource = \"shader m(int k = 0, out closure c) \
                 {{ c = make_closure<Measured>(k, color(1.0), global_value<normal>); }}\"\nmeasured = {{ k = \"FILE\" }}\n{sphere}"
            ),
        ),
        ("obj", shape("type = \"obj\"\nfile = \"FILE\"")),
        ("gltf", shape("type = \"gltf\"\nfile = \"FILE\"")),
        ("curves", shape("type = \"curves\"\nfile = \"FILE\"")),
        (
            "profile",
            format!("{CAMERA}{WHITE}{sphere}[[lights]]\ntype = \"point\"\nposition = [0, 2, 0]\nies = \"FILE\"\n"),
        ),
    ]
}

#[test]
fn pipes_and_devices_in_scenes_are_refused_at_once() {
    let folder = Folder::new("scenes");
    for (what, text) in scenes() {
        for file in ["pipe", "/dev/zero"] {
            let what = format!("{what}: {file}");
            let scene = folder.write("scene.toml", &text.replace("FILE", file));
            let picture = folder.0.join("picture.png");
            let output =
                ended(begun(&["render", "--spp", "1", "--size", "8x8", path(&scene), "-o", path(&picture)]), &what);
            let said = String::from_utf8_lossy(&output.stderr);
            // A texture may be missing; that is said, and the picture is not whole.
            assert!(matches!(output.status.code(), Some(1 | 3)), "{what}: {said}");
            let reasons = ["not a regular file", "it is not a file", "there is no graph", "is not a shader file"];
            assert!(reasons.iter().any(|reason| said.contains(reason)), "{what}: {said}");
        }
    }
}

#[test]
fn devices_without_end_on_the_command_line_are_read_to_a_bound() {
    let folder = Folder::new("named");
    let picture = folder.0.join("p.png");
    for arguments in [
        &["check", "/dev/zero"][..],
        &["render", "/dev/zero", "-o", path(&picture)],
        &["merge", "/dev/zero", "-o", path(&picture)],
        &["texture", "make", "/dev/zero", "-o", path(&folder.0.join("t.tif"))],
    ] {
        let output = ended(begun(arguments), arguments[0]);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A text that is piped in is what a file of it is.
#[test]
fn what_the_command_line_names_may_be_a_pipe() {
    let folder = Folder::new("piped");
    let pipe = folder.0.join("pipe");
    let reader = begun(&["check", path(&pipe)]);
    std::fs::write(&pipe, "shader m(out closure c) { }\n").expect("there is a reader");
    assert_eq!(ended(reader, "check").status.code(), Some(0));
}

fn path(path: &Path) -> &str {
    path.to_str().expect("the temporary folder has a plain name")
}

/// While the program waits for a scene that never comes it cannot look for signals: the second one ends it.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_the_program_whatever_it_does() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new(signal);
        let (pipe, picture) = (folder.0.join("pipe"), folder.0.join("p.png"));
        let mut child = begun(&["render", path(&pipe), "-o", path(&picture)]);
        let id = child.id().to_string();
        // The bits of SIGINT and SIGTERM, once both are caught.
        let caught = || {
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("Linux says so");
            let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
            mask >> 1 & mask >> 14 & 1 == 1
        };
        let begin = Instant::now();
        while !caught() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no handler is set");
            std::thread::sleep(Duration::from_millis(5));
        }
        let send = || Command::new("kill").args([&format!("-{signal}"), &id]).status().expect("the system has it");
        assert!(send().success());
        std::thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().expect("it is a child").is_none(), "it waits for the scene");
        assert!(send().success());
        assert_eq!(ended(child, signal).status.code(), Some(130));
    }
}
