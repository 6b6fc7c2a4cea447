//! Writes pictures: PNG for looking at, EXR for working on. A file appears whole or not at all.

use super::Picture;
use super::exr::{self, ExrForm};
use super::provenance::Metadata;
use crate::math::linear_to_srgb;
use glam::Vec3;
use image::ImageEncoder;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// What an output file's extension asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// 8 bits, sRGB, after exposure and tone curve.
    Png,
    /// Floats, linear, untouched, with all layers.
    Exr(ExrForm),
}

impl ImageFormat {
    pub fn of(path: &Path) -> Option<ImageFormat> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "png" => Some(ImageFormat::Png),
            "exr" => Some(ImageFormat::Exr(ExrForm::default())),
            _ => None,
        }
    }
}

/// From linear light to what a screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToneCurve {
    /// Everything above 1 is 1.
    Clamp,
    /// A filmic curve (Narkowicz's fit to ACES, 2015).
    #[default]
    Filmic,
    /// For values that are no light: from 0 in black to the largest in white, evenly on the screen.
    #[serde(skip)]
    Scaled,
    /// The same from the lowest in black over 0 in middle gray.
    #[serde(skip)]
    Signed,
}

/// Why a picture could not be written: where, and the system's reason.
#[derive(Debug)]
pub struct OutputError {
    pub path: PathBuf,
    pub reason: String,
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` cannot be written: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for OutputError {}

/// 8-bit sRGB, rows from the top. `exposure` in stops.
pub fn develop(picture: &Picture, exposure: f32, tone: ToneCurve) -> Vec<u8> {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let largest = if matches!(tone, ToneCurve::Scaled | ToneCurve::Signed) { largest(picture) } else { 1.0 };
    let gain = exposure.exp2();
    let one = |p: &Vec3| {
        let light = || (*p * gain).max(Vec3::ZERO);
        match tone {
            ToneCurve::Clamp => light().to_array().map(|x| byte(linear_to_srgb(x.min(1.0)))),
            ToneCurve::Filmic => filmic(light()).to_array().map(|x| byte(linear_to_srgb(x.clamp(0.0, 1.0)))),
            ToneCurve::Scaled => (*p / largest).to_array().map(byte),
            ToneCurve::Signed => (0.5 + *p * (0.5 / largest)).to_array().map(byte),
        }
    };
    picture.pixels.iter().flat_map(one).collect()
}

/// The size that all but one in a hundred of the values that are not 0 stay below: a few that lie far out would leave
/// nothing of the others.
fn largest(picture: &Picture) -> f32 {
    let sizes = picture.pixels.iter().flat_map(|p| p.to_array()).map(f32::abs).filter(|x| *x > 0.0);
    let mut sizes: Vec<f32> = sizes.collect();
    if sizes.is_empty() {
        return 1.0;
    }
    let at = (sizes.len() - 1) * 99 / 100;
    *sizes.select_nth_unstable_by(at, f32::total_cmp).1
}

fn filmic(x: Vec3) -> Vec3 {
    let x = x.min(Vec3::splat(1e4));
    (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)
}

/// The light that [`develop`] shows as this, which is linear and from 0 to 1, without exposure. What a curve shows as white is
/// the least such light.
pub fn undeveloped(shown: Vec3, tone: ToneCurve) -> Vec3 {
    let one = |y: f32| {
        // The solution of filmic(x) = y, a quadratic in x.
        let y = y.clamp(0.0, 1.0);
        let (a, b, c) = (2.51 - 2.43 * y, 0.03 - 0.59 * y, -0.14 * y);
        (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)
    };
    match tone {
        ToneCurve::Filmic => Vec3::from(shown.to_array().map(one)),
        ToneCurve::Clamp | ToneCurve::Scaled | ToneCurve::Signed => shown,
    }
}

/// Writes a picture in the format of `path`'s extension: beside its final name first, then renamed. Exposure and tone curve
/// are for a PNG, what it says of how it was made for an EXR.
pub fn write(
    picture: &Picture,
    path: &Path,
    format: ImageFormat,
    (exposure, tone): (f32, ToneCurve),
    metadata: Option<&Metadata>,
) -> Result<(), OutputError> {
    let error = |reason: String| OutputError { path: path.to_owned(), reason };
    let mut bytes = Cursor::new(Vec::new());
    let (w, h) = (picture.width, picture.height);
    match format {
        ImageFormat::Png => image::codecs::png::PngEncoder::new(&mut bytes).write_image(
            &develop(picture, exposure, tone),
            w,
            h,
            image::ExtendedColorType::Rgb8,
        ),
        ImageFormat::Exr(form) => {
            return write_whole(path, &exr::encode(picture, form, metadata).map_err(|e| error(e.to_string()))?);
        }
    }
    .map_err(|e| error(e.to_string()))?;
    write_whole(path, &bytes.into_inner())
}

/// Writes a file beside its final name first, then renames it. A link stays, and what it leads to is written; a device or a
/// pipe is written to.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_whole_by(path, |to| to.write_all(bytes))
}

/// As [`write_whole`], piece by piece.
pub fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    let error = |e: std::io::Error| OutputError { path: path.to_owned(), reason: e.to_string() };
    if is_stream(path) {
        let opened = std::fs::OpenOptions::new().write(true).open(path);
        return opened.and_then(|mut to| write(&mut to)).map_err(error);
    }
    let behind = followed(path).map_err(error)?;
    let beside = partial_path(&behind);
    let written = std::fs::File::create(&beside).and_then(|mut to| write(&mut to));
    written.and_then(|()| std::fs::rename(&beside, &behind)).map_err(|e| {
        // The message is about the first failure; a leftover that cannot be removed adds nothing to it.
        let _ = std::fs::remove_file(&beside);
        error(e)
    })
}

/// Writes a file beside its final name, syncs it to the disk, then renames it. After an interruption at any moment,
/// there is the old file or the new one. A link stays, as with [`write_whole`]. Leftovers of interruptions always have
/// the same name, so there is never more than one.
pub fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_durably_by(path, |to| to.write_all(bytes))
}

/// As [`write_durably`], piece by piece.
pub fn write_durably_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    let error = |e: std::io::Error| OutputError { path: path.to_owned(), reason: e.to_string() };
    let behind = followed(path).map_err(error)?;
    let beside = beside_path(&behind);
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        write(&mut file)?;
        file.sync_all()?;
        std::fs::rename(&beside, &behind)?;
        // The new name is on the disk once its folder is; systems that cannot do this rename durably by themselves.
        let folder = behind.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = std::fs::File::open(folder).and_then(|f| f.sync_all());
        Ok(())
    };
    write().map_err(|e: std::io::Error| {
        // As in `write_whole`.
        let _ = std::fs::remove_file(&beside);
        error(e)
    })
}

/// Removes what `write_durably` wrote and may have left.
pub fn remove_durable(path: &Path) {
    let Ok(behind) = followed(path) else { return };
    // A missing file need not be removed, and a failed removal does no harm.
    let _ = std::fs::remove_file(&behind);
    let _ = std::fs::remove_file(beside_path(&behind));
}

fn beside_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new"))
}

/// Finds out before a long render whether a file can be made where it will be wanted.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    let error = |reason: String| OutputError { path: path.to_owned(), reason };
    if path.is_dir() {
        return Err(error("it is a folder".to_owned()));
    }
    if is_stream(path) {
        return Ok(());
    }
    let beside = partial_path(&followed(path).map_err(|e| error(e.to_string()))?);
    std::fs::write(&beside, []).and_then(|()| std::fs::remove_file(&beside)).map_err(|e| error(e.to_string()))
}

/// Whether this is a device or a pipe, which no file may replace.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The target of a path, link by link, also where nothing is there yet.
///
/// # Errors
/// Links lead round in a circle.
pub fn followed(path: &Path) -> std::io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(to) = at.read_link() else { return Ok(at) };
        at = at.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
    }
    Err(std::io::Error::other("its links lead round in a circle"))
}

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

fn partial_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial-{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        Picture::whole(2, 1, vec![Vec3::new(0.0, 0.215_861, 9.0), Vec3::new(-1.0, 1e-5, 0.5)])
    }

    #[test]
    fn pictures_come_back_as_they_were_written() {
        let folder = std::env::temp_dir().join(format!("renderer-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let (png, exr) = (folder.join("a.PNG"), folder.join("a.exr"));
        for path in [&png, &exr] {
            let format = ImageFormat::of(path).expect("a known extension");
            write(&picture(), path, format, (0.0, ToneCurve::Clamp), None).expect("it can be written");
        }
        let read = image::open(&png).expect("a whole file").into_rgb8();
        assert_eq!(read.as_raw()[..3], [0, 128, 255]);
        let read = image::open(&exr).expect("a whole file").into_rgb32f();
        assert_eq!(read.as_raw()[..], [0.0, 0.215_861, 9.0, -1.0, 1e-5, 0.5]);
        assert_eq!(std::fs::read_dir(&folder).expect("as above").count(), 2, "nothing partial is left");
        std::fs::remove_dir_all(&folder).expect("as above");
    }

    /// Links stay, however many stand behind each other, and so does a link to nothing yet. Circles are found before.
    #[cfg(unix)]
    #[test]
    fn links_stay_and_circles_are_refused() {
        use std::os::unix::fs::symlink;
        let folder = std::env::temp_dir().join(format!("renderer-links-{}", std::process::id()));
        let inner = folder.join("inner");
        std::fs::create_dir_all(&inner).expect("the temporary folder can be written");
        symlink("second", folder.join("first")).expect("links can be made");
        symlink("inner/file", folder.join("second")).expect("as above");
        symlink("circle", folder.join("circle")).expect("as above");
        symlink("nowhere/file", folder.join("lost")).expect("as above");
        for (path, text) in [(folder.join("first"), "once"), (folder.join("second"), "twice")] {
            assert!(check_writable(&path).is_ok());
            write_whole(&path, text.as_bytes()).expect("it can be written");
            assert_eq!(std::fs::read_to_string(inner.join("file")).expect("it is there"), text);
            write_durably(&path, b"durably").expect("it can be written");
            assert!(path.is_symlink() && std::fs::read(inner.join("file")).expect("it is there") == b"durably");
        }
        for name in ["circle", "lost", "inner"] {
            assert!(check_writable(&folder.join(name)).is_err(), "{name}");
            assert!(write_whole(&folder.join(name), b"x").is_err() && write_durably(&folder.join(name), b"x").is_err());
        }
        assert_eq!(std::fs::read_dir(&inner).expect("as above").count(), 1, "nothing partial is left");
        std::fs::remove_dir_all(&folder).expect("as above");
    }

    #[test]
    fn what_is_shown_goes_back_to_light() {
        for x in [0.0, 1e-3, 0.18, 0.7, 3.0] {
            let light = Vec3::splat(x);
            let found = undeveloped(filmic(light), ToneCurve::Filmic);
            assert!((found - light).abs().max_element() < 1e-4 * (1.0 + x), "{x}: {found}");
            assert_eq!(undeveloped(light, ToneCurve::Clamp), light);
        }
        assert!(undeveloped(Vec3::splat(2.0), ToneCurve::Filmic).is_finite());
    }

    #[test]
    fn values_are_spread_over_the_screen() {
        let picture = Picture::whole(2, 1, vec![Vec3::new(0.0, 2.0, 4.0), Vec3::new(-4.0, -2.0, 1.0)]);
        assert_eq!(develop(&picture, 5.0, ToneCurve::Scaled), [0, 128, 255, 0, 0, 64]);
        assert_eq!(develop(&picture, 5.0, ToneCurve::Signed), [128, 191, 255, 0, 64, 159]);
        // One in two hundred that is far out is not looked at.
        let mut many = Picture::whole(200, 1, vec![Vec3::splat(0.5); 200]);
        many.pixels[7] = Vec3::splat(1e9);
        assert_eq!(develop(&many, 0.0, ToneCurve::Scaled), [255; 600]);
        let nothing = Picture::whole(1, 1, vec![Vec3::ZERO]);
        assert_eq!(develop(&nothing, 0.0, ToneCurve::Signed), [128; 3]);
    }

    #[test]
    fn unknown_extensions_and_unwritable_folders_are_found_early() {
        assert_eq!(ImageFormat::of(Path::new("a.jpeg")), None);
        assert_eq!(ImageFormat::of(Path::new("a")), None);
        assert!(check_writable(Path::new("/no/such/folder/a.png")).is_err());
        assert!(check_writable(&std::env::temp_dir()).is_err());
    }
}
