//! Calls from C become the core's events. Nothing is decided here. A call that contradicts earlier
//! ones is refused and changes nothing.

use firstflight_core::config::StartupExit;
use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::{self, LossKind};
use firstflight_core::frame::{Frame, MAX_ACK_DELAY, Period, Reports};
use firstflight_core::hint::{self, PathHint};
use firstflight_core::needs::Facilities;
use firstflight_core::pair;
use firstflight_core::sender::{self, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{View, Window};

use crate::abi::*;
use crate::translate::{common, cumulative, own_sample};

/// What a call answers in Rust.
pub type Answer = Result<(), Error>;

/// A sender of the core's, and what a stack in C leaves to the adapter: delivery-rate samples, ACK
/// frames of QUIC, and the order of the calls.
#[derive(Clone, Debug)]
pub struct Adapter<P> {
    /// One of [`stage`].
    pub(crate) stage: u32,
    halves_window: bool,
    /// The control reads delivery-rate samples or the state in which packets left.
    samples: bool,
    sender: Sender<P>,
    sampler: Sampler,
    /// The last recovery period.
    period: Period<Instant>,
    /// What the ACK frame that the stack is reporting acknowledges so far.
    frame: Frame,
}

/// Which calls are due. Memory without a sender holds none of these numbers, so that one comparison
/// tells both.
pub(crate) mod stage {
    /// Hints and the handshake may be reported.
    pub(crate) const MADE: u32 = 0x6669_7200;
    /// Data may leave, and be acknowledged.
    pub(crate) const BEGUN: u32 = MADE + 1;
    /// The packets of an ACK frame are being reported.
    pub(crate) const IN_FRAME: u32 = MADE + 2;

    /// Whether it is one of them.
    #[inline(always)]
    pub(crate) const fn is_one(stage: u32) -> bool {
        stage & !3 == MADE
    }
}

/// What a configuration declares; `None` if that has no meaning here.
pub(crate) fn provides(config: &Config) -> Option<Facilities> {
    let provides = Facilities::from_bits(config.provides)?;
    CARRIES.has(provides).then_some(provides)
}

impl Config {
    /// The configuration makes sense.
    ///
    /// # Errors
    /// Another version of the header, or a field without meaning.
    pub fn check(&self) -> Answer {
        if self.abi != FIRSTFLIGHT_ABI {
            return Err(Error::Abi);
        }
        let sound = provides(self).is_some()
            && self.rules & !ALL_RULES == 0
            && u16::try_from(self.own_pacer).is_ok()
            && (1..=MOST_MSS).contains(&self.mss);
        if sound { Ok(()) } else { Err(Error::Config) }
    }

    fn has(&self, rule: u32) -> bool {
        self.rules & rule != 0
    }
}

impl<P: pair::Policies> Adapter<P> {
    /// A sender for a new connection, of policies that run on a stack of this configuration.
    pub fn new(policies: P, config: &Config) -> Self {
        let settings = sender::Config {
            mss: Bytes(config.mss),
            initial_window: Bytes(config.initial_window),
            initial_ssthresh: Bytes(config.initial_ssthresh),
            max_cwnd: Bytes(config.max_cwnd),
            limit_growth_to_flight: config.has(FIRSTFLIGHT_LIMITS_GROWTH),
            segment_per_ack: config.has(FIRSTFLIGHT_SEGMENT_PER_ACK),
            paces: config.has(FIRSTFLIGHT_PACES),
        };
        let mut sender = Sender::of(policies, settings);
        if config.has(FIRSTFLIGHT_PACES_AS_LINUX) {
            sender.pace_as_linux();
        }
        let halves_window = config.has(FIRSTFLIGHT_HALVES_WINDOW);
        if halves_window {
            sender.marks_cut_window();
        }
        if let Ok(percent @ 1..) = u16::try_from(config.own_pacer) {
            sender.endpoint_paces(percent);
        }
        let read = Facilities::RATES | Facilities::PACKETS;
        let samples = !sender.needs().all().common(read).is_empty();
        let (sampler, period, frame) = (Sampler::default(), Period::NONE, Frame::default());
        Self { stage: stage::MADE, halves_window, samples, sender, sampler, period, frame }
    }

    /// The core's sender.
    pub fn sender(&self) -> &Sender<P> {
        &self.sender
    }

    #[inline(always)]
    fn view(&self) -> &View {
        self.sender.view()
    }

    /// The event is not older than the last, and comes at this stage.
    #[inline(always)]
    fn at(&self, now: u64, stage: u32) -> Answer {
        match self.stage == stage {
            true if now >= self.view().now.0 => Ok(()),
            true => refused(Error::Time),
            false => refused(Error::Order),
        }
    }

    /// Something is known of the path before data leaves.
    ///
    /// # Errors
    /// Data may leave already, the time goes back, or an RTT is zero.
    pub fn on_hint(&mut self, now: u64, kind: u32, learned: &Learned) -> Answer {
        self.at(now, stage::MADE)?;
        if learned.rtt == 0 || learned.min_rtt == 0 {
            return Err(Error::Number);
        }
        let learned = hint::Learned {
            window: Window { cwnd: Bytes(learned.cwnd), ssthresh: Bytes(learned.ssthresh) },
            rtt: Span(learned.rtt),
            min_rtt: Span(learned.min_rtt),
            delivered: Bytes(learned.delivered),
            per_round: Bytes(learned.per_round),
            rate: Some(Rate(learned.rate)).filter(|rate| rate.0 > 0),
            age: Span(learned.age),
        };
        let hint = match kind {
            FIRSTFLIGHT_OWN => PathHint::Own(learned),
            FIRSTFLIGHT_SHARED => PathHint::Shared(learned),
            _ => return Err(Error::Number),
        };
        self.sender.on_hint(Instant(now), &hint);
        Ok(())
    }

    /// The handshake ended, before any data.
    ///
    /// # Errors
    /// Data may leave already, the time goes back, or the RTT is zero.
    pub fn on_handshake(&mut self, now: u64, rtt: u64) -> Answer {
        self.at(now, stage::MADE)?;
        if rtt == 0 {
            return Err(Error::Number);
        }
        self.sender.on_handshake(Instant(now), Span(rtt));
        Ok(())
    }

    /// Data may leave from now on.
    ///
    /// # Errors
    /// Data may leave already, or the time goes back.
    pub fn begin(&mut self, now: u64) -> Answer {
        self.at(now, stage::MADE)?;
        self.stage = stage::BEGUN;
        self.sender.begin(Instant(now));
        Ok(())
    }

    /// Data leaves. `packet` becomes the state in which it leaves.
    ///
    /// # Errors
    /// Data may not leave yet, the time goes back, or more is in flight than was ever sent.
    #[inline(always)]
    pub fn on_sent(&mut self, sent: &Sent, packet: Option<&mut Packet>) -> Answer {
        self.at(sent.now, stage::BEGUN)?;
        let Some(all) = self.view().sent.0.checked_add(sent.bytes) else {
            return refused(Error::Number);
        };
        if sent.in_flight > all || sent.in_flight < sent.bytes {
            return refused(Error::Number);
        }
        if self.samples || packet.is_some() {
            return self.note_departure(sent, packet);
        }
        if !self.sender.acts_on_acks_only() {
            return self.on_paced(sent);
        }
        self.sender.on_sent(&sent.event());
        Ok(())
    }

    /// A packet leaves that a policy may pace. This and the next are functions of their own, so
    /// that the path of most packets saves no registers.
    #[inline(never)]
    fn on_paced(&mut self, sent: &Sent) -> Answer {
        self.sender.on_sent(&sent.event());
        self.sender.on_paced(Bytes(sent.bytes));
        Ok(())
    }

    /// A packet leaves whose state is kept.
    #[inline(never)]
    fn note_departure(&mut self, sent: &Sent, packet: Option<&mut Packet>) -> Answer {
        let event = sent.event();
        self.sender.on_sent(&event);
        if !self.sender.acts_on_acks_only() {
            self.sender.on_paced(event.bytes);
        }
        let state = match self.samples {
            true => self
                .sampler
                .on_sent(event.now, event.in_flight, sent.bytes == sent.in_flight)
                .into(),
            false => Packet { sent_at: sent.now, ..Packet::default() },
        };
        packet.into_iter().for_each(|packet| *packet = state);
        Ok(())
    }

    /// An ACK of TCP arrived; `packet` is what [`Ack::packet`] points to.
    ///
    /// # Errors
    /// Data may not leave yet, the time goes back, or more is acknowledged or in flight than was
    /// ever sent.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack, packet: Option<&Packet>) -> Answer {
        self.at(ack.now, stage::BEGUN)?;
        let view = self.view();
        let (acked, in_flight, all) = (Bytes(ack.acked), Bytes(ack.in_flight), view.sent);
        // These lines keep `acked` and `delivered` at most `sent`, so that nothing wraps.
        let left = |before: Bytes| all.0.wrapping_sub(before.0);
        let impossible = ack.acked > left(view.acked) || ack.credited > left(view.delivered);
        if impossible || in_flight > all {
            return refused(Error::Number);
        }
        // The usual ACK, for which the core has a shorter function.
        let plain = ack.marked | u64::from(ack.app_limited) == 0 && ack.rtt != 0 && acked.0 != 0;
        let new = ack.acked == ack.credited && ack.snd_nxt == view.snd_nxt.0;
        if plain && new && !self.samples {
            self.sender.on_new_data(Instant(ack.now), acked, Span(ack.rtt), in_flight);
            return Ok(());
        }
        self.on_any_ack(ack, packet);
        Ok(())
    }

    #[inline(never)]
    fn on_any_ack(&mut self, ack: &Ack, packet: Option<&Packet>) {
        let mut event = cumulative(ack);
        if self.samples {
            self.sample(&mut event, ack, packet);
        }
        self.sender.on_ack(&event);
    }

    /// An ACK frame of QUIC acknowledges a packet of so many bytes that left at `sent_at`.
    ///
    /// # Errors
    /// Data may not leave yet, the packet is of the future, or more is acknowledged than was sent.
    #[inline]
    pub fn on_packet_acked(&mut self, sent_at: u64, bytes: u64) -> Answer {
        if self.stage == stage::MADE {
            return Err(Error::Order);
        }
        let Frame { after, before } = &self.frame;
        let acked = after.bytes.saturating_add(before.bytes).saturating_add(bytes);
        if acked > (self.view().sent - self.view().delivered).0 {
            return Err(Error::Number);
        }
        self.stage = stage::IN_FRAME;
        match self.period.is_after(Instant(sent_at)) {
            true => self.frame.before.add(bytes),
            false => self.frame.after.add(bytes),
        }
        Ok(())
    }

    /// All packets of the frame have been reported.
    ///
    /// # Errors
    /// There were none, the time goes back, a field is not zero that must be, or more is
    /// in flight than can be. The packets are then forgotten, because the stack has reported them.
    #[inline]
    pub fn on_frame(&mut self, ack: &Ack, packet: Option<&Packet>) -> Answer {
        let in_time = self.at(ack.now, stage::IN_FRAME);
        if in_time == Err(Error::Order) {
            return in_time;
        }
        self.stage = stage::BEGUN;
        let frame = core::mem::take(&mut self.frame);
        in_time?;
        if (ack.acked, ack.credited, ack.snd_nxt) != (0, 0, 0) {
            return Err(Error::Number);
        }
        let mut event = common(ack);
        event.credited = Bytes(frame.after.bytes.saturating_add(frame.before.bytes));
        let View { sent, delivered, .. } = *self.view();
        if event.credited > sent - delivered || event.in_flight > sent {
            return Err(Error::Number);
        }
        event.snd_nxt = delivered + event.credited + event.in_flight;
        // Frames are QUIC's.
        self.sender.receiver_holds_acks(MAX_ACK_DELAY);
        if self.samples {
            self.sample(&mut event, ack, packet);
        }
        self.report_frame(&mut event, &frame);
        Ok(())
    }

    /// Adds the state of the newest packet and the sample that it makes, or that the stack took.
    #[inline(never)]
    fn sample(&mut self, event: &mut event::Ack, ack: &Ack, packet: Option<&Packet>) {
        let Some(packet) = packet else {
            self.sampler.count(event.now, event.credited);
            event.sample = (ack.sample_interval != 0).then(|| own_sample(ack));
            return;
        };
        let then = AtSending::from(*packet);
        event.packet = Some(then.departure);
        let sent_at = then.departure.sent_at;
        event.sample = self.sampler.on_delivered(event.now, event.credited, sent_at, &then);
        if event.app_limited {
            self.sampler.on_app_limited(event.in_flight);
        }
    }

    /// Data was found lost, or marks came.
    ///
    /// # Errors
    /// Data may not leave yet, the time goes back, no such kind, more is lost than was sent, or in
    /// more gaps than bytes, or nothing where something must be.
    pub fn on_loss(&mut self, loss: &Loss) -> Answer {
        self.at(loss.now, stage::BEGUN)?;
        let kind = match loss.kind {
            FIRSTFLIGHT_RECOVERY => LossKind::Recovery,
            FIRSTFLIGHT_TIMEOUT => LossKind::Timeout,
            FIRSTFLIGHT_MARK => LossKind::Mark,
            _ => return Err(Error::Number),
        };
        let sound = match kind {
            LossKind::Recovery => loss.lost > 0,
            LossKind::Timeout => true,
            LossKind::Mark => loss.lost == 0,
        };
        let left = loss.sent_at <= loss.now;
        if !sound || !left || loss.lost > self.view().sent.0 || u64::from(loss.gaps) > loss.lost {
            return Err(Error::Number);
        }
        let flight = if self.halves_window { self.sender.cwnd() } else { Bytes(loss.flight) };
        let one = event::Loss::of(Instant(loss.now), kind, Bytes(loss.lost), flight);
        let has = |flag: u32| loss.flags & flag != 0;
        let cut = self.sender.on_loss(&event::Loss {
            gaps: one.gaps.max(loss.gaps),
            again: has(FIRSTFLIGHT_AGAIN),
            answered: has(FIRSTFLIGHT_ANSWERED),
            after_timeout: has(FIRSTFLIGHT_AFTER_TIMEOUT),
            sent_at: (loss.sent_at != 0).then_some(Instant(loss.sent_at)),
            ..one
        });
        self.note_recovery(cut && !self.sender.policy_sets_recovery_window());
        Ok(())
    }

    fn note_recovery(&mut self, cut: bool) {
        self.period.note(self.sender.recovery_began(), cut);
    }

    /// TCP's recovery is over; `cwnd` is what its algorithm leaves of the window, 0 if it has no
    /// say.
    ///
    /// # Errors
    /// Data may not leave yet.
    pub fn on_recovered(&mut self, cwnd: u64) -> Answer {
        self.at(u64::MAX, stage::BEGUN)?;
        self.sender.on_recovered((cwnd != 0).then_some(Bytes(cwnd)));
        Ok(())
    }

    /// The last loss was none.
    ///
    /// # Errors
    /// Data may not leave yet.
    pub fn on_spurious_loss(&mut self) -> Answer {
        self.at(u64::MAX, stage::BEGUN)?;
        self.sender.on_spurious_loss();
        self.note_recovery(false);
        Ok(())
    }

    /// Data leaves again after a rest of `idle`; `window` is what the stack leaves of it, if it
    /// changes it.
    ///
    /// # Errors
    /// Data may not leave yet, or the time goes back.
    pub fn on_rest(&mut self, now: u64, idle: u64, window: Option<Window>) -> Answer {
        self.at(now, stage::BEGUN)?;
        self.sender.on_rest(Instant(now), Span(idle), window);
        Ok(())
    }

    /// The time of the wake-up has come.
    ///
    /// # Errors
    /// It has not, or nobody wants to be woken; data may not leave yet, or the time goes back.
    pub fn on_wake(&mut self, now: u64) -> Answer {
        self.at(now, stage::BEGUN)?;
        if self.sender.wake_at().is_none_or(|at| now < at.0) {
            return Err(Error::Order);
        }
        self.sender.on_wake(Instant(now));
        Ok(())
    }

    /// The largest payload of a packet is another from now on.
    ///
    /// # Errors
    /// No packet has that size.
    pub fn set_mss(&mut self, mss: u64) -> Answer {
        if !(1..=MOST_MSS).contains(&mss) {
            return Err(Error::Number);
        }
        self.sender.set_mss(Bytes(mss));
        Ok(())
    }

    /// How packets leave.
    pub fn pacing(&self) -> Pacing {
        let Some(pacing) = self.sender.pacing() else { return Pacing::default() };
        let (first_bytes, first_rate) = pacing.first.unwrap_or_default();
        Pacing {
            rate: pacing.rate.0,
            burst: pacing.burst.0,
            first_bytes: first_bytes.0,
            first_rate: first_rate.0,
            not_before: pacing.not_before.unwrap_or_default().0,
        }
    }

    /// What the next connection may be given.
    pub fn learned(&self) -> Option<Learned> {
        self.sender.learned().map(|learned| Learned {
            cwnd: learned.window.cwnd.0,
            ssthresh: learned.window.ssthresh.0,
            rtt: learned.rtt.0,
            min_rtt: learned.min_rtt.0,
            delivered: learned.delivered.0,
            per_round: learned.per_round.0,
            rate: learned.rate.unwrap_or_default().0,
            age: learned.age.0,
        })
    }

    /// How the first start-up ended, once it has.
    pub fn exit(&self) -> Option<StartupExit> {
        self.sender.first_exit()
    }
}

impl<P: pair::Policies> Reports<Instant> for Adapter<P> {
    type Policies = P;

    fn sender(&mut self) -> &mut Sender<P> {
        &mut self.sender
    }

    fn period(&mut self) -> &mut Period<Instant> {
        &mut self.period
    }

    /// Marks are reported with the first packet, and may begin a period (RFC 9002 appendix B.7).
    #[inline]
    fn report(&mut self, ack: &event::Ack) {
        if ack.marked == Bytes(0) {
            return self.sender.on_ack(ack);
        }
        if ack.continues {
            return self.sender.on_ack(&event::Ack { marked: Bytes(0), ..*ack });
        }
        let before = self.sender.recovery_began();
        self.sender.on_ack(ack);
        if self.sender.recovery_began() != before {
            let reduced = self.sender.reduced_at().is_some();
            self.note_recovery(reduced && !self.sender.policy_sets_recovery_window());
        }
    }
}

/// The answer of a call that is refused. `#[cold]` and `black_box` keep the compiler from mixing
/// this path with that of calls that are accepted.
#[cold]
#[inline(never)]
fn refused(error: Error) -> Answer {
    Err(core::hint::black_box(error))
}

/// No link carries larger packets.
const MOST_MSS: u64 = 1 << 32;
