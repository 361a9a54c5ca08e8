//! Rapid Start (draft-kazuho-ccwg-rapid-start, Oku and Welzl, 2026): threefold growth, and a
//! landing by counting.
//!
//! What it believes: who overshoots may do so quickly, if the window after it is what the path
//! delivered. What it does:
//!
//! ```text
//! begin:       cwnd up to 2 IW, paced over one RTT
//! per ACK:     cwnd += 2 acked  while floor <= min(minrtt + 4 ms, 1.1 minrtt),  acked otherwise
//! first loss:  a = K (1 - beta), s = l = beta + a;  cwnd = s W0
//! recovery:    cwnd -= a acked + l lost;  cwnd >= beta W0 / 3
//! after it:    ssthresh = cwnd;  W_max = 2 cwnd / beta
//! ```
//!
//! `floor` is the smallest RTT of the last minrtt, W0 the window before the loss, and beta what the
//! avoidance leaves of a window. If W0 was all in flight, the window lands at beta times what was
//! delivered, whatever was lost: `s - l = 0` and `s - a = beta`. As the window first falls by 1 - s
//! only, sending pauses for a part of 1 - beta of a round.
//!
//! Published: all of it. The knob `version` chooses where its texts differ: -02 and quicly pace
//! later rounds at two windows per RTT, the editor's copy at one. quicly has K = 11/18, the larger
//! of minrtt + 4 ms and 35/32 minrtt as its threshold, grows threefold only at a minrtt of 4 ms or
//! more, and never falls below half of the first window. The first window is doubled only where it
//! can be paced, when the RTT is known before data.
//!
//! Inferred: only losses and ACKs of data that was outstanding when the recovery began change the
//! window. In QUIC nothing else can, because the recovery period ends when a packet sent during it
//! is acknowledged (RFC 9002 section 7.3.2). In TCP recovery lasts until the last retransmission is
//! acknowledged, and counting retransmissions would subtract more than was sent. So once all of
//! that data is acknowledged or lost the window is held, and a lost retransmission does not count.
//! From the landing on this start-up sets no pace: the window falls so that each ACK lets some data
//! leave, and TCP's RTTs in a recovery may be those of packets that have waited for a repair.
//!
//! Only the first slow start has it; later ones, and one that begins after a timeout, are slow
//! start.

use crate::card::{Card, Listed};
use crate::estimate::rtt_floor::RttFloor;
use crate::event::{Ack, Loss};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::landing::Landing;
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Answer, Entry, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// Start-up that triples the window and lands by what was delivered.
#[derive(Clone, Copy, Debug)]
pub struct RapidStart {
    opening: Opening,
    version: Version,
    /// The first window in ordinary ones, in millionths.
    first_window: u64,
    /// The landing ends at `beta` IW at the lowest.
    keeps_first: bool,
    /// The ordinary first window.
    initial_window: Bytes,
    /// The smallest RTT of the last minrtt (`rtt_floor`).
    floor: RttFloor,
    /// The recovery of the first loss.
    landing: Option<Landing>,
}

/// Which text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Draft02,
    Editors,
    Quicly,
}

impl Version {
    /// K of section 3.3.1, as a fraction.
    const fn k(self) -> (u64, u64) {
        match self {
            Self::Draft02 | Self::Editors => (2, 3),
            Self::Quicly => (11, 18),
        }
    }

    /// Windows per RTT after the first RTT (section 3.1.2 of the editor's copy).
    const fn gain(self) -> u64 {
        match self {
            Self::Editors => 1,
            Self::Draft02 | Self::Quicly => 2,
        }
    }

    /// The RTT from which on the path builds a queue (section 3.2, `queue_buildup_thresh`).
    fn threshold(self, min: Span) -> Span {
        let added = min + QUEUE;
        match self {
            Self::Draft02 | Self::Editors => added.min(min + min / 10),
            // Below 4 ms it does not grow threefold at all.
            Self::Quicly if min < QUEUE => Span(0),
            Self::Quicly => added.max(min.scaled(35, 32)),
        }
    }
}

impl RapidStart {
    /// The pace of a window after the first RTT, if the RTT is known.
    fn pace(&self, step: Step, rtt: Span) -> Step {
        if rtt == Span(0) {
            return step;
        }
        step.paced((step.window.cwnd.per(rtt) * self.version.gain()).max(Rate(1)))
    }

    fn least(&self, view: &View) -> Bytes {
        // Section 3.3: W0 beta / 3, and two segments (RFC 5681, RFC 9002).
        let third = view.window.cwnd.scaled(view.beta, 3 * RATIO_ONE).max(view.mss * 2);
        match self.version {
            Version::Quicly => third.max(self.initial_window / 2),
            _ if self.keeps_first => third.max(self.initial_window.scaled(view.beta, RATIO_ONE)),
            _ => third,
        }
    }
}

impl Listed for RapidStart {
    const CARD: Card = Card::new(
        "rapid-start",
        "threefold growth without a queue, and a landing at what was delivered after a loss",
        "draft-kazuho-ccwg-rapid-start-02",
    )
    .with("cubic")
    .about(
        "The smallest RTT of the last round trip; after the first loss what is delivered and lost.",
        "Who overshoots may do so quickly, if the window after it is what the path delivered.",
        "It triples the window until packets are lost: a small buffer loses a large share of them.",
    )
    .finds_its_end()
    .in_kernel("rapid_start")
    .knobs(Self::KNOBS);
}

impl Observer for RapidStart {
    fn needs(&self) -> Needs {
        // Without a window of its own in the recovery it would be threefold growth with an
        // ordinary cut, which is not Rapid Start.
        Needs::required(Facilities::TIMES | Facilities::RECOVERY_WINDOW).wanting(Facilities::PACING)
    }

    fn on_further_loss(&mut self, loss: &Loss, _view: &View) {
        if let Some(landing) = &mut self.landing {
            landing.on_loss(loss);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("rapid_start_floor", self.floor.floor().reported());
        report("rapid_start_acked", self.landing.map_or(0, |landing| landing.acked.0));
        report("rapid_start_lost", self.landing.map_or(0, |landing| landing.lost.0));
    }
}

impl Startup for RapidStart {
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        self.initial_window = view.window.cwnd;
        let rtt = view.rtt.smoothed;
        if rtt == Span(0) {
            return view.window.hold();
        }
        // Section 3.1: up to twice the ordinary first window, paced over a full RTT.
        let cwnd = view.window.cwnd.scaled(self.first_window, RATIO_ONE);
        Window { cwnd, ..view.window }.hold().paced(cwnd.per(rtt).max(Rate(1)))
    }

    fn enter(&mut self, _why: Entry, view: &View) {
        self.landing = None;
        self.initial_window = view.window.cwnd;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        // Section 3.2: `rtt_floor`, over a window of `min_rtt`, against `queue_buildup_thresh`.
        if let Some(rtt) = ack.rtt {
            self.floor.observe(ack.now, rtt, view.rtt.min);
        }
        let floor = self.floor.floor();
        let queues = floor != Span::MAX && floor > self.version.threshold(view.rtt.min);
        // Section 3.2: two bytes for each that is acknowledged, one (a SHOULD) while a queue
        // builds.
        let factor = if queues { 1 } else { 2 };
        self.pace(window.grow(ack.acked * factor).until_threshold(), view.rtt.smoothed)
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        // Section 3.3: the loss that begins the recovery counts as newly lost.
        let window = (view.window.cwnd, self.least(view).min(view.window.cwnd));
        let outstanding = view.snd_nxt - view.acked;
        let mut landing = Landing::new(window, outstanding, view.beta, self.version.k());
        landing.on_loss(&Loss { again: false, ..*loss });
        self.landing = Some(landing);
        Answer::Land(Window { cwnd: landing.cwnd(), ..view.window })
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(landing) = &mut self.landing else { return view.window.hold() };
        landing.on_ack(ack);
        Window { cwnd: landing.cwnd().min(view.window.cwnd), ..view.window }.hold()
    }

    fn growth(&self) -> u64 {
        // `limit(maxFS)` of draft-ietf-ccwg-ratelimited-increase: what a round of ACKs would reach.
        3
    }

    /// Section 3.3.3 of the editor's copy: the window is beta times what the path holds with a full
    /// queue, and slow start would have reached twice that.
    fn found(&self, view: &View) -> Found {
        let twice = view.window.cwnd * 2;
        let peak = self.landing.map(|landing| twice.scaled(RATIO_ONE, landing.beta));
        // What saturates is no window; in C it means that there is none.
        Found { peak: peak.filter(|peak| *peak < Bytes::MAX), ..Found::default() }
    }
}

impl Default for RapidStart {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            version: Version::Draft02,
            first_window: 2 * RATIO_ONE,
            keeps_first: false,
            initial_window: Bytes(0),
            floor: RttFloor::NEW,
            landing: None,
        }
    }
}

impl Knobs for RapidStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("version")
            .means(
                "the draft, its editor's copy (later rounds paced over the whole RTT), or quicly",
            )
            .word(words!(
                |p| p.version,
                [
                    "draft-02" = Version::Draft02,
                    "editor" = Version::Editors,
                    "quicly" = Version::Quicly
                ]
            )),
        Knob::new("first")
            .means("first window where it can be paced, in ordinary ones (section 3.1)")
            .ratio(RATIO_ONE..=2 * RATIO_ONE, |p| &mut p.first_window),
        Knob::new("least")
            .means("where the landing ends at the lowest: W0 beta/3, or IW beta if that is more")
            .word(words!(|p| p.keeps_first, ["third" = false, "iw" = true])),
    ];
}

/// Rise of the RTT that means a queue (section 3.2), and below which RTT quicly does not look.
const QUEUE: Span = Span::from_millis(4);

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it fails the test")]
mod tests;
