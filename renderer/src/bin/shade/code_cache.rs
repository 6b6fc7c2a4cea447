//! `--code-cache`: the folder that keeps machine code from run to run.

use super::target::COMPILER;
use renderer::caches;
use ssl_compiler::CodeCache;
use std::path::PathBuf;

/// Bytes that the folder may hold: some thousand shaders.
const LIMIT: u64 = 256 << 20;

#[derive(Clone, clap::Args)]
pub struct CodeCacheArgument {
    /// The folder that keeps compiled code for the next run, or `off`. The default is what the environment variable
    /// SSL_CODE_CACHE names, or else `ssl/code` in your cache folder
    #[arg(long, help_heading = COMPILER, value_name = "FOLDER")]
    code_cache: Option<PathBuf>,
}

impl CodeCacheArgument {
    /// The cache, and a note if the folder cannot be used. Every run then compiles anew.
    pub fn open(&self) -> (Option<CodeCache>, String) {
        let chosen = self.code_cache.clone().or_else(|| caches::folder("SSL_CODE_CACHE", "code"));
        let Some(folder) = chosen.filter(|folder| folder.as_os_str() != "off") else {
            return (None, String::new());
        };
        match CodeCache::open(&folder, LIMIT) {
            Ok(cache) => (Some(cache), String::new()),
            Err(e) => {
                let note = format!(
                    "note: compiled code is not kept: `{}`: {e}; `--code-cache` names another folder, or is `off`\n",
                    folder.display()
                );
                (None, note)
            }
        }
    }
}
