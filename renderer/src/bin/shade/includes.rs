//! Where a command looks for what shaders import: `--include`, and `SSL_PATH`.

use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Includes {
    /// A folder in which imported files are looked for, before those of SSL_PATH; may be given again
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

impl Includes {
    pub fn search(&self) -> SearchPath<'static> {
        SearchPath::on_disk(self.folders.clone())
    }
}
