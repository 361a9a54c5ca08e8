//! The sender: a pair of policies, and the mechanism that applies what they decide. What a
//! transport reports comes in here, and goes to both policies or to a rule of
//! [`crate::mechanism`].

pub use crate::config::{Config, StartupExit};

use crate::event::{Ack, Loss, Sent};
use crate::feedback::Feedback;
use crate::hint::{Learned, PathHint};
use crate::mechanism::Mechanism;
use crate::needs::{Facilities, Needs};
use crate::pacing::Pacing;
use crate::pair::{Pair, Policies};
use crate::policy::{Avoidance, Entry, Observer, Startup};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{View, Window};

/// A congestion controller: a start-up policy, an avoidance policy, and the rules both obey.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender<P> {
    mechanism: Mechanism,
    policies: P,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Sender<Pair<S, A>> {
    /// A sender for a new connection.
    pub fn new(startup: S, avoidance: A, config: Config) -> Self {
        Self::of(Pair::new(startup, avoidance), config)
    }
}

impl<P: Policies> Sender<P> {
    /// A sender for a new connection with these policies.
    pub fn of(mut policies: P, mut config: Config) -> Self {
        config.mss = config.mss.max(Bytes(1));
        let needs = policies.needs().all();
        // What routers grant, the path carries, whatever is in flight.
        let routers = Facilities::ROUTER_CHANGES | Facilities::ROUTER_SHARES;
        config.limit_growth_to_flight &= needs.common(routers).is_empty();
        let default = Window { cwnd: config.initial_window, ssthresh: config.initial_ssthresh };
        let (startup, avoidance) = policies.both();
        let mut mechanism = Mechanism::new(startup.open(default, config.mss), config);
        mechanism.view.eligible = startup.eligible();
        mechanism.view.beta = avoidance.beta();
        mechanism.enter_startup(Entry::Connect, startup);
        Self { mechanism, policies }
    }

    /// Both policies see an event that decides nothing.
    fn notify(&mut self, now: Instant, event: impl Fn(&mut dyn Observer, &View)) {
        self.mechanism.view.now = now;
        let (startup, avoidance) = self.policies.both();
        event(startup, &self.mechanism.view);
        event(avoidance, &self.mechanism.view);
    }

    /// The policies.
    pub fn policies(&self) -> &P {
        &self.policies
    }

    /// What the control needs of its transport.
    pub fn needs(&self) -> Needs {
        self.policies.needs()
    }

    /// The rate the start-up wants of the path's routers, if it asks for one.
    pub fn asks(&self) -> Option<Rate> {
        self.policies.startup().asks()
    }

    /// The ACK to be reported next brings back what the routers report.
    #[cold]
    pub fn on_feedback(&mut self, now: Instant, feedback: &Feedback) {
        self.notify(now, |policy, view| policy.on_feedback(feedback, view));
    }

    /// Something is known of the path. Before the first data only, later it has no effect; after
    /// [`Sender::on_handshake`] if there was one.
    pub fn on_hint(&mut self, now: Instant, hint: &PathHint) {
        self.mechanism.view.now = now;
        if self.mechanism.view.sent == Bytes(0) {
            let (startup, _) = self.policies.both();
            let step = startup.inform(hint, &self.mechanism.view);
            self.mechanism.set_pace(None);
            self.mechanism.apply_unprompted(step);
        }
    }

    /// The handshake finished: an RTT sample before any data.
    pub fn on_handshake(&mut self, now: Instant, rtt: Span) {
        self.mechanism.view.rtt.observe(rtt);
        self.notify(now, |policy, view| policy.on_handshake(view));
    }

    /// The first data is about to leave; all that can be known before has been reported. Later it
    /// has no effect.
    pub fn begin(&mut self, now: Instant) {
        self.mechanism.view.now = now;
        if self.mechanism.view.sent == Bytes(0) {
            self.notify(now, |policy, view| policy.on_begin(view));
            let (startup, _) = self.policies.both();
            let step = startup.begin(&self.mechanism.view);
            self.mechanism.apply_unprompted(step);
        }
    }

    /// Data left.
    #[inline(always)]
    pub fn on_sent(&mut self, sent: &Sent) {
        self.mechanism.count_sent(sent);
    }

    /// An ACK arrived.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.policies.on_ack(&mut self.mechanism, ack);
    }

    /// An ACK arrived for `acked` of new data, with a sample of the RTT, and says nothing else: as
    /// [`Sender::on_ack`] with all of it credited and SND.NXT where it was.
    #[inline(always)]
    pub fn on_new_data(&mut self, now: Instant, acked: Bytes, rtt: Span, in_flight: Bytes) {
        self.policies.on_new_data(&mut self.mechanism, now, acked, rtt, in_flight);
    }

    /// New data is acknowledged on a transport that never sends a packet again (QUIC), perhaps
    /// without an RTT sample: [`Sender::on_ack`] with SND.NXT ahead of what is acknowledged by
    /// `in_flight`.
    #[inline(always)]
    pub fn on_packet_acked(
        &mut self,
        now: Instant,
        acked: Bytes,
        rtt: Option<Span>,
        in_flight: Bytes,
    ) {
        self.policies.on_packet_acked(&mut self.mechanism, now, acked, rtt, in_flight);
    }

    /// Data was found lost; every loss is reported. Returns whether the window was cut: once for
    /// all that was in flight when it was cut last (RFC 6582 section 3.2, RFC 3168 section 6.1.2),
    /// but for every timeout.
    #[cold]
    pub fn on_loss(&mut self, loss: &Loss) -> bool {
        self.mechanism.on_loss(loss, &mut self.policies)
    }

    /// When the last loss or mark was answered that began a recovery period of its own (RFC 9002
    /// section 7.3.2).
    pub fn recovery_began(&self) -> Option<Instant> {
        self.mechanism.cut_at()
    }

    /// [`Sender::recovery_began`], if the window was reduced then.
    pub fn reduced_at(&self) -> Option<Instant> {
        self.mechanism.reduced_at()
    }

    /// Data leaves again after the source had none for `idle` and all was acknowledged, or has not
    /// used its window for long. `window` is what the transport leaves of it (RFC 5681 section 4.1,
    /// RFC 7661), if it changes it: below ssthresh, slow start begins again. A control that decides
    /// its window on every ACK, losses or not ([`Avoidance::goes_on`]), keeps it.
    #[cold]
    pub fn on_rest(&mut self, now: Instant, idle: Span, window: Option<Window>) {
        self.mechanism.view.now = now;
        if idle > Span(0) {
            self.notify(now, |policy, view| policy.on_rest(idle, view));
            self.mechanism.rested(self.policies.both().1);
        }
        let (startup, avoidance) = self.policies.both();
        if let Some(window) = window.filter(|_| !avoidance.goes_on()) {
            self.mechanism.take_back(window, startup);
        }
    }

    /// No recovery follows the loss just reported: everything unacknowledged is sent again in slow
    /// start, from one segment, as Tahoe does (Jacobson 1988) and every TCP after a timeout.
    #[cold]
    pub fn on_restart(&mut self) {
        let (startup, _) = self.policies.both();
        self.mechanism.restart(startup);
    }

    /// Recovery is over. `cwnd` is the window it leaves, where the recovery algorithm has a say in
    /// it (RFC 6582 section 3.2, full and partial acknowledgements) and no policy has.
    pub fn on_recovered(&mut self, cwnd: Option<Bytes>) {
        let cwnd = cwnd.filter(|_| !self.policy_sets_recovery_window());
        let (startup, avoidance) = self.policies.both();
        self.mechanism.end_recovery(startup, avoidance);
        if let Some(cwnd) = cwnd {
            self.mechanism.set_cwnd(cwnd);
        }
    }

    /// The transport sets the window by a rule of its own that is no answer to an ACK or a loss and
    /// ends no recovery. A policy that sets the window of this recovery keeps it.
    pub fn set_window(&mut self, cwnd: Bytes) {
        if !self.policy_sets_recovery_window() {
            self.mechanism.set_cwnd(cwnd);
        }
    }

    /// A policy sets the window during this recovery ([`crate::policy::Answer::Land`],
    /// [`crate::policy::Answer::Ignore`], [`Avoidance::goes_on`]): the recovery repairs within it
    /// and does not reduce what is sent any further.
    pub fn policy_sets_recovery_window(&self) -> bool {
        self.mechanism.policy_is_in_charge()
    }

    /// The loss of the last cut was spurious: the window and both policies return to their state
    /// before the cut. Of timeouts in a row, all are undone.
    pub fn on_spurious_loss(&mut self) {
        self.mechanism.undo(&mut self.policies);
    }

    /// When start-up wants to be woken, if it does.
    pub fn wake_at(&self) -> Option<Instant> {
        self.mechanism.wake
    }

    /// The time of [`Sender::wake_at`] has come.
    #[cold]
    pub fn on_wake(&mut self, now: Instant) {
        self.mechanism.set_wake(None);
        self.mechanism.view.now = now;
        if self.mechanism.startup_decides() {
            let (startup, avoidance) = self.policies.both();
            self.mechanism.wake_startup(startup, avoidance);
        }
    }

    /// Whether the ACK just reported repeats a packet ([`Startup::repeats`]), on a transport that
    /// provides [`Facilities::REPEATS`].
    pub fn repeats(&self) -> bool {
        self.mechanism.startup_decides() && self.policies.startup().repeats(self.view())
    }

    /// What this connection has learned of its path so far, to be handed to the next one by
    /// [`Sender::on_hint`] with its age; `None` before the first RTT sample. The RTTs of a control
    /// that reads no times are those of its start-up.
    pub fn learned(&self) -> Option<Learned> {
        self.mechanism.learned(self.policies.startup().found(self.view()).rate)
    }

    /// Whether a hint that the connection was given proved wrong.
    pub fn refutes_hint(&self) -> bool {
        self.policies.startup().refutes_hint()
    }

    /// The largest segment payload changed.
    pub fn set_mss(&mut self, mss: Bytes) {
        let Mechanism { view, config, .. } = &mut self.mechanism;
        config.mss = mss.max(Bytes(1));
        view.mss = config.mss;
        let cwnd = view.window.cwnd;
        self.mechanism.set_cwnd(cwnd);
    }

    /// What the policies see.
    #[inline(always)]
    pub fn view(&self) -> &View {
        &self.mechanism.view
    }

    /// Congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.mechanism.view.window.cwnd
    }

    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub fn ssthresh(&self) -> Bytes {
        self.mechanism.view.window.ssthresh
    }

    /// Whether nothing happens between ACKs: packets are not paced, and start-up waits for no
    /// wake-up, so that the transport needs no timer for either.
    #[inline(always)]
    pub fn acts_on_acks_only(&self) -> bool {
        !self.mechanism.timed
    }

    /// How to pace the next packet; `None` sends as the window allows.
    #[inline]
    pub fn pacing(&self) -> Option<Pacing> {
        self.mechanism.pacing()
    }

    /// Whether [`Sender::pacing`] says how to pace the next packet, without the cost of how.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.mechanism.is_paced()
    }

    /// The earliest time at which [`Sender::pacing`] lets a packet leave; `None` if packets are not
    /// paced. Cheaper than [`Sender::pacing`], because it computes no rate.
    #[inline]
    pub fn paced_from(&self) -> Option<Instant> {
        self.mechanism.paced_from()
    }

    /// The rate and the burst of [`Sender::pacing`], without the rest.
    #[inline]
    pub fn rate_and_burst(&self) -> Option<(Rate, Bytes)> {
        self.mechanism.rate_and_burst()
    }

    /// Where no policy sets a pacing, it is Linux's: none before a policy has set one, and then 2
    /// windows per RTT below half of ssthresh and 1.2 above (`tcp_update_pacing_rate`). A control
    /// that needs the pacer's timer ([`Facilities::PACED_WAKE_UPS`]) has it for that time only:
    /// where it sets no pacing, nothing is paced.
    pub fn pace_as_linux(&mut self) {
        let returns = self.needs().all().has(Facilities::PACED_WAKE_UPS);
        self.mechanism.pace_as_linux(!returns);
    }

    /// The endpoint reports the window as the flight of a loss ([`crate::event::Loss::flight`]), as
    /// Linux and QUIC do (RFC 9002 section 7.3.2): so a mark halves the window too.
    pub fn marks_cut_window(&mut self) {
        self.mechanism.cuts_window = true;
    }

    /// The endpoint has a pacer of its own, or no longer has one: it spreads packets at so many
    /// hundredths of a window per RTT in start-up, whatever [`Sender::pacing`] says; 0 for none.
    /// Policies see it as [`View::paced`].
    pub fn endpoint_paces(&mut self, percent: u16) {
        self.mechanism.set_own_pacer(percent);
    }

    /// The receiver holds ACKs back for so long at most, as QUIC's says (`max_ack_delay`, RFC 9000
    /// section 18.2). Policies see it as [`View::max_ack_delay`].
    pub fn receiver_holds_acks(&mut self, most: Span) {
        self.mechanism.view.max_ack_delay = most;
    }

    /// The rate of which Linux makes the size of a burst (`sk_pacing_rate`): that of
    /// [`Sender::pacing`], or what Linux's would be; without an RTT the largest.
    pub fn rate_for_bursts(&self) -> Rate {
        self.mechanism.rate_for_bursts()
    }

    /// `bytes` of payload left at the rate of [`Sender::pacing`].
    pub fn on_paced(&mut self, bytes: Bytes) {
        self.mechanism.count_paced(bytes);
    }

    /// How the first start-up ended, once it has.
    pub fn first_exit(&self) -> Option<StartupExit> {
        self.mechanism.first_exit
    }

    /// How often start-up began again because the avoidance policy asked for it.
    pub fn reprobes(&self) -> u64 {
        self.mechanism.reprobes
    }

    /// Reports the internal quantities of both policies.
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.policies.startup().gauges(report);
        self.policies.avoidance().gauges(report);
    }
}
