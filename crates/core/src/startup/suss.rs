//! SUSS, "Speeding Up Slow Start" (Arghavani, Zhang, Eyers and Arghavani, SIGCOMM 2024): slow start
//! that jumps while the ACK train says that two rounds from now it will still fit.
//!
//! What it believes: HyStart leaves when an ACK train fills half of the RTT, so that a train which
//! will not do so for two more rounds shows that those may be one. What it does: the data of a
//! round is blue, sent as ACKs for blue data come, and red, paced over the rest of the RTT. With
//! round `r` (2 is the first that has ACKs), blue packets `blue = IW 2^(r-1)`, and `n` of the blue
//! ACKs seen within `t` before the last of them:
//!
//! ```text
//! D = blue t / 2n                                    how long the train of this round's data is
//! round 2:  minrtt > 10 ms, D < minrtt/4             otherwise SUSS is off
//! round r:  Dt = D 2^(r-2), Dp = last D 2^(r-3), mu = Dt/2Dp
//!           2 mu Dt <= minrtt, r < 5
//!           (k+1) round's RTT <= (k+1) minrtt + k minrtt/8, k rounds after minrtt fell
//! jump:     red = blue 2^(r-1) - blue, paced over minrtt - minrtt/2^(r-1)
//!           after a guard of (minrtt/2^(r-1) - D)/2; ACKs for red data do not open the window
//! leaving:  after J jumps, blue ACKs: 2^J train > (minrtt + ack_delay)/2:
//!           cap = cwnd + n (2^J - 1), leave beyond it; RTT as in HyStart: leave at once
//! ```
//!
//! Once it may not jump, it never does again. With J > 1 the window becomes the flight as it
//! leaves.
//!
//! Published: all of it, in the authors' change to Linux 6.8 (`tcp_cubic.c`); the paper's growth
//! factor is what the conditions of a jump amount to. An IW other than 10 is ours: the code has 10.
//! Their recorded run differs from their code in one thing that decides when it leaves: HyStart's
//! first round begins with the ACK that finds 16 segments of window, so that each of its rounds
//! covers the end of one train and the beginning of the next (`rounds=window`). In the code as
//! published rounds begin with the data, and the cap comes a round earlier. That is the default:
//! both deliver as early, and over a buffer of half a BDP or one the recorded run's form drops
//! hundreds of packets where the published drops none (6 MB at 50 Mbit/s, 100 ms, half a BDP: 644).
//!
//! On a socket whose packets the endpoint paces it is off from the beginning, as in the code: it is
//! HyStart, for which a train may then fill the whole RTT.
//!
//! Departures: the code opens the window by two segments whenever the pacer has filled it; here it
//! opens when the guard is over, the pacing rate holds the data back, and what has not been sent
//! when the next round begins is taken off again. The code also raises the sender's copy of what
//! the receiver has offered, to 10 segments times two to the power of rounds and jumps less one,
//! and so sends what was not offered. No transport may (RFC 9293 section 3.10.7.4, RFC 9000 section
//! 4.1), so that here the receiver's window stands, and one of 64 KB clips the second jump: where a
//! receiver offers 160 segments from the SYN on, transfers of 4 BDP take 0.975 of the time (mean of
//! 48 paths). A loss while it is active first takes the window to the flight, as in the code;
//! start-up does that by landing at the flight times beta. The transport must pace, because without
//! that the red part would be a burst: where it does not, SUSS is refused.
//!
//! After a timeout, and whenever start-up begins again, it is HyStart alone.

use crate::card::{Card, Listed};
use crate::estimate::hystart_round::{LOW_WINDOW, Round, ack_delay};
use crate::event::{Ack, Loss};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Answer, Entry, Exit, Found, Observer, Startup, Step};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Paced, View, Window};

/// Slow start that multiplies by four where HyStart would not leave for two more rounds.
#[derive(Clone, Copy, Debug)]
pub struct Suss {
    opening: Opening,
    /// Rounds that may jump.
    most_jumps: u64,
    /// HyStart's first round begins with the first data.
    rounds_from_data: bool,
    /// The endpoint paces.
    paced: bool,
    /// It does not jump any more: it is HyStart, as later slow starts are from their beginning.
    hystart_alone: bool,
    /// HyStart's round.
    round: Round,
    /// SUSS' own round: its number `r`.
    number: u64,
    /// When that round began.
    began: Instant,
    /// The end of the data that was sent by then.
    head: Bytes,
    /// The end of the blue data whose ACKs come in this round.
    tail: Bytes,
    /// Payload acknowledged by blue ACKs, if they still come.
    blue: Option<Bytes>,
    /// The ACK before was the last of them.
    last_blue: bool,
    /// The window it began with, which is blue.
    first_window: Bytes,
    /// No condition for a jump has failed yet.
    may_jump: bool,
    /// Jumps made (`J`).
    jumps: u64,
    /// How long the train of the last round was (`D`).
    last_train: Span,
    /// The round in which the smallest RTT fell.
    fell_in: u64,
    /// The smallest RTT when it was last seen to fall.
    min_rtt: Span,
    /// The red part of this round.
    red: Option<Red>,
    /// The window beyond which it leaves (`suss_cap`).
    cap: Option<Bytes>,
    /// What was in flight when a loss came.
    peak: Option<Bytes>,
}

/// The red part of a round.
#[derive(Clone, Copy, Debug)]
struct Red {
    begins: Instant,
    limit: Bytes,
    rate: Rate,
    /// It leaves; before it the window is that of the blue ACKs.
    leaves: bool,
}

impl Suss {
    /// HyStart's look at an ACK (`hystart_update`); whether it leaves, and with what window.
    fn looks_full(&mut self, rtt: Span, view: &View) -> bool {
        // `hystart_update()`: a round ends with data sent after it began; nothing is decided below
        // `hystart_low_window`.
        let large = view.window.cwnd >= view.mss * LOW_WINDOW;
        if view.acked > self.round.end_seq && (large || self.rounds_from_data) {
            self.round = Round::new(view);
        }
        if !large {
            return false;
        }
        let train = self.train_fills(view);
        self.round.rtt_has_grown(rtt, view.rtt.min) || train
    }

    /// The train's length, as HyStart looks at it or as SUSS does (`suss_cap`).
    fn train_fills(&mut self, view: &View) -> bool {
        // `hystart_update()` without SUSS: HyStart's limit, whole on a paced socket.
        let half = (view.rtt.min + ack_delay(view)) / 2;
        if self.hystart_alone {
            let limit = if self.paced { half * 2 } else { half };
            return self.round.train_is_long(limit, 1, view);
        }
        if let Some(cap) = self.cap {
            return view.window.cwnd > cap;
        }
        let Some(blue) = self.blue else { return false };
        // `suss_cap`: after J jumps the blue ACKs are `1 / 2^J` of the train, and what is red in
        // this round may still leave.
        let times = 1_u64 << self.jumps.min(MOST_SHIFT);
        if self.round.train_is_long(half, times, view) {
            self.cap = Some(view.window.cwnd + blue * (times - 1));
        }
        false
    }

    /// Counts an ACK to its part of the round (`suss_measurements`).
    fn measure(&mut self, ack: &Ack, view: &View) {
        if view.rtt.min < self.min_rtt {
            (self.min_rtt, self.fell_in) = (view.rtt.min, self.number);
        }
        // `suss_measurements()`: the ACKs behind the last blue one are red.
        if core::mem::take(&mut self.last_blue) {
            self.blue = None;
        }
        // An ACK for data sent after the round began opens the next one, with its blue ACKs.
        if view.acked > self.head {
            self.blue = Some(Bytes(0));
            self.number = self.number.saturating_add(1);
            self.began = view.now;
            self.head = view.snd_nxt;
            self.red = None;
        }
        if view.acked >= self.tail {
            self.end_blue(ack, view);
        }
        if let Some(blue) = &mut self.blue {
            *blue += ack.acked;
        }
    }

    /// The last blue ACK of the round: decides on a jump.
    fn end_blue(&mut self, ack: &Ack, view: &View) {
        // `suss_measurements()`: blue data is `IW 2^(r-1)`; its train takes `D = blue t / 2n`.
        self.last_blue = true;
        let shift = (self.number - 1).min(MOST_SHIFT);
        let blue = self.first_window * (1 << shift);
        self.tail = self.head + blue;
        let seen = self.blue.unwrap_or_default();
        let train = view.now.since(self.began).scaled(blue.0, (seen * 2).0);
        // An ACK for all of it says nothing of its length.
        self.may_jump = self.may_jump && seen > Bytes(0) && self.fits(train, view);
        if !self.may_jump {
            return;
        }
        // `suss_speedup()`: red data is paced over what the next round's blue data leaves of the
        // RTT, after a guard of half of what this round's leaves of that.
        self.last_train = train;
        let spent = view.rtt.min / (1 << shift);
        if spent <= train {
            return;
        }
        self.jumps += 1;
        let red = blue * (1 << shift) - blue;
        let rate = red.per(view.rtt.min - spent).max(Rate(1));
        // The red ACKs still to come in this round will not open the window.
        let red_acks = (blue / 2) * (1 << shift.saturating_sub(1)) - blue / 2;
        let limit = view.window.cwnd + ack.acked + red - red_acks;
        let begins = view.now + (spent - train) / 2;
        self.red = Some(Red { begins, limit, rate, leaves: false });
    }

    /// Whether the trains of the next two rounds will fit (`suss_speedup`).
    fn fits(&mut self, train: Span, view: &View) -> bool {
        // `suss_speedup()`, round 2: only on a path of more than 10 ms whose train takes less than
        // a quarter of it.
        let min = view.rtt.min;
        if self.number <= 2 {
            let fits = min > LEAST_RTT && train < min / 4;
            if !fits {
                self.hystart_alone = true;
            }
            return fits;
        }
        let shift = (self.number - 2).min(MOST_SHIFT);
        let grown = train * (1 << shift);
        let last = self.last_train * (1 << (shift - 1));
        // Later rounds: `2 mu Dt <= minrtt` with `mu = Dt / 2 Dp`, `r < suss_max + 2`, and a
        // round's RTT that has not grown by an eighth per round since minrtt fell.
        let ahead = grown.scaled(grown.0, last.0);
        let since = self.number - self.fell_in.min(self.number);
        let allowed = min * (since + 1) + min.scaled(since, 8);
        ahead <= min
            && self.number < self.most_jumps + 2
            && self.round.curr_rtt.0.saturating_mul(since + 1) <= allowed.0
    }

    /// The window of what has really left.
    fn sent(&self, ack: &Ack, view: &View) -> Bytes {
        (ack.in_flight + ack.acked + view.mss * 2).min(view.window.cwnd)
    }

    fn leave(&mut self, ack: &Ack, view: &View) -> Step {
        // The authors' `tcp_cubic.c`: after more than one jump the window becomes what is in
        // flight.
        let active = !self.hystart_alone;
        let flight = ack.in_flight.max(view.mss * 2);
        let cwnd = if active && self.jumps > 1 {
            flight.min(view.window.cwnd)
        } else if self.red.is_some_and(|red| red.leaves) {
            self.sent(ack, view)
        } else {
            view.window.cwnd
        };
        self.hystart_alone = true;
        Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic)
    }
}

impl Listed for Suss {
    const CARD: Card = Card::new(
        "suss",
        "slow start that jumps where two rounds of it fit into one, and leaves as HyStart does",
        "SIGCOMM 2024; the authors' tcp_cubic.c",
    )
    .with("cubic")
    .about(
        "The length of each round's ACK train.",
        "A train that would still fit two rounds later leaves room for both rounds in one.",
        "Jitter and ACKs in lumps stretch the train: no jumps then, and an exit as low as \
         HyStart's. Without pacing, or below an RTT of 10 ms, it does not jump.",
    )
    .finds_its_end()
    .in_kernel("suss")
    .knobs(Self::KNOBS);
}

impl Observer for Suss {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::PACING | Facilities::PACED_WAKE_UPS)
            .wanting(Facilities::RECOVERY_WINDOW)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("suss_round", self.number);
        report("suss_train", self.last_train.0);
        report("suss_jumps", self.jumps);
        report("suss_cap", self.cap.map_or(0, |cap| cap.0));
    }
}

impl Startup for Suss {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    /// A paced socket has no SUSS (`cubictcp_init`).
    fn begin(&mut self, view: &View) -> Step {
        if matches!(view.paced, Paced::ByEndpoint(_)) {
            (self.paced, self.hystart_alone) = (true, true);
        }
        view.window.hold()
    }

    fn enter(&mut self, why: Entry, view: &View) {
        let Self { opening, most_jumps, rounds_from_data, paced, .. } = *self;
        let round = Round::new(view);
        *self = Self { opening, most_jumps, rounds_from_data, paced, round, ..Self::default() };
        // Ours: only the first slow start has it.
        if why != Entry::Connect {
            self.hystart_alone = true;
        }
        self.first_window = view.window.cwnd;
        self.tail = self.first_window;
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        if ack.rtt.is_some_and(|rtt| self.looks_full(rtt, view)) {
            return self.leave(ack, view);
        }
        if self.hystart_alone {
            // `tcp_slow_start()`.
            return window.grow_to_threshold(ack.acked);
        }
        let was_red = self.red.is_some_and(|red| red.leaves);
        if self.cap.is_none() {
            self.measure(ack, view);
        }
        let mut step = match self.red {
            // ACKs for red data do not open the window (`suss_measurements()`).
            Some(_) if self.blue.is_none() => window.hold(),
            None if was_red => {
                let cwnd = self.sent(ack, view);
                Window { cwnd, ..window }.grow(ack.acked)
            }
            _ => window.grow(ack.acked),
        };
        match self.red {
            Some(red) if red.leaves => step = step.paced(red.rate),
            Some(red) => step.wake = Some(red.begins),
            None => {}
        }
        step.until_threshold()
    }

    fn on_wake(&mut self, view: &View) -> Step {
        let hold = view.window.hold().keep_pace();
        let Some(red) = self.red.as_mut().filter(|red| !red.leaves && red.begins <= view.now)
        else {
            return hold;
        };
        // The guard is over. The code opens the window by two segments whenever the pacer has
        // filled it (`tcp_output.c`); here it opens at once, and the pace holds the data back.
        red.leaves = true;
        let cwnd = red.limit.max(view.window.cwnd);
        Window { cwnd, ..view.window }.hold().paced(red.rate)
    }

    fn answer(&mut self, _loss: &Loss, view: &View) -> Answer {
        // The authors' `tcp_cubic.c`: a loss ends SUSS, and where it was active the window is what
        // was in flight before CUBIC's ssthresh is taken of it.
        let flight = view.in_flight.max(view.mss * 2);
        let active = !self.hystart_alone;
        self.hystart_alone = true;
        self.red = None;
        if !active || flight + view.mss * 2 >= view.window.cwnd {
            return Answer::Leave;
        }
        self.peak = Some(flight);
        let cwnd = flight.scaled(view.beta, RATIO_ONE);
        Answer::Land(Window { cwnd, ssthresh: cwnd })
    }

    fn growth(&self) -> u64 {
        // SIGCOMM 2024: the growth factor of a round is 4 where it jumps. `max(maxFS)` of
        // draft-ietf-ccwg-ratelimited-increase follows it.
        if !self.hystart_alone { 4 } else { 2 }
    }

    fn found(&self, _view: &View) -> Found {
        Found { peak: self.peak, ..Found::default() }
    }
}

impl Default for Suss {
    fn default() -> Self {
        let now = Instant(0);
        Self {
            opening: Opening::default(),
            most_jumps: MOST_JUMPS,
            rounds_from_data: true,
            paced: false,
            hystart_alone: false,
            round: Round::NONE,
            number: 1,
            began: now,
            head: Bytes(0),
            tail: Bytes(0),
            blue: None,
            last_blue: false,
            first_window: Bytes(0),
            may_jump: true,
            jumps: 0,
            last_train: Span(0),
            fell_in: 1,
            min_rtt: Span::MAX,
            red: None,
            cap: None,
            peak: None,
        }
    }
}

impl Knobs for Suss {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("max")
            .means("a round may jump if its number is less than two more than this (`suss_max`)")
            .count(0..=10, |p| &mut p.most_jumps),
        Knob::new("rounds")
            .means(
                "HyStart's rounds begin with the data (the authors' code for Linux 6.8), or when \
                 cwnd reaches 16 segments (their recorded run)",
            )
            .word(words!(|p| p.rounds_from_data, ["window" = false, "data" = true])),
    ];
}

/// `suss_max`.
const MOST_JUMPS: u64 = 3;

/// The smallest RTT with which SUSS is worth it.
const LEAST_RTT: Span = Span::from_millis(10);

/// Doublings that no window survives.
const MOST_SHIFT: u64 = 30;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it fails the test")]
mod tests;
