//! The rules of every ACK, written once: what it counts for, floor and cap of the window, growth
//! only as far as the flight justifies, the phases, and who decides when.

mod timing;

use crate::event::{Ack, Sent};
use crate::hint::Learned;
use crate::pacing::Pacing;
use crate::policy::{Avoidance, Entry, Exit, Startup, Step};
use crate::sender::{Config, StartupExit};
use crate::units::{Bytes, Instant, Span};
use crate::view::{Paced, Phase, Rtt, View, Window};

/// A sender without its policies. Every call passes both policies in.
///
/// The fields stand in this order in memory. Those that every ACK touches come last, next to the
/// policies in [`Sender`](crate::sender::Sender), because a simulation of many connections pays for
/// every cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Mechanism {
    pub(crate) first_exit: Option<StartupExit>,
    pub(crate) reprobes: u64,
    /// What had been delivered when this round began, and what was in each of the two before it.
    round_began_with: Bytes,
    last_rounds: [Bytes; 2],
    /// The pacing that a policy set; with `None` the default holds.
    pub(crate) pace: Option<Pacing>,
    pub(crate) wake: Option<Instant>,
    pub(crate) repair: Repair,
    pub(crate) config: Config,
    /// Whether packets are paced at the default rate where no policy sets a pacing.
    paces: bool,
    /// The rate of a pacer of the endpoint's own ([`Paced::ByEndpoint`]); 0 without one.
    own_pacer: u16,
    /// The default rate is Linux's ([`Mechanism::pace_as_linux`]).
    by_linux: bool,
    /// Once a policy has set a pacing rate, packets are paced until the connection ends: at the
    /// default rate whenever the policy sets none.
    stays_paced: bool,
    /// Whether something happens between ACKs: packets are paced, or start-up waits for a wake-up.
    timed: bool,
    pub(crate) round_end: Bytes,
    /// The largest flight since the last cut.
    pub(crate) max_flight: Bytes,
    pub(crate) view: View,
}

/// Who decides while lost data is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    /// The transport; the window has been cut.
    Transport,
    /// Start-up, until the recovery ends or everything below this is acknowledged
    /// ([`crate::policy::Answer::Land`]).
    Landing(Bytes),
    /// The policy in charge, which goes on afterwards ([`crate::policy::Answer::Ignore`],
    /// [`crate::policy::Avoidance::goes_on`]).
    Ignored,
}

impl Mechanism {
    /// The mechanism of a connection that begins with the window `first`.
    pub(crate) fn new(first: Window, config: Config) -> Self {
        let window = Window { cwnd: first.cwnd.clamp(config.mss, config.max_cwnd), ..first };
        let view = View {
            now: Instant(0),
            window,
            mss: config.mss,
            rtt: Rtt::UNKNOWN,
            in_flight: Bytes(0),
            acked: Bytes(0),
            snd_nxt: Bytes(0),
            sent: Bytes(0),
            delivered: Bytes(0),
            phase: Phase::Startup,
            eligible: None,
            paced: Paced::No,
            recovering: false,
            beta: 0,
            round: 0,
            round_start: false,
        };
        let mut mechanism = Self {
            view,
            config,
            pace: None,
            paces: config.paces,
            own_pacer: 0,
            by_linux: false,
            stays_paced: false,
            timed: config.paces,
            round_end: Bytes(0),
            round_began_with: Bytes(0),
            last_rounds: [Bytes(0); 2],
            max_flight: window.cwnd,
            repair: Repair::Transport,
            wake: None,
            first_exit: None,
            reprobes: 0,
        };
        mechanism.note_paced();
        mechanism
    }

    /// What the policies see.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Counts data that left.
    #[inline(always)]
    pub(crate) fn count_sent(&mut self, sent: &Sent) {
        self.view.now = sent.now;
        self.view.in_flight = sent.in_flight;
        self.view.sent += sent.bytes;
        if !sent.again {
            self.view.snd_nxt += sent.bytes;
        }
    }

    /// `bytes` left under the pacing in force. They are subtracted from the bytes that leave first
    /// at another rate ([`Pacing::first`]).
    #[inline]
    pub(crate) fn count_paced(&mut self, bytes: Bytes) {
        let Some(Pacing { first, .. }) = &mut self.pace else { return };
        if let Some((left, _)) = first {
            *left -= bytes;
            if *left == Bytes(0) {
                *first = None;
            }
        }
    }

    /// Counts what an ACK tells, before the policies see it.
    #[inline(always)]
    pub(crate) fn count_ack(&mut self, ack: &Ack) {
        let view = &mut self.view;
        view.now = ack.now;
        view.in_flight = ack.in_flight;
        view.snd_nxt = ack.snd_nxt;
        view.acked += ack.acked;
        view.delivered += ack.credited;
        if let Some(sample) = ack.rtt {
            view.rtt.observe(sample);
        }
        view.round_start = false;
        // RFC 9406 section 4.2: `round_end` is SND.NXT of then, the first byte not yet sent.
        if view.acked > self.round_end {
            self.begin_round(ack.acked);
        }
        let flight = ack.in_flight + ack.credited.max(ack.acked);
        if flight > self.max_flight {
            self.max_flight = flight;
        }
    }

    /// Begins a new round if the ACK is for new data, some of which left after the last began.
    #[cold]
    fn begin_round(&mut self, acked: Bytes) {
        if acked > Bytes(0) {
            self.view.round_start = true;
            self.view.round += 1;
            self.round_end = self.view.snd_nxt;
            let delivered = self.view.delivered;
            self.last_rounds = [delivered - self.round_began_with, self.last_rounds[0]];
            self.round_began_with = delivered;
        }
    }

    /// See [`crate::sender::Sender::learned`].
    pub(crate) fn learned(&self) -> Option<Learned> {
        let View { window, rtt, delivered, .. } = self.view;
        (rtt.smoothed > Span(0)).then(|| Learned {
            window,
            rtt: rtt.smoothed,
            min_rtt: rtt.min.max(Span(1)),
            delivered,
            per_round: self.last_rounds[0]
                .max(self.last_rounds[1])
                .max(delivered - self.round_began_with),
            age: Span(0),
        })
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
        if self.view.recovering {
            if self.repair != Repair::Transport {
                self.decide_in_recovery(ack, startup, avoidance);
            }
            return;
        }
        if ack.acked == Bytes(0) {
            return;
        }
        let before = self.view.window.cwnd;
        if self.view.phase == Phase::Startup {
            let step = startup.step(ack, &self.view);
            self.apply(step, ack, self.max_flight * startup.growth());
            let Some(why) = step.exit else { return };
            self.leave_startup(why, before.max(self.view.window.cwnd), startup, avoidance);
            if step.window.cwnd != before {
                return;
            }
        }
        let step = avoidance.step(ack, &self.view);
        let mut justified = self.max_flight + self.view.mss;
        if step.window.cwnd > justified {
            justified = self.justified_after_startup(avoidance);
        }
        self.apply(step, ack, justified);
        if avoidance.wants_reprobe() {
            self.reprobes += 1;
            self.enter_startup(Entry::Reprobe, startup);
        }
    }

    #[inline(never)]
    fn justified_after_startup(&self, avoidance: &impl Avoidance) -> Bytes {
        self.max_flight * avoidance.growth() + self.view.mss
    }

    /// During a recovery only a policy that stayed in charge decides. The flight does not limit a
    /// landing: it answers a loss.
    #[inline(never)]
    fn decide_in_recovery(
        &mut self,
        ack: &Ack,
        startup: &mut impl Startup,
        avoidance: &mut impl Avoidance,
    ) {
        if self.view.phase == Phase::Avoidance {
            let step = avoidance.recovering(ack, &self.view);
            return self.apply(step, ack, self.justified_after_startup(avoidance));
        }
        let before = self.view.window.cwnd;
        let step = startup.recovering(ack, &self.view);
        if self.repair == Repair::Ignored {
            self.apply(step, ack, self.max_flight * startup.growth());
        } else {
            self.apply(step, &Ack { app_limited: false, ..*ack }, Bytes::MAX);
        }
        if let Some(why) = step.exit {
            self.leave_startup(why, before.max(self.view.window.cwnd), startup, avoidance);
        } else if matches!(self.repair, Repair::Landing(end) if self.view.acked >= end) {
            self.end_recovery(startup, avoidance);
        }
    }

    /// The repair is over: a start-up that was landing ends, with ssthresh where it landed.
    pub(crate) fn end_recovery(
        &mut self,
        startup: &mut impl Startup,
        avoidance: &mut impl Avoidance,
    ) {
        self.view.recovering = false;
        if matches!(self.repair, Repair::Landing(_)) {
            let landed = startup.landed(&self.view);
            self.set_cwnd(landed);
            let cwnd = self.view.window.cwnd;
            self.view.window.ssthresh = cwnd.max(self.view.mss * MIN_SSTHRESH_SEGMENTS);
            self.leave_startup(Exit::Loss, cwnd, startup, avoidance);
        }
        self.repair = Repair::Transport;
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
            let limit = match (self.config.limit_growth_to_flight, ack.app_limited) {
                (true, _) => justified,
                (false, true) => Bytes(0),
                (false, false) => Bytes::MAX,
            };
            self.view.window.cwnd = cwnd.min(limit).min(self.config.max_cwnd).max(old);
        } else if cwnd < old {
            self.view.window.cwnd = cwnd.max(self.config.mss);
        }
        self.view.window.ssthresh = ssthresh;
        if self.timed || step.pace.is_some() || step.wake.is_some() {
            // Not the whole step, which would then be in memory on every ACK.
            let pace = if step.keeps_pace { step.pace.or(self.pace) } else { step.pace };
            self.apply_timing(pace, step.wake);
        }
    }

    #[inline(never)]
    fn apply_timing(&mut self, pace: Option<Pacing>, wake: Option<Instant>) {
        self.set_pace(pace);
        if wake.is_some() {
            self.set_wake(wake);
        }
    }

    /// Does what start-up has decided when it was woken: as on an ACK, but pacing stays if it says
    /// nothing of it, and the window does not grow while the transport repairs what was lost.
    pub(crate) fn apply_woken(&mut self, step: Step, growth: u64) {
        let app_limited = self.view.recovering && self.repair == Repair::Transport;
        let justified = match self.repair {
            Repair::Landing(_) => Bytes::MAX,
            _ if app_limited => Bytes(0),
            _ => self.max_flight * growth,
        };
        self.apply(step.keep_pace(), &Ack { app_limited, ..Ack::default() }, justified);
    }

    /// Does what start-up has decided before the first data.
    pub(crate) fn apply_unprompted(&mut self, step: Step) {
        self.set_cwnd(step.window.cwnd);
        self.view.window.ssthresh = step.window.ssthresh;
        if step.pace.is_some() {
            self.set_pace(step.pace);
        }
        if step.wake.is_some() {
            self.set_wake(step.wake);
        }
    }

    pub(crate) fn set_cwnd(&mut self, cwnd: Bytes) {
        self.view.window.cwnd = cwnd.clamp(self.config.mss, self.config.max_cwnd);
    }

    #[cold]
    pub(crate) fn enter_startup(&mut self, why: Entry, startup: &mut impl Startup) {
        self.view.phase = Phase::Startup;
        self.set_wake(None);
        startup.enter(why, &self.view);
    }

    /// A connection that start-up paced to its end stays paced. A recovery that start-up ignored is
    /// ignored by an avoidance that ignores all. Where start-up was landing for a mark, nothing is
    /// repaired, so that nothing but its end ends the recovery.
    #[cold]
    pub(crate) fn leave_startup(
        &mut self,
        why: Exit,
        cwnd: Bytes,
        startup: &impl Startup,
        avoidance: &mut impl Avoidance,
    ) {
        self.note_exit(why, cwnd);
        let repair = core::mem::replace(&mut self.repair, Repair::Transport);
        if repair == Repair::Ignored && avoidance.goes_on() {
            self.repair = repair;
        }
        if matches!(repair, Repair::Landing(end) if end != Bytes::MAX) {
            self.view.recovering = false;
        }
        self.view.phase = Phase::Avoidance;
        self.paces |= self.pace.is_some();
        self.note_paced();
        self.set_wake(None);
        avoidance.enter(&startup.found(&self.view), &self.view);
    }

    /// Keeps how the first start-up ended.
    pub(crate) fn note_exit(&mut self, why: Exit, cwnd: Bytes) {
        let (at, in_flight) = (self.view.now, self.view.in_flight);
        self.first_exit.get_or_insert(StartupExit { at, why, cwnd, in_flight });
    }
}

/// No loss leaves an ssthresh below two segments (RFC 5681 section 3.1, equation 4).
pub(crate) const MIN_SSTHRESH_SEGMENTS: u64 = 2;
