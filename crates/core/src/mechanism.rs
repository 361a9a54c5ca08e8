//! The rules of every ACK, written once: what it counts for, floor and cap of the window, growth
//! only as far as the flight justifies, the phases, and who decides when.

mod loss;
mod recovery;
mod timing;

use crate::config::{Config, StartupExit};
use crate::event::{Ack, Sent};
use crate::hint::Learned;
use crate::pacing::Pacing;
use crate::policy::{Avoidance, Entry, Exit, Pace, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Phase, View, Window};
use loss::Losses;
use recovery::InCharge;

/// A sender without its policies. Every call passes both policies in.
///
/// The fields stand in this order in memory. Those that every ACK touches come last, next to the
/// policies in [`Sender`](crate::sender::Sender), because a simulation of many connections pays for
/// every cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Mechanism {
    losses: Losses,
    pub(crate) first_exit: Option<StartupExit>,
    pub(crate) reprobes: u64,
    /// What had been delivered when this round began.
    round_began_with: Bytes,
    /// What was delivered in each of the two rounds before it.
    last_rounds: [Bytes; 2],
    /// The pacing that a policy set; with `None` the default holds.
    pub(crate) pace: Option<Pacing>,
    /// When the start-up asked to be woken.
    pub(crate) wake: Option<Instant>,
    /// Which policy decides.
    in_charge: InCharge,
    /// What the endpoint fixes.
    pub(crate) config: Config,
    /// Whether packets are paced at the default rate where no policy sets a pacing.
    paces: bool,
    /// The rate of a pacer of the endpoint's own ([`crate::view::Paced::ByEndpoint`]);
    /// 0 without one.
    own_pacer: u16,
    /// The default rate is Linux's ([`Mechanism::pace_as_linux`]).
    by_linux: bool,
    /// Once a policy has set a pacing rate, packets are paced until the connection ends: at the
    /// default rate whenever the policy sets none.
    stays_paced: bool,
    /// A mark halves the window and not the flight, as a loss does here.
    pub(crate) cuts_window: bool,
    /// Whether something happens between ACKs: packets are paced, or start-up waits for a wake-up.
    pub(crate) timed: bool,
    /// The round ends when more than this is acknowledged.
    pub(crate) round_end: Bytes,
    /// The largest flight since the last cut.
    pub(crate) max_flight: Bytes,
    /// What policies see.
    pub(crate) view: View,
}

impl Mechanism {
    /// The mechanism of a connection that begins with the window `first`.
    pub(crate) fn new(first: Window, config: Config) -> Self {
        let window = Window { cwnd: first.cwnd.min(config.max_cwnd).max(config.mss), ..first };
        let view =
            View { segment_per_ack: config.segment_per_ack, ..View::new(window, config.mss) };
        let mut mechanism = Self {
            view,
            config,
            pace: None,
            paces: config.paces,
            own_pacer: 0,
            by_linux: false,
            stays_paced: false,
            cuts_window: false,
            timed: config.paces,
            round_end: Bytes(0),
            round_began_with: Bytes(0),
            last_rounds: [Bytes(0); 2],
            max_flight: window.cwnd,
            losses: Losses::NONE,
            in_charge: InCharge::Transport,
            wake: None,
            first_exit: None,
            reprobes: 0,
        };
        mechanism.note_paced();
        mechanism
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

    /// Counts what an ACK reports, before the policies see it.
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
        // FlightSize (RFC 5681 section 2) as it was before the ACK.
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
    pub(crate) fn learned(&self, rate: Option<Rate>) -> Option<Learned> {
        let View { window, rtt, delivered, .. } = self.view;
        (rtt.smoothed > Span(0)).then(|| Learned {
            window,
            rtt: rtt.smoothed,
            min_rtt: rtt.min.max(Span(1)),
            delivered,
            per_round: self.last_rounds[0]
                .max(self.last_rounds[1])
                .max(delivered - self.round_began_with),
            rate,
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
        // RFC 5681 section 3.2: the recovery sets what is sent, not the rules of growth.
        if self.view.recovering {
            if self.policy_is_in_charge() {
                // A copy, here and below, so that the ACK need be in memory in these places only.
                self.decide_in_recovery(*ack, startup, avoidance);
            }
            return;
        }
        // RFC 5681 section 3.1: only an ACK for new data opens the window.
        if ack.acked == Bytes(0) {
            return;
        }
        if self.view.phase == Phase::Startup {
            let ended = if self.view.plain_slow_start {
                self.grow_plainly(*ack, startup, avoidance)
            } else {
                let step = startup.step(ack, &self.view);
                let justified = self.justified_in_startup(startup);
                self.do_startup_step(step, ack, justified, startup, avoidance)
            };
            if !ended {
                return;
            }
        }
        let step = avoidance.step(ack, &self.view);
        // draft-ietf-ccwg-ratelimited-increase-10: in avoidance a segment more than the flight.
        let mut justified = Some(self.max_flight + self.view.mss);
        if ack.app_limited || Some(step.window.cwnd) > justified {
            justified = self.justified_after_startup(avoidance);
        }
        self.apply(step, ack, justified);
        if avoidance.wants_reprobe() {
            self.reprobes += 1;
            self.enter_startup(Entry::Reprobe, startup);
        }
    }

    /// Slow start decides in the place of a start-up that was for the first one only.
    #[cold]
    fn grow_plainly(
        &mut self,
        ack: Ack,
        startup: &impl Startup,
        avoidance: &mut impl Avoidance,
    ) -> bool {
        let (step, justified) = (double(&ack, &self.view), Some(self.max_flight * 2));
        self.do_startup_step(step, &ack, justified, startup, avoidance)
    }

    /// Does what start-up has decided on an ACK. Whether it ends there with the window as it was,
    /// so that the avoidance decides on the same ACK.
    #[inline(always)]
    fn do_startup_step(
        &mut self,
        step: Step,
        ack: &Ack,
        justified: Option<Bytes>,
        startup: &impl Startup,
        avoidance: &mut impl Avoidance,
    ) -> bool {
        let before = self.view.window.cwnd;
        self.apply(step, ack, justified);
        let Some(why) = step.exit else { return false };
        self.leave_startup(why, before.max(self.view.window.cwnd), startup, avoidance);
        step.window.cwnd == before
    }

    /// How far the flight lets the window grow in start-up; `None` where it has no say.
    #[inline(always)]
    fn justified_in_startup(&self, startup: &(impl Startup + ?Sized)) -> Option<Bytes> {
        (!startup.follows_model()).then(|| self.max_flight * startup.growth())
    }

    #[inline(never)]
    fn justified_after_startup(&self, avoidance: &(impl Avoidance + ?Sized)) -> Option<Bytes> {
        (!avoidance.follows_model()).then(|| self.max_flight * avoidance.growth() + self.view.mss)
    }

    /// Does what a policy has decided on an ACK. The window grows as far as `justified` by the
    /// flight, if that counts.
    #[inline(always)]
    fn apply(&mut self, step: Step, ack: &Ack, justified: Option<Bytes>) {
        // Number by number: a copy of several at once would wait until each of them has been
        // written. The old window is within its bounds.
        let old = self.view.window.cwnd;
        let Window { cwnd, ssthresh } = step.window;
        if cwnd > old {
            // draft-ietf-ccwg-ratelimited-increase-10; or RFC 9002 section 7.8: no growth while the
            // source leaves the window unused.
            let limit = match (justified, self.config.limit_growth_to_flight, ack.app_limited) {
                (Some(flight), true, _) => flight,
                (Some(_), false, true) => Bytes(0),
                (None, ..) | (Some(_), false, false) => Bytes::MAX,
            };
            self.view.window.cwnd = cwnd.min(limit).min(self.config.max_cwnd).max(old);
        } else if cwnd < old {
            // RFC 5681 section 3.1: no window is below the loss window, one segment.
            self.view.window.cwnd = cwnd.max(self.config.mss);
        }
        self.view.window.ssthresh = ssthresh;
        if self.timed || matches!(step.pace, Pace::Set(_)) || step.wake.is_some() {
            // Not the whole step, which would then be in memory on every ACK.
            self.apply_timing(step.pace.after(&self.pace), step.wake);
        }
    }

    #[inline(never)]
    fn apply_timing(&mut self, pace: Option<Pacing>, wake: Option<Instant>) {
        self.set_pace(pace);
        if wake.is_some() {
            self.set_wake(wake);
        }
    }

    /// Wakes start-up and does what it decides; but the window does not grow while the transport
    /// repairs what was lost.
    pub(crate) fn wake_startup(
        &mut self,
        startup: &mut dyn Startup,
        avoidance: &mut dyn Avoidance,
    ) {
        let before = self.view.window.cwnd;
        let step = startup.on_wake(&self.view);
        let app_limited = self.view.recovering && self.in_charge == InCharge::Transport;
        let justified = match self.in_charge {
            InCharge::Landing(_) => None,
            _ if app_limited => Some(Bytes(0)),
            _ => self.justified_in_startup(startup),
        };
        self.apply(step, &Ack { app_limited, ..Ack::default() }, justified);
        if let Some(why) = step.exit {
            self.leave_startup(why, before.max(self.view.window.cwnd), startup, avoidance);
        }
    }

    /// Does what start-up has decided before the first data.
    pub(crate) fn apply_unprompted(&mut self, step: Step) {
        self.set_cwnd(step.window.cwnd);
        self.view.window.ssthresh = step.window.ssthresh;
        self.apply_timing(step.pace.after(&self.pace), step.wake);
        self.max_flight = self.view.window.cwnd;
    }

    /// Does what the avoidance decides as data leaves after a rest.
    pub(crate) fn rested(&mut self, avoidance: &mut dyn Avoidance) {
        if self.view.phase == Phase::Avoidance && !self.view.recovering {
            let step = avoidance.rested(&self.view);
            self.apply(step, &Ack::default(), None);
        }
    }

    /// The transport takes back what an idle source has left unused of the window (RFC 5681 section
    /// 4.1, RFC 7661 section 4.4). Below ssthresh the window grows by slow start again.
    pub(crate) fn take_back(&mut self, window: Window, startup: &mut dyn Startup) {
        self.set_cwnd(window.cwnd);
        self.view.window.ssthresh = window.ssthresh;
        let below = self.view.window.cwnd < window.ssthresh;
        if below && self.view.phase == Phase::Avoidance && !self.view.recovering {
            self.enter_startup(Entry::Rest, startup);
        }
    }

    /// One segment at least, and no more than the receiver can take (RFC 5681 section 3.1).
    pub(crate) fn set_cwnd(&mut self, cwnd: Bytes) {
        self.view.window.cwnd = cwnd.min(self.config.max_cwnd).max(self.config.mss);
    }

    #[cold]
    pub(crate) fn enter_startup(&mut self, why: Entry, startup: &mut (impl Startup + ?Sized)) {
        self.view.phase = Phase::Startup;
        self.view.plain_slow_start = why != Entry::Connect && startup.once();
        self.set_wake(None);
        startup.enter(why, &self.view);
    }

    /// Avoidance takes over. A connection that start-up paced to its end stays paced.
    #[cold]
    pub(crate) fn leave_startup(
        &mut self,
        why: Exit,
        cwnd: Bytes,
        startup: &(impl Startup + ?Sized),
        avoidance: &mut (impl Avoidance + ?Sized),
    ) {
        self.note_exit(why, cwnd);
        self.hand_recovery_on(avoidance.goes_on());
        self.view.phase = Phase::Avoidance;
        self.paces |= self.pace.is_some();
        self.note_paced();
        self.set_wake(None);
        avoidance.enter(&startup.found(&self.view), &self.view);
    }

    /// Whether the start-up is asked what to do, and not slow start in its place.
    pub(crate) fn startup_decides(&self) -> bool {
        self.view.phase == Phase::Startup && !self.view.plain_slow_start
    }

    /// Keeps how the first start-up ended.
    pub(crate) fn note_exit(&mut self, why: Exit, cwnd: Bytes) {
        let (at, in_flight) = (self.view.now, self.view.in_flight);
        self.first_exit.get_or_insert(StartupExit { at, why, cwnd, in_flight });
    }
}

/// No loss leaves an ssthresh below two segments (RFC 5681 section 3.1, equation 4).
const MIN_SSTHRESH_SEGMENTS: u64 = 2;
