//! UDIM sets: one texture of several files, one for each unit square of texture space, named by 1001 + u + 10 v.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const MARK: &str = "<UDIM>";

/// Whether a path stands for a UDIM set.
pub fn is_udim(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains(MARK))
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdimTile {
    /// The lower left corner of the unit square that it covers: u of 0 to 9, v of 0 to 899.
    pub u: u32,
    pub v: u32,
    pub path: PathBuf,
}

/// The files of a set that exist, in the order of their numbers. `path` has `<UDIM>` in its file name where theirs have the number. The error is a sentence for the
/// user.
pub fn udim_tiles(path: &Path) -> Result<Vec<UdimTile>, String> {
    let shown = path.display();
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let Some((before, after)) = name.split_once(MARK) else {
        return Err(format!("`{shown}` names no set of files; write `{MARK}` where the number of the tile stands"));
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).map_err(|e| format!("`{}` cannot be searched: {e}", folder.display()))?;
    let mut tiles = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| format!("`{}` cannot be searched: {e}", folder.display()))?;
        let file = entry.file_name();
        let number = file.to_str().and_then(|f| f.strip_prefix(before)).and_then(|f| f.strip_suffix(after));
        if let Some((u, v)) = number.and_then(unit_square) {
            tiles.push(UdimTile { u, v, path: path.with_file_name(&file) });
        }
    }
    if tiles.is_empty() {
        return Err(format!("no file of `{shown}` exists; the first would be `{before}1001{after}`"));
    }
    tiles.sort_by_key(|tile| (tile.v, tile.u));
    Ok(tiles)
}

/// The unit square of a number of four digits from 1001 on.
fn unit_square(number: &str) -> Option<(u32, u32)> {
    if number.len() != 4 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let index = number.parse::<u32>().ok()?.checked_sub(1001)?;
    Some((index % 10, index / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_unit_squares() {
        assert_eq!(unit_square("1001"), Some((0, 0)));
        assert_eq!(unit_square("1010"), Some((9, 0)));
        assert_eq!(unit_square("1011"), Some((0, 1)));
        assert_eq!(unit_square("1023"), Some((2, 2)));
        assert_eq!(unit_square("9999"), Some((8, 899)));
        for wrong in ["1000", "0999", "101", "10011", "+001", "100a", ""] {
            assert_eq!(unit_square(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_set_is_found_and_what_is_missing_is_said() {
        let folder = std::env::temp_dir().join(format!("ssl-udim-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        for name in ["a.1011.png", "a.1002.png", "a.1001.png", "a.100.png", "a.1001.jpg", "b.1003.png"] {
            std::fs::write(folder.join(name), "").expect("the temporary folder can be written");
        }
        let found = udim_tiles(&folder.join("a.<UDIM>.png"));
        let missing = udim_tiles(&folder.join("c.<UDIM>.png"));
        let nowhere = udim_tiles(&folder.join("none/c.<UDIM>.png"));
        std::fs::remove_dir_all(&folder).expect("it was made above");
        let expected = [((0, 0), "a.1001.png"), ((1, 0), "a.1002.png"), ((0, 1), "a.1011.png")];
        assert_eq!(
            found.expect("it exists"),
            expected.map(|((u, v), name)| UdimTile { u, v, path: folder.join(name) })
        );
        assert!(missing.expect_err("there is none").contains("`c.1001.png`"));
        assert!(nowhere.is_err());
        assert!(udim_tiles(Path::new("plain.png")).is_err());
    }
}
