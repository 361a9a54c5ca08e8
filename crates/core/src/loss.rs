//! The rules of a loss, written once: one cut per recovery, who answers it, the phases after it,
//! undo.

use crate::event::{Loss, LossKind};
use crate::mechanism::{MIN_SSTHRESH_SEGMENTS, Mechanism, Repair};
use crate::pacing::Pacing;
use crate::policy::{Answer, Avoidance, Entry, Exit, Startup};
use crate::sender::StartupExit;
use crate::units::{Bytes, Instant};
use crate::view::{Phase, Window};

/// What the rules remember between losses.
#[derive(Clone, Debug)]
pub(crate) struct LossState<S, A> {
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
    before_cut: Option<BeforeCut<S, A>>,
}

/// The state that undoing a cut restores.
#[derive(Clone, Debug)]
struct BeforeCut<S, A> {
    window: Window,
    phase: Phase,
    pace: Option<Pacing>,
    wake: Option<Instant>,
    startup: S,
    avoidance: A,
    first_exit: Option<StartupExit>,
}

impl<S: Startup + Clone, A: Avoidance + Clone> LossState<S, A> {
    /// The state before any loss.
    pub(crate) const NONE: Self = Self {
        cut_covers_up_to: None,
        cut_at: None,
        growth_allowed_after_cut: false,
        ignored: None,
        before_cut: None,
    };

    /// When the last recovery period began (RFC 9002 section 7.3.2).
    pub(crate) fn cut_at(&self) -> Option<Instant> {
        self.cut_at
    }

    /// The same, if the window was cut for it, or start-up lands.
    pub(crate) fn reduced_at(&self) -> Option<Instant> {
        self.cut_at.filter(|_| self.ignored.is_none())
    }

    /// Data was found lost, or a mark came. Returns whether the window was cut.
    #[inline(never)]
    pub(crate) fn on_loss(
        &mut self,
        loss: &Loss,
        mechanism: &mut Mechanism,
        startup: &mut S,
        avoidance: &mut A,
    ) -> bool {
        let timeout = loss.kind == LossKind::Timeout;
        if !timeout && self.is_answered(loss, mechanism) {
            // By its time a loss can be answered long after the recovery that answered it.
            if loss.sent_at.is_none() && !loss.after_timeout {
                Self::join_recovery(loss.kind, mechanism);
            }
            if loss.lost > Bytes(0) {
                let loss = &Loss { answered: true, ..*loss };
                mechanism.view.now = loss.now;
                startup.on_further_loss(loss, &mechanism.view);
                avoidance.on_further_loss(loss, &mechanism.view);
                if matches!(mechanism.repair, Repair::Landing(_)) {
                    let window = startup.losing(loss, &mechanism.view);
                    mechanism.set_cwnd(window.cwnd.min(mechanism.view.window.cwnd));
                }
            }
            return false;
        }
        let before = loss.sent_at.zip(self.cut_at).is_some_and(|(sent, cut)| sent <= cut);
        let loss = &Loss { answered: loss.answered || before, ..*loss };
        if !(timeout && loss.answered && self.before_cut.is_some()) {
            self.before_cut = Some(BeforeCut {
                window: mechanism.view.window,
                phase: mechanism.view.phase,
                pace: mechanism.pace,
                wake: mechanism.wake,
                startup: startup.clone(),
                avoidance: avoidance.clone(),
                first_exit: mechanism.first_exit,
            });
        }
        mechanism.view.now = loss.now;
        mechanism.view.eligible = startup.eligible();
        mechanism.view.beta = avoidance.beta();
        startup.on_loss(loss, &mechanism.view);
        avoidance.on_loss(loss, &mechanism.view);
        self.cut_covers_up_to = Some(mechanism.view.snd_nxt);
        self.cut_at = Some(loss.now);
        self.ignored = None;
        let stays = mechanism.view.phase == Phase::Startup && !timeout;
        let goes_on = mechanism.view.phase == Phase::Avoidance && !timeout;
        match startup.answer(loss, &mechanism.view) {
            Answer::Ignore if stays => return self.ignore(loss.kind, mechanism),
            Answer::Land(window) if stays => self.land(window, loss.kind, mechanism),
            Answer::Retreat(window) => self.cut(loss, Some(window), mechanism, startup, avoidance),
            _ if goes_on && avoidance.goes_on() => return self.ignore(loss.kind, mechanism),
            _ => self.cut(loss, None, mechanism, startup, avoidance),
        }
        true
    }

    /// The window before the last cut returns, because nothing had been lost. Of timeouts in a row,
    /// all are undone.
    #[cold]
    pub(crate) fn undo(&mut self, mechanism: &mut Mechanism, startup: &mut S, avoidance: &mut A) {
        let Some(before) = self.before_cut.take() else { return };
        let cwnd = mechanism.view.window.cwnd.max(before.window.cwnd);
        mechanism.view.window.ssthresh = before.window.ssthresh;
        mechanism.view.phase = before.phase;
        mechanism.view.recovering = false;
        mechanism.repair = Repair::Transport;
        mechanism.set_pace(before.pace);
        mechanism.set_wake(before.wake);
        mechanism.first_exit = before.first_exit;
        (*startup, *avoidance) = (before.startup, before.avoidance);
        (self.cut_covers_up_to, self.cut_at) = (None, None);
        mechanism.set_cwnd(cwnd);
    }

    /// The avoidance cuts, or start-up takes back what a hint had led to.
    fn cut(
        &mut self,
        loss: &Loss,
        retreat: Option<Window>,
        mechanism: &mut Mechanism,
        startup: &mut S,
        avoidance: &mut A,
    ) {
        let timeout = loss.kind == LossKind::Timeout;
        let before = mechanism.view.window.cwnd;
        let cut = retreat.unwrap_or_else(|| avoidance.cut(loss, &mechanism.view));
        let mss = mechanism.view.mss;
        mechanism.set_cwnd(if timeout { startup.restart_window(mss) } else { cut.cwnd });
        mechanism.view.window.ssthresh =
            cut.ssthresh.whole_segments(mss).max(mss * MIN_SSTHRESH_SEGMENTS);
        self.growth_allowed_after_cut = loss.kind == LossKind::Mark || retreat.is_some();
        mechanism.max_flight = Bytes(0);
        if mechanism.view.phase == Phase::Startup {
            mechanism.leave_startup(exit_by(loss.kind), before, startup, avoidance);
        }
        mechanism.repair = Repair::Transport;
        mechanism.set_pace(None);
        // What is taken back is repaired in slow start, as after a timeout. A mark neither begins
        // nor ends a repair.
        mechanism.view.recovering = retreat.is_none()
            && match loss.kind {
                LossKind::Recovery => true,
                LossKind::Mark => mechanism.view.recovering,
                LossKind::Timeout => false,
            };
        if timeout {
            mechanism.round_end = mechanism.view.acked;
            mechanism.enter_startup(Entry::Timeout, startup);
        } else if retreat.is_some() {
            mechanism.enter_startup(Entry::Retreat, startup);
        }
    }

    /// Start-up sets the window, now and on every ACK until the recovery ends; where a mark began
    /// it, until what is outstanding now is acknowledged.
    fn land(&mut self, window: Window, kind: LossKind, mechanism: &mut Mechanism) {
        mechanism.note_exit(exit_by(kind), mechanism.view.window.cwnd);
        let by_mark = kind == LossKind::Mark && !mechanism.view.recovering;
        let end = if by_mark { mechanism.view.snd_nxt } else { Bytes::MAX };
        mechanism.repair = Repair::Landing(end);
        mechanism.view.recovering = true;
        self.growth_allowed_after_cut = false;
        mechanism.max_flight = Bytes(0);
        mechanism.set_cwnd(window.cwnd);
        mechanism.view.window.ssthresh = window.ssthresh;
    }

    /// The policy in charge goes on; what is lost is repaired.
    fn ignore(&mut self, kind: LossKind, mechanism: &mut Mechanism) -> bool {
        self.growth_allowed_after_cut = false;
        self.ignored = Some((kind, mechanism.view.phase));
        if kind == LossKind::Recovery {
            mechanism.repair = Repair::Ignored;
            mechanism.view.recovering = true;
        }
        false
    }

    /// A loss that an earlier answer covers is still repaired. Where start-up was landing for a
    /// mark, it does so until the transport's recovery ends.
    fn join_recovery(kind: LossKind, mechanism: &mut Mechanism) {
        if kind != LossKind::Recovery {
            return;
        }
        mechanism.view.recovering = true;
        if let Repair::Landing(end) = &mut mechanism.repair {
            *end = Bytes::MAX;
        }
    }

    /// Whether the last answer covers this loss: one cut counts for all data that was in flight at
    /// it (RFC 6582 section 3.2, RFC 3168 section 6.1.2). With a time at which the lost data had
    /// left, that time decides (RFC 9002 section 7.3.1). Otherwise a mark refers to data at or
    /// below what is acknowledged, a loss to data above it; a loss outside recovery is a new one,
    /// unless the window went on growing after the last cut.
    fn is_answered(&self, loss: &Loss, mechanism: &Mechanism) -> bool {
        if loss.after_timeout {
            return true;
        }
        let (Some(covered), Some(cut_at)) = (self.cut_covers_up_to, self.cut_at) else {
            return false;
        };
        // A start-up that has left since has answered the first event by that.
        let other = |(kind, phase)| kind != loss.kind && phase == mechanism.view.phase;
        if self.ignored.is_some_and(other) {
            return false;
        }
        if let Some(sent_at) = loss.sent_at {
            return sent_at <= cut_at;
        }
        let view = &mechanism.view;
        match loss.kind {
            LossKind::Mark => view.recovering || view.acked <= covered,
            _ => view.recovering || self.growth_allowed_after_cut && view.acked < covered,
        }
    }
}

const fn exit_by(kind: LossKind) -> Exit {
    match kind {
        LossKind::Recovery => Exit::Loss,
        LossKind::Timeout => Exit::Timeout,
        LossKind::Mark => Exit::Mark,
    }
}
