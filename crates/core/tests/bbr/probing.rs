//! The cases of ProbeBW and ProbeRTT.

use super::path::{MS, MSS, Path};

/// Cruising on 5 MB/s and 50 ms with that much buffer, in packets.
fn cruising(buffer: u64) -> Path {
    let mut path = Path::new(5_000, 50, buffer);
    path.until("cruise");
    path
}

fn longterm(path: &Path) -> u64 {
    path.gauge("bbr_inflight_longterm")
}

/// A.5: leaving UP on a plateau of the rate.
#[test]
fn three_rounds_on_the_plateau_end_up() {
    let mut path = cruising(1_000);
    path.until("up");
    let begun = path.now;
    path.until("down");
    // The queue of UP stretches its rounds: three to four of 50 to 75 ms.
    let rounds = (path.now - begun) / (50 * MS);
    assert!((3..=6).contains(&rounds), "{rounds}");
    assert_eq!((path.lost, longterm(&path)), (0, u64::MAX));
}

/// A.6: leaving UP on loss when limited by the application, which says nothing of the flight.
#[test]
fn losses_end_up_although_the_source_limits() {
    let mut path = cruising(1_000);
    path.until("up");
    path.source_gap = MS / 2;
    path.run(200);
    assert_eq!(path.state(), "up");
    path.drop_every = Some(20);
    path.until("down");
    assert_eq!(longterm(&path), u64::MAX, "the source's flight is no bound");
}

/// A.8: leaving DOWN by the flight.
#[test]
fn down_paces_at_nine_tenths_until_the_queue_is_drained() {
    let mut path = cruising(1_000);
    path.until("up").until("down").event();
    path.until_so("paced down", |path| {
        path.sender
            .pacing()
            .is_some_and(|pacing| pacing.rate.0 == path.gauge("bbr_bw") * 9 / 10 * 99 / 100)
    });
    while path.state() == "down" {
        assert!(path.in_flight() >= 249 * MSS, "{}", path.in_flight());
        path.event();
    }
    assert_eq!(path.state(), "cruise");
    assert!(path.in_flight() <= 252 * MSS, "{}", path.in_flight());
}

/// A.9: leaving DOWN after its longest time, 63 rounds here, before the five seconds of ProbeRTT.
#[test]
fn down_goes_to_refill_where_the_flight_never_falls() {
    let mut path = Path::new(5_000, 20, 1_000);
    path.until("up").until("down");
    let begun = path.now;
    path.rate = 4_000_000;
    while path.state() == "down" {
        path.event();
    }
    assert_eq!(path.state(), "refill");
    let waited = (path.now - begun) / MS;
    assert!((1_260..=3_000).contains(&waited), "{waited}");
}

/// A.10: ProbeRTT and back.
#[test]
fn after_five_seconds_half_the_pipe_flies_for_200_ms() {
    let mut path = cruising(1_000);
    path.until("probe-rtt");
    assert!((5_000..5_200).contains(&(path.now / MS)), "{}", path.now);
    let (begun, pipe) = (path.now, path.gauge("bbr_bw") / 20);
    path.run(100);
    assert!(path.in_flight() <= pipe / 2, "{}", path.in_flight());
    path.until("cruise");
    let lasted = (path.now - begun) / MS;
    assert!((200..300).contains(&lasted), "{lasted}");
    path.run(100);
    assert!(path.in_flight() >= pipe * 95 / 100, "{}", path.in_flight());
}

/// A.11: no ProbeRTT after silence.
#[test]
fn silence_makes_probe_rtt_needless() {
    let mut path = cruising(1_000);
    path.source_at = path.now + 6_000 * MS;
    let end = path.source_at + 2_000 * MS;
    while path.now < end {
        path.event();
        assert_ne!(path.state(), "probe-rtt");
    }
}

/// A.13: the rate of CRUISE where ACKs are aggregated.
#[test]
fn aggregated_acks_widen_the_window_and_keep_the_rate() {
    let mut path = cruising(1_000);
    path.aggregation = 20 * MS;
    path.run(1_000);
    let (ahead, pipe) = (path.gauge("bbr_extra_acked_long"), path.gauge("bbr_max_bw") / 20);
    assert!((50_000..200_000).contains(&ahead), "{ahead}");
    assert!(path.sender.cwnd().0 >= 2 * pipe + 50_000, "{:?}", path.sender.cwnd());
    let before = (path.now, path.delivered);
    path.run(1_000);
    let rate = (path.delivered - before.1) * 1_000_000_000 / (path.now - before.0);
    assert!(rate >= 4_850_000, "{rate}");
    // What has run ahead is taken back by a hundredth of the rate, the margin of pacing, and
    // forgotten ten rounds later.
    path.aggregation = 1;
    let begun = path.now;
    path.until_so("forgotten", |path| path.gauge("bbr_extra_acked_long") < 10_000);
    assert!((path.now - begun) / MS < 4_000, "{}", (path.now - begun) / MS);
}

/// A.15: ten times the rate.
#[test]
fn ten_times_the_rate_is_found_in_rounds_that_double_the_step() {
    let mut path = Path::new(1_250, 50, 20);
    path.until("cruise").until("up").until("down");
    assert!(longterm(&path) < u64::MAX, "the small buffer has set a bound");
    path.until("cruise");
    path.rate = 12_500_000;
    path.buffer = 1_000;
    path.until_so("past the precautionary probe", |path| path.state() == "up");
    let mut steps = vec![longterm(&path)];
    let mut round = path.sender.view().round;
    let begun = path.now;
    while path.gauge("bbr_max_bw") < 11_800_000 {
        path.event();
        if path.sender.view().round > round && path.state() == "up" {
            (round, steps) = (path.sender.view().round, [&steps[..], &[longterm(&path)]].concat());
        }
        assert!(path.now - begun < 20_000 * MS, "{steps:?} {}", path.gauge("bbr_max_bw"));
    }
    assert!((path.now - begun) / MS < 25 * 50, "more than 25 rounds: {steps:?}");
    let grown: Vec<u64> = steps.windows(2).map(|two| two[1] - two[0]).filter(|n| *n > 0).collect();
    assert!(grown[..5].is_sorted() && grown[4] >= 8 * grown[0], "{grown:?}");
}

/// A.16: a tenth of the rate.
#[test]
fn a_tenth_of_the_rate_is_met_at_once_and_believed_after_two_cycles() {
    let mut path = Path::new(12_500, 50, 200);
    path.until("cruise");
    path.rate = 1_250_000;
    // A round takes half a second now, and lowers the rate to 0.7 of what it was.
    let (mut short, end) = (u64::MAX, path.now + 2_500 * MS);
    while path.now < end {
        short = short.min(path.gauge("bbr_bw"));
        path.event();
    }
    assert!(short < 3_000_000, "{short}");
    path.until_so("the new rate", |path| path.gauge("bbr_max_bw") < 1_300_000);
    assert!(path.now < 20_000 * MS, "{}", path.now / MS);
}

/// A.20: ProbeRTT in Startup leads back to Startup.
#[test]
fn probe_rtt_in_startup_returns_there() {
    let mut path = Path::new(5_000, 50, 1_000);
    path.source_gap = MS;
    path.delay = 60 * MS;
    path.run(5_200);
    assert_eq!(path.gauge("bbr_probes_rtt"), 1);
    path.run(600);
    assert_eq!((path.state(), path.gauge("bbr_probes_rtt")), ("startup", 0));
    path.source_gap = 0;
    path.until("cruise");
    let rate = path.gauge("bbr_max_bw");
    assert!((4_900_000..5_100_000).contains(&rate), "{rate}");
}

/// A.22: limited by the application in REFILL.
#[test]
fn what_the_source_limits_in_refill_is_no_rate() {
    let mut path = cruising(1_000);
    path.until("refill");
    let before = path.gauge("bbr_max_bw");
    path.source_gap = MS;
    path.until("up");
    assert_eq!(path.gauge("bbr_max_bw"), before);
    path.run(300);
    assert_eq!((path.state(), path.gauge("bbr_max_bw")), ("up", before));
    path.source_gap = 0;
    path.until("down").until("cruise");
    assert_eq!(path.lost, 0);
}
