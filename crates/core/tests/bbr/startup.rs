//! The cases of Startup and Drain, and what holds in every state.

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::units::{Bytes, Instant};

use super::path::{MS, MSS, Path};

/// A.1: leaving Startup on a plateau of the rate.
#[test]
fn three_rounds_on_the_plateau_end_startup() {
    let mut path = Path::new(5_000, 50, 1_000);
    let mut most = 0;
    while path.state() == "startup" {
        most = path.gauge("bbr_rounds_without_growth");
        path.event();
    }
    assert_eq!((path.state(), most), ("drain", 2), "the third makes it Drain");
    let rate = path.gauge("bbr_bandwidth");
    assert!((4_900_000..=5_100_000).contains(&rate), "{rate}");
    assert_eq!(path.lost, 0);
}

/// A.2: leaving Startup on loss when limited by the application.
#[test]
fn losses_end_startup_although_the_source_limits() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.source_gap = MS;
    path.run(3_000);
    assert_eq!(path.state(), "startup");
    // Four lost of a hundred per round are no six gaps; seven are.
    path.source_gap = MS / 5;
    path.drop_every = Some(30);
    path.until("drain");
    assert_eq!(path.gauge("bbr_rounds_without_growth"), 0, "no plateau ended it");
}

/// A.3: leaving Drain by the flight.
#[test]
fn drain_paces_at_half_the_rate_until_the_flight_is_the_pipe() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.until("drain").event();
    path.until_so("an ACK later", |path| {
        path.sender
            .pacing()
            .is_some_and(|pacing| pacing.rate.0 == path.gauge("bbr_bandwidth") / 2 * 99 / 100)
    });
    let begun = path.now;
    let pipe = path.gauge("bbr_bandwidth") / 20;
    while path.state() == "drain" {
        assert!(path.in_flight() >= pipe, "{}", path.in_flight());
        path.event();
    }
    assert!(path.now - begun < 150 * MS, "less than three rounds");
    assert!(path.in_flight() <= pipe + 2 * MSS);
    assert!(["down", "cruise"].contains(&path.state()));
}

/// A.4: leaving Drain by time. The rate falls, in the last round of Startup, so far that the flight
/// is not reached.
#[test]
fn drain_ends_after_three_rounds_where_the_rate_has_fallen() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.until_so("its last round", |path| path.gauge("bbr_rounds_without_growth") == 2);
    path.rate = 2_000_000;
    path.until("drain").until("down");
    let pipe = path.gauge("bbr_max_bw") / 20;
    assert!(path.in_flight() > pipe + 10 * MSS, "{} {pipe}", path.in_flight());
}

/// A.7: neither Startup nor UP ends as long as the source limits and nothing is lost.
#[test]
fn what_the_source_limits_stays_in_startup_and_in_up() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.source_gap = MS;
    path.run(4_000);
    assert_eq!(path.state(), "startup");
    // Not longer: five seconds without a smaller RTT lead to ProbeRTT.
    let mut path = Path::new(5_000, 50, 1_000);
    path.until("up");
    path.source_gap = MS;
    path.until_so("near five seconds", |path| path.now > 4_900 * MS);
    assert_eq!((path.state(), path.lost), ("up", 0));
}

/// A.12: the rate of Startup where ACKs are aggregated.
#[test]
fn startup_finds_the_rate_although_acks_come_every_twenty_ms() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.aggregation = 20 * MS;
    let mut widest = 0;
    while path.state() == "startup" {
        widest = widest.max(path.sender.cwnd().0);
        path.event();
    }
    let rate = path.gauge("bbr_bandwidth");
    assert!((4_500_000..5_600_000).contains(&rate), "{rate}");
    let ahead = path.gauge("bbr_extra_acked");
    assert!((50_000..200_000).contains(&ahead), "a burst has 100 packets: {ahead}");
    assert!(widest > 2 * rate / 20, "{widest}");
}

/// A.14: less than a packet fills the path.
#[test]
fn four_segments_are_the_least_and_the_rate_is_kept() {
    let mut path = Path::new(50, 10, 20);
    path.until("cruise").run(2_000);
    let before = (path.now, path.delivered);
    for _ in 0..2_000 {
        assert!(path.sender.cwnd().0 >= 4 * MSS);
        path.event();
    }
    let rate = (path.delivered - before.1) * 1_000_000_000 / (path.now - before.0);
    assert!((47_000..=50_000).contains(&rate), "{rate}");
    assert_eq!(path.lost, 0);
}

/// A.18 and A.19 of Startup: what a spurious loss had ended goes on.
#[test]
fn a_spurious_loss_or_timeout_of_startup_is_undone() {
    for kind in [LossKind::Recovery, LossKind::Timeout] {
        let mut path = Path::new(5_000, 50, 1_000);
        path.run(150);
        let (before, state) = (path.sender.cwnd(), path.state());
        let flight = Bytes(path.in_flight());
        path.sender.on_loss(&Loss::of(Instant(path.now), kind, flight, flight));
        assert_eq!(path.sender.cwnd() < before, kind == LossKind::Timeout);
        path.sender.on_spurious_loss();
        assert_eq!((path.sender.cwnd(), path.state()), (before, state));
    }
}
