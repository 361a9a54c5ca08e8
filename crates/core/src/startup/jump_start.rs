//! JumpStart (Liu, Allman, Jin and Wang, 2007), and the jump start of quicly.
//!
//! What it believes: a flight spread over an RTT is harmless however large it is, if its losses are
//! answered well. What it does:
//!
//! ```text
//! paper:  begin: cwnd = jump, paced over one RTT;  then a packet leaves for each that arrives
//!         loss of that data: in the recovery a packet leaves for each that arrives; after it
//!         cwnd = ssthresh = half of what was delivered of the jump
//! quicly: begin: jump = an earlier connection's rate * max(newest, smoothed RTT), at most `jump`
//!         first ACK of it: cwnd = flight; what has not left by then is no part of the jump
//!         loss of that data: cwnd = max(delivered of the jump, IW) / 2, and rises to beta times
//!         what is delivered of the jump
//! ```
//!
//! In the paper's form the window does not grow until the jump is acknowledged, and slow start goes
//! on after it; in quicly's it goes on with the first ACK.
//!
//! Published: the rules. Inferred: the paper jumps to what there is to send, or to the receiver's
//! window if that is less, and a policy sees neither. So the knob `jump` says how much is spread
//! over the first RTT, 64 KB by default, the largest window without scaling; a source with less
//! sends what it has at that rate, which is faster than the paper's. quicly remembers a rate; a
//! hint holds window and RTT, whose quotient it is here. Its beta is 0.7, here the avoidance's.
//! Without an RTT before data, or, in quicly's form, without a hint, it is slow start. A transport
//! that does not pace is refused, as the jump would be a burst.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::hint::PathHint;
use crate::knob::{Amount, Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Answer, Entry, Exit, Found, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// Slow start after a first flight that is spread over an RTT.
#[derive(Clone, Copy, Debug)]
pub struct JumpStart {
    pub(super) opening: Opening,
    quicly: bool,
    pub(super) most: Amount,
    /// Window and RTT of an earlier connection.
    earlier: Option<(Bytes, Span)>,
    /// The window before the jump.
    initial_window: Bytes,
    /// The first flight, until all of it has arrived or is lost.
    pub(super) jump: Option<Jump>,
    /// What was delivered of a jump that lost data.
    peak: Option<Bytes>,
}

/// The first flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    /// Its size.
    pub(super) bytes: Bytes,
    /// The rate at which it leaves.
    pub(super) rate: Rate,
    /// Delivered of it.
    pub(super) delivered: Bytes,
    /// Found lost of it.
    lost: Bytes,
    /// A loss of it is being repaired.
    lands: bool,
    /// In quicly's form: its first ACK has come, or its first loss was found.
    validating: bool,
}

impl Jump {
    /// Whether all of it has arrived or is lost.
    fn is_over(&self) -> bool {
        self.delivered + self.lost >= self.bytes
    }
}

impl JumpStart {
    /// The first flight, if there is to be one.
    fn size(&self, view: &View) -> Option<Bytes> {
        let most = self.most.bytes(view.mss);
        if !self.quicly {
            return Some(most);
        }
        let (window, rtt) = self.earlier?;
        // quicly's jump start: the earlier rate over the larger of newest and smoothed RTT.
        let now = view.rtt.latest.max(view.rtt.smoothed);
        Some(window.scaled(now.0, rtt.0).min(most))
    }

    /// quicly's jump: what has left by its first ACK, with which slow start goes on from the
    /// flight that this one acknowledged a part of.
    fn go_on(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(jump) = &mut self.jump else { return double(ack, view) };
        let mut view = *view;
        if !core::mem::replace(&mut jump.validating, true) {
            // quicly: at the first ACK the window becomes what is in flight.
            jump.bytes = jump.bytes.min(view.snd_nxt);
            let flight = (view.in_flight + ack.credited).max(view.mss * 2);
            view.window.cwnd = flight.min(view.window.cwnd);
        }
        if jump.is_over() {
            self.jump = None;
        }
        double(ack, &view)
    }
}

impl Listed for JumpStart {
    const CARD: Card = Card::new(
        "jump-start",
        "slow start after a first flight that is spread over one RTT",
        "Liu and others, PFLDnet 2007; quicly",
    )
    .with("newreno")
    .about(
        "Whether its first flight is lost.",
        "A flight that is spread over one RTT is harmless however large it is, if its losses are \
         answered well.",
        "The jump is blind: larger than the path it is lost, and after it slow start goes on and \
         overshoots as slow start does.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for JumpStart {
    fn needs(&self) -> Needs {
        let needs = Facilities::TIMES | Facilities::PACING | Facilities::RECOVERY_WINDOW;
        let memory = if self.quicly { Facilities::MEMORY } else { Facilities::NONE };
        Needs::required(needs).wanting(memory)
    }

    fn on_ack(&mut self, ack: &Ack, _view: &View) {
        if let Some(jump) = &mut self.jump {
            jump.delivered += ack.credited.min(jump.bytes - (jump.delivered + jump.lost));
        }
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.on_further_loss(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, _view: &View) {
        if let Some(jump) = self.jump.as_mut().filter(|_| !loss.again) {
            jump.lost += loss.lost;
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("jump_start_jump", self.jump.map_or(0, |jump| jump.bytes.0));
        report("jump_start_delivered", self.jump.map_or(0, |jump| jump.delivered.0));
    }
}

impl Startup for JumpStart {
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        if let PathHint::Own(last) = hint {
            self.earlier = Some((last.window.cwnd.min(last.delivered), last.rtt));
        }
        view.window.hold()
    }

    fn begin(&mut self, view: &View) -> Step {
        let window = view.window;
        self.initial_window = window.cwnd;
        let rtt = view.rtt.smoothed;
        let Some(bytes) = self.size(view).filter(|bytes| *bytes > window.cwnd) else {
            return window.hold();
        };
        // Without a limit of its own it would be a rate without one.
        if rtt == Span(0) || bytes == Bytes::MAX {
            return window.hold();
        }
        // Liu and others, 2007: the first flight is spread evenly over the RTT of the handshake.
        let bytes = bytes.whole_segments(view.mss);
        let rate = bytes.per(rtt).max(Rate(1));
        let (delivered, lost) = (Bytes(0), Bytes(0));
        self.jump = Some(Jump { bytes, rate, delivered, lost, lands: false, validating: false });
        Window { cwnd: bytes, ..window }.hold().paced(rate)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        self.jump = None;
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if self.quicly {
            return self.go_on(ack, view);
        }
        let Some(jump) = self.jump else { return double(ack, view) };
        // Liu and others, 2007: ACK clocking, and slow start once all of the jump is accounted for.
        if jump.is_over() {
            self.jump = None;
            return double(ack, view);
        }
        // While the rest of it may still leave it stays paced.
        let step = view.window.hold();
        if view.snd_nxt < jump.bytes { step.paced(jump.rate) } else { step }
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        let Some(jump) = self.jump.as_mut().filter(|_| loss.kind != LossKind::Timeout) else {
            return Answer::Leave;
        };
        jump.lands = true;
        if self.quicly && !core::mem::replace(&mut jump.validating, true) {
            jump.bytes = jump.bytes.min(view.snd_nxt);
        }
        // quicly: half of what was acknowledged of the jump, or of IW if that is more. Liu and
        // others: a packet leaves for each that arrives.
        let cwnd = match self.quicly {
            true => jump.delivered.max(self.initial_window) / 2,
            // What is lost was in flight until now.
            false => view.in_flight - loss.lost,
        };
        let cwnd = cwnd.max(view.mss * 2).min(view.window.cwnd);
        Answer::Land(Window { cwnd, ssthresh: cwnd })
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        let Some(jump) = self.jump.filter(|jump| jump.lands) else { return window.hold() };
        if self.quicly {
            // quicly: the window rises to beta times what is acknowledged of the jump.
            self.peak = Some(jump.delivered.max(self.initial_window));
            let cwnd = jump.delivered.scaled(view.beta, RATIO_ONE);
            return Window { cwnd: cwnd.max(window.cwnd), ..window }.hold();
        }
        // Liu and others, 2007: once all of the jump is accounted for, half of what was delivered.
        if jump.is_over() && view.acked >= jump.bytes.min(view.snd_nxt) {
            let cwnd = self.landed_at(view);
            return Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Loss);
        }
        let cwnd = (ack.in_flight + ack.credited).max(view.mss * 2);
        Window { cwnd, ..window }.hold()
    }

    /// The ACK that shows losses is reported before them, so that they still count as in flight
    /// then: without taking them off, each would let a further packet go. Repairs that are lost
    /// count too.
    fn land_further(&mut self, loss: &Loss, view: &View) -> Window {
        let window = view.window;
        if self.quicly {
            return window;
        }
        Window { cwnd: (window.cwnd - loss.lost).max(view.mss * 2), ..window }
    }

    /// In QUIC a recovery ends with the first packet that left in it, and so do the jump's losses.
    fn landed_at(&mut self, view: &View) -> Bytes {
        match self.jump.take() {
            Some(jump) if jump.lands && !self.quicly => (jump.delivered / 2).max(view.mss * 2),
            _ => view.window.cwnd,
        }
    }

    fn found(&self, _view: &View) -> Found {
        Found { peak: self.peak, ..Found::default() }
    }
}

impl Default for JumpStart {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            quicly: false,
            most: Amount::Bytes(JUMP),
            earlier: None,
            initial_window: Bytes(0),
            jump: None,
            peak: None,
        }
    }
}

impl Knobs for JumpStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("form")
            .means("the paper's, or quicly's, which jumps to an earlier connection's rate")
            .word(words!(|p| p.quicly, ["paper" = false, "quicly" = true])),
        Knob::new("jump")
            .means("what leaves in the first RTT; at most, in quicly's form")
            .window(|p| &mut p.most),
    ];
}

/// The largest window of a receiver without window scaling (RFC 9293 section 3.1), in bytes.
const JUMP: u64 = 65_536;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::Learned;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    fn with(knobs: &[(&str, KnobValue)]) -> JumpStart {
        let mut policy = JumpStart::default();
        knobs.iter().for_each(|(name, value)| assert!(policy.set(name, *value), "{name}"));
        policy.enter(Entry::Connect, &view(10, Bytes::MAX));
        policy
    }

    fn quicly(most: u64) -> JumpStart {
        let most = KnobValue::Window(Amount::Segments(most));
        with(&[("form", KnobValue::Word("quicly")), ("jump", most)])
    }

    fn learned(cwnd: u64, rtt_ms: u64) -> PathHint {
        let rtt = Span::from_millis(rtt_ms);
        let window = Window { cwnd: MSS * cwnd, ssthresh: MSS };
        let (delivered, age) = (MSS * 10_000, Span(0));
        PathHint::Own(Learned {
            window,
            rtt,
            min_rtt: rtt,
            delivered,
            per_round: window.cwnd,
            rate: None,
            age,
        })
    }

    fn lose(policy: &mut JumpStart, segments: u64, view: &View) -> Answer {
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS * segments, MSS);
        policy.on_loss(&loss, view);
        policy.answer(&loss, view)
    }

    fn acked(policy: &mut JumpStart, view: &mut View, segments: u64, in_flight: u64) -> Step {
        view.acked += MSS * segments;
        view.in_flight = MSS * in_flight;
        let ack = ack(view, segments);
        policy.on_ack(&ack, view);
        let step =
            if view.recovering { policy.recovering(&ack, view) } else { policy.step(&ack, view) };
        view.window = step.window;
        step
    }

    #[test]
    fn the_first_flight_is_spread_over_the_rtt() {
        let step = with(&[]).begin(&view(10, Bytes::MAX));
        assert_eq!(step.window.cwnd, MSS * 65);
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(650_000))));
        let mut unknown = view(10, Bytes::MAX);
        unknown.rtt.smoothed = Span(0);
        assert_eq!(with(&[]).begin(&unknown), unknown.window.hold());
        let large = view(65, Bytes::MAX);
        let mut policy = with(&[("jump", KnobValue::Window(Amount::Segments(65)))]);
        assert_eq!(policy.begin(&large), large.window.hold(), "the first window is as large");
    }

    #[test]
    fn quicly_jumps_to_the_earlier_rate_over_the_rtt_of_now() {
        let begun = |most, hint: Option<PathHint>| {
            let (mut policy, mut view) = (quicly(most), view(10, Bytes::MAX));
            view.rtt.latest = Span::from_millis(120);
            if let Some(hint) = hint {
                let _ = policy.inform(&hint, &view);
            }
            policy.begin(&view).window.cwnd.0 / 1_000
        };
        // 200 segments per 240 ms are 100 per 120 ms.
        assert_eq!(begun(1_000, Some(learned(200, 240))), 100);
        assert_eq!(begun(64, Some(learned(200, 240))), 64);
        assert_eq!(begun(1_000, None), 10);
    }

    #[test]
    fn the_window_does_not_grow_before_the_jump_is_acknowledged() {
        let (mut policy, mut view) = (with(&[]), view(10, Bytes::MAX));
        view.window = policy.begin(&view).window;
        view.snd_nxt = MSS * 60;
        assert!(
            acked(&mut policy, &mut view, 10, 50).pacing_set().is_some(),
            "5 are still to leave"
        );
        view.snd_nxt = MSS * 65;
        assert_eq!(acked(&mut policy, &mut view, 0, 55).pace, Pace::Default);
        view.snd_nxt = MSS * 75;
        let step = acked(&mut policy, &mut view, 54, 11);
        assert_eq!((step.window.cwnd, step.pace), (MSS * 65, Pace::Default));
        assert_eq!(acked(&mut policy, &mut view, 1, 65).window.cwnd, MSS * 66);
    }

    #[test]
    fn after_losses_half_of_what_was_delivered_of_the_jump_is_left() {
        let (mut policy, mut view) = (with(&[]), view(10, Bytes::MAX));
        view.window = policy.begin(&view).window;
        view.snd_nxt = MSS * 65;
        view.in_flight = MSS * 50;
        let window = Window { cwnd: MSS * 45, ssthresh: MSS * 45 };
        assert_eq!(lose(&mut policy, 5, &view), Answer::Land(window), "what is lost is not there");
        (view.recovering, view.window) = (true, window);
        let further = Loss::of(Instant(0), LossKind::Recovery, MSS * 20, MSS);
        policy.on_further_loss(&further, &view);
        assert_eq!(policy.land_further(&further, &view).cwnd, MSS * 25);
        let step = acked(&mut policy, &mut view, 30, 10);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 40, None), "one for each that arrived");
        let step = acked(&mut policy, &mut view, 35, 0);
        assert_eq!(step.window, Window { cwnd: MSS * 20, ssthresh: MSS * 20 });
        assert_eq!(step.exit, Some(Exit::Loss));
    }

    #[test]
    fn the_recovery_of_the_jump_ends_when_all_of_it_is_acknowledged() {
        let recovering = |lost, acked, credited, snd_nxt| {
            let (mut policy, mut view) = (with(&[]), view(10, Bytes::MAX));
            view.window = policy.begin(&view).window;
            (view.snd_nxt, view.in_flight) = (MSS * snd_nxt, Bytes(0));
            let window = Window { cwnd: MSS * 2, ssthresh: MSS * 2 };
            let answer = lose(&mut policy, lost, &view);
            assert_eq!(answer, Answer::Land(window), "nothing is in flight");
            (view.window, view.recovering, view.acked) = (window, true, MSS * acked);
            let ack = Ack { credited: MSS * credited, ..ack(&view, 0) };
            policy.on_ack(&ack, &view);
            let step = policy.recovering(&ack, &view);
            (step.window.cwnd.0 / 1_000, step.exit)
        };
        // Acknowledged are 40 of 65 packets; all 30 that have left; none; all, by repairs alone.
        // Until then as many leave as have arrived, also if they had been taken for lost.
        assert_eq!(recovering(25, 40, 40, 65), (40, None));
        assert_eq!(recovering(25, 30, 5, 30), (5, None));
        assert_eq!(recovering(25, 0, 0, 65), (2, None));
        assert_eq!(recovering(65, 65, 0, 65), (2, Some(Exit::Loss)));
    }

    /// A jump of 100, of which so many have left.
    fn jumped(left: u64) -> (JumpStart, View) {
        let (mut policy, mut view) = (quicly(100), view(10, Bytes::MAX));
        view.beta = 700_000;
        let _ = policy.inform(&learned(200, 100), &view);
        view.window = policy.begin(&view).window;
        assert_eq!(view.window.cwnd, MSS * 100);
        view.snd_nxt = MSS * left;
        (policy, view)
    }

    #[test]
    fn quicly_goes_on_from_the_flight_with_the_first_ack() {
        let (mut policy, mut view) = jumped(60);
        let step = acked(&mut policy, &mut view, 1, 59);
        assert_eq!((step.window.cwnd, step.pace), (MSS * 61, Pace::Default), "60 and slow start");
        assert_eq!(acked(&mut policy, &mut view, 1, 60).window.cwnd, MSS * 62);
        let _ = acked(&mut policy, &mut view, 58, 4);
        assert!(policy.jump.is_none(), "what had not left by then is no part of it");
        assert_eq!(lose(&mut policy, 1, &view), Answer::Leave);
        let (mut policy, mut view) = jumped(100);
        assert_eq!(acked(&mut policy, &mut view, 1, 99).window.cwnd, MSS * 101);
    }

    #[test]
    fn quicly_lands_at_half_and_rises_to_beta_of_what_was_delivered() {
        let (mut policy, mut view) = jumped(100);
        let window = Window { cwnd: MSS * 5, ssthresh: MSS * 5 };
        assert_eq!(lose(&mut policy, 20, &view), Answer::Land(window), "half of the first window");
        (view.recovering, view.window) = (true, window);
        assert_eq!(acked(&mut policy, &mut view, 5, 75).window.cwnd, MSS * 5, "3.5 are less");
        assert_eq!(acked(&mut policy, &mut view, 35, 40).window.cwnd, MSS * 28);
        assert_eq!(acked(&mut policy, &mut view, 60, 0).window.cwnd, MSS * 56, "80 arrived");
        assert_eq!(policy.found(&view).peak, Some(MSS * 80));
        assert_eq!(policy.landed_at(&view), MSS * 56);
        let (mut policy, mut view) = jumped(100);
        let _ = acked(&mut policy, &mut view, 40, 60);
        let window = Window { cwnd: MSS * 20, ssthresh: MSS * 20 };
        assert_eq!(lose(&mut policy, 20, &view), Answer::Land(window), "half of the delivered");
    }

    #[test]
    fn later_losses_and_timeouts_are_the_avoidances() {
        let (mut policy, mut view) = (with(&[]), view(10, Bytes::MAX));
        assert_eq!(lose(&mut policy, 1, &view), Answer::Leave);
        view.window = policy.begin(&view).window;
        let timeout = Loss::of(Instant(0), LossKind::Timeout, MSS, MSS);
        assert_eq!(policy.answer(&timeout, &view), Answer::Leave);
        policy.enter(Entry::Timeout, &view);
        assert!(policy.jump.is_none());
    }

    /// quicly: two packets are the least, and what had not left as the first loss was found is no
    /// part of the jump.
    #[test]
    fn quicly_keeps_two_packets_and_jumps_no_further_after_a_loss() {
        let (mut policy, mut view) = jumped(1);
        assert_eq!(acked(&mut policy, &mut view, 1, 0).window.cwnd, MSS * 3, "2 and slow start");
        let (mut policy, view) = jumped(60);
        assert!(matches!(lose(&mut policy, 20, &view), Answer::Land(_)));
        assert_eq!(crate::testing::gauge(&policy, "jump_start_jump"), Some(60_000));
    }
}
