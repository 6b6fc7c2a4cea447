//! C programs that somebody wrote by hand, to measure ours against: `benches/yardsticks`.

use crate::root;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// One of them, compiled.
pub struct Yardstick {
    program: PathBuf,
}

impl Yardstick {
    /// Compiles `benches/yardsticks/NAME.c` for this machine.
    ///
    /// # Errors
    /// There is no `cc`, or it refuses the program.
    pub fn compile(name: &str) -> Result<Yardstick, String> {
        let program = std::env::temp_dir().join(format!("ssl-yardstick-{name}-{}", std::process::id()));
        let mut cc = Command::new("cc");
        cc.args(["-O3", "-march=native", "-ffast-math", "-o"]).arg(&program);
        cc.arg(root().join("benches/yardsticks").join(name).with_extension("c")).arg("-lm");
        match cc.status() {
            Ok(status) if status.success() => Ok(Yardstick { program }),
            Ok(status) => Err(format!("`cc` did not compile the yardstick {name}: {status}")),
            Err(error) => Err(format!("there is no `cc` to compile the yardstick {name} with: {error}")),
        }
    }

    /// What it prints.
    ///
    /// # Errors
    /// It does not run, or it fails.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<String, String> {
        let out = Command::new(&self.program).args(arguments).output();
        let out = out.map_err(|e| format!("{}: {e}", self.program.display()))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if out.status.success() { Ok(text(&out.stdout)) } else { Err(text(&out.stderr)) }
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        // A file in the folder for such files may as well stay.
        let _ = std::fs::remove_file(&self.program);
    }
}
