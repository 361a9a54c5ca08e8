//! Shows on standard error how far long work has come: as a bar on a terminal, else as a line now
//! and then.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::flags::may_draw;
use crate::output;

/// Progress of work in known steps; gone from the screen when dropped.
pub struct Progress {
    bar: ProgressBar,
    kind: Kind,
    begun: Instant,
    /// Wakes the thread that shows it: the work is over.
    over: Option<Sender<()>>,
    shower: Option<JoinHandle<()>>,
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Things that people count, such as runs.
    Things(&'static str),
    /// Parts of work whose steps are not of one size; the line has the time left.
    Work,
    /// Bytes.
    Bytes,
    /// Time, of something that has no steps.
    Time,
}

impl Progress {
    /// Progress of so many `things` to do, at none of them. As long as nobody knows how many they
    /// are, it says that they are being prepared.
    pub fn new(things: &'static str, steps: Option<usize>) -> Self {
        let look = if steps.is_some() { LOOK } else { LOOK_PREPARING };
        let progress = Self::looking(Kind::Things(things), look, Some(steps.unwrap_or(0) as u64));
        progress.bar.set_prefix(things);
        progress
    }

    /// Progress of work whose steps are not of one size, with the time that is left.
    pub fn of_work() -> Self {
        Self::looking(Kind::Work, LOOK_WORK, Some(1))
    }

    /// Something without steps goes on, such as a trial: for how long it has, and what is said.
    pub fn lasting() -> Self {
        Self::looking(Kind::Time, LOOK_LASTING, Some(1))
    }

    /// Progress of bytes. Without a total it shows only how many have come and how fast.
    pub fn of_bytes(total: Option<u64>) -> Self {
        let look = if total.is_some() { LOOK_BYTES } else { LOOK_ENDLESS };
        Self::looking(Kind::Bytes, look, total)
    }

    fn looking(kind: Kind, look: &str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(look) {
            bar.set_style(style);
        }
        let (over, wait) = mpsc::channel();
        let (shown, begun) = (bar.clone(), Instant::now());
        let (is_terminal, may_draw) = (io::stderr().is_terminal(), may_draw());
        let shower = thread::spawn(move || {
            let lasts = |time| wait.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if is_terminal {
                if may_draw && lasts(PATIENCE) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(TICK);
                }
                return;
            }
            while lasts(NOW_AND_THEN) {
                output::note(&line(kind, &shown, begun.elapsed()));
            }
        });
        Self { bar, kind, begun, over: Some(over), shower: Some(shower) }
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
        if let Kind::Work = self.kind {
            self.bar.set_prefix(left(done as u64, total as u64, self.begun.elapsed()));
        }
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

/// The line that a log gets now and then.
fn line(kind: Kind, bar: &ProgressBar, elapsed: Duration) -> String {
    let (done, total) = (bar.position(), bar.length().unwrap_or(0));
    let after = time(elapsed.as_secs_f64());
    let mut text = match kind {
        Kind::Things(things) if total == 0 => format!("preparing the {things}, {after} so far"),
        Kind::Things(things) => format!("{done} of {total} {things} done after {after}"),
        Kind::Work => {
            let share = done as f64 * 100.0 / total.max(1) as f64;
            format!("{share:.0} % of the work done, {}", left(done, total, elapsed))
        }
        Kind::Time => format!("{after} so far"),
        Kind::Bytes if total == 0 => format!("{} after {after}", HumanBytes(done)),
        Kind::Bytes => format!("{} of {} after {after}", HumanBytes(done), HumanBytes(total)),
    };
    let message = bar.message();
    if !message.is_empty() {
        text.push_str("; now ");
        text.push_str(&message);
    }
    text
}

/// How long work takes that goes on as fast as it did: `about 3 min left`.
fn left(done: u64, total: u64, elapsed: Duration) -> String {
    if done == 0 {
        return "time left not known yet".to_owned();
    }
    let share = total.saturating_sub(done) as f64 / done as f64;
    format!("about {} left", time(elapsed.as_secs_f64() * share))
}

/// Seconds as people say them, rounded up: work may be done sooner.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 50.0 => format!("{:.0} s", (s / 10.0).ceil().max(1.0) * 10.0),
        s if s < 5400.0 => format!("{:.0} min", (s / 60.0).ceil()),
        s => format!("{:.1} h", s / 3600.0),
    }
}

const LOOK: &str = "{spinner} {bar:30} {pos} of {len} {prefix} {elapsed} {wide_msg}";
const LOOK_PREPARING: &str = "{spinner} preparing the {prefix}";
const LOOK_LASTING: &str = "{spinner} {elapsed}; {wide_msg}";
const LOOK_WORK: &str = "{spinner} {bar:30} {percent} %, {prefix}; {wide_msg}";
const LOOK_BYTES: &str = "{spinner} {bar:30} {decimal_bytes}/{decimal_total_bytes} \
    {decimal_bytes_per_sec} {eta} {wide_msg}";
const LOOK_ENDLESS: &str = "{spinner} {decimal_bytes} {decimal_bytes_per_sec} {elapsed} {wide_msg}";
/// Work shorter than this shows nothing on a terminal.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);
/// How often a log gets a line: seldom enough for a night's work, often enough to see that it goes
/// on.
const NOW_AND_THEN: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_work_left() {
        let left = |done, total, seconds| left(done, total, Duration::from_secs(seconds));
        assert_eq!(left(40, 100, 120), "about 3 min left");
        assert_eq!(left(90, 100, 90), "about 10 s left");
        assert_eq!(left(1, 100, 3600), "about 99.0 h left");
        assert_eq!(left(0, 100, 3600), "time left not known yet");
    }

    #[test]
    fn a_log_is_told_how_far_it_is_though_no_step_was_done() {
        let line_of =
            |progress: &Progress| line(progress.kind, &progress.bar, Duration::from_secs(65));
        let progress = Progress::new("runs", None);
        assert_eq!(line_of(&progress), "preparing the runs, 2 min so far");
        progress.set(0, 4);
        progress.say("cubic: booting");
        assert_eq!(line_of(&progress), "0 of 4 runs done after 2 min; now cubic: booting");
        let trial = Progress::lasting();
        trial.say("7 of 9 tried");
        assert_eq!(line_of(&trial), "2 min so far; now 7 of 9 tried");
        let work = Progress::of_work();
        work.set(30, 40);
        assert_eq!(line_of(&work), "75 % of the work done, about 30 s left");
        let bytes = Progress::of_bytes(Some(4096));
        bytes.at(1024);
        assert_eq!(line_of(&bytes), "1.00 KiB of 4.00 KiB after 2 min");
    }
}
