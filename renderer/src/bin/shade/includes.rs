//! Where a command looks for what shaders import: `--include`, and `SSL_PATH`.

use renderer::material::LIBRARY;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Includes {
    /// Look for imported files in this folder, after the folder of the importing file and before those of SSL_PATH; may be
    /// repeated
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

impl Includes {
    pub fn search(&self) -> SearchPath<'static> {
        SearchPath::on_disk(self.folders.clone()).with_library(LIBRARY)
    }
}
