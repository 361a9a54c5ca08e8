//! The rules of a loss, written once: one cut per recovery, who answers it, the phases after it,
//! undo.

use super::recovery::InCharge;
use super::{MIN_SSTHRESH_SEGMENTS, Mechanism};
use crate::config::StartupExit;
use crate::event::{Loss, LossKind};
use crate::pacing::Pacing;
use crate::pair::Policies;
use crate::policy::{Answer, Avoidance, Entry, Exit, Startup};
use crate::units::{Bytes, Instant};
use crate::view::{Phase, Window};

/// What the rules remember between losses.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// Data before this position was sent before the last answer, and that answer covers its loss.
    cut_covers_up_to: Option<Bytes>,
    /// When the last answer was given.
    cut_at: Option<Instant>,
    /// Whether the last cut answered a mark or was a retreat: the window goes on growing, and data
    /// sent before the cut may still be found lost.
    growth_allowed_after_cut: bool,
    /// An event of this kind was ignored, in this phase ([`Answer::Ignore`],
    /// [`Avoidance::goes_on`]). As the window was not cut, that covers no event of another kind.
    ignored: Option<(LossKind, Phase)>,
    /// What an undo brings back.
    before_cut: Option<BeforeCut>,
}

/// The state that undoing a cut restores, besides the policies ([`Policies::keep`]).
#[derive(Clone, Copy, Debug)]
struct BeforeCut {
    window: Window,
    phase: Phase,
    plain_slow_start: bool,
    pace: Option<Pacing>,
    wake: Option<Instant>,
    first_exit: Option<StartupExit>,
}

impl Losses {
    /// The state before any loss.
    pub(super) const NONE: Self = Self {
        cut_covers_up_to: None,
        cut_at: None,
        growth_allowed_after_cut: false,
        ignored: None,
        before_cut: None,
    };
}

impl Mechanism {
    /// When the last recovery period began (RFC 9002 section 7.3.2).
    pub(crate) fn cut_at(&self) -> Option<Instant> {
        self.losses.cut_at
    }

    /// When the last recovery period began, if the window was cut for it, or start-up lands.
    pub(crate) fn reduced_at(&self) -> Option<Instant> {
        self.losses.cut_at.filter(|_| self.losses.ignored.is_none())
    }

    /// Data was found lost, or a mark came. Returns whether the window was cut.
    #[inline(never)]
    pub(crate) fn on_loss(&mut self, loss: &Loss, policies: &mut impl Policies) -> bool {
        let timeout = loss.kind == LossKind::Timeout;
        if !timeout && self.is_answered(loss) {
            self.note_answered(loss, policies);
            return false;
        }
        let cut_at = self.losses.cut_at;
        let before = loss.sent_at.zip(cut_at).is_some_and(|(sent, cut)| sent <= cut);
        let loss = &Loss { answered: loss.answered || before, ..*loss };
        if !(timeout && loss.answered && self.losses.before_cut.is_some()) {
            self.losses.before_cut = Some(BeforeCut {
                window: self.view.window,
                phase: self.view.phase,
                plain_slow_start: self.view.plain_slow_start,
                pace: self.pace,
                wake: self.wake,
                first_exit: self.first_exit,
            });
            policies.keep();
        }
        let (startup, avoidance) = policies.both();
        self.view.now = loss.now;
        self.view.eligible = startup.eligible();
        self.view.beta = avoidance.beta();
        startup.on_loss(loss, &self.view);
        avoidance.on_loss(loss, &self.view);
        // RFC 6582 section 3.2 step 2: `recover`; RFC 9002 section 7.3.2: the period begins now.
        self.losses.cut_covers_up_to = Some(self.view.snd_nxt);
        self.losses.cut_at = Some(loss.now);
        self.losses.ignored = None;
        let stays = self.view.phase == Phase::Startup && !timeout;
        let goes_on = self.view.phase == Phase::Avoidance && !timeout;
        let answer = match self.view.plain_slow_start {
            true => Answer::Leave,
            false => startup.answer(loss, &self.view),
        };
        match answer {
            Answer::Ignore if stays => return self.ignore(loss.kind),
            Answer::Land(window) if stays => self.land(window, loss.kind),
            Answer::Retreat(window) => self.cut(loss, Some(window), startup, avoidance),
            _ if goes_on && avoidance.goes_on() => return self.ignore(loss.kind),
            _ => self.cut(loss, None, startup, avoidance),
        }
        true
    }

    /// A loss that an earlier answer covers is repaired, and both policies see it. A start-up that
    /// is landing says what it leaves of the window.
    fn note_answered(&mut self, loss: &Loss, policies: &mut impl Policies) {
        // By its time a loss can be answered long after the recovery that answered it.
        if loss.sent_at.is_none() && !loss.after_timeout {
            self.join_recovery(loss.kind);
        }
        if loss.lost == Bytes(0) {
            return;
        }
        let loss = &Loss { answered: true, ..*loss };
        self.view.now = loss.now;
        let (startup, avoidance) = policies.both();
        startup.on_further_loss(loss, &self.view);
        avoidance.on_further_loss(loss, &self.view);
        if matches!(self.in_charge, InCharge::Landing(_)) {
            let window = startup.land_further(loss, &self.view);
            self.set_cwnd(window.cwnd.min(self.view.window.cwnd));
        }
    }

    /// The window before the last cut returns, because nothing had been lost, or the present one if
    /// it is larger (Linux's `tcp_undo_cwnd_reduction`). Of timeouts in a row, all are undone.
    #[cold]
    pub(crate) fn undo(&mut self, policies: &mut dyn Policies) {
        let Some(before) = self.losses.before_cut.take() else { return };
        let cwnd = self.view.window.cwnd.max(before.window.cwnd);
        self.view.window.ssthresh = before.window.ssthresh;
        self.view.phase = before.phase;
        self.view.plain_slow_start = before.plain_slow_start;
        self.view.recovering = false;
        self.in_charge = InCharge::Transport;
        self.set_pace(before.pace);
        self.set_wake(before.wake);
        self.first_exit = before.first_exit;
        policies.restore();
        (self.losses.cut_covers_up_to, self.losses.cut_at) = (None, None);
        self.set_cwnd(cwnd);
    }

    /// The avoidance cuts, or start-up takes back what a hint had led to.
    fn cut(
        &mut self,
        loss: &Loss,
        retreat: Option<Window>,
        startup: &mut dyn Startup,
        avoidance: &mut dyn Avoidance,
    ) {
        let timeout = loss.kind == LossKind::Timeout;
        let before = self.view.window.cwnd;
        let cut = retreat.unwrap_or_else(|| avoidance.cut(loss, &self.view));
        let mss = self.view.mss;
        // RFC 5681 section 3.1: after a timeout the loss window, one segment.
        self.set_cwnd(if timeout { startup.restart_window(mss) } else { cut.cwnd });
        // RFC 5681 section 3.1, equation 4: at least two segments.
        self.view.window.ssthresh =
            cut.ssthresh.whole_segments(mss).max(mss * MIN_SSTHRESH_SEGMENTS);
        self.losses.growth_allowed_after_cut = loss.kind == LossKind::Mark || retreat.is_some();
        self.max_flight = Bytes(0);
        if self.view.phase == Phase::Startup {
            self.leave_startup(Exit::by(loss.kind), before, startup, avoidance);
        }
        self.in_charge = InCharge::Transport;
        self.set_pace(None);
        // What is taken back is repaired in slow start, as after a timeout. A mark neither begins
        // nor ends a repair.
        self.view.recovering = retreat.is_none()
            && match loss.kind {
                LossKind::Recovery => true,
                LossKind::Mark => self.view.recovering,
                LossKind::Timeout => false,
            };
        if timeout {
            self.round_end = self.view.acked;
            self.enter_startup(Entry::Timeout, startup);
        } else if retreat.is_some() {
            self.enter_startup(Entry::Retreat, startup);
        }
    }

    /// Start-up sets the window, now and on every ACK until the recovery ends; where a mark began
    /// it, until what is outstanding now is acknowledged.
    fn land(&mut self, window: Window, kind: LossKind) {
        self.note_exit(Exit::by(kind), self.view.window.cwnd);
        let by_mark = kind == LossKind::Mark && !self.view.recovering;
        let end = if by_mark { self.view.snd_nxt } else { Bytes::MAX };
        self.in_charge = InCharge::Landing(end);
        self.view.recovering = true;
        self.losses.growth_allowed_after_cut = false;
        self.max_flight = Bytes(0);
        self.set_cwnd(window.cwnd);
        self.view.window.ssthresh = window.ssthresh;
    }

    /// The policy in charge goes on; what is lost is repaired.
    fn ignore(&mut self, kind: LossKind) -> bool {
        self.losses.growth_allowed_after_cut = false;
        self.losses.ignored = Some((kind, self.view.phase));
        if kind == LossKind::Recovery {
            self.in_charge = InCharge::GoingOn;
            self.view.recovering = true;
        }
        false
    }

    /// A loss that an earlier answer covers is still repaired. Where start-up was landing for a
    /// mark, it does so until the transport's recovery ends.
    fn join_recovery(&mut self, kind: LossKind) {
        if kind != LossKind::Recovery {
            return;
        }
        self.view.recovering = true;
        if let InCharge::Landing(end) = &mut self.in_charge {
            *end = Bytes::MAX;
        }
    }

    /// Whether the last answer covers this loss: one cut counts for all data that was in flight at
    /// it (RFC 6582 section 3.2, RFC 3168 section 6.1.2). With a time at which the lost data had
    /// left, that time decides (RFC 9002 section 7.3.1). Otherwise a mark refers to data at or
    /// below what is acknowledged, a loss to data above it; a loss outside recovery is a new one,
    /// unless the window went on growing after the last cut.
    fn is_answered(&self, loss: &Loss) -> bool {
        if loss.after_timeout {
            return true;
        }
        let Losses { cut_covers_up_to, cut_at, ignored, growth_allowed_after_cut, .. } =
            &self.losses;
        let (Some(covered), Some(cut_at)) = (cut_covers_up_to, cut_at) else { return false };
        // A start-up that has left since has answered the first event by that.
        let other = |(kind, phase)| kind != loss.kind && phase == self.view.phase;
        if ignored.is_some_and(other) {
            return false;
        }
        // RFC 9002 section 7.3.1: a period answers what left before it began.
        if let Some(sent_at) = loss.sent_at {
            return sent_at <= *cut_at;
        }
        let view = &self.view;
        match loss.kind {
            // RFC 3168 section 6.1.2: once per window of data.
            LossKind::Mark => view.recovering || view.acked <= *covered,
            // RFC 6582 section 3.2 step 2: not before everything up to `recover` is acknowledged.
            _ => view.recovering || *growth_allowed_after_cut && view.acked < *covered,
        }
    }
}
