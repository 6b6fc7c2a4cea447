//! `--set`: sets keys of a scene on the command line.

use renderer::scene::Setting;

#[derive(clap::Args)]
pub struct SetArguments {
    /// Set a key of the scene, as if its file said so; may be repeated. PATH names tables, keys and places in lists with dots
    /// between: film.width, shapes.0.radius, materials.floor.roughness. VALUE is written as in TOML; words need no quotes
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<Setting>,
}

impl SetArguments {
    pub fn list(&self) -> Vec<Setting> {
        self.settings.clone()
    }

    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }
}
