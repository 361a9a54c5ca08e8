//! The rules of every ACK, written once: what it counts for, floor and cap of the window, growth
//! only as far as the flight justifies, the phases, and who decides when.

use crate::event::{Ack, Sent};
use crate::policy::{Avoidance, Entry, Exit, Startup, Step};
use crate::sender::{Config, StartupExit};
use crate::units::{Bytes, Instant, Rate};
use crate::view::{Phase, Rtt, View, Window};

/// A sender without its policies. Every event hands it both.
#[derive(Clone, Debug)]
pub struct Mechanism {
    pub(crate) view: View,
    pub(crate) config: Config,
    pub(crate) pace: Option<Rate>,
    pub(crate) round_end: Bytes,
    pub(crate) max_flight: Bytes,
    pub(crate) first_exit: Option<StartupExit>,
    pub(crate) reprobes: u64,
}

impl Mechanism {
    /// Of a connection that begins with the window `first`.
    pub(crate) fn new(first: Window, eligible: Option<Rate>, config: Config) -> Self {
        let window = Window { cwnd: first.cwnd.clamp(config.mss, config.max_cwnd), ..first };
        let view = View {
            now: Instant(0),
            window,
            mss: config.mss,
            rtt: Rtt::UNKNOWN,
            in_flight: Bytes(0),
            acked: Bytes(0),
            sent: Bytes(0),
            delivered: Bytes(0),
            phase: Phase::Startup,
            eligible,
            recovering: false,
            round: 0,
            round_start: false,
        };
        Self {
            view,
            config,
            pace: None,
            round_end: Bytes(0),
            max_flight: window.cwnd,
            first_exit: None,
            reprobes: 0,
        }
    }

    /// Counts what left.
    #[inline(always)]
    pub(crate) fn count_sent(&mut self, sent: &Sent) {
        self.view.now = sent.now;
        self.view.in_flight = sent.in_flight;
        self.view.sent += sent.bytes;
    }

    /// Counts what an ACK tells, before anybody hears of it.
    #[inline(always)]
    pub(crate) fn count_ack(&mut self, ack: &Ack) {
        let view = &mut self.view;
        view.now = ack.now;
        view.in_flight = ack.in_flight;
        view.sent = ack.sent;
        view.acked += ack.acked;
        view.delivered += ack.credited;
        if let Some(sample) = ack.rtt {
            view.rtt.observe(sample);
        }
        view.round_start = false;
        if view.acked >= self.round_end {
            self.begin_round(ack.acked);
        }
        let flight = ack.in_flight + ack.credited.max(ack.acked);
        if flight > self.max_flight {
            self.max_flight = flight;
        }
    }

    /// The last data of a round is acknowledged, if the ACK is for new data at all.
    #[cold]
    fn begin_round(&mut self, acked: Bytes) {
        if acked > Bytes(0) {
            self.view.round_start = true;
            self.view.round += 1;
            self.round_end = self.view.sent;
        }
    }

    /// Tells both policies of an ACK that has been counted; the one in charge decides.
    #[inline(always)]
    pub(crate) fn pass_on(
        &mut self,
        ack: &Ack,
        startup: &mut impl Startup,
        avoidance: &mut impl Avoidance,
    ) {
        startup.on_ack(ack, &self.view);
        avoidance.on_ack(ack, &self.view);
        self.decide(ack, startup, avoidance);
    }

    /// The policy in charge decides on an ACK.
    #[inline(always)]
    pub(crate) fn decide(
        &mut self,
        ack: &Ack,
        startup: &mut impl Startup,
        avoidance: &mut impl Avoidance,
    ) {
        if ack.acked == Bytes(0) || self.view.recovering {
            return;
        }
        let before = self.view.window.cwnd;
        if self.view.phase == Phase::Startup {
            let step = startup.step(ack, &self.view);
            self.apply(step, ack, self.max_flight + self.max_flight);
            let Some(why) = step.exit else { return };
            self.leave_startup(why, before.max(self.view.window.cwnd), avoidance);
            if step.window.cwnd != before {
                return;
            }
        }
        let step = avoidance.step(ack, &self.view);
        self.apply(step, ack, self.max_flight + self.view.mss);
        if avoidance.wants_reprobe() {
            self.reprobes += 1;
            self.enter_startup(Entry::Reprobe, startup);
        }
    }

    /// Does what a policy has decided on an ACK. The window grows as far as `justified` by the
    /// flight, if that counts.
    #[inline(always)]
    fn apply(&mut self, step: Step, ack: &Ack, justified: Bytes) {
        // Number by number: a copy of several at once would wait until each of them has been
        // written. The old window is within its bounds.
        let old = self.view.window.cwnd;
        let Window { cwnd, ssthresh } = step.window;
        if cwnd > old {
            let limit = if self.config.limit_growth_to_flight { justified } else { Bytes::MAX };
            let limit = if ack.app_limited { Bytes(0) } else { limit };
            self.view.window.cwnd = cwnd.min(limit).min(self.config.max_cwnd).max(old);
        } else if cwnd < old {
            self.view.window.cwnd = cwnd.max(self.config.mss);
        }
        self.view.window.ssthresh = ssthresh;
        if step.pace.is_some() || self.pace.is_some() {
            self.pace = step.pace;
        }
    }

    pub(crate) fn set_cwnd(&mut self, cwnd: Bytes) {
        self.view.window.cwnd = cwnd.clamp(self.config.mss, self.config.max_cwnd);
    }

    #[cold]
    pub(crate) fn enter_startup(&mut self, why: Entry, startup: &mut impl Startup) {
        self.view.phase = Phase::Startup;
        startup.enter(why, &self.view);
    }

    #[cold]
    pub(crate) fn leave_startup(&mut self, why: Exit, cwnd: Bytes, avoidance: &mut impl Avoidance) {
        self.view.phase = Phase::Avoidance;
        let (at, in_flight) = (self.view.now, self.view.in_flight);
        self.first_exit.get_or_insert(StartupExit { at, why, cwnd, in_flight });
        avoidance.enter(&self.view);
    }
}
