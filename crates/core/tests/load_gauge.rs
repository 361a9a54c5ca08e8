//! Load Gauge and the start-up it asks for, on a scripted path: one bottleneck of unlimited buffer,
//! every packet acknowledged, one of them lost when the test says so.

use std::collections::VecDeque;

use firstflight_core::avoidance::Westwood;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::Astart;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{Phase, Window};

const MSS: u64 = 1_000;
const RTT: u64 = 100_000_000;
/// 100 Mbit/s, so the BDP is 1250 packets.
const SERVICE: u64 = 80_000;
const BDP: u64 = RTT / SERVICE;
const SECOND: u64 = 1_000_000_000;

struct Path {
    sender: Sender<Astart, Westwood>,
    now: u64,
    busy_until: u64,
    /// Arrival of each ACK and when its packet was sent.
    acks: VecDeque<(u64, u64)>,
    sent: u64,
    /// Packets that were sent before the last loss was found: recovery lasts for so many ACKs.
    recovery: usize,
}

impl Path {
    fn new(gauge: &'static str) -> Self {
        let mut westwood = Westwood::default();
        assert!(westwood.set("lg", KnobValue::Word(gauge)));
        let config = Config {
            mss: Bytes(MSS),
            initial_window: Bytes(2 * MSS),
            initial_ssthresh: Bytes(32 * MSS),
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: false,
        };
        let sender = Sender::new(Astart::default(), westwood, config);
        let mut path =
            Self { sender, now: 0, busy_until: 0, acks: VecDeque::new(), sent: 0, recovery: 0 };
        path.fill();
        path
    }

    fn fill(&mut self) {
        while (self.acks.len() as u64) < self.sender.cwnd().0 / MSS {
            self.busy_until = self.busy_until.max(self.now) + SERVICE;
            self.acks.push_back((self.busy_until + RTT, self.now));
            self.sent += MSS;
            let (now, in_flight) = (Instant(self.now), Bytes(self.acks.len() as u64 * MSS));
            self.sender.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight });
        }
    }

    fn step(&mut self) {
        let (at, sent) = self.acks.pop_front().expect("the window is never empty");
        self.now = at;
        self.sender.on_ack(&Ack {
            now: Instant(at),
            acked: Bytes(MSS),
            credited: Bytes(MSS),
            rtt: Some(Span(at - sent)),
            in_flight: Bytes(self.acks.len() as u64 * MSS),
            sent: Bytes(self.sent),
            ..Ack::default()
        });
        if self.recovery > 0 {
            self.recovery -= 1;
            if self.recovery == 0 {
                self.sender.on_recovered(None);
            }
        }
        self.fill();
    }

    fn run_until(&mut self, seconds: f64) -> &mut Self {
        while (self.now as f64) < seconds * SECOND as f64 {
            self.step();
        }
        self
    }

    fn lose_one(&mut self) -> &mut Self {
        let (now, flight) = (Instant(self.now), Bytes(self.acks.len() as u64 * MSS));
        let kind = LossKind::Recovery;
        self.sender.on_loss(&Loss { now, kind, lost: Bytes(MSS), flight, again: false });
        self.recovery = self.acks.len();
        self
    }

    fn window(&self) -> Window {
        self.sender.view().window
    }

    fn packets(&self) -> u64 {
        self.window().cwnd.0 / MSS
    }

    fn phase(&self) -> Phase {
        self.sender.view().phase
    }
}

/// A lone loss after 0.85 s, in the middle of start-up.
fn lone_loss(gauge: &'static str) -> Path {
    let mut path = Path::new(gauge);
    path.run_until(0.85).lose_one();
    assert_eq!(path.phase(), Phase::Avoidance);
    assert!(path.packets() < BDP / 2, "{}", path.packets());
    path
}

#[test]
fn after_a_lone_loss_start_up_begins_again_within_a_few_seconds() {
    let mut path = lone_loss("on");
    let lost_at = path.now;
    while path.phase() == Phase::Avoidance {
        path.step();
    }
    let waited = (path.now - lost_at) as f64 / SECOND as f64;
    assert!((1.0..5.0).contains(&waited), "{waited} s");
    assert_eq!(path.sender.reprobes(), 1);
    path.run_until(15.0);
    assert!(path.packets() > BDP * 9 / 10, "{}", path.packets());
}

#[test]
fn without_load_gauge_the_window_grows_by_one_per_rtt_after_it() {
    let mut path = lone_loss("off");
    let before = path.run_until(2.0).packets();
    let after = path.run_until(15.0).packets();
    assert!((125..=130).contains(&(after - before)), "{before} to {after} in 130 RTTs");
    assert_eq!((path.phase(), path.sender.reprobes()), (Phase::Avoidance, 0));
}

/// ssthresh is from the loss and cwnd above it: re-entry itself moves neither, nothing shrinks, and
/// the first jump goes where the estimate says, not beyond.
#[test]
fn re_entry_keeps_the_window_and_climbs_to_the_estimate_only() {
    let mut path = lone_loss("on");
    let mut before = path.window();
    while path.phase() == Phase::Avoidance {
        before = path.window();
        path.step();
    }
    let after = path.window();
    assert!(before.cwnd > before.ssthresh, "{before:?}");
    assert_eq!(after.ssthresh, before.ssthresh);
    assert!(after.cwnd >= before.cwnd && after.cwnd < before.cwnd + Bytes(MSS), "{after:?}");
    let end = path.now + 20 * RTT;
    while path.now < end {
        let before = path.window();
        path.step();
        let (grown, Window { cwnd, ssthresh }) = (path.window().cwnd - before.cwnd, path.window());
        assert!(ssthresh >= before.ssthresh && cwnd >= before.cwnd);
        assert!(ssthresh <= Bytes(BDP * MSS * 11 / 10), "{ssthresh:?}");
        assert!(grown < Bytes(MSS) || before.cwnd < ssthresh, "{before:?} to {cwnd:?}");
    }
}

/// The cut leaves a window that just fills the path: all growth queues, RE stays at the capacity.
/// The boundary is above it only because the guard waits for recovery to end.
#[test]
fn on_a_full_path_the_load_is_not_found_light() {
    let mut path = Path::new("on");
    path.run_until(150.0);
    assert!(path.packets() > BDP + BDP / 4, "{}", path.packets());
    path.lose_one();
    let restarts = path.sender.reprobes();
    path.run_until(200.0);
    assert_eq!((path.phase(), path.sender.reprobes()), (Phase::Avoidance, restarts));
}
