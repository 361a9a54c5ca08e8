//! SEARCH, "Slow start Exit At Right CHokepoint" (draft-chung-ccwg-search, Chung, Kachooei, Li and
//! Claypool): slow start until delivery no longer follows sending.
//!
//! What it believes: as long as the path has room, what is delivered in a window of 3.5 RTTs is
//! what was sent in such a window one RTT before; once it is markedly less, a queue takes the rest.
//! Long windows keep the RTT's jitter out. What it does at the end of every bin, a tenth of the
//! window:
//!
//! ```text
//! version 10: expected = sent one RTT before    leaves if (expected - delivered) >= 0.35 expected
//! version 9:  expected = sent one RTT before                                     >= 0.26 expected
//! version 8:  expected = 2 * delivered one RTT before                            >= 0.35 expected
//! leaving:    ssthresh = cwnd
//! drain, 9, 10: cwnd = what is in flight, and a segment for three delivered, so that flight falls
//!             by two of three, to what the last first RTT delivered; then ssthresh = cwnd
//! drain, 8:   what the last two first RTTs delivered is taken off at once, to IW at least
//! ```
//!
//! The RTT that it looks back is the newest sample. So a queue stretches the look-back, and the
//! comparison goes on looking at data sent before the overload.
//!
//! Published: all of it. Version 10 is the authors' code 4.0 for Linux, the newest there is of
//! theirs; that the text of draft -10, of which only the head could be had, says the same is
//! inferred. It looks up to 38 bins back, drains always, begins its bins anew where the source
//! limits sending, and fills bins without an ACK however many. Version 9 is the draft of that
//! number as mozilla/neqo has it, with neqo's bounds and without drain; version 8 the one before
//! it, as in the authors' code 3 and in picoquic. The knobs besides `version` set one such rule
//! each.
//!
//! Departures: sums have 64 bits, so that the draft's shift of 16-bit bins is not needed. RTTs come
//! from the handshake too, if there was one, and the first of them makes the bins, as the draft
//! says; a slow handshake makes them long. Only the first slow start has it: after a timeout, and
//! whenever start-up begins again, it is slow start, where the authors' code begins anew.

use crate::card::{Card, Listed};
use crate::estimate::search_bins::{Bounds, Found as Compared, Reference, SearchBins, Undecided};
use crate::event::Ack;
use crate::knob::{Knob, KnobKind, KnobOf, KnobValue, Knobs, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start that leaves when less is delivered than was sent.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    opening: Opening,
    version: Version,
    /// First and farthest bin compared.
    bounds: Bounds,
    /// It drains at the exit.
    drains: bool,
    /// It begins anew where the source limits sending.
    resets_when_limited: bool,
    /// Bins without an ACK after which it begins anew.
    most_skipped: u64,
    /// What was sent and delivered.
    bins: SearchBins,
    /// The window that it began with.
    initial_window: Bytes,
    /// What the last comparison found.
    compared: Option<Compared>,
    /// Why the newest bin was not compared.
    undecided: Option<Undecided>,
    /// The drain, while it lasts.
    drain: Option<Drain>,
    /// What the path delivered in one first RTT before it left.
    pipe: Option<Bytes>,
}

/// Version of the draft; 10 is the authors' code 4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Eight,
    Nine,
    Ten,
}

/// The phase after the exit (-09 section 3.4).
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// The window to end with (`search_targeted_cwnd`).
    target_cwnd: Bytes,
    /// Payload delivered for which no segment has left yet (`search_drain_ackedseg`).
    drain_acked: Bytes,
}

impl Version {
    fn reference(self) -> Reference {
        if self == Self::Eight { Reference::TwiceDelivered } else { Reference::Sent }
    }

    /// Percent by which delivery falls behind before it leaves (`THRESH`, `search_thresh`).
    fn percent(self) -> u64 {
        if self == Self::Nine { 26 } else { 35 }
    }
}

impl Search {
    /// The version, with what it has where knobs do not say otherwise.
    fn set_version(&mut self, version: Version) {
        let newest = version == Version::Ten;
        self.version = version;
        self.bounds = if newest { Bounds::Linux4 } else { Bounds::Draft };
        (self.drains, self.resets_when_limited) = (newest, newest);
        self.most_skipped = if newest { MOST } else { MOST_SKIPPED };
    }

    /// Looks at an ACK (`search_update()` of the authors' code); whether delivery has fallen
    /// behind.
    #[inline]
    fn falls_behind(&mut self, ack: &Ack, view: &View) -> bool {
        // Section 3.1: the first ACK makes the bins; later ones count when a bin is over.
        if !self.bins.has_begun() {
            self.begin(ack, view);
            return false;
        }
        self.bins.is_over(ack.now) && self.end_bin(ack, view)
    }

    #[cold]
    fn begin(&mut self, ack: &Ack, view: &View) {
        // `search_init_bins()`: the initial RTT is the ruler; after a reset it is the newest RTT,
        // which is then the path's.
        let rtt = if self.compared.is_none() { view.rtt.first } else { view.rtt.latest };
        self.bins.begin(ack.now, rtt, view.sent, view.delivered);
    }

    /// A bin is over.
    #[inline(never)]
    fn end_bin(&mut self, ack: &Ack, view: &View) -> bool {
        // Code 4.0 resets SEARCH where the application limits sending, with bins of the same
        // length.
        if self.resets_when_limited && ack.app_limited {
            self.bins.begin_again(ack.now, view.sent, view.delivered);
            return false;
        }
        if !self.bins.advance(ack.now, view.sent, view.delivered, self.most_skipped) {
            return false;
        }
        // Section 3.2: what is delivered, compared with what was sent (or delivered) an RTT before,
        // by the newest RTT.
        let reference = self.version.reference();
        let found = self.bins.compare(view.rtt.latest, reference, self.bounds);
        self.undecided = found.err();
        let Ok(found) = found else { return false };
        self.compared = Some(found);
        // Section 3.2, `norm_diff >= THRESH` (`search_thresh`), without the division.
        let Compared { delivered, expected } = found;
        (expected - delivered) * 100 >= expected * self.version.percent()
    }

    /// Delivery has fallen behind.
    fn leave(&mut self, view: &View) -> Step {
        let Window { cwnd, .. } = view.window;
        // `search_compute_target_cwnd()`: what the last initial RTT delivered.
        let pipe = self.bins.delivered_in_first_rtts(1);
        self.pipe = Some(pipe).filter(|pipe| *pipe > Bytes(0));
        // Section 3.3: ssthresh = cwnd.
        let leaves = view.window.hold().threshold(cwnd).exit(Exit::Heuristic);
        if !self.drains {
            return leaves;
        }
        // Code 3, `cwnd_rollback`: what the last two initial RTTs delivered is taken off, to IW at
        // least.
        if self.version == Version::Eight {
            let rest = cwnd - self.bins.delivered_in_first_rtts(2);
            let cwnd = rest.max(self.initial_window).min(cwnd);
            return Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic);
        }
        // -09 section 3.4, drain: flight falls to that target, or to IW if that is more.
        self.drain =
            Some(Drain { target_cwnd: pipe.max(self.initial_window), drain_acked: Bytes(0) });
        view.window.hold()
    }
}

impl Drain {
    /// A segment may leave for every three that arrive (`SEARCH_DRAIN_ACKEDSEG_THRESH`).
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // -09 section 3.4 (`search_update()`): a segment leaves for every three acknowledged, so
        // that the flight falls by two of three.
        self.drain_acked += ack.credited;
        let costs = view.mss * DRAIN_ACKED;
        let segments = self.drain_acked.0 / costs.0.max(1);
        self.drain_acked -= costs * segments;
        let cwnd = (ack.in_flight + view.mss * segments).max(self.target_cwnd);
        if cwnd > self.target_cwnd {
            return Window { cwnd, ..view.window }.hold();
        }
        // The target is reached: `snd_ssthresh = snd_cwnd`, and slow start is over.
        Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic)
    }
}

impl Listed for Search {
    const CARD: Card = Card::new(
        "search",
        "slow start that leaves when less is delivered than was sent an RTT before",
        "draft-chung-ccwg-search, and its authors' code 4.0 for Linux",
    )
    .with("cubic")
    .about(
        "What was delivered in 3.5 RTTs beside what was sent one RTT earlier.",
        "While the path has room, delivery follows sending.",
        "It looks back by the newest RTT, which the queue stretches: it leaves at a queue of more \
         than four BDP, and where the buffer holds less it is slow start. A slow handshake makes \
         its ruler too long.",
    )
    .finds_its_end()
    .in_kernel("search")
    .knobs(Self::KNOBS);
}

impl Observer for Search {
    fn needs(&self) -> Needs {
        // Version 8 knows nothing of what is sent.
        match self.version.reference() {
            Reference::Sent => Needs::required(Facilities::TIMES | Facilities::SENT),
            Reference::TwiceDelivered => Needs::TIMES,
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        let Compared { delivered, expected } =
            self.compared.unwrap_or(Compared { delivered: Bytes(0), expected: Bytes(0) });
        report("search_bin", self.bins.bin().0);
        report("search_expected", expected.0);
        report("search_delivered", delivered.0);
        let is = |why| u64::from(self.undecided == Some(why));
        report("search_warms_up", is(Undecided::WarmingUp));
        report("search_rtt_inflated", is(Undecided::RttInflated));
        report("search_nothing_sent", is(Undecided::NothingSent));
    }
}

impl Startup for Search {
    /// Ours, where `cubictcp_state()` begins anew after a timeout.
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, view: &View) {
        self.bins = SearchBins::NEW;
        (self.compared, self.undecided) = (None, None);
        self.drain = None;
        self.initial_window = view.window.cwnd;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if let Some(drain) = &mut self.drain {
            return drain.step(ack, view);
        }
        let window = view.window;
        // RFC 5681 section 3.1: an ssthresh that is reached ends it.
        if window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        if self.falls_behind(ack, view) {
            return self.leave(view);
        }
        window.grow(ack.acked).until_threshold()
    }

    fn found(&self, _view: &View) -> Found {
        Found { pipe: self.pipe, ..Found::default() }
    }
}

impl Default for Search {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            version: Version::Ten,
            bounds: Bounds::Linux4,
            drains: true,
            resets_when_limited: true,
            most_skipped: MOST,
            bins: SearchBins::NEW,
            initial_window: Bytes(0),
            compared: None,
            undecided: None,
            drain: None,
            pipe: None,
        }
    }
}

impl Knobs for Search {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("version")
            .means(
                "10 is its authors' code 4.0; of the draft, 9 compares delivery with sending, 8 \
                 with delivery before",
            )
            .of_kind(KnobKind::Count(8, 10))
            .derived(
                |p| {
                    Some(KnobValue::Count(match p.version {
                        Version::Eight => 8,
                        Version::Nine => 9,
                        Version::Ten => 10,
                    }))
                },
                |p, value| {
                    p.set_version(match value {
                        KnobValue::Count(8) => Version::Eight,
                        KnobValue::Count(9) => Version::Nine,
                        _ => Version::Ten,
                    });
                },
            ),
        Knob::new("bounds")
            .means(
                "first and farthest bin compared: the draft's and neqo's, or those of the authors' \
                 code 3 or 4.0 for Linux",
            )
            .by_default("linux-4 with version 10, else draft")
            .word(words!(
                |p| p.bounds,
                ["draft" = Bounds::Draft, "linux" = Bounds::Linux, "linux-4" = Bounds::Linux4]
            )),
        Knob::new("drain")
            .means(
                "takes off at the exit what the queue holds: at once (8), or by two of three \
                 segments that arrive (9, 10)",
            )
            .by_default("on with version 10, else off")
            .word(words!(|p| p.drains, ["off" = false, "on" = true])),
        Knob::new("limited")
            .means("when the source has nothing to send: counts as always, or begins its bins anew")
            .by_default("anew with version 10, else counts")
            .word(words!(|p| p.resets_when_limited, ["counts" = false, "anew" = true])),
        Knob::new("most_skipped")
            .means("more bins without an ACK than so many, and it begins anew (neqo: 10)")
            .by_default("1000000 with version 10, else 10")
            .count(1..=MOST, |p| &mut p.most_skipped),
    ];
}

/// Segments delivered for each that leaves in the drain (-09 section 3.4).
const DRAIN_ACKED: u64 = 3;

/// Bins without an ACK that keep what was found (neqo: a window of them).
const MOST_SKIPPED: u64 = 10;

/// Largest value of that knob.
const MOST: u64 = 1_000_000;

#[cfg(test)]
mod tests;
