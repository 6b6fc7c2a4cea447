//! The book's gallery: every scene that ships, rendered small, every material on a ball and every lobe on a row of
//! balls, each with the words of its header.
//!
//! The first comment of a file says what it shows. The page consists of these comments, so it cannot say anything else.
//! Nothing changes before all pictures are there.

use super::commands::{root, run};
use super::{Outcome, shared_build};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Pixels across; pictures keep the sides of their scenes.
const WIDTH: u32 = 360;

/// The scene that shows a material, and what that is in it.
const BALL: Template = Template { scene: "ball", file: "materials/car_paint.ssl", size: "256x256" };
/// The scene that shows a lobe.
const BALLS: Template = Template { scene: "balls", file: "lobes/conductor.ssl", size: "440x88" };

/// Materials that only serve scenes.
const PLAIN: [&str; 6] = ["glaze", "matte", "metal", "mirror", "studio_floor", "tiles"];

const HEAD: &str = "<!-- Written by `cargo xtask gallery` from the scenes. Do not edit. -->

# Gallery

The scenes that ship, in [`scenes/`](scenes.md). Each shows one thing. `cargo xtask gallery` renders them again.
";

const MATERIALS: &str = "
## Materials

Shaders to use, to read and to change, in `scenes/materials/`, each on the ball of `scenes/ball.toml`. `shade check --json`
lists their parameters with labels and ranges. All of them average their patterns over the footprint of a pixel, so none
flickers far away.
";

const LOBES: &str = "
## Lobes

Each picture varies one parameter of a [lobe](lobes.md) from left to right: `scenes/balls.toml` with the files of
`scenes/lobes/`.
";

/// A scene in which one file stands for any of its kind.
struct Template {
    scene: &'static str,
    file: &'static str,
    size: &'static str,
}

struct Shown {
    name: String,
    /// The first comment, without its marks.
    header: Vec<String>,
    /// The scene that is rendered, where it is none of those that ship.
    text: Option<String>,
    size: String,
    /// In the folder of the pictures.
    picture: String,
}

pub fn render() -> Outcome {
    shared_build::build_programs()?;
    let (scenes, materials, lobes) = (scenes()?, filled(&BALL)?, filled(&BALLS)?);
    let all = || scenes.iter().chain(&materials).chain(&lobes);
    let made = std::env::temp_dir().join(format!("shade-gallery-{}", std::process::id()));
    let rendered = all().try_for_each(|shown| picture(shown, &made));
    let kept = rendered.and_then(|()| {
        let images = root().join("docs/src/images/gallery");
        all().try_for_each(|shown| copy(&made.join(&shown.picture), &images.join(&shown.picture)))?;
        std::fs::write(root().join("docs/src/gallery.md"), page(&scenes, &materials, &lobes)).map_err(said)
    });
    // What cannot be removed is left to the system.
    let _ = std::fs::remove_dir_all(&made);
    kept
}

fn said(error: std::io::Error) -> String {
    error.to_string()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    std::fs::create_dir_all(folder_of(to)).and_then(|()| std::fs::copy(from, to)).map_err(said)?;
    Ok(())
}

/// Renders what is shown into a folder.
fn picture(shown: &Shown, folder: &Path) -> Outcome {
    let picture = folder.join(&shown.picture);
    std::fs::create_dir_all(folder_of(&picture)).map_err(said)?;
    let scene = match &shown.text {
        None => format!("scenes/{}.toml", shown.name),
        Some(text) => {
            // It stands elsewhere, so its paths are made whole. Slashes need no escapes in TOML, and work everywhere.
            let scenes = root().join("scenes").to_string_lossy().replace('\\', "/");
            let scene = folder.join("scene.toml");
            std::fs::write(&scene, text.replace("file = \"", &format!("file = \"{scenes}/"))).map_err(said)?;
            scene.to_string_lossy().into_owned()
        }
    };
    let picture = picture.to_string_lossy();
    run(shared_build::program("shade", &["render", &scene, "--size", &shown.size, "-o", &picture]))
}

/// The files with this extension, in the order of their names.
fn files(folder: &str, extension: &str) -> Result<Vec<PathBuf>, String> {
    let folder = root().join(folder);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == extension));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The lines of the comment that a file opens with, up to an empty one.
fn header(path: &Path, text: &str, mark: &str) -> Result<Vec<String>, String> {
    let comment = text.lines().skip_while(|l| l.starts_with("#:")).map_while(|l| l.strip_prefix(mark));
    let lines: Vec<String> = comment.map(str::trim).take_while(|l| !l.is_empty()).map(str::to_owned).collect();
    if lines.is_empty() { Err(format!("{} does not say what it shows", path.display())) } else { Ok(lines) }
}

/// All scenes.
fn scenes() -> Result<Vec<Shown>, String> {
    files("scenes", "toml")?.iter().map(|path| scene(path)).collect()
}

fn scene(path: &Path) -> Result<Shown, String> {
    let (name, text) = (name_of(path), read(path)?);
    // Up to the command that renders it.
    let header = header(path, &text, "#")?;
    let film = text.split_once("[film]").map_or("", |(_, film)| film);
    let side = |key: &str| {
        let mut values = film.lines().filter_map(|l| l.strip_prefix(key)?.trim().strip_prefix('='));
        values.next().and_then(|v| v.trim().parse::<u32>().ok()).filter(|n| *n > 0)
    };
    let (Some(width), Some(height)) = (side("width"), side("height")) else {
        return Err(format!("{} does not say how large it is", path.display()));
    };
    let (size, picture) = (format!("{WIDTH}x{}", WIDTH * height / width), format!("{name}.png"));
    Ok(Shown { name, header, text: None, size, picture })
}

/// A template with each file of its folder.
fn filled(template: &Template) -> Result<Vec<Shown>, String> {
    let path = root().join(format!("scenes/{}.toml", template.scene));
    let text = read(&path)?;
    if !text.contains(template.file) {
        return Err(format!("{} does not show {}", path.display(), template.file));
    }
    let folder = template.file.split('/').next().unwrap_or_default();
    let mut shown = Vec::new();
    for path in files(&format!("scenes/{folder}"), "ssl")? {
        let name = name_of(&path);
        if folder == "materials" && PLAIN.contains(&name.as_str()) {
            continue;
        }
        let header = header(&path, &read(&path)?, "//")?;
        let text = Some(text.replace(template.file, &format!("{folder}/{name}.ssl")));
        let (size, picture) = (template.size.to_owned(), format!("{folder}/{name}.png"));
        shown.push(Shown { name, header, text, size, picture });
    }
    Ok(shown)
}

fn page(scenes: &[Shown], materials: &[Shown], lobes: &[Shown]) -> String {
    let mut out = HEAD.to_owned();
    for (head, depth, all) in [("", "##", scenes), (MATERIALS, "###", materials), (LOBES, "###", lobes)] {
        out.push_str(head);
        for Shown { name, header, picture, .. } in all {
            let words = header.join("\n");
            // Adding to a string cannot fail.
            let _ = write!(out, "\n{depth} {name}\n\n![{name}](images/gallery/{picture})\n\n{words}\n");
        }
    }
    out
}
