//! Files that do not exist: what the author may have meant instead.

use ssl_compiler::diagnostics::closest;
use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Entries of a folder that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// Names that are listed where none resembles.
const MAX_LISTED: usize = 5;

/// How the scene names files.
const FOLDER: &str = "paths are taken from the folder of the scene file";

/// Why a file cannot be read, in a sentence.
pub fn why(path: &Path, error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("there is no file `{}`", path.display()),
        ErrorKind::InvalidData => format!("`{}` is not a text in UTF-8", path.display()),
        _ => format!("`{}` cannot be read: {error}", path.display()),
    }
}

/// What to do about a file that cannot be used: the nearest name where it is missing, else what `otherwise` says.
pub fn hint(path: &Path, otherwise: &str) -> String {
    meant(path).unwrap_or_else(|| otherwise.to_owned())
}

/// Likewise of the scene file itself, whose path is taken from where the program runs.
pub fn hint_of_scene(path: &Path, otherwise: &str) -> String {
    let rule = format!("; {FOLDER}");
    meant(path).map_or_else(|| otherwise.to_owned(), |meant| meant.replace(&rule, ""))
}

/// Likewise with what becomes of it.
pub fn hint_and(path: &Path, otherwise: &str) -> String {
    meant(path).map_or_else(|| otherwise.to_owned(), |meant| format!("{otherwise}; {meant}"))
}

/// A sentence about what resembles a file that is missing; `None` where it is there.
pub fn meant(path: &Path) -> Option<String> {
    if path.as_os_str().is_empty() || path.exists() {
        return None;
    }
    // The first part of the path that is missing, and the folder that it should be in.
    let mut missing = path;
    let folder = loop {
        let parent = missing.parent()?;
        let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        if folder.is_dir() {
            break folder;
        }
        missing = parent;
    };
    let name = missing.file_name()?.to_str()?;
    let is_folder = missing != path;
    let mut names = entries(folder, is_folder)?;
    names.sort();
    let (what, place) = if is_folder { ("folder", "folders") } else { ("file", "files") };
    let near = closest(name, names.iter().map(String::as_str)).or_else(|| same_stem(name, &names));
    if let Some(near) = near {
        let near = missing.with_file_name(near);
        let whole = if is_folder { near.join(path.strip_prefix(missing).unwrap_or(Path::new(""))) } else { near };
        return Some(format!("did you mean `{}`?", whole.display()));
    }
    let extension = Path::new(name).extension();
    let alike: Vec<String> =
        names.iter().filter(|n| is_folder || Path::new(n).extension() == extension).cloned().collect();
    let folder = match folder == Path::new(".") {
        true => "the current folder".to_owned(),
        false => format!("`{}`", folder.display()),
    };
    if alike.is_empty() {
        return Some(format!("{folder} has no such {what}; {FOLDER}"));
    }
    let listed: Vec<String> = alike.iter().take(MAX_LISTED).map(|n| format!("`{n}`")).collect();
    let more = if alike.len() > MAX_LISTED { " and more" } else { "" };
    Some(format!("{folder} has the {place} {}{more}", listed.join(", ")))
}

/// Another kind of file of the same name.
fn same_stem<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let stem = |name: &str| Path::new(name).file_stem().map(OsStr::to_owned);
    names.iter().find(|n| stem(n).is_some() && stem(n) == stem(name)).map(String::as_str)
}

fn entries(folder: &Path, folders: bool) -> Option<Vec<String>> {
    let all = std::fs::read_dir(folder).ok()?.take(MAX_ENTRIES).flatten();
    let wanted = |path: &PathBuf| path.is_dir() == folders;
    let name = |path: PathBuf| path.file_name().and_then(OsStr::to_str).map(str::to_owned);
    Some(all.map(|e| e.path()).filter(wanted).filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn the_nearest_name_is_offered() {
        let folder = std::env::temp_dir().join(format!("renderer-nearby-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("textures")).expect("the temporary folder can be written");
        for file in ["textures/wood.png", "textures/sky.exr", "lamp.ies"] {
            std::fs::write(folder.join(file), "").expect("as above");
        }
        let said = |path: &str| meant(&folder.join(path)).map(|m| m.replace(&folder.display().to_string(), "."));
        assert_eq!(said("textures/wood.png"), None);
        assert_eq!(said("textures/wod.png").as_deref(), Some("did you mean `./textures/wood.png`?"));
        assert_eq!(said("textures/wood.jpeg").as_deref(), Some("did you mean `./textures/wood.png`?"));
        assert_eq!(said("textures/Sky.EXR").as_deref(), Some("did you mean `./textures/sky.exr`?"));
        assert_eq!(said("texture/wood.png").as_deref(), Some("did you mean `./textures/wood.png`?"));
        assert_eq!(said("textures/marble.png").as_deref(), Some("`./textures` has the files `wood.png`"));
        let none = "`.` has no such file; paths are taken from the folder of the scene file";
        assert_eq!(said("gone.ssl").as_deref(), Some(none));
        let here = meant(std::path::Path::new("no_file_has_this_name.zzz"));
        assert_eq!(
            here.as_deref(),
            Some("the current folder has no such file; paths are taken from the folder of the scene file")
        );
        std::fs::remove_dir_all(&folder).expect("as above");
    }
}
