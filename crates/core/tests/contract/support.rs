//! A start-up and an avoidance that do what a test says and log the calls they get, and the
//! transport's side of a connection. Segments have 1000 bytes; the RTT is 100 ms.

use std::cell::RefCell;
use std::rc::Rc;

use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::needs::Needs;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Answer, Avoidance, Entry, Exit, Found, Observer, Startup, Step};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Phase, View, Window};

pub(crate) const MSS: Bytes = Bytes(1_000);
pub(crate) const RTT: Span = Span::from_millis(100);

/// A call that a policy got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Handshake,
    Begin,
    Enter(Entry),
    Step,
    Recovering,
    Loss(LossKind),
    Further {
        lost: u64,
        gaps: u32,
    },
    Wake,
    Rest(Span),
    /// The avoidance takes over.
    Over(Found),
}

pub(crate) type Log = Rc<RefCell<Vec<Call>>>;

/// The start-up. Without a script it is slow start that leaves at a loss.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) answer: Answer,
    /// What it answers from the second loss on, if something else.
    pub(crate) then: Option<Answer>,
    pub(crate) begin: fn(&View) -> Step,
    pub(crate) step: fn(&Ack, &View) -> Step,
    pub(crate) recovering: fn(&Ack, &View) -> Step,
    pub(crate) wake: fn(&View) -> Step,
    pub(crate) growth: u64,
    pub(crate) follows_model: bool,
    pub(crate) found: Found,
    pub(crate) needs: Needs,
    pub(crate) repeats: bool,
    pub(crate) once: bool,
    /// ACKs it has decided on: state of its own.
    pub(crate) steps: u64,
    /// What [`View::beta`] said when it answered last.
    pub(crate) beta: u64,
    pub(crate) log: Log,
}

impl Start {
    pub(crate) fn answering(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }

    /// This script, with a log of its own.
    pub(crate) fn anew(&self) -> Self {
        Self { log: Log::default(), ..self.clone() }
    }

    fn note(&self, call: Call) {
        self.log.borrow_mut().push(call);
    }
}

impl Default for Start {
    fn default() -> Self {
        Self {
            answer: Answer::Leave,
            then: None,
            begin: |view| view.window.hold(),
            step: |ack, view| view.window.grow(ack.acked),
            recovering: |_, view| view.window.hold(),
            wake: |view| view.window.hold(),
            growth: 2,
            follows_model: false,
            found: Found::default(),
            needs: Needs::TIMES,
            repeats: false,
            once: false,
            steps: 0,
            beta: 0,
            log: Log::default(),
        }
    }
}

impl Observer for Start {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn on_handshake(&mut self, view: &View) {
        assert_eq!(view.rtt.first, view.rtt.latest, "its sample is in");
        self.note(Call::Handshake);
    }

    fn on_begin(&mut self, _view: &View) {
        self.note(Call::Begin);
    }

    fn on_loss(&mut self, loss: &Loss, _view: &View) {
        self.note(Call::Loss(loss.kind));
        self.steps += 1_000;
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        assert_eq!(view.now, loss.now);
        assert!(loss.answered, "an earlier answer covers it");
        self.note(Call::Further { lost: loss.lost.0, gaps: loss.gaps });
    }

    fn on_rest(&mut self, idle: Span, _view: &View) {
        self.note(Call::Rest(idle));
    }

    fn follows_model(&self) -> bool {
        self.follows_model
    }
}

impl Startup for Start {
    fn once(&self) -> bool {
        self.once
    }

    fn begin(&mut self, view: &View) -> Step {
        (self.begin)(view)
    }

    /// After a timeout it grows by a factor of one more.
    fn enter(&mut self, why: Entry, _view: &View) {
        self.note(Call::Enter(why));
        self.growth += u64::from(why == Entry::Timeout);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        self.note(Call::Step);
        self.steps += 1;
        (self.step)(ack, view)
    }

    fn answer(&mut self, _loss: &Loss, view: &View) -> Answer {
        self.beta = view.beta;
        let later = self.then.take().unwrap_or(self.answer);
        std::mem::replace(&mut self.answer, later)
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        self.note(Call::Recovering);
        (self.recovering)(ack, view)
    }

    fn on_wake(&mut self, view: &View) -> Step {
        self.note(Call::Wake);
        (self.wake)(view)
    }

    fn growth(&self) -> u64 {
        self.growth
    }

    fn repeats(&self, _view: &View) -> bool {
        self.repeats
    }

    fn found(&self, _view: &View) -> Found {
        self.found
    }

    fn refutes_hint(&self) -> bool {
        self.steps >= 1_000
    }
}

/// The avoidance: a segment more per ACK; a loss leaves 0.7 of the flight. It says that the next
/// one leaves more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Later {
    pub(crate) cuts: u64,
    pub(crate) goes_on: bool,
    pub(crate) follows_model: bool,
    pub(crate) recovers: u64,
    /// It is so paced after a rest.
    pub(crate) paced: Option<Rate>,
    pub(crate) log: Log,
}

impl Observer for Later {
    fn on_begin(&mut self, _view: &View) {
        self.log.borrow_mut().push(Call::Begin);
    }

    fn on_further_loss(&mut self, loss: &Loss, _view: &View) {
        self.log.borrow_mut().push(Call::Further { lost: loss.lost.0, gaps: loss.gaps });
    }

    fn on_rest(&mut self, idle: Span, _view: &View) {
        self.log.borrow_mut().push(Call::Rest(idle));
    }

    fn follows_model(&self) -> bool {
        self.follows_model
    }
}

impl Avoidance for Later {
    fn enter(&mut self, found: &Found, _view: &View) {
        self.log.borrow_mut().push(Call::Over(*found));
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        self.log.borrow_mut().push(Call::Step);
        view.window.grow(view.mss)
    }

    fn rested(&mut self, view: &View) -> Step {
        let step = view.window.hold().keep_pace();
        self.paced.map_or(step, |rate| step.paced(rate))
    }

    fn cut(&mut self, loss: &Loss, _view: &View) -> Window {
        self.cuts += 1;
        let left = loss.flight * 7 / 10;
        Window { cwnd: left, ssthresh: left }
    }

    fn beta(&self) -> u64 {
        700_000 + self.cuts * 10_000
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        self.recovers += 1;
        view.window.grow(view.mss * 3)
    }

    fn growth(&self) -> u64 {
        if self.goes_on { 3 } else { 1 }
    }
}

/// A connection whose first window is 10 segments.
pub(crate) struct Line {
    pub(crate) sender: Sender<Pair<Start, Later>>,
    pub(crate) start: Log,
    pub(crate) later: Log,
    pub(crate) now: u64,
    pub(crate) acked: u64,
    pub(crate) sent: u64,
}

pub(crate) fn config() -> Config {
    Config {
        mss: MSS,
        initial_window: MSS * 10,
        initial_ssthresh: Bytes::MAX,
        max_cwnd: MSS * 10_000,
        limit_growth_to_flight: false,
        segment_per_ack: true,
        paces: false,
    }
}

impl Line {
    pub(crate) fn new(start: Start) -> Self {
        Self::with(start, config())
    }

    pub(crate) fn with(start: Start, config: Config) -> Self {
        Self::before(start, Later::default(), config)
    }

    pub(crate) fn before(start: Start, later: Later, config: Config) -> Self {
        let (start_log, later_log) = (start.log.clone(), later.log.clone());
        let sender = Sender::new(start, later, config);
        Self { sender, start: start_log, later: later_log, now: 1_000_000_000, acked: 0, sent: 0 }
    }

    /// After the handshake, with the first data about to leave.
    pub(crate) fn begun(start: Start) -> Self {
        let mut line = Self::new(start);
        line.sender.on_handshake(line.at(), RTT);
        line.sender.begin(line.at());
        line
    }

    pub(crate) fn at(&self) -> Instant {
        Instant(self.now)
    }

    pub(crate) fn send(&mut self, segments: u64) -> &mut Self {
        for _ in 0..segments {
            self.sent += MSS.0;
            let (now, in_flight) = (self.at(), Bytes(self.sent - self.acked));
            self.sender.on_sent(&Sent { now, bytes: MSS, in_flight, again: false });
        }
        self
    }

    /// Sends what the window allows.
    pub(crate) fn fill(&mut self) -> &mut Self {
        let room = self.sender.cwnd().0 / MSS.0;
        self.send(room.saturating_sub((self.sent - self.acked) / MSS.0))
    }

    /// What an ACK for so many segments says, a millisecond after the last event.
    pub(crate) fn next_ack(&mut self, segments: u64) -> Ack {
        self.now += 1_000_000;
        self.acked += segments * MSS.0;
        let acked = MSS * segments;
        Ack {
            now: self.at(),
            acked,
            credited: acked,
            rtt: Some(RTT),
            in_flight: Bytes(self.sent - self.acked),
            snd_nxt: Bytes(self.sent),
            ..Ack::default()
        }
    }

    pub(crate) fn ack(&mut self, segments: u64) -> &mut Self {
        let ack = self.next_ack(segments);
        self.sender.on_ack(&ack);
        self
    }

    pub(crate) fn duplicate(&mut self) -> &mut Self {
        let ack = Ack { credited: MSS, ..self.next_ack(0) };
        self.sender.on_ack(&ack);
        self
    }

    pub(crate) fn marked(&mut self, segments: u64) -> &mut Self {
        let ack = Ack { marked: MSS, ..self.next_ack(segments) };
        self.sender.on_ack(&ack);
        self
    }

    /// A loss of a segment, found now.
    pub(crate) fn loss(&self, kind: LossKind) -> Loss {
        Loss::of(self.at(), kind, MSS, Bytes(self.sent - self.acked))
    }

    pub(crate) fn lose(&mut self, kind: LossKind) -> bool {
        let loss = self.loss(kind);
        self.sender.on_loss(&loss)
    }

    /// In segments.
    pub(crate) fn cwnd(&self) -> u64 {
        self.sender.cwnd().0 / MSS.0
    }

    /// In segments.
    pub(crate) fn ssthresh(&self) -> u64 {
        self.sender.ssthresh().0 / MSS.0
    }

    pub(crate) fn phase(&self) -> Phase {
        self.sender.view().phase
    }

    pub(crate) fn recovering(&self) -> bool {
        self.sender.view().recovering
    }

    pub(crate) fn exit(&self) -> Option<(Exit, u64)> {
        self.sender.first_exit().map(|exit| (exit.why, exit.cwnd.0 / MSS.0))
    }

    /// How often start-up got this call.
    pub(crate) fn calls(&self, wanted: Call) -> usize {
        self.start.borrow().iter().filter(|call| **call == wanted).count()
    }

    pub(crate) fn later(&self) -> &Later {
        self.sender.policies().avoidance()
    }

    pub(crate) fn start(&self) -> &Start {
        self.sender.policies().startup()
    }
}

/// A window of so many segments, without ssthresh.
pub(crate) fn window(segments: u64) -> Window {
    Window { cwnd: MSS * segments, ssthresh: Bytes::MAX }
}
