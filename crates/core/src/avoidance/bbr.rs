//! BBRv3 after its start (draft-ietf-ccwg-bbr-06, Cardwell, Swett and Beshay): ProbeBW, ProbeRTT
//! and the models of rate, flight and loss.
//!
//! What it believes: the path has a rate, the largest of two cycles of probing, and an RTT, the
//! smallest of ten seconds; their product fills it. What it does:
//!
//! ```text
//! DOWN    pace 0.90 bw until in flight <= 0.85 inflight_longterm and <= maxbw minrtt
//! CRUISE  pace bw until 2 to 3 s, or 63 rounds or as many as the window has segments, are over
//! REFILL  no short-term bounds; pace bw for a round
//! UP      pace 1.25 bw until three rounds deliver no quarter more, or 2 % of what was in flight
//!         when a packet left is lost by its ACK; inflight_longterm grows by 1, 2, 4 .. segments
//!         per round where it limits, and is what was in flight at such a loss
//! ProbeRTT  every five seconds without as small an RTT: half the pipe in flight for 200 ms and
//!         a round
//! bw = min(maxbw, bw_shortterm), pace = 0.99 gain bw
//! cwnd += acked up to 2 bw minrtt (2.25 in UP) + extra acked, within inflight_longterm (0.85 of
//!         it in CRUISE and ProbeRTT) and inflight_shortterm, at least four segments
//! ```
//!
//! Losses are repaired and otherwise count for these bounds alone. A probe after one that went too
//! high ends when the flight reaches `inflight_longterm`, and if nothing is lost then, the next
//! follows at once.
//!
//! Published: all of that. Decided here: the draft draws the time between probes, 2 to 3 s, and
//! whether the rounds count from 0 or 1. The core has no randomness, so that both come of a hash
//! (SplitMix64) of the time, of what has been delivered and of the smoothed RTT: equal runs are
//! equal, flows whose ACKs differ by a nanosecond draw differently, flows that are alike in all
//! three draw alike. The flight at which a packet left that is lost is taken from the newest packet
//! acknowledged, which left a few packets later. What a spurious loss undoes is everything since
//! it, by the contract's rule; the draft keeps what its filters have learnt meanwhile. The draft
//! wants marks treated as congestion (section 3.7) and does not say how: one leaves beta of the
//! short-term bounds per round, and ends UP with beta of the flight. Where a stack does not report
//! a rest, as quinn's, the restart is seen with its first ACK, so that the pace of before holds for
//! a round trip. After a timeout slow start leads to the window of before. After a start-up that is
//! not BBR's the cycle begins with DOWN, and a loss that ended it sets `inflight_longterm` as in
//! Startup (section 5.3.1.3). Whether the peer sends SACK is not known: without it a loss in UP is
//! not yet 2 %.

use crate::card::{Card, Listed};
use crate::estimate::bbr_bounds::BbrBounds;
use crate::estimate::bbr_full_pipe::FullPipe;
use crate::estimate::bbr_model::{BbrModel, usable};
use crate::estimate::bbr_rtt::{BbrRtt, ProbeStep};
use crate::estimate::loss_history::LossHistory;
use crate::event::{Ack, Departure, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::needs::{Facilities, Needs};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Rate, Span};
use crate::view::{Phase, View, Window};

mod cycle;

use cycle::{Cycle, Now, State};

/// ProbeBW and ProbeRTT of BBR.
#[derive(Clone, Copy, Debug)]
pub struct Bbr {
    form: Form,
    model: BbrModel,
    rtt: BbrRtt,
    bounds: BbrBounds,
    history: LossHistory,
    /// `BBR.inflight_longterm`; [`Bytes::MAX`] for none.
    inflight_longterm: Bytes,
    /// Where the cycle of ProbeBW is.
    cycle: Cycle,
    /// Whether the rate still grows.
    full: FullPipe,
    /// Start-up has ended once (`BBR.full_bw_reached`).
    full_bw_reached: bool,
    /// The newest packet acknowledged, and whether the source limited its sample.
    newest: Option<(Departure, bool)>,
    /// Packets that left while so much had been delivered had ProbeRTT's flight.
    probe_rtt: (Bytes, Bytes),
    /// Whether the window was full in this round, and in the last (`C.is_cwnd_limited`).
    is_cwnd_limited: [bool; 2],
    /// Payload delivered that the window has not answered.
    newly_acked: Bytes,
    /// The last window outside recoveries and ProbeRTT (`BBR.prior_cwnd`).
    prior_cwnd: Bytes,
    /// That window is due (`RestoreCwnd`).
    restores: bool,
    /// A recovery was on when it last decided.
    recovering: bool,
}

/// Shares and factors, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// `BBR.LossThresh`.
    loss: u64,
    /// `BBR.Beta`.
    beta: u64,
    /// `BBR.Headroom`.
    headroom: u64,
    /// Precautionary bandwidth probing (section 5.3.3.6).
    precaution: bool,
}

impl Bbr {
    /// `BBR.bw` (`BoundBWForModel`, section 5.5.10).
    fn bandwidth(&self) -> Rate {
        self.model.bandwidth().min(self.bounds.rate)
    }

    /// `Inflight(gain)` (section 5.6.4.2), or the largest flight of a state with what ACKs run
    /// ahead; nothing as long as the path is not known.
    fn in_flight_at(&self, rate: Rate, gain: u64, more: Bytes, view: &View) -> Option<Bytes> {
        if rate == Rate(0) || self.rtt.min() == Span::MAX {
            return None;
        }
        let pipe = rate.over(self.rtt.min()).scaled(gain, RATIO_ONE) + more;
        // Section 5.6.3, `SetSendQuantum`: a millisecond of the pacing rate, two segments to 64
        // KiB.
        let pace = self.bandwidth().scaled(self.cycle.state.pacing(), RATIO_ONE);
        let quantum = Bytes(pace.0 / 1_000).min(Bytes(QUANTUM)).max(view.mss * 2);
        let budget = pipe.max(quantum * QUANTA).max(least(view));
        Some(if self.cycle.state == State::Up { budget + view.mss * 2 } else { budget })
    }

    /// `ProbeRTTCwnd` (section 5.6.4.5).
    fn probe_rtt_window(&self, view: &View) -> Bytes {
        let pipe = self.bandwidth().over(self.rtt.min());
        pipe.scaled(PROBE_RTT_GAIN, RATIO_ONE).max(least(view))
    }

    /// `InflightWithHeadroom` (section 5.3.3.9).
    fn with_headroom(&self, view: &View) -> Bytes {
        if self.inflight_longterm == Bytes::MAX {
            return Bytes::MAX;
        }
        let headroom = self.inflight_longterm.scaled(self.form.headroom, RATIO_ONE).max(view.mss);
        (self.inflight_longterm - headroom).max(least(view))
    }

    /// `TargetInflight` (section 5.3.3.8.3).
    fn target(&self, view: &View) -> Bytes {
        self.bandwidth().over(self.rtt.min()).min(view.window.cwnd)
    }

    /// Something was lost or marked: more than a probe may lose, if so (`HandleLostPacket`).
    fn lose(&mut self, loss: &Loss, view: &View) {
        // Section 5.5.10: the short-term bounds see it in any state.
        self.bounds.on_loss(loss.kind == LossKind::Mark, view);
        self.history.count(loss.lost, view.delivered, view.window.cwnd);
        let Some((packet, limited)) = self.newest.filter(|_| self.cycle.samples_probe) else {
            return;
        };
        let lost = self.history.since(packet.delivered);
        let flight = packet.in_flight;
        // Section 3.7 wants a mark treated as congestion. Ours: how.
        if loss.kind == LossKind::Mark {
            self.too_high(flight.scaled(self.form.beta, RATIO_ONE), limited, view);
        } else if self.is_too_high(lost, flight) {
            // InflightAtLoss: where in what was lost just now the share was passed.
            let before = flight - loss.lost;
            let allowed = before.scaled(self.form.loss, RATIO_ONE) - (lost - loss.lost);
            let prefix = allowed.scaled(RATIO_ONE, RATIO_ONE - self.form.loss);
            self.too_high(before + prefix, limited, view);
        }
    }

    /// `IsInflightTooHigh`.
    fn is_too_high(&self, lost: Bytes, flight: Bytes) -> bool {
        lost > flight.scaled(self.form.loss, RATIO_ONE)
    }

    /// `HandleInflightTooHigh`.
    fn too_high(&mut self, flight: Bytes, limited: bool, view: &View) {
        // Section 5.5.10: `inflight_longterm` is the flight of that packet, at least beta of the
        // target, unless the source limited it.
        self.cycle.too_high = true;
        self.cycle.samples_probe = false;
        if !limited {
            self.inflight_longterm =
                flight.max(self.target(view).scaled(self.form.beta, RATIO_ONE));
        }
        if self.cycle.state == State::Up {
            self.start_down(view);
        }
    }

    /// `CheckProbeRTT` (section 5.3.4.3).
    fn check_probe_rtt(&mut self, ack: &Ack, round: bool, view: &View) {
        if self.cycle.state != State::ProbeRtt {
            if !self.rtt.is_due() {
                return;
            }
            self.save_window(view);
            self.rtt.begin();
            self.cycle.begin_probe_rtt();
            self.model.start_round(view);
            self.probe_rtt.0 = view.delivered;
        }
        // MarkConnectionAppLimited: what is in flight says nothing of the path's rate.
        self.probe_rtt.1 = view.delivered + ack.in_flight;
        let most = self.probe_rtt_window(view);
        match self.rtt.probe(ack.in_flight, most, round, view.now) {
            ProbeStep::On => {}
            ProbeStep::Low => self.model.start_round(view),
            ProbeStep::Done => self.exit_probe_rtt(view),
        }
    }

    /// `ExitProbeRTT` (section 5.3.4.4).
    fn exit_probe_rtt(&mut self, view: &View) {
        self.restores = true;
        self.bounds.lift();
        self.start_down(view);
        self.cycle.state = State::Cruise;
    }

    /// `SaveCwnd`.
    fn save_window(&mut self, view: &View) {
        // Section 5.6.4.4.
        let repairs = self.recovering || view.phase == Phase::Startup && self.full_bw_reached;
        let calm = !repairs && self.cycle.state != State::ProbeRtt;
        let before = if calm { Bytes(0) } else { self.prior_cwnd };
        self.prior_cwnd = before.max(view.window.cwnd);
    }

    /// `BoundCwndForProbeRTT`, `BoundCwndForModel`.
    fn bounded(&self, cwnd: Bytes, view: &View) -> Bytes {
        // Sections 5.6.4.5 and 5.6.4.7.
        let state = self.cycle.state;
        let probe = if state == State::ProbeRtt { self.probe_rtt_window(view) } else { cwnd };
        let roomy = matches!(state, State::Cruise | State::ProbeRtt);
        let cap = if roomy { self.with_headroom(view) } else { self.inflight_longterm };
        cwnd.min(probe).min(cap.min(self.bounds.in_flight).max(least(view)))
    }

    /// `SetPacingRate`, `SetCwnd`.
    fn decide(&mut self, view: &View) -> Step {
        self.decide_at(self.cycle.state.pacing(), view)
    }

    /// Window and pace, where the pacing gain is that.
    fn decide_at(&mut self, gain: u64, view: &View) -> Step {
        let fresh = core::mem::take(&mut self.newly_acked);
        self.restores |= self.recovering && !view.recovering;
        self.recovering = view.recovering;
        let (state, rate) = (self.cycle.state, self.bandwidth());
        let extra = self.model.extra_acked_long();
        let Some(most) = self.in_flight_at(rate, state.window(), extra, view) else {
            return view.window.hold();
        };
        // Section 5.6.4.6: up to `max_inflight` by what is acknowledged; a recovery that is over,
        // or ProbeRTT, gives back the window of before (section 5.6.4.4).
        let mut cwnd = (view.window.cwnd + fresh).min(most).max(least(view));
        if core::mem::take(&mut self.restores) {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        let cwnd = self.bounded(cwnd, view);
        // Section 5.6.2: `PacingMarginPercent` of 1.
        let pace = rate.scaled(gain / 100 * 99, RATIO_ONE).max(Rate(1));
        Window { cwnd, ..view.window }.hold().paced(pace)
    }
}

/// `BBR.MinPipeCwnd`.
fn least(view: &View) -> Bytes {
    view.mss * LEAST_SEGMENTS
}

impl Listed for Bbr {
    const CARD: Card = Card::new(
        "bbr",
        "paced at the largest rate lately, probing up and down, losses bound rate and flight",
        "draft-ietf-ccwg-bbr, BBRv3's ProbeBW and ProbeRTT",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Bbr {
    fn needs(&self) -> Needs {
        let samples = Facilities::RATES | Facilities::PACKETS;
        Needs::required(Facilities::TIMES | samples | Facilities::RECOVERY_WINDOW)
            .wanting(Facilities::PACING)
    }

    fn on_handshake(&mut self, view: &View) {
        self.rtt.on_ack(Some(view.rtt.latest), view.now);
    }

    /// `UpdateModelAndState`, in the draft's order.
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.newly_acked += ack.credited;
        if ack.credited == Bytes(0) {
            return;
        }
        let in_charge = view.phase == Phase::Avoidance;
        let rate = usable(ack, view).unwrap_or(Rate(0));
        let limited = ack.sample.is_some_and(|sample| sample.app_limited) || ack.app_limited;
        self.rtt.note_restart(ack, limited);
        let (from, until) = self.probe_rtt;
        let of_probe_rtt =
            |packet: Departure| packet.delivered >= from && packet.delivered <= until;
        let limited = limited || until > Bytes(0) && ack.packet.is_some_and(of_probe_rtt);
        if let Some(packet) = ack.packet {
            self.newest = Some((packet, limited));
        }
        self.bounds.on_ack(ack, rate, view);
        // Section 5.2.3 gives the order. A rate of zero, of no sample, raises nothing.
        self.model.take(rate, limited);
        let round = self.model.count(ack, self.bandwidth(), view).is_some();
        if round {
            self.cycle.rounds_since_up += 1;
            self.is_cwnd_limited = [false, self.is_cwnd_limited[0]];
        }
        self.is_cwnd_limited[0] |= ack.in_flight + ack.credited + view.mss > view.window.cwnd;
        let before = (self.model.bandwidth(), view.window.cwnd);
        self.bounds.adapt(!in_charge || self.cycle.state.probes(), before, self.form.beta);
        let now = Now { round, rate, limited };
        if in_charge {
            now.check(&mut self.full);
            self.advance(ack, now, view);
        }
        self.rtt.on_ack(ack.rtt, view.now);
        if in_charge {
            self.check_probe_rtt(ack, round, view);
        }
        self.bounds.advance();
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        if loss.kind != LossKind::Mark {
            self.save_window(view);
            self.recovering = true;
        }
        self.lose(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.lose(loss, view);
    }

    /// Section 5.6.4.6, `SetCwnd`.
    fn follows_model(&self) -> bool {
        true
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("bbr_max_bw", self.model.bandwidth().0);
        report("bbr_bw", self.bandwidth().0);
        report("bbr_min_rtt", self.rtt.min().0);
        report("bbr_state", self.cycle.state as u64);
        report("bbr_inflight_longterm", self.inflight_longterm.0);
        report("bbr_inflight_shortterm", self.bounds.in_flight.0);
        report("bbr_extra_acked_long", self.model.extra_acked_long().0);
    }
}

impl Avoidance for Bbr {
    fn enter(&mut self, found: &Found, view: &View) {
        if found.tainted || self.model.bandwidth() == Rate(0) {
            self.model.replace(found.rate.unwrap_or_default());
        }
        if let Some(peak) =
            found.peak.filter(|_| !self.full_bw_reached && self.inflight_longterm == Bytes::MAX)
        {
            self.inflight_longterm = peak.max(least(view));
        }
        // `EnterProbeBW` (section 5.3.3.9): the cycle begins with DOWN.
        self.full_bw_reached = true;
        self.rtt.abandon();
        self.start_down(view);
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        self.decide(view)
    }

    /// `HandleRestartFromIdle` (section 5.4.1): the pace is the rate, and a ProbeRTT whose time is
    /// over ends.
    fn rested(&mut self, view: &View) -> Step {
        if self.cycle.state == State::ProbeRtt && self.rtt.ends(view.now) {
            self.exit_probe_rtt(view);
        }
        self.decide_at(RATIO_ONE, view)
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        self.decide(view)
    }

    fn beta(&self) -> u64 {
        self.form.beta
    }

    /// A timeout leaves the way back to the window of before, a loss that ends start-up what the
    /// path has delivered lately, or its pipe (section 5.3.1.3).
    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // Section 5.3.1.3: the larger of the pipe and of what was delivered lately.
        let pipe = self.in_flight_at(self.bandwidth(), RATIO_ONE, Bytes(0), view);
        let safe = match pipe {
            Some(pipe) => pipe.max(self.bounds.delivered_lately()),
            None => loss.flight.scaled(self.form.beta, RATIO_ONE),
        };
        if loss.kind == LossKind::Timeout && self.full_bw_reached {
            let extra = self.model.extra_acked_long();
            let gain = self.cycle.state.window();
            let most = self.in_flight_at(self.bandwidth(), gain, extra, view);
            let ssthresh = self.bounded(self.prior_cwnd.min(most.unwrap_or(Bytes::MAX)), view);
            return Window { cwnd: ssthresh, ssthresh };
        }
        if !self.full_bw_reached && pipe.is_some() && loss.kind == LossKind::Recovery {
            self.inflight_longterm = safe.max(least(view));
        }
        let cwnd = safe.min(view.window.cwnd).max(view.mss);
        Window { cwnd, ssthresh: cwnd }
    }
}

impl Default for Bbr {
    fn default() -> Self {
        let form = Form { loss: 20_000, beta: 700_000, headroom: 150_000, precaution: true };
        Self {
            form,
            model: BbrModel::NEW,
            rtt: BbrRtt::NEW,
            bounds: BbrBounds::NONE,
            history: LossHistory::NEW,
            inflight_longterm: Bytes::MAX,
            cycle: Cycle::NEW,
            full: FullPipe::default(),
            full_bw_reached: false,
            newest: None,
            probe_rtt: (Bytes(0), Bytes(0)),
            is_cwnd_limited: [false; 2],
            newly_acked: Bytes(0),
            prior_cwnd: Bytes(0),
            restores: false,
            recovering: false,
        }
    }
}

impl Knobs for Bbr {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("loss")
            .means("share of the flight that may be lost before a probe ends (`LossThresh`)")
            .ratio(0..=RATIO_ONE / 2, |p| &mut p.form.loss),
        Knob::new("beta")
            .means("what a round of losses leaves of the bounds at the least (`Beta`)")
            .ratio(RATIO_ONE / 10..=RATIO_ONE, |p| &mut p.form.beta),
        Knob::new("headroom")
            .means("share of the largest safe flight left to others between probes (`Headroom`)")
            .ratio(0..=RATIO_ONE / 2, |p| &mut p.form.headroom),
        Knob::new("precaution")
            .means("a probe after one that lost too much is short; draft -06, not -05")
            .word(words!(|p| p.form.precaution, ["on" = true, "off" = false])),
    ];
}

/// `BBR.ProbeRTTCwndGain`, in millionths.
const PROBE_RTT_GAIN: u64 = 500_000;

/// Segments in flight at the least (`MinPipeCwnd`).
const LEAST_SEGMENTS: u64 = 4;

/// Bytes that leave at once at the most (`SetSendQuantum`).
const QUANTUM: u64 = 65_536;

/// Quanta in flight for full throughput (`UpdateOffloadBudget`, TCP).
const QUANTA: u64 = 3;

#[cfg(test)]
mod tests;
