//! How much memory there is.

/// Bytes that could be taken without others having to go; `None` where the system does not tell.
pub fn free() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

pub fn megabytes(bytes: usize) -> String {
    match bytes >> 20 {
        0 => "less than 1 MB".to_owned(),
        mb => format!("{mb} MB"),
    }
}
