//! Prints what waiting for textures costs: files on slow storage, renders with and without fibers, and renders whose
//! textures are far larger than their memory. Words choose tables: `storage`, `waiting`, `budgets`, `fitting`.
//!
//! The files are made up as they are read, so none of this is on a disk.

mod scene;
mod storage;
mod virtual_files;

use ssl_benches::process;
use std::process::ExitCode;
use std::time::Duration;

type Row = Result<(), String>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.first().map(String::as_str) {
        // One row, in a process of its own: the peak of its memory is that of the row alone.
        Some("row") => scene::budget_row(&words[1..]),
        _ => tables(&|name| words.is_empty() || words.iter().any(|w| w == name)),
    };
    process::ended(result)
}

fn tables(wanted: &dyn Fn(&str) -> bool) -> Row {
    if wanted("storage") {
        println!(
            "\nTrilinear look-ups at random, one by one, on one thread; a read takes 2 ms, 8 may be under way. With the time to open the files.\n"
        );
        println!("| files | look-ups | tiles | reads | while one waits | seconds |");
        println!("| --- | --- | --- | --- | --- | --- |");
        for files in [1, 64] {
            for fibers in [32, 1] {
                storage::row(files, fibers, Duration::from_millis(2))?;
            }
        }
    }
    if wanted("waiting") {
        println!("\nA render on slow storage, 2 threads, 16 reads under way.\n");
        println!("| ms per read | while one waits | tiles read | seconds | threads busy |");
        println!("| --- | --- | --- | --- | --- |");
        for milliseconds in [0, 2, 10, 50] {
            for fibers in [32, 1] {
                scene::waiting_row(Duration::from_millis(milliseconds), fibers)?;
            }
        }
    }
    let budgets = |title: &str, textures: usize, side: u32, budgets: &[usize]| {
        println!("\n{title}\n");
        println!(
            "| texture memory MB | seconds | tiles read | MB read | read again | peak of the cache MB | resident MB |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- |");
        budgets.iter().try_for_each(|megabytes| scene::in_a_process(*megabytes, textures, side))
    };
    if wanted("budgets") {
        budgets("A render with 27 textures of 16384×16384: 21.7 GB of texels.", 27, 16384, &[32, 64, 256, 1024, 4096])?;
    }
    if wanted("fitting") {
        budgets("The same with textures of 1024×1024, which fit: 108 MB.", 27, 1024, &[4, 8, 16, 32, 256])?;
    }
    Ok(())
}
