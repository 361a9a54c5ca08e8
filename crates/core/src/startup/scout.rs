//! Scout: every round begins with a short train at four times the round's rate, and what the RTT
//! does over the train decides how the window grows.
//!
//! What it believes: packets that come faster than the bottleneck forwards them queue, so that the
//! RTT rises from the first of them to the last, and their ACKs come at the bottleneck's rate. The
//! ACKs of a train at the head of a round are the first of the next round. So the sender knows of
//! a rate before it has sent a window at it, where growth that looks at RTTs of whole rounds sees
//! a queue one round late. What does not belong to a train is spread evenly over the RTT, so that
//! nothing but trains builds a queue. What it does, with `target` for the data of a round:
//!
//! ```text
//! begin:   target = IW, all of it the train; where the RTT is known, up to 2 IW, a packet per
//!          1.2 ms of the RTT, of which IW is the train
//! round:   train = target/8 at 4 target/srtt, of at least 8 segments and 3 ACKs;
//!          spread = target at target/srtt;  cwnd = target + train
//! train acknowledged, from its first ACK to its last (of a single ACK: from when its first packet
//! would have been acknowledged, which is when it left and the RTT before the train):
//!     rise = of the RTT;  time = between them;  pipe = bytes/time minrtt
//!     most = 4 target, and 4 times the flight, so that an unused target does not grow
//!   silent, no ACK, or a single one of a train that did not leave at its pace:
//!       target = 2 target; or, if the smallest RTT of the spread is above
//!       minrtt + clamp(minrtt/8, 4 ms, 16 ms) + max_ack_delay of the receiver (RFC 9000;
//!       none over TCP), leave(1.1 of what arrived in a minrtt)
//!   passed, rise <= time/8:                      target = 8/7 pipe, from target to most
//!   compressed, the RTT fell by more than time/8:  target = 3/2 target
//!   slowed, room, pipe > 1.1 target; over four trains' length after the train the RTT
//!       falls by rise/2:  target = free, from target to pipe and to most, where
//!                         free = (bytes left + pipe/minrtt fall)/time left in minrtt
//!       does not:         leave(pipe/4, from target)
//!   slowed, no room; over four trains' length after the train the RTT
//!       is not higher by rise/2 than before it, although packets left soon enough after it to be
//!       late (noise):     target = 3/2 target
//!       is higher:        target stays; after five such trains in a row leave(their largest pipe)
//! leave(pipe):  cwnd = ssthresh = min(target, pipe); CUBIC's curve turns at pipe where that is
//!               more than cwnd, which is then its W_max
//! loss:         land at 0.85 of what arrives of what is outstanding, much as Rapid Start; leave
//! ```
//!
//! `now - rtt` is when a packet left, so `rise/time` is by how much the ACKs came more slowly than
//! the packets had left. That needs no record of what was sent. A train that the window, the
//! receiver, a timer or segmentation offload held up lets the window grow less, and ends nothing.
//! A train that says something of the path lets the target become no more than 8/7 of what it
//! showed. One of which no ACK tells doubles it, as slow start does without having asked. After
//! noise (ACKs faster than the packets, or a train that seemed full and was not) it grows by half.
//!
//! Known before: what packets that are sent close together show of the bottleneck (packet pairs
//! and trains; HyStart's ACK train, Ha and Rhee 2011; chirps, RFC 6077 section 5.3), spreading a
//! window over a round (Aggarwal and others, INFOCOM 2000), and the landing (draft-kazuho-ccwg-
//! rapid-start section 3.3). Ours: a train at the head of every round at the rate after next, its
//! judgement by the RTTs alone, and that of what follows a train that slowed down. That a train
//! comes out at its share of what all send is known (TOPP, Melander and others, GLOBECOM 2000).
//!
//! What is missing: a policer lets trains pass up to its bucket, ACKs in lumps as long as a train
//! say nothing of it, and jitter as long as a train hides it. Trains only choose the growth, and
//! leaving needs what follows the train to agree, so that such paths cost time and not much more.
//!
//! The first window is twice an ordinary one (`first`), as Rapid Start's is: what is more leaves at
//! the pace at which the second window of slow start would come. A transfer of few windows is a
//! round trip sooner done by it. Over a short RTT a slow path does not hold as much, and what it
//! does not hold is lost before anything is known. So the window is no more than a path of 10
//! Mbit/s holds (`spacing`). A single ACK is enough to judge a train (`acks`): what left before
//! the train has told what its first packet would have taken. Where receivers thin ACKs, a short
//! train has no more. The rate at which a train came is a share of what others send, more than what
//! is free; how fast its queue drains behind it tells how much that is (`polite`).
//!
//! `resume=on` is Scouted Resume (`resume.rs`): a train tests what an earlier connection knew.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::hint::PathHint;
use crate::knob::{Knobs, RATIO_ONE};
use crate::landing::{LEAST_SEGMENTS, Landing};
use crate::needs::{Facilities, Needs};
use crate::opening::Opening;
use crate::pacing::Pacing;
use crate::policy::{Answer, Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

mod after_train;
mod knobs;
mod resume;
mod spread;
mod train;

use after_train::{AfterTrain, Queue};
use resume::Resume;
use spread::Spread;
use train::{RttSample, Train, Verdict};

/// Start-up that looks a round ahead by a train of packets.
#[derive(Clone, Copy, Debug)]
pub struct Scout {
    opening: Opening,
    /// A train's rate in that of its round, and the largest growth, in millionths.
    train_gain: u64,
    /// The first window in ordinary ones at most, in millionths.
    first_window: u64,
    /// A first window beyond an ordinary one has RTT/`spacing` packets at most; where this is zero,
    /// any number.
    spacing: Span,
    /// A train is this part of the target.
    share: u64,
    /// A train passes if the RTT rises by no more than this part of its time.
    pass_part: u64,
    /// A train that slowed down shows room if its pipe is more than this multiple of the target, in
    /// millionths.
    least_room: u64,
    /// How much of what follows a train that slowed down is judged too, in millionths of the
    /// train's length; 0 is nothing.
    after_lengths: u64,
    /// What a landing leaves of what arrived, in millionths.
    keeps: u64,
    /// The fewest ACKs of a train that are judged.
    least_acks: u64,
    /// The target is limited to the free capacity, which the queue after a train shows.
    polite: bool,
    /// Trains, and what is spread over the round, have rates of their own.
    paces: bool,
    /// The first window was opened a second time, because the ACK of a handshake's packet came
    /// before it had left.
    reopened: bool,
    /// What a round sends beside its train.
    target: Bytes,
    /// The train of this round.
    train: Train,
    /// What has arrived of what was spread over the round.
    spread: Spread,
    /// What follows the train of this round, which slowed down.
    after_train: Option<AfterTrain>,
    /// The trains in a row that found the target to be all that the path holds.
    full: Full,
    /// The recovery of the first loss.
    landing: Option<Landing>,
    /// What the path holds, once a train or the ACKs of the spread have told.
    pipe: Option<Bytes>,
    /// What the trains said.
    verdicts: Verdicts,
    resume: Resume,
}

/// Trains in a row that found the target to be all that the path holds.
#[derive(Clone, Copy, Debug, Default)]
struct Full {
    trains: u64,
    /// The most that one of them showed.
    pipe: Bytes,
}

impl Full {
    fn note(&mut self, pipe: Bytes) {
        self.trains += 1;
        self.pipe = self.pipe.max(pipe);
    }
}

/// How often which verdict was given, for traces.
#[derive(Clone, Copy, Debug, Default)]
struct Verdicts {
    silent: u64,
    passed: u64,
    slowed: u64,
    noise: u64,
}

impl Scout {
    /// Where the handshake has told the RTT, the first window leaves as a train, and what is more
    /// than an ordinary window of it is spread over the RTT as Rapid Start spreads its own
    /// (draft-kazuho-ccwg-rapid-start section 3.1).
    fn open_first(&mut self, iw: Bytes, view: &View) -> Step {
        self.target = iw;
        if view.rtt.smoothed == Span(0) {
            return view.window.hold();
        }
        // Ours: no more than a path of 10 Mbit/s holds, unless an ordinary window is.
        let twice = iw.scaled(self.first_window, RATIO_ONE);
        self.target = twice.min(self.held(view)).max(iw);
        if self.target > iw {
            self.train.end = view.snd_nxt + iw;
        }
        let step = Window { cwnd: self.target, ..view.window }.hold();
        self.pace(step, iw, self.train_gain, view)
    }

    /// What a path holds that takes `spacing` for a packet.
    fn held(&self, view: &View) -> Bytes {
        match self.spacing {
            Span(0) => Bytes::MAX,
            spacing => view.mss * (view.rtt.smoothed.0 / spacing.0),
        }
    }

    /// A round with this target begins after a train that did not find the target to be all.
    fn begin_round(&mut self, target: Bytes, view: &View) -> Step {
        self.full = Full::default();
        self.begin_round_at(target, self.train_gain, view)
    }

    /// A round with this target begins; its train leaves at `gain` times the round's rate, in
    /// millionths.
    fn begin_round_at(&mut self, target: Bytes, gain: u64, view: &View) -> Step {
        // Ours: a train of target/8 at four times the round's rate; the rest over the RTT (INFOCOM
        // 2000).
        self.target = target.max(view.mss * 2);
        let (begin, length) = (view.snd_nxt, self.next_train_length(self.target, view));
        self.train = Train { begin, end: begin + length, ..Train::FIRST };
        self.spread = Spread::new(view);
        self.after_train = None;
        let step = self.go_on_with_round(view);
        if view.rtt.smoothed == Span(0) {
            return step;
        }
        self.pace(step, length, gain, view)
    }

    /// The step, paced: the target leaves over a smoothed RTT, and before it a train of this length
    /// at `gain` times that rate, in millionths.
    fn pace(&mut self, step: Step, length: Bytes, gain: u64, view: &View) -> Step {
        // Ours: the train leaves at `train_gain` times the round's rate. `pace=off` sets no rate.
        if !self.paces {
            return step;
        }
        let rate = self.target.per(view.rtt.smoothed).max(Rate(1));
        let fast = rate.scaled(gain, RATIO_ONE);
        let most = self.target.scaled(gain, RATIO_ONE);
        self.train.began = view.now;
        self.train.leaves_in = view.rtt.smoothed.scaled(length.0, most.0);
        step.pacing(Pacing::at(rate).beginning(length, fast))
    }

    /// How long the train of a round with this target is: long enough for the ACKs that it should
    /// have, where that is no more than half of the target.
    fn next_train_length(&self, target: Bytes, view: &View) -> Bytes {
        let least = view.mss * TRAIN_SEGMENTS;
        let for_due_acks = (self.spread.per_ack(view.mss) * self.due_acks()).min(target / 2);
        (target / self.share).max(for_due_acks).max(least).whole_segments(view.mss)
    }

    /// The round after a train that did not say that the target is all; `pipe` is what it showed.
    fn grow(&mut self, target: Bytes, pipe: Bytes, view: &View) -> Step {
        // Ours: what was saved is tried after the first train, if it is worth more.
        let jump = self.resume.jump(view).filter(|_| self.train.is_first()).unwrap_or_default();
        let jump = jump.min(pipe);
        let extra = self.next_train_length(jump, view) + view.mss * SLACK_SEGMENTS;
        let resumed = jump - extra;
        if resumed <= target {
            return self.begin_round(target, view);
        }
        let gain = self.resume.begin(jump, resumed);
        self.begin_round_at(resumed, gain, view)
    }

    /// The window of this round: target, train, and what delayed ACKs hold back. It is set on every
    /// ACK, because the flight may not have let it grow as far when the round began
    /// ([`Startup::growth`]).
    fn go_on_with_round(&self, view: &View) -> Step {
        let train = if self.train.is_first() { Bytes(0) } else { self.train.length() };
        let cwnd = self.target + train + view.mss * SLACK_SEGMENTS;
        Window { cwnd, ..view.window }.hold().keep_pace()
    }

    fn leave(&mut self, pipe: Bytes, view: &View) -> Step {
        self.pipe = Some(pipe);
        let cwnd = self.target.min(pipe) + view.mss * SLACK_SEGMENTS;
        let cwnd = cwnd.max(view.mss * LEAST_SEGMENTS);
        Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic)
    }

    /// The train has been acknowledged.
    fn judge_train(&mut self, view: &View) -> Step {
        // Ours: the growth of the next round by what the train's RTTs say.
        let target = self.target;
        // draft-ietf-ccwg-ratelimited-increase-10: a window that the receiver or the application
        // leaves unused grows no further than its growth times the flight.
        let used = match self.train.is_first() {
            true => Bytes::MAX,
            false => view.in_flight.scaled(self.train_gain, RATIO_ONE).max(target),
        };
        let most =
            self.resume.end(view).unwrap_or(target.scaled(self.train_gain, RATIO_ONE)).min(used);
        let before = self.spread.known_floor().unwrap_or(view.rtt.min);
        match self.train.verdict(self.pass_part, (view.rtt.min, before), self.least_acks) {
            Verdict::Silent => {
                self.verdicts.silent += 1;
                if self.spread.is_late(view) {
                    return self.leave(self.spread.pipe(view).scaled(11, 10), view);
                }
                self.grow((target * 2).min(used), Bytes::MAX, view)
            }
            Verdict::Passed(next) => {
                self.verdicts.passed += 1;
                // No more than what it showed, and no less than the target, which has just left.
                self.grow(next.max(target).min(most), Bytes::MAX, view)
            }
            Verdict::Compressed => {
                self.verdicts.passed += 1;
                self.grow(after_noise(target).min(used), Bytes::MAX, view)
            }
            Verdict::Slowed { pipe, rise, last } => {
                self.verdicts.slowed += 1;
                let shows_room = pipe > target.scaled(self.least_room, RATIO_ONE);
                let room = shows_room.then_some(pipe.min(most));
                let is_believed = self.after_lengths == 0;
                match room {
                    Some(room) if is_believed || !self.polite || !self.is_followed() => {
                        self.grow(room, pipe, view)
                    }
                    None if is_believed => self.leave(pipe, view),
                    _ => {
                        let far = self.train.length().scaled(self.after_lengths, RATIO_ONE);
                        let end = view.acked + far.min(target);
                        self.after_train = Some(AfterTrain {
                            train: last,
                            length: self.train.length(),
                            leaves_in: self.train.leaves_in,
                            pipe,
                            rise,
                            before,
                            end,
                            room,
                            lowest: None,
                        });
                        self.go_on_with_round(view)
                    }
                }
            }
        }
    }

    /// What follows the train tells of it, too. Nothing does in a first window that is all train,
    /// and where a train has fewer ACKs than it should, a receiver's timer acknowledges what
    /// follows.
    fn is_followed(&self) -> bool {
        let is_all = self.train.is_first() && self.target <= self.train.length();
        !is_all && self.train.acks >= self.due_acks()
    }

    /// How many ACKs a train should have.
    fn due_acks(&self) -> u64 {
        self.least_acks + SPARE_ACKS
    }

    /// A packet after a train that slowed down.
    fn judge_after_train(&mut self, mut after: AfterTrain, sample: RttSample, view: &View) -> Step {
        // Ours: the next round by the queue after a train that slowed down.
        let queue = after.note(sample, view.rtt.min);
        self.after_train = Some(after);
        match queue {
            Queue::Undecided => self.go_on_with_round(view),
            Queue::Free(free) => {
                let next = free.max(self.target).min(after.room.unwrap_or(Bytes::MAX));
                self.grow(next, after.pipe, view)
            }
            Queue::Noise => {
                self.verdicts.noise += 1;
                self.begin_round(after_noise(self.target), view)
            }
            Queue::Stays => match after.pipe_where_queue_stays(self.target) {
                Some(pipe) => self.leave(pipe, view),
                None => self.note_full_train(after.pipe, view),
            },
        }
    }

    /// A train that found the target to be all that the path holds.
    fn note_full_train(&mut self, pipe: Bytes, view: &View) -> Step {
        // Ours: noise may make a train seem full. HyStart++ waits for as many rounds until it
        // believes a delay (RFC 9406 section 4.3). A resumed target is left at once, because no
        // train has shown it.
        self.full.note(pipe);
        match self.full.trains < FULL_TRAINS && !self.resume.is_on_its_way(view) {
            true => self.begin_round_at(self.target, self.train_gain, view),
            false => self.leave(self.full.pipe, view),
        }
    }

    /// Counts an ACK to the train or to the spread.
    fn note(&mut self, ack: &Ack, sample: Option<RttSample>) {
        // Ours, for the judgement of trains and of what is spread between them.
        self.spread.acks += 1;
        self.spread.acked += ack.acked + ack.to_come;
        let Some(sample) = sample else { return };
        if sample.acked <= self.train.begin {
            self.spread.note(sample.rtt);
        }
        self.train.note(sample);
    }
}

/// The target after a train of which noise has hidden what the path did. The queue that growth
/// builds shows a round later: it is then 0.23 BDP long if the target grew by half, which a buffer
/// of a quarter of a BDP holds, and 0.44 if it doubled (papers/scout/README.md).
fn after_noise(target: Bytes) -> Bytes {
    target.scaled(3, 2)
}

impl Listed for Scout {
    const CARD: Card = Card::new(
        "scout",
        "a train at the head of every round asks whether the path takes four times as much",
        "firstflight",
    )
    .with("cubic")
    .about(
        "How much the RTT rises over a short train at four times the round's rate.",
        "Packets faster than the bottleneck queue, and their ACKs come at the bottleneck's rate.",
        "Jitter as long as a train, ACKs in lumps, and policers, which let a train pass.",
    )
    .finds_its_end()
    .in_kernel("scout")
    .knobs(Self::KNOBS);
}

impl Observer for Scout {
    fn needs(&self) -> Needs {
        // Unpaced, every window is a train and builds the queue of slow start.
        let pacing = if self.paces { Facilities::PACING } else { Facilities::NONE };
        let memory = if self.resume.on { Facilities::MEMORY } else { Facilities::NONE };
        Needs::required(Facilities::TIMES | Facilities::RECOVERY_WINDOW | pacing).wanting(memory)
    }

    fn on_further_loss(&mut self, loss: &Loss, _view: &View) {
        if let Some(landing) = &mut self.landing {
            landing.on_loss(loss);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("scout_window", self.target.0);
        report("scout_silent", self.verdicts.silent);
        report("scout_passed", self.verdicts.passed);
        report("scout_slowed", self.verdicts.slowed);
        report("scout_refuted", self.verdicts.noise);
        report("scout_full", self.full.trains);
        if self.resume.on {
            report("scout_saved", self.resume.tested().unwrap_or_default().0);
        }
    }
}

impl Startup for Scout {
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        self.resume.inform(hint, view);
        view.window.hold()
    }

    fn begin(&mut self, view: &View) -> Step {
        self.open_first(view.window.cwnd, view)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        self.target = view.window.cwnd;
        (self.train, self.spread, self.after_train) = (Train::FIRST, Spread::NEVER, None);
        (self.full, self.landing, self.pipe) = (Full::default(), None, None);
        self.reopened = false;
        self.resume.enter(why);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // RFC 5681 section 3.1: an ssthresh that is reached ends it.
        if window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        if ack.continues {
            return self.go_on_with_round(view);
        }
        // A frame of QUIC's is one ACK: the RTT that comes with its first packet is of its newest.
        let view = &View { acked: view.acked + ack.to_come, ..*view };
        if self.train.end == Bytes::MAX {
            // QUIC acknowledges the end of its handshake before the first window has left.
            let few = view.mss * 3;
            let is_handshakes = view.acked < few && view.snd_nxt - view.acked < few;
            if is_handshakes && !core::mem::replace(&mut self.reopened, true) {
                return self.open_first(self.target, view);
            }
            self.train.end = view.snd_nxt;
            self.spread = Spread::new(view);
        }
        let sample = ack.rtt.map(|rtt| RttSample { at: ack.now, rtt, acked: view.acked });
        let step = match self.after_train {
            Some(_) => self.go_on_with_round(view),
            None => {
                self.note(ack, sample);
                if view.acked < self.train.end {
                    return self.go_on_with_round(view);
                }
                self.judge_train(view)
            }
        };
        // The ACK by which a train is judged may tell of what follows it, too.
        match (self.after_train, sample) {
            (Some(after), Some(sample)) if view.acked > self.train.end => {
                self.judge_after_train(after, sample, view)
            }
            _ => step,
        }
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        self.resume.meet_congestion(view);
        // As draft-kazuho-ccwg-rapid-start section 3.3 lands, with a beta of its own.
        let landing = Landing::from_outstanding(loss, view, self.keeps);
        self.landing = Some(landing);
        Answer::Land(landing.window(view.window))
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(landing) = &mut self.landing else { return view.window.hold() };
        landing.on_ack(ack);
        landing.window(view.window).hold()
    }

    /// A saved window is no growth by ACKs.
    fn growth(&self) -> u64 {
        if self.resume.tested().is_some() {
            return u64::MAX;
        }
        self.train_gain.div_ceil(RATIO_ONE).max(2)
    }

    fn found(&self, view: &View) -> Found {
        let peak = self.landing.and_then(|landing| landing.peak(view.window.cwnd));
        Found { pipe: self.pipe, peak, ..Found::default() }
    }

    fn refutes_hint(&self) -> bool {
        self.resume.is_refuted()
    }
}

/// The least of a train: a delayed ACK for every second segment gives the least number of ACKs.
const TRAIN_SEGMENTS: u64 = 8;
/// How many ACKs more than the fewest a train should have where receivers thin them: one that came
/// late is then one of several.
const SPARE_ACKS: u64 = 2;
/// How many trains in a row that find the target to be all end start-up: RFC 9406's CSS_ROUNDS.
const FULL_TRAINS: u64 = 5;
/// What a delayed ACK holds back.
const SLACK_SEGMENTS: u64 = 2;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "it fails the test")]
mod tests;
