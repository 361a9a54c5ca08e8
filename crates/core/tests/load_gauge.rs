//! Load Gauge and the start-up it asks for, on a scripted path: one bottleneck of unlimited buffer,
//! every packet acknowledged, one of them lost when the test says so.

use crate::scripted_path::{MSS, Path, SECOND, SERVICE};
use firstflight_core::avoidance::Westwood;
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::startup::Astart;
use firstflight_core::units::Bytes;
use firstflight_core::view::{Phase, Window};

const RTT: u64 = 100_000_000;
/// 1250 packets.
const BDP: u64 = RTT / SERVICE;

fn path(gauge: &'static str) -> Path {
    let mut westwood = Westwood::default();
    assert!(westwood.set("lg", KnobValue::Word(gauge)));
    Path::new(Astart::default(), westwood, RTT)
}

/// A lone loss after 0.85 s, in the middle of start-up.
fn lone_loss(gauge: &'static str) -> Path {
    let mut path = path(gauge);
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
fn re_entry_keeps_the_window_and_grows_to_the_estimate_only() {
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
    let mut path = path("on");
    path.run_until(150.0);
    assert!(path.packets() > BDP + BDP / 4, "{}", path.packets());
    path.lose_one();
    let restarts = path.sender.reprobes();
    path.run_until(200.0);
    assert_eq!((path.phase(), path.sender.reprobes()), (Phase::Avoidance, restarts));
}
