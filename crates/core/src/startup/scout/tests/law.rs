//! Growth never exceeds what a train has shown.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

/// By default, or with the other values of the knobs that papers/scout/tables.md compares it with.
fn scout(other: bool) -> Scout {
    let mut scout = Scout::default();
    if other {
        assert!(scout.set("first", KnobValue::Ratio(RATIO_ONE)));
        assert!(scout.set("acks", KnobValue::Count(4)));
        assert!(scout.set("polite", KnobValue::Word("off")));
    }
    scout
}

/// The most that the target may be after a step. If the train's ACKs tell the path's rate, that is
/// 8/7 of what arrives at that rate in a minrtt, and no less than the target before. It is twice
/// that target if too few ACKs came, and 3/2 of it if they came faster than the packets had left,
/// or if the packets behind the train show that the train slowed down by chance. While Scout looks
/// behind a train that showed room, it is that room. A single ACK counts from the train's beginning
/// and the RTT before it, if the train has left at its pace.
fn allowed(before: &Scout, samples: &[RttSample], min_rtt: Span) -> Bytes {
    let twice = before.target * 2;
    if let Some(after) = before.after_train {
        return after.room.unwrap_or(after_noise(before.target));
    }
    let Train { begin, end, .. } = before.train;
    let is_of_train = |sample: &RttSample| sample.acked > begin && sample.acked <= end;
    let of_train: Vec<RttSample> = samples.iter().copied().filter(is_of_train).collect();
    let says = of_train.len() as u64 >= before.least_acks;
    let (Some(mut first), Some(last), true) =
        (of_train.first().copied(), of_train.last().copied(), says)
    else {
        return twice;
    };
    let rtt = before.spread.known_floor().unwrap_or(min_rtt);
    if of_train.len() == 1 {
        if last.at.since(before.train.began) - last.rtt >= before.train.leaves_in {
            return twice;
        }
        first = RttSample { at: before.train.began + rtt, rtt, acked: begin };
    }
    let time = last.at.since(first.at);
    if first.rtt - last.rtt > time / 8 {
        return after_noise(before.target);
    }
    let shown = (last.acked - first.acked).per(time).over(min_rtt);
    shown.scaled(8, 7).max(before.target).min(before.target * 4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever ACKs come, how far apart, of how many segments and with what RTTs.
    #[test]
    fn the_window_becomes_no_more_than_a_train_has_shown(
        acks in prop::collection::vec((0..20_000_u64, 100_000..130_000_u64, 1..4_u64), 1..300),
        other in any::<bool>(),
    ) {
        let mut drive = Drive::with(scout(other));
        let mut samples = Vec::new();
        for (gap, rtt, segments) in acks {
            let view = &mut drive.view;
            view.snd_nxt = view.snd_nxt.max(view.acked + MSS * segments);
            view.now = view.now + Span::from_micros(gap);
            view.rtt.latest = Span::from_micros(rtt);
            view.acked += MSS * segments;
            view.delivered += MSS * segments;
            view.in_flight = view.snd_nxt - view.acked;
            samples.push(RttSample { at: view.now, rtt: view.rtt.latest, acked: view.acked });
            let before = drive.scout;
            let step = drive.scout.step(&ack(&drive.view, segments), &drive.view);
            if step.exit.is_some() {
                break;
            }
            let most = allowed(&before, &samples, drive.view.rtt.min);
            prop_assert!(drive.scout.target <= most.max(before.target), "{before:?}, {most:?}");
            drive.view.window = step.window;
            drive.view.snd_nxt = drive.view.snd_nxt.max(drive.view.acked + step.window.cwnd);
        }
    }
}
