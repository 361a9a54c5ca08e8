//! M-Start (M-Start paper, section 4): slow start whose increment counts down from P and starts
//! over.
//!
//! What it believes: early in a round the queue is empty, so a large increment does no harm there.
//! What it does: a counter `scnt` starts at `P = 10`; each ACK below ssthresh adds `scnt` segments
//! instead of one and takes one off the counter, which returns to P when it is used up. With one
//! ACK per segment the window multiplies by 6.5 per round: 2, 21, 139, 901, 5859.
//!
//! The pseudo-code cannot run as printed, and prose, equation and tables disagree. The defaults are
//! the reading that gives the windows 12, 21, 29, 36, 42, 139, 146, 152, 157 and 901 of Table 2 and
//! the sums 10392 and 426712 of Table 3; every other reading is a knob. The simulation of section 6
//! fits `first=P` with an initial window of two segments.
//!
//! Inferred: a restart after a timeout begins as the connection did, the first ACK included; an ACK
//! for several segments counts as one. The last increment before ssthresh may pass it by up to
//! `P - 1` segments, as in the loop that the paper changes.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, Words, presets, words};
use crate::opening::{Opening, opening};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start with a step-up count.
#[derive(Clone, Copy, Debug)]
pub struct MStart {
    opening: Opening,
    /// `P`, at least one.
    largest: u64,
    /// The last increment before the counter returns to P: one or zero.
    smallest: u64,
    /// What the very first ACK adds.
    first: First,
    /// The counter begins anew with every round.
    reset_per_rtt: bool,
    /// Up to where the count decides.
    until: Until,
    /// What a timeout does to the counter.
    after_timeout: AfterTimeout,
    /// What an ACK for several segments counts as.
    several: Several,
    /// `scnt`: the next increment, in segments.
    scnt: u64,
    /// The next ACK is the first.
    is_first_ack: bool,
}

/// What the very first ACK adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// One segment, without counting: the first iterations stay as they were.
    One,
    /// P segments.
    Largest,
}

/// Up to where the count decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    Ssthresh,
    HalfSsthresh,
}

/// What a timeout does to the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterTimeout {
    Restart,
    Continue,
}

/// What an ACK for several segments counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Several {
    One,
    Each,
}

impl MStart {
    /// The increments of `acks` ACKs, in segments.
    fn increments(&mut self, acks: u64) -> u64 {
        // Section 4: `cwnd += scnt; scnt -= 1`, and back to P when it is used up; whole cycles at
        // once.
        let length = self.largest - self.smallest + 1;
        let sum = self.largest * (self.largest + 1) / 2;
        let mut total = (acks / length).saturating_mul(sum);
        for _ in 0..acks % length {
            total = total.saturating_add(self.scnt);
            self.scnt = if self.scnt <= self.smallest { self.largest } else { self.scnt - 1 };
        }
        total
    }

    fn restart(&mut self) {
        self.scnt = self.largest;
        self.is_first_ack = true;
    }
}

impl Listed for MStart {
    const CARD: Card = Card::new(
        "mstart",
        "slow start with a step-up count from 10 down to 1, over and over",
        "M-Start paper",
    )
    .with("cubic")
    .about(
        "A counter of ACKs.",
        "Early in a round the queue is empty, so that a large increment does no harm there.",
        "It multiplies the window by up to 6.5 in a round and overshoots by that factor: it loses \
         several times what slow start loses.",
    )
    .in_kernel("m_start")
    .knobs(Self::KNOBS);
}

impl Observer for MStart {
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("mstart_scnt", self.scnt);
    }
}

impl Startup for MStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        if why != Entry::Timeout || self.after_timeout == AfterTimeout::Restart {
            self.restart();
        }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // Section 4 counts while `cwnd <= ssthresh`, section 5 up to half of it.
        let end = match self.until {
            Until::Ssthresh => window.ssthresh,
            Until::HalfSsthresh => window.ssthresh / 2,
        };
        if window.cwnd >= end {
            return double(ack, view);
        }
        if self.reset_per_rtt && view.round_start {
            self.scnt = self.largest;
        }
        // Table 2: the first iterations are slow start's.
        if core::mem::take(&mut self.is_first_ack) && self.first == First::One {
            return double(ack, view);
        }
        let acks = match self.several {
            Several::One => 1,
            Several::Each => (ack.acked.0 / view.mss.0.max(1)).max(1),
        };
        window.grow(view.mss * self.increments(acks)).until_threshold()
    }
}

impl Default for MStart {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            largest: P,
            smallest: 1,
            first: First::One,
            reset_per_rtt: false,
            until: Until::Ssthresh,
            after_timeout: AfterTimeout::Restart,
            several: Several::One,
            scnt: P,
            is_first_ack: true,
        }
    }
}

impl Knobs for MStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means("tables: first=1, as in Tables 2 and 3; simulation: first=P, as in section 6")
            .preset(presets!(|p| p.first, ["tables" = First::One, "simulation" = First::Largest])),
        opening(|p| &mut p.opening),
        Knob::new("P")
            .means("the increment that the count starts from, in segments")
            .count(1..=1_000, |p| &mut p.largest),
        Knob::new("cycle")
            .means("whether the count ends at one or takes in zero (10 stands for P)")
            .word(Words {
                all: &["10..1", "10..0"],
                get: |p| Some(if p.smallest == 1 { "10..1" } else { "10..0" }),
                set: |p, word| p.smallest = u64::from(word == "10..1"),
            }),
        Knob::new("first")
            .means("what the first ACK adds: one segment without counting, or P")
            .by_default("1 (tables), P (simulation)")
            .word(words!(|p| p.first, ["1" = First::One, "P" = First::Largest])),
        Knob::new("reset_per_rtt")
            .means("the count starts over with every round, as the prose hints and the tables deny")
            .word(words!(|p| p.reset_per_rtt, ["off" = false, "on" = true])),
        Knob::new("until")
            .means("where the count ends: at ssthresh, or at half of it with slow start from there")
            .word(words!(
                |p| p.until,
                ["ssthresh" = Until::Ssthresh, "half" = Until::HalfSsthresh]
            )),
        Knob::new("after_rto")
            .means("after a timeout the count starts over as at the first ACK, or goes on")
            .word(words!(
                |p| p.after_timeout,
                ["restart" = AfterTimeout::Restart, "continue" = AfterTimeout::Continue]
            )),
        Knob::new("several")
            .means("an ACK for several segments counts once, or once for each")
            .word(words!(|p| p.several, ["one" = Several::One, "each" = Several::Each])),
    ];

    fn on_set(&mut self, _knob: &str) {
        self.scnt = self.largest;
    }
}

/// The paper's P, which it takes from the initial window of ten segments.
const P: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing;
    use crate::view::Window;

    /// Segments of one byte, as the paper counts.
    fn view(cwnd: u64, ssthresh: u64, round_start: bool) -> View {
        let window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes(ssthresh) };
        View { window, mss: Bytes(1), round_start, ..testing::view(cwnd, Bytes::MAX) }
    }

    fn ack(segments: u64) -> Ack {
        Ack { acked: Bytes(segments), credited: Bytes(segments), ..Ack::default() }
    }

    fn set(policy: &mut MStart, knobs: &[(&str, &'static str)]) {
        for (name, word) in knobs {
            assert!(policy.set(name, KnobValue::Word(word)), "{name}={word}");
        }
    }

    /// The window after each ACK; a round has as many ACKs as the window at its start.
    fn windows<const ACKS: usize>(knobs: &[(&str, &'static str)], iw: u64) -> [u64; ACKS] {
        let mut policy = MStart::default();
        set(&mut policy, knobs);
        let (mut cwnd, mut round, mut left) = (iw, true, iw);
        core::array::from_fn(|_| {
            cwnd = policy.step(&ack(1), &view(cwnd, u64::MAX, round)).window.cwnd.0;
            left -= 1;
            round = left == 0;
            if round {
                left = cwnd;
            }
            cwnd
        })
    }

    #[test]
    fn the_windows_of_the_first_acks_are_those_of_table_2() {
        assert_eq!(windows(&[], 1), [2, 12, 21, 29, 36, 42, 47, 51, 54]);
    }

    #[test]
    fn it_reports_the_next_increment() {
        let mut policy = MStart::default();
        let counts = [1, 2, 12].map(|cwnd| {
            let _ = policy.step(&ack(1), &view(cwnd, u64::MAX, false));
            testing::gauge(&policy, "mstart_scnt")
        });
        assert_eq!(counts, [10, 9, 8].map(Some));
    }

    #[test]
    fn rounds_end_at_2_21_139_901_and_5859() {
        let windows: [u64; 1 + 2 + 21 + 139 + 901] = windows(&[], 1);
        let ends = [1, 3, 24, 163, 1064].map(|acks: usize| windows[acks - 1]);
        assert_eq!(ends, [2, 21, 139, 901, 5859]);
        assert_eq!(windows[24..27], [146, 152, 157], "the counter runs on across rounds");
    }

    #[test]
    fn a_count_down_to_zero_gives_122_and_736() {
        let windows: [u64; 1 + 2 + 21 + 122] = windows(&[("cycle", "10..0")], 1);
        assert_eq!([windows[23], windows[145]], [122, 736]);
    }

    #[test]
    fn the_first_ack_may_count_as_any_other() {
        assert_eq!(windows(&[("first", "P")], 2), [12, 21]);
        assert_eq!(windows::<23>(&[("preset", "simulation")], 2)[22], 139);
    }

    #[test]
    fn a_count_that_starts_over_every_round_begins_it_with_p() {
        // Round of 21 ACKs from 21: two whole cycles and one ten, 141; the next round begins with
        // ten.
        let windows: [u64; 1 + 2 + 21 + 1] = windows(&[("reset_per_rtt", "on")], 1);
        assert_eq!(windows[22..], [21 + 110, 141, 151]);
    }

    #[test]
    fn above_half_of_ssthresh_it_may_be_slow_start() {
        let mut policy = MStart::default();
        set(&mut policy, &[("preset", "simulation"), ("until", "half")]);
        assert_eq!(policy.step(&ack(1), &view(49, 100, false)).window.cwnd, Bytes(59));
        assert_eq!(policy.step(&ack(1), &view(59, 100, false)).window.cwnd, Bytes(60));
    }

    #[test]
    fn start_up_ends_once_ssthresh_is_reached_or_passed() {
        let mut policy = MStart::default();
        set(&mut policy, &[("preset", "simulation")]);
        let step = policy.step(&ack(1), &view(95, 100, false));
        assert_eq!(step.window.cwnd, Bytes(105));
        assert!(step.exit.is_some());
        assert!(policy.step(&ack(1), &view(80, 100, false)).exit.is_none());
    }

    #[test]
    fn a_timeout_starts_the_count_over_by_default() {
        let after = |word: &'static str| {
            let mut policy = MStart::default();
            set(&mut policy, &[("preset", "simulation"), ("after_rto", word)]);
            let _ = policy.step(&ack(1), &view(2, 100, false));
            policy.enter(Entry::Timeout, &view(1, 100, false));
            policy.step(&ack(1), &view(1, 100, false)).window.cwnd.0
        };
        assert_eq!((after("restart"), after("continue")), (11, 10));
    }

    #[test]
    fn an_ack_for_several_segments_counts_once_or_for_each() {
        let grown = |word: &'static str, segments: u64| {
            let mut policy = MStart::default();
            set(&mut policy, &[("preset", "simulation"), ("several", word)]);
            policy.step(&ack(segments), &view(1_000, u64::MAX, false)).window.cwnd.0 - 1_000
        };
        assert_eq!((grown("one", 2), grown("each", 2)), (10, 19));
        assert_eq!(grown("each", 23), 110 + 27);
    }
}
