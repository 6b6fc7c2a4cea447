//! Job files that tests write, those that ship, and what is set in them.

use kernels::jobs::{Options, Setting};
use std::path::{Path, PathBuf};

/// A file of its own that goes away.
pub struct Written(pub PathBuf);

impl Written {
    pub fn new(name: &str, text: &str) -> Written {
        Written::of(name, text.as_bytes())
    }

    pub fn of(name: &str, bytes: &[u8]) -> Written {
        let path = std::env::temp_dir().join(format!("ssl-jobs-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("the folder for temporary files can be written to");
        Written(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn scene(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(name)
}

fn settings(list: &[&str]) -> Vec<Setting> {
    list.iter().map(|text| text.parse().expect("NAME=VALUE")).collect()
}

pub fn options(list: &[&str]) -> Options {
    Options { settings: settings(list), ..Options::default() }
}
