//! Small scenes for the tests of stages.

use crate::scene::{self, LoadOptions, Scene};
use ssl_compiler::modules::SearchPath;

/// A scene from its text in TOML, which reads no files.
pub fn load(name: &str, text: &str) -> Scene {
    let path = std::env::temp_dir().join(format!("stages-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let loaded = scene::load(&path, LoadOptions::default(), &SearchPath::on_disk(Vec::new()));
    std::fs::remove_file(&path).expect("it was written");
    loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}
