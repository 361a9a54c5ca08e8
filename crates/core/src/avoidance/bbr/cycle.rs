//! The cycle of ProbeBW (draft-ietf-ccwg-bbr-06 section 5.3.3): its states, when each ends, and how
//! `inflight_longterm` grows in UP.

#[cfg(test)]
mod tests;

use super::Bbr;
use crate::estimate::bbr_full_pipe::FullPipe;
use crate::event::Ack;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// The state (`BBR.state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Where the cycle is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) state: State,
    /// The ACKs at hand may be of a probe that is over (`BBR.ack_phase` is ACKS_PROBE_STOPPING; its
    /// other phases decide nothing).
    stopping: bool,
    /// `BBR.is_bw_probe_sample`.
    pub(super) samples_probe: bool,
    /// `BBR.prev_probe_too_high`.
    pub(super) too_high: bool,
    /// `BBR.prev_probe_precautionary`.
    precautionary: bool,
    /// `BBR.cycle_stamp`.
    cycle_stamp: Instant,
    /// `BBR.bw_probe_wait`.
    bw_probe_wait: Span,
    /// `BBR.rounds_since_probe_up`.
    pub(super) rounds_since_up: u64,
    /// `BBR.bw_probe_up_rounds`.
    up_rounds: u32,
    /// `BBR.bw_probe_up_acked`.
    up_acked: Bytes,
    /// `BBR.probe_up_acked_per_inc`.
    acked_per_increment: Bytes,
}

/// What an ACK says of its round and its sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// It ends a round (`BBR.round_start`).
    pub(super) round: bool,
    /// Rate of its sample; zero for none.
    pub(super) rate: Rate,
    /// The source limited the sample.
    pub(super) limited: bool,
}

impl State {
    /// Pacing gain, in millionths.
    pub(super) const fn pacing(self) -> u64 {
        match self {
            Self::Down => 900_000,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1_000_000,
            Self::Up => 1_250_000,
        }
    }

    /// Window gain, in millionths.
    pub(super) const fn window(self) -> u64 {
        match self {
            Self::Up => 2_250_000,
            Self::ProbeRtt => super::PROBE_RTT_GAIN,
            _ => 2_000_000,
        }
    }

    /// `IsProbingBW`.
    pub(super) const fn probes(self) -> bool {
        matches!(self, Self::Refill | Self::Up)
    }
}

impl Now {
    /// `CheckFullBWReached`.
    pub(super) fn check(self, full: &mut FullPipe) {
        // Section 5.3.1.2: asked once per round, of samples that the source did not limit.
        if !full.is_full() && self.round && !self.limited && self.rate > Rate(0) {
            full.note(self.rate);
        }
    }
}

impl Cycle {
    /// Before ProbeBW.
    pub(super) const NEW: Self = Self {
        state: State::Down,
        stopping: false,
        samples_probe: false,
        too_high: false,
        precautionary: false,
        cycle_stamp: Instant(0),
        bw_probe_wait: Span(0),
        rounds_since_up: 0,
        up_rounds: 0,
        up_acked: Bytes(0),
        acked_per_increment: Bytes::MAX,
    };

    /// `EnterProbeRTT`.
    pub(super) fn begin_probe_rtt(&mut self) {
        (self.state, self.stopping) = (State::ProbeRtt, true);
    }

    /// `RaiseInflightLongtermSlope`.
    fn steepen(&mut self, view: &View) {
        // Section 5.3.3.9: one segment more per round, then two, four and so on.
        self.acked_per_increment = (view.window.cwnd / (1 << self.up_rounds)).max(view.mss);
        self.up_rounds = (self.up_rounds + 1).min(MOST_UP_ROUNDS);
    }

    /// `PickProbeWait`, drawn from what is the flow's own.
    fn draw_wait(&mut self, view: &View) {
        // Section 5.3.3.8.3: 2 to 3 s, and 0 or 1 of the rounds.
        let drawn = mixed(view.now.0 ^ mixed(view.delivered.0 ^ mixed(view.rtt.smoothed.0)));
        self.rounds_since_up = drawn & 1;
        self.bw_probe_wait = LEAST_WAIT + Span((drawn >> 1) % MORE_WAIT.0);
    }
}

impl Bbr {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, view: &View) {
        // Section 5.3.3.9, as the states below.
        self.bounds.forget_signals();
        self.cycle.acked_per_increment = Bytes::MAX;
        self.cycle.draw_wait(view);
        self.cycle.cycle_stamp = view.now;
        self.cycle.stopping = true;
        self.model.start_round(view);
        self.cycle.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    fn start_refill(&mut self, view: &View) {
        self.bounds.lift();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, Bytes(0));
        self.cycle.precautionary = false;
        self.cycle.stopping = false;
        self.model.start_round(view);
        self.cycle.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, rate: Rate, view: &View) {
        self.cycle.samples_probe = true;
        self.model.start_round(view);
        self.full = FullPipe::new(rate);
        self.cycle.state = State::Up;
        self.cycle.steepen(view);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn advance(&mut self, ack: &Ack, now: Now, view: &View) {
        if self.adapt_long_term(ack, now, view) {
            return;
        }
        // Section 5.3.3.9: the long-term model first, which may have decided; then the state's own
        // end.
        let over = self.cycle.state == State::Up && self.is_time_to_go_down(ack, now, view);
        match self.cycle.state {
            State::Down if self.is_time_to_probe(view) => self.start_refill(view),
            State::Down if self.is_time_to_cruise(view) => self.cycle.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(view) => self.start_refill(view),
            State::Refill if now.round => self.start_up(now.rate, view),
            State::Up if over => {
                self.cycle.too_high = false;
                self.start_down(view);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, view: &View) -> bool {
        // Section 5.3.3.8.3: by the clock, or after as many rounds as Reno would need.
        let rounds = self.cycle.rounds_since_up;
        view.now.since(self.cycle.cycle_stamp) > self.cycle.bw_probe_wait
            || rounds >= RENO_ROUNDS
            || view.mss * rounds >= self.target(view)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, view: &View) -> bool {
        let pipe = self.in_flight_at(self.model.bandwidth(), 1_000_000, Bytes(0), view);
        view.in_flight <= self.with_headroom(view).min(pipe.unwrap_or_default())
    }

    /// `IsTimeToGoDown`. An ACK leaves less in flight than the window, so that the flight counts
    /// with what the ACK takes from it, and a part of a segment counts for one.
    fn is_time_to_go_down(&mut self, ack: &Ack, now: Now, view: &View) -> bool {
        // Section 5.3.3.7: a risky flight again ends the probe early (section 5.3.3.6), and a rate
        // that has stopped growing ends it.
        let flight = ack.in_flight + ack.credited + view.mss - Bytes(1);
        if self.form.precaution && self.cycle.too_high && flight >= self.inflight_longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited.contains(&true) && view.window.cwnd >= self.inflight_longterm {
            // Not the path but `inflight_longterm` limits the rate.
            self.full = FullPipe::new(now.rate);
            return false;
        }
        self.full.is_full()
    }

    /// `AdaptLongTermModel`; whether it has decided on the state.
    fn adapt_long_term(&mut self, ack: &Ack, now: Now, view: &View) -> bool {
        // Section 5.3.3.9: the end of a probe's samples advances the filter of the rate; a
        // precautious probe that lost nothing is followed by the next at once.
        let in_cycle = self.cycle.state != State::ProbeRtt;
        if self.cycle.stopping && now.round {
            self.cycle.samples_probe = false;
            self.cycle.stopping = false;
            if in_cycle && !now.limited {
                self.model.next_cycle();
            }
            if in_cycle && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill(view);
                return true;
            }
        }
        let Some(packet) = ack.packet.filter(|_| self.inflight_longterm != Bytes::MAX) else {
            return false;
        };
        // A flight that lost little raises the bound.
        if !self.is_too_high(self.history.since(packet.delivered), packet.in_flight) {
            self.inflight_longterm = self.inflight_longterm.max(packet.in_flight);
            if self.cycle.state == State::Up {
                self.probe_upward(ack.credited, now.round, view);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, acked: Bytes, round: bool, view: &View) {
        if !self.is_cwnd_limited.contains(&true) || view.window.cwnd < self.inflight_longterm {
            return;
        }
        // Section 5.3.3.9: a segment for every `probe_up_acked_per_inc` acknowledged, and a steeper
        // slope with every round.
        let cycle = &mut self.cycle;
        cycle.up_acked += acked;
        let increments = cycle.up_acked.0 / cycle.acked_per_increment.0.max(1);
        cycle.up_acked -= cycle.acked_per_increment * increments;
        self.inflight_longterm += view.mss * increments;
        if round {
            cycle.steepen(view);
        }
    }
}

/// Steele and others, SplitMix64: the mixing of one draw.
const fn mixed(seed: u64) -> u64 {
    let first = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let second = (first ^ first >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let third = (second ^ second >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    third ^ third >> 31
}

/// Rounds between probes at the most (`IsRenoCoexistenceProbeTime`).
const RENO_ROUNDS: u64 = 63;

/// Rounds in which the slope doubles.
const MOST_UP_ROUNDS: u32 = 30;

/// The shortest time between probes, and by how much it is drawn longer (`PickProbeWait`).
const LEAST_WAIT: Span = Span::from_secs(2);
const MORE_WAIT: Span = Span::from_secs(1);
