//! The cases of losses: policers, spurious ones, those of a probe.

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::units::{Bytes, Instant};

use super::path::{MS, MSS, Path, Policer};

/// A.17: a token-bucket policer.
#[test]
fn a_policer_is_answered_and_its_rate_kept_to() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.until("cruise");
    let (rate, burst) = (2_000_000, 100_000);
    path.policer = Some(Policer { rate, burst, tokens: burst, filled: path.now });
    path.run(1_000);
    assert!(path.gauge("bbr_bw") < 4_000_000, "{}", path.gauge("bbr_bw"));
    assert!(path.gauge("bbr_inflight_shortterm") < u64::MAX);
    path.run(10_000);
    let before = (path.delivered, path.lost);
    path.run(20_000);
    let (delivered, lost) = (path.delivered - before.0, (path.lost - before.1) * MSS);
    assert!(delivered > 20 * rate * 85 / 100, "{delivered}");
    assert!(lost * 100 < (delivered + lost) * 5, "{lost} of {delivered}");
}

/// A.18: a spurious fast recovery in UP.
#[test]
fn a_spurious_recovery_returns_to_up_with_its_bounds() {
    undone(LossKind::Recovery);
}

/// A.19: a spurious timeout in UP.
#[test]
fn a_spurious_timeout_returns_to_up_with_its_bounds() {
    undone(LossKind::Timeout);
}

fn undone(kind: LossKind) {
    let mut path = Path::new(5_000, 50, 1_000);
    path.until("cruise").until("up").run(100);
    let state = |path: &Path| {
        let bounds = ["bbr_inflight_longterm", "bbr_inflight_shortterm", "bbr_bw"];
        (path.state(), bounds.map(|name| path.gauge(name)), path.sender.cwnd())
    };
    let before = state(&path);
    let (lost, flight) = (Bytes(20 * MSS), Bytes(path.in_flight()));
    path.sender.on_loss(&Loss::of(Instant(path.now), kind, lost, flight));
    assert_ne!(state(&path), before, "20 of 300 packets are too much for a probe");
    path.sender.on_spurious_loss();
    assert_eq!(state(&path), before);
    path.until("down");
}

/// A.21: a loss in UP, once `inflight_longterm` is set.
#[test]
fn a_loss_in_up_lowers_the_bound_and_ends_the_probe() {
    let mut path = Path::new(5_000, 50, 20);
    path.until("cruise").until("up").until("down");
    let bound = path.gauge("bbr_inflight_longterm");
    assert!((250 * MSS..330 * MSS).contains(&bound), "{bound}");
    path.until("cruise");
    // The next probe loses a tenth at once.
    path.until("up");
    path.run(5);
    let flight = path.in_flight();
    path.lose(flight / MSS / 10);
    assert_eq!(path.state(), "down");
    let lowered = path.gauge("bbr_inflight_longterm");
    assert!(lowered >= bound * 7 / 10 && lowered < bound, "{lowered} {bound}");
    assert!(path.now > 2_000 * MS);
}
