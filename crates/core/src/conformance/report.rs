//! What was reported to a recorder, and what was wrong with it.

use std::format;
use std::string::String;
use std::vec::Vec;

use crate::event::{Ack, Loss, LossKind};
use crate::feedback::Feedback;
use crate::hint::PathHint;
use crate::needs::Facilities;
use crate::policy::{Answer, Observer};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Paced, View};

extern crate std;

/// Counts and sums of what was reported to a recorder.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Hints, before the first data.
    pub hints: u64,
    /// Ends of a handshake.
    pub handshakes: u64,
    /// Beginnings; one in a connection that sends.
    pub begins: u64,
    /// Payload that left, retransmissions included, by the last event.
    pub sent: Bytes,
    /// ACKs, the parts of one counted once.
    pub acks: u64,
    /// ACKs with all their parts.
    pub ack_parts: u64,
    /// Those at which [`View::paced`] said that packets are paced.
    pub paced_ack_parts: u64,
    /// Payload acknowledged cumulatively.
    pub acked: Bytes,
    /// Payload delivered.
    pub credited: Bytes,
    /// Payload reported as marked.
    pub marked: Bytes,
    /// RTT samples.
    pub rtts: u64,
    /// Delivery-rate samples.
    pub samples: u64,
    /// ACKs with the state in which their packet had left.
    pub departures: u64,
    /// Losses and marks that began a recovery period or were timeouts.
    pub losses: u64,
    /// Losses within a recovery period.
    pub further_losses: u64,
    /// Payload found lost.
    pub lost: Bytes,
    /// Gaps of all losses.
    pub gaps: u64,
    /// ACKs on which start-up decided during a recovery.
    pub recovery_steps: u64,
    /// Times at which start-up was woken.
    pub wakes: u64,
    /// Reports of routers.
    pub feedback: u64,
    /// What the transport declares.
    promised: Facilities,
    /// The part of it that has arrived.
    arrived: Facilities,
    /// The clock in whose ticks times come.
    tick: Span,
    /// What was wrong.
    complaints: Vec<String>,
    /// The time of the newest event.
    now: Instant,
    /// The round under way.
    round: u64,
    /// When start-up asked to be woken.
    wake: Option<Instant>,
    /// The rate that the policy set, when it set it, and how much may have left by then: what had
    /// left, and one burst.
    pace: Option<(Rate, Instant, Bytes)>,
    /// What the transport's pacer lets leave at once.
    burst: Bytes,
    /// Start-up stayed after the last loss, no timeout, and answers the recovery itself.
    answered: bool,
    /// Start-up wanted a packet sent again at the last ACK: what had been sent by then, and the
    /// position of the next new payload.
    repeats: Option<(Bytes, Bytes)>,
    /// What the last part of an ACK left to its further parts.
    to_come: Bytes,
}

impl Report {
    pub(super) fn on(promised: Facilities) -> Self {
        Self { promised, ..Self::default() }
    }

    /// Everything that arrived was promised and consistent, and of what the transport promises all
    /// arrived that the script gave `occasion` for: a loss for [`Facilities::GAPS`], a hint for
    /// [`Facilities::MEMORY`].
    ///
    /// # Errors
    /// What was wrong, one sentence a line, twenty at most.
    pub fn check(&self, occasion: Facilities) -> Result<(), String> {
        let mut complaints = self.complaints.clone();
        let missing = self.promised.common(occasion).without(self.arrived);
        if !missing.is_empty() {
            complaints.push(format!("promised and never seen: {missing}"));
        }
        let unasked = self.arrived.without(self.promised);
        if !unasked.is_empty() {
            complaints.push(format!("seen and not promised: {unasked}"));
        }
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
    }

    pub(super) fn set_burst(&mut self, burst: Bytes) {
        self.burst = burst;
    }

    pub(super) fn set_tick(&mut self, tick: Span) {
        self.tick = tick;
    }

    pub(super) fn promised(&self) -> Facilities {
        self.promised
    }

    pub(super) fn on_hint(&mut self, hint: &PathHint) {
        self.hints += 1;
        self.arrived = self.arrived
            | match hint {
                PathHint::Own(_) | PathHint::Shared(_) => Facilities::MEMORY,
                PathHint::Granted(_) => Facilities::GRANTS,
            };
        self.expect(self.begins == 0, || "a hint came after the beginning".into());
    }

    fn check_samples(&mut self, ack: &Ack, view: &View) {
        if let Some(rtt) = ack.rtt {
            self.rtts += 1;
            self.arrived = self.arrived | Facilities::TIMES;
            self.expect(rtt > Span(0) && rtt.0 <= ack.now.0, || format!("an RTT of {rtt:?}"));
        }
        let needs_packet = ack.rtt.is_some() && self.promised.has(Facilities::PACKETS);
        self.expect(!needs_packet || ack.packet.is_some(), || {
            "an ACK with an RTT, and without the state of its packet".into()
        });
        let time_passed = ack.packet.is_none_or(|packet| packet.sent_at < ack.now);
        let needs_sample = ack.rtt.is_some() && time_passed && self.promised.has(Facilities::RATES);
        self.expect(!needs_sample || ack.sample.is_some(), || {
            "an ACK with an RTT, and without a delivery-rate sample".into()
        });
        if let Some(packet) = ack.packet {
            self.departures += 1;
            self.arrived = self.arrived | Facilities::PACKETS;
            self.expect(packet.sent_at <= ack.now, || "acknowledged before it left".into());
            let took = ack.now.since(packet.sent_at);
            let tick = self.tick;
            self.expect(ack.rtt.is_none_or(|rtt| rtt.0.abs_diff(took.0) <= tick.0), || {
                format!("an RTT of {:?} of a packet that took {took:?}", ack.rtt)
            });
        }
        if let Some(sample) = ack.sample {
            self.samples += 1;
            self.arrived = self.arrived | Facilities::RATES;
            self.expect(sample.interval > Span(0), || "a sample over no time".into());
            let delivered = ack.packet.map(|packet| view.delivered - packet.delivered);
            self.expect(delivered.is_none_or(|all| all == sample.delivered), || {
                format!("a sample of {:?} where {delivered:?} came since", sample.delivered)
            });
        }
    }

    fn look_at_loss(&mut self, loss: &Loss, view: &View) {
        self.lost += loss.lost;
        self.gaps += u64::from(loss.gaps);
        self.look(view);
        self.expect(loss.now == view.now, || "a loss at two times".into());
        let sound = if loss.lost > Bytes(0) {
            loss.kind != LossKind::Mark && (1..=loss.lost.0).contains(&loss.gaps.into())
        } else {
            loss.kind != LossKind::Recovery && loss.gaps == 0
        };
        self.expect(sound, || format!("{:?} lost in {} gaps", loss.lost, loss.gaps));
        let (credited, lost) = (self.credited, self.lost);
        self.expect(credited + lost <= view.sent, || {
            format!("{credited:?} delivered and {lost:?} lost of {:?} sent", view.sent)
        });
        self.expect(loss.sent_at.is_none_or(|at| at <= loss.now), || "lost before it left".into());
        if loss.gaps > 0 && self.promised.has(Facilities::GAPS) {
            self.arrived = self.arrived | Facilities::GAPS;
        }
    }

    pub(super) fn on_answer(&mut self, answer: Answer, loss: &Loss) {
        let stays = matches!(answer, Answer::Land(_) | Answer::Ignore);
        self.answered = stays && loss.kind != LossKind::Timeout;
        if !self.answered {
            (self.pace, self.wake) = (None, None);
        }
    }

    pub(super) fn on_step(&mut self, ack: &Ack, view: &View) {
        self.expect(!view.recovering, || "a decision as if there were no recovery".into());
        self.expect(ack.acked > Bytes(0), || "a decision on no new data".into());
    }

    pub(super) fn on_recovering(&mut self, view: &View) {
        self.recovery_steps += 1;
        self.arrived = self.arrived | Facilities::RECOVERY_WINDOW;
        self.expect(view.recovering && self.answered, || {
            "a decision in a recovery that start-up left to others".into()
        });
    }

    pub(super) fn on_asked_to_repeat(&mut self, repeats: bool, view: &View) {
        self.repeats = repeats.then_some((view.sent, view.snd_nxt));
    }

    pub(super) fn on_exit(&mut self) {
        (self.pace, self.wake) = (None, None);
    }

    pub(super) fn wants_wake(&self) -> bool {
        self.promised.has(Facilities::WAKE_UPS) && self.wake.is_none()
    }

    pub(super) fn wishes_wake(&mut self, at: Instant) {
        self.wake = Some(at);
    }

    pub(super) fn on_wake(&mut self, view: &View) {
        self.wakes += 1;
        let kinds = Facilities::WAKE_UPS | Facilities::PACED_WAKE_UPS;
        let promised = self.promised.common(kinds);
        self.arrived = self.arrived | if promised.is_empty() { kinds } else { promised };
        let due = self.wake.take();
        self.expect(due.is_some_and(|at| at <= view.now), || {
            format!("woken at {:?}, wanted {due:?}", view.now)
        });
    }

    pub(super) fn on_paced(&mut self, rate: Rate, view: &View) {
        self.pace.get_or_insert((rate, view.now, view.sent + self.burst));
    }

    /// No more has left than the rate allows since it was set, and two packets.
    fn check_pace(&mut self, view: &View) {
        let Some((rate, since, sent)) = self.pace else { return };
        self.arrived = self.arrived | Facilities::PACING;
        let most = rate.over(view.now.since(since)) + view.mss * 2;
        self.expect(view.sent - sent <= most, || {
            format!("{:?} left where {rate:?} allows {most:?}", view.sent - sent)
        });
    }

    /// What holds at every event.
    fn look(&mut self, view: &View) {
        let before = self.now;
        self.expect(view.now >= before, || format!("from {before:?} to {:?}", view.now));
        self.expect(view.sent >= self.sent, || "the total of what was sent falls".into());
        let (acked, credited) = (self.acked, self.credited);
        self.expect((view.acked, view.delivered) == (acked, credited), || {
            format!("{acked:?} acked and {credited:?} credited are not the view's")
        });
        self.expect(acked <= credited, || format!("{acked:?} acked of {credited:?} delivered"));
        self.expect(credited <= view.sent, || {
            format!("{credited:?} delivered of {:?} sent", view.sent)
        });
        self.expect(view.in_flight + acked <= view.sent, || {
            format!("{:?} in flight and {acked:?} acked of {:?}", view.in_flight, view.sent)
        });
        self.expect(view.window.cwnd >= view.mss, || "a window below a segment".into());
        self.expect(view.round >= self.round, || "rounds go back".into());
        (self.now, self.sent, self.round) = (view.now, view.sent, view.round);
    }

    fn expect(&mut self, holds: bool, complaint: impl FnOnce() -> String) {
        if !holds && self.complaints.len() < MOST_COMPLAINTS {
            let complaint = complaint();
            self.complaints.push(format!("at {} ns: {complaint}", self.now.0));
        }
    }
}

impl Observer for Report {
    fn on_handshake(&mut self, view: &View) {
        self.handshakes += 1;
        self.look(view);
        self.expect(self.handshakes == 1, || "a second handshake ended".into());
        self.expect(view.rtt.latest > Span(0), || "a handshake ended without an RTT".into());
    }

    fn on_begin(&mut self, view: &View) {
        self.begins += 1;
        self.look(view);
        self.expect(self.begins == 1, || "a second beginning".into());
        self.expect(view.sent == Bytes(0), || "data left before the beginning".into());
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.ack_parts += 1;
        self.paced_ack_parts += u64::from(view.paced != Paced::No);
        self.acks += u64::from(!ack.continues);
        self.acked += ack.acked;
        self.credited += ack.credited;
        self.marked += ack.marked;
        let (before, to_come) = (self.now, self.to_come);
        self.to_come = ack.to_come;
        if let Some((sent, snd_nxt)) = self.repeats.take()
            && view.sent - sent > view.snd_nxt - snd_nxt
        {
            self.arrived = self.arrived | Facilities::REPEATS;
        }
        self.look(view);
        self.check_pace(view);
        self.expect(ack.now == view.now, || "an ACK at two times".into());
        self.expect(ack.in_flight == view.in_flight, || "two amounts in flight".into());
        self.expect(view.acked <= ack.snd_nxt, || "acknowledged beyond SND.NXT".into());
        if ack.continues {
            let bare = (ack.credited, ack.rtt, ack.sample, ack.packet, ack.marked);
            let bare = bare == (Bytes(0), None, None, None, Bytes(0)) && ack.acked > Bytes(0);
            self.expect(bare, || "a further part of an ACK says more than acked".into());
            let falls = ack.to_come < to_come;
            self.expect(falls, || "an ACK did not say what its further parts tell of".into());
            self.expect(before == ack.now, || "the parts of an ACK came at two times".into());
        } else {
            self.check_samples(ack, view);
        }
        if ack.marked > Bytes(0) {
            self.arrived = self.arrived | Facilities::MARKS;
        }
        // Nothing else shows that it is how much has left; every event checks its bounds.
        if view.sent > Bytes(0) {
            self.arrived = self.arrived | self.promised.common(Facilities::SENT);
        }
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.losses += 1;
        self.look_at_loss(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.further_losses += 1;
        self.look_at_loss(loss, view);
        self.expect(self.losses > 0, || "a further loss before the first".into());
        self.expect(loss.kind == LossKind::Recovery && loss.lost > Bytes(0), || {
            format!("a further loss of {:?} by {:?}", loss.lost, loss.kind)
        });
    }

    fn on_feedback(&mut self, feedback: &Feedback, _view: &View) {
        self.feedback += 1;
        self.arrived = self.arrived
            | match feedback {
                Feedback::Change(_) => Facilities::ROUTER_CHANGES,
                Feedback::Share(_) => Facilities::ROUTER_SHARES,
            };
    }
}

const MOST_COMPLAINTS: usize = 20;
