//! What every policy and estimator may read. Only the sender writes it.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Rate, Span};

/// The two numbers congestion control is about. Policies read it and return a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; [`Bytes::MAX`] until something sets it.
    pub ssthresh: Bytes,
}

/// Round-trip times of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// The newest sample; zero before the first.
    pub latest: Span,
    /// Smoothed as in RFC 6298 section 2 (gain 1/8), without a timer's granularity.
    pub smoothed: Span,
    /// Mean deviation as in RFC 6298 section 2 (gain 1/4).
    pub variation: Span,
    /// The smallest sample; [`Span::MAX`] before the first.
    pub min: Span,
    /// The first sample, of the handshake or of the first segment; zero before it.
    pub first: Span,
}

/// A rate that an estimator believes the path has for the connection, and the clock by which that
/// estimator knows RTTmin, so that whoever uses the rate finds the same window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eligible {
    /// The rate.
    pub rate: Rate,
    /// RTTmin is known in whole ticks of this clock; zero for exactly.
    pub tick: Span,
}

impl Eligible {
    /// The estimate of an estimator that knows RTTmin exactly.
    pub const fn exact(rate: Rate) -> Self {
        Self { rate, tick: Span(0) }
    }

    /// The window that the path has room for: the rate times RTTmin, as the estimator knows it.
    pub const fn window(self, rtt_min: Span) -> Bytes {
        self.rate.over(rtt_min.in_ticks(self.tick))
    }
}

/// Which of the two policies decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The start-up policy.
    Startup,
    /// The avoidance policy.
    Avoidance,
}

/// Who spreads packets over the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paced {
    /// Nobody: packets leave as the window allows.
    #[default]
    No,
    /// The endpoint, whatever the policies ask for. The number is its rate in start-up, in
    /// hundredths of a window per RTT: 200 for the core's default and Linux, 125 for quinn, which
    /// sends in bursts.
    ByEndpoint(u16),
    /// A policy of the control has set a rate or a time for them
    /// ([`Step::pace`](crate::policy::Step::pace)), and the endpoint would not pace.
    ByPolicy,
}

/// Everything a policy or an estimator may read.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Time of the event being processed.
    pub now: Instant,
    /// Window as it stands.
    pub window: Window,
    /// Largest payload of one segment.
    pub mss: Bytes,
    /// Round-trip times.
    pub rtt: Rtt,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Payload acknowledged cumulatively since the connection began (SND.UNA as an offset).
    pub acked: Bytes,
    /// The position of the next new payload (SND.NXT as an offset); it may fall back, as
    /// [`crate::event::Ack::snd_nxt`] does.
    pub snd_nxt: Bytes,
    /// Payload sent since the connection began, retransmissions included. It never falls.
    pub sent: Bytes,
    /// Payload delivered since the connection began, by [`crate::event::Ack::credited`].
    pub delivered: Bytes,
    /// Which policy decides.
    pub phase: Phase,
    /// The start-up was for the first slow start only ([`crate::policy::Startup::once`]), which is
    /// over: in its place the sender grows as slow start does.
    pub plain_slow_start: bool,
    /// What the start-up's estimator believes the path has for this connection, if it keeps one
    /// ([`crate::policy::Observer::eligible`]); up to date whenever a loss is answered.
    pub eligible: Option<Eligible>,
    /// Whether packets are paced, and by whom.
    pub paced: Paced,
    /// Lost data is being repaired: the window does not grow.
    pub recovering: bool,
    /// What a loss leaves of the window under the control's avoidance, in millionths
    /// ([`crate::policy::Avoidance::beta`]).
    pub beta: u64,
    /// Round trips begun. A round ends with the first ACK for data that left after it began: more
    /// than SND.NXT of then is acknowledged (RFC 9406 section 4.2). The ACK for all that had been
    /// sent by then is still of the round, or the next would begin with the last packet of a burst.
    pub round: u64,
    /// The ACK being processed ends a round, and begins the next.
    pub round_start: bool,
    /// An ACK opens the window by one segment at most in slow start
    /// ([`crate::sender::Config::segment_per_ack`]).
    pub segment_per_ack: bool,
    /// How long the receiver may hold an ACK back, by its own word
    /// ([`crate::sender::Sender::receiver_holds_acks`]); zero where it says nothing of it, as in
    /// TCP.
    pub max_ack_delay: Span,
}

impl View {
    /// A connection in start-up before anything happened.
    pub const fn new(window: Window, mss: Bytes) -> Self {
        Self {
            now: Instant(0),
            window,
            mss,
            rtt: Rtt::UNKNOWN,
            in_flight: Bytes(0),
            acked: Bytes(0),
            snd_nxt: Bytes(0),
            sent: Bytes(0),
            delivered: Bytes(0),
            phase: Phase::Startup,
            plain_slow_start: false,
            eligible: None,
            paced: Paced::No,
            recovering: false,
            beta: 0,
            round: 0,
            round_start: false,
            segment_per_ack: true,
            max_ack_delay: Span(0),
        }
    }

    /// By how much slow start opens the window on this ACK: what it acknowledges, one segment at
    /// most where the endpoint says so ([`View::segment_per_ack`]; RFC 5681 section 3.1, equation
    /// 2). A start-up whose source has a growth of its own keeps to that.
    ///
    /// Otherwise everything counts that no earlier ACK reported, so that a delayed ACK, or one that
    /// stands for many, does not slow the start; the window then stops at ssthresh (Linux's
    /// `tcp_slow_start()`, with what `tcp_newly_delivered()` counts). An ACK that fills a gap
    /// acknowledges all that had arrived beyond it, which SACK had reported before: RFC 3465
    /// section 2.3 goes back to one segment there, because byte counts alone do not show it.
    #[inline(always)]
    pub fn slow_start_growth(&self, ack: &Ack) -> Bytes {
        if self.segment_per_ack {
            return ack.acked.min(self.mss);
        }
        let room = self.window.ssthresh - self.window.cwnd;
        ack.acked.min(ack.credited.min(room).max(self.mss))
    }
}

impl Rtt {
    /// Before the first sample.
    pub const UNKNOWN: Self = Self {
        latest: Span(0),
        smoothed: Span(0),
        variation: Span(0),
        min: Span::MAX,
        first: Span(0),
    };

    /// Takes a sample in.
    #[inline(always)]
    pub fn observe(&mut self, sample: Span) {
        self.latest = sample;
        if sample < self.min {
            self.min = sample;
        }
        if self.first == Span(0) {
            return self.begin(sample);
        }
        let (smoothed, variation) = (self.smoothed.0, self.variation.0);
        // A mean of two numbers in 64 bits fits them as well.
        self.variation = Span(variation - variation / 4 + smoothed.abs_diff(sample.0) / 4);
        self.smoothed = Span(smoothed - smoothed / 8 + sample.0 / 8);
    }

    #[cold]
    fn begin(&mut self, sample: Span) {
        self.first = sample;
        self.smoothed = sample;
        self.variation = sample / 2;
    }
}
