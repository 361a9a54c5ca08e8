//! Preset `per-packet`: a burst tells the bottleneck's rate although a pause follows it, and it
//! tells the same however few ACKs acknowledge it.

use crate::start_up_view::view;
use firstflight_core::estimate::ere::{Ere, EreKnobs, Filter};
use firstflight_core::event::Ack;
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::units::{Bytes, Instant, Span};

const MSS: u64 = 1_000;
const RTT: u64 = 200_000_000;
/// The bottleneck's 5 MB/s.
const SERVICE: u64 = 200_000;
/// Packets that a pacer sends at once.
const BURST: u64 = 10;
/// Bursts in an RTT.
const BURSTS: u64 = 4;

/// The largest estimate in the last of twenty round trips of paced bursts, with an ACK for every
/// `per_ack` packets, in bytes per second.
fn paced(knobs: EreKnobs, per_ack: u64) -> u64 {
    let (mut ere, view) = (Ere::new(knobs), view(BURSTS * BURST * MSS, RTT, RTT));
    let mut largest = 0;
    for burst in 0..20 * BURSTS {
        let start = 1_000_000_000 + burst * RTT / BURSTS;
        for packet in (per_ack..=BURST).step_by(per_ack as usize) {
            let (now, acked) = (Instant(start + packet * SERVICE), Bytes(per_ack * MSS));
            ere.on_ack(&Ack { now, acked, credited: acked, ..Ack::default() }, &view);
            if burst >= 19 * BURSTS {
                largest = largest.max(ere.rate().0);
            }
        }
    }
    largest
}

#[test]
fn the_preset_weighs_packets_over_at_least_a_millisecond() {
    let expected =
        EreKnobs { filter: Filter::Packets, n: 0, tmin: Span::from_millis(1), ..EreKnobs::PAPER };
    assert_eq!(EreKnobs::PER_PACKET, expected);
    let mut chosen = EreKnobs::default();
    assert!(chosen.set("preset", KnobValue::Word("per-packet")));
    assert_eq!(chosen, expected);
}

/// 40 packets of 1000 bytes per 200 ms are 200 kB/s, at a bottleneck of 5 MB/s. By time the pauses
/// weigh 24 times as much as the bursts. Over at least 15 ms a burst is averaged with its pause;
/// the trapezoid without that takes half of a burst's rate for the pause behind it. By packets nine
/// of ten are at the bottleneck's spacing.
#[test]
fn paced_bursts_show_the_bottlenecks_rate_and_not_the_senders() {
    let (sent, bottleneck) = (200_000, 5_000_000);
    assert!(paced(EreKnobs::FIGURES, 1) < 2 * sent);
    assert!(paced(EreKnobs::PAPER, 1) < bottleneck * 6 / 10);
    let estimate = paced(EreKnobs::PER_PACKET, 1);
    assert!((bottleneck * 8 / 10..bottleneck).contains(&estimate), "{estimate}");
}

#[test]
fn an_ack_for_two_packets_counts_as_much_as_one_for_each() {
    let (every, second) = (paced(EreKnobs::PER_PACKET, 1), paced(EreKnobs::PER_PACKET, 2));
    assert!(second.abs_diff(every) < every / 5, "{second} for {every}");
}
