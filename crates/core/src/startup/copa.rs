//! Copa's start (Arun and Balakrishnan, NSDI 2018; mvfst): doubling until the rate is the target.
//!
//! What it believes: a fair rate is one that leaves `1/delta` packets in the queue, whatever the
//! path. What it does:
//!
//! ```text
//! target = 1/(delta d_q) packets per second,  d_q = newest RTT - smallest
//! rate   = cwnd/standing,                     standing = smallest RTT of the last srtt/2
//! rate <= target:  cwnd doubles once per srtt, paced at 2 cwnd/srtt
//! rate > target:   leaves; cwnd falls by 1/(delta cwnd) packets, ssthresh = cwnd
//! ```
//!
//! So it leaves with the first packets of a queue. Published: all of it; delta is 0.05 in mvfst and
//! 0.5 in the paper. Inferred: the smallest RTT is the connection's, where the source forgets it
//! after ten seconds; a start is over before. Copa itself does not follow here: any avoidance may,
//! and it gets what the path delivers.

use crate::card::{Card, Listed};
use crate::estimate::rtt_floor::RttFloor;
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Found, Observer, Startup, Step};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{View, Window};

/// Doubling once per RTT until the queue holds what Copa leaves in it.
#[derive(Clone, Copy, Debug)]
pub struct Copa {
    opening: Opening,
    /// What one over leaves in the queue, in millionths.
    delta: u64,
    /// The smallest RTT of the last half of an RTT (`RTTstanding`).
    floor: RttFloor,
    /// When the window last doubled.
    last_doubled: Option<Instant>,
}

impl Copa {
    /// Whether the rate is below the target.
    fn is_slow(&self, view: &View) -> bool {
        // NSDI 2018, update rules: the target is `1 / (delta d_q)`, the rate `cwnd / RTTstanding`.
        let (standing, queue) = (self.floor.floor(), view.rtt.latest - view.rtt.min);
        // cwnd/standing <= 1/(delta d_q); of an RTT that is not known, Span::MAX, nothing queues.
        let queued = view.window.cwnd.scaled(queue.0, standing.0);
        queued.scaled(self.delta, RATIO_ONE) <= view.mss
    }

    fn leave(&self, view: &View) -> Step {
        // NSDI 2018: a rate above the target takes `v / (delta cwnd)` off for each ACK; v is 1
        // here.
        let cwnd = view.window.cwnd;
        let off = view.mss.scaled(view.mss.0, cwnd.0).scaled(RATIO_ONE, self.delta);
        let cwnd = (cwnd - off).max(view.mss * 2).min(cwnd);
        Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic)
    }
}

impl Listed for Copa {
    const CARD: Card = Card::new(
        "copa",
        "doubling once per RTT until the rate is Copa's target, at the first packets of a queue",
        "Arun and Balakrishnan, NSDI 2018; mvfst",
    )
    .with("cubic")
    .about(
        "The newest RTT less the smallest.",
        "A fair rate is one that leaves a fixed number of packets in the queue, whatever the path.",
        "Jitter is a queue to it. It leaves with the first packets of one, which may be a burst's.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for Copa {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::PACING)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("copa_standing_rtt", self.floor.floor().reported());
    }
}

impl Startup for Copa {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        (self.floor, self.last_doubled) = (RttFloor::NEW, None);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        let srtt = view.rtt.smoothed;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // NSDI 2018: RTTstanding is the smallest RTT of the last `srtt / 2`.
        if let Some(rtt) = ack.rtt {
            self.floor.observe(ack.now, rtt, srtt / 2);
        }
        // NSDI 2018: slow start ends when the rate first is above the target.
        if !self.is_slow(view) {
            return self.leave(view);
        }
        // Until then the window doubles once per RTT.
        let doubled = *self.last_doubled.get_or_insert(ack.now);
        let mut step = window.hold();
        if ack.now.since(doubled) > srtt {
            self.last_doubled = Some(ack.now);
            step.window.cwnd = (window.cwnd * 2).min(window.ssthresh);
        }
        // mvfst: paced at two windows per smoothed RTT.
        if srtt > Span(0) {
            step = step.paced((step.window.cwnd.per(srtt) * 2).max(Rate(1)));
        }
        step.until_threshold()
    }

    fn found(&self, view: &View) -> Found {
        let standing = self.floor.floor();
        let known = standing != Span::MAX && standing > Span(0);
        let rate = known.then(|| view.window.cwnd.per(standing));
        Found { rate, ..Found::default() }
    }
}

impl Default for Copa {
    fn default() -> Self {
        Self { opening: Opening::default(), delta: DELTA, floor: RttFloor::NEW, last_doubled: None }
    }
}

impl Knobs for Copa {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("delta")
            .means("one over the packets that may queue; 0.5 in the paper")
            .ratio(1_000..=RATIO_ONE, |p| &mut p.delta),
    ];
}

/// mvfst's.
const DELTA: u64 = 50_000;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it fails the test")]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};

    /// A window of 40 segments, a smallest RTT of 100 ms; the newest in microseconds.
    fn at(rtt_us: u64) -> View {
        let mut view = view(40, Bytes::MAX);
        view.rtt.latest = Span::from_micros(rtt_us);
        view.now = Instant(1_000_000_000);
        view
    }

    fn leaves(delta: u64, rtt_us: u64) -> Option<Step> {
        let mut policy = Copa::default();
        assert!(policy.set("delta", KnobValue::Ratio(delta)));
        let view = at(rtt_us);
        let step = policy.step(&ack(&view, 1), &view);
        step.exit.map(|_| step)
    }

    /// 40 segments queue 2 (d_q/standing = 1/20) at 105.26 ms, and 20 at 200 ms.
    #[test]
    fn it_leaves_when_one_over_delta_packets_queue() {
        assert!(leaves(500_000, 105_200).is_none() && leaves(500_000, 105_300).is_some());
        assert!(leaves(50_000, 199_900).is_none() && leaves(50_000, 200_500).is_some());
        assert!(leaves(RATIO_ONE, 100_000).is_none(), "no queue");
    }

    #[test]
    fn it_gives_back_one_step_of_copas() {
        // 1/(0.5 * 40) of a segment.
        let step = leaves(500_000, 150_000).unwrap();
        assert_eq!(step.window, Window { cwnd: Bytes(39_950), ssthresh: Bytes(39_950) });
        assert_eq!(step.pace, Pace::Default);
        // 1/(0.001 * 40) are 25 segments, and 1/(0.001 * 10) more than there are.
        let mut small = Copa { delta: 1_000, ..Copa::default() };
        assert_eq!(small.leave(&at(150_000)).window.cwnd, MSS * 15);
        assert_eq!(small.leave(&view(10, Bytes::MAX)).window.cwnd, MSS * 2);
        // Without a sample there is no queue.
        let sampled = Ack { rtt: None, ..ack(&at(150_000), 1) };
        assert_eq!(small.step(&sampled, &at(150_000)).exit, None);
    }

    #[test]
    fn the_rate_is_that_of_the_smallest_rtt_of_half_an_rtt() {
        let mut policy = Copa::default();
        let mut found = |rtt_ms: u64, now_ms| {
            let mut view = at(rtt_ms * 1_000);
            view.now = view.now + Span::from_millis(now_ms);
            view.rtt.smoothed = Span::from_millis(100);
            let _ = policy.step(&ack(&view, 1), &view);
            policy.found(&view).rate
        };
        assert_eq!(found(100, 0), Some(Rate(400_000)));
        assert_eq!(found(200, 40), Some(Rate(400_000)));
        assert_eq!(found(200, 91), Some(Rate(200_000)), "no sample of 100 ms for 50 ms");
        assert_eq!(found(0, 92), None);
        policy.enter(Entry::Timeout, &at(100_000));
        assert_eq!(policy.found(&at(100_000)).rate, None, "begun anew");
        assert_eq!(policy.last_doubled, None);
    }

    #[test]
    fn without_an_rtt_it_is_not_paced() {
        let mut view = at(100_000);
        view.rtt.smoothed = Span(0);
        assert_eq!(Copa::default().step(&ack(&view, 1), &view).pace, Pace::Default);
    }

    #[test]
    fn the_window_doubles_once_per_rtt_and_is_paced_at_twice_its_rate() {
        let mut policy = Copa::default();
        let mut view = at(100_000);
        let mut cwnd_after = |ms: u64| {
            view.now = Instant(1_000_000_000) + Span::from_millis(ms);
            let step = policy.step(&ack(&view, 1), &view);
            view.window = step.window;
            (step.window.cwnd.0 / 1_000, step.pacing_set())
        };
        assert_eq!(cwnd_after(0), (40, Some(Pacing::at(Rate(800_000)))));
        assert_eq!(cwnd_after(100).0, 40);
        assert_eq!(cwnd_after(101), (80, Some(Pacing::at(Rate(1_600_000)))));
        assert_eq!((cwnd_after(201).0, cwnd_after(202).0), (80, 160));
    }
}
