//! What happens between ACKs: how packets are paced, and by whom, and when start-up is woken.

use super::Mechanism;
use crate::pacing::{Pacing, rate_of_linux};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Paced, Phase, View};

impl Mechanism {
    /// How packets are to be paced now: as a policy set it, or at the transport's default rate if
    /// the endpoint paces: `2 cwnd/srtt` in start-up, `1.25 cwnd/srtt` after it. `None` sends as
    /// the window allows. The rate is the one of the next packet.
    #[inline]
    pub fn pacing(&self) -> Option<Pacing> {
        if self.timed { self.pacing_in_force() } else { None }
    }

    /// Whether [`Mechanism::pacing`] says how.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.pace.is_some() || self.is_paced_by_default()
    }

    #[inline]
    fn is_paced_by_default(&self) -> bool {
        self.paces && self.view.rtt.smoothed > Span(0)
    }

    /// See [`crate::sender::Sender::paced_from`].
    #[inline]
    pub(crate) fn paced_from(&self) -> Option<Instant> {
        match &self.pace {
            Some(pacing) => Some(pacing.not_before.unwrap_or(Instant(0))),
            None => self.is_paced_by_default().then_some(Instant(0)),
        }
    }

    /// Sets the pacing from now on; `None` leaves it to the default. No bytes at another rate first
    /// are no rate for the next packet.
    #[cold]
    pub(crate) fn set_pace(&mut self, mut pace: Option<Pacing>) {
        if let Some(Pacing { first: first @ Some((Bytes(0), _)), .. }) = &mut pace {
            *first = None;
        }
        let changes = pace.is_some() != self.pace.is_some();
        self.pace = pace;
        if changes {
            self.note_paced();
        }
        self.note_timing();
    }

    /// A policy has begun to pace, or ceased; or the endpoint does otherwise.
    pub(super) fn note_paced(&mut self) {
        self.paces |= self.stays_paced && self.pace.is_some();
        let by_core = if self.paces { STARTUP_QUARTERS as u16 * 25 } else { 0 };
        self.view.paced = match (self.own_pacer.max(by_core), self.pace) {
            (0, None) => Paced::No,
            (0, Some(_)) => Paced::ByPolicy,
            (percent, _) => Paced::ByEndpoint(percent),
        };
    }

    /// See [`crate::sender::Sender::endpoint_paces`].
    pub(crate) fn set_own_pacer(&mut self, percent: u16) {
        self.own_pacer = percent;
        self.note_paced();
    }

    /// See [`crate::sender::Sender::pace_as_linux`].
    pub(crate) fn pace_as_linux(&mut self, stays_paced: bool) {
        (self.by_linux, self.stays_paced) = (true, stays_paced);
        self.note_paced();
        self.note_timing();
    }

    /// Sets when start-up is to be woken; `None` for never.
    #[cold]
    pub(crate) fn set_wake(&mut self, wake: Option<Instant>) {
        self.wake = wake;
        self.note_timing();
    }

    pub(super) fn note_timing(&mut self) {
        self.timed = self.pace.is_some() || self.paces || self.wake.is_some();
    }

    fn pacing_in_force(&self) -> Option<Pacing> {
        let (rate, _) = self.rate_and_burst()?;
        Some(self.pace.map_or(Pacing::at(rate), |pacing| Pacing { rate, ..pacing }))
    }

    /// See [`crate::sender::Sender::rate_and_burst`].
    #[inline]
    pub(crate) fn rate_and_burst(&self) -> Option<(Rate, Bytes)> {
        match &self.pace {
            // The last packet of the first ones takes its time at the pace of what follows.
            Some(Pacing { first: Some((left, rate)), burst, .. }) if *left > self.view.mss => {
                Some((*rate, *burst))
            }
            Some(Pacing { rate, burst, .. }) => Some((*rate, *burst)),
            None => self.is_paced_by_default().then(|| (self.default_rate(), Bytes(0))),
        }
    }

    /// The rate of the default pacing, where there is an RTT.
    #[inline(never)]
    fn default_rate(&self) -> Rate {
        if self.by_linux {
            return self.rate_of_linux();
        }
        let View { rtt, window, phase, .. } = &self.view;
        let quarters = if *phase == Phase::Startup { STARTUP_QUARTERS } else { LATER_QUARTERS };
        window.cwnd.per(rtt.smoothed).scaled(quarters, 4).max(Rate(1))
    }

    /// See [`crate::sender::Sender::rate_for_bursts`].
    pub(crate) fn rate_for_bursts(&self) -> Rate {
        self.pacing().map_or_else(|| self.rate_of_linux(), |pacing| pacing.rate)
    }

    /// `tcp_update_pacing_rate`: the window, or what is outstanding if that is more, per RTT.
    fn rate_of_linux(&self) -> Rate {
        let View { window, snd_nxt, acked, .. } = &self.view;
        rate_of_linux(window.cwnd.max(*snd_nxt - *acked), &self.view).max(Rate(1))
    }
}

/// Default pacing in start-up, in quarters of a window per RTT: twice the window, so that it can
/// double (Linux `tcp_pacing_ss_ratio`).
const STARTUP_QUARTERS: u64 = 8;

/// Default pacing after it, likewise: a quarter more than the window (RFC 9002 section 7.7).
const LATER_QUARTERS: u64 = 5;
