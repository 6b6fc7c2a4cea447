//! A progress bar with the time left, on stderr, when that is a terminal; else nothing.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

pub struct Progress {
    bar: ProgressBar,
}

const STEPS: u64 = 10_000;

impl Progress {
    pub fn new() -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden() };
        }
        let template = "{bar:40} {percent:>3} %  {elapsed} elapsed, {eta} left  {msg}";
        // A template that could not be read would only look different.
        let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
        Progress { bar: ProgressBar::new(STEPS).with_style(style) }
    }

    /// Shows that the share `done`, 0 to 1, is finished.
    pub fn set(&self, done: f32) {
        // Threads report out of order; the bar only goes forwards.
        let position = (done * STEPS as f32) as u64;
        if position > self.bar.position() {
            self.bar.set_position(position);
        }
    }

    /// Says what is being done.
    pub fn say(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
