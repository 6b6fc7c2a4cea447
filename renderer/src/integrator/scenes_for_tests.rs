//! Small scenes for the tests of stages.

use crate::scene::{self, LoadOptions, Scene};
use ssl_compiler::modules::SearchPath;

/// A ball of metal and one of glass on a matte floor; what stands before the first table is missing.
pub const BALLS: &str = r#"
    [materials.matte]
    source = "shader m(out closure c) { c = make_closure<Lambert>(color(0.7), global_value<normal>); }"
    [materials.mirror]
    source = "shader m(out closure c) { c = make_closure<Mirror>(color(0.9), global_value<normal>); }"
    [materials.glass]
    source = "shader m(out closure c) { c = make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5); }"
    [[shapes]]
    type = "sphere"
    material = "mirror"
    radius = 0.6
    translate = [-1.3, 0.6, -0.3]
    [[shapes]]
    type = "sphere"
    material = "glass"
    radius = 0.6
    translate = [0.8, 0.6, 1.3]
    [[shapes]]
    type = "rectangle"
    material = "matte"
    scale = [9, 1, 9]
"#;

/// A scene from its text in TOML, which reads no files.
pub fn load(name: &str, text: &str) -> Scene {
    let path = std::env::temp_dir().join(format!("stages-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let loaded = scene::load(&path, LoadOptions::default(), &SearchPath::on_disk(Vec::new()));
    std::fs::remove_file(&path).expect("it was written");
    loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}
