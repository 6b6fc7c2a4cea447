//! The book's gallery: every scene that ships, rendered small, with the words of its header.
//!
//! A scene's first comment says what it shows; the page is made of these, so that it cannot say anything else. Nothing is
//! changed before all pictures are there.

use super::{Outcome, root, shade};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Pixels across; pictures keep the sides of their scenes.
const WIDTH: u32 = 360;

const HEAD: &str = "<!-- Written by `cargo xtask gallery` from the scenes. Do not edit. -->

# Gallery

The scenes that ship, in [`scenes/`](scenes.md), each showing one thing. `cargo xtask gallery` renders them anew.
";

struct Shown {
    name: String,
    /// The first comment, without its `#`.
    header: Vec<String>,
    size: String,
}

pub fn render() -> Outcome {
    let scenes = scenes()?;
    let pictures = std::env::temp_dir().join(format!("shade-gallery-{}", std::process::id()));
    let said = |e: std::io::Error| e.to_string();
    std::fs::create_dir_all(&pictures).map_err(said)?;
    let made = scenes.iter().try_for_each(|scene| {
        let file = format!("scenes/{}.toml", scene.name);
        let picture = picture(&pictures, &scene.name);
        shade(&["render", &file, "--size", &scene.size, "-o", &picture.to_string_lossy()])
    });
    let kept = made.and_then(|()| {
        let images = root().join("docs/src/images/gallery");
        std::fs::create_dir_all(&images).map_err(said)?;
        for scene in &scenes {
            std::fs::copy(picture(&pictures, &scene.name), picture(&images, &scene.name)).map_err(said)?;
        }
        std::fs::write(root().join("docs/src/gallery.md"), page(&scenes)).map_err(said)
    });
    // What cannot be removed is left to the system.
    let _ = std::fs::remove_dir_all(&pictures);
    kept
}

fn picture(folder: &Path, scene: &str) -> PathBuf {
    folder.join(format!("{scene}.png"))
}

/// All scenes, in the order of their names.
fn scenes() -> Result<Vec<Shown>, String> {
    let folder = root().join("scenes");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    paths.iter().map(|path| shown(path)).collect()
}

fn shown(path: &Path) -> Result<Shown, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let comment = text.lines().skip_while(|l| l.starts_with("#:")).map_while(|l| l.strip_prefix('#'));
    // Up to the command that renders it.
    let words = comment.map(str::trim).take_while(|l| !l.is_empty());
    let header: Vec<String> = words.map(str::to_owned).collect();
    let film = text.split_once("[film]").map_or("", |(_, film)| film);
    let side = |key: &str| {
        let mut values = film.lines().filter_map(|l| l.strip_prefix(key)?.trim().strip_prefix('='));
        values.next().and_then(|v| v.trim().parse::<u32>().ok()).filter(|n| *n > 0)
    };
    let (Some(width), Some(height)) = (side("width"), side("height")) else {
        return Err(format!("{} does not say how large it is", path.display()));
    };
    if header.is_empty() {
        return Err(format!("{} does not say what it shows", path.display()));
    }
    Ok(Shown { name, header, size: format!("{WIDTH}x{}", WIDTH * height / width) })
}

fn page(scenes: &[Shown]) -> String {
    let mut out = HEAD.to_owned();
    for Shown { name, header, .. } in scenes {
        let _ = write!(out, "\n## {name}\n\n![{name}](images/gallery/{name}.png)\n\n{}\n", header.join("\n"));
    }
    out
}
