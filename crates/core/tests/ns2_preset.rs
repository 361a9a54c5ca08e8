//! Preset `ns2`: the rate estimate and Load Gauge on ns-2's clock, which knows RTTmin only in whole
//! ticks of 10 ms, rounded down. On a path of 103 ms that is 100 ms, three parts in a hundred less.

use crate::scripted_path::{MSS, Path, SECOND, SERVICE};
use crate::start_up_view::view;
use firstflight_core::avoidance::Westwood;
use firstflight_core::estimate::ere::{Ere, EreKnobs};
use firstflight_core::event::Ack;
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::startup::Astart;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::{Phase, View};

const MS: u64 = 1_000_000;
/// The preset's formulas with RTTmin exact.
const EXACT: EreKnobs = EreKnobs { tick: Span(0), ..EreKnobs::NS2 };

/// A path of 40 Mbit/s that a window of `rtt / 200 us` segments just fills, for thirty round trips.
fn full_path(knobs: EreKnobs, rtt: u64) -> (Ere, View) {
    let view = view(rtt / 200_000 * MSS, rtt, rtt);
    let mut ere = Ere::new(knobs);
    for i in 1..=30 * rtt / 200_000 {
        let now = Instant(SECOND + i * 200_000);
        ere.on_ack(&Ack { now, acked: Bytes(MSS), credited: Bytes(MSS), ..Ack::default() }, &view);
    }
    (ere, view)
}

fn interval(ere: &Ere) -> u64 {
    let mut values = Vec::new();
    ere.gauges(["ere", "re", "tk"], &mut |_, value| values.push(value));
    values[2]
}

#[test]
fn the_preset_is_the_published_formulas_with_umax_of_all_samples_on_a_clock_of_ten_milliseconds() {
    let expected = EreKnobs { umax_window: 0, tick: Span(10 * MS), ..EreKnobs::PAPER };
    assert_eq!(EreKnobs::NS2, expected);
    let mut chosen = EreKnobs::default();
    assert!(chosen.set("preset", KnobValue::Word("ns2")));
    assert_eq!(chosen, expected);
}

#[test]
fn rtt_min_is_whole_ticks_rounded_down_and_at_least_one() {
    let ere = Ere::new(EreKnobs::NS2);
    for (exact, known) in [(100, 100), (103, 100), (109, 100), (110, 110), (73, 70), (3, 10)] {
        assert_eq!(ere.rtt_min(&view(MSS, exact * MS, exact * MS)), Span(known * MS), "{exact} ms");
    }
    assert_eq!(ere.rtt_min(&view(MSS, 110 * MS - 1, 110 * MS - 1)), Span(100 * MS));
}

/// The estimate is the path's rate, to half a packet of the sampling interval; times an RTTmin that
/// is short it is a window as much short of the one that fills the path.
#[test]
fn the_window_to_aim_at_is_short_by_what_the_clock_does_not_know() {
    for (rtt, known) in [(109, 100), (79, 70), (100, 100), (200, 200)] {
        let (ere, view) = full_path(EreKnobs::NS2, rtt * MS);
        let aimed = ere.over(ere.rtt_min(&view)).0 as f64;
        let expected = view.window.cwnd.0 as f64 * known as f64 / rtt as f64;
        assert!((aimed / expected - 1.0).abs() < 0.025, "{rtt} ms: {aimed} for {expected}");
    }
}

/// `Tk = srtt (cwnd/RTTmin - RE) / (cwnd/RTTmin)`: with nothing queued the clock's 3 ms look like a
/// queue and become the sampling interval; an exact clock leaves the spacing of ACKs.
#[test]
fn an_empty_queue_looks_like_one_of_the_length_that_the_clock_does_not_know() {
    let (on_ticks, _) = full_path(EreKnobs::NS2, 103 * MS);
    let off = interval(&on_ticks).abs_diff(3 * MS);
    assert!(off < MS / 20, "{} ns", interval(&on_ticks));
    let (exact, _) = full_path(EXACT, 103 * MS);
    assert!(interval(&exact) < MS / 20, "{} ns", interval(&exact));
}

#[test]
fn a_round_trip_of_whole_ticks_is_estimated_as_with_an_exact_clock() {
    let ((on_ticks, _), (exact, _)) =
        (full_path(EreKnobs::NS2, 100 * MS), full_path(EXACT, 100 * MS));
    assert_eq!((on_ticks.rate(), interval(&on_ticks)), (exact.rate(), interval(&exact)));
}

fn astart(tick: u64) -> Astart {
    let mut astart = Astart::default();
    assert!(astart.set("preset", KnobValue::Word("ns2")));
    assert!(astart.set("ere.tick", KnobValue::Time(Span(tick))));
    astart
}

fn tcpw_a(tick: u64) -> Westwood {
    let mut westwood = Westwood::default();
    assert!(westwood.set("preset", KnobValue::Word("ns2")));
    assert!(westwood.set("lg", KnobValue::Word("on")));
    assert!(westwood.set("lg.tick", KnobValue::Time(Span(tick))));
    westwood
}

/// Near the BDP start-up's threshold stops short by at least the same part, 9 in 109, and only
/// linear growth goes on. With an exact clock it reaches the BDP.
#[test]
fn start_up_grows_to_the_window_that_the_clock_allows() {
    let bdp = (109 * MS / SERVICE) as f64;
    let reached = |tick| {
        let mut path = Path::new(astart(tick), tcpw_a(tick), 109 * MS);
        assert_eq!(path.run_until(15.0).phase(), Phase::Startup);
        path.window().ssthresh.0 as f64 / MSS as f64 / bdp
    };
    let (on_ticks, exact) = (reached(10 * MS), reached(0));
    assert!((0.85..=0.94).contains(&on_ticks), "{on_ticks} of the BDP");
    assert!(exact > 0.985, "{exact} of the BDP");
}

/// `RE RTTmin > (cwnd - 1.5 + ssthresh) / 2` with an RE of `cwnd / RTT` and RTTmin short by 3 in
/// 103 asks for `cwnd > ssthresh / (2 * 100/103 - 1)`, a sixteenth more; an exact clock for next to
/// none.
#[test]
fn load_gauge_waits_until_the_window_has_outgrown_what_the_clock_does_not_know() {
    let grown = |tick| {
        let mut path = Path::new(astart(10 * MS), tcpw_a(tick), 103 * MS);
        while path.packets() < 300 {
            path.step();
        }
        path.lose_one();
        let mut window = path.window();
        while path.phase() == Phase::Avoidance {
            window = path.window();
            path.step();
        }
        window.cwnd.0 as f64 / window.ssthresh.0 as f64
    };
    let (on_ticks, exact) = (grown(10 * MS), grown(0));
    let least = 1.0 / (2.0 * 100.0 / 103.0 - 1.0);
    assert!(on_ticks > least && on_ticks < least * 1.06, "{on_ticks}, at least {least}");
    assert!(exact < least, "{exact}");
}
