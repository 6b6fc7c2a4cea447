//! The progress of a long piece of work, on stderr: a bar with the time left on a terminal, else a line every few
//! seconds.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a line is written where nobody says.
pub const EVERY: Duration = Duration::from_secs(5);

pub struct Progress {
    form: Form,
    advice: Option<Advice>,
}

/// A line that is told once, where work turns out to be long.
struct Advice {
    line: &'static str,
    begin: Instant,
    told: AtomicBool,
}

/// Work that takes longer than this in all is long.
const LONG: f64 = 60.0;
/// Estimates of shorter work than this are not trusted: the beginning is seldom like the rest.
const TRUSTED: f64 = 5.0;

enum Form {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

struct Lines {
    what: &'static str,
    every: Duration,
    begin: Instant,
    state: Mutex<State>,
}

struct State {
    /// When the last line was written.
    last: Instant,
    /// The share that was done before this run, which took none of its time.
    first: Option<f32>,
    done: f32,
    /// What there is to say beside the share.
    said: String,
}

const STEPS: u64 = 10_000;

impl Progress {
    /// Of `what`, with a line `every` so often where there is no terminal; nothing is shown if that is 0.
    pub fn new(what: &'static str, every: Duration) -> Progress {
        let form = match (every.is_zero(), std::io::stderr().is_terminal()) {
            (true, _) => Form::Nothing,
            (false, true) => Form::Bar(bar(what)),
            (false, false) => Form::Lines(Lines::new(what, every)),
        };
        Progress { form, advice: None }
    }

    /// Tells this line where the work turns out to take more than a minute. Where no progress is shown, it is not told.
    pub fn advising(self, line: Option<&'static str>) -> Progress {
        let advice = line.map(|line| Advice { line, begin: Instant::now(), told: AtomicBool::new(false) });
        Progress { advice, ..self }
    }

    /// Shows that the share `done`, 0 to 1, is finished.
    pub fn set(&self, done: f32) {
        if let Some(line) = self.advice.as_ref().and_then(|advice| advice.due(done, Instant::now())) {
            self.tell(line);
        }
        match &self.form {
            Form::Nothing => {}
            Form::Bar(bar) => {
                // Threads report out of order; the bar only goes forwards.
                let position = (done * STEPS as f32) as u64;
                if position > bar.position() {
                    bar.set_position(position);
                }
            }
            Form::Lines(lines) => {
                // Where nobody listens there is nobody to tell.
                lines.set(done, Instant::now(), |line| drop(writeln!(std::io::stderr().lock(), "{line}")));
            }
        }
    }

    /// Shows a few words behind the share, until there are others.
    pub fn say(&self, words: &str) {
        match &self.form {
            Form::Nothing => {}
            Form::Bar(bar) => bar.set_message(words.to_owned()),
            Form::Lines(lines) => {
                lines.state.lock().unwrap_or_else(PoisonError::into_inner).said = format!(", {words}");
            }
        }
    }

    /// Says something once, before or while the work is done.
    pub fn tell(&self, line: &str) {
        match &self.form {
            Form::Nothing => {}
            Form::Bar(bar) => bar.println(line),
            Form::Lines(_) => drop(writeln!(std::io::stderr().lock(), "{line}")),
        }
    }

    pub fn finish(&self) {
        if let Form::Bar(bar) = &self.form {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str) -> ProgressBar {
    let template = "{bar:40} {percent:>3} %  {elapsed} elapsed, {eta} left  {msg}";
    // A template that could not be read would only look different.
    let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(STEPS).with_style(style).with_message(what)
}

impl Advice {
    /// The line, the first time that an estimate is long.
    fn due(&self, done: f32, now: Instant) -> Option<&'static str> {
        let elapsed = now.saturating_duration_since(self.begin).as_secs_f64();
        let is_long = elapsed > TRUSTED && elapsed > LONG * f64::from(done);
        (is_long && !self.told.swap(true, Ordering::Relaxed)).then_some(self.line)
    }
}

impl Lines {
    fn new(what: &'static str, every: Duration) -> Lines {
        let begin = Instant::now();
        Lines {
            what,
            every,
            begin,
            state: Mutex::new(State { last: begin, first: None, done: 0.0, said: String::new() }),
        }
    }

    /// Writes the line that is due, if one is; one thread at a time, so that they come in order.
    fn set(&self, done: f32, now: Instant, write: impl FnOnce(&str)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *state.first.get_or_insert(done);
        state.done = state.done.max(done);
        if now.saturating_duration_since(state.last) < self.every || state.done >= 1.0 {
            return;
        }
        state.last = now;
        let elapsed = now.saturating_duration_since(self.begin).as_secs_f64();
        let (what, percent) = (self.what, (state.done * 100.0) as u32);
        let own = f64::from(state.done - first);
        let left = match own > 0.0 {
            true => format!(", {} left", clock(elapsed * f64::from(1.0 - state.done) / own)),
            false => String::new(),
        };
        write(&format!("{what}: {percent} %, {} elapsed{left}{}", clock(elapsed), state.said));
    }
}

/// Hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_their_time_and_estimate_what_is_left() {
        let lines = Lines::new("rendering", Duration::from_secs(5));
        let at = |seconds: u64, done: f32| {
            let mut written = None;
            lines.set(done, lines.begin + Duration::from_secs(seconds), |line| written = Some(line.to_owned()));
            written
        };
        // A quarter was there before: the rest of a half takes as long as the quarter did.
        assert_eq!(at(0, 0.25), None);
        assert_eq!(at(4, 0.4), None);
        assert_eq!(at(10, 0.5).as_deref(), Some("rendering: 50 %, 0:10 elapsed, 0:20 left"));
        assert_eq!(at(14, 0.6), None);
        // Threads report out of order.
        assert_eq!(at(3670, 0.45).as_deref(), Some("rendering: 60 %, 1:01:10 elapsed, 1:09:54 left"));
        assert_eq!(at(9999, 1.0), None);
    }

    #[test]
    fn advice_is_given_once_and_only_for_long_work() {
        let advice = || Advice { line: "do otherwise", begin: Instant::now(), told: AtomicBool::new(false) };
        let at =
            |advice: &Advice, seconds: u64, done: f32| advice.due(done, advice.begin + Duration::from_secs(seconds));
        let long = advice();
        // Too early to tell; then half a minute for a quarter.
        assert_eq!(at(&long, 4, 0.01), None);
        assert_eq!(at(&long, 30, 0.25), Some("do otherwise"));
        assert_eq!(at(&long, 90, 0.5), None);
        // Forty seconds in all.
        let short = advice();
        assert!((5..=40).all(|seconds| at(&short, seconds, seconds as f32 / 40.0).is_none()));
    }
}
