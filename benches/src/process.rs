//! What this process has used so far, if the system tells: Linux does.

/// Milliseconds that all threads of this process have run, in the kernel too; in steps of a hundredth of a second.
pub fn processor_milliseconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may have blanks in it; the times are the 14th and 15th field.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: Option<u64> = fields.get(11..13)?.iter().map(|f| f.parse::<u64>().ok()).sum();
    Some(ticks? as f64 * 10.0)
}

/// The most memory that this process ever had, in MB.
pub fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}
