//! Plain readings of RFCs, in floating point, as the texts say it: a judge where no peer is.

mod cubic;
mod hystart_pp;

use crate::peer::{Frame, IW, PACKET, Packet, Peer, Time};
use cubic::Cubic;
use hystart_pp::HystartPp;

/// How slow start ends before a loss.
#[derive(Debug)]
pub(crate) enum Start {
    /// It does not.
    Plain,
    Hystart(HystartPp),
}

/// How the window grows after it.
#[derive(Debug)]
pub(crate) enum Growth {
    /// RFC 9002 section 7.3.3, RFC 5681 section 3.1.
    NewReno,
    Cubic(Cubic),
}

/// A sender by RFC 9002 section 7, with a start and a growth; windows in packets.
#[derive(Debug)]
pub(crate) struct Reading {
    start: Start,
    growth: Growth,
    window: f64,
    ssthresh: f64,
    /// Packets sent until then belong to the recovery (RFC 9002 section 7.3.2).
    recovery: Option<Time>,
    /// The smoothed RTT, seconds.
    srtt: f64,
}

impl Reading {
    fn of(start: Start, growth: Growth) -> Self {
        let (window, ssthresh) = (IW as f64, f64::INFINITY);
        Self { start, growth, window, ssthresh, recovery: None, srtt: 0.0 }
    }

    /// Slow start and NewReno of RFC 9002.
    pub(crate) fn new_reno() -> Self {
        Self::of(Start::Plain, Growth::NewReno)
    }

    /// Slow start and CUBIC of RFC 9438.
    pub(crate) fn cubic() -> Self {
        Self::of(Start::Plain, Growth::Cubic(Cubic::default()))
    }

    /// HyStart++ of RFC 9406 before it, with the limit L in packets.
    pub(crate) fn hystart_pp(limit: f64) -> Self {
        let start = Start::Hystart(HystartPp::new(limit));
        Self::of(start, Growth::Cubic(Cubic::default()))
    }

    fn grow(&mut self, frame: &Frame, packets: f64) {
        let rtt = frame.rtt() as f64 / 1e9;
        self.srtt = if self.srtt == 0.0 { rtt } else { 0.875 * self.srtt + 0.125 * rtt };
        if self.window < self.ssthresh {
            match &mut self.start {
                Start::Plain => self.window += packets,
                Start::Hystart(hystart) => {
                    self.window += hystart.on_ack(frame, packets);
                    if hystart.is_over() {
                        self.ssthresh = self.window;
                    }
                }
            }
            return;
        }
        let now = frame.now as f64 / 1e9;
        // Packet by packet, as RFC 9438 counts segments_acked.
        for _ in 0..packets as u64 {
            self.window = match &mut self.growth {
                Growth::NewReno => self.window + 1.0 / self.window,
                Growth::Cubic(cubic) => cubic.on_ack(now, self.srtt, self.window),
            };
        }
    }
}

impl Peer for Reading {
    fn on_sent(&mut self, _packet: Packet, _in_flight: u64) {}

    fn on_frame(&mut self, frame: &Frame) {
        let start = self.recovery;
        let after = |packet: &&Packet| start.is_none_or(|start| packet.sent_at > start);
        let packets = frame.packets.iter().filter(after).count();
        if packets > 0 {
            self.grow(frame, packets as f64);
        }
    }

    fn on_lost(&mut self, now: Time, packets: &[Packet], _in_flight: u64) {
        let newest = packets[packets.len() - 1].sent_at;
        if self.recovery.is_some_and(|start| newest <= start) {
            return;
        }
        self.recovery = Some(now);
        let left = match &mut self.growth {
            Growth::NewReno => self.window / 2.0,
            Growth::Cubic(cubic) => cubic.on_loss(self.window),
        };
        self.window = left.max(2.0);
        self.ssthresh = self.window;
    }

    fn window(&self) -> u64 {
        (self.window * PACKET as f64) as u64
    }

    fn left(&self) -> bool {
        self.window >= self.ssthresh
    }
}
