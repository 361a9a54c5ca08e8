//! When a Linux receiver that delays ACKs sends them: the estimate of the time between packets, and
//! ACKs of packets out of order held back together. The functions named are those of Linux 6.1's
//! `net/ipv4`.

use std::collections::VecDeque;

use firstflight_core::units::{Instant, Span};

use crate::endpoint::rules::LinuxAcks;
use crate::jiffies::TICK;

/// The state of one connection's receiver.
#[derive(Debug)]
pub(crate) struct AckState {
    rules: LinuxAcks,
    /// The estimate of the time between packets, in ticks (`icsk_ack.ato`).
    estimate: u64,
    /// When the SYN came.
    opened_at: Option<Instant>,
    /// The RTT that the answer to the SYN showed.
    rtt: Option<Span>,
    /// ACKs that packets out of order had at once since the gap changed, and the packet that was
    /// missing then (`dup_ack_counter`, `compressed_ack_rcv_nxt`).
    at_once: (u32, u32),
    /// Packets out of order whose ACK was held back: first those of ACKs under way.
    compressed: VecDeque<u32>,
    /// How many of them the ACK that is held back is to report.
    held: u32,
}

impl AckState {
    pub(crate) fn new(rules: LinuxAcks) -> Self {
        Self {
            rules,
            estimate: LEAST,
            opened_at: None,
            rtt: None,
            at_once: (0, 0),
            compressed: VecDeque::new(),
            held: 0,
        }
    }

    /// A packet arrives, which may be the SYN or the first after it.
    pub(crate) fn note_opening(&mut self, is_syn: bool, at: Instant) {
        match (is_syn, self.opened_at) {
            (true, _) => self.opened_at = Some(at),
            (false, Some(opened_at)) if self.rtt.is_none() => self.rtt = Some(at.since(opened_at)),
            _ => {}
        }
    }

    /// The answer to the SYN is awaited, which shows the RTT.
    pub(crate) fn opens(&self) -> bool {
        self.opened_at.is_some() && self.rtt.is_none()
    }

    /// A packet comes in order this long after the one before (`tcp_event_data_recv`). Whether the
    /// sender has rested for longer than a timeout, so that the next packets are answered at once.
    pub(crate) fn note_gap(&mut self, before: Instant, at: Instant) -> bool {
        let gap = (at.0 / TICK.0).saturating_sub(before.0 / TICK.0);
        if gap <= LEAST / 2 {
            self.estimate = self.estimate / 2 + LEAST / 2;
        } else if gap < self.estimate {
            self.estimate = (self.estimate / 2 + gap).min(self.timeout());
        } else {
            return gap > self.timeout();
        }
        false
    }

    /// The timer sent an ACK that no second packet had (`tcp_delack_timer_handler`).
    pub(crate) fn note_missed(&mut self) {
        self.estimate = (self.estimate * 2).min(self.timeout());
    }

    /// Packets are no longer answered at once (`tcp_dec_quickack_mode`).
    pub(crate) fn begin_anew(&mut self) {
        self.estimate = LEAST;
    }

    /// How long an ACK is held back, where `least` is the shortest (`tcp_send_delayed_ack`).
    pub(crate) fn hold(&self, least: Span) -> Span {
        let most = self.rtt.map_or(Span(HALF_SECOND.0), |rtt| rtt.min(HALF_SECOND));
        (TICK * self.estimate).min(most.max(least)).max(least)
    }

    /// Whether the next packet may come up to half of the shortest time after this one without
    /// changing the estimate.
    pub(crate) fn is_usual(&self) -> bool {
        self.estimate == LEAST
    }

    /// The receiver's own timeout, in ticks: of the one sample that the SYN exchange gave
    /// (`tcp_rtt_estimator`).
    fn timeout(&self) -> u64 {
        let timeout = self.rtt.map_or(Span::from_secs(1), |rtt| rtt + (rtt * 2).max(LEAST_TIMEOUT));
        timeout.0.div_ceil(TICK.0)
    }

    /// Packet `seq` came out of order while `next` is missing. When the ACK that is held back for
    /// it and others is due, unless there must be one at once (`__tcp_ack_snd_check`).
    pub(crate) fn hold_back(&mut self, seq: u32, next: u32, at: Instant) -> Option<Instant> {
        let compression = self.rules.compress.filter(|_| self.held < MOST_HELD)?;
        if self.at_once.1 != next {
            self.at_once = (0, next);
        }
        if self.at_once.0 < AT_ONCE {
            self.at_once.0 += 1;
            return None;
        }
        self.held += 1;
        self.compressed.push_back(seq);
        let share = |rtt: Span| rtt.scaled(compression.rtt_percent, 100).min(LONGEST);
        Some(at + self.rtt.map_or(LONGEST, share) + compression.slack)
    }

    /// Whether an ACK is held back for packets out of order.
    pub(crate) fn holds_back(&self) -> bool {
        self.held > 0
    }

    /// An ACK leaves that packet `cause` causes. How many others it is the first to report.
    pub(crate) fn answer(&mut self, cause: u32) -> u32 {
        if self.held > 0 && self.compressed.back() == Some(&cause) {
            self.compressed.pop_back();
            self.held -= 1;
        }
        std::mem::take(&mut self.held)
    }

    /// The next of them.
    pub(crate) fn next_compressed(&mut self) -> Option<u32> {
        self.compressed.pop_front()
    }
}

/// Ticks: `TCP_ATO_MIN`.
const LEAST: u64 = 10;
const HALF_SECOND: Span = Span::from_millis(500);
/// `TCP_RTO_MIN`.
const LEAST_TIMEOUT: Span = Span::from_millis(200);
/// `TCP_FASTRETRANS_THRESH`.
const AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns`.
const MOST_HELD: u32 = 44;
const LONGEST: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::rules::Compression;

    const fn ms(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    fn state(rtt_ms: u64) -> AckState {
        state_of(Compression::UNTIL_6_18, rtt_ms)
    }

    fn state_of(compression: Compression, rtt_ms: u64) -> AckState {
        let mut state = AckState::new(LinuxAcks { compress: Some(compression) });
        state.note_opening(true, ms(0));
        state.note_opening(false, ms(rtt_ms));
        state
    }

    #[test]
    fn the_estimate_follows_gaps_and_is_bounded_by_the_rtt() {
        let (mut state, least) = (state(100), Span::from_millis(40));
        assert_eq!(state.hold(least), least);
        // 10 ticks: a gap of 9 makes it 5 + 9 = 14, one of 12 then 7 + 12 = 19, 76 ms.
        assert!(!state.note_gap(ms(0), ms(36)));
        assert_eq!(state.hold(least), Span::from_millis(56));
        state.note_gap(ms(100), ms(148));
        assert_eq!(state.hold(least), Span::from_millis(76));
        state.note_missed();
        assert_eq!(state.hold(least), Span::from_millis(100), "an RTT, not 152 ms");
        // Back to 40 ms: 38, 24, 17, 13, 11, 10 ticks.
        for _ in 0..5 {
            state.note_gap(ms(200), ms(210));
        }
        assert!(state.is_usual());
    }

    #[test]
    fn a_pause_of_more_than_a_timeout_asks_for_acks_at_once() {
        // 100 ms and the larger of 200 and 200 ms.
        assert!(!state(100).note_gap(ms(0), ms(300)));
        assert!(state(100).note_gap(ms(0), ms(304)));
    }

    #[test]
    fn three_are_answered_at_once_and_44_at_most_held() {
        let mut state = state(10);
        let due: Vec<bool> =
            (11..60).map(|seq| state.hold_back(seq, 10, ms(5)).is_some()).collect();
        assert_eq!(due.iter().filter(|held| **held).count(), 44);
        assert_eq!(due.iter().position(|held| *held), Some(3));
        assert!(!due[47] && state.holds_back());
        assert_eq!((state.answer(57), state.holds_back()), (43, false));
        assert_eq!(state.next_compressed(), Some(14));
        // Once the missing packet is another, three more; then an RTT / 20 and the slack.
        assert!((0..3).all(|seq| state.hold_back(70 + seq, 12, ms(6)).is_none()));
        assert_eq!(state.hold_back(73, 12, ms(6)), Some(ms(6) + Span::from_micros(600)));
    }

    /// A third of the RTT and 10 us, but a millisecond at most, from 3.03 ms on; before, a
    /// twentieth and 100 us, so that it was a millisecond from 20 ms on.
    #[test]
    fn since_6_19_an_ack_waits_for_a_third_of_the_rtt() {
        let waits = |compression, rtt_ms| {
            let mut state = state_of(compression, rtt_ms);
            let due: Vec<_> = (11..15).map(|seq| state.hold_back(seq, 10, ms(5))).collect();
            due[3].unwrap().since(ms(5)).0 / 1_000
        };
        let both =
            |rtt_ms| [Compression::UNTIL_6_18, Compression::SINCE_6_19].map(|it| waits(it, rtt_ms));
        assert_eq!([1, 2, 3].map(both), [[150, 340], [200, 670], [250, 1_000]]);
        assert_eq!([4, 20, 100].map(both), [[300, 1_010], [1_100, 1_010], [1_100, 1_010]]);
    }
}
