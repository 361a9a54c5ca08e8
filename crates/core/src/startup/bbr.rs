//! BBR's start: Startup and Drain (draft-ietf-ccwg-bbr, Cardwell, Swett and Beshay, 3 August 2026).
//!
//! What it believes: the path is full when three rounds in a row deliver no quarter more than the
//! best before, or when a round loses more than a few per cent in several places. What it does:
//!
//! ```text
//! begin:    pace = gain IW / srtt (1 ms without one), gain = 2.77
//! Startup:  pace = max(pace, 0.99 gain maxbw)
//!           cwnd += acked while cwnd < the budget, or little was sent
//!           budget = max(2 maxbw minrtt + extra acked, 3 quanta, 4 segments)
//!           as a round begins, the rate of that ACK's sample: 1.25 times the best counts anew,
//!           three rounds without it -> Drain
//!           a round of a recovery that loses more than 2 %, in 6 gaps or more -> Drain
//! Drain:    pace = 0.99 * 0.5 maxbw, until in flight <= max(maxbw minrtt, 3 quanta, 4 segments),
//!           or three rounds have passed
//! leaving:  cwnd = ssthresh = maxbw minrtt
//! ```
//!
//! A loss is repaired and otherwise counts for nothing but that rule. A mark ends Startup with the
//! avoidance's cut: it is congestion (section 3.7), and the draft has no rule. While the source
//! limits sending no round counts as one without growth, so that only losses can end Startup then.
//!
//! `resume=on` is Careful Resume as RFC 9959 has it for BBR (`resume.rs`): Startup tries half the
//! rate of an earlier connection.
//!
//! Published: all but the last line. The presets ([`Form`] says what each does) are the draft's
//! BBRv3; `v2`, the version before it; `quiche`, Google's code as Cloudflare's quiche has it; and
//! `v1`, BBR of 2017 as in Linux.
//!
//! Decided: three quanta are the draft's budget for TCP. It gives QUIC one; the two differ where
//! the RTT is below 4 ms. Drain ends when three rounds have passed, as the draft's text and its
//! test cases say; its pseudo-code lets a fourth pass.
//!
//! Inferred: BBR goes on with ProbeBW, which begins with the flight that Drain leaves. Any
//! avoidance may follow here. It is given that window (BBR's own would be two BDP, which it has
//! again an RTT later), the bandwidth and, after an exit by loss, `inflight_longterm` as the
//! largest window with room. Without samples of the rate it could not run, so that it is refused
//! where there are none. After five seconds without as small an RTT it, too, lets half the pipe be
//! in flight for 200 ms and a round (ProbeRTT); the smallest RTT is the connection's all the same.
//! After a timeout Startup goes on with what it knows; a start-up that begins after its end is slow
//! start, unless the avoidance asked for it.

use crate::card::{Card, Listed};
use crate::estimate::bbr_full_pipe::FullPipe;
use crate::estimate::bbr_model::{BbrModel, usable};
use crate::estimate::bbr_rtt::BbrRtt;
use crate::event::{Ack, Loss, LossKind};
use crate::hint::PathHint;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, presets, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Answer, Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{Eligible, Phase, View, Window};

mod conservation;
mod form;
mod full_pipe;
mod low_rate;
mod probe_rtt;
mod resume;

use conservation::Conservation;
use form::{Budget, Extra, Form};
use low_rate::LowRate;
use resume::Resume;

/// Startup and Drain of BBR.
#[derive(Clone, Copy, Debug)]
pub struct Bbr {
    opening: Opening,
    form: Form,
    state: State,
    model: BbrModel,
    rtt: BbrRtt,
    /// The window before ProbeRTT (`BBR.prior_cwnd`).
    prior_cwnd: Bytes,
    /// `C.InitialCwnd`.
    initial_window: Bytes,
    /// `C.pacing_rate`.
    pace: Rate,
    /// Whether the rate still grows.
    full: FullPipe,
    /// What losses leave of the rate in quiche's form.
    low: LowRate,
    /// The round in which a recovery began.
    lossy_since: Option<u64>,
    /// `BBR.inflight_longterm`, once a loss has set it.
    inflight_longterm: Option<Bytes>,
    /// Payload delivered that the window has not answered.
    newly_acked: Bytes,
    /// What Linux's form does in a recovery.
    recovery: Conservation,
    /// What is known of an earlier connection over the path.
    resume: Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    /// Since that round.
    Drain(u64),
    Over,
}

impl Bbr {
    /// `SetPacingRate` (section 5.6.2): never slower before the path was full.
    fn set_pace(&mut self, view: &View) {
        let starts = self.state == State::Startup;
        let gain = if starts { self.form.gain } else { self.form.drain };
        // `PacingMarginPercent` is 1.
        let rate = self.bandwidth().scaled(gain, RATIO_ONE).scaled(99, 100);
        if self.form.quiche && self.model.rounds() <= 1 && view.rtt.min != Span::MAX {
            self.pace = self.initial_window.per(view.rtt.min);
        }
        let falls = !starts || self.low.is_lossy() || self.resume.rate() > Rate(0);
        let least = if falls { Rate(0) } else { self.pace };
        self.pace = rate.max(least).max(self.resume.rate()).max(Rate(1));
    }

    /// The rate that pace and window follow.
    fn bandwidth(&self) -> Rate {
        self.low.bound(self.model.bandwidth())
    }

    /// `QuantizationBudget` (section 5.6.4.2), and what else the form adds to a flight.
    fn budget(&self, flight: Bytes, view: &View) -> Bytes {
        // The send quantum (`SetSendQuantum`) is what the pacing rate delivers in a millisecond,
        // but at least two segments and at most 64 KiB.
        let quantum = self.pace.over(Span::from_millis(1)).min(Bytes(QUANTUM)).max(view.mss * 2);
        match self.form.budget {
            Budget::Larger => flight.max(quantum * QUANTA).max(view.mss * LEAST_SEGMENTS),
            Budget::Sum => flight + quantum * QUANTA,
            Budget::None => flight,
        }
    }

    /// The largest window (`UpdateMaxInflight`, section 5.6.4.2).
    fn most(&self, view: &View) -> Bytes {
        let known = view.rtt.min != Span::MAX;
        let rate = self.bandwidth().max(self.resume.rate());
        let pipe = if known { rate.over(view.rtt.min) } else { Bytes(0) };
        let extra = match self.form.extra {
            Extra::Round => self.model.extra_acked(),
            Extra::TenRounds => self.model.extra_acked_long(),
            Extra::AfterStartup if self.state != State::Startup => self.model.extra_acked_long(),
            Extra::AfterStartup => Bytes(0),
        };
        self.budget(pipe.scaled(self.form.cwnd_gain, RATIO_ONE) + extra, view)
    }

    /// The least window.
    fn least(&self, view: &View) -> Bytes {
        if self.form.quiche { self.initial_window } else { view.mss * LEAST_SEGMENTS }
    }

    /// What it decides on an ACK, in a recovery or not.
    fn decide(&mut self, view: &View) -> Step {
        let fresh = core::mem::take(&mut self.newly_acked);
        // `BoundCwndForProbeRTT` (section 5.6.4.5); the pacing gain is 1 (section 5.6.1).
        if self.rtt.probes() {
            let cwnd = view.window.cwnd.min(self.probe_window(view));
            let rate = self.model.bandwidth().scaled(99, 100).max(Rate(1));
            return Window { cwnd, ..view.window }.hold().paced(rate);
        }
        let restored = core::mem::take(&mut self.prior_cwnd).max(view.window.cwnd);
        // Section 5.3.2: Drain ends when the pipe alone is in flight, or after three rounds.
        if let State::Drain(since) = self.state {
            let pipe = self.model.pipe(view).unwrap_or_default();
            let late = self.model.rounds() >= since.saturating_add(self.form.drain_rounds);
            if view.in_flight <= self.budget(pipe, view) || late {
                return self.leave(pipe, view);
            }
        }
        // `SetCwnd` (section 5.6.4.6).
        let (cwnd, grows) = match self.form.linux {
            true => self.recovery.window(restored, fresh, view),
            false => (restored, true),
        };
        let most = self.most(view);
        let little = match self.form.quiche {
            true => cwnd < self.initial_window * 2,
            false => view.delivered < self.initial_window,
        };
        let cwnd = if !grows {
            cwnd
        } else if self.state != State::Startup {
            (cwnd + fresh).min(most)
        } else if self.resume.rate() > Rate(0) {
            cwnd.max(most)
        } else if cwnd < most || little {
            cwnd + fresh
        } else {
            cwnd
        };
        self.set_pace(view);
        let cwnd = cwnd.max(self.least(view));
        Window { cwnd, ..view.window }.hold().paced(self.pace)
    }

    fn leave(&mut self, pipe: Bytes, view: &View) -> Step {
        self.state = State::Over;
        // After a timeout the window is below the pipe, and slow start takes it there.
        let ssthresh = pipe.max(view.mss * LEAST_SEGMENTS);
        let cwnd = ssthresh.min(view.window.cwnd);
        let by_losses = if self.inflight_longterm.is_some() { Exit::Loss } else { Exit::Heuristic };
        let why = self.resume.retreat().unwrap_or(by_losses);
        Window { cwnd, ssthresh }.hold().paced(self.model.bandwidth().max(Rate(1))).exit(why)
    }

    /// Startup begins.
    fn restart(&mut self, view: &View) {
        let Self { opening, form, resume, .. } = *self;
        *self = Self { opening, form, resume: resume.anew(), ..Self::default() };
        self.initial_window = view.window.cwnd;
        self.set_first_pace(view);
    }

    /// Counts what is lost; while a saved rate is tried that begins Safe Retreat (RFC 9959).
    fn note_loss(&mut self, loss: &Loss, view: &View) {
        if self.resume.meet_congestion(loss.kind) {
            self.state = State::Drain(self.model.rounds());
        }
        self.model.on_loss(loss);
        if self.form.quiche && self.state == State::Startup {
            let (most, pipe) = (self.model.bandwidth(), self.model.pipe(view).unwrap_or_default());
            // What was in flight before the loss was found.
            let flight = pipe.max(view.in_flight + loss.lost);
            self.low.lose(loss.lost, flight, most, self.form.gain);
        }
    }

    /// `InitPacingRate` (section 5.6.2).
    fn set_first_pace(&mut self, view: &View) {
        let known = view.rtt.smoothed > Span(0);
        let rtt = if known { view.rtt.smoothed } else { Span::from_millis(1) };
        let gain = if self.form.quiche { QUICHE_FIRST_GAIN } else { self.form.gain };
        self.pace = self.initial_window.per(rtt).scaled(gain, RATIO_ONE).max(Rate(1));
    }
}

impl Listed for Bbr {
    const CARD: Card = Card::new(
        "bbr",
        "paced growth until three rounds deliver no quarter more, then a drain",
        "draft-ietf-ccwg-bbr, Startup and Drain",
    )
    .with("bbr")
    .about(
        "The delivery rate of every round, and what a round lost.",
        "The path is full when three rounds deliver no quarter more than the best before.",
        "Those three rounds run at twice the path's rate: a BDP of queue for three RTTs, or the \
         losses of a buffer that is smaller.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for Bbr {
    fn needs(&self) -> Needs {
        let samples = Facilities::RATES | Facilities::PACKETS;
        let memory = if self.resume.on { Facilities::MEMORY } else { Facilities::NONE };
        Needs::required(Facilities::TIMES | samples | Facilities::RECOVERY_WINDOW)
            .wanting(Facilities::PACING | Facilities::GAPS | memory)
    }

    /// The first RTT takes the place of the millisecond, as in Linux
    /// (`bbr_init_pacing_rate_from_rtt`). QUIC begins without an RTT, and no rate that is measured
    /// is ever above the one of a millisecond.
    fn on_handshake(&mut self, view: &View) {
        if self.state == State::Startup {
            self.set_first_pace(view);
        }
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.state == State::Over || view.phase != Phase::Startup {
            return;
        }
        self.newly_acked += ack.credited;
        let round = match self.resume.retreat() {
            None => self.model.on_ack(ack, view),
            Some(_) => self.model.count(ack, self.model.bandwidth(), view),
        };
        if round.is_some() {
            self.recovery.end_round();
        }
        self.check_probe_rtt(ack, round.is_some(), view);
        if self.state != State::Startup || self.rtt.probes() {
            return;
        }
        self.low.on_ack(usable(ack, view), round.is_some());
        // Sections 5.3.1.2 and 5.3.1.3: asked once per round; either ends Startup.
        let Some(round) = round else { return };
        let flat = self.is_flat(ack, view);
        if flat || self.loses_too_much(ack, round, view) {
            self.state = State::Drain(self.model.rounds());
            self.low = LowRate::NONE;
        }
        self.try_saved_rate(ack, view);
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.note_loss(loss, view);
        // Section 5.3.1.3 asks for a whole round in a recovery; Linux's version 1 answers with
        // packet conservation.
        if loss.kind == LossKind::Recovery {
            let round = self.model.rounds();
            self.lossy_since.get_or_insert(round);
            let answers = self.form.linux && self.state != State::Over;
            if answers && self.recovery.lose(loss.lost, view) {
                self.model.start_round(view);
            }
        }
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.note_loss(loss, view);
        if self.form.linux && view.recovering {
            self.recovery.lose(loss.lost, view);
        }
    }

    /// Section 5.6.4.6, `SetCwnd`; a later slow start is RFC 5681's.
    fn follows_model(&self) -> bool {
        self.state != State::Over
    }

    fn eligible(&self) -> Option<Eligible> {
        self.model.rate().map(Eligible::exact)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("bbr_bandwidth", self.model.bandwidth().0);
        report("bbr_rounds_without_growth", self.full.flat_rounds());
        report("bbr_extra_acked", self.model.extra_acked().0);
        report("bbr_drains", u64::from(matches!(self.state, State::Drain(_))));
        report("bbr_probes_rtt", u64::from(self.rtt.probes()));
        if self.resume.on {
            report("bbr_resume_rate", self.resume.rate().0);
        }
    }
}

impl Startup for Bbr {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        self.resume.inform(hint, view);
        view.window.hold()
    }

    fn begin(&mut self, view: &View) -> Step {
        self.initial_window = view.window.cwnd;
        self.set_first_pace(view);
        view.window.hold().paced(self.pace)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        match why {
            Entry::Connect | Entry::Reprobe => self.restart(view),
            // Section 5.6.4.4: after a timeout the model stays.
            Entry::Timeout | Entry::Retreat | Entry::Rest => {
                self.lossy_since = None;
                self.recovery = Conservation::default();
                self.rtt.abandon();
            }
        }
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, ssthresh } = view.window;
        // Ours: after Startup any avoidance may follow, and a later start is RFC 5681's.
        if self.state == State::Over {
            return double(ack, view);
        }
        if cwnd >= ssthresh && ssthresh != Bytes::MAX {
            self.state = State::Over;
            return view.window.hold().until_threshold();
        }
        self.decide(view)
    }

    fn answer(&mut self, loss: &Loss, _view: &View) -> Answer {
        // Section 5.6.4.4: losses are repaired, and the window follows the model. A mark (section
        // 3.7) and a timeout end Startup; but for the mark that a saved rate has brought.
        let retreats = loss.kind == LossKind::Mark && self.resume.retreat().is_some();
        let stays = loss.kind == LossKind::Recovery || retreats;
        if stays && self.state != State::Over { Answer::Ignore } else { Answer::Leave }
    }

    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        self.decide(view)
    }

    fn found(&self, view: &View) -> Found {
        let (rate, tainted) = (self.model.rate(), self.resume.retreat().is_some());
        Found { pipe: self.model.pipe(view), peak: self.inflight_longterm, rate, tainted }
    }

    fn refutes_hint(&self) -> bool {
        self.resume.is_refuted()
    }
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            form: Form::DRAFT,
            state: State::Startup,
            model: BbrModel::NEW,
            rtt: BbrRtt::NEW,
            prior_cwnd: Bytes(0),
            initial_window: Bytes(0),
            pace: Rate(1),
            full: FullPipe::new(Rate(0)),
            low: LowRate::NONE,
            lossy_since: None,
            inflight_longterm: None,
            newly_acked: Bytes(0),
            recovery: Conservation::default(),
            resume: Resume::OFF,
        }
    }
}

impl Knobs for Bbr {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means(
                "gains, window and exits: the draft's (BBRv3), BBRv2's, quiche's, or those of BBR \
                 of 2017 in Linux",
            )
            .preset(presets!(
                |p| p.form,
                ["draft" = Form::DRAFT, "v2" = Form::V2, "quiche" = Form::QUICHE, "v1" = Form::V1]
            )),
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("gain")
            .means("pacing rate of Startup, in bandwidths (`StartupPacingGain`)")
            .ratio(RATIO_ONE..=10 * RATIO_ONE, |p| &mut p.form.gain),
        Knob::new("drain_gain")
            .means("pacing rate of Drain, likewise (`DrainPacingGain`)")
            .ratio(RATIO_ONE / 10..=RATIO_ONE, |p| &mut p.form.drain),
        Knob::new("loss")
            .means("share of a round that may be lost before it leaves; 1 for any (`LossThresh`)")
            .ratio(0..=RATIO_ONE, |p| &mut p.form.loss),
        Knob::new("gaps")
            .means("in how many separate gaps at least (`StartupFullLossCnt`)")
            .count(0..=1_000, |p| &mut p.form.gaps),
        Knob::new("resume")
            .means("try half the rate of an earlier connection (RFC 9959, notes for BBR)")
            .word(words!(|p| p.resume.on, ["off" = false, "on" = true])),
    ];
}

/// Quanta in flight for full throughput (`UpdateOffloadBudget`, TCP).
const QUANTA: u64 = 3;

/// Segments in flight at the least (`MinPipeCwnd`).
const LEAST_SEGMENTS: u64 = 4;

/// Bytes that leave at once at the most (`BBRSetSendQuantum`).
const QUANTUM: u64 = 65_536;

/// quiche's windows per RTT before the first ACK, in millionths.
const QUICHE_FIRST_GAIN: u64 = 2_884_990;

#[cfg(test)]
mod tests;
