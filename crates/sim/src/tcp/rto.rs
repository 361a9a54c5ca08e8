//! The retransmission timer: RFC 6298's, or that of a system ([`Timer`]).

pub(crate) mod deviation;
mod ticks;

use firstflight_core::units::{Instant, Span};
use firstflight_core::view::Rtt;

use crate::endpoint::Recovery;
use crate::endpoint::rules::{RtoRules, Timer};
use crate::jiffies;
use deviation::Deviation;
use ticks::Ticks;

/// The timer of one connection. What it takes from the connection's RTT it works out when it is
/// asked, because most deadlines only move away and are never asked for.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Rto {
    /// 1 ns after the earliest time at which the timer can fire, whatever the RTT is; `off` while
    /// it is off.
    behind_earliest: Instant,
    /// 1 ns more than the smallest timeout: this long before `behind_earliest` the timer was
    /// started last.
    least: Span,
    /// The end of time; 0 with a repair that has timers of its own, which may fire at any time, so
    /// that [`Rto::no_deadline_before`] must say no.
    off: Instant,
    /// What the endpoint fixes.
    rules: RtoRules,
    /// By how much the timeout is multiplied.
    backoff: u64,
    /// Samples of its own, where the connection's RTT lacks one that RFC 6298 would take.
    own: Option<Box<Rtt>>,
    /// Linux's, of the first rounds of a long path.
    deviation: Option<Box<Deviation>>,
    /// The clock of ns-2's timer.
    ticks: Ticks,
}

impl Rto {
    /// The timer of a connection whose losses are repaired so.
    pub(crate) fn new(rules: RtoRules, recovery: Recovery) -> Self {
        let repair_wakes = matches!(recovery, Recovery::Rack | Recovery::Quic);
        let least = match rules.timer {
            _ if repair_wakes => Span(0),
            // It counts from the tick before.
            Timer::Linux | Timer::Quic => Span(rules.min.0.saturating_sub(jiffies::TICK.0)),
            Timer::Rfc6298 | Timer::Ns2 { .. } => rules.min,
        };
        let least = least.min(rules.max).min(LONGEST) + Span(1);
        let off = if repair_wakes { Instant(0) } else { Instant(u64::MAX) };
        let ticks = Ticks::new(rules.initial);
        Self {
            rules,
            behind_earliest: off,
            off,
            least,
            backoff: 1,
            own: None,
            deviation: None,
            ticks,
        }
    }

    /// Whether it is ns-2's timer, which ticks and times one segment at once.
    #[inline]
    pub(super) fn ticks(&self) -> bool {
        self.rules.timer.ticks()
    }

    /// Whether the timer runs.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.behind_earliest != Instant(0) && self.behind_earliest != Instant(u64::MAX)
    }

    /// When the timer fires, for a connection whose RTT is `rtt`.
    pub(crate) fn deadline(&self, rtt: &Rtt) -> Option<Instant> {
        let timeout = if self.rules.timer.ticks() { self.ticks.timeout } else { self.timeout(rtt) };
        let started = self.started()?;
        Some(match self.rules.timer.is_linuxs() {
            true => jiffies::fires_at(started, timeout),
            false => started + timeout,
        })
    }

    /// When the timer was started last, if it runs.
    pub(crate) fn started(&self) -> Option<Instant> {
        self.is_on().then(|| Instant(self.behind_earliest.0 - self.least.0))
    }

    /// Whether neither this timer nor a timer of the loss recovery can fire before `at`; may say no
    /// although it is so, as all that ask this may.
    pub(crate) fn no_deadline_before(&self, at: Instant) -> bool {
        at < self.behind_earliest
    }

    /// The earliest that the timer or a probe of a sender that repairs nothing may fire.
    #[inline]
    pub(crate) fn first_deadline(&self, smoothed: Span) -> Instant {
        let Some(started) = self.started().filter(|_| self.backoff == 1) else { return Instant(0) };
        let probe = self.first_after(started, smoothed);
        let earliest = Instant(self.behind_earliest.0 - 1);
        if self.rules.timer.is_linuxs() { probe } else { probe.min(earliest) }
    }

    /// [`Rto::no_deadline_before`] where the least timeout is of the variation and nothing is
    /// amiss: the earliest that can fire is a probe after two RTTs, or the timer itself.
    #[inline]
    pub(crate) fn no_deadline_before_while_calm(&self, at: Instant, rtt: &Rtt) -> bool {
        let smoothed = rtt.smoothed;
        let started = Instant(self.behind_earliest.0.saturating_sub(self.least.0) + 1);
        self.rules.timer.is_linuxs()
            && self.backoff == 1
            && at < self.first_after(started, smoothed)
    }

    /// The earliest that a timer started at `started` can fire: a probe after two RTTs, or the
    /// timeout, either counted from the tick before.
    #[inline]
    fn first_after(&self, started: Instant, smoothed: Span) -> Instant {
        let after = (smoothed + smoothed.min(self.rules.min)).min(self.rules.max);
        Instant((started + after).0.saturating_sub(jiffies::TICK.0))
    }

    /// An RTT sample, or a restart, changes nothing but the time from which the timer counts, if it
    /// does not tick.
    pub(crate) fn is_calm(&self) -> bool {
        self.own.is_none() && self.deviation.is_none() && self.backoff == 1
    }

    /// A segment left for the first time.
    #[inline]
    pub(crate) fn on_sent(&mut self, seq: u32, now: Instant) {
        let ticks = &mut self.ticks;
        if self.rules.timer.ticks() && ticks.timed.is_none() && seq >= ticks.timed_up_to {
            ticks.timed = Some((seq, now));
            ticks.timed_up_to = seq + 1;
        }
    }

    /// Segments below `una` are acknowledged; `sample` is the RTT of the newest.
    #[inline]
    pub(crate) fn on_acked(&mut self, una: u32, now: Instant, sample: Option<Span>) {
        if self.rules.progress_ends_backoff && self.is_measured() {
            self.backoff = 1;
        }
        if self.rules.timer.ticks() {
            if let Some((_, since)) = self.ticks.timed.take_if(|(seq, _)| *seq < una) {
                self.backoff = 1;
                self.ticks.observe(&self.rules, since, now);
            }
        } else if let Some(sample) = sample {
            self.backoff = 1;
            if let Some(own) = &mut self.own {
                own.observe(sample);
            }
        }
    }

    /// The connection's first RTT sample, where Linux counts how it deviates. SND.NXT is `nxt`.
    pub(crate) fn begin_deviation(&mut self, sample: Span, nxt: u32) {
        let first = Deviation::first(sample, nxt, self.rules.min);
        self.deviation = first.filter(|_| self.rules.timer == Timer::Linux).map(Box::new);
    }

    /// A later one, by an ACK for all below `una`.
    #[inline]
    pub(crate) fn note_deviation(&mut self, sample: Option<Span>, una: u32, nxt: u32) {
        let least = self.rules.min;
        if let (Some(deviation), Some(sample)) = (&mut self.deviation, sample)
            && !deviation.observe(sample, (una, nxt), least)
        {
            self.deviation = None;
        }
    }

    /// The SYN that was answered had been sent again: no sample (Karn), and where the first timeout
    /// was too short for the path, a longer one for data (RFC 6298 section 5.7; Linux'
    /// `TCP_TIMEOUT_FALLBACK`).
    pub(crate) fn fall_back(&mut self) {
        if !self.rules.timer.ticks() {
            self.rules.initial = self.rules.initial.max(FALLBACK);
            self.backoff = 1;
        }
    }

    /// Whether there was a sample, of a timer that has had to do without.
    fn is_measured(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.first != Span(0))
    }

    /// The first sample is one that the connection's RTT does not take.
    pub(crate) fn keep_own(&mut self) {
        self.own = Some(Box::new(Rtt::UNKNOWN));
    }

    /// Segments below `una` are acknowledged by a partial ACK, which ns-2 does not sample.
    pub(crate) fn on_partially_acked(&mut self, una: u32) {
        let timed =
            self.rules.timer.ticks() && self.ticks.timed.take_if(|(seq, _)| *seq < una).is_some();
        if timed || self.rules.progress_ends_backoff && self.is_measured() {
            self.backoff = 1;
        }
    }

    /// Starts the timer, or starts it again.
    #[inline]
    pub(crate) fn restart(&mut self, now: Instant) {
        self.restart_calm(now);
        if self.rules.timer.ticks() {
            self.ticks.timeout = self.backed_off(self.ticks.base);
        }
    }

    /// Starts the timer again where [`Rto::is_calm`]: only the time from which it counts changes.
    pub(crate) fn restart_calm(&mut self, now: Instant) {
        self.behind_earliest = Instant(now.0 + self.least.0);
    }

    /// Progress: the next timeout is not backed off.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 1;
    }

    pub(crate) fn cancel(&mut self) {
        self.behind_earliest = self.off;
    }

    /// What was being timed has been retransmitted (Karn).
    pub(crate) fn forget_timed(&mut self) {
        self.ticks.timed = None;
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self, rtt: &Rtt) {
        if self.rules.progress_ends_backoff && self.own.is_none() && rtt.first == Span(0) {
            self.keep_own();
        }
        if self.backoff < 64 || self.timeout(rtt) < self.rules.max {
            self.backoff *= 2;
        }
        if self.rules.timer.ticks() && self.backoff > 8 {
            // ns-2.35 distrusts its estimate after four timeouts and keeps it as variation only.
            self.ticks.variation += self.ticks.smoothed >> 3;
            self.ticks.smoothed = 0;
        }
    }

    /// The timeout as it would be now (RFC 6298 section 2).
    pub(crate) fn timeout(&self, rtt: &Rtt) -> Span {
        if self.rules.timer.ticks() {
            return self.backed_off(self.ticks.base);
        }
        let rtt = self.own.as_deref().unwrap_or(rtt);
        if rtt.first == Span(0) {
            return self.backed_off(self.rules.initial);
        }
        let least = match self.rules.timer.is_linuxs() {
            true => self.rules.min,
            false => self.rules.granularity,
        };
        let counted = self.deviation.as_ref().map(|deviation| deviation.counts);
        let variation = counted.unwrap_or(rtt.variation * 4);
        self.backed_off(rtt.smoothed + variation.max(least))
    }

    fn backed_off(&self, base: Span) -> Span {
        let base = base.max(self.rules.min);
        (base * self.backoff).min(self.rules.max).max(self.rules.granularity * 2)
    }
}

/// RFC 6298 section 5.7.
const FALLBACK: Span = Span::from_secs(3);

/// A year: a timer that counts from a time of the run and is longer never fires in it.
const LONGEST: Span = Span::from_secs(365 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    /// An RTT of 100 ms gives the smallest timeout of a second; two timeouts make it four.
    fn timeout_after_an_ack_of_a_retransmission(progress_ends_backoff: bool) -> Span {
        let span = Span::from_millis(100);
        let rtt = Rtt { latest: span, smoothed: span, variation: span / 2, min: span, first: span };
        let mut rto =
            Rto::new(RtoRules { progress_ends_backoff, ..RtoRules::RFC }, Recovery::NewReno);
        rto.back_off(&rtt);
        rto.back_off(&rtt);
        rto.on_acked(2, Instant(200_000_000), None);
        rto.timeout(&rtt)
    }

    #[test]
    fn without_an_rtt_sample_only_progress_with_timestamps_ends_the_backoff() {
        assert_eq!(timeout_after_an_ack_of_a_retransmission(false), Span::from_secs(4));
        assert_eq!(timeout_after_an_ack_of_a_retransmission(true), Span::from_secs(1));
    }

    #[test]
    fn a_first_timeout_too_short_for_the_path_stays_backed_off_until_there_is_a_sample() {
        let rules = RtoRules { progress_ends_backoff: true, ..RtoRules::RFC };
        let mut rto = Rto::new(rules, Recovery::NewReno);
        rto.back_off(&Rtt::UNKNOWN);
        rto.on_acked(2, Instant(1_200_000_000), None);
        assert_eq!(rto.timeout(&Rtt::UNKNOWN), Span::from_secs(2));
        rto.on_acked(3, Instant(2_400_000_000), Some(Span::from_millis(1_200)));
        assert_eq!(rto.timeout(&Rtt::UNKNOWN), Span::from_millis(3_600), "1.2 + 4 x 0.6 s");
    }

    #[test]
    fn the_smallest_timeout_is_linuxs_least_of_what_is_added_to_the_rtt() {
        let span = Span::from_millis(100);
        let rtt =
            Rtt { latest: span, smoothed: span, variation: span / 10, min: span, first: span };
        for (timer, timeout) in [(Timer::Rfc6298, 200), (Timer::Linux, 300)] {
            let min = Span::from_millis(200);
            let rto = Rto::new(RtoRules { min, timer, ..RtoRules::RFC }, Recovery::NewReno);
            assert_eq!(rto.timeout(&rtt), Span::from_millis(timeout));
        }
    }

    /// A path whose RTT is longer than the longest timeout: the timer fires before an ACK can come.
    #[test]
    fn no_timer_fires_before_the_first_that_can() {
        let span = Span::from_millis(300);
        let rtt = Rtt { latest: span, smoothed: span, variation: span / 2, min: span, first: span };
        for max in [200, 400, 60_000].map(Span::from_millis) {
            let rules = RtoRules { max, timer: Timer::Linux, ..RtoRules::RFC };
            let mut rto = Rto::new(rules, Recovery::Rack);
            rto.restart(Instant(1_000_000_000));
            let (first, deadline) = (rto.first_deadline(span), rto.deadline(&rtt).unwrap());
            assert!(first <= deadline, "{max:?}: {first:?}, {deadline:?}");
            assert!(!rto.no_deadline_before_while_calm(Instant(deadline.0 + 1), &rtt), "{max:?}");
        }
    }

    #[test]
    fn after_a_repeated_syn_data_have_three_seconds() {
        let mut rto = Rto::new(RtoRules::RFC, Recovery::NewReno);
        rto.back_off(&Rtt::UNKNOWN);
        rto.fall_back();
        assert_eq!(rto.timeout(&Rtt::UNKNOWN), Span::from_secs(3));
    }
}
