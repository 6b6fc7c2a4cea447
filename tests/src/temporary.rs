//! Files and folders of a test, removed when the test has finished with them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A place that no other test has, whose name ends as given.
fn place(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("ssl-{}-{number}-{name}", std::process::id()))
}

/// A file with a text.
pub struct File(PathBuf);

impl File {
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn new(name: &str, text: &str) -> File {
        let path = place(name);
        std::fs::write(&path, text).expect("the temporary folder can be written");
        File(path)
    }

    pub fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// An empty folder.
pub struct Folder(PathBuf);

impl Folder {
    /// # Panics
    ///
    /// If it cannot be made.
    pub fn new(name: &str) -> Folder {
        let path = place(name);
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it, which need not be there.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file in it, and returns the path.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).expect("the temporary folder can be written");
        self.file(name)
    }

    /// # Panics
    ///
    /// If the file cannot be read.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
