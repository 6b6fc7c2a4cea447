//! How a program of measurements ends, and what its process has used so far, if the system tells: Linux does.

use std::path::Path;
use std::process::ExitCode;

/// Says why a program failed, if it did.
pub fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a program in a folder of its own, which does not outlive it.
pub fn in_folder(name: &str, run: impl FnOnce(&Path) -> Result<(), String>) -> ExitCode {
    let folder = std::env::temp_dir().join(format!("ssl-{name}-{}", std::process::id()));
    let result = std::fs::create_dir_all(&folder).map_err(|e| e.to_string()).and_then(|()| run(&folder));
    // What is left behind there does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    ended(result)
}

/// Milliseconds that all threads of this process have run, in the kernel too; `None` where the system does not tell.
pub fn processor_milliseconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(spent.tv_sec as f64 * 1e3 + spent.tv_nsec as f64 * 1e-6)
    }
    #[cfg(not(unix))]
    None
}

/// The most memory that this process ever had, in MB.
pub fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}
