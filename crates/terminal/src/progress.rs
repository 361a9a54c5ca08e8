//! A bar on standard error, for people only, and only for work that lasts.

use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Progress of work in known steps; gone from the screen when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Wakes the thread that shows the bar: the work is over.
    over: Option<Sender<()>>,
    shower: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar of so many `things` to do, at none of them, which appears after half a second if
    /// standard error is a terminal. As long as nobody knows how many they are, it says that they
    /// are being prepared.
    pub fn new(things: &'static str, steps: Option<usize>) -> Self {
        let look = if steps.is_some() { LOOK } else { LOOK_PREPARING };
        let progress = Self::looking(look, Some(steps.unwrap_or(0) as u64));
        progress.bar.set_prefix(things);
        progress
    }

    /// A bar of work whose steps are not of one size, with the time that is left.
    pub fn of_work() -> Self {
        Self::looking(LOOK_WORK, Some(1))
    }

    /// A bar of bytes. Without a total it shows only how many have come and how fast.
    pub fn of_bytes(total: Option<u64>) -> Self {
        Self::looking(if total.is_some() { LOOK_BYTES } else { LOOK_ENDLESS }, total)
    }

    fn looking(look: &str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(look) {
            bar.set_style(style);
        }
        if !io::stderr().is_terminal() {
            return Self { bar, over: None, shower: None };
        }
        let (over, wait) = mpsc::channel();
        let shown = bar.clone();
        let shower = thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, over: Some(over), shower: Some(shower) }
    }

    /// Shows that `done` steps of `total` are done.
    pub fn set(&self, done: usize, total: usize) {
        if self.bar.length() == Some(0)
            && let Ok(style) = ProgressStyle::with_template(LOOK)
        {
            self.bar.set_style(style);
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    /// Shows that `bytes` have come.
    pub fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// The step that is being done, in a few words.
    pub fn say(&self, words: &str) {
        self.bar.set_message(words.to_owned());
    }

    /// Does something that writes to the terminal, and draws the bar again below it.
    pub fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

/// Lines now and then where standard error is no terminal: what a bar is elsewhere.
pub struct Log {
    every: Duration,
    /// When the last line came; `None` for a terminal, which has the bar.
    last: Option<Mutex<Instant>>,
}

impl Log {
    /// A line at most once in so long, the first after that time.
    pub fn new(every: Duration) -> Self {
        let in_a_log = !io::stderr().is_terminal();
        Self { every, last: in_a_log.then(|| Mutex::new(Instant::now())) }
    }

    /// Says what `line` makes, if it is time for a line.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if let Some(last) = &self.last
            && let Ok(mut last) = last.lock()
            && last.elapsed() >= self.every
        {
            *last = Instant::now();
            output::note(&line());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(shower) = self.shower.take() {
            // A thread that panicked has shown nothing, which is no loss.
            let _ = shower.join();
        }
        self.bar.finish_and_clear();
    }
}

const LOOK: &str = "{spinner} {bar:30} {pos} of {len} {prefix} {elapsed} {wide_msg}";
const LOOK_PREPARING: &str = "{spinner} preparing the {prefix}";
const LOOK_WORK: &str = "{spinner} {bar:30} {percent} % {elapsed}, {eta} left {wide_msg}";
const LOOK_BYTES: &str =
    "{spinner} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} {wide_msg}";
const LOOK_ENDLESS: &str = "{spinner} {bytes} {bytes_per_sec} {elapsed} {wide_msg}";
/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_line_now_and_then_and_a_terminal_none() {
        let said = |every, in_a_log: bool| {
            let last = in_a_log.then(|| Mutex::new(Instant::now()));
            let (log, mut lines) = (Log { every, last }, 0);
            for _ in 0..3 {
                log.say(|| {
                    lines += 1;
                    String::from("(a line of a test)")
                });
            }
            lines
        };
        assert_eq!(said(Duration::ZERO, true), 3);
        assert_eq!(said(Duration::from_secs(60), true), 0);
        assert_eq!(said(Duration::ZERO, false), 0);
    }
}
