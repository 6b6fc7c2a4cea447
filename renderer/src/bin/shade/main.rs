//! `shade`: the command line of SSL and its renderer, one subcommand in each file.
//!
//! Only this file prints and exits, except for [the second Ctrl-C](interrupt). Exit codes: 0 fine, 1 the input is at
//! fault, 2 wrong usage, 3 finished with something missing, 4 the environment failed, 130 interrupted with the results
//! kept. If the reader of the output goes away (a broken pipe), that is success.

mod bsdf;
mod check;
mod code_cache;
mod cotangents;
mod denoise;
mod derivatives;
mod describe;
mod differences;
mod drift;
mod dump;
mod eval;
mod explain;
mod fit;
mod fmt;
mod folders;
mod gradients;
mod graph;
mod grid;
mod includes;
mod info;
mod inputs;
mod interrupt;
mod json;
mod kinds;
mod linked;
mod math;
mod merge;
mod outcome;
mod program;
mod progress;
mod render;
mod set;
mod setup;
mod target;
mod test;
mod texture;
mod warnings;
mod why;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use outcome::Outcome;
use ssl_compiler::diagnostics;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// SSL shaders and the pictures made with them
#[derive(Parser)]
#[command(name = "shade", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Render a scene to a picture
    Render(render::Arguments),
    /// Add partial renders up to one picture
    Merge(merge::Arguments),
    /// Take the noise out of a rendered picture
    Denoise(denoise::Arguments),
    /// Report what is wrong with shaders, graphs and scenes
    Check(check::Arguments),
    /// Say what a scene holds: bounds, counts, materials, textures, lights, camera
    Info(info::Arguments),
    /// Run one shader without a scene
    Eval(eval::Arguments),
    /// Run the tests in shader files
    Test(test::Arguments),
    /// Show what the compiler makes of a shader, stage by stage
    Dump(dump::Arguments),
    /// Format shader files
    Fmt(fmt::Arguments),
    /// Check graphs of shaders, draw them, or write them as shaders
    Graph(graph::Arguments),
    /// Make tiled, mip-mapped textures from images, or say what such files hold
    Texture(texture::Arguments),
    /// Fit what kernels read, until what they make is near a target
    Fit(fit::Arguments),
    /// Explain what a diagnostic means
    Explain(explain::Arguments),
}

fn main() -> ExitCode {
    if let Some(help) = compiler_help() {
        return ExitCode::from(print(&help).map_or(outcome::ENVIRONMENT_FAILED, |()| outcome::FINE));
    }
    let json = json::is_asked_for(std::env::args_os().skip(1));
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(e) if json && e.use_stderr() => {
            let said = print(&json::of_usage(&e.render().to_string()));
            return ExitCode::from(said.map_or(outcome::ENVIRONMENT_FAILED, |()| outcome::USAGE));
        }
        Err(e) => {
            // Help and version are asked for, and go to stdout; clap knows which. A reader that has gone
            // away is no failure.
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let outcome = match arguments.command {
        Command::Render(arguments) => render::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Denoise(arguments) => denoise::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Graph(arguments) => graph::run(&arguments),
        Command::Texture(arguments) => texture::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
    };
    let code = finish(&outcome, json);
    // Shaders that live as long as the process may still be on their way to better code.
    ssl_compiler::finish();
    code
}

/// The command line, with the compiler's options out of the way of those who render.
fn parse() -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches(&shown(false).try_get_matches()?)
}

/// Commands whose `render` shows the compiler's options alone, or all but these.
fn shown(of_compiler: bool) -> clap::Command {
    let steers = |id: &str| target::COMPILER_OPTIONS.contains(&id);
    Arguments::command().mut_subcommand("render", |render| {
        render.mut_args(|a| {
            let hidden = a.is_hide_set() || steers(a.get_id().as_str()) != of_compiler;
            a.hide(hidden)
        })
    })
}

/// What `shade render --help-compiler` shows, where it is asked for.
fn compiler_help() -> Option<String> {
    std::env::args_os().find(|word| word == "--help-compiler")?;
    let render = shown(true).find_subcommand("render")?.clone();
    let help = render.bin_name("shade render").override_usage("shade render [OPTIONS] <SCENE>");
    Some(help.disable_help_flag(true).render_long_help().to_string())
}

/// Prints what a command has to say: its result to stdout, everything else to stderr; as JSON all of it to stdout.
fn finish(outcome: &Outcome, json: bool) -> ExitCode {
    // What is printed in another form on purpose, such as a schema, is a result and stays as it is.
    let printed = if json && (outcome.report.is_some() || outcome.output.is_empty()) {
        print(&json::of(outcome))
    } else {
        let stderr = std::io::stderr();
        let text = diagnostics::render::text(&outcome.diagnostics, &outcome.sources, stderr.is_terminal());
        // Where nobody listens there is nobody to tell.
        let _ = write!(stderr.lock(), "{text}{}", outcome.note);
        print(&outcome.output)
    };
    ExitCode::from(printed.map_or(outcome::ENVIRONMENT_FAILED, |()| outcome.code))
}

/// To stdout, or says why not. A reader that goes away has what it wanted.
fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "the result cannot be printed: {e}");
            Err(e)
        }
        _ => Ok(()),
    }
}
