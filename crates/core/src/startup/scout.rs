//! Scout: every round begins with a short train at four times the round's rate, and what the RTT
//! does over the train decides how the window grows.
//!
//! What it believes: packets that come faster than the bottleneck forwards them queue, so that the
//! RTT rises from the first of them to the last, and their ACKs come at the bottleneck's rate. The
//! ACKs of a train at the head of a round are the first of the next round. So the sender knows of
//! a rate before it has sent a window at it, where growth that looks at RTTs of whole rounds sees
//! a queue one round late. What does not belong to a train is spread evenly over the RTT, so that
//! nothing but trains builds a queue. What it does:
//!
//! ```text
//! begin:   W = a packet per 1.2 ms of the RTT, from IW to 2 IW, of which IW is the first train;
//!          without an RTT W = IW, all of it the train
//! round:   a train of W/8 at 4 W/srtt, of at least 8 segments and 3 ACKs; the rest at W/srtt;
//!          cwnd = W + train
//! train acknowledged: rise of the RTT from its first ACK to its last, time between the two,
//!          pipe = bytes/time * minrtt
//!   a single ACK:       rise and time count from when its first packet would have been
//!                         acknowledged: when it left, and the RTT before the train
//!   none, or one of a train that did not leave at its pace:
//!                       W = 2 W, or, if the smallest RTT between trains is above
//!                         minrtt + clamp(minrtt/8, 4 ms, 16 ms):
//!                         leave with 1.1 of what arrived in a minrtt
//!   rise <= time/8:     W = 8/7 pipe, from W to 4 W; 3/2 W if the RTT fell by more than time/8
//!   pipe > 1.1 W:       over four trains' length behind it the RTT
//!     falls by rise/2:              W = what is free, from W to pipe and to 4 W:
//!                                     (bytes left + pipe/minrtt * fall)/time left in * minrtt
//!     does not:                     leave with W, and pipe = pipe/4, from W
//!   (in none of these beyond 4 times the flight, so that an unused W does not grow)
//!   otherwise it was noise if over four trains' length behind it the RTT is not higher by rise/2
//!     than before it, although packets left soon enough after it to be late:
//!     noise:              W = 3/2 W
//!     no noise:           W stays; after five such trains in a row
//!                           leave with min(W, the largest of their pipes)
//! loss:    land at 0.85 of what arrives of what is outstanding, much as Rapid Start does; leave
//! leave:   CUBIC's curve turns at pipe where that is more than W, which is then its W_max
//! ```
//!
//! `now - rtt` is when a packet left, so `rise/time` is by how much the ACKs came more slowly than
//! the packets had left. That needs no record of what was sent. A train that the window, the
//! receiver, a timer or segmentation offload held up lets the window grow less, and ends nothing.
//! A train that says something of the path lets W become no more than 8/7 of what it showed. One
//! of which no ACK tells doubles it, as slow start does without having asked. After noise (ACKs
//! faster than the packets, or a train that seemed full and was not) it grows by half.
//!
//! Known before: what packets that are sent close together show of the bottleneck (packet pairs
//! and trains; HyStart's ACK train, Ha and Rhee 2011; chirps, RFC 6077 section 5.3), spreading a
//! window over a round (Aggarwal and others, INFOCOM 2000), and the landing (draft-kazuho-ccwg-
//! rapid-start section 3.3). Ours: a train at the head of every round at the rate after next, its
//! judgement by the RTTs alone, and the look behind a train that slowed down. That a train comes
//! out at its share of what all send is known (TOPP, Melander and others, GLOBECOM 2000).
//!
//! What is missing: a policer lets trains pass up to its bucket, ACKs in lumps as long as a train
//! say nothing of it, and jitter as long as a train hides it. Trains only choose the growth, and
//! leaving needs what follows the train to agree, so that such paths cost time and not much more.
//!
//! Only the first slow start has it; later ones, and one that begins after a timeout, are slow
//! start.
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

mod behind;
mod between;
mod knobs;
mod resume;
mod train;

use behind::{Behind, Seen};
use between::Between;
use resume::Resume;
use train::{Point, Train, Verdict};

/// Start-up that looks a round ahead by a train of packets.
#[derive(Clone, Copy, Debug)]
pub struct Scout {
    opening: Opening,
    /// A train's rate in that of its round, and the largest growth, in millionths.
    look: u64,
    /// The first window in ordinary ones at most, in millionths.
    first_window: u64,
    /// A first window beyond an ordinary one has RTT/`spacing` packets at most; where this is zero,
    /// any number.
    spacing: Span,
    /// A train is this part of W.
    share: u64,
    /// A train passes if the RTT rises by no more than this part of its time.
    pass: u64,
    /// From how much more than W on a train that slowed down shows room, in millionths.
    room: u64,
    /// How far to look behind a train that slowed down, in its lengths, in millionths; 0 is not at
    /// all.
    look_behind: u64,
    /// What a landing leaves of what arrived, in millionths.
    keeps: u64,
    /// The fewest ACKs of a train that are judged.
    least_acks: u64,
    /// W grows no further than the queue behind a train shows to be free.
    polite: bool,
    /// Trains, and what is between them, have rates of their own.
    paces: bool,
    /// The first window was opened a second time, because the ACK of a handshake's packet came
    /// before it had left.
    reopened: bool,
    /// W, in bytes.
    window: Bytes,
    /// The train of this round.
    train: Train,
    /// What arrived since the last train.
    between: Between,
    /// What follows the train of this round, which slowed down.
    behind: Option<Behind>,
    /// The trains in a row that found W to be all that the path holds.
    full: Full,
    /// The recovery of the first loss.
    landing: Option<Landing>,
    /// What the path holds, once a train or the ACKs between trains have told.
    pipe: Option<Bytes>,
    /// What the trains said.
    verdicts: Verdicts,
    resume: Resume,
}

/// Trains in a row that found W to be all that the path holds.
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
    refuted: u64,
}

impl Scout {
    /// Where the handshake has told the RTT, the first window leaves as a train, and what is more
    /// than an ordinary window of it is spread over the RTT as Rapid Start spreads its own
    /// (draft-kazuho-ccwg-rapid-start section 3.1).
    fn open_first(&mut self, iw: Bytes, view: &View) -> Step {
        self.window = iw;
        if view.rtt.smoothed == Span(0) {
            return view.window.hold();
        }
        // Ours: no more than a path of 10 Mbit/s holds, unless an ordinary window is.
        let twice = iw.scaled(self.first_window, RATIO_ONE);
        self.window = twice.min(self.held(view)).max(iw);
        if self.window > iw {
            self.train.end = view.snd_nxt + iw;
        }
        let step = Window { cwnd: self.window, ..view.window }.hold();
        self.pace(step, iw, self.look, view)
    }

    /// What a path holds that takes `spacing` for a packet.
    fn held(&self, view: &View) -> Bytes {
        match self.spacing {
            Span(0) => Bytes::MAX,
            spacing => view.mss * (view.rtt.smoothed.0 / spacing.0),
        }
    }

    /// A round with window W begins, with a train; the last one did not find W to be all.
    fn round(&mut self, window: Bytes, view: &View) -> Step {
        self.full = Full::default();
        self.round_at(window, self.look, view)
    }

    /// Such a round, with a train at that many times the round's rate, in millionths.
    fn round_at(&mut self, window: Bytes, look: u64, view: &View) -> Step {
        // Ours: a train of W/8 at four times the round's rate; the rest over the RTT (INFOCOM
        // 2000).
        self.window = window.max(view.mss * 2);
        let (begin, length) = (view.snd_nxt, self.train_length(self.window, view));
        self.train = Train { begin, end: begin + length, ..Train::FIRST };
        self.between = Between::new(view);
        self.behind = None;
        let step = self.go_on(view);
        if view.rtt.smoothed == Span(0) {
            return step;
        }
        self.pace(step, length, look, view)
    }

    /// At W per smoothed RTT, and at `look` times that, in millionths, the train that leaves now.
    fn pace(&mut self, step: Step, length: Bytes, look: u64, view: &View) -> Step {
        // Ours: the train leaves at `look` times the round's rate. `pace=off` sets no rate.
        if !self.paces {
            return step;
        }
        let rate = self.window.per(view.rtt.smoothed).max(Rate(1));
        let fast = rate.scaled(look, RATIO_ONE);
        let most = self.window.scaled(look, RATIO_ONE);
        self.train.began = view.now;
        self.train.leaves_in = view.rtt.smoothed.scaled(length.0, most.0);
        step.pacing(Pacing::at(rate).beginning(length, fast))
    }

    fn train_length(&self, window: Bytes, view: &View) -> Bytes {
        let least = view.mss * TRAIN_SEGMENTS;
        let heard = (self.between.per_ack(view.mss) * self.due_acks()).min(window / 2);
        (window / self.share).max(heard).max(least).whole_segments(view.mss)
    }

    /// The round after a train that did not say that W is all; `pipe` is what it showed.
    fn grow(&mut self, window: Bytes, pipe: Bytes, view: &View) -> Step {
        // Ours: what was saved is tried after the first train, if it is worth more.
        let jump = self.resume.jump(view).filter(|_| self.train.is_first()).unwrap_or_default();
        let jump = jump.min(pipe);
        let beside = self.train_length(jump, view) + view.mss * SLACK_SEGMENTS;
        let resumed = jump - beside;
        if resumed <= window {
            return self.round(window, view);
        }
        let look = self.resume.begin(jump, resumed);
        self.round_at(resumed, look, view)
    }

    /// The window of this round: W, the train, and what delayed ACKs hold back. The flight may not
    /// have let it grow as far when the round began ([`Startup::growth`]).
    fn go_on(&self, view: &View) -> Step {
        let train = if self.train.is_first() { Bytes(0) } else { self.train.length() };
        let cwnd = self.window + train + view.mss * SLACK_SEGMENTS;
        Window { cwnd, ..view.window }.hold().keep_pace()
    }

    fn leave(&mut self, pipe: Bytes, view: &View) -> Step {
        self.pipe = Some(pipe);
        let cwnd = self.window.min(pipe) + view.mss * SLACK_SEGMENTS;
        let cwnd = cwnd.max(view.mss * LEAST_SEGMENTS);
        Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic)
    }

    /// The train has been acknowledged.
    fn judge(&mut self, view: &View) -> Step {
        // Ours: the growth of the next round by what the train's RTTs say.
        let window = self.window;
        // draft-ietf-ccwg-ratelimited-increase-10: a window that the receiver or the application
        // leaves unused grows no further than its growth times the flight.
        let used = match self.train.is_first() {
            true => Bytes::MAX,
            false => view.in_flight.scaled(self.look, RATIO_ONE).max(window),
        };
        let most = self.resume.end(view).unwrap_or(window.scaled(self.look, RATIO_ONE)).min(used);
        let before = self.between.known_floor().unwrap_or(view.rtt.min);
        match self.train.verdict(self.pass, (view.rtt.min, before), self.least_acks) {
            Verdict::Silent => {
                self.verdicts.silent += 1;
                if self.between.is_late(view.rtt.min) {
                    return self.leave(self.between.pipe(view).scaled(11, 10), view);
                }
                self.grow((window * 2).min(used), Bytes::MAX, view)
            }
            Verdict::Compressed => {
                self.verdicts.passed += 1;
                self.grow(after_noise(window).min(used), Bytes::MAX, view)
            }
            Verdict::Passed(next) => {
                self.verdicts.passed += 1;
                // No more than what it showed, of which no less than W: that has just left.
                self.grow(next.max(window).min(most), Bytes::MAX, view)
            }
            Verdict::Slowed { pipe, rise, last } => {
                self.verdicts.slowed += 1;
                let room = (pipe > window.scaled(self.room, RATIO_ONE)).then_some(pipe.min(most));
                let is_believed = self.look_behind == 0;
                match room {
                    Some(room) if is_believed || !self.polite || !self.is_followed() => {
                        self.grow(room, pipe, view)
                    }
                    None if is_believed => self.leave(pipe, view),
                    _ => {
                        let far = self.train.length().scaled(self.look_behind, RATIO_ONE);
                        let end = view.acked + far.min(window);
                        self.behind = Some(Behind {
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
                        self.go_on(view)
                    }
                }
            }
        }
    }

    /// What follows the train tells of it, too. Nothing does in a first window that is all train,
    /// and where a train has fewer ACKs than it should, a receiver's timer acknowledges what
    /// follows.
    fn is_followed(&self) -> bool {
        let is_all = self.train.is_first() && self.window <= self.train.length();
        !is_all && self.train.acks >= self.due_acks()
    }

    /// How many ACKs a train should have.
    fn due_acks(&self) -> u64 {
        self.least_acks + SPARE_ACKS
    }

    /// A packet behind a train that slowed down.
    fn look_behind(&mut self, mut behind: Behind, point: Point, view: &View) -> Step {
        // Ours: the next round by what is seen behind a train that slowed down.
        let seen = behind.note(point, view.rtt.min);
        self.behind = Some(behind);
        match seen {
            Seen::Little => self.go_on(view),
            Seen::Free(free) => {
                let next = free.max(self.window).min(behind.room.unwrap_or(Bytes::MAX));
                self.grow(next, behind.pipe, view)
            }
            Seen::Noise => {
                self.verdicts.refuted += 1;
                self.round(after_noise(self.window), view)
            }
            Seen::Late => match behind.told(self.window) {
                Some(told) => self.leave(told, view),
                None => self.stay(behind.pipe, view),
            },
        }
    }

    /// A train that found W to be all that the path holds.
    fn stay(&mut self, pipe: Bytes, view: &View) -> Step {
        // Ours: noise may make a train seem full. HyStart++ waits for as many rounds until it
        // believes a delay (RFC 9406 section 4.3). A resumed window is left at once, because no
        // train has shown it.
        self.full.note(pipe);
        match self.full.trains < FULL_TRAINS && !self.resume.is_on_its_way(view) {
            true => self.round_at(self.window, self.look, view),
            false => self.leave(self.full.pipe, view),
        }
    }

    /// Counts an ACK to the train or to what is between trains.
    fn note(&mut self, ack: &Ack, point: Option<Point>) {
        // Ours, for the judgement of trains and of what is between them.
        self.between.acks += u64::from(!ack.continues);
        self.between.acked += ack.acked;
        let Some(point) = point else { return };
        if point.acked <= self.train.begin {
            self.between.note(point.rtt);
        }
        self.train.note(point);
    }
}

/// W after a train of which noise has hidden what the path did. The queue that growth builds shows
/// a round later: it is then 0.23 BDP long if W grew by half, which a buffer of a quarter of a BDP
/// holds, and 0.44 if W doubled (docs/scout.md).
fn after_noise(window: Bytes) -> Bytes {
    window.scaled(3, 2)
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
        report("scout_window", self.window.0);
        report("scout_silent", self.verdicts.silent);
        report("scout_passed", self.verdicts.passed);
        report("scout_slowed", self.verdicts.slowed);
        report("scout_refuted", self.verdicts.refuted);
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
        self.window = view.window.cwnd;
        (self.train, self.between, self.behind) = (Train::FIRST, Between::NEVER, None);
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
        if self.train.end == Bytes::MAX {
            // QUIC acknowledges the end of its handshake before the first window has left.
            let few = view.mss * 3;
            let is_handshakes = view.acked < few && view.snd_nxt - view.acked < few;
            if is_handshakes && !core::mem::replace(&mut self.reopened, true) {
                return self.open_first(self.window, view);
            }
            self.train.end = view.snd_nxt;
            self.between = Between::new(view);
        }
        let point = ack.rtt.map(|rtt| Point { at: ack.now, rtt, acked: view.acked });
        let step = match self.behind {
            Some(_) => self.go_on(view),
            None => {
                self.note(ack, point);
                if view.acked < self.train.end {
                    return self.go_on(view);
                }
                self.judge(view)
            }
        };
        // The ACK by which a train is judged may tell of what follows it, too.
        match (self.behind, point) {
            (Some(behind), Some(point)) if view.acked > self.train.end => {
                self.look_behind(behind, point, view)
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
        self.look.div_ceil(RATIO_ONE).max(2)
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
/// How many trains in a row that find W to be all end start-up: RFC 9406's CSS_ROUNDS.
const FULL_TRAINS: u64 = 5;
/// What a delayed ACK holds back.
const SLACK_SEGMENTS: u64 = 2;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "it fails the test")]
mod tests;
