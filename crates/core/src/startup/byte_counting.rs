//! Byte Counting (Allman, "TCP Byte Counting Refinements", CCR 1999; RFC 3465): slow start that
//! counts what an ACK covers, not the ACK.
//!
//! What it believes: a receiver that delays ACKs should not slow the start down. What it does on
//! every ACK below ssthresh, with N the bytes newly acknowledged:
//!
//! ```text
//! cwnd += min(N, L MSS)      L = 2; L = 1 in the slow start after a timeout
//! ```
//!
//! With an ACK for every second segment and L = 2 the window doubles per RTT instead of growing by
//! half: the short-transfers paper (section 4.2) calls that taking d from 2 to 1. RFC 3465 section
//! 2.3 asks for L = 1 after a timeout, because one ACK may then cover much that had arrived before.
//! L = 1 is slow start as it stands in RFC 5681; no limit at all is that of Linux and QUIC, which
//! `slow-start` has where the endpoint does.
//!
//! Departure: RFC 3465 counts bytes in congestion avoidance too. The paper changes slow start alone
//! and so does this policy; the avoidance is unchanged.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::needs::Needs;
use crate::opening::{Opening, opening};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start by bytes acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct ByteCounting {
    opening: Opening,
    limit: u64,
    after_timeout: bool,
}

impl Listed for ByteCounting {
    const CARD: Card = Card::new(
        "bc",
        "slow start by bytes acknowledged, so that delayed ACKs do not slow it",
        "RFC 3465",
    )
    .with("newreno")
    .about(
        "How many bytes each ACK covers.",
        "A receiver that delays its ACKs should not slow the start.",
        "It ends as slow start does, and its bursts are twice as long where ACKs are delayed.",
    )
    .in_kernel("byte_counting")
    .knobs(Self::KNOBS);
}

impl Observer for ByteCounting {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for ByteCounting {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        // RFC 3465 section 2.3: L = 1 in the slow start after a timeout.
        self.after_timeout = why == Entry::Timeout;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // RFC 3465 section 2.2: by the bytes acknowledged, at most L segments (section 2.3: L = 2).
        let limit = if self.after_timeout { 1 } else { self.limit };
        window.grow(ack.acked.min(view.mss * limit)).until_threshold()
    }
}

impl Default for ByteCounting {
    fn default() -> Self {
        Self { opening: Opening::default(), limit: 2, after_timeout: false }
    }
}

impl Knobs for ByteCounting {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("limit")
            .means("L: segments that one ACK may add at most; 1 after a timeout")
            .by_default("2 (RFC 3465)")
            .count(1..=1_000, |p| &mut p.limit),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avoidance::NewReno;
    use crate::event::{Loss, LossKind};
    use crate::pair::Pair;
    use crate::policy::Exit;
    use crate::sender::{Config, Sender};
    use crate::units::Instant;

    fn sender(limit: u64, ssthresh: u64) -> Sender<Pair<ByteCounting, NewReno>> {
        let config = Config {
            mss: Bytes(100),
            initial_window: Bytes(400),
            initial_ssthresh: Bytes(ssthresh),
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: false,
            segment_per_ack: true,
            paces: false,
        };
        let policy = ByteCounting { limit, ..ByteCounting::default() };
        Sender::new(policy, NewReno::default(), config)
    }

    fn ack(acked: u64) -> Ack {
        let acked = Bytes(acked);
        Ack { now: Instant(1), acked, credited: acked, snd_nxt: Bytes(10_000), ..Ack::default() }
    }

    #[test]
    fn an_ack_adds_what_it_covers_up_to_the_limit() {
        let mut sender = sender(2, 10_000);
        let windows = [100, 200, 300, 50].map(|acked| {
            sender.on_ack(&ack(acked));
            sender.cwnd().0
        });
        assert_eq!(windows, [500, 700, 900, 950]);
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_the_limit_is_a_knob() {
        let mut sender = sender(3, 600);
        sender.on_ack(&ack(500));
        assert_eq!(sender.cwnd(), Bytes(700));
        assert_eq!(sender.first_exit().map(|exit| exit.why), Some(Exit::Threshold));
    }

    #[test]
    fn after_a_timeout_an_ack_adds_one_segment() {
        let mut sender = sender(2, 10_000);
        let (now, kind) = (Instant(2), LossKind::Timeout);
        let (lost, flight) = (Bytes(100), Bytes(2_000));
        sender.on_loss(&Loss::of(now, kind, lost, flight));
        sender.on_ack(&ack(300));
        assert_eq!(sender.cwnd(), Bytes(200));
    }
}
