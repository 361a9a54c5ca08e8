//! AFStart, Adaptive Fast Start (Zhang, Ansari, Wu and Yu, "AFStart: an adaptive fast TCP slow
//! start for wide area networks", ICC 2012): the window grows to a threshold that is measured again
//! and again while it grows.
//!
//! What it believes: packet trains within the connection show the available bandwidth, and what
//! that carries in an RTT may be in flight.
//!
//! Published: it sets ssthresh adaptively from ImTCP's inline measurement of available bandwidth
//! and steers the window with it; it reaches ssthresh more quickly and smoothly than slow start; it
//! was tried on FAST TCP (abstract). The M-Start paper adds (section 2, reference 5): the first
//! window of four packets leaves back to back as a train; if the BDP by that train is over 16
//! packets, the window jumps to 16; from there on ImTCP measures. Neither says how the window
//! grows.
//!
//! Inferred: the measurement is the rate of each round's ACK train
//! ([`crate::estimate::ack_train`]); ssthresh is `rate * RTTmin` in whole segments, up or down, on
//! every ACK. In a round the window closes half of the distance to it, spread over the ACKs, but
//! grows at least as in slow start, and stops there. ImTCP spaces its packets to look a little
//! above what it believes: here a quarter, as the pacing rate, which also keeps the steps out of
//! the queue.
//!
//! It goes on with FAST TCP's avoidance ([`crate::avoidance::Fast`]) unless given another.

use crate::card::{Card, Listed};
use crate::estimate::ack_train::AckTrain;
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::needs::{Facilities, Needs};
use crate::opening::{IW, Opening, SSTHRESH};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate};
use crate::view::{View, Window};

/// Growth to a threshold that is measured on the way.
#[derive(Clone, Copy, Debug)]
pub struct AfStart {
    opening: Opening,
    train: AckTrain,
    /// The pace, in millionths of the measured rate.
    probe: u64,
    /// It has jumped, or is past the time to: later slow starts grow without a jump.
    jumped: bool,
    /// What this round may add, and the window it began with.
    round_growth: (Bytes, Bytes),
}

impl AfStart {
    /// The window that a measured threshold leaves on this ACK.
    fn grow_toward(&mut self, threshold: Bytes, ack: &Ack, view: &View) -> Bytes {
        let cwnd = view.window.cwnd;
        let floor = view.mss * JUMP_SEGMENTS;
        // M-Start paper, section 2, reference 5: the first train's BDP of more than 16 packets is
        // answered by a jump to 16.
        if !core::mem::replace(&mut self.jumped, true) && threshold > floor && cwnd < floor {
            self.round_growth = ((threshold - floor) / 2, floor);
            return floor;
        }
        // Ours, as the growth itself is not published: half of the distance to ssthresh in a round.
        if view.round_start || self.round_growth.1 == Bytes(0) {
            self.round_growth = ((threshold - cwnd) / 2, cwnd);
        }
        let (step, from) = self.round_growth;
        let share = ack.acked.scaled(step.0, from.0).max(ack.acked.min(view.mss));
        (cwnd + share).min(threshold).max(cwnd)
    }
}

impl Listed for AfStart {
    const CARD: Card = Card::new(
        "afstart",
        "a climb to an ssthresh that packet trains measure on the way",
        "Zhang and others, ICC 2012",
    )
    .with("fast")
    .about(
        "The rate of each round's ACK train.",
        "Packet trains within the connection show the bandwidth that is available.",
        "A train that was stretched on its way, or ACKs in lumps, set the threshold that it \
         climbs to.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for AfStart {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::PACING)
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.train.on_ack(ack, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("train_rate", self.train.rate().map_or(0, |rate| rate.0));
    }
}

impl Startup for AfStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(Window { cwnd: mss * TRAIN_SEGMENTS, ..default }, mss)
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        self.jumped = why != Entry::Connect;
        self.round_growth = (Bytes(0), Bytes(0));
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(rate) = self.train.rate() else { return double(ack, view) };
        let mut window = view.window;
        // Abstract: ssthresh is set again and again from the available bandwidth. Ours: on every
        // ACK.
        window.ssthresh = rate.over(view.rtt.min).whole_segments(view.mss);
        window.ssthresh = window.ssthresh.max(view.mss * MIN_SEGMENTS);
        window.cwnd = self.grow_toward(window.ssthresh, ack, view);
        // Ours, for ImTCP's packets spaced a little closer than what it believes.
        let pace = rate.scaled(self.probe, RATIO_ONE).max(Rate(1));
        window.hold().until_threshold().paced(pace)
    }
}

impl Default for AfStart {
    fn default() -> Self {
        let (opening, train) = (Opening::default(), AckTrain::default());
        Self { opening, train, probe: PROBE, jumped: false, round_growth: (Bytes(0), Bytes(0)) }
    }
}

impl Knobs for AfStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        KnobOf::part(&[Knob { default: "4 segments", ..IW }, SSTHRESH], |p| &mut p.opening),
        Knob::new("probe")
            .means("pacing rate, in measured rates (inferred)")
            .ratio(RATIO_ONE..=10 * RATIO_ONE, |p| &mut p.probe),
    ];
}

/// The first window, a train.
const TRAIN_SEGMENTS: u64 = 4;

/// What it jumps to where the path holds more.
const JUMP_SEGMENTS: u64 = 16;

/// The smallest ssthresh.
const MIN_SEGMENTS: u64 = 2;

/// A quarter above what it believes.
const PROBE: u64 = 1_250_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    /// Decides on ACKs of one round, so far apart, and returns the last decision.
    fn round(policy: &mut AfStart, before: &mut View, cwnd: u64, acks: u64, gap_us: u64) -> Step {
        let mut view = View { window: view(cwnd, Bytes::MAX).window, ..*before };
        let mut step = view.window.hold();
        view.round_start = true;
        view.snd_nxt = view.acked + MSS * acks;
        for _ in 0..acks {
            view.now = view.now + Span::from_micros(gap_us);
            view.acked += MSS;
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            step = policy.step(&ack, &view);
            view.window = step.window;
            view.round_start = false;
        }
        *before = view;
        step
    }

    /// A new connection before its first ACK.
    fn fresh() -> (AfStart, View) {
        (AfStart::default(), view(4, Bytes::MAX))
    }

    #[test]
    fn the_first_train_of_four_sets_ssthresh_and_jumps_to_sixteen() {
        let (mut policy, mut view) = fresh();
        assert_eq!(policy.open(view.window, MSS).cwnd, MSS * 4);
        assert_eq!(round(&mut policy, &mut view, 4, 3, 200).window.cwnd, MSS * 7, "slow start yet");
        let (mut policy, mut view) = fresh();
        let step = round(&mut policy, &mut view, 4, 4, 200);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 16, MSS * 500));
        // 5 MB/s and a quarter.
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(6_250_000))));
    }

    #[test]
    fn on_a_small_path_it_does_not_jump() {
        let (mut policy, mut view) = fresh();
        // 10 ms apart: 100 kB/s, 10 segments in 100 ms.
        let step = round(&mut policy, &mut view, 4, 4, 10_000);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 8, MSS * 10));
    }

    #[test]
    fn a_round_closes_half_of_the_distance_and_the_last_one_all_of_it() {
        let (mut policy, mut view) = fresh();
        let _ = round(&mut policy, &mut view, 4, 4, 200);
        let step = round(&mut policy, &mut view, 100, 100, 200);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 300, None));
        let step = round(&mut policy, &mut view, 300, 200, 200);
        assert_eq!(step.window.cwnd, MSS * 500);
        assert!(step.exit.is_some());
    }

    #[test]
    fn a_slower_train_lowers_ssthresh() {
        let (mut policy, mut view) = fresh();
        let _ = round(&mut policy, &mut view, 4, 4, 200);
        let step = round(&mut policy, &mut view, 100, 60, 400);
        assert_eq!(step.window.ssthresh, MSS * 250);
    }

    #[test]
    fn a_path_of_just_sixteen_segments_has_nothing_to_jump_to() {
        let (mut policy, mut view) = fresh();
        // 6.25 ms apart: 160 kB/s, 16 segments in 100 ms. From 7 half of the distance are 4.5
        // segments a round, less than slow start's.
        let step = round(&mut policy, &mut view, 4, 4, 6_250);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 8, MSS * 16));
    }

    #[test]
    fn a_window_of_sixteen_grows_without_a_jump() {
        let (mut policy, mut view) = fresh();
        // Half of the distance from 16 to 500 segments over 16: 15.125 segments an ACK.
        assert_eq!(round(&mut policy, &mut view, 13, 4, 200).window.cwnd, Bytes(31_125));
    }

    #[test]
    fn after_a_timeout_it_grows_without_a_jump() {
        let (mut policy, mut view) = fresh();
        policy.enter(Entry::Timeout, &view);
        // Half of the distance from 7 to 500 segments over 7: 35.214 segments an ACK.
        assert_eq!(round(&mut policy, &mut view, 4, 4, 200).window.cwnd, Bytes(42_214));
    }

    #[test]
    fn ssthresh_is_never_below_two_segments() {
        let (mut policy, mut view) = fresh();
        // A segment in 100 ms.
        assert_eq!(round(&mut policy, &mut view, 4, 4, 100_000).window.ssthresh, MSS * 2);
    }

    #[test]
    fn it_paces_at_what_is_asked_of_the_measured_rate() {
        let (mut policy, mut view) = fresh();
        assert!(policy.set("probe", KnobValue::Ratio(2 * RATIO_ONE)));
        let step = round(&mut policy, &mut view, 4, 4, 200);
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(10_000_000))));
        assert_eq!(crate::testing::gauge(&policy, "train_rate"), Some(5_000_000));
    }
}
