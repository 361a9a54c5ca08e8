//! How a source that rests uses its window, and what it loses of it by leaving it unused: slow
//! start after an idle time (RFC 5681 section 4.1) and window validation (RFC 2861, which RFC 7661
//! replaced), both as Linux has them. The functions named are those of Linux 6.1's
//! `net/ipv4/tcp_output.c`.
//!
//! A source without a rest needs none of this: growth is limited by its largest flight, and it
//! always has something to send.

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Window;

use super::repair::Repair;
use super::tcb::{GREEDY, Tcb};
use super::{Tcp, Wire};
use crate::endpoint::Endpoint;

/// How a sender has used its window of late.
#[derive(Debug)]
pub(super) struct WindowValidation {
    /// `tcp_slow_start_after_idle`.
    restarts: bool,
    /// The initial window: the least that counts as used, and what a restart leaves.
    initial_window: Bytes,
    /// When a packet left last (`lsndtime`).
    sent_at: Instant,
    /// When a packet left or an ACK came last.
    pub(super) seen_at: Instant,
    /// One past the highest packet sent at the last validation.
    validated: u32,
    /// The window stopped the sender at some time in this round (`is_cwnd_limited`).
    is_limited: bool,
    /// Packets outstanding at most in this round (`max_packets_out`).
    most_out: u32,
    /// Where the round ends (`cwnd_usage_seq`).
    until: u32,
    /// Packets outstanding at most since the window was last used whole (`snd_cwnd_used`).
    used: u32,
    /// When the window was last used whole (`snd_cwnd_stamp`).
    used_whole_at: Instant,
}

impl WindowValidation {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            restarts: endpoint.slow_start_after_idle,
            initial_window: endpoint.initial_window,
            sent_at: Instant(0),
            seen_at: Instant(0),
            validated: 0,
            is_limited: false,
            most_out: 0,
            until: 0,
            used: 0,
            used_whole_at: Instant(0),
        }
    }

    /// A packet leaves.
    pub(super) fn on_sent(&mut self, now: Instant) {
        (self.sent_at, self.seen_at) = (now, now);
    }

    /// Whether the window limits what is sent (`tcp_is_cwnd_limited`), so that it may grow.
    pub(super) fn is_whole(&self, window: &Window, mss: u64) -> bool {
        let slow_start = window.cwnd < window.ssthresh;
        self.is_limited || slow_start && window.cwnd < Bytes(2 * mss * u64::from(self.most_out))
    }

    /// Packets left, or the window held them back (`tcp_cwnd_validate`). True if it has gone
    /// unused for a `timeout`.
    fn validate(&mut self, now: Instant, inputs: &Inputs) -> bool {
        let Inputs { una, nxt, limited, .. } = *inputs;
        let out = nxt - una;
        if una >= self.until || limited || !self.is_limited && out > self.most_out {
            (self.is_limited, self.most_out, self.until) = (limited, out, nxt);
        }
        if self.is_whole(&inputs.window, inputs.mss) {
            (self.used, self.used_whole_at) = (0, now);
            return false;
        }
        self.used = self.used.max(out);
        self.restarts && now.since(self.used_whole_at) >= inputs.timeout
    }

    /// What is left of a window that was not used (`tcp_cwnd_application_limited`); `None` if it
    /// stays, as it does while losses are repaired.
    fn shrink(&mut self, now: Instant, inputs: &Inputs, repairs: bool) -> Option<Window> {
        let used = Bytes(u64::from(self.used) * inputs.mss).max(self.initial_window);
        (self.used, self.used_whole_at) = (0, now);
        let cwnd = inputs.window.cwnd;
        let left = (cwnd + used) / 2;
        let cwnd_left = left - Bytes(left.0 % inputs.mss.max(1));
        (used < cwnd && !repairs)
            .then(|| Window { cwnd: cwnd_left, ssthresh: current_ssthresh(inputs) })
    }

    /// What is left of a window after nothing was sent for `idle` (`tcp_cwnd_restart`).
    fn restart(&mut self, now: Instant, idle: Span, inputs: &Inputs) -> Option<Window> {
        if !self.restarts || idle <= inputs.timeout {
            return None;
        }
        let least = self.initial_window.min(inputs.window.cwnd);
        let (mut cwnd, mut left) = (inputs.window.cwnd, idle - inputs.timeout);
        while left > Span(0) && cwnd > least {
            cwnd = cwnd / 2;
            left -= inputs.timeout;
        }
        (self.used, self.used_whole_at) = (0, now);
        let cwnd = cwnd - Bytes(cwnd.0 % inputs.mss.max(1));
        Some(Window { cwnd: cwnd.max(least), ssthresh: current_ssthresh(inputs) })
    }
}

/// What the rules depend on.
struct Inputs {
    una: u32,
    nxt: u32,
    limited: bool,
    window: Window,
    mss: u64,
    timeout: Span,
}

/// The threshold that the present window leaves, in whole packets (`tcp_current_ssthresh`).
fn current_ssthresh(inputs: &Inputs) -> Bytes {
    let packets = inputs.window.cwnd.0 / inputs.mss.max(1);
    inputs.window.ssthresh.max(Bytes((packets / 2 + packets / 4) * inputs.mss))
}

impl Tcp {
    /// The source has so many packets more to send on the connection, all of whose others have been
    /// acknowledged. As the application writes, they leave one by one: the rules apply before the
    /// first alone.
    #[cold]
    pub(crate) fn write(&mut self, now: Instant, packets: u32, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        let rested = tcb.una >= tcb.end;
        tcb.validate_window(repair);
        tcb.end = tcb.end.saturating_add(packets);
        if tcb.una < tcb.first_data {
            // The handshake's end looks at what there is to send.
            return;
        }
        tcb.extend(tcb.una, 0);
        if !rested {
            repair.send(tcb, now, wire);
            return self.note_calm();
        }
        let inputs = tcb.inputs(1);
        if let Some(validation) = &mut tcb.validation {
            let idle = now.since(validation.sent_at);
            let window = validation.restart(now, idle, &inputs);
            tcb.core.on_rest(now, idle, window);
        }
        let first = tcb.inputs(1);
        tcb.validate_now(now, &Inputs { nxt: tcb.max + 1, ..first }, false);
        repair.send(tcb, now, wire);
        self.note_calm();
    }

    /// The receiver takes all that there is to send from now on.
    #[cold]
    pub(crate) fn open_window(&mut self, now: Instant, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        tcb.receiver_window = tcb.endpoint.send_buffer.min(GREEDY);
        if tcb.una >= tcb.first_data {
            repair.send(tcb, now, wire);
        }
        self.note_calm();
    }
}

impl Tcb {
    /// The rules' inputs with so many packets in flight.
    fn inputs(&self, in_flight: u32) -> Inputs {
        let view = self.core.view();
        Inputs {
            una: self.una,
            nxt: self.max,
            limited: u64::from(in_flight) * self.mss + self.mss > view.window.cwnd.0,
            window: view.window,
            mss: self.mss,
            timeout: self.rto.timeout(&view.rtt),
        }
    }

    /// Validates the window after the last ACK, timer or file, if the source rests. Nothing has
    /// changed since then, so that this is called when something is about to change.
    pub(super) fn validate_window(&mut self, repair: &impl Repair) {
        let Some(validation) = &mut self.validation else { return };
        let now = validation.seen_at;
        let sent = self.max > std::mem::replace(&mut validation.validated, self.max);
        let inputs = self.inputs(repair.in_flight(self));
        if self.una >= self.first_data && (sent || inputs.limited && self.max < self.end) {
            self.validate_now(now, &inputs, self.core.view().recovering);
        }
    }

    fn validate_now(&mut self, now: Instant, inputs: &Inputs, repairs: bool) {
        let Some(validation) = &mut self.validation else { return };
        if validation.validate(now, inputs) {
            let window = validation.shrink(now, inputs, repairs);
            self.core.on_rest(now, Span(0), window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn inputs(cwnd: u64, (una, nxt): (u32, u32), limited: bool) -> Inputs {
        let window = Window { cwnd: Bytes(cwnd * MSS), ssthresh: Bytes(20 * MSS) };
        Inputs { una, nxt, limited, window, mss: MSS, timeout: Span::from_millis(300) }
    }

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    fn validation() -> WindowValidation {
        WindowValidation::new(&Endpoint {
            initial_window: Bytes(10 * MSS),
            ..Endpoint::rfc(Bytes(MSS))
        })
    }

    /// 30 of 100 packets are used for a timeout: (100 + 30) / 2 are left, and a threshold of 75.
    #[test]
    fn a_window_falls_halfway_to_what_was_used_of_it() {
        let mut validation = validation();
        assert!(!validation.validate(at(0), &inputs(100, (0, 100), true)));
        assert!(!validation.validate(at(200), &inputs(100, (100, 130), false)));
        assert!(!validation.validate(at(299), &inputs(100, (130, 150), false)));
        let now = inputs(100, (150, 160), false);
        assert!(validation.validate(at(300), &now));
        let left = validation.shrink(at(300), &now, false);
        assert_eq!(left, Some(Window { cwnd: Bytes(65 * MSS), ssthresh: Bytes(75 * MSS) }));
        // And then it has another timeout's time.
        assert!(!validation.validate(at(500), &inputs(65, (160, 190), false)));
    }

    /// Linux adds a half and a quarter, each rounded down: of 94 packets these are 47 and 23.
    #[test]
    fn the_threshold_is_three_quarters_of_the_window_in_whole_packets() {
        assert_eq!(current_ssthresh(&inputs(94, (0, 1), false)), Bytes(70 * MSS));
        assert_eq!(
            current_ssthresh(&inputs(24, (0, 1), false)),
            Bytes(20 * MSS),
            "the old one is more"
        );
    }

    #[test]
    fn the_initial_window_is_used_always_and_a_repaired_one_stays() {
        let now = inputs(12, (0, 1), false);
        let mut validation = validation();
        assert!(validation.validate(at(400), &now));
        let left = validation.shrink(at(400), &now, false).unwrap();
        assert_eq!((left.cwnd, left.ssthresh), (Bytes(11 * MSS), Bytes(20 * MSS)));
        assert!(validation.validate(at(800), &now));
        assert_eq!(validation.shrink(at(800), &now, true), None);
        assert_eq!(validation.shrink(at(800), &inputs(10, (0, 1), false), false), None);
    }

    /// Below ssthresh the window may grow to twice the packets that were outstanding. Above it, it
    /// may grow only if the window held the sender back.
    #[test]
    fn a_window_grows_while_it_is_used() {
        let mut validation = validation();
        let below = Window { cwnd: Bytes(10 * MSS), ssthresh: Bytes(20 * MSS) };
        let above = Window { cwnd: Bytes(30 * MSS), ..below };
        validation.validate(at(0), &inputs(10, (0, 6), false));
        assert!(validation.is_whole(&below, MSS) && !validation.is_whole(&above, MSS));
        validation.validate(at(1), &inputs(10, (0, 10), true));
        assert!(validation.is_whole(&above, MSS));
        validation.validate(at(2), &inputs(10, (5, 12), false));
        assert!(validation.is_whole(&above, MSS), "of one round the most counts");
        validation.validate(at(3), &inputs(10, (10, 12), false));
        assert!(!validation.is_whole(&below, MSS));
    }
}
