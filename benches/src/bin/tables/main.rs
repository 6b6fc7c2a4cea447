//! Prints the tables of the performance page: `tables [NAME…]`; without names, all of them.
//!
//! Each figure is the least of several runs; things that are compared run in turns, in one process.

mod calls;
mod compiling;
mod dispatch;
mod lanes;
mod measure;
mod passes;
mod rendering;
mod shaders;

type Table = (&'static str, fn() -> Result<(), String>);

const TABLES: &[Table] = &[
    ("shaders", shaders::running),
    ("lanes", lanes::together),
    ("math", shaders::math),
    ("stages", compiling::stages),
    ("levels", compiling::levels),
    ("lengths", compiling::lengths),
    ("calls", calls::policies),
    ("dispatch", dispatch::materials),
    ("passes", passes::worth),
    ("sieve", shaders::sieve),
    ("render", rendering::first_light),
];

fn main() -> std::process::ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|w| TABLES.iter().all(|(name, _)| name != w)) {
        let names: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no table `{unknown}`; there is {}", names.join(", "));
        return std::process::ExitCode::from(2);
    }
    for (_, print) in TABLES.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name)) {
        if let Err(reason) = print() {
            println!("{reason}");
        }
        println!();
    }
    std::process::ExitCode::SUCCESS
}
