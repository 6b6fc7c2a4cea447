//! Where the compiler looks for imported files, and how it reads them.

use crate::builtins::library::{self, LibraryFile};
use crate::input;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// A file system, real or made up.
pub trait Files: Sync {
    /// What tells the file at a path from every other, whichever way leads to it; `None` where nothing is.
    fn identity(&self, path: &Path) -> Option<PathBuf>;

    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

impl<F: Files + ?Sized> Files for &F {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        (**self).identity(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        (**self).read(path)
    }
}

/// The files of this machine.
pub struct Disk;

impl Files for Disk {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        input::bytes(path, input::MOST_TEXT)
    }
}

/// The files that lie in some folders, and no others: for a host that compiles shaders of strangers.
///
/// Links and `..` are followed first, so neither leads out of the folders. Files outside are not there: a message does
/// not tell whether they exist.
pub struct Confined<F> {
    files: F,
    folders: Vec<PathBuf>,
}

impl<F: Files> Confined<F> {
    /// Lets through the files in these folders. A folder that is not there lets nothing through.
    pub fn new<P: AsRef<Path>>(files: F, folders: impl IntoIterator<Item = P>) -> Confined<F> {
        // Files that are no real ones need not know their folders.
        let identity = |folder: P| files.identity(folder.as_ref()).unwrap_or_else(|| folder.as_ref().to_owned());
        let folders = folders.into_iter().map(identity).collect();
        Confined { files, folders }
    }
}

impl<F: Files> Files for Confined<F> {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        self.files.identity(path).filter(|file| self.folders.iter().any(|folder| file.starts_with(folder)))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.identity(path) {
            Some(_) => self.files.read(path),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such file in the folders of this host")),
        }
    }
}

/// Whether a path names a shader file. Imports and units read nothing else: a message about a file shows lines of it,
/// so a stranger could have any file shown.
pub(crate) fn names_shader(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ssl"))
}

/// No files: only the standard library can be imported.
struct Nowhere;

impl Files for Nowhere {
    fn identity(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Err(io::Error::new(io::ErrorKind::NotFound, path.display().to_string()))
    }
}

/// Beside the importing file, then in each folder, then in the standard library, then in what the host adds to that.
#[derive(Clone)]
pub struct SearchPath<'a> {
    pub files: &'a dyn Files,
    pub folders: Vec<PathBuf>,
    /// Files of the host's own, which belong to the library: each imports only from the library.
    pub library: &'static [LibraryFile],
}

/// The standard library alone.
pub static LIBRARY_ONLY: SearchPath<'static> = SearchPath { files: &Nowhere, folders: Vec::new(), library: &[] };

impl SearchPath<'static> {
    /// On disk: these folders, then those that the environment variable `SSL_PATH` lists.
    pub fn on_disk(mut folders: Vec<PathBuf>) -> SearchPath<'static> {
        let listed = std::env::var_os("SSL_PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(&listed).filter(|f| f.as_os_str() != OsStr::new("")));
        SearchPath { files: &Disk, folders, library: &[] }
    }

    /// With files of the host's own in the library.
    pub fn with_library(self, library: &'static [LibraryFile]) -> SearchPath<'static> {
        SearchPath { library, ..self }
    }
}

/// What an import leads to.
pub(crate) enum Found {
    /// The path to read, and its identity.
    File(PathBuf, PathBuf),
    Library(&'static LibraryFile),
}

impl SearchPath<'_> {
    /// The file of the library that an import names, with or without `std/` before it.
    pub(crate) fn library_file(&self, path: &str) -> Option<&'static LibraryFile> {
        library::file(path).or_else(|| library::file_among(self.library, path))
    }

    /// Looks for a path from a file at `from`; the places searched where there is nothing.
    pub(crate) fn find(&self, wanted: &str, from: Option<&Path>) -> Result<Found, Vec<String>> {
        let beside = from.map(|f| f.parent().unwrap_or(Path::new("")));
        let folders = || beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path));
        let candidates = folders().map(|f| f.join(wanted));
        let found = candidates.filter_map(|path| self.files.identity(&path).map(|id| (path, id))).next();
        if let Some((path, id)) = found {
            return Ok(Found::File(path, id));
        }
        if let Some(file) = self.library_file(wanted) {
            return Ok(Found::Library(file));
        }
        let name = |f: &Path| match f.as_os_str().is_empty() {
            true => "the current folder".to_owned(),
            false => format!("`{}`", f.display()),
        };
        Err(folders().map(name).chain(["the standard library".to_owned()]).collect())
    }
}
