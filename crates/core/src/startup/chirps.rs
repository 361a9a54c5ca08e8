//! Paced chirping (Misund, master's thesis, Oslo 2018; his Linux module `paced_chirping.c`, 2019).
//!
//! A chirp is a group of packets that leave at ever smaller gaps. What it believes: the packets'
//! delay begins to rise at the gap that is the path's rate, so that a chirp shows the rate without
//! filling the queue. What it does:
//!
//! ```text
//! chirp:    5, 5, 8, 8, 16, 16 .. packets; the gaps fall from 2 g in steps of 2 g / packets
//! estimate: g = (g + estimate)/2, the estimate within 30 us and 10 ms; g = 200 us at first
//! round:    M = 2 chirps, a guard interval of srtt/M less the chirp between them; from the sixth
//!           chirp on twice as many per round
//! landing:  when the chirps of a round are as long as srtt: 2 minrtt/g segments, at least ten,
//!           paced at a segment per g, until minrtt/g are acknowledged
//! leaving:  cwnd = ssthresh = what is in flight
//! ```
//!
//! Published: all of it ([`crate::estimate::chirp`] for the estimate). Each packet leaves by a
//! timer, for which the window opens by one segment. Different here: the module runs before DCTCP,
//! any avoidance may follow here; it waits for enough data for a whole chirp, which a policy does
//! not know; it keeps any number of chirps outstanding, 128 are kept here, and so many end the
//! search as a full round does. It counts a chirp's length when the one before has left, here it
//! counts when it begins, so that a round whose chirps have not all left when its first ACK comes
//! is as long as the RTT too. As in the module no packet may be lost or overtaken: a loss leaves
//! by the avoidance's cut. After a timeout, and when it is entered again, it is slow start.

use crate::card::{Card, Listed};
use crate::estimate::chirp::{CHIRP, Chirp};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{OWN_END_SSTHRESH, Opening};
use crate::pacing::Pacing;
use crate::policy::{Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{View, Window};

/// Chirps until the path's rate is known.
#[derive(Clone, Copy, Debug)]
pub struct Chirps {
    opening: Opening,
    first_gap: Span,
    state: State,
    /// The mean gap, `g`.
    gap: Span,
    /// Chirps begun.
    begun: u64,
    /// Chirps whose ACKs have all come.
    done: u64,
    /// `g` of those between, in quarters of a microsecond.
    gaps: [u16; OUTSTANDING],
    /// Packets of the chirp under way that have left.
    left: usize,
    /// When the next may leave.
    due: Instant,
    /// Delays seen of the first chirp not done.
    delays: Chirp,
    /// Payload delivered that is no whole segment yet.
    rest: Bytes,
    /// `M`, chirps per round.
    per_round: u64,
    /// The first chirp of the round.
    round_first: u64,
    /// How many chirps the round has begun.
    round_begun: u64,
    /// How long they are together.
    round_length: Span,
    /// A round trip was over before all chirps of its round had left.
    long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The chirp under way has packets to send.
    Chirping,
    /// The next chirp begins when its packet is due.
    Guarding,
    /// The round has all its chirps; an ACK begins the next.
    Waiting,
    /// The rate is known; so many segments are still to be acknowledged.
    Landing(u64),
    Over,
}

impl Chirps {
    /// Packets of the chirp of that number.
    fn packets(number: u64) -> usize {
        // `paced_chirping.c`: 5, 5, 8, 8, and 16 from the fifth on.
        match number {
            0 | 1 => 5,
            2 | 3 => 8,
            _ => CHIRP,
        }
    }

    /// The gap that packet `at` of a chirp of `g` leaves before the next.
    fn gap_after(number: u64, g: Span, at: usize) -> Span {
        // `paced_chirping.c`: with its geometry of 2 the gaps fall from 2 g evenly, so that they
        // are g on average.
        let packets = Self::packets(number) as u64;
        (g * 2).scaled(packets.saturating_sub(at as u64), packets)
    }

    fn kept_gap(&self, number: u64) -> Span {
        let kept = self.gaps[(number % OUTSTANDING as u64) as usize];
        Span(u64::from(kept).saturating_mul(KEPT_UNIT))
    }

    /// A chirp begins with a packet now.
    fn begin_chirp(&mut self, now: Instant) {
        let quarters = u16::try_from(self.gap.0 / KEPT_UNIT).unwrap_or(u16::MAX);
        self.gaps[(self.begun % OUTSTANDING as u64) as usize] = quarters;
        self.begun += 1;
        self.round_begun += 1;
        self.round_length += self.length(self.begun - 1);
        (self.state, self.left, self.due) = (State::Chirping, 0, now);
    }

    /// From the first packet of a chirp to its last.
    fn length(&self, number: u64) -> Span {
        let (g, packets) = (self.kept_gap(number), Self::packets(number));
        (0..packets - 1).fold(Span(0), |sum, at| sum + Self::gap_after(number, g, at))
    }

    /// A packet may leave now: when is the next due, or is there none?
    fn let_one_leave(&mut self, view: &View) {
        if self.state == State::Guarding {
            self.begin_chirp(view.now);
        }
        let number = self.begun.saturating_sub(1);
        self.left += 1;
        if self.left < Self::packets(number) {
            let gap = Self::gap_after(number, self.kept_gap(number), self.left - 1);
            self.due = view.now + gap;
        } else if self.round_begun < self.per_round && self.begun - self.done < OUTSTANDING as u64 {
            // `paced_chirping.c`, guard interval: `srtt / M`, less what the chirp took of it.
            let share = view.rtt.smoothed / self.per_round;
            self.due = view.now + (share - self.length(number)).max(self.gap);
            self.state = State::Guarding;
        } else {
            self.state = State::Waiting;
        }
    }

    /// `start_new_round`.
    fn begin_round(&mut self) {
        // `start_new_round()`: from the sixth chirp on a round has twice as many.
        if self.begun >= DOUBLING_FROM && self.round_begun >= self.per_round {
            self.per_round = (self.per_round * 2).min(MOST_PER_ROUND);
        }
        self.round_first = self.begun;
        (self.round_begun, self.round_length) = (0, Span(0));
    }

    /// A packet of the first chirp that is not done was acknowledged.
    fn add_delay(&mut self, view: &View) {
        let number = self.done;
        if number >= self.begun {
            return;
        }
        if self.delays.is_empty() && number >= 2 && number == self.round_first {
            // The round is over before all of its chirps have left: they are as long as the RTT.
            self.long |= self.round_begun < self.per_round;
            self.begin_round();
        }
        self.delays.push(view.rtt.latest - view.rtt.min);
        if self.delays.len() < Self::packets(number) {
            return;
        }
        let g = self.kept_gap(number);
        let estimate = self.delays.gap(|at| Self::gap_after(number, g, at));
        self.delays = Chirp::default();
        self.done += 1;
        // `paced_chirping.c`: the mean of old and new, the new one within 30 us and 10 ms.
        if let Some(estimate) = estimate {
            let estimate = Span(estimate.0.clamp(LEAST_GAP.0, MOST_GAP.0));
            self.gap = self.gap / 2 + estimate / 2;
        }
        if number == 0 {
            self.begin_round();
        }
        // `paced_chirping.c`: the chirps of a round are as long as the RTT, and the search is over.
        let full = self.begun - self.done >= OUTSTANDING as u64 - 1;
        if view.rtt.smoothed <= self.round_length || self.long || full {
            self.state = State::Landing(self.fill(view).max(1));
        }
    }

    /// Segments that fill the path.
    fn fill(&self, view: &View) -> u64 {
        let min = if view.rtt.min == Span::MAX { Span(0) } else { view.rtt.min };
        min.0 / self.gap.0.max(1)
    }

    fn rate(&self, view: &View) -> Rate {
        view.mss.per(self.gap.min(SLOWEST)).max(Rate(1))
    }

    /// The window that lets a packet leave now, or none, and when to open it again.
    fn gate(&self, opens: bool, view: &View) -> Step {
        // Ours: the module has a timer per packet; here the window opens by one segment.
        let room = if opens { view.mss } else { Bytes(0) };
        let window = Window { cwnd: (view.in_flight + room).max(view.mss), ..view.window };
        // Where the window cannot be small enough, the time of the next packet holds it.
        let paced =
            |at| window.hold().pacing(Pacing::at(Rate::MAX).not_before(at)).wake_at(self.due);
        match self.state {
            State::Chirping | State::Guarding if opens => paced(view.now),
            State::Chirping | State::Guarding => paced(self.due),
            _ => window.hold().paced(Rate::MAX),
        }
    }

    fn landing(&mut self, left: u64, segments: u64, view: &View) -> Step {
        if segments >= left {
            // One BDP of the landing is acknowledged: `snd_ssthresh = snd_cwnd`, what is in flight.
            self.state = State::Over;
            let window = view.in_flight.max(view.mss * 2);
            let window = Window { cwnd: window, ssthresh: window };
            return window.hold().paced(self.rate(view)).exit(Exit::Heuristic);
        }
        self.state = State::Landing(left - segments);
        // `paced_chirping.c`: two BDP, at least ten segments, paced at one per g.
        let cwnd = view.mss * (self.fill(view) * 2).max(LEAST_LANDING);
        Window { cwnd, ..view.window }.hold().paced(self.rate(view))
    }
}

impl Listed for Chirps {
    const CARD: Card = Card::new(
        "chirps",
        "groups of packets ever closer together, until their delays show the path's rate",
        "paced chirping, Misund 2018",
    )
    .with("cubic")
    .about(
        "The queueing delay of each packet of a chirp, whose gaps shrink.",
        "The gap at which packets begin to queue for good is the path's.",
        "Chirps are a few packets at first, so that jitter of their size hides the gap; a sender \
         that cannot time packets has none.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for Chirps {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::WAKE_UPS).wanting(Facilities::PACING)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("chirps_gap_ns", self.gap.0);
        report("chirps_begun", self.begun);
        report("chirps_per_round", self.per_round);
    }
}

impl Startup for Chirps {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        Window { cwnd: mss, ..self.opening.window(default, mss) }
    }

    /// The first packet of the first chirp leaves now.
    fn begin(&mut self, view: &View) -> Step {
        let Self { opening, first_gap, .. } = *self;
        *self = Self { opening, first_gap, gap: first_gap, ..Self::default() };
        self.begin_chirp(view.now);
        self.let_one_leave(view);
        let window = Window { cwnd: view.mss, ..view.window };
        window.hold().paced(Rate::MAX).wake_at(self.due)
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        if why != Entry::Connect {
            self.state = State::Over;
        }
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, ssthresh } = view.window;
        if self.state == State::Over {
            return double(ack, view);
        }
        if cwnd >= ssthresh && ssthresh != Bytes::MAX {
            self.state = State::Over;
            return view.window.hold().until_threshold();
        }
        // `paced_chirping.c` looks at each packet that an ACK acknowledges.
        self.rest += ack.credited;
        let segments = self.rest.0 / view.mss.0.max(1);
        self.rest -= view.mss * segments;
        if let State::Landing(left) = self.state {
            return self.landing(left, segments, view);
        }
        for _ in 0..segments.min(MOST_PER_ACK) {
            self.add_delay(view);
        }
        if let State::Landing(left) = self.state {
            return self.landing(left, 0, view);
        }
        if self.state == State::Waiting && ack.in_flight == Bytes(0) && self.begun > self.done {
            // The source had no data for what is missing of these chirps.
            (self.done, self.delays) = (self.begun, Chirp::default());
            self.begin_round();
        }
        let begins = self.state == State::Waiting && self.round_begun < self.per_round;
        if begins {
            self.begin_chirp(view.now);
            self.let_one_leave(view);
        }
        self.gate(begins, view)
    }

    fn on_wake(&mut self, view: &View) -> Step {
        if !matches!(self.state, State::Chirping | State::Guarding) || view.recovering {
            return view.window.hold().keep_pace();
        }
        self.let_one_leave(view);
        self.gate(true, view)
    }

    fn growth(&self) -> u64 {
        GROWTH
    }

    fn found(&self, view: &View) -> Found {
        let pipe = Some(view.mss * self.fill(view)).filter(|pipe| *pipe > Bytes(0));
        Found { pipe, rate: Some(self.rate(view)), ..Found::default() }
    }
}

impl Default for Chirps {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            first_gap: FIRST_GAP,
            state: State::Waiting,
            gap: FIRST_GAP,
            begun: 0,
            done: 0,
            gaps: [0; OUTSTANDING],
            left: 0,
            due: Instant(0),
            delays: Chirp::default(),
            rest: Bytes(0),
            per_round: 2,
            round_first: 0,
            round_begun: 0,
            round_length: Span(0),
            long: false,
        }
    }
}

impl Knobs for Chirps {
    const ROWS: &'static [KnobOf<Self>] = &[
        KnobOf::part(&[OWN_END_SSTHRESH], |p| &mut p.opening),
        Knob::new("gap")
            .means("mean gap of the first chirps")
            .time(LEAST_GAP..=MOST_GAP, |p| &mut p.first_gap),
    ];
}

/// Chirps that may be outstanding.
const OUTSTANDING: usize = 128;

/// In what the gaps of chirps are kept, in nanoseconds: 10 ms are 40000 of them.
const KEPT_UNIT: u64 = 250;

/// The mean gap at first.
const FIRST_GAP: Span = Span::from_micros(200);

/// What an estimate may be.
const LEAST_GAP: Span = Span::from_micros(30);
const MOST_GAP: Span = Span::from_millis(10);

/// The slowest that the landing is paced.
const SLOWEST: Span = Span::from_millis(5);

/// From this chirp on rounds have twice as many.
const DOUBLING_FROM: u64 = 6;

/// No round has more.
const MOST_PER_ROUND: u64 = 1 << 20;

/// Segments of chirps that one ACK can acknowledge; more belong to no chirp.
const MOST_PER_ACK: u64 = (OUTSTANDING * CHIRP) as u64;

/// Segments of the landing's window at the least.
const LEAST_LANDING: u64 = 10;

/// The window is a gate here, of one packet at first, after which ten leave before the first ACK.
const GROWTH: u64 = 16;

#[cfg(test)]
mod tests;
