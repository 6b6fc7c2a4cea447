//! The preview in tev, with a listener in its place that reads the messages as tev does.

use std::collections::HashMap;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("shade-tev-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn render(file: &str, more: &[&str]) -> Output {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/render_scenes/tiny.toml");
    render_scene(&scene.display().to_string(), file, more)
}

fn render_scene(scene: &str, file: &str, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shade"));
    command.args(["render", scene, "-o", file]).args(more).output().expect("the program was built for this test")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is left of a message to read.
struct Message<'a>(&'a [u8]);

impl Message<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("the message is long enough");
        self.0 = rest;
        *first
    }

    fn integer(&mut self) -> usize {
        i32::from_le_bytes(self.bytes()).try_into().expect("none is negative")
    }

    fn long(&mut self) -> usize {
        i64::from_le_bytes(self.bytes()).try_into().expect("none is negative")
    }

    fn text(&mut self) -> String {
        let end = self.0.iter().position(|b| *b == 0).expect("texts end");
        let text = String::from_utf8(self.0[..end].to_vec()).expect("texts are UTF-8");
        self.0 = &self.0[end + 1..];
        text
    }
}

#[derive(Default)]
struct Picture {
    size: (usize, usize),
    channels: HashMap<String, Vec<f32>>,
    updates: usize,
}

/// Reads all messages until the sender goes.
fn viewed(mut stream: TcpStream) -> HashMap<String, Picture> {
    let mut pictures: HashMap<String, Picture> = HashMap::new();
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize - 4];
        stream.read_exact(&mut bytes).expect("messages are whole");
        let mut message = Message(&bytes);
        let [kind, _grab_focus] = message.bytes();
        let name = message.text();
        match kind {
            4 => {
                let size = (message.integer(), message.integer());
                let names: Vec<String> = (0..message.integer()).map(|_| message.text()).collect();
                let channels = names.into_iter().map(|n| (n, vec![0.0; size.0 * size.1])).collect();
                pictures.insert(name, Picture { size, channels, updates: 0 });
            }
            6 => update(pictures.get_mut(&name).expect("it was created"), &mut message),
            other => panic!("there is no message {other}"),
        }
        assert!(message.0.is_empty());
    }
    pictures
}

fn update(picture: &mut Picture, message: &mut Message<'_>) {
    picture.updates += 1;
    let n = message.integer();
    let names: Vec<String> = (0..n).map(|_| message.text()).collect();
    let [x0, y0, width, height] = [0; 4].map(|_: i32| message.integer());
    let offsets: Vec<usize> = (0..n).map(|_| message.long()).collect();
    let strides: Vec<usize> = (0..n).map(|_| message.long()).collect();
    let values: Vec<f32> = (0..message.0.len() / 4).map(|_| f32::from_le_bytes(message.bytes())).collect();
    for ((name, offset), stride) in names.iter().zip(offsets).zip(strides) {
        let channel = picture.channels.get_mut(name).expect("it was created");
        for i in 0..width * height {
            channel[(y0 + i / width) * picture.size.0 + x0 + i % width] = values[offset + i * stride];
        }
    }
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens").to_string();
    (listener, address)
}

#[test]
fn the_viewer_ends_with_the_picture() {
    let folder = Folder::new("picture");
    let (listener, address) = listen();
    let viewer = std::thread::spawn(move || viewed(listener.accept().expect("the render connects").0));
    let file = folder.file("a.exr");
    let options = ["--size", "70x40", "--crop", "3,5,65,38", "--spp", "16", "--tev", &address];
    let out = render(&file, &options);
    assert_eq!((out.status.code(), said(&out).as_str()), (Some(0), ""));
    let pictures = viewer.join().expect("all messages were understood");
    let picture = &pictures[&file];
    assert_eq!((pictures.len(), picture.size), (1, (70, 40)));
    assert!(picture.updates >= 4 * 3);
    // Beside the crop both are black.
    let made = image::open(&file).expect("a whole picture").into_rgb32f();
    assert_eq!(made.dimensions(), (70, 40));
    for (x, y, pixel) in made.enumerate_pixels() {
        let at = y as usize * 70 + x as usize;
        let shown = ["R", "G", "B"].map(|c| picture.channels[c][at]);
        assert_eq!(shown.map(f32::to_bits), pixel.0.map(f32::to_bits), "{x},{y}");
    }
    assert!(picture.channels["R"][20 * 70 + 30] > 0.0 && picture.channels["R"][0] == 0.0);
}

#[test]
fn a_viewer_that_goes_away_is_told_once_and_harms_nothing() {
    let folder = Folder::new("gone");
    let (plain, file) = (folder.file("plain.exr"), folder.file("a.exr"));
    let options = ["--size", "64x36", "--spp", "8", "--tev"];
    assert_eq!(render(&plain, &options[..4]).status.code(), Some(0));
    // Nobody is there, or somebody leaves at once.
    let nobody = listen().1;
    let (listener, leaving) = listen();
    let leaver = std::thread::spawn(move || drop(listener.accept().expect("the render connects")));
    for (address, always) in [(nobody, true), (leaving, false)] {
        let out = render(&file, &[&options[..], &[&address]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        let warnings = said(&out).matches("was lost, and the render went on").count();
        // What is sent to who has just left may be lost without a word.
        assert!(warnings == 1 || (!always && warnings == 0), "{}", said(&out));
        let bytes = |file: &str| std::fs::read(file).expect("it was rendered");
        assert!(bytes(&file) == bytes(&plain));
    }
    leaver.join().expect("it was met");
}

/// Who listens but never reads is given up after some seconds.
#[test]
fn a_viewer_that_sleeps_does_not_hold_the_render_up() {
    let folder = Folder::new("sleeps");
    let (listener, address) = listen();
    let sleeper = std::thread::spawn(move || listener.accept());
    let begin = Instant::now();
    // Messages of more bytes than sockets hold, of a scene that takes no time.
    let sky = "camera = { position = [0, 0, 1], look_at = [0, 0, 0] }\nenvironment = { type = \"sky\" }\n";
    let scene = folder.file("sky.toml");
    std::fs::write(&scene, sky).expect("the temporary folder can be written");
    let options = ["--size", "1200x1000", "--spp", "1", "--tev", &address];
    let out = render_scene(&scene, &folder.file("a.png"), &options);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert!(said(&out).contains("it does not answer in time"), "{}", said(&out));
    assert!(begin.elapsed() < Duration::from_secs(120));
    drop(sleeper.join().expect("it was met"));
}

#[test]
fn addresses_are_checked_first() {
    let folder = Folder::new("address");
    for wrong in ["localhost", ":14158", "localhost:port", "localhost:70000"] {
        let out = render(&folder.file("a.png"), &["--tev", wrong]);
        assert!(out.status.code() == Some(2) && said(&out).contains("localhost:14158"), "{wrong}: {}", said(&out));
    }
}
