//! The bounded history of ACKs against one that keeps them all.

use firstflight_core::estimate::ack_history::{AckHistory, RECENT};
use proptest::prelude::*;

/// Every ACK, and sums by looking at each.
#[derive(Default)]
struct Exact(Vec<(u64, u64)>);

impl Exact {
    fn within(&self, span: u64) -> u64 {
        let (newest, _) = *self.0.last().expect("an ACK came");
        let inside = self.0.iter().rev().take_while(|(at, _)| *at > newest.saturating_sub(span));
        inside.map(|(_, credit)| credit).sum()
    }
}

const SPAN: u64 = 100_000_000;
const CREDIT: u64 = 1_000;

/// Feeds both with ACKs `gaps` apart and calls `check` after each.
fn feed(gaps: impl IntoIterator<Item = u64>, mut check: impl FnMut(&mut AckHistory, &Exact, u64)) {
    let (mut history, mut exact, mut at) = (AckHistory::new(), Exact::default(), 1_000_000);
    for gap in gaps {
        at += gap;
        history.push(at, CREDIT as u32, SPAN);
        exact.0.push((at, CREDIT));
        check(&mut history, &exact, at);
    }
}

#[test]
fn intervals_of_few_acks_are_counted_exactly() {
    let gaps = (0..500).map(|i| 10_000 + i * 7_919 % 90_000);
    feed(gaps, |history, exact, _| {
        let acks = exact.0.len().min(RECENT);
        let reach = exact.0.last().unwrap().0 - exact.0[exact.0.len() - acks].0;
        for span in [0, 1, reach / 3, reach / 2, reach] {
            assert_eq!(u64::from(history.within(span)), exact.within(span));
        }
    });
}

/// Looks further back than the recent steps reach, at many places of the curve.
fn is_exact(history: &mut AckHistory, exact: &Exact) {
    for part in 0..40 {
        let span = SPAN - part * 1_234_567;
        assert_eq!(u64::from(history.within_span(span)), exact.within(span), "{span}");
        assert_eq!(u64::from(history.within(span / 2)), exact.within(span / 2), "{span}");
    }
}

/// Then every step of the staircase is a corner, and the curve is the staircase.
#[test]
fn acks_a_24th_of_the_span_apart_are_counted_exactly() {
    // The curve begins a nanosecond before the first ACK.
    let gaps = (0..200).map(|i| if i == 1 { SPAN / 24 - 1 } else { SPAN / 24 });
    feed(gaps, |history, exact, _| is_exact(history, exact));
}

/// Both ends of a pause are corners.
#[test]
fn bursts_of_two_are_counted_exactly() {
    let gaps = (0..200).map(|i| if i % 2 == 0 { SPAN / 10 } else { 10_000 });
    feed(gaps, |history, exact, _| is_exact(history, exact));
}

#[test]
fn nothing_before_the_first_ack() {
    feed([50, 60, 70], |history, exact, _| {
        assert_eq!(u64::from(history.within_span(SPAN)), exact.within(SPAN));
        assert_eq!(u64::from(history.within(u64::MAX)), exact.within(u64::MAX));
    });
}

#[test]
fn acks_at_one_instant_are_one_step() {
    let mut history = AckHistory::new();
    for (at, credit) in [(1_000, 500), (2_000, 300), (2_000, 200), (1_500, 100)] {
        history.push(at, credit, SPAN);
    }
    assert_eq!(history.within(500), 600);
    assert_eq!(history.within(1_500), 1_100);
}

/// Bursts of three, a little more than a 24th of the span apart, need more corners than there are:
/// the curve is thinned, and a place may then be off by the bursts between two corners.
#[test]
fn many_small_bursts_thin_the_curve_and_still_count() {
    let mut worst = 0;
    let gaps = (0..600).map(|i| if i % 3 == 0 { SPAN / 23 } else { 10_000 });
    feed(gaps, |history, exact, _| {
        worst = worst.max(u64::from(history.within_span(SPAN)).abs_diff(exact.within(SPAN)));
    });
    assert!(worst <= 3 * CREDIT, "{worst} bytes");
}

proptest! {
    /// ACKs in bursts at the bottleneck's rate with pauses between them, as start-up has them: off
    /// by no more than one ACK, for the RTT and for any part of it.
    #[test]
    fn even_bursts_are_right_to_within_one_ack(
        spacing in 40_000u64..400_000,
        bursts in prop::collection::vec(1u64..6, 1..6),
        part in 0.0f64..1.0,
    ) {
        // Bursts share half the span in the given proportions.
        let total: u64 = bursts.iter().sum();
        let mut gaps = Vec::new();
        for _ in 0..3 {
            for burst in &bursts {
                let time = SPAN * burst / total / 2;
                gaps.extend((0..time / spacing).map(|_| spacing));
                gaps.push(time.max(SPAN / 20));
            }
        }
        let mut worst = 0;
        feed(gaps, |history, exact, _| {
            let short = (SPAN as f64 * part) as u64;
            worst = worst.max(u64::from(history.within_span(SPAN)).abs_diff(exact.within(SPAN)));
            worst = worst.max(u64::from(history.within(short)).abs_diff(exact.within(short)));
        });
        prop_assert!(worst <= CREDIT, "{worst} bytes");
    }

    /// Whatever the spacing: off by no more than came in a third of the span, a bound the thinned
    /// curve keeps even then, and within a twelfth on average.
    #[test]
    fn any_spacing_stays_within_the_bound(
        gaps in prop::collection::vec(prop_oneof![
            8 => 1u64..2_000_000,
            2 => 1u64..20_000,
            1 => 1_000_000u64..60_000_000,
        ], 50..600),
        part in 0.05f64..1.0,
    ) {
        let (mut off, mut all) = (0, 0);
        let mut worst: Option<String> = None;
        feed(gaps, |history, exact, _| {
            let span = (SPAN as f64 * part) as u64;
            let (got, want) = (u64::from(history.within(span)), exact.within(span));
            let (far, want_far) = (u64::from(history.within_span(SPAN)), exact.within(SPAN));
            let bound = densest(exact, SPAN / 3) + CREDIT;
            if got.abs_diff(want) > bound || far.abs_diff(want_far) > bound {
                worst = Some(format!("{got} for {want}, {far} for {want_far}, bound {bound}"));
            }
            off += far.abs_diff(want_far);
            all += want_far;
        });
        prop_assert!(worst.is_none(), "{}", worst.unwrap_or_default());
        prop_assert!(off * 12 <= all, "{off} of {all} bytes");
    }
}

/// The most that came in any `span` of the last RTT.
fn densest(exact: &Exact, span: u64) -> u64 {
    let newest = exact.0.last().expect("an ACK came").0;
    let recent: Vec<_> =
        exact.0.iter().filter(|(at, _)| *at + SPAN + span >= newest).copied().collect();
    let mut first = 0;
    let mut most = 0;
    for (index, (at, _)) in recent.iter().enumerate() {
        while recent[first].0 + span < *at {
            first += 1;
        }
        most = most.max((index - first + 1) as u64 * CREDIT);
    }
    most
}
