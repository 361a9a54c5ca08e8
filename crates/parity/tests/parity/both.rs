//! The two senders side by side.

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Paced, Phase};
use firstflight_kernel::KernelControl;
use firstflight_parity::Native;

use super::draw::Draw;

/// A sender in Rust and one in C that see the same.
pub(crate) struct Both {
    control: String,
    config: Config,
    rust: Sender<Pair<ChosenStartup, ChosenAvoidance>>,
    native: Native,
    /// Some data has left: it is too late to begin.
    has_sent: bool,
    /// The control needs how much has left.
    pub(crate) needs_sent: bool,
    /// Start-up is woken.
    pub(crate) wakes: bool,
    /// The numbers are absurd. The largest rate, which in C is none, is among them, so that who
    /// paces is not compared.
    pub(crate) wild: bool,
    pub(crate) acks: u64,
    pub(crate) cuts: u64,
    pub(crate) grown: u64,
    /// How often a wake-up has opened the window.
    pub(crate) woken: u64,
    /// What left first at another pace, the last time, and how often something did.
    train: Option<(Bytes, Rate)>,
    pub(crate) trains: u64,
}

impl Both {
    pub(crate) fn new(text: &str, draw: &mut Draw) -> Self {
        let control = Control::named(text).unwrap();
        let kernel = KernelControl::new(&control).unwrap();
        let mss = Bytes(draw.between(500, 9_000));
        let config = Config {
            mss,
            initial_window: mss * draw.between(1, 20),
            initial_ssthresh: if draw.once_in(2) { Bytes::MAX } else { mss * draw.between(2, 99) },
            max_cwnd: if draw.once_in(9) { mss * draw.between(0, 200) } else { Bytes(1 << 40) },
            limit_growth_to_flight: false,
            segment_per_ack: false,
            paces: false,
        };
        let rust = Sender::new(control.startup, control.avoidance, config);
        let needs_sent = rust.needs().all().has(Facilities::SENT);
        let wakes = rust.needs().all().has(Facilities::PACED_WAKE_UPS);
        let native = Native::new(&kernel, config).expect("the control has C");
        let control = text.to_owned();
        let (has_sent, acks, cuts, grown) = (false, 0, 0, 0);
        let mut both = Self {
            control,
            config,
            rust,
            native,
            has_sent,
            needs_sent,
            wakes,
            wild: false,
            acks,
            cuts,
            grown,
            woken: 0,
            train: None,
            trains: 0,
        };
        both.compare(&"nothing yet");
        both
    }

    pub(crate) fn mss(&self) -> u64 {
        self.rust.view().mss.0
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.rust.cwnd().0
    }

    pub(crate) fn recovering(&self) -> bool {
        self.rust.view().recovering
    }

    pub(crate) fn handshake(&mut self, now: u64, rtt: u64) {
        self.rust.on_handshake(Instant(now), Span(rtt));
        self.native.on_handshake(Instant(now), Span(rtt));
        self.compare(&("handshake", now, rtt));
    }

    /// What an earlier connection to the same host learned.
    pub(crate) fn hint(&mut self, now: u64, learned: Learned) {
        if self.has_sent {
            return;
        }
        self.rust.on_hint(Instant(now), &PathHint::Own(learned));
        self.native.on_hint(Instant(now), &learned);
        self.compare(&learned);
    }

    pub(crate) fn begin(&mut self, now: u64) {
        if self.has_sent {
            return;
        }
        self.rust.begin(Instant(now));
        self.native.begin(Instant(now));
        self.compare(&("begin", now));
    }

    pub(crate) fn sent(&mut self, sent: &Sent) {
        self.has_sent = true;
        self.rust.on_sent(sent);
        self.native.on_sent(sent);
        self.compare(sent);
    }

    pub(crate) fn ack(&mut self, ack: &Ack) {
        let before = self.rust.cwnd();
        self.rust.on_ack(ack);
        self.native.on_ack(ack);
        self.acks += 1;
        self.grown += u64::from(self.rust.cwnd() > before);
        self.compare(ack);
    }

    /// When start-up wants to be woken, if the kernel wakes it.
    pub(crate) fn wake_at(&self) -> Option<u64> {
        self.rust.wake_at().filter(|_| self.wakes).map(|at| at.0)
    }

    /// Wakes start-up, whether or not it asked for it.
    pub(crate) fn wake(&mut self, now: u64) {
        if !self.wakes {
            return;
        }
        let before = self.rust.cwnd();
        self.rust.on_wake(Instant(now));
        self.native.on_wake(Instant(now));
        self.woken += u64::from(self.rust.cwnd() > before);
        self.compare(&("woken", now));
    }

    /// The socket paces from now on, or no longer does.
    pub(crate) fn endpoint_paces(&mut self, paces: bool) {
        self.rust.endpoint_paces(if paces { 200 } else { 0 });
        self.native.endpoint_paces(paces);
        self.compare(&("paces", paces));
    }

    /// `again`: of a timeout that it has been answered, of another loss that it was sent again.
    pub(crate) fn loss(&mut self, now: u64, kind: LossKind, flight: u64, again: bool) {
        let (now, lost, flight) = (Instant(now), Bytes(self.mss()), Bytes(flight));
        let loss = Loss { again, answered: again, ..Loss::of(now, kind, lost, flight) };
        self.cuts += u64::from(self.rust.on_loss(&loss));
        self.native.on_loss(&loss);
        self.compare(&loss);
    }

    pub(crate) fn recovered(&mut self, cwnd: Option<u64>) {
        self.rust.on_recovered(cwnd.map(Bytes));
        self.native.on_recovered(cwnd.map(Bytes));
        self.compare(&("recovered", cwnd));
    }

    pub(crate) fn spurious(&mut self) {
        self.rust.on_spurious_loss();
        self.native.on_spurious_loss();
        // With the pace before the cut comes what was left of its train.
        self.train = self.native.train();
        self.compare(&"spurious");
    }

    /// The source had nothing to send for so long.
    pub(crate) fn rest(&mut self, now: u64, idle: u64) {
        self.rust.on_rest(Instant(now), Span(idle), None);
        self.native.on_rest(Instant(now), Span(idle));
        self.compare(&("rest", now, idle));
    }

    pub(crate) fn set_mss(&mut self, mss: u64) {
        self.rust.set_mss(Bytes(mss));
        self.native.set_mss(Bytes(mss));
        self.compare(&("mss", mss));
    }

    fn compare(&mut self, event: &dyn std::fmt::Debug) {
        let rust = (self.rust.cwnd(), self.rust.ssthresh());
        let native = (self.native.cwnd(), self.native.ssthresh());
        assert_eq!(
            rust, native,
            "{}: Rust (left) and C differ in (cwnd, ssthresh) after ACK {}, event {event:?}; {:?}",
            self.control, self.acks, self.config
        );
        let paced = match self.rust.view().paced {
            Paced::No => 0,
            Paced::ByEndpoint(_) => 1,
            Paced::ByPolicy => 2,
        };
        let native = self.native.paced().filter(|_| !self.wild).unwrap_or(paced);
        assert_eq!(paced, native, "{}: {event:?}", self.control);
        assert_eq!(self.rust.refutes_hint(), self.native.refutes_hint(), "{}", self.control);
        if let Some(native) = self.native.w_max() {
            let mut rust = None;
            self.rust.gauges(&mut |name, value| {
                rust = (name == "cubic_w_max").then_some(Bytes(value)).or(rust);
            });
            assert_eq!(rust, Some(native), "{}: W_max, {event:?}", self.control);
        }
        if self.wakes {
            let rust = self.rust.wake_at().filter(|at| *at < Instant(u64::MAX));
            assert_eq!(rust, self.native.wake_at(), "{}: {event:?}", self.control);
        }
        self.compare_train(event);
        let (rust, native) = (self.rust.pacing().map(|pacing| pacing.rate), self.native.pace());
        // Where start-up sets none the default holds, which in the kernel is not the core's. In C
        // the largest rate is none.
        let none = |rate: &Rate| *rate == Rate::MAX || self.is_default(*rate);
        let paced = native.or_else(|| rust.filter(none));
        assert_eq!(
            rust, paced,
            "{}: Rust (left) and C differ in the pace after ACK {}, event {event:?}; {:?}",
            self.control, self.acks, self.config
        );
    }

    /// What leaves first at another pace is the same when it is decided, and stays so in C. It is
    /// reported to the core at once that all of it has left, so that the rate behind it is compared
    /// too.
    fn compare_train(&mut self, event: &dyn std::fmt::Debug) {
        if let Some((length, rate)) = self.rust.pacing().and_then(|pacing| pacing.first) {
            self.rust.on_paced(length);
            self.train = Some((length, rate));
            self.trains += 1;
        }
        // In C the largest rate is none, and then there is no train.
        let native = self.native.train().or(self.train);
        assert_eq!(self.train, native, "{}: {event:?}", self.control);
    }

    /// Whether that is the core's default pacing.
    fn is_default(&self, rate: Rate) -> bool {
        let view = self.rust.view();
        let quarters = if view.phase == Phase::Startup { 8 } else { 5 };
        let default = view.window.cwnd.per(view.rtt.smoothed).scaled(quarters, 4);
        rate == default.max(Rate(1))
    }
}
