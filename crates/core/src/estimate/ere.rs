//! Eligible Rate Estimate: what rate the path has for this connection (Wang, Valla, Sanadidi, Ng
//! and Gerla, "Adaptive bandwidth share estimation in TCP Westwood", Globecom 2002), as Astart and
//! TCP Westwood use it.
//!
//! What it believes: a queue shows as a window larger than what arrives in the smallest RTT.
//! Without a queue the spacing of two ACKs tells what the path can carry; with one, the amount
//! delivered in an RTT tells this connection's share. The sampling interval slides between the two:
//!
//! ```text
//! RE  = eps RE + (1 - eps) r,  r = what arrived in the last srtt / srtt
//! Tk  = srtt (cwnd/RTTmin - RE) / (cwnd/RTTmin), at least tmin
//! s   = what arrived in the last Tk / Tk;  one ACK over dt where Tk <= dt
//! U   = 0.6 U + 0.4 |s - s'|;  tau = srtt (1 + N U/Umax)
//! ERE = a ERE + (1 - a) (s + s')/2,  a = (2 tau - dt) / (2 tau + dt)
//! ```
//!
//! with `s'` the sample before. While no ACK comes, samples of zero are taken every `tau/m`.
//!
//! What the papers leave open is a knob. Preset `paper`: the trapezoid filter above, N = 10, which
//! is the only published value, eps 0.6 on every ACK, the ACK spacing as smallest interval, m = 2,
//! Umax over ten samples. Preset `figures`, the default, differs in two, which no source gives and
//! which are fitted to the nine throughputs that the papers publish (40 Mbit/s and 20 to 200 ms, 10
//! to 150 Mbit/s and 100 ms, 20 s, buffer of a BDP): N = 3 and a smallest interval of 15 ms keep
//! all of them within a tenth. Preset `ns2` has no number fitted to a figure: it is `paper`, with
//! Umax over the whole connection, as the public ns-3 code has it that N = 10 was found in; and
//! RTTmin is that of ns-2's TCP clock, whole ticks of 10 ms rounded down, as in the authors' ns-2
//! module for TCP Westwood (M. Valla, 2002). A few milliseconds that RTTmin does not know hold the
//! estimate as many per cent below the window of a path that is nearly full, which is what slows
//! growth there.
//!
//! Preset `per-packet` weighs samples by the packets they cover instead of by time: 2/21 for each
//! packet acknowledged, the authors' first ns-2 module's weight per ACK. Where a sender paces or
//! ACKs come thinned, the pauses between bursts outweigh the bursts by time: the estimate is drawn
//! to the sending rate, and the threshold stays near the window whatever the path could carry. By
//! packets those within a burst dominate, which the bottleneck spaces at its own rate, and it does
//! not matter how many ACKs report them. Samples cover at least a millisecond, the granularity of
//! QUIC's timers (RFC 9002 section 6.1.2): what is closer shows how the receiver's host batches
//! packets. What it costs: with several flows a burst's rate is more than a flow's share.
//! `papers/astart/deviations.md` has both in figures.
//!
//! What is chosen without a source, in every preset: RE is updated on every ACK (Load Gauge, which
//! reads the same letters, updates its own once per RTT, and no source says which), and the filter
//! is the trapezoid (the texts speak of Tustin's, the first ns-2 module has constant weights, the
//! newer texts leave the mean of two samples out). `papers/astart/deviations.md` has what each of
//! these choices gives.
//!
//! An ACK is worth what the transport credits it with ([`Ack::credited`]). The ns-2 module bounds
//! that by two packets per ACK, a guard against ACKs that were lost. Here there is no such knob:
//! transports credit each packet once, so the bound would bind only where one ACK answers three
//! packets or more, and there it would lose what arrived.
//!
//! Departures, all for inputs the papers do not think of: ACKs less than 100 ns apart are one
//! sample; an interval beyond `2 tau`, where `a` would turn negative, counts as `2 tau`; after 64
//! time constants of silence the estimate is zero.
//!
//! Integers throughout: samples in 2^-32 bytes per ns, RE and ERE in 2^-48, each product in the
//! width it needs. Tests hold it to the formulas in floating point. Nearly every ACK is a sample of
//! its own, soon after the last one: `on_ack` is for those, `on_any_ack` and `filter` are for all.

use crate::estimate::ack_history::AckHistory;
pub(crate) use crate::estimate::ere_knobs::PRESETS;
pub use crate::estimate::ere_knobs::{EreKnobs, Filter, PER_PACKET};
use crate::estimate::instability::Instability;
use crate::event::Ack;
use crate::knob::{KnobOf, Knobs, RATIO_ONE};
use crate::units::{Bytes, NANOS_PER_SECOND, Rate, Span, high_half, mul_div};
use crate::view::{Eligible, View};

/// The estimator. It must see every ACK of the connection once.
#[derive(Clone, Debug)]
pub struct Ere {
    knobs: EreKnobs,
    /// The weights of RE's low-pass filter.
    achieving: Blend,
    /// Samples of zero may be due when a gap between ACKs, times this, exceeds the RTT.
    gaps: u64,
    /// Limit of the fast path: [`USUAL`], or 0 while it is disabled, because a knob needs the
    /// general path, no ACK has come after time zero, the last one came after [`LATEST`], or bytes
    /// are pending.
    usual: u64,
    /// What was delivered when.
    history: AckHistory,
    /// Time of the last sample.
    at: u64,
    /// There was an ACK before it.
    started: bool,
    /// Bytes of ACKs too close to the last one to be a sample of their own.
    pending: u32,
    /// When RE was updated last; only for an update per RTT.
    achieved_at: u64,
    /// RE in 2^-48 bytes per ns.
    achieved: u64,
    /// The last sample in 2^-32 bytes per ns.
    sample: u64,
    /// `U` and `Umax`.
    instability: Instability,
    /// The interval of the last sample, in ns.
    interval: u64,
    /// 2^-48 bytes per ns.
    estimate: u64,
    /// RTTmin when it changed last.
    rtt_min: Span,
    /// What the clock shows of it, in 2^-12 ns; zero before it is known.
    clock: u64,
}

impl Ere {
    /// An estimator that has seen nothing.
    pub const fn new(knobs: EreKnobs) -> Self {
        Self {
            knobs,
            achieving: Blend::keeping(knobs.eps),
            gaps: knobs.gaps(),
            usual: 0,
            history: AckHistory::new(),
            at: 0,
            started: false,
            pending: 0,
            achieved_at: 0,
            achieved: 0,
            sample: 0,
            instability: Instability::over(knobs.umax_window),
            interval: 0,
            estimate: 0,
            rtt_min: Span::MAX,
            clock: 0,
        }
    }

    /// The estimate, rounded to whole bytes per second.
    #[inline]
    pub const fn rate(&self) -> Rate {
        Rate(high_half(self.estimate + HALF_A_BYTE_PER_SECOND, NANOS_PER_SECOND << 16))
    }

    /// The estimate, with the clock by which RTTmin is known.
    #[inline]
    pub const fn eligible(&self) -> Eligible {
        Eligible { rate: self.rate(), tick: self.knobs.tick }
    }

    /// The bytes that the estimated rate delivers in `span`: with the smallest RTT, the window to
    /// aim at.
    #[inline]
    pub const fn over(&self, span: Span) -> Bytes {
        Bytes(high_half(self.estimate << 4, precisely(span)))
    }

    /// RTTmin as the clock shows it.
    #[inline]
    pub const fn rtt_min(&self, view: &View) -> Span {
        view.rtt.min.in_ticks(self.knobs.tick)
    }

    /// The bytes that the estimated rate delivers in RTTmin, as of the last ACK; zero before the
    /// first.
    #[inline(always)]
    pub const fn window(&self) -> Bytes {
        Bytes(high_half(self.estimate << 4, self.clock))
    }

    /// Takes an ACK in.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        let (now, credited) = (ack.now.0, ack.credited.0);
        let (srtt, cwnd) = (view.rtt.smoothed.0, view.window.cwnd.0);
        if view.rtt.min != self.rtt_min {
            self.set_rtt_min(view.rtt.min);
        }
        // One comparison for three numbers: a zero, or a time that goes back, wraps around to a
        // number beyond the limit.
        let dt = now.wrapping_sub(self.at);
        let bits = credited.wrapping_sub(1) | srtt.wrapping_sub(1) | dt.wrapping_sub(CLOSEST);
        if bits >= self.usual {
            return self.on_any_ack(now, credited, view);
        }
        if self.history.is_apart(now, srtt) {
            // Silence that samples of zero may be due for. It always opens a corner, because gaps
            // are fewer than corners in an RTT, and no time constant is shorter than that.
            if dt * self.gaps > srtt {
                return self.on_any_ack(now, credited, view);
            }
            self.history.open_corner(now, srtt);
        }
        let per_ns = u64::MAX / srtt;
        self.history.add_step(now, credited as u32);
        self.at = now;
        self.achieve(srtt, per_ns);
        self.interval = self.sampling_interval(srtt, per_ns, cwnd, self.clock);
        let sample = self.take_sample(credited as u32, dt);
        let mean = self.mean(sample);
        let tau = self.time_constant(sample, srtt);
        self.sample = sample;
        self.approach(mean, part(dt, tau));
    }

    /// The general path: an ACK with any numbers, under any knobs.
    #[cold]
    #[inline(never)]
    fn on_any_ack(&mut self, now: u64, credited: u64, view: &View) {
        let (srtt, cwnd) = (view.rtt.smoothed.0.min(LONGEST), view.window.cwnd.0);
        if credited == 0 || srtt == 0 {
            return;
        }
        let now = now.max(self.at);
        let dt = now - self.at;
        let credit = u32::try_from(credited).unwrap_or(u32::MAX);
        self.history.push(now, credit, srtt);
        if self.started && dt < CLOSEST {
            self.pending = self.pending.saturating_add(credit);
            return self.set_fast_path();
        }
        let per_ns = u64::MAX / srtt;
        if !(self.knobs.re_per_rtt && self.started && now - self.achieved_at < srtt) {
            self.achieve(srtt, per_ns);
            self.achieved_at = now;
        }
        if self.started {
            let clock = self.clock.min(LONGEST << 12);
            self.interval = self.sampling_interval(srtt, per_ns, cwnd, clock);
            let dt = dt.min(LONGEST);
            let sample = self.take_sample(self.pending.saturating_add(credit), dt);
            let tau = self.time_constant(sample, srtt);
            let packets = u64::from(self.pending.saturating_add(credit)) / view.mss.0.max(1);
            self.filter(dt, sample, tau, packets.max(1));
        }
        (self.at, self.started, self.pending) = (now, true, 0);
        self.set_fast_path();
    }

    /// Decides whether the next ACK may take the fast path.
    fn set_fast_path(&mut self) {
        let in_order = self.knobs.filter == Filter::Trapezoid && !self.knobs.re_per_rtt;
        let allowed = in_order && (1..LATEST).contains(&self.at) && self.pending == 0;
        self.usual = if allowed { USUAL } else { 0 };
    }

    /// Reports under these names ERE and RE, in bytes per second, and Tk, in ns.
    pub fn gauges(&self, names: [&'static str; 3], report: &mut dyn FnMut(&'static str, u64)) {
        let achieved = high_half(self.achieved, NANOS_PER_SECOND << 16);
        let values = [self.rate().0, achieved, self.interval];
        names.into_iter().zip(values).for_each(|(name, value)| report(name, value));
    }

    /// RTTmin has changed.
    #[cold]
    fn set_rtt_min(&mut self, rtt_min: Span) {
        self.rtt_min = rtt_min;
        self.clock = precisely(rtt_min.in_ticks(self.knobs.tick));
    }

    /// `RE`. `per_ns` is the reciprocal of `srtt` in 2^-64.
    #[inline(always)]
    fn achieve(&mut self, srtt: u64, per_ns: u64) {
        // Astart paper, section II.B: what was acknowledged in the latest RTT, low-pass filtered;
        // eps is Globecom 2002's.
        let bytes = u64::from(self.history.within_span(srtt));
        let achieved = no_faster(high_half(bytes << 32, per_ns));
        self.achieved = self.achieving.of(achieved << 16, self.achieved);
    }

    /// `Tk`, or the smallest allowed, in which case the division by cwnd is spared.
    #[inline(always)]
    fn sampling_interval(&self, srtt: u64, per_ns: u64, cwnd: u64, clock: u64) -> u64 {
        // Astart paper, section II.B: `Tk = RTT (cwnd / RTTmin - RE) / (cwnd / RTTmin)`.
        let tmin = self.knobs.tmin.0.min(srtt);
        // As long as no more than this is queued, Tk does not exceed the smallest.
        let spare = high_half(cwnd, tmin * per_ns);
        let arrived = high_half(self.achieved << 4, clock);
        if arrived >= cwnd - spare {
            return tmin;
        }
        high_half(srtt, (cwnd - arrived) * (u64::MAX / cwnd)).max(tmin)
    }

    /// The sample `s`.
    #[inline(always)]
    fn take_sample(&mut self, credit: u32, dt: u64) -> u64 {
        // Astart paper, section II.B: what was delivered in Tk; without congestion a packet pair.
        let sample = if self.interval <= dt {
            (u64::from(credit) << 32) / dt.max(1)
        } else {
            (u64::from(self.history.within(self.interval)) << 32) / self.interval
        };
        no_faster(sample)
    }

    /// The time constant `tau`.
    #[inline(always)]
    fn time_constant(&mut self, sample: u64, srtt: u64) -> u64 {
        // Globecom 2002: `tau = RTT + N RTT U / Umax`.
        let ratio = self.instability.observe(sample.abs_diff(self.sample));
        srtt + high_half(srtt * self.knobs.n, ratio)
    }

    /// `(s + s')/2`, in 2^-48.
    #[inline]
    const fn mean(&self, sample: u64) -> u64 {
        (sample + self.sample) << 15
    }

    /// The filter with any knobs, and for any silence.
    fn filter(&mut self, dt: u64, sample: u64, tau: u64, packets: u64) {
        let rest = if dt * self.knobs.null_m > tau { self.take_nulls(dt, tau) } else { dt };
        self.step(rest, sample, tau, packets);
    }

    /// Samples of zero for the silence in `dt`, which is longer than one; returns what remains.
    fn take_nulls(&mut self, dt: u64, tau: u64) -> u64 {
        // Westwood's filter (Valla's ns-2 module): a sample of zero for every `tau / m` without an
        // ACK.
        let m = self.knobs.null_m;
        let slice = (tau / m).max(1);
        let nulls = (dt - 1) / slice;
        if nulls > m * FORGOTTEN {
            (self.estimate, self.sample) = (0, 0);
        } else {
            (0..nulls).for_each(|_| self.step(slice, 0, tau, 1));
        }
        dt - nulls * slice
    }

    /// One step of the filter over `dt`, for a sample that covers so many packets.
    fn step(&mut self, dt: u64, sample: u64, tau: u64, packets: u64) {
        // Astart paper, section II.B: Tustin's approximation of a first-order low-pass filter.
        let plain = self.knobs.filter == Filter::Plain;
        let target = if plain { sample << 16 } else { self.mean(sample) };
        let weight = match self.knobs.filter {
            Filter::Constant => CONSTANT_WEIGHT,
            Filter::Packets => weight_of(packets),
            // Over more than 2 tau it would exceed one, and `a` turn negative.
            _ if dt >= 2 * tau => (1 << 32) - 1,
            _ if dt >= USUAL => mul_div(2 * dt, 1 << 32, 2 * tau + dt),
            _ => part(dt, tau),
        };
        self.approach(target, weight);
        self.sample = sample;
    }

    /// Moves the estimate toward `target`, by `weight` in 2^-32 of the way.
    #[inline(always)]
    fn approach(&mut self, target: u64, weight: u64) {
        let gap = target.wrapping_sub(self.estimate).cast_signed();
        let change = high_half(gap.unsigned_abs(), weight << 32);
        self.estimate = if gap < 0 { self.estimate - change } else { self.estimate + change };
    }
}

impl Knobs for Ere {
    const ROWS: &'static [KnobOf<Self>] = &[KnobOf::part(EreKnobs::KNOBS, |p| &mut p.knobs)];

    fn on_set(&mut self, _knob: &str) {
        (self.achieving, self.gaps) = (Blend::keeping(self.knobs.eps), self.knobs.gaps());
        (self.rtt_min, self.clock) = (Span::MAX, 0);
        self.instability.set_window(self.knobs.umax_window);
        self.set_fast_path();
    }
}

/// Weights of an old and a new value, which are one together, in 2^-64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend {
    /// That of the old value.
    kept: u64,
    /// That of the new one.
    taken: u64,
}

impl Blend {
    /// Keeps `eps` of the old value, in millionths.
    pub(crate) const fn keeping(eps: u64) -> Self {
        let kept = eps * (u64::MAX / RATIO_ONE);
        Self { kept, taken: u64::MAX - kept }
    }

    /// `eps * old + (1 - eps) * new`.
    #[inline(always)]
    pub(crate) const fn of(self, new: u64, old: u64) -> u64 {
        high_half(old, self.kept) + high_half(new, self.taken)
    }
}

/// `1 - a` in 2^-32, of a `dt` below [`USUAL`].
#[inline(always)]
fn part(dt: u64, tau: u64) -> u64 {
    (dt << 33) / (2 * tau + dt)
}

/// 1 - (19/21)^packets, in 2^-32.
fn weight_of(packets: u64) -> u64 {
    let (mut kept, mut power) = (1 << 32, (1 << 32) - CONSTANT_WEIGHT);
    for bit in 0..6 {
        if packets.min(MOST_PACKETS) >> bit & 1 == 1 {
            kept = (kept * power) >> 32;
        }
        power = (power * power) >> 32;
    }
    (1 << 32) - kept
}

/// At most [`FASTEST`]. A branch that is almost never taken, so that the processor predicts it and
/// goes on without waiting for the comparison.
#[inline(always)]
fn no_faster(rate: u64) -> u64 {
    if rate > FASTEST { fastest() } else { rate }
}

#[cold]
#[inline(never)]
fn fastest() -> u64 {
    FASTEST
}

/// In 2^-12 ns, at most 52 days.
#[inline]
const fn precisely(span: Span) -> u64 {
    if span.0 < 1 << 52 { span.0 << 12 } else { ((1 << 52) - 1) << 12 }
}

/// ACKs closer than this, in ns, are one sample: 1250 bytes at 100 Gbit/s.
const CLOSEST: u64 = 100;

/// Limit of the fast path, for the bytes of an ACK, and for the RTT and the time between two ACKs,
/// in ns. Below it none of that path's products overflows.
const USUAL: u64 = 1 << 30;

/// Far from where times wrap around: 292 years.
const LATEST: u64 = 1 << 63;

/// Longest RTT and gap told apart, in ns: 18 minutes.
const LONGEST: u64 = 1 << 40;

/// Fastest rate told apart: 4096 bytes per ns.
const FASTEST: u64 = u64::MAX >> 20;

/// Time constants of silence after which nothing is left: (3/5)^128 of the estimate with m = 2.
const FORGOTTEN: u64 = 64;

/// 1 - 19/21, in 2^-32: the fixed weights 0.9047 and 0.0476 of the first ns-2 module.
const CONSTANT_WEIGHT: u64 = (2 << 32) / 21;

/// More packets in a sample than this leave nothing of the old estimate: (19/21)^63 is 0.002.
const MOST_PACKETS: u64 = 63;

/// In 2^-48 bytes per ns.
const HALF_A_BYTE_PER_SECOND: u64 = (1 << 47) / NANOS_PER_SECOND;
